//! Reports of the recorded runs for CI systems and pull requests: their content, and how other programs read them.

use std::collections::BTreeSet;
use std::path::Path;

use super::recorded::{HOSTILE, Recorded};
use cargo_perfcheck::output::{ReportContext, ReportKind, SourcePlace, write_report};
use comrak::nodes::NodeValue;
use comrak::{Arena, Options, markdown_to_html, parse_document};
use perfcheck_analysis::findings::{BenchmarkNote, FailedTarget, Findings, LimitNote, RunNote};
use perfcheck_analysis::model::{BenchmarkKey, RunStatus, Source, Verdict};
use roxmltree::Document;
use serde_json::Value;

/// The longest comment that GitHub accepts, in characters.
const LONGEST_COMMENT: usize = 65_536;

fn written(kind: ReportKind, findings: &Findings<'_>) -> String {
    written_with(kind, findings, &[Verdict::Regressed])
}

fn written_with(kind: ReportKind, findings: &Findings<'_>, fail_on: &[Verdict]) -> String {
    let context = ReportContext {
        key: "ci/bench",
        started: "2026-01-02T03:04:05Z",
        store: Path::new("/home/runner/perfcheck.db"),
        fail_on,
        source_place: &|key: &BenchmarkKey| {
            (key.target == "sorting").then(|| SourcePlace {
                file: "crates/algorithms/benches/sorting.rs".to_owned(),
                line: key.id.len() + 1,
            })
        },
    };
    let mut bytes = Vec::new();
    write_report(&mut bytes, kind, findings, &context).expect("memory");
    String::from_utf8(bytes).expect("text")
}

fn snapshot(name: &str, text: &str) {
    super::settings().bind(|| insta::assert_snapshot!(name, text));
}

/// Returns options with which `comrak` renders Markdown as GitHub does.
fn github() -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.math_dollars = true;
    options.render.r#unsafe = true;
    options
}

/// Returns text that would do harm in the formats tested here.
fn hostile(at: usize) -> String {
    format!("{HOSTILE} www.a.b http://c.d x@y.zz ##[error] ~l !2 $e$ %m <!-- -->\n\n- {at}")
}

/// Creates a run with every verdict in which all foreign text is hostile.
fn hostile_runs() -> Recorded {
    let mut recorded = Recorded::all_verdicts();
    if let Some(git) = &mut recorded.run.begun.git {
        git.branch = Some(hostile(0));
    }
    recorded.run.begun.environment.host.cpu = hostile(0);
    recorded.run.begun.environment.build.rustflags = hostile(0);
    for measurement in &mut recorded.measurements {
        for failure in &mut measurement.failures {
            failure.message = hostile(0);
        }
    }
    recorded
}

/// Returns the findings of [`hostile_runs`], in which names, remarks and advice are hostile too.
fn hostile_findings(recorded: &Recorded) -> Findings<'_> {
    let mut findings = recorded.findings_with_limits();
    rename(&mut findings, hostile);
    if let Some(verdicts) = &mut findings.verdicts {
        // Insert hostile text once in a marked name, and once as plain text.
        verdicts.reference = format!("`{}`", hostile(0).replace('`', ""));
        verdicts.remarks = vec![RunNote::StoredAlone { reason: hostile(1) }];
        verdicts.advice = vec![hostile(2)];
    }
    findings
}

fn rename(findings: &mut Findings<'_>, name: impl Fn(usize) -> String) {
    for (at, row) in findings.rows.iter_mut().enumerate() {
        row.key.id = name(at);
    }
    if let Some(verdicts) = &mut findings.verdicts {
        for exceeded in &mut verdicts.limits.exceeded {
            exceeded.key.id = name(0);
        }
    }
}

#[test]
fn each_report_of_all_verdicts() {
    let recorded = Recorded::all_verdicts();
    for kind in ReportKind::ALL.iter().copied() {
        snapshot(
            &format!("report_{kind}"),
            &written(kind, &recorded.findings_with_limits()),
        );
    }
}

#[test]
fn each_report_of_nothing_and_of_one_benchmark() {
    for count in [0, 1] {
        let recorded = Recorded::counted(count);
        for kind in ReportKind::ALL.iter().copied() {
            snapshot(
                &format!("report_{kind}_{count}"),
                &written(kind, &recorded.findings()),
            );
        }
    }
}

#[test]
fn markdown_renders_as_tables_and_folded_parts() {
    let recorded = Recorded::all_verdicts();
    let markdown = written(ReportKind::Markdown, &recorded.findings_with_limits());
    assert!(markdown.starts_with("<!-- cargo-perfcheck: ci/bench -->\n"));
    let html = markdown_to_html(&markdown, &github());
    snapshot("report_markdown_rendered", &html);
    assert_eq!(html.matches("<table>").count(), 2);
    assert_eq!(html.matches("<details>").count(), 3);
    assert_eq!(html.matches("</details>").count(), 3);
    // There is one row per benchmark and the headings, so no text has broken out of its cell.
    let rows = recorded.findings().rows.len();
    let all = html.split("<summary>All").nth(1).expect("the table of all");
    let all = &all[..all.find("</table>").expect("its end")];
    assert_eq!(all.matches("<tr>").count(), rows + 1);
    assert_eq!(all.matches("<td").count(), rows * 6);
}

#[test]
fn hostile_names_stay_text_in_markdown() {
    let recorded = hostile_runs();
    let markdown = written(ReportKind::Markdown, &hostile_findings(&recorded));
    let arena = Arena::new();
    let options = github();
    let document = parse_document(&arena, &markdown, &options);
    let ours = [
        "<!--",
        "<details>",
        "</details>",
        "<summary>",
        "</summary>",
        "<code>",
        "</code>",
    ];
    for node in document.descendants() {
        match &node.data.borrow().value {
            NodeValue::Link(link) => panic!("a link to {}", link.url),
            NodeValue::Image(_) | NodeValue::FootnoteReference(_) | NodeValue::Math(_) => {
                panic!("markup of a name")
            }
            NodeValue::Emph | NodeValue::Strikethrough => panic!("emphasis of a name"),
            NodeValue::HtmlInline(html) => {
                assert!(ours.contains(&html.as_str()), "{html}");
            }
            NodeValue::HtmlBlock(block) => {
                let first = block.literal.trim_start();
                assert!(ours.iter().any(|tag| first.starts_with(tag)), "{first}");
            }
            _ => {}
        }
    }
    let html = markdown_to_html(&markdown, &options);
    // GitHub looks for mentions and references only outside of code.
    let outside: String = html
        .split("<code>")
        .map(|part| part.split_once("</code>").map_or(part, |(_, rest)| rest))
        .collect();
    for mention in ["@me", "#1", "!2", "www.", "://", "<script"] {
        assert!(!outside.contains(mention), "{mention} in {outside}");
    }
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !html.contains("<script"));
    assert!(!markdown.contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn markdown_of_many_benchmarks_fits_into_a_comment_and_counts_what_it_leaves_out() {
    for count in [500, 2_000] {
        let recorded = Recorded::counted(count);
        let findings = recorded.findings();
        let markdown = written(ReportKind::Markdown, &findings);
        assert!(markdown.chars().count() < LONGEST_COMMENT - 4_000);
        let html = markdown_to_html(&markdown, &github());
        assert_eq!(
            html.matches("<details>").count(),
            html.matches("</details>").count()
        );
        let all = markdown
            .split("<summary>All")
            .nth(1)
            .expect("the table of all");
        let rows = all.matches("| <code>").count();
        assert!(rows > 100, "{rows}");
        let left_out = format!(
            "{} benchmarks with less severe results are left out here",
            count - rows
        );
        assert!(all.contains(&left_out), "no {left_out:?}");
        // The table begins with the worst rows, so no regressed benchmark is left out.
        let regressed = findings
            .rows
            .iter()
            .filter(|row| row.verdict == Some(Verdict::Regressed));
        let shown = all.matches("**regressed**").count();
        assert_eq!(shown, regressed.count().min(rows));
    }
    let recorded = Recorded::counted(300);
    let mut long = recorded.findings();
    rename(&mut long, |at| format!("{}{at}", "|<".repeat(5_000)));
    let markdown = written(ReportKind::Markdown, &long);
    assert!(markdown.len() < 60_000, "{}", markdown.len());
}

#[test]
fn markdown_fits_into_a_comment_when_every_part_is_as_long_as_can_be() {
    let mut recorded = Recorded::counted(500);
    for text in ["\u{1f980}", "|", "@a", "\u{e0041}", "`"].map(|sign| sign.repeat(300)) {
        if let Some(git) = &mut recorded.run.begun.git {
            git.branch = Some(text.clone());
            git.commit = text.clone();
        }
        recorded.run.begun.environment.host.cpu = text.clone();
        recorded.run.begun.environment.build.rustflags = text.clone();
        let mut findings = recorded.findings_with_limits();
        rename(&mut findings, |at| format!("{text}{at}"));
        for (needed, row) in (0..).zip(&mut findings.rows) {
            row.verdict = Some(Verdict::Regressed);
            row.remarks = vec![BenchmarkNote::Undecided {
                rounds: Some(needed),
                seconds: None,
                ran_out_of_time: false,
                noise_threshold: None,
            }];
        }
        let verdicts = findings.verdicts.as_mut().expect("verdicts");
        verdicts.reference = format!("`{text}` (run 1)");
        verdicts.limits.exceeded = vec![verdicts.limits.exceeded[0].clone(); 500];
        verdicts.limits.remarks = vec![LimitNote::ForNothing(text.clone()); 100];
        let remark = RunNote::StoredAlone {
            reason: text.clone(),
        };
        verdicts.remarks = vec![remark; 100];
        verdicts.advice = vec![text.clone(); 100];
        let markdown = written(ReportKind::Markdown, &findings);
        assert!(markdown.len() < 60_000, "{} of {text}", markdown.len());
        assert!(markdown.contains("more limits are exceeded") && markdown.contains("more remarks"));
        assert!(markdown.contains("more notes") && markdown.contains("Machine and build"));
        let elements = |tag: &str| markdown.matches(tag).count();
        assert_eq!(elements("<details>"), elements("</details>"));
        // No element is cut: each ends on the line on which it begins.
        for line in markdown.lines() {
            assert_eq!(
                line.matches("<code>").count(),
                line.matches("</code>").count(),
                "{line}"
            );
        }
        // No row is cut: all have five cells, and the rows shown and the rows left out add up to all benchmarks.
        let arena = Arena::new();
        let options = github();
        let document = parse_document(&arena, &markdown, &options);
        let tables = document
            .descendants()
            .filter(|node| matches!(node.data.borrow().value, NodeValue::Table(_)));
        let counts: Vec<usize> = tables
            .map(|table| {
                let heading = table.first_child().expect("a heading").children().count();
                assert!(heading >= 6);
                assert!(
                    table
                        .children()
                        .all(|row| row.children().count() == heading)
                );
                table.children().count() - 1
            })
            .collect();
        let left_out: Vec<usize> = markdown
            .lines()
            .filter_map(|line| {
                line.strip_suffix(" benchmarks with less severe results are left out here.")
            })
            .map(|count| count.parse().expect("a number"))
            .collect();
        let sums: Vec<usize> = counts.iter().zip(&left_out).map(|(a, b)| a + b).collect();
        assert_eq!(sums, [500, 500], "{counts:?} {left_out:?}");
    }
}

#[test]
fn annotations_are_one_line_each_and_no_name_ends_one() {
    let recorded = hostile_runs();
    let findings = hostile_findings(&recorded);
    let text = written(ReportKind::GitHub, &findings);
    for line in text.lines() {
        let (head, message) = line
            .strip_prefix("::error ")
            .or_else(|| line.strip_prefix("::warning "))
            .and_then(|rest| rest.split_once("::"))
            .expect("a command");
        for property in head.split(',') {
            let (name, value) = property.split_once('=').expect("NAME=VALUE");
            assert!(["file", "line", "title"].contains(&name), "{name}");
            assert!(!value.contains(':'), "{value}");
        }
        assert!(!message.is_empty() && !line.contains(['\r', '\u{1b}', '\u{202e}']));
    }
    let grave = [Verdict::Regressed, Verdict::Failed];
    let is_grave = |verdict: Option<Verdict>| verdict.is_some_and(|found| grave.contains(&found));
    let grave = findings.rows.iter().filter(|row| is_grave(row.verdict));
    // The benchmark that exceeds a limit also counts.
    let errors = text
        .lines()
        .filter(|line| line.starts_with("::error "))
        .count();
    assert_eq!(errors, grave.count() + 1);
}

#[test]
fn a_step_shows_ten_annotations_of_a_kind_and_the_last_counts_the_rest() {
    let recorded = Recorded::counted(1_000);
    let text = written(ReportKind::GitHub, &recorded.findings());
    assert_eq!(text.lines().count(), 10);
    let last = text.lines().last().expect("ten lines");
    assert_eq!(
        last,
        "::error title=cargo perfcheck::11 more benchmarks: see the summary of this job, or the log"
    );
}

#[test]
fn what_could_not_be_measured_is_annotated_first() {
    let recorded = Recorded::all_verdicts();
    let text = written(ReportKind::GitHub, &recorded.findings_with_limits());
    let places = ["title=failed", "title=regressed"].map(|title| text.find(title));
    assert!(places[0].is_some() && places[0] < places[1], "{text}");
}

#[test]
fn an_incomplete_run_is_called_so_in_reports_for_people() {
    let mut recorded = Recorded::all_verdicts();
    recorded.run.status = RunStatus::Incomplete;
    let findings = recorded.findings_with_limits();
    let sentence = "run 42 is incomplete: it was interrupted";
    for kind in [ReportKind::Markdown, ReportKind::JUnit, ReportKind::GitHub] {
        let text = written(kind, &findings);
        assert!(text.contains(sentence), "{kind}: {text}");
    }
    let markdown = written(ReportKind::Markdown, &findings);
    let head = markdown.split("| benchmark").next().expect("a head");
    assert!(head.contains(sentence), "{markdown}");
}

#[test]
fn markdown_of_a_first_run_has_no_columns_of_changes() {
    let recorded = Recorded::all_verdicts();
    let mut findings = recorded.findings();
    findings.rows.retain(|row| row.measurement.is_some());
    for row in &mut findings.rows {
        (row.verdict, row.comparison) = (Some(Verdict::New), None);
        row.reference.clear();
    }
    let text = written(ReportKind::Markdown, &findings);
    assert!(text.contains("| benchmark | verdict | median |"), "{text}");
    assert!(
        !text.contains("interval |") && !text.contains("compared with"),
        "{text}"
    );
}

#[test]
fn code_quality_keeps_to_gitlab_s_format() {
    let recorded = hostile_runs();
    let findings = hostile_findings(&recorded);
    let text = written(ReportKind::GitLab, &findings);
    let issues: Value = serde_json::from_str(&text).expect("JSON");
    let mut fingerprints = BTreeSet::new();
    for issue in issues.as_array().expect("a list") {
        let text = |name: &str| issue[name].as_str().expect("text").to_owned();
        assert!(!text("description").is_empty() && !text("check_name").is_empty());
        let severities = ["info", "minor", "major", "critical", "blocker"];
        assert!(severities.contains(&text("severity").as_str()));
        let fingerprint = text("fingerprint");
        assert!(fingerprint.len() == 32 && fingerprints.insert(fingerprint));
        let path = issue["location"]["path"].as_str().expect("a path");
        assert!(!path.starts_with(['/', '.']) && !path.is_empty());
        assert!(
            issue["location"]["lines"]["begin"]
                .as_u64()
                .is_some_and(|line| line > 0)
        );
    }
    assert!(!fingerprints.is_empty());
    // Fingerprints contain no numbers, so the issue keeps its fingerprint in later reports.
    let again = written_with(
        ReportKind::GitLab,
        &findings,
        &[Verdict::Regressed, Verdict::Suspect],
    );
    let again: Value = serde_json::from_str(&again).expect("JSON");
    let kept = again.as_array().expect("a list").iter();
    let kept = kept
        .filter(|issue| fingerprints.contains(issue["fingerprint"].as_str().unwrap_or_default()));
    assert!(kept.count() >= 3);
}

#[test]
fn a_bench_target_that_failed_as_a_whole_is_in_every_report() {
    let recorded = Recorded::counted(1);
    let mut findings = recorded.findings();
    for target in ["sorting", "=1|`@me"] {
        findings.failed_targets.push(FailedTarget {
            package: "algorithms".into(),
            target: target.into(),
            message: hostile(0),
        });
    }
    findings.exit_code = 4;
    let markdown = written(ReportKind::Markdown, &findings);
    assert!(markdown.contains("### Benchmarks: FAIL, 2 bench targets failed; 1 of 1 unchanged\n"));
    let html = markdown_to_html(&markdown, &github());
    assert!(
        html.contains("error: <code>algorithms/sorting</code>: failed before it listed all its")
    );
    assert!(!html.contains("<script") && !html.contains("<a "), "{html}");

    let annotations = written(ReportKind::GitHub, &findings);
    let head = "::error file=crates/algorithms/benches/sorting.rs,line=1,title=failed%3A algorithms/sorting::";
    assert!(annotations.starts_with(head), "{annotations}");
    assert_eq!(annotations.lines().count(), 2);

    let issues: Value =
        serde_json::from_str(&written(ReportKind::GitLab, &findings)).expect("JSON");
    assert_eq!(issues[0]["severity"], "critical");
    assert_ne!(issues[0]["fingerprint"], issues[1]["fingerprint"]);

    let junit = written(ReportKind::JUnit, &findings);
    // `.ci/run` validates this snapshot against the schema.
    snapshot("report_junit_failed_targets", &junit);
    let document = Document::parse(&junit).expect("XML");
    let root = document.root_element();
    let count = |name: &str| root.attribute(name);
    assert_eq!((count("tests"), count("errors")), (Some("3"), Some("2")));
    let errors = root.descendants().filter(|node| node.has_tag_name("error"));
    assert_eq!(errors.count(), 2);
    let suites = root
        .children()
        .filter(|node| node.has_tag_name("testsuite"));
    assert_eq!(suites.count(), 2, "one has a benchmark, too");
}

#[test]
fn metrics_are_lines_of_name_labels_and_number() {
    let recorded = hostile_runs();
    let text = written(ReportKind::GitLabMetrics, &hostile_findings(&recorded));
    assert!(text.ends_with("# EOF\n"));
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_once('{').expect("labels");
        assert!(name.starts_with("perfcheck_"));
        let (labels, value) = rest.rsplit_once("} ").expect("a value");
        assert!(value.parse::<f64>().expect("a number").is_finite());
        // Without escapes, only the quotation marks of the three labels remain.
        let bare = labels.replace("\\\\", "").replace("\\\"", "");
        assert_eq!(bare.matches('"').count(), 6, "{labels}");
        // GitLab would end the line at this character.
        assert!(!line.contains('#'), "{line}");
    }
}

#[test]
fn junit_knows_no_time_of_imported_numbers() {
    let mut recorded = Recorded::counted(2);
    assert!(!written(ReportKind::JUnit, &recorded.findings()).contains("time=\"0.000\""));
    recorded.run.source = Some(Source::default());
    let text = written(ReportKind::JUnit, &recorded.findings());
    assert_eq!(text.matches(" time=").count(), 4);
    assert_eq!(text.matches(" time=\"0.000\"").count(), 4, "{text}");
}

#[test]
fn junit_keeps_to_the_schemas_in_use() {
    let (hostile, plain, many) = (
        hostile_runs(),
        Recorded::all_verdicts(),
        Recorded::counted(500),
    );
    for findings in [
        hostile_findings(&hostile),
        plain.findings_with_limits(),
        many.findings(),
    ] {
        let text = written(ReportKind::JUnit, &findings);
        let document = Document::parse(&text).expect("XML");
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "testsuites");
        let number = |node: roxmltree::Node<'_, '_>, name: &str| -> usize {
            node.attribute(name).expect(name).parse().expect("a number")
        };
        assert_eq!(number(root, "tests"), findings.rows.len());
        let mut ids = BTreeSet::new();
        for suite in root.children().filter(roxmltree::Node::is_element) {
            assert_eq!(suite.tag_name().name(), "testsuite");
            let elements: Vec<_> = suite
                .children()
                .filter(roxmltree::Node::is_element)
                .collect();
            assert_eq!(elements[0].tag_name().name(), "properties");
            let cases = &elements[1..];
            assert_eq!(number(suite, "tests"), cases.len());
            for (counted, element) in [
                ("failures", "failure"),
                ("errors", "error"),
                ("skipped", "skipped"),
            ] {
                let found = cases
                    .iter()
                    .filter(|case| case.children().any(|child| child.has_tag_name(element)));
                assert_eq!(number(suite, counted), found.count());
            }
            for case in cases {
                assert_eq!(case.tag_name().name(), "testcase");
                let names: Vec<&str> = case
                    .attributes()
                    .map(|attribute| attribute.name())
                    .collect();
                assert_eq!(names, ["name", "classname", "time"]);
                assert!(ids.insert((case.attribute("classname"), case.attribute("name"))));
                for child in case.children().filter(roxmltree::Node::is_element) {
                    let name = child.tag_name().name();
                    assert!(["failure", "error", "skipped", "system-out"].contains(&name));
                }
            }
        }
    }
}
