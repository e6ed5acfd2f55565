//! Everything that a run knows of its benchmarks, read back.

use std::collections::HashSet;

use rusqlite::Connection;

use super::codec;
use super::columns::{FlagsRead, Json, Unsigned, WordColumn};
use super::conditions::KnownConditions;
use super::error::{Attempt, Fault};
use super::extras::{allocations_of, latencies_of};
use super::instructions::counts_of;
use super::runs::key_at;
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
        self.read(|connection| {
            let source = source_of(connection, run)?;
            let mut known = KnownConditions::default();
            let mut statement = connection.prepare_cached(
                "SELECT b.package, b.target, b.name, rb.id, rb.conditions, rb.verdict
                 FROM run_benchmarks rb JOIN benchmarks b ON b.id = rb.benchmark
                 WHERE rb.run = ?1 ORDER BY 1, 2, 3",
            )?;
            let mut rows = statement.query([run.0])?;
            let mut measurements = Vec::new();
            while let Some(row) = rows.next()? {
                let key = key_at(row, 0)?;
                // Values of a row may be outliers together: an imported run is read whole.
                if source.is_none() && !is_wanted(&key) {
                    continue;
                }
                let run_benchmark: i64 = row.get(3)?;
                let conditions = known.get(connection, row.get(4)?)?;
                measurements.push(Measurement {
                    launches: series_of(connection, run_benchmark)
                        .map_err(|fault| named(fault, run, &key))?,
                    failures: failures_of(connection, run_benchmark)?,
                    benchmark: conditions.benchmark(key),
                    target_facts: conditions.target.clone(),
                    sampling: conditions.sampling,
                    noise_threshold: conditions.noise_threshold,
                    verdict: row
                        .get::<_, Option<WordColumn<_>>>(5)?
                        .map(|WordColumn(verdict)| verdict),
                    instructions: counts_of(connection, run_benchmark)?,
                    described: None,
                });
            }
            if let Some(source) = &source {
                clean(&mut measurements, Some(source), &source.filter);
                measurements.retain(|found| is_wanted(&found.benchmark.key));
            }
            if measurements.is_empty() {
                // No benchmark, or no such run?
                connection
                    .prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?
                    .exists([run.0])?
                    .then_some(())
                    .ok_or(StoreError::NoSuchRun { run })?;
            }
            Ok(measurements)
        })
    }
}

/// Where the numbers of a run come from, if another program measured them.
fn source_of(connection: &Connection, run: RunId) -> Attempt<Option<Source>> {
    let mut statement = connection.prepare_cached("SELECT source FROM runs WHERE id = ?1")?;
    let mut rows = statement.query([run.0])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let source: Option<Json<Source>> = row.get(0)?;
    Ok(source.map(|Json(source)| source))
}

fn series_of(connection: &Connection, run_benchmark: i64) -> Attempt<Vec<LaunchSeries>> {
    let mut statement = connection.prepare_cached(
        "SELECT l.ordinal, l.quantum_ns, s.samples, s.led, s.allocations, s.latencies, l.conduct, l.layout
         FROM series s JOIN launches l ON l.id = s.launch
         WHERE s.run_benchmark = ?1 ORDER BY l.ordinal, l.attempt",
    )?;
    let mut rows = statement.query([run_benchmark])?;
    let mut launches: Vec<LaunchSeries> = Vec::new();
    while let Some(row) = rows.next()? {
        let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        let launch = LaunchSeries {
            launch: row.get(0)?,
            quantum: Nanos(
                row.get::<_, Option<Unsigned>>(1)?
                    .map_or(0, |quantum| quantum.0),
            ),
            conduct: row
                .get::<_, Option<Json<_>>>(6)?
                .map(|Json(conduct)| conduct),
            layout: row.get(7)?,
            series: codec::decode(bytes).map_err(Fault::Content)?,
            extras: Extras {
                led: row.get::<_, FlagsRead>(3)?.0,
                allocations: allocations_of(row.get_ref(4)?).map_err(Fault::Content)?,
                latencies: latencies_of(row.get_ref(5)?).map_err(Fault::Content)?,
            },
        };
        match launches.last_mut() {
            Some(earlier) if earlier.launch == launch.launch => *earlier = launch,
            _ => launches.push(launch),
        }
    }
    Ok(launches)
}

fn failures_of(connection: &Connection, run_benchmark: i64) -> Attempt<Vec<Failure>> {
    let mut statement = connection.prepare_cached(
        "SELECT l.ordinal, f.message FROM failures f JOIN launches l ON l.id = f.launch
         WHERE f.run_benchmark = ?1 ORDER BY l.ordinal, l.attempt",
    )?;
    let failures = statement.query_map([run_benchmark], |row| {
        Ok(Failure {
            launch: row.get(0)?,
            message: row.get(1)?,
        })
    })?;
    Ok(failures.collect::<Result<_, _>>()?)
}

/// Says whose series is damaged.
fn named(fault: Fault, run: RunId, key: &BenchmarkKey) -> Fault {
    match fault {
        Fault::Content(detail) => Fault::Content(format!("run {run}, {key}: {detail}")),
        other => other,
    }
}
