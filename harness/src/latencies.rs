//! Records single operations of a latency benchmark (the bench protocol, section 10). All memory is allocated before the benchmark starts, and
//! recording happens after the second clock reading, so it is not part of any time.

use std::cell::RefCell;
use std::fmt::{Display, Write as _};
use std::time::{Duration, Instant};

use crate::histogram::{LatencyDigits, TimeCounts};
use crate::reservoir::Reservoir;
use crate::sampler::Sampler;
use crate::scripted::OperationClock;

const NS_PER_WINDOW: u64 = 1_000_000_000;

/// The number of windows reserved in advance: an hour of them. A longer benchmark allocates more.
const USUAL_WINDOWS: usize = 3600;

/// The number of error messages that are kept.
const MESSAGES: usize = 5;

/// The number of characters of an error message that are kept.
const LONGEST_MESSAGE: usize = 1000;

/// The results of one second of a latency benchmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RecordedWindow {
    /// Successful operations
    pub(crate) operations: u64,
    pub(crate) errors: u64,
    pub(crate) p50_ns: Option<u64>,
    pub(crate) p95_ns: Option<u64>,
    pub(crate) p99_ns: Option<u64>,
}

/// Records operations while a sample is taken, and ignores them at other times.
#[derive(Debug)]
pub(crate) struct LatencyRecorder {
    clock: OperationClock,
    recording: bool,
    /// Start of the first sample
    began: Option<Instant>,
    all: TimeCounts,
    reservoir: Reservoir,
    errors: u64,
    messages: Vec<String>,
    /// Windows that have ended; the current one is not among them
    windows: Vec<RecordedWindow>,
    in_window: TimeCounts,
    errors_in_window: u64,
}

impl LatencyRecorder {
    /// Makes an empty record.
    pub(crate) fn new() -> Self {
        Self {
            clock: OperationClock::default(),
            recording: false,
            began: None,
            all: TimeCounts::new(LatencyDigits::default()),
            reservoir: Reservoir::new(),
            errors: 0,
            messages: Vec::with_capacity(MESSAGES),
            windows: Vec::with_capacity(USUAL_WINDOWS),
            in_window: TimeCounts::new(LatencyDigits::default()),
            errors_in_window: 0,
        }
    }

    /// Sets the options that only the driver knows: the source of times, the seed of the random choice, and the resolution of the histogram.
    pub(crate) fn prepare(&mut self, clock: OperationClock, seed: u64, digits: LatencyDigits) {
        self.clock = clock;
        if self.all.digits() != digits {
            self.all = TimeCounts::new(digits);
            self.in_window = TimeCounts::new(digits);
        }
        self.reservoir.seed(seed);
    }

    /// Records an operation that ran between two clock readings, and returns its reported time. A scripted clock or a slowdown makes it differ
    /// from the measured one.
    pub(crate) fn record(
        &mut self,
        start: Instant,
        end: Instant,
        error: Option<&dyn Display>,
    ) -> Duration {
        let measured = end.saturating_duration_since(start);
        let (true, Some(began)) = (self.recording, self.began) else {
            return measured;
        };
        let (elapsed_ns, ended_ns) = self
            .clock
            .reported_times(measured, end.saturating_duration_since(began));
        self.close_windows_before(ended_ns / NS_PER_WINDOW);
        match error {
            None => {
                self.all.record(elapsed_ns);
                self.in_window.record(elapsed_ns);
                self.reservoir.offer(elapsed_ns);
            }
            Some(error) => {
                self.errors += 1;
                self.errors_in_window += 1;
                if self.messages.len() < MESSAGES {
                    self.messages.push(truncated_message(error));
                }
            }
        }
        Duration::from_nanos(elapsed_ns)
    }

    fn close_windows_before(&mut self, window: u64) {
        while (self.windows.len() as u64) < window {
            let ended = self.open_window();
            self.windows.push(ended);
            self.in_window.clear();
            self.errors_in_window = 0;
        }
    }

    fn open_window(&self) -> RecordedWindow {
        RecordedWindow {
            operations: self.in_window.total(),
            errors: self.errors_in_window,
            p50_ns: self.in_window.percentile(500),
            p95_ns: self.in_window.percentile(950),
            p99_ns: self.in_window.percentile(990),
        }
    }

    /// Returns the histogram of successful operations.
    pub(crate) fn histogram(&self) -> &TimeCounts {
        &self.all
    }

    /// Returns the number of failed operations.
    pub(crate) fn errors(&self) -> u64 {
        self.errors
    }

    /// Returns the messages of the first errors.
    pub(crate) fn messages(&self) -> &[String] {
        &self.messages
    }

    /// Returns at most `wanted` single times, chosen at random.
    pub(crate) fn reservoir_ns(&self, wanted: usize) -> Vec<u64> {
        self.reservoir.draw_sample(wanted)
    }

    /// Returns the seconds that have ended since the first sample began, and the current one.
    pub(crate) fn windows(&self) -> (&[RecordedWindow], Option<RecordedWindow>) {
        let open = self.began.map(|_| self.open_window());
        (&self.windows, open)
    }
}

/// Takes one sample and records its operations. The sample's time is their sum.
pub(crate) fn sample_operations(
    latencies: &RefCell<LatencyRecorder>,
    sampler: &mut Sampler<'_>,
    iterations: u64,
) -> Duration {
    {
        let mut latencies = latencies.borrow_mut();
        latencies.recording = true;
        latencies.began.get_or_insert_with(Instant::now);
    }
    let elapsed = sampler(iterations);
    let mut latencies = latencies.borrow_mut();
    latencies.recording = false;
    latencies.clock.end_sample();
    elapsed
}

/// Returns the message of an error, cut if it is long.
fn truncated_message(error: &dyn Display) -> String {
    let mut text = String::new();
    let written = write!(text, "{error}");
    if written.is_err() {
        text.push_str("(an error that has no message)");
    }
    if let Some((end, _)) = text.char_indices().nth(LONGEST_MESSAGE) {
        text.truncate(end);
    }
    text
}
