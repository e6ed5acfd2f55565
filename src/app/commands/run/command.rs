//! Builds, measures, stores, concludes and reports; alone or in turn with another build.

use std::collections::{BTreeMap, BTreeSet};

use super::earlier_builds::{OtherBuild, add_remarks, earlier_builds};
use super::interrupted::tell_decided;
use super::options::RunOptions;
use super::team::against_team_baseline;
use crate::app::context::{Context, World, resolve_reference};
use crate::app::deliver::method::explain_method;
use crate::app::deliver::next_steps::{AdvisedRun, next_steps, nothing_compared, place};
use crate::app::deliver::reports::Reporting;
use crate::app::error::AppError;
use crate::app::measuring::alone::{Alone, left_incomplete};
use crate::app::measuring::builds::{build_both, discover_both};
use crate::app::measuring::counting::count_alone;
use crate::app::measuring::in_turn::{InTurn, finish, pair_left_incomplete, skipped};
use crate::app::measuring::pairing::{Pairing, failed_targets, name};
use crate::app::measuring::partition::{AskedPart, Deal};
use crate::app::measuring::prepare::{nothing_found, timeout};
use crate::app::measuring::request::{Request, git_state};
use crate::app::measuring::trial::settle_by_trial;
use crate::app::measuring::work_tree::WorkTree;
use crate::app::options::StoreOptions;
use crate::app::stored::acceptance::{acceptance, acceptance_in_turn};
use crate::app::stored::conclusions::{conclusion_of, end_of};
use crate::app::stored::names::give_name_unless_worse;
use crate::app::stored::references::{Chooser, StoredReferences, Wanted, Wanting};
use crate::escape::shell_quoted;
use perfcheck_analysis::compare::{Fact, Rules};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{
    Conclusion, Coverage, FailedTarget, Findings, References, Row, RunRemark, StoredEvidence,
    Terms, Verdicts, conclude,
};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, Environment, GitState, Measurement, Purpose, RunId, SuitePart,
    Verdict, Work,
};
use perfcheck_engine::host;
use perfcheck_engine::measure::{Discovered, DiscoveredTarget};
use perfcheck_engine::store::{Store, StoreError, WorkspaceId};

/// Runs the command.
pub fn run(
    options: &RunOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.check(common)?;
    if options.comparison.analysis.explain {
        return explain_method(&options.comparison, common, world);
    }
    // Before the build, which is a load of its own.
    let load = host::load();
    let mut context = Context::load(common, world)?;
    context.require_local_store()?;
    if options.against.is_none() {
        options.comparison.check(&context.tables.workspace)?;
    }
    context.tables.layers.command_line = options.layer;
    let options = &against_team_baseline(options, &context, world)?;
    let git = git_state(&context, world)?;
    let mut command = RunCommand {
        options,
        baseline: None,
        request: Request {
            context: &context,
            common,
            filter: &options.filter,
            comparison: &options.comparison,
            effort: options.effort,
            timeout: timeout(options.timeout, &context),
            load,
            seed: options.comparison.seed.unwrap_or_else(host::fresh_seed),
            git,
        },
    };
    command.doubt_filter()?;
    command.baseline = command.named_baseline()?;
    if let Some(how) = &options.against {
        let request = &command.request;
        let mut built = build_both(&how.reference, how.benches_from, request, world)?;
        let git = built.git.candidate.clone();
        let found = discover_both(&mut built, request, world)?;
        if found.candidate.is_empty() {
            return Err(nothing_found(&options.filter, &found.candidate));
        }
        let turn = OtherBuild {
            built,
            found,
            earlier: None,
        };
        command.is_about(git);
        return command.in_turn(vec![turn], world);
    }
    let wants_turns = !command.is_about_stored_numbers(world);
    let wanted = (&options.filter, command.request.timeout);
    // What is not about the time is built for later runs all the same.
    let is_kept = !options.no_rerun && !world.variables.no_rerun;
    let tree = WorkTree::of((&context, common), wanted, is_kept, world)?;
    if tree.found.is_empty() {
        // A store that cannot be used is worse.
        context.store()?;
        return Err(nothing_found(&options.filter, &tree.found));
    }
    command.is_about(match &tree.build {
        Ok(build) => build.git.clone(),
        Err(_) => command.request.git_after_build()?,
    });
    let turns = if wants_turns {
        earlier_builds(&tree, command.baseline.as_ref(), &command.request, world)?
    } else {
        Ok(Vec::new())
    };
    match turns {
        Ok(turns) if turns.is_empty() => command.alone(tree, None, world),
        Ok(turns) => command.in_turn(turns, world),
        Err(reason) => command.alone(tree, Some(RunRemark::StoredAlone { reason }), world),
    }
}

/// One call of the command.
struct RunCommand<'a> {
    options: &'a RunOptions,
    /// The run to compare with, if the user named one that there is, and its name.
    baseline: Option<(RunId, String)>,
    request: Request<'a>,
}

impl RunCommand<'_> {
    /// Lets the run be about the state of the sources that were built, which may not be the one that the command began with.
    fn is_about(&mut self, built: Option<GitState>) {
        self.request.git = built.map(|git| self.request.with_branch(git));
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
        known.iter().any(|one| request.filter.wants(&one.key))
    }

    /// Measures the work tree in turn with other builds.
    fn in_turn(&self, turns: Vec<OtherBuild>, world: &mut World<'_>) -> Result<ExitCode, AppError> {
        let (options, request) = (self.options, &self.request);
        let wants_control = options.measure_identical;
        let measures_all = wants_control || options.save_baseline.is_some();
        let (mut earlier, mut is_control) = (BTreeMap::new(), wants_control);
        let declined = self.declined_before(&turns)?;
        let has_several = turns.len() > 1;
        let (mut pairings, mut known) = (Vec::new(), Vec::new());
        for turn in turns {
            let OtherBuild { built, found, .. } = turn;
            let run = turn.earlier.as_ref().map(|earlier| earlier.run.id);
            add_remarks(&mut known, &built.remarks, run.filter(|_| has_several));
            if let Some(one) = turn.earlier {
                let base = found
                    .base
                    .targets
                    .iter()
                    .flat_map(|found| &found.benchmarks);
                let keys = base.map(|benchmark| benchmark.key.clone());
                earlier.extend(keys.chain(one.benchmarks).map(|key| (key, one.run.id)));
            }
            let versions_may_differ = options.comparison.allows(Fact::BenchmarkVersion);
            let alike = &built.alike;
            let one = Pairing::of(found, alike, &declined, measures_all, versions_may_differ);
            is_control &= one.is_of_identical(&built.alike);
            pairings.push((one, built));
        }
        let keys = || pairings.iter().flat_map(|(one, _)| one.keys());
        let deal = (self.asked_part()).map(|asked| Deal::of(asked, keys(), is_control));
        // Which benchmarks come to nothing that differs only the part knows that tries them: the level is shared by all.
        let of_all_parts: usize = pairings.iter().map(|(one, _)| one.planned()).sum();
        let mut pairing = Pairing::default();
        let (mut builds, mut words) = (Vec::new(), Vec::new());
        let mut lock = None;
        for (mut one, built) in pairings {
            if let Some(deal) = &deal {
                one.retain(|key| deal.has(key));
            }
            if lock.is_none() && !one.pairs.is_empty() {
                lock = request.measuring_lock(world)?;
            }
            if !measures_all {
                settle_by_trial(&mut one, &built.alike, request, world)?;
            }
            known.extend(built.relinking.prepare(&mut one.pairs, request.seed, world));
            if one.compares_any() {
                words.push(built.words.clone());
            }
            pairing.join(one);
            builds.push(built);
        }
        let first = &builds[0];
        if words.is_empty() {
            words.push(first.words.clone());
        }
        let mut turns = InTurn::of(
            request,
            &first.environment,
            first.git.base.clone(),
            match deal {
                Some(_) => of_all_parts,
                None => pairing.planned(),
            },
            if is_control {
                Purpose::Control
            } else {
                Purpose::Comparison
            },
        );
        turns.builds.clone_from(&first.builds);
        turns.earlier = earlier;
        turns.partition = deal.map(|deal| deal.partition);
        let (mut store, workspace) = request.context.store()?;
        let planned = pairing.planned();
        let measured = match turns.measure(&mut store, workspace, pairing.pairs, world) {
            Err(AppError::Interrupted(left)) => {
                return Err(tell_decided(&turns, planned, &left, &store, world)?);
            }
            measured => measured?,
        };
        drop(lock);
        let (interrupt, left) = (world.interrupt, pair_left_incomplete(&measured.runs));
        let host = request.context.host_class(&first.environment);
        let mut basis = interrupt.while_computing(&left, || measured.basis(words.join(", "), host));
        known.extend(self.not_for_rounds());
        basis.remarks.splice(0..0, known);
        let fail_on = self.fail_on();
        let is_named = options.against.is_some() || self.baseline.is_some();
        let terms = self.terms(&fail_on, pairing.failed_targets, is_named);
        let concluded = interrupt.while_computing(&left, || {
            conclude(measured.rows(&pairing.settled), basis, terms)
        });
        // A revision need not have been accepted.
        let acceptance = if is_control || options.against.is_some() || options.part.is_some() {
            Acceptance::Pending
        } else {
            let named = self.baseline.as_ref().map(|(run, _)| *run);
            acceptance_in_turn(&store, &concluded, request.git.as_ref(), named)?
        };
        finish(&mut store, &measured.runs, &concluded, acceptance)?;
        let run = measured.runs.candidate;
        self.tell(store, workspace, run, concluded, world)
    }

    /// The benchmarks that declined to be measured in the earlier runs, or in the newest run where the command line says what it is compared with.
    fn declined_before(&self, turns: &[OtherBuild]) -> Result<BTreeSet<BenchmarkKey>, AppError> {
        let Some((store, workspace)) = self.request.context.stored()? else {
            return Ok(BTreeSet::new());
        };
        let earlier = turns.iter().flat_map(|turn| &turn.earlier);
        let mut runs: Vec<RunId> = earlier.map(|earlier| earlier.run.id).collect();
        // All parts have to plan the same, whatever is in their stores.
        if runs.is_empty() && self.options.part.is_none() {
            runs.extend(store.latest_run(workspace)?);
        }
        let mut declined = BTreeSet::new();
        for run in runs {
            // What another version of the tool concluded says nothing here.
            if let Ok(Some(concluded)) = conclusion_of(&store, run) {
                let keys = concluded.verdicts.declined();
                declined.extend(keys.map(|(key, _)| key.clone()));
            }
        }
        Ok(declined)
    }

    /// Measures the work tree alone, and compares it with stored numbers. `why`: why they have to do.
    fn alone(
        &self,
        tree: WorkTree,
        why: Option<RunRemark>,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        let request = &self.request;
        let (mut store, workspace) = request.context.store()?;
        let name = tree.name().map(str::to_owned);
        let mut discovered = tree.found;
        let environment = tree.environment;
        let targets = discovered.targets.iter();
        let all = targets.flat_map(|found| &found.benchmarks);
        let all = all.map(|benchmark| &benchmark.key);
        let deal = (self.asked_part()).map(|asked| Deal::of(asked, all, false));
        if let Some(deal) = &deal {
            discovered.retain(|key| deal.has(key));
        }
        let lock = request.measuring_lock(world)?;
        let subjects: Vec<Wanting> = discovered.targets.iter().flat_map(wanting).collect();
        let references = self.references(&store, workspace, &subjects, &environment, None)?;
        // Read before anything is measured: a reference may be removed meanwhile.
        let mut stored = StoredReferences::read(&store, references, |_| true)?;
        let scope = self.scope(&discovered);
        let failed = failed_targets(&discovered.failures);
        let listed = discovered.targets.clone();
        let measuring = Alone {
            request,
            environment: &environment,
            references: &stored.references,
            build: name.as_deref(),
            partition: deal.as_ref().map(|deal| &deal.partition),
        };
        let run = measuring.begin(&mut store, workspace)?;
        let spent = measuring.measure(&mut store, run, discovered.targets, world)?;
        let declined: BTreeSet<&BenchmarkKey> = spent
            .iter()
            .filter(|spent| spent.skipped.is_some())
            .map(|spent| &spent.key)
            .collect();
        let (interrupt, left) = (world.interrupt, left_incomplete(run));
        let read = || store.measurements(run, None);
        let mut measurements = interrupt.while_computing(&left, read)?;
        let counted = &mut measurements;
        let not_counted = count_alone(run, counted, &listed, request, &left, &mut store, world)?;
        drop(lock);
        // A bench of Criterion says what its numbers are only with its results.
        let mut others = measurements.iter().map(Wanting::of).collect::<Vec<_>>();
        others.retain(|other| {
            let mut discovered = subjects.iter();
            discovered.any(|one| one.key == other.key && one.metric != other.metric)
        });
        if !others.is_empty() {
            let found = self
                .references(&store, workspace, &others, &environment, Some(run))
                .and_then(|references| Ok(StoredReferences::read(&store, references, |_| true)?));
            match found {
                Ok(found) => stored.replace(found),
                // The reference was removed meanwhile: what was chosen before stands.
                Err(AppError::Store(StoreError::NoSuchRun(_))) => {}
                Err(error) => return Err(error),
            }
        }
        let (rows, mut basis) = interrupt.while_computing(&left, || {
            // A benchmark that is gone belongs to no part; merging reports it.
            let is_expected =
                |key: &BenchmarkKey| deal.is_none() && scope(key) && !declined.contains(key);
            stored.expected.retain(is_expected);
            self.beside_stored(&measurements, &stored, &environment, &failed)
        });
        let is_asked = |row: &Row<'_>| row.comparison.is_some() || !row.blocking.is_empty();
        let why = why.filter(|_| rows.iter().any(is_asked));
        basis.remarks = why
            .into_iter()
            .chain(skipped(&spent))
            .chain(not_counted)
            .collect();
        let fail_on = self.fail_on();
        let terms = Terms {
            measured_nothing: measurements.is_empty() && !deal.is_some_and(|deal| deal.is_empty()),
            ..self.terms(&fail_on, failed, self.baseline.is_some())
        };
        let concluded = interrupt.while_computing(&left, || conclude(rows, basis, terms));
        let named = self.baseline.as_ref().map(|(run, _)| *run);
        let acceptance = match self.options.part {
            Some(_) => Acceptance::Pending,
            None => acceptance(&store, &concluded, named)?,
        };
        store.finish_run(run, &end_of(&concluded, acceptance))?;
        self.tell(store, workspace, run, concluded, world)
    }

    /// Names the run as the user wishes, and tells what was concluded of it and what to do next.
    fn tell(
        &self,
        mut store: Store,
        workspace: WorkspaceId,
        run: RunId,
        mut concluded: Conclusion<'_>,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        if let Some(SuitePart { part, of }) = self.options.part {
            concluded.verdicts.advice = vec![format!(
                "Part {part} of {of}: `cargo perfcheck merge` decides about all parts together."
            )];
            return self.publish(&store, run, concluded, &[], world);
        }
        let baseline = self.baseline.as_ref();
        let wanted = self.options.save_baseline.as_deref();
        let give = |name| {
            let (store, place) = (&mut store, self.place());
            give_name_unless_worse(store, (workspace, run), name, &concluded, baseline, &place)
        };
        let named = wanted.map(give).transpose()?;
        let rows = &concluded.rows;
        let advised = AdvisedRun {
            run,
            again: &self
                .options
                .again(&self.place(), &self.request.common.cargo),
            place: &self.place(),
            next: self.options.next_reference(baseline),
        };
        concluded.verdicts.advice = named
            .into_iter()
            .chain(next_steps(rows, &advised))
            .chain(nothing_compared(concluded.exit_code, baseline, rows))
            .collect();
        self.publish(&store, run, concluded, &self.fail_on(), world)
    }

    /// The rows of what was measured alone in `environment` beside stored runs, and what they rest on.
    fn beside_stored<'m>(
        &self,
        measurements: &'m [Measurement],
        stored: &StoredReferences,
        environment: &Environment,
        failed: &[FailedTarget],
    ) -> (Vec<Row<'m>>, Verdicts) {
        let (options, context) = (&self.options.comparison, self.request.context);
        let rules = Rules {
            decision: options.decision(&context.tables.workspace),
            host: context.host_class(environment),
            seed: self.request.seed,
        };
        let failed = failed.iter();
        let evidence = StoredEvidence {
            measurements,
            references: &stored.references,
            past: &stored.past,
            expected: &stored.expected,
            rules: &rules,
            noise_threshold: &|measurement: &Measurement| measurement.noise_threshold,
            failed_targets: &failed
                .map(|failed| (failed.package.clone(), failed.target.clone()))
                .collect(),
            had_time_budget: self.options.effort.time_budget.is_some(),
        };
        let rows = evidence.rows(&Work::silent());
        let basis = evidence.basis(&rows, &options.allow_different);
        (rows, basis)
    }

    fn is_about_stored_numbers(&self, world: &World<'_>) -> bool {
        let workspace = &self.request.context.tables.workspace;
        self.options.is_about_stored_numbers(workspace, world)
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
        common.output.order().sort(&mut concluded.rows);
        let head = store.run(run)?;
        let reporting = Reporting {
            options: &self.options.reports,
            fail_on,
            context: self.request.context,
        };
        reporting.publish(&Findings::of(&head, concluded), common, world)?;
        Ok(exit_code)
    }

    /// Finds the run that the user named to compare with, before anything is built for it. A baseline that is about to be saved need not exist yet.
    fn named_baseline(&self) -> Result<Option<(RunId, String)>, AppError> {
        let Some(name) = &self.options.baseline else {
            return Ok(None);
        };
        let found = match self.request.context.stored()? {
            Some((store, workspace)) => resolve_reference(&store, workspace, name),
            None => Err(AppError::NoSuchRun {
                name: name.clone(),
                existing: Vec::new(),
            }),
        };
        match found {
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
        subjects: &[Wanting],
        environment: &Environment,
        candidate: Option<RunId>,
    ) -> Result<References, AppError> {
        let git = self.request.git.as_ref();
        let wanted = match &self.baseline {
            Some((run, name)) => Wanted::Named(*run, name),
            None => Wanted::LastAccepted {
                before: candidate,
                branch: git.and_then(|git| git.branch.as_deref()),
            },
        };
        let chooser = Chooser {
            store,
            workspace,
            checkout: self.request.context.checkout(),
            environment,
            allowed: &self.options.comparison.allow_different,
            candidate,
        };
        chooser.choose(&wanted, subjects)
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
            let is_selected = if cargo.wants_all_benches() {
                packages.contains(&key.package)
            } else {
                seen.contains(&(key.package.clone(), key.target.clone()))
            };
            is_selected && filter.wants(key)
        })
    }

    fn fail_on(&self) -> Vec<Verdict> {
        let settings = &self.request.context.tables.workspace;
        match self.options.part {
            // Nothing is decided yet.
            Some(_) => Vec::new(),
            None => self.options.comparison.failure.fail_on(settings),
        }
    }

    /// The part of the suite that is wanted.
    fn asked_part(&self) -> Option<AskedPart<'_>> {
        let options = self.options;
        options.part.map(|part| AskedPart {
            part,
            filter: &options.filter,
            reference: options.asked_reference(),
        })
    }

    /// By what the command ends well or ill.
    fn terms<'t>(
        &'t self,
        fail_on: &'t [Verdict],
        failed_targets: Vec<FailedTarget>,
        is_named: bool,
    ) -> Terms<'t> {
        let tables = &self.request.context.tables;
        let is_part = self.options.part.is_some();
        let limits = self.options.comparison.failure.limits(tables);
        Terms {
            coverage: if is_part {
                Coverage::Part
            } else {
                Coverage::Whole
            },
            limits: limits.filter(|_| !is_part).collect(),
            fail_on,
            is_named: is_named && !is_part,
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

    /// What leads any command to this workspace and store.
    fn place(&self) -> String {
        place(self.request.common)
    }
}

/// The benchmarks of a target, each to be compared with something.
fn wanting(found: &DiscoveredTarget) -> impl Iterator<Item = Wanting> {
    found.benchmarks.iter().map(|benchmark| Wanting {
        key: benchmark.key.clone(),
        target_facts: found.target.facts.clone(),
        version: benchmark.version.clone(),
        metric: benchmark.metric.clone(),
    })
}
