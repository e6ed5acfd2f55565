//! Parses the output of libtest: `--list --format terse`, and the result line of a `#[bench]`.

use super::value::PrintedTime;

/// Reports whether this is the first line of libtest's output, such as `running 3 tests`.
pub(super) fn is_first_line(line: &str) -> bool {
    let mut words = line.split(' ');
    words.next() == Some("running")
        && words
            .next()
            .is_some_and(|count| count.parse::<u64>().is_ok())
        && matches!(words.next(), Some("test" | "tests"))
        && words.next().is_none()
}

/// Returns the names of the benchmarks in the output of `--list`. Libtest writes `: benchmark` after a name, but some harnesses that imitate libtest
/// write `: bench`.
pub(super) fn parse_list(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter_map(|line| {
        line.strip_suffix(": benchmark")
            .or_else(|| line.strip_suffix(": bench"))
    })
}

/// Finds the result in the output: `test NAME ... bench:       1,234.56 ns/iter (+/- 12.34) = 829 MB/s`, or whole
/// nanoseconds before Rust 1.80. The benchmark's own output can precede the result in its line.
pub(super) fn parse_result(stdout: &str) -> Option<PrintedTime> {
    stdout.lines().rev().find_map(|line| {
        let (_, result) = line.rsplit_once("bench: ")?;
        let (number, rest) = result.trim_start().split_once(' ')?;
        let spread = rest.strip_prefix("ns/iter (+/- ")?;
        spread.contains(')').then_some(())?;
        PrintedTime::parse(number, 1)
    })
}

/// Returns the time in units of the last digit that libtest prints. A time of only a few such units is too coarse to be compared.
pub(super) fn printed_steps(time: PrintedTime) -> f64 {
    time.steps_at(DECIMALS)
}

/// Number of decimals that libtest prints.
const DECIMALS: u32 = 2;

/// Returns the output of a failed benchmark, as captured by libtest.
pub(super) fn captured_output(stdout: &str) -> Option<&str> {
    let (_, captured) = stdout.split_once(" stdout ----\n")?;
    Some(captured.split("\n\n\nfailures:").next().unwrap_or(captured))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_bench_is_read_as_all_versions_print_it() {
        let value = |line: &str| {
            let sample = parse_result(line)?.to_sample()?;
            Some((sample.iterations, sample.elapsed.0))
        };
        let line = "test m::one ... bench:       1,234.56 ns/iter (+/- 12.34)\n\ntest result: ok.";
        assert_eq!(value(line), Some((1000, 1_234_560)));
        let old = "test one   ... bench:   1,000,000 ns/iter (+/- 12) = 3316 MB/s\n";
        assert_eq!(value(old), Some((1, 1_000_000)));
        let after_output =
            "test a ... bench: hello\ntest one ... hellobench:  0.31 ns/iter (+/- 0.01)";
        assert_eq!(value(after_output), Some((10_000_000, 3_100_000)));
        for other in [
            "test bad ... FAILED",
            "test one ... bench: many ns/iter (+/- 1)",
            "test one ... bench: 12 ns/iter",
            "",
        ] {
            assert_eq!(value(other), None, "{other}");
        }
    }

    #[test]
    fn only_benchmarks_of_a_list_are_taken() {
        let list = "m::one: benchmark\nold: bench\na::test: test\n\n1 test, 2 benchmarks\n";
        let names: Vec<&str> = parse_list(list).collect();
        assert_eq!(names, ["m::one", "old"]);
    }

    #[test]
    fn its_first_line_is_known_from_others() {
        assert!(is_first_line("running 1 test"));
        assert!(is_first_line("running 0 tests"));
        assert!(!is_first_line("running 3 tests in parallel"));
        assert!(!is_first_line("running out of tests"));
    }

    #[test]
    fn a_damaged_output_of_libtest_is_read_or_refused() {
        let corpus = [
            "running 3 tests\ntest m::one ... bench:       1,234.56 ns/iter (+/- 12.34) = 829 MB/s\ntest two ... FAILED\n\nfailures:\n\n---- two stdout ----\nboom\n\n\nfailures:\n    two\n",
            "m::one: benchmark\nold: bench\na::test: test\n\n1 test, 2 benchmarks\n",
        ];
        let corpus = corpus.map(|text| text.as_bytes().to_vec());
        perfcheck_mutations::attack("libtest", &corpus, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = (
                is_first_line(&text),
                parse_list(&text).count(),
                captured_output(&text),
            );
            let _ = parse_result(&text).map(|time| (time.to_sample(), printed_steps(time)));
        });
    }
}
