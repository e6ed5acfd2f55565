//! Queries over many runs: the runs that measured a benchmark, and the benchmarks of a workspace.
//!
//! Every query but [`Store::same_code_runs`] uses an index, and does not count or scan the whole history.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rusqlite::params;

use super::conditions::{Conditions, KnownConditions, find_benchmark, find_benchmarks};
use super::encoding::{Json, RowCount, WordColumn};
use super::error::Attempt;
use super::runs::{RUN_COLUMNS, read_key, read_run};
use super::sql::{AT_ONCE, Sql, StoredRow, join_numbers};
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, Environment, Metric, Run, RunId, Throughput, Timestamp, Verdict,
};

/// A filter of runs by branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchFilter<'a> {
    /// Runs of any branch.
    Any,
    /// Runs of this branch. `None` selects the runs of a detached `HEAD` and those outside of git.
    Only(Option<&'a str>),
    /// Runs of this branch, and measurements of its past that were made on another branch.
    WithPast {
        /// The branch, as in [`Self::Only`].
        branch: Option<&'a str>,
        /// The measurements that were made on another branch.
        past: &'a BTreeSet<RunId>,
    },
}

impl<'a> BranchFilter<'a> {
    /// Returns the branch that a statement selects.
    fn name(self) -> Option<&'a str> {
        match self {
            Self::Any => None,
            Self::Only(branch) | Self::WithPast { branch, .. } => branch,
        }
    }

    /// Reports whether a run that was made on `branch` is selected.
    pub fn selects(&self, run: RunId, branch: Option<&str>) -> bool {
        match *self {
            Self::Any => true,
            Self::Only(wanted) => branch == wanted,
            Self::WithPast {
                branch: wanted,
                past,
            } => branch == wanted || past.contains(&run),
        }
    }
}

/// A filter of runs by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFilter {
    /// Runs that are accepted as a reference, as a whole or for the benchmark in question.
    Accepted,
    /// Complete runs, except those that measured one part of a suite, controls, and steps of `bisect`. If two builds were measured side by side, only
    /// the candidate's run is selected. Runs are ordered by [`PastMeasurement::at`], not by their numbers.
    Own,
}

/// A query for a part of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryQuery<'a> {
    /// The selection of runs by their branch.
    pub branch: BranchFilter<'a>,
    /// The selection of runs by their state.
    pub runs: RunFilter,
    /// If given, only runs with a smaller number than this one are returned.
    pub before: Option<RunId>,
    /// Largest number of runs that are returned for each benchmark. If there are more, the newest are returned.
    pub limit: usize,
}

/// The results of runs for some benchmarks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The runs to which the measurements in `benchmarks` belong.
    pub runs: BTreeMap<RunId, Run>,
    /// Measurements of each benchmark, newest first.
    pub benchmarks: BTreeMap<BenchmarkKey, Vec<PastMeasurement>>,
}

/// The measurement of a benchmark in an earlier run, without its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct PastMeasurement {
    /// The run.
    pub run: RunId,
    /// Time of the run in a history: the time of its commit if it was measured for the history later, or else its start.
    pub at: Timestamp,
    /// Conditions of the measurement, shared by runs with equal conditions.
    pub conditions: Arc<Conditions>,
    /// The verdict, if there is one.
    pub verdict: Option<Verdict>,
    /// The median time of an iteration in nanoseconds. `None` if the run stored none.
    pub typical_ns: Option<f64>,
    /// Change relative to the run's reference, as a fraction. `None` if the run stored none.
    pub change: Option<f64>,
    /// The run with which the measurement was compared. `None` if it was not compared.
    pub reference: Option<RunId>,
    /// Whether the user accepted the measurement of this benchmark as a new level. It is false if only the run as a whole was accepted.
    pub accepted: bool,
}

/// The runs that have a verdict on a benchmark. If two builds were measured side by side, the code of the base is included.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunLinks {
    /// The runs, newest first.
    pub links: Vec<RunLink>,
    /// The machine and build settings of each measured code. The keys are the values of [`MeasuredCode::environment`].
    pub environments: BTreeMap<i64, Environment>,
}

/// A run that has a verdict on a benchmark. If two builds were measured side by side, the code of the base is included.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLink {
    /// The measured code.
    pub code: MeasuredCode,
    /// Time of the run in a history: the time of its commit if it was measured for the history later, or else its start.
    pub at: Timestamp,
    /// Whether the user accepted the measurement as a new level, with the whole run or for this benchmark.
    pub accepted: bool,
    /// The branch of the checkout. `None` for a detached `HEAD` or outside of git.
    pub branch: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Change relative to the base, as a fraction. `None` if the run stored none.
    pub change: Option<f64>,
    /// Standard error of ln(1 + change). `None` if the run stored none.
    pub standard_error: Option<f64>,
    /// The code of the base if two builds were measured side by side, and `None` for a run of a single build. The base is the run that the verdict
    /// has as its reference. If the store does not have that run, it is the base side of the pair.
    pub base: Option<MeasuredCode>,
}

/// The code that a run measured.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredCode {
    /// The run.
    pub run: RunId,
    /// The commit. `None` if the checkout had changes, or if there was no git checkout.
    pub commit: Option<String>,
    /// Row id of the machine and build.
    pub environment: i64,
}

/// A benchmark and its latest measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkSummary {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// Number of runs that measured it. Base sides and steps of searches do not count.
    pub runs: usize,
    /// The newest complete run that measured the benchmark, or a later one that left it out because both sides ran the same code. If there is none,
    /// the run of the newest commit of the past, or else the newest run that has the benchmark.
    pub last_run: RunId,
    /// Start of `last_run`.
    pub last_started: Timestamp,
    /// Verdict of `last_run`. `None` if it stored none.
    pub verdict: Option<Verdict>,
    /// Median time of an iteration in nanoseconds, in the newest complete run that measured the benchmark. `None` if no such run stored one.
    pub typical_ns: Option<f64>,
    /// Change of `last_run` relative to its reference, as a fraction. `None` if it stored none.
    pub change: Option<f64>,
    /// Amount that one iteration processes.
    pub throughput: Throughput,
    /// Meaning of the samples.
    pub metric: Metric,
}

impl Store {
    /// Lists the runs that measured these benchmarks, newest first, with their conditions. References are chosen from
    /// this list.
    pub fn history(
        &self,
        workspace: WorkspaceId,
        benchmarks: &[BenchmarkKey],
        query: &HistoryQuery<'_>,
    ) -> Result<History, StoreError> {
        self.read(|sql| {
            let mut history = History::default();
            for keys in benchmarks.chunks(AT_ONCE) {
                let known = find_benchmarks(sql, workspace, keys)?;
                history
                    .benchmarks
                    .extend(query_past(sql, workspace, &known, query)?);
            }
            let past = history.benchmarks.values().flatten();
            let runs: BTreeSet<RunId> = past.map(|past| past.run).collect();
            let runs: Vec<RunId> = runs.into_iter().collect();
            for some in runs.chunks(AT_ONCE) {
                let heads = query_runs(sql, some)?;
                history
                    .runs
                    .extend(heads.into_iter().map(|head| (head.id, head)));
            }
            Ok(history)
        })
    }

    /// Returns the changes, as fractions, that the newest controls of a benchmark found, newest first and at most `limit`. A control measures an
    /// executable side by side with itself. Only controls with the same version of the benchmark, the same processor and the same build settings
    /// count.
    pub fn controls(
        &self,
        workspace: WorkspaceId,
        benchmark: &Benchmark,
        environment: &Environment,
        limit: usize,
    ) -> Result<Vec<f64>, StoreError> {
        self.read(|sql| {
            let Some(id) = find_benchmark(sql, workspace, &benchmark.key)? else {
                return Ok(Vec::new());
            };
            let mut known = KnownConditions::default();
            let mut changes = Vec::new();
            sql.each(CONTROLS, params![id, workspace.0], |row| {
                if changes.len() == limit {
                    return Ok(());
                }
                let Json(then) = row.get::<Json<Environment>>(1)?;
                let conditions = known.get(sql, row.get(2)?)?;
                if (&then.host.cpu, &then.host.architecture)
                    == (&environment.host.cpu, &environment.host.architecture)
                    && then.build == environment.build
                    && conditions.version == benchmark.version
                {
                    changes.push(row.get(0)?);
                }
                Ok(())
            })?;
            Ok(changes)
        })
    }

    /// Returns the newest complete run that has a verdict for the benchmark, even if the run did not measure it. Base sides, parts of suites and
    /// steps of searches do not count.
    pub fn newest_verdict(
        &self,
        workspace: WorkspaceId,
        key: &BenchmarkKey,
    ) -> Result<Option<RunId>, StoreError> {
        self.read(|sql| {
            let Some(benchmark) = find_benchmark(sql, workspace, key)? else {
                return Ok(None);
            };
            sql.first(NEWEST_VERDICT, params![benchmark, workspace.0], |row| {
                row.get(0).map(RunId)
            })
        })
    }

    /// Returns the newest runs of a benchmark, at most `limit`, with their references and verdicts. They include runs that did not measure the
    /// benchmark because both sides run the same code.
    pub fn run_links(
        &self,
        workspace: WorkspaceId,
        key: &BenchmarkKey,
        limit: usize,
    ) -> Result<RunLinks, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(|sql| {
            let mut found = RunLinks::default();
            let Some(benchmark) = find_benchmark(sql, workspace, key)? else {
                return Ok(found);
            };
            found.links = sql.all(LINKS, params![benchmark, workspace.0, limit], |row| {
                Ok(RunLink {
                    verdict: row.get::<WordColumn<_>>(0)?.0,
                    change: row.get(1)?,
                    standard_error: row.get(2)?,
                    at: Timestamp(row.get(3)?),
                    branch: row.get(4)?,
                    code: read_code(row, 5)?,
                    base: match row.get::<Option<i64>>(9)? {
                        Some(_) => Some(read_code(row, 9)?),
                        None => None,
                    },
                    accepted: row.get(13)?,
                })
            })?;
            let links = found.links.iter();
            let codes = links.flat_map(|link| [Some(&link.code), link.base.as_ref()]);
            let known: BTreeSet<i64> = codes.flatten().map(|code| code.environment).collect();
            for environment in known {
                let query = "SELECT facts FROM environments WHERE id = ?1";
                let Json(facts) = sql.one(query, params![environment], |row| row.get(0))?;
                found.environments.insert(environment, facts);
            }
            Ok(found)
        })
    }

    /// Returns pairs of runs. The first run of each pair did not measure at least one benchmark, because the benchmark's code was the same in the
    /// second run, which was its reference.
    pub fn same_code_runs(
        &self,
        workspace: WorkspaceId,
    ) -> Result<Vec<(RunId, RunId)>, StoreError> {
        self.read(|sql| {
            sql.all(SAME_CODE, params![workspace.0], |row| {
                Ok((RunId(row.get(0)?), RunId(row.get(1)?)))
            })
        })
    }

    /// Lists the measured benchmarks of a workspace, sorted by key.
    pub fn benchmarks(&self, workspace: WorkspaceId) -> Result<Vec<BenchmarkSummary>, StoreError> {
        self.read(|sql| {
            let mut known = KnownConditions::default();
            let mut benchmarks = Vec::new();
            sql.each(LIST, params![workspace.0], |row| {
                let conditions = known.get(sql, row.get(9)?)?;
                benchmarks.push(BenchmarkSummary {
                    key: read_key(row, 0)?,
                    runs: row.get::<RowCount>(3)?.0,
                    last_run: RunId(row.get(4)?),
                    last_started: Timestamp(row.get(5)?),
                    verdict: row
                        .get::<Option<WordColumn<_>>>(6)?
                        .map(|WordColumn(verdict)| verdict),
                    typical_ns: row.get(7)?,
                    change: row.get(8)?,
                    throughput: conditions.throughput,
                    metric: conditions.metric.clone(),
                });
                Ok(())
            })?;
            Ok(benchmarks)
        })
    }
}

/// The query for the controls of a benchmark. Parameters: benchmark, workspace.
pub(super) const CONTROLS: &str = "
    SELECT rb.change, e.facts, rb.conditions
    FROM runs r INDEXED BY controls
    CROSS JOIN run_benchmarks rb ON rb.benchmark = ?1 AND rb.run = r.id
    JOIN environments e ON e.id = r.environment
    WHERE r.workspace = ?2 AND r.purpose = 'control' AND r.role = 'candidate' AND r.status = 'complete'
      AND rb.change IS NOT NULL
    ORDER BY r.id DESC";

/// The query for the newest run with a verdict on a benchmark. Parameters: benchmark, workspace. It walks the runs, newest first, and looks up the
/// benchmark in each.
pub(super) const NEWEST_VERDICT: &str = "
    SELECT r.id
    FROM runs r INDEXED BY runs_by_workspace
    WHERE r.workspace = ?2 AND r.status = 'complete' AND r.role IS DISTINCT FROM 'base'
      AND coalesce(r.purpose, 'comparison') IN ('comparison', 'control')
      AND (EXISTS (SELECT 1 FROM run_benchmarks rb
                   WHERE rb.benchmark = ?1 AND rb.run = r.id AND rb.verdict IS NOT NULL)
           OR EXISTS (SELECT 1 FROM unmeasured u WHERE u.run = r.id AND u.benchmark = ?1))
    ORDER BY r.id DESC LIMIT 1";

/// The query for the runs of a benchmark and their references. Parameters: benchmark, workspace, limit. It reads only the newest rows.
pub(super) const LINKS: &str = "
    SELECT v.verdict, v.change, v.standard_error, coalesce(r.committed, r.started), r.git_branch, r.id, r.git_commit, r.git_dirty, r.environment,
           b.id, b.git_commit, b.git_dirty, b.environment,
           r.acceptance = 'by-command' OR EXISTS (SELECT 1 FROM accepted_steps a WHERE a.benchmark = ?1 AND a.run = r.id)
    FROM (SELECT * FROM (SELECT run, verdict, change, standard_error, reference FROM run_benchmarks
                         WHERE benchmark = ?1 AND verdict IS NOT NULL ORDER BY run DESC LIMIT ?3) AS measured
          UNION ALL SELECT * FROM (SELECT run, verdict, CAST(NULL AS DOUBLE PRECISION), CAST(NULL AS DOUBLE PRECISION), reference
                                   FROM unmeasured WHERE benchmark = ?1 ORDER BY run DESC LIMIT ?3) AS missed) v
    CROSS JOIN runs r ON r.id = v.run
    LEFT JOIN runs b ON r.role IS NOT NULL AND b.id = coalesce((SELECT f.id FROM runs f WHERE f.id = v.reference), r.partner)
    WHERE r.workspace = ?2 AND r.status = 'complete' AND r.role IS DISTINCT FROM 'base'
      AND coalesce(r.purpose, 'comparison') IN ('comparison', 'past')
    ORDER BY r.id DESC LIMIT ?3";

/// The query for runs with the same code as their reference. Parameter: workspace.
const SAME_CODE: &str = "
    SELECT DISTINCT v.run, v.reference
    FROM (SELECT run, reference FROM unmeasured WHERE verdict = 'unchanged' AND reference IS NOT NULL
          UNION ALL SELECT run, reference FROM run_benchmarks
          WHERE verdict = 'unchanged' AND typical_ns IS NULL AND reference IS NOT NULL) v
    JOIN runs r ON r.id = v.run WHERE r.workspace = ?1";

/// The query for all benchmarks of a workspace.
///
/// The latest measurement is that of a complete run if there is one, because values and verdicts are stored when a run ends. A later run of the same
/// code has a verdict, but no values. Without such a run, it is the measurement of the newest commit of the past.
pub(super) const LIST: &str = "
    SELECT b.package, b.target, b.name, b.runs, coalesce(s.id, rb.run), coalesce(s.started, r.started),
           CASE WHEN s.id IS NULL THEN rb.verdict ELSE 'unchanged' END, rb.typical_ns,
           CASE WHEN s.id IS NULL THEN rb.change END, rb.conditions
    FROM benchmarks b
    JOIN run_benchmarks rb ON rb.benchmark = b.id
        AND rb.run = coalesce(
            (SELECT c.run FROM run_benchmarks c CROSS JOIN runs cr ON cr.id = c.run
             WHERE c.benchmark = b.id AND cr.status = 'complete' AND cr.role IS DISTINCT FROM 'base'
               AND coalesce(cr.purpose, 'comparison') = 'comparison' ORDER BY c.run DESC LIMIT 1),
            (SELECT c.run FROM runs cr INDEXED BY past_runs CROSS JOIN run_benchmarks c ON c.benchmark = b.id AND c.run = cr.id
             WHERE cr.workspace = ?1 AND cr.purpose = 'past' AND cr.role = 'candidate' AND cr.status = 'complete'
             ORDER BY cr.committed DESC LIMIT 1),
            (SELECT max(run) FROM run_benchmarks WHERE benchmark = b.id))
    JOIN runs r ON r.id = rb.run
    LEFT JOIN runs s ON s.id =
        (SELECT u.run FROM unmeasured u CROSS JOIN runs ur ON ur.id = u.run
         WHERE u.benchmark = b.id AND u.run > rb.run AND u.verdict = 'unchanged' AND ur.status = 'complete'
           AND ur.role IS DISTINCT FROM 'base' AND coalesce(ur.purpose, 'comparison') = 'comparison'
         ORDER BY u.run DESC LIMIT 1)
    WHERE b.workspace = ?1 ORDER BY b.package, b.target, b.name";

/// Returns the query for earlier measurements of a benchmark. `benchmark` is its row id in SQL: a number, a parameter or a column. Parameters:
/// workspace, before, limit, branch.
///
/// The query walks the runs that match, newest first, and looks up the benchmark in each. It stops at the benchmark's
/// first run, so a rare branch or a new benchmark does not make it walk the whole history.
pub(super) fn past_sql(benchmark: &str, branch: BranchFilter<'_>, runs: RunFilter) -> String {
    // Name the index, because SQLite would by itself prefer the general indexes to the partial ones.
    let index = match (branch, runs) {
        (BranchFilter::Any, RunFilter::Own) => "runs_by_workspace",
        (BranchFilter::Any, RunFilter::Accepted) => "accepted_runs",
        (_, RunFilter::Own) => "runs_by_branch",
        (_, RunFilter::Accepted) => "accepted_runs_by_branch",
    };
    let branch = branch_sql(branch);
    let accepted = match runs {
        RunFilter::Own => {
            "AND r.status = 'complete' AND r.role IS DISTINCT FROM 'base' AND coalesce(r.purpose, 'comparison') = 'comparison'"
        }
        // This repeats the condition of the partial indexes literally, or SQLite would not use them.
        RunFilter::Accepted => "AND r.acceptance <> 'pending'",
    };
    format!(
        "SELECT {PAST_COLUMNS}
         FROM runs r INDEXED BY {index}
         CROSS JOIN run_benchmarks rb ON rb.benchmark = {benchmark} AND rb.run = r.id
         WHERE r.workspace = ?1 AND r.id < ?2
           AND r.id >= (SELECT min(run) FROM run_benchmarks WHERE benchmark = {benchmark} AND run > 0)
           {branch} {accepted}
         ORDER BY r.id DESC LIMIT ?3"
    )
}

/// Returns the query for measurements of a benchmark in commits of the past, those of the newest commits first. The parameters are those of
/// [`past_sql`].
pub(super) fn past_commits_sql(benchmark: &str, branch: BranchFilter<'_>) -> String {
    let index = match branch {
        BranchFilter::Any => "past_runs",
        BranchFilter::Only(_) | BranchFilter::WithPast { .. } => "past_runs_by_branch",
    };
    let branch = branch_sql(branch);
    // This repeats the condition of the partial indexes literally, or SQLite would not use them.
    format!(
        "SELECT {PAST_COLUMNS}
         FROM runs r INDEXED BY {index}
         CROSS JOIN run_benchmarks rb ON rb.benchmark = {benchmark} AND rb.run = r.id
         WHERE r.workspace = ?1 AND r.id < ?2 {branch}
           AND r.purpose = 'past' AND r.role = 'candidate' AND r.status = 'complete'
         ORDER BY r.committed DESC, r.id DESC LIMIT ?3"
    )
}

/// Returns the query for a benchmark's accepted measurements in runs that were not accepted as a whole. The parameters are those of [`past_sql`].
pub(super) fn accepted_steps_sql(benchmark: &str, branch: BranchFilter<'_>) -> String {
    let branch = branch_sql(branch);
    format!(
        "SELECT {PAST_COLUMNS}
         FROM accepted_steps s
         CROSS JOIN run_benchmarks rb ON rb.benchmark = s.benchmark AND rb.run = s.run
         CROSS JOIN runs r ON r.id = s.run
         WHERE s.benchmark = {benchmark} AND r.workspace = ?1 AND s.run < ?2
           AND r.acceptance = 'pending' {branch}
         ORDER BY s.run DESC LIMIT ?3"
    )
}

/// The columns that [`read_past`] reads, with `run_benchmarks` as `rb` and `runs` as `r`.
const PAST_COLUMNS: &str = "rb.run, rb.conditions, rb.verdict, rb.typical_ns, rb.change, rb.reference, \
     EXISTS (SELECT 1 FROM accepted_steps a WHERE a.benchmark = rb.benchmark AND a.run = rb.run) AS accepted, rb.benchmark, \
     coalesce(r.committed, r.started) AS moment, r.git_branch";

fn branch_sql(branch: BranchFilter<'_>) -> &'static str {
    match branch {
        // This condition is always true. It is there because every parameter must occur in the statement.
        BranchFilter::Any => "AND CAST(?4 AS TEXT) IS NULL",
        BranchFilter::Only(_) | BranchFilter::WithPast { .. } => {
            "AND r.git_branch IS NOT DISTINCT FROM ?4"
        }
    }
}

/// Returns the earlier measurements of each benchmark, newest first. Benchmarks without earlier measurements are left out.
fn query_past(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    benchmarks: &HashMap<i64, BenchmarkKey>,
    query: &HistoryQuery<'_>,
) -> Attempt<BTreeMap<BenchmarkKey, Vec<PastMeasurement>>> {
    if benchmarks.is_empty() {
        return Ok(BTreeMap::new());
    }
    let before = query.before.map_or(i64::MAX, |run| run.0);
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    // A statement cannot tell which measurements of other branches are wanted, so it returns those of all branches.
    let (branch_of_past, limit_of_past) = match query.branch {
        BranchFilter::WithPast { .. } => (BranchFilter::Any, i64::MAX),
        shown => (shown, limit),
    };
    let mut known = KnownConditions::default();
    let mut found: HashMap<i64, Vec<PastMeasurement>> = HashMap::new();
    let mut add = |of_one: &dyn Fn(&str) -> String, branch: BranchFilter<'_>, limit: i64| {
        let values = params![workspace.0, before, limit, branch.name()];
        sql.each_by_number(benchmarks.keys().copied(), of_one, values, |row| {
            let past = read_past(sql, &mut known, row)?;
            let made_on: Option<String> = row.get(9)?;
            if query.branch.selects(past.run, made_on.as_deref()) {
                found.entry(row.get(7)?).or_default().push(past);
            }
            Ok(())
        })
    };
    add(
        &|benchmark| past_sql(benchmark, query.branch, query.runs),
        query.branch,
        limit,
    )?;
    match query.runs {
        RunFilter::Accepted => add(
            &|benchmark| accepted_steps_sql(benchmark, query.branch),
            query.branch,
            limit,
        )?,
        RunFilter::Own => add(
            &|benchmark| past_commits_sql(benchmark, branch_of_past),
            branch_of_past,
            limit_of_past,
        )?,
    }
    for past in found.values_mut() {
        match query.runs {
            RunFilter::Accepted => past.sort_by_key(|past| Reverse(past.run)),
            RunFilter::Own => past.sort_by_key(|past| Reverse((past.at, past.run))),
        }
        past.truncate(query.limit);
    }
    let by_key = found
        .into_iter()
        .filter_map(|(benchmark, past)| Some((benchmarks.get(&benchmark)?.clone(), past)));
    Ok(by_key.collect())
}

fn read_past(
    sql: Sql<'_>,
    known: &mut KnownConditions,
    row: &StoredRow<'_>,
) -> Attempt<PastMeasurement> {
    let conditions = known.get(sql, row.get(1)?)?;
    Ok(PastMeasurement {
        run: RunId(row.get(0)?),
        at: Timestamp(row.get(8)?),
        conditions,
        verdict: row
            .get::<Option<WordColumn<_>>>(2)?
            .map(|WordColumn(verdict)| verdict),
        typical_ns: row.get(3)?,
        change: row.get(4)?,
        reference: row.get::<Option<_>>(5)?.map(RunId),
        accepted: row.get(6)?,
    })
}

/// Reads the code of a run from four columns: run, commit, whether the checkout was dirty, and environment. `first`
/// is the first column.
fn read_code(row: &StoredRow<'_>, first: usize) -> rusqlite::Result<MeasuredCode> {
    let commit: Option<String> = row.get(first + 1)?;
    let is_dirty: Option<bool> = row.get(first + 2)?;
    Ok(MeasuredCode {
        run: RunId(row.get(first)?),
        commit: commit.filter(|_| is_dirty == Some(false)),
        environment: row.get(first + 3)?,
    })
}

fn query_runs(sql: Sql<'_>, runs: &[RunId]) -> Attempt<Vec<Run>> {
    let query = format!(
        "SELECT {RUN_COLUMNS} FROM runs r JOIN environments e ON e.id = r.environment WHERE r.id IN ({})",
        join_numbers(runs.iter().map(|run| run.0))
    );
    sql.all(&query, &[], read_run)
}
