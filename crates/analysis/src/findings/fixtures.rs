//! Keys, runs and comparisons that tests construct.

use std::collections::BTreeMap;

use crate::compare::fixtures::measurement;
use crate::compare::{Comparison, Estimate, PairedSeries, Plan, judge};
use crate::model::{
    Acceptance, BenchmarkKey, DecisionSettings, Environment, NewRun, Run, RunId, RunStatus,
    Timestamp,
};

pub(super) const PLAN: Plan = Plan {
    looks: Vec::new(),
    significance_level: 0.01,
    planned: 1,
    confidence_level: 0.95,
    resamples: 100,
    seed: 3,
    seeds: BTreeMap::new(),
    noise: BTreeMap::new(),
};

/// Creates the key of the benchmark `p/t: id`.
pub(super) fn key(id: &str) -> BenchmarkKey {
    BenchmarkKey {
        package: "p".to_owned(),
        target: "t".to_owned(),
        id: id.to_owned(),
    }
}

/// Creates run 8, which was measured alone.
pub(super) fn run() -> Run {
    Run {
        id: RunId(8),
        begun: NewRun {
            started: Timestamp(0),
            git: None,
            environment: Environment::default(),
            load: None,
            seed: 7,
            decision: DecisionSettings::default(),
            tool_version: String::new(),
            build: None,
            partition: None,
        },
        finished: None,
        status: RunStatus::Complete,
        acceptance: Acceptance::Pending,
        pair: None,
        plan: None,
        source: None,
    }
}

/// Creates a comparison side by side without rounds.
pub(super) fn undecided() -> Comparison {
    let never = measurement(Vec::new()).benchmark;
    let series = PairedSeries {
        key: &never.key,
        metric: &never.metric,
        rounds: &[],
        noise_threshold: 0.02,
    };
    judge(&[series], &PLAN).remove(0)
}

/// Creates a comparison side by side with this change.
pub(super) fn changed_by(change: f64) -> Comparison {
    Comparison {
        change: Some(certain(change)),
        ..undecided()
    }
}

/// Creates a value whose bounds are the value itself.
pub(super) fn certain(value: f64) -> Estimate {
    Estimate {
        estimate: value,
        lower: value,
        upper: value,
    }
}
