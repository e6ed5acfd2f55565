//! Reads libtest's output for `#[bench]` functions: `test NAME ... bench:       1,234.56 ns/iter (+/- 12.34)`.
//! Criterion writes the same with `--output-format bencher`.

use std::collections::HashMap;

use super::super::error::ExchangeError;
use super::super::groups::IterationLayout;
use super::super::input::InputContent;
use super::gathering::{
    ForeignRun, ForeignRunBuilder, builtin_unit, format_error, sample_from_text,
};

/// The marks that libtest prints with `--quiet` for other tests (passed, ignored, failed). They may precede a result on the same line.
const QUIET: [char; 3] = ['.', 'i', 'F'];

/// The word before a time.
const RESULT: &str = "bench:";

/// The contents of an output of libtest: results, and benchmarks without a result.
#[derive(Default)]
pub(super) struct LibtestOutput<'t> {
    pub(super) results: Vec<LibtestResult<'t>>,
    unfinished: Vec<UnfinishedBenchmark<'t>>,
    /// Numbers of the lines that contain a result without a benchmark's name.
    nameless: Vec<usize>,
}

/// A result, `NAME ... bench: TIME`, on one line or with output of the benchmark in between.
pub(super) struct LibtestResult<'t> {
    line: usize,
    name: &'t str,
    time: &'t str,
}

/// A benchmark whose result has not appeared yet.
struct UnfinishedBenchmark<'t> {
    line: usize,
    name: &'t str,
}

impl<'t> LibtestOutput<'t> {
    /// Parses an output. If a benchmark prints something, its result is on a later line than its name.
    pub(super) fn parse(text: &'t str) -> Self {
        let mut found = Self::default();
        let mut begun: Option<UnfinishedBenchmark<'t>> = None;
        for (at, line) in text.lines().enumerate() {
            let line_number = at + 1;
            let line = line.trim_start().trim_start_matches(QUIET);
            let named = line.strip_prefix("test ");
            let whole = named.and_then(|rest| rest.rsplit_once(" ... bench:"));
            if let Some((name, time)) = whole {
                found.unfinished.extend(begun.take());
                found.results.push(LibtestResult {
                    line: line_number,
                    name: name.trim(),
                    time: time.trim(),
                });
                continue;
            }
            let beginning = named.and_then(|rest| rest.split_once(" ... "));
            if let Some((name, rest)) = beginning {
                found.unfinished.extend(begun.take());
                if !is_outcome_of_test(rest) {
                    begun = Some(UnfinishedBenchmark {
                        line: line_number,
                        name: name.trim(),
                    });
                }
            }
            let Some(time) = time_at_end(line) else {
                continue;
            };
            match begun.take() {
                Some(UnfinishedBenchmark { name, .. }) => found.results.push(LibtestResult {
                    line: line_number,
                    name,
                    time,
                }),
                None => found.nameless.push(line_number),
            }
        }
        found.unfinished.extend(begun);
        found
    }
}

/// Reports whether `text`, the end of a line, is the outcome of a test that is not a benchmark.
fn is_outcome_of_test(text: &str) -> bool {
    let text = text.trim();
    ["ok", "FAILED", "ignored"].contains(&text) || text.starts_with("ignored,")
}

/// If the line ends with a result, returns its time. The text before the result is ignored, because the benchmark may have printed it.
fn time_at_end(line: &str) -> Option<&str> {
    let (_, time) = line.rsplit_once(RESULT)?;
    let time = time.trim();
    (time.starts_with(|c: char| c.is_ascii_digit()) && time.contains("/iter (+/- ")).then_some(time)
}

/// Reads the files as one run. Each value is the median of a process. If a benchmark occurs several times in a file, each occurrence belongs to a
/// different process.
pub(super) fn read(files: &[InputContent]) -> Result<Vec<ForeignRun>, ExchangeError> {
    let mut run = ForeignRunBuilder::new();
    for file in files {
        let mut times: HashMap<&str, usize> = HashMap::new();
        let output = LibtestOutput::parse(file.text()?);
        for UnfinishedBenchmark { line, name } in output.unfinished {
            run.add_caveat(format!("{}:{line}: `{name}` has no result", file.name));
        }
        for line in output.nameless {
            run.add_caveat(format!(
                "{}:{line}: left out a result without a benchmark name",
                file.name
            ));
        }
        for LibtestResult { line, name, time } in output.results {
            let place = format!("{}:{line}", file.name);
            let (value, rest) = time.split_once(' ').unwrap_or((time, ""));
            let unit = match rest.split_whitespace().next() {
                Some("ns/iter") => builtin_unit("ns"),
                Some("us/iter" | "µs/iter") => builtin_unit("us"),
                Some("ms/iter") => builtin_unit("ms"),
                Some("s/iter") => builtin_unit("s"),
                _ => {
                    return Err(format_error(
                        &place,
                        format!("`{time}` is not a time such as `1,234.56 ns/iter (+/- 12.34)`"),
                    ));
                }
            };
            let nth = times.entry(name).or_default();
            *nth += 1;
            let process = run.process_ordinal(&match *nth {
                1 => file.name.clone(),
                nth => format!("{}, time {nth}", file.name),
            })?;
            let number = run.benchmark_index(&place, name, unit.metric(), IterationLayout::Flat)?;
            let value = value.replace(',', "");
            run.add(number, process, sample_from_text(&place, &value, 1, &unit)?);
        }
    }
    run.add_caveat(
        "libtest prints no samples, so each benchmark has one value per process, its median; verdicts need at least three processes, in separate files or consecutively in one"
            .to_owned(),
    );
    let sources = files.iter().map(InputContent::source).collect();
    Ok(vec![run.finish(None, sources, "by line", false)?])
}
