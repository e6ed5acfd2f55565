//! Looks up the metrics that `--metric` can name besides the time, in a comparison or in a run.

use crate::compare::comparison::Comparison;
use crate::compare::estimate::Estimate;
use crate::compare::extras::{
    CountChange, PercentileChange, UsageChange, per_iteration, usage_values,
};
use crate::model::{Allocations, Measurement, Statistic};
use perfcheck_stats::{TInterval, mean};

impl Comparison {
    /// Returns how a count changed. `subject` says which one: the number of allocations, their bytes, the peak of allocated bytes, or the
    /// instructions. Returns `None` for any other statistic, or if the count was not compared.
    pub fn count(&self, subject: Statistic) -> Option<CountChange> {
        let allocations = self.allocations.as_ref();
        match subject {
            Statistic::Allocations => allocations.map(|found| found.count),
            Statistic::Bytes => allocations.map(|found| found.bytes),
            Statistic::Peak => allocations.map(|found| found.peak_bytes),
            Statistic::Instructions => self.instructions.as_ref().map(|found| found.change),
            _ => None,
        }
    }

    /// Returns the change of the latency percentile that `subject` names.
    pub fn percentile(&self, subject: Statistic) -> Option<&PercentileChange> {
        self.latencies.as_ref()?.percentile(quantile(subject)?)
    }

    /// Returns the change of the CPU time or the peak memory of a program, if `subject` is one of them.
    pub fn usage_change(&self, subject: Statistic) -> Option<&UsageChange> {
        self.usage.as_ref()?.change(subject)
    }
}

impl CountChange {
    /// Returns the relative change. Both bounds equal the change if the counts are exact or the test shows a change. Otherwise there are no bounds.
    /// Returns `None` if only the reference is 0, because then there is no ratio.
    pub fn change(&self) -> Option<Estimate> {
        let relative = self.relative();
        if !relative.is_finite() {
            return None;
        }
        Some(if self.exact || self.has_changed() {
            Estimate {
                estimate: relative,
                lower: relative,
                upper: relative,
            }
        } else {
            Estimate::unbounded(relative)
        })
    }
}

/// Returns the quantile if `subject` names a percentile of latencies.
fn quantile(subject: Statistic) -> Option<f64> {
    match subject {
        Statistic::Latency(thousandths) => Some(f64::from(thousandths) / 1000.0),
        _ => None,
    }
}

/// Returns the value of the metric `subject` in `measurement`, with Student's interval over processes. With a single process, or if all processes
/// agree, both bounds equal the value. Returns `None` if `subject` is another kind of statistic, or if the measurement does not have the metric.
pub fn estimate_metric(
    measurement: &Measurement,
    subject: Statistic,
    level: f64,
) -> Option<Estimate> {
    let of_process = |process: &crate::model::ProcessSeries| {
        let extras = &process.extras;
        if let Some(quantile) = quantile(subject) {
            let histogram = extras.latencies.as_ref()?.histogram()?;
            return Some(histogram.percentile(quantile)? as f64);
        }
        let number: fn(&Allocations) -> u64 = match subject {
            Statistic::Allocations => |found| found.count,
            Statistic::Bytes => |found| found.bytes,
            Statistic::Peak => |found| found.peak_bytes,
            _ => return None,
        };
        let counts = extras.allocations.iter().map(|found| number(found) as f64);
        mean(&counts.collect::<Vec<f64>>())
    };
    let values: Vec<f64> = match subject {
        Statistic::Instructions => per_iteration(measurement),
        Statistic::Cpu | Statistic::Memory => usage_values(measurement, subject),
        _ => (measurement.processes.iter())
            .filter_map(of_process)
            .collect(),
    };
    let estimate = mean(&values)?;
    Some(match TInterval::compute(&values, level) {
        Some(found) => Estimate::from_interval(estimate, found.interval().clamp_at_zero()),
        None => Estimate {
            estimate,
            lower: estimate,
            upper: estimate,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Extent;
    use crate::compare::extras::{AllocationComparison, InstructionComparison};
    use crate::compare::fixtures::measurement;
    use crate::model::{BenchmarkCounts, InstructionCount, Verdict};

    fn count_change(base: f64, candidate: f64, exact: bool, verdict: Verdict) -> CountChange {
        CountChange {
            base,
            candidate,
            exact,
            p_value: None,
            verdict,
        }
    }

    #[test]
    fn each_count_is_found_under_its_own_name() {
        let change = |base: f64| count_change(base, 10.0, true, Verdict::Regressed);
        let extent = Extent::SideBySide {
            rounds: 5,
            stopped_early: false,
            layouts: 0,
        };
        let nothing = Comparison::undecided(0.02, extent);
        let found = Comparison {
            allocations: Some(AllocationComparison {
                count: change(1.0),
                bytes: change(2.0),
                peak_bytes: change(3.0),
            }),
            instructions: Some(InstructionComparison {
                change: change(4.0),
                functions: Vec::new(),
            }),
            ..nothing.clone()
        };
        let counts = [
            Statistic::Allocations,
            Statistic::Bytes,
            Statistic::Peak,
            Statistic::Instructions,
        ];
        assert_eq!(
            counts.map(|subject| found.count(subject)),
            [1.0, 2.0, 3.0, 4.0].map(|base| Some(change(base)))
        );
        assert_eq!(counts.map(|subject| nothing.count(subject)), [None; 4]);
        assert_eq!(found.count(Statistic::Time), None);
        assert_eq!(found.percentile(Statistic::P95), None);
    }

    #[test]
    fn a_change_of_counts_has_bounds_if_the_counts_are_exact_or_have_changed() {
        let bounds = |exact, verdict| {
            let found = count_change(8.0, 9.0, exact, verdict).change();
            let found = found.expect("a ratio");
            assert_eq!(found.estimate, 0.125);
            (found.lower, found.upper)
        };
        let point = (0.125, 0.125);
        assert_eq!(bounds(true, Verdict::Unchanged), point);
        assert_eq!(bounds(true, Verdict::Regressed), point);
        assert_eq!(bounds(false, Verdict::Regressed), point);
        assert_eq!(bounds(false, Verdict::Improved), point);
        let open = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(bounds(false, Verdict::Unchanged), open);
        assert_eq!(bounds(false, Verdict::Inconclusive), open);
        let change = |base, candidate| {
            count_change(base, candidate, true, Verdict::Regressed)
                .change()
                .map(|found| found.estimate)
        };
        assert_eq!(change(0.0, 1.0), None);
        assert_eq!(change(0.0, 0.0), Some(0.0));
        assert_eq!(change(1.0, 0.0), Some(-1.0));
    }

    #[test]
    fn the_instructions_of_a_run_are_those_of_an_iteration() {
        let count = |instructions| InstructionCount {
            iterations: 4,
            instructions,
            functions: Vec::new(),
        };
        let run = |counts: &[u64]| Measurement {
            counts: BenchmarkCounts {
                instructions: counts.iter().copied().map(count).collect(),
                ..BenchmarkCounts::default()
            },
            ..measurement(Vec::new())
        };
        let estimate = |counts: &[u64]| {
            let found = estimate_metric(&run(counts), Statistic::Instructions, 0.95)?;
            Some((found.lower, found.estimate, found.upper))
        };
        assert_eq!(estimate(&[400, 400]), Some((100.0, 100.0, 100.0)));
        assert_eq!(estimate(&[400]), Some((100.0, 100.0, 100.0)));
        // A standard error of 50, and t(1, .975) = 12.7: the lower bound would be below zero.
        let (lower, middle, upper) = estimate(&[400, 800]).expect("counts");
        assert_eq!((lower, middle), (0.0, 150.0));
        assert!((upper - (150.0 + 50.0 * 12.706_204_736_174_694)).abs() < 1e-9);
        assert_eq!(estimate(&[]), None);
    }
}
