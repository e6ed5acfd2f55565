//! Everything that runs know of their benchmarks, read back: as many queries for a thousand benchmarks as for one.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::codec;
use super::columns::{Count, FlagsRead, Json, Unsigned, WordColumn};
use super::conditions::{KnownConditions, rows_of};
use super::counts::add_count;
use super::error::{Attempt, Fault};
use super::extras::{allocations_of, latencies_of};
use super::runs::key_at;
use super::sql::{AT_ONCE, Sql, StoredRow, numbered};
use super::{Store, StoreError};
use perfcheck_analysis::compare::clean;
use perfcheck_analysis::model::{
    BenchmarkKey, Conduct, CountsOfBenchmark, Extras, Failure, LaunchSeries, Measurement, Nanos,
    RunId, RunPoint, Source,
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
        let mut found = self.measurements_of(&[run], filter)?;
        Ok(found.remove(&run).unwrap_or_default())
    }

    /// The same of several runs. Those that are not there are an error.
    pub fn measurements_of(
        &self,
        runs: &[RunId],
        filter: Option<&[BenchmarkKey]>,
    ) -> Result<BTreeMap<RunId, Vec<Measurement>>, StoreError> {
        if runs.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.read(|sql| {
            let sources = sources_of(sql, runs)?;
            if let Some(run) = runs.iter().find(|run| !sources.contains_key(*run)) {
                return Err(StoreError::NoSuchRun(*run).into());
            }
            // Values of a row may be outliers together: an imported run is read whole.
            let (imported, own): (Vec<RunId>, Vec<RunId>) =
                runs.iter().partition(|run| sources[*run].is_some());
            let mut found: BTreeMap<RunId, Vec<Measurement>> =
                runs.iter().map(|run| (*run, Vec::new())).collect();
            match filter {
                Some(keys) => {
                    // A statement takes so many parameters and no more.
                    for keys in keys.chunks(AT_ONCE) {
                        let filter = Some(keys);
                        MeasurementQuery { runs: &own, filter }.read(sql, &mut found)?;
                    }
                    if keys.len() > AT_ONCE {
                        for measured in found.values_mut() {
                            measured.sort_by(|a, b| a.benchmark.key.cmp(&b.benchmark.key));
                        }
                    }
                }
                None => MeasurementQuery { runs: &own, filter }.read(sql, &mut found)?,
            }
            let whole = MeasurementQuery {
                runs: &imported,
                filter: None,
            };
            whole.read(sql, &mut found)?;
            let wanted: Option<HashSet<&BenchmarkKey>> = filter.map(|keys| keys.iter().collect());
            for run in imported {
                let (Some(measured), Some(source)) = (found.get_mut(&run), &sources[&run]) else {
                    continue;
                };
                clean(measured, Some(source), &source.filter);
                measured.retain(|found| {
                    let key = &found.benchmark.key;
                    wanted.as_ref().is_none_or(|wanted| wanted.contains(key))
                });
            }
            Ok(found)
        })
    }
}

/// Where the numbers of runs come from, if another program measured them; runs that are not there are missing.
fn sources_of(sql: Sql<'_>, runs: &[RunId]) -> Attempt<HashMap<RunId, Option<Source>>> {
    let query = format!(
        "SELECT id, source FROM runs WHERE id IN ({})",
        numbered(runs.iter().map(|run| run.0))
    );
    let found = sql.all(&query, &[], |row| {
        let source: Option<Json<Source>> = row.get(1)?;
        Ok((RunId(row.get(0)?), source.map(|Json(source)| source)))
    })?;
    Ok(found.into_iter().collect())
}

/// What is read of runs.
struct MeasurementQuery<'w> {
    runs: &'w [RunId],
    /// These benchmarks, or all.
    filter: Option<&'w [BenchmarkKey]>,
}

impl MeasurementQuery<'_> {
    /// Puts the measurements where they belong, by key.
    fn read(&self, sql: Sql<'_>, into: &mut BTreeMap<RunId, Vec<Measurement>>) -> Attempt<()> {
        if self.runs.is_empty() || self.filter.is_some_and(<[_]>::is_empty) {
            return Ok(());
        }
        let (condition, values) = match self.filter {
            Some(keys) => {
                let (rows, values) = rows_of(keys, 1);
                let named = format!(" AND (b.package, b.target, b.name) IN (VALUES {rows})");
                (named, values)
            }
            None => (String::new(), Vec::new()),
        };
        let of = |columns: &str, tables: &str, order: &str| {
            format!(
                "SELECT {columns} FROM run_benchmarks rb JOIN benchmarks b ON b.id = rb.benchmark {tables}
                 WHERE rb.run IN ({}){} ORDER BY {order}",
                numbered(self.runs.iter().map(|run| run.0)),
                condition,
            )
        };
        let mut known = KnownConditions::default();
        known.read(sql, &of("rb.conditions", "", "1"), &values)?;
        let mut places: HashMap<i64, (RunId, usize)> = HashMap::new();
        let benchmarks = of(
            "b.package, b.target, b.name, rb.id, rb.conditions, rb.verdict, rb.run",
            "",
            "1, 2, 3",
        );
        sql.each(&benchmarks, &values, |row| {
            let run = RunId(row.get(6)?);
            let measured = into.entry(run).or_default();
            let conditions = known.get(sql, row.get(4)?)?;
            places.insert(row.get(3)?, (run, measured.len()));
            measured.push(Measurement {
                launches: Vec::new(),
                failures: Vec::new(),
                benchmark: conditions.benchmark(key_at(row, 0)?),
                target_facts: conditions.target.clone(),
                sampling: conditions.sampling,
                noise_threshold: conditions.noise_threshold,
                verdict: row
                    .get::<Option<WordColumn<_>>>(5)?
                    .map(|WordColumn(verdict)| verdict),
                counts: CountsOfBenchmark::default(),
                described: None,
                expired: None,
            });
            Ok(())
        })?;
        read_series(sql, self.runs, &places, into)?;
        read_points(sql, &places, into)?;
        let mut at = |row: &StoredRow<'_>, of: &mut dyn FnMut(&mut Measurement) -> Attempt<()>| {
            let place = places.get(&row.get(0)?);
            let Some((run, place)) = place else {
                return Ok(());
            };
            let measured = into.get_mut(run).and_then(|of_run| of_run.get_mut(*place));
            measured.map_or(Ok(()), of)
        };
        let failures = of(
            "rb.id, l.ordinal, f.message",
            "JOIN failures f ON f.run_benchmark = rb.id JOIN launches l ON l.id = f.launch",
            "l.ordinal, l.attempt",
        );
        sql.each(&failures, &values, |row| {
            at(row, &mut |measured| {
                measured.failures.push(Failure {
                    launch: row.get(1)?,
                    message: row.get(2)?,
                });
                Ok(())
            })
        })?;
        let counts = of(
            "rb.id, c.iterations, c.total, c.functions",
            "JOIN counts c ON c.run_benchmark = rb.id",
            "c.position",
        );
        sql.each(&counts, &values, |row| {
            at(row, &mut |measured| {
                Ok(add_count(&mut measured.counts, row, 1)?)
            })
        })
    }
}

/// A launch, as far as its series need it.
struct Launched {
    ordinal: u32,
    attempt: u32,
    quantum: Nanos,
    conduct: Option<Conduct>,
    layout: Option<u32>,
}

/// Reads the series of benchmarks of these runs, each by its number and its place, the last attempt of each launch.
///
/// Series are asked for by number, and within the launches of the runs: a team's store keeps those of a month together, and looks into no other one.
fn read_series(
    sql: Sql<'_>,
    runs: &[RunId],
    places: &HashMap<i64, (RunId, usize)>,
    into: &mut BTreeMap<RunId, Vec<Measurement>>,
) -> Attempt<()> {
    let launches = format!(
        "SELECT id, ordinal, attempt, quantum_ns, conduct, layout FROM launches WHERE run IN ({})",
        numbered(runs.iter().map(|run| run.0))
    );
    let launches = sql.all(&launches, &[], |row| {
        let launched = Launched {
            ordinal: row.get(1)?,
            attempt: row.get(2)?,
            quantum: Nanos(
                row.get::<Option<Unsigned>>(3)?
                    .map_or(0, |quantum| quantum.0),
            ),
            conduct: row.get::<Option<Json<_>>>(4)?.map(|Json(conduct)| conduct),
            layout: row.get(5)?,
        };
        Ok((row.get(0)?, launched))
    })?;
    let launches: BTreeMap<i64, Launched> = launches.into_iter().collect();
    let (Some((first, _)), Some((last, _))) =
        (launches.first_key_value(), launches.last_key_value())
    else {
        return Ok(());
    };
    let benchmarks: Vec<i64> = places.keys().copied().collect();
    let mut found: HashMap<i64, Vec<(u32, LaunchSeries)>> = HashMap::new();
    for some in benchmarks.chunks(AT_ONCE) {
        let series = format!(
            "SELECT run_benchmark, launch, samples, led, allocations, latencies FROM series
             WHERE run_benchmark IN ({}) AND launch BETWEEN {first} AND {last}",
            numbered(some.iter().copied())
        );
        sql.each(&series, &[], |row| {
            let benchmark: i64 = row.get(0)?;
            let Some(launched) = launches.get(&row.get(1)?) else {
                return Ok(());
            };
            let series = series_at(row, launched).map_err(|fault| {
                let place = places.get(&benchmark);
                let of = place.and_then(|(run, place)| Some((*run, into.get(run)?.get(*place)?)));
                match of {
                    Some((run, of)) => named(fault, run, &of.benchmark.key),
                    None => fault,
                }
            })?;
            let of_benchmark = found.entry(benchmark).or_default();
            of_benchmark.push((launched.attempt, series));
            Ok(())
        })?;
    }
    for (benchmark, mut series) in found {
        series.sort_by_key(|(attempt, series)| (series.launch, std::cmp::Reverse(*attempt)));
        series.dedup_by_key(|(_, series)| series.launch);
        let (run, place) = places[&benchmark];
        if let Some(measured) = into.get_mut(&run).and_then(|of_run| of_run.get_mut(place)) {
            measured.launches = series.into_iter().map(|(_, series)| series).collect();
        }
    }
    Ok(())
}

/// Reads what is left of those benchmarks whose samples were removed.
fn read_points(
    sql: Sql<'_>,
    places: &HashMap<i64, (RunId, usize)>,
    into: &mut BTreeMap<RunId, Vec<Measurement>>,
) -> Attempt<()> {
    let is_bare = |(run, place): &(RunId, usize)| {
        let of_run = into.get(run).and_then(|of_run| of_run.get(*place));
        of_run.is_some_and(|measured| measured.launches.is_empty())
    };
    let bare = places.iter().filter(|(_, place)| is_bare(place));
    let bare: Vec<i64> = bare.map(|(benchmark, _)| *benchmark).collect();
    for some in bare.chunks(AT_ONCE) {
        let points = format!(
            "SELECT run_benchmark, launches, samples, from_ramp, low_quantile, median FROM points
             WHERE run_benchmark IN ({})",
            numbered(some.iter().copied())
        );
        sql.each(&points, &[], |row| {
            let (run, place) = places[&row.get(0)?];
            let of_run = into.get_mut(&run).and_then(|of_run| of_run.get_mut(place));
            if let Some(measured) = of_run {
                measured.expired = Some(RunPoint {
                    launches: row.get::<Count>(1)?.0,
                    samples: row.get::<Count>(2)?.0,
                    from_ramp: row.get(3)?,
                    low_quantile: row.get(4)?,
                    median: row.get(5)?,
                });
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// A series in columns 2 to 5.
fn series_at(row: &StoredRow<'_>, launched: &Launched) -> Attempt<LaunchSeries> {
    let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
    Ok(LaunchSeries {
        launch: launched.ordinal,
        quantum: launched.quantum,
        conduct: launched.conduct,
        layout: launched.layout,
        series: codec::decode(bytes).map_err(Fault::Content)?,
        extras: Extras {
            led: row.get::<FlagsRead>(3)?.0,
            allocations: allocations_of(row.get_ref(4)?).map_err(Fault::Content)?,
            latencies: latencies_of(row.get_ref(5)?).map_err(Fault::Content)?,
        },
    })
}

/// Says whose series is damaged.
fn named(fault: Fault, run: RunId, key: &BenchmarkKey) -> Fault {
    match fault {
        Fault::Content(detail) => Fault::Content(format!("run {run}, {key}: {detail}")),
        other => other,
    }
}
