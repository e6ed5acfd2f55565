//! Everything that a run knows of its benchmarks, read back.

use std::collections::HashSet;

use rusqlite::params;

use super::codec;
use super::columns::{FlagsRead, Json, Unsigned, WordColumn};
use super::conditions::KnownConditions;
use super::error::{Attempt, Fault};
use super::extras::{allocations_of, latencies_of};
use super::instructions::counts_of;
use super::runs::key_at;
use super::sql::Sql;
use super::{Store, StoreError};
use perfcheck_analysis::compare::clean;
use perfcheck_analysis::model::{
    BenchmarkKey, Extras, Failure, LaunchSeries, Measurement, Nanos, RunId, Source,
};

impl Store {
    /// The measurements of a run, or of those of its benchmarks that `filter` names, sorted by key.
    ///
    /// Where several attempts of one launch measured a benchmark, the last one counts. Failures are all there. What the filter of an import leaves
    /// is there to be described.
    pub fn measurements(
        &self,
        run: RunId,
        filter: Option<&[BenchmarkKey]>,
    ) -> Result<Vec<Measurement>, StoreError> {
        let wanted: Option<HashSet<&BenchmarkKey>> = filter.map(|keys| keys.iter().collect());
        let is_wanted =
            |key: &BenchmarkKey| wanted.as_ref().is_none_or(|wanted| wanted.contains(key));
        self.read(|sql| {
            let source = source_of(sql, run)?;
            let mut known = KnownConditions::default();
            let mut measurements = Vec::new();
            let benchmarks = "SELECT b.package, b.target, b.name, rb.id, rb.conditions, rb.verdict
                 FROM run_benchmarks rb JOIN benchmarks b ON b.id = rb.benchmark
                 WHERE rb.run = ?1 ORDER BY 1, 2, 3";
            sql.each(benchmarks, params![run.0], |row| {
                let key = key_at(row, 0)?;
                // Values of a row may be outliers together: an imported run is read whole.
                if source.is_none() && !is_wanted(&key) {
                    return Ok(());
                }
                let run_benchmark: i64 = row.get(3)?;
                let conditions = known.get(sql, row.get(4)?)?;
                measurements.push(Measurement {
                    launches: series_of(sql, run_benchmark)
                        .map_err(|fault| named(fault, run, &key))?,
                    failures: failures_of(sql, run_benchmark)?,
                    benchmark: conditions.benchmark(key),
                    target_facts: conditions.target.clone(),
                    sampling: conditions.sampling,
                    noise_threshold: conditions.noise_threshold,
                    verdict: row
                        .get::<Option<WordColumn<_>>>(5)?
                        .map(|WordColumn(verdict)| verdict),
                    instructions: counts_of(sql, run_benchmark)?,
                    described: None,
                });
                Ok(())
            })?;
            if let Some(source) = &source {
                clean(&mut measurements, Some(source), &source.filter);
                measurements.retain(|found| is_wanted(&found.benchmark.key));
            }
            if measurements.is_empty() {
                // No benchmark, or no such run?
                sql.exists("SELECT 1 FROM runs WHERE id = ?1", params![run.0])?
                    .then_some(())
                    .ok_or(StoreError::NoSuchRun { run })?;
            }
            Ok(measurements)
        })
    }
}

/// Where the numbers of a run come from, if another program measured them.
fn source_of(sql: Sql<'_>, run: RunId) -> Attempt<Option<Source>> {
    let source: Option<Option<Json<Source>>> = sql.first(
        "SELECT source FROM runs WHERE id = ?1",
        params![run.0],
        |row| row.get(0),
    )?;
    Ok(source.flatten().map(|Json(source)| source))
}

fn series_of(sql: Sql<'_>, run_benchmark: i64) -> Attempt<Vec<LaunchSeries>> {
    let mut launches: Vec<LaunchSeries> = Vec::new();
    let series = "SELECT l.ordinal, l.quantum_ns, s.samples, s.led, s.allocations, s.latencies, l.conduct, l.layout
         FROM series s JOIN launches l ON l.id = s.launch
         WHERE s.run_benchmark = ?1 ORDER BY l.ordinal, l.attempt";
    sql.each(series, params![run_benchmark], |row| {
        let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        let launch = LaunchSeries {
            launch: row.get(0)?,
            quantum: Nanos(
                row.get::<Option<Unsigned>>(1)?
                    .map_or(0, |quantum| quantum.0),
            ),
            conduct: row.get::<Option<Json<_>>>(6)?.map(|Json(conduct)| conduct),
            layout: row.get(7)?,
            series: codec::decode(bytes).map_err(Fault::Content)?,
            extras: Extras {
                led: row.get::<FlagsRead>(3)?.0,
                allocations: allocations_of(row.get_ref(4)?).map_err(Fault::Content)?,
                latencies: latencies_of(row.get_ref(5)?).map_err(Fault::Content)?,
            },
        };
        match launches.last_mut() {
            Some(earlier) if earlier.launch == launch.launch => *earlier = launch,
            _ => launches.push(launch),
        }
        Ok(())
    })?;
    Ok(launches)
}

fn failures_of(sql: Sql<'_>, run_benchmark: i64) -> Attempt<Vec<Failure>> {
    sql.all(
        "SELECT l.ordinal, f.message FROM failures f JOIN launches l ON l.id = f.launch
         WHERE f.run_benchmark = ?1 ORDER BY l.ordinal, l.attempt",
        params![run_benchmark],
        |row| {
            Ok(Failure {
                launch: row.get(0)?,
                message: row.get(1)?,
            })
        },
    )
}

/// Says whose series is damaged.
fn named(fault: Fault, run: RunId, key: &BenchmarkKey) -> Fault {
    match fault {
        Fault::Content(detail) => Fault::Content(format!("run {run}, {key}: {detail}")),
        other => other,
    }
}
