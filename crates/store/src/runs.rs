//! Stores runs. A run begins as incomplete, ends once, and is accepted by its result or by a command.
//!
//! A side-by-side measurement is stored as a pair of runs that begin, end and are removed together. Invariant: round r of the pair is process r of
//! both runs, recorded like any other process.

use rusqlite::params;
use std::collections::HashMap;

use super::conditions::{intern_benchmark, intern_json};
use super::encoding::{Json, RowCount, Unsigned, WordColumn, pack};
use super::error::Attempt;
use super::sql::{AT_ONCE, Durability, Sql, StoredRow, join_numbers};
use super::{Store, StoreError, WorkspaceId};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, BySide, GitState, NewRun, Pair, PastCommit, Purpose, Run, RunEnd,
    RunId, RunStatus, RunVerdict, Side, Tally, Timestamp, Verdict,
};

/// A run and a summary of its results.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Workspace of the run.
    pub workspace: WorkspaceId,
    /// The run.
    pub run: Run,
    /// Exit code of the command. `None` until the run has ended.
    pub exit_code: Option<u8>,
    /// Number of benchmarks measured.
    pub benchmarks: usize,
    /// How many benchmarks got each verdict.
    pub tally: Tally,
}

impl Store {
    /// Begins a run. It is incomplete until [`Store::finish_run`].
    pub fn begin_run(&mut self, workspace: WorkspaceId, run: &NewRun) -> Result<RunId, StoreError> {
        self.lock_for_measuring();
        self.write(Durability::Kill, |sql| insert_run(sql, workspace, run))
    }

    /// Ends a run and stores its verdicts. It is an error if the run has ended before. Once this function returns, the whole run survives a power
    /// failure.
    pub fn finish_run(&mut self, run: RunId, end: &RunEnd) -> Result<(), StoreError> {
        self.write(Durability::PowerLoss, |sql| end_run(sql, run, end))
    }

    /// Returns a run. It is an error if the run does not exist.
    pub fn run(&self, run: RunId) -> Result<Run, StoreError> {
        self.run_summary(run).map(|summary| summary.run)
    }

    /// Returns a run and a summary of its results.
    pub fn run_summary(&self, run: RunId) -> Result<RunSummary, StoreError> {
        self.read(|sql| {
            let mut runs = query_summaries(sql, "r.id = ?1 LIMIT ?2", run.0, 1)?;
            Ok(runs.pop().ok_or(StoreError::NoSuchRun(run))?)
        })
    }

    /// Returns the runs of a workspace, newest first: at most `limit`, or all if it is `None`.
    pub fn runs(
        &self,
        workspace: WorkspaceId,
        limit: Option<usize>,
    ) -> Result<Vec<RunSummary>, StoreError> {
        let limit = limit
            .and_then(|limit| i64::try_from(limit).ok())
            .unwrap_or(i64::MAX);
        self.read(|sql| {
            query_summaries(
                sql,
                "r.workspace = ?1 ORDER BY abs(r.id) DESC, r.id DESC LIMIT ?2",
                workspace.0,
                limit,
            )
        })
    }

    /// Returns the newest complete run of a workspace. Runs of one part of a suite count, but the steps of a search and measurements of the past do
    /// not. If two builds were measured side by side, the candidate's run is returned and not the base's.
    pub fn latest_run(&self, workspace: WorkspaceId) -> Result<Option<RunId>, StoreError> {
        self.read(|sql| {
            sql.first(
                "SELECT id FROM runs WHERE workspace = ?1 AND status = 'complete'
                 AND role IS DISTINCT FROM 'base' AND coalesce(purpose, 'comparison') NOT IN ('search', 'past')
                 ORDER BY id DESC LIMIT 1",
                params![workspace.0],
                |row| row.get(0).map(RunId),
            )
        })
    }

    /// Returns the newest complete run of the commit whose hash begins with `prefix`. It is an error if there are several such commits.
    ///
    /// Runs of a clean checkout are preferred, because a dirty one differs from the commit. Among these, runs of a single build are preferred to the
    /// sides of a side-by-side measurement, which are sampled differently. Runs of one part of a suite are never returned.
    pub fn run_of_commit(
        &self,
        workspace: WorkspaceId,
        prefix: &str,
    ) -> Result<Option<RunId>, StoreError> {
        let prefix = prefix.to_ascii_lowercase();
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        self.read(|sql| {
            // `g` follows the last hexadecimal digit. A range condition lets SQLite use the index.
            let mut commits: Vec<String> = sql.all(
                "SELECT DISTINCT git_commit FROM runs WHERE workspace = ?1 AND status = 'complete'
                 AND git_commit >= ?2 AND git_commit < ?2 || 'g' ORDER BY git_commit",
                params![workspace.0, prefix],
                |row| row.get(0),
            )?;
            if commits.len() > 1 {
                return Err(StoreError::AmbiguousCommit { prefix: prefix.clone(), commits }.into());
            }
            let Some(commit) = commits.pop() else {
                return Ok(None);
            };
            sql.first(
                "SELECT id FROM runs WHERE workspace = ?1 AND git_commit = ?2 AND status = 'complete' AND part IS NULL
                 ORDER BY git_dirty, partner IS NOT NULL, abs(id) DESC, id DESC LIMIT 1",
                params![workspace.0, commit],
                |row| row.get(0).map(RunId),
            )
        })
    }

    /// Returns the newest complete measurement of the past that compared the commit `candidate` with the commit `base` for this series.
    pub fn past_pair(
        &self,
        workspace: WorkspaceId,
        commits: BySide<&str>,
        series: &str,
    ) -> Result<Option<RunId>, StoreError> {
        self.read(|sql| {
            sql.first(
                "SELECT r.id FROM runs r JOIN runs b ON b.id = r.partner
                 WHERE r.workspace = ?1 AND r.git_commit = ?2 AND b.git_commit = ?3 AND r.series = ?4
                   AND r.purpose = 'past' AND r.role = 'candidate' AND r.status = 'complete' AND r.git_dirty = 0 AND b.git_dirty = 0
                 ORDER BY r.id DESC LIMIT 1",
                params![workspace.0, commits.candidate, commits.base, series],
                |row| row.get(0).map(RunId),
            )
        })
    }

    /// Returns the complete measurements of the past that were not made on `branch`, each with its commit. The commit may be on this branch, too.
    pub fn past_runs_elsewhere(
        &self,
        workspace: WorkspaceId,
        branch: Option<&str>,
    ) -> Result<Vec<(RunId, String)>, StoreError> {
        self.read(|sql| {
            sql.all(
                "SELECT r.id, r.git_commit FROM runs r
                 WHERE r.workspace = ?1 AND r.git_branch IS DISTINCT FROM ?2 AND r.git_commit IS NOT NULL
                   AND r.purpose = 'past' AND r.role = 'candidate' AND r.status = 'complete'",
                params![workspace.0, branch],
                |row| Ok((RunId(row.get(0)?), row.get(1)?)),
            )
        })
    }

    /// Returns the verdicts of a run, sorted by benchmark, including those on benchmarks that the run did not measure.
    pub fn verdicts(&self, run: RunId) -> Result<Vec<RunVerdict>, StoreError> {
        self.read(|sql| {
            sql.all(
                "SELECT b.package, b.target, b.name, v.verdict, v.typical_ns, v.change, v.reference, v.standard_error
                 FROM (SELECT benchmark, verdict, typical_ns, change, reference, standard_error FROM run_benchmarks
                       WHERE run = ?1 AND verdict IS NOT NULL
                       UNION ALL
                       SELECT benchmark, verdict, NULL, NULL, reference, NULL FROM unmeasured WHERE run = ?1) v
                 JOIN benchmarks b ON b.id = v.benchmark ORDER BY 1, 2, 3",
                params![run.0],
                |row| {
                Ok(RunVerdict {
                    key: read_key(row, 0)?,
                    verdict: row.get::<WordColumn<_>>(3)?.0,
                    typical_ns: row.get(4)?,
                    change: row.get(5)?,
                    reference: row.get::<Option<_>>(6)?.map(RunId),
                    standard_error: row.get(7)?,
                })
            })
        })
    }
}

/// Inserts a run that has just begun, with the next run number.
pub(super) fn insert_run(sql: Sql<'_>, workspace: WorkspaceId, run: &NewRun) -> Attempt<RunId> {
    insert(sql, workspace, run, None)
}

/// Inserts the base of a pair. Its number is derived from the candidate's.
pub(super) fn insert_base(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    run: &NewRun,
    candidate: RunId,
) -> Attempt<RunId> {
    insert(sql, workspace, run, Some(candidate.base()))
}

fn insert(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    run: &NewRun,
    number: Option<RunId>,
) -> Attempt<RunId> {
    let decision = &run.decision;
    let levels = [
        decision.noise_threshold,
        decision.significance_level,
        decision.confidence_level,
    ];
    if !levels.into_iter().all(f64::is_finite) {
        return Err(StoreError::NotFinite(
            "the noise threshold, significance level or confidence level",
        )
        .into());
    }
    let environment = intern_json(sql, "environments", &run.environment)?;
    let git = run.git.as_ref();
    // Without an explicit number the database assigns the next one.
    let (column, value) =
        number.map_or_else(Default::default, |run| ("id, ", format!("{}, ", run.0)));
    sql.one(
        &format!(
            "INSERT INTO runs ({column}workspace, environment, started, git_commit, git_branch, git_dirty,
                               load, seed, decision, tool_version, build, part, purpose, committed, series)
             VALUES ({value}?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) RETURNING id"
        ),
        params![
            workspace.0,
            environment,
            run.started.0,
            git.map(|git| &git.commit),
            git.and_then(|git| git.branch.as_ref()),
            git.map(|git| git.dirty),
            run.load,
            Unsigned(run.seed),
            Json(decision),
            run.tool_version,
            run.build,
            run.partition.as_ref().map(Json),
            run.partition.as_ref().map(|_| WordColumn(Purpose::Part)),
            run.past.as_ref().map(|past| past.committed.0),
            run.past.as_ref().map(|past| &past.series),
        ],
        |row| row.get(0).map(RunId),
    )
}

/// Records the end of a run. A base stays `pending`, even if `end` accepts it.
pub(super) fn end_run(sql: Sql<'_>, run: RunId, end: &RunEnd) -> Attempt<()> {
    let workspace = workspace_of_open_run(sql, run)?;
    for verdict in &end.verdicts {
        record_verdict(sql, workspace, run, verdict)?;
    }
    let acceptance = match query_side(sql, run)? {
        Some(Side::Base) => Acceptance::Pending,
        Some(Side::Candidate) | None => end.acceptance,
    };
    sql.run(
        "UPDATE runs SET status = ?2, finished = ?3, acceptance = ?4, exit_code = ?5, conclusion = ?6
         WHERE id = ?1",
        params![
            run.0,
            WordColumn(RunStatus::Complete),
            end.finished.0,
            WordColumn(acceptance),
            end.exit_code,
            end.conclusion.as_deref().map(pack).transpose()?,
        ],
    )?;
    Ok(())
}

/// Returns the side of the run in its pair, if it belongs to one.
pub(super) fn query_side(sql: Sql<'_>, run: RunId) -> Attempt<Option<Side>> {
    let side: Option<WordColumn<Side>> = sql
        .first(
            "SELECT role FROM runs WHERE id = ?1",
            params![run.0],
            |row| row.get(0),
        )?
        .ok_or(StoreError::NoSuchRun(run))?;
    Ok(side.map(|WordColumn(side)| side))
}

/// Returns the workspace of a run that has not ended. It is an error if the run has ended.
pub(super) fn workspace_of_open_run(sql: Sql<'_>, run: RunId) -> Attempt<WorkspaceId> {
    let (workspace, WordColumn(status)) = sql
        .first(
            "SELECT workspace, status FROM runs WHERE id = ?1",
            params![run.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?
        .ok_or(StoreError::NoSuchRun(run))?;
    match status {
        RunStatus::Incomplete => Ok(WorkspaceId(workspace)),
        RunStatus::Complete => Err(StoreError::RunEnded(run).into()),
    }
}

fn record_verdict(
    sql: Sql<'_>,
    workspace: WorkspaceId,
    run: RunId,
    found: &RunVerdict,
) -> Attempt<()> {
    let benchmark = intern_benchmark(sql, workspace, &found.key)?;
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let reference = found.reference.map(|run| run.0);
    let measured = sql.run(
        "UPDATE run_benchmarks SET verdict = ?3, typical_ns = ?4, change = ?5, reference = ?6, standard_error = ?7
         WHERE benchmark = ?1 AND run = ?2",
        params![
            benchmark,
            run.0,
            WordColumn(found.verdict),
            finite(found.typical_ns),
            finite(found.change),
            reference,
            finite(found.standard_error),
        ],
    )?;
    if measured == 0 {
        sql.run(
            "INSERT INTO unmeasured (run, benchmark, verdict, reference) VALUES (?1, ?2, ?3, ?4)",
            params![run.0, benchmark, WordColumn(found.verdict), reference],
        )?;
    }
    Ok(())
}

/// Reads a benchmark key from three columns, the first of which is `first`.
pub(super) fn read_key(row: &StoredRow<'_>, first: usize) -> rusqlite::Result<BenchmarkKey> {
    Ok(BenchmarkKey {
        package: row.get(first)?,
        target: row.get(first + 1)?,
        id: row.get(first + 2)?,
    })
}

/// The columns that [`read_run`] reads, with `runs` as `r` and `environments` as `e`.
pub(super) const RUN_COLUMNS: &str = "r.id, r.started, r.finished, r.status, r.acceptance, r.git_commit, r.git_branch, \
     r.git_dirty, r.load, r.seed, r.decision, r.tool_version, e.facts, r.partner, r.role, r.plan, \
     r.source, r.build, r.part, r.committed, r.series";

/// Reads a run from the columns [`RUN_COLUMNS`].
pub(super) fn read_run(row: &StoredRow<'_>) -> rusqlite::Result<Run> {
    let commit: Option<String> = row.get(5)?;
    let git = match commit {
        Some(commit) => Some(GitState {
            commit,
            branch: row.get(6)?,
            dirty: row.get(7)?,
        }),
        None => None,
    };
    let pair = match row.get(13)? {
        Some(partner) => Some(Pair {
            partner: RunId(partner),
            side: row.get::<WordColumn<_>>(14)?.0,
        }),
        None => None,
    };
    let past = match row.get(19)? {
        Some(committed) => Some(PastCommit {
            committed: Timestamp(committed),
            series: row.get(20)?,
        }),
        None => None,
    };
    Ok(Run {
        id: RunId(row.get(0)?),
        begun: NewRun {
            started: Timestamp(row.get(1)?),
            git,
            load: row.get(8)?,
            seed: row.get::<Unsigned>(9)?.0,
            decision: row.get::<Json<_>>(10)?.0,
            tool_version: row.get(11)?,
            environment: row.get::<Json<_>>(12)?.0,
            build: row.get(17)?,
            partition: row.get::<Option<Json<_>>>(18)?.map(|Json(part)| part),
            past,
        },
        finished: row.get::<Option<_>>(2)?.map(Timestamp),
        status: row.get::<WordColumn<_>>(3)?.0,
        acceptance: row.get::<WordColumn<_>>(4)?.0,
        pair,
        plan: row.get(15)?,
        source: row.get::<Option<Json<_>>>(16)?.map(|Json(source)| source),
    })
}

fn query_summaries(sql: Sql<'_>, which: &str, number: i64, limit: i64) -> Attempt<Vec<RunSummary>> {
    let heads = format!(
        "SELECT {RUN_COLUMNS}, r.workspace, r.exit_code
         FROM runs r JOIN environments e ON e.id = r.environment WHERE {which}",
    );
    let mut runs = Vec::new();
    sql.each(&heads, params![number, limit], |row| {
        runs.push(RunSummary {
            workspace: WorkspaceId(row.get(21)?),
            run: read_run(row)?,
            exit_code: row.get(22)?,
            benchmarks: 0,
            tally: Tally::default(),
        });
        Ok(())
    })?;
    for some in runs.chunks_mut(AT_ONCE) {
        count_benchmarks(sql, some)?;
    }
    Ok(runs)
}

/// Counts the benchmarks of runs, in total and by verdict.
fn count_benchmarks(sql: Sql<'_>, runs: &mut [RunSummary]) -> Attempt<()> {
    let ids = join_numbers(runs.iter().map(|summary| summary.run.id.0));
    let counts = format!(
        "SELECT run, verdict, count(*), 1 FROM run_benchmarks WHERE run IN ({ids}) GROUP BY run, verdict
         UNION ALL SELECT run, verdict, count(*), 0 FROM unmeasured WHERE run IN ({ids}) GROUP BY run, verdict"
    );
    let mut found: HashMap<RunId, (usize, Vec<Verdict>)> = HashMap::new();
    sql.each(&counts, &[], |group| {
        let (benchmarks, verdicts) = found.entry(RunId(group.get(0)?)).or_default();
        let RowCount(count) = group.get(2)?;
        *benchmarks += count * group.get::<RowCount>(3)?.0;
        if let Some(WordColumn(verdict)) = group.get::<Option<WordColumn<Verdict>>>(1)? {
            verdicts.extend(std::iter::repeat_n(verdict, count));
        }
        Ok(())
    })?;
    for summary in runs {
        let (benchmarks, verdicts) = found.remove(&summary.run.id).unwrap_or_default();
        summary.benchmarks = benchmarks;
        summary.tally = verdicts.into_iter().collect();
    }
    Ok(())
}

impl Store {
    /// Begins both sides of a side-by-side measurement and returns their numbers. They are incomplete until
    /// [`Store::finish_pair`].
    ///
    /// `plan` has the boundaries and budgets of the decision, which are fixed before the first round. It is stored unchanged.
    pub fn begin_pair(
        &mut self,
        workspace: WorkspaceId,
        sides: BySide<&NewRun>,
        plan: &str,
        purpose: Purpose,
    ) -> Result<BySide<RunId>, StoreError> {
        self.lock_for_measuring();
        self.write(Durability::Kill, |sql| {
            let candidate = insert_run(sql, workspace, sides.candidate)?;
            let base = insert_base(sql, workspace, sides.base, candidate)?;
            for (run, side) in [(base, Side::Base), (candidate, Side::Candidate)] {
                mark_side(sql, run, (side, plan, purpose))?;
            }
            Ok(BySide { base, candidate })
        })
    }

    /// Ends both sides in one transaction, as [`Store::finish_run`] ends a run. The base stays `pending`,
    /// even if its end accepts it.
    pub fn finish_pair(
        &mut self,
        runs: BySide<RunId>,
        ends: BySide<&RunEnd>,
    ) -> Result<(), StoreError> {
        self.write(Durability::PowerLoss, |sql| {
            end_run(sql, runs.base, ends.base)?;
            end_run(sql, runs.candidate, ends.candidate)
        })
    }
}

/// Marks a run as one side of a pair, and stores the plan and the purpose of the pair with it.
pub(super) fn mark_side(
    sql: Sql<'_>,
    run: RunId,
    (side, plan, purpose): (Side, &str, Purpose),
) -> Attempt<()> {
    sql.run(
        "UPDATE runs SET partner = -id, role = ?2, plan = ?3, purpose = ?4 WHERE id = ?1",
        params![run.0, WordColumn(side), plan, WordColumn(purpose)],
    )?;
    Ok(())
}
