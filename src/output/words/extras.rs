//! Describes in words what is measured besides times: allocations, instructions, sampled time and latencies. All outputs use these words.

use crate::output::units;
use perfcheck_analysis::compare::{
    AllocationComparison, AllocationSummary, Comparison, CountChange, Decision, FunctionCost,
    InstructionComparison, InstructionSummary, LatencyComparison, LatencySummary, PercentileChange,
    SampledTime, UsageChange, UsageComparison,
};
use perfcheck_analysis::model::{BySide, Measurement, Metric, Verdict};

const CLOSED_LOOP: &str = "Latencies are service times from a closed loop: each operation starts when the previous one ends, so they do not include the queueing that independent clients would see (coordinated omission). Percentiles are means over processes, accurate to 1/1024.";

/// Maximum number of functions that a sentence names.
const MOST_FUNCTIONS: usize = 3;

/// Minimum number of processes for the intervals of percentiles to mean something.
const FEWEST_PROCESSES: usize = 3;

/// Returns the explanation that is printed below every output with latencies. It says how they were measured and how far they can be trusted. Returns
/// `None` if nothing timed single operations.
pub(crate) fn latency_caveat(measurements: &[&Measurement]) -> Option<String> {
    let timed = measurements.iter().filter_map(|measurement| {
        let processes = measurement.processes.iter();
        let timed = processes.filter(|process| process.extras.latencies.is_some());
        Some(timed.count()).filter(|count| *count > 0)
    });
    let fewest = timed.min()?;
    let advice = if fewest < FEWEST_PROCESSES {
        " Results from fewer than three processes are unreliable: use at least three, or at least five for published numbers."
    } else {
        ""
    };
    Some(format!("{CLOSED_LOOP}{advice}"))
}

/// Formats the name of a quantile: `p50`, `p99.9` or `max`.
pub(crate) fn quantile_name(quantile: f64) -> String {
    if quantile >= 1.0 {
        return "max".to_owned();
    }
    // Round, because fractions such as 0.999 are not exact in binary.
    format!("p{}", (quantile * 1e6).round() / 1e4)
}

/// Formats the allocations of an iteration for a table cell: the count and the bytes, `12, 1.5 kB`.
pub(crate) fn allocations_cell(found: &AllocationSummary) -> String {
    if found.count == 0.0 {
        return "none".to_owned();
    }
    format!(
        "{}, {}",
        units::count(found.count),
        units::bytes(found.bytes)
    )
}

/// Describes the instructions of an iteration: `24806 per iteration always, in 2 processes`.
pub(crate) fn describe_instructions(found: &InstructionSummary) -> String {
    let how = if found.exact { "always" } else { "on average" };
    format!(
        "{} per iteration {how}, in {}",
        units::count(found.per_iteration),
        units::counted(found.processes, "process")
    )
}

/// Formats the 50th and 99th percentile of the latencies for a table cell: `12.10 µs, 31.00 µs`.
pub(crate) fn latency_cell(found: &LatencySummary) -> Option<String> {
    let of = |quantile| Some(units::time(found.at(quantile)?.ns.mean));
    Some(format!("{}, {}", of(0.5)?, of(0.99)?))
}

/// Describes how instructions, allocations and latencies changed, and how allocations may have changed, a sentence each. If the verdict is
/// `regressed` or `improved`, also describes which functions take more or less time, and says so if the instructions are the same. `metric` is that
/// of the benchmark.
pub(crate) fn describe_changes(comparison: &Comparison, metric: &Metric) -> Vec<String> {
    let allocations = comparison.allocations.as_ref();
    let changed = allocations
        .filter(|found| found.has_changed())
        .map(|found| format!("{} per iteration", describe_changed_counts(found)));
    // If the verdict reports a change of the time, readers want to know even that the instructions are the same.
    let is_called = matches!(comparison.verdict, Verdict::Regressed | Verdict::Improved);
    let instructions = comparison.instructions.as_ref();
    let instructions = instructions
        .filter(|found| is_called || found.change.has_changed())
        .map(describe_instruction_change);
    let contradiction = describe_contradiction(comparison, metric);
    let sampled = comparison.sampled_time.as_ref();
    let sampled = sampled.filter(|_| is_called).map(describe_sampled_time);
    let open =
        allocations.and_then(|found| describe_uncertain_counts(found, comparison.noise_threshold));
    let latencies = comparison.latencies.as_ref();
    let usage = comparison.usage.as_ref().map(describe_changed_usage);
    instructions
        .into_iter()
        .chain(contradiction)
        .chain(sampled)
        .chain(changed)
        .chain(open)
        .chain(usage.into_iter().flatten())
        .chain(latencies.and_then(describe_changed_percentiles))
        .collect()
}

/// Explains a change of the time whose direction is opposite to that of the instructions. Returns `None` if the two do not contradict each other, if
/// the verdict is not about the time because the benchmark measures another `metric` or `--metric` names one, or if only some samples became slower
/// or faster.
pub(crate) fn describe_contradiction(comparison: &Comparison, metric: &Metric) -> Option<String> {
    let instructions = comparison.instructions.as_ref()?;
    let (count, time) = match (comparison.verdict, instructions.change.verdict) {
        (Verdict::Regressed, Verdict::Improved) => ("fewer", "more"),
        (Verdict::Improved, Verdict::Regressed) => ("more", "less"),
        _ => return None,
    };
    let is_timed = metric.is_timed() && !matches!(comparison.basis, Decision::OtherMetric(_));
    if !is_timed || comparison.slow_side().is_some() {
        return None;
    }
    let agreeing = comparison.look().and_then(|look| look.agreeing_rounds);
    let rounds = agreeing.map_or_else(String::new, |agreeing| {
        let all = comparison.extent.processes_candidate();
        format!(" in {agreeing} of {all} rounds")
    });
    Some(format!(
        "{count} instructions take {time} time{rounds}, probably because of branch prediction or caches; other inputs may show the opposite"
    ))
}

/// Describes how the instructions of an iteration changed: `instructions 24806 → 25810 (+4.0 %) per iteration: words::scan +1000`.
pub(crate) fn describe_instruction_change(found: &InstructionComparison) -> String {
    let change = &found.change;
    let (base, candidate) = (units::count(change.base), units::count(change.candidate));
    if change.base == change.candidate {
        return format!("instructions {base} per iteration, as before");
    }
    let functions = list_functions(&found.functions, units::signed_count);
    let functions = if functions.is_empty() {
        String::new()
    } else {
        format!(": {functions}")
    };
    let doubt = if change.verdict == Verdict::Inconclusive {
        ", but the counts vary too much to show a change"
    } else {
        ""
    };
    format!(
        "instructions {base} → {candidate} ({}) per iteration{doubt}{functions}",
        units::change(change.relative())
    )
}

/// Describes which functions take more or less time: `time per iteration by function, from 4987 and 5012 samples: words::scan +2.400 µs`.
pub(crate) fn describe_sampled_time(found: &SampledTime) -> String {
    let samples = format_sample_counts(found);
    if found.functions.is_empty() {
        return format!("no function's time differs significantly in {samples}");
    }
    let functions = list_functions(&found.functions, units::signed_time);
    format!("time per iteration by function, from {samples}: {functions}")
}

/// Formats the numbers of samples of both sides: `4987 and 5012 samples`.
pub(crate) fn format_sample_counts(found: &SampledTime) -> String {
    let BySide { base, candidate } = found.samples;
    format!("{base} and {candidate} samples")
}

/// Lists the first functions with the difference of their costs: `words::scan +1000, words::hash -3`. `write` formats a difference.
pub(crate) fn list_functions(functions: &[FunctionCost], write: fn(f64) -> String) -> String {
    let functions = functions.iter().take(MOST_FUNCTIONS);
    let words: Vec<String> = functions
        .map(|one| format!("{} {}", one.name, write(one.difference())))
        .collect();
    words.join(", ")
}

/// Describes counts of allocations that differ by more than noise, but vary too much or come from too few processes to show a change.
fn describe_uncertain_counts(found: &AllocationComparison, noise_threshold: f64) -> Option<String> {
    let open = found.with_names().into_iter().filter(|(_, one)| {
        one.verdict == Verdict::Inconclusive && one.relative().abs() > noise_threshold
    });
    let words: Vec<String> = open
        .map(|(name, one)| format_count_change(name, &one))
        .collect();
    (!words.is_empty()).then(|| {
        format!(
            "{} per iteration, but the counts vary too much to show a change with so few processes",
            words.join(", ")
        )
    })
}

/// Lists the counts of allocations that changed: `allocations 12 → 14, bytes 1.5 kB → 1.8 kB`.
pub(crate) fn describe_changed_counts(found: &AllocationComparison) -> String {
    let changed = found
        .with_names()
        .into_iter()
        .filter(|(_, one)| one.has_changed());
    let words: Vec<String> = changed
        .map(|(name, one)| format_count_change(name, &one))
        .collect();
    words.join(", ")
}

fn format_count_change(name: &str, one: &CountChange) -> String {
    let number = |value: f64| {
        if name == "allocations" {
            units::count(value)
        } else {
            units::bytes(value)
        }
    };
    let (base, candidate) = (number(one.base), number(one.candidate));
    if base == candidate {
        // Rounded, the two numbers look the same, so print them exactly.
        return format!("{name} {} → {}", one.base, one.candidate);
    }
    format!("{name} {base} → {candidate}")
}

/// A resource that a run of a program uses.
pub(crate) struct NamedUsage<'u> {
    pub(crate) name: &'static str,
    pub(crate) change: &'u UsageChange,
    /// Formats a value.
    pub(crate) write: fn(f64) -> String,
}

impl<'u> NamedUsage<'u> {
    /// Returns the CPU time and, if it was measured, the peak memory.
    pub(crate) fn from_comparison(found: &'u UsageComparison) -> Vec<Self> {
        let cpu = Self {
            name: "CPU time",
            change: &found.cpu,
            write: units::time,
        };
        let peak = found.peak_memory.as_ref().map(|change| Self {
            name: "peak memory",
            change,
            write: units::bytes,
        });
        [cpu].into_iter().chain(peak).collect()
    }

    /// Formats the values of both sides and the change: `CPU time 3.10 ms → 3.50 ms (+12.9 %)`.
    pub(crate) fn format(&self) -> String {
        let Self {
            name,
            change,
            write,
        } = self;
        format!(
            "{name} {} → {} ({})",
            write(change.base),
            write(change.candidate),
            units::change(change.change.estimate)
        )
    }
}

/// Describes how the CPU time and the peak memory of a run changed, a sentence each.
fn describe_changed_usage(found: &UsageComparison) -> Vec<String> {
    let resources = NamedUsage::from_comparison(found).into_iter();
    let changed = resources.filter(|one| one.change.has_changed());
    changed.map(|one| one.format()).collect()
}

/// Describes which percentiles of the latencies changed: `latency p99 12.10 µs → 14.00 µs (+15.7 %)`. Returns `None` if none did.
fn describe_changed_percentiles(found: &LatencyComparison) -> Option<String> {
    let changed = found
        .percentiles
        .iter()
        .filter(|one| one.verdict != Verdict::Unchanged);
    let words: Vec<String> = changed
        .filter(|one| one.verdict != Verdict::Inconclusive)
        .map(format_percentile_change)
        .collect();
    (!words.is_empty()).then(|| format!("latency {}", words.join(", ")))
}

pub(crate) fn format_percentile_change(one: &PercentileChange) -> String {
    format!(
        "{} {} → {} ({})",
        quantile_name(one.quantile),
        units::time(one.base_ns),
        units::time(one.candidate_ns),
        units::change(one.change.estimate)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::compare::{ChangeDescription, Estimate, Extent, Uncertainty};

    fn change(base: f64, candidate: f64, verdict: Verdict) -> CountChange {
        CountChange {
            base,
            candidate,
            exact: true,
            p_value: None,
            verdict,
        }
    }

    #[test]
    fn only_what_changed_is_told_and_in_digits_that_differ() {
        let found = AllocationComparison {
            count: change(12.0, 14.0, Verdict::Regressed),
            bytes: change(1_000_000.0, 1_000_001.0, Verdict::Regressed),
            peak_bytes: change(64.0, 64.0, Verdict::Unchanged),
        };
        assert_eq!(
            describe_changed_counts(&found),
            "allocations 12 → 14, bytes 1000000 → 1000001"
        );
        let percentile = |quantile, verdict| PercentileChange {
            quantile,
            base_ns: 12_100.0,
            candidate_ns: 14_000.0,
            change: Estimate {
                estimate: 0.157,
                lower: 0.1,
                upper: 0.2,
            },
            uncertainty: Uncertainty::unknown(0.157),
            clock_step: 0.0,
            rounding: 1.0 / 1024.0,
            verdict,
        };
        let latencies = LatencyComparison {
            percentiles: vec![
                percentile(0.5, Verdict::Unchanged),
                percentile(0.999, Verdict::Regressed),
                percentile(1.0, Verdict::Inconclusive),
            ],
        };
        assert_eq!(
            describe_changed_percentiles(&latencies).as_deref(),
            Some("latency p99.9 12.10 µs → 14.00 µs (+15.7 %)")
        );
    }

    #[test]
    fn counts_that_may_have_changed_are_told_as_such_and_only_beyond_noise() {
        let found = AllocationComparison {
            count: change(100.0, 150.0, Verdict::Inconclusive),
            bytes: change(1_000.0, 1_010.0, Verdict::Inconclusive),
            peak_bytes: change(64.0, 64.0, Verdict::Unchanged),
        };
        let text = describe_uncertain_counts(&found, 0.02).expect("something");
        assert!(
            text.starts_with("allocations 100 → 150 per iteration, but the counts vary"),
            "{text}"
        );
        assert_eq!(describe_uncertain_counts(&found, 0.5), None);
    }

    #[test]
    fn functions_whose_time_differs_are_told_with_the_samples_that_show_it() {
        let mut found = SampledTime {
            samples: BySide {
                base: 4_987,
                candidate: 5_012,
            },
            functions: vec![FunctionCost {
                name: "words::scan".to_owned(),
                cost: BySide {
                    base: 20_000.0,
                    candidate: 22_400.0,
                },
                standard_error: Some(210.0),
            }],
        };
        assert_eq!(
            describe_sampled_time(&found),
            "time per iteration by function, from 4987 and 5012 samples: words::scan +2.400 µs"
        );
        found.functions.clear();
        assert_eq!(
            describe_sampled_time(&found),
            "no function's time differs significantly in 4987 and 5012 samples"
        );
    }

    #[test]
    fn instructions_contradict_only_what_measures_time() {
        let comparison = Comparison {
            verdict: Verdict::Regressed,
            change: None,
            compared: None,
            p_value: None,
            noise_threshold: 0.01,
            smallest_callable: None,
            extent: Extent::SideBySide {
                rounds: 5,
                stopped_early: false,
                layouts: 0,
            },
            basis: Decision::Untested { location: None },
            description: ChangeDescription::default(),
            allocations: None,
            instructions: Some(InstructionComparison {
                change: change(20.0, 10.0, Verdict::Improved),
                functions: Vec::new(),
            }),
            sampled_time: None,
            latencies: None,
            usage: None,
            notes: Vec::new(),
        };
        let told = |metric| describe_contradiction(&comparison, &metric);
        let text = told(Metric::Time).expect("fewer instructions take more time");
        assert!(
            text.starts_with("fewer instructions take more time"),
            "{text}"
        );
        let unit = || "things".to_owned();
        assert!(told(Metric::Rate { unit: unit() }).is_some());
        assert_eq!(told(Metric::Amount { unit: unit() }), None);
    }

    #[test]
    fn percentiles_have_their_usual_names() {
        let names = LatencyComparison::QUANTILES.map(quantile_name);
        assert_eq!(names, ["p50", "p95", "p99", "p99.9", "max"]);
    }
}
