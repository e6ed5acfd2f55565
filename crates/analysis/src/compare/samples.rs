//! Samples described as if each were an observation of its own, after an outlier policy: the summary that `NBenchmark` and the serializer
//! methodology state of one process.
//!
//! It describes and decides nothing. Its intervals assume that samples are independent; those of one process need not be, and those of several
//! processes are not where processes differ.

use super::alternative::{definition, outlier_policy};
use super::estimate::Estimate;
use super::summary::{described_launches, is_first_apart, times_with_first};
use crate::model::{DecisionSettings, Measurement, Outliers, QuantileRule};
use perfcheck_stats::{
    CleanedSample, CleaningCounts, FirstSample, FullDescription, FullDescriptionRules, TailBasis,
};

/// Samples as observations. Times are nanoseconds per iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleDescription {
    /// What was done about outliers.
    pub outliers: Outliers,
    /// Which samples are described: raw = skipped + removed + used.
    pub counts: CleaningCounts,
    /// Samples whose value was replaced; they are used.
    pub replaced: usize,
    /// All numbers, percentiles and extremes included, are of the samples used; the standard error knows of those that are not.
    pub of_used: FullDescription,
}

impl SampleDescription {
    /// Describes all deciding samples of `measurement` in one, by the policy and at the level of `decision`; without a policy those that the filter of an
    /// import leaves. `None` without samples.
    pub fn of(measurement: &Measurement, decision: &DecisionSettings) -> Option<Self> {
        let launches = launches(measurement, decision);
        let launches: Vec<&[f64]> = launches.iter().map(|(_, times)| &times[..]).collect();
        Self::of_launches(&launches, first_of(measurement, decision), decision)
    }

    /// Describes the samples of each launch that has any by themselves, with the launch's number.
    pub fn of_each_launch(
        measurement: &Measurement,
        decision: &DecisionSettings,
    ) -> Vec<(u32, Self)> {
        let first = first_of(measurement, decision);
        let launches = launches(measurement, decision).into_iter();
        let described = launches.map(|(launch, times)| {
            let found = Self::of_launches(&[&times], first, decision)?;
            Some((launch, found))
        });
        described.flatten().collect()
    }

    fn of_launches(
        launches: &[&[f64]],
        first: FirstSample,
        decision: &DecisionSettings,
    ) -> Option<Self> {
        let analysis = &decision.analysis;
        let middle = definition(analysis.quantile_in_force());
        let policy = outlier_policy(analysis.outliers, middle, &decision.thresholds);
        let cleaned = CleanedSample::of(launches, first, policy)?;
        let rules = FullDescriptionRules {
            outliers: policy,
            // A percentile is a sample that was measured, unless somebody wants another definition.
            quantile: definition(analysis.quantile.unwrap_or(QuantileRule::InvertedCdf)),
            tail: TailBasis::TreatedSample,
            level: decision.confidence_level,
        };
        let mut of_used = FullDescription::of(&cleaned.warm, rules)?;
        of_used.median = middle.select(&mut cleaned.used.clone(), 0.5)?;
        Some(Self {
            outliers: analysis.outliers,
            counts: cleaned.counts,
            replaced: cleaned.replaced,
            of_used,
        })
    }

    /// The mean with Student's interval, or Yuen's where the policy took something away; one sample says nothing of how far off it is.
    pub fn mean(&self) -> Estimate {
        let mean = self.of_used.mean;
        (self.of_used.interval).map_or(Estimate::unbounded(mean), |found| {
            Estimate::with(mean, found.interval())
        })
    }
}

fn first_of(measurement: &Measurement, decision: &DecisionSettings) -> FirstSample {
    let analysis = &decision.analysis;
    let apart = analysis.leaves_out() && is_first_apart(measurement);
    FirstSample::dropped_if(analysis.drop_first || apart)
}

/// The samples of each launch that has any, with its number.
fn launches(measurement: &Measurement, decision: &DecisionSettings) -> Vec<(u32, Vec<f64>)> {
    // A policy takes the place of what the filter of an import leaves.
    let found = if decision.analysis.leaves_out() {
        let launches = measurement.launches.iter();
        let apart = is_first_apart(measurement);
        let all = launches.map(|launch| (launch, times_with_first(launch, apart)));
        all.filter(|(_, times)| !times.is_empty()).collect()
    } else {
        described_launches(measurement)
    };
    let found = found.into_iter();
    found
        .map(|(launch, times)| (launch.launch, times))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{ITERATIONS, flat_launch, measurement};

    #[test]
    fn each_launch_that_has_samples_is_described_by_itself() {
        let launch = |number, times: &[f64]| flat_launch(number, ITERATIONS, times);
        let found = measurement(vec![
            launch(0, &[100.0, 102.0, 104.0]),
            launch(1, &[]),
            launch(2, &[200.0, 210.0]),
        ]);
        let decision = DecisionSettings::default();
        let each = SampleDescription::of_each_launch(&found, &decision);
        let each = each
            .into_iter()
            .map(|(launch, one)| (launch, one.counts.used, one.of_used.mean));
        assert_eq!(each.collect::<Vec<_>>(), [(0, 3, 102.0), (2, 2, 205.0)]);
        let all = SampleDescription::of(&found, &decision).unwrap();
        assert_eq!((all.counts.used, all.of_used.mean), (5, 716.0 / 5.0));
    }
}
