//! Samples the time of benchmarks by function, in separate processes: at regular intervals, notes where the process is.
//!
//! With our own harness, samples are taken only between the request for a measurement and its answer; with Criterion, after it reports that the
//! benchmark has begun. Other harnesses do not report when they measure, so their whole processes are sampled, start and setup included.

#![expect(clippy::disallowed_methods, reason = "how long benchmarks are sampled")]

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use super::count_error::CountError;
use super::driver::Driver;
use super::launch::launch_spec;
use super::sampled_process::{FunctionNames, LocationCounts, SampledProcess, summarize_samples};
use super::schedule::expected_duration;
use super::target::PairedTarget;
use super::visit::start_or_advance;
use crate::cargo::BenchTarget;
use crate::child::{
    PrintedHarness, PrintedRequest, ProcessContext, ProcessSpec, Rehearsal, RehearsalMode,
    SampleSpec, Session, StartOutcome,
};
use crate::process::TimeSamplingError;
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, Nanos, ProgressReporter, TimeSamples, WarmUpGoal,
};

/// Warm-up of a benchmark of our own harness.
const WARM_UP: Duration = Duration::from_millis(50);
/// Approximate duration of a request to our own harness, which runs at least one iteration.
const REQUEST: Duration = Duration::from_millis(20);
/// Maximum number of processes of a harness that decides by itself how long it runs.
const MOST_PROCESSES: usize = 50;
/// Factor by which other harnesses are told to run longer than they are sampled. They are stopped before they begin their analysis.
const LONGER: u32 = 2;

/// The samples of a benchmark, or the reason why there are none.
pub type SampleResult = Result<TimeSamples, CountError>;

impl PairedTarget {
    /// Returns the executables to sample. If possible they are linked again with their functions at the same places, so that an effect of the layout
    /// is not mistaken for a change.
    pub fn link_alike(&self) -> BySide<BenchTarget> {
        let mut targets = self.targets.clone();
        let Some(layouts) = &self.layouts else {
            return targets;
        };
        if layouts.link(0).is_ok() {
            let places = layouts.executables();
            targets.base = targets.base.with_executable(places.base.to_owned());
            targets.candidate = targets
                .candidate
                .with_executable(places.candidate.to_owned());
        }
        targets
    }
}

/// Samples some benchmarks of a target, each for about this time.
pub fn sample_time(
    target: &BenchTarget,
    driver: &Driver,
    wanted: &[BenchmarkKey],
    time: Duration,
    launcher: ProcessContext<'_>,
) -> Result<BTreeMap<BenchmarkKey, SampleResult>, CountError> {
    if !target.first_arguments.is_empty() {
        return Err(CountError::Runner);
    }
    let path = target.executable();
    let executable = fs::read(path).map_err(CountError::file_error(path))?;
    let names = FunctionNames::parse(&executable).ok_or(CountError::NoNames)?;
    drop(executable);
    let observer = launcher.observer;
    let work = ProgressReporter::begin(observer, "Sampling the time of", wanted.len());
    let mut found = BTreeMap::new();
    for (done, key) in wanted.iter().enumerate() {
        work.report(done, wanted.len());
        let mut sampling = TimeSampling {
            id: &key.id,
            spec: launch_spec(target, 0, 0),
            launcher,
            names: &names,
            left: time,
            found: LocationCounts::new(),
        };
        let sampled = match sampling.sample(driver) {
            Err(error) if error.is_interrupt() || matches!(error, CountError::NoTime(_)) => {
                return Err(error);
            }
            Err(error) => Err(error),
            Ok(()) if sampling.found.is_empty() => Err(CountError::Unseen),
            Ok(()) => Ok(summarize_samples(sampling.found, &names)),
        };
        found.insert(key.clone(), sampled);
    }
    Ok(found)
}

/// The sampling of one benchmark.
struct TimeSampling<'s> {
    id: &'s str,
    spec: ProcessSpec,
    launcher: ProcessContext<'s>,
    names: &'s FunctionNames,
    /// Time for which it must still be sampled.
    left: Duration,
    found: LocationCounts,
}

impl TimeSampling<'_> {
    fn sample(&mut self, driver: &Driver) -> Result<(), CountError> {
        match driver {
            Driver::Own => self.sample_own(),
            Driver::Criterion(_) => self.sample_criterion(),
            Driver::Printed(harness) => {
                for _ in 0..MOST_PROCESSES {
                    self.sample_printed(harness)?;
                    if self.left.is_zero() {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    fn sample_own(&mut self) -> Result<(), CountError> {
        let mut process = ObservedProcess::new(self.names);
        let mut session =
            Session::start_observed(&self.spec, &self.launcher, |id| process.begin(id))?;
        let mut process = process.into_process()?;
        match start_or_advance(&mut session, self.id)? {
            Some(StartOutcome::Ready(_)) => {}
            Some(StartOutcome::Skipped(reason)) => return Err(CountError::Skipped(reason)),
            None => return Err(CountError::Absent),
        }
        let warm = session.warm_up(WarmUpGoal::Time(WARM_UP.into()))?;
        let iteration_ns = warm.total_per_iteration();
        let iterations = Nanos::from(REQUEST).as_f64() / iteration_ns.max(1e-3);
        let request = [SampleSpec {
            iterations: iterations.round().max(1.0) as u64,
            count: 1,
        }];
        while !self.left.is_zero() {
            let began = Instant::now();
            process.start();
            session.sample(&request, expected_duration(&request, iteration_ns))?;
            process.stop();
            self.left = self.left.saturating_sub(began.elapsed());
            process.evaluate_samples();
        }
        process.add_to(&mut self.found);
        Ok(session.finish(self.id)?)
    }

    fn sample_criterion(&mut self) -> Result<(), CountError> {
        let rehearsal =
            Rehearsal::start(&self.spec, self.id, RehearsalMode::WarmUp, &self.launcher)?;
        let mut rehearsal = rehearsal.ok_or(CountError::Name)?;
        let mut process = SampledProcess::attach(rehearsal.id(), self.names)?;
        let mut began = None;
        let came_through = rehearsal.wait_for_success_or(&mut |has_begun| {
            if !has_begun {
                return false;
            }
            let began = began.get_or_insert_with(|| {
                process.start();
                Instant::now()
            });
            process.evaluate_samples();
            began.elapsed() >= self.left
        })?;
        process.evaluate_samples();
        process.add_to(&mut self.found);
        if came_through {
            Ok(())
        } else {
            Err(CountError::Died { complaint: None })
        }
    }

    /// Samples one process, from its start on.
    fn sample_printed(&mut self, harness: &PrintedHarness) -> Result<(), CountError> {
        let request = PrintedRequest {
            id: self.id,
            warm_up: self.left * LONGER,
            measurement: self.left * LONGER,
            samples: None,
        };
        let began = Instant::now();
        let mut process = ObservedProcess::new(self.names);
        let ended = harness.run_observed(&request, &self.spec, &self.launcher, &mut |id| {
            let Some(process) = process.get_or_begin(id) else {
                return true;
            };
            process.evaluate_samples();
            began.elapsed() >= self.left
        });
        if process.process.is_none() {
            return Ok(ended?);
        }
        let mut process = process.into_process()?;
        process.evaluate_samples();
        process.add_to(&mut self.found);
        self.left = self.left.saturating_sub(began.elapsed());
        Ok(ended?)
    }
}

/// A process that is observed once it has started.
struct ObservedProcess<'n> {
    names: &'n FunctionNames,
    process: Option<Result<SampledProcess<'n>, TimeSamplingError>>,
}

impl<'n> ObservedProcess<'n> {
    fn new(names: &'n FunctionNames) -> Self {
        Self {
            names,
            process: None,
        }
    }

    /// Starts to observe the process with this id.
    fn begin(&mut self, id: u32) {
        self.process = Some(SampledProcess::attach(id, self.names));
    }

    /// Starts to observe and sample the process with this id, unless it already is observed. Returns `None` if that is not possible.
    fn get_or_begin(&mut self, id: u32) -> Option<&mut SampledProcess<'n>> {
        if self.process.is_none() {
            self.begin(id);
            if let Some(Ok(process)) = &self.process {
                process.start();
            }
        }
        self.process.as_mut()?.as_mut().ok()
    }

    fn into_process(self) -> Result<SampledProcess<'n>, CountError> {
        match self.process {
            Some(process) => Ok(process?),
            None => Err(CountError::Unseen),
        }
    }
}
