//! Latencies of single operations as `BenchForge` states them: digits of the histogram, bootstrap intervals over launches.

use serde_json::Value;

use crate::commands::scripted::{CLOCK, stored};
use crate::support::{Machine, Perfcheck};

const JSON: [&str; 2] = ["--message-format", "json"];

/// A run of `steady` of `testbench/times_operations`, whose operations take these times in launch after launch, each times 1 to 1.006 in turn.
fn timing(machine: &Machine, launches: &[u64], words: &str) -> Perfcheck {
    let times: Vec<String> = launches.iter().map(u64::to_string).collect();
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "times_operations", "--exact", "steady"])
        .args(["--resamples", "1000", "--measurement-time", "40ms"])
        .args(["--launches", &launches.len().to_string()])
        .args(words.split_whitespace())
        .env(CLOCK, format!("steady={}", times.join("/")))
}

/// What `show --stats` says of the latest run in text, its lines joined.
fn told(machine: &Machine) -> String {
    let text = stored(machine, &["show", "--stats"]).run().stdout;
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What `show --stats` says of the latest run.
fn statistics(machine: &Machine) -> Value {
    let shown = stored(machine, &["show", "--stats"]).args(JSON).run();
    let shown = shown.expect_code(0);
    shown.messages("benchmark-statistics").remove(0)
}

/// What the operations of each launch of the latest run have taken by the script, ascending: `ns` of the launch times 1 to 1.006, sample by sample in
/// turn, and each 50th of them `tail` in its place, if that is not 0.
pub fn operations(machine: &Machine, ns: impl Fn(usize) -> f64, tail: f64) -> Vec<Vec<u64>> {
    let shown = stored(machine, &["show"]).args(JSON).run();
    let message = shown.messages("benchmark-measured").remove(0);
    let launches = message["launches"].as_array().expect("launches").iter();
    let of_launch = |(at, launch): (usize, &Value)| {
        let samples = ["linear", "flat"].map(|phase| {
            let counts = launch[phase]["iterations"].as_array().expect("a list");
            counts.iter().filter_map(Value::as_u64).collect::<Vec<_>>()
        });
        let mut times: Vec<u64> = Vec::new();
        for (sample, count) in samples.concat().into_iter().enumerate() {
            for _ in 0..count {
                let is_tail = tail > 0.0 && (times.len() + 1).is_multiple_of(50);
                let base = if is_tail { tail } else { ns(at) };
                times.push((base * (1.0 + 1e-3 * (sample % 7) as f64)).round() as u64);
            }
        }
        times.sort_unstable();
        times
    };
    launches.enumerate().map(of_launch).collect()
}

/// The value of nearest rank.
fn percentile(ascending: &[u64], quantile: f64) -> u64 {
    ascending[(quantile * ascending.len() as f64).ceil() as usize - 1]
}

#[track_caller]
fn near(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap_or(f64::NAN);
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs(),
        "{found} is not {expected}"
    );
}

/// The lower bound of the counter of a value where counters below `exact` are one wide, and each power of two has half as many.
fn counter(value: u64, exact: u64) -> u64 {
    let mut width = 1;
    while value / width >= exact {
        width *= 2;
    }
    value / width * width
}

#[test]
fn b4_b5_b6_b7_the_histogram_has_the_digits_that_are_asked_for() {
    let machine = Machine::new();
    // 2^ceil(log2(2 x 10^digits))
    for (digits, exact) in [(1, 32), (2, 256), (3, 2_048), (4, 32_768), (5, 262_144)] {
        let words = format!("--warm-up-time 1ms --latency-digits {digits}");
        timing(&machine, &[1_234_567], &words).run().expect_code(0);
        let message = statistics(&machine);
        let latencies = &message["latencies"];
        assert_eq!(latencies["digits"], digits, "{latencies}");
        near(&latencies["relative_error"], 2.0 / exact as f64);
        let times = &operations(&machine, |_| 1_234_567.0, 0.0)[0];
        for (at, quantile) in [(0, 0.5), (1, 0.95), (2, 0.99), (4, 1.0)] {
            let found = &latencies["percentiles"][at];
            let expected = counter(percentile(times, quantile), exact);
            assert_eq!(found["merged_ns"], expected, "{digits}: {found}");
            near(&found["mean"], expected as f64);
        }
    }
    // By hand: 1238271 lies between 151 x 8192 and 152 x 8192, of two digits.
    assert_eq!(counter(1_238_271, 256), 1_236_992);
    let text = stored(&machine, &["show", "1", "--stats"]).run().stdout;
    let told = "percentiles are at most 6.2 % too low; below 32 ns exact";
    assert!(text.contains(told), "{text}");
    timing(&machine, &[1_234_567], "--latency-digits 6")
        .run()
        .expect_code(2);
}

#[test]
fn n1_operations_of_a_counted_warm_up_are_in_no_histogram() {
    let machine = Machine::new();
    let run = timing(&machine, &[1_000_000, 1_000_000], "--warm-up-iterations 25");
    run.run().expect_code(0);
    let shown = stored(&machine, &["show"]).args(JSON).run();
    let message = shown.messages("benchmark-measured").remove(0);
    let sum = |list: &Value| -> u64 {
        let list = list.as_array().expect("a list").iter();
        list.filter_map(Value::as_u64).sum()
    };
    for launch in message["launches"].as_array().expect("launches") {
        assert_eq!(sum(&launch["warm_up"]["iterations"]), 25);
        let sampled = sum(&launch["linear"]["iterations"]) + sum(&launch["flat"]["iterations"]);
        let counters = launch["latencies"]["counters"].as_array().expect("pairs");
        let counted: u64 = counters.iter().filter_map(|pair| pair[1].as_u64()).sum();
        assert_eq!(counted, sampled);
    }
}

/// The values of which so many of all 5^5 equally likely means of resamples of five are below them, by enumeration.
fn quantiles_of_means(values: &[f64], shares: [f64; 2]) -> [f64; 2] {
    let mut means: Vec<f64> = (0..5_usize.pow(5))
        .map(|sequence| {
            let drawn = (0..5).map(|place| values[sequence / 5_usize.pow(place) % 5]);
            drawn.sum::<f64>() / 5.0
        })
        .collect();
    means.sort_by(f64::total_cmp);
    shares.map(|share| means[(share * means.len() as f64) as usize])
}

#[test]
fn b11_b13_b15_latencies_have_benchforges_bootstrap_over_launches() {
    let machine = Machine::new();
    let launches = [1_000_000, 1_030_000, 1_090_000, 1_210_000, 1_450_000];
    timing(&machine, &launches, "--warm-up-time 1ms")
        .run()
        .expect_code(0);
    let message = statistics(&machine);
    let found = &message["latency_bootstrap"];
    assert_eq!(found["launches"], 5);
    assert_eq!(found["resamples"], 10_000);
    assert_eq!(found["ci_degenerate"], false);
    let of_launches = operations(&machine, |at| launches[at] as f64, 0.0);
    // Each is the lower bound of its counter.
    for (at, quantile) in [(0, 0.5), (1, 0.95)] {
        let values: Vec<f64> = (of_launches.iter())
            .map(|times| counter(percentile(times, quantile), 2_048) as f64)
            .collect();
        let ns = &found["percentiles"][at]["ns"];
        near(&ns["estimate"], values.iter().sum::<f64>() / 5.0);
        // Of 10,000 resamples the 251st and the 9,750th lie within 6 standard deviations (0.16 %) of the shares 2.5 and 97.5 %.
        let [low, high] = quantiles_of_means(&values, [0.0156, 0.0344]);
        let lower = ns["lower"].as_f64().expect("a bound");
        assert!((low..=high).contains(&lower), "{lower}: {low} to {high}");
        let [low, high] = quantiles_of_means(&values, [0.9656, 0.9844]);
        let upper = ns["upper"].as_f64().expect("a bound");
        assert!((low..=high).contains(&upper), "{upper}: {low} to {high}");
    }
    let rate = found["operations_per_second"]["estimate"].as_f64();
    assert!((800.0..900.0).contains(&rate.expect("a rate")), "{found}");
    let again = statistics(&machine);
    assert_eq!(message["latency_bootstrap"], again["latency_bootstrap"]);
    assert!(told(&machine).contains("10000 resamples of launches"));
}

#[test]
fn b13_of_three_launches_the_bounds_are_the_extremes() {
    let machine = Machine::new();
    let launches = [1_000_000, 1_030_000, 1_090_000];
    timing(&machine, &launches, "--warm-up-time 1ms")
        .run()
        .expect_code(0);
    // All three draws are the smallest in 1 of 27 resamples: more than 2.5 %.
    let ns = &statistics(&machine)["latency_bootstrap"]["percentiles"][0]["ns"];
    let medians: Vec<f64> = (operations(&machine, |at| launches[at] as f64, 0.0).iter())
        .map(|times| counter(percentile(times, 0.5), 2_048) as f64)
        .collect();
    near(&ns["lower"], medians[0]);
    near(&ns["upper"], medians[2]);
}

#[test]
fn b16_one_launch_has_points_and_says_so() {
    let machine = Machine::new();
    timing(&machine, &[1_000_000], "--warm-up-time 1ms")
        .run()
        .expect_code(0);
    let found = &statistics(&machine)["latency_bootstrap"];
    assert_eq!(found["ci_degenerate"], true);
    let times = &operations(&machine, |_| 1_000_000.0, 0.0)[0];
    let value = counter(percentile(times, 0.5), 2_048) as f64;
    for member in ["estimate", "lower", "upper"] {
        near(&found["percentiles"][0]["ns"][member], value);
    }
    assert!(told(&machine).contains("one launch: nothing to resample"));
}
