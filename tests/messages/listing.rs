//! Lists of the store's contents in narrow and wide terminals: with no, one and many entries, and with names of all kinds.

use std::io::Write;

use cargo_perfcheck::output::{
    BaselineLine, BenchmarkLine, Charset, CharsetWriter, MessageFormat, RunLine, View,
    strip_colors, write_baselines, write_benchmarks, write_runs,
};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkKey, GitState, Metric, Pair, RunId, Side, Verdict,
};

use super::layout;
use crate::messages::recorded::{HOSTILE, Recorded};

const WIDTHS: [usize; 4] = [60, 80, 100, 160];

/// Returns the output of `write` without colors.
fn plain(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory takes everything");
    String::from_utf8(strip_colors(&bytes)).expect("text")
}

fn fits(text: &str, columns: usize) {
    for line in text.lines() {
        let width = unicode_width::UnicodeWidthStr::width(line);
        assert!(width <= columns, "{width} of {columns}: {line}");
    }
}

fn git(branch: Option<&str>, dirty: bool) -> GitState {
    GitState {
        commit: "0123456789abcdef0123456789abcdef01234567".into(),
        branch: branch.map(str::to_owned),
        dirty,
    }
}

/// Returns runs in every state.
fn runs() -> Vec<RunLine> {
    let recorded = Recorded::all_verdicts();
    let findings = recorded.findings();
    let line = |id: i64, git: Option<GitState>, acceptance| {
        let mut run = recorded.run.clone();
        run.id = RunId(id);
        run.begun.git = git;
        run.acceptance = acceptance;
        RunLine {
            run,
            started: "2026-11-21T18:58:45Z".into(),
            ago: "13 days ago".into(),
            names: Vec::new(),
            benchmarks: 13,
            tally: [Verdict::Unchanged; 13].into_iter().collect(),
            accepted_benchmarks: Vec::new(),
        }
    };
    let key = |id: &str| BenchmarkKey {
        package: "p".into(),
        target: "t".into(),
        id: id.into(),
    };
    let of_pair = |line: RunLine, partner, side| {
        let mut line = line;
        line.run.pair = Some(Pair {
            partner: RunId(partner),
            side,
        });
        line
    };
    let long = "feature/a-branch-with-a-name-that-says-everything-about-it";
    vec![
        RunLine {
            tally: findings.tally(),
            accepted_benchmarks: vec![key("a"), key("b")],
            ..line(1204, Some(git(Some(long), true)), Acceptance::Pending)
        },
        of_pair(
            line(1203, Some(git(Some("main"), true)), Acceptance::Automatic),
            -1203,
            Side::Candidate,
        ),
        of_pair(
            line(-1203, Some(git(None, false)), Acceptance::Automatic),
            1203,
            Side::Base,
        ),
        line(1201, Some(git(None, false)), Acceptance::Automatic),
        RunLine {
            names: vec!["v1.0".into(), "release".into()],
            ..line(1200, Some(git(Some("main"), false)), Acceptance::ByCommand)
        },
        line(9, None, Acceptance::Automatic),
    ]
}

fn runs_in(lines: &[RunLine], columns: usize) -> String {
    plain(|writer| write_runs(writer, lines, MessageFormat::Human, columns))
}

#[test]
fn runs_fit_every_terminal_and_numbers_and_times_stay_whole() {
    let lines = runs();
    layout().bind(|| {
        for columns in WIDTHS {
            let text = runs_in(&lines, columns);
            fits(&text, columns);
            assert_eq!(text.matches("13 days ago").count(), lines.len(), "{text}");
            insta::assert_snapshot!(format!("runs-{columns}"), text);
        }
        insta::assert_snapshot!("runs-pipe", runs_in(&lines, usize::MAX));
        insta::assert_snapshot!("runs-none", runs_in(&[], 80));
    });
    let many: Vec<RunLine> = (0..500).flat_map(|_| lines.clone()).take(500).collect();
    fits(&runs_in(&many, 80), 80);
}

#[test]
fn baselines_fit_every_terminal() {
    let line = |name: &str, branch: &str| BaselineLine {
        name: name.into(),
        run: RunId(12),
        started: "2026-11-21T18:58:45Z".into(),
        ago: "2026-11-21".into(),
        git: Some(git(Some(branch), branch != "main")),
        pair: None,
    };
    let lines = [
        line("v1", "main"),
        line(
            &"a-name-of-a-baseline-".repeat(3),
            "feature/improve-the-sorting-of-lines",
        ),
    ];
    let shown = |lines: &[BaselineLine], columns| {
        plain(|writer| write_baselines(writer, lines, MessageFormat::Human, columns))
    };
    layout().bind(|| {
        for columns in WIDTHS {
            let text = shown(&lines, columns);
            fits(&text, columns);
            insta::assert_snapshot!(format!("baselines-{columns}"), text);
        }
        insta::assert_snapshot!("baselines-none", shown(&[], 80));
    });
}

/// Returns a benchmark with values of sixteen runs.
fn benchmark(id: &str) -> BenchmarkLine {
    BenchmarkLine {
        key: BenchmarkKey {
            package: "algorithms".into(),
            target: "sorting".into(),
            id: id.into(),
        },
        runs: 16,
        last_run: RunId(42),
        last_started: "2026-11-21T18:58:45Z".into(),
        typical_ns: Some(1234.5),
        last_values_ns: (0..16)
            .map(|at| Some(1200.0 + 20.0 * f64::from(at % 5)))
            .collect(),
        metric: Metric::Time,
        change: Some(0.083),
        verdict: Some(Verdict::Regressed),
    }
}

fn list_in(lines: &[BenchmarkLine], columns: usize) -> String {
    plain(|writer| {
        write_benchmarks(
            writer,
            lines,
            MessageFormat::Human,
            &View::for_terminal(columns),
        )
    })
}

#[test]
fn benchmarks_fit_every_terminal_and_their_ends_tell_them_apart() {
    let long = "a group with a long name/a function whose name says everything about it/with_parameters=1000000,mode=exhaustive";
    let lines = ["sort/10", "sort/1000", long, HOSTILE, "größe/長い名前/λ"].map(benchmark);
    layout().bind(|| {
        for columns in WIDTHS {
            let text = list_in(&lines, columns);
            fits(&text, columns);
            assert!(text.contains("mode=exhaustive"), "{text}");
            insta::assert_snapshot!(format!("list-{columns}"), text);
        }
        let piped = list_in(&lines, usize::MAX);
        assert!(piped.contains(long), "{piped}");
        insta::assert_snapshot!("list-none", list_in(&[], 80));
        insta::assert_snapshot!("list-one", list_in(&lines[..1], 80));
        let mut ascii = Vec::new();
        CharsetWriter::new(&mut ascii, Charset::Ascii)
            .write_all(list_in(&lines[..3], 80).as_bytes())
            .expect("memory takes everything");
        let ascii = String::from_utf8(ascii).expect("text");
        assert!(ascii.is_ascii(), "{ascii}");
        insta::assert_snapshot!("list-ascii", ascii);
    });
    let many: Vec<BenchmarkLine> = (0..500)
        .map(|at| benchmark(&format!("group{:02}/function{at:03}", at % 40)))
        .collect();
    let text = list_in(&many, 80);
    fits(&text, 80);
    let rows = text.lines().filter(|line| line.contains("regressed"));
    assert_eq!(rows.count(), 500);
}
