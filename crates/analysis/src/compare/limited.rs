//! Computes statistics of one run, with an interval at any level, to compare them with the limits that users set. All values that have a limit share
//! one confidence level, so the interval of a single value may need a much higher level than usual.
//!
//! The estimates equal those of a summary. The intervals are Student's for any number of processes, like the intervals that decide verdicts.

use crate::compare::summary::{ramp, resampling_units, sample_times, scale_estimate};

use super::alternative::estimate_metric;
use super::estimate::Estimate;
use crate::model::{Measurement, Statistic as Wanted};
use perfcheck_stats::{
    ClusterMad, ClusterMean, ClusterMedian, ClusterSd, ClusterSlope, ClusterStatistic,
    IntervalScale, LogStandardError, MAD_TO_SD, Smoothness, jackknife_t_interval,
};

/// Returns `statistic` of `measurement` with its interval, or `None` if the measurement does not have this statistic. If there is only one process,
/// its samples are treated like processes. A single sample gives no bounds.
pub fn estimate_at_level(
    measurement: &Measurement,
    statistic: Wanted,
    level: f64,
) -> Option<Estimate> {
    let processes = sample_times(measurement);
    let samples = resampling_units(&processes);
    let found = match statistic {
        Wanted::Mean => jackknife_estimate(&ClusterMean::new(&samples), level),
        Wanted::Time | Wanted::BuildTime | Wanted::Median => {
            median_estimate(&ClusterMedian::new(&samples), level)
        }
        Wanted::Slope => {
            let ramps: Vec<Vec<(f64, f64)>> = (measurement.processes.iter().map(ramp))
                .filter(|points| !points.is_empty())
                .collect();
            jackknife_estimate(&ClusterSlope::new(&resampling_units(&ramps)), level)
        }
        Wanted::StdDev => jackknife_estimate(&ClusterSd::new(&samples), level),
        Wanted::Mad => scale_estimate(
            jackknife_estimate(&ClusterMad::new(&samples), level),
            MAD_TO_SD,
        ),
        other => return estimate_metric(measurement, other, level),
    };
    found.estimate.is_finite().then_some(found)
}

fn jackknife_estimate(statistic: &impl ClusterStatistic, level: f64) -> Estimate {
    let estimate = statistic.observed();
    jackknife_t_interval(statistic, IntervalScale::Logarithmic, level)
        .map_or(Estimate::unbounded(estimate), |found| {
            Estimate::from_interval(estimate, found)
        })
}

fn median_estimate(median: &ClusterMedian, level: f64) -> Estimate {
    let estimate = median.observed();
    let Some(error) = LogStandardError::estimate(median, Smoothness::Median) else {
        return Estimate::unbounded(estimate);
    };
    let factor = error.margin(level).exp();
    Estimate {
        estimate,
        lower: estimate / factor,
        upper: estimate * factor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_process, measurement, with_ramp};
    use crate::compare::summarize;

    #[test]
    fn the_values_are_those_of_the_summary_and_the_bounds_grow_with_the_level() {
        let process = |k: u32| {
            let times: Vec<f64> = (0..9)
                .map(|i| 100.0 + f64::from((k * 7) % 5) + f64::from(i * i % 7))
                .collect();
            flat_process(k, 1_000, &times)
        };
        let run = measurement((0..10).map(process).collect());
        let summary = summarize(&run, 0.95, 1_000, 7).unwrap();
        for (statistic, expected) in [
            (Wanted::Mean, summary.mean),
            (Wanted::Median, summary.median),
            (Wanted::Time, summary.median),
            (Wanted::StdDev, summary.sd.unwrap()),
            (Wanted::Mad, summary.mad),
        ] {
            let [single, shared] =
                [0.95, 0.999].map(|level| estimate_at_level(&run, statistic, level));
            let (single, shared) = (single.unwrap(), shared.unwrap());
            assert_eq!(single.estimate, expected.estimate, "{statistic}");
            assert!(shared.lower < single.lower && single.upper < shared.upper);
        }
        assert_eq!(estimate_at_level(&run, Wanted::Slope, 0.95), None);
        assert_eq!(estimate_at_level(&run, Wanted::Latency(990), 0.95), None);
        assert_eq!(estimate_at_level(&run, Wanted::Latency(123), 0.95), None);
    }

    #[test]
    fn the_slope_is_that_of_the_processes_with_a_ramp() {
        let flat = |k| flat_process(k, 1_000, &[100.0; 3]);
        let ramp = |k, ns| with_ramp(flat(k), 10, 20, ns, 0.0);
        let run = measurement(vec![ramp(0, 90.0), flat(1), ramp(2, 90.0)]);
        let found = estimate_at_level(&run, Wanted::Slope, 0.95).unwrap();
        assert!((found.estimate - 90.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn one_sample_has_no_bounds_and_nothing_has_no_value() {
        let one = measurement(vec![flat_process(0, 1_000, &[100.0])]);
        for statistic in [Wanted::Mean, Wanted::Median] {
            let found = estimate_at_level(&one, statistic, 0.95).unwrap();
            assert_eq!(found, Estimate::unbounded(100.0));
        }
        let nothing = measurement(vec![]);
        assert_eq!(estimate_at_level(&nothing, Wanted::Median, 0.95), None);
    }
}
