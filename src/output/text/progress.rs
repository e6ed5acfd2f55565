//! Shows a measurement on stderr while it runs. In a terminal it draws a bar, elsewhere it writes plain lines. It also passes on what benches print,
//! and reports failures.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::time::Duration;

use crate::output::terminal::{Charset, to_ascii};
use crate::output::view::wrap_prose;
use crate::output::words::sentences;
use crate::output::{terminal, units};
use perfcheck_analysis::model::{BenchmarkKey, EstimateKind, Event, Observer, VisitPlan};

/// The amount of progress output during a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressMode {
    /// A bar in this charset, which is redrawn before each visit (the measurement of a benchmark in one process).
    Bar(Charset),
    /// Plain lines: one for each of the first processes or rounds, then one for every tenth.
    Lines,
    /// Only failures, warnings, and what benches print.
    Quiet,
}

impl ProgressMode {
    fn is_bar(self) -> bool {
        matches!(self, Self::Bar(_))
    }
}

/// Without a bar, each of the first `FIRST_PROCESSES` processes or rounds gets a line, and later every `SOME_PROCESSES`th.
const FIRST_PROCESSES: u32 = 5;
const SOME_PROCESSES: u32 = 10;
/// Without a bar, preparatory work gets a line if it is for at least this number of benchmarks. Less work is done too soon for a line to be of use.
const MANY: usize = 200;
/// The remaining time is shown once one part in `KNOWN_FROM` of the work is done. Before that, an estimate would be too inaccurate.
const KNOWN_FROM: usize = 50;
/// Time between redraws of the bar while nothing is measured.
const TICK: Duration = Duration::from_millis(200);
/// Maximum size of an unfinished line of bench output that is held back, in bytes. A longer line is passed on although it has no end yet.
const LONGEST_HELD_BACK: usize = 64 << 10;

/// A display of the progress of a measurement on `writer`, usually stderr.
pub struct Progress<W: Write, B: Write> {
    writer: RefCell<W>,
    bench_output: RefCell<B>,
    mode: ProgressMode,
    bar: ProgressBar,
    /// The number of benchmarks, and how many processes or rounds are planned for each. `None` before the measurement begins.
    planned: Cell<Option<(usize, VisitPlan)>>,
    /// Index of the process or round of the last visit, by which the first visit of a new one is recognized. `None` before the first visit.
    announced: Cell<Option<u32>>,
    /// Whether a line about the current preparatory work has been written. There is at most one for each work.
    work_told: Cell<bool>,
    /// Whether the last output of a bench ended in the middle of a line.
    unfinished_line: Cell<bool>,
    /// The unfinished line at the end of the bench output. It is held back while there is a bar, because drawing the bar after half a line would
    /// garble both.
    held_back: RefCell<Vec<u8>>,
}

impl<W: Write, B: Write> Progress<W, B> {
    /// Creates an observer for one run. The program's own lines go to `writer`, and what benches print goes to `bench_output`.
    pub fn new(writer: W, bench_output: B, mode: ProgressMode) -> Self {
        let bar = match mode {
            ProgressMode::Bar(_) => {
                ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
            }
            ProgressMode::Lines | ProgressMode::Quiet => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("[{bar:20}] {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self {
            writer: RefCell::new(writer),
            bench_output: RefCell::new(bench_output),
            mode,
            bar,
            planned: Cell::new(None),
            announced: Cell::new(None),
            work_told: Cell::new(false),
            unfinished_line: Cell::new(false),
            held_back: RefCell::new(Vec::new()),
        }
    }

    /// Writes a whole line, broken between words if there is a bar. If bench output ended in the middle of a line, that line is ended first. Errors
    /// are ignored, because a closed stderr must not end a measurement.
    fn write_line(&self, text: &str) {
        let text = match self.mode {
            ProgressMode::Bar(_) => wrap_prose(text, units::terminal_width(), "  "),
            ProgressMode::Lines | ProgressMode::Quiet => text.to_owned(),
        };
        self.bar.suspend(|| {
            let start = if self.unfinished_line.replace(false) {
                "\n"
            } else {
                ""
            };
            let _ = writeln!(self.writer.borrow_mut(), "{start}{text}");
        });
    }

    /// Describes the progress of a run in two parts. The first is the word `Process` or `Round`. The second has the number of the process or round,
    /// the number of decided benchmarks, and the time left.
    fn describe_progress(
        &self,
        process: u32,
        settled: usize,
        left: &str,
    ) -> (&'static str, String) {
        let number = process + 1;
        let (benchmarks, plan) = self
            .planned
            .get()
            .unwrap_or((0, VisitPlan::Processes(number)));
        match plan {
            VisitPlan::Processes(processes) => {
                // Samples that were too short are measured again, in more processes than planned.
                let processes = processes.max(number);
                ("Process", format!("{number} of {processes}{left}"))
            }
            // The first round cannot decide anything.
            VisitPlan::Rounds(_) if process == 0 => ("Round", format!("{number}{left}")),
            VisitPlan::Rounds(_) => (
                "Round",
                format!("{number}, {settled} of {benchmarks} decided{left}"),
            ),
        }
    }

    /// Shows the progress of preparatory work. It appears on the bar, or without a bar as one line if there are many benchmarks.
    fn show_work(&self, what: &str, benchmarks: usize, done: usize, of: usize) {
        if done >= of {
            self.bar.finish_and_clear();
            self.bar.set_message("");
            return;
        }
        let with = match benchmarks {
            0 => String::new(),
            count => format!(" {}", units::counted(count, "benchmark")),
        };
        let left = if done * KNOWN_FROM < of {
            String::new()
        } else {
            let left = self.bar.elapsed().mul_f64((of - done) as f64 / done as f64);
            format!(", {} left", format_bound(EstimateKind::About, left))
        };
        let message = format!("{what}{with}{left}");
        self.bar.set_message(match self.mode {
            ProgressMode::Bar(Charset::Ascii) => to_ascii(&message),
            _ => message,
        });
        self.bar.set_length(of as u64);
        if done == 0 {
            self.work_told.set(false);
            self.bar.reset();
        }
        if self.mode.is_bar() && done == 0 {
            // Redrawing in the background is safe here: nothing is being measured.
            self.bar.enable_steady_tick(TICK);
        }
        self.bar.set_position(done as u64);
        let is_line = self.mode == ProgressMode::Lines && benchmarks >= MANY && !left.is_empty();
        if is_line && !self.work_told.replace(true) {
            self.write_line(&format!("{}{with}{left}", terminal::status(what)));
        }
    }

    fn pass_output(&self, bytes: &[u8]) {
        if !self.mode.is_bar() {
            self.write_output(bytes);
            return;
        }
        let mut held_back = self.held_back.borrow_mut();
        held_back.extend_from_slice(bytes);
        let whole = match held_back.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => last + 1,
            None if held_back.len() > LONGEST_HELD_BACK => held_back.len(),
            None => return,
        };
        let rest = held_back.split_off(whole);
        self.write_output(&held_back);
        *held_back = rest;
    }

    /// Writes the unfinished line of bench output that was held back.
    fn release_output(&self) {
        let held_back = std::mem::take(&mut *self.held_back.borrow_mut());
        if !held_back.is_empty() {
            self.write_output(&held_back);
        }
    }

    fn write_output(&self, bytes: &[u8]) {
        self.bar.suspend(|| {
            let mut output = self.bench_output.borrow_mut();
            let _ = output.write_all(bytes).and_then(|()| output.flush());
            // The bar is drawn next and needs a line of its own.
            if self.mode.is_bar() && !bytes.ends_with(b"\n") {
                let _ = output.write_all(b"\n");
            }
        });
        if !self.mode.is_bar() {
            self.unfinished_line.set(!bytes.ends_with(b"\n"));
        }
    }
}

impl<W: Write, B: Write> Drop for Progress<W, B> {
    /// Clears the bar of an interrupted run, and ends an unfinished line of bench output. An annotation for a CI system, which may follow, must begin
    /// on a new line.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        self.release_output();
        if self.unfinished_line.get() {
            let _ = writeln!(self.writer.borrow_mut());
        }
    }
}

impl<W: Write, B: Write> Observer for Progress<W, B> {
    fn observe(&self, event: &Event<'_>) {
        let loud = self.mode != ProgressMode::Quiet;
        match event {
            Event::Planned {
                benchmarks,
                visits,
                expected,
                bound,
                plan,
            } => {
                self.bar.set_length(*visits as u64);
                self.planned.set(Some((*benchmarks, *plan)));
                if loud {
                    self.write_line(&describe_measurement(*benchmarks, *bound, *expected));
                }
            }
            Event::Visiting {
                benchmark,
                process,
                done,
                visits,
                left,
                bound,
                settled,
            } => {
                let left = match bound {
                    EstimateKind::UsuallyAtMost => String::new(),
                    bound => format!(", {} left", format_bound(*bound, *left)),
                };
                let (word, reached) = self.describe_progress(*process, *settled, &left);
                self.bar.set_length(*visits as u64);
                self.bar.set_position(*done as u64);
                let id = benchmark.id.escape_debug();
                let message = format!("{word} {reached}: {id}");
                // The bar writes to the terminal itself, past the ASCII filter of `writer`.
                self.bar.set_message(match self.mode {
                    ProgressMode::Bar(Charset::Ascii) => to_ascii(&message),
                    _ => message,
                });
                let new_process = self.announced.replace(Some(*process)) != Some(*process);
                let shown = *process < FIRST_PROCESSES || process % SOME_PROCESSES == 0;
                if self.mode == ProgressMode::Lines && new_process && shown {
                    self.write_line(&format!("{} {reached}", terminal::status(word)));
                }
            }
            Event::Working {
                what,
                benchmarks,
                done,
                of,
            } => self.show_work(what, *benchmarks, *done, *of),
            Event::Measured => {
                self.bar.finish_and_clear();
                self.release_output();
            }
            Event::Output(bytes) => self.pass_output(bytes),
            Event::VisitFailed {
                benchmark,
                process,
                side,
                message,
            } => self.write_line(&format!(
                "{}: {} failed in process {}: {}",
                terminal::error(),
                printable_key(benchmark),
                process + 1,
                terminal::escape_terminal_text(&sentences::describe_failure(*side, message))
            )),
            Event::TargetFailed {
                package,
                target,
                reference,
                message,
            } => self.write_line(&describe_target_failure(
                (package, target),
                *reference,
                message,
            )),
            Event::Skipped { benchmark, reason } => {
                if loud {
                    self.write_line(&format!(
                        "{} {}: {}",
                        terminal::status("Skipped"),
                        printable_key(benchmark),
                        terminal::escape_terminal_text(reason)
                    ));
                }
            }
            Event::ClockStep(step) => {
                if loud {
                    self.write_line(&units::timer_resolution(*step));
                }
            }
            Event::Warning(message) => self.write_line(&format!(
                "{}: {}",
                terminal::warning(),
                terminal::escape_terminal_text(message)
            )),
        }
    }
}

/// Describes the plan of a command that compares the same benchmarks several times, with the expected time.
pub fn describe_plan(
    benchmarks: usize,
    comparisons: u32,
    bound: EstimateKind,
    expected: Duration,
) -> String {
    format!(
        "{} in {}, {}",
        units::counted(benchmarks, "benchmark"),
        units::counted(comparisons as usize, "comparison"),
        format_bound(bound, expected)
    )
}

/// Says how many benchmarks are measured next, and how long that takes. The time is left out if it may become much shorter, because benchmarks that
/// are decided early are not measured any further.
fn describe_measurement(benchmarks: usize, bound: EstimateKind, expected: Duration) -> String {
    let takes = match bound {
        EstimateKind::UsuallyAtMost => "; the time left is shown after two rounds".to_owned(),
        bound => format!(", {}", format_bound(bound, expected)),
    };
    let benchmarks = units::counted(benchmarks, "benchmark");
    format!("{} {benchmarks}{takes}", terminal::status("Measuring"))
}

/// Formats the failure of a bench target. If the target belongs to the reference, `reference` is the name of the reference.
fn describe_target_failure(
    (package, target): (&str, &str),
    reference: Option<&str>,
    why: &str,
) -> String {
    let side = reference.map_or_else(String::new, |name| format!(" in {name}"));
    let text = format!("bench target `{target}` of package `{package}`{side}: {why}");
    format!(
        "{}: {}",
        terminal::error(),
        terminal::escape_terminal_text(&text)
    )
}

/// Formats an estimated time with the kind of the estimate: `about 2 minutes`, `at most 1 hour`.
fn format_bound(bound: EstimateKind, duration: Duration) -> String {
    let word = match bound {
        EstimateKind::About => "about",
        EstimateKind::AtLeast => "at least",
        EstimateKind::AtMost => "at most",
        EstimateKind::UsuallyAtMost => "usually at most",
    };
    if duration >= Duration::from_secs(1) {
        return format!("{word} {}", HumanDuration(duration));
    }
    match bound {
        EstimateKind::AtLeast => "at least a moment".to_owned(),
        _ => "a moment".to_owned(),
    }
}

/// Formats a benchmark as `package/target: id`, with control characters escaped.
fn printable_key(benchmark: &BenchmarkKey) -> String {
    let BenchmarkKey {
        package,
        target,
        id,
    } = benchmark;
    terminal::escape_terminal_text(&format!("{package}/{target}: {}", id.escape_debug()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn shown_in(mode: ProgressMode, events: &[Event<'_>]) -> String {
        let terminal = Terminal::default();
        let progress = Progress::new(&terminal, &terminal, mode);
        for event in events {
            progress.observe(event);
        }
        let text = String::from_utf8(terminal.0.take()).expect("text");
        anstream::adapter::strip_str(&text).to_string()
    }

    /// A terminal that receives both the lines of the program and the output of benches.
    #[derive(Default)]
    struct Terminal(RefCell<Vec<u8>>);

    impl Write for &Terminal {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_comes_after_it_begins_a_line() {
        for mode in [ProgressMode::Lines, ProgressMode::Quiet] {
            for (output, shown) in [("half a line", "half a line\n"), ("whole\n", "whole\n")] {
                let terminal = Terminal::default();
                let progress = Progress::new(&terminal, &terminal, mode);
                progress.observe(&Event::Output(output.as_bytes()));
                drop(progress);
                let text = String::from_utf8(terminal.0.take()).expect("text");
                assert_eq!(text, shown);
            }
        }
    }

    #[test]
    fn without_a_terminal_there_is_a_line_for_each_process() {
        let key = BenchmarkKey {
            package: "p".into(),
            target: "t".into(),
            id: "i".into(),
        };
        let visiting = |process, done, bound| Event::Visiting {
            benchmark: &key,
            process,
            done,
            visits: 4,
            left: Duration::from_secs(2),
            bound,
            settled: 1,
        };
        let planned = |plan| Event::Planned {
            benchmarks: 2,
            visits: 4,
            expected: Duration::from_secs(120),
            bound: match plan {
                VisitPlan::Processes(_) => EstimateKind::AtLeast,
                VisitPlan::Rounds(_) => EstimateKind::UsuallyAtMost,
            },
            plan,
        };
        let events = [
            planned(VisitPlan::Processes(2)),
            visiting(0, 0, EstimateKind::AtLeast),
            visiting(0, 1, EstimateKind::AtLeast),
            visiting(1, 2, EstimateKind::About),
            Event::Measured,
        ];
        insta::assert_snapshot!(shown_in(ProgressMode::Lines, &events), @r"
           Measuring 2 benchmarks, at least 2 minutes
             Process 1 of 2, at least 2 seconds left
             Process 2 of 2, about 2 seconds left
        ");
        assert_eq!(shown_in(ProgressMode::Quiet, &events), "");
        let events = [
            planned(VisitPlan::Rounds(40)),
            visiting(0, 0, EstimateKind::UsuallyAtMost),
            visiting(1, 1, EstimateKind::AtMost),
            visiting(7, 2, EstimateKind::AtMost),
            visiting(10, 2, EstimateKind::AtMost),
        ];
        insta::assert_snapshot!(shown_in(ProgressMode::Lines, &events), @r"
           Measuring 2 benchmarks; the time left is shown after two rounds
               Round 1
               Round 2, 1 of 2 decided, at most 2 seconds left
               Round 11, 1 of 2 decided, at most 2 seconds left
        ");
    }

    #[test]
    fn a_message_never_continues_a_line_of_the_bench() {
        let events = [
            Event::Output(b"half a li"),
            Event::Output(b"ne"),
            Event::Warning("careful"),
        ];
        assert_eq!(
            shown_in(ProgressMode::Quiet, &events),
            "half a line\nwarning: careful\n"
        );
        let events = [Event::Output(b"a line\n"), Event::Warning("careful")];
        assert_eq!(
            shown_in(ProgressMode::Quiet, &events),
            "a line\nwarning: careful\n"
        );
    }
}
