//! Imitates Criterion 0.3.6: a time on the command line is in whole seconds and overrides the author's time for all benchmarks that are in no group.

use fakes_criterion::{Cbor, Runner, completed_with, connected};
use std::env;

/// Criterion's default warm-up and measurement time, in milliseconds.
const UNSET: [u32; 2] = [3000, 5000];

/// Returns the value of a flag in milliseconds. On the command line, it is in seconds.
fn told(flag: &str) -> Option<u32> {
    let mut arguments = env::args().skip_while(|argument| argument != flag);
    let seconds: u32 = arguments.nth(1)?.parse().expect("whole seconds");
    Some(seconds * 1000)
}

/// Measures with the times of the command line or else with the author's times, which are in milliseconds.
fn measure(runner: &mut Runner, id: &str, authors: [u32; 2]) {
    if !runner.begin(id) {
        return;
    }
    let [warm_up, measurement] = authors;
    measured(
        runner,
        id,
        [
            told("--warm-up-time").unwrap_or(warm_up),
            told("--measurement-time").unwrap_or(measurement),
        ],
    );
}

/// Measures with the times of the benchmark's group, which override those of the command line.
fn measure_as_its_group(runner: &mut Runner, id: &str, millis: [u32; 2]) {
    if runner.begin(id) {
        measured(runner, id, millis);
    }
}

fn measured(runner: &mut Runner, id: &str, [warm_up, measurement]: [u32; 2]) {
    let nanos = |millis: u32| Cbor::Float(f64::from(millis) * 1e6);
    let name = || ("id", Cbor::id(id, Vec::new()));
    runner.send(&Cbor::variant(
        "Warmup",
        [name(), ("nanos", nanos(warm_up))],
    ));
    runner.send(&Cbor::variant(
        "MeasurementStart",
        [
            name(),
            ("sample_count", Cbor::Whole(10)),
            ("estimate_ns", nanos(measurement)),
            ("iter_count", Cbor::Whole(measurement * 1000)),
        ],
    ));
    let iterations: Vec<f64> = (1..=10).map(|step| f64::from(step * 1000)).collect();
    let times = iterations.iter().map(|count| count * 1000.0).collect();
    let millis = [warm_up, measurement];
    runner.send(&completed_with(id, &iterations, times, millis));
    runner.wait(1.0, "ns");
}

fn main() {
    let mut runner = Runner(connected());
    runner.write(b"Criterion\x00\x03\x06\x00\x01\x00\x01");
    measure(&mut runner, "quick", [100, 100]);
    measure(&mut runner, "slow", [100, 5000]);
    measure_as_its_group(&mut runner, "of a group", [2000, 3000]);
    measure(&mut runner, "unset", UNSET);
    measure(&mut runner, "unset too", UNSET);
    measure(&mut runner, "late/quick", [100, 100]);
}
