//! `cargo perfcheck [FILTER]...`: builds and measures benchmarks, alone or side by side with another build. Stores, judges and reports the run.

mod options;

pub use self::options::{AgainstOptions, PossibleTypo, RunOptions};

use std::collections::BTreeSet;

use self::options::against_team_baseline;
use crate::commands::push::run_then_push;
use crate::delivery::method::explain_method;
use crate::delivery::reports::write_findings;
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::pipeline::counting::count_alone;
use crate::pipeline::judge::{Measured, SingleMeasured};
use crate::pipeline::next_steps::workspace_flags;
use crate::pipeline::pair::{PairingRules, ShardPlan, ShardRequest, pair_builds};
use crate::pipeline::paired::{BegunPair, PairedMeasurement, remarks_on_skipped};
use crate::pipeline::prepare::{TargetName, failed_targets, nothing_found_error, timeout};
use crate::pipeline::publish::{Advice, NextSteps, Publication};
use crate::pipeline::record::{AcceptancePolicy, RecordedRun};
use crate::pipeline::reference::{
    ReferenceBuild, ReferenceBuilds, build_against, find_reference_builds,
};
use crate::pipeline::request::{Request, git_state};
use crate::pipeline::single::SingleMeasurement;
use crate::pipeline::work_tree::WorkTree;
use crate::sanitize::shell_quoted;
use crate::session::{Context, NamedRun, World};
use crate::stored::conclusions::{read_conclusion, read_findings};
use crate::stored::references::{
    ComparedCandidate, ReferenceQuery, ReferenceResolver, ReferenceSelector, StoredReferences,
};
use perfcheck_analysis::compare::{Note, TestPolicy};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Coverage, FailedTarget, GatePolicy, Row, RunNote};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, Environment, Measurement, ProgressReporter, Purpose, RunId, ShardId,
    Verdict,
};
use perfcheck_bench::measure::{BenchmarkCost, DiscoveredBenches, DiscoveredTarget, Filter};
use perfcheck_store::{Store, StoreError, WorkspaceId};

/// Carries out `cargo perfcheck run`.
pub fn run(
    options: &RunOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.check(common)?;
    let common = &*options.with_profile(common);
    if options.comparison.analysis.explain {
        return explain_method(&options.comparison, common, world);
    }
    // Read before the build, which adds to the load.
    let load = perfcheck_host::load_average();
    let context = Context::load(common, world)?
        .with_command_line(options.layer)
        .for_writing();
    context.require_local_store()?;
    run_then_push(options.push, &context, common, world, |world| {
        measure(options, &context, common, load, world)
    })
}

/// Measures, judges, records and publishes. `load` is the load average before the command.
fn measure(
    options: &RunOptions,
    context: &Context,
    common: &CommonOptions,
    load: Option<f64>,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if options.against.is_none() {
        options.comparison.check(&context.tables.workspace)?;
    }
    let options = &against_team_baseline(options, context, world)?;
    let request = Request {
        context,
        common,
        filter: &options.filter,
        comparison: &options.comparison,
        effort: options.effort_in_force(),
        timeout: timeout(options.timeout_in_force(), context),
        load,
        seed: options
            .comparison
            .seed
            .unwrap_or_else(perfcheck_host::fresh_seed),
        git: git_state(context, world)?,
    };
    refuse_mistyped_command(options, context)?;
    let command = RunCommand {
        baseline: named_baseline(options, context)?,
        options,
        request,
    };
    let candidate = command.build(world)?;
    let command = command.of_built(&candidate)?;
    let measured = match command.choose_reference(candidate, world)? {
        Comparand::Builds(references) => command.measure_paired(references, world)?,
        Comparand::StoredRuns { tree, why } => command.measure_single(*tree, why, world)?,
    };
    command.conclude(measured, world)
}

/// A call of `cargo perfcheck run`, with the reference that the user named.
struct RunCommand<'a> {
    options: &'a RunOptions,
    baseline: Option<NamedRun>,
    request: Request<'a>,
}

/// The built work tree.
enum BuiltCandidate {
    /// The work tree was built together with the reference of `--against`.
    WithReference(Box<ReferenceBuild>),
    Alone(Box<WorkTree>),
}

/// The builds or stored runs with which the work tree is compared.
enum Comparand {
    Builds(Vec<ReferenceBuild>),
    /// `why` is a note on why the reference cannot be measured again. It is `None` if the user did not want to measure it again, or if there is no
    /// reference.
    StoredRuns {
        tree: Box<WorkTree>,
        why: Option<RunNote>,
    },
}

/// A run whose measurements are stored.
struct MeasuredRun {
    measured: Measured,
    failed_targets: Vec<FailedTarget>,
    /// Whether no benchmark at all was measured, although there should be some.
    measured_nothing: bool,
    is_control: bool,
}

impl RunCommand<'_> {
    fn build(&self, world: &mut World<'_>) -> Result<BuiltCandidate, AppError> {
        let (options, request) = (self.options, &self.request);
        if let Some(how) = &options.against {
            let built = build_against(&how.reference, how.benches_from, request, world)?;
            return Ok(BuiltCandidate::WithReference(Box::new(built)));
        }
        // Keep the build, even if this run is compared with stored numbers only, so that later runs can be measured against it. A user of
        // `--no-rerun` wants no such measurements.
        let is_kept = !options.no_rerun && !world.variables.no_rerun;
        let Request {
            context,
            common,
            filter,
            timeout,
            ..
        } = *request;
        let tree = WorkTree::build(context, common, filter, timeout, is_kept, world)?;
        if tree.found.is_empty() {
            // Report an unusable store first: it is the worse problem.
            context.open_store()?;
            return Err(nothing_found_error(&options.filter, &tree.found));
        }
        Ok(BuiltCandidate::Alone(Box::new(tree)))
    }

    /// Replaces commit and branch by those of the built sources: the user may have committed or switched branches since the command began.
    fn of_built(self, candidate: &BuiltCandidate) -> Result<Self, AppError> {
        let built = match candidate {
            BuiltCandidate::WithReference(reference) => reference.builds.git.candidate.clone(),
            BuiltCandidate::Alone(tree) => match &tree.build {
                Ok(build) => build.git.clone(),
                Err(_) => self.request.git_after_build()?,
            },
        };
        let git = built.map(|git| self.request.with_branch(git));
        let request = Request {
            git,
            ..self.request
        };
        Ok(Self { request, ..self })
    }

    fn choose_reference(
        &self,
        candidate: BuiltCandidate,
        world: &mut World<'_>,
    ) -> Result<Comparand, AppError> {
        let tree = match candidate {
            BuiltCandidate::WithReference(reference) => {
                return Ok(Comparand::Builds(vec![*reference]));
            }
            BuiltCandidate::Alone(tree) => tree,
        };
        let workspace = &self.request.context.tables.workspace;
        if self.options.is_about_stored_numbers(workspace, world) {
            return Ok(Comparand::StoredRuns { tree, why: None });
        }
        let baseline = self.baseline.as_ref();
        Ok(
            match find_reference_builds(&tree, baseline, &self.request, world)? {
                ReferenceBuilds::Available(references) if references.is_empty() => {
                    Comparand::StoredRuns { tree, why: None }
                }
                ReferenceBuilds::Available(references) => Comparand::Builds(references),
                ReferenceBuilds::StoredOnly { reason } => Comparand::StoredRuns {
                    tree,
                    why: Some(RunNote::StoredAlone { reason }),
                },
            },
        )
    }

    /// Measures the work tree and the builds of its references side by side.
    fn measure_paired(
        &self,
        references: Vec<ReferenceBuild>,
        world: &mut World<'_>,
    ) -> Result<MeasuredRun, AppError> {
        let (options, request) = (self.options, &self.request);
        let rules = PairingRules {
            part: self.asked_part(),
            wants_control: options.measure_identical,
            measures_all: options.measure_identical || options.save_baseline.is_some(),
            declined: self.declined_before(&references)?,
        };
        let suite = pair_builds(references, rules, request, world)?;
        let first = &suite.builds[0];
        let git = BySide {
            base: first.git.base.clone(),
            candidate: request.git.clone(),
        };
        let measurement = PairedMeasurement {
            builds: first.kept_names.clone(),
            earlier: suite.earlier,
            reference: suite.reference,
            remarks: suite.remarks,
            partition: suite.shard.map(|shard| shard.partition),
            purpose: if suite.is_control {
                Purpose::Control
            } else {
                Purpose::Comparison
            },
            ..PairedMeasurement::new(request, &first.environment, git, suite.planned)
        };
        let failed_targets = suite.pairing.failed_targets.clone();
        let planned = suite.pairing.planned();
        let (mut store, workspace) = request.context.open_store()?;
        let begun = measurement.begin(&mut store, workspace, &suite.pairing.pairs)?;
        let measured = match begun.measure(&mut store, suite.pairing, world) {
            Err(AppError::Interrupted(unfinished)) => {
                let decided = publish_decided(&begun, &store, world)?;
                return Err(AppError::Interrupted(match decided {
                    0 => unfinished,
                    _ => format!(" with {decided} of {planned} benchmarks decided{unfinished}"),
                }));
            }
            measured => measured?,
        };
        drop(suite.lock);
        Ok(MeasuredRun {
            measured: Measured::Paired(measured),
            failed_targets,
            measured_nothing: false,
            is_control: suite.is_control,
        })
    }

    /// Returns the benchmarks that declined to be measured in the earlier runs to which `references` belong. If there are no such runs, looks at the
    /// newest stored run instead.
    fn declined_before(
        &self,
        references: &[ReferenceBuild],
    ) -> Result<BTreeSet<BenchmarkKey>, AppError> {
        let Some((store, workspace)) = self.request.context.open_stored()? else {
            return Ok(BTreeSet::new());
        };
        let earlier = references.iter().flat_map(|one| &one.earlier);
        let mut runs: Vec<RunId> = earlier.map(|earlier| earlier.run.id).collect();
        // All shards must have the same plan, independently of their stores.
        if runs.is_empty() && self.options.part.is_none() {
            runs.extend(store.latest_run(workspace)?);
        }
        let mut declined = BTreeSet::new();
        for run in runs {
            // Ignore conclusions that another version of the tool stored: its rules may differ.
            if let Ok(Some(concluded)) = read_conclusion(&store, run) {
                let keys = concluded.verdicts.declined();
                declined.extend(keys.map(|(key, _)| key.clone()));
            }
        }
        Ok(declined)
    }

    /// Measures the work tree alone, to be compared with stored runs.
    fn measure_single(
        &self,
        tree: WorkTree,
        why: Option<RunNote>,
        world: &mut World<'_>,
    ) -> Result<MeasuredRun, AppError> {
        let request = &self.request;
        let (mut store, workspace) = request.context.open_store()?;
        let build = tree.name().map(str::to_owned);
        let mut discovered = tree.found;
        let all = discovered.targets.iter();
        let all = all.flat_map(|found| &found.benchmarks);
        let all = all.map(|benchmark| &benchmark.key);
        let shard = (self.asked_part()).map(|part| ShardPlan::assign(part, all, false));
        if let Some(shard) = &shard {
            discovered.retain(|key| shard.has(key));
        }
        let lock = request.measuring_lock(world)?;
        let targets = discovered.targets.iter();
        let subjects: Vec<ReferenceQuery> = targets.flat_map(benchmarks_of_target).collect();
        // Read before the measurement: a reference may be removed meanwhile.
        let environment = &tree.environment;
        let mut stored = self.read_references(&store, workspace, environment, None, &subjects)?;
        let failed_targets = failed_targets(&discovered.failures);
        let measurement = SingleMeasurement {
            request,
            environment,
            references: &stored.references,
            build: build.as_deref(),
            partition: shard.as_ref().map(|shard| &shard.partition),
        };
        let run = measurement.begin(&mut store, workspace)?;
        let listed = discovered.targets.clone();
        let spent = measurement.measure(&mut store, run, listed, world)?;
        let left = RecordedRun::Single(run).left_incomplete();
        let read = || store.measurements(run, None);
        let mut measurements = world.interrupt.while_computing(&left, read)?;
        let not_counted = count_alone(
            run,
            &mut measurements,
            &discovered.targets,
            request,
            &left,
            &mut store,
            world,
        )?;
        drop(lock);
        let changed = with_other_metric(&measurements, &subjects);
        if !changed.is_empty() {
            match self.read_references(&store, workspace, environment, Some(run), &changed) {
                Ok(found) => stored.replace(found),
                // The reference was removed meanwhile: keep the references that were chosen before.
                Err(AppError::Store(StoreError::NoSuchRun(_))) => {}
                Err(error) => return Err(error),
            }
        }
        let declined: BTreeSet<&BenchmarkKey> = spent.iter().filter_map(declined_key).collect();
        let scope = self.scope(&discovered);
        // A shard does not report missing benchmarks: `merge` does.
        let is_expected =
            |key: &BenchmarkKey| shard.is_none() && scope(key) && !declined.contains(key);
        stored.expected.retain(is_expected);
        let is_empty_part = shard.is_some_and(|shard| shard.is_empty());
        let (options, context) = (&self.options.comparison, request.context);
        Ok(MeasuredRun {
            measured_nothing: measurements.is_empty() && !is_empty_part,
            measured: Measured::Single(SingleMeasured {
                run,
                measurements,
                stored,
                rules: TestPolicy {
                    decision: options.decision(&context.tables.workspace),
                    host: context.host_class(environment),
                    seed: request.seed,
                },
                allowed: options.allow_different.clone(),
                failed_targets: failed_targets.clone(),
                had_time_budget: self.options.effort.time_budget.is_some(),
                remarks: why
                    .into_iter()
                    .chain(remarks_on_skipped(&spent))
                    .chain(not_counted)
                    .collect(),
            }),
            failed_targets,
            is_control: false,
        })
    }

    /// Judges, records and publishes the run.
    fn conclude(&self, measured: MeasuredRun, world: &mut World<'_>) -> Result<ExitCode, AppError> {
        let MeasuredRun {
            measured,
            failed_targets,
            measured_nothing,
            is_control,
        } = measured;
        let (options, tables) = (self.options, &self.request.context.tables);
        let fail_on = self.fail_on();
        let is_part = options.part.is_some();
        let is_beside = options.against.is_some();
        let measures_builds = options.comparison.measures_builds();
        let limits = options.comparison.failure.limits(tables);
        // Those of Cargo.toml are for all runs, and a run measures either builds or benchmarks.
        let limits = limits.filter(|limit| limit.is_on_builds() == measures_builds);
        let gate = GatePolicy {
            coverage: if is_part {
                Coverage::Part
            } else {
                Coverage::Whole
            },
            limits: limits.filter(|_| !is_part).collect(),
            fail_on: &fail_on,
            is_named: (is_beside || self.baseline.is_some()) && !is_part,
            failed_targets,
            measured_nothing,
        };
        let concluded = measured.judge(gate, world.interrupt);
        // The revision of `--against` may be slow code that nobody accepted, so a comparison with it does not accept the run.
        let policy = if is_control || is_beside || is_part {
            AcceptancePolicy::Never
        } else {
            AcceptancePolicy::IfGood {
                named: self.baseline.as_ref().map(|named| named.run),
                git: self.request.git.as_ref(),
            }
        };
        let run = measured.run();
        let (mut store, workspace) = self.request.context.open_store()?;
        run.record(&mut store, &concluded, policy)?;
        let baseline = self.baseline.as_ref();
        let common = self.request.common;
        let publication = Publication {
            context: self.request.context,
            common,
            reports: &options.reports,
            fail_on: &fail_on,
            advice: match options.part {
                Some(ShardId { part, of }) => Advice::Line(format!(
                    "Part {part} of {of}: use `cargo perfcheck merge` to judge all parts together."
                )),
                None => Advice::NextSteps(NextSteps {
                    baseline,
                    save_as: options.save_baseline.as_deref(),
                    again: options.again(&workspace_flags(common), &common.cargo),
                    next: options.next_reference(baseline),
                    is_whole: true,
                }),
            },
        };
        publication.publish(&mut store, workspace, run.id(), concluded, world)
    }

    /// Selects the stored runs with which the benchmarks in `subjects` are compared. `candidate` is the new run, if it is stored already.
    fn read_references(
        &self,
        store: &Store,
        workspace: WorkspaceId,
        environment: &Environment,
        candidate: Option<RunId>,
        subjects: &[ReferenceQuery],
    ) -> Result<StoredReferences, AppError> {
        let git = self.request.git.as_ref();
        let branch = git.and_then(|git| git.branch.as_deref());
        let resolver = ReferenceResolver {
            store,
            workspace,
            checkout: self.request.context.checkout(),
        };
        let compared = ComparedCandidate {
            environment,
            allowed: &self.options.comparison.allow_different,
            id: candidate,
        };
        let selector = ReferenceSelector::new(self.baseline.as_ref(), candidate, branch);
        let references = resolver.resolve_numbers(&selector, &compared, subjects)?;
        Ok(StoredReferences::read(store, references, |_| true)?)
    }

    /// Returns a function that reports whether a benchmark of the reference should exist in this run, too.
    fn scope<'s>(
        &'s self,
        discovered: &DiscoveredBenches,
    ) -> Box<dyn Fn(&BenchmarkKey) -> bool + 's> {
        let cargo = &self.request.common.cargo;
        let packages = self.request.context.workspace.selected_packages(cargo);
        let good = discovered.targets.iter();
        let good = good.map(|found| TargetName::from_target(&found.target));
        let bad = failed_targets(&discovered.failures);
        let bad = bad.iter().map(TargetName::from_failed);
        let seen: BTreeSet<TargetName> = good.chain(bad).collect();
        let filter = &self.options.filter;
        Box::new(move |key: &BenchmarkKey| {
            let is_selected = if cargo.selects_all_benches() {
                packages.contains(&key.package)
            } else {
                seen.contains(&TargetName::from_key(key))
            };
            is_selected && filter.matches(key)
        })
    }
    fn fail_on(&self) -> Vec<Verdict> {
        let settings = &self.request.context.tables.workspace;
        match self.options.part {
            // Verdicts never make a shard fail: `merge` decides.
            Some(_) => Vec::new(),
            None => self.options.comparison.failure.fail_on(settings),
        }
    }
    fn asked_part(&self) -> Option<ShardRequest<'_>> {
        let options = self.options;
        options.part.map(|part| ShardRequest {
            part,
            filter: &options.filter,
            reference: options.asked_reference(),
        })
    }
}

/// Before anything is built, refuses a filter that looks like a mistyped command, unless it matches a stored benchmark.
fn refuse_mistyped_command(options: &RunOptions, context: &Context) -> Result<(), AppError> {
    match &options.possible_typo {
        Some(PossibleTypo { word, command }) if !has_been_found(&options.filter, context) => {
            Err(AppError::Usage(format!(
                "there is no command `{word}`; did you mean `cargo perfcheck {command}`?\n  help: `cargo perfcheck run {word}` measures the benchmarks with `{word}` in their id",
                word = shell_quoted(word)
            )))
        }
        _ => Ok(()),
    }
}

/// Reports whether the filter matches a stored benchmark. Ignores an unreadable store, which is reported when it is needed.
fn has_been_found(filter: &Filter, context: &Context) -> bool {
    let Ok(Some((store, workspace))) = context.open_stored() else {
        return false;
    };
    let known = store.benchmarks(workspace).unwrap_or_default();
    known.iter().any(|one| filter.matches(&one.key))
}

/// Before anything is built, finds the reference run that the user named. The name may be unknown if the new run is to be saved under it.
fn named_baseline(options: &RunOptions, context: &Context) -> Result<Option<NamedRun>, AppError> {
    let Some(name) = &options.baseline else {
        return Ok(None);
    };
    let found = match context.open_stored()? {
        Some((store, workspace)) => NamedRun::resolve_reference(&store, workspace, name),
        None => Err(AppError::NoSuchRun {
            name: name.clone(),
            existing: Vec::new(),
        }),
    };
    match found {
        Ok(named) => Ok(Some(named)),
        Err(AppError::NoSuchRun { .. }) if options.save_baseline.as_ref() == Some(name) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the benchmarks whose measured metric differs from the announced one: a Criterion bench reports its metric only with its results.
fn with_other_metric(
    measurements: &[Measurement],
    announced: &[ReferenceQuery],
) -> Vec<ReferenceQuery> {
    let mut measured: Vec<ReferenceQuery> = measurements
        .iter()
        .map(ReferenceQuery::from_measurement)
        .collect();
    measured.retain(|one| {
        let mut announced = announced.iter();
        announced.any(|known| known.key == one.key && known.metric != one.metric)
    });
    measured
}

/// Returns the benchmark's key if the benchmark declined to be measured.
fn declined_key(spent: &BenchmarkCost) -> Option<&BenchmarkKey> {
    spent.skipped.as_ref().map(|_| &spent.key)
}

/// Returns for each benchmark of a target the facts by which its reference runs are selected.
fn benchmarks_of_target(found: &DiscoveredTarget) -> impl Iterator<Item = ReferenceQuery> {
    found.benchmarks.iter().map(|benchmark| ReferenceQuery {
        key: benchmark.key.clone(),
        target_facts: found.target.facts.clone(),
        version: benchmark.version.clone(),
        metric: benchmark.metric.clone(),
    })
}

/// Writes the verdicts that are final despite the interrupt. Returns the number of benchmarks that have one.
fn publish_decided(
    interrupted: &BegunPair<'_>,
    store: &Store,
    world: &mut World<'_>,
) -> Result<usize, AppError> {
    let request = interrupted.measurement.request;
    let (context, common) = (request.context, request.common);
    let run = interrupted.runs.candidate;
    let head = store.run(run)?;
    let measured = store.measurements(run, None)?;
    let mut findings = read_findings(
        context,
        store,
        &head,
        &measured,
        &ProgressReporter::silent(),
    )?;
    findings.rows.retain(is_decided);
    let decided = findings.rows.len();
    if decided > 0 {
        common.output.order().sort(&mut findings.rows);
        findings.exit_code = ExitCode::Interrupted.number();
        write_findings(&findings, common, world)?;
    }
    Ok(decided)
}

/// Reports whether the verdict is final, so that more rounds would not change it.
fn is_decided(row: &Row<'_>) -> bool {
    let notes = row.comparison.iter().flat_map(|found| &found.notes);
    let mut unsearched = notes.filter(|note| matches!(note, Note::SlowPathsNotSearched { .. }));
    match row.verdict {
        Some(Verdict::Unchanged) => unsearched.next().is_none(),
        None | Some(Verdict::Inconclusive) => false,
        Some(Verdict::Failed) => row
            .measurement
            .is_some_and(|found| !found.failures.is_empty()),
        Some(_) => true,
    }
}
