//! What libtest prints of `#[bench]` functions: `test NAME ... bench:       1,234.56 ns/iter (+/- 12.34)`; Criterion's `--output-format bencher` is the same.

use std::collections::HashMap;

use super::super::error::ExchangeError;
use super::super::groups::IterationLayout;
use super::super::input::InputContent;
use super::gathering::{ForeignRun, Gathering, broken, sample_of_text, unit};

/// What libtest prints of other tests before a result, in the same line, where it was told to be quiet: passed, ignored, failed.
const QUIET: [char; 3] = ['.', 'i', 'F'];

/// Name, value and rest of a result.
pub(super) fn result(line: &str) -> Option<(&str, &str)> {
    let rest = line
        .trim_start()
        .trim_start_matches(QUIET)
        .strip_prefix("test ")?;
    let (name, said) = rest.rsplit_once(" ... bench:")?;
    Some((name.trim(), said.trim()))
}

/// The median of a launch is all that is printed. The same benchmark again in one file is another launch.
pub(super) fn read(files: &[InputContent]) -> Result<Vec<ForeignRun>, ExchangeError> {
    let mut run = Gathering::new();
    for file in files {
        let mut times: HashMap<&str, usize> = HashMap::new();
        for (at, line) in file.text()?.lines().enumerate() {
            let place = format!("{}:{}", file.name, at + 1);
            let Some((name, said)) = result(line) else {
                continue;
            };
            let (value, rest) = said.split_once(' ').unwrap_or((said, ""));
            let unit = match rest.split_whitespace().next() {
                Some("ns/iter") => unit("ns"),
                Some("us/iter" | "µs/iter") => unit("us"),
                Some("ms/iter") => unit("ms"),
                Some("s/iter") => unit("s"),
                _ => {
                    return Err(broken(
                        &place,
                        format!("`{said}` is not a time such as `1,234.56 ns/iter (+/- 12.34)`"),
                    ));
                }
            };
            let nth = times.entry(name).or_default();
            *nth += 1;
            let launch = run.launch(&match *nth {
                1 => file.name.clone(),
                nth => format!("{}, time {nth}", file.name),
            })?;
            let number = run.benchmark(&place, name, unit.metric(), IterationLayout::Flat)?;
            let value = value.replace(',', "");
            run.add(number, launch, sample_of_text(&place, &value, 1, &unit)?);
        }
    }
    run.caveat(
        "libtest prints one value a process and benchmark, the median of its samples; three processes or more (several files, or one after the other in one file) are needed for verdicts"
            .to_owned(),
    );
    let sources = files.iter().map(InputContent::source).collect();
    Ok(vec![run.finish(None, sources, "by line", false)?])
}
