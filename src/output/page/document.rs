//! The HTML documents: the page about a run, which has its policy, style, script and data in one file, and the index of a branch, which lists the
//! pages of its runs. All documents begin in the same way.

use serde::Serialize;
use std::io::{self, Write};

use super::data::{
    BenchmarkData, DifferenceData, FactData, Page, PageContext, PageRun, Timeline, TimelineRun,
    differences, environment_facts,
};
use super::encoding::Phrasebook;
use crate::output::messages::{
    JsonMessage, PageFormat, ReportWritten, RunLine, SCHEMA, write_message,
};
use crate::output::view::MessageFormat;
use crate::output::words::remarks::{describe_run_remark, explain_unmeasured};
use crate::output::words::{analysis, remarks, sentences};
use crate::output::{terminal, units};
use crate::sanitize::{html, json_in_script, one_line};
use perfcheck_analysis::compare::PROBABILITIES;
use perfcheck_analysis::findings::{BenchmarkNote, Method, Sameness};
use perfcheck_analysis::model::{RunId, Statistic, Tally, Verdict};

const STYLE: &str = concat!(
    include_str!("assets/page.css"),
    include_str!("assets/detail.css"),
    include_str!("assets/print.css")
);

/// The script of the page. It is wrapped in a function, so that it defines no global names.
const SCRIPT: &str = concat!(
    "(()=>{\"use strict\";\n",
    include_str!("assets/format.js"),
    include_str!("assets/dom.js"),
    include_str!("assets/plot.js"),
    include_str!("assets/data.js"),
    include_str!("assets/charts.js"),
    include_str!("assets/curves.js"),
    include_str!("assets/history.js"),
    include_str!("assets/overview.js"),
    include_str!("assets/detail.js"),
    include_str!("assets/views.js"),
    include_str!("assets/main.js"),
    "})();\n"
);

const BODY: &str = include_str!("assets/page.html");

/// SHA-256 hashes of the style and the script of the page. The content security policy allows no others. If they do not match, a test prints the new
/// hash.
const STYLE_HASH: &str = "sha256-Jp4CCyRe1XMdfD7zjMdcLZqSwrh3z8iWjq52r8fYT90=";
const SCRIPT_HASH: &str = "sha256-Je/80OXo/4Gar412l1Okl19v1IcvZlTGGM1oiqyPmMs=";

const INDEX_STYLE: &str = include_str!("assets/run_index.css");
const INDEX_STYLE_HASH: &str = "sha256-30h3uGE2PmXAb/yg9l7h7qk8ae8e87xjVzKY2ssQ4wc=";

/// The style of the page about a ranking. The tables of this page and of the index have the same style.
pub(super) const RANKING_STYLE: &str = concat!(
    include_str!("assets/run_index.css"),
    include_str!("assets/ranking.css")
);
pub(super) const RANKING_STYLE_HASH: &str = "sha256-v3gFNXgsvsi0xKq8UfXnzelOa0iE9cMJs9lOSeeQCy8=";

/// The style of the page about coverage. The tables of this page and of the index have the same style.
pub(super) const COVERAGE_STYLE: &str = concat!(
    include_str!("assets/run_index.css"),
    include_str!("assets/coverage.css")
);
pub(super) const COVERAGE_STYLE_HASH: &str = "sha256-6wS7x5pzfdIYIcJeh5GJv7mEs1qR0fEEMN2+qoIUyJU=";

/// Writes the beginning of a document up to its body. `policy` lists the styles, scripts and images that the document may load.
pub(super) fn write_head(
    writer: &mut dyn Write,
    title: &str,
    style: &str,
    policy: &str,
) -> io::Result<()> {
    write!(
        writer,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"cargo-perfcheck {}\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; {policy}; base-uri 'none'; form-action 'none'\">\n\
         <title>{}</title>\n<style>{style}</style>\n</head>\n",
        env!("CARGO_PKG_VERSION"),
        html(title),
    )
}

/// Writes the page about a run as one HTML document.
pub fn write_page(writer: &mut dyn Write, page: &Page<'_>) -> io::Result<()> {
    let title = format!("run {} · {}", page.run.id, one_line(&page.workspace));
    let policy = format!("style-src '{STYLE_HASH}'; script-src '{SCRIPT_HASH}'; img-src data:");
    write_head(writer, &title, STYLE, &policy)?;
    write!(
        writer,
        "{BODY}\n<script type=\"application/json\" id=\"data\">"
    )?;
    write_data(writer, page)?;
    write!(
        writer,
        "</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Writes the data of the page as JSON, one benchmark after the other, so that the data of all benchmarks need not be in memory at once.
fn write_data(writer: &mut dyn Write, page: &Page<'_>) -> io::Result<()> {
    let mut phrases = Phrasebook::default();
    writer.write_all(b"{\"benchmarks\":[")?;
    let places = bench_targets(page);
    let timeline = Timeline::from_page(page);
    let mut shared = PageContext {
        phrases: &mut phrases,
        places: &places,
        timeline: &timeline,
        confidence_level: page.confidence_level,
        subject: page.run.begun.decision.analysis.subject,
    };
    for (index, one) in page.benchmarks.iter().enumerate() {
        if index > 0 {
            writer.write_all(b",\n")?;
        }
        write_value(writer, &BenchmarkData::from_benchmark(one, &mut shared))?;
    }
    writer.write_all(b"],\n\"head\":")?;
    write_value(writer, &HeadData::from_page(page, &timeline))?;
    writer.write_all(b",\n\"phrases\":")?;
    write_value(writer, &phrases.into_phrases())?;
    writer.write_all(b"}")
}

/// Returns the package and the name of each bench target on the page, sorted and without duplicates.
fn bench_targets<'a>(page: &'a Page<'_>) -> Vec<[&'a str; 2]> {
    let keys = page.benchmarks.iter().map(|one| &one.row.key);
    let mut places: Vec<[&str; 2]> = keys
        .map(|key| [key.package.as_str(), key.target.as_str()])
        .collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// The data of the page that do not belong to a single benchmark.
#[derive(Serialize)]
struct HeadData<'a> {
    schema: u32,
    tool: &'static str,
    workspace: String,
    run: RunId,
    reference: Option<String>,
    /// Confidence level of the intervals of times.
    level: f64,
    significance: f64,
    /// How many benchmarks got each verdict, the worst verdict first.
    verdicts: Vec<(Verdict, usize)>,
    /// Number of inconclusive benchmarks that look slower although this is not certain enough for `regressed` ([`sentences::count_looking_slower`]).
    look_slower: usize,
    runs: Vec<RunData<'a>>,
    /// Package and name of each bench target. Benchmarks refer to these by their index.
    places: Vec<[String; 2]>,
    history: Vec<TimelineRun<'a>>,
    environment: Vec<FactData>,
    /// A sentence which says that the run was interrupted, if it was.
    incomplete: Option<String>,
    how: Option<String>,
    /// The symbol of each verdict, the worst verdict first.
    symbols: Vec<(Verdict, char)>,
    warnings: Vec<DifferenceData>,
    /// A sentence about each limit (`--limit`) that a benchmark exceeds.
    exceeded: Vec<String>,
    remarks: Vec<String>,
    notes: Vec<String>,
    /// A sentence about each bench target whose machine code differs between the sides.
    code: Vec<String>,
    omissions: Vec<String>,
    probabilities: &'static [f64],
}

/// A run that the page shows, as data for the page's script.
#[derive(Serialize)]
struct RunData<'a> {
    id: RunId,
    started: &'a str,
    commit: Option<&'a str>,
    branch: Option<String>,
    dirty: bool,
}

impl<'a> HeadData<'a> {
    fn from_page(page: &'a Page<'_>, timeline: &Timeline<'a>) -> Self {
        let verdicts = page.benchmarks.iter().filter_map(|one| one.row.verdict);
        let tally: Tally = verdicts.collect();
        let verdicts = Verdict::ALL.iter();
        let (code, others): (Vec<_>, Vec<_>) =
            (page.remarks.iter()).partition(|remark| remark.code().is_some());
        let all_remarks = others.into_iter().map(describe_run_remark);
        let all_remarks = page
            .limits
            .remarks
            .iter()
            .map(remarks::describe_limit_remark)
            .chain(all_remarks);
        Self {
            schema: SCHEMA,
            tool: env!("CARGO_PKG_VERSION"),
            workspace: one_line(&page.workspace),
            run: page.run.id,
            reference: page.reference.as_deref().map(one_line),
            level: page.confidence_level,
            significance: page.run.begun.decision.significance_level,
            verdicts: verdicts
                .clone()
                .map(|verdict| (*verdict, tally.count(*verdict)))
                .collect(),
            look_slower: sentences::count_looking_slower(page.benchmarks.iter().map(|one| one.row)),
            runs: page.runs.iter().map(RunData::from).collect(),
            places: (bench_targets(page).into_iter())
                .map(|place| place.map(one_line))
                .collect(),
            history: timeline.runs(),
            environment: environment_facts(page),
            incomplete: sentences::describe_incomplete_run(page.run),
            how: method_in_words(page),
            symbols: verdicts
                .map(|verdict| (*verdict, terminal::symbol(*verdict)))
                .collect(),
            warnings: differences(&page.warnings),
            exceeded: escape_sentences(page.limits.exceeded.iter().map(remarks::describe_exceeded)),
            remarks: escape_sentences(all_remarks),
            notes: escape_sentences(notes(page).into_iter()),
            code: escape_sentences(code.into_iter().map(describe_run_remark)),
            omissions: escape_sentences(page.omissions.iter().cloned()),
            probabilities: &PROBABILITIES,
        }
    }
}

/// Escapes sentences so that each is on one line.
fn escape_sentences(sentences: impl Iterator<Item = String>) -> Vec<String> {
    sentences.map(|sentence| one_line(&sentence)).collect()
}

impl<'a> From<&'a PageRun<'_>> for RunData<'a> {
    fn from(run: &'a PageRun<'_>) -> Self {
        let git = run.head.begun.git.as_ref();
        Self {
            id: run.head.id,
            started: &run.started,
            commit: git.map(|git| git.commit.as_str()),
            branch: git.and_then(|git| git.branch.as_deref()).map(one_line),
            dirty: git.is_some_and(|git| git.dirty),
        }
    }
}

/// Returns sentences on the benchmarks that were not measured because both sides are the same. There is one for each kind of sameness, such as
/// identical executables, with the number of benchmarks.
fn notes(page: &Page<'_>) -> Vec<String> {
    let mut unmeasured: Vec<(Sameness, usize)> = Vec::new();
    for remark in page.benchmarks.iter().flat_map(|one| &one.row.remarks) {
        // Benchmarks that were found to be the same only after they had been measured have no such remark, so they are not counted.
        let BenchmarkNote::Same(same) = remark else {
            continue;
        };
        match unmeasured.iter_mut().find(|(known, _)| known == same) {
            Some((_, count)) => *count += 1,
            None => unmeasured.push((*same, 1)),
        }
    }
    let same = unmeasured.into_iter().map(|(same, count)| {
        let which = if count == page.benchmarks.len() {
            "Nothing was measured".to_owned()
        } else {
            format!("{} not measured", sentences::count_with_verb(count))
        };
        format!("{which}: {}.", explain_unmeasured(same))
    });
    same.collect()
}

/// Describes how the verdicts were reached. Returns `None` if nothing was compared.
fn method_in_words(page: &Page<'_>) -> Option<String> {
    let decision = &page.run.begun.decision;
    let method = page.benchmarks.iter().find_map(|one| one.method)?;
    if decision.analysis.subject != Statistic::Time {
        return Some(format!("about {}", decision.analysis.subject));
    }
    Some(match method {
        Method::Stored(test) if test.is_foreign() => analysis::describe_method(decision),
        Method::Stored(_) => analysis::describe_false_alarm_rate(decision),
        Method::Paired => format!(
            "measured side by side, {}",
            analysis::describe_false_alarm_rate(decision)
        ),
    })
}

fn write_value(writer: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value)?;
    writer.write_all(json_in_script(&text).as_bytes())
}

/// Reports the file to which a page was written.
pub fn write_page_written(
    writer: &mut dyn Write,
    page: &Page<'_>,
    path: &str,
    bytes: usize,
    format: MessageFormat,
) -> io::Result<()> {
    let count = page.benchmarks.len();
    if format == MessageFormat::Json {
        let message = ReportWritten {
            run: page.run.id,
            format: PageFormat::Html,
            path,
            bytes,
            benchmarks: count,
        };
        return write_message(writer, JsonMessage::ReportWritten(message));
    }
    writeln!(
        writer,
        "Wrote {}: {}, {}.",
        one_line(path),
        units::counted(count, "benchmark"),
        units::bytes(bytes as f64)
    )
}

/// Returns the name of the file with the page about a run. It is in the same directory as the index, which links to it.
pub fn page_file_name(run: RunId) -> String {
    format!("run-{run}.html")
}

/// Writes the index of runs as an HTML document: a table with a row for each of `lines`, which are ordered newest first. `title` says which runs
/// these are.
pub fn write_run_index(writer: &mut dyn Write, title: &str, lines: &[RunLine]) -> io::Result<()> {
    let title = one_line(title);
    let policy = format!("style-src '{INDEX_STYLE_HASH}'");
    write_head(writer, &title, INDEX_STYLE, &policy)?;
    write!(
        writer,
        "<body>\n<h1>{}</h1>\n<div class=\"wide\">\n<table>\n<thead><tr>",
        html(&title)
    )?;
    for heading in ["Run", "Began", "Commit", "Baselines", "Verdicts"] {
        write!(writer, "<th scope=\"col\">{heading}</th>")?;
    }
    writeln!(writer, "</tr></thead>\n<tbody>")?;
    for line in lines {
        write_run(writer, line)?;
    }
    writeln!(writer, "</tbody>\n</table>\n</div>\n</body>\n</html>")
}

fn write_run(writer: &mut dyn Write, line: &RunLine) -> io::Result<()> {
    let run = line.run.id;
    let began = html(&line.started);
    let commit = line.run.begun.git.as_ref().map_or_else(String::new, |git| {
        let changes = if git.dirty { ", modified" } else { "" };
        let short: String = git.commit.chars().take(12).collect();
        format!("<code>{}</code>{changes}", html(&short))
    });
    write!(
        writer,
        "<tr><th scope=\"row\"><a href=\"{}\">{run}</a></th><td><time datetime=\"{began}\">{began}</time></td><td>{commit}</td><td>{}</td><td>",
        page_file_name(run),
        html(&one_line(&line.names.join(", "))),
    )?;
    for (at, (verdict, count)) in line.tally.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let word = verdict.word();
        write!(
            writer,
            "{comma}<span class=\"{word}\">{count} {word}</span>"
        )?;
    }
    writeln!(writer, "</td></tr>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest, Sha256};

    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    /// Returns the hash of a text in the notation of a content security policy.
    fn csp_hash(text: &str) -> String {
        let mut digest = Sha256::digest(text).to_vec();
        // The 32 bytes are ten triples and two more bytes, so add one byte for a whole number of triples.
        digest.push(0);
        let digits = digest.chunks(3).flat_map(|triple| {
            let number = triple
                .iter()
                .fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
            [18, 12, 6, 0].map(|shift| char::from(DIGITS[(number >> shift & 63) as usize]))
        });
        format!("sha256-{}=", digits.take(43).collect::<String>())
    }

    #[test]
    fn the_policy_allows_the_style_and_the_script_that_are_there() {
        assert_eq!(STYLE_HASH, csp_hash(STYLE), "write this into STYLE_HASH");
        assert_eq!(SCRIPT_HASH, csp_hash(SCRIPT), "write this into SCRIPT_HASH");
        assert_eq!(
            INDEX_STYLE_HASH,
            csp_hash(INDEX_STYLE),
            "write this into INDEX_STYLE_HASH"
        );
        assert_eq!(
            RANKING_STYLE_HASH,
            csp_hash(RANKING_STYLE),
            "write this into RANKING_STYLE_HASH"
        );
        assert_eq!(
            COVERAGE_STYLE_HASH,
            csp_hash(COVERAGE_STYLE),
            "write this into COVERAGE_STYLE_HASH"
        );
    }

    #[test]
    fn the_script_cannot_end_its_element_nor_make_markup() {
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(
            ![STYLE, INDEX_STYLE, RANKING_STYLE, COVERAGE_STYLE]
                .iter()
                .any(|style| style.contains("</style"))
        );
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "fetch(",
        ] {
            assert!(!SCRIPT.contains(word), "{word}");
        }
    }
}
