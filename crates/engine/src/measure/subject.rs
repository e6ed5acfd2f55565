//! A benchmark of a run: how it is sampled, how often it has been visited, how long a visit takes.

use std::time::Duration;

use super::schedule::{FlatSchedule, Layout};
use perfcheck_analysis::model::{
    Benchmark, Beside, LaunchOutcome, LaunchedBenchmark, SamplingSettings,
};

/// A benchmark that failed in this many launches is not tried again.
const MOST_FAILURES: u32 = 2;

/// What is settled about a benchmark before it is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolved {
    /// How it is sampled.
    pub sampling: SamplingSettings,
    /// Noise threshold in force for it, a fraction.
    pub noise_threshold: f64,
    /// The flat phase of the run that it will be compared with.
    pub pinned: Option<FlatSchedule>,
    /// How many samples that run has, where the bench itself lays them out.
    pub pinned_samples: Option<u32>,
    /// How long a launch of that run took.
    pub past_visit: Option<Duration>,
}

impl Resolved {
    /// How long a visit takes as far as its settings tell: warm-up and measurement, or what it took in the past where that is longer.
    pub(super) fn visit(&self) -> Duration {
        let sampling = &self.sampling;
        let planned = Duration::from(sampling.warm_up) + Duration::from(sampling.measurement);
        planned.max(self.past_visit.unwrap_or_default())
    }
}

/// A benchmark, and what has become of it so far.
pub(super) struct Subject {
    pub(super) benchmark: Benchmark,
    pub(super) resolved: Resolved,
    pub(super) layout: Option<Layout>,
    /// Time of an iteration, where the bench itself lays its samples out and has told it.
    pub(super) iteration_ns: Option<f64>,
    /// Rounds in which it was visited, well or ill.
    pub(super) visited: u32,
    pub(super) failures: u32,
    pub(super) skipped: bool,
    /// How long a visit takes: as expected, then as it was.
    pub(super) visit: Duration,
    /// Whether it is known how long an iteration takes. Where it is not, a visit may take much longer than expected.
    pub(super) paced: bool,
}

impl AsRef<Benchmark> for Subject {
    fn as_ref(&self) -> &Benchmark {
        &self.benchmark
    }
}

impl Subject {
    pub(super) fn wanted_in(&self, round: u32) -> bool {
        !self.given_up() && round < self.resolved.sampling.launches
    }

    pub(super) fn visits_left(&self) -> u32 {
        if self.given_up() {
            0
        } else {
            self.resolved.sampling.launches - self.visited
        }
    }

    /// A visit has ended after so long: the next ones take as long.
    pub(super) fn took(&mut self, visit: Duration) {
        self.visit = visit;
        self.paced = true;
    }

    /// A glance has shown how it is to be sampled, and how long an iteration takes: it has at least so many.
    pub(super) fn glanced(
        &mut self,
        resolved: Resolved,
        iteration: Option<Duration>,
        iterations: u32,
    ) {
        self.visit = resolved.visit();
        self.resolved = resolved;
        if let Some(iteration) = iteration {
            // One more for the warm-up.
            self.took(self.visit.max(iteration * (iterations + 1)));
        }
    }

    pub(super) fn launched(&self, outcome: LaunchOutcome) -> LaunchedBenchmark {
        LaunchedBenchmark {
            benchmark: self.benchmark.clone(),
            sampling: self.resolved.sampling,
            noise_threshold: self.resolved.noise_threshold,
            outcome,
            beside: Beside::default(),
        }
    }

    pub(super) fn given_up(&self) -> bool {
        self.skipped || self.failures >= MOST_FAILURES
    }
}
