//! Tests of histories as printed for people.

use super::*;
use crate::output::terminal::strip_colors;
use crate::output::view::{MessageFormat, View};
use perfcheck_analysis::compare::{Estimate, Location, Trend, TrendPoint, TrendRules};
use perfcheck_analysis::model::{Acceptance, BenchmarkKey, GitState, Metric, RunId, Verdict};

const RULES: TrendRules = TrendRules {
    noise_threshold: 0.02,
    confidence_level: 0.95,
    seed: 0,
};

/// Creates a history with these values. The runs `accepted` are accepted as levels; run `left_out` has no value.
fn history(
    id: &str,
    values: &[f64],
    accepted: &[usize],
    left_out: Option<usize>,
) -> BenchmarkHistory {
    let counted: Vec<usize> = (0..values.len())
        .filter(|place| Some(*place) != left_out)
        .collect();
    let course_points: Vec<TrendPoint> = counted
        .iter()
        .map(|place| TrendPoint {
            is_placed: false,
            shown: None,
            value: values[*place].ln(),
            accepted: accepted.contains(place),
        })
        .collect();
    let course = Trend::from_points(&course_points, &RULES, id);
    let point = |(place, value): (usize, &f64)| HistoryPoint {
        run: RunId(i64::try_from(place + 1).expect("few")),
        started: format!("2026-11-{:02}T10:00:00Z", place % 28 + 1),
        git: Some(GitState {
            commit: "0123456789abcdef0123456789abcdef01234567".into(),
            branch: Some("main\u{1b}[31m".into()),
            dirty: place == 1,
        }),
        acceptance: Acceptance::Automatic,
        accepted: accepted.contains(&place),
        verdict: Some(if place == 0 {
            Verdict::New
        } else {
            Verdict::Unchanged
        }),
        change: None,
        since_first: None,
        value: (Some(place) != left_out).then_some(*value),
        median: None,
        left_out: (Some(place) == left_out).then(|| ExclusionReason::OtherSamples.into()),
    };
    BenchmarkHistory {
        key: BenchmarkKey {
            package: "crate".into(),
            target: "bench".into(),
            id: id.into(),
        },
        metric: Metric::Time,
        location: Some(Location::LowQuantile),
        noise_threshold: 0.02,
        confidence_level: 0.95,
        points: values.iter().enumerate().map(point).collect(),
        counted,
        trends: Vec::new(),
        processors: None,
        since_baselines: vec![BaselineChange {
            name: "v1".into(),
            run: RunId(1),
            change: Estimate {
                estimate: 0.051,
                lower: 0.04,
                upper: f64::INFINITY,
            },
        }],
        course,
        accept: "cargo perfcheck accept 'it is'".into(),
    }
}

/// Returns a level of twelve runs, then one of eight runs that is 10 % higher.
fn stepped() -> Vec<f64> {
    let strays = [0.4, -0.7, 0.9, 0.0, -0.3];
    let factors = [[1.0; 12].as_slice(), &[1.1; 8]].concat();
    factors
        .iter()
        .zip(strays.iter().cycle())
        .map(|(factor, stray)| 100.0 * factor + stray)
        .collect()
}

fn raw(histories: &[BenchmarkHistory], format: MessageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_histories(
        &mut bytes,
        histories,
        "of branch `main`",
        format,
        &View::for_terminal(usize::MAX),
    )
    .unwrap();
    bytes
}

fn written(histories: &[BenchmarkHistory], format: MessageFormat) -> String {
    String::from_utf8(strip_colors(&raw(histories, format))).unwrap()
}

#[test]
fn one_benchmark_is_drawn_run_by_run() {
    let history = history("a/b", &stepped(), &[], Some(3));
    insta::assert_snapshot!(written(&[history], MessageFormat::Human));
}

#[test]
fn several_are_a_line_each() {
    let values = stepped();
    let histories = [
        history("a/b", &values, &[], None),
        history("c\u{1b}[2J", &values[..12], &[], None),
        history("accepted", &values[..14], &[12], None),
    ];
    insta::assert_snapshot!(written(&histories, MessageFormat::Human));
}

#[test]
fn a_level_that_nobody_accepted_is_a_question_and_an_accepted_one_is_not() {
    let question = "accept 'it is'";
    let open = written(&[history("a", &stepped(), &[], None)], MessageFormat::Human);
    assert!(open.contains(question), "{open}");
    let closed = written(
        &[history("a", &stepped(), &[12], None)],
        MessageFormat::Human,
    );
    assert!(
        !closed.contains(question) && closed.contains("accepted"),
        "{closed}"
    );
}

#[test]
fn what_has_no_values_is_told_without_a_scale() {
    let nothing = history("a", &[1.0], &[], Some(0));
    let text = written(&[nothing], MessageFormat::Human);
    assert!(text.contains("1 run without a value here"), "{text}");
    assert_eq!(written(&[], MessageFormat::Human), "");
}

#[test]
fn nothing_that_a_terminal_obeys_is_written_and_bounds_that_are_missing_are_null() {
    let hostile = history("\u{1b}[2J", &stepped(), &[], None);
    let text = raw(std::slice::from_ref(&hostile), MessageFormat::Human);
    let text = String::from_utf8(text).unwrap();
    // Unescaped, the id would clear the screen and the branch would color the rest.
    assert!(
        !text.contains("\u{1b}[2J") && !text.contains("main\u{1b}"),
        "{text}"
    );
    let json = written(&[hostile], MessageFormat::Json);
    let last = json.lines().last().unwrap();
    let message: serde_json::Value = serde_json::from_str(last).unwrap();
    let change = &message["since_baselines"][0]["change"];
    assert_eq!(
        (change["lower"].as_f64(), change["upper"].as_f64()),
        (Some(0.04), None)
    );
}

/// Writes an overview of three benchmarks, one with a long name, in a terminal with this many columns.
fn overview_in(columns: usize) -> String {
    let name =
        "a group with a long name/a function whose name says everything about it/parameter=1000000";
    let histories = [
        history(name, &stepped(), &[], None),
        history("sort/10", &stepped()[..12], &[], None),
        history("sort/1000", &stepped()[..14], &[12], None),
    ];
    let mut bytes = Vec::new();
    write_histories(
        &mut bytes,
        &histories,
        "of branch `main`",
        MessageFormat::Human,
        &View::for_terminal(columns),
    )
    .unwrap();
    String::from_utf8(strip_colors(&bytes)).unwrap()
}

#[test]
fn narrow_terminals_have_fewer_columns_and_whole_numbers() {
    insta::assert_snapshot!("overview_60", overview_in(60));
    insta::assert_snapshot!("overview_80", overview_in(80));
    insta::assert_snapshot!("overview_160", overview_in(160));
}

#[test]
fn of_no_benchmark_there_is_nothing_to_say() {
    assert_eq!(written(&[], MessageFormat::Human), "");
}

#[test]
fn five_hundred_benchmarks_are_a_line_each() {
    let many: Vec<BenchmarkHistory> = (0..500)
        .map(|at| {
            history(
                &format!("group{:02}/{at}", at % 50),
                &stepped()[..6],
                &[],
                None,
            )
        })
        .collect();
    let mut bytes = Vec::new();
    write_histories(
        &mut bytes,
        &many,
        "of branch `main`",
        MessageFormat::Human,
        &View::for_terminal(80),
    )
    .unwrap();
    let text = String::from_utf8(strip_colors(&bytes)).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("    "));
    assert_eq!(rows.count(), 500);
    assert!(
        text.lines()
            .all(|line| crate::output::units::width(line) <= 80),
        "{text}"
    );
}
