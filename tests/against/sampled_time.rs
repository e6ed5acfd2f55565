//! Samples which function takes the time, which replaces instruction counts if valgrind is missing or too slow. Reported times are made up, so
//! verdicts are exact. The executed code is real, so the sampled shares vary. The tests are skipped if the system does not allow sampling.

use serde_json::Value;

use crate::against::instructions::{UNDER_VALGRIND, has_valgrind};
use crate::against::project::{Project, compared};
use crate::commands::scripted::finish;
use crate::support::{Finished, Machine, Perfcheck, skipped};

/// A library with two functions; tests make the second one slower.
const LIBRARY: &str = "
pub const NANOSECONDS: u64 = 100;

#[inline(never)]
pub fn steady(turns: u64) -> u64 {
    let mut sum = 0;
    let mut turn = 0;
    while turn < turns {
        sum = sum * 3 ^ turn;
        turn += 1;
    }
    sum
}

#[inline(never)]
pub fn grown(turns: u64) -> u64 {
    let mut sum = 0;
    let mut turn = 0;
    while turn < turns {
        sum = sum * 5 ^ turn;
        turn += 1;
    }
    sum
}

pub fn iteration() -> u64 {
    steady(600) ^ grown(200)
}
";

/// A benchmark that runs the library's functions and reports the library's made-up time.
const BENCHMARKS: &str = r#"
    suite.bench("work", |b| {
        let mut sample = 0;
        b.iter_custom(|iterations| {
            for _ in 0..iterations {
                std::hint::black_box(planted::iteration());
            }
            sample += 1;
            Duration::from_nanos(iterations * planted::NANOSECONDS * (1000 + sample % 7) / 1000)
        });
    });
    suite.bench("same", |b| takes(b, 50));
"#;

/// Code that a bench without a harness runs before it prints its result.
const WORK: &str = "
    for _ in 0..20_000 {
        std::hint::black_box(planted::iteration());
    }
";

fn can_sample() -> bool {
    let is_possible = perfcheck_host::process::try_time_samples().is_ok();
    if !is_possible {
        skipped("no perf_event_open");
    }
    is_possible
}

/// Measures the work tree, in which the second function does five times as much, against the committed state.
fn beside_more(project: &Project<'_>, words: &[&str]) -> Finished {
    comparison_with_more(project, "5")
        .args(words)
        .run()
        .expect_code(1)
}

fn comparison_with_more(project: &Project<'_>, rounds: &str) -> Perfcheck {
    let grown = LIBRARY
        .replace("grown(200)", "grown(1000)")
        .replace("NANOSECONDS: u64 = 100", "NANOSECONDS: u64 = 200");
    project.write("src/lib.rs", &grown);
    let run = project.measure_in_layouts(&["--against", "HEAD", "--rounds", rounds]);
    run.with_sampling()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// Asserts that the additional time is found in `grown`, and that its amount is plausible.
#[track_caller]
fn names_what_has_grown(run: &Finished) -> Value {
    let work = compared(run, "work");
    assert_eq!(work["verdict"], "regressed", "{run}");
    assert_eq!(work["instructions"], Value::Null, "{run}");
    let found = &work["sampled_time"];
    for side in ["base", "candidate"] {
        assert!(number(&found["samples"][side]) > 200.0, "{run}");
    }
    let first = &found["functions"][0];
    assert_eq!(first["name"], "planted::grown", "{found}");
    // `grown` takes a quarter of 100 ns before the change and five eighths of 200 ns after it.
    let more = number(&first["candidate"]) - number(&first["base"]);
    assert!((60.0..140.0).contains(&more), "{found}");
    assert!(more > 3.0 * number(&first["standard_error"]), "{found}");
    found.clone()
}

/// Measures two benchmarks with the same code. One of them is slow under valgrind, in its iterations or before them.
fn one_of_two_is_slow_to_count(before: &str, iterations: &str) {
    if !can_sample() || !has_valgrind() {
        return;
    }
    let benchmark = |name: &str, before: &str, iterations: &str| {
        format!(
            r#"
    suite.bench("{name}", |b| {{
        {before}
        let mut sample = 0;
        b.iter_custom(|iterations| {{
            {iterations}
            for _ in 0..iterations * 200 {{
                std::hint::black_box(planted::iteration());
            }}
            sample += 1;
            Duration::from_nanos(iterations * planted::NANOSECONDS * 5_000 * (1000 + sample % 7) / 1000)
        }});
    }});
"#
        )
    };
    let slow = benchmark("slow", before, iterations);
    let machine = Machine::new();
    let project = Project::of(&machine, LIBRARY, &(slow + &benchmark("quick", "", "")));
    let run = comparison_with_more(&project, "20").arg("--as-built");
    let run = run.with_valgrind().run();
    let run = run.expect_code(1);
    let [slow, quick] = ["slow", "quick"].map(|name| compared(&run, name));
    assert_eq!(slow["instructions"], Value::Null, "{run}");
    let named = &slow["sampled_time"]["functions"][0]["name"];
    assert_eq!(named, "planted::grown", "{run}");
    assert_eq!(quick["sampled_time"], Value::Null, "{run}");
    let named = &quick["instructions"]["functions"][0]["name"];
    assert_eq!(named, "planted::grown", "{run}");
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn what_valgrind_takes_too_long_for_is_sampled_and_the_others_are_counted() {
    let sleeps = format!("if {UNDER_VALGRIND} {{ std::thread::sleep(Duration::from_secs(20)); }}");
    one_of_two_is_slow_to_count("", &sleeps);
    one_of_two_is_slow_to_count(&sleeps, "");
}

#[test]
fn the_function_that_takes_more_time_is_named_first_and_kept_with_the_run() {
    if !can_sample() {
        return;
    }
    let machine = Machine::new();
    let project = Project::of(&machine, LIBRARY, BENCHMARKS);
    let run = beside_more(&project, &[]);
    let found = names_what_has_grown(&run);
    assert_eq!(compared(&run, "same")["sampled_time"], Value::Null);

    let stored = ["compare", "1/base", "1", "--message-format", "json"];
    let again = project.perfcheck(&stored).run().expect_code(1);
    assert_eq!(compared(&again, "work")["sampled_time"], found, "{again}");
    for depth in [&["--full"][..], &[]] {
        let words = ["explain", "work", "--run", "1"];
        let text = project.perfcheck(&words).args(depth).run().expect_code(0);
        assert!(text.stdout.contains("planted::grown"), "{text}");
        assert!(text.stdout.contains("samples"), "{text}");
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
        let command = elsewhere.perfcheck().args(words);
        command.current_dir(project.root()).run()
    };
    other(&["store", "import", file]).expect_code(0);
    let taken_over = other(&stored).expect_code(1);
    assert_eq!(
        compared(&taken_over, "work")["sampled_time"],
        found,
        "{taken_over}"
    );

    // `--instructions never` also disables sampling.
    let never = beside_more(&project, &["--instructions", "never"]);
    assert_eq!(compared(&never, "work")["sampled_time"], Value::Null);
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn of_a_bench_that_only_prints_the_whole_process_is_sampled_and_nobody_is_warned() {
    if !can_sample() {
        return;
    }
    let machine = Machine::new();
    let project = Project::like_libtest(&machine, LIBRARY, WORK);
    let run = beside_more(&project, &[]);
    let found = names_what_has_grown(&run);
    assert!(!found.to_string().contains("(unnamed)"), "{found}");
    let remarks = finish(&run)["remarks"].to_string();
    assert!(!remarks.contains("not counted"), "{remarks}");

    // Functions can only be named if the executable has symbols.
    project.write("src/lib.rs", LIBRARY);
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).expect("there");
    let stripped = manifest.replace("debug = false", "strip = true");
    project.write("Cargo.toml", &stripped);
    project.commit();
    let run = beside_more(&project, &["--as-built"]);
    assert_eq!(compared(&run, "work")["sampled_time"], Value::Null);
    let remarks = finish(&run)["remarks"].to_string();
    assert!(
        remarks.contains(
            "functions of `work` were not sampled: its executable has no function symbols"
        ),
        "{remarks}"
    );
}
