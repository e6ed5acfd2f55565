//! `cargo perfcheck merge`: combines the shards of a suite, which several jobs measured, into one run. Stores them, determines the verdicts of all
//! benchmarks together, and reports them as for a single run.

mod suite;

use clap::Args;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;

use self::suite::ShardedSuite;
use crate::commands::push::run_then_push;
use crate::delivery::reports::ReportOptions;
use crate::error::AppError;
use crate::interchange::{InputContent, read};
use crate::options::{CommonOptions, FailureOptions};
use crate::pipeline::judge::{Measured, PairedMeasured, SingleMeasured};
use crate::pipeline::next_steps::{NextReference, format_flags, workspace_flags};
use crate::pipeline::prepare::TargetName;
use crate::pipeline::publish::{Advice, NextSteps, Publication};
use crate::pipeline::record::{AcceptancePolicy, RecordedRun};
use crate::session::{Context, NamedRun, World};
use crate::stored::references::{
    ComparedCandidate, ReferenceQuery, ReferenceResolver, ReferenceSelector, StoredReferences,
};
use crate::stored::transfer::{find_run, with_local_numbers};
use perfcheck_analysis::compare::TestPolicy;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Coverage, GatePolicy, References, RunNote};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, Environment, Measurement, PortableRunId, Purpose, RequestedReference,
    RunId, Shard, Side, Verdict,
};
use perfcheck_bench::measure::Filter;
use perfcheck_store::{Store, WorkspaceId, check_baseline_name};

/// Carries out `cargo perfcheck merge`.
pub fn merge(
    options: &MergeOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.check(common)?;
    let context = Context::load(common, world)?.for_writing();
    context.require_local_store()?;
    run_then_push(options.push, &context, common, world, |world| {
        merge_files(options, &context, common, world)
    })
}

fn merge_files(
    options: &MergeOptions,
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    // An interrupt may end the program here, because reading a pipe blocks until the other program writes.
    let interrupt = world.interrupt;
    let files = interrupt.while_computing("", || read_files(&options.files))?;
    let mut suite = world.with_progress("Reading", 0, |progress| {
        ShardedSuite::read(&files, progress)
    })?;
    if world.interrupt.is_requested() {
        return Err(AppError::Interrupted(String::new()));
    }
    let (mut store, workspace) = context.open_store()?;
    suite.renumber(&store, workspace)?;
    let partition = &suite.first().partition;
    let baseline = match &partition.reference {
        RequestedReference::Named(name) => {
            match NamedRun::resolve_reference(&store, workspace, name) {
                Ok(named) => Some(named),
                // The shards measured the reference again, so it need not be stored here.
                Err(AppError::NoSuchRun { .. }) if suite.first().base.is_some() => None,
                Err(error) => return Err(error),
            }
        }
        RequestedReference::Beside | RequestedReference::Accepted => None,
    };
    let known = find_merged(&suite, &store, workspace)?;
    let run = match known {
        Some(run) => RecordedRun::read(&store, run)?,
        None => suite.store_measurements(&mut store, workspace, world)?,
    };
    let merging = MergeCall {
        options,
        context,
        common,
        suite: &suite,
        partition,
        run,
        baseline: baseline.as_ref(),
    };
    let measured = merging.measured(&store, workspace)?;
    let fail_on = options.failure.fail_on(&context.tables.workspace);
    let concluded = measured.judge(merging.gate(&measured, &fail_on), world.interrupt);
    if known.is_none() && suite.missing.is_empty() {
        run.record(&mut store, &concluded, merging.acceptance_policy())?;
    }
    let publication = merging.publication(&fail_on);
    publication.publish(&mut store, workspace, run.id(), concluded, world)
}

/// Reads the files that the user named. Messages show each path as the user wrote it.
fn read_files(paths: &[PathBuf]) -> Result<Vec<InputContent>, AppError> {
    let files = paths.iter().map(|path| {
        Ok(InputContent {
            name: path.display().to_string(),
            ..read(path, &mut io::stdin().lock())?
        })
    });
    files.collect()
}

/// Returns the run into which these shards were merged before, if any.
fn find_merged(
    suite: &ShardedSuite<'_>,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Option<RunId>, AppError> {
    let begun = suite.begun_run(Side::Candidate);
    let merged = PortableRunId {
        started: begun.started,
        seed: begun.seed,
        side: suite.first().head().pair.map(|pair| pair.side),
    };
    for run in store.find_runs_begun(workspace, merged)? {
        // Skip a shard in this store: it has the same start as the merged run.
        if store.run(run)?.begun.partition.is_none() {
            return Ok(Some(run).filter(|_| suite.missing.is_empty()));
        }
    }
    Ok(None)
}

impl ShardedSuite<'_> {
    /// Replaces the references to runs in the shards' conclusions by the numbers that these runs have in this store.
    fn renumber(&mut self, store: &Store, workspace: WorkspaceId) -> Result<(), AppError> {
        for part in &mut self.parts {
            let mut numbers = HashMap::new();
            for reference in part.concluded.runs.values().copied() {
                let here = find_run(reference, store, workspace)?;
                numbers.extend(here.map(|run| (reference, run)));
            }
            if part.base.is_none() {
                // The reference of shards measured alone is chosen among the runs of this store.
                part.concluded.concluded.verdicts.reference.clear();
            }
            let here = |reference: &PortableRunId| numbers.get(reference).copied();
            part.concluded.concluded = with_local_numbers(&part.concluded, here);
        }
        Ok(())
    }

    /// Stores the measurements of all shards as one run, which is complete only after its verdicts are recorded.
    fn store_measurements(
        &self,
        store: &mut Store,
        workspace: WorkspaceId,
        world: &mut World<'_>,
    ) -> Result<RecordedRun, AppError> {
        let candidate = self.begun_run(Side::Candidate);
        let stored = match self.plan() {
            Some(plan) => {
                let purpose = if self.first().partition.control {
                    Purpose::Control
                } else {
                    Purpose::Comparison
                };
                let plan = serde_json::to_string(&plan).expect("a plan is JSON");
                let sides = BySide {
                    base: &self.begun_run(Side::Base),
                    candidate: &candidate,
                };
                RecordedRun::Pair(store.begin_pair(workspace, sides, &plan, purpose)?)
            }
            None => RecordedRun::Single(store.begin_run(workspace, &candidate)?),
        };
        let sides = match &stored {
            RecordedRun::Single(run) => vec![(Side::Candidate, *run)],
            RecordedRun::Pair(runs) => {
                vec![(Side::Base, runs.base), (Side::Candidate, runs.candidate)]
            }
        };
        for (side, run) in sides {
            let processes = self.processes(side);
            world.with_progress("Storing", 0, |progress| {
                for (done, process) in processes.iter().enumerate() {
                    progress.report(done, processes.len());
                    store.record_process(run, process)?;
                }
                store.record_counts(run, &self.counted(side))
            })?;
        }
        Ok(stored)
    }
}

/// A call of `cargo perfcheck merge` after the measurements of the shards are stored.
struct MergeCall<'a> {
    options: &'a MergeOptions,
    context: &'a Context,
    common: &'a CommonOptions,
    suite: &'a ShardedSuite<'a>,
    partition: &'a Shard,
    run: RecordedRun,
    /// The run that the user named as the reference, together with that name. `None` if the run is not in this store.
    baseline: Option<&'a NamedRun>,
}

impl MergeCall<'_> {
    /// Reads the measurements of all shards together.
    fn measured(&self, store: &Store, workspace: WorkspaceId) -> Result<Measured, AppError> {
        let suite = self.suite;
        let (RecordedRun::Pair(runs), Some(plan)) = (self.run, suite.plan()) else {
            return Ok(Measured::Single(self.single(store, workspace)?));
        };
        let environment = suite.begun_run(Side::Candidate).environment;
        Ok(Measured::Paired(PairedMeasured {
            runs,
            measured: BySide {
                base: store.measurements(runs.base, None)?,
                candidate: store.measurements(runs.candidate, None)?,
            },
            plan,
            decision: suite.first().head().begun.decision,
            earlier: self.earlier(store, workspace)?,
            cost: suite.cost_of_rounds(),
            settled: suite.settled(),
            reference: suite.reference(),
            host: self.context.host_class(&environment),
            remarks: suite.remarks(),
        }))
    }

    /// Reads the measurements of one build, and chooses their references among the runs of this store.
    fn single(&self, store: &Store, workspace: WorkspaceId) -> Result<SingleMeasured, AppError> {
        let suite = self.suite;
        let run = self.run.id();
        let measurements = store.measurements(run, None)?;
        let references = self.references(&measurements, store, workspace)?;
        let remarks = suite.remarks();
        let declined = remarks.iter().flat_map(|remark| match remark {
            RunNote::Skipped { benchmarks, .. } => &benchmarks[..],
            _ => &[],
        });
        let declined: BTreeSet<&BenchmarkKey> = declined.collect();
        let failed_targets = suite.failed_targets();
        let measured = measurements.iter();
        let measured = measured.map(|found| TargetName::from_key(&found.benchmark.key));
        let failed = failed_targets.iter().map(TargetName::from_failed);
        let seen: BTreeSet<TargetName> = measured.chain(failed).collect();
        let filter = Filter {
            words: self.partition.filter.clone(),
            exact: self.partition.exact,
        };
        let in_scope = |key: &BenchmarkKey| {
            // A benchmark that was not measured may belong to a missing shard. So as long as shards are missing, no benchmark counts as missing.
            let is_whole = suite.missing.is_empty();
            let is_asked = seen.contains(&TargetName::from_key(key)) && filter.matches(key);
            is_whole && is_asked && !declined.contains(key)
        };
        let stored = StoredReferences::read(store, references, in_scope)?;
        let begun = &suite.first().head().begun;
        let environment = suite.begun_run(Side::Candidate).environment;
        Ok(SingleMeasured {
            run,
            stored,
            rules: TestPolicy {
                decision: begun.decision,
                host: self.context.host_class(&environment),
                seed: begun.seed,
            },
            allowed: suite.first().concluded.concluded.verdicts.allowed.clone(),
            failed_targets,
            // Assume that the shards had a time budget, because nothing else makes them leave out processes.
            had_time_budget: true,
            remarks,
            measurements,
        })
    }

    /// Selects the references of each benchmark among the runs that are comparable with the environment of its shard.
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
        let run = self.run.id();
        let git = self.suite.begun_run(Side::Candidate).git;
        let branch = git.as_ref().and_then(|git| git.branch.as_deref());
        let wanted = ReferenceSelector::new(self.baseline, Some(run), branch);
        let resolver = ReferenceResolver {
            store,
            workspace,
            checkout: self.context.checkout(),
        };
        let mut together: Option<References> = None;
        for (environment, measured) in machines {
            let here = |found: &&Measurement| measured.contains(&found.benchmark.key);
            let subjects: Vec<ReferenceQuery> = (measurements.iter().filter(here))
                .map(ReferenceQuery::from_measurement)
                .collect();
            let compared = ComparedCandidate {
                environment,
                allowed: &self.suite.first().concluded.concluded.verdicts.allowed,
                id: Some(run),
            };
            let found = resolver.resolve_numbers(&wanted, &compared, &subjects)?;
            match &mut together {
                Some(together) => {
                    together.chosen.extend(found.chosen);
                    together.expected = together.expected.max(found.expected);
                }
                None => together = Some(found),
            }
        }
        together.ok_or_else(|| AppError::NothingToMeasure("no parts were given".to_owned()))
    }

    /// For each benchmark whose base was the build of an earlier run, returns that run if this store has it.
    fn earlier(
        &self,
        store: &Store,
        workspace: WorkspaceId,
    ) -> Result<BTreeMap<BenchmarkKey, RunId>, AppError> {
        let mut earlier = BTreeMap::new();
        for part in &self.suite.parts {
            let base = part.base.as_ref().map(|base| base.run.head.reference());
            for verdict in &part.run.verdicts {
                let reference = verdict.reference.filter(|found| Some(*found) != base);
                let Some(reference) = reference else { continue };
                if let Some(run) = find_run(reference, store, workspace)? {
                    earlier.insert(verdict.benchmark.clone(), run);
                }
            }
        }
        Ok(earlier)
    }

    /// Returns the conditions under which the command fails, as for a single run of the whole suite.
    fn gate<'t>(&'t self, measured: &Measured, fail_on: &'t [Verdict]) -> GatePolicy<'t> {
        let measured_nothing =
            matches!(measured, Measured::Single(one) if one.measurements.is_empty());
        GatePolicy {
            coverage: if self.suite.missing.is_empty() {
                Coverage::Whole
            } else {
                Coverage::Gaps
            },
            limits: (self.options.failure.limits(&self.context.tables)).collect(),
            fail_on,
            is_named: self.partition.reference != RequestedReference::Accepted,
            failed_targets: self.suite.failed_targets(),
            measured_nothing,
        }
    }

    fn acceptance_policy(&self) -> AcceptancePolicy<'_> {
        let named = self.baseline.map(|named| named.run);
        // If this store lacks the reference, it is unknown whether the reference was accepted.
        let is_unknown =
            matches!(self.partition.reference, RequestedReference::Named(_)) && named.is_none();
        let is_beside = self.partition.reference == RequestedReference::Beside;
        if self.partition.control || is_beside || is_unknown {
            return AcceptancePolicy::Never;
        }
        AcceptancePolicy::IfGood {
            named,
            git: self.suite.first().head().begun.git.as_ref(),
        }
    }

    fn publication<'p>(&'p self, fail_on: &'p [Verdict]) -> Publication<'p> {
        let save_as = self.options.save_baseline.as_deref();
        Publication {
            context: self.context,
            common: self.common,
            reports: &self.options.reports,
            fail_on,
            advice: Advice::NextSteps(NextSteps {
                baseline: self.baseline,
                save_as,
                again: self.again(&workspace_flags(self.common)),
                next: match (&self.partition.reference, self.baseline) {
                    (RequestedReference::Accepted, _) => NextReference::Accepted,
                    (RequestedReference::Named(_), Some(NamedRun { name, .. }))
                        if check_baseline_name(name).is_ok() && save_as != Some(name) =>
                    {
                        NextReference::Named(name)
                    }
                    _ => NextReference::Fixed,
                },
                is_whole: self.suite.missing.is_empty(),
            }),
        }
    }

    /// Returns the command line that measures again with the same reference. The caller adds the selection of benchmarks.
    fn again(&self, place: &str) -> String {
        let (mut name, mut revision) = (None, None);
        match &self.partition.reference {
            RequestedReference::Named(named) => name = Some(named.clone()),
            RequestedReference::Beside => {
                let base = self.suite.first().git().base;
                revision = base.map(|git| git.short().to_owned());
            }
            RequestedReference::Accepted => {}
        }
        let selected = format_flags([("--baseline", name), ("--against", revision)]);
        format!("cargo perfcheck{place}{selected}")
    }
}

const AFTER_MERGE: &str = "\
Each FILE is the output of `cargo perfcheck store export` in one part's job; the order of the files does not matter. Merge judges all benchmarks together, as in a single \
run, and stores them as one run. If a part is missing, this run is incomplete and the exit status is 4.

Examples:
  cargo perfcheck --partition 2/8 --against main           in the job of part 2: measure it
  cargo perfcheck store export latest --output part-2.jsonl
  cargo perfcheck merge part-*.jsonl                       in the last job: judge all parts together

Exit status: 0 clean; 1 regression; 2 usage error, or the files do not belong together; 4 a benchmark failed or a part is missing; 5 store unusable; 6 baseline missing or not comparable.";

/// Options of `merge`: the shards, and the conditions of failure. Everything else was set when the shards were measured.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_MERGE)]
pub struct MergeOptions {
    /// The files of all parts
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Save the merged run as the baseline NAME
    #[arg(short, long, value_name = "NAME")]
    pub save_baseline: Option<String>,
    /// Send the run to the team's store afterwards, as `store push` does
    #[arg(long)]
    pub push: bool,
    #[command(flatten)]
    reports: ReportOptions,
    #[command(flatten)]
    failure: FailureOptions,
}

impl MergeOptions {
    /// Checks that the options can be carried out, before any file is read.
    fn check(&self, common: &CommonOptions) -> Result<(), AppError> {
        self.reports.check_for_run(common.output.format)?;
        if let Some(name) = &self.save_baseline {
            check_baseline_name(name)?;
        }
        Ok(())
    }
}
