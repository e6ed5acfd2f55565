//! Measures commits of the past: each side by side with an older commit, and stored as a run that stands at the time of its commit in a history.
//!
//! All pairs of a series share the selection of benchmarks, the machine and the build settings. The store records them with each pair, so that a pair
//! that was measured for the same series is found without building anything. Invariant: such a run never becomes a reference.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::build::BuildPair;
use super::cache_build::{CacheBuild, CommitBuild};
use super::judge::Measured;
use super::pair::{PairingRules, pair_builds};
use super::paired::PairedMeasurement;
use super::prepare::find_benchmarks;
use super::record::AcceptancePolicy;
use super::reference::ReferenceBuild;
use super::request::Request;
use crate::error::{AppError, first_line};
use crate::options::{CommonOptions, ComparisonOptions, Effort};
use crate::session::{Context, World};
use crate::stored::conclusions::read_conclusion;
use perfcheck_analysis::compare::{Comparison, Estimate};
use perfcheck_analysis::findings::{Conclusion, GatePolicy, Row};
use perfcheck_analysis::model::{
    BenchesFrom, BenchmarkKey, BySide, Environment, GitState, PastCommit, ProgramBenchmark,
    Purpose, RunId, Side, Timestamp, Verdict,
};
use perfcheck_bench::measure::{DiscoveredBenches, Filter};
use perfcheck_build::sides::{BuiltSide, PreparedSides};
use perfcheck_host::{CommitTime, Revision};

/// The settings that all pairs of a series share.
pub(crate) struct PastSeries<'a> {
    pub(crate) context: &'a Context,
    pub(crate) common: &'a CommonOptions,
    pub(crate) filter: &'a Filter,
    pub(crate) comparison: &'a ComparisonOptions,
    /// How much to measure in each pair.
    pub(crate) effort: Effort,
    pub(crate) timeout: Duration,
    pub(crate) benches_from: BenchesFrom,
    /// The selected programs.
    pub(crate) programs: Vec<ProgramBenchmark>,
    /// The branch to which the commits belong, if any.
    pub(crate) branch: Option<String>,
    /// The time of each commit in a history.
    pub(crate) times: BTreeMap<String, Timestamp>,
    pub(crate) environment: Environment,
    /// The load average before the command. It is recorded only with the first pair: later, it would mainly show the load of the builds.
    pub(crate) load: Cell<Option<f64>>,
    pub(crate) seed: u64,
}

/// The build of a commit, and the selected benchmarks in it.
pub(crate) struct BuiltCommit {
    pub(crate) revision: Revision,
    pub(crate) side: BuiltSide,
    pub(crate) found: DiscoveredBenches,
}

/// The result of a pair for one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairRow {
    pub(crate) key: BenchmarkKey,
    pub(crate) verdict: Verdict,
    /// The change, if the benchmark was measured on both sides.
    pub(crate) change: Option<Estimate>,
    /// The side that takes a slow path. If the change itself is no more than noise, the slow path has decided the verdict.
    pub(crate) slow_side: Option<Side>,
    /// The noise threshold of the comparison, or 0 without one.
    pub(crate) noise_threshold: f64,
}

/// A pair of commits in the store.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredPair {
    pub(crate) run: RunId,
    pub(crate) rows: Vec<PairRow>,
}

/// The result of measuring a pair of commits.
pub(crate) enum PairResult {
    Measured(StoredPair),
    /// The commits cannot be measured against each other.
    Incomparable {
        reason: String,
    },
}

impl PairRow {
    pub(crate) fn from_row(row: &Row<'_>) -> Option<Self> {
        let comparison = row.comparison.as_ref();
        Some(Self {
            key: row.key.clone(),
            verdict: row.verdict?,
            change: comparison.and_then(|found| found.change),
            slow_side: comparison.and_then(Comparison::slow_side),
            noise_threshold: comparison.map_or(0.0, |found| found.noise_threshold),
        })
    }

    /// Reports whether the benchmark became slower or faster.
    pub(crate) fn is_step(&self) -> bool {
        matches!(self.verdict, Verdict::Regressed | Verdict::Improved)
    }
}

impl StoredPair {
    fn from_conclusion(run: RunId, concluded: &Conclusion<'_>) -> Self {
        Self {
            run,
            rows: concluded
                .rows
                .iter()
                .filter_map(PairRow::from_row)
                .collect(),
        }
    }

    /// Reports whether nothing was measured because both commits run the same code.
    pub(crate) fn is_same_code(&self) -> bool {
        let is_same = |row: &PairRow| row.verdict == Verdict::Unchanged && row.change.is_none();
        let is_alone = |row: &PairRow| matches!(row.verdict, Verdict::New | Verdict::Missing);
        self.rows.iter().any(is_same) && self.rows.iter().all(|row| is_same(row) || is_alone(row))
    }
}

/// Identifies the pairs that answer the same question. Pairs with an equal series and equal commits are not measured twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeriesKey(String);

impl SeriesKey {
    /// Returns the key of the pairs that have only the benchmarks `only`.
    pub(crate) fn for_benchmarks(&self, only: &BTreeSet<BenchmarkKey>) -> Self {
        Self::compute(&format!("{} {only:?}", self.0))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn compute(question: &str) -> Self {
        Self(blake3::hash(question.as_bytes()).to_hex()[..24].to_owned())
    }
}

impl PastSeries<'_> {
    /// Returns the key of the series. `newest` is the build of its newest commit: if all commits are built with the benches of the work tree, their
    /// sources belong to the question. Returns `None` if the key needs such a build and there is none yet.
    pub(crate) fn key(&self, newest: Option<&BuiltCommit>) -> Option<SeriesKey> {
        let (host, build) = (&self.environment.host, &self.environment.build);
        let settings = self.common.cargo.decisive();
        let sources: Vec<_> = match self.benches_from {
            BenchesFrom::Revision => Vec::new(),
            BenchesFrom::WorkTree => (newest?.side.targets.iter())
                .map(|target| &target.sources)
                .collect(),
        };
        let mut question = format!(
            "{:?} {:?} {build:?} {settings:?} {:?} {:?} {:?} {sources:?}",
            host.cpu,
            host.architecture,
            self.context.tables.workspace.harness,
            self.filter,
            self.benches_from,
        );
        if !self.programs.is_empty() {
            // The work tree says how to run the programs of all commits.
            question = format!("{question} {:?}", self.programs);
        }
        Some(SeriesKey::compute(&question))
    }

    /// Returns the pair if it was measured before.
    pub(crate) fn find_stored(
        &self,
        commits: BySide<&Revision>,
        key: &SeriesKey,
    ) -> Result<Option<StoredPair>, AppError> {
        let Some((store, workspace)) = self.context.open_stored()? else {
            return Ok(None);
        };
        let commits = BySide {
            base: commits.base.commit.as_str(),
            candidate: commits.candidate.commit.as_str(),
        };
        let Some(run) = store.past_pair(workspace, commits, key.as_str())? else {
            return Ok(None);
        };
        let concluded = read_conclusion(&store, run)?;
        Ok(concluded.map(|concluded| StoredPair::from_conclusion(run, &concluded)))
    }

    /// Builds a commit and lists its selected benchmarks. `Unmeasurable` has the reason why the commit cannot be measured.
    pub(crate) fn build(
        &self,
        revision: &Revision,
        world: &mut World<'_>,
    ) -> Result<CommitBuild<Box<BuiltCommit>>, AppError> {
        let order = CacheBuild {
            benches_from: self.benches_from,
            ..CacheBuild::new(self.context, self.common)
        };
        let side = match order.try_build_commit(revision, world)? {
            CommitBuild::Ready(side) => side,
            CommitBuild::Unmeasurable { reason, is_lasting } => {
                return Ok(CommitBuild::Unmeasurable { reason, is_lasting });
            }
        };
        let targets = side.bench_targets();
        let mut found = find_benchmarks(self.filter, self.timeout, targets, None, world)?;
        // As in `history` itself, a complete id selects only that benchmark.
        let is_named =
            |key: &BenchmarkKey| matches!(&self.filter.words[..], [word] if *word == key.id);
        let mut listed = found.targets.iter().flat_map(|target| &target.benchmarks);
        if listed.any(|benchmark| is_named(&benchmark.key)) {
            found.retain(is_named);
        }
        if found.is_empty() {
            let failure = found.failures.first();
            let reason = failure.map_or_else(
                || "the commit has no selected benchmark".to_owned(),
                |failure| format!("a bench target failed: {}", first_line(&failure.message)),
            );
            return Ok(CommitBuild::Unmeasurable {
                reason,
                is_lasting: failure.is_none(),
            });
        }
        Ok(CommitBuild::Ready(Box::new(BuiltCommit {
            revision: revision.clone(),
            side,
            found,
        })))
    }

    /// Measures two commits side by side and stores the pair. `only` are the benchmarks to measure; `None` stands for all selected ones. `measures_all`
    /// means that benchmarks with the same code on both sides are measured, too.
    pub(crate) fn measure(
        &self,
        builds: BySide<&BuiltCommit>,
        only: Option<&BTreeSet<BenchmarkKey>>,
        key: &SeriesKey,
        measures_all: bool,
        world: &mut World<'_>,
    ) -> Result<PairResult, AppError> {
        let BySide { base, candidate } = builds;
        if !candidate
            .side
            .criterion
            .is_same_harness(&base.side.criterion)
        {
            return Ok(PairResult::Incomparable {
                reason: format!(
                    "perfcheck's harness replaces Criterion in only one of this commit and {}; use `--harness as-is`",
                    candidate.revision.short()
                ),
            });
        }
        let git = BySide {
            base: Some(self.git_state(&base.revision)),
            candidate: Some(self.git_state(&candidate.revision)),
        };
        let names = format!(
            "past/{}/{}",
            base.revision.commit, candidate.revision.commit
        );
        let request = Request {
            context: self.context,
            common: self.common,
            filter: self.filter,
            comparison: self.comparison,
            effort: self.effort,
            timeout: self.timeout,
            load: self.load.take(),
            seed: self.derive_seed(&names),
            git: git.candidate.clone(),
        };
        let reference = self.pair_built_commits(builds, only, &request, world)?;
        let rules = PairingRules {
            part: None,
            wants_control: false,
            measures_all,
            declined: BTreeSet::new(),
        };
        let suite = pair_builds(vec![reference], rules, &request, world)?;
        if !suite.pairing.compares_any() {
            return Ok(PairResult::Incomparable {
                reason: format!(
                    "the commit has no selected benchmark in common with {}",
                    candidate.revision.short()
                ),
            });
        }
        let first = &suite.builds[0];
        let measurement = PairedMeasurement {
            purpose: Purpose::Past,
            past: Some(PastCommit {
                committed: self.committed(&candidate.revision),
                series: key.as_str().to_owned(),
            }),
            builds: first.kept_names.clone(),
            reference: suite.reference,
            remarks: suite.remarks,
            ..PairedMeasurement::new(&request, &first.environment, git, suite.planned)
        };
        let gate = GatePolicy {
            failed_targets: suite.pairing.failed_targets.clone(),
            ..GatePolicy::verdicts_only(&[Verdict::Regressed])
        };
        let (mut store, workspace) = self.context.open_store()?;
        let begun = measurement.begin(&mut store, workspace, &suite.pairing.pairs)?;
        let measured = Measured::Paired(begun.measure(&mut store, suite.pairing, world)?);
        drop(suite.lock);
        let concluded = measured.judge(gate, world.interrupt);
        let run = measured.run();
        run.record(&mut store, &concluded, AcceptancePolicy::Never)?;
        let stored = StoredPair::from_conclusion(run.id(), &concluded);
        Ok(PairResult::Measured(stored))
    }

    /// Compares the code of both builds, and restricts their benchmarks to `only`.
    fn pair_built_commits(
        &self,
        builds: BySide<&BuiltCommit>,
        only: Option<&BTreeSet<BenchmarkKey>>,
        request: &Request<'_>,
        world: &mut World<'_>,
    ) -> Result<ReferenceBuild, AppError> {
        let BySide { base, candidate } = builds;
        let built = PreparedSides::from_builds(
            base.side.clone(),
            candidate.side.clone(),
            self.environment.build.clone(),
        );
        let words = format!("commit {}", base.revision.short());
        let mut found = BySide {
            base: base.found.clone(),
            candidate: candidate.found.clone(),
        };
        if let Some(only) = only {
            found.base.retain(|key| only.contains(key));
            found.candidate.retain(|key| only.contains(key));
        }
        Ok(ReferenceBuild {
            builds: BuildPair::from_sides(built, words, false, request, world)?,
            found,
            earlier: None,
        })
    }

    /// Returns the seed of the pair with these `names`. It has 53 bits: programs that read JSON numbers as doubles cannot represent more.
    fn derive_seed(&self, names: &str) -> u64 {
        let digest = blake3::hash(format!("{} {names}", self.seed).as_bytes());
        let bytes = digest.as_bytes().iter().take(8);
        bytes.fold(0, |seed, byte| seed << 8 | u64::from(*byte)) >> 11
    }

    fn git_state(&self, revision: &Revision) -> GitState {
        GitState {
            branch: self.branch.clone(),
            ..revision.clean_state()
        }
    }

    fn committed(&self, revision: &Revision) -> Timestamp {
        let known = self.times.get(&revision.commit).copied();
        known.unwrap_or_else(perfcheck_host::now)
    }
}

/// Returns the time at which each commit stands in a history. `line` has the commits from the first of the repository to the newest, oldest first.
///
/// A commit stands later than its parent, even if both have the same time or clocks were wrong. This depends only on a commit and its ancestors, so
/// every series gives it the same time. A time after `now` counts as that of the parent.
pub(crate) fn place_commits(line: &[CommitTime], now: Timestamp) -> BTreeMap<String, Timestamp> {
    let mut places = BTreeMap::new();
    let mut before = 0_i64;
    for one in line {
        let committed = one.seconds.saturating_mul(1_000_000_000);
        let next = before.saturating_add(1);
        let place = if committed > now.0 {
            next
        } else {
            committed.max(next)
        };
        places.insert(one.commit.clone(), Timestamp(place));
        before = place;
    }
    places
}

/// How the commits of a range are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommitChoice<'a> {
    All,
    /// This many steps of equal numbers of commits.
    Steps(usize),
    /// The commits that have a tag, and both ends of the range.
    Releases(&'a BTreeSet<String>),
}

impl CommitChoice<'_> {
    /// Returns the indices of the chosen commits, in ascending order. Both ends of `commits` are among them.
    pub(crate) fn choose(self, commits: &[Revision]) -> Vec<usize> {
        let last = commits.len().saturating_sub(1);
        match self {
            Self::Steps(steps) if steps < last => {
                let steps = steps.max(1);
                (0..=steps)
                    .map(|step| (step * last + steps / 2) / steps)
                    .collect()
            }
            Self::All | Self::Steps(_) => (0..commits.len()).collect(),
            Self::Releases(tagged) => {
                let is_end = |place: usize| place == 0 || place == last;
                let is_chosen =
                    |place: &usize| is_end(*place) || tagged.contains(&commits[*place].commit);
                (0..commits.len()).filter(is_chosen).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commits(count: usize) -> Vec<Revision> {
        let names = (0..count).map(|place| format!("{place:04}"));
        let revision = |name: String| Revision {
            commit: name.clone(),
            name,
        };
        names.map(revision).collect()
    }

    #[test]
    fn steps_are_spread_evenly_and_include_both_ends() {
        let spread = |count, steps| CommitChoice::Steps(steps).choose(&commits(count));
        assert_eq!(spread(11, 5), [0, 2, 4, 6, 8, 10]);
        assert_eq!(spread(11, 1), [0, 10]);
        assert_eq!(spread(8, 3), [0, 2, 5, 7]);
        assert_eq!(spread(3, 2), [0, 1, 2]);
        assert_eq!(spread(3, 9), [0, 1, 2], "there are no more commits");
        for count in 2..60 {
            for steps in 1..count {
                let places = spread(count, steps);
                assert_eq!(places.len(), steps + 1, "{count} {steps}");
                assert_eq!((places[0], places[steps]), (0, count - 1));
                let gaps = places.windows(2).map(|pair| pair[1] - pair[0]);
                let (fewest, most) = (gaps.clone().min(), gaps.max());
                assert!(fewest >= Some(1) && most <= fewest.map(|gap| gap + 1));
            }
        }
    }

    #[test]
    fn all_commits_or_those_with_a_tag_are_chosen() {
        assert_eq!(CommitChoice::All.choose(&commits(4)), [0, 1, 2, 3]);
        let tagged = ["0002", "0005", "9999"].map(str::to_owned).into();
        let releases = CommitChoice::Releases(&tagged);
        assert_eq!(releases.choose(&commits(8)), [0, 2, 5, 7]);
        assert_eq!(releases.choose(&commits(1)), [0]);
    }

    #[test]
    fn a_commit_stands_after_its_parent_whatever_the_clocks_said() {
        let line = [("a", 10), ("b", 10), ("c", 5), ("d", 900), ("e", 12)];
        let line = line.map(|(commit, seconds)| CommitTime {
            commit: commit.to_owned(),
            seconds,
        });
        let second = 1_000_000_000;
        let places = place_commits(&line, Timestamp(100 * second));
        let places: Vec<i64> = places.into_values().map(|place| place.0).collect();
        let start = 10 * second;
        assert_eq!(
            places,
            [start, start + 1, start + 2, start + 3, 12 * second]
        );
        // A series that ends earlier gives the same places.
        let fewer = place_commits(&line[..3], Timestamp(100 * second));
        assert_eq!(fewer["c"], Timestamp(start + 2));
    }
}
