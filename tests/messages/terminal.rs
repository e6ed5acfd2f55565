//! The table of the recorded runs in a terminal: narrow and wide, with and without colors, with few and many benchmarks.

use std::io::Write;

use cargo_perfcheck::output::{
    Charset, CharsetWriter, RowOrder, Verbosity, View, strip_colors, write_table,
};
use perfcheck_analysis::findings::Findings;
use perfcheck_analysis::model::Verdict;

use super::layout;
use crate::messages::recorded::Recorded;

/// Returns the table as written, with colors.
fn coloured(findings: &Findings<'_>, view: &View) -> String {
    let mut bytes = Vec::new();
    write_table(&mut bytes, findings, view).expect("memory takes everything");
    String::from_utf8(bytes).expect("text")
}

fn plain(findings: &Findings<'_>, view: &View) -> String {
    let text = coloured(findings, view);
    String::from_utf8(strip_colors(text.as_bytes())).expect("text")
}

fn columns_of(line: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(line)
}

#[test]
fn every_verdict_has_its_row_at_every_width() {
    let recorded = Recorded::all_verdicts();
    let findings = recorded.findings_with_limits();
    layout().bind(|| {
        insta::assert_snapshot!("terminal-60", plain(&findings, &View::for_terminal(60)));
        insta::assert_snapshot!("terminal-80", plain(&findings, &View::for_terminal(80)));
        insta::assert_snapshot!("terminal-120", plain(&findings, &View::for_terminal(120)));
        insta::assert_snapshot!("terminal-160", plain(&findings, &View::for_terminal(160)));
        let pipe = View {
            arrangement: RowOrder::Targets,
            ..View::for_terminal(usize::MAX)
        };
        insta::assert_snapshot!("terminal-pipe", plain(&findings, &pipe));
    });
}

#[test]
fn no_line_is_longer_than_the_terminal_but_those_with_a_command() {
    let recorded = Recorded::all_verdicts();
    let findings = recorded.findings_with_limits();
    for columns in [60, 72, 80, 100, 120, 160, 200] {
        for verbosity in [Verbosity::Quiet, Verbosity::Usual, Verbosity::Verbose] {
            for arrangement in [RowOrder::Groups, RowOrder::List] {
                let view = View {
                    verbosity,
                    arrangement,
                    ..View::for_terminal(columns)
                };
                for line in plain(&findings, &view).lines() {
                    let is_command = line.trim_start().starts_with("cargo perfcheck ");
                    assert!(
                        is_command || columns_of(line) <= columns,
                        "{columns}: {line}"
                    );
                }
            }
        }
    }
}

#[test]
fn no_benchmark_loses_its_name_however_narrow_it_is() {
    let recorded = Recorded::all_verdicts();
    let findings = recorded.findings();
    let text = plain(&findings, &View::for_terminal(40));
    let joined: String = text.lines().map(str::trim).collect();
    for row in &findings.rows {
        let id = row.key.id.escape_debug().to_string();
        let last = id.rsplit('/').next().unwrap_or(&id);
        let without_blanks = |text: &str| text.replace(' ', "");
        assert!(
            without_blanks(&joined).contains(&without_blanks(last)),
            "{last} is not in {text}"
        );
    }
}

#[test]
fn colours_only_repeat_what_words_and_symbols_say() {
    let recorded = Recorded::all_verdicts();
    let findings = recorded.findings();
    layout().bind(|| {
        let text = coloured(&findings, &View::for_terminal(100));
        insta::assert_snapshot!("terminal-coloured", text.replace('\u{1b}', "␛"));
    });
    for verdict in Verdict::ALL {
        let text = plain(&findings, &View::for_terminal(100));
        let marked = format!(" {}", verdict.word());
        assert!(text.contains(&marked), "{verdict}");
    }
}

#[test]
fn a_terminal_without_utf_8_gets_ascii() {
    let recorded = Recorded::all_verdicts();
    let text = plain(&recorded.findings_with_limits(), &View::for_terminal(80));
    let mut bytes = Vec::new();
    CharsetWriter::new(&mut bytes, Charset::Ascii)
        .write_all(text.as_bytes())
        .expect("memory takes everything");
    let ascii = String::from_utf8(bytes).expect("text");
    assert!(ascii.is_ascii());
    layout().bind(|| insta::assert_snapshot!("terminal-ascii", ascii));
}

#[test]
fn more_and_less_can_be_asked_for_and_the_counts_stay_those_of_all() {
    let recorded = Recorded::all_verdicts();
    let findings = recorded.findings_with_limits();
    let with = |verbosity, only| {
        let view = View {
            verbosity,
            only,
            ..View::for_terminal(100)
        };
        plain(&findings, &view)
    };
    let only = Some(vec![Verdict::Regressed, Verdict::Improved]);
    layout().bind(|| {
        insta::assert_snapshot!("terminal-quiet", with(Verbosity::Quiet, None));
        insta::assert_snapshot!("terminal-verbose", with(Verbosity::Verbose, None));
        insta::assert_snapshot!("terminal-only", with(Verbosity::Usual, only));
    });
}

#[test]
fn more_verdicts_than_a_screen_has_lines_begin_with_the_worst() {
    let recorded = Recorded::all_verdicts();
    let findings = recorded.findings();
    let rows = findings.rows.len();
    let with = |screenful| {
        let view = View {
            screenful,
            ..View::for_terminal(100)
        };
        plain(&findings, &view)
    };
    assert_eq!(with(rows), with(usize::MAX));
    let text = with(rows - 1);
    let verdicts: Vec<Verdict> = text
        .lines()
        .filter_map(|line| line.split_whitespace().last()?.parse().ok())
        .collect();
    assert!(verdicts.is_sorted(), "{text}");
    assert_eq!(verdicts.first(), Some(&Verdict::Regressed), "{text}");
}

#[test]
fn none_one_and_five_hundred_benchmarks() {
    let head_and_tail = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        let (head, tail) = (&lines[..30], &lines[lines.len() - 12..]);
        let left_out = lines.len() - head.len() - tail.len();
        format!(
            "{}\n[{left_out} lines]\n{}\n",
            head.join("\n"),
            tail.join("\n")
        )
    };
    let of = |count: usize, view: &View| plain(&Recorded::counted(count).findings(), view);
    let list = View {
        arrangement: RowOrder::List,
        ..View::for_terminal(80)
    };
    layout().bind(|| {
        insta::assert_snapshot!("terminal-none", of(0, &View::for_terminal(80)));
        insta::assert_snapshot!("terminal-one", of(1, &View::for_terminal(80)));
        insta::assert_snapshot!(
            "terminal-500",
            head_and_tail(&of(500, &View::for_terminal(80)))
        );
        insta::assert_snapshot!("terminal-500-list", head_and_tail(&of(500, &list)));
        let quiet = View {
            verbosity: Verbosity::Quiet,
            ..View::for_terminal(80)
        };
        insta::assert_snapshot!("terminal-500-quiet", of(500, &quiet));
    });
}
