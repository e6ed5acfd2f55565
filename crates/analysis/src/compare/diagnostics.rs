//! Diagnoses conspicuous properties of samples from their order and their spread. A property is reported if it exceeds a threshold. The reports
//! inform people, and no verdict depends on them.

use serde::Serialize;
use std::fmt;

use super::summary::{modal_value_if_several, sample_times};
use crate::model::{Measurement, Metric, Thresholds};
use perfcheck_stats::{
    Description, SlowMode, SplitHalves, between_to_within_ratio, lag_one_autocorrelation, median,
};

/// A conspicuous property of a benchmark's samples in one run. The member `diagnostic` says which property it is. No verdict depends on it. `Display`
/// gives a sentence without a full stop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "diagnostic", rename_all = "kebab-case")]
pub enum Diagnostic {
    /// Processes differ by more than the spread of the samples within each process explains.
    ProcessesDiffer {
        /// The standard deviation of the processes' medians, divided by the mean of the processes' standard errors.
        ratio: f64,
    },
    /// In some processes, samples are correlated with the sample right before them, so they are not independent.
    Dependent {
        /// The highest autocorrelation among the processes: the correlation of each sample of a process with the sample before it.
        autocorrelation: f64,
        /// Number of processes in which the autocorrelation is above the threshold `autocorrelation`.
        processes: usize,
    },
    /// In some processes, the first half of the samples has another distribution than the second half.
    HalvesDiffer {
        /// The smallest p-value among the processes, from a two-sided Mann-Whitney test of the two halves.
        p_value: f64,
        /// Number of processes in which the p-value is below the threshold `halves-level`.
        processes: usize,
    },
    /// In some processes, the mean changes from the first half of the samples to the second.
    Drifts {
        /// The largest change of the mean among the processes, from the first half to the second, as a fraction. It is negative if the samples became
        /// faster.
        change: f64,
        /// Number of processes in which the mean changes.
        processes: usize,
    },
    /// Some samples form a second, slower cluster.
    SlowCluster {
        /// Number of samples in the slow cluster.
        samples: usize,
        /// The share of all samples that are in the slow cluster, as a fraction.
        share: f64,
        /// The mean of the samples in the slow cluster, divided by the median of all samples.
        times_median: f64,
    },
    /// The samples have several modes: their times gather around more than one value.
    SeveralModes {
        /// Gregg's modal value, which is 2 for one mode and about 4 for two equal modes.
        modal_value: f64,
    },
    /// The mean is so far above the median that a few samples must be implausibly long.
    Absurd {
        /// The mean divided by the median.
        ratio: f64,
    },
    /// A sample is implausibly long compared with the median. The machine may have stalled, or the unit of the values may be wrong.
    AbsurdTime {
        /// The time of an iteration in the longest sample, in seconds.
        seconds: f64,
        /// The time of an iteration in the longest sample, divided by the median of all samples.
        ratio: f64,
    },
}

/// Lists the conspicuous properties of `measurement`.
pub fn diagnose(measurement: &Measurement, thresholds: &Thresholds) -> Vec<Diagnostic> {
    let processes = sample_times(measurement);
    let series: Vec<&[f64]> = processes.iter().map(Vec::as_slice).collect();
    let pooled: Vec<f64> = processes.concat();
    let mut found = Vec::new();
    let ratio = between_to_within_ratio(&series);
    if let Some(ratio) = ratio.filter(|ratio| *ratio > thresholds.process_variance_ratio) {
        found.push(Diagnostic::ProcessesDiffer { ratio });
    }
    found.extend(diagnose_order(&series, thresholds));
    let slow = SlowMode::detect(
        &pooled,
        thresholds.slow_cluster_min as usize,
        thresholds.slow_cluster_share,
        thresholds.slow_cluster_cv,
    );
    let centre = median(&pooled).filter(|centre| *centre > 0.0);
    if let (Some(cluster), Some(centre)) = (slow, centre) {
        found.push(Diagnostic::SlowCluster {
            samples: cluster.count,
            share: cluster.share,
            times_median: cluster.mean / centre,
        });
    }
    let several = modal_value_if_several(&pooled, thresholds);
    found.extend(several.map(|modal_value| Diagnostic::SeveralModes { modal_value }));
    found.extend(find_absurd(
        &pooled,
        &measurement.benchmark.metric,
        thresholds,
    ));
    found
}

/// Finds signs of absurd values: a mean that is too many times the median, or an implausibly long time. `values` must be all values that were
/// measured, without a filter.
pub fn find_absurd(values: &[f64], metric: &Metric, thresholds: &Thresholds) -> Vec<Diagnostic> {
    let Some(described) = Description::compute(values) else {
        return Vec::new();
    };
    let most = thresholds.mean_over_median;
    let mean = (described.mean_over_median()).filter(|ratio| *ratio > most);
    let ratio = described.max / described.median;
    let seconds = described.max / 1e9;
    let too_long = metric.is_timed() && seconds > thresholds.absurd_seconds && ratio > most;
    let mean = mean.map(|ratio| Diagnostic::Absurd { ratio });
    mean.into_iter()
        .chain(too_long.then_some(Diagnostic::AbsurdTime { seconds, ratio }))
        .collect()
}

fn fewest(thresholds: &Thresholds) -> usize {
    thresholds.series_min_samples as usize
}

/// Lists the conspicuous properties that the order of the samples shows. Processes with few samples are skipped.
fn diagnose_order(processes: &[&[f64]], thresholds: &Thresholds) -> Vec<Diagnostic> {
    let long: Vec<&[f64]> = processes
        .iter()
        .copied()
        .filter(|process| process.len() >= fewest(thresholds))
        .collect();
    let mut found = Vec::new();
    let dependent: Vec<f64> = long
        .iter()
        .filter_map(|process| lag_one_autocorrelation(process))
        .filter(|r| *r > thresholds.autocorrelation)
        .collect();
    if let Some(autocorrelation) = dependent.iter().copied().reduce(f64::max) {
        found.push(Diagnostic::Dependent {
            autocorrelation,
            processes: dependent.len(),
        });
    }
    let halves: Vec<SplitHalves> = long
        .iter()
        .filter_map(|process| SplitHalves::compare(process))
        .collect();
    let differing = halves.iter().map(|halves| halves.p);
    let differing: Vec<f64> = differing.filter(|p| *p < thresholds.halves_level).collect();
    if let Some(p_value) = differing.iter().copied().reduce(f64::min) {
        found.push(Diagnostic::HalvesDiffer {
            p_value,
            processes: differing.len(),
        });
    }
    let (change, errors) = (thresholds.drift_change, thresholds.drift_standard_errors);
    let drifting: Vec<f64> = halves
        .iter()
        .filter(|halves| halves.has_drifted(change, errors))
        .filter_map(|halves| halves.change)
        .collect();
    let largest = drifting.iter().copied();
    if let Some(change) = largest.max_by(|a, b| a.abs().total_cmp(&b.abs())) {
        found.push(Diagnostic::Drifts {
            change,
            processes: drifting.len(),
        });
    }
    found
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |processes: &usize| {
            let plural = if *processes == 1 {
                "process"
            } else {
                "processes"
            };
            format!("{processes} {plural}")
        };
        match self {
            Self::ProcessesDiffer { ratio } => write!(
                f,
                "processes differ {ratio:.0} times as much as their samples suggest: the spread within one process says little about the others"
            ),
            Self::Dependent {
                autocorrelation,
                processes,
            } => write!(
                f,
                "successive samples are correlated (autocorrelation up to {autocorrelation:.2}, in {})",
                counted(processes)
            ),
            Self::HalvesDiffer { p_value, processes } => write!(
                f,
                "in {}, the first half of the samples differs from the second (p as low as {p_value:.1e})",
                counted(processes)
            ),
            Self::Drifts { change, processes } => write!(
                f,
                "in {}, the time drifts by up to {:+.0} % from the first half of the samples to the second",
                counted(processes),
                change * 100.0
            ),
            Self::SlowCluster {
                samples,
                share,
                times_median,
            } => write!(
                f,
                "{samples} samples ({:.1} %) form a second cluster at {times_median:.2} times the median",
                share * 100.0
            ),
            Self::SeveralModes { modal_value } => write!(
                f,
                "the samples have several modes (Gregg's modal value: {modal_value:.1})"
            ),
            Self::Absurd { ratio } => write!(
                f,
                "the mean is {ratio:.0} times the median: check the samples for outliers"
            ),
            Self::AbsurdTime { seconds, ratio } => write!(
                f,
                "one sample takes {seconds:.3} s, {ratio:.0} times the median: did the machine stall, or is the unit wrong?"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_process, measurement};

    fn found(processes: &[Vec<f64>], thresholds: &Thresholds) -> Vec<Diagnostic> {
        let processes = processes
            .iter()
            .zip(0..)
            .map(|(times, k)| flat_process(k, 1000, times));
        diagnose(&measurement(processes.collect()), thresholds)
    }

    fn names(found: &[Diagnostic]) -> Vec<String> {
        let name = |one: &Diagnostic| {
            format!("{one:?}")
                .split(' ')
                .next()
                .unwrap_or("")
                .to_owned()
        };
        found.iter().map(name).collect()
    }

    /// Yields values that look random but are the same in each run of the test.
    fn noise(n: u32) -> impl Iterator<Item = f64> {
        (0..n).map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 16) / 65_536.0)
    }

    #[test]
    fn s14_a_time_is_absurd_beyond_a_second_and_a_thousand_medians() {
        let of = |median: f64, longest: f64| {
            let mut values = vec![median; 9_999];
            values.push(longest);
            find_absurd(&values, &Metric::Time, &Thresholds::default())
        };
        // One such value among ten thousand hardly raises the mean above the median, so only the rule about times finds it.
        let (seconds, ratio) = (2.0, 2_000.0);
        assert_eq!(of(1e6, 2e9), [Diagnostic::AbsurdTime { seconds, ratio }]);
        assert_eq!(of(2e6, 2e9), [], "a thousand medians are not more");
        assert_eq!(of(1e5, 1e9), [], "a second is not more than a second");
    }

    #[test]
    fn halves_differ_from_a_p_of_a_thousandth_down() {
        let shifted = |by: f64| -> Vec<f64> {
            let first = (0..25).map(|i| 100.0 + f64::from(i * 7 % 25));
            first.clone().chain(first.map(|value| value + by)).collect()
        };
        // scipy.stats.mannwhitneyu(first, second, method="asymptotic"): 0.0020 if the values of the second half are larger by 7.5, 0.0006 if they are
        // larger by 8.5.
        let names = |by| names(&found(&[shifted(by)], &Thresholds::default()));
        let differ = "HalvesDiffer".to_owned();
        assert!(!names(7.5).contains(&differ));
        assert!(names(8.5).contains(&differ));
    }

    #[test]
    fn quiet_samples_are_worth_no_word() {
        let process = |_| noise(60).map(|x| 100.0 + x).collect();
        assert_eq!(found(&[0, 1, 2].map(process), &Thresholds::default()), []);
        assert_eq!(found(&[], &Thresholds::default()), []);
    }

    #[test]
    fn each_thing_is_found_where_it_is_and_only_beyond_its_threshold() {
        let apart: Vec<Vec<f64>> = [0.0, 5.0, 10.0]
            .iter()
            .map(|shift| noise(60).map(|x| 100.0 + shift + x).collect())
            .collect();
        let mut thresholds = Thresholds::default();
        assert!(names(&found(&apart, &thresholds)).contains(&"ProcessesDiffer".to_owned()));
        thresholds.set("process-variance-ratio", 1000.0).unwrap();
        assert!(!names(&found(&apart, &thresholds)).contains(&"ProcessesDiffer".to_owned()));
        let ratio = found(&apart, &Thresholds::default())
            .into_iter()
            .find_map(|one| match one {
                Diagnostic::ProcessesDiffer { ratio } => Some(ratio),
                _ => None,
            })
            .unwrap();
        for (threshold, differ) in [(ratio * 0.999, true), (ratio, false)] {
            thresholds.set("process-variance-ratio", threshold).unwrap();
            let names = names(&found(&apart, &thresholds));
            assert_eq!(names.contains(&"ProcessesDiffer".to_owned()), differ);
        }
        let rising: Vec<f64> = noise(60)
            .zip(0..)
            .map(|(x, i)| 100.0 + f64::from(i) + x)
            .collect();
        let of_rising = names(&found(
            std::slice::from_ref(&rising),
            &Thresholds::default(),
        ));
        assert_eq!(&of_rising[..3], ["Dependent", "HalvesDiffer", "Drifts"]);
        let mut lenient = Thresholds::default();
        lenient.set("series-min-samples", 61.0).unwrap();
        assert_eq!(found(&[rising], &lenient), []);
        let mut slow: Vec<f64> = noise(60).map(|x| 100.0 + x).collect();
        slow.extend([200.0, 200.5, 201.0]);
        let of_slow = found(&[slow], &Thresholds::default());
        assert!(
            matches!(
                of_slow[..],
                [.., Diagnostic::SlowCluster { samples: 3, .. }]
                    | [.., Diagnostic::SlowCluster { samples: 3, .. }, _]
            ),
            "{of_slow:?}"
        );
    }

    #[test]
    fn samples_depend_on_those_before_them_beyond_the_threshold() {
        let rising: Vec<f64> = (0..60).map(|i| 100.0 + f64::from(i)).collect();
        let noisy: Vec<f64> = noise(60).map(|x| 100.0 + x).collect();
        let both = [rising.clone(), noisy];
        let dependent = |threshold: f64| {
            let mut thresholds = Thresholds::default();
            thresholds.set("autocorrelation", threshold).unwrap();
            let found = found(&both, &thresholds).into_iter();
            found
                .filter(|one| matches!(one, Diagnostic::Dependent { .. }))
                .collect::<Vec<_>>()
        };
        let autocorrelation = lag_one_autocorrelation(&rising).unwrap();
        let named = Diagnostic::Dependent {
            autocorrelation,
            processes: 1,
        };
        assert_eq!(dependent(autocorrelation), []);
        assert_eq!(dependent(autocorrelation.next_down()), [named]);
    }

    #[test]
    fn a_slow_cluster_is_told_relative_to_the_median_unless_that_is_zero() {
        let of = |usual: f64| {
            let mut times = vec![usual; 97];
            times.extend([200.0; 3]);
            let found = found(&[times], &Thresholds::default());
            let cluster = |one: &Diagnostic| matches!(one, Diagnostic::SlowCluster { .. });
            found.into_iter().find(cluster)
        };
        let cluster = Diagnostic::SlowCluster {
            samples: 3,
            share: 0.03,
            times_median: 4.0,
        };
        assert_eq!(of(50.0), Some(cluster));
        assert_eq!(of(0.0), None);
    }

    #[test]
    fn a_mean_is_absurd_beyond_a_thousand_medians() {
        let of =
            |longest: f64| find_absurd(&[1.0, 1.0, longest], &Metric::Time, &Thresholds::default());
        assert_eq!(of(2_998.0), [], "a thousand medians are not more");
        let ratio = 1_001.0;
        assert_eq!(of(3_001.0), [Diagnostic::Absurd { ratio }]);
        assert_eq!(
            find_absurd(&[], &Metric::Time, &Thresholds::default()),
            [],
            "nothing was measured"
        );
    }

    #[test]
    fn only_what_is_timed_can_take_an_absurd_time() {
        let mut values = vec![1e6; 9_999];
        values.push(2e9);
        let of = |metric: &Metric| find_absurd(&values, metric, &Thresholds::default()).len();
        let unit = || "events".to_owned();
        assert_eq!(of(&Metric::Rate { unit: unit() }), 1);
        assert_eq!(of(&Metric::Amount { unit: unit() }), 0);
    }

    #[test]
    fn processes_are_counted_in_singular_and_plural() {
        let text = |processes| {
            let autocorrelation = 0.5;
            let found = Diagnostic::Dependent {
                autocorrelation,
                processes,
            };
            found.to_string()
        };
        assert!(text(1).ends_with("in 1 process)"), "{}", text(1));
        assert!(text(2).ends_with("in 2 processes)"), "{}", text(2));
    }
}
