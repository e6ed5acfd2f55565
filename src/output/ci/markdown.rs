//! The report in Markdown for comments on pull requests and summaries of jobs. Regressions come first, and everything else is folded.
//!
//! The first line is an invisible comment, by which a bot finds the comment on the pull request that it must update. GitHub limits comments to 65,536
//! characters, so each part of the report has its share of 60 KB. If a part is too long, its least severe entries are left out and counted.

use std::io::{self, Write};

use super::context::ReportContext;
use crate::output::words::remarks::describe_run_remark;
use crate::output::words::sentences::{self, RowSeverity, RunOutcome};
use crate::output::words::{analysis, remarks};
use crate::output::{terminal, units};
use crate::sanitize;
use perfcheck_analysis::findings::{ComparisonContext, Findings, Method, Row, RunNote};
use perfcheck_analysis::model::{Statistic, Test, Verdict, shorten_hash};

/// The maximum sizes of the report in bytes, each after the part in the constant's name has been written. The whole report may have 60,000 bytes: the
/// rest is for the counts of omitted entries and for the description of the machine.
const MOST_WITH_TARGETS: usize = 12_000;
const MOST_WITH_FIRST: usize = 22_000;
const MOST_WITH_LIMITS: usize = 28_000;
const MOST_WITH_REMARKS: usize = 36_000;
const MOST_WITH_TABLE: usize = 46_000;
const MOST_WITH_NOTES: usize = 51_000;
/// Maximum number of failed targets, of exceeded limits, and of sentences about the comparison as a whole, each counted by itself.
const MOST_REMARKS: usize = 20;
/// Maximum length of a name and of a sentence, in characters.
const LONGEST_NAME: usize = 120;
const LONGEST_REMARK: usize = 500;
/// Beginning of a command of this tool, by which the report recognizes advice that names a command.
const COMMAND: &str = "cargo perfcheck ";
/// Maximum size of a sentence after its markup has been escaped, in bytes.
const MOST_OF_REMARK: usize = 2_400;
/// Maximum length of the key that identifies a report, in characters.
const LONGEST_KEY: usize = 100;

pub(crate) fn write_markdown(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    context: &ReportContext<'_>,
) -> io::Result<()> {
    let mut text = String::new();
    let rows = sentences::rows_worst_first(findings);
    add_head(&mut text, findings, context);
    add_failed_targets(&mut text, findings);
    add_first_rows(&mut text, &rows, findings, context);
    add_remarks(&mut text, findings, context);
    add_all_rows(&mut text, &rows, findings);
    add_notes(&mut text, &rows, findings);
    add_environment(&mut text, findings, context);
    writer.write_all(text.as_bytes())
}

/// Returns the invisible comment that identifies the report. Different keys give different comments, and no key can end the comment early.
fn marker(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | ' ');
    let mut name = String::new();
    for c in key.chars().take(LONGEST_KEY) {
        if plain(c) {
            name.push(c);
        } else if !name.ends_with('-') {
            // Never write two dashes in a row, because these have a meaning in a comment.
            name.push('-');
        }
    }
    let name = name.trim_matches(['-', ' ']);
    if name == key {
        return format!("<!-- cargo-perfcheck: {key} -->");
    }
    // Add a hash, because different keys may have become the same name.
    let hash = &blake3::hash(key.as_bytes()).to_hex()[..8];
    format!("<!-- cargo-perfcheck: {name} {hash} -->")
}

fn add_head(text: &mut String, findings: &Findings<'_>, context: &ReportContext<'_>) {
    add_line(text, &marker(context.key));
    let outcome = RunOutcome::from_findings(findings);
    let grounds = outcome.describe_reasons(|verdict| verdict.word().to_owned());
    add_line(
        text,
        &format!("### Benchmarks: {}, {grounds}", outcome.word()),
    );
    add_line(text, "");
    let run = findings.run;
    let commit = run.begun.git.as_ref().map_or_else(String::new, |git| {
        let commit = sentences::shorten(&git.commit, LONGEST_NAME);
        let commit = shorten_hash(&commit, 12);
        let branch = git.branch.as_ref().map(|branch| format_name(branch));
        let modified = git.dirty.then(|| "modified".to_owned());
        let facts: Vec<String> = branch.into_iter().chain(modified).collect();
        let facts = if facts.is_empty() {
            String::new()
        } else {
            format!(" ({})", facts.join(", "))
        };
        format!(" of {}{facts}", sanitize::markdown_code(commit))
    });
    let compared = findings
        .verdicts
        .as_ref()
        .map_or_else(String::new, |verdicts| {
            describe_reference(findings, verdicts)
        });
    let part = run.begun.partition.as_ref();
    let part = part.map_or_else(String::new, |found| {
        format!(" (part {}; `merge` judges all parts)", found.part)
    });
    add_line(text, &format!("Run {}{part}{commit}{compared}.", run.id));
    add_line(text, "");
    if let Some(sentence) = sentences::describe_incomplete_run(run) {
        add_line(text, &format!("> warning: {}\n", format_remark(&sentence)));
    }
}

/// Adds the bench targets that failed. No other part of the report mentions their benchmarks.
fn add_failed_targets(text: &mut String, findings: &Findings<'_>) {
    let paragraphs = findings.failed_targets.iter().map(|failed| {
        let name = format_name(&format!("{}/{}", failed.package, failed.target));
        format!(
            "> error: {name}: {}\n",
            format_remark(&sentences::describe_target_failure(failed))
        )
    });
    let more = add_sentences(text, paragraphs, MOST_WITH_TARGETS);
    if more > 0 {
        let targets = units::counted(more, "more bench target");
        add_line(text, &format!("{targets} failed.\n"));
    }
}

/// Returns a phrase that names the reference and the method of the verdicts, or says that there was nothing to compare.
fn describe_reference(findings: &Findings<'_>, verdicts: &ComparisonContext) -> String {
    let is_new = |row: &Row<'_>| row.verdict == Some(Verdict::New);
    if !findings.rows.is_empty() && findings.rows.iter().all(is_new) {
        return "; there is nothing to compare it with yet".to_owned();
    }
    let reference = format_remark(&verdicts.reference);
    if findings.rows.iter().all(|row| row.comparison.is_none()) {
        return format!(", compared with {reference}");
    }
    format!(", compared with {reference}; {}", describe_method(verdicts))
}

/// Returns a phrase that describes how the verdicts were reached.
fn describe_method(verdicts: &ComparisonContext) -> String {
    let decision = &verdicts.decision;
    match verdicts.method {
        _ if decision.analysis.subject != Statistic::Time => {
            format!(
                "verdicts are about {}, not time",
                sanitize::markdown(&decision.analysis.subject.to_string())
            )
        }
        Method::Paired => format!(
            "measured side by side, {}",
            analysis::describe_false_alarm_rate(decision)
        ),
        Method::Stored(Test::BootstrapT) => {
            format!(
                "drift between runs included, {}",
                analysis::describe_false_alarm_rate(decision)
            )
        }
        Method::Stored(Test::TScore) => {
            format!(
                "drift between runs ignored, {}",
                analysis::describe_false_alarm_rate(decision)
            )
        }
        Method::Stored(_) => sanitize::markdown(&analysis::describe_method(decision)),
    }
}

/// Adds the results that every reader must see: benchmarks that became worse or better, and exceeded limits.
fn add_first_rows(
    text: &mut String,
    rows: &[&Row<'_>],
    findings: &Findings<'_>,
    context: &ReportContext<'_>,
) {
    let Some(verdicts) = &findings.verdicts else {
        return;
    };
    let is_first = |row: &&&Row<'_>| {
        RowSeverity::from_row(row, findings, context.fail_on) != RowSeverity::Fine
            || matches!(row.verdict, Some(Verdict::Improved | Verdict::Incomparable))
    };
    let first: Vec<&Row<'_>> = rows.iter().filter(is_first).copied().collect();
    if first.is_empty() {
        if rows.iter().any(|row| row.verdict != Some(Verdict::New)) {
            let undecided = sentences::summarize_undecided(findings);
            // Do not reassure readers if nothing was decided.
            if rows
                .iter()
                .any(|row| row.verdict == Some(Verdict::Unchanged))
            {
                add_line(text, "No benchmark clearly became worse or better.");
            }
            if let Some(undecided) = undecided {
                add_line(text, &undecided);
            }
            add_line(text, "");
        }
    } else {
        add_table(text, &first, findings, MOST_WITH_FIRST);
    }
    let exceeded = &verdicts.limits.exceeded;
    let sentences = exceeded.iter().map(remarks::describe_exceeded);
    let sentences = sentences.map(|sentence| format!("- {}", format_remark(&sentence)));
    let more = add_sentences(text, sentences, MOST_WITH_LIMITS);
    if more > 0 {
        let limits = units::counted(more, "more limit");
        let verb = if more == 1 { "is" } else { "are" };
        add_line(text, &format!("- {limits} {verb} exceeded"));
    }
    if !exceeded.is_empty() {
        add_line(text, "");
    }
}

/// Adds as many sentences as fit: the report may have at most `most` bytes after them. Returns how many are left out.
fn add_sentences(
    text: &mut String,
    mut sentences: impl Iterator<Item = String>,
    most: usize,
) -> usize {
    for (place, sentence) in sentences.by_ref().enumerate() {
        if place == MOST_REMARKS || text.len() + sentence.len() > most {
            return 1 + sentences.count();
        }
        add_line(text, &sentence);
    }
    0
}

/// Adds a table with as many rows as fit, and the number of those that do not. The report may have at most `most` bytes after the rows.
fn add_table(text: &mut String, rows: &[&Row<'_>], findings: &Findings<'_>, most: usize) {
    let level = sentences::change_level(findings);
    let interval = level.map_or_else(String::new, |level| format!("{level} interval"));
    let of_median = units::percent(findings.confidence_level());
    let is_compared = findings.verdicts.is_some();
    // Leave out the columns of the change if no row has a change.
    let has_changes = rows.iter().any(|row| sentences::change(row).is_some());
    let heading = if is_compared && has_changes {
        format!(
            "| benchmark | verdict | before | after | change | {interval} |\n|:--|:--|--:|--:|--:|--:|"
        )
    } else if is_compared {
        "| benchmark | verdict | median |\n|:--|:--|--:|".to_owned()
    } else {
        format!("| benchmark | median | {of_median} interval |\n|:--|--:|--:|")
    };
    add_line(text, &heading);
    let mut left_out = rows.len();
    for row in rows {
        let name = format_name(&format!(
            "{}/{}: {}",
            row.key.package, row.key.target, row.key.id
        ));
        let cell = |value: Option<String>| {
            value.map_or("-".to_owned(), |text| {
                sanitize::markdown(&keep_units_together(&text))
            })
        };
        let written = if is_compared && !has_changes {
            let verdict = format_verdict(row, findings);
            format!("| {name} | {verdict} | {} |", cell(sentences::median(row)))
        } else if is_compared {
            let (before, after) = sentences::format_compared_values(row, findings)
                .map(|values| (values.base, values.candidate))
                .unzip();
            // A benchmark that was not compared has only a median.
            let after = match row.comparison {
                Some(_) => after,
                None => sentences::median(row),
            };
            format!(
                "| {name} | {} | {} | {} | {} | {} |",
                format_verdict(row, findings),
                cell(before),
                cell(after),
                cell(sentences::change(row)),
                cell(sentences::change_interval(row)),
            )
        } else {
            format!(
                "| {name} | {} | {} |",
                cell(sentences::median(row)),
                cell(sentences::median_interval(row)),
            )
        };
        if text.len() + written.len() > most {
            break;
        }
        add_line(text, &written);
        left_out -= 1;
    }
    add_line(text, "");
    add_left_out(text, left_out);
}

fn add_left_out(text: &mut String, left_out: usize) {
    if left_out > 0 {
        let benchmarks = match left_out {
            1 => "1 benchmark with a less severe result is".to_owned(),
            _ => format!("{left_out} benchmarks with less severe results are"),
        };
        add_line(text, &format!("{benchmarks} left out here."));
        add_line(text, "");
    }
}

/// Replaces blanks, except between the parts of a list, so that narrow cells do not separate numbers from their units.
fn keep_units_together(text: &str) -> String {
    let parts = text.split(", ").map(|part| part.replace(' ', "\u{a0}"));
    parts.collect::<Vec<_>>().join(", ")
}

/// Formats the verdict of a row. It is bold if somebody must act.
fn format_verdict(row: &Row<'_>, findings: &Findings<'_>) -> String {
    let Some(verdict) = row.verdict else {
        return "-".to_owned();
    };
    let symbol = sanitize::markdown(&terminal::symbol(verdict).to_string());
    let comparison = row.comparison.as_ref();
    let smallest = comparison.and_then(|found| found.smallest_callable);
    let word = match verdict {
        Verdict::Regressed | Verdict::Failed | Verdict::Suspect => {
            format!("{symbol} **{verdict}**")
        }
        _ => format!("{symbol} {verdict}"),
    };
    let word = match sentences::exceeded_limits(row, findings).next() {
        Some(_) => format!("{word}, **limit exceeded**"),
        None => word,
    };
    match (verdict, smallest) {
        (Verdict::Inconclusive | Verdict::Suspect, Some(smallest)) if smallest.is_finite() => {
            format!(
                "{word} (detects ≥ {})",
                keep_units_together(&units::change(smallest))
            )
        }
        _ => word,
    }
}

/// Adds remarks about the comparison as a whole, and advice on what to do next.
fn add_remarks(text: &mut String, findings: &Findings<'_>, context: &ReportContext<'_>) {
    let Some(verdicts) = &findings.verdicts else {
        return;
    };
    let differences = verdicts
        .warnings
        .iter()
        .map(|found| format!("the sides differ in {found}"));
    let code = |found: &&RunNote| found.code().is_some();
    let others = verdicts.remarks.iter().filter(|found| !code(found));
    let warnings: Vec<String> = differences
        .chain(others.map(describe_run_remark))
        .chain(
            verdicts
                .limits
                .remarks
                .iter()
                .map(remarks::describe_limit_remark),
        )
        .collect();
    let paragraphs = warnings
        .iter()
        .map(|warning| format!("> warning: {}\n", format_remark(warning)))
        .chain(sentences::describe_references(findings).map(|text| format_remark(&text) + "\n"))
        .chain(sentences::summarize_unmeasured(findings).map(|text| format_remark(&text) + "\n"))
        .chain(verdicts.remarks.iter().filter(code).map(|found| {
            let text = sentences::capitalize(&describe_run_remark(found));
            format!("{}.\n", format_remark(&text))
        }))
        .chain(
            verdicts
                .advice
                .iter()
                .map(|advice| format_remark(advice) + "\n"),
        );
    let more = add_sentences(text, paragraphs, MOST_WITH_REMARKS);
    if more > 0 {
        let remarks = units::counted(more, "more remark");
        let verb = if more == 1 { "is" } else { "are" };
        add_line(text, &format!("{remarks} {verb} left out here.\n"));
    }
    if verdicts
        .advice
        .iter()
        .any(|advice| advice.contains(COMMAND))
    {
        // Most readers do not sit at the machine that measured, so say which store the suggested commands have to read.
        let store = sentences::shorten(&context.store.display().to_string(), LONGEST_REMARK);
        add_line(
            text,
            &format!(
                "The commands read the store {} on the machine that ran the benchmarks. A CI runner usually deletes this file after the job: save it, or write an HTML report, which needs no store (`--report html=FILE`).\n",
                sanitize::markdown_code(&store)
            ),
        );
    }
}

fn add_all_rows(text: &mut String, rows: &[&Row<'_>], findings: &Findings<'_>) {
    if rows.is_empty() {
        return;
    }
    open_details(text, &format!("All benchmarks: {}", rows.len()));
    add_table(text, rows, findings, MOST_WITH_TABLE);
    close_details(text);
}

/// Adds the notes about single benchmarks. Each note is written once, with the benchmarks that it applies to.
fn add_notes(text: &mut String, rows: &[&Row<'_>], findings: &Findings<'_>) {
    let mut notes: Vec<(String, Vec<&Row<'_>>)> = Vec::new();
    for row in rows {
        for note in sentences::notes(row, findings) {
            match notes.iter_mut().find(|(known, _)| *known == note) {
                Some((_, about)) => about.push(row),
                None => notes.push((note, vec![row])),
            }
        }
    }
    if notes.is_empty() {
        return;
    }
    open_details(text, "Notes");
    let mut left_out = notes.len();
    for (note, about) in &notes {
        let subject = match &about[..] {
            all if all.len() == rows.len() && all.len() > 1 => "all".to_owned(),
            [first, others @ ..] => {
                let more = match others.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("{}{more}", format_name(&first.key.id))
            }
            [] => continue,
        };
        let written = format!("- {subject}: {}", format_remark(note));
        if text.len() + written.len() > MOST_WITH_NOTES {
            break;
        }
        add_line(text, &written);
        left_out -= 1;
    }
    if left_out > 0 {
        let notes = units::counted(left_out, "more note");
        let verb = if left_out == 1 { "is" } else { "are" };
        add_line(text, &format!("- {notes} {verb} left out here"));
    }
    add_line(text, "");
    close_details(text);
}

/// Adds a description of the machine and the build.
fn add_environment(text: &mut String, findings: &Findings<'_>, context: &ReportContext<'_>) {
    let run = findings.run;
    let build = &run.begun.environment.build;
    open_details(text, "Machine and build");
    let host = if run.source.is_some() {
        "imported numbers; machine and build as stated by their source".to_owned()
    } else {
        units::host(&run.begun.environment.host)
    };
    let flags = match &build.rustflags[..] {
        "" => String::new(),
        flags => format!(", flags {flags}"),
    };
    let missing = units::missing_features(&run.begun.environment.host.os);
    let facts = [
        Some(host),
        missing.filter(|_| run.source.is_none()),
        Some(format!(
            "{}, profile {}, {}{flags}",
            build.rustc, build.profile, build.target
        )),
        Some(format!(
            "cargo-perfcheck {}, started {}, seed {}",
            run.begun.tool_version, context.started, run.begun.seed
        )),
    ];
    for fact in facts.into_iter().flatten() {
        add_line(text, &format!("- {}", format_remark(&fact)));
    }
    add_line(text, "");
    close_details(text);
}

fn open_details(text: &mut String, summary: &str) {
    // Inside of an HTML element, Markdown must follow an empty line.
    add_line(text, &format!("<details>\n<summary>{summary}</summary>\n"));
}

fn close_details(text: &mut String) {
    add_line(text, "</details>\n");
}

fn add_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn format_name(name: &str) -> String {
    sanitize::markdown_code(&sentences::shorten(name, LONGEST_NAME))
}

fn format_remark(sentence: &str) -> String {
    let mut characters = LONGEST_REMARK;
    loop {
        let written = escape_with_code(&sentences::truncate(sentence, characters));
        if written.len() <= MOST_OF_REMARK {
            return written;
        }
        // A text with many escapes is still too long, so cut it shorter.
        characters /= 2;
    }
}

/// Escapes the markup in a sentence, and turns names between backticks into code.
fn escape_with_code(sentence: &str) -> String {
    let parts: Vec<&str> = sentence.split('`').collect();
    if parts.len().is_multiple_of(2) {
        // One backtick has no partner. It may be part of a name, so nothing becomes code.
        return sanitize::markdown(sentence);
    }
    let mut text = String::new();
    for (at, part) in parts.iter().enumerate() {
        if at % 2 == 1 {
            text.push_str(&sanitize::markdown_code(part));
            continue;
        }
        // Keep the blanks between words and code, which escaping removes.
        let blank = |is_there: bool| if is_there { " " } else { "" };
        let escaped = sanitize::markdown(part);
        text.push_str(blank(part.starts_with(' ')));
        text.push_str(&escaped);
        text.push_str(blank(part.ends_with(' ') && !escaped.is_empty()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_the_same_for_the_same_key_and_ends_no_comment() {
        assert_eq!(marker("ci/bench"), "<!-- cargo-perfcheck: ci/bench -->");
        assert_eq!(
            marker("--> <script>\nx"),
            "<!-- cargo-perfcheck: script-x 59b83b75 -->"
        );
        assert_eq!(marker("bench-2"), "<!-- cargo-perfcheck: bench-2 -->");
    }

    #[test]
    fn different_keys_have_different_markers() {
        let long = "k".repeat(LONGEST_KEY);
        let keys = ["東京", "大阪", "", "-", "a:b", "a;b", "a b", "a-b", &long];
        let mut markers: Vec<String> = keys.map(marker).to_vec();
        markers.push(marker(&format!("{long}1")));
        markers.push(marker(&format!("{long}2")));
        markers.sort();
        markers.dedup();
        assert_eq!(markers.len(), keys.len() + 2, "{markers:?}");
    }

    #[test]
    fn names_between_backticks_become_code_and_a_lone_backtick_stays() {
        assert_eq!(
            escape_with_code("the run of `a|b` now"),
            "the run of <code>a&#124;b</code> now"
        );
        assert_eq!(escape_with_code("a ` b"), "a \\` b");
    }
}
