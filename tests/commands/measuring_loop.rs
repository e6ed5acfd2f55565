//! The measuring loop as seen by users: warm-up, schedules, order, and the stored samples.

use serde_json::Value;

use crate::commands::crates::Crate;
use crate::commands::scripted::{CLOCK, QUICK, STEADY, reference_runs, script, steady, stored};
use crate::support::{Finished, Machine, Perfcheck};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Measures `arithmetic` with a scripted time of `ns` nanoseconds. `words` has all other settings.
fn arithmetic(machine: &Machine, ns: &str, words: &[&str]) -> Finished {
    let run = machine.perfcheck().testbench("");
    run.args(["-p", "steady", "arithmetic", "--resamples", "1000"])
        .args(words)
        .args(JSON)
        .env(CLOCK, format!("arithmetic={ns}"))
        .run()
        .expect_code(0)
}

pub fn measured(finished: &Finished) -> Value {
    finished.messages("benchmark-measured").remove(0)
}

/// Returns the iterations and nanoseconds of the samples in the phase `name`, with a list for each process.
pub fn phase(message: &Value, name: &str) -> Vec<Vec<(u64, u64)>> {
    let processes = message["processes"].as_array().expect("a list");
    let numbers = |list: &Value| -> Vec<u64> {
        let list = list.as_array().expect("a list").iter();
        list.map(|value| value.as_u64().expect("a whole number"))
            .collect()
    };
    processes
        .iter()
        .map(|process| {
            let phase = &process[name];
            let elapsed = numbers(&phase["elapsed_ns"]);
            numbers(&phase["iterations"])
                .into_iter()
                .zip(elapsed)
                .collect()
        })
        .collect()
}

/// Creates a crate with this bench function only.
pub fn bench(machine: &Machine, function: &str) -> Crate {
    let source = format!(
        "use perfcheck::{{BatchSize, Suite, black_box}};\n{function}\nperfcheck::main!(measured);\n"
    );
    Crate::with_source(machine, &[], &source)
}

pub fn quick(made: &Crate, machine: &Machine) -> Perfcheck {
    made.perfcheck(machine, &QUICK).args(JSON)
}

#[test]
fn n1_n3_ten_samples_a_process_are_asked_for_and_stored_and_the_warm_up_is_apart() {
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
        // Each round of the warm-up has twice as many iterations of 100 ns as the one before. They exceed 100 ms after 2^20 - 1 iterations.
        assert_eq!(warm_up[0], (1_048_575, 104_857_500));
        assert!(flat.iter().all(|sample| *sample != warm_up[0]));
    }
    assert_eq!(message["summary"]["samples"], 50);
}

#[test]
fn n1_n3_a_warm_up_may_be_a_number_of_iterations_and_a_sample_a_single_one() {
    let machine = Machine::new();
    let words = "--rounds 2 --warm-up-iterations 25 --samples 200 --sampling-mode flat --measurement-time 1ns";
    let words: Vec<&str> = words.split(' ').collect();
    arithmetic(&machine, "300000", &words);
    let shown = stored(&machine, &["show"]).args(JSON).run();
    let message = measured(&shown);
    assert_eq!(message["sampling"]["warm_up_iterations"], 25);
    for (warm_up, flat) in phase(&message, "warm_up")
        .iter()
        .zip(phase(&message, "flat"))
    {
        assert_eq!(warm_up[..], [(25, 25 * 300_000)]);
        assert_eq!(flat.len(), 200);
        // Scripted samples take 1 to 1.006 times the given time, in turn.
        for (at, sample) in flat.iter().enumerate() {
            assert_eq!(*sample, (1, 300_000 + 300 * (at as u64 % 7)), "{at}");
        }
    }
    assert_eq!(message["summary"]["samples"], 400);
    let both = ["--warm-up-iterations", "25", "--warm-up-time", "1ms"];
    let refused = stored(&machine, &both).run().expect_code(2);
    assert!(refused.stderr.contains("cannot be used with"), "{refused}");
}

#[test]
fn n17_each_iteration_timed_by_itself_has_its_own_percentiles() {
    let machine = Machine::new();
    // A sample of a millisecond would need 46 iterations. Samples of one iteration are too short for a verdict, but the run keeps them, as requested.
    let words = "--rounds 1 --warm-up-iterations 25 --samples 200 --sampling-mode flat --measurement-time 1ns";
    let words: Vec<&str> = words.split(' ').collect();
    arithmetic(&machine, "21700", &words);
    let shown = stored(&machine, &["show"]).args(JSON).run();
    let flat = phase(&measured(&shown), "flat").remove(0);
    assert_eq!(flat.len(), 200);
    assert!(flat.iter().all(|(iterations, _)| *iterations == 1));
    let mut times: Vec<u64> = flat.iter().map(|(_, ns)| *ns).collect();
    times.sort_unstable();
    let shown = stored(&machine, &["show", "--stats"]).args(JSON).run();
    let message = shown.messages("benchmark-statistics").remove(0);
    let percentiles = &message["statistics"]["percentiles_ns"];
    // By nearest rank, these are the 190th and the 198th of 200 values.
    assert_eq!(percentiles["p95"], times[189] as f64);
    assert_eq!(percentiles["p99"], times[197] as f64);
}

#[test]
fn n2_what_the_warm_up_left_is_gone_before_the_first_sample() {
    let machine = Machine::new();
    // The warm-up takes 15 iterations of 1 ms. The 16th iteration belongs to the first sample.
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
        .perfcheck(&machine, &["--rounds", "1", "--warm-up-time", "10ms"])
        .args(["--measurement-time", "20ms", "--resamples", "1000"])
        .env(CLOCK, "a=1000000")
        .run()
        .expect_code(0);
    assert!(run.stderr.contains("call 15: 7 alive"), "{run}");
    assert!(run.stderr.contains("call 16: 0 alive"), "{run}");
}

#[test]
fn a_warm_up_that_was_disturbed_does_not_make_all_samples_short() {
    let machine = Machine::new();
    // The 50 iterations of the warm-up are slow, as on a busy machine. Later iterations are not.
    let made = bench(
        &machine,
        r#"
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
static CALLS: AtomicU64 = AtomicU64::new(0);
fn measured(suite: &mut Suite) {
    suite.bench("a", |b| b.iter(|| {
        if CALLS.fetch_add(1, SeqCst) < 50 {
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        (0..1000_u64).fold(0, |sum, n| black_box(sum + n))
    }));
}"#,
    );
    let words = "--rounds 2 --warm-up-iterations 50 --measurement-time 20ms --resamples 1000";
    let run = made
        .perfcheck(&machine, &words.split(' ').collect::<Vec<_>>())
        .args(JSON)
        .run()
        .expect_code(0);
    let message = measured(&run);
    let warm_up = phase(&message, "warm_up")[0][0];
    assert!(warm_up.0 == 50 && warm_up.1 > 5_000_000, "{warm_up:?}");
    // By the slow times of the warm-up, ten iterations would be enough for a sample of a millisecond. The samples must have more.
    for samples in phase(&message, "flat") {
        assert!(
            samples.iter().all(|(iterations, _)| *iterations > 10),
            "{samples:?}"
        );
    }
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
        .perfcheck(&machine, &["--rounds", "1", "--warm-up-time", "1us"])
        .args(["--measurement-time", "10us", "--samples", "5"])
        .args(["--sampling-mode", "flat", "--resamples", "1000"])
        .args(JSON)
        .run()
        .expect_code(0);
    // Every sample has at least one set-up and one drop, which take 5 ms each. Neither must be timed.
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
        assert_eq!(then["processes"], now["processes"]);
        assert_eq!(then["summary"], now["summary"]);
        let raw: usize = phase(now, "flat").iter().map(Vec::len).sum();
        assert_eq!(now["summary"]["samples"], raw, "nothing is trimmed");
    }
}

#[test]
fn n_x1_b17_there_are_five_processes_unless_somebody_says_otherwise() {
    let machine = Machine::new();
    let words = ["--measurement-time", "5ms", "--warm-up-time", "1ms"];
    let message = measured(&arithmetic(&machine, "1/2/3/4/5", &words));
    assert_eq!(message["sampling"]["processes"], 5);
    assert_eq!(message["processes"].as_array().map(Vec::len), Some(5));
    let three = [&words[..], &["--rounds", "3"]].concat();
    let message = measured(&arithmetic(&machine, "1", &three));
    assert_eq!(message["processes"].as_array().map(Vec::len), Some(3));
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
    assert_eq!(first.len(), 15, "five benchmarks in three processes");
    assert_eq!(first, again);
    assert_ne!(first[..5], first[5..10], "another order in each process");
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
        let words = ["--rounds", "1", "--warm-up-time", time, "--samples", "2"];
        phase(
            &measured(&arithmetic(&machine, "1000000", &words)),
            "warm_up",
        )[0][0]
    };
    assert_eq!(warm_up("10ms"), (15, 15_000_000), "1 + 2 + 4 + 8");
    // Rounds continue until their time exceeds the warm-up time. 15 ms do not exceed 15 ms, so another round follows.
    assert_eq!(warm_up("15ms"), (31, 31_000_000));
}

#[test]
fn c3_c4_c5_linear_counts_are_multiples_of_a_step_that_fills_the_time() {
    let words = [
        "--rounds",
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
    // The step is d = ceil(5 s / 1000 ns / 5050) = 991. With 30 ms per iteration, d is 1, which takes longer than requested.
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
    // The step is ceil(50 ms / 1000 ns / 55) = 910.
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
        // Each of the four samples has 5 ms / 4 / 0.1 ms iterations, rounded up. The script lengthens sample i by i per mille.
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
    let guide = include_str!("../../docs/internals/src/methods.md");
    let line = guide
        .lines()
        .filter(|line| line.ends_with("--method criterion"))
        .find_map(|line| line.strip_prefix("cargo perfcheck --rounds 1 "))
        .expect("the guide has the line");
    let words: Vec<&str> = ["--rounds", "1"]
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
    assert_eq!((named("samples"), named("processes")), (100, 1));
    assert_eq!(sampling["mode"], "auto");
    assert_eq!(message["confidence_level"], 0.95);
    let compared = &second.messages("benchmark-compared")[0];
    assert_eq!(compared["resamples"], 100_000);
    assert_eq!(compared["noise_threshold"], 0.01);
    assert_eq!(compared["decided_by"], "pooled-t");
    assert_eq!(compared["significance_level"], 0.05);
}

#[test]
fn c_x2_auto_sampling_is_linear_until_that_takes_twice_the_time_and_then_flat() {
    let machine = Machine::new();
    let words = [
        "--rounds",
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
fn m2_an_iteration_of_mmtests_is_a_process_with_samples_of_its_own() {
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
        .map(|process| process[0].1 / process[0].0)
        .collect();
    assert_eq!(times, [100, 200, 300], "each process has its own speed");
}
