//! What happens while a run is being measured, for whoever shows it.

use std::time::Duration;

use super::{BenchmarkKey, Nanos};

/// How benchmarks will be visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitPlan {
    /// Each benchmark is visited in as many launches as were planned for it; this is the largest number.
    Launches(u32),
    /// Each benchmark is visited in rounds until it is decided; this is the largest number.
    Rounds(u32),
}

/// How to read an estimate of the time that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// All benchmarks were visited before: the rest takes about this time.
    About,
    /// Some benchmarks were never visited, and a single iteration of one may take longer than was planned for all.
    AtLeast,
    /// All benchmarks were visited before; those that are decided early save time.
    AtMost,
    /// Some benchmarks were never visited; those that are decided early save time.
    UsuallyAtMost,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// The benchmarks are known and about to be measured.
    Planned {
        /// How many benchmarks there are.
        benchmarks: usize,
        /// How many visits there will be: benchmarks times their launches.
        visits: usize,
        /// How long the visits should take.
        expected: Duration,
        /// How to read this time.
        bound: Bound,
        /// How the benchmarks will be visited.
        plan: VisitPlan,
    },
    /// A benchmark is about to be visited.
    Visiting {
        /// The benchmark.
        benchmark: &'a BenchmarkKey,
        /// The launch, from 0.
        launch: u32,
        /// How many visits have ended.
        done: usize,
        /// How many visits there will be.
        visits: usize,
        /// How long the other visits should take, judging by those that have ended.
        left: Duration,
        /// How to read this time.
        bound: Bound,
        /// How many benchmarks need no more visits.
        settled: usize,
    },
    /// All visits have ended, or the user asked to stop.
    Measured,
    /// Work that is no measurement goes on; it may take long.
    Working {
        /// What the work is.
        what: &'a str,
        /// How many benchmarks it is about; 0 while the number is not known.
        benchmarks: usize,
        /// How many parts of it are done.
        done: usize,
        /// How many parts it has; it ends when all are done.
        of: usize,
    },
    /// The bench process printed these bytes.
    Output(&'a [u8]),
    /// A visit failed; the others go on.
    VisitFailed {
        /// The benchmark.
        benchmark: &'a BenchmarkKey,
        /// The launch, from 0.
        launch: u32,
        /// What happened.
        message: &'a str,
    },
    /// A bench target could not be driven at all.
    TargetFailed {
        /// Name of the package.
        package: &'a str,
        /// Name of the target.
        target: &'a str,
        /// The name of the reference, if the target belongs to the reference.
        reference: Option<&'a str>,
        /// What happened.
        message: &'a str,
    },
    /// A bench declined to run a benchmark.
    Skipped {
        /// The benchmark.
        benchmark: &'a BenchmarkKey,
        /// The reason, in the bench's words.
        reason: &'a str,
    },
    /// This is the largest step of the benches' clocks.
    ClockStep(Nanos),
    /// This is something that the user should know.
    Warning(&'a str),
}

/// Something that is told of events.
pub trait Observer {
    /// Takes notice of an event. All events but [`Event::Output`] are told between samples.
    fn observe(&self, event: &Event<'_>);
}

/// Ignores all events.
pub struct Silence;

impl Observer for Silence {
    fn observe(&self, _: &Event<'_>) {}
}
