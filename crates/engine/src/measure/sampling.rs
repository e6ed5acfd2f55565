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
use super::sampled_process::{FoundPlaces, FunctionNames, SampledProcess, time_samples};
use super::schedule::expected;
use super::target::PairedTarget;
use super::visit::reach;
use crate::cargo::BenchTarget;
use crate::child::{
    LaunchSpec, Launcher, PrintedHarness, PrintedRequest, Rehearsal, Rehearsed, SampleSpec,
    Session, Started,
};
use crate::process::NoTimeSamples;
use perfcheck_analysis::model::{BenchmarkKey, BySide, Nanos, TimeSamples, WarmUpGoal, Work};

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
    pub fn laid_out_alike(&self) -> BySide<BenchTarget> {
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
    launcher: Launcher<'_>,
) -> Result<BTreeMap<BenchmarkKey, SampleResult>, CountError> {
    if !target.first_arguments.is_empty() {
        return Err(CountError::Runner);
    }
    let path = target.executable();
    let executable = fs::read(path).map_err(CountError::file(path))?;
    let names = FunctionNames::of(&executable).ok_or(CountError::NoNames)?;
    drop(executable);
    let observer = launcher.observer;
    let work = Work::begin(observer, "Sampling the time of", wanted.len());
    let mut found = BTreeMap::new();
    for (done, key) in wanted.iter().enumerate() {
        work.reached(done, wanted.len());
        let mut sampling = TimeSampling {
            id: &key.id,
            spec: launch_spec(target, 0, 0),
            launcher,
            names: &names,
            left: time,
            found: FoundPlaces::new(),
        };
        let sampled = match sampling.of(driver) {
            Err(error) if error.is_interrupt() || matches!(error, CountError::NoTime(_)) => {
                return Err(error);
            }
            Err(error) => Err(error),
            Ok(()) if sampling.found.is_empty() => Err(CountError::Unseen),
            Ok(()) => Ok(time_samples(sampling.found, &names)),
        };
        found.insert(key.clone(), sampled);
    }
    Ok(found)
}

/// The sampling of one benchmark.
struct TimeSampling<'s> {
    id: &'s str,
    spec: LaunchSpec,
    launcher: Launcher<'s>,
    names: &'s FunctionNames,
    /// Time for which it must still be sampled.
    left: Duration,
    found: FoundPlaces,
}

impl TimeSampling<'_> {
    fn of(&mut self, driver: &Driver) -> Result<(), CountError> {
        match driver {
            Driver::Own => self.of_own(),
            Driver::Criterion(_) => self.of_criterion(),
            Driver::Printed(harness) => {
                for _ in 0..MOST_PROCESSES {
                    self.of_printed(harness)?;
                    if self.left.is_zero() {
                        break;
                    }
                }
                Ok(())
            }
        }
    }

    fn of_own(&mut self) -> Result<(), CountError> {
        let mut process = ObservedProcess::new(self.names);
        let mut session =
            Session::start_observed(&self.spec, &self.launcher, |id| process.begin(id))?;
        let mut process = process.under_way()?;
        match reach(&mut session, self.id)? {
            Some(Started::Ready(_)) => {}
            Some(Started::Skipped(reason)) => return Err(CountError::Skipped(reason)),
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
            session.sample(&request, expected(&request, iteration_ns))?;
            process.stop();
            self.left = self.left.saturating_sub(began.elapsed());
            process.look();
        }
        process.add_to(&mut self.found);
        Ok(session.finish(self.id)?)
    }

    fn of_criterion(&mut self) -> Result<(), CountError> {
        let rehearsal = Rehearsal::start(&self.spec, self.id, Rehearsed::WarmUp, &self.launcher)?;
        let mut rehearsal = rehearsal.ok_or(CountError::Name)?;
        let mut process = SampledProcess::of(rehearsal.id(), self.names)?;
        let mut began = None;
        let came_through = rehearsal.came_through_or(&mut |has_begun| {
            if !has_begun {
                return false;
            }
            let began = began.get_or_insert_with(|| {
                process.start();
                Instant::now()
            });
            process.look();
            began.elapsed() >= self.left
        })?;
        process.look();
        process.add_to(&mut self.found);
        if came_through {
            Ok(())
        } else {
            Err(CountError::Died { complaint: None })
        }
    }

    /// Samples one process, from its start on.
    fn of_printed(&mut self, harness: &PrintedHarness) -> Result<(), CountError> {
        let request = PrintedRequest {
            id: self.id,
            warm_up: self.left * LONGER,
            measurement: self.left * LONGER,
            samples: None,
        };
        let began = Instant::now();
        let mut process = ObservedProcess::new(self.names);
        let ended = harness.observe(&request, &self.spec, &self.launcher, &mut |id| {
            let Some(process) = process.or_begin(id) else {
                return true;
            };
            process.look();
            began.elapsed() >= self.left
        });
        if process.process.is_none() {
            return Ok(ended?);
        }
        let mut process = process.under_way()?;
        process.look();
        process.add_to(&mut self.found);
        self.left = self.left.saturating_sub(began.elapsed());
        Ok(ended?)
    }
}

/// A process that is observed once it has started.
struct ObservedProcess<'n> {
    names: &'n FunctionNames,
    process: Option<Result<SampledProcess<'n>, NoTimeSamples>>,
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
        self.process = Some(SampledProcess::of(id, self.names));
    }

    /// Starts to observe and sample the process with this id, unless it already is observed. Returns `None` if that is not possible.
    fn or_begin(&mut self, id: u32) -> Option<&mut SampledProcess<'n>> {
        if self.process.is_none() {
            self.begin(id);
            if let Some(Ok(process)) = &self.process {
                process.start();
            }
        }
        self.process.as_mut()?.as_mut().ok()
    }

    fn under_way(self) -> Result<SampledProcess<'n>, CountError> {
        match self.process {
            Some(process) => Ok(process?),
            None => Err(CountError::Unseen),
        }
    }
}
