//! `cargo perfcheck [FILTER]...`: build, measure, store, compare, report.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::against::against;
use super::baseline::give_name;
use super::budget::cut_short;
use super::confirm::Confirmation;
use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::findings::{Evidence, failed_targets, host_class, rows, sort, verdicts, warnings};
use super::kept::{Rerun, against_baseline, drain, keep, opened, watch};
use super::next_steps::{flags, next_steps, nothing_compared, place};
use super::options::{RunOptions, StoreOptions};
use super::pins::{Pin, pinned_schedules};
use super::prepare::{build, find_benchmarks, list_only, nothing_found, timeout};
use super::reference::{Chooser, References, Subject, Wanted};
use super::reports::{Reporting, Told};
use crate::cargo::BenchTarget;
use crate::compare::Rules;
use crate::exit_code::ExitCode;
use crate::findings::{FailedTarget, Findings, Gates, Method, Row, Verdicts};
use crate::findings::{gates, has_worsened, status_of_gates};
use crate::host;
use crate::measure::{Campaign, Discovered, DiscoveredTarget, Ended, Resolved};
use crate::model::{
    Acceptance, Benchmark, BenchmarkKey, DecisionSettings, Environment, Event, FileFact, GitState,
    Measurement, NewRun, Observer, RunEnd, RunId, Tally, Verdict,
};
use crate::report::{self, MessageFormat, Progress};
use crate::settings::Layers;
use crate::store::{Store, StoreError, WorkspaceId, check_baseline_name};

/// Runs the command.
pub fn run(
    options: &RunOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if let Some(how) = &options.against {
        options.comparison.check_in_turn()?;
        options.reports.check(common.output.format)?;
        return against(options, how, common, world);
    }
    options.comparison.check()?;
    options.reports.check(common.output.format)?;
    if let Some(name) = &options.save_baseline {
        check_baseline_name(name)?;
    }
    let stored_only = options.stored
        || world.variables.stored
        || options.comparison.screen
        || options.comparison.is_of_other_systems()
        || options.no_run;
    let mut remarks = Vec::new();
    if let (Some(name), false) = (&options.baseline, stored_only) {
        match against_baseline(options, name, common, world)? {
            Rerun::Done(exit_code) => return Ok(exit_code),
            Rerun::Impossible(reason) => remarks.extend(
                reason.map(|reason| format!("this rests on stored numbers alone: {reason}")),
            ),
        }
    }
    // Before the build, which is a load of its own.
    let load = host::load();
    let mut context = Context::load(&world.variables, common)?;
    context.tables.layers.command_line = options.layer;
    let (toolchain, targets) = build(&context, common, world)?;
    let discovered = find_benchmarks(
        &options.filter,
        timeout(options.timeout, &context),
        targets,
        world,
    )?;
    if options.no_run {
        return list_only(&discovered, common.output.format, world);
    }
    let mut store = context.store()?;
    let workspace = store.workspace(&context.key(), &context.label())?;
    if discovered.is_empty() {
        return Err(nothing_found(&options.filter, &discovered));
    }
    let baseline = match named_baseline(options, &store, workspace) {
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
    let git = git_state(&context, world);
    let session = Session {
        options,
        common,
        context: &context,
        workspace,
        baseline,
        environment,
        git,
        load,
        seed: options.comparison.seed.unwrap_or_else(host::fresh_seed),
        remarks,
        // What is not the time does not drift with the host.
        confirms: !stored_only && options.baseline.is_none() && options.comparison.is_about_time(),
    };
    session.run(&mut store, discovered, world)
}

/// Files that benches opened, and the directory that they lie below.
type OpenedBelow = (PathBuf, Vec<FileFact>);

/// Everything that stays the same during one run.
struct Session<'a> {
    options: &'a RunOptions,
    common: &'a StoreOptions,
    context: &'a Context,
    workspace: WorkspaceId,
    baseline: Option<(RunId, String)>,
    environment: Environment,
    git: Option<GitState>,
    load: Option<f64>,
    seed: u64,
    /// What a reader must know before anything was measured.
    remarks: Vec<String>,
    /// Whether what looks slower is measured again, in turn with its reference.
    confirms: bool,
}

impl Session<'_> {
    fn run(
        &self,
        store: &mut Store,
        discovered: Discovered,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        let tables = &self.context.tables;
        let decision = self.options.comparison.decision(&tables.workspace);
        let references = self.references(store, &discovered.targets)?;
        let pins = pinned_schedules(store, &references)?;
        let scope: BTreeSet<(String, String)> = all_targets(&discovered);
        let failed = failed_targets(&discovered.failures);
        let name = |failed: &FailedTarget| (failed.package.clone(), failed.target.clone());
        let failed_names: BTreeSet<(String, String)> = failed.iter().map(name).collect();
        let run = self.begin(store, decision)?;
        let targets: Vec<BenchTarget> = discovered
            .targets
            .iter()
            .map(|found| found.target.clone())
            .collect();
        let opened = self.measure(store, run, discovered.targets, &pins, world)?;
        let measurements = store.measurements(run, None)?;
        let rules = Rules {
            decision,
            decider: self.options.comparison.decider(),
            host: host_class(tables.workspace.shared_host, self.environment.host.shared),
            seed: self.seed,
        };
        let cargo = &self.common.cargo;
        let packages = self.context.workspace.selected_packages(cargo);
        let in_scope = |key: &BenchmarkKey| {
            let selected = match &packages {
                Some(packages) if cargo.covers(&key.target) => packages.contains(&key.package),
                _ => scope.contains(&(key.package.clone(), key.target.clone())),
            };
            selected && self.options.filter.wants(&key.id)
        };
        let mut rows = rows(&Evidence {
            store,
            measurements: &measurements,
            references: &references,
            rules: &rules,
            noise_threshold: &|measurement: &Measurement| measurement.noise_threshold,
            in_scope: &in_scope,
            failed_targets: &failed_names,
        })?;
        cut_short(&mut rows, self.options.effort.time_budget);
        if let Err(error) = self.confirm(store, &mut rows, world) {
            // The run itself was measured whole: it ends with what its own numbers say.
            let end = RunEnd {
                finished: host::now(),
                acceptance: Acceptance::Pending,
                exit_code: error.exit_code().number(),
                verdicts: verdicts(&rows),
            };
            store.finish_run(run, &end)?;
            return Err(error);
        }
        let tally: Tally = rows.iter().filter_map(|row| row.verdict).collect();
        let fail_on = self.options.comparison.fail_on(&tables.workspace);
        let mut exit_code = ExitCode::of_verdicts(&tally, &fail_on, self.baseline.is_some());
        if !failed.is_empty() || measurements.is_empty() {
            exit_code = exit_code.and(ExitCode::BenchmarkFailed);
        }
        let gates = gates(&rows, self.options.comparison.fail_rules(tables), &decision);
        exit_code = exit_code.and(status_of_gates(&gates));
        let acceptance = self.acceptance(store, &tally, &gates)?;
        store.finish_run(
            run,
            &RunEnd {
                finished: host::now(),
                acceptance,
                exit_code: exit_code.number(),
                verdicts: verdicts(&rows),
            },
        )?;
        let good = exit_code == ExitCode::Clean && !is_worse(&tally);
        let named = self.name_run(store, run, good, (&targets, &opened), world)?;
        let last_words = named
            .into_iter()
            .chain(next_steps(&rows, run, &self.command_again(), &self.place()))
            .chain(nothing_compared(exit_code, self.baseline.as_ref(), &rows))
            .collect();
        sort(&mut rows, self.common.output.order);
        let head = store.run(run)?;
        let findings = Findings {
            run: &head,
            rows,
            verdicts: Some(Verdicts {
                reference: references.words.clone(),
                decision,
                method: Method::Stored(rules.decider),
                warnings: warnings(&references),
                remarks: self.remarks.clone(),
                advice: last_words,
                gates,
            }),
            failed_targets: failed,
            confidence_level: decision.confidence_level,
            exit_code: exit_code.number(),
        };
        self.publish(&findings, &fail_on, world)?;
        Ok(exit_code)
    }

    /// Writes the result and the reports about it.
    fn publish(
        &self,
        findings: &Findings<'_>,
        fail_on: &[Verdict],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let reporting = Reporting {
            options: &self.options.reports,
            fail_on,
            context: self.context,
            told: Told::Stored,
        };
        reporting.publish(findings, self.common, world)
    }

    /// Measures again, in turn with its reference, what looks slower.
    fn confirm(
        &self,
        store: &mut Store,
        rows: &mut [Row<'_>],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        if !self.confirms {
            return Ok(());
        }
        let confirmation = Confirmation {
            options: self.options,
            common: self.common,
            context: self.context,
            workspace: self.workspace,
            git: self.git.as_ref(),
            seed: self.seed,
            load: self.load,
        };
        confirmation.confirm(store, rows, world)
    }

    /// Gives the run the name that the user wants, if any, and keeps its executables with it.
    fn name_run(
        &self,
        store: &mut Store,
        run: RunId,
        good: bool,
        (targets, opened): (&[BenchTarget], &[OpenedBelow]),
        world: &mut World<'_>,
    ) -> Result<Option<String>, AppError> {
        let Some(name) = &self.options.save_baseline else {
            return Ok(None);
        };
        let (saved, words) = self.save_baseline(store, name, run, good)?;
        if saved {
            keep(store, run, targets, opened, world)?;
        }
        Ok(Some(words))
    }

    /// Begins the run in the store.
    fn begin(&self, store: &mut Store, decision: DecisionSettings) -> Result<RunId, StoreError> {
        store.begin_run(
            self.workspace,
            &NewRun {
                started: host::now(),
                git: self.git.clone(),
                environment: self.environment.clone(),
                load: self.load,
                seed: self.seed,
                decision,
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            },
        )
    }

    /// Whether the run may be a reference from now on: it found nothing worse, and what it was compared with may be one too.
    /// Otherwise a comparison of slow code with itself would turn a regression green.
    fn acceptance(
        &self,
        store: &Store,
        tally: &Tally,
        gates: &Gates,
    ) -> Result<Acceptance, StoreError> {
        let beside_the_history = match self.baseline {
            Some((named, _)) => store.run(named)?.acceptance == Acceptance::Pending,
            None => false,
        };
        let worse = is_worse(tally) || has_worsened(gates);
        Ok(if worse || beside_the_history {
            Acceptance::Pending
        } else {
            Acceptance::Automatic
        })
    }

    /// Gives the run the name that the user wants, and says so.
    ///
    /// A run that was compared with that very name and was not `good` does not get it: the next run would be
    /// compared with the bad one, and the gate would have switched itself off.
    fn save_baseline(
        &self,
        store: &mut Store,
        name: &str,
        run: RunId,
        good: bool,
    ) -> Result<(bool, String), StoreError> {
        match &self.baseline {
            Some((before, compared_with)) if compared_with == name && !good => Ok((
                false,
                format!(
                    "Baseline `{name}` is still run {before}. If the change is meant: cargo perfcheck baseline save {name} {run}{}",
                    self.place()
                ),
            )),
            _ => {
                let said = give_name(store, self.workspace, name, run)?;
                Ok((true, said))
            }
        }
    }

    /// This command line without what selects benchmarks, for advice.
    fn command_again(&self) -> String {
        let cargo = &self.common.cargo;
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
        place(self.common)
    }

    fn references(
        &self,
        store: &Store,
        targets: &[DiscoveredTarget],
    ) -> Result<References, AppError> {
        let subjects: Vec<Subject> = targets
            .iter()
            .flat_map(|found| {
                found.benchmarks.iter().map(|benchmark| Subject {
                    key: benchmark.key.clone(),
                    target_facts: found.target.facts.clone(),
                    version: benchmark.version.clone(),
                    metric: benchmark.metric.clone(),
                })
            })
            .collect();
        let wanted = match &self.baseline {
            Some((run, name)) => Wanted::Named(*run, name),
            None => Wanted::LastAccepted {
                before: None,
                branch: self.git.as_ref().and_then(|git| git.branch.as_deref()),
            },
        };
        let chooser = Chooser {
            store,
            workspace: self.workspace,
            checkout: self.context.checkout.as_ref(),
            environment: &self.environment,
            allowed: &self.options.comparison.allow_different,
            candidate: None,
        };
        Ok(chooser.choose(&wanted, &subjects)?)
    }

    fn measure(
        &self,
        store: &mut Store,
        run: RunId,
        targets: Vec<DiscoveredTarget>,
        pins: &[Pin],
        world: &mut World<'_>,
    ) -> Result<Vec<OpenedBelow>, AppError> {
        let default_threshold = self
            .options
            .comparison
            .decision(&self.context.tables.workspace)
            .noise_threshold;
        let layers: &Layers = &self.context.tables.layers;
        let resolve = |benchmark: &Benchmark| {
            let (sampling, noise_threshold) = layers.resolve(benchmark);
            let pin = pins.iter().find(|pin| pin.key == benchmark.key);
            Resolved {
                sampling,
                noise_threshold: noise_threshold.unwrap_or(default_threshold),
                pinned: pin.and_then(|pin| pin.flat),
                pinned_samples: pin.map(|pin| pin.samples),
                past_visit: pin.map(|pin| pin.visit),
            }
        };
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        let cores = self.environment.host.cores;
        if let Some(warning) = self.load.and_then(|load| busy(load, cores)) {
            progress.observe(&Event::Warning(&warning));
        }
        // A baseline is to be run again some day, by then with other files perhaps.
        let mut watches = match self.options.save_baseline {
            Some(_) => watch(
                &targets
                    .iter()
                    .map(|found| &found.target)
                    .collect::<Vec<_>>(),
            ),
            None => Vec::new(),
        };
        let campaign = Campaign::plan(
            targets,
            resolve,
            self.seed,
            timeout(self.options.timeout, self.context),
            world.supervisor,
            world.interrupt,
            &progress,
        )
        .with_control(host::ControlProbe::of(&world.variables))
        .within(self.options.effort.time_budget);
        let mut record = |launch: &_| {
            drain(&mut watches);
            store.record_launch(run, launch)
        };
        let ended = campaign.run(&mut record)?;
        drop(progress);
        match ended {
            Ended::Complete => opened(watches, world),
            Ended::Interrupted => Err(AppError::Interrupted(format!(
                "; run {run} is stored as incomplete with the launches that had ended"
            ))),
        }
    }
}

/// Whether a run found, or may have found, something slower.
pub(super) fn is_worse(tally: &Tally) -> bool {
    tally.count(Verdict::Regressed) + tally.count(Verdict::Suspect) > 0
}

/// The run to compare with, if the user named one. A baseline that is about to be saved need not exist yet.
fn named_baseline(
    options: &RunOptions,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Option<(RunId, String)>, AppError> {
    let Some(name) = &options.baseline else {
        return Ok(None);
    };
    match resolve_run(store, workspace, name) {
        Ok(run) => Ok(Some((run, name.clone()))),
        Err(AppError::NoSuchRun { .. }) if options.save_baseline.as_ref() == Some(name) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn git_state(context: &Context, world: &World<'_>) -> Option<GitState> {
    let mut state = context.checkout.as_ref()?.state()?;
    if state.branch.is_none() {
        state.branch.clone_from(&world.variables.ci_branch);
    }
    Some(state)
}

fn all_targets(discovered: &Discovered) -> BTreeSet<(String, String)> {
    let good = discovered
        .targets
        .iter()
        .map(|found| (found.target.package.clone(), found.target.target.clone()));
    let bad = discovered
        .failures
        .iter()
        .map(|failure| (failure.package.clone(), failure.target.clone()));
    good.chain(bad).collect()
}

/// The warning that others keep the machine busy: more than half of the cores, by the one-minute load average.
pub(super) fn busy(load: f64, cores: u32) -> Option<String> {
    let plural = if cores == 1 { "" } else { "s" };
    (load > f64::from(cores) / 2.0).then(|| {
        format!(
            "the machine is busy (load {load:.1} on {cores} core{plural}): intervals will be wide"
        )
    })
}

/// Writes findings in the format that the user wants.
pub(super) fn write(
    findings: &Findings<'_>,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    match common.output.format {
        MessageFormat::Human => {
            report::write_table(world.stdout, findings, &common.output.view())?;
        }
        MessageFormat::Json => report::write_json(world.stdout, findings)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::busy;

    #[test]
    fn a_machine_is_busy_when_more_than_half_of_its_cores_are() {
        assert_eq!(
            busy(2.66, 2).as_deref(),
            Some("the machine is busy (load 2.7 on 2 cores): intervals will be wide")
        );
        assert!(busy(0.51, 1).is_some());
        assert_eq!(busy(1.0, 2), None);
        assert_eq!(busy(0.0, 64), None);
    }
}
