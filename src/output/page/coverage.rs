//! The page about coverage: the table of functions, and the sources, whose lines are colored by how small a slowdown of their function is found.
//!
//! The page needs no script. It must stay usable for large workspaces, so consecutive lines of a function are one element, and only the first line of a
//! function has an anchor.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::document::{COVERAGE_STYLE, COVERAGE_STYLE_HASH, write_head};
use crate::output::messages::{CoverageFindings, CoveredFunction, FunctionExecution};
use crate::output::text::coverage::{describe_coverage, describe_share, describe_slowdown};
use crate::output::units;
use crate::sanitize::{html, one_line};

/// The content of the page.
#[derive(Debug)]
pub struct CoveragePage<'a> {
    /// Name of the workspace.
    pub workspace: String,
    /// The functions, which are sorted by file and line.
    pub findings: &'a CoverageFindings,
    /// Whether the table omits functions of which a slowdown would be found. The sources show all.
    pub only_uncovered: bool,
    /// The text of each file that has functions.
    pub sources: BTreeMap<String, String>,
}

/// How small a slowdown of a function is found. Each kind has a color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visibility {
    Covered,
    OnlyLarge,
    NotMeasured,
    NeverExecuted,
    Unknown,
}

impl Visibility {
    const ALL: [Self; 5] = [
        Self::Covered,
        Self::OnlyLarge,
        Self::NotMeasured,
        Self::NeverExecuted,
        Self::Unknown,
    ];

    fn from_function(function: &CoveredFunction, within: f64) -> Self {
        match function.execution {
            FunctionExecution::Timed if function.is_covered(within) => Self::Covered,
            FunctionExecution::Timed => Self::OnlyLarge,
            FunctionExecution::Untimed => Self::NotMeasured,
            FunctionExecution::Never => Self::NeverExecuted,
            FunctionExecution::Unknown => Self::Unknown,
        }
    }

    /// Returns the class of its elements in the style.
    fn class(self) -> &'static str {
        match self {
            Self::Covered => "covered",
            Self::OnlyLarge => "only-large",
            Self::NotMeasured | Self::Unknown => "unmeasured",
            Self::NeverExecuted => "never",
        }
    }

    fn describe(self, within: f64) -> String {
        match self {
            Self::Covered => format!("a slowdown of {} or less is found", units::percent(within)),
            Self::OnlyLarge => "only a larger slowdown is found".to_owned(),
            Self::NotMeasured => "executed, but not measured".to_owned(),
            Self::NeverExecuted => "never executed".to_owned(),
            Self::Unknown => "unknown, because some benchmarks could not be counted".to_owned(),
        }
    }
}

/// Writes the page about coverage as one HTML document.
pub fn write_coverage_page(writer: &mut dyn Write, page: &CoveragePage<'_>) -> io::Result<()> {
    let found = page.findings;
    let title = format!("coverage · {}", one_line(&page.workspace));
    let policy = format!("style-src '{COVERAGE_STYLE_HASH}'");
    write_head(writer, &title, COVERAGE_STYLE, &policy)?;
    writeln!(writer, "<body>\n<h1>{}</h1>", html(&title))?;
    for sentence in describe_coverage(found).iter().chain(&found.remarks) {
        writeln!(writer, "<p>{}</p>", html(&one_line(sentence)))?;
    }
    let files: Vec<&[CoveredFunction]> = found.rows.chunk_by(|a, b| a.file == b.file).collect();
    write_key(writer, found)?;
    write_table_of_functions(writer, page, &files)?;
    for (place, functions) in files.iter().enumerate() {
        write_source(writer, page, place, functions)?;
    }
    writeln!(writer, "</body>\n</html>")
}

/// Writes the table, in which the functions of each file have a heading.
fn write_table_of_functions(
    writer: &mut dyn Write,
    page: &CoveragePage<'_>,
    files: &[&[CoveredFunction]],
) -> io::Result<()> {
    let within = page.findings.within;
    let is_shown =
        |function: &&CoveredFunction| !(page.only_uncovered && function.is_covered(within));
    write!(writer, "<div class=\"wide\">\n<table>\n<thead><tr>")?;
    for heading in [
        "function",
        "best seen by",
        "share",
        "smallest slowdown found",
    ] {
        write!(writer, "<th scope=\"col\">{heading}</th>")?;
    }
    writeln!(writer, "</tr></thead>")?;
    for (place, functions) in files.iter().enumerate() {
        let shown: Vec<&CoveredFunction> = functions.iter().filter(is_shown).collect();
        let Some(first) = shown.first() else { continue };
        writeln!(
            writer,
            "<tbody>\n<tr><th scope=\"rowgroup\" colspan=\"4\"><a href=\"#f{place}\">{}</a></th></tr>",
            html(&one_line(&first.file))
        )?;
        for function in shown {
            let seen_by = function.benchmark.as_ref().map_or("-", |key| &*key.id);
            writeln!(
                writer,
                "<tr><td><a href=\"#f{place}-{}\">{}</a></td><td>{}</td><td>{}</td><td class=\"{}\">{}</td></tr>",
                function.first_line,
                html(&one_line(&function.function)),
                html(&one_line(seen_by)),
                html(&describe_share(function.share)),
                Visibility::from_function(function, within).class(),
                html(&describe_slowdown(function)),
            )?;
        }
        writeln!(writer, "</tbody>")?;
    }
    writeln!(writer, "</table>\n</div>")
}

/// Writes the meaning of the colors of the table and the sources.
fn write_key(writer: &mut dyn Write, found: &CoverageFindings) -> io::Result<()> {
    write!(writer, "<p class=\"key\">")?;
    for kind in Visibility::ALL {
        let is_it = |row: &CoveredFunction| Visibility::from_function(row, found.within) == kind;
        if found.rows.iter().any(is_it) {
            let words = kind.describe(found.within);
            write!(
                writer,
                "<span class=\"{}\">{}</span> ",
                kind.class(),
                html(&words)
            )?;
        }
    }
    writeln!(writer, "</p>")
}

/// Writes the lines of a file. Consecutive lines of the same function, or of none, are one element.
fn write_source(
    writer: &mut dyn Write,
    page: &CoveragePage<'_>,
    place: usize,
    functions: &[CoveredFunction],
) -> io::Result<()> {
    let file = &functions[0].file;
    let text = page.sources.get(file).map_or("", String::as_str);
    let lines: Vec<&str> = text.lines().collect();
    // A line belongs to the innermost function that contains it, which is the last one.
    let mut owners = vec![None; lines.len()];
    for function in functions {
        let range = function.first_line as usize - 1..function.last_line as usize;
        if let Some(own) = owners.get_mut(range) {
            own.fill(Some(function));
        }
    }
    writeln!(
        writer,
        "<h2 id=\"f{place}\">{}</h2>\n<div class=\"source\"><div>",
        html(&one_line(file))
    )?;
    let mut number = 1;
    for owned in owners.chunk_by(|a, b| match (a, b) {
        (Some(a), Some(b)) => std::ptr::eq(*a, *b),
        (a, b) => a.is_none() && b.is_none(),
    }) {
        let first = number;
        number += owned.len();
        match owned[0] {
            Some(function) => {
                let visibility = Visibility::from_function(function, page.findings.within);
                write!(writer, "<div class=\"{}\">", visibility.class())?;
                if function.first_line as usize == first {
                    let note = html(&one_line(&describe_function(function)));
                    write!(writer, "<p id=\"f{place}-{first}\">{note}</p>")?;
                }
            }
            None => write!(writer, "<div>")?,
        }
        // A browser ignores a line end directly after the tag.
        writeln!(writer, "<pre>")?;
        for number in first..number {
            writeln!(writer, "{number}")?;
        }
        writeln!(writer, "</pre><pre>")?;
        for line in &lines[first - 1..number - 1] {
            writeln!(writer, "{}", html(&line.replace('\t', "    ")))?;
        }
        writeln!(writer, "</pre></div>")?;
    }
    writeln!(writer, "</div></div>")
}

/// Returns the note beside the first line of a function.
fn describe_function(function: &CoveredFunction) -> String {
    let slowdown = describe_slowdown(function);
    match &function.benchmark {
        Some(key) => format!(
            "best seen by {}: share {}, smallest slowdown found {slowdown}",
            key.id,
            describe_share(function.share)
        ),
        None => slowdown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::messages::CoveredLine;
    use perfcheck_analysis::model::BenchmarkKey;

    fn function(name: &str, [first_line, last_line]: [u32; 2]) -> CoveredFunction {
        CoveredFunction {
            function: format!("p::{name}"),
            package: "p".to_owned(),
            file: "src/lib.rs".to_owned(),
            first_line,
            last_line,
            execution: FunctionExecution::Never,
            benchmark: None,
            share: 0.0,
            slowdown: None,
            lines: Vec::new(),
        }
    }

    fn timed(function: CoveredFunction, slowdown: f64) -> CoveredFunction {
        CoveredFunction {
            execution: FunctionExecution::Timed,
            benchmark: Some(BenchmarkKey {
                package: "p".to_owned(),
                target: "t".to_owned(),
                id: "parse/<b>".to_owned(),
            }),
            share: 0.02 / slowdown,
            slowdown: Some(slowdown),
            lines: vec![CoveredLine {
                line: function.first_line,
                instructions: 9.0,
            }],
            ..function
        }
    }

    fn page(rows: Vec<CoveredFunction>, text: &str, only_uncovered: bool) -> String {
        let findings = CoverageFindings {
            functions: rows.len(),
            covered: 1,
            never_executed: 1,
            rows,
            within: 0.1,
            fail_under: None,
            benchmarks: Vec::new(),
            left_out: Vec::new(),
            remarks: vec!["`x` was not counted: <i>".to_owned()],
            exit_code: 4,
        };
        let page = CoveragePage {
            workspace: "words & more".to_owned(),
            findings: &findings,
            only_uncovered,
            sources: [("src/lib.rs".to_owned(), text.to_owned())].into(),
        };
        let mut written = Vec::new();
        write_coverage_page(&mut written, &page).expect("written");
        String::from_utf8(written).expect("UTF-8")
    }

    const TEXT: &str =
        "//! \u{202e}\nfn outer() {\n\tfn inner<T>() {\n\t}\n\t1 && 2;\n}\n\nfn last() {}\n";

    fn rows() -> Vec<CoveredFunction> {
        vec![
            timed(function("outer", [2, 6]), 0.05),
            timed(function("inner", [3, 4]), 0.5),
            function("last", [8, 8]),
        ]
    }

    #[test]
    fn lines_have_the_color_of_the_innermost_function_and_notes_are_beside_first_lines() {
        let page = page(rows(), TEXT, false);
        let (_, body) = page.split_once("<body>").expect("a body");
        insta::assert_snapshot!(body);
    }

    #[test]
    fn covered_functions_are_left_out_of_the_table_alone() {
        let page = page(rows(), TEXT, true);
        assert!(!page.contains(">p::outer<"), "{page}");
        assert!(page.contains(">p::inner<"), "{page}");
        assert!(page.contains("<p id=\"f0-2\">"), "{page}");
    }

    #[test]
    fn a_file_that_has_become_shorter_is_no_error() {
        let page = page(rows(), "fn outer() {\n", false);
        assert!(
            page.contains("<pre>\n1\n</pre><pre>\nfn outer() {\n</pre>"),
            "{page}"
        );
    }

    #[test]
    fn a_page_about_50_000_lines_has_less_than_5_megabytes() {
        let body = "    let value = compute(\"text\", &other[3])?;\n".repeat(8);
        let text = format!("fn name() {{\n{body}}}\n").repeat(5_000);
        let row = |place: u32| timed(function("name", [place * 10 + 1, place * 10 + 10]), 0.05);
        let page = page((0..5_000).map(row).collect(), &text, false);
        assert_eq!(text.lines().count(), 50_000);
        assert!(page.len() < 5_000_000, "{} bytes", page.len());
    }
}
