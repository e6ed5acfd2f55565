//! Checks a run from elsewhere before it is stored. All later comparisons rely on these conditions.

use super::wire::{PortableConclusion, PortableHead, PortableRun, PortableVerdict};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkInProcess, BenchmarkKey, CountedBenchmark, FunctionCount, Latencies,
    ProcessOutcome, ProcessRecord, Purpose, Sample, Side, limits,
};

pub(super) fn check_head(head: &PortableHead) -> Result<(), String> {
    let decision = &head.begun.decision;
    if head.finished < head.begun.started {
        return Err("the run ended before it began".to_owned());
    }
    let fraction = |name: &str, value: f64| {
        if value > 0.0 && value < 1.0 {
            Ok(())
        } else {
            Err(format!("`{name}` is {value} and not between 0 and 1"))
        }
    };
    fraction("significance_level", decision.significance_level)?;
    fraction("confidence_level", decision.confidence_level)?;
    check_noise_threshold(decision.noise_threshold)?;
    if decision.resamples == 0 {
        return Err("`resamples` is 0".to_owned());
    }
    let is_part = head.begun.partition.is_some();
    if let Some(pair) = head.pair
        && is_part != (pair.purpose == Purpose::Part)
    {
        return Err("a run is a part if its `partition` says which".to_owned());
    }
    if let Some(partition) = &head.begun.partition {
        let is_known = head.acceptance != Acceptance::Pending || !head.baselines.is_empty();
        if !partition.part.is_valid() {
            return Err(format!("there is no part {}", partition.part));
        }
        if is_known || head.source.is_some() {
            return Err("a part is no reference, has no name and was not imported".to_owned());
        }
    }
    if head.pair.is_some() != head.plan.is_some() {
        return Err("a run has a plan if it is one side of a pair".to_owned());
    }
    Ok(())
}

fn check_noise_threshold(threshold: f64) -> Result<(), String> {
    if threshold.is_finite() && threshold >= 0.0 {
        Ok(())
    } else {
        Err(format!("the noise threshold is {threshold}"))
    }
}

fn check_name(what: &str, text: &str) -> Result<(), String> {
    if text.is_empty() || text.contains('\0') {
        return Err(format!("a {what} is a text without NUL"));
    }
    limits::check_name(text).map_err(|why| format!("a {what} {why}"))
}

/// Checks a process before it joins `run`.
pub(super) fn check_process(run: &PortableRun, launch: &ProcessRecord) -> Result<(), String> {
    let head = &launch.head;
    check_name("package", &head.package)?;
    check_name("target", &head.target)?;
    // Processes are sorted, so a duplicate can only follow its original.
    let place = |launch: &ProcessRecord| {
        let head = &launch.head;
        (
            head.package.clone(),
            head.target.clone(),
            head.ordinal,
            head.attempt,
        )
    };
    match run.launches.last() {
        Some(last) if place(last) >= place(launch) => Err(format!(
            "launch {} (attempt {}) of {}/{} is there twice or out of order",
            head.ordinal, head.attempt, head.package, head.target
        )),
        _ => Ok(()),
    }
}

/// Checks the series of a benchmark before it joins `launch`.
pub(super) fn check_series(
    launch: &ProcessRecord,
    launched: &BenchmarkInProcess,
) -> Result<(), String> {
    let key = &launched.benchmark.key;
    check_name("benchmark's id", &key.id)?;
    if (&key.package, &key.target) != (&launch.head.package, &launch.head.target) {
        return Err(format!("`{key}` is not of the target that was launched"));
    }
    check_noise_threshold(launched.noise_threshold)?;
    if let Some(why) = launched.benchmark.find_exceeded_limit() {
        return Err(format!("`{key}` is refused: {why}"));
    }
    if let Some(found) = &launched.extras.latencies {
        check_latencies(found).map_err(|reason| format!("the latencies of `{key}` {reason}"))?;
    }
    let ProcessOutcome::Measured(series) = &launched.outcome else {
        return Ok(());
    };
    if series.deciding_samples().is_empty() && launched.extras.latencies.is_none() {
        return Err(format!("`{key}` has no samples"));
    }
    let none = |sample: &Sample| sample.iterations == 0;
    if series.flat.iter().chain(&series.linear).any(none) {
        return Err(format!("`{key}` has a sample of 0 iterations"));
    }
    Ok(())
}

/// Checks that counters and times of the reservoir are sorted, and that the counters exist.
fn check_latencies(found: &Latencies) -> Result<(), &'static str> {
    let ascending = found.counts.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let exist = found.histogram().is_some() && found.counts.iter().all(|(_, count)| *count > 0);
    let total =
        (found.counts.iter()).try_fold(found.errors, |sum, (_, count)| sum.checked_add(*count));
    if !ascending || !exist || total.is_none() {
        Err("have counters that are out of order, empty or beyond the last one")
    } else if !found.reservoir.is_sorted() {
        Err("have drawn times that are out of order")
    } else {
        Ok(())
    }
}

/// Checks the counts of a benchmark before they join `run`.
pub(super) fn check_counts(run: &PortableRun, found: &CountedBenchmark) -> Result<(), String> {
    let key = &found.benchmark;
    if (run.counted.last()).is_some_and(|last| last.benchmark >= *key) {
        return Err(format!(
            "the counts of `{key}` are there twice or out of order"
        ));
    }
    let mut measured = run.launches.iter().flat_map(|launch| &launch.benchmarks);
    if !measured.any(|launched| launched.benchmark.key == *key) {
        return Err(format!(
            "`{key}` was counted, which the run did not measure"
        ));
    }
    check_name("benchmark's id", &key.id)?;
    if found.counts.instructions.len() > limits::MOST_COUNTS {
        return Err(format!("`{key}` has too many counts"));
    }
    let is_number = |number: u64| number > 0 && number < limits::BEYOND_NUMBERS;
    for count in &found.counts.instructions {
        if !is_number(count.iterations) || !is_number(count.instructions) {
            return Err(format!(
                "the instructions or iterations of `{key}` are no numbers from 1 to 2^63"
            ));
        }
        check_functions(key, &count.functions)?;
    }
    if let Some(time) = &found.counts.time {
        if !is_number(time.samples) {
            return Err(format!(
                "the samples of `{key}` are no number from 1 to 2^63"
            ));
        }
        check_functions(key, &time.functions)?;
    }
    Ok(())
}

/// Checks the functions of a count of the benchmark `key`.
fn check_functions(key: &BenchmarkKey, found: &[FunctionCount]) -> Result<(), String> {
    if found.len() > limits::MOST_COUNTED_FUNCTIONS {
        return Err(format!("too many functions are named for `{key}`"));
    }
    for function in found {
        check_name("function", &function.name)?;
    }
    Ok(())
}

/// Checks a verdict before it joins `run`.
pub(super) fn check_verdict(run: &PortableRun, verdict: &PortableVerdict) -> Result<(), String> {
    check_name("benchmark's id", &verdict.benchmark.id)?;
    match run.verdicts.last() {
        Some(last) if last.benchmark >= verdict.benchmark => Err(format!(
            "the verdict about `{}` is there twice or out of order",
            verdict.benchmark
        )),
        _ => Ok(()),
    }
}

/// Checks that the conclusion has the verdicts and the exit code of `run`, and that `runs` identifies every run that it names.
pub(super) fn check_conclusion(
    run: &PortableRun,
    found: &PortableConclusion,
) -> Result<(), String> {
    if run.conclusion.is_some() {
        return Err("it is there twice".to_owned());
    }
    let mut concluded: Vec<_> = (found.concluded.rows.iter())
        .filter_map(|row| Some((&row.key, row.verdict?)))
        .collect();
    concluded.sort_unstable_by_key(|(key, _)| *key);
    let verdicts = run.verdicts.iter();
    if !verdicts
        .map(|known| (&known.benchmark, known.verdict))
        .eq(concluded)
    {
        return Err("it has other verdicts than the lines above it".to_owned());
    }
    if found.concluded.exit_code.number() != run.head.exit_code {
        return Err("it ended with another exit code".to_owned());
    }
    let mut unknown = None;
    found.concluded.clone().renumber(&mut |run| {
        unknown = unknown.or((!found.runs.contains_key(&run)).then_some(run));
        Some(run)
    });
    match unknown {
        Some(run) => Err(format!("it names run {run}, which `runs` does not have")),
        None => Ok(()),
    }
}

/// Checks that both sides of a pair are present, name each other, and one of them is the base.
pub(super) fn check_pairs(runs: &[PortableRun]) -> Result<(), String> {
    for (at, run) in runs.iter().enumerate() {
        let Some(pair) = run.head.pair else { continue };
        let back = runs.get(pair.partner).and_then(|run| run.head.pair);
        let holds = back.is_some_and(|back| {
            back.partner == at && back.side != pair.side && back.purpose == pair.purpose
        });
        if !holds {
            return Err(format!(
                "run {at} is one side of a pair, and run {} is not the other",
                pair.partner
            ));
        }
        if pair.side == Side::Base && pair.partner < at {
            return Err(format!(
                "run {at} is the base of a pair and comes after its candidate"
            ));
        }
    }
    Ok(())
}
