//! One commit: built, compared with the good one, stored as a pair of runs.

use super::memory::Memory;
use super::options::BisectOptions;
use crate::app::context::{Context, World};
use crate::app::error::{AppError, first_line};
use crate::app::measuring::builds::code_of_sides;
use crate::app::measuring::cache_build::CacheBuild;
use crate::app::measuring::in_turn::{InTurn, finish, pair_left_incomplete};
use crate::app::measuring::layouts::Relinking;
use crate::app::measuring::machine_code::SameCode;
use crate::app::measuring::measured::MeasuredInTurn;
use crate::app::measuring::prepare::{find_benchmarks, timeout};
use crate::app::measuring::request::Request;
use crate::app::options::StoreOptions;
use crate::report::{CommitOutcome, Finding};
use perfcheck_analysis::findings::{Row, Terms, conclude};
use perfcheck_analysis::model::{
    Acceptance, Benchmark, BenchmarkKey, BySide, Environment, Purpose, Verdict,
};
use perfcheck_engine::cargo::CargoOptions;
use perfcheck_engine::host::Revision;
use perfcheck_engine::measure::{Discovered, Driver, Filter, PairedTarget};
use perfcheck_engine::sides::{BuiltSide, SideTarget, SidesError};
use perfcheck_engine::store::{Store, WorkspaceId};
use perfcheck_stats::derived_seed;

/// A comparison that was inconclusive is repeated with so many times the rounds and the time.
const LONGER: u32 = 3;

/// What stays the same during a search.
pub(super) struct Workshop<'a> {
    pub(super) options: &'a BisectOptions,
    pub(super) common: &'a StoreOptions,
    pub(super) context: Context,
    /// What cargo is asked to build.
    pub(super) cargo: CargoOptions,
    pub(super) environment: Environment,
    pub(super) load: Option<f64>,
    pub(super) seed: u64,
    /// What was measured: the same thing need not be measured twice.
    pub(super) seen: Vec<(Revision, SideTarget)>,
}

/// A benchmark of a commit that was built.
pub(super) struct BuiltBenchmark {
    pub(super) revision: Revision,
    pub(super) target: SideTarget,
    pub(super) benchmark: Benchmark,
    /// What its target is written against.
    pub(super) driver: Driver,
    /// Keeps the executable in place.
    _side: BuiltSide,
}

/// Where the measurements go, and how many there may be.
pub(super) struct Ledger {
    pub(super) store: Store,
    pub(super) workspace: WorkspaceId,
    pub(super) memory: Memory,
    /// Measurements at most: all of them share the significance level.
    pub(super) most: u32,
}

impl Ledger {
    pub(super) fn is_used_up(&self) -> bool {
        self.memory.measured() >= self.most
    }
}

impl Workshop<'_> {
    /// Builds a commit.
    pub(super) fn build(
        &self,
        revision: &Revision,
        world: &mut World<'_>,
    ) -> Result<BuiltSide, AppError> {
        let order = CacheBuild {
            context: &self.context,
            cargo: &self.cargo,
            benches_from: self.options.benches_from,
            quiet: self.common.output.quiet,
        };
        order.commit(revision, world)
    }

    /// The benchmarks of a side, in the bench target that `key` names or in all of them.
    pub(super) fn benchmarks(
        &self,
        side: &BuiltSide,
        key: Option<&BenchmarkKey>,
        world: &mut World<'_>,
    ) -> Result<Discovered, AppError> {
        let targets = side.targets.iter().map(|side| side.target.clone());
        let wanted = targets.filter(|target| {
            key.is_none_or(|key| target.package == key.package && target.target == key.target)
        });
        let timeout = timeout(self.options.paired.timeout, &self.context);
        find_benchmarks(&Filter::default(), timeout, wanted.collect(), None, world)
    }

    /// Builds a commit and looks for the benchmark; a text says why it cannot be measured there.
    pub(super) fn benchmark_of(
        &self,
        revision: &Revision,
        key: &BenchmarkKey,
        world: &mut World<'_>,
    ) -> Result<Result<BuiltBenchmark, String>, AppError> {
        let side = match self.build(revision, world) {
            Ok(side) => side,
            Err(AppError::Sides(error)) if error.is_about_the_revision() => {
                return Ok(Err(why_not_built(&error)));
            }
            Err(other) => return Err(other),
        };
        let mut found = self.benchmarks(&side, Some(key), world)?;
        if let Some(failure) = found.failures.first() {
            let message = failure.message.lines().next().unwrap_or_default();
            return Ok(Err(format!("its bench target failed: {message}")));
        }
        let found = found.targets.pop().and_then(|found| {
            let mut benchmarks = found.benchmarks.into_iter();
            let benchmark = benchmarks.find(|benchmark| benchmark.key == *key)?;
            Some((benchmark, found.driver))
        });
        let target = side
            .targets
            .iter()
            .find(|side| side.target.package == key.package && side.target.target == key.target);
        let (Some((benchmark, driver)), Some(target)) = (found, target.cloned()) else {
            return Ok(Err("it does not have the benchmark".to_owned()));
        };
        Ok(Ok(BuiltBenchmark {
            revision: revision.clone(),
            target,
            benchmark,
            driver,
            _side: side,
        }))
    }

    /// Finds out about `revision`, against `good`, as far as a change beyond `threshold` goes.
    pub(super) fn examine(
        &mut self,
        revision: &Revision,
        good: &BuiltBenchmark,
        threshold: f64,
        ledger: &mut Ledger,
        world: &mut World<'_>,
    ) -> Result<CommitOutcome, AppError> {
        let key = &good.benchmark.key;
        let built = match self.benchmark_of(revision, key, world)? {
            Ok(built) => built,
            Err(why) => return Ok(skipped(why)),
        };
        if built.benchmark.version != good.benchmark.version {
            return Ok(skipped(
                "the benchmark has another version there, so it measures something else".to_owned(),
            ));
        }
        if let Some(known) = self.known_already(&built.target, good, &ledger.memory) {
            return Ok(known);
        }
        let mut outcome = self.compare(&built, good, threshold, 1, ledger, world)?;
        if outcome.finding == Finding::Skipped && outcome.verdict.is_some() && !ledger.is_used_up()
        {
            outcome = self.compare(&built, good, threshold, LONGER, ledger, world)?;
        }
        self.seen.push((revision.clone(), built.target));
        Ok(outcome)
    }

    /// What was found about the same executable with the same files beside it.
    fn known_already(
        &self,
        target: &SideTarget,
        good: &BuiltBenchmark,
        memory: &Memory,
    ) -> Option<CommitOutcome> {
        let same_as =
            |revision: &Revision| format!("it runs the same code as {}", revision.short());
        if is_same(target, &good.target) {
            return Some(CommitOutcome {
                finding: Finding::Fast,
                verdict: Some(Verdict::Unchanged),
                ..skipped(same_as(&good.revision))
            });
        }
        let (revision, _) = self.seen.iter().find(|(_, seen)| is_same(target, seen))?;
        let known = memory.outcomes().get(&revision.commit)?;
        Some(CommitOutcome {
            why: Some(same_as(revision)),
            seconds: None,
            ..known.clone()
        })
    }

    /// One comparison, with so many times the rounds and the time.
    fn compare(
        &mut self,
        built: &BuiltBenchmark,
        good: &BuiltBenchmark,
        threshold: f64,
        longer: u32,
        ledger: &mut Ledger,
        world: &mut World<'_>,
    ) -> Result<CommitOutcome, AppError> {
        ledger.memory.count_measurement();
        let paired = &self.options.paired;
        let comparison = paired.comparison();
        self.context.tables.layers.command_line.noise_threshold = Some(threshold);
        let purpose = format!("bisect/{}/{longer}", built.revision.commit);
        let request = Request {
            // The machine is busy with our builds from now on.
            load: self.load.take(),
            context: &self.context,
            common: self.common,
            filter: &Filter::default(),
            comparison: &comparison,
            effort: paired.effort,
            timeout: timeout(paired.timeout, &self.context),
            // As other seeds of ours: every program can read it.
            seed: derived_seed(self.seed, &purpose) >> 11,
            git: Some(built.revision.state()),
        };
        let mut decision = request.decision_in_turn();
        decision.noise_threshold = threshold;
        decision.significance_level /= f64::from(ledger.most);
        let base = Some(good.revision.state());
        let mut turns = InTurn::of(&request, &self.environment, base, 1, Purpose::Search);
        turns.decision = decision;
        turns.plan.significance_level = decision.significance_level;
        turns.lengthen(longer);
        let mut pairs = [PairedTarget {
            targets: BySide {
                base: good.target.target.clone(),
                candidate: built.target.target.clone(),
            },
            benchmarks: vec![built.benchmark.clone()],
            drivers: BySide {
                base: good.driver.clone(),
                candidate: built.driver.clone(),
            },
            layouts: None,
        }];
        let sides = BySide {
            base: &good.target,
            candidate: &built.target,
        };
        let as_built = request.effort.as_built;
        let relinking = Relinking::of(std::iter::once(sides), as_built, world)?;
        let as_built = relinking.prepare(&mut pairs, request.seed, world);
        let store = &mut ledger.store;
        let lock = request.measuring_lock(world)?;
        let found = turns.measure(store, ledger.workspace, pairs.into(), world)?;
        drop(lock);
        let host = request.context.host_class(&self.environment);
        let left = pair_left_incomplete(&found.runs);
        let concluded = (world.interrupt).while_computing(&left, || {
            let mut basis = found.basis(format!("commit {}", good.revision.short()), host);
            basis.remarks.extend(as_built);
            let terms = Terms::of_verdicts(&[Verdict::Regressed]);
            conclude(found.rows(&[]), basis, terms)
        });
        finish(store, &found.runs, &concluded, Acceptance::Pending)?;
        Ok(outcome(
            &found,
            &concluded.rows,
            &good.benchmark.key,
            threshold,
        ))
    }
}

fn outcome(
    found: &MeasuredInTurn,
    rows: &[Row<'_>],
    key: &BenchmarkKey,
    threshold: f64,
) -> CommitOutcome {
    let row = rows.iter().find(|row| row.key == *key);
    let Some(comparison) = row.and_then(|row| row.comparison.as_ref()) else {
        let mut failures = found
            .measured
            .candidate
            .iter()
            .flat_map(|measurement| &measurement.failures)
            .map(|failure| failure.message.lines().next().unwrap_or_default());
        let why = failures.next().unwrap_or("it declines to be measured");
        return CommitOutcome {
            run: Some(found.runs.candidate),
            ..skipped(format!("the benchmark failed: {why}"))
        };
    };
    let finding = match comparison.verdict {
        Verdict::Regressed => Finding::Slow,
        Verdict::Unchanged | Verdict::Improved => Finding::Fast,
        _ => Finding::Skipped,
    };
    CommitOutcome {
        finding,
        verdict: Some(comparison.verdict),
        change: comparison.change,
        threshold: Some(threshold),
        why: None,
        run: Some(found.runs.candidate),
        seconds: Some(found.cost.values().map(|cost| cost.seconds).sum()),
    }
}

/// Nothing can be found about a commit.
pub(super) fn skipped(why: String) -> CommitOutcome {
    CommitOutcome {
        finding: Finding::Skipped,
        verdict: None,
        change: None,
        threshold: None,
        why: Some(why),
        run: None,
        seconds: None,
    }
}

/// Whether both run the same code with the same files of its own beside it.
fn is_same(one: &SideTarget, other: &SideTarget) -> bool {
    one.has_companions_of(other)
        && one.differing_data(other).is_empty()
        && matches!(code_of_sides(one, other).same, Some(SameCode::Wholly(_)))
}

fn why_not_built(error: &SidesError) -> String {
    match error {
        SidesError::Revision { source, .. } => first_line(&format!("it cannot be built: {source}")),
        other => first_line(other),
    }
}
