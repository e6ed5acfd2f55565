//! What programs cost besides time: CPU time, peak memory and the size of their executables. These tests need Linux.

use std::fs;
use std::path::Path;
use std::process::Command;

use perfcheck_code::measure_sizes;
use serde_json::Value;

use crate::against::project::{Project, compared};
use crate::support::{Finished, Machine, skipped};

/// A program that has 16 MiB of memory for each nanosecond of the library, or whose two threads use 200 ms of a processor each.
const USES: &str = r#"
fn use_processor() {
    let used = || -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        text.split_whitespace().next().unwrap().parse().unwrap()
    };
    while used() < 200_000_000 {
        for step in 0..100_000 {
            std::hint::black_box(step);
        }
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("memory") => drop(std::hint::black_box(vec![1_u8; planted::NANOSECONDS << 24])),
        Some("threads") => {
            let other = std::thread::spawn(use_processor);
            use_processor();
            other.join().unwrap();
        }
        _ => std::process::exit(2),
    }
}
"#;

/// Creates a project whose commit has a program that uses resources. Its work tree uses `memory` times 16 MiB instead of 64 MiB.
fn using(machine: &Machine, memory: u64) -> Project<'_> {
    let project = Project::without_benches(machine);
    project.write("src/main.rs", USES);
    let library = |times: u64| format!("pub const NANOSECONDS: usize = {times};\n");
    project.write("src/lib.rs", &library(4));
    project.commit();
    project.write("src/lib.rs", &library(memory));
    project
}

#[test]
fn memory_is_that_of_the_program_and_can_have_a_limit() {
    let machine = Machine::new();
    let project = using(&machine, 5);
    let words = [
        "--against",
        "HEAD",
        "--rounds",
        "5",
        "--program",
        "planted memory",
    ];
    let limits = ["--limit", "memory:20%", "--limit", "memory:1GiB"];
    let run = project.measure(&[&words[..], &limits].concat()).run();
    let run = run.expect_code(1);
    let usage = &compared(&run, "planted memory")["usage"];
    let mebibytes =
        |side: &str| usage["peak_bytes"][side].as_f64().expect("a number") / 1_048_576.0;
    // The process itself has a few MiB.
    assert!((64.0..68.0).contains(&mebibytes("base")), "{usage}");
    assert!((80.0..84.0).contains(&mebibytes("candidate")), "{usage}");
    assert_eq!(usage["peak_bytes"]["verdict"], "regressed", "{usage}");
    let exceeded = run.messages("limit-exceeded");
    assert_eq!(exceeded.len(), 1, "{run}");
    assert_eq!(exceeded[0]["statistic"], "memory", "{run}");
    let shown = project.perfcheck(&["show", "--stats"]).run().expect_code(0);
    assert!(shown.stdout.contains("MB per run [8"), "{shown}");
    let history = |metric: &str| {
        let words = ["history", "memory", "--metric", metric];
        project.perfcheck(&words).run().expect_code(0)
    };
    let shown = history("memory");
    assert!(shown.stdout.contains("with their peak memory"), "{shown}");
    assert!(shown.stdout.contains("Level 8"), "{shown}");
    let shown = history("cpu");
    assert!(shown.stdout.contains("with their CPU time"), "{shown}");
    assert!(shown.stdout.contains(" ms in run "), "{shown}");
    let explained = project.perfcheck(&["explain", "planted memory", "--full"]);
    let explained = explained.run().expect_code(0);
    let words: Vec<&str> = explained.stdout.split_whitespace().collect();
    let text = words.join(" ");
    assert!(text.contains("peak memory 6"), "{explained}");
}

#[test]
fn cpu_time_is_that_of_all_threads() {
    let machine = Machine::new();
    let project = using(&machine, 3);
    let words = [
        "--against",
        "HEAD",
        "--rounds",
        "5",
        "--program",
        "planted threads",
    ];
    let run = project.measure(&words).run();
    let usage = &compared(&run, "planted threads")["usage"]["cpu_ns"];
    for side in ["base", "candidate"] {
        let milliseconds = usage[side].as_f64().expect("a number") / 1e6;
        assert!((400.0..440.0).contains(&milliseconds), "{usage}");
    }
}

/// Adds a function with about 20 kB of code to the library. The program calls it only if it gets an argument.
fn grow(project: &Project<'_>) {
    let statement = |number: u32| format!("    x = std::hint::black_box(x ^ {number});\n");
    let body: String = (1..1500).map(statement).collect();
    let library = format!(
        "pub const NANOSECONDS: u64 = 1;\n\n#[inline(never)]\npub fn grown(mut x: u64) -> u64 {{\n{body}    x\n}}\n"
    );
    project.write("src/lib.rs", &library);
    let call = "\nfn main() {\n    if std::env::args().len() > 9 {\n        println!(\"{}\", planted::grown(1));\n    }\n}\n";
    project.write("src/main.rs", call);
}

#[test]
fn an_executable_that_grew_fails_the_run_and_names_the_function() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.write("src/main.rs", "fn main() {}\n");
    project.commit();
    let words = ["--rounds", "5", "--program", "planted"];
    project.measure(&words).run().expect_code(0);
    grow(&project);
    let words = ["--against", "HEAD", "--rounds", "5", "--program", "planted"];
    let limited = |limit: &str| {
        project
            .measure(&[&words[..], &["--limit", limit]].concat())
            .run()
    };
    let run = limited("size:1%").expect_code(1);
    let exceeded = &run.messages("limit-exceeded")[0];
    assert_eq!(exceeded["statistic"], "size", "{run}");
    assert_eq!(exceeded["benchmark"]["target"], "program:planted", "{run}");
    let sizes = &run.messages("run-finished")[0]["sizes"];
    let one = &sizes[0];
    assert_eq!(one["functions"][0]["name"], "planted::grown", "{sizes}");
    assert_eq!(one["limited"], true, "{sizes}");
    let grown = exceeded["found"]["estimate"].as_f64().expect("a number");
    assert!((0.02..0.3).contains(&grown), "{exceeded}");
    expect_start_up(&run);
    expect_history(&project, one);
    limited("size:50%").expect_code(0);
    let words = [
        &words[..],
        &["--limit", "size:1%", "--offline", "--as-built"],
    ]
    .concat();
    let text = project.perfcheck(&words).run().expect_code(1);
    assert!(text.stdout.contains("planted: size changed by +"), "{text}");
    assert!(
        text.stdout
            .contains("functions that grew most: `planted::grown` (added, "),
        "{text}"
    );
    let start = "is the start-up of an empty program";
    assert!(text.stdout.contains(start), "{text}");
}

/// Asserts that the messages of a run tell the start-up of an empty program, from which the program differs little, and that its time includes it.
#[track_caller]
fn expect_start_up(run: &Finished) {
    let start_up = &run.messages("benchmark-measured")[0]["usage"]["start_up_ns"];
    assert!(start_up.as_f64() > Some(0.0), "{run}");
    let remarks = compared(run, "planted")["remarks"].to_string();
    let start = "is the start-up of an empty program";
    assert!(remarks.contains(start), "{run}");
}

/// Asserts that the history shows both `sizes` of the program, and that the second begins a level.
#[track_caller]
fn expect_history(project: &Project<'_>, sizes: &Value) {
    let words = ["history", "--metric", "size", "--message-format", "json"];
    let history = project.perfcheck(&words).run().expect_code(0);
    let points = history.messages("history-point");
    assert_eq!(points.len(), 2, "{history}");
    for (point, side) in points.iter().zip(["base", "candidate"]) {
        let expected = sizes["size"][side]["stripped"].as_f64().expect("a number");
        let value = point["value"].as_f64().expect("a number");
        // The directory of the build may be part of the executable.
        assert!((value / expected - 1.0).abs() < 0.01, "{history}");
        assert!(point["verdict"].is_null(), "{history}");
    }
    let summary = &history.messages("benchmark-history")[0];
    assert_eq!(summary["statistic"], "size", "{history}");
    assert_eq!(summary["metric"]["unit"], "bytes", "{history}");
    assert_eq!(summary["levels"].as_array().map(Vec::len), Some(2));
    let step = &summary["levels"][1]["step"];
    assert_eq!(
        step["change"]["lower"], step["change"]["upper"],
        "{history}"
    );
}

/// Runs a program that may not be installed, and returns what it prints.
fn run_if_installed(program: &str, arguments: &[&Path]) -> Option<String> {
    let Ok(output) = Command::new(program).args(arguments).output() else {
        skipped(&format!("no {program}"));
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn sizes_are_those_of_binutils() {
    let directory = tempfile::tempdir().expect("a directory");
    let copy = directory.path().join("copy");
    let ours = Path::new(env!("CARGO_BIN_EXE_cargo-perfcheck"));
    for executable in [ours, Path::new("/bin/sh")] {
        let sizes = measure_sizes(&fs::read(executable).expect("readable")).expect("ELF");
        let Some(printed) = run_if_installed("size", &[executable]) else {
            return;
        };
        let numbers = printed.lines().nth(1).expect("a second line");
        let numbers = numbers.split_whitespace();
        let numbers: Vec<u64> = numbers.map_while(|word| word.parse().ok()).collect();
        assert_eq!(numbers[..3], [sizes.text, sizes.data, sizes.bss]);
        fs::copy(executable, &copy).expect("copied");
        if run_if_installed("strip", &[&copy]).is_none() {
            return;
        }
        let stripped = fs::metadata(&copy).expect("there").len();
        assert_eq!(sizes.stripped, Some(stripped), "{}", executable.display());
    }
}

/// The program that prints what another program used.
const TIME: &str = "/usr/bin/time";

#[test]
fn the_peak_memory_is_that_of_the_program_time() {
    if !Path::new(TIME).exists() {
        skipped("no /usr/bin/time");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let used = directory.path().join("used");
    for script in ["true", "x=$(head -c 20000000 /dev/zero | tr '\\0' x)"] {
        let mut helper = Command::new(env!("CARGO_BIN_EXE_cargo-perfcheck"));
        helper
            .args(["__peak-memory", TIME, "-f", "%M", "-o"])
            .arg(&used);
        let helper = helper.args(["/bin/sh", "-c", script]).output();
        let printed = String::from_utf8(helper.expect("it runs").stdout).expect("a number");
        let bytes: f64 = printed.trim().parse().expect("a number");
        let used = fs::read_to_string(&used).expect("written");
        let expected = used.trim().parse::<f64>().expect("a number") * 1024.0;
        // The helper may have more memory than a small shell.
        let most = f64::max(expected * 1.01, 4e6);
        assert!(
            (expected * 0.99..most).contains(&bytes),
            "{bytes} {expected}"
        );
    }
}
