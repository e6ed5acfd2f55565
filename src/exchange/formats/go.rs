//! What `go test -bench` writes, as benchstat reads it (the Go benchmark data format): a line for each repetition, values with their units.

use std::collections::HashMap;

use super::super::error::ExchangeError;
use super::super::groups::IterationLayout;
use super::super::input::InputContent;
use super::super::unit::ValueUnit;
use super::gathering::{ForeignRun, Gathering, broken, sample_of_text, unit};
use perfcheck_analysis::model::SourceFile;

/// A process of `go test` begins with these lines; the `pkg:` of each says which.
#[derive(Default)]
struct GoHeading {
    package: String,
    /// How often each package has begun.
    begun: HashMap<String, usize>,
}

impl GoHeading {
    fn id(&self, name: &str) -> String {
        if self.package.is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.package)
        }
    }

    fn launch(&self, file: &str) -> String {
        match self.begun.get(&self.package) {
            Some(nth) if *nth > 1 => format!("{file}, time {nth}"),
            _ => file.to_owned(),
        }
    }
}

/// Whether a line is the result of a benchmark.
pub(super) fn is_result(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let named = words
        .next()
        .and_then(|word| word.strip_prefix("Benchmark"))
        .is_some_and(|rest| !rest.starts_with(char::is_lowercase));
    named
        && words
            .next()
            .is_some_and(|count| count.parse::<u64>().is_ok())
        && words.clone().count() >= 2
}

/// One launch for each process: a file, and within it each time that the head of a package is repeated.
pub(super) fn read(files: &[InputContent]) -> Result<Vec<ForeignRun>, ExchangeError> {
    let mut run = Gathering::new();
    for file in files {
        let text = file.text()?;
        let mut heading = GoHeading::default();
        for (at, line) in text.lines().enumerate() {
            let place = format!("{}:{}", file.name, at + 1);
            if is_result(line) {
                result(&mut run, &heading, &file.name, &place, line)?;
            } else if line.starts_with("--- FAIL") || line.starts_with("FAIL\t") {
                run.caveat(format!("{place}: `{}`", line.replace('\t', " ").trim_end()));
            } else if let Some((key, value)) = line.split_once(": ") {
                let value = value.trim();
                match key {
                    "pkg" => {
                        value.clone_into(&mut heading.package);
                        *heading.begun.entry(value.to_owned()).or_default() += 1;
                    }
                    "cpu" => run.fact("cpu", value),
                    "goos" => run.fact("os", value),
                    "goarch" => run.fact("architecture", value),
                    _ => {}
                }
            }
        }
    }
    let sources: Vec<SourceFile> = files.iter().map(InputContent::source).collect();
    Ok(vec![run.finish(None, sources, "by value", false)?])
}

/// `BenchmarkName-8  1000  1234 ns/op  56 B/op  3 allocs/op  12.3 MB/s`: a benchmark for each unit, that of the time without its unit.
fn result(
    run: &mut Gathering,
    heading: &GoHeading,
    file: &str,
    place: &str,
    line: &str,
) -> Result<(), ExchangeError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let name = words[0].strip_prefix("Benchmark").unwrap_or(words[0]);
    let name = if name.is_empty() { words[0] } else { name };
    let values = &words[2..];
    if !values.len().is_multiple_of(2) {
        return Err(broken(
            place,
            "values and units do not come in pairs, as in `1234 ns/op`",
        ));
    }
    let launch = run.launch(&heading.launch(file))?;
    for pair in values.chunks(2) {
        let [value, said] = [pair[0], pair[1]];
        let id = heading.id(name);
        let id = if said == "ns/op" {
            id
        } else {
            format!("{id} ({said})")
        };
        let unit = unit_of(said);
        // A rate of nothing has no time; a benchmark that reports one says nothing by it.
        if said.ends_with("/s") && value.parse() == Ok(0.0) {
            run.caveat(format!("{place}: 0 {said} was left out"));
            continue;
        }
        let number = run.benchmark(place, &id, unit.metric(), IterationLayout::Flat)?;
        run.add(number, launch, sample_of_text(place, value, 1, &unit)?);
    }
    Ok(())
}

fn unit_of(said: &str) -> ValueUnit {
    match said {
        "ns/op" => unit("ns"),
        "B/op" => unit("bytes"),
        "allocs/op" => unit("allocations"),
        "MB/s" => unit("MB/s"),
        other => {
            let named = other.strip_suffix("/op").unwrap_or(other);
            let word: String = (named.chars())
                .map(|c| if c.is_alphanumeric() { c } else { '_' })
                .collect();
            other
                .parse()
                .ok()
                .filter(|_| other.ends_with("/s"))
                .unwrap_or_else(|| unit(&format!("amount:{word}")))
        }
    }
}
