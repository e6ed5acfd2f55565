//! Events of a measurement and of other long work, such as storing many benchmarks, for the code that shows progress; and parallel work that
//! reports its progress.

use rayon::prelude::*;
use std::cell::{Cell, RefCell};
use std::time::Duration;

use super::{BenchmarkKey, Nanos, Side};

/// The planned number of visits of each benchmark. A visit measures one benchmark in one process or round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitPlan {
    /// Each benchmark is visited by a planned number of processes. The value is the largest of these numbers.
    Processes(u32),
    /// Each benchmark is visited in rounds until it is decided. The value is the largest number of rounds.
    Rounds(u32),
}

/// Whether an estimate of the remaining time is a lower limit, an upper limit or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EstimateKind {
    /// The remaining visits take about this time, because all benchmarks were visited before.
    About,
    /// The remaining visits take at least this time, because some benchmarks were never visited. A single iteration of such a benchmark may take
    /// longer than planned for its whole visit.
    AtLeast,
    /// The remaining visits take at most this time, because all benchmarks were visited before, or because there is a time budget. Benchmarks that
    /// are decided early save time.
    AtMost,
    /// The remaining visits usually take at most this time, because benchmarks that are decided early save time. They can take longer, because some
    /// benchmarks were never visited and there is no time budget.
    UsuallyAtMost,
}

/// An event of a measurement or of other long work.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// The benchmarks are known and about to be measured.
    Planned {
        /// Number of benchmarks.
        benchmarks: usize,
        /// Number of planned visits: benchmarks times their processes.
        visits: usize,
        /// Expected duration of all visits.
        expected: Duration,
        /// Whether `expected` is a lower limit, an upper limit or neither.
        bound: EstimateKind,
        /// The plan of the visits.
        plan: VisitPlan,
    },
    /// A benchmark is about to be visited.
    Visiting {
        /// The benchmark.
        benchmark: &'a BenchmarkKey,
        /// Ordinal of the process, from 0.
        process: u32,
        /// Number of visits that have ended.
        done: usize,
        /// Number of planned visits.
        visits: usize,
        /// Estimated duration of the remaining visits, based on those that have ended.
        left: Duration,
        /// Whether `left` is a lower limit, an upper limit or neither.
        bound: EstimateKind,
        /// Number of benchmarks that need no more visits.
        settled: usize,
    },
    /// All visits have ended, or the user asked to stop.
    Measured,
    /// Long work other than measuring made progress.
    Working {
        /// Name of the work, such as `Storing`.
        what: &'a str,
        /// Number of benchmarks that the work is about. It is 0 while it is unknown.
        benchmarks: usize,
        /// Number of parts of the work that are done.
        done: usize,
        /// Number of all parts. The work ends when all of them are done.
        of: usize,
    },
    /// A bench process printed these bytes.
    Output(&'a [u8]),
    /// A visit failed. The other visits continue.
    VisitFailed {
        /// The benchmark.
        benchmark: &'a BenchmarkKey,
        /// Ordinal of the process, from 0.
        process: u32,
        /// The side that failed.
        side: Side,
        /// Description of the failure.
        message: &'a str,
    },
    /// A bench target failed, so that some or all of its benchmarks are not measured.
    TargetFailed {
        /// Name of the package.
        package: &'a str,
        /// Name of the target.
        target: &'a str,
        /// Name of the reference, if the target belongs to it.
        reference: Option<&'a str>,
        /// Description of the failure.
        message: &'a str,
    },
    /// A bench declined to run a benchmark.
    Skipped {
        /// The benchmark.
        benchmark: &'a BenchmarkKey,
        /// The reason, in the bench's words.
        reason: &'a str,
    },
    /// The clock steps of all benches are known. This is the largest of them.
    ClockStep(Nanos),
    /// A warning for the user.
    Warning(&'a str),
}

/// A receiver of events.
pub trait Observer {
    /// Handles an event. All events except [`Event::Output`] are sent between samples, so that handling them disturbs no sample.
    fn observe(&self, event: &Event<'_>);
}

/// An observer that ignores all events.
pub struct NullObserver;

impl Observer for NullObserver {
    fn observe(&self, _: &Event<'_>) {}
}

/// The largest number of output bytes that an [`EventBuffer`] holds. Output beyond it is dropped.
const MOST_HELD_BACK: usize = 16 << 20;

/// An observer that buffers output and warnings for later. It drops all other events: progress would be out of date by then.
#[derive(Debug)]
pub struct EventBuffer {
    events: RefCell<Vec<BufferedEvent>>,
    /// Bytes of output for which there is still room.
    room: Cell<usize>,
    /// Bytes of output that were dropped for lack of room.
    left_out: Cell<usize>,
}

impl Default for EventBuffer {
    fn default() -> Self {
        Self {
            events: RefCell::default(),
            room: Cell::new(MOST_HELD_BACK),
            left_out: Cell::new(0),
        }
    }
}

#[derive(Debug)]
enum BufferedEvent {
    Output(Vec<u8>),
    Warning(String),
}

impl EventBuffer {
    /// Sends the buffered events to `observer`, in the order in which they occurred.
    pub fn replay(self, observer: &dyn Observer) {
        for event in self.events.into_inner() {
            match event {
                BufferedEvent::Output(bytes) => observer.observe(&Event::Output(&bytes)),
                BufferedEvent::Warning(text) => observer.observe(&Event::Warning(&text)),
            }
        }
        if let surplus @ 1.. = self.left_out.get() {
            let text = format!("{surplus} bytes of output were omitted");
            observer.observe(&Event::Warning(&text));
        }
    }
}

impl Observer for EventBuffer {
    fn observe(&self, event: &Event<'_>) {
        let mut events = self.events.borrow_mut();
        match (event, events.last_mut()) {
            (Event::Output(bytes), before) => {
                let (kept, surplus) = bytes.split_at(bytes.len().min(self.room.get()));
                self.room.set(self.room.get() - kept.len());
                self.left_out.set(self.left_out.get() + surplus.len());
                match before {
                    Some(BufferedEvent::Output(before)) => before.extend(kept),
                    _ => events.push(BufferedEvent::Output(kept.to_vec())),
                }
            }
            (Event::Warning(text), _) => events.push(BufferedEvent::Warning((*text).to_owned())),
            _ => {}
        }
    }
}

/// Reports the progress of work on benchmarks to an observer. When the reporter is dropped, it reports the end of the work.
pub struct ProgressReporter<'a> {
    observer: &'a dyn Observer,
    what: String,
    benchmarks: usize,
}

impl<'a> ProgressReporter<'a> {
    /// Begins the work and reports its start. `what` is a word such as `Storing`, which the output puts before the number of benchmarks. `benchmarks`
    /// is 0 if this number is not yet known.
    pub fn begin(observer: &'a dyn Observer, what: impl Into<String>, benchmarks: usize) -> Self {
        let work = Self {
            observer,
            what: what.into(),
            benchmarks,
        };
        work.report(0, 1);
        work
    }

    /// Creates a reporter that reports to no observer.
    pub fn silent() -> Self {
        Self::begin(&NullObserver, "", 0)
    }

    /// Reports that `done` of `of` parts of the work are done. The parts may be of any size.
    pub fn report(&self, done: usize, of: usize) {
        self.observer.observe(&Event::Working {
            what: &self.what,
            benchmarks: self.benchmarks,
            done,
            of,
        });
    }
}

impl Drop for ProgressReporter<'_> {
    fn drop(&mut self) {
        self.report(1, 1);
    }
}

/// The number of items that are processed between two progress reports.
const ITEMS_PER_REPORT: usize = 64;

/// Where one stage of a longer piece of work begins. Progress reports count all stages together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkStage {
    /// The number of parts of the whole work that are done when the stage begins.
    pub done: usize,
    /// The number of parts that the whole work has.
    pub total: usize,
}

impl WorkStage {
    /// Returns the stage for work that has `total` parts and no other stage.
    pub fn whole(total: usize) -> Self {
        Self { done: 0, total }
    }
}

/// Applies `work` to each item in parallel and returns the results in the order of the items. Progress reports count each item as one part of the
/// whole work.
pub fn map_with_progress<'t, T: Sync, R: Send>(
    items: &'t [T],
    stage: WorkStage,
    progress: &ProgressReporter<'_>,
    work: impl Fn(&'t T) -> R + Sync,
) -> Vec<R> {
    let mut results = Vec::with_capacity(items.len());
    for chunk in items.chunks(ITEMS_PER_REPORT) {
        progress.report(stage.done + results.len(), stage.total);
        results.par_extend(chunk.par_iter().map(&work));
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Records events as text.
    #[derive(Default)]
    struct Heard(RefCell<Vec<String>>);

    impl Observer for Heard {
        fn observe(&self, event: &Event<'_>) {
            self.0.borrow_mut().push(format!("{event:?}"));
        }
    }

    #[test]
    fn what_is_held_back_comes_whole_and_in_its_order() {
        let held_back = EventBuffer::default();
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
        held_back.replay(&heard);
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
        let held_back = EventBuffer::default();
        held_back.observe(&Event::Output(&vec![b'a'; MOST_HELD_BACK - 1]));
        held_back.observe(&Event::Output(b"bcd"));
        held_back.observe(&Event::Output(b"e"));
        let heard = Heard::default();
        held_back.replay(&heard);
        let heard = heard.0.into_inner();
        assert_eq!(heard.len(), 2);
        let text = format!("{:?}", Event::Warning("3 bytes of output were omitted"));
        assert_eq!(heard[1], text);
    }

    #[test]
    fn work_is_told_when_it_begins_goes_on_and_ends() {
        let heard = Heard::default();
        let work = ProgressReporter::begin(&heard, "Storing", 7);
        work.report(2, 5);
        drop(work);
        let told = |done, of| {
            let event = Event::Working {
                what: "Storing",
                benchmarks: 7,
                done,
                of,
            };
            format!("{event:?}")
        };
        assert_eq!(heard.0.into_inner(), [told(0, 1), told(2, 5), told(1, 1)]);
    }

    #[test]
    fn output_as_long_as_there_is_room_is_not_cut() {
        let held_back = EventBuffer::default();
        held_back.observe(&Event::Output(&vec![b'a'; (16 << 20) - 1]));
        held_back.observe(&Event::Output(b"b"));
        let heard = Heard::default();
        held_back.replay(&heard);
        let heard = heard.0.into_inner();
        assert_eq!(heard.len(), 1);
    }

    #[derive(Default)]
    struct Reports(Mutex<Vec<(usize, usize)>>);

    impl Observer for Reports {
        fn observe(&self, event: &Event<'_>) {
            if let Event::Working { done, of, .. } = event {
                self.0.lock().unwrap().push((*done, *of));
            }
        }
    }

    #[test]
    fn each_sixty_four_items_are_reported_as_parts_of_the_whole_work() {
        let items: Vec<usize> = (0..130).collect();
        let reports = Reports::default();
        let progress = ProgressReporter::begin(&reports, "Testing", 130);
        let stage = WorkStage {
            done: 100,
            total: 300,
        };
        let found = map_with_progress(&items, stage, &progress, |item| item * item);
        assert!(found.into_iter().eq((0..130).map(|item| item * item)));
        let reports = reports.0.lock().unwrap();
        assert_eq!(reports[1..], [(100, 300), (164, 300), (228, 300)]);
    }
}
