//! What happens while a run is being measured, for whoever shows it.

use std::time::Duration;

use super::{BenchmarkKey, Nanos};

/// How often benchmarks are to be visited, and in what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitPlan {
    /// Each in as many launches as were planned, the longest series having so many.
    Launches(u32),
    /// Each in rounds, until it is decided: in so many at most.
    Rounds(u32),
}

/// How a time that is left is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// All benchmarks have been seen: it will be about that.
    About,
    /// Nobody has seen some benchmark yet, and a single iteration of it may take longer than was planned for all.
    AtLeast,
    /// What is decided needs no more time.
    AtMost,
    /// The same before all benchmarks have been seen.
    UsuallyAtMost,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// The benchmarks are known and about to be measured.
    Planned {
        /// How many benchmarks.
        benchmarks: usize,
        /// How many visits: benchmarks times their launches.
        visits: usize,
        /// How long that should take.
        expected: Duration,
        /// How that is to be read.
        bound: Bound,
        /// How they follow one another.
        plan: VisitPlan,
    },
    /// A benchmark is about to be visited.
    Visiting {
        /// Which.
        benchmark: &'a BenchmarkKey,
        /// In which launch, from 0.
        launch: u32,
        /// Visits that have ended.
        done: usize,
        /// Visits in all.
        visits: usize,
        /// How long the rest should take, by what visits have taken so far.
        left: Duration,
        /// How that is to be read.
        bound: Bound,
        /// Benchmarks that need no more visits.
        settled: usize,
    },
    /// All visits have ended, or the user asked to stop.
    Measured,
    /// Something else than a measurement goes on, which takes long where there is much of it.
    Working {
        /// What is done, with what.
        what: &'a str,
        /// With how many benchmarks; 0 where nobody knows yet.
        benchmarks: usize,
        /// Parts of it that are done.
        done: usize,
        /// Its parts; when all are done, it ends.
        of: usize,
    },
    /// The bench printed this.
    Output(&'a [u8]),
    /// A visit failed; the others go on.
    VisitFailed {
        /// Which benchmark.
        benchmark: &'a BenchmarkKey,
        /// In which launch, from 0.
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
        /// What the reference is called, where it is one of the reference.
        reference: Option<&'a str>,
        /// What happened.
        message: &'a str,
    },
    /// A bench declined to run a benchmark.
    Skipped {
        /// Which.
        benchmark: &'a BenchmarkKey,
        /// Why, in the bench's words.
        reason: &'a str,
    },
    /// The benches' clocks go by steps of this at most.
    ClockStep(Nanos),
    /// Something that the user should know.
    Warning(&'a str),
}

/// Somebody who wants to know.
pub trait Observer {
    /// Takes notice. Called between samples only, except for [`Event::Output`].
    fn observe(&self, event: &Event<'_>);
}

/// Nobody hears of it.
pub struct Silence;

impl Observer for Silence {
    fn observe(&self, _: &Event<'_>) {}
}
