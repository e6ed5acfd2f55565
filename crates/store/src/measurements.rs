//! Reads the measurements of runs, with the same number of queries for one benchmark as for a thousand. Also checks that those of the whole store can
//! be read, for tests and for users who suspect their disk.

use rayon::prelude::*;
use rusqlite::types::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::conditions::{KnownConditions, find_benchmarks};
use super::encoding::{
    FlagValues, Json, RowCount, Unsigned, WordColumn, read_allocations, read_latencies,
};
use super::error::{Attempt, Fault};
use super::processes::add_count;
use super::runs::read_key;
use super::sql::{AT_ONCE, Sql, StoredRow, join_numbers};
use super::{Store, StoreError, WorkspaceId, encoding};
use perfcheck_analysis::compare::apply_filter;
use perfcheck_analysis::model::{
    BenchmarkCounts, BenchmarkKey, Extras, Failure, Measurement, Nanos, ProcessSeries,
    ProcessUsage, RunId, RunPoint, Side, Source, Verdict,
};

/// The smallest number of series that one thread decodes. With fewer, distributing the work would take longer than the work itself.
const FEWEST_DECODED: usize = 256;

impl Store {
    /// Returns the measurements of a run, or those of the benchmarks in `filter`, sorted by key.
    ///
    /// If several attempts of a process measured a benchmark, the last one counts. All failures are included. In an imported run,
    /// [`Measurement::described`] has only the samples that the filter of the import keeps.
    pub fn measurements(
        &self,
        run: RunId,
        filter: Option<&[BenchmarkKey]>,
    ) -> Result<Vec<Measurement>, StoreError> {
        let mut found = self.measurements_of_runs(&[run], filter)?;
        Ok(found.remove(&run).unwrap_or_default())
    }

    /// Like [`Self::measurements`], for several runs. A missing run is an error.
    pub fn measurements_of_runs(
        &self,
        runs: &[RunId],
        filter: Option<&[BenchmarkKey]>,
    ) -> Result<BTreeMap<RunId, Vec<Measurement>>, StoreError> {
        if runs.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.read(|sql| {
            let sources = query_sources(sql, runs)?;
            if let Some(run) = runs.iter().find(|run| !sources.contains_key(*run)) {
                return Err(StoreError::NoSuchRun(*run).into());
            }
            // The filter of an import can remove values of several benchmarks together, so read the whole imported run.
            let (imported, own): (Vec<RunId>, Vec<RunId>) =
                runs.iter().partition(|run| sources[*run].is_some());
            let mut found: BTreeMap<RunId, Vec<Measurement>> =
                runs.iter().map(|run| (*run, Vec::new())).collect();
            let named = match filter {
                Some(keys) => Some(benchmark_ids(sql, &own, keys)?),
                None => None,
            };
            MeasurementQuery { runs: &own, named }.read(sql, &mut found)?;
            let whole = MeasurementQuery {
                runs: &imported,
                named: None,
            };
            whole.read(sql, &mut found)?;
            let wanted: Option<HashSet<&BenchmarkKey>> = filter.map(|keys| keys.iter().collect());
            for run in imported {
                let (Some(measured), Some(source)) = (found.get_mut(&run), &sources[&run]) else {
                    continue;
                };
                apply_filter(measured, Some(source), &source.filter);
                measured.retain(|found| {
                    let key = &found.benchmark.key;
                    wanted.as_ref().is_none_or(|wanted| wanted.contains(key))
                });
            }
            Ok(found)
        })
    }
}

/// Returns the source of each run, if its numbers were imported from another program. Missing runs are left out.
fn query_sources(sql: Sql<'_>, runs: &[RunId]) -> Attempt<HashMap<RunId, Option<Source>>> {
    let query = format!(
        "SELECT id, source FROM runs WHERE id IN ({})",
        join_numbers(runs.iter().map(|run| run.0))
    );
    let found = sql.all(&query, &[], |row| {
        let source: Option<Json<Source>> = row.get(1)?;
        Ok((RunId(row.get(0)?), source.map(|Json(source)| source)))
    })?;
    Ok(found.into_iter().collect())
}

/// Returns those benchmarks of `keys` that the workspaces of these runs have, with their row ids.
fn benchmark_ids(
    sql: Sql<'_>,
    runs: &[RunId],
    keys: &[BenchmarkKey],
) -> Attempt<Vec<(i64, BenchmarkKey)>> {
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let workspaces = format!(
        "SELECT DISTINCT workspace FROM runs WHERE id IN ({})",
        join_numbers(runs.iter().map(|run| run.0))
    );
    let mut found = Vec::new();
    for workspace in sql.all(&workspaces, &[], |row| row.get(0).map(WorkspaceId))? {
        // The number of parameters of a statement is limited.
        for keys in keys.chunks(AT_ONCE) {
            found.extend(find_benchmarks(sql, workspace, keys)?);
        }
    }
    Ok(found)
}

/// A query for the measurements of runs.
struct MeasurementQuery<'r> {
    runs: &'r [RunId],
    /// The wanted benchmarks with their row ids. `None` means all benchmarks.
    named: Option<Vec<(i64, BenchmarkKey)>>,
}

/// A row of the table `run_benchmarks`. The benchmark's key is looked up later by `rank`.
struct MeasuredRow {
    run: RunId,
    /// Index of the benchmark among all benchmarks that the query returns, sorted by key.
    rank: usize,
    number: i64,
    conditions: i64,
    verdict: Option<Verdict>,
}

impl MeasurementQuery<'_> {
    /// Appends the measurements of each run, sorted by key, to its list in `into`.
    fn read(self, sql: Sql<'_>, into: &mut BTreeMap<RunId, Vec<Measurement>>) -> Attempt<()> {
        if self.runs.is_empty() || self.named.as_ref().is_some_and(Vec::is_empty) {
            return Ok(());
        }
        let runs = join_numbers(self.runs.iter().map(|run| run.0));
        // If more than `AT_ONCE` benchmarks are wanted, read the rows of all benchmarks in these runs and skip the unwanted ones below.
        let few = self.named.as_ref().filter(|named| named.len() <= AT_ONCE);
        let few = few.map(|named| join_numbers(named.iter().map(|(number, _)| *number)));
        let of = |columns: &str, tables: &str| results_sql(columns, tables, &runs, few.as_deref());
        let mut benchmarks = match self.named {
            Some(named) => named,
            None => sql.all(
                &format!(
                    "SELECT b.package, b.target, b.name, b.id FROM benchmarks b WHERE b.id IN ({})",
                    of("rb.benchmark", "")
                ),
                &[],
                |row| Ok((row.get(3)?, read_key(row, 0)?)),
            )?,
        };
        benchmarks.sort_unstable_by(|(_, a), (_, b)| a.cmp(b));
        let numbers = benchmarks.iter().map(|(number, _)| *number);
        let ranks: HashMap<i64, usize> = numbers.zip(0..).collect();
        let mut known = KnownConditions::default();
        known.read(sql, &of("DISTINCT rb.conditions", ""))?;
        let mut rows = Vec::new();
        let all = of("rb.id, rb.benchmark, rb.run, rb.conditions, rb.verdict", "");
        sql.each(&all, &[], |row| {
            if let Some(rank) = ranks.get(&row.get(1)?) {
                rows.push(MeasuredRow {
                    run: RunId(row.get(2)?),
                    rank: *rank,
                    number: row.get(0)?,
                    conditions: row.get(3)?,
                    verdict: row
                        .get::<Option<WordColumn<_>>>(4)?
                        .map(|WordColumn(verdict)| verdict),
                });
            }
            Ok(())
        })?;
        rows.sort_unstable_by_key(|row| (row.run, row.rank));
        let mut places: BTreeMap<i64, (RunId, usize)> = BTreeMap::new();
        for row in rows {
            let measured = into.entry(row.run).or_default();
            let conditions = known.get(sql, row.conditions)?;
            places.insert(row.number, (row.run, measured.len()));
            measured.push(Measurement {
                processes: Vec::new(),
                failures: Vec::new(),
                benchmark: conditions.benchmark(benchmarks[row.rank].1.clone()),
                target_facts: conditions.target.clone(),
                sampling: conditions.sampling,
                noise_threshold: conditions.noise_threshold,
                verdict: row.verdict,
                counts: BenchmarkCounts::default(),
                described: None,
                expired: None,
            });
        }
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
        let failures = format!(
            "SELECT f.run_benchmark, l.ordinal, f.side, f.message FROM processes l JOIN failures f ON f.process = l.id
             WHERE l.run IN ({runs}) ORDER BY l.ordinal, l.attempt"
        );
        sql.each(&failures, &[], |row| {
            at(row, &mut |measured| {
                measured.failures.push(Failure {
                    process: row.get(1)?,
                    side: row.get::<WordColumn<Side>>(2)?.0,
                    message: row.get(3)?,
                });
                Ok(())
            })
        })?;
        let counts = of(
            "rb.id, c.iterations, c.total, c.functions",
            "JOIN counts c ON c.run_benchmark = rb.id",
        ) + " ORDER BY c.position";
        sql.each(&counts, &[], |row| {
            at(row, &mut |measured| {
                Ok(add_count(&mut measured.counts, row, 1)?)
            })
        })
    }
}

/// Returns the query for the results of `runs` for `benchmarks`, or for all benchmarks. Both are lists of row ids, separated by commas.
pub(super) fn results_sql(
    columns: &str,
    tables: &str,
    runs: &str,
    benchmarks: Option<&str>,
) -> String {
    let condition = benchmarks.map_or_else(String::new, |benchmarks| {
        format!(" AND rb.benchmark IN ({benchmarks})")
    });
    format!("SELECT {columns} FROM run_benchmarks rb {tables} WHERE rb.run IN ({runs}){condition}")
}

/// The facts about a process that become a part of each of its series.
struct ProcessFacts {
    ordinal: u32,
    attempt: u32,
    quantum: Nanos,
    conduct: Option<ProcessUsage>,
    layout: Option<u32>,
}

/// Reads the series of these runs and adds them to the measurements in `into`. `places` says where each measurement is: its keys are row ids of
/// `run_benchmarks`, and its values are a run and an index in the list of this run. If a process was attempted several times, the last attempt that
/// measured a benchmark counts.
///
/// A team's store keeps the series of each month in a separate table. The query limits the row ids of benchmarks and of processes, so that the server
/// does not search the tables of other months.
fn read_series(
    sql: Sql<'_>,
    runs: &[RunId],
    places: &BTreeMap<i64, (RunId, usize)>,
    into: &mut BTreeMap<RunId, Vec<Measurement>>,
) -> Attempt<()> {
    let processes = format!(
        "SELECT id, ordinal, attempt, quantum_ns, conduct, layout FROM processes WHERE run IN ({})",
        join_numbers(runs.iter().map(|run| run.0))
    );
    let processes = sql.all(&processes, &[], |row| {
        let facts = ProcessFacts {
            ordinal: row.get(1)?,
            attempt: row.get(2)?,
            quantum: Nanos(
                row.get::<Option<Unsigned>>(3)?
                    .map_or(0, |quantum| quantum.0),
            ),
            conduct: row.get::<Option<Json<_>>>(4)?.map(|Json(conduct)| conduct),
            layout: row.get(5)?,
        };
        Ok((row.get(0)?, facts))
    })?;
    let processes: BTreeMap<i64, ProcessFacts> = processes.into_iter().collect();
    let (Some((first, _)), Some((last, _))) =
        (processes.first_key_value(), processes.last_key_value())
    else {
        return Ok(());
    };
    // Read in the order of writing, so that no page of the file is read twice.
    let benchmarks: Vec<i64> = places.keys().copied().collect();
    for some in benchmarks.chunks(AT_ONCE) {
        let series = format!(
            "SELECT run_benchmark, process, samples, led, allocations, latencies FROM series
             WHERE run_benchmark IN ({}) AND process BETWEEN {first} AND {last}",
            join_numbers(some.iter().copied())
        );
        let rows = sql.all(&series, &[], |row| {
            Ok(SeriesRow {
                benchmark: row.get(0)?,
                process: row.get(1)?,
                samples: row.get(2)?,
                led: row.get::<FlagValues>(3)?.0,
                allocations: row.get(4)?,
                latencies: row.get(5)?,
            })
        })?;
        let rows = rows.into_par_iter().with_min_len(FEWEST_DECODED);
        let decoded = rows.filter_map(|row| {
            let facts = processes.get(&row.process)?;
            Some((row.benchmark, facts.attempt, row.decode(facts)))
        });
        let mut found: BTreeMap<i64, Vec<(u32, ProcessSeries)>> = BTreeMap::new();
        for (benchmark, attempt, series) in decoded.collect::<Vec<_>>() {
            let (run, place) = places[&benchmark];
            let series = series.map_err(|detail| {
                let of = into.get(&run).and_then(|of_run| of_run.get(place));
                Fault::Content(match of {
                    Some(of) => format!("run {run}, {}: {detail}", of.benchmark.key),
                    None => detail,
                })
            })?;
            found.entry(benchmark).or_default().push((attempt, series));
        }
        for (benchmark, mut series) in found {
            series.sort_by_key(|(attempt, series)| (series.process, std::cmp::Reverse(*attempt)));
            series.dedup_by_key(|(_, series)| series.process);
            let (run, place) = places[&benchmark];
            if let Some(measured) = into.get_mut(&run).and_then(|of_run| of_run.get_mut(place)) {
                measured.processes = series.into_iter().map(|(_, series)| series).collect();
            }
        }
    }
    Ok(())
}

/// Reads the summary values of benchmarks whose samples were removed.
fn read_points(
    sql: Sql<'_>,
    places: &BTreeMap<i64, (RunId, usize)>,
    into: &mut BTreeMap<RunId, Vec<Measurement>>,
) -> Attempt<()> {
    let is_bare = |(run, place): &(RunId, usize)| {
        let of_run = into.get(run).and_then(|of_run| of_run.get(*place));
        of_run.is_some_and(|measured| measured.processes.is_empty())
    };
    let bare = places.iter().filter(|(_, place)| is_bare(place));
    let bare: Vec<i64> = bare.map(|(benchmark, _)| *benchmark).collect();
    for some in bare.chunks(AT_ONCE) {
        let points = format!(
            "SELECT run_benchmark, processes, samples, from_ramp, low_quantile, median FROM points
             WHERE run_benchmark IN ({})",
            join_numbers(some.iter().copied())
        );
        sql.each(&points, &[], |row| {
            let (run, place) = places[&row.get(0)?];
            let of_run = into.get_mut(&run).and_then(|of_run| of_run.get_mut(place));
            if let Some(measured) = of_run {
                measured.expired = Some(RunPoint {
                    processes: row.get::<RowCount>(1)?.0,
                    samples: row.get::<RowCount>(2)?.0,
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

/// A row of the table `series`, before its columns are decoded.
struct SeriesRow {
    benchmark: i64,
    process: i64,
    samples: Vec<u8>,
    led: Vec<bool>,
    allocations: Value,
    latencies: Value,
}

impl SeriesRow {
    fn decode(&self, facts: &ProcessFacts) -> Result<ProcessSeries, String> {
        Ok(ProcessSeries {
            process: facts.ordinal,
            quantum: facts.quantum,
            conduct: facts.conduct,
            layout: facts.layout,
            series: encoding::decode(&self.samples)?,
            extras: Extras {
                led: self.led.clone(),
                allocations: read_allocations((&self.allocations).into())?,
                latencies: read_latencies((&self.latencies).into())?,
            },
        })
    }
}

impl Store {
    /// Checks that every series can be read. If the store is a file, also checks the structure of the file and the references between tables. Opening
    /// a store does not do this, because the check takes as long as reading the whole file.
    pub fn check(&self) -> Result<(), StoreError> {
        self.read(|sql| {
            if sql.is_file() {
                let finding: String =
                    sql.one("PRAGMA integrity_check(1)", &[], |row| row.get(0))?;
                if finding != "ok" {
                    return Err(Fault::Content(finding));
                }
                if sql.exists("PRAGMA foreign_key_check", &[])? {
                    return Err(Fault::Content(
                        "a row refers to a row that does not exist".into(),
                    ));
                }
            }
            let series =
                "SELECT run_benchmark, process, samples, allocations, latencies FROM series";
            sql.each(series, &[], |row| {
                let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
                let (allocations, latencies) = (row.get_ref(3)?, row.get_ref(4)?);
                let whole = encoding::decode(bytes)
                    .and_then(|_| read_allocations(allocations))
                    .and_then(|_| read_latencies(latencies));
                if let Err(detail) = whole {
                    let (benchmark, process): (i64, i64) = (row.get(0)?, row.get(1)?);
                    return Err(Fault::Content(format!(
                        "series (benchmark row {benchmark}, process {process}): {detail}"
                    )));
                }
                Ok(())
            })
        })
    }
}
