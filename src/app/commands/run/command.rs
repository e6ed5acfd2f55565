//! Builds, measures, stores, concludes and reports; alone or in turn with another build.

use std::collections::BTreeSet;

use super::options::RunOptions;
use crate::app::context::{Context, World, resolve_run};
use crate::app::deliver::method::explain_method;
use crate::app::deliver::next_steps::{
    flags, how_it_came_about, next_steps, nothing_compared, place,
};
use crate::app::deliver::reports::Reporting;
use crate::app::error::AppError;
use crate::app::measuring::alone::{Alone, left_incomplete};
use crate::app::measuring::builds::{BothBuilds, build_both, discover_both};
use crate::app::measuring::confirm::confirm;
use crate::app::measuring::counting::count_alone;
use crate::app::measuring::in_turn::{InTurn, finish, pair_left_incomplete};
use crate::app::measuring::keep::{keep, keep_candidate, watch};
use crate::app::measuring::pairing::{Pairing, failed_targets, name};
use crate::app::measuring::prepare::{build, find_benchmarks, nothing_found, timeout};
use crate::app::measuring::request::{Request, git_state};
use crate::app::measuring::rerun::RunAgain;
use crate::app::measuring::trial::settle_by_trial;
use crate::app::naming::shell_quoted;
use crate::app::options::StoreOptions;
use crate::app::stored::conclusions::end_of;
use crate::app::stored::names::give_name;
use crate::app::stored::references::{Chooser, Wanted, Wanting, expected_again, past_measurements};
use crate::report;
use perfcheck_analysis::compare::{Fact, Rules};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{
    Conclusion, FailedTarget, Findings, References, Row, RunRemark, StoredEvidence, Terms,
    Verdicts, conclude,
};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, BySide, Environment, Measurement, Purpose, RunId, Verdict, Work,
};
use perfcheck_engine::cargo::BenchTarget;
use perfcheck_engine::host;
use perfcheck_engine::measure::Discovered;
use perfcheck_engine::store::{Store, StoreError, WorkspaceId};

/// Runs the command.
pub fn run(
    options: &RunOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.check(common)?;
    if options.comparison.explain {
        return explain_method(&options.comparison, common, world);
    }
    // Before the build, which is a load of its own.
    let load = host::load();
    let mut context = Context::load(&world.variables, common)?;
    if options.against.is_none() {
        options.comparison.check(&context.tables.workspace)?;
    }
    context.tables.layers.command_line = options.layer;
    let command = RunCommand {
        options,
        request: Request {
            context: &context,
            common,
            filter: &options.filter,
            comparison: &options.comparison,
            effort: options.effort,
            timeout: timeout(options.timeout, &context),
            load,
            seed: options.comparison.seed.unwrap_or_else(host::fresh_seed),
            git: git_state(&context, world),
        },
    };
    command.doubt_filter()?;
    match command.other_build(world)? {
        Other::Built(built, found) => command.in_turn(&built, found, world),
        Other::Stored(remarks) => command.alone(remarks, world),
    }
}

/// What the work tree is compared with.
enum Other {
    /// Another build, to be measured in turn with it.
    Built(Box<BothBuilds>, BySide<Discovered>),
    /// Stored numbers; a reader must know this of them.
    Stored(Vec<RunRemark>),
}

/// One call of the command.
struct RunCommand<'a> {
    options: &'a RunOptions,
    request: Request<'a>,
}

impl RunCommand<'_> {
    /// Finds out what the work tree is compared with, and builds that where it is to be measured.
    fn other_build(&self, world: &mut World<'_>) -> Result<Other, AppError> {
        if let Some(how) = &self.options.against {
            let mut built = build_both(&how.reference, how.benches_from, &self.request, world)?;
            let found = discover_both(&mut built, &self.request, world)?;
            return Ok(Other::Built(Box::new(built), found));
        }
        let Some(baseline) = &self.options.baseline else {
            return Ok(Other::Stored(Vec::new()));
        };
        if self.is_about_stored_numbers(world) {
            return Ok(Other::Stored(Vec::new()));
        }
        let Some((store, workspace)) = self.request.context.stored()? else {
            return Ok(Other::Stored(Vec::new()));
        };
        let Ok(run) = resolve_run(&store, workspace, baseline) else {
            return Ok(Other::Stored(Vec::new()));
        };
        let again = RunAgain {
            head: &store.run(run)?,
            words: if baseline.parse() == Ok(run.0) {
                format!("run {run}")
            } else {
                format!("`{baseline}` (run {run})")
            },
            request: &self.request,
        };
        Ok(match again.sides(&store, world)? {
            Ok((built, found)) => Other::Built(Box::new(built), found),
            Err(reason) => Other::Stored(
                reason
                    .map(|reason| RunRemark::StoredAlone { reason })
                    .into_iter()
                    .collect(),
            ),
        })
    }

    /// Refuses a filter that looks like a mistyped command, before anything is built for it. One that has found benchmarks before is a filter.
    fn doubt_filter(&self) -> Result<(), AppError> {
        match &self.options.doubt {
            Some((word, command)) if !self.has_been_found() => Err(AppError::Usage(format!(
                "there is no command `{word}`; did you mean `cargo perfcheck {command}`?\n  help: `cargo perfcheck run {word}` measures the benchmarks with `{word}` in their id",
                word = shell_quoted(word)
            ))),
            _ => Ok(()),
        }
    }

    /// Whether a stored benchmark of the workspace is one that the filter wants. A store that cannot be read is told of when it is needed.
    fn has_been_found(&self) -> bool {
        let request = &self.request;
        let Ok(Some((store, workspace))) = request.context.stored() else {
            return false;
        };
        let known = store.benchmarks(workspace).unwrap_or_default();
        known.iter().any(|one| request.filter.wants(&one.key.id))
    }

    /// Measures two builds in turn.
    fn in_turn(
        &self,
        built: &BothBuilds,
        found: BySide<Discovered>,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        let (options, request) = (self.options, &self.request);
        if found.candidate.is_empty() {
            return Err(nothing_found(&options.filter, &found.candidate));
        }
        let wants_control = options
            .against
            .as_ref()
            .is_some_and(|how| how.measure_identical);
        let measures_all = wants_control || options.save_baseline.is_some();
        let mut pairing = Pairing::of(
            found,
            &built.alike,
            measures_all,
            options.comparison.allows(Fact::BenchmarkVersion),
        );
        if !measures_all {
            settle_by_trial(&mut pairing, &built.alike, request, world)?;
        }
        let is_control = wants_control && pairing.is_of_identical(&built.alike);
        let mut turns = InTurn::of(
            request,
            &built.environment,
            built.base_git.clone(),
            pairing.planned(),
            if is_control {
                Purpose::Control
            } else {
                Purpose::Comparison
            },
        );
        if options.save_baseline.is_some() {
            turns.watches = watch(&pairing.targets.iter().collect::<Vec<_>>());
        }
        let as_built = built.relinking.prepare(&mut pairing.pairs, request.seed);
        let (mut store, workspace) = request.context.store()?;
        let baseline = self.named_baseline(&store, workspace)?;
        let measured = turns.measure(&mut store, workspace, pairing.pairs, world)?;
        let (interrupt, left) = (world.interrupt, pair_left_incomplete(&measured.runs));
        let host = request.context.host_class(&built.environment);
        let reference = format!("{} (run {})", built.words, measured.runs.base);
        let mut basis = interrupt.while_computing(&left, || measured.basis(reference, host));
        let known = built.remarks.iter().cloned();
        let known = known.chain(as_built).chain(self.not_for_rounds());
        basis.remarks.splice(0..0, known);
        let fail_on = self.fail_on();
        let terms = self.terms(&fail_on, pairing.failed_targets, true);
        let mut concluded = interrupt.while_computing(&left, || {
            conclude(measured.rows(&pairing.settled), basis, terms)
        });
        finish(&mut store, &measured.runs, &concluded)?;
        let run = measured.runs.candidate;
        let mut advice: Vec<String> = how_it_came_about(&concluded.rows, run, &self.place())
            .into_iter()
            .collect();
        let named = self.name_run(&mut store, workspace, run, &concluded, baseline.as_ref())?;
        if let Some((true, _)) = named {
            let (watches, context) = (turns.watches, request.context);
            keep_candidate(&mut store, run, &pairing.targets, watches, context, world)?;
        }
        advice.extend(named.map(|(_, said)| said));
        concluded.verdicts.advice = advice;
        self.publish(&store, run, concluded, &fail_on, world)
    }

    /// Measures the work tree alone, and compares it with stored numbers.
    fn alone(&self, remarks: Vec<RunRemark>, world: &mut World<'_>) -> Result<ExitCode, AppError> {
        let (options, request) = (self.options, &self.request);
        let (toolchain, targets) = build(request.context, request.common, world)?;
        let discovered = find_benchmarks(&options.filter, request.timeout, targets, world)?;
        let (mut store, workspace) = request.context.store()?;
        if discovered.is_empty() {
            return Err(nothing_found(&options.filter, &discovered));
        }
        let baseline = match self.named_baseline(&store, workspace) {
            Err(error) if !discovered.failures.is_empty() => {
                // The errors are above; a baseline that is missing does not make them less grave.
                report::write_error(world.stderr, &error.to_string())?;
                return Ok(error.exit_code().and(ExitCode::BenchmarkFailed));
            }
            other => other?,
        };
        let environment = Environment {
            host: host::detect(world.variables.ci),
            build: toolchain,
        };
        let references = self.references(
            &store,
            workspace,
            &discovered,
            baseline.as_ref(),
            &environment,
        )?;
        let scope = self.scope(&discovered);
        let failed = failed_targets(&discovered.failures);
        let listed = discovered.targets.clone();
        let measuring = Alone {
            request,
            environment: &environment,
            references: &references,
            watches: options.save_baseline.is_some(),
        };
        let run = measuring.begin(&mut store, workspace)?;
        let opened = measuring.measure(&mut store, run, discovered.targets, world)?;
        let (interrupt, left) = (world.interrupt, left_incomplete(run));
        let read = || store.measurements(run, None);
        let mut measurements = interrupt.while_computing(&left, read)?;
        let counted = &mut measurements;
        let not_counted = count_alone(run, counted, &listed, request, &left, &mut store, world)?;
        let (mut rows, mut basis) = interrupt.while_computing(&left, || {
            self.beside_stored(
                &store,
                &measurements,
                &references,
                &environment,
                &failed,
                &scope,
            )
        })?;
        basis.remarks = remarks.into_iter().chain(not_counted).collect();
        let confirmed = if self.confirms(baseline.is_some(), world) {
            confirm(&mut rows, request, &mut store, workspace, world)
        } else {
            Ok(())
        };
        let fail_on = self.fail_on();
        let terms = Terms {
            measured_nothing: measurements.is_empty(),
            ..self.terms(&fail_on, failed, baseline.is_some())
        };
        let mut concluded = interrupt.while_computing(&left, || conclude(rows, basis, terms));
        if let Err(error) = confirmed {
            // The run itself was measured whole: it ends with what its own numbers say.
            concluded.exit_code = error.exit_code();
            store.finish_run(run, &end_of(&concluded, Acceptance::Pending))?;
            return Err(error);
        }
        let acceptance = acceptance(&store, &concluded, baseline.as_ref())?;
        store.finish_run(run, &end_of(&concluded, acceptance))?;
        let named = self.name_run(&mut store, workspace, run, &concluded, baseline.as_ref())?;
        if let Some((true, _)) = named {
            let targets: Vec<BenchTarget> = listed.into_iter().map(|found| found.target).collect();
            keep(&mut store, run, &targets, &opened, world)?;
        }
        let rows = &concluded.rows;
        concluded.verdicts.advice = named
            .map(|(_, said)| said)
            .into_iter()
            .chain(next_steps(rows, run, &self.command_again(), &self.place()))
            .chain(nothing_compared(
                concluded.exit_code,
                baseline.as_ref(),
                rows,
            ))
            .collect();
        self.publish(&store, run, concluded, &fail_on, world)
    }

    /// The rows of what was measured alone in `environment` beside stored runs, and what they rest on.
    fn beside_stored<'m>(
        &self,
        store: &Store,
        measurements: &'m [Measurement],
        references: &References,
        environment: &Environment,
        failed: &[FailedTarget],
        scope: &dyn Fn(&BenchmarkKey) -> bool,
    ) -> Result<(Vec<Row<'m>>, Verdicts), AppError> {
        let (options, context) = (&self.options.comparison, self.request.context);
        let rules = Rules {
            decision: options.decision(&context.tables.workspace),
            host: context.host_class(environment),
            seed: self.request.seed,
        };
        let failed = failed.iter();
        let evidence = StoredEvidence {
            measurements,
            references,
            past: &past_measurements(store, references)?,
            expected: &expected_again(store, references, scope)?,
            rules: &rules,
            noise_threshold: &|measurement: &Measurement| measurement.noise_threshold,
            failed_targets: &failed
                .map(|failed| (failed.package.clone(), failed.target.clone()))
                .collect(),
            had_time_budget: self.options.effort.time_budget.is_some(),
        };
        let rows = evidence.rows(&Work::silent());
        let basis = evidence.basis(&rows, &options.allow_different);
        Ok((rows, basis))
    }

    fn is_about_stored_numbers(&self, world: &World<'_>) -> bool {
        let workspace = &self.request.context.tables.workspace;
        self.options.is_about_stored_numbers(workspace, world)
    }

    /// Whether what looks slower is measured again, in turn with its reference. What is not the time does not drift with the host.
    fn confirms(&self, has_baseline: bool, world: &World<'_>) -> bool {
        !self.is_about_stored_numbers(world)
            && !has_baseline
            && self.options.comparison.is_about_time()
    }

    /// Writes the result and the reports about it; the status is the one that was concluded.
    fn publish(
        &self,
        store: &Store,
        run: RunId,
        mut concluded: Conclusion<'_>,
        fail_on: &[Verdict],
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        let exit_code = concluded.exit_code;
        let common = self.request.common;
        common.output.order.sort(&mut concluded.rows);
        let head = store.run(run)?;
        let reporting = Reporting {
            options: &self.options.reports,
            fail_on,
            context: self.request.context,
        };
        reporting.publish(&Findings::of(&head, concluded), common, world)?;
        Ok(exit_code)
    }

    /// Gives the run the name that the user wants, if any: whether it has it now, and what to say of that.
    ///
    /// A run that was compared with that very name and found wanting does not get it: the next run would be
    /// compared with the bad one, and the gate would have switched itself off.
    fn name_run(
        &self,
        store: &mut Store,
        workspace: WorkspaceId,
        run: RunId,
        concluded: &Conclusion<'_>,
        baseline: Option<&(RunId, String)>,
    ) -> Result<Option<(bool, String)>, StoreError> {
        let Some(name) = &self.options.save_baseline else {
            return Ok(None);
        };
        Ok(Some(match baseline {
            Some((before, compared_with)) if compared_with == name && !concluded.is_good() => (
                false,
                format!(
                    "Baseline `{name}` is still run {before}. If the change is meant: cargo perfcheck baseline save {name} {run}{}",
                    self.place()
                ),
            ),
            _ => (true, give_name(store, workspace, name, run)?),
        }))
    }

    /// The run to compare with, if the user named one. A baseline that is about to be saved need not exist yet.
    fn named_baseline(
        &self,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<Option<(RunId, String)>, AppError> {
        let Some(name) = &self.options.baseline else {
            return Ok(None);
        };
        match resolve_run(store, workspace, name) {
            Ok(run) => Ok(Some((run, name.clone()))),
            Err(AppError::NoSuchRun { .. })
                if self.options.save_baseline.as_ref() == Some(name) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn references(
        &self,
        store: &Store,
        workspace: WorkspaceId,
        discovered: &Discovered,
        baseline: Option<&(RunId, String)>,
        environment: &Environment,
    ) -> Result<References, AppError> {
        let subjects: Vec<Wanting> = discovered
            .targets
            .iter()
            .flat_map(|found| {
                found.benchmarks.iter().map(|benchmark| Wanting {
                    key: benchmark.key.clone(),
                    target_facts: found.target.facts.clone(),
                    version: benchmark.version.clone(),
                    metric: benchmark.metric.clone(),
                })
            })
            .collect();
        let git = self.request.git.as_ref();
        let wanted = match baseline {
            Some((run, name)) => Wanted::Named(*run, name),
            None => Wanted::LastAccepted {
                before: None,
                branch: git.and_then(|git| git.branch.as_deref()),
            },
        };
        let chooser = Chooser {
            store,
            workspace,
            checkout: self.request.context.checkout.as_ref(),
            environment,
            allowed: &self.options.comparison.allow_different,
            candidate: None,
        };
        Ok(chooser.choose(&wanted, &subjects)?)
    }

    /// Which benchmarks should be there again if the reference has them.
    fn scope<'s>(&'s self, discovered: &Discovered) -> Box<dyn Fn(&BenchmarkKey) -> bool + 's> {
        let cargo = &self.request.common.cargo;
        let packages = self.request.context.workspace.selected_packages(cargo);
        let good = discovered.targets.iter().map(|found| name(&found.target));
        let bad = discovered.failures.iter();
        let bad = bad.map(|failure| (failure.package.clone(), failure.target.clone()));
        let seen: BTreeSet<(String, String)> = good.chain(bad).collect();
        let filter = &self.options.filter;
        Box::new(move |key: &BenchmarkKey| {
            let selected = match &packages {
                Some(packages) if cargo.covers(&key.target) => packages.contains(&key.package),
                _ => seen.contains(&(key.package.clone(), key.target.clone())),
            };
            selected && filter.wants(&key.id)
        })
    }

    fn fail_on(&self) -> Vec<Verdict> {
        let settings = &self.request.context.tables.workspace;
        self.options.comparison.fail_on(settings)
    }

    /// By what the command ends well or ill.
    fn terms<'t>(
        &'t self,
        fail_on: &'t [Verdict],
        failed_targets: Vec<FailedTarget>,
        is_named: bool,
    ) -> Terms<'t> {
        let tables = &self.request.context.tables;
        Terms {
            limits: self.options.comparison.limits(tables).collect(),
            fail_on,
            is_named,
            failed_targets,
            measured_nothing: false,
        }
    }

    /// That flags were given which say how stored runs are sampled.
    fn not_for_rounds(&self) -> Option<RunRemark> {
        let layer = &self.options.layer;
        let given = [
            ("--samples", layer.samples.is_some()),
            ("--measurement-time", layer.measurement.is_some()),
            ("--sampling-mode", layer.mode.is_some()),
        ];
        let given = given.into_iter().filter(|(_, is_given)| *is_given);
        let flags: Vec<String> = given.map(|(flag, _)| flag.to_owned()).collect();
        (!flags.is_empty()).then_some(RunRemark::NotForRounds { flags })
    }

    /// This command line without what selects benchmarks, for advice.
    fn command_again(&self) -> String {
        let cargo = &self.request.common.cargo;
        let features = Some(cargo.features.join(",")).filter(|features| !features.is_empty());
        let profile = cargo.profile.clone().filter(|profile| profile != "bench");
        let selected = flags([
            ("--baseline", self.options.baseline.clone()),
            ("--features", features),
            ("--profile", profile),
            ("--target", cargo.target.clone()),
        ]);
        format!("cargo perfcheck{}{selected}", self.place())
    }

    /// What leads any command to this workspace and store.
    fn place(&self) -> String {
        place(self.request.common)
    }
}

/// Whether the run may be a reference from now on: it found nothing worse, and what it was compared with may be one too.
/// Otherwise a comparison of slow code with itself would turn a regression green.
fn acceptance(
    store: &Store,
    concluded: &Conclusion<'_>,
    baseline: Option<&(RunId, String)>,
) -> Result<Acceptance, StoreError> {
    let beside_the_history = match baseline {
        Some((named, _)) => store.run(*named)?.acceptance == Acceptance::Pending,
        None => false,
    };
    Ok(if concluded.is_worse() || beside_the_history {
        Acceptance::Pending
    } else {
        Acceptance::Automatic
    })
}
