//! Measures one build, in processes that follow the sampling schedules of its reference runs.

use std::time::Duration;
use tracing::info_span;

use super::machine_code::read_size;
use super::request::{Request, busy_warning};
use crate::error::AppError;
use crate::output::{Progress, Verbosity};
use crate::pipeline::record::RecordedRun;
use crate::session::World;
use perfcheck_analysis::findings::{ReferenceChoice, References};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, Environment, Event, NewRun, Observer, RunId, Series, Shard,
};
use perfcheck_bench::child::ProcessContext;
use perfcheck_bench::measure::{
    BenchmarkCost, Campaign, CampaignEnd, CampaignSink, DiscoveredTarget, FlatSchedule,
    ResolvedSettings,
};
use perfcheck_store::{Store, StoreError, WorkspaceId};

pub(crate) struct SingleMeasurement<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) environment: &'a Environment,
    /// The reference runs. The new run takes its samples in the same way as these, so that both are comparable.
    pub(crate) references: &'a References,
    /// Name under which the build is kept in the cache; `None` if it is not kept.
    pub(crate) build: Option<&'a str>,
    /// The shard, if only a part of the suite is measured.
    pub(crate) partition: Option<&'a Shard>,
}

impl SingleMeasurement<'_> {
    /// Begins the run in the store.
    pub(crate) fn begin(
        &self,
        store: &mut Store,
        workspace: WorkspaceId,
    ) -> Result<RunId, StoreError> {
        let request = self.request;
        store.begin_run(
            workspace,
            &NewRun {
                started: perfcheck_host::now(),
                git: request.git.clone(),
                environment: self.environment.clone(),
                load: request.load,
                seed: request.seed,
                decision: request
                    .comparison
                    .decision(&request.context.tables.workspace),
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                build: self.build.map(str::to_owned),
                partition: self.partition.cloned(),
                past: None,
            },
        )
    }

    /// Measures `targets` and stores each process as soon as it ends. Returns the cost of each benchmark.
    pub(crate) fn measure(
        &self,
        store: &mut Store,
        run: RunId,
        mut targets: Vec<DiscoveredTarget>,
        world: &mut World<'_>,
    ) -> Result<Vec<BenchmarkCost>, AppError> {
        let _stage = info_span!("measure").entered();
        let request = self.request;
        let pins = pinned_schedules(store, self.references)?;
        let tables = &request.context.tables;
        let default_threshold = request
            .comparison
            .decision(&tables.workspace)
            .noise_threshold;
        let resolve = |benchmark: &Benchmark| {
            let (sampling, noise_threshold) = tables.layers.resolve(benchmark);
            let pin = pins.iter().find(|pin| pin.key == benchmark.key);
            ResolvedSettings {
                sampling,
                noise_threshold: noise_threshold.unwrap_or(default_threshold),
                pinned: pin.and_then(|pin| pin.flat),
                pinned_samples: pin.map(|pin| pin.samples),
                past_visit: pin.and_then(|pin| pin.visit),
            }
        };
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        if let Some(warning) = busy_warning(request.load, self.environment.host.cores) {
            progress.observe(&Event::Warning(&warning));
        }
        let step = targets.iter().filter_map(|found| found.clock_step).max();
        let is_verbose = request.common.output.verbosity() == Verbosity::Verbose;
        if let Some(step) = step.filter(|_| is_verbose) {
            progress.observe(&Event::ClockStep(step));
        }
        for found in &mut targets {
            request.configure(&mut found.target);
            found.target.facts.size = read_size(&found.target);
        }
        let context = ProcessContext::new(
            world.supervisor,
            world.interrupt,
            &progress,
            request.timeout,
        );
        let campaign = Campaign::single(targets, resolve, request.seed, context)
            .with_control(perfcheck_host::ControlProbe::from_variables(
                &world.variables,
            ))
            .with_time_budget(request.effort.time_budget);
        let mut sink = CampaignSink {
            record: &mut |_, process: &_| store.record_process(run, process),
            // Never stop early: every benchmark runs all of its processes.
            standing: &mut |_, _, _| None,
        };
        let result = campaign.run(&mut sink)?;
        drop(progress);
        match result.end {
            CampaignEnd::Complete => Ok(result.costs),
            CampaignEnd::Interrupted => Err(AppError::Interrupted(
                RecordedRun::Single(run).left_incomplete(),
            )),
        }
    }
}

/// The sampling schedule of a benchmark in its newest reference run.
pub(crate) struct PinnedSchedule {
    pub(crate) key: BenchmarkKey,
    pub(crate) flat: Option<FlatSchedule>,
    pub(crate) samples: u32,
    /// How long the benchmark takes in one process, including its warm-up. `None` if amounts were measured instead of times.
    pub(crate) visit: Option<Duration>,
}

/// Returns the schedules of the reference runs. The new run follows them so that the samples are comparable.
pub(crate) fn pinned_schedules(
    store: &Store,
    references: &References,
) -> Result<Vec<PinnedSchedule>, StoreError> {
    let mut pins = Vec::new();
    for (key, choice) in &references.chosen {
        let ReferenceChoice::Runs { averaged, .. } = choice else {
            continue;
        };
        let Some(newest) = averaged.first() else {
            continue;
        };
        let measured = store.measurements(*newest, Some(std::slice::from_ref(key)))?;
        let Some(measured) = measured.first() else {
            continue;
        };
        let Some(series) = measured.processes.first().map(|process| &process.series) else {
            continue;
        };
        pins.push(PinnedSchedule {
            key: key.clone(),
            flat: series.flat.first().map(|sample| FlatSchedule {
                iterations: sample.iterations,
                samples: series.flat.len() as u64,
            }),
            samples: u32::try_from(series.deciding_samples().len()).unwrap_or(u32::MAX),
            visit: (measured.benchmark.metric.is_timed()).then(|| total_time(series)),
        });
    }
    Ok(pins)
}

/// Sums up the time of all samples and of the warm-up.
fn total_time(series: &Series) -> Duration {
    let samples = series.linear.iter().chain(&series.flat);
    let nanoseconds = samples
        .chain([&series.warm_up])
        .map(|sample| sample.elapsed.0);
    Duration::from_nanos(nanoseconds.fold(0, u64::saturating_add))
}
