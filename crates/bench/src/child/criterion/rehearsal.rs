//! Runs a Criterion benchmark without measuring it, to find out whether its process succeeds, and filters the output of Criterion benches.
//!
//! When Criterion measures, it also analyzes and reports, in code that is unrelated to the benchmark. With `--test` it runs one iteration and ends.
//! With `--profile-time` it runs many, for at least a second, and can be stopped earlier. The filter removes messages about settings and plots that
//! come from our command line rather than from the author.

#![expect(
    clippy::disallowed_methods,
    reason = "starts benches, through the supervisor; deadlines"
)]

use crossbeam_channel::{Receiver, bounded};
use std::io::{self, Read};
use std::time::{Duration, Instant};

use super::arguments::{filter_exactly, strip_count};
use super::connection::{HOME, NOWHERE};
use crate::child::error::ChildError;
use crate::child::process::{
    ProcessContext, ProcessSpec, RunningBench, SpawnedProcess, WaitOutcome, bench_command,
    read_pieces_from_all,
};
use perfcheck_analysis::model::{Event, Observer};

/// How long a rehearsed benchmark iterates before its process is stopped.
const LONG_ENOUGH: Duration = Duration::from_millis(100);
/// The longest wait for the first iteration. A benchmark that needs more time is measured without a rehearsal.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the callback `is_enough` is called while the bench prints nothing.
const TICK: Duration = Duration::from_millis(20);
/// Criterion prints this before the iterations, between the benchmark's name and a time.
const BEGINS: &[u8] = b": Profiling for ";
/// The beginning of each line that Criterion prints about a benchmark.
const OF_CRITERION: &[u8] = b"Benchmarking ";

/// The iterations that a rehearsed benchmark runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RehearsalMode {
    /// The benchmark runs one iteration.
    Once,
    /// The benchmark runs as many iterations as fit into a fixed time.
    ForAWhile {
        /// Upper bound of the benchmark's set-up time.
        set_up: Duration,
    },
    /// The benchmark runs 1, 2, 4, ... iterations, as in Criterion's warm-up, until a second has passed or the caller stops the process.
    WarmUp,
}

impl RehearsalMode {
    /// Returns how long the benchmark may run before its process is stopped. The time begins with the line in which Criterion announces the
    /// benchmark, which it prints before the set-up. `None` means that the process ends by itself.
    fn time_limit(self) -> Option<Duration> {
        match self {
            Self::Once => Some(Duration::ZERO),
            Self::ForAWhile { set_up } => Some(set_up + LONG_ENOUGH),
            Self::WarmUp => None,
        }
    }

    /// Returns how long to wait for the benchmark to begin. A benchmark without a [`Self::time_limit`] may also run for this long once it has begun.
    fn patience(self, timeout: Duration) -> Duration {
        match self {
            Self::Once | Self::ForAWhile { .. } => timeout.min(PATIENCE),
            Self::WarmUp => timeout,
        }
    }
}

/// Lines that are longer than this are passed on in parts, so that no line exhausts the memory.
const LONGEST_LINE: usize = 1 << 16;

/// Filters the output of a rehearsed process. Nothing is passed on before the benchmark has begun, and Criterion's own lines are dropped.
#[derive(Default)]
struct RehearsalOutput {
    has_begun: bool,
    /// Before the benchmark begins: the last bytes, which may be a prefix of [`BEGINS`]. Afterwards: the line that
    /// has not ended.
    rest: Vec<u8>,
}

impl RehearsalOutput {
    /// Adds a piece of output and returns the benchmark's complete lines.
    fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.rest.extend(piece);
        if !self.has_begun {
            let mut places = self.rest.windows(BEGINS.len());
            let Some(place) = places.position(|part| part == BEGINS) else {
                let surplus = self.rest.len().saturating_sub(BEGINS.len());
                self.rest.drain(..surplus);
                return Vec::new();
            };
            self.has_begun = true;
            // The rest of this line is Criterion's, too.
            drop(self.rest.splice(..place, OF_CRITERION.iter().copied()));
        }
        let whole = if self.rest.len() > LONGEST_LINE {
            self.rest.len()
        } else {
            let end = self.rest.iter().rposition(|byte| *byte == b'\n');
            end.map_or(0, |end| end + 1)
        };
        let whole: Vec<u8> = self.rest.drain(..whole).collect();
        let lines = whole.split_inclusive(|byte| *byte == b'\n');
        let own = lines.filter(|line| !line.starts_with(OF_CRITERION));
        own.flatten().copied().collect()
    }

    /// Returns the benchmark's last line, if it does not end with a line feed.
    fn finish(&mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.rest);
        if self.has_begun && !rest.starts_with(OF_CRITERION) {
            rest
        } else {
            Vec::new()
        }
    }
}

/// A process that rehearses a benchmark. Dropping it kills the process.
pub struct Rehearsal<'a> {
    running: RunningBench<'a>,
    output: Receiver<Vec<u8>>,
    observer: &'a dyn Observer,
    what: RehearsalMode,
    patience: Duration,
}

impl<'a> Rehearsal<'a> {
    /// Starts the executable so that it runs only the benchmark `id`. Returns `None` if no filter selects exactly this benchmark.
    pub fn start(
        spec: &ProcessSpec,
        id: &str,
        what: RehearsalMode,
        context: &ProcessContext<'a>,
    ) -> Result<Option<Self>, ChildError> {
        let Some(filter) = filter_exactly([id]).filter(|_| strip_count(id).is_none()) else {
            return Ok(None);
        };
        let mut command = bench_command(spec);
        let flags: &[&str] = match what {
            RehearsalMode::Once => &["--test"],
            // Criterion accepts no less than a second, and no fractions before 0.4.
            RehearsalMode::ForAWhile { .. } | RehearsalMode::WarmUp => &["--profile-time", "1"],
        };
        command.args(flags).arg(filter).env(HOME, NOWHERE);
        let SpawnedProcess {
            group,
            stdout,
            stderr,
        } = spec.spawn(&mut command, context)?;
        Ok(Some(Self {
            // The channel `output` carries both pipes.
            running: RunningBench::new(group, bounded(0).1, &context.without_observer()),
            observer: context.observer,
            output: read_pieces_from_all([Box::new(stdout), Box::new(stderr)])
                .map_err(|source| spec.spawn_error(source))?,
            what,
            patience: what.patience(context.timeout),
        }))
    }

    /// Returns the process id.
    pub fn id(&mut self) -> u32 {
        self.running.id()
    }

    /// Waits until the process has ended or has iterated for long enough, and reports whether it succeeded.
    pub fn wait_for_success(&mut self) -> Result<bool, ChildError> {
        self.wait_for_success_or(&mut |_| false)
    }

    /// Like [`Self::wait_for_success`], but also stops once `is_enough` returns true. This callback is called repeatedly, with the information
    /// whether the benchmark has begun.
    pub fn wait_for_success_or(
        &mut self,
        is_enough: &mut dyn FnMut(bool) -> bool,
    ) -> Result<bool, ChildError> {
        let mut heard = RehearsalOutput::default();
        let ended = self.wait(&mut heard, is_enough);
        // Pass on the output that is still in the channel.
        while let Ok(piece) = self.output.try_recv() {
            self.pass_on(&heard.push(&piece));
        }
        self.pass_on(&heard.finish());
        ended
    }

    fn pass_on(&self, output: &[u8]) {
        if !output.is_empty() {
            self.observer.observe(&Event::Output(output));
        }
    }

    fn wait(
        &mut self,
        heard: &mut RehearsalOutput,
        is_enough: &mut dyn FnMut(bool) -> bool,
    ) -> Result<bool, ChildError> {
        let mut deadline = Instant::now() + self.patience;
        loop {
            let tick = deadline.min(Instant::now() + TICK);
            match self.running.wait(&self.output, Some(tick)) {
                WaitOutcome::Came(piece) => {
                    let had_begun = heard.has_begun;
                    let own = heard.push(&piece);
                    self.pass_on(&own);
                    if heard.has_begun && !had_begun {
                        let enough = self.what.time_limit().unwrap_or(self.patience);
                        deadline = Instant::now() + enough;
                    }
                    if is_enough(heard.has_begun) {
                        return Ok(true);
                    }
                }
                WaitOutcome::Closed => {
                    let went_well = self.running.end().is_ok_and(|status| status.success());
                    let did_it = self.what == RehearsalMode::Once || heard.has_begun;
                    return Ok(went_well && did_it);
                }
                WaitOutcome::Late if is_enough(heard.has_begun) => return Ok(true),
                WaitOutcome::Late if Instant::now() < deadline => {}
                WaitOutcome::Late if heard.has_begun && self.what != RehearsalMode::WarmUp => {
                    return Ok(true);
                }
                WaitOutcome::Late => {
                    return Err(ChildError::Timeout {
                        request: "run a benchmark".to_owned(),
                        after: self.patience,
                    });
                }
                WaitOutcome::Interrupted => return Err(ChildError::Interrupted),
            }
        }
    }
}

/// Beginnings of the removed lines. The first one, which follows an empty line, warns that samples take longer than requested. The second one names
/// the plotting backend, although no plots are made.
const LEFT_OUT: [&[u8]; 2] = [
    b"\nWarning: Unable to complete ",
    b"Gnuplot not found, using plotters backend",
];

/// A reader that removes the lines of `LEFT_OUT`. All other output passes unchanged. Output that may be the beginning of such a line is held back
/// until that is known.
pub(in crate::child) struct OutputFilter<R> {
    pipe: R,
    /// The beginning of `of`, an entry of `LEFT_OUT`, that the current line has matched so far. Once all of `of` is matched, the rest of the line is
    /// dropped.
    matched: &'static [u8],
    of: &'static [u8],
    at_line_start: bool,
    /// The filtered bytes that the next call of `read` returns.
    ready: Vec<u8>,
}

impl<R: Read> OutputFilter<R> {
    pub(in crate::child) fn new(pipe: R) -> Self {
        Self {
            pipe,
            matched: &[],
            of: &[],
            at_line_start: true,
            ready: Vec::new(),
        }
    }

    fn push_byte(&mut self, byte: u8) {
        if self.matched.is_empty() {
            self.of = LEFT_OUT
                .into_iter()
                .find(|line| self.at_line_start && line[0] == byte)
                .unwrap_or_default();
        } else if self.matched.len() == self.of.len() {
            // A line feed ends the dropped line.
            if byte == b'\n' {
                self.matched = &[];
                self.at_line_start = true;
            }
            return;
        }
        if self.of.get(self.matched.len()) == Some(&byte) {
            self.matched = &self.of[..=self.matched.len()];
            return;
        }
        if !self.matched.is_empty() {
            self.release_match();
            // This byte may begin another match.
            return self.push_byte(byte);
        }
        self.at_line_start = byte == b'\n';
        self.ready.push(byte);
    }

    /// Passes on the held bytes, which did not match after all.
    fn release_match(&mut self) {
        self.ready.extend(self.matched);
        self.at_line_start = self.matched == b"\n";
        self.matched = &[];
    }
}

impl<R: Read> Read for OutputFilter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            let length = self.pipe.read(buffer)?;
            if length == 0 {
                if (1..self.of.len()).contains(&self.matched.len()) {
                    self.release_match();
                    break;
                }
                return Ok(0);
            }
            for byte in &buffer[..length] {
                self.push_byte(*byte);
            }
        }
        let length = self.ready.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.ready[..length]);
        self.ready.drain(..length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::LazyLock;

    use super::*;
    use perfcheck_analysis::model::{NullObserver, SkipSupport};
    use perfcheck_host::process::{Interrupt, Supervisor};

    static SUPERVISOR: LazyLock<Supervisor> = LazyLock::new(Supervisor::default);

    /// Rehearses the benchmark `id` with `script` in place of a bench, and reports whether the process succeeds. Returns `None` if no filter selects
    /// exactly this benchmark.
    fn comes_through(
        script: &str,
        id: &str,
        what: RehearsalMode,
    ) -> Result<Option<bool>, ChildError> {
        let spec = ProcessSpec {
            program: "/bin/sh".into(),
            first_arguments: vec!["-c".into(), script.into(), "bench".into()],
            directory: "/".into(),
            variables: BTreeMap::new(),
            ordinal: 0,
            padding: 0,
            skipping: SkipSupport::Works,
        };
        let interrupt = Interrupt::never();
        let context = ProcessContext::new(
            &SUPERVISOR,
            &interrupt,
            &NullObserver,
            Duration::from_secs(1),
        );
        let rehearsal = Rehearsal::start(&spec, id, what, &context)?;
        rehearsal
            .map(|mut rehearsal| rehearsal.wait_for_success())
            .transpose()
    }

    #[test]
    #[cfg_attr(windows, ignore = "runs scripts of a Unix shell")]
    fn one_iteration_comes_through_if_its_process_ends_well() {
        let of = |script: &str| comes_through(script, "a.b", RehearsalMode::Once);
        let script = r#"[ "$*" = '--bench --test ^(?:a\.b)$' ]"#;
        assert!(matches!(of(script), Ok(Some(true))));
        assert!(matches!(of("kill -TRAP $$"), Ok(Some(false))));
        assert!(matches!(of("sleep 60"), Err(ChildError::Timeout { .. })));
    }

    #[test]
    #[cfg_attr(windows, ignore = "runs scripts of a Unix shell")]
    fn many_iterations_come_through_if_they_begin_and_go_on() {
        let of = |script: &str| {
            comes_through(
                script,
                "a.b",
                RehearsalMode::ForAWhile {
                    set_up: Duration::ZERO,
                },
            )
        };
        let begins = "printf 'Benchmarking a.b: Profil'; sleep 0.05; echo 'ing for 1.0000 s' >&2";
        let after = |then: &str| of(&format!("{begins}; {then}"));
        assert!(matches!(after("sleep 60"), Ok(Some(true))));
        assert!(matches!(after("exit 0"), Ok(Some(true))));
        assert!(matches!(after("kill -TRAP $$"), Ok(Some(false))));
        // The process succeeded without running the benchmark: the name is unknown, or the executable is another kind of bench.
        assert!(matches!(of("echo done"), Ok(Some(false))));
        assert!(matches!(of("sleep 60"), Err(ChildError::Timeout { .. })));
    }

    #[test]
    fn what_a_benchmark_prints_while_it_runs_is_told_from_what_criterion_says() {
        let printed = "of the set-up\nBenchmarking a\nBenchmarking a: Profiling for 1.0000 s\none\n\nBenchmarking a: Complete (Analysis Disabled)\ntwo";
        for size in [1, 7, 1000] {
            let mut heard = RehearsalOutput::default();
            let pieces = printed.as_bytes().chunks(size);
            let mut own: Vec<u8> = pieces.flat_map(|piece| heard.push(piece)).collect();
            own.extend(heard.finish());
            assert_eq!(String::from_utf8_lossy(&own), "one\n\ntwo");
        }
        let mut heard = RehearsalOutput::default();
        assert_eq!(heard.push(b"nothing begins\n"), b"");
        assert_eq!(heard.finish(), b"");
        let mut heard = RehearsalOutput {
            has_begun: true,
            rest: Vec::new(),
        };
        assert_eq!(heard.push(b"a"), b"");
        let long = vec![b'a'; LONGEST_LINE];
        assert_eq!(heard.push(&long).len(), LONGEST_LINE + 1);
    }

    #[test]
    fn what_shares_its_name_with_others_is_not_rehearsed() {
        let started = comes_through("exit 0", "a #2", RehearsalMode::Once);
        assert!(matches!(started, Ok(None)));
    }

    /// Checks the output for pieces of several sizes.
    #[track_caller]
    fn check(printed: &str, expected: &str) {
        for size in [1, 2, 7, 1000] {
            let pieces = printed.as_bytes().chunks(size);
            let pipe = pieces.fold(Box::new(io::empty()) as Box<dyn Read>, |before, piece| {
                Box::new(before.chain(piece))
            });
            let mut shown = String::new();
            let read = OutputFilter::new(pipe).read_to_string(&mut shown);
            read.expect("text");
            assert_eq!(shown, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn the_warning_is_dropped_with_its_empty_line_and_nothing_else() {
        let warning = "\nWarning: Unable to complete 100 samples in 20.0ms. You may wish to increase target time to 1.0s.\n";
        check(warning, "");
        check(&format!("a\n{warning}b\n"), "a\nb\n");
        check(&format!("{warning}{warning}end"), "end");
        let others = "one\n\n\nWarning: Unable to read the corpus\nWarning: Unable to complete \n";
        check(others, others);
    }

    #[test]
    fn what_would_draw_plots_is_not_said_where_none_are_drawn() {
        let line = "Gnuplot not found, using plotters backend\n";
        check(line, "");
        check(&format!("{line}a {line}\n{line}b"), &format!("a {line}\nb"));
        let warning = "\nWarning: Unable to complete 10 samples\n";
        check(&format!("{line}{warning}{line}"), "");
        let others = "Gnuplot not found or not usable, using plotters backend\nGnuplot\nG";
        check(others, others);
    }

    #[test]
    fn what_ends_like_its_beginning_comes_whole() {
        check("a\n\n", "a\n\n");
        check("\nWarning: Unable", "\nWarning: Unable");
        check("x\n\n\n\n", "x\n\n\n\n");
        check("", "");
    }
}
