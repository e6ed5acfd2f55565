//! Reads the tree that divan prints (0.1.21): the median of each benchmark, with its path in the tree as its id.

use std::collections::HashMap;

use super::super::error::ExchangeError;
use super::super::groups::IterationLayout;
use super::super::input::InputContent;
use super::gathering::{
    ForeignRun, ForeignRunBuilder, builtin_unit, format_error, sample_from_text,
};

/// The column headings that divan prints above its tree of results, in order.
const COLUMNS: [&str; 4] = ["fastest", "slowest", "median", "mean"];
/// Characters of indentation per level of the tree.
const INDENTATION: usize = 3;

/// If the line has divan's column headings, returns the index of the character at which the first column begins.
pub(super) fn find_head(line: &str) -> Option<usize> {
    let cells: Vec<&str> = line.split('│').map(str::trim).collect();
    let [first, rest @ ..] = cells.as_slice() else {
        return None;
    };
    let named = first.ends_with(COLUMNS[0]) && rest.get(..3) == Some(&COLUMNS[1..]);
    let at = line.find(COLUMNS[0]).filter(|_| named)?;
    Some(line[..at].chars().count())
}

/// Reads the files as one run. If a benchmark occurs several times in a file, each occurrence belongs to a different process.
pub(super) fn read(files: &[InputContent]) -> Result<Vec<ForeignRun>, ExchangeError> {
    let mut run = ForeignRunBuilder::new();
    for file in files {
        let mut times: HashMap<String, usize> = HashMap::new();
        let mut width = None;
        let mut path: Vec<&str> = Vec::new();
        for (at, line) in file.text()?.lines().enumerate() {
            if let Some(found) = find_head(line) {
                width = Some(found);
                path.clear();
                continue;
            }
            let Some(width) = width else { continue };
            let Some((depth, name, cells)) = parse_node(line, width) else {
                continue;
            };
            path.truncate(depth);
            path.push(name);
            let place = format!("{}:{}", file.name, at + 1);
            let median = match cells.split('│').nth(2).map(str::trim) {
                None | Some("") => continue,
                Some(median) => median,
            };
            let id = path.join("/");
            let (value, symbol) = median.split_once(' ').unwrap_or((median, ""));
            let unit = match symbol {
                "ps" => None,
                "ns" | "µs" | "ms" | "s" => Some(builtin_unit(symbol)),
                _ => {
                    return Err(format_error(
                        &place,
                        format!("its median `{median}` is not a time such as `1.5 µs`"),
                    ));
                }
            };
            let nth = times.entry(id.clone()).or_default();
            *nth += 1;
            let process = run.process_ordinal(&match *nth {
                1 => file.name.clone(),
                nth => format!("{}, time {nth}", file.name),
            })?;
            // Samples have whole nanoseconds: store picoseconds as the nanoseconds of 1000 iterations.
            let (unit, iterations) = unit.map_or_else(
                || (super::gathering::builtin_unit("ns"), 1000),
                |unit| (unit, 1),
            );
            let number = run.benchmark_index(&place, &id, unit.metric(), IterationLayout::Flat)?;
            run.add(
                number,
                process,
                sample_from_text(&place, value, iterations, &unit)?,
            );
        }
    }
    run.add_caveat(
        "divan prints no samples, so each benchmark has one value per process (its median, with four digits); verdicts need at least three processes, in separate files or consecutively in one"
            .to_owned(),
    );
    let sources = files.iter().map(InputContent::source).collect();
    Ok(vec![run.finish(None, sources, "by line", false)?])
}

/// Returns depth, name and cells of a line such as `│  ├─ name    1.2 µs │ ...`. Returns `None` if the line has no branch, because it has only
/// throughputs or allocations.
fn parse_node(line: &str, width: usize) -> Option<(usize, &str, &str)> {
    let branch = line.find("├─ ").or_else(|| line.find("╰─ "))?;
    let before = &line[..branch];
    if !before.chars().all(|c| c == ' ' || c == '│') {
        return None;
    }
    let cut = (line.char_indices().nth(width)).map_or(line.len(), |(at, _)| at);
    let (named, cells) = line.split_at(cut.max(branch));
    let name = named.get(branch + "├─ ".len()..).unwrap_or_default().trim();
    Some((before.chars().count() / INDENTATION, name, cells))
}
