//! The measuring loop as a user meets it: warm-up, schedules, order, what is stored of it, and what is said of the host.

use serde_json::Value;
use std::fs;

use crate::crates::Crate;
use crate::scripted::{CLOCK, QUICK, STEADY, finish, reference_runs, script, steady, stored};
use crate::support::{Finished, Machine, Perfcheck};

const JSON: [&str; 2] = ["--message-format", "json"];

/// The times of the control workload, launch by launch.
const CONTROL: &str = "PERFCHECK_SCRIPTED_CONTROL";

/// `arithmetic` at so many nanoseconds, with nothing else said.
fn arithmetic(machine: &Machine, ns: &str, words: &[&str]) -> Finished {
    let run = machine.perfcheck().testbench("");
    run.args(["-p", "steady", "arithmetic", "--resamples", "1000"])
        .args(words)
        .args(JSON)
        .env(CLOCK, format!("arithmetic={ns}"))
        .run()
        .expect_code(0)
}

fn measured(finished: &Finished) -> Value {
    finished.messages("benchmark-measured").remove(0)
}

/// Iterations and nanoseconds of a phase, launch by launch.
fn phase(message: &Value, name: &str) -> Vec<Vec<(u64, u64)>> {
    let launches = message["launches"].as_array().expect("a list");
    let numbers = |list: &Value| -> Vec<u64> {
        let list = list.as_array().expect("a list").iter();
        list.map(|value| value.as_u64().expect("a whole number"))
            .collect()
    };
    launches
        .iter()
        .map(|launch| {
            let phase = &launch[name];
            let elapsed = numbers(&phase["elapsed_ns"]);
            numbers(&phase["iterations"])
                .into_iter()
                .zip(elapsed)
                .collect()
        })
        .collect()
}

/// A crate whose only bench function is this.
fn bench(machine: &Machine, function: &str) -> Crate {
    let made = Crate::of(machine, &[], "");
    let source = format!(
        "use perfcheck::{{BatchSize, Suite, black_box}};\n{function}\nperfcheck::main!(measured);\n"
    );
    fs::write(made.root.join("benches/listed.rs"), source).expect("written");
    made
}

fn quick(made: &Crate, machine: &Machine) -> Perfcheck {
    made.perfcheck(machine, &QUICK).args(JSON)
}

#[test]
fn n1_n3_ten_samples_a_launch_are_asked_for_and_stored_and_the_warm_up_is_apart() {
    let machine = Machine::new();
    let words = ["--samples", "10", "--sampling-mode", "flat"];
    arithmetic(&machine, "100", &words);
    let shown = stored(&machine, &["show"]).args(JSON).run();
    let message = measured(&shown);
    assert_eq!(message["sampling"]["samples"], 10);
    for (warm_up, flat) in phase(&message, "warm_up")
        .iter()
        .zip(phase(&message, "flat"))
    {
        assert_eq!((warm_up.len(), flat.len()), (1, 10));
        // Doubled rounds of 100 ns until they exceed 100 ms: 2^20 - 1 iterations.
        assert_eq!(warm_up[0], (1_048_575, 104_857_500));
        assert!(flat.iter().all(|sample| *sample != warm_up[0]));
    }
    assert_eq!(message["summary"]["samples"], 50);
}

#[test]
fn n2_what_the_warm_up_left_is_gone_before_the_first_sample() {
    let machine = Machine::new();
    // The warm-up takes 15 iterations of 1 ms; the 16th belongs to the first sample.
    let made = bench(
        &machine,
        r#"
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
static ALIVE: AtomicU64 = AtomicU64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);
struct Output;
impl Drop for Output {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}
fn measured(suite: &mut Suite) {
    suite.bench("a", |b| {
        b.iter_batched(|| (), |()| {
            let (call, alive) = (CALLS.fetch_add(1, SeqCst) + 1, ALIVE.fetch_add(1, SeqCst));
            if call == 15 || call == 16 {
                eprintln!("call {call}: {alive} alive");
            }
            Output
        }, BatchSize::NumIterations(100));
    });
}"#,
    );
    let run = made
        .perfcheck(&machine, &["--launches", "1", "--warm-up-time", "10ms"])
        .args(["--measurement-time", "20ms", "--resamples", "1000"])
        .env(CLOCK, "a=1000000")
        .run()
        .expect_code(0);
    assert!(run.stderr.contains("call 15: 7 alive"), "{run}");
    assert!(run.stderr.contains("call 16: 0 alive"), "{run}");
}

#[test]
fn n4_set_up_and_tear_down_are_not_timed() {
    let machine = Machine::new();
    let made = bench(
        &machine,
        r#"
struct Slow;
impl Drop for Slow {
    fn drop(&mut self) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
fn measured(suite: &mut Suite) {
    suite.bench("a", |b| {
        b.iter_batched(
            || std::thread::sleep(std::time::Duration::from_millis(5)),
            |()| black_box(Slow),
            BatchSize::PerIteration,
        );
    });
}"#,
    );
    let run = made
        .perfcheck(&machine, &["--launches", "1", "--warm-up-time", "1us"])
        .args(["--measurement-time", "10us", "--samples", "5"])
        .args(["--sampling-mode", "flat", "--resamples", "1000"])
        .args(JSON)
        .run()
        .expect_code(0);
    // Each sample has at least one set-up and one drop of 5 ms, each.
    let samples = phase(&measured(&run), "flat").remove(0);
    let per_iteration = |(iterations, elapsed): &(u64, u64)| elapsed / iterations;
    let least = samples.iter().map(per_iteration).min().expect("samples");
    assert!(least < 1_000_000, "{samples:?}");
}

#[test]
fn n6_c7_raw_samples_are_stored_whole_and_come_back_bit_by_bit() {
    let machine = Machine::new();
    let run = steady(&machine, &[("text", 123.456_7)]).args(JSON).run();
    let shown = stored(&machine, &["show", "1"]).args(JSON).run();
    let (then, now) = (
        run.messages("benchmark-measured"),
        shown.messages("benchmark-measured"),
    );
    assert_eq!(then.len(), 3);
    for (then, now) in then.iter().zip(&now) {
        assert_eq!(then["launches"], now["launches"]);
        assert_eq!(then["summary"], now["summary"]);
        let raw: usize = phase(now, "flat").iter().map(Vec::len).sum();
        assert_eq!(now["summary"]["samples"], raw, "nothing is trimmed");
    }
}

#[test]
fn n7_n_x18_the_step_of_the_clock_is_stored_and_printed_with_the_run() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let table = stored(&machine, &["show"]).run().expect_code(0).stdout;
    let line = table
        .lines()
        .find_map(|line| line.strip_prefix("Timer resolution: "))
        .unwrap_or_else(|| panic!("no resolution in {table}"));
    let (ticks, rest) = line.split_once(" ticks/s (").expect("ticks");
    let (step, _) = rest.split_once(" ns per tick)").expect("a step");
    let (ticks, step): (f64, f64) = (ticks.parse().unwrap(), step.parse().unwrap());
    assert!((ticks * step / 1e9 - 1.0).abs() < 1e-3, "{line}");
    let shown = stored(&machine, &["show"]).args(JSON).run();
    assert_eq!(finish(&shown)["clock_step_ns"], step as u64);
    let statistics = stored(&machine, &["show", "--stats"]).args(JSON).run();
    let statistics = &statistics.messages("benchmark-statistics")[0]["statistics"];
    let iterations = phase(&measured(&shown), "flat")[0][0].0;
    let of_iteration = statistics["clock_step_ns"].as_f64().expect("known");
    let steps = of_iteration * iterations as f64;
    assert!(steps >= 1.0 && steps <= step + 1e-6, "{steps} of {step}");
    assert_eq!(statistics["narrower_than_clock"], false);
    let text = stored(&machine, &["show", "--stats"]).run().stdout;
    assert!(text.contains("clock step"), "{text}");
}

#[test]
fn n_x1_b17_there_are_five_launches_unless_somebody_says_otherwise() {
    let machine = Machine::new();
    let words = ["--measurement-time", "5ms", "--warm-up-time", "1ms"];
    let message = measured(&arithmetic(&machine, "1/2/3/4/5", &words));
    assert_eq!(message["sampling"]["launches"], 5);
    assert_eq!(message["launches"].as_array().map(Vec::len), Some(5));
    let three = [&words[..], &["--launches", "3"]].concat();
    let message = measured(&arithmetic(&machine, "1", &three));
    assert_eq!(message["launches"].as_array().map(Vec::len), Some(3));
}

#[test]
fn n_x15_the_jitter_of_the_host_is_stored_and_shown() {
    let machine = Machine::new();
    let run = |control: &str| {
        let finished = steady(&machine, &[]).env(CONTROL, control).args(JSON).run();
        finish(&finished.expect_code(0))
    };
    let quiet = run("70000~70/71400~714/70000");
    assert_eq!(quiet["jitter"], 0.01, "the largest");
    assert_eq!(quiet["control_range"], 71_400.0 / 70_000.0 - 1.0);
    run("70000~14000");
    let head = |run: &str| stored(&machine, &["show", run]).run().stdout;
    assert!(head("1").contains("2.0 % apart between launches, jitter up to 1.0 % (quiet)"));
    assert!(
        head("2").contains("jitter up to 20.0 % (shared)"),
        "{}",
        head("2")
    );
    let told = stored(&machine, &["explain", "text"]).run().expect_code(0);
    let told = told.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("varied by up to 20.0 % within 3 ms (shared)"),
        "{told}"
    );
}

#[test]
fn n_x16_a_comparison_says_where_the_host_moved_by_more_than_the_benchmark() {
    let machine = Machine::new();
    let run = |text: f64, control: &str| {
        let run = steady(&machine, &[("text", text)]).env(CONTROL, control);
        run.args(["--noise-threshold", "1%"]).run()
    };
    run(100.0, "70000").expect_code(0);
    run(104.0, "74200");
    run(104.0, "70000");
    let notes = |candidate: &str| -> Vec<Value> {
        let words = ["compare", "1", candidate, "--noise-threshold", "1%"];
        let compared = stored(&machine, &words).args(JSON).run();
        let messages = compared.messages("benchmark-compared");
        let text = messages
            .iter()
            .find(|message| message["benchmark"]["id"] == "text")
            .expect("compared");
        let notes = text["notes"].as_array().expect("a list").iter();
        notes
            .filter(|note| note["note"] == "host-moved")
            .cloned()
            .collect()
    };
    let found = notes("2");
    assert_eq!(found.len(), 1);
    let change = found[0]["change"].as_f64().expect("a change");
    assert!((change - 0.06).abs() < 1e-9, "{change}");
    assert_eq!(notes("3"), [Value::Null; 0]);
    let words = ["compare", "1", "2", "--noise-threshold", "1%"];
    let table = stored(&machine, &words).run().stdout;
    assert!(table.contains("the control workload"), "{table}");
    assert!(table.contains("ran 6.0 % slower too"), "{table}");
}

#[test]
fn n_x22_benchmarks_are_visited_in_an_order_that_follows_from_the_seed() {
    let machine = Machine::new();
    let made = bench(
        &machine,
        r#"
fn measured(suite: &mut Suite) {
    for id in ["a", "b", "c", "d", "e"] {
        suite.bench(id, |b| {
            eprintln!("visiting {id}");
            b.iter(|| black_box(1))
        });
    }
}"#,
    );
    let order = |seed: &str| -> Vec<String> {
        let run = quick(&made, &machine)
            .args(["--seed", seed])
            .env(CLOCK, script(&["a", "b", "c", "d", "e"], &[]))
            .run()
            .expect_code(0);
        let lines = run.stderr.lines();
        lines
            .filter_map(|line| line.split_once("visiting "))
            .map(|(_, id)| id.trim().to_owned())
            .collect()
    };
    let (first, again) = (order("1"), order("1"));
    assert_eq!(first.len(), 15, "five benchmarks in three launches");
    assert_eq!(first, again);
    assert_ne!(first[..5], first[5..10], "another order in each launch");
    assert_ne!(first, order("2"));
}

#[test]
fn c1_a_run_warms_up_measures_analyses_and_compares() {
    let machine = Machine::new();
    let first = steady(&machine, &[]).args(JSON).run().expect_code(0);
    let second = steady(&machine, &[]).args(JSON).run().expect_code(0);
    for run in [&first, &second] {
        let message = measured(run);
        let warm_up = phase(&message, "warm_up");
        assert!(warm_up.iter().all(|total| total[0].0 > 0 && total[0].1 > 0));
        assert!(phase(&message, "flat").iter().all(|flat| !flat.is_empty()));
        assert!(message["summary"]["median_ns"]["estimate"].is_number());
    }
    let compared = |run: &Finished| run.messages("benchmark-compared")[0].clone();
    assert_eq!(compared(&first)["verdict"], "new");
    assert!(compared(&second)["change"]["estimate"].is_number());
}

#[test]
fn c2_the_warm_up_doubles_until_its_time_is_exceeded() {
    let machine = Machine::new();
    let warm_up = |time: &str| {
        let words = ["--launches", "1", "--warm-up-time", time, "--samples", "2"];
        phase(
            &measured(&arithmetic(&machine, "1000000", &words)),
            "warm_up",
        )[0][0]
    };
    assert_eq!(warm_up("10ms"), (15, 15_000_000), "1 + 2 + 4 + 8");
    // Strictly: 15 ms do not exceed 15 ms.
    assert_eq!(warm_up("15ms"), (31, 31_000_000));
}

#[test]
fn c3_c4_c5_linear_counts_are_multiples_of_a_step_that_fills_the_time() {
    let words = [
        "--launches",
        "1",
        "--sampling-mode",
        "linear",
        "--warm-up-time",
        "1ms",
        "--measurement-time",
        "5s",
        "--samples",
        "100",
    ];
    let linear = |ns: &str| {
        phase(
            &measured(&arithmetic(&Machine::new(), ns, &words)),
            "linear",
        )
        .remove(0)
    };
    // d = ceil(5 s / 1000 ns / 5050) = 991; with 30 ms 1, which takes longer than asked for.
    for (ns, step) in [("1000", 991), ("30000000", 1)] {
        let counts: Vec<u64> = linear(ns).iter().map(|sample| sample.0).collect();
        let expected: Vec<u64> = (1..=100).map(|i| i * step).collect();
        assert_eq!(counts, expected);
    }
    let shorter = [
        &words[..6],
        &["--measurement-time", "50ms", "--samples", "10"],
    ]
    .concat();
    let message = measured(&arithmetic(&Machine::new(), "1000", &shorter));
    let counts: Vec<u64> = phase(&message, "linear")[0]
        .iter()
        .map(|sample| sample.0)
        .collect();
    // ceil(50 ms / 1000 ns / 55) = 910
    assert_eq!(counts, (1..=10).map(|i| i * 910).collect::<Vec<u64>>());
}

#[test]
fn c6_b2_only_whole_samples_are_timed_and_a_body_cannot_report_times_of_its_own() {
    let machine = Machine::new();
    let made = bench(
        &machine,
        r##"
fn measured(suite: &mut Suite) {
    suite.bench("a", |b| b.iter(|| {
        println!(r#"{{"type":"samples","iterations":[1],"elapsed_ns":[1]}}"#);
    }));
}"##,
    );
    let run = quick(&made, &machine)
        .args(["--samples", "4", "--sampling-mode", "flat"])
        .env(CLOCK, "a=100000")
        .run()
        .expect_code(0);
    for samples in phase(&measured(&run), "flat") {
        // 5 ms / 4 / 0.1 ms iterations in each; the script lengthens sample i by i per mille.
        let expected = (0..4)
            .map(|i| (13, 1_300_000 + 1300 * i))
            .collect::<Vec<_>>();
        assert_eq!(samples, expected);
    }
}

#[test]
fn c12_a_run_is_compared_with_what_was_stored_under_a_name() {
    let machine = Machine::new();
    let save = ["--save-baseline", "before"];
    steady(&machine, &[]).args(save).run().expect_code(0);
    steady(&machine, &[("text", 300.0)]).run().expect_code(1);
    let named = ["--baseline", "before"];
    let run = steady(&machine, &[("text", 200.0)]).args(named).args(JSON);
    let run = run.run().expect_code(1);
    assert_eq!(reference_runs(&run, "text"), [1]);
}

#[test]
fn c_x1_criterions_own_settings_can_be_had_by_flags() {
    let machine = Machine::new();
    let guide = include_str!("../../docs/GUIDE.md");
    let line = guide
        .lines()
        .find_map(|line| line.strip_prefix("cargo perfcheck --launches 1 "))
        .expect("the guide has the line");
    let words: Vec<&str> = ["--launches", "1"]
        .into_iter()
        .chain(line.split(' '))
        .collect();
    let run = |ns: &str| {
        let run = machine.perfcheck().testbench("");
        run.args(["-p", "steady", "arithmetic"])
            .args(&words)
            .args(JSON)
            .env(CLOCK, format!("arithmetic={ns}"))
            .run()
    };
    run("1000000").expect_code(0);
    let second = run("1000000").expect_code(0);
    let message = measured(&second);
    let sampling = &message["sampling"];
    let named = |name: &str| sampling[name].as_u64().expect("a number");
    assert_eq!(named("warm_up_ns"), 3_000_000_000);
    assert_eq!(named("measurement_ns"), 5_000_000_000);
    assert_eq!((named("samples"), named("launches")), (100, 1));
    assert_eq!(sampling["mode"], "auto");
    assert_eq!(message["confidence_level"], 0.95);
    let compared = &second.messages("benchmark-compared")[0];
    assert_eq!(compared["resamples"], 100_000);
    assert_eq!(compared["noise_threshold"], 0.01);
    assert_eq!(compared["decided_by"], "t-score");
    // One-sided: both directions together have 5 %.
    assert_eq!(compared["significance_level"], 0.025);
}

#[test]
fn c_x2_auto_sampling_is_linear_until_that_takes_twice_the_time_and_then_flat() {
    let machine = Machine::new();
    let words = [
        "--launches",
        "1",
        "--sampling-mode",
        "auto",
        "--warm-up-time",
        "1ms",
        "--measurement-time",
        "5s",
        "--samples",
        "100",
    ];
    let slow = measured(&arithmetic(&machine, "30000000", &words));
    let flat: Vec<u64> = phase(&slow, "flat")[0]
        .iter()
        .map(|sample| sample.0)
        .collect();
    assert_eq!(flat, [2; 100]);
    assert!(phase(&slow, "linear")[0].is_empty());
    assert!(slow["summary"]["slope_ns"].is_null());
    let machine = Machine::new();
    let quick = measured(&arithmetic(&machine, "1000000", &words));
    let linear: Vec<u64> = phase(&quick, "linear")[0]
        .iter()
        .map(|sample| sample.0)
        .collect();
    assert_eq!(linear, (1..=100).collect::<Vec<u64>>());
    assert!(phase(&quick, "flat")[0].is_empty());
}

#[test]
fn m2_an_iteration_of_mmtests_is_a_launch_with_samples_of_its_own() {
    let machine = Machine::new();
    let run = steady(&machine, &[]).args(JSON);
    let run = run
        .env(CLOCK, "arithmetic=100/200/300;memory=1;text=1")
        .run();
    let messages = run.messages("benchmark-measured");
    let message = messages
        .iter()
        .find(|message| message["benchmark"]["id"] == STEADY[0])
        .expect("measured");
    let times: Vec<u64> = phase(message, "flat")
        .iter()
        .map(|launch| launch[0].1 / launch[0].0)
        .collect();
    assert_eq!(times, [100, 200, 300], "each process has its own speed");
}

#[test]
fn m12_m_x12_another_processor_is_refused_another_kernel_named_and_equal_facts_are_not_mentioned() {
    let machine = Machine::new();
    let run = || steady(&machine, &[]).run().expect_code(0);
    let change = |member: &str| {
        let store = rusqlite::Connection::open(machine.store()).expect("the store");
        let changed = format!(
            "UPDATE environments SET facts = json_set(facts, '$.host.{member}', 'Another')"
        );
        assert_eq!(store.execute(&changed, []).expect("written"), 1);
    };
    run();
    change("kernel");
    run();
    let compared = stored(&machine, &["compare", "1", "2"])
        .args(JSON)
        .run()
        .expect_code(0);
    let warnings = finish(&compared)["warnings"].clone();
    assert_eq!(warnings.as_array().map(Vec::len), Some(1), "{warnings}");
    assert_eq!(
        (&warnings[0]["fact"], &warnings[0]["base"]),
        (&"kernel".into(), &"Another".into())
    );
    let store = rusqlite::Connection::open(machine.store()).expect("the store");
    let other = "UPDATE environments SET facts = json_set(facts, '$.host.cpu', 'Another')
                 WHERE id = (SELECT environment FROM runs WHERE id = 1)";
    assert_eq!(store.execute(other, []).expect("written"), 1);
    drop(store);
    let refused = stored(&machine, &["compare", "1", "2"])
        .run()
        .expect_code(6);
    assert!(refused.stdout.contains("incomparable"), "{refused}");
    assert!(refused.stdout.contains("cpu: Another -> "), "{refused}");
    assert!(!refused.stdout.contains("architecture"), "{refused}");
    let allowed = ["compare", "1", "2", "--allow-different", "cpu"];
    stored(&machine, &allowed).run().expect_code(0);
}

#[test]
fn b1_the_harness_reads_a_monotonic_clock_alone() {
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/src");
    let mut monotonic = 0;
    for entry in fs::read_dir(sources).expect("the harness") {
        let path = entry.expect("a file").path();
        if path.is_file() {
            let source = fs::read_to_string(&path).expect("text");
            assert!(!source.contains("SystemTime"), "{}", path.display());
            monotonic += source.matches("Instant::now()").count();
        }
    }
    assert!(monotonic > 0, "the search finds nothing at all");
    let protocol = include_str!("../../docs/PROTOCOL.md");
    assert!(protocol.contains("A sample of M iterations reads a monotonic clock"));
}

#[test]
#[cfg(target_os = "linux")]
fn b3_threads_that_ran_beside_the_samples_are_counted_and_shown() {
    let machine = Machine::new();
    let made = bench(
        &machine,
        r#"
fn measured(suite: &mut Suite) {
    suite.bench("a", |b| {
        for _ in 0..2 {
            std::thread::spawn(|| loop {
                std::thread::sleep(std::time::Duration::from_secs(60));
            });
        }
        b.iter(|| black_box(1))
    });
}"#,
    );
    quick(&made, &machine)
        .env(CLOCK, "a=100")
        .run()
        .expect_code(0);
    let shown = made
        .perfcheck(&machine, &["show", "--stats"])
        .args(JSON)
        .run();
    let statistics = &shown.messages("benchmark-statistics")[0]["statistics"];
    assert_eq!(statistics["threads"], 3);
    let text = made.perfcheck(&machine, &["show", "--stats"]).run().stdout;
    assert!(
        text.contains("threads           3 in the process"),
        "{text}"
    );
    steady(&machine, &[]).run().expect_code(0);
    let alone = stored(&machine, &["show", "--stats"]).run().expect_code(0);
    assert!(!alone.stdout.contains("threads "), "{alone}");
}
