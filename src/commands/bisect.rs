//! `cargo perfcheck bisect`: finds the first slow commit by measuring commits side by side with the good one.
//!
//! First finds the benchmark and checks that the last commit is slower, then narrows the range down. A pure function chooses the next commit. Each
//! commit is built and measured as in a run with `--against`, and the state of the search is then saved to a file. Invariant: a commit without a
//! clear outcome counts as neither fast nor slow.

mod options;
mod step;

pub use self::options::BisectOptions;

use self::step::{BisectSession, BuiltBenchmark, MeasurementBudget, skipped_outcome};
use crate::error::AppError;
use crate::naming::{find_candidates, list_keys};
use crate::options::{CommonOptions, RevisionRange};
use crate::output::{
    self, BisectFindings, BisectOutcome, BisectStep, CommitFinding, CommitOutcome, ProgressMode,
};
use crate::pipeline::cache_build::{CommitBuild, cache_directory};
use crate::pipeline::search::{SearchState, SearchStep, StepFinding, bounds, most_steps, next};
use crate::session::{Context, World};
use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{BenchesFrom, BenchmarkKey, Environment, ProgramBenchmark};
use perfcheck_bench::measure::DiscoveredBenches;
use perfcheck_build::cargo::CargoOptions;
use perfcheck_host::Revision;

/// The subdirectory of the cache with the files that keep the state of unfinished searches.
const MEMORIES: &str = "bisect";

/// The reason reported for a commit that the search left unexamined because it had used up its measurements.
const NO_MEASUREMENT_LEFT: &str = "not measured: too many comparisons were inconclusive";

/// Carries out `cargo perfcheck bisect`.
pub fn bisect(
    options: &BisectOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    search(options, common, world).map_err(|error| {
        // Ctrl-C may end git or cargo before this process notices it. Report the interruption then, rather than the error of that program.
        let is_interrupted = error.exit_code() == ExitCode::Interrupted;
        if is_interrupted || world.interrupt.is_requested_after_delay() {
            AppError::Interrupted(
                "; the results so far are kept, and the same command continues the search"
                    .to_owned(),
            )
        } else {
            error
        }
    })
}

fn search(
    options: &BisectOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let load = perfcheck_host::load_average();
    let context = Context::load(common, world)?
        .with_command_line(options.paired.layer())
        .for_writing();
    context.require_local_store()?;
    let (good, commits) = range(&context, options)?;
    let workshop = BisectSession {
        options,
        common,
        cargo: common.cargo.clone(),
        environment: Environment {
            host: perfcheck_host::read_host_facts(world.variables.ci),
            build: context
                .toolchain(&common.cargo, world.supervisor)?
                .facts
                .clone(),
        },
        load,
        seed: options
            .paired
            .seed
            .unwrap_or_else(perfcheck_host::fresh_seed),
        context,
        seen: Vec::new(),
    };
    if world.progress == ProgressMode::Lines {
        // The steps already show the progress.
        world.progress = ProgressMode::Quiet;
    }
    let bisection = Bisection::begin(workshop, &good, commits, world)?;
    bisection.run(world)
}

/// Returns the good commit, and the commits after it up to the bad commit, oldest first.
fn range(
    context: &Context,
    options: &BisectOptions,
) -> Result<(Revision, Vec<Revision>), AppError> {
    let RevisionRange { from, to } = options.range()?;
    let checkout = context.require_checkout()?;
    let (good, commits) = checkout.range(&from, &to)?;
    if commits.is_empty() {
        return Err(AppError::Usage(format!(
            "`{from}` and `{to}` are the same commit, so there is nothing to search"
        )));
    }
    Ok((good, commits))
}

struct Bisection<'a> {
    workshop: BisectSession<'a>,
    good: BuiltBenchmark,
    /// Commits after the good one, oldest first.
    commits: Vec<Revision>,
    ledger: MeasurementBudget,
}

impl<'a> Bisection<'a> {
    /// Builds the last commit, finds the benchmark in it, and builds the good commit. Then loads the outcomes of an earlier, interrupted call of the
    /// same search.
    fn begin(
        mut workshop: BisectSession<'a>,
        good: &Revision,
        commits: Vec<Revision>,
        world: &mut World<'_>,
    ) -> Result<Self, AppError> {
        let options = workshop.options;
        let bad = &commits[commits.len() - 1];
        let side = workshop.build(bad, world)?;
        let found = workshop.benchmarks(&side, None, world)?;
        let key = resolve_benchmark(options.benchmark(), &found, bad, options)?;
        if side.targets.len() > 1 {
            // From now on, build only this bench target: other targets may fail to build in some commits.
            workshop.cargo = select_target(workshop.cargo, &key);
        }
        drop(side);
        let good = match workshop.build_benchmark(good, &key, world)? {
            CommitBuild::Ready(built) => *built,
            CommitBuild::Unmeasurable { reason, .. } => {
                return Err(no_benchmark_error(good, &key, &reason, options));
            }
        };
        let steps = most_steps(commits.len());
        let context = &workshop.context;
        let question = state_key(&workshop, &good, bad);
        // Report an unusable store before anything is measured.
        context.open_store()?;
        let mut memory = SearchState::load(&cache_directory(world)?.join(MEMORIES), &question);
        if options.restart {
            memory.clear()?;
        }
        let quiet = workshop.common.output.quiet;
        if !quiet {
            let words = format!(
                "{}, at most {}",
                output::counted(commits.len(), "commit"),
                output::counted(steps as usize, "step")
            );
            output::write_build_event(world.stderr, "Bisecting", &words)?;
        }
        if !quiet && !memory.outcomes().is_empty() {
            let words = format!(
                "with {} of {} commits known (use `--restart` to start over)",
                memory.outcomes().len(),
                commits.len()
            );
            output::write_build_event(world.stderr, "Resuming", &words)?;
        }
        Ok(Self {
            ledger: MeasurementBudget {
                memory,
                // Allow twice as many measurements as steps: a comparison may be repeated, and a skipped commit needs another one in its place.
                most: 2 * steps,
            },
            workshop,
            good,
            commits,
        })
    }

    fn run(mut self, world: &mut World<'_>) -> Result<ExitCode, AppError> {
        let threshold = self.own_threshold();
        let last = self.commits.len() - 1;
        let bad = self.examine_commit(last, threshold, world)?;
        if bad.finding != CommitFinding::Slow {
            return self.report_nothing_found(&bad, world);
        }
        let halfway = threshold.max(half_slowdown(&bad));
        if !self.workshop.common.output.quiet {
            let halfway = output::percent_change(halfway);
            let words = format!("commits at {halfway} or more count as slow");
            output::write_build_event(world.stderr, "Threshold", &words)?;
        }
        let mut known = vec![None; self.commits.len()];
        known[last] = Some(StepFinding::After);
        while let SearchStep::Try(place) = next(&known) {
            let remembered = self.known_outcome(place).is_some();
            if !remembered && self.ledger.is_used_up() {
                break;
            }
            let outcome = self.examine_commit(place, halfway, world)?;
            known[place] = Some(step_finding(outcome.finding));
        }
        self.report_answer(&known, &bad, world)
    }

    /// Returns the noise threshold that the user, the bench or the workspace sets.
    fn own_threshold(&self) -> f64 {
        let workshop = &self.workshop;
        let decision = workshop
            .options
            .paired
            .comparison()
            .paired_decision(&workshop.context.tables.workspace);
        let layers = &workshop.context.tables.layers;
        let own = layers.resolve(&self.good.benchmark).1;
        own.unwrap_or(decision.noise_threshold)
    }

    fn known_outcome(&self, place: usize) -> Option<&CommitOutcome> {
        let outcomes = self.ledger.memory.outcomes();
        outcomes.get(&self.commits[place].commit)
    }

    /// Returns the outcome of the commit at index `place`, and reports it to the user. If an earlier call of the command has not saved the outcome,
    /// this measures the commit and saves the outcome.
    fn examine_commit(
        &mut self,
        place: usize,
        threshold: f64,
        world: &mut World<'_>,
    ) -> Result<CommitOutcome, AppError> {
        let revision = self.commits[place].clone();
        let known = self.known_outcome(place).cloned();
        let remembered = known.is_some();
        let outcome = match known {
            Some(known) => known,
            None => {
                self.workshop
                    .examine(&revision, &self.good, threshold, &mut self.ledger, world)?
            }
        };
        if !remembered {
            // An interrupted build does not prove that the commit cannot be built.
            if outcome.finding == CommitFinding::Skipped && world.interrupt.is_requested() {
                return Err(AppError::Interrupted(String::new()));
            }
            let memory = &mut self.ledger.memory;
            memory.record_outcome(&revision.commit, outcome.clone())?;
        }
        let step = self.step(place, &outcome, remembered)?;
        let output = &self.workshop.common.output;
        output::write_bisect_step(
            (!output.quiet).then_some(&mut *world.stderr),
            &mut *world.stdout,
            &step,
            output.format,
        )?;
        Ok(outcome)
    }

    fn step(
        &self,
        place: usize,
        outcome: &CommitOutcome,
        remembered: bool,
    ) -> Result<BisectStep, AppError> {
        let checkout = self.workshop.context.require_checkout()?;
        Ok(BisectStep {
            commit: checkout.describe(&self.commits[place].commit)?,
            place: place + 1,
            of: self.commits.len(),
            found: outcome.clone(),
            remembered,
        })
    }

    fn report_nothing_found(
        mut self,
        bad: &CommitOutcome,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        let last = self.commits.len() - 1;
        let step = self.step(last, bad, false)?;
        let (outcome, exit_code) = match bad.finding {
            CommitFinding::Fast => (BisectOutcome::NotSlower, ExitCode::Usage),
            _ => (BisectOutcome::Undecided, ExitCode::BenchmarkFailed),
        };
        self.report(outcome, vec![step], None, exit_code, world)
    }

    fn report_answer(
        mut self,
        known: &[Option<StepFinding>],
        bad: &CommitOutcome,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        let (first, last) = bounds(known);
        let mut possible = Vec::new();
        for place in first..=last {
            let outcome = match self.known_outcome(place) {
                Some(outcome) => outcome.clone(),
                None => skipped_outcome(NO_MEASUREMENT_LEFT.to_owned()),
            };
            possible.push(self.step(place, &outcome, false)?);
        }
        let outcome = match possible.len() {
            1 => BisectOutcome::Found,
            _ => BisectOutcome::Narrowed,
        };
        self.report(outcome, possible, bad.change, ExitCode::Clean, world)
    }

    fn report(
        &mut self,
        outcome: BisectOutcome,
        commits: Vec<BisectStep>,
        total_change: Option<Estimate>,
        exit_code: ExitCode,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        let checkout = self.workshop.context.require_checkout()?;
        let (good, bad) = (&self.good.revision, &self.commits[self.commits.len() - 1]);
        let findings = BisectFindings {
            benchmark: self.good.benchmark.key.clone(),
            outcome,
            change: commits.last().and_then(|step| step.found.change),
            commits,
            good: checkout.describe(&good.commit)?,
            bad: checkout.describe(&bad.commit)?,
            commits_in_all: self.commits.len(),
            measurements: self.ledger.memory.measured(),
            total_change,
            exit_code: exit_code.number(),
            good_name: good.to_string(),
            bad_name: bad.to_string(),
        };
        output::write_bisect(world.stdout, &findings, self.workshop.common.output.format)?;
        // The search is complete: a repeated command measures again.
        self.ledger.memory.clear()?;
        Ok(exit_code)
    }
}

fn step_finding(finding: CommitFinding) -> StepFinding {
    match finding {
        CommitFinding::Fast => StepFinding::Before,
        CommitFinding::Slow => StepFinding::After,
        CommitFinding::Skipped => StepFinding::Unknown,
    }
}

/// Returns half of the slowdown of the bad commit. The search calls a commit slow if it is slower by at least this much. Half is meant on a
/// logarithmic scale: it is 10 % for a slowdown of 21 %, because 1.1 * 1.1 = 1.21.
fn half_slowdown(bad: &CommitOutcome) -> f64 {
    (bad.change).map_or(0.0, |change| (change.estimate.ln_1p() / 2.0).exp_m1())
}

/// Returns a text with everything that the outcomes of this search depend on, so that saved outcomes are reused only for the same search. The hash of
/// the good executable covers the sources and the build.
fn state_key(workshop: &BisectSession<'_>, good: &BuiltBenchmark, bad: &Revision) -> String {
    let options = workshop.options;
    let paired = &options.paired;
    format!(
        "{} {} {} {:?} {:?} {} {:?} {:?}",
        workshop.context.key(),
        good.revision.commit,
        bad.commit,
        good.benchmark.key,
        options.benches_from,
        good.target.executable_hash,
        paired
            .comparison()
            .paired_decision(&workshop.context.tables.workspace),
        paired.effort,
    )
}

/// Resolves `word` to a benchmark: by id, else by the name of a bench target with a single benchmark, else by a part of an id.
fn resolve_benchmark(
    word: &str,
    found: &DiscoveredBenches,
    bad: &Revision,
    options: &BisectOptions,
) -> Result<BenchmarkKey, AppError> {
    let targets = found.targets.iter();
    let all: Vec<&BenchmarkKey> = targets
        .flat_map(|target| &target.benchmarks)
        .map(|benchmark| &benchmark.key)
        .collect();
    let candidates = find_candidates(word, &all);
    match candidates[..] {
        [key] => Ok(key.clone()),
        [] => {
            let help = if options.benches_from == BenchesFrom::Revision {
                "\n  help: use `--benches-from worktree` to build every commit with the current benchmarks"
            } else {
                ""
            };
            let there = if found.targets.is_empty() {
                "; none of its bench targets is selected".to_owned()
            } else {
                list_keys("it has", &all)
            };
            Err(AppError::NothingToMeasure(format!(
                "{bad} has no benchmark `{word}`{there}{help}"
            )))
        }
        _ => Err(AppError::Usage(format!(
            "`{word}` matches {} benchmarks{}",
            candidates.len(),
            list_keys("name one of", &candidates)
        ))),
    }
}

/// Returns options that select only the bench target of a benchmark. Returns `cargo` itself if no option selects a target of this kind.
fn select_target(cargo: CargoOptions, key: &BenchmarkKey) -> CargoOptions {
    let none = CargoOptions {
        benches: Vec::new(),
        programs: Vec::new(),
        lib: false,
        bins: false,
        ..cargo.clone()
    };
    if ProgramBenchmark::binary_of_target(&key.target).is_some() {
        return CargoOptions {
            programs: vec![key.id.clone()],
            ..none
        };
    }
    match key.target.split_once(':') {
        None => CargoOptions {
            benches: vec![key.target.clone()],
            ..none
        },
        Some(("lib", _)) => CargoOptions { lib: true, ..none },
        Some(("bin", _)) => CargoOptions { bins: true, ..none },
        Some(_) => cargo,
    }
}

fn no_benchmark_error(
    good: &Revision,
    key: &BenchmarkKey,
    why: &str,
    options: &BisectOptions,
) -> AppError {
    let help = if options.benches_from == BenchesFrom::Revision {
        "use `--benches-from worktree` to build every commit with the current benchmarks"
    } else {
        "choose another good commit"
    };
    AppError::NothingToMeasure(format!(
        "cannot measure `{}` in {good}: {why}\n  help: {help}",
        key.id.escape_debug()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_of_a_library_or_binary_is_not_searched_among_the_benches() {
        let usual = CargoOptions {
            packages: vec!["made".to_owned()],
            bins: true,
            ..CargoOptions::default()
        };
        for (target, flags) in [
            ("costs", "--package made --bench costs"),
            ("lib:made", "--package made --lib"),
            ("bin:made", "--package made --bins"),
            ("example:shown", "--package made --bins"),
            ("test:checked", "--package made --bins"),
        ] {
            let key = BenchmarkKey {
                package: "made".to_owned(),
                target: target.to_owned(),
                id: "cost".to_owned(),
            };
            let selected = select_target(usual.clone(), &key);
            let words: Vec<&str> = flags.split(' ').collect();
            assert_eq!(selected.build_flags(), words, "{target}");
        }
    }
}
