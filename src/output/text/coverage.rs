//! Writes what benchmarks see of the functions of a workspace (`coverage`): as a table, and as a tracefile of lcov.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::status::write_warning_within;
use crate::output::layout::{Cell, Column, Table};
use crate::output::messages::{
    CoverageFindings, CoveredFunction, FunctionExecution, JsonMessage, write_message,
    write_messages,
};
use crate::output::units;
use crate::output::view::{MessageFormat, wrap_prose};
use perfcheck_analysis::model::Verdict;

/// Writes the functions of a workspace. With `only_uncovered`, those are left out of which a slowdown would be found. Lines for people have at most
/// `columns` columns.
pub fn write_coverage(
    writer: &mut dyn Write,
    found: &CoverageFindings,
    only_uncovered: bool,
    format: MessageFormat,
    columns: usize,
) -> io::Result<()> {
    let is_shown = |row: &&CoveredFunction| !(only_uncovered && row.is_covered(found.within));
    let rows: Vec<&CoveredFunction> = found.rows.iter().filter(is_shown).collect();
    if format == MessageFormat::Json {
        write_messages(writer, rows.into_iter().map(JsonMessage::FunctionCovered))?;
        return write_message(writer, JsonMessage::CoverageFinished(found));
    }
    if !rows.is_empty() {
        coverage_table(&rows, found.within).write(writer, columns)?;
        writeln!(writer)?;
    }
    for line in describe_coverage(found) {
        writeln!(writer, "{}", wrap_prose(&line, columns, ""))?;
    }
    let mut remarks = found.remarks.iter();
    remarks.try_for_each(|remark| write_warning_within(writer, remark, columns))
}

fn coverage_table(rows: &[&CoveredFunction], within: f64) -> Table {
    let cells = |cell: &dyn Fn(&CoveredFunction) -> Cell| -> Vec<Cell> {
        rows.iter().map(|row| cell(row)).collect()
    };
    let seen_by = |row: &CoveredFunction| match &row.benchmark {
        Some(key) => Cell::from(key.id.clone()),
        None => Cell::missing(),
    };
    let share = |row: &CoveredFunction| Cell::number(row.share, describe_share(row.share));
    let slowdown = |row: &CoveredFunction| {
        let verdict = if row.is_covered(within) {
            Verdict::Unchanged
        } else {
            Verdict::Inconclusive
        };
        Cell::colored_by_verdict(verdict, describe_slowdown(row))
    };
    Table::new(vec![
        Column::name("function", cells(&|row| Cell::from(row.function.clone()))),
        Column::words("best seen by", cells(&seen_by)),
        Column::number("share", cells(&share)),
        Column::fact("smallest slowdown found", cells(&slowdown)),
    ])
}

/// The smallest share that is shown with digits.
const SMALLEST_SHARE: f64 = 0.0005;

/// Formats a function's share of the instructions of a benchmark.
pub(crate) fn describe_share(share: f64) -> String {
    if share > 0.0 && share < SMALLEST_SHARE {
        return "< 0.1 %".to_owned();
    }
    units::rounded_percent(share)
}

/// Formats the smallest slowdown of a function that is found, or says why there is none.
pub(crate) fn describe_slowdown(row: &CoveredFunction) -> String {
    match (row.slowdown, row.execution) {
        (Some(slowdown), _) => units::change(slowdown),
        (None, FunctionExecution::Never) => "never executed".to_owned(),
        (None, FunctionExecution::Unknown) => "unknown".to_owned(),
        (None, _) => "not measured".to_owned(),
    }
}

/// Returns the sentences below the table.
pub(crate) fn describe_coverage(found: &CoverageFindings) -> Vec<String> {
    let mut lines = vec![format!(
        "{} of {}: a slowdown of {} or less would be found.",
        found.covered,
        units::counted(found.functions, "function"),
        units::percent(found.within)
    )];
    let assumed = found.benchmarks.iter().filter(|one| !one.is_measured);
    let changes: Vec<f64> = assumed.map(|one| one.smallest_change).collect();
    let (lowest, highest) = (
        changes.iter().copied().fold(f64::INFINITY, f64::min),
        changes.iter().copied().fold(0.0, f64::max),
    );
    if !changes.is_empty() {
        let range = if units::change(lowest) == units::change(highest) {
            units::change(lowest)
        } else {
            format!("{} to {}", units::change(lowest), units::change(highest))
        };
        lines.push(format!(
            "{} {} never measured side by side; the smallest slowdown found is assumed to be {range}.",
            units::counted(changes.len(), "benchmark"),
            if changes.len() == 1 { "was" } else { "were" }
        ));
    }
    if !found.left_out.is_empty() {
        let names: Vec<String> = (found.left_out.iter())
            .map(|name| format!("`{name}`"))
            .collect();
        lines.push(format!(
            "Left out: {} (without benchmarks, and used only as dev-dependencies). Packages named with `-p` are never left out.",
            names.join(", ")
        ));
    }
    if let Some(least) = found.fail_under.filter(|_| found.is_too_low()) {
        lines.push(format!(
            "{} of the functions is less than the {} of `--fail-under`.",
            units::rounded_percent(found.covered_share()),
            units::percent(least)
        ));
    }
    lines
}

/// Writes a tracefile of lcov. A function counts as hit if a slowdown of it would be found. The counts are the instructions in an iteration of the
/// benchmark that sees the function best.
pub fn write_lcov(writer: &mut dyn Write, found: &CoverageFindings) -> io::Result<()> {
    let mut files: BTreeMap<&str, Vec<&CoveredFunction>> = BTreeMap::new();
    for row in &found.rows {
        files.entry(&row.file).or_default().push(row);
    }
    for (file, rows) in files {
        writeln!(writer, "TN:")?;
        writeln!(writer, "SF:{}", one_line(file))?;
        let mut lines: BTreeMap<u32, u64> = BTreeMap::new();
        let mut names: BTreeMap<String, u64> = BTreeMap::new();
        for row in &rows {
            let is_covered = row.is_covered(found.within);
            let counted = row.lines.iter().filter(|_| is_covered);
            let mut instructions = 0.0;
            for one in counted {
                instructions += one.instructions;
                *lines.entry(one.line).or_default() += one.instructions.ceil() as u64;
            }
            if !is_covered {
                for line in row.first_line..=row.last_line {
                    lines.entry(line).or_default();
                }
            }
            let mut name = one_line(&row.function);
            if names.contains_key(&name) {
                // Code for different systems may define a function twice.
                name = format!("{name}@{}", row.first_line);
            }
            writeln!(writer, "FN:{},{name}", row.first_line)?;
            names.insert(name, f64::ceil(instructions) as u64);
        }
        for (name, count) in &names {
            writeln!(writer, "FNDA:{count},{name}")?;
        }
        let hit = names.values().filter(|count| **count > 0).count();
        writeln!(writer, "FNF:{}", names.len())?;
        writeln!(writer, "FNH:{hit}")?;
        for (line, count) in &lines {
            writeln!(writer, "DA:{line},{count}")?;
        }
        let hit = lines.values().filter(|count| **count > 0).count();
        writeln!(writer, "LF:{}", lines.len())?;
        writeln!(writer, "LH:{hit}")?;
        writeln!(writer, "end_of_record")?;
    }
    Ok(())
}

/// Replaces control characters, because each entry of a tracefile is a line.
fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::messages::{BenchmarkSensitivity, CoveredLine};
    use crate::output::terminal::strip_colors;
    use perfcheck_analysis::model::BenchmarkKey;

    fn key(id: &str) -> BenchmarkKey {
        BenchmarkKey {
            package: "p".to_owned(),
            target: "t".to_owned(),
            id: id.to_owned(),
        }
    }

    fn function(name: &str, first_line: u32, seen: Option<(f64, f64)>) -> CoveredFunction {
        CoveredFunction {
            function: format!("p::{name}"),
            package: "p".to_owned(),
            file: "src/lib.rs".to_owned(),
            first_line,
            last_line: first_line + 2,
            execution: FunctionExecution::Timed,
            benchmark: seen.map(|_| key("parse/floats")),
            share: seen.map_or(0.0, |(share, _)| share),
            slowdown: seen.map(|(_, slowdown)| slowdown),
            lines: seen
                .into_iter()
                .map(|(share, _)| CoveredLine {
                    line: first_line + 1,
                    instructions: share * 1000.0,
                })
                .collect(),
        }
    }

    fn findings() -> CoverageFindings {
        let never = CoveredFunction {
            execution: FunctionExecution::Never,
            ..function("exponent", 30, None)
        };
        let untimed = CoveredFunction {
            execution: FunctionExecution::Untimed,
            ..function("Parser<T>::new", 40, None)
        };
        let rows = vec![
            function("number", 10, Some((0.41, 0.024))),
            function("unescape", 20, Some((0.0001, 0.33))),
            never,
            untimed,
        ];
        CoverageFindings {
            functions: rows.len(),
            covered: 1,
            never_executed: 1,
            rows,
            within: 0.1,
            fail_under: Some(0.8),
            benchmarks: vec![BenchmarkSensitivity {
                benchmark: key("parse/floats"),
                instructions: 1000.0,
                smallest_change: 0.02,
                is_measured: false,
            }],
            left_out: vec!["support".to_owned()],
            remarks: vec!["`slow` was not counted: it failed".to_owned()],
            exit_code: 1,
        }
    }

    fn table(only_uncovered: bool) -> String {
        let mut text = Vec::new();
        let found = findings();
        write_coverage(&mut text, &found, only_uncovered, MessageFormat::Human, 100)
            .expect("written");
        String::from_utf8(strip_colors(&text)).expect("UTF-8")
    }

    #[test]
    fn the_table_says_from_which_slowdown_on_a_function_is_seen() {
        insta::assert_snapshot!(table(false));
    }

    #[test]
    fn a_share_of_no_functions_is_too_low() {
        let nothing = CoverageFindings {
            functions: 0,
            covered: 0,
            rows: Vec::new(),
            ..findings()
        };
        let lines = describe_coverage(&nothing).join("\n");
        assert!(
            lines.contains("0 % of the functions is less than the 80 %"),
            "{lines}"
        );
    }

    #[test]
    fn covered_functions_can_be_left_out() {
        let text = table(true);
        assert!(!text.contains("p::number"), "{text}");
        assert!(text.contains("p::unescape"), "{text}");
    }

    #[test]
    fn a_tracefile_has_the_functions_and_lines_of_each_file() {
        let mut text = Vec::new();
        write_lcov(&mut text, &findings()).expect("written");
        let expected = "TN:\nSF:src/lib.rs\n\
            FN:10,p::number\nFN:20,p::unescape\nFN:30,p::exponent\nFN:40,p::Parser<T>::new\n\
            FNDA:0,p::Parser<T>::new\nFNDA:0,p::exponent\nFNDA:410,p::number\nFNDA:0,p::unescape\nFNF:4\nFNH:1\n\
            DA:11,410\nDA:20,0\nDA:21,0\nDA:22,0\nDA:30,0\nDA:31,0\nDA:32,0\nDA:40,0\nDA:41,0\nDA:42,0\n\
            LF:10\nLH:1\nend_of_record\n";
        assert_eq!(String::from_utf8_lossy(&text), expected);
    }
}
