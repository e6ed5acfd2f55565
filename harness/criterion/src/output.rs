//! Prints the results of an executable that something other than `cargo perfcheck` has started: a table of medians or lines in libtest's format,
//! listings, and the results of tests.

use std::time::Instant;

use perfcheck::sequence::{escape, print};

use crate::command_line::{ListingFormat, ResultFormat, VisitMode};
use crate::conditions::{Profiling, Visit};

/// Width of the first column. It suits most ids, which are not known before the benchmarks run.
const ID_WIDTH: usize = 40;

/// The state of the output.
#[derive(Debug, Default)]
pub(crate) struct Output {
    has_header: bool,
}

impl Output {
    /// Runs the benchmark in its mode and prints the result.
    pub(crate) fn visit(&mut self, visit: &mut Visit<'_>) {
        let id = escape(&visit.declaration.id);
        match visit.mode {
            VisitMode::List(_) => print(&format!("{id}: benchmark\n")),
            VisitMode::Test => {
                // Print first: if the benchmark aborts or hangs, its name is the last line.
                print(&format!("Testing {id}\n"));
                (visit.sampler)(1);
                print("Success\n");
            }
            VisitMode::Profile(time) => {
                (visit.profile)(Profiling::Starts, &visit.declaration.id);
                let start = Instant::now();
                let mut iterations = 1;
                while start.elapsed() < time {
                    let began = Instant::now();
                    (visit.sampler)(iterations);
                    // Double the iterations while a call is short, so that the profile mainly shows the routine. Calls stay short enough to end on
                    // time.
                    if began.elapsed() * 50 < time {
                        iterations = iterations.saturating_mul(2);
                    }
                }
                (visit.profile)(Profiling::Stops, &visit.declaration.id);
                print(&format!(
                    "{id:<ID_WIDTH$}  ran for {:.1} s\n",
                    start.elapsed().as_secs_f64()
                ));
            }
            VisitMode::Bench(format) => {
                if format == ResultFormat::Table && !self.has_header {
                    self.has_header = true;
                    print(&format!(
                        "{:<ID_WIDTH$}  {:>11}  {:>11}    {:<11}  throughput\n",
                        "benchmark", "median", "lowest", "highest"
                    ));
                }
                let sorted = visit.declaration.measure(visit.sampler);
                let line = match format {
                    ResultFormat::Bencher => bencher_line(&id, &sorted),
                    ResultFormat::Table | ResultFormat::Quiet => row(&id, &sorted, visit.show),
                };
                print(&line);
            }
        }
    }
}

/// Prints that the benchmark `id` has failed. The panic message has already been printed.
pub(crate) fn print_failure(id: &str, mode: VisitMode) {
    match mode {
        VisitMode::Bench(_) => print(&format!("{:<ID_WIDTH$}  FAILED\n", escape(id))),
        _ => print("FAILED\n"),
    }
}

/// Prints the end of a group in which at least one benchmark was selected.
pub(crate) fn print_group_end(mode: VisitMode) {
    if matches!(
        mode,
        VisitMode::Test | VisitMode::List(ListingFormat::Pretty)
    ) {
        print("\n");
    }
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

fn row(id: &str, sorted: &[f64], show: &dyn Fn(f64) -> (String, String)) -> String {
    let (Some(&lowest), Some(&highest)) = (sorted.first(), sorted.last()) else {
        return format!("{id:<ID_WIDTH$}  no samples\n");
    };
    let (median, throughput) = show(median(sorted));
    let row = format!(
        "{id:<ID_WIDTH$}  {median:>11}  {:>11} .. {:<11}  {throughput}",
        show(lowest).0,
        show(highest).0
    );
    format!("{}\n", row.trim_end())
}

/// Returns `test ID ... bench: MEDIAN ns/iter (+/- SD)`, which tools for libtest can parse.
fn bencher_line(id: &str, sorted: &[f64]) -> String {
    let mean = sorted.iter().sum::<f64>() / sorted.len().max(1) as f64;
    let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / sorted.len().saturating_sub(1).max(1) as f64).sqrt();
    format!(
        "test {id} ... bench: {:>11} ns/iter (+/- {})\n",
        grouped(median(sorted)),
        grouped(deviation)
    )
}

/// Formats a whole number with commas between thousands.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_median_extremes_and_throughput() {
        let show = |value: f64| (format!("{value} u"), "9 u/s".to_owned());
        let row = row("g/f", &[1.0, 2.0, 4.0, 9.0], &show);
        assert_eq!(
            row.split_whitespace().collect::<Vec<_>>().join(" "),
            "g/f 3 u 1 u .. 9 u 9 u/s"
        );
    }

    #[test]
    fn a_line_of_libtest_has_median_and_deviation_in_whole_nanoseconds() {
        assert_eq!(
            bencher_line("g/f", &[1_234_566.0, 1_234_567.0, 1_234_568.0]),
            "test g/f ... bench:   1,234,567 ns/iter (+/- 1)\n"
        );
        assert_eq!(grouped(123.4), "123");
    }
}
