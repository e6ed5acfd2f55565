//! Counts instructions of iterations with valgrind's callgrind. Tests that need valgrind are skipped if it is not installed.

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

use crate::against::project::{Project, compared, holding_a_lock};
use crate::commands::scripted::{QUICK, finish, message};
use crate::support::{Finished, Machine, Perfcheck, skipped, write_program};

/// Source of a library with two functions. The argument of `work` is the number of turns of its loop. `other` never changes.
pub const LIBRARY: &str = "
pub const TURNS: u64 = 10000;

#[inline(never)]
pub fn work(turns: u64) -> u64 {
    let mut sum = 0;
    let mut turn = 0;
    // Nothing of it is another function's, whatever is optimised.
    while turn < turns {
        sum = sum * 3 ^ turn;
        turn += 1;
    }
    sum
}

#[inline(never)]
pub fn other(turns: u64) -> u64 {
    work(turns / 3)
}
";

/// A library with a recursive function.
const RECURSIVE: &str = "
pub const DEPTH: u64 = 1000;

#[inline(never)]
pub fn descend(depth: u64) -> u64 {
    if depth == 0 { 1 } else { descend(depth - 1) * 3 ^ depth }
}
";

/// Benchmarks that create inputs and drop outputs outside the timed code. The last benchmark times itself.
const BENCHMARKS: &str = r#"
    suite.bench("work", |b| b.iter(|| planted::work(planted::TURNS)));
    suite.bench("other", |b| b.iter(|| planted::other(1000)));
    suite.bench("batched", |b| b.iter_batched(
        || planted::work(20_000),
        |input| planted::work(input % 2 + 5000),
        perfcheck::BatchSize::PerIteration,
    ));
    suite.bench("custom", |b| b.iter_custom(|iterations| {
        let began = std::time::Instant::now();
        for _ in 0..iterations {
            planted::work(700);
        }
        began.elapsed()
    }));
"#;

/// Benchmarks that execute real code but report made-up times.
const TOLD: &str = r#"
    let told = |b: &mut Bencher<'_>, nanoseconds: u64, turns: u64| {
        let mut sample = 0;
        b.iter_custom(|iterations| {
            for _ in 0..iterations {
                planted::work(turns);
            }
            sample += 1;
            Duration::from_nanos(iterations * nanoseconds * (1000 + sample % 7) / 1000)
        });
    };
    suite.bench("cost", |b| told(b, planted::NANOSECONDS, planted::COST_TURNS));
    suite.bench("constant", |b| told(b, 50, 20));
"#;

/// A Rust expression for the source of a bench. It is true if the bench runs under valgrind.
pub const UNDER_VALGRIND: &str = r#"std::env::var_os("LD_PRELOAD").is_some_and(|path| path.to_string_lossy().contains("valgrind"))"#;

pub fn has_valgrind() -> bool {
    let asked = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    let is_there = asked.is_ok_and(|status| status.success());
    if !is_there {
        skipped("no valgrind");
    }
    is_there
}

fn project(machine: &Machine) -> Project<'_> {
    Project::of(machine, LIBRARY, BENCHMARKS)
}

/// Measures the work tree, in which `work` takes more turns, against the committed state, and asks for a verdict on instructions.
pub fn beside_more_turns(project: &Project<'_>) -> Finished {
    project.write("src/lib.rs", &LIBRARY.replace("10000", "11000"));
    let words = ["--against", "HEAD", "--rounds", "5"];
    let run = project
        .measure_in_layouts(&words)
        .args(["--metric", "instructions"]);
    run.with_valgrind().run()
}

/// Prepares a short run that measures the work tree only, not side by side, and reports real times.
fn alone(project: &Project<'_>, words: &[&str]) -> Perfcheck {
    project
        .measure_in_layouts(&["--rounds", "2", "--measurement-time", "10ms"])
        .args(["--warm-up-time", "1ms", "--resamples", "1000", "--no-rerun"])
        .args(words)
}

#[track_caller]
fn measured(finished: &Finished, id: &str) -> Value {
    message(finished, "benchmark-measured", id)
}

/// Runs callgrind directly, without the tool, on one sample of ten iterations. Returns the count of `planted::work`.
fn by_hand(project: &Project<'_>, id: &str) -> u64 {
    let directory = project.root().join("target/release/deps");
    let is_bench = |path: &std::path::Path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("costs-") && !name.contains('.'))
    };
    let entries = std::fs::read_dir(directory).expect("a directory");
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    let executable = paths.find(|path| is_bench(path)).expect("a bench");
    let counted = project.root().join("callgrind.out");
    let mut child = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=planted::work"])
        .arg(format!("--callgrind-out-file={}", counted.display()))
        .arg(executable)
        .arg("--bench")
        .env("PERFCHECK_PROTOCOL", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("valgrind");
    let mut requests = child.stdin.take().expect("a pipe");
    write!(requests, "start {id}\nsample 10\nfinish\nbye\n").expect("written");
    drop(requests);
    assert!(child.wait().expect("an end").success());
    let written = std::fs::read_to_string(counted).expect("a profile");
    let totals = written
        .lines()
        .find_map(|line| line.strip_prefix("totals: "));
    totals.expect("totals").trim().parse().expect("a number")
}

#[test]
fn an_iteration_has_the_instructions_that_callgrind_counts_by_hand() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = project(&machine);
    let words = ["--instructions", "always"];
    let run = alone(&project, &words).with_valgrind().run().expect_code(0);
    for id in ["work", "custom"] {
        let found = &measured(&run, id)["instructions"];
        assert_eq!(found["exact"], true, "{id}: {found}");
        assert_eq!(found["processes"], 2, "{id}: {found}");
        let by_hand = by_hand(&project, id) as f64 / 10.0;
        let by_tool = found["per_iteration"].as_f64().expect("a number");
        // The loop over the iterations is timed, so it is counted too. Nothing else is counted besides `work`.
        assert!(
            by_tool > by_hand && by_tool < by_hand * 1.001 + 60.0,
            "{id}: {by_tool}, by hand {by_hand}"
        );
    }
    let of = |id: &str| {
        measured(&run, id)["instructions"]["per_iteration"]
            .as_f64()
            .expect("a number")
    };
    // An iteration of `batched` takes 5000 turns, half as many as one of `work`. The 20,000 turns that create the input must not be counted.
    let share = of("batched") / of("work");
    assert!((share - 0.5).abs() < 0.05, "{share}");

    let text = project.perfcheck(&["show", "--stats"]).run().expect_code(0);
    let always = format!("{} per iteration always, in 2 processes", of("work"));
    assert!(text.stdout.contains(&always), "{text}");
}

#[test]
fn sides_that_cannot_live_together_are_counted_one_after_the_other() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let body = "b.iter(|| planted::work(planted::TURNS))";
    let project = Project::of(&machine, LIBRARY, &holding_a_lock(&machine, "work", body));
    let run = beside_more_turns(&project).expect_code(1);
    assert!(run.stderr.contains("cannot run at the same time"), "{run}");
    let work = compared(&run, "work");
    assert_eq!(work["verdict"], "regressed", "{run}");
    assert_eq!(work["instructions"]["exact"], true, "{run}");
}

#[test]
fn what_both_sides_print_while_they_are_counted_is_told_one_side_after_the_other() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let benchmarks = r#"
    suite.bench("work", |b| {
        if UNDER_VALGRIND {
            eprintln!("counted: {}", planted::TURNS);
        }
        b.iter(|| planted::work(planted::TURNS));
    });
"#
    .replace("UNDER_VALGRIND", UNDER_VALGRIND);
    let project = Project::of(&machine, LIBRARY, &benchmarks);
    let run = beside_more_turns(&project).expect_code(1);
    let lines = run.stderr.lines();
    let mut counted: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("counted: "))
        .collect();
    counted.dedup();
    assert_eq!(counted, ["11000", "10000"], "{run}");
}

#[test]
fn a_verdict_about_instructions_is_exact_and_names_the_function_that_has_more() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = project(&machine);
    let run = beside_more_turns(&project).expect_code(1);
    let work = compared(&run, "work");
    assert_eq!(work["verdict"], "regressed", "{run}");
    let found = &work["instructions"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let (base, candidate) = (number(&found["base"]), number(&found["candidate"]));
    assert!((candidate / base - 1.1).abs() < 0.001, "{found}");
    assert_eq!(found["exact"], true, "{found}");
    assert_eq!(
        work["change"]["estimate"],
        json!(candidate / base - 1.0),
        "{work}"
    );
    let first = &found["functions"][0];
    assert_eq!(first["name"], "planted::work", "{found}");
    let more = number(&first["candidate"]) - number(&first["base"]);
    assert!(more > 0.9 * (candidate - base) / 3.0, "{found}");
    for id in ["batched", "custom", "other"] {
        assert_eq!(compared(&run, id)["verdict"], "unchanged", "{run}");
    }

    // The counts are stored with the runs. A later comparison gives the same result, also after the runs were imported into another store.
    let stored = [
        "compare",
        "1/base",
        "1",
        "--limit",
        "instructions:5%",
        "--message-format",
        "json",
    ];
    let again = project.perfcheck(&stored).run().expect_code(1);
    assert_eq!(compared(&again, "work")["instructions"], *found, "{again}");
    assert!(
        again.stderr.contains("instructions:5%") || again.stdout.contains("instructions:5%"),
        "{again}"
    );
    for depth in [&["--full"][..], &[]] {
        let words = ["explain", "work", "--run", "1"];
        let text = project.perfcheck(&words).args(depth).run().expect_code(0);
        assert!(text.stdout.contains("planted::work +"), "{text}");
        assert_eq!(text.stdout.contains("\nwhere "), depth.is_empty(), "{text}");
    }

    let file = project.root().join("runs.jsonl");
    let file = file.to_str().expect("a path");
    project
        .perfcheck(&["store", "export", "1", "--output", file])
        .run()
        .expect_code(0);
    let elsewhere = Machine::new();
    let other = |words: &[&str]| {
        elsewhere
            .perfcheck()
            .args(words)
            .current_dir(project.root())
            .run()
    };
    other(&["store", "import", file]).expect_code(0);
    let taken_over = other(&stored).expect_code(1);
    assert_eq!(
        compared(&taken_over, "work")["instructions"],
        *found,
        "{taken_over}"
    );
}

#[test]
fn a_function_that_calls_itself_is_counted_as_one() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let benchmarks = r#"suite.bench("descend", |b| b.iter(|| planted::descend(planted::DEPTH)));"#;
    let project = Project::of(&machine, RECURSIVE, benchmarks);
    project.write("src/lib.rs", &RECURSIVE.replace("1000", "1100"));
    let words = ["--against", "HEAD", "--rounds", "5"];
    let run = project
        .measure_in_layouts(&words)
        .args(["--metric", "instructions"]);
    let run = run.with_valgrind().run().expect_code(1);
    let found = &compared(&run, "descend")["instructions"];
    let names: Vec<&Value> = found["functions"]
        .as_array()
        .expect("functions")
        .iter()
        .map(|function| &function["name"])
        .collect();
    assert_eq!(names, ["planted::descend"], "{found}");
}

#[test]
fn a_change_of_the_time_that_is_confirmed_is_counted_unasked() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    project.benchmarks(TOLD);
    let takes = |nanoseconds: u64, turns: u64| {
        let told = format!(
            "{LIBRARY}\npub const NANOSECONDS: u64 = {nanoseconds};\npub const COST_TURNS: u64 = {turns};\n"
        );
        project.write("src/lib.rs", &told);
    };
    takes(100, 20);
    project.commit();
    let run = || project.measure_in_layouts(&QUICK).with_valgrind();
    run().run().expect_code(0);
    // The benchmark reports a longer time but executes the same code.
    takes(200, 20);
    let changed = run().run().expect_code(1);
    let cost = compared(&changed, "cost");
    assert_eq!(cost["verdict"], "regressed", "{changed}");
    let found = &cost["instructions"];
    assert_eq!(found["verdict"], "unchanged", "{changed}");
    assert_eq!(found["base"], found["candidate"], "{changed}");
    assert!(
        compared(&changed, "constant")["instructions"].is_null(),
        "{changed}"
    );
    let text = project
        .perfcheck(&["explain", "cost", "--full"])
        .run()
        .expect_code(0);
    assert!(text.stdout.contains("instructions, as before"), "{text}");

    // It reports a longer time although it executes less code.
    takes(300, 10);
    let contradictory = run().run().expect_code(1);
    let cost = compared(&contradictory, "cost");
    assert_eq!(cost["verdict"], "regressed", "{contradictory}");
    assert_eq!(
        cost["instructions"]["verdict"], "improved",
        "{contradictory}"
    );
    assert_eq!(cost["paired"]["agreeing_rounds"], 5, "{cost}");
    let beside =
        "ewer instructions take more time in 5 of 5 rounds, probably because of branch prediction";
    assert!(cost["remarks"].to_string().contains(beside), "{cost}");
    // Stored numbers have no rounds.
    let stored =
        "fewer instructions take more time, probably because of branch prediction or caches";
    let text = project.perfcheck(&["compare", "2", "3"]).run();
    let words: Vec<&str> = text.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(stored), "{text}");

    let text = project.perfcheck(&["explain", "cost", "--full"]).run();
    let words: Vec<&str> = text.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(beside), "{text}");
    let sentence = match cost["paired"]["layouts"].as_u64() {
        Some(0) => "All rounds had the same code layout, which may be the cause.",
        _ => "layouts of code and memory, so the layout does not decide the direction.",
    };
    assert!(words.join(" ").contains(sentence), "{text}");

    takes(400, 20);
    let never = run().args(["--instructions", "never"]).run().expect_code(1);
    assert!(
        compared(&never, "cost")["instructions"].is_null(),
        "{never}"
    );
}

#[test]
fn what_cannot_be_counted_is_named_with_its_reason_and_the_rest_is_counted() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = project(&machine);
    project.benchmarks(
        &r#"
    suite.bench("work", |b| b.iter(|| planted::work(100)));
    suite.bench("nothing", |b| b.iter_custom(|_| Duration::from_nanos(100)));
    suite.bench("dies", |b| b.iter(|| {
        // Only where somebody else has the processor in between.
        if UNDER_VALGRIND {
            std::process::abort();
        }
        planted::work(50)
    }));
    suite.bench("zebra", |b| b.iter(|| planted::work(200)));
"#
        .replace("UNDER_VALGRIND", UNDER_VALGRIND),
    );
    let words = ["--instructions", "always"];
    let run = alone(&project, &words).with_valgrind().run().expect_code(0);
    for id in ["work", "zebra"] {
        assert_eq!(measured(&run, id)["instructions"]["exact"], true, "{run}");
    }
    let remarks = finish(&run)["remarks"].to_string();
    assert!(
        remarks.contains(
            "instructions of `nothing` were not counted: more iterations did not execute more instructions"
        ),
        "{remarks}"
    );
    assert!(
        remarks.contains(
            "instructions of `dies` were not counted: the process ended (signal 6 (SIGABRT))"
        ),
        "{remarks}"
    );

    // Functions can only be named if the executable has symbols.
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    project.write(
        "Cargo.toml",
        &manifest.replace("debug = false", "strip = true"),
    );
    // The times are real, so the verdict against the first run does not matter here.
    let run = alone(&project, &words)
        .args(["--fail-on", "none"])
        .with_valgrind()
        .run()
        .expect_code(0);
    let remarks = finish(&run)["remarks"].to_string();
    assert!(
        remarks.contains("its executable has no symbols for the timing functions"),
        "{remarks}"
    );
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn without_valgrind_a_verdict_about_instructions_says_so_and_is_inconclusive() {
    let machine = Machine::new();
    let project = project(&machine);
    let run = alone(&project, &["--metric", "instructions"])
        .run()
        .expect_code(0);
    assert!(
        run.stdout
            .contains("valgrind does not work: it is not for tests"),
        "{run}"
    );
    assert_eq!(measured(&run, "work")["instructions"], Value::Null, "{run}");
    let again = alone(&project, &["--metric", "instructions"])
        .run()
        .expect_code(0);
    let work = compared(&again, "work");
    assert_eq!(work["verdict"], "inconclusive", "{again}");
    assert_eq!(work["notes"][0]["note"], "no-such-metric", "{again}");
    assert_eq!(work["notes"][0]["metric"], "instructions", "{again}");
}

#[test]
fn an_interrupt_ends_the_processes_that_count() {
    let machine = Machine::new();
    let project = project(&machine);
    let programs = machine.home().join("slow");
    std::fs::create_dir(&programs).expect("a directory");
    let begun = machine.home().join("begun");
    let script = format!(
        "case $1 in --version) echo valgrind-3.19.0;; *) touch {}; exec sleep 100;; esac",
        begun.display()
    );
    write_program(&programs.join("valgrind"), &script);
    let path = std::env::var("PATH").expect("a path");
    let mut running = alone(&project, &["--instructions", "always"])
        .env("PATH", format!("{}:{path}", programs.display()))
        .start();
    running.wait_for_file(&begun);
    running.signal(rustix::process::Signal::INT);
    let ended = running.finish().expect_code(130);
    assert!(
        ended.stderr.contains("run 1 is stored as incomplete"),
        "{ended}"
    );
    assert_eq!(machine.left_behind(), [""; 0]);
}
