//! Decisions on side-by-side rounds of two builds, for the simulations.

use perfcheck_analysis::compare::{
    Comparison, PairedMethod, PairedSeries, Plan, judge_with_method,
};
use perfcheck_analysis::model::{BenchmarkKey, Metric, Round};
use std::collections::BTreeMap;

/// Returns the verdict on `rounds` with the given looks, at the default level. Descriptive intervals have only one resample, because nobody reads
/// them.
pub fn judged(
    rounds: &[Round],
    looks: &[u32],
    theta: f64,
    method: &PairedMethod,
    seed: u64,
) -> Comparison {
    let key = BenchmarkKey {
        package: "example".into(),
        target: "rounds".into(),
        id: "rounds".into(),
    };
    let series = PairedSeries {
        key: &key,
        metric: &Metric::Time,
        rounds,
        noise_threshold: theta,
    };
    judge_with_method(&[series], &plan(looks, seed), method).remove(0)
}

/// Returns the default plan with these looks.
pub fn plan(looks: &[u32], seed: u64) -> Plan {
    Plan {
        looks: looks.to_vec(),
        significance_level: 0.01,
        planned: 1,
        confidence_level: 0.95,
        resamples: 1,
        seed,
        seeds: BTreeMap::new(),
        noise: BTreeMap::new(),
    }
}
