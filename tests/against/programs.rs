//! Side-by-side measurement of programs: runs of both sides alternate.
//!
//! The programs sleep, so that a busy machine does not change which of them takes longer.

use std::fs;
use std::path::Path;
use std::process::Command;

use perfcheck_code::measure_sizes;
use perfcheck_host::process::try_time_samples;

use crate::against::instructions::{LIBRARY, has_valgrind};
use crate::against::project::{Project, compared};
use crate::commands::scripted::verdict;
use crate::support::{Machine, skipped};

/// A program that sleeps for a time and prints its input. Its arguments are the name of the input, or what else to do.
const PROGRAM: &str = r#"
fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        eprintln!("{path}: {error}");
        std::process::exit(2)
    });
    std::thread::sleep(std::time::Duration::from_millis(planted::NANOSECONDS));
    print!("{text}");
}
"#;

const ENTRY: &str = r#"
[[package.metadata.perfcheck.program]]
name = "copy"
args = ["made.txt"]
prepare = "cp input.txt made.txt"
"#;

/// Creates a project with one commit of a program that takes 4 ms.
fn project(machine: &Machine) -> Project<'_> {
    let project = Project::without_benches(machine);
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    project.write("Cargo.toml", &(manifest + ENTRY));
    project.write("src/main.rs", PROGRAM);
    project.write("input.txt", "words\n");
    project.write(".gitignore", "Cargo.lock\n/target\nmade.txt\n");
    project.takes(4);
    project.commit();
    project
}

#[test]
fn a_slower_program_regresses_and_the_same_program_is_not_run() {
    let machine = Machine::new();
    let project = project(&machine);
    let same = project.measure(&["--against", "HEAD"]).run().expect_code(0);
    assert_eq!(verdict(&same, "copy"), "unchanged", "{same}");
    assert!(!project.root().join("made.txt").exists(), "nothing was run");
    project.takes(12);
    let slower = ["--against", "HEAD"];
    let slower = project.measure_in_layouts(&slower).run().expect_code(1);
    assert_eq!(verdict(&slower, "copy"), "regressed", "{slower}");
    let change = &compared(&slower, "copy")["change"]["estimate"];
    assert!(change.as_f64().expect("a number") > 0.5, "{slower}");
    assert!(!slower.stderr.contains("different output"), "{slower}");
    assert!(!slower.stderr.contains("layout"), "{slower}");
    // A command line needs no entry.
    let named = ["--against", "HEAD", "--program", "planted input.txt"];
    let named = project.measure(&named).run().expect_code(1);
    assert_eq!(verdict(&named, "planted input.txt"), "regressed", "{named}");
    assert_eq!(named.messages("benchmark-compared").len(), 1, "{named}");
}

#[test]
fn an_accepted_run_is_the_reference_of_the_next() {
    let machine = Machine::new();
    let project = project(&machine);
    let first = project.measure(&[]).run().expect_code(0);
    assert_eq!(verdict(&first, "copy"), "new", "{first}");
    project.takes(12);
    let slower = project.measure(&[]).run().expect_code(1);
    assert_eq!(verdict(&slower, "copy"), "regressed", "{slower}");
    // Times of other arguments say nothing about these.
    project.write("input2.txt", "words\n");
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    project.write(
        "Cargo.toml",
        &manifest.replace("cp input.txt", "cp input2.txt"),
    );
    let stored = project.measure(&["--no-rerun"]).run();
    assert_eq!(verdict(&stored, "copy"), "incomparable", "{stored}");
}

#[test]
fn other_input_and_other_output_are_said() {
    let machine = Machine::new();
    let project = project(&machine);
    let quick = ["--against", "HEAD", "--rounds", "5", "--program"];
    let measure = |program: &str| {
        let words = [&quick[..], &[program]].concat();
        project.measure(&words).run()
    };
    project.write("input.txt", "other words\n");
    let other_input = measure("planted input.txt");
    assert!(
        other_input.stderr.contains(
            "warning: planted/planted: the two sides of `planted input.txt` print different output"
        ),
        "{other_input}"
    );
    let note = "the input of `planted` differs between the sides (input.txt)";
    assert!(other_input.stdout.contains(note), "{other_input}");
    // A file that the base does not have.
    project.write("later.txt", "words\n");
    project.takes(5);
    let absent = measure("planted later.txt").expect_code(6);
    assert!(
        absent
            .stderr
            .contains("exit status 2; its output: `later.txt: No such file"),
        "{absent}"
    );
}

#[test]
fn a_search_for_the_commit_measures_the_program_alone() {
    let machine = Machine::new();
    let project = project(&machine);
    let good = project.git(&["rev-parse", "HEAD"]);
    project.takes(12);
    let slower = project.commit();
    project.write(
        "src/lib.rs",
        "pub const NANOSECONDS: u64 = 12;\npub const OTHER: u64 = 1;\n",
    );
    project.commit();
    let words = ["bisect", "copy", "--good", good.trim(), "--as-built"];
    let found = project.perfcheck(&words).args(["--offline"]).run();
    assert!(found.stdout.contains(&slower.trim()[..7]), "{found}");
}

/// A program whose work the library determines.
const WORKS: &str = r#"
fn main() {
    println!("{}", planted::work(planted::NANOSECONDS * 100_000));
}
"#;

/// Creates a project whose work tree has a program that works four times as long as that of its commit.
fn working_longer(machine: &Machine) -> Project<'_> {
    let project = Project::without_benches(machine);
    let works = |nanoseconds: u64| {
        let library = format!("{LIBRARY}\npub const NANOSECONDS: u64 = {nanoseconds};\n");
        project.write("src/lib.rs", &library);
    };
    project.write("src/main.rs", WORKS);
    works(40);
    project.commit();
    works(160);
    project
}

const AGAINST: [&str; 6] = [
    "--against",
    "HEAD",
    "--rounds",
    "20",
    "--program",
    "planted",
];

#[test]
fn the_instructions_of_whole_runs_are_counted() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = working_longer(&machine);
    let run = project.measure_in_layouts(&AGAINST).with_valgrind().run();
    let run = run.expect_code(1);
    let found = &compared(&run, "planted")["instructions"];
    assert_eq!(found["functions"][0]["name"], "planted::work", "{run}");
    let [base, candidate] = ["base", "candidate"].map(|side| found[side].as_f64());
    let ratio = candidate.expect("a number") / base.expect("a number");
    assert!((3.0..5.0).contains(&ratio), "{found}");
    assert_eq!(found["exact"], true, "{found}");
    let graph = project.root().join("graph.svg");
    let words = ["explain", "planted", "--flamegraph"];
    let drawn = project.perfcheck(&words).arg(&graph).with_valgrind().run();
    drawn.expect_code(0);
    let graph = fs::read_to_string(graph).expect("drawn");
    assert!(graph.contains("planted::work"), "{graph}");
}

#[test]
fn the_function_that_takes_more_of_a_run_is_sampled_without_valgrind() {
    if try_time_samples().is_err() {
        skipped("no perf_event_open");
        return;
    }
    let machine = Machine::new();
    let project = working_longer(&machine);
    let run = project.measure_in_layouts(&AGAINST).with_sampling().run();
    let run = run.expect_code(1);
    let found = &compared(&run, "planted")["sampled_time"];
    assert_eq!(found["functions"][0]["name"], "planted::work", "{run}");
}

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
#[cfg(target_os = "linux")]
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
    let explained = project.perfcheck(&["explain", "planted memory", "--full"]);
    let explained = explained.run().expect_code(0);
    let words: Vec<&str> = explained.stdout.split_whitespace().collect();
    let text = words.join(" ");
    assert!(text.contains("peak memory 6"), "{explained}");
}

#[test]
#[cfg(target_os = "linux")]
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
#[cfg(target_os = "linux")]
fn an_executable_that_grew_fails_the_run_and_names_the_function() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.write("src/main.rs", "fn main() {}\n");
    project.commit();
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
#[cfg(target_os = "linux")]
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
        assert_eq!(sizes.stripped, stripped, "{}", executable.display());
    }
}

/// The program that prints what another program used.
const TIME: &str = "/usr/bin/time";

#[test]
#[cfg(target_os = "linux")]
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
