//! One step of a search: builds a commit, compares it with the good one and stores both as a pair of runs.

use std::collections::BTreeMap;

use super::options::BisectOptions;
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::output::{CommitFinding, CommitOutcome, describe_failure};
use crate::pipeline::cache_build::{CacheBuild, CommitBuild};
use crate::pipeline::judge::Measured;
use crate::pipeline::machine_code::{CodeEquality, compare_sides};
use crate::pipeline::pair::{Pairing, pair_past_targets};
use crate::pipeline::paired::PairedMeasurement;
use crate::pipeline::prepare::{find_benchmarks, timeout};
use crate::pipeline::record::AcceptancePolicy;
use crate::pipeline::relinking::Relinking;
use crate::pipeline::request::Request;
use crate::pipeline::search::SearchState;
use crate::session::{Context, World};
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::findings::{Conclusion, GatePolicy};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, BySide, DecisionSettings, Environment, Purpose, RunId, Verdict,
};
use perfcheck_bench::measure::{DiscoveredBenches, Filter, HarnessKind, PairedTarget};
use perfcheck_build::cargo::CargoOptions;
use perfcheck_build::sides::{BuiltSide, SideTarget};
use perfcheck_host::Revision;
use perfcheck_stats::derived_seed;

/// Factor by which rounds and time grow when an inconclusive comparison is repeated.
const LONGER: u32 = 3;

/// The data that all steps of a search use: the options and the environment, and the executables that were measured so far.
pub(super) struct BisectSession<'a> {
    pub(super) options: &'a BisectOptions,
    pub(super) common: &'a CommonOptions,
    pub(super) context: Context,
    /// Options for the builds of all commits.
    pub(super) cargo: CargoOptions,
    pub(super) environment: Environment,
    pub(super) load: Option<f64>,
    pub(super) seed: u64,
    /// The executables measured so far. A commit with an identical executable gets the same outcome without a measurement.
    pub(super) seen: Vec<SeenBuild>,
}

/// A benchmark in the build of a commit.
pub(super) struct BuiltBenchmark {
    pub(super) revision: Revision,
    pub(super) target: SideTarget,
    pub(super) benchmark: Benchmark,
    /// The harness of the bench target.
    pub(super) harness: HarnessKind,
    /// The build of the commit. The executable stays at its path as long as this value exists.
    pub(super) side: BuiltSide,
}

/// A build that was measured before.
pub(super) struct SeenBuild {
    revision: Revision,
    target: SideTarget,
}

/// The outcomes of a search so far, and the limit on its measurements.
pub(super) struct MeasurementBudget {
    pub(super) memory: SearchState<CommitOutcome>,
    /// Maximum number of measurements of the search. Each of them gets an equal part of the significance level.
    pub(super) most: u32,
}

impl MeasurementBudget {
    pub(super) fn is_used_up(&self) -> bool {
        self.memory.measured() >= self.most
    }
}

impl BisectSession<'_> {
    pub(super) fn build(
        &self,
        revision: &Revision,
        world: &mut World<'_>,
    ) -> Result<BuiltSide, AppError> {
        self.cache_build().build_commit(revision, world)
    }

    fn cache_build(&self) -> CacheBuild<'_> {
        CacheBuild {
            cargo: &self.cargo,
            benches_from: self.options.benches_from,
            ..CacheBuild::new(&self.context, self.common)
        }
    }

    /// Discovers the benchmarks in a build: in the bench target of `key` only, or in all bench targets if it is `None`.
    pub(super) fn benchmarks(
        &self,
        side: &BuiltSide,
        key: Option<&BenchmarkKey>,
        world: &mut World<'_>,
    ) -> Result<DiscoveredBenches, AppError> {
        let targets = side.targets.iter().map(|side| side.target.clone());
        let wanted = targets.filter(|target| {
            key.is_none_or(|key| target.package == key.package && target.target == key.target)
        });
        let timeout = timeout(self.options.paired.timeout, &self.context);
        find_benchmarks(&Filter::default(), timeout, wanted.collect(), None, world)
    }

    /// Builds a commit and finds the benchmark in it. `Unmeasurable` has the reason why the benchmark cannot be measured there.
    pub(super) fn build_benchmark(
        &self,
        revision: &Revision,
        key: &BenchmarkKey,
        world: &mut World<'_>,
    ) -> Result<CommitBuild<Box<BuiltBenchmark>>, AppError> {
        let side = match self.cache_build().try_build_commit(revision, world)? {
            CommitBuild::Ready(side) => side,
            CommitBuild::Unmeasurable { reason, is_lasting } => {
                return Ok(CommitBuild::Unmeasurable { reason, is_lasting });
            }
        };
        let mut found = self.benchmarks(&side, Some(key), world)?;
        if let Some(failure) = found.failures.first() {
            let message = failure.message.lines().next().unwrap_or_default();
            return Ok(CommitBuild::Unmeasurable {
                reason: format!("the bench target failed: {message}"),
                is_lasting: false,
            });
        }
        let found = found.targets.pop().and_then(|found| {
            let mut benchmarks = found.benchmarks.into_iter();
            let benchmark = benchmarks.find(|benchmark| benchmark.key == *key)?;
            Some((benchmark, found.harness))
        });
        let target = side
            .targets
            .iter()
            .find(|side| side.target.package == key.package && side.target.target == key.target);
        let (Some((benchmark, harness)), Some(target)) = (found, target.cloned()) else {
            return Ok(CommitBuild::Unmeasurable {
                reason: "the commit does not have the benchmark".to_owned(),
                is_lasting: true,
            });
        };
        Ok(CommitBuild::Ready(Box::new(BuiltBenchmark {
            revision: revision.clone(),
            target,
            benchmark,
            harness,
            side,
        })))
    }

    /// Determines whether the benchmark is slower in `revision` than in `good` by more than `threshold`. Measures both side by side unless the
    /// outcome is known already.
    pub(super) fn examine(
        &mut self,
        revision: &Revision,
        good: &BuiltBenchmark,
        threshold: f64,
        ledger: &mut MeasurementBudget,
        world: &mut World<'_>,
    ) -> Result<CommitOutcome, AppError> {
        let key = &good.benchmark.key;
        let built = match self.build_benchmark(revision, key, world)? {
            CommitBuild::Ready(built) => *built,
            CommitBuild::Unmeasurable { reason, .. } => return Ok(skipped_outcome(reason)),
        };
        if !built.side.criterion.is_same_harness(&good.side.criterion) {
            return Ok(skipped_outcome(
                "perfcheck's harness replaces Criterion in only one of this commit and the good one; use `--harness as-is`"
                    .to_owned(),
            ));
        }
        if built.benchmark.version != good.benchmark.version {
            return Ok(skipped_outcome(
                "the benchmark has a different version than in the good commit, so it measures something else".to_owned(),
            ));
        }
        if let Some(known) = self.find_known_outcome(&built.target, good, &ledger.memory) {
            return Ok(known);
        }
        let mut outcome = self.compare(&built, good, threshold, 1, ledger, world)?;
        if outcome.finding == CommitFinding::Skipped
            && outcome.verdict.is_some()
            && !ledger.is_used_up()
        {
            outcome = self.compare(&built, good, threshold, LONGER, ledger, world)?;
        }
        self.seen.push(SeenBuild {
            revision: revision.clone(),
            target: built.target,
        });
        Ok(outcome)
    }

    /// Returns the outcome of an identical executable with the same data files, if one was measured.
    fn find_known_outcome(
        &self,
        target: &SideTarget,
        good: &BuiltBenchmark,
        memory: &SearchState<CommitOutcome>,
    ) -> Option<CommitOutcome> {
        let same_as =
            |revision: &Revision| format!("the commit runs the same code as {}", revision.short());
        if runs_same_code(target, &good.target) {
            return Some(CommitOutcome {
                finding: CommitFinding::Fast,
                verdict: Some(Verdict::Unchanged),
                ..skipped_outcome(same_as(&good.revision))
            });
        }
        let mut seen = self.seen.iter();
        let same = seen.find(|seen| runs_same_code(target, &seen.target))?;
        let known = memory.outcomes().get(&same.revision.commit)?;
        Some(CommitOutcome {
            why: Some(same_as(&same.revision)),
            seconds: None,
            ..known.clone()
        })
    }

    /// Compares a commit with the good one, with `longer` times the usual rounds and time.
    fn compare(
        &mut self,
        built: &BuiltBenchmark,
        good: &BuiltBenchmark,
        threshold: f64,
        longer: u32,
        ledger: &mut MeasurementBudget,
        world: &mut World<'_>,
    ) -> Result<CommitOutcome, AppError> {
        // The system load was read before the search began, so it is recorded only with the first comparison. A later reading would mainly show the
        // load that the search itself causes by its builds.
        let load = self.load.filter(|_| ledger.memory.measured() == 0);
        ledger.memory.count_measurement();
        let paired = &self.options.paired;
        let comparison = paired.comparison();
        let purpose = format!("bisect/{}/{longer}", built.revision.commit);
        let request = Request {
            load,
            context: &self.context,
            common: self.common,
            filter: &Filter::default(),
            comparison: &comparison,
            effort: paired.effort,
            timeout: timeout(paired.timeout, &self.context),
            // Keep 53 bits: programs that read JSON numbers as doubles cannot represent more.
            seed: derived_seed(self.seed, &purpose) >> 11,
            git: Some(built.revision.clean_state()),
        };
        let mut pairs = [PairedTarget {
            targets: pair_past_targets(
                good.target.target.clone(),
                built.target.target.clone(),
                &self.context,
            ),
            benchmarks: vec![built.benchmark.clone()],
            base_ids: BTreeMap::new(),
            harnesses: BySide {
                base: good.harness.clone(),
                candidate: built.harness.clone(),
            },
            layouts: None,
        }];
        let sides = BySide {
            base: &good.target,
            candidate: &built.target,
        };
        let as_built = request.effort.as_built;
        let relinking = Relinking::plan(std::iter::once(sides), as_built, world)?;
        let as_built = relinking.prepare(&mut pairs, request.seed, world);
        let git = BySide {
            base: Some(good.revision.clean_state()),
            candidate: request.git.clone(),
        };
        let usual = PairedMeasurement::new(&request, &self.environment, git, 1);
        let significance_level = usual.decision.significance_level / f64::from(ledger.most);
        let looks = usual.plan.looks.iter().map(|look| look * longer).collect();
        let measurement = PairedMeasurement {
            purpose: Purpose::Search,
            decision: DecisionSettings {
                noise_threshold: threshold,
                significance_level,
                ..usual.decision
            },
            plan: Plan {
                looks,
                significance_level,
                ..usual.plan
            },
            time_factor: longer,
            noise_threshold: Some(threshold),
            reference: format!("commit {}", good.revision.short()),
            remarks: as_built.into_iter().collect(),
            ..usual
        };
        let pairing = Pairing {
            pairs: pairs.into(),
            ..Pairing::default()
        };
        let (mut store, workspace) = self.context.open_store()?;
        let lock = request.measuring_lock(world)?;
        let begun = measurement.begin(&mut store, workspace, &pairing.pairs)?;
        let measured = Measured::Paired(begun.measure(&mut store, pairing, world)?);
        drop(lock);
        let gate = GatePolicy::verdicts_only(&[Verdict::Regressed]);
        let concluded = measured.judge(gate, world.interrupt);
        let run = measured.run();
        run.record(&mut store, &concluded, AcceptancePolicy::Never)?;
        let key = &good.benchmark.key;
        Ok(outcome_from_rows(&concluded, run.id(), key, threshold))
    }
}

fn outcome_from_rows(
    concluded: &Conclusion<'_>,
    run: RunId,
    key: &BenchmarkKey,
    threshold: f64,
) -> CommitOutcome {
    let row = concluded.rows.iter().find(|row| row.key == *key);
    let compared = row.and_then(|row| Some((row, row.comparison.as_ref()?)));
    let Some((row, comparison)) = compared else {
        let measurement = row.and_then(|row| row.measurement);
        let failures = measurement.into_iter().flat_map(|found| &found.failures);
        let mut messages = failures.filter_map(|failure| {
            let line = failure.message.lines().next()?;
            Some(describe_failure(failure.side, line))
        });
        let why = messages.next().map_or_else(
            || "the benchmark skips itself".to_owned(),
            |message| format!("the benchmark failed: {message}"),
        );
        return CommitOutcome {
            run: Some(run),
            ..skipped_outcome(why)
        };
    };
    let finding = match comparison.verdict {
        Verdict::Regressed => CommitFinding::Slow,
        Verdict::Unchanged | Verdict::Improved => CommitFinding::Fast,
        _ => CommitFinding::Skipped,
    };
    CommitOutcome {
        finding,
        verdict: Some(comparison.verdict),
        change: comparison.change,
        threshold: Some(threshold),
        why: None,
        run: Some(run),
        seconds: row.seconds,
    }
}

/// Returns the outcome of a commit that cannot be examined.
pub(super) fn skipped_outcome(why: String) -> CommitOutcome {
    CommitOutcome {
        finding: CommitFinding::Skipped,
        verdict: None,
        change: None,
        threshold: None,
        why: Some(why),
        run: None,
        seconds: None,
    }
}

/// Reports whether both sides run the same code with the same companion and data files. The programs of all commits read the files of the work tree.
fn runs_same_code(one: &SideTarget, other: &SideTarget) -> bool {
    let is_program = one.target.has_programs();
    one.has_same_companions(other)
        && (is_program || one.differing_data(other).is_empty())
        && matches!(
            compare_sides(one, other).same,
            Some(CodeEquality::Wholly(_))
        )
}
