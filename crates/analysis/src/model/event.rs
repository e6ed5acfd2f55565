//! What happens while a run is being measured, for whoever shows it.

use std::cell::RefCell;
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

/// Keeps output and warnings for somebody who listens later. Nobody wants to hear later how far something was.
#[derive(Debug, Default)]
pub struct HeldBack {
    events: RefCell<Vec<HeldBackEvent>>,
}

/// What was not to be lost.
#[derive(Debug)]
enum HeldBackEvent {
    Output(Vec<u8>),
    Warning(String),
}

impl HeldBack {
    /// Tells `observer` all of it, in the order in which it happened.
    pub fn pass_on(self, observer: &dyn Observer) {
        for event in self.events.into_inner() {
            match event {
                HeldBackEvent::Output(bytes) => observer.observe(&Event::Output(&bytes)),
                HeldBackEvent::Warning(text) => observer.observe(&Event::Warning(&text)),
            }
        }
    }
}

impl Observer for HeldBack {
    fn observe(&self, event: &Event<'_>) {
        let mut events = self.events.borrow_mut();
        match (event, events.last_mut()) {
            (Event::Output(bytes), Some(HeldBackEvent::Output(before))) => before.extend(*bytes),
            (Event::Output(bytes), _) => events.push(HeldBackEvent::Output(bytes.to_vec())),
            (Event::Warning(text), _) => events.push(HeldBackEvent::Warning((*text).to_owned())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was heard, in words.
    #[derive(Default)]
    struct Heard(RefCell<Vec<String>>);

    impl Observer for Heard {
        fn observe(&self, event: &Event<'_>) {
            self.0.borrow_mut().push(format!("{event:?}"));
        }
    }

    #[test]
    fn what_is_held_back_comes_whole_and_in_its_order() {
        let held_back = HeldBack::default();
        for event in [
            Event::Output(b"a"),
            Event::Output(b"b\n"),
            Event::Measured,
            Event::Warning("careful"),
            Event::Output(b"c"),
        ] {
            held_back.observe(&event);
        }
        let heard = Heard::default();
        held_back.pass_on(&heard);
        let expected = [
            Event::Output(b"ab\n"),
            Event::Warning("careful"),
            Event::Output(b"c"),
        ];
        let expected = expected.map(|event| format!("{event:?}"));
        assert_eq!(*heard.0.borrow(), expected);
    }
}
