//! What happens while a run is being measured, for whoever shows it.

use std::cell::{Cell, RefCell};
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

/// Bytes of output that are kept at most.
const MOST_HELD_BACK: usize = 16 << 20;

/// Keeps output and warnings until they can be passed on. Drops all other events: progress would be out of date by then.
#[derive(Debug)]
pub struct HeldBack {
    events: RefCell<Vec<HeldBackEvent>>,
    /// For so many bytes of output there is room.
    room: Cell<usize>,
    /// So many bytes found no room.
    left_out: Cell<usize>,
}

impl Default for HeldBack {
    fn default() -> Self {
        Self {
            events: RefCell::default(),
            room: Cell::new(MOST_HELD_BACK),
            left_out: Cell::new(0),
        }
    }
}

/// An event that is kept.
#[derive(Debug)]
enum HeldBackEvent {
    Output(Vec<u8>),
    Warning(String),
}

impl HeldBack {
    /// Tells `observer` the kept events, in the order in which they happened.
    pub fn pass_on(self, observer: &dyn Observer) {
        for event in self.events.into_inner() {
            match event {
                HeldBackEvent::Output(bytes) => observer.observe(&Event::Output(&bytes)),
                HeldBackEvent::Warning(text) => observer.observe(&Event::Warning(&text)),
            }
        }
        if let surplus @ 1.. = self.left_out.get() {
            let text = format!("{surplus} bytes of output are left out");
            observer.observe(&Event::Warning(&text));
        }
    }
}

impl Observer for HeldBack {
    fn observe(&self, event: &Event<'_>) {
        let mut events = self.events.borrow_mut();
        match (event, events.last_mut()) {
            (Event::Output(bytes), before) => {
                let (kept, surplus) = bytes.split_at(bytes.len().min(self.room.get()));
                self.room.set(self.room.get() - kept.len());
                self.left_out.set(self.left_out.get() + surplus.len());
                match before {
                    Some(HeldBackEvent::Output(before)) => before.extend(kept),
                    _ => events.push(HeldBackEvent::Output(kept.to_vec())),
                }
            }
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

    #[test]
    fn output_without_end_is_cut_and_that_is_said() {
        let held_back = HeldBack::default();
        held_back.observe(&Event::Output(&vec![b'a'; MOST_HELD_BACK - 1]));
        held_back.observe(&Event::Output(b"bcd"));
        held_back.observe(&Event::Output(b"e"));
        let heard = Heard::default();
        held_back.pass_on(&heard);
        let heard = heard.0.into_inner();
        assert_eq!(heard.len(), 2);
        let said = format!("{:?}", Event::Warning("3 bytes of output are left out"));
        assert_eq!(heard[1], said);
    }
}
