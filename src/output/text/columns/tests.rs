//! Tests of tables of runs as printed for people.

use super::text::{markdown_table, write_text};
use super::*;
use crate::output::layout::TableFormat;
use crate::output::terminal::strip_colors;
use perfcheck_analysis::compare::{BLOCK, Difference, Fact};
use perfcheck_analysis::findings::{LimitReport, Method};
use perfcheck_analysis::model::{
    BenchmarkKey, DecisionSettings, Metric, RunId, Statistic, Test, Verdict,
};

fn column(run: i64, name: &str, verdicts: &[Verdict]) -> RunColumn {
    RunColumn {
        run: RunId(run),
        name: name.into(),
        method: (run > 1).then_some(Method::Stored(Test::BootstrapT)),
        tally: verdicts.iter().copied().collect(),
        warnings: Vec::new(),
        remarks: Vec::new(),
        left_out: None,
        limits: LimitReport::default(),
        together: None,
    }
}

fn cell(value: f64, change: Option<f64>, verdict: Option<Verdict>) -> ColumnCell {
    ColumnCell {
        figures: vec![(Some(value), change)],
        verdict,
        ..ColumnCell::default()
    }
}

fn line(id: &str, metric: Metric, cells: Vec<ColumnCell>) -> ColumnsLine {
    let key = BenchmarkKey {
        package: "crate".into(),
        target: "bench".into(),
        id: id.into(),
    };
    ColumnsLine {
        key,
        metric,
        gate: None,
        cells,
    }
}

/// Returns a table of a time and a rate in three runs.
fn found(shown: ShownStatistics) -> RunTable {
    let verdicts = [Verdict::Regressed, Verdict::Suspect];
    let rate = Metric::Rate { unit: "req".into() };
    RunTable {
        shown,
        terms: ValueForm::Values,
        hidden: 0,
        columns: vec![
            column(1, "base", &[]),
            column(2, "new", &verdicts),
            column(3, "other", &[Verdict::Incomparable]),
        ],
        lines: vec![
            line(
                "a",
                Metric::Time,
                vec![
                    cell(100.0, None, None),
                    cell(108.0, Some(0.08), Some(Verdict::Regressed)),
                    cell(50.0, None, Some(Verdict::Incomparable)),
                ],
            ),
            line(
                "b",
                rate,
                vec![
                    cell(100.0, None, None),
                    cell(92.0, Some(0.08), Some(Verdict::Suspect)),
                    ColumnCell::default(),
                ],
            ),
        ],
        decision: DecisionSettings::default(),
        exit_code: 1,
    }
}

fn text(found: &RunTable, room: usize) -> String {
    let mut bytes = Vec::new();
    write_text(&mut bytes, found, room).unwrap();
    String::from_utf8(strip_colors(&bytes)).unwrap()
}

#[test]
fn m6_m7_m_x8_plus_is_worse_of_times_and_of_rates_and_a_change_has_stars() {
    let expected = "
crate/bench                    base                      new                   other
                              run 1                    run 2                   run 3
  a             100.0 ns (   0.00%)     108.0 ns *  +8.00%*▲    50.00 ns (     n/c)
  b          100.0 req/s (   0.00%)  92.00 req/s ?  +8.00%?           -
";
    let written = text(&found(ShownStatistics::One(Statistic::Mean)), usize::MAX);
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        squeezed(&written).starts_with(&squeezed(expected)),
        "{written}"
    );
    for words in [
        "Amean or Hmean of each run.",
        "+ is worse (slower, more, a lower rate), − is better",
        "*…* is called a change, ▲ for the worse, ▼ for the better: at most 1 % chance of any false alarm in each column, drift between runs included",
        "?…? looks like one",
        "n/c: not comparable",
        "new (run 2): 1 regressed, 1 suspect.",
    ] {
        assert!(squeezed(&written).contains(words), "{words}: {written}");
    }
}

#[test]
fn at_80_columns_what_does_not_fit_goes_into_a_block_of_its_own() {
    let mut found = found(ShownStatistics::One(Statistic::Mean));
    found.columns[1].name = "a-baseline-with-a-long-name".into();
    let written = text(&found, 70);
    let widest = written.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(70), "{written}");
    let headings = written.lines().filter(|line| line.contains("crate/bench"));
    assert_eq!(headings.count(), 2, "{written}");
    assert_eq!(text(&found, usize::MAX).matches("crate/bench").count(), 1);
}

#[test]
fn m_x12_a_difference_is_told_once_with_the_columns_that_have_it() {
    let mut found = found(ShownStatistics::Judged);
    let governor = Difference {
        fact: Fact::Governor,
        candidate: "schedutil".into(),
        base: "performance".into(),
    };
    found.columns[1].warnings = vec![governor.clone()];
    let one = text(&found, usize::MAX);
    let said = "environment differs: governor performance->schedutil in new\n";
    assert!(one.contains(said), "{one}");
    found.columns[2].warnings = vec![governor];
    let both = text(&found, usize::MAX);
    assert!(both.contains("schedutil in new, other\n"), "{both}");
    assert_eq!(both.matches("environment differs").count(), 1);
    found.columns[1].warnings.clear();
    found.columns[2].warnings.clear();
    assert!(!text(&found, usize::MAX).contains("environment"));
}

#[test]
fn a_block_has_a_line_for_each_figure_and_the_verdict_on_that_of_the_mean() {
    let mut found = found(ShownStatistics::Block);
    for line in &mut found.lines {
        for cell in &mut line.cells {
            let one = cell.figures.first().copied().unwrap_or_default();
            cell.figures = vec![one; BLOCK.len()];
        }
    }
    let written = text(&found, usize::MAX);
    let starred: Vec<&str> = written
        .lines()
        .filter(|line| line.contains("*  +8.00%*"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(starred, ["Amean"], "{written}");
    let mut bytes = Vec::new();
    markdown_table(&found)
        .write_as(&mut bytes, TableFormat::Markdown, usize::MAX)
        .unwrap();
    let table = String::from_utf8(bytes).unwrap();
    assert_eq!(table.lines().count(), 2 + 2 * BLOCK.len());
    assert!(table.contains("| crate/bench b | HStddev |"), "{table}");
}

/// Returns a table of `count` benchmarks in two runs, one of them with a long name.
fn many(count: usize) -> RunTable {
    let row = |at: usize| {
        let id = match at {
            1 => {
                "a group with a long name/a function whose name says everything about it/10".into()
            }
            _ => format!("group/{at}"),
        };
        let cells = vec![
            cell(100.0, None, None),
            cell(108.0, Some(0.08), Some(Verdict::Regressed)),
        ];
        line(&id, Metric::Time, cells)
    };
    RunTable {
        columns: vec![
            column(1, "a-baseline-whose-name-says-everything-about-it", &[]),
            column(2, "new", &vec![Verdict::Regressed; count]),
        ],
        lines: (0..count).map(row).collect(),
        ..found(ShownStatistics::One(Statistic::Mean))
    }
}

#[test]
fn runs_side_by_side_fit_every_terminal() {
    insta::assert_snapshot!("columns_60", text(&many(3), 60));
    insta::assert_snapshot!("columns_100", text(&many(3), 100));
    for room in [60, 80, 100, 160] {
        for count in [0, 1, 3, 60] {
            for line in text(&many(count), room).lines() {
                let width = crate::output::units::width(line);
                assert!(width <= room, "{width} of {room}: {line}");
            }
        }
    }
    let piped = text(&many(3), usize::MAX);
    assert!(piped.contains("a function whose name says everything about it/10"));
    assert!(piped.contains("a-baseline-whose-name-says-everything-about-it"));
}
