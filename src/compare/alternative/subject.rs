//! Verdicts about something else than time: what a comparison carries beside the time takes the place of its verdict.

use crate::compare::beside::{CountChange, PercentileChange};
use crate::compare::comparison::{Comparison, Estimate};
use crate::compare::note::Note;
use crate::model::{Measurement, Subject, Verdict};
use crate::stats::{Histogram, TInterval, mean};

impl Comparison {
    /// The same with its verdict about `subject`. What could not be measured stays failed; what does not have the subject is inconclusive, with a note.
    #[must_use]
    pub fn about(mut self, subject: Subject) -> Self {
        if subject == Subject::Time || self.verdict == Verdict::Failed {
            return self;
        }
        self.tested = None;
        self.grounds = None;
        self.smallest_callable = None;
        self.t_score_p = None;
        self.location = None;
        self.run_sd = None;
        self.effects = None;
        // They are about the time.
        self.notes.clear();
        if let Some(count) = self.count(subject) {
            self.change = count.change();
            self.p_value = count.p_value;
            self.verdict = count.verdict;
        } else if let Some(found) = self.percentile(subject).copied() {
            self.change = Some(found.change);
            self.p_value = None;
            self.verdict = found.verdict;
        } else {
            self.change = None;
            self.p_value = None;
            self.verdict = Verdict::Inconclusive;
            self.notes.push(Note::NoSuchMetric { metric: subject });
        }
        self
    }

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
