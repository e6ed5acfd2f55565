//! `doctor`: what makes this machine unsteady, and which changes it can detect.

use crate::commands::scripted::CLOCK;
use crate::support::{Machine, Perfcheck};

/// Scripted times of both workloads, the same in every process. They are longer than the real ones, so that few iterations are requested.
const STEADY: &str = "processor=2000000;memory=4000000";
/// Flags that give twelve rounds, even on a slow machine.
const TWELVE_ROUNDS: [&str; 4] = ["--time", "10min", "--rounds", "12"];

fn doctor(machine: &Machine, words: &[&str]) -> Perfcheck {
    let command = machine.perfcheck().arg("doctor").args(words);
    command.current_dir(machine.home())
}

#[test]
fn without_a_project_the_machine_is_looked_at_and_its_noise_is_measured() {
    let machine = Machine::new();
    let finished = doctor(&machine, &TWELVE_ROUNDS)
        .env(CLOCK, STEADY)
        .run()
        .expect_code(0);
    for text in [
        "timer",
        "frequency",
        "virtual machine",
        "other programs",
        "memory",
        "Noise: the same executable on both sides",
        "processor: differs from itself by",
        "a slowdown of",
        "cargo perfcheck doctor --self-test",
    ] {
        assert!(finished.stdout.contains(text), "no {text:?} in {finished}");
    }
    assert!(!machine.store().exists(), "nothing is stored");
    assert_eq!(machine.left_behind(), [""; 0]);
}

#[test]
fn what_does_not_vary_is_told_exactly_and_as_early_as_there_is_a_look() {
    let machine = Machine::new();
    let words = [
        &TWELVE_ROUNDS[..],
        &["--seed", "7", "--message-format", "json"],
    ]
    .concat();
    let finished = doctor(&machine, &words)
        .env(CLOCK, STEADY)
        .run()
        .expect_code(0);
    let noise = finished.messages("doctor-noise");
    let workloads: Vec<&str> = noise
        .iter()
        .filter_map(|one| one["workload"].as_str())
        .collect();
    assert_eq!(workloads, ["processor", "memory"], "{finished}");
    for one in &noise {
        assert_eq!(one["rounds"], 12, "{finished}");
        let difference = one["difference"]["estimate"].as_f64().expect("a number");
        assert!(difference.abs() < 1e-4, "{difference}");
        let all = one["resolvable"].as_array().expect("a list");
        let two = all
            .iter()
            .find(|found| found["change"] == 0.02)
            .expect("2 %");
        assert_eq!(
            (&two["rounds"], &two["rounds_at_most"]),
            (&10.into(), &200.into())
        );
        let smallest = one["smallest_change"].as_f64().expect("a number");
        assert!(smallest > 0.01 && smallest < 0.013, "{smallest}");
    }
    let end = &finished.messages("doctor-finished")[0];
    assert_eq!((&end["seed"], &end["exit_code"]), (&7.into(), &0.into()));
    assert!(
        end["state"]["timer"]["reading_ns"].is_number(),
        "{finished}"
    );
}

#[test]
fn a_bench_that_cannot_be_driven_is_no_measurement() {
    let machine = Machine::new();
    doctor(&machine, &["--quick"])
        .env(CLOCK, "no script")
        .run()
        .expect_code(4)
        .expect_stderr(&["nothing was measured"]);
}

#[test]
fn quick_and_a_time_contradict_one_another() {
    let machine = Machine::new();
    doctor(&machine, &["--quick", "--time", "5s"])
        .run()
        .expect_code(2);
}
