//! Instructions of two sides: counts that do not vary are compared exactly, others by Welch's test over processes.
//!
//! The noise threshold applies in both cases: another compiler or library shifts a few instructions that are of no interest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CountChange;
use super::function_cost::{FunctionCost, group_by_name, keep_most_different};
use super::rules::ExtrasPolicy;
use crate::model::{InstructionCount, Measurement, Verdict};
use perfcheck_stats::{WelchDf, WelchTest, mean};

/// How the instructions of an iteration differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstructionComparison {
    /// The change of all instructions together.
    #[serde(flatten)]
    pub change: CountChange,
    /// The functions in which they differ most, sorted by the size of the difference. If code moved between functions, one gains what another loses.
    pub functions: Vec<FunctionCost>,
}

/// The instructions of a benchmark that one run counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstructionSummary {
    /// Instructions of an iteration, the mean over processes.
    pub per_iteration: f64,
    /// Whether several processes counted, and all the same number.
    pub exact: bool,
    /// Processes that counted.
    pub processes: usize,
}

impl InstructionSummary {
    /// Returns `None` if nothing was counted.
    pub fn from_measurement(measurement: &Measurement) -> Option<Self> {
        let counts = per_iteration(measurement);
        Some(Self {
            per_iteration: mean(&counts)?,
            exact: is_constant(&counts),
            processes: counts.len(),
        })
    }
}

impl InstructionComparison {
    /// Compares with the newest of the runs in `base` that counted instructions. `None` if a side counted none.
    pub(super) fn compare(
        base: &[&Measurement],
        candidate: &Measurement,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let counted = |run: &&&Measurement| !run.counts.instructions.is_empty();
        let base = base.iter().find(counted)?;
        let counts = [per_iteration(base), per_iteration(candidate)];
        let is_exact = counts.iter().all(|side| is_constant(side));
        let found = CountChange::from_process_means(
            &counts[0],
            &counts[1],
            is_exact,
            |candidate, base| Some(welch_p(candidate, base)),
            rules,
        )?;
        let is_noise = found.relative().abs() <= rules.noise_threshold;
        Some(Self {
            change: CountChange {
                verdict: if found.exact && is_noise {
                    Verdict::Unchanged
                } else {
                    found.verdict
                },
                ..found
            },
            functions: differing_functions(base, candidate),
        })
    }
}

/// Returns the p of Welch's test, or 1 with a single process. Counts vary with random draws of each process, such as the seeds of hash maps, and
/// behave like sums of many such draws. A side that does not vary has no error. A rank test of so few processes could never show changes of several
/// benchmarks at once.
fn welch_p(candidate: &[f64], base: &[f64]) -> f64 {
    let tested = WelchTest::test(candidate, base, WelchDf::Fractional);
    tested.map_or(1.0, |found| found.p)
}

/// Lists the functions in which the sides differ most.
fn differing_functions(base: &Measurement, candidate: &Measurement) -> Vec<FunctionCost> {
    let by_name = group_by_name(by_function(base), by_function(candidate));
    let costs = by_name.into_iter().map(|(name, cost)| FunctionCost {
        name: name.to_owned(),
        cost,
        standard_error: None,
    });
    keep_most_different(costs.collect())
}

/// Computes the instructions of an iteration by function, over all processes.
fn by_function(measurement: &Measurement) -> BTreeMap<&str, f64> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    let counts = &measurement.counts.instructions;
    for count in counts {
        for function in &count.functions {
            let each = function.count as f64 / count.iterations as f64;
            *sums.entry(&function.name).or_default() += each / counts.len() as f64;
        }
    }
    sums
}

/// Returns the instructions of an iteration in each process that counted.
pub(in crate::compare) fn per_iteration(measurement: &Measurement) -> Vec<f64> {
    let counts = measurement.counts.instructions.iter();
    counts.map(InstructionCount::per_iteration).collect()
}

/// Reports whether at least two processes counted and all counts agree. A single process does not show how counts vary.
fn is_constant(values: &[f64]) -> bool {
    values.len() > 1 && values.windows(2).all(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::measurement;
    use crate::model::{BenchmarkCounts, FunctionCount};

    const RULES: ExtrasPolicy = ExtrasPolicy {
        noise_threshold: 0.01,
        significance_level: 0.01,
        confidence_level: 0.95,
        resamples: 2_000,
        seed: 7,
    };

    /// Creates a run whose processes counted these instructions in four iterations each.
    fn run(counts: &[u64]) -> Measurement {
        let count = |instructions: &u64| InstructionCount {
            iterations: 4,
            instructions: *instructions,
            functions: Vec::new(),
        };
        Measurement {
            counts: BenchmarkCounts {
                instructions: counts.iter().map(count).collect(),
                ..BenchmarkCounts::default()
            },
            ..measurement(Vec::new())
        }
    }

    fn change(base: &[u64], candidate: &[u64]) -> Option<CountChange> {
        let found = InstructionComparison::compare(&[&run(base)], &run(candidate), &RULES)?;
        Some(found.change)
    }

    #[test]
    fn counts_that_do_not_vary_have_changed_beyond_the_threshold_and_no_sooner() {
        let verdict = |candidate: u64| {
            let found = change(&[40_000; 2], &[candidate; 2]).expect("both counted");
            assert_eq!((found.exact, found.base, found.p_value), (true, 1e4, None));
            assert_eq!(found.candidate, candidate as f64 / 4.0);
            found.verdict
        };
        assert_eq!(verdict(40_000), Verdict::Unchanged);
        assert_eq!(verdict(40_396), Verdict::Unchanged);
        assert_eq!(verdict(40_404), Verdict::Regressed);
        assert_eq!(verdict(39_596), Verdict::Improved);
    }

    #[test]
    fn counts_that_vary_are_tested_by_process_and_a_single_process_shows_nothing() {
        let base = [40_000, 40_010, 40_020, 40_030, 40_040];
        let more = base.map(|count| count + 4_000);
        let found = change(&base, &more).expect("both counted");
        // Means of 10,005 and 11,005; variances of 15.625 each, so t = 1000 / sqrt(2 x 15.625 / 5) = 400 with eight degrees of freedom.
        assert!(found.p_value.is_some_and(|p| p < 1e-15), "{found:?}");
        assert_eq!((found.exact, found.verdict), (false, Verdict::Regressed));
        // Only one side varies, by a hundredth of the difference.
        let found = change(&[40_000; 2], &more).expect("both counted");
        assert_eq!((found.exact, found.verdict), (false, Verdict::Regressed));
        // t = 1000 / sqrt(2 x 3,125,000 / 2) = 0.5657 with two degrees of freedom, of which P(T > t) = 1/2 - t / (2 sqrt(2 + t^2)) = 0.31430.
        let wide = change(&[37_500, 47_500], &[41_500, 51_500]).expect("both counted");
        let p = wide.p_value.expect("a test");
        assert!((p - 0.62861).abs() < 1e-4, "{p}");
        assert_eq!(wide.verdict, Verdict::Inconclusive);
        let one = change(&[40_000], &[44_000]).expect("both counted");
        assert_eq!((one.exact, one.verdict), (false, Verdict::Inconclusive));
    }

    #[test]
    fn the_newest_run_that_counted_is_the_reference_and_without_one_there_is_none() {
        let runs = [run(&[]), run(&[80; 2]), run(&[40; 2])];
        let base: Vec<&Measurement> = runs.iter().collect();
        let found = InstructionComparison::compare(&base, &run(&[40; 2]), &RULES);
        assert_eq!(found.expect("both counted").change.base, 20.0);
        assert_eq!(change(&[], &[40; 2]), None);
        assert_eq!(change(&[40; 2], &[]), None);
    }

    #[test]
    fn the_functions_that_differ_most_are_named() {
        let of = |functions: &[(&str, u64)]| {
            let mut run = run(&[4_000]);
            let named = functions.iter().map(|(name, count)| FunctionCount {
                name: (*name).to_owned(),
                count: *count,
            });
            run.counts.instructions[0].functions = named.collect();
            run
        };
        let base = of(&[
            ("scan", 2_000),
            ("grow", 400),
            ("hash", 1_000),
            ("copy", 600),
        ]);
        let candidate = of(&[("scan", 2_400), ("hash", 1_000), ("copy", 636)]);
        let found =
            InstructionComparison::compare(&[&base], &candidate, &RULES).expect("both counted");
        let named: Vec<(&str, f64, f64)> = (found.functions.iter())
            .map(|one| (&*one.name, one.cost.base, one.cost.candidate))
            .collect();
        // Four iterations each. `copy` gains 9, less than a tenth of 100.
        assert_eq!(named, [("grow", 100.0, 0.0), ("scan", 500.0, 600.0)]);
    }
}
