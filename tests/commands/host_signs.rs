//! Facts about the host that a run reports: clock, jitter, control workload, threads, and facts that make runs incomparable.

use serde_json::{Value, json};
use std::fs;

use crate::commands::measuring_loop::{bench, measured, phase, quick};
use crate::commands::scripted::{CLOCK, finish, import_changed, steady, stored};
use crate::support::Machine;

const JSON: [&str; 2] = ["--message-format", "json"];

/// The environment variable with made-up times of the control workload for each process.
const CONTROL: &str = "PERFCHECK_SCRIPTED_CONTROL";

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
fn n7_a_run_tells_the_timers_resolution_at_its_start_where_all_is_wanted() {
    let machine = Machine::new();
    let usual = steady(&machine, &[]).run().expect_code(0);
    assert!(!usual.stderr.contains("Timer resolution"), "{usual}");
    let verbose = steady(&machine, &[]).arg("-v").run().expect_code(0);
    let (before, line) = verbose
        .stderr
        .split_once("Timer resolution: ")
        .unwrap_or_else(|| panic!("no resolution in {verbose}"));
    assert!(!before.contains("Process 1"), "{verbose}");
    let (ticks, rest) = line.split_once(" ticks/s (").expect("ticks");
    let (step, _) = rest.split_once(" ns per tick)").expect("a step");
    let (ticks, step): (f64, f64) = (ticks.parse().unwrap(), step.parse().unwrap());
    assert!((ticks * step / 1e9 - 1.0).abs() < 1e-3, "{line}");
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
    assert!(head("1").contains("varying by 2.0 % between processes, jitter up to 1.0 % (quiet)"));
    assert!(
        head("2").contains("jitter up to 20.0 % (shared)"),
        "{}",
        head("2")
    );
    let told = stored(&machine, &["explain", "text", "--full"])
        .run()
        .expect_code(0);
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
    assert!(table.contains("the machine itself became"), "{table}");
    assert!(table.contains("became 6.0 % slower"), "{table}");
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
    let protocol = include_str!("../../docs/internals/src/protocol.md");
    assert!(protocol.contains("A sample of M iterations reads a monotonic clock"));
}

#[test]
#[cfg_attr(
    not(target_os = "linux"),
    ignore = "only Linux tells the threads of a process"
)]
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

#[test]
fn n_x23_interrupted_samples_are_counted_and_noted_from_a_fifth_on() {
    // Each process had one second of processor time, and a context switch interrupts one sample of typical length. A total of 18 switches is too
    // small for a note.
    for (switches, is_noted) in [
        ([6, 6, 6], false),
        ([40, 80, 60], false),
        ([400, 800, 600], true),
    ] {
        let machine = Machine::new();
        steady(&machine, &[]).run().expect_code(0);
        import_changed(&machine, |line| {
            if line["reason"] == "process" {
                let process = line["head"]["ordinal"].as_u64().expect("its number");
                line["head"]["conduct"] = json!({
                    "threads": 1, "cpu": 1_000_000_000, "working_time": 1_000_000_000,
                    "involuntary_switches": switches[process as usize],
                    "stolen": null, "processor": null,
                });
            }
        });
        let shown = stored(&machine, &["show", "2"]).args(JSON).run();
        let message = measured(&shown);
        let id = message["benchmark"]["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let typical = |samples: &Vec<(u64, u64)>| {
            let mut lengths: Vec<u64> = samples.iter().map(|sample| sample.1).collect();
            lengths.sort_unstable();
            let middle = lengths.len() / 2;
            if lengths.len() % 2 == 1 {
                lengths[middle] as f64
            } else {
                (lengths[middle - 1] + lengths[middle]) as f64 / 2.0
            }
        };
        let hit = phase(&message, "flat");
        let hit = hit.iter().map(typical).zip(switches);
        let hit: f64 = hit
            .map(|(length, switches)| length * f64::from(switches))
            .sum();
        let expected = if switches == [6; 3] { 0.0 } else { hit / 3e9 };
        let words = ["show", "2", &id, "--stats"];
        let record = stored(&machine, &words).args(JSON).run();
        let record = record.messages("benchmark-statistics").remove(0);
        let share = record["statistics"]["interrupted_share"].as_f64();
        let share = share.expect("the system told");
        assert!(
            (share - expected).abs() < 1e-12,
            "{share} is not {expected}"
        );
        let text = stored(&machine, &words).run().stdout;
        let told = format!(
            "up to {:.1} % of the samples were interrupted",
            100.0 * expected
        );
        assert_eq!(text.contains(&told), expected > 0.0, "{told}: {text}");
        let compared = stored(&machine, &["compare", "1", "2"]).args(JSON).run();
        let compared = compared.messages("benchmark-compared");
        let about = compared
            .iter()
            .find(|one| one["benchmark"]["id"] == id.as_str());
        let notes = about.expect("compared")["notes"]
            .as_array()
            .expect("a list");
        let noted = notes
            .iter()
            .find(|note| note["note"] == "samples-interrupted");
        assert_eq!(noted.is_some(), is_noted, "{expected}: {notes:?}");
        if let Some(noted) = noted {
            assert_eq!(
                (&noted["side"], &noted["share"]),
                (&"candidate".into(), &share.into())
            );
        }
    }
}
