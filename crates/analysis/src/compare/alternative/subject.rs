//! What a word of `--metric` names: numbers that a comparison carries beside the time, or a run noted.

use crate::compare::comparison::Comparison;
use crate::compare::estimate::Estimate;
use crate::compare::extras::{CountChange, PercentileChange, per_iteration};
use crate::model::{Allocations, Measurement, Statistic};
use perfcheck_stats::{TInterval, mean};

impl Comparison {
    /// The counts that `subject` is about.
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

    /// The percentile of single operations that `subject` is.
    pub fn percentile(&self, subject: Statistic) -> Option<&PercentileChange> {
        self.latencies.as_ref()?.at(quantile(subject)?)
    }
}

impl CountChange {
    /// The relative change: exact, or where iterations differ with bounds that are its own value where the test shows it, else open. `None` where
    /// the reference has none and the run has some: that is no ratio.
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

/// The quantile of single operations that `subject` is.
fn quantile(subject: Statistic) -> Option<f64> {
    match subject {
        Statistic::Latency(thousandths) => Some(f64::from(thousandths) / 1000.0),
        _ => None,
    }
}

/// What `measurement` itself shows of `subject`, with Student's interval over launches; without a second launch, or where launches agree, the
/// value is its own interval. `None` of what is no such metric.
pub fn value_of(measurement: &Measurement, subject: Statistic, level: f64) -> Option<Estimate> {
    let of_launch = |launch: &crate::model::LaunchSeries| {
        let extras = &launch.extras;
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
        measurement.launches.iter().filter_map(of_launch).collect()
    };
    let estimate = mean(&values)?;
    Some(match TInterval::of(&values, level) {
        Some(found) if found.margin > 0.0 => {
            Estimate::with(estimate, found.interval().not_below_zero())
        }
        _ => Estimate {
            estimate,
            lower: estimate,
            upper: estimate,
        },
    })
}
