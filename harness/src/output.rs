//! Output for people (results on stdout, everything else on stderr), formats of numbers, and the mode `--list`.
//!
//! Times, rates and sizes have units that suit their magnitude, and four significant digits. `--list` prints the ids in libtest's format, which
//! nextest reads.

use std::io::{self, Write};
use std::process::{self, ExitCode};

use crate::args::ListFormat;
use crate::protocol::escape;
use crate::settings::Throughput;
use crate::walk::DeclaredBenchmark;

/// Prints to stdout. Exits successfully if the reader has closed the pipe, for example `head` after its last line.
pub fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => process::exit(0),
        Err(error) => {
            print_note(&format!("error: cannot write the results: {error}"));
            process::exit(2);
        }
    }
}

/// Prints a line to stderr, ignoring errors: there may be no stderr.
pub fn print_note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints an error message and returns the exit code.
pub(crate) fn fail_with(code: u8, message: &str) -> ExitCode {
    print_note(&format!("error: {message}"));
    ExitCode::from(code)
}

/// Formats a time given in nanoseconds.
pub fn format_time(ns: f64) -> String {
    format_scaled(ns, &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")])
}

/// Formats the work per second of an iteration that takes `ns` nanoseconds. Returns an empty text if `throughput` is unknown.
pub fn format_rate(throughput: Throughput, ns: f64) -> String {
    let bytes = throughput.bytes_per_iteration().map(|bytes| {
        let units = [(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")];
        format_scaled(bytes as f64 / ns * 1e9, &units)
    });
    let elements = throughput.elements_per_iteration().map(|elements| {
        let units = [
            (1.0, "elem/s"),
            (1e3, "kelem/s"),
            (1e6, "Melem/s"),
            (1e9, "Gelem/s"),
        ];
        format_scaled(elements as f64 / ns * 1e9, &units)
    });
    match (bytes, elements) {
        (Some(bytes), Some(elements)) => format!("{bytes}, {elements}"),
        (rate, None) | (None, rate) => rate.unwrap_or_default(),
    }
}

/// Formats the mean number of allocations and of bytes.
pub(crate) fn format_allocations(allocations: f64, bytes: f64) -> String {
    if allocations == 0.0 {
        return "no allocations".to_owned();
    }
    let plural = if allocations == 1.0 { "" } else { "s" };
    let decimals = if allocations.fract() == 0.0 { 0 } else { 2 };
    // Print small whole numbers of bytes without decimals.
    let bytes = if bytes < 1000.0 && bytes.fract() == 0.0 {
        format!("{bytes} B")
    } else {
        format_scaled(bytes, &[(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")])
    };
    format!("{allocations:.decimals$} allocation{plural}, {bytes}")
}

/// Formats `value` in the largest of the ascending `units` in which it is at least 1.
fn format_scaled(value: f64, units: &[(f64, &str)]) -> String {
    let (factor, unit) = units
        .iter()
        .rev()
        .find(|(factor, _)| value >= *factor)
        .unwrap_or(&units[0]);
    let value = value / factor;
    let decimals = match value {
        value if value < 9.9995 => 3,
        value if value < 99.995 => 2,
        value if value < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

/// Prints one line for each selected benchmark.
pub(crate) fn run(wanted: &[DeclaredBenchmark], format: ListFormat) -> ExitCode {
    let lines: String = wanted
        .iter()
        .flat_map(|entry| [escape(&entry.announcement.id), ": benchmark\n".to_owned()])
        .collect();
    let plural = if wanted.len() == 1 { "" } else { "s" };
    match format {
        ListFormat::Terse => print(&lines),
        ListFormat::Pretty => print(&format!(
            "{lines}\n0 tests, {} benchmark{plural}\n",
            wanted.len()
        )),
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_four_digits_in_every_unit() {
        let texts = [0.25, 1.5, 99.999, 999.96, 1234.0, 5e6, 61e9].map(format_time);
        assert_eq!(
            texts,
            [
                "0.250 ns",
                "1.500 ns",
                "100.0 ns",
                "1000 ns",
                "1.234 µs",
                "5.000 ms",
                "61.00 s"
            ]
        );
    }

    #[test]
    fn allocations_are_whole_numbers_where_iterations_agree() {
        assert_eq!(format_allocations(0.0, 0.0), "no allocations");
        assert_eq!(format_allocations(1.0, 64.0), "1 allocation, 64 B");
        assert_eq!(
            format_allocations(2.0625, 65_536.5),
            "2.06 allocations, 65.54 kB"
        );
    }

    #[test]
    fn rates_name_what_is_counted() {
        let both = Throughput::bytes(2048).and_elements(3);
        assert_eq!(format_rate(both, 1e9), "2.048 kB/s, 3.000 elem/s");
        assert_eq!(format_rate(Throughput::default(), 1.0), "");
    }
}
