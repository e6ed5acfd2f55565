//! `cargo perfcheck --against ...`: two builds measured in turn.
//!
//! Both sides are stored, as two runs that belong together; the verdicts follow from what is stored and can be reached again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::context::{Context, World};
use super::error::AppError;
use super::findings::{sort, summarize_all, verdicts};
use super::options::{Against, AgainstOptions, RunOptions, StoreOptions};
use super::prepare::{build, find_benchmarks, nothing_found, timeout};
use super::run::{busy, git_state, write};
use crate::cargo::BenchTarget;
use crate::compare::{Comparison, Duel, Plan, Round, Side, Standing, judge, standing};
use crate::exit_code::ExitCode;
use crate::host;
use crate::measure::{
    Discovered, Ended, PairedCampaign, PairedPlan, PairedSink, PairedTarget, RoundSettings, Sides,
    Spent,
};
use crate::model::{
    Acceptance, Benchmark, BenchmarkKey, DecisionSettings, Environment, Event, GitState,
    Measurement, Observer, RunId, Tally, Verdict,
};
use crate::report::{Findings, Method, Progress, Row, Verdicts};
use crate::store::{NewRun, RunEnd, Store, check_baseline_name};

/// Rounds at most, where the user says nothing.
const ROUNDS: u32 = 60;
/// Rounds at most, where the user gives a time.
const ROUNDS_WITH_BUDGET: u32 = 1000;
/// After these rounds a benchmark may be settled.
const LOOKS: [u32; 12] = [10, 20, 30, 45, 60, 100, 150, 200, 300, 450, 600, 1000];

/// Runs the command.
pub(super) fn against(
    options: &RunOptions,
    how: &AgainstOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if let Some(name) = &options.save_baseline {
        check_baseline_name(name)?;
    }
    let load = host::load();
    let mut context = Context::load(&world.variables, common)?;
    context.tables.layers.command_line = options.layer;
    let built = sides(how, &context, common, world)?;
    let found = Sides {
        base: find_benchmarks(options, built.targets.base, &context, world)?,
        new: find_benchmarks(options, built.targets.new, &context, world)?,
    };
    if no_benchmarks(&found.new) {
        return Err(nothing_found(options, &found.new));
    }
    let seed = options.comparison.seed.unwrap_or_else(host::fresh_seed);
    let pairing = Pairing::of(found, how.control);
    let decision = decision(options, &context);
    let run = AgainstRun {
        options,
        how,
        common,
        context: &context,
        environment: built.environment,
        git: Sides {
            base: built.base_git,
            new: git_state(&context, world),
        },
        words: built.words,
        decision,
        plan: plan(how, &decision, pairing.planned(), seed),
        load,
    };
    run.run(pairing, world)
}

/// Both builds, and how the reference is called.
struct Built {
    targets: Sides<Vec<BenchTarget>>,
    environment: Environment,
    base_git: Option<GitState>,
    words: String,
}

fn sides(
    how: &AgainstOptions,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<Built, AppError> {
    let (toolchain, new) = build(context, common, world)?;
    let environment = Environment {
        host: host::detect(world.variables.ci),
        build: toolchain,
    };
    match &how.reference {
        Against::Executable(path) => Ok(Built {
            targets: Sides {
                base: vec![with_executable(&new, path)?],
                new,
            },
            environment,
            base_git: None,
            words: format!("the executable {}", path.display()),
        }),
        Against::Revision(_) | Against::MergeBase(_) => Err(AppError::Usage("soon".to_owned())),
    }
}

/// The bench target that `path` is an earlier build of, with that executable.
fn with_executable(targets: &[BenchTarget], path: &Path) -> Result<BenchTarget, AppError> {
    let path = path.canonicalize().map_err(|error| {
        AppError::Usage(format!(
            "there is no executable {}: {error}",
            path.display()
        ))
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Cargo appends a hash to the target's name.
    let stem = name.rsplit_once('-').map_or(&*name, |(stem, _)| stem);
    let called = |target: &&BenchTarget| target.target == stem || target.target == name;
    let found: Vec<&BenchTarget> = targets.iter().filter(called).collect();
    let target = match (&found[..], targets) {
        ([target], _) => *target,
        (_, [target]) => target,
        _ => {
            return Err(AppError::Usage(format!(
                "which bench target is {} an earlier build of?\n  help: name it, e.g. `--bench {}`",
                path.display(),
                targets.first().map_or("NAME", |target| &target.target)
            )));
        }
    };
    let mut target = target.clone();
    match target.first_arguments.last_mut() {
        // Behind a runner.
        Some(executable) => *executable = path.into(),
        None => target.program = path,
    }
    Ok(target)
}

fn no_benchmarks(found: &Discovered) -> bool {
    found
        .targets
        .iter()
        .all(|target| target.benchmarks.is_empty())
}

fn decision(options: &RunOptions, context: &Context) -> DecisionSettings {
    let mut decision = options.comparison.decision(&context.tables.workspace);
    if options.comparison.noise_threshold.is_none() {
        decision.noise_threshold = DecisionSettings::PAIRED_NOISE_THRESHOLD;
    }
    decision
}

fn plan(how: &AgainstOptions, decision: &DecisionSettings, planned: usize, seed: u64) -> Plan {
    let rounds = match (how.rounds, how.time_budget) {
        (Some(rounds), _) => rounds,
        (None, Some(_)) => ROUNDS_WITH_BUDGET,
        (None, None) => ROUNDS,
    };
    let earlier = LOOKS.into_iter().filter(|look| *look < rounds);
    Plan {
        looks: earlier.chain([rounds]).collect(),
        significance_level: decision.significance_level,
        planned,
        confidence_level: decision.confidence_level,
        resamples: decision.resamples,
        seed,
    }
}

/// Which benchmarks are measured against which, and which are left alone.
#[derive(Default)]
struct Pairing {
    pairs: Vec<PairedTarget>,
    /// Verdicts that need no measurement.
    settled: Vec<(BenchmarkKey, Verdict)>,
    failed_targets: bool,
}

impl Pairing {
    fn of(found: Sides<Discovered>, control: bool) -> Self {
        let mut pairing = Self {
            failed_targets: !found.new.failures.is_empty() || !found.base.failures.is_empty(),
            ..Self::default()
        };
        let name = |target: &BenchTarget| (target.package.clone(), target.target.clone());
        let mut base: BTreeMap<_, _> = found
            .base
            .targets
            .into_iter()
            .map(|found| (name(&found.target), found))
            .collect();
        for new in found.new.targets {
            let Some(other) = base.remove(&name(&new.target)) else {
                pairing.settle(new.benchmarks, Verdict::New);
                continue;
            };
            let ids = |benchmarks: &[Benchmark]| -> BTreeSet<BenchmarkKey> {
                benchmarks.iter().map(|b| b.key.clone()).collect()
            };
            let (here, there) = (ids(&new.benchmarks), ids(&other.benchmarks));
            let is_there = |benchmark: &Benchmark| there.contains(&benchmark.key);
            let (both, only_new) = new.benchmarks.into_iter().partition(is_there);
            pairing.settle(only_new, Verdict::New);
            let gone = other.benchmarks.into_iter();
            let gone = gone.filter(|benchmark| !here.contains(&benchmark.key));
            pairing.settle(gone.collect(), Verdict::Missing);
            if !control && same_bytes(&other.target, &new.target) {
                pairing.settle(both, Verdict::Unchanged);
                continue;
            }
            pairing.pairs.push(PairedTarget {
                targets: Sides {
                    base: other.target,
                    new: new.target,
                },
                benchmarks: both,
            });
        }
        for gone in base.into_values() {
            pairing.settle(gone.benchmarks, Verdict::Missing);
        }
        pairing
    }

    fn settle(&mut self, benchmarks: Vec<Benchmark>, verdict: Verdict) {
        let keys = benchmarks.into_iter().map(|benchmark| benchmark.key);
        self.settled.extend(keys.map(|key| (key, verdict)));
    }

    fn planned(&self) -> usize {
        self.pairs.iter().map(|pair| pair.benchmarks.len()).sum()
    }
}

/// Whether both sides run the same bytes.
fn same_bytes(a: &BenchTarget, b: &BenchTarget) -> bool {
    let read = |target: &BenchTarget| {
        let executable = target.first_arguments.last();
        std::fs::read(executable.map_or(target.program.as_path(), Path::new)).ok()
    };
    read(a).is_some_and(|bytes| read(b) == Some(bytes))
}

/// Everything that stays the same during the run.
struct AgainstRun<'a> {
    options: &'a RunOptions,
    how: &'a AgainstOptions,
    common: &'a StoreOptions,
    context: &'a Context,
    environment: Environment,
    git: Sides<Option<GitState>>,
    words: String,
    decision: DecisionSettings,
    plan: Plan,
    load: Option<f64>,
}

impl AgainstRun<'_> {
    fn run(&self, pairing: Pairing, world: &mut World<'_>) -> Result<ExitCode, AppError> {
        let mut store = self.context.store()?;
        let workspace = store.workspace(&self.context.key(), &self.context.label())?;
        let new_run = |side: Side| NewRun {
            started: host::now(),
            git: match side {
                Side::Base => self.git.base.clone(),
                Side::New => self.git.new.clone(),
            },
            environment: self.environment.clone(),
            load: self.load,
            seed: self.plan.seed,
            decision: self.decision,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let plan = serde_json::to_string(&self.plan).unwrap_or_default();
        let (base, new) =
            store.begin_pair(workspace, &new_run(Side::Base), &new_run(Side::New), &plan)?;
        let runs = Sides { base, new };
        let settled = pairing.settled;
        let spent = self.measure(&mut store, &runs, pairing.pairs, world)?;
        let measured = Sides {
            base: store.measurements(runs.base, None)?,
            new: store.measurements(runs.new, None)?,
        };
        let mut rows = self.rows(&measured, runs.base, &settled, &spent);
        let tally: Tally = rows.iter().filter_map(|row| row.verdict).collect();
        let fail_on = self
            .options
            .comparison
            .fail_on(&self.context.tables.workspace);
        let mut exit_code = ExitCode::of_verdicts(&tally, &fail_on, true);
        if pairing.failed_targets {
            exit_code = exit_code.and(ExitCode::BenchmarkFailed);
        }
        let end = |verdicts| RunEnd {
            finished: host::now(),
            acceptance: Acceptance::Pending,
            exit_code: exit_code.number(),
            verdicts,
        };
        store.finish_pair(
            (runs.base, &end(Vec::new())),
            (runs.new, &end(verdicts(&rows))),
        )?;
        let mut last_words = Vec::new();
        if let Some(name) = &self.options.save_baseline {
            store.set_baseline(workspace, name, runs.new)?;
            last_words.push(format!("Saved as baseline `{name}`."));
        }
        sort(&mut rows, self.common.output.order);
        let head = store.run(runs.new)?;
        let findings = Findings {
            run: &head,
            rows,
            verdicts: Some(Verdicts {
                reference: format!("{} (run {})", self.words, runs.base),
                decision: self.decision,
                method: Method::Paired,
                warnings: Vec::new(),
                advice: last_words,
            }),
            confidence_level: self.decision.confidence_level,
            exit_code: exit_code.number(),
        };
        write(&findings, self.common, world)?;
        Ok(exit_code)
    }

    fn measure(
        &self,
        store: &mut Store,
        runs: &Sides<RunId>,
        pairs: Vec<PairedTarget>,
        world: &mut World<'_>,
    ) -> Result<Vec<Spent>, AppError> {
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        let cores = self.environment.host.cores;
        if let Some(warning) = self.load.and_then(|load| busy(load, cores)) {
            progress.observe(&Event::Warning(&warning));
        }
        let layers = &self.context.tables.layers;
        let threshold = |benchmark: &Benchmark| {
            layers
                .resolve(benchmark)
                .1
                .unwrap_or(self.decision.noise_threshold)
        };
        let mut thresholds = BTreeMap::new();
        for benchmark in pairs.iter().flat_map(|pair| &pair.benchmarks) {
            thresholds.insert(benchmark.key.clone(), threshold(benchmark));
        }
        let campaign = PairedCampaign::plan(
            pairs,
            threshold,
            PairedPlan {
                rounds: self.plan.looks.last().copied().unwrap_or(ROUNDS),
                round: RoundSettings::default(),
                time_budget: self.how.time_budget,
                seed: self.plan.seed,
                timeout: timeout(self.options, self.context),
            },
            world.supervisor,
            world.interrupt,
            &progress,
        );
        let mut sink = PairedSink {
            record: &mut |side, launch| store.record_launch(*runs.of(side), launch),
            settled: &mut |key, rounds| {
                let duel = Duel {
                    key,
                    rounds,
                    noise_threshold: thresholds[key],
                };
                self.plan.looks.contains(&(rounds.len() as u32))
                    && standing(&duel, &self.plan) != Standing::Open
            },
        };
        let (ended, spent) = campaign.run(&mut sink)?;
        match ended {
            Ended::Complete => Ok(spent),
            Ended::Interrupted => Err(AppError::Interrupted(format!(
                "; runs {} and {} are stored as incomplete with the rounds that had ended",
                runs.base, runs.new
            ))),
        }
    }

    fn rows<'m>(
        &self,
        measured: &'m Sides<Vec<Measurement>>,
        base_run: RunId,
        settled: &[(BenchmarkKey, Verdict)],
        spent: &[Spent],
    ) -> Vec<Row<'m>> {
        let comparisons = judged(measured, &self.plan);
        let summaries = summarize_all(&measured.new, &self.decision, self.plan.seed);
        let mut rows: Vec<Row<'m>> = measured
            .new
            .iter()
            .zip(summaries)
            .map(|(measurement, summary)| {
                let key = &measurement.benchmark.key;
                let comparison = comparisons.get(key).cloned();
                let verdict = match &comparison {
                    Some(comparison) => comparison.verdict,
                    None => Verdict::Failed,
                };
                let spent = spent.iter().find(|spent| spent.key == *key);
                Row {
                    key: key.clone(),
                    measurement: Some(measurement),
                    summary,
                    verdict: Some(verdict),
                    comparison,
                    reference: vec![base_run],
                    blocking: Vec::new(),
                    seconds: spent.map(|spent| spent.time.as_secs_f64()),
                }
            })
            .collect();
        rows.extend(settled.iter().map(|(key, verdict)| Row {
            key: key.clone(),
            measurement: None,
            summary: None,
            verdict: Some(*verdict),
            comparison: None,
            reference: vec![base_run],
            blocking: Vec::new(),
            seconds: None,
        }));
        rows.sort_by(|a, b| a.key.cmp(&b.key));
        rows
    }
}

/// The comparison of each benchmark that both sides have measured in whole rounds.
pub(super) fn judged(
    measured: &Sides<Vec<Measurement>>,
    plan: &Plan,
) -> BTreeMap<BenchmarkKey, Comparison> {
    let mut keys = Vec::new();
    for new in &measured.new {
        let key = &new.benchmark.key;
        let base = measured.base.iter().find(|base| base.benchmark.key == *key);
        let rounds = base.map_or_else(Vec::new, |base| rounds(base, new));
        if !rounds.is_empty() {
            keys.push((key, rounds, new.noise_threshold));
        }
    }
    let duels: Vec<Duel<'_>> = keys
        .iter()
        .map(|(key, rounds, noise_threshold)| Duel {
            key,
            rounds,
            noise_threshold: *noise_threshold,
        })
        .collect();
    let comparisons = judge(&duels, plan);
    duels
        .iter()
        .map(|duel| duel.key.clone())
        .zip(comparisons)
        .collect()
}

/// The rounds that both sides have.
fn rounds(base: &Measurement, new: &Measurement) -> Vec<Round> {
    let of_base: BTreeMap<u32, _> = base
        .launches
        .iter()
        .map(|launch| (launch.launch, &launch.series.flat))
        .collect();
    new.launches
        .iter()
        .filter_map(|launch| {
            Some(Round {
                base: (*of_base.get(&launch.launch)?).clone(),
                new: launch.series.flat.clone(),
            })
        })
        .collect()
}
