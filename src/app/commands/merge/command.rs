//! Stores the parts as one run, decides about all benchmarks as one family, and reports as the run would have.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;

use super::options::MergeOptions;
use super::parts::PartedSuite;
use crate::app::context::{Context, World, resolve_reference};
use crate::app::deliver::next_steps::{
    AdvisedRun, NextReference, flags, next_steps, nothing_compared, place,
};
use crate::app::deliver::reports::Reporting;
use crate::app::deliver::working::working;
use crate::app::error::AppError;
use crate::app::measuring::alone::left_incomplete;
use crate::app::measuring::in_turn::{finish, pair_left_incomplete};
use crate::app::measuring::measured::MeasuredInTurn;
use crate::app::options::StoreOptions;
use crate::app::stored::acceptance::{acceptance, acceptance_in_turn};
use crate::app::stored::conclusions::end_of;
use crate::app::stored::names::give_name_unless_worse;
use crate::app::stored::references::{Chooser, StoredReferences, Wanted, Wanting};
use crate::app::stored::transfer::{number_of, renumbered};
use crate::exchange::{InputContent, PortableReference, read};
use perfcheck_analysis::compare::Rules;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{
    Conclusion, Coverage, Findings, References, Row, RunRemark, StoredEvidence, Terms, Verdicts,
    conclude,
};
use perfcheck_analysis::model::{
    Acceptance, AskedReference, BenchmarkKey, BySide, Environment, Measurement, Partition, Purpose,
    RunId, Side, Verdict, Work,
};
use perfcheck_engine::measure::Filter;
use perfcheck_engine::store::{Store, WorkspaceId, check_baseline_name};

/// Runs the command.
pub fn merge(
    options: &MergeOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.check(common)?;
    let context = Context::load(common, world)?;
    context.require_local_store()?;
    // A pipe has nothing to read for as long as its writer likes.
    let interrupt = world.interrupt;
    let files = interrupt.while_computing("", || contents(&options.files))?;
    let mut suite = working("Reading", 0, world, |told| PartedSuite::read(&files, told))?;
    if world.interrupt.requested() {
        return Err(AppError::Interrupted(String::new()));
    }
    let (mut store, workspace) = context.store()?;
    suite.renumber(&store, workspace)?;
    let partition = &suite.first().partition;
    let baseline = match &partition.reference {
        AskedReference::Named(name) => {
            match resolve_reference(&store, workspace, name) {
                Ok(run) => Some((run, name.clone())),
                // It was run again for every part.
                Err(AppError::NoSuchRun { .. }) if suite.first().base.is_some() => None,
                Err(error) => return Err(error),
            }
        }
        AskedReference::Beside | AskedReference::Accepted => None,
    };
    let known = known(&suite, &store, workspace)?;
    let stored = match known {
        Some(run) => StoredSuite::of(&store, run)?,
        None => suite.keep(&mut store, workspace, world)?,
    };
    let merging = Merging {
        options,
        context: &context,
        common,
        suite: &suite,
        partition,
        stored: &stored,
        baseline: baseline.as_ref(),
    };
    let left = stored.left();
    let evidence = merging.evidence(&store, workspace)?;
    let concluded = (world.interrupt)
        .while_computing(&left, || merging.conclude(&evidence, &store, workspace))?;
    if known.is_none() && suite.missing.is_empty() {
        let acceptance = merging.acceptance(&concluded, &store)?;
        match &stored {
            StoredSuite::InTurn(runs) => finish(&mut store, runs, &concluded, acceptance)?,
            StoredSuite::Alone(run) => store.finish_run(*run, &end_of(&concluded, acceptance))?,
        }
    }
    merging.tell(store, workspace, concluded, world)
}

/// The files, by the paths that they were asked for by.
fn contents(paths: &[PathBuf]) -> Result<Vec<InputContent>, AppError> {
    let files = paths.iter().map(|path| {
        Ok(InputContent {
            name: path.display().to_string(),
            ..read(path, &mut io::stdin().lock())?
        })
    });
    files.collect()
}

/// The run that these parts were merged to before, if they were.
fn known(
    suite: &PartedSuite<'_>,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Option<RunId>, AppError> {
    let begun = suite.begun(Side::Candidate);
    let side = suite.first().head().pair.map(|pair| pair.side);
    let found = store.runs_begun(workspace, begun.started, begun.seed, side)?;
    for run in found {
        // A part may be in the same store, which began with the whole.
        if store.run(run)?.begun.partition.is_none() {
            return Ok(Some(run).filter(|_| suite.missing.is_empty()));
        }
    }
    Ok(None)
}

/// The runs that the parts are stored as.
enum StoredSuite {
    Alone(RunId),
    InTurn(BySide<RunId>),
}

impl StoredSuite {
    fn of(store: &Store, run: RunId) -> Result<Self, AppError> {
        Ok(match store.run(run)?.pair {
            Some(pair) => Self::InTurn(BySide {
                base: pair.partner,
                candidate: run,
            }),
            None => Self::Alone(run),
        })
    }

    fn run(&self) -> RunId {
        match self {
            Self::Alone(run) => *run,
            Self::InTurn(runs) => runs.candidate,
        }
    }

    fn left(&self) -> String {
        match self {
            Self::Alone(run) => left_incomplete(*run),
            Self::InTurn(runs) => pair_left_incomplete(runs),
        }
    }
}

impl PartedSuite<'_> {
    /// Gives the runs that were named when the parts ended the numbers that they have here.
    fn renumber(&mut self, store: &Store, workspace: WorkspaceId) -> Result<(), AppError> {
        for part in &mut self.parts {
            let mut numbers = HashMap::new();
            for reference in part.concluded.runs.values().copied() {
                let here = number_of(reference, store, workspace)?;
                numbers.extend(here.map(|run| (reference, run)));
            }
            if part.base.is_none() {
                // What it is compared with is chosen here.
                part.concluded.concluded.verdicts.reference.clear();
            }
            let here = |reference: &PortableReference| numbers.get(reference).copied();
            part.concluded.concluded = renumbered(&part.concluded, here);
        }
        Ok(())
    }

    /// Stores what was measured, as a run that has not ended.
    fn keep(
        &self,
        store: &mut Store,
        workspace: WorkspaceId,
        world: &mut World<'_>,
    ) -> Result<StoredSuite, AppError> {
        let candidate = self.begun(Side::Candidate);
        let stored = match self.plan() {
            Some(plan) => {
                let purpose = if self.first().partition.control {
                    Purpose::Control
                } else {
                    Purpose::Comparison
                };
                let plan = serde_json::to_string(&plan).unwrap_or_default();
                let base = self.begun(Side::Base);
                let (base, candidate) =
                    store.begin_pair(workspace, &base, &candidate, &plan, purpose)?;
                StoredSuite::InTurn(BySide { base, candidate })
            }
            None => StoredSuite::Alone(store.begin_run(workspace, &candidate)?),
        };
        let sides = match &stored {
            StoredSuite::Alone(run) => vec![(Side::Candidate, *run)],
            StoredSuite::InTurn(runs) => {
                vec![(Side::Base, runs.base), (Side::Candidate, runs.candidate)]
            }
        };
        for (side, run) in sides {
            let launches = self.launches(side);
            working("Storing", 0, world, |told| {
                for (done, launch) in launches.iter().enumerate() {
                    told.reached(done, launches.len());
                    store.record_launch(run, launch)?;
                }
                store.record_counts(run, &self.counted(side))
            })?;
        }
        Ok(stored)
    }
}

/// One call of the command, once the parts are stored.
struct Merging<'a> {
    options: &'a MergeOptions,
    context: &'a Context,
    common: &'a StoreOptions,
    suite: &'a PartedSuite<'a>,
    partition: &'a Partition,
    stored: &'a StoredSuite,
    /// The run to compare with, if the user named one that is here.
    baseline: Option<&'a (RunId, String)>,
}

/// What all parts measured together.
enum MergedEvidence {
    Alone(Vec<Measurement>),
    InTurn(Box<MeasuredInTurn>, Vec<Row<'static>>),
}

impl Merging<'_> {
    fn evidence(&self, store: &Store, workspace: WorkspaceId) -> Result<MergedEvidence, AppError> {
        let suite = self.suite;
        let (StoredSuite::InTurn(runs), Some(plan)) = (self.stored, suite.plan()) else {
            let measurements = store.measurements(self.stored.run(), None)?;
            return Ok(MergedEvidence::Alone(measurements));
        };
        let runs = *runs;
        let measured = MeasuredInTurn {
            runs,
            measured: BySide {
                base: store.measurements(runs.base, None)?,
                candidate: store.measurements(runs.candidate, None)?,
            },
            plan,
            decision: suite.first().head().begun.decision,
            earlier: self.earlier(store, workspace)?,
            cost: suite.cost_of_rounds(),
            remarks: suite.remarks(),
        };
        Ok(MergedEvidence::InTurn(Box::new(measured), suite.settled()))
    }

    /// The one decision about all benchmarks.
    fn conclude<'m>(
        &self,
        evidence: &'m MergedEvidence,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<Conclusion<'m>, AppError> {
        let fail_on = self.fail_on();
        let environment = self.suite.begun(Side::Candidate).environment;
        let host = self.context.host_class(&environment);
        Ok(match evidence {
            MergedEvidence::InTurn(measured, settled) => conclude(
                measured.rows(settled),
                measured.basis(self.suite.reference(), host),
                self.terms(&fail_on, false),
            ),
            MergedEvidence::Alone(measurements) => {
                let rules = Rules {
                    decision: self.suite.first().head().begun.decision,
                    host,
                    seed: self.suite.first().head().begun.seed,
                };
                let (rows, basis) = self.alone(measurements, &rules, store, workspace)?;
                conclude(rows, basis, self.terms(&fail_on, measurements.is_empty()))
            }
        })
    }

    /// The rows of what was measured alone beside the runs of this store, and what they rest on.
    fn alone<'m>(
        &self,
        measurements: &'m [Measurement],
        rules: &Rules,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<(Vec<Row<'m>>, Verdicts), AppError> {
        let suite = self.suite;
        let references = self.references(measurements, store, workspace)?;
        let remarks = suite.remarks();
        let declined = remarks.iter().flat_map(|remark| match remark {
            RunRemark::Skipped { benchmarks, .. } => &benchmarks[..],
            _ => &[],
        });
        let declined: BTreeSet<&BenchmarkKey> = declined.collect();
        let failed = suite.failed_targets().into_iter();
        let failed: BTreeSet<_> = failed.map(|one| (one.package, one.target)).collect();
        let measured = measurements.iter().map(|found| &found.benchmark.key);
        let target = |key: &BenchmarkKey| (key.package.clone(), key.target.clone());
        let seen: BTreeSet<_> = measured.map(target).chain(failed.clone()).collect();
        let filter = Filter {
            words: self.partition.filter.clone(),
            exact: self.partition.exact,
        };
        let in_scope = |key: &BenchmarkKey| {
            // Of a part that is missing nobody knows what it has.
            let is_whole = suite.missing.is_empty();
            let is_asked = seen.contains(&target(key)) && filter.wants(key);
            is_whole && is_asked && !declined.contains(key)
        };
        let stored = StoredReferences::read(store, references, in_scope)?;
        let evidence = StoredEvidence {
            measurements,
            references: &stored.references,
            past: &stored.past,
            expected: &stored.expected,
            rules,
            noise_threshold: &|measurement: &Measurement| measurement.noise_threshold,
            failed_targets: &failed,
            // Only that leaves launches out.
            had_time_budget: true,
        };
        let rows = evidence.rows(&Work::silent());
        let basis = Verdicts {
            remarks,
            ..evidence.basis(&rows, &suite.first().concluded.concluded.verdicts.allowed)
        };
        Ok((rows, basis))
    }

    /// What each benchmark is compared with: comparable is what its own machine could be compared with.
    fn references(
        &self,
        measurements: &[Measurement],
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<References, AppError> {
        let mut machines: Vec<(&Environment, BTreeSet<&BenchmarkKey>)> = Vec::new();
        for part in &self.suite.parts {
            let mut known = machines.iter_mut();
            match known.find(|(environment, _)| *environment == part.environment()) {
                Some((_, measured)) => measured.extend(part.measured()),
                None => machines.push((part.environment(), part.measured())),
            }
        }
        let run = self.stored.run();
        let git = self.suite.begun(Side::Candidate).git;
        let wanted = match self.baseline {
            Some((run, name)) => Wanted::Named(*run, name),
            None => Wanted::LastAccepted {
                before: Some(run),
                branch: git.as_ref().and_then(|git| git.branch.as_deref()),
            },
        };
        let mut together: Option<References> = None;
        for (environment, measured) in machines {
            let here = |found: &&Measurement| measured.contains(&found.benchmark.key);
            let subjects: Vec<Wanting> = (measurements.iter().filter(here))
                .map(Wanting::of)
                .collect();
            let chooser = Chooser {
                store,
                workspace,
                checkout: self.context.checkout(),
                environment,
                allowed: &self.suite.first().concluded.concluded.verdicts.allowed,
                candidate: Some(run),
            };
            let found = chooser.choose(&wanted, &subjects)?;
            match &mut together {
                Some(together) => {
                    together.chosen.extend(found.chosen);
                    together.expected = together.expected.max(found.expected);
                }
                None => together = Some(found),
            }
        }
        together.ok_or_else(|| AppError::NothingToMeasure("there are no parts".to_owned()))
    }

    /// The earlier runs whose builds the base is, as far as they are here.
    fn earlier(
        &self,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<BTreeMap<BenchmarkKey, RunId>, AppError> {
        let mut earlier = BTreeMap::new();
        for part in &self.suite.parts {
            let base = part.base.as_ref().map(|(base, _)| base.head.reference());
            for verdict in &part.run.verdicts {
                let reference = verdict.reference.filter(|found| Some(*found) != base);
                let Some(reference) = reference else { continue };
                if let Some(run) = number_of(reference, store, workspace)? {
                    earlier.insert(verdict.benchmark.clone(), run);
                }
            }
        }
        Ok(earlier)
    }

    fn fail_on(&self) -> Vec<Verdict> {
        let settings = &self.context.tables.workspace;
        self.options.failure.fail_on(settings)
    }

    /// By what the command ends well or ill: as the run of all would have.
    fn terms<'t>(&'t self, fail_on: &'t [Verdict], measured_nothing: bool) -> Terms<'t> {
        Terms {
            coverage: if self.suite.missing.is_empty() {
                Coverage::Whole
            } else {
                Coverage::Gaps
            },
            limits: (self.options.failure.limits(&self.context.tables)).collect(),
            fail_on,
            is_named: self.partition.reference != AskedReference::Accepted,
            failed_targets: self.suite.failed_targets(),
            measured_nothing,
        }
    }

    fn acceptance(
        &self,
        concluded: &Conclusion<'_>,
        store: &Store,
    ) -> Result<Acceptance, AppError> {
        let named = self.baseline.map(|(run, _)| *run);
        // A run that is not here cannot be known as accepted.
        let is_unknown =
            matches!(self.partition.reference, AskedReference::Named(_)) && named.is_none();
        let is_beside = self.partition.reference == AskedReference::Beside;
        if self.partition.control || is_beside || is_unknown {
            return Ok(Acceptance::Pending);
        }
        let git = self.suite.first().head().begun.git.as_ref();
        Ok(match self.stored {
            StoredSuite::InTurn(_) => acceptance_in_turn(store, concluded, git, named)?,
            StoredSuite::Alone(_) => acceptance(store, concluded, named)?,
        })
    }

    /// Names the run as the user wishes, and tells what was concluded of it and what to do next.
    fn tell(
        &self,
        mut store: Store,
        workspace: WorkspaceId,
        mut concluded: Conclusion<'_>,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        let (run, place) = (self.stored.run(), place(self.common));
        let is_whole = self.suite.missing.is_empty();
        let wanted = self.options.save_baseline.as_deref();
        let give = |name| {
            let of = (workspace, run);
            give_name_unless_worse(&mut store, of, name, &concluded, self.baseline, &place)
        };
        let named = wanted.filter(|_| is_whole).map(give).transpose()?;
        let advised = AdvisedRun {
            run,
            again: &self.again(&place),
            place: &place,
            next: match (&self.partition.reference, self.baseline) {
                (AskedReference::Accepted, _) => NextReference::Accepted,
                (AskedReference::Named(_), Some((_, name)))
                    if check_baseline_name(name).is_ok() && wanted != Some(name) =>
                {
                    NextReference::Named(name)
                }
                _ => NextReference::Fixed,
            },
        };
        let rows = &concluded.rows;
        let next = next_steps(rows, &advised).into_iter().filter(|_| is_whole);
        let nothing = nothing_compared(concluded.exit_code, self.baseline, rows);
        concluded.verdicts.advice = named.into_iter().chain(next).chain(nothing).collect();
        let exit_code = concluded.exit_code;
        self.common.output.order().sort(&mut concluded.rows);
        let head = store.run(run)?;
        let fail_on = self.fail_on();
        let reporting = Reporting {
            options: &self.options.reports,
            fail_on: &fail_on,
            context: self.context,
        };
        reporting.publish(&Findings::of(&head, concluded), self.common, world)?;
        Ok(exit_code)
    }

    /// The command line that measures again, up to what selects benchmarks.
    fn again(&self, place: &str) -> String {
        let (mut name, mut revision) = (None, None);
        match &self.partition.reference {
            AskedReference::Named(named) => name = Some(named.clone()),
            AskedReference::Beside => {
                let base = self.suite.first().git().base;
                revision = base.map(|git| git.short().to_owned());
            }
            AskedReference::Accepted => {}
        }
        let selected = flags([("--baseline", name), ("--against", revision)]);
        format!("cargo perfcheck{place}{selected}")
    }
}
