//! Looks up the metrics that `--metric` can name besides the time, in a comparison or in a run.

use crate::compare::comparison::Comparison;
use crate::compare::estimate::Estimate;
use crate::compare::extras::{CountChange, PercentileChange, per_iteration};
use crate::model::{Allocations, Measurement, Statistic};
use perfcheck_stats::{TInterval, mean};

impl Comparison {
    /// Returns the change of the counts that `subject` names.
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
}

impl CountChange {
    /// Returns the relative change. Both bounds equal the change if the counts are exact or the test shows a change; otherwise there are no bounds.
    /// `None` if only the reference is 0, because then there is no ratio.
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

/// Returns the quantile of latencies that `subject` names.
fn quantile(subject: Statistic) -> Option<f64> {
    match subject {
        Statistic::Latency(thousandths) => Some(f64::from(thousandths) / 1000.0),
        _ => None,
    }
}

/// Returns the value of `subject` in `measurement`, with Student's interval over processes. With a single process, or if all processes agree, the
/// interval is the value itself. `None` if `subject` is another kind of statistic, or if the measurement does not have it.
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
    let values: Vec<f64> = if subject == Statistic::Instructions {
        per_iteration(measurement)
    } else {
        measurement
            .processes
            .iter()
            .filter_map(of_process)
            .collect()
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
