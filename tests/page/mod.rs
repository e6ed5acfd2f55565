//! The page as a document: its content with every verdict, without benchmarks and with hundreds of them. Names must remain data.
//!
//! `browser.py`, which `.ci/run page` starts, tests the page in a browser.

use crate::messages::recorded::{HOSTILE, Recorded};
use cargo_perfcheck::output::{
    BenchmarkHistory, HistoryPoint, LabeledSentence, Page, PageBenchmark, PageRun, PageSide, View,
    strip_colors, write_page, write_table,
};
use perfcheck_analysis::compare::{
    BenchmarkRecord, ChangeShape, HostControls, Location, Shape, ShapeDetail, Trend, TrendPoint,
    TrendRules, summarize_with,
};
use perfcheck_analysis::findings::{LimitReport, RunNote};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, GitState, Measurement, Metric, RunId, Statistic, Timestamp, Verdict,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns the HTML page of recorded runs, and the data that it contains.
fn written(recorded: &Recorded) -> (String, Value) {
    written_with(recorded, 100, &[])
}

/// Returns the page with at most `points` samples per side, and with the given histories of its benchmarks.
fn written_with(
    recorded: &Recorded,
    points: usize,
    histories: &[BenchmarkHistory],
) -> (String, Value) {
    let findings = recorded.findings();
    let run = findings.run;
    let side = |measurement: &'_ Measurement| -> Option<(BenchmarkRecord, Shape)> {
        let summary = summarize_with(measurement, &run.begun.decision, run.begun.seed)?;
        let record = BenchmarkRecord::from_measurement(
            measurement,
            &summary,
            &run.begun.decision,
            run.begun.seed,
        )?;
        Some((
            record,
            Shape::from_measurement(measurement, &ShapeDetail::reduced(points))?,
        ))
    };
    let base = |row_key| {
        let newest = recorded.base.last()?;
        newest.iter().find(|found| found.benchmark.key == row_key)
    };
    let benchmarks = findings
        .rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            let base = base(row.key.clone()).filter(|_| row.comparison.is_some());
            let page_side = |measurement, run| {
                let (record, shape) = side(measurement)?;
                Some(PageSide {
                    run,
                    measurement,
                    record,
                    shape,
                })
            };
            let candidate = row.measurement;
            PageBenchmark {
                row,
                metric: candidate
                    .or(base)
                    .map_or(&TIME, |found| &found.benchmark.metric),
                stored_change: None,
                method: findings.verdicts.as_ref().map(|verdicts| verdicts.method),
                candidate: candidate.and_then(|candidate| page_side(candidate, run.id)),
                base: base.and_then(|base| page_side(base, RunId(41))),
                change: candidate.zip(base).and_then(|(candidate, base)| {
                    ChangeShape::from_measurements(candidate, base, run.begun.seed)
                }),
                history: histories.iter().find(|history| history.key == row.key),
                sentences: vec![LabeledSentence {
                    topic: "verdict",
                    text: format!("{HOSTILE}: 12.5 ns in {index} processes."),
                }],
            }
        })
        .collect();
    let page = Page {
        workspace: HOSTILE.to_owned(),
        run,
        reference: findings
            .verdicts
            .as_ref()
            .map(|found| found.reference.clone()),
        runs: vec![PageRun {
            head: run,
            started: "2026-01-01T00:00:00Z".to_owned(),
            signs: HostControls::default(),
        }],
        confidence_level: findings.confidence_level(),
        warnings: Vec::new(),
        remarks: vec![RunNote::StoredAlone {
            reason: HOSTILE.to_owned(),
        }],
        limits: LimitReport::default(),
        omissions: vec![HOSTILE.to_owned()],
        benchmarks,
    };
    let mut text = Vec::new();
    write_page(&mut text, &page).expect("memory takes all");
    let text = String::from_utf8(text).expect("UTF-8");
    let data = serde_json::from_str(block(&text)).expect("JSON");
    (text, data)
}

static TIME: Metric = Metric::Time;

/// Returns the histories of all benchmarks over `runs` runs. After a third of the runs, the times step up.
fn histories(recorded: &Recorded, runs: u32) -> Vec<BenchmarkHistory> {
    let value = |run: u32| {
        let level = if run < runs / 3 { 4.4 } else { 4.6 };
        level + f64::from(run * 7 % 11) * 0.000_123_456
    };
    let points: Vec<TrendPoint> = (0..runs)
        .map(|run| TrendPoint {
            is_placed: false,
            shown: None,
            value: value(run),
            accepted: false,
        })
        .collect();
    let rules = TrendRules {
        noise_threshold: 0.02,
        confidence_level: 0.95,
        seed: 0,
    };
    let course = Trend::from_points(&points, &rules, "a history");
    let point = |run: u32| HistoryPoint {
        run: RunId(i64::from(run) + 100),
        started: format!("2026-{:02}-{:02}T10:00:00Z", run / 28 + 1, run % 28 + 1),
        committed: None,
        at: Timestamp(i64::from(run)),
        git: Some(GitState {
            commit: format!("{run:040x}"),
            branch: Some("main".to_owned()),
            dirty: false,
        }),
        acceptance: Acceptance::Automatic,
        accepted: false,
        verdict: Some(Verdict::Unchanged),
        change: Some(0.0),
        since_first: None,
        value: Some(value(run).exp()),
        median: None,
        left_out: None,
    };
    let findings = recorded.findings();
    let history = |key: &BenchmarkKey| BenchmarkHistory {
        key: key.clone(),
        statistic: Statistic::Time,
        metric: Metric::Time,
        location: Some(Location::LowQuantile),
        noise_threshold: 0.02,
        confidence_level: 0.95,
        points: (0..runs).map(point).collect(),
        counted: (0..points.len()).collect(),
        course: course.clone(),
        trends: Vec::new(),
        processors: None,
        since_baselines: Vec::new(),
        accept: None,
    };
    findings.rows.iter().map(|row| history(&row.key)).collect()
}

/// Returns the JSON that the page's script reads.
fn block(text: &str) -> &str {
    let (_, rest) = text
        .split_once("<script type=\"application/json\" id=\"data\">")
        .expect("the data");
    rest.split_once("</script>").expect("their end").0
}

#[test]
fn every_verdict_is_on_the_page() {
    let (_, data) = written(&Recorded::all_verdicts());
    let benchmarks = data["benchmarks"].as_array().expect("a list");
    let given: BTreeSet<&str> = benchmarks
        .iter()
        .filter_map(|one| one["verdict"].as_str())
        .collect();
    let all: BTreeSet<&str> = Verdict::ALL.iter().map(|verdict| verdict.word()).collect();
    assert_eq!(given, all);
    let counted: u64 = data["head"]["verdicts"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|pair| pair[1].as_u64())
        .sum();
    assert_eq!(counted, benchmarks.len() as u64);
}

#[test]
fn symbols_of_the_page_are_those_of_the_table() {
    let recorded = Recorded::all_verdicts();
    let (_, data) = written(&recorded);
    let mut table = Vec::new();
    let view = View::for_terminal(100);
    write_table(&mut table, &recorded.findings(), &view).expect("memory takes all");
    let table = String::from_utf8(strip_colors(&table)).expect("UTF-8");
    for pair in data["head"]["symbols"].as_array().expect("a list") {
        let (word, symbol) = (pair[0].as_str().expect("a word"), pair[1].as_str());
        let both = format!("{} {word}", symbol.expect("a symbol"));
        assert!(table.contains(&both), "{both}");
    }
}

#[test]
fn what_the_table_says_of_a_benchmark_and_of_the_whole_is_on_the_page() {
    let (_, data) = written(&Recorded::all_verdicts());
    assert_eq!(data["head"]["incomplete"], Value::Null);
    let how = data["head"]["how"].as_str().expect("how it was decided");
    assert!(how.contains("any false alarm"), "{how}");
    let phrases = data["phrases"].as_array().expect("a list");
    let noted = data["benchmarks"]
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|one| one["remarks"].as_array().into_iter().flatten())
        .filter_map(|entry| entry[0].as_u64())
        .count();
    assert!(noted > 0);
    assert!(phrases.iter().any(|phrase| phrase[0] == "note"));
}

#[test]
fn no_name_leaves_the_block_of_data_and_none_can_end_it() {
    let (text, data) = written(&Recorded::all_verdicts());
    let inside = block(&text);
    assert!(!inside.contains(['<', '>', '&', '\u{202e}', '\u{1b}']));
    let outside = text.replace(inside, "");
    assert!(!outside.contains("alert(1)</script>") && !outside.contains("<script>alert"));
    assert_eq!(text.matches("<script").count(), 2);
    let texts = data.to_string();
    assert!(
        texts.contains("<script>alert(1)</script>"),
        "as text it is there"
    );
    assert!(
        !texts.contains('\u{202e}'),
        "what changes how others are shown is written out"
    );
}

#[test]
fn nothing_but_the_page_itself_may_run_or_be_loaded() {
    let (text, _) = written(&Recorded::counted(1));
    let (_, rest) = text
        .split_once("Content-Security-Policy")
        .expect("a policy");
    let (policy, _) = rest.split_once("\">").expect("its end");
    for word in [
        "default-src 'none'",
        "script-src 'sha256-",
        "style-src 'sha256-",
    ] {
        assert!(policy.contains(word), "no {word} in {policy}");
    }
    assert!(!policy.contains("unsafe"));
    let page = text.replace("http://www.w3.org/2000/svg", "");
    for foreign in [
        "http://",
        "https://",
        "@import",
        "url(",
        "src=",
        " href=\"h",
        "innerHTML",
    ] {
        let found = page.replace("<a class=\"skip\" href=\"#overview\"", "");
        assert!(!found.contains(foreign), "{foreign}");
    }
    assert!(!text.contains(" style=\"") && !text.contains(" onclick=\""));
}

#[test]
fn no_benchmark_one_and_five_hundred_have_a_page() {
    for count in [0, 1, 500] {
        let (text, data) = written(&Recorded::counted(count));
        assert_eq!(data["benchmarks"].as_array().map(Vec::len), Some(count));
        // The size per benchmark is bounded: a page of 200 benchmarks has less than a megabyte.
        let bytes = text.len();
        assert!(
            bytes < 150_000 + count * 4_300,
            "{count} benchmarks: {bytes} bytes"
        );
    }
}

#[test]
fn two_hundred_benchmarks_with_histories_are_less_than_a_megabyte() {
    let recorded = Recorded::counted(200);
    // These are the amounts that `report` draws for 200 benchmarks; see the limits in src/delivery/page.rs.
    let (text, data) = written_with(&recorded, 60, &histories(&recorded, 30));
    let history = &data["benchmarks"][17]["history"];
    assert_eq!(history["values"].as_array().map(Vec::len), Some(30));
    assert_eq!(history["verdicts"].as_str().map(str::len), Some(30));
    assert_eq!(history["runs"], 0, "all runs of the page, from the first");
    assert_eq!(data["head"]["history"].as_array().map(Vec::len), Some(30));
    assert_eq!(history["levels"].as_array().map(Vec::len), Some(2));
    // The explanations of real runs would add about 200 bytes per benchmark.
    assert!(text.len() < 950_000, "{} bytes", text.len());
}

#[test]
fn sentences_that_differ_in_numbers_alone_are_there_once() {
    let (_, data) = written(&Recorded::counted(50));
    assert_eq!(data["phrases"].as_array().map(Vec::len), Some(1));
    assert_eq!(data["benchmarks"][49]["why"][0][0], 0);
}

#[test]
fn numbers_are_finite_and_a_side_has_what_charts_need() {
    let (text, data) = written(&Recorded::all_verdicts());
    assert!(!block(&text).contains("NaN") && !block(&text).contains("inf,"));
    let benchmarks = data["benchmarks"].as_array().expect("a list");
    let sides = benchmarks
        .iter()
        .flat_map(|one| [&one["candidate"], &one["base"]]);
    let mut seen = 0;
    for side in sides.filter(|side| !side.is_null()) {
        let order = side["order"].as_str().expect("samples in order").len();
        let processes = side["quartiles"].as_str().map_or(0, str::len) as u64 / 6;
        let drawn: u64 = match &side["counts"] {
            Value::Array(counts) => counts.iter().filter_map(Value::as_u64).sum(),
            each => each.as_u64().expect("of each process") * processes,
        };
        assert_eq!(order as u64, 2 * drawn);
        assert_eq!(side["quantiles"].as_str().map(str::len), Some(3 * 48));
        assert!(side["range"][0].as_f64() < side["range"][1].as_f64());
        assert!(side["estimates"][3][0].is_number());
        seen += 1;
    }
    assert!(seen > 6, "{seen}");
}
