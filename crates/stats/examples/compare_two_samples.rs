//! Reads two files of numbers, one per line, and prints how the second sample differs from the first.
//!
//! `cargo run -p perfcheck-stats --example compare_two_samples -- BASE NEW`. Numbers may have any unit, but it must be the same in both files.

#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use perfcheck_stats::{
    ClusterMedian, ClusterStatistic, Description, HodgesLehmann, HodgesLehmannRanks,
    IntervalMethod, MannWhitney, MannWhitneyMethod, OutlierCounts, Resampling, Stream,
    cliffs_delta,
};
use std::error::Error;

const LEVEL: f64 = 0.95;

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args().skip(1);
    let (Some(base), Some(new)) = (paths.next(), paths.next()) else {
        return Err("two files are needed: BASE NEW".into());
    };
    let (base, new) = (numbers(&base)?, numbers(&new)?);
    describe("base", &base)?;
    describe("new", &new)?;
    compare(&base, &new);
    Ok(())
}

/// Reads one number per line and skips empty lines.
fn numbers(path: &str) -> Result<Vec<f64>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let number = |line: &str| {
        line.parse::<f64>()
            .map_err(|error| format!("{path}: `{line}`: {error}").into())
    };
    lines.map(number).collect()
}

fn describe(side: &str, values: &[f64]) -> Result<(), Box<dyn Error>> {
    let found = Description::compute(values).ok_or(format!("{side}: finite numbers are needed"))?;
    let sd = found.sd.map_or("-".into(), |sd| format!("{sd:.4}"));
    println!(
        "{side}: {} values, mean {:.4}, sd {sd}, median {:.4}, {} outliers",
        found.count,
        found.mean,
        found.median,
        OutlierCounts::from_samples(values).total()
    );
    Ok(())
}

/// Prints the result of a test, the effect size, and intervals of the shift and of the relative change. The values are treated as independent of each
/// other.
fn compare(base: &[f64], new: &[f64]) {
    if let Some(p) = MannWhitney::from_groups(new, base)
        .and_then(|test| test.p_value(MannWhitneyMethod::Automatic))
    {
        println!("Mann-Whitney test: p = {p:.4}, two-sided");
    }
    if let Some(delta) = cliffs_delta(new, base) {
        println!("Cliff's delta: {delta:.3}");
    }
    if let Some(shift) = HodgesLehmann::from_groups(new, base) {
        let interval = shift.interval(LEVEL, HodgesLehmannRanks::Normal);
        if let (Some(estimate), Some(interval)) = (shift.estimate(), interval) {
            println!(
                "shift: {estimate:.4}, 95 % interval {:.4} to {:.4}",
                interval.lower, interval.upper
            );
        }
    }
    let (base, new): (Vec<&[f64]>, Vec<&[f64]>) =
        (base.chunks(1).collect(), new.chunks(1).collect());
    let (base, new) = (ClusterMedian::new(&base), ClusterMedian::new(&new));
    let method = IntervalMethod::for_clusters(base.clusters().min(new.clusters()));
    let resampling = Resampling {
        resamples: 10_000,
        stream: Stream {
            seed: 1,
            name: "change of the median",
        },
    };
    if let Some(change) = method.relative_change_interval(&new, &base, LEVEL, resampling) {
        println!(
            "change of the median: {:+.2} %, 95 % interval {:+.2} to {:+.2} % ({})",
            100.0 * (new.observed() / base.observed() - 1.0),
            100.0 * change.lower,
            100.0 * change.upper,
            method.name()
        );
    }
}
