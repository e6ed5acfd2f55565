//! What a word of `--metric` names: numbers that a comparison carries beside the time, or a run noted.

use crate::compare::beside::{CountChange, PercentileChange};
use crate::compare::comparison::Comparison;
use crate::compare::estimate::Estimate;
use crate::model::{Measurement, Subject};
use perfcheck_stats::{Histogram, TInterval, mean};

impl Comparison {
    /// The numbers of allocations that `subject` is about.
    pub fn count(&self, subject: Subject) -> Option<CountChange> {
        let found = self.allocations.as_ref()?;
        match subject {
            Subject::Allocations => Some(found.count),
            Subject::Bytes => Some(found.bytes),
            Subject::Peak => Some(found.peak_bytes),
            _ => None,
        }
    }

    /// The percentile of single operations that `subject` is.
    pub fn percentile(&self, subject: Subject) -> Option<&PercentileChange> {
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
fn quantile(subject: Subject) -> Option<f64> {
    match subject {
        Subject::P50 => Some(0.5),
        Subject::P95 => Some(0.95),
        Subject::P99 => Some(0.99),
        Subject::P999 => Some(0.999),
        Subject::Max => Some(1.0),
        _ => None,
    }
}

/// What `measurement` itself shows of `subject`, with Student's interval over launches; without a second launch, or where launches agree, the
/// value is its own interval. Not of the time.
pub fn value_of(measurement: &Measurement, subject: Subject, level: f64) -> Option<Estimate> {
    let of_launch = |launch: &crate::model::LaunchSeries| {
        let beside = &launch.beside;
        if let Some(quantile) = quantile(subject) {
            let counts = beside.latencies.as_ref()?.counts.iter().copied();
            return Some(Histogram::of_counters(counts)?.percentile(quantile)? as f64);
        }
        let counts = beside.allocations.iter().map(|found| match subject {
            Subject::Allocations => found.count as f64,
            Subject::Peak => found.peak_bytes as f64,
            _ => found.bytes as f64,
        });
        mean(&counts.collect::<Vec<f64>>())
    };
    if subject == Subject::Time {
        return None;
    }
    let values: Vec<f64> = measurement.launches.iter().filter_map(of_launch).collect();
    let estimate = mean(&values)?;
    Some(match TInterval::of(&values, level) {
        Some(found) if found.margin > 0.0 => Estimate::with(estimate, found.interval()),
        _ => Estimate {
            estimate,
            lower: estimate,
            upper: estimate,
        },
    })
}
