//! Console blocks marked `<!-- run: FIXTURE -->`: their output must equal what the tool prints for stored runs.

use std::fmt::Write as _;
use std::fs;

use super::pages::{Page, words};
use crate::commands::scripted::{steady, stored};
use crate::support::Machine;

/// Fills the store with the runs that a marked block needs. `fixture` is the text after `run:` in the mark.
fn prepare(machine: &Machine, fixture: &str) {
    match fixture {
        "nothing" => {}
        "three runs" => {
            for (name, changed, code) in [
                ("main", &[][..], 0),
                ("slow", &[("memory", 200.0)], 1),
                ("fast", &[("arithmetic", 50.0)], 0),
            ] {
                let run = steady(machine, changed).args(["--save-baseline", name]);
                let against: &[&str] = if name == "main" {
                    &[]
                } else {
                    &["--baseline", "main"]
                };
                run.args(against).run().expect_code(code);
            }
        }
        "sorting" => {
            let table = machine.home().join("sorting.csv");
            fs::write(&table, sorting()).expect("a file");
            let table = table.to_str().expect("text");
            let import = [
                "store",
                "import",
                table,
                "--columns",
                "id=function/input,value=ns,process=process",
            ];
            stored(machine, &import)
                .args(["--unit", "ns", "--save-baseline", "sorting"])
                .run()
                .expect_code(0);
        }
        _ => panic!("no fixture {fixture}"),
    }
}

/// Returns a table with the times of three functions on three inputs, in five processes.
fn sorting() -> String {
    let mut table = "function,input,process,ns\n".to_owned();
    for (function, times) in [
        ("heap", [44.4, 1277.0, 19620.0]),
        ("stable", [21.1, 489.8, 7635.0]),
        ("unstable", [17.8, 468.5, 7700.0]),
    ] {
        for (input, ns) in ["10", "100", "1000"].into_iter().zip(times) {
            for process in 1..=5 {
                for sample in 0..4 {
                    let ns = ns * (1.0 + 0.01 * f64::from(process) + 0.001 * f64::from(sample));
                    writeln!(table, "{function},{input},{process},{ns:.4}").expect("a string");
                }
            }
        }
    }
    table
}

/// Returns how a console block must read: its commands, each followed by what the tool prints.
fn filled(machine: &Machine, code: &str) -> String {
    let mut text = String::new();
    for line in code.lines().filter(|line| line.starts_with("$ ")) {
        let words = words(&line[2..]);
        let words: Vec<&str> = words
            .iter()
            .map(|word| word.to_str().expect("text"))
            .collect();
        let (program, rest) = words.split_at(2);
        assert_eq!(program, ["cargo", "perfcheck"], "{line}");
        let finished = stored(machine, rest).run();
        write!(text, "{line}\n{}{}", finished.stdout, finished.stderr).expect("a string");
        if line.ends_with("; echo \"exit $?\"") {
            writeln!(text, "exit {}", finished.code()).expect("a string");
        }
    }
    let lines = text.lines().map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn marked_blocks_show_what_the_tool_says() {
    let mut found = 0;
    for page in Page::all() {
        let mut text = page.text.clone();
        for block in page.blocks() {
            let Some(fixture) = block.mark.and_then(|mark| mark.strip_prefix("run: ")) else {
                continue;
            };
            found += 1;
            let machine = Machine::new();
            prepare(&machine, fixture);
            let said = filled(&machine, block.code);
            if std::env::var_os("PERFCHECK_WRITE_CONSOLE").is_some() {
                text = text.replace(block.code, &said);
            } else {
                snapbox::assert_data_eq!(said, block.code.to_owned());
            }
        }
        if text != page.text {
            fs::write(&page.path, text).expect("a file of the repository");
        }
    }
    assert!(found >= 3, "{found}");
}
