//! Latencies of single operations as `BenchForge` computes them: digits of the histogram, bootstrap intervals over processes.

use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::commands::scripted::{CLOCK, import_changed, stored};
use crate::support::{Machine, Perfcheck};

const JSON: [&str; 2] = ["--message-format", "json"];

/// Prepares a run of the benchmark `steady` of `testbench/times_operations`. `processes` has the scripted time of an operation in each process. The
/// scripted clock multiplies it by 1 to 1.006, sample by sample.
fn timing(machine: &Machine, processes: &[u64], words: &str) -> Perfcheck {
    let times: Vec<String> = processes.iter().map(u64::to_string).collect();
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "times_operations", "--exact", "steady"])
        .args(["--resamples", "1000", "--measurement-time", "40ms"])
        .args(["--rounds", &processes.len().to_string()])
        .args(words.split_whitespace())
        .env(CLOCK, format!("steady={}", times.join("/")))
}

/// Returns the text of `show --stats` for the latest run, without line breaks.
fn told(machine: &Machine) -> String {
    let text = stored(machine, &["show", "--stats"]).run().stdout;
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the message of `show --stats` for the latest run.
fn statistics(machine: &Machine) -> Value {
    let shown = stored(machine, &["show", "--stats"]).args(JSON).run();
    let shown = shown.expect_code(0);
    shown.messages("benchmark-statistics").remove(0)
}

/// Returns the scripted times of all operations of each process of the latest run, in ascending order. `ns` gives the scripted time of an operation
/// in a process. The scripted clock multiplies it by 1 to 1.006, sample by sample. If `tail` is not 0, every 50th operation takes `tail` instead.
pub fn operations(machine: &Machine, ns: impl Fn(usize) -> f64, tail: f64) -> Vec<Vec<u64>> {
    let shown = stored(machine, &["show"]).args(JSON).run();
    let message = shown.messages("benchmark-measured").remove(0);
    let processes = message["processes"].as_array().expect("processes").iter();
    let of_process = |(at, process): (usize, &Value)| {
        let samples = ["linear", "flat"].map(|phase| {
            let counts = process[phase]["iterations"].as_array().expect("a list");
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
    processes.enumerate().map(of_process).collect()
}

/// Returns the percentile by nearest rank, where `quantile` is between 0 and 1.
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

/// Returns the lower bound of the histogram counter that contains `value`. Each time below `exact` has a counter of its own. Above that, each power
/// of two has `exact / 2` counters.
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
    // Whatever the number of digits, times below `exact` are recorded exactly. This bound is 2^ceil(log2(2 x 10^digits)).
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
    // With two digits, 1238271 is between 151 x 8192 and 152 x 8192.
    assert_eq!(counter(1_238_271, 256), 1_236_992);
    let text = stored(&machine, &["show", "1", "--stats"]).run().stdout;
    let told = "percentiles are at most 6.2 % too low; exact below 32 ns";
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
    for process in message["processes"].as_array().expect("processes") {
        assert_eq!(sum(&process["warm_up"]["iterations"]), 25);
        let sampled = sum(&process["linear"]["iterations"]) + sum(&process["flat"]["iterations"]);
        let counters = process["latencies"]["counters"].as_array().expect("pairs");
        let counted: u64 = counters.iter().filter_map(|pair| pair[1].as_u64()).sum();
        assert_eq!(counted, sampled);
    }
}

/// Enumerates the means of all 5^5 equally likely resamples of five values. Returns the quantiles of these means at `shares`.
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
fn b11_b13_b15_latencies_have_benchforges_bootstrap_over_processes() {
    let machine = Machine::new();
    let processes = [1_000_000, 1_030_000, 1_090_000, 1_210_000, 1_450_000];
    timing(&machine, &processes, "--warm-up-time 1ms")
        .run()
        .expect_code(0);
    let message = statistics(&machine);
    let found = &message["over_processes"];
    assert_eq!(found["processes"], 5);
    assert_eq!(found["resamples"], 10_000);
    assert_eq!(found["ci_degenerate"], false);
    let of_processes = operations(&machine, |at| processes[at] as f64, 0.0);
    // The percentile of a process is the lower bound of the counter that contains it.
    for (at, quantile) in [(0, 0.5), (1, 0.95)] {
        let values: Vec<f64> = (of_processes.iter())
            .map(|times| counter(percentile(times, quantile), 2_048) as f64)
            .collect();
        let ns = &found["percentiles"][at]["interval"];
        near(&ns["estimate"], values.iter().sum::<f64>() / 5.0);
        // In 10,000 resamples, the 251st and the 9,750th are within 6 standard deviations (0.16 %) of the shares 2.5 and 97.5 %.
        let [low, high] = quantiles_of_means(&values, [0.0156, 0.0344]);
        let lower = ns["lower"].as_f64().expect("a bound");
        assert!((low..=high).contains(&lower), "{lower}: {low} to {high}");
        let [low, high] = quantiles_of_means(&values, [0.9656, 0.9844]);
        let upper = ns["upper"].as_f64().expect("a bound");
        assert!((low..=high).contains(&upper), "{upper}: {low} to {high}");
    }
    let rate = found["per_second"]["mean"].as_f64();
    assert!((800.0..900.0).contains(&rate.expect("a rate")), "{found}");
    let again = statistics(&machine);
    assert_eq!(message["over_processes"], again["over_processes"]);
    assert!(told(&machine).contains("10000 resamples of processes"));
}

#[test]
fn b13_of_three_processes_the_bounds_are_the_extremes() {
    let machine = Machine::new();
    let processes = [1_000_000, 1_030_000, 1_090_000];
    timing(&machine, &processes, "--warm-up-time 1ms")
        .run()
        .expect_code(0);
    // In 1 of 27 resamples, all three draws are the smallest value. That is more than 2.5 %.
    let ns = &statistics(&machine)["over_processes"]["percentiles"][0]["interval"];
    let medians: Vec<f64> = (operations(&machine, |at| processes[at] as f64, 0.0).iter())
        .map(|times| counter(percentile(times, 0.5), 2_048) as f64)
        .collect();
    near(&ns["lower"], medians[0]);
    near(&ns["upper"], medians[2]);
}

#[test]
fn b16_one_process_has_points_and_says_so() {
    let machine = Machine::new();
    timing(&machine, &[1_000_000], "--warm-up-time 1ms")
        .run()
        .expect_code(0);
    let found = &statistics(&machine)["over_processes"];
    assert_eq!(found["ci_degenerate"], true);
    let times = &operations(&machine, |_| 1_000_000.0, 0.0)[0];
    let value = counter(percentile(times, 0.5), 2_048) as f64;
    for member in ["estimate", "lower", "upper"] {
        near(&found["percentiles"][0]["interval"][member], value);
    }
    assert!(told(&machine).contains("only one process: nothing to resample"));
}

#[test]
fn b8_mean_and_deviation_of_all_operations_are_of_the_middles_of_counters() {
    let machine = Machine::new();
    timing(&machine, &[1_000_000], "--warm-up-time 1ms")
        .run()
        .expect_code(0);
    // Enter each whole number of nanoseconds up to 10,000 once into the counters of docs/internals/src/protocol.md.
    let mut counters = BTreeMap::<u64, u64>::new();
    for ns in 1..=10_000_u64 {
        let doublings = u64::from(ns.ilog2()).saturating_sub(10);
        *counters
            .entry(1_024 * doublings + (ns >> doublings))
            .or_default() += 1;
    }
    let counters: Vec<(u64, u64)> = counters.into_iter().collect();
    import_changed(&machine, |line| {
        if line["reason"] == "series" {
            line["extras"]["latencies"]["counts"] = json!(counters);
        }
    });
    let message = statistics(&machine);
    let found = &message["latencies"];
    assert_eq!(found["operations"], 10_000);
    // np.mean and np.std of the counters' midpoints, which HdrHistogram uses. For the exact numbers they would be 5000.5 and 2886.7513.
    near(&found["merged_mean_ns"], 5_000.500_35);
    near(&found["merged_std_dev_ns"], 2_886.751_675_928_305);
    let told = told(&machine);
    assert!(told.contains("mean 5.001 µs, std dev 2.887 µs"), "{told}");
}

/// Returns the percentiles that `compare 1 2` reports for the only benchmark. The first one is the median.
fn compared_percentiles(machine: &Machine, words: &str) -> Value {
    let compared = stored(machine, &["compare", "1", "2", "--fail-on", "none"])
        .args(words.split_whitespace())
        .args(JSON)
        .run()
        .expect_code(0);
    compared.messages("benchmark-compared").remove(0)["latencies"]["percentiles"].clone()
}

/// Returns the medians of the processes of the latest run, as a histogram of three digits records them.
fn medians(machine: &Machine, processes: &[u64]) -> Vec<u64> {
    let times = operations(machine, |at| processes[at] as f64, 0.0);
    let medians = times
        .iter()
        .map(|times| counter(percentile(times, 0.5), 2_048));
    medians.collect()
}

#[test]
fn b22_what_lies_within_the_error_of_a_histogram_is_no_change_and_a_finer_one_tells_it() {
    // Medians are 1.003 times the scripted times. 1003000 and 1003514 ns are in neighboring counters, which are 512 ns wide with three digits and 4
    // ns with five. 512 / 1002496 is less than the error of three digits, 1 / 1024, so this change does not count with three digits.
    for (digits, later, change, verdict) in [
        (3, 1_000_512, 512.0 / 1_002_496.0, "unchanged"),
        (5, 1_000_512, 512.0 / 1_003_000.0, "regressed"),
        (3, 1_002_048, 2_048.0 / 1_002_496.0, "regressed"),
    ] {
        let machine = Machine::new();
        for ns in [1_000_000, later] {
            let words = format!("--warm-up-time 1ms --latency-digits {digits} --fail-on none");
            timing(&machine, &[ns; 3], &words).run().expect_code(0);
        }
        let found = &compared_percentiles(&machine, "--noise-threshold 0%")[0];
        near(&found["change"]["estimate"], change);
        // All processes are equal, so the interval has no width.
        near(&found["change"]["lower"], change);
        assert_eq!(found["verdict"], verdict, "{digits} {later}: {found}");
    }
}

/// Returns every sum of eight draws from eight values, with its share of all 8^8 sequences.
fn sums_of_draws(values: &[u64]) -> BTreeMap<u64, f64> {
    let mut sums = BTreeMap::from([(0, 1.0)]);
    for _ in values {
        let mut longer = BTreeMap::new();
        for (sum, share) in sums {
            for value in values {
                *longer.entry(sum + value).or_insert(0.0) += share / values.len() as f64;
            }
        }
        sums = longer;
    }
    sums
}

#[test]
fn b_x1_the_ratio_of_mean_percentiles_has_the_bounds_of_all_resamples_of_eight_processes() {
    let machine = Machine::new();
    let base = [0, 30, 90, 30, 0, 60, 90, 0].map(|more| 1_000_000 + 1_000 * more);
    let candidate = [70, 70, 150, 90, 110, 70, 90, 110].map(|more| 1_000_000 + 1_000 * more);
    let mut sides = Vec::new();
    for processes in [&base, &candidate] {
        timing(&machine, processes, "--warm-up-time 1ms --fail-on none")
            .run()
            .expect_code(0);
        sides.push(medians(&machine, processes));
    }
    let [sums, later] = [&sides[0], &sides[1]].map(|medians| sums_of_draws(medians));
    let mut ratios: Vec<(f64, f64)> = Vec::new();
    for (base, share) in &sums {
        let beside = |(sum, other): (&u64, &f64)| (*sum as f64 / *base as f64 - 1.0, share * other);
        ratios.extend(later.iter().map(beside));
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let quantile = |share: f64| {
        let mut seen = 0.0;
        let beyond = ratios.iter().find(|(_, one)| {
            seen += one;
            seen >= share
        });
        beyond.expect("shares add up to 1").0
    };
    let found = &compared_percentiles(&machine, "--noise-threshold 0%")[0];
    let total = |medians: &[u64]| medians.iter().sum::<u64>() as f64;
    near(&found["base_ns"], total(&sides[0]) / 8.0);
    near(
        &found["change"]["estimate"],
        total(&sides[1]) / total(&sides[0]) - 1.0,
    );
    // With 40,000 resamples, the bounds are within 5 standard errors (0.39 %) of the shares 2.5 and 97.5 %.
    for (bound, share) in [("lower", 0.025), ("upper", 0.975)] {
        let (least, most) = (quantile(share - 0.0039), quantile(share + 0.0039));
        let found = found["change"][bound].as_f64().expect("a bound");
        assert!(
            (least..=most).contains(&found),
            "{bound} {found}: {least} to {most}"
        );
    }
    assert_eq!(found["verdict"], "regressed", "{found}");
    let again = &compared_percentiles(&machine, "--noise-threshold 0%")[0];
    assert_eq!(again, found, "seeded");
}

#[test]
fn b_x1_of_three_processes_the_ratio_has_students_interval_on_the_scale_of_logarithms() {
    let machine = Machine::new();
    for (processes, expected) in [
        (
            [1_000_000, 1_030_000, 1_090_000],
            [1_002_496, 1_032_704, 1_092_608],
        ),
        (
            [1_080_000, 1_100_000, 1_150_000],
            [1_082_368, 1_102_848, 1_153_024],
        ),
    ] {
        timing(&machine, &processes, "--warm-up-time 1ms --fail-on none")
            .run()
            .expect_code(0);
        assert_eq!(medians(&machine, &processes), expected);
    }
    let found = &compared_percentiles(&machine, "")[0];
    // The estimate is np.mean(after) / np.mean(before), minus 1. For the bounds, this ratio is multiplied by exp(-+ t.ppf(.975, 3.6916) e) before 1
    // is subtracted. Here e is the square root of the sum of var / (3 mean^2) over both sides, and 3.6916 are Welch's degrees of freedom.
    near(&found["change"]["estimate"], 0.067_277_786_871_828_62);
    near(&found["change"]["lower"], -0.025_367_188_367_422_022);
    near(&found["change"]["upper"], 0.168_729_249_369_295_12);
    assert_eq!(found["verdict"], "inconclusive");
}
