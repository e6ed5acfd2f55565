//! Names that somebody else chose, through every command that shows them: none of them is more than text, whatever it is read with.

use super::stored;
use super::support::{Finished, Machine};
use std::fs;
use std::path::PathBuf;

/// The beginning of a line of its own, where a line end has got through.
const INJECTED: &str = "injected-line";

fn hostile() -> String {
    format!(
        "=1+1 \u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\u{2066} |`</text></svg><script>\r\n{INJECTED} \n::error::x ##[error]x \"'"
    )
}

/// Two runs of hostile benchmarks, units, facts and files.
fn imported() -> Machine {
    let machine = Machine::new();
    for (run, factor) in [1.0, 1.5].into_iter().enumerate() {
        let file: PathBuf = machine
            .home()
            .join(format!("{} {run}", hostile().replace('/', "_")));
        let mut table = String::from("name;value\n");
        let name = hostile().replace('"', "\"\"");
        for sample in 0..40 {
            let value = factor * f64::from(100 + sample % 7);
            table.push_str(&format!(
                "\"{name}\";{value}\n\"::error::first{name}\";{value}\n"
            ));
        }
        fs::write(&file, table).expect("written");
        let names = ["latest-was", "now"];
        machine
            .perfcheck()
            .testbench("")
            .args([
                "import",
                "--format",
                "csv",
                "--columns",
                "id=name,value=value",
                "--separator",
                ";",
            ])
            .args([
                "--unit",
                &format!("amount:{}", hostile().replace(['\r', '\n', ','], " ")),
            ])
            .args(["--fact", &format!("cpu={}", hostile())])
            .args(["--fact", &format!("rustflags={}", hostile())])
            .args(["--baseline", names[run]])
            .arg(&file)
            .env("GITHUB_ACTIONS", "true")
            .run()
            .expect_text()
            .expect_code(0);
    }
    machine
}

trait ExpectText {
    /// Nothing in the output commands or hides.
    fn expect_text(self) -> Self;
}

impl ExpectText for Finished {
    #[track_caller]
    fn expect_text(self) -> Self {
        for stream in [&self.stdout, &self.stderr] {
            let stream = stream.replace("\r\n", "\n");
            let harmful = |c: char| {
                (c.is_control() && c != '\n' && c != '\t')
                    || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            };
            assert!(!stream.contains(harmful), "{self}");
            assert!(!stream.contains("##["), "{self}");
            for line in stream.lines() {
                assert!(!line.trim_start().starts_with("::"), "{line:?} in {self}");
            }
        }
        self
    }
}

#[track_caller]
fn run(machine: &Machine, words: &[&str]) -> Finished {
    machine
        .perfcheck()
        .args(words)
        .testbench("")
        .env("GITHUB_ACTIONS", "true")
        .run()
        .expect_text()
}

#[test]
fn hostile_names_stay_text_in_every_command() {
    let machine = imported();
    let id = hostile();
    // What is quoted in CSV may hold line ends; all else may not.
    let on_lines: [&[&str]; 16] = [
        &["list"],
        &["runs"],
        &["show", "now"],
        &["show", "now", "--stats"],
        &["explain", &id],
        &["explain", "no such benchmark"],
        &["compare", "latest-was", "now"],
        &["compare", "latest-was", "now", "--fail", "mean:1%"],
        &["compare", "latest-was", "now", "--format", "markdown"],
        &["compare", "latest-was", "now", "latest-was"],
        &["compare", "latest-was", "now", "--statistic", "all"],
        &[
            "compare",
            "latest-was",
            "now",
            "--statistic",
            "all",
            "--format",
            "markdown",
        ],
        &[
            "compare",
            "latest-was",
            "now",
            "--pivot",
            "rows=id,cols=run,value=time",
        ],
        &[
            "compare",
            "latest-was",
            "now",
            "--pivot",
            "rows=id,cols=run,value=time",
            "--format",
            "markdown",
        ],
        &["export", "now", "--format", "benchstat"],
        &["baseline", "list"],
    ];
    for words in on_lines {
        let finished = run(&machine, words);
        assert!(
            [0, 1, 6].contains(&finished.code()),
            "{words:?}: {finished}"
        );
        for line in finished.stdout.lines().chain(finished.stderr.lines()) {
            assert!(
                !line.trim_start().starts_with(INJECTED),
                "{words:?}: {finished}"
            );
        }
    }
    for words in [
        &["compare", "latest-was", "now", "--format", "csv"][..],
        &[
            "compare",
            "latest-was",
            "now",
            "--statistic",
            "all",
            "--format",
            "csv",
        ],
        &["export", "now", "--format", "csv"],
    ] {
        let finished = run(&machine, words);
        let mut rows = 0;
        let mut reader = csv::ReaderBuilder::new().from_reader(finished.stdout.as_bytes());
        for row in reader.records() {
            for cell in &row.expect("a row") {
                let is_number = cell.parse::<f64>().is_ok();
                assert!(
                    is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']),
                    "{cell:?}"
                );
            }
            rows += 1;
        }
        assert!(rows > 1, "{finished}");
    }
}

#[test]
fn hostile_names_are_the_same_names_in_messages_and_exports() {
    let machine = imported();
    for words in ["list", "runs", "show now", "compare latest-was now"] {
        let words: Vec<&str> = words
            .split(' ')
            .chain(["--message-format", "json"])
            .collect();
        let messages = run(&machine, &words).json();
        let named = |message: &serde_json::Value| message["benchmark"]["id"] == hostile().trim();
        assert!(
            words[0] == "runs" || messages.iter().any(named),
            "{words:?}"
        );
    }
    let lines = run(&machine, &["export", "now"]).stdout;
    let elsewhere = Machine::new();
    let file = elsewhere.home().join("runs.jsonl");
    fs::write(&file, lines).expect("written");
    let path = file.to_str().expect("text");
    run(&elsewhere, &["import", path]).expect_code(0);
    let found = stored(&elsewhere, "list --message-format json").messages("benchmark");
    assert!(
        found
            .iter()
            .any(|message| message["benchmark"]["id"] == hostile().trim())
    );
}

#[test]
fn hostile_names_stay_text_in_a_picture_and_in_reports() {
    let machine = imported();
    let picture = run(&machine, &["show", "now", &hostile(), "--svg", "-"]).expect_code(0);
    let svg = roxmltree::Document::parse(&picture.stdout).expect("XML");
    let names = svg.descendants().map(|node| node.tag_name().name());
    assert!(!names.into_iter().any(|name| name == "script"));
    for kind in ["markdown", "gitlab", "gitlab-metrics", "junit"] {
        let report = run(
            &machine,
            &["compare", "latest-was", "now", "--report", kind],
        );
        assert!(report.stdout.contains("script"), "{report}");
    }
}

#[test]
fn a_wrong_name_is_told_without_doing_what_it_says() {
    let machine = imported();
    for words in [
        &["compare", &hostile()][..],
        &["show", &hostile()],
        &["export", &hostile()],
        &["baseline", "save", &hostile()],
        &["accept", &hostile()],
        &["import", &hostile()],
    ] {
        assert_ne!(run(&machine, words).code(), 0, "{words:?}");
    }
}
