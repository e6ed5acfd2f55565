//! Hostile names through every command that shows them: each remains mere text, whatever program reads the output.
//!
//! Names with control characters come from benches, because files with such names are not imported. All other names come from a file.

use super::{quick, stored};
use crate::support::{Finished, Machine};
use serde_json::json;
use std::fs;

/// Returns a hostile name that a file may contain. At the beginning of a line, it would be a command in the log of a job.
fn hostile() -> String {
    "::error::x =1+1 \u{202e}\u{2066} |`</text></svg><script> ##[error]x ##vso[task.complete]x \"'"
        .to_owned()
}

fn formula() -> String {
    format!("=first {}", hostile())
}

/// Imports two runs with hostile names of benchmarks, facts and files.
fn imported() -> Machine {
    let machine = Machine::new();
    for (baseline, nanoseconds) in [("before", 100), ("now", 150)] {
        let results = [hostile(), formula()].map(|command| {
            let times = (0..20).map(|at| f64::from(nanoseconds * (1000 + at % 7)) * 1e-9);
            json!({"command": command, "times": times.collect::<Vec<_>>()})
        });
        let content = json!({"results": results});
        let name = format!("{} {baseline}", hostile().replace('/', "_"));
        let file = machine.home().join(name);
        fs::write(&file, content.to_string()).expect("written");
        let file = file.to_str().expect("text");
        let cpu = format!("cpu={}", hostile());
        let flags = format!("rustflags={}", hostile());
        let words = [
            "store",
            "import",
            file,
            "--save-baseline",
            baseline,
            "--fact",
            &cpu,
            "--fact",
            &flags,
        ];
        run(&machine, &words).expect_code(0);
    }
    machine
}

/// Measures two runs of the testbench's benches with unusual names.
fn measured() -> Machine {
    let machine = Machine::new();
    for baseline in ["before", "now"] {
        let run = quick(&machine, "names").args(["--save-baseline", baseline]);
        let run = run.env("GITHUB_ACTIONS", "true").run().expect_text();
        assert!([0, 1].contains(&run.code()), "{run}");
    }
    machine
}

trait ExpectText {
    /// Asserts that the output contains no commands and no hidden characters.
    fn expect_text(self) -> Self;
}

impl ExpectText for Finished {
    #[track_caller]
    fn expect_text(self) -> Self {
        let is_harmful = |c: char| {
            (c.is_control() && c != '\n')
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        for stream in [&self.stdout, &self.stderr] {
            let stream = stream.replace("\r\n", "\n");
            // The output for benchstat contains tabs.
            let found = stream.replace('\t', " ").chars().find(|c| is_harmful(*c));
            assert!(found.is_none(), "{found:?} in {self}");
            for sign in ["##[", "##vso["] {
                assert!(!stream.contains(sign), "{self}");
            }
            for line in stream.lines() {
                // The commands that the tool itself writes for GitHub always have properties between the two pairs of colons.
                assert!(
                    !line.trim_start().starts_with("::error::"),
                    "{line:?} in {self}"
                );
                // This would be the second line of the name "line\nfeed".
                assert!(!line.trim_start().starts_with("feed"), "{line:?} in {self}");
            }
        }
        self
    }
}

#[track_caller]
fn run(machine: &Machine, words: &[&str]) -> Finished {
    let run = machine.perfcheck().args(words).testbench("");
    run.env("GITHUB_ACTIONS", "true").run().expect_text()
}

#[track_caller]
fn every_command(machine: &Machine, id: &str) {
    let compare = ["compare", "before", "now"];
    let commands: [&[&str]; 18] = [
        &["history"],
        &["store", "runs"],
        &["baseline", "list"],
        &["show", "now"],
        &["show", "now", "--stats"],
        &["explain", id],
        &["explain", id, "--full"],
        &["explain", "no such benchmark"],
        &["store", "export", "now", "--format", "benchstat"],
        &["compare", "now", "--group-by", "^(.)"],
        &["store", "export", "now", "--format", "bmf"],
        &compare,
        &[&compare[..], &["--limit", "mean:1%"]].concat(),
        &[&compare[..], &["--report", "markdown-table"]].concat(),
        &[&compare[..], &["--statistic", "all"]].concat(),
        &[
            &compare[..],
            &["--statistic", "all", "--report", "markdown-table"],
        ]
        .concat(),
        &[&compare[..], &["--pivot", "rows=id,cols=run,value=time"]].concat(),
        &[
            &compare[..],
            &[
                "--pivot",
                "rows=id,cols=run,value=time",
                "--report",
                "markdown-table",
            ],
        ]
        .concat(),
    ];
    for words in commands {
        let finished = run(machine, words);
        let code = if words.contains(&"no such benchmark") {
            2
        } else {
            1
        };
        assert!(
            [0, code].contains(&finished.code()),
            "{words:?}: {finished}"
        );
    }
    for kind in ["markdown", "gitlab", "gitlab-metrics", "junit", "github"] {
        let words = [&compare[..], &["--report", kind]].concat();
        assert!([0, 1].contains(&run(machine, &words).code()), "{words:?}");
    }
    let picture = run(machine, &["show", "now", id, "--report", "svg"]).expect_code(0);
    let svg = roxmltree::Document::parse(&picture.stdout).expect("XML");
    let mut elements = svg.descendants().map(|node| node.tag_name().name());
    assert!(!elements.any(|name| name == "script"));
}

/// Checks every table of separated values: no cell may be a formula for a spreadsheet.
#[track_caller]
fn every_table(machine: &Machine) {
    let commands: [&[&str]; 4] = [
        &["compare", "before", "now", "--report", "csv"],
        &[
            "compare",
            "before",
            "now",
            "--statistic",
            "all",
            "--report",
            "csv",
        ],
        &[
            "compare",
            "before",
            "now",
            "--pivot",
            "rows=id,cols=run,value=time",
            "--report",
            "csv",
        ],
        &["store", "export", "now", "--format", "csv"],
    ];
    for words in commands {
        let run = machine.perfcheck().args(words).testbench("").run();
        let mut reader = csv::Reader::from_reader(run.stdout.as_bytes());
        let mut rows = 0;
        for row in reader.records() {
            for cell in &row.expect("a row") {
                let is_formula = cell
                    .trim_start_matches(' ')
                    .starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
                assert!(
                    !is_formula || cell.parse::<f64>().is_ok(),
                    "{cell:?} in {run}"
                );
            }
            rows += 1;
        }
        assert!(rows > 1, "{words:?}: {run}");
    }
}

#[test]
fn names_from_files_stay_text_in_every_command() {
    let machine = imported();
    every_command(&machine, &hostile());
    every_table(&machine);
}

#[test]
fn names_from_benches_stay_text_in_every_command() {
    let machine = measured();
    every_command(&machine, "line\nfeed");
    every_table(&machine);
}

#[test]
fn hostile_names_are_the_same_names_in_messages_and_exports() {
    let machine = imported();
    let is_named = |message: &serde_json::Value| message["benchmark"]["id"] == hostile();
    for words in ["history", "show now", "compare before now"] {
        let words: Vec<&str> = words
            .split(' ')
            .chain(["--message-format", "json"])
            .collect();
        assert!(
            run(&machine, &words).json().iter().any(is_named),
            "{words:?}"
        );
    }
    let lines = run(&machine, &["store", "export", "now"]).stdout;
    let elsewhere = Machine::new();
    let file = elsewhere.home().join("runs.jsonl");
    fs::write(&file, lines).expect("written");
    run(
        &elsewhere,
        &["store", "import", file.to_str().expect("text")],
    )
    .expect_code(0);
    let found = stored(&elsewhere, "history --message-format json").messages("benchmark");
    assert!(found.iter().any(is_named), "{found:?}");
}

#[test]
fn a_wrong_name_is_told_without_doing_what_it_says() {
    let machine = imported();
    let name = format!("{}\u{1b}[2J\n##[error]x", hostile());
    for words in [
        &["compare", &name][..],
        &["show", &name],
        &["store", "export", &name],
        &["baseline", "save", &name],
        &["accept", &name],
        &["store", "import", &name],
        &["store", "import", &name, "--unit", &name],
    ] {
        assert_ne!(run(&machine, words).code(), 0, "{words:?}");
    }
}
