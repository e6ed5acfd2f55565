//! What has to go so that kept executables take no more than their quota: first a plan to be shown, then its execution.
//!
//! Runs and their numbers stay; their executables go. A run that a baseline names keeps its own unless the caller insists.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params};

use super::super::access::Survives;
use super::super::columns::Unsigned;
use super::super::error::Attempt;
use super::super::{Store, StoreError};
use super::contents::{self, FolderEntry, KeptFolder};
use perfcheck_analysis::model::{ContentHash, RunId, Timestamp};

/// The quota unless the user says otherwise: 2 GiB, compressed.
pub const DEFAULT_QUOTA_BYTES: u64 = 2 << 30;

/// Why the executables of a run may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// No baseline names the run.
    Unnamed,
    /// Baselines name it; it goes only where the caller insists.
    Named,
}

/// A run whose executables are to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// The run.
    pub run: RunId,
    /// When it began.
    pub started: Timestamp,
    /// The workspace, as people are shown it.
    pub workspace: String,
    /// The baselines that name it, sorted.
    pub baselines: Vec<String>,
    /// Its executables, as (package, target), sorted.
    pub targets: Vec<(String, String)>,
    /// Compressed bytes that this gives back after those before it in the plan have gone.
    pub freed_bytes: u64,
    /// Why it may go.
    pub reason: Reason,
}

/// What would go, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovalPlan {
    /// Compressed bytes that kept executables may take.
    pub quota_bytes: u64,
    /// Compressed bytes that they take now, with what nobody needs.
    pub stored_bytes: u64,
    /// Of these, what no run needs: it goes in any case.
    pub unneeded_bytes: u64,
    /// The runs whose executables go.
    pub removals: Vec<Removal>,
    /// Runs with a name whose executables stay; not empty with `remaining_bytes` above the quota: insisting would help.
    pub spared: Vec<Removal>,
    /// Compressed bytes that will be left.
    pub remaining_bytes: u64,
}

impl RemovalPlan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.removals.is_empty() && self.unneeded_bytes == 0
    }
}

/// What went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemovalSummary {
    /// Runs whose executables went.
    pub removed: Vec<RunId>,
    /// Runs that got a name after the plan was made; theirs stay.
    pub skipped: Vec<RunId>,
    /// Compressed bytes given back.
    pub freed_bytes: u64,
}

impl Store {
    /// What has to go so that kept executables take at most `quota_bytes`: unnamed runs first, then, if `most` is
    /// [`Reason::Named`], those that baselines name; the oldest first.
    pub fn plan_removal(&self, quota_bytes: u64, most: Reason) -> Result<RemovalPlan, StoreError> {
        let contents = KeptFolder::beside(self.path());
        let on_disk = contents.entries()?;
        self.read(|connection| {
            let runs = runs_that_keep(connection)?;
            let sizes = sizes(connection)?;
            let mut users: BTreeMap<ContentHash, usize> = BTreeMap::new();
            for hash in runs.iter().flat_map(|(_, needed)| needed) {
                *users.entry(*hash).or_default() += 1;
            }
            let unneeded_bytes = on_disk
                .iter()
                .filter(|(_, entry, _)| {
                    !matches!(entry, FolderEntry::Content(hash) if users.contains_key(hash))
                })
                .map(|(.., bytes)| bytes)
                .sum();
            let needed_bytes: u64 = users.keys().map(|hash| sizes[hash]).sum();
            let mut plan = RemovalPlan {
                quota_bytes,
                stored_bytes: needed_bytes + unneeded_bytes,
                unneeded_bytes,
                removals: Vec::new(),
                spared: Vec::new(),
                remaining_bytes: needed_bytes,
            };
            choose(&mut plan, runs, &mut users, &sizes, most);
            Ok(plan)
        })
    }

    /// Removes what the plan says, but not what has got a name since it was made, and with it what no run needs.
    pub fn execute(&mut self, plan: &RemovalPlan) -> Result<RemovalSummary, StoreError> {
        let contents = KeptFolder::beside(self.path());
        let mut summary = self.write(Survives::PowerLoss, |connection| {
            let mut summary = RemovalSummary::default();
            for Removal { run, reason, .. } in &plan.removals {
                let named = connection
                    .prepare_cached("SELECT 1 FROM baselines WHERE run = ?1")?
                    .exists([run.0])?;
                if named && *reason == Reason::Unnamed {
                    summary.skipped.push(*run);
                } else {
                    connection.execute("DELETE FROM kept WHERE run = ?1", [run.0])?;
                    summary.removed.push(*run);
                }
            }
            connection.execute(
                "DELETE FROM contents WHERE hash NOT IN (SELECT content FROM kept_contents)",
                [],
            )?;
            Ok(summary)
        })?;
        // Files go after the records that named them are gone for good, and under the write lock, so that nobody
        // records one of them in between. What a kill leaves over goes next time.
        summary.freed_bytes = self.write(Survives::Kill, |connection| {
            let mut freed = 0;
            for (path, entry, bytes) in contents.entries()? {
                let is_needed = match &entry {
                    FolderEntry::Content(hash) => connection
                        .prepare_cached("SELECT 1 FROM contents WHERE hash = ?1")?
                        .exists([hash.0])?,
                    FolderEntry::Abandoned => false,
                };
                if !is_needed {
                    contents::remove(&path, &entry)?;
                    freed += bytes;
                }
            }
            Ok(freed)
        })?;
        Ok(summary)
    }
}

/// Moves runs into the plan until what is left fits.
fn choose(
    plan: &mut RemovalPlan,
    runs: Vec<(Removal, BTreeSet<ContentHash>)>,
    users: &mut BTreeMap<ContentHash, usize>,
    sizes: &BTreeMap<ContentHash, u64>,
    most: Reason,
) {
    // What a spared run needs stays, so a run that needs nothing else gives nothing back.
    let pinned: BTreeSet<ContentHash> = runs
        .iter()
        .filter(|(run, _)| run.reason > most)
        .flat_map(|(_, needed)| needed.iter().copied())
        .collect();
    for (mut run, needed) in runs {
        if run.reason > most {
            plan.spared.push(run);
        } else if plan.remaining_bytes > plan.quota_bytes && !needed.is_subset(&pinned) {
            for hash in needed {
                if let Some(count) = users.get_mut(&hash) {
                    *count -= 1;
                    if *count == 0 {
                        run.freed_bytes += sizes[&hash];
                    }
                }
            }
            plan.remaining_bytes -= run.freed_bytes;
            plan.removals.push(run);
        } else if run.reason == Reason::Named {
            plan.spared.push(run);
        }
    }
}

/// Every run that keeps something and the contents it needs, in the order in which they may go.
fn runs_that_keep(connection: &Connection) -> Attempt<Vec<(Removal, BTreeSet<ContentHash>)>> {
    let mut runs = connection.prepare(
        "SELECT r.id, r.started, w.label FROM runs r JOIN workspaces w ON w.id = r.workspace
         WHERE r.id IN (SELECT run FROM kept)",
    )?;
    let mut rows = runs.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let run = RunId(row.get(0)?);
        let baselines: Vec<String> = connection
            .prepare_cached("SELECT name FROM baselines WHERE run = ?1 ORDER BY name")?
            .query_map([run.0], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let targets = connection
            .prepare_cached("SELECT package, target FROM kept WHERE run = ?1 ORDER BY 1, 2")?
            .query_map([run.0], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let needed = connection
            .prepare_cached(
                "SELECT u.content FROM kept k JOIN kept_contents u ON u.kept = k.id WHERE k.run = ?1",
            )?
            .query_map(params![run.0], |row| row.get(0).map(ContentHash))?
            .collect::<Result<_, _>>()?;
        let reason = if baselines.is_empty() {
            Reason::Unnamed
        } else {
            Reason::Named
        };
        let removal = Removal {
            run,
            started: Timestamp(row.get(1)?),
            workspace: row.get(2)?,
            baselines,
            targets,
            freed_bytes: 0,
            reason,
        };
        found.push((removal, needed));
    }
    found.sort_by_key(|(removal, _)| (removal.reason, removal.started, removal.run));
    Ok(found)
}

fn sizes(connection: &Connection) -> Attempt<BTreeMap<ContentHash, u64>> {
    let mut statement = connection.prepare("SELECT hash, compressed FROM contents")?;
    let sizes = statement.query_map([], |row| {
        Ok((ContentHash(row.get(0)?), row.get::<_, Unsigned>(1)?.0))
    })?;
    Ok(sizes.collect::<Result<_, _>>()?)
}
