//! Explains the comparison of allocations, instructions, sampled time and latencies. They decide a verdict only with `--metric`.

use crate::output::messages::{Numbers, Statement};
use crate::output::units;
use crate::output::words::extras::{
    describe_changed_counts, format_percentile_change, format_sample_counts, list_functions,
    quantile_name,
};
use perfcheck_analysis::compare::{
    AllocationComparison, Comparison, CountChange, InstructionComparison, LatencyComparison,
    PercentileChange, SampledTime,
};
use perfcheck_analysis::findings::Method;
use perfcheck_analysis::model::{Statistic, Verdict};

/// Returns a statement for each of these comparisons, next to a verdict about `subject`.
pub(super) fn statements(
    comparison: &Comparison,
    method: Method,
    subject: Statistic,
) -> Vec<Statement> {
    let allocations = comparison
        .allocations
        .as_ref()
        .map(|found| allocations(found, subject));
    let latencies = comparison
        .latencies
        .as_ref()
        .map(|found| latencies(found, comparison.noise_threshold, method, subject));
    let instructions = comparison.instructions.as_ref();
    let instructions = instructions.map(|found| instructions_compared(found, comparison, subject));
    let sampled = comparison.sampled_time.as_ref().map(sampled_time);
    let counts = instructions.into_iter().chain(sampled).chain(allocations);
    counts.chain(latencies).collect()
}

/// Says that the verdict is about `time` alone, or nothing if the verdict is about another statistic: its own statement says so.
fn exclude_from_verdict(subject: Statistic, time: &str) -> String {
    if subject == Statistic::Time {
        format!(" The verdict above is about {time} alone.")
    } else {
        String::new()
    }
}

fn allocations(found: &AllocationComparison, subject: Statistic) -> Statement {
    let all = found.with_names();
    let result = if found.has_changed() {
        format!(
            "An iteration allocates differently: {}.",
            describe_changed_counts(found)
        )
    } else if all.iter().all(|(_, one)| one.verdict == Verdict::Unchanged) {
        format!(
            "An iteration allocates as before: {} times, {}.",
            units::count(found.count.candidate),
            units::bytes(found.bytes.candidate)
        )
    } else {
        "It is unclear whether an iteration allocates differently.".to_owned()
    };
    let ground = match all.iter().find(|(_, one)| !one.exact) {
        None => {
            "No count varied between iterations or processes, so any difference is real and needs no statistics.".to_owned()
        }
        Some((name, one)) => format!(
            "Not every iteration allocated the same, so the means of the processes were compared by rank ({name}: {} against {}, exact two-sided p {}). Only a difference beyond the noise threshold counts.",
            units::count(one.candidate),
            units::count(one.base),
            format_p(one),
        ),
    };
    Statement::new(
        format!("{result} {ground}{}", exclude_from_verdict(subject, "time")),
        Numbers::Allocations(*found),
    )
}

fn instructions_compared(
    found: &InstructionComparison,
    comparison: &Comparison,
    subject: Statistic,
) -> Statement {
    let one = &found.change;
    let ground = if one.exact {
        "Valgrind's callgrind counted them, the same number in every process of a side, so the difference is exact.".to_owned()
    } else {
        format!(
            "Valgrind's callgrind counted them. The numbers varied between processes, so Welch's test compared them (two-sided p {}).",
            format_p(one)
        )
    };
    let (base, candidate) = (units::count(one.base), units::count(one.candidate));
    let result = if one.base == one.candidate {
        format!("An iteration executes {candidate} instructions, as before.")
    } else {
        let noise = units::percent(comparison.noise_threshold);
        let size = match one.verdict {
            Verdict::Unchanged => format!(", within the noise threshold of {noise}"),
            Verdict::Inconclusive => ", which is not certain to be a change".to_owned(),
            _ => format!(", beyond the noise threshold of {noise}"),
        };
        let functions = list_functions(&found.functions, units::signed_count);
        let functions = if functions.is_empty() {
            String::new()
        } else {
            format!(" Functions that differ most, by their own instructions: {functions}.")
        };
        format!(
            "An iteration executes {candidate} instructions, against {base} in the reference: {}{size}.{functions}",
            units::change(one.relative())
        )
    };
    Statement::new(
        format!(
            "{result} {ground} The same instructions can take more or less time, depending on branch prediction and caches.{}",
            exclude_from_verdict(subject, "time")
        ),
        Numbers::Instructions(found.clone()),
    )
}

fn sampled_time(found: &SampledTime) -> Statement {
    let functions: Vec<String> = (found.functions.iter())
        .map(|one| {
            let [base, candidate] = [one.cost.base, one.cost.candidate].map(units::time);
            let error = one.standard_error.map(units::time);
            let error = error.map_or_else(String::new, |error| format!(", standard error {error}"));
            let more = units::signed_time(one.difference());
            format!("{} {base} → {candidate} ({more}{error})", one.name)
        })
        .collect();
    let result = if functions.is_empty() {
        "No function's time differs beyond chance.".to_owned()
    } else {
        format!(
            "Functions whose own time per iteration differs most: {}.",
            functions.join("; ")
        )
    };
    Statement::new(
        format!(
            "{result} Instructions were not counted, so {} were taken of the reference and the new run after the verdict. A function's share of the samples is its share of the time; differences below three standard errors are not named. The verdict does not depend on this.",
            format_sample_counts(found)
        ),
        Numbers::SampledTime(found.clone()),
    )
}

fn format_p(one: &CountChange) -> String {
    units::or_dash(one.p_value.map(units::p_value))
}

fn latencies(
    found: &LatencyComparison,
    noise_threshold: f64,
    method: Method,
    subject: Statistic,
) -> Statement {
    let words: Vec<String> = found.percentiles.iter().map(format_percentile).collect();
    let unit = match method {
        Method::Paired => "round by round",
        Method::Stored(_) => "process by process, ignoring drift between runs",
    };
    Statement::new(
        format!(
            "Single operations: {}. Each percentile was taken in every process, and the means were compared {unit}; operations of different processes were never pooled. A change is called if its interval lies beyond {}, beyond the rounding of the histogram ({}) and beyond a step of the clock. Operations ran in a closed loop, so time spent waiting for a slow one is not included.{}",
            words.join("; "),
            units::percent(noise_threshold),
            units::rounding(found.rounding()),
            exclude_from_verdict(subject, "the mean time"),
        ),
        Numbers::Latencies(found.into()),
    )
}

fn format_percentile(one: &PercentileChange) -> String {
    let bounds = if one.change.lower.is_finite() && one.change.upper.is_finite() {
        format!(
            ", {} to {}",
            units::change(one.change.lower),
            units::change(one.change.upper)
        )
    } else {
        String::new()
    };
    if one.base_ns == one.candidate_ns {
        return format!(
            "{} {} as before",
            quantile_name(one.quantile),
            units::time(one.candidate_ns)
        );
    }
    format!("{}{bounds}: {}", format_percentile_change(one), one.verdict)
}
