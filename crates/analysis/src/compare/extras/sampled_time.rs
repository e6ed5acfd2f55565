//! The time of an iteration by function on two sides, estimated by a sampling profiler.
//!
//! A function's share of the samples is its share of the measured time. Functions whose difference exceeds chance are named.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::function_cost::{FunctionCost, group_by_name, keep_most_different};
use crate::model::{BySide, Measurement, Metric, TimeSamples, limits};
use perfcheck_stats::binomial;

/// Standard errors that a difference must exceed. By the normal distribution, chance alone exceeds them 27 times in 10,000.
const BEYOND_CHANCE: f64 = 3.0;

/// How the time of an iteration differs by function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampledTime {
    /// How many samples of the profiler each side has.
    pub samples: BySide<u64>,
    /// The functions whose times differ most among those that differ beyond chance, sorted by the size of the difference. If code moved between
    /// functions, one gains what another loses.
    pub functions: Vec<FunctionCost>,
}

impl SampledTime {
    /// Compares with the newest of the runs in `base` that was sampled; `ns` holds the nanoseconds of an iteration. `None` if a side was not sampled,
    /// or does not measure time.
    pub(super) fn compare(
        base: &[&Measurement],
        candidate: &Measurement,
        ns: BySide<f64>,
    ) -> Option<Self> {
        if candidate.benchmark.metric != Metric::Time {
            return None;
        }
        let base = base.iter().find_map(|run| run.counts.time.as_ref())?;
        let candidate = candidate.counts.time.as_ref()?;
        let samples = BySide {
            base: base.samples,
            candidate: candidate.samples,
        };
        let functions = function_counts(base, candidate).into_iter();
        let functions = functions.map(|(name, counts)| function_cost(name, counts, samples, ns));
        let is_no_chance = |one: &FunctionCost| {
            let error = one.standard_error.unwrap_or(f64::INFINITY);
            one.difference().abs() > BEYOND_CHANCE * error
        };
        Some(Self {
            samples,
            functions: keep_most_different(functions.filter(is_no_chance).collect()),
        })
    }
}

/// Returns the samples of each function. A side that left functions out may have run a missing one: it then counts with the samples of the side's
/// smallest function, or with those of the other side if these are fewer.
fn function_counts<'m>(
    base: &'m TimeSamples,
    candidate: &'m TimeSamples,
) -> BTreeMap<&'m str, BySide<f64>> {
    let of = |side: &'m TimeSamples| {
        let functions = side.functions.iter();
        functions.map(|one| (&*one.name, one.count as f64))
    };
    let left_out = |side: &TimeSamples| match side.functions.last() {
        Some(last) if side.functions.len() >= limits::MOST_COUNTED_FUNCTIONS => last.count as f64,
        _ => 0.0,
    };
    let least = BySide {
        base: left_out(base),
        candidate: left_out(candidate),
    };
    let mut counts = group_by_name(of(base), of(candidate));
    for sides in counts.values_mut() {
        if sides.base == 0.0 {
            sides.base = least.base.min(sides.candidate);
        } else if sides.candidate == 0.0 {
            sides.candidate = least.candidate.min(sides.base);
        }
    }
    counts
}

fn function_cost(
    name: &str,
    counts: BySide<f64>,
    samples: BySide<u64>,
    ns: BySide<f64>,
) -> FunctionCost {
    let share = |count: f64, samples: u64| count / samples.max(1) as f64;
    let error = |count: f64, samples: u64| {
        let error = binomial::share_standard_error(count as u64, samples);
        error.unwrap_or(f64::INFINITY)
    };
    let errors = BySide {
        base: ns.base * error(counts.base, samples.base),
        candidate: ns.candidate * error(counts.candidate, samples.candidate),
    };
    FunctionCost {
        name: name.to_owned(),
        cost: BySide {
            base: ns.base * share(counts.base, samples.base),
            candidate: ns.candidate * share(counts.candidate, samples.candidate),
        },
        standard_error: Some(errors.base.hypot(errors.candidate)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::measurement;
    use crate::model::{BenchmarkCounts, FunctionCount};

    fn run(samples: u64, functions: &[(&str, u64)]) -> Measurement {
        let functions = functions.iter().map(|(name, count)| FunctionCount {
            name: (*name).to_owned(),
            count: *count,
        });
        let time = TimeSamples {
            samples,
            functions: functions.collect(),
        };
        Measurement {
            counts: BenchmarkCounts {
                time: Some(time),
                ..BenchmarkCounts::default()
            },
            ..measurement(Vec::new())
        }
    }

    fn compared(base: &Measurement, candidate: &Measurement) -> Option<SampledTime> {
        let ns = BySide {
            base: 100.0,
            candidate: 120.0,
        };
        SampledTime::compare(&[base], candidate, ns)
    }

    #[test]
    fn a_function_has_its_share_of_the_time_and_is_named_where_it_differs_beyond_chance() {
        let base = run(
            5000,
            &[("scan", 2500), ("hash", 2000), ("copy", 490), ("rare", 10)],
        );
        let candidate = run(
            6000,
            &[("scan", 3600), ("hash", 2000), ("copy", 385), ("rare", 15)],
        );
        let found = compared(&base, &candidate).expect("both were sampled");
        assert_eq!((found.samples.base, found.samples.candidate), (5000, 6000));
        // `scan` rises from 50 to 72 ns; `hash` has 40 ns on both sides; `copy` falls from 9.8 to 7.7, less than a tenth of 22.
        let named: Vec<(&str, f64)> = (found.functions.iter())
            .map(|one| (&*one.name, one.difference()))
            .collect();
        assert_eq!(named, [("scan", 22.0)]);
        // The square root of 100^2 p1 (1 - p1) / 5002 + 120^2 p2 (1 - p2) / 6002, where p1 = 2501 / 5002 and p2 = 3601 / 6002.
        let error = found.functions[0].standard_error.expect("an error");
        assert!((error - 1.037_12).abs() < 1e-4, "{error}");

        let alike = compared(&base, &base).expect("both were sampled");
        let by_time = alike.functions.iter().map(|one| &*one.name);
        // Equal shares of a longer time: the functions with the largest shares gain most.
        assert_eq!(by_time.collect::<Vec<_>>(), ["scan", "hash"]);
    }

    #[test]
    fn chance_alone_names_no_function() {
        let ns = BySide {
            base: 100.0,
            candidate: 100.0,
        };
        // A share of one half has an error of 0.707 %, so three errors of a difference are 3 %: 150 samples.
        let of = |scan: u64| run(5000, &[("scan", scan), ("hash", 5000 - scan)]);
        let found = |scan| SampledTime::compare(&[&of(2500)], &of(scan), ns).expect("sampled");
        assert_eq!(found(2640).functions, []);
        assert_eq!(found(2660).functions.len(), 2);
        // A function that was seen three times on one side and never on the other.
        let base = run(5000, &[("scan", 5000)]);
        let candidate = run(5000, &[("scan", 4997), ("new", 3)]);
        let rare = SampledTime::compare(&[&base], &candidate, ns).expect("sampled");
        assert_eq!(rare.functions, []);
    }

    #[test]
    fn what_a_side_has_left_out_may_have_been_as_much_as_the_least_that_it_has() {
        let many: Vec<String> = (0..limits::MOST_COUNTED_FUNCTIONS)
            .map(|at| format!("f{at}"))
            .collect();
        let all: Vec<(&str, u64)> = many.iter().map(|name| (&**name, 100)).collect();
        let base = run(5000, &all);
        let candidate = run(5000, &[("f0", 4900), ("other", 100)]);
        let found = compared(&base, &candidate).expect("sampled");
        assert_eq!(found.functions[0].name, "f0");
        assert!(found.functions.iter().all(|one| one.name != "other"));
    }

    #[test]
    fn a_side_that_was_not_sampled_or_measured_no_time_has_no_functions() {
        let sampled = run(10, &[("scan", 10)]);
        let never = measurement(Vec::new());
        assert_eq!(compared(&never, &sampled), None);
        assert_eq!(compared(&sampled, &never), None);
        let mut amount = sampled.clone();
        amount.benchmark.metric = Metric::Amount {
            unit: "pages".to_owned(),
        };
        assert_eq!(compared(&sampled, &amount), None);
    }

    #[test]
    fn what_a_side_with_few_functions_does_not_have_it_never_ran() {
        let ns = BySide {
            base: 100.0,
            candidate: 100.0,
        };
        let base = run(5000, &[("scan", 4900), ("hash", 100)]);
        let candidate = run(5000, &[("scan", 4800), ("hash", 100), ("new", 100)]);
        let costs = |base, candidate| {
            let found = SampledTime::compare(&[base], candidate, ns).expect("sampled");
            let new = found.functions.into_iter().find(|one| one.name == "new");
            new.map(|one| (one.cost.base, one.cost.candidate))
        };
        // 100 of 5,000 samples of 100 ns.
        assert_eq!(costs(&base, &candidate), Some((0.0, 2.0)));
        assert_eq!(costs(&candidate, &base), Some((2.0, 0.0)));
    }
}
