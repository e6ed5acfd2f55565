//! One JSON object a line, for machines: docs/MESSAGES.md is its contract.

use serde_json::{Value, json};
use std::io::{self, Write};

use super::remarks::run_remark;
use super::{beside, remarks};
use crate::compare::{
    Comparison, Decider, Effects, Estimate, Extent, HostSigns, LatencySummary, Summary,
};
use crate::escape;
use crate::findings::{Findings, Method, Row, Verdicts, Violation};
use crate::model::{
    Benchmark, BenchmarkKey, Measurement, Metric, RunId, Sample, Statistic, Tally, Thresholds,
    Verdict,
};

/// Version of the messages: it grows when a member changes its meaning or goes away, not when one is added.
pub const SCHEMA: u32 = 1;

/// Writes `benchmark-measured` and `benchmark-compared` for each benchmark, then `run-finished`.
pub fn write_json(writer: &mut dyn Write, findings: &Findings<'_>) -> io::Result<()> {
    for row in &findings.rows {
        if let Some(measurement) = row.measurement {
            write_object(writer, &measured(findings, row, measurement))?;
        }
        if let (Some(verdict), Some(verdicts)) = (row.verdict, &findings.verdicts) {
            write_object(writer, &compared(findings, row, verdict, verdicts))?;
        }
    }
    let verdicts = findings.verdicts.as_ref();
    for violation in verdicts.map_or(&[][..], |verdicts| &verdicts.gates.violations) {
        write_object(writer, &violated(findings.run.id, violation))?;
    }
    let run = findings.run;
    let signs = HostSigns::of(findings.rows.iter().filter_map(|row| row.measurement));
    let finished = json!({
        "reason": "run-finished",
        "schema": SCHEMA,
        "run": run.id,
        "status": run.status,
        "exit_code": findings.exit_code,
        "benchmarks": findings.rows.len(),
        "verdicts": tally_json(&findings.tally()),
        "reference": findings.verdicts.as_ref().map(|verdicts| &verdicts.reference),
        "warnings": findings.verdicts.as_ref().map_or(&[][..], |verdicts| &verdicts.warnings),
        "remarks": findings.verdicts.iter().flat_map(|verdicts| &verdicts.remarks).map(run_remark).collect::<Vec<_>>(),
        "violations": findings.verdicts.as_ref().map_or(0, |verdicts| verdicts.gates.violations.len()),
        "thresholds": thresholds_json(&findings.thresholds()),
        "seed": run.seed,
        "git": run.git,
        "environment": run.environment,
        "load": run.load,
        "clock_step_ns": signs.clock_step,
        "control_ns": signs.control_ns,
        "control_range": signs.control_range,
        "jitter": signs.jitter,
        "tool_version": run.tool_version,
        "source": run.source,
    });
    write_object(writer, &finished)
}

pub(super) fn write_object(writer: &mut dyn Write, object: &Value) -> io::Result<()> {
    let text = serde_json::to_string(object)?;
    writeln!(writer, "{}", escape::json(&text))
}

pub(super) fn key_json(key: &BenchmarkKey) -> Value {
    json!({"package": key.package, "target": key.target, "id": key.id})
}

/// Every verdict with its count, also where that is 0.
pub(super) fn tally_json(tally: &Tally) -> Value {
    Verdict::ALL
        .iter()
        .map(|verdict| (verdict.word().to_owned(), tally.count(*verdict).into()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn measured(findings: &Findings<'_>, row: &Row<'_>, measurement: &Measurement) -> Value {
    let latencies = LatencySummary::of(measurement, findings.confidence_level());
    let launches: Vec<Value> = measurement
        .launches
        .iter()
        .map(|launch| {
            let series = &launch.series;
            json!({
                "launch": launch.launch,
                "quantum_ns": launch.quantum,
                "warm_up": samples_json(std::slice::from_ref(&series.warm_up)),
                "linear": samples_json(&series.linear),
                "flat": samples_json(&series.flat),
                "allocations": beside::launch_allocations_json(&launch.beside.allocations),
                "latencies": beside::launch_latencies_json(launch.beside.latencies.as_ref()),
            })
        })
        .collect();
    let benchmark = &measurement.benchmark;
    json!({
        "reason": "benchmark-measured",
        "schema": SCHEMA,
        "run": findings.run.id,
        "benchmark": key_json(&row.key),
        "version": benchmark.version,
        "throughput": benchmark.throughput,
        "other_throughput": benchmark.other_throughput,
        "metric": benchmark.metric,
        "features": measurement.target_facts.features,
        "sampling": {
            "launches": measurement.sampling.launches,
            "samples": measurement.sampling.samples,
            "warm_up_ns": measurement.sampling.warm_up,
            "measurement_ns": measurement.sampling.measurement,
            "mode": measurement.sampling.mode,
        },
        "confidence_level": findings.confidence_level(),
        "summary": row.summary.as_ref().map(summary_json),
        "rate_per_second": row.summary.as_ref().and_then(|summary| rate_json(benchmark, summary)),
        "allocations": beside::allocations_json(measurement),
        "latencies": beside::latencies_json(latencies.as_ref()),
        "launches": launches,
        "failures": measurement.failures,
    })
}

/// Parallel arrays, exact.
fn samples_json(samples: &[Sample]) -> Value {
    let iterations: Vec<u64> = samples.iter().map(|sample| sample.iterations).collect();
    let elapsed: Vec<u64> = samples.iter().map(|sample| sample.elapsed.0).collect();
    json!({"iterations": iterations, "elapsed_ns": elapsed})
}

/// Of a rate the harmonic mean and the median, units per second: reciprocals of mean and median of the times.
fn rate_json(benchmark: &Benchmark, summary: &Summary) -> Option<Value> {
    let rate = |time: &Estimate| {
        estimate_json(&Estimate {
            estimate: 1e9 / time.estimate,
            lower: 1e9 / time.upper,
            upper: if time.lower > 0.0 {
                1e9 / time.lower
            } else {
                f64::INFINITY
            },
        })
    };
    matches!(benchmark.metric, Metric::Rate { .. })
        .then(|| json!({"mean": rate(&summary.mean), "median": rate(&summary.median)}))
}

fn summary_json(summary: &Summary) -> Value {
    json!({
        "samples": summary.samples,
        "launches": summary.launches,
        "intervals": summary.intervals,
        "mean_ns": estimate_json(&summary.mean),
        "median_ns": estimate_json(&summary.median),
        "slope_ns": summary.slope.as_ref().map(estimate_json),
        "std_dev_ns": summary.sd.as_ref().map(estimate_json),
        "median_abs_dev_ns": estimate_json(&summary.mad),
        "min_ns": summary.min,
        "max_ns": summary.max,
        "r_squared": summary.r_squared,
        "overhead_ns": summary.overhead_ns,
        "outliers": summary.outliers,
    })
}

fn compared(
    findings: &Findings<'_>,
    row: &Row<'_>,
    verdict: Verdict,
    verdicts: &Verdicts,
) -> Value {
    let comparison = row.comparison.as_ref();
    let allocations = comparison.and_then(|found| found.allocations.as_ref());
    let latencies = comparison.and_then(|found| found.latencies.as_ref());
    let estimate = |pick: fn(&Comparison) -> Option<Estimate>| {
        comparison.and_then(pick).map(|found| estimate_json(&found))
    };
    json!({
        "reason": "benchmark-compared",
        "schema": SCHEMA,
        "run": findings.run.id,
        "benchmark": key_json(&row.key),
        "verdict": verdict,
        "reference_runs": row.reference,
        "change": estimate(|found| found.change),
        "p_value": comparison.and_then(|found| found.p_value),
        "t_score_p_value": comparison.and_then(|found| found.run_grounds()?.t_score_p()),
        "change_of_mean": estimate(|found| Some(found.description.mean?.estimate)),
        "change_of_median": estimate(|found| Some(found.description.median?.estimate)),
        "noise_threshold": comparison.map(|found| found.noise_threshold),
        "smallest_callable": comparison.and_then(|found| found.smallest_callable),
        "significance_level": verdicts.decision.significance_level,
        "resamples": verdicts.decision.resamples,
        "decided_by": decided_by(
            if row.seconds.is_some() { Method::Paired } else { verdicts.method },
            verdicts.decision.analysis.subject,
        ),
        "location": comparison.and_then(Comparison::location),
        "launches": comparison.map(|found| json!({"candidate": found.extent.launches_candidate(), "base": found.extent.launches_base()})),
        "runs_averaged": comparison.map(|found| found.extent.runs_averaged()),
        "runs_spread": comparison.map(|found| found.extent.runs_spread()),
        "run_std_dev": comparison.and_then(|found| Some(found.run_grounds()?.run_sd)),
        "seconds": row.seconds,
        "remarks": remarks::of_row(row).collect::<Vec<_>>(),
        "paired": comparison.and_then(in_turn_json),
        "tested": comparison.and_then(Comparison::published),
        "effects": comparison.and_then(|found| found.description.effects.as_ref()).map(effects_json),
        "centers": comparison.and_then(|found| found.description.centers),
        "metric": verdicts.decision.analysis.subject,
        "shared_level": comparison.and_then(Comparison::shared_level),
        "allocations": allocations.map(beside::allocation_changes_json),
        "latencies": latencies.map(beside::latency_changes_json),
        "differences": row.blocking,
        "notes": comparison.map_or(&[][..], |found| &found.notes),
    })
}

/// How sides that were measured in turn were judged.
fn in_turn_json(comparison: &Comparison) -> Option<Value> {
    let Extent::InTurn {
        rounds,
        stopped_early,
    } = comparison.extent
    else {
        return None;
    };
    let look = comparison.look();
    let slow_path = look.and_then(|look| {
        let found = &look.slow_path;
        let side = found.side?;
        Some(json!({
            "side": side,
            "share_candidate": found.share_candidate,
            "share_base": found.share_base,
            "p_value": found.adjusted_p(side),
        }))
    });
    Some(json!({
        "rounds": rounds,
        "stopped_early": stopped_early,
        "standard_error": look.map(|look| look.standard_error),
        "slow_path": slow_path,
        "rounds_needed": look.and_then(|look| look.rounds_needed),
    }))
}

/// The word for how a verdict was reached.
pub(super) fn decided_by(method: Method, subject: Statistic) -> &'static str {
    if subject != Statistic::Time {
        return "metric";
    }
    match method {
        Method::Stored(Decider::RunLevel) => "run-level",
        Method::Stored(Decider::Screen) => "t-score",
        Method::Stored(Decider::Test(test)) => test.word(),
        Method::Paired => "paired",
    }
}

fn effects_json(effects: &Effects) -> Value {
    json!({
        "observations": effects.observations,
        "cliffs_delta": effects.cliffs_delta,
        "label": effects.label,
        "hedges_g": effects.hedges_g,
        "shift_ns": effects.shift_ns.as_ref().map(estimate_json),
        "paired_change": effects.paired_change.as_ref().map(estimate_json),
    })
}

/// A rule of `--fail` that a benchmark did not keep.
pub(super) fn violated(run: RunId, violation: &Violation) -> Value {
    json!({
        "reason": "rule-violated",
        "schema": SCHEMA,
        "run": run,
        "benchmark": key_json(&violation.key),
        "rule": violation.rule,
        "statistic": violation.statistic,
        "of": if violation.is_change { "change" } else { "value" },
        "limit": violation.limit,
        "found": estimate_json(&violation.found),
        "shared_level": violation.shared_level,
    })
}

/// Thresholds that are not the default.
pub(super) fn thresholds_json(thresholds: &Thresholds) -> Value {
    let changed = thresholds.changed().into_iter();
    changed
        .map(|(name, value, _)| (name.to_owned(), value.into()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// A bound that the data do not give is null.
pub(super) fn estimate_json(estimate: &Estimate) -> Value {
    let finite = |value: f64| value.is_finite().then_some(value);
    json!({
        "estimate": finite(estimate.estimate),
        "lower": finite(estimate.lower),
        "upper": finite(estimate.upper),
    })
}
