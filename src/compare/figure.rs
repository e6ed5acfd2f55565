//! Single numbers that describe a measurement, by name: what columns of many runs and pivots show.
//!
//! A figure reads samples as their metric says: times and amounts as they are, rates as units per second. It describes and decides
//! nothing. Formulas are in docs/STATISTICS.md, section 9.

use std::fmt;
use std::str::FromStr;

use super::summary::sample_times;
use crate::model::{Measurement, Metric};
use perfcheck_stats::{
    Description, HarmonicMean, Preference, Replacement, Stream, Subselection, SubselectionCentre,
    derived_seed, describe_launch_means, median,
};

/// Nanoseconds per second, by which a time of one unit becomes units per second.
const SECOND_NS: f64 = 1e9;
/// Level of intervals.
const LEVEL: f64 = 0.95;

/// A number that describes a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Smallest value.
    Min,
    /// Mean of the launches' means: arithmetic, of rates harmonic.
    Mean,
    /// Median of all samples.
    Median,
    /// Standard deviation of all samples; of rates that of their harmonic mean.
    StdDev,
    /// Standard deviation of the launches' means.
    LaunchStdDev,
    /// Standard deviation over mean, of all samples.
    Variation,
    /// Largest value.
    Max,
    /// Mean of the best so many percent.
    BestMean(u32),
    /// The value that so many percent are at least as good as.
    Percentile(u32),
    /// Mean over launches of the median of the means of random parts.
    Subselection(Replacement),
    /// Half the width of its 95 % interval.
    SubselectionMargin,
}

impl Figure {
    /// The block that mmtests prints of a benchmark, and what it adds for skewed and for subselected ones.
    pub const BLOCK: [Self; 18] = [
        Self::Min,
        Self::Mean,
        Self::StdDev,
        Self::LaunchStdDev,
        Self::Variation,
        Self::Max,
        Self::BestMean(50),
        Self::BestMean(75),
        Self::BestMean(90),
        Self::BestMean(95),
        Self::BestMean(99),
        Self::Percentile(50),
        Self::Percentile(75),
        Self::Percentile(90),
        Self::Percentile(95),
        Self::Percentile(99),
        Self::Subselection(Replacement::Without),
        Self::SubselectionMargin,
    ];

    /// What users write, for messages about it.
    pub const WORDS: &str = "min, mean, median, std-dev, launch-std-dev, cv, max, best-95 (any percentage), p95 (any percentile), subselection, subselection-replaced, subselection-margin";

    /// Its label: mmtests' for what mmtests has, where means of rates are harmonic.
    pub fn label(self, metric: &Metric) -> String {
        let kind = match metric {
            Metric::Rate { .. } => "H",
            Metric::Time | Metric::Amount { .. } => "A",
        };
        match self {
            Self::Min => "Min".to_owned(),
            Self::Mean => format!("{kind}mean"),
            Self::Median => "Median".to_owned(),
            Self::StdDev if kind == "H" => "HStddev".to_owned(),
            Self::StdDev => "Stddev".to_owned(),
            Self::LaunchStdDev => "LaunchSD".to_owned(),
            Self::Variation => "CoeffVar".to_owned(),
            Self::Max => "Max".to_owned(),
            Self::BestMean(percent) => format!("B{kind}mean-{percent}"),
            Self::Percentile(percent) => format!("Pctile-{percent}"),
            Self::Subselection(Replacement::Without) => format!("Sub{kind}mean"),
            Self::Subselection(Replacement::With) => format!("Sub{kind}meanR"),
            Self::SubselectionMargin => format!("Sub{kind}meanCI"),
        }
    }

    /// Whether it says how far values lie apart: less of that is better, whatever the metric.
    fn is_spread(self) -> bool {
        matches!(
            self,
            Self::StdDev | Self::LaunchStdDev | Self::Variation | Self::SubselectionMargin
        )
    }
}

impl fmt::Display for Figure {
    /// As users write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Min => f.pad("min"),
            Self::Mean => f.pad("mean"),
            Self::Median => f.pad("median"),
            Self::StdDev => f.pad("std-dev"),
            Self::LaunchStdDev => f.pad("launch-std-dev"),
            Self::Variation => f.pad("cv"),
            Self::Max => f.pad("max"),
            Self::BestMean(percent) => write!(f, "best-{percent}"),
            Self::Percentile(percent) => write!(f, "p{percent}"),
            Self::Subselection(Replacement::Without) => f.pad("subselection"),
            Self::Subselection(Replacement::With) => f.pad("subselection-replaced"),
            Self::SubselectionMargin => f.pad("subselection-margin"),
        }
    }
}

impl FromStr for Figure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = |digits: &str| {
            let found = digits.parse().ok().filter(|percent| *percent <= 100_u32)?;
            digits.bytes().all(|c| c.is_ascii_digit()).then_some(found)
        };
        let word = text.trim().to_ascii_lowercase();
        let found = match &*word {
            "min" => Some(Self::Min),
            "mean" | "amean" | "hmean" => Some(Self::Mean),
            "median" => Some(Self::Median),
            "std-dev" | "stddev" => Some(Self::StdDev),
            "launch-std-dev" => Some(Self::LaunchStdDev),
            "cv" | "coeffvar" => Some(Self::Variation),
            "max" => Some(Self::Max),
            "subselection" => Some(Self::Subselection(Replacement::Without)),
            "subselection-replaced" => Some(Self::Subselection(Replacement::With)),
            "subselection-margin" => Some(Self::SubselectionMargin),
            _ => match (word.strip_prefix("best-"), word.strip_prefix('p')) {
                (Some(digits), _) => percent(digits).map(Self::BestMean),
                (None, Some(digits)) => percent(digits).map(Self::Percentile),
                (None, None) => None,
            },
        };
        found.ok_or_else(|| {
            format!(
                "`{text}` is not a statistic that there is; those are {}",
                Self::WORDS
            )
        })
    }
}

/// The deciding samples of a measurement, read by its metric.
#[derive(Debug, Clone)]
pub struct Readings<'a> {
    measurement: &'a Measurement,
    /// By launch, in ns per unit or amounts: less is better.
    launches: Vec<Vec<f64>>,
    /// All together, as people read them.
    values: Vec<f64>,
}

impl<'a> Readings<'a> {
    /// Those of `measurement`; `None` without samples.
    pub fn of(measurement: &'a Measurement) -> Option<Self> {
        let launches = sample_times(measurement);
        let is_rate = matches!(measurement.benchmark.metric, Metric::Rate { .. });
        let all = launches.iter().flatten().copied();
        let values: Vec<f64> = if is_rate {
            all.map(|time| SECOND_NS / time).collect()
        } else {
            all.collect()
        };
        (!values.is_empty()).then_some(Self {
            measurement,
            launches,
            values,
        })
    }

    /// What the values mean.
    pub fn metric(&self) -> &'a Metric {
        &self.measurement.benchmark.metric
    }

    /// All samples as people read them: rates in units per second.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All samples with less being better: times of one unit of a rate.
    pub fn costs(&self) -> Vec<f64> {
        self.launches.iter().flatten().copied().collect()
    }

    fn is_rate(&self) -> bool {
        matches!(self.metric(), Metric::Rate { .. })
    }

    fn preference(&self) -> Preference {
        if self.is_rate() {
            Preference::Higher
        } else {
            Preference::Lower
        }
    }

    /// A mean of times as people read it: of rates that is their harmonic mean.
    fn read(&self, cost: f64) -> f64 {
        if self.is_rate() {
            SECOND_NS / cost
        } else {
            cost
        }
    }

    /// A figure; `None` where the samples do not give it. Random parts are drawn from `seed`, for each benchmark in a sequence of its own.
    pub fn figure(&self, figure: Figure, seed: u64) -> Option<f64> {
        let described = || Description::of(&self.values);
        let harmonic = || HarmonicMean::of(&self.values);
        let found = match figure {
            Figure::Min => described()?.min,
            Figure::Max => described()?.max,
            Figure::Mean => self.read(describe_launch_means(&self.slices())?.mean),
            Figure::Median => median(&self.values)?,
            Figure::StdDev if self.is_rate() => harmonic()?.deviation,
            Figure::StdDev => described()?.sd?,
            Figure::LaunchStdDev => {
                let means = describe_launch_means(&self.slices())?;
                if self.is_rate() {
                    let means: Vec<f64> = self.launch_means();
                    (means.len() > 1).then_some(HarmonicMean::of(&means)?.deviation)?
                } else {
                    means.sd?
                }
            }
            Figure::Variation if self.is_rate() => {
                let found = harmonic()?;
                found.deviation / found.mean
            }
            Figure::Variation => described()?.cv()?,
            Figure::BestMean(percent) if self.is_rate() => {
                // The best rates are the shortest times, and the mean of those is the harmonic one.
                self.read(Preference::Lower.best_mean(&self.costs(), percent)?)
            }
            Figure::BestMean(percent) => self.preference().best_mean(&self.values, percent)?,
            Figure::Percentile(percent) => self.preference().percentile(&self.values, percent)?,
            Figure::Subselection(Replacement::Without) => {
                self.read(self.subselection(Subselection::DOCUMENTED, seed)?.centre)
            }
            Figure::Subselection(Replacement::With) => {
                self.read(self.subselection(Subselection::SCRIPTED, seed)?.centre)
            }
            Figure::SubselectionMargin => {
                let centre = self.subselection(Subselection::DOCUMENTED, seed)?;
                // A time of 0 or less is no rate.
                let interval = (centre.interval(LEVEL))
                    .filter(|found| !self.is_rate() || found.lower > 0.0)?;
                (self.read(interval.upper) - self.read(interval.lower)).abs() / 2.0
            }
        };
        found.is_finite().then_some(found)
    }

    /// Whether the mean of the samples is more than so many times their median: they are to be looked at.
    pub fn are_absurd(&self, times: f64) -> bool {
        Description::of(&self.costs())
            .and_then(|found| found.mean_over_median())
            .is_some_and(|ratio| ratio > times)
    }

    /// By how much a figure is worse than that of a reference, as a fraction of it: positive is slower, or a lower rate.
    /// `None` where the reference is 0 or either has none.
    pub fn worsening(&self, figure: Figure, candidate: f64, base: f64) -> Option<f64> {
        let preference = if figure.is_spread() {
            Preference::Lower
        } else {
            self.preference()
        };
        // Not -0: that would be printed with its sign.
        preference
            .improvement(candidate, base)
            .map(|better| 0.0 - better)
    }

    fn slices(&self) -> Vec<&[f64]> {
        self.launches.iter().map(Vec::as_slice).collect()
    }

    fn launch_means(&self) -> Vec<f64> {
        let launches = self.launches.iter();
        launches
            .filter_map(|launch| describe_launch_means(&[launch]))
            .map(|means| self.read(means.mean))
            .collect()
    }

    fn subselection(&self, rule: Subselection, seed: u64) -> Option<SubselectionCentre> {
        let key = self.measurement.benchmark.key.to_string();
        let stream = Stream {
            seed: derived_seed(seed, &key),
            name: "subselection",
        };
        SubselectionCentre::of(&self.slices(), rule, stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_launch, measurement};

    fn of(metric: Metric, launches: &[&[f64]]) -> Measurement {
        let launches = launches.iter().zip(0..);
        let mut found = measurement(
            launches
                .map(|(times, k)| flat_launch(k, 1_000_000, times))
                .collect(),
        );
        found.benchmark.metric = metric;
        found
    }

    fn figure(measurement: &Measurement, figure: Figure) -> Option<f64> {
        Readings::of(measurement)?.figure(figure, 1)
    }

    fn ops() -> Metric {
        Metric::Rate { unit: "ops".into() }
    }

    #[track_caller]
    fn near(found: Option<f64>, expected: f64) {
        let found = found.expect("a value");
        let apart = (found - expected).abs() / expected.abs();
        assert!(apart < 1e-6, "{found} is not {expected}");
    }

    #[test]
    fn m3_extremes_mean_and_deviation_of_times_are_of_all_samples() {
        let times = of(Metric::Time, &[&[100.0, 110.0, 90.0]]);
        near(figure(&times, Figure::Min), 90.0);
        near(figure(&times, Figure::Max), 110.0);
        near(figure(&times, Figure::Mean), 100.0);
        near(figure(&times, Figure::StdDev), 10.0);
        near(figure(&times, Figure::Variation), 0.1);
        assert_eq!(figure(&times, Figure::LaunchStdDev), None);
        assert_eq!(figure(&of(Metric::Time, &[]), Figure::Min), None);
    }

    #[test]
    fn m4_m7_m_x9_the_mean_of_rates_is_harmonic_with_the_deviation_of_the_delta_method() {
        // 100, 110 and 90 operations a second.
        let rates = of(ops(), &[&[1e9 / 100.0, 1e9 / 110.0, 1e9 / 90.0]]);
        near(figure(&rates, Figure::Mean), 99.331_103_678_929_76);
        near(figure(&rates, Figure::StdDev), 8.151_026_747_970_235);
        near(figure(&rates, Figure::Min), 90.0);
        near(figure(&rates, Figure::Max), 110.0);
        assert_eq!(Figure::Mean.label(&ops()), "Hmean");
        assert_eq!(Figure::Mean.label(&Metric::Time), "Amean");
    }

    #[test]
    fn m8_m9_launches_weigh_alike_however_many_samples_they_have() {
        let unequal = of(Metric::Time, &[&[1.0; 4], &[3.0]]);
        near(figure(&unequal, Figure::Mean), 2.0);
        let launches = of(Metric::Time, &[&[9.0, 11.0], &[12.0], &[13.0, 15.0]]);
        near(figure(&launches, Figure::LaunchStdDev), 2.0);
    }

    #[test]
    fn m10_m11_m_x5_the_subselection_centre_is_a_figure_in_both_ways_of_drawing() {
        let times = of(Metric::Time, &[&[10.0; 3], &[20.0; 30]]);
        for word in ["subselection", "subselection-replaced"] {
            near(figure(&times, word.parse().unwrap()), 15.0);
        }
        assert!(figure(&times, Figure::SubselectionMargin).unwrap() > 0.0);
        let rates = of(ops(), &[&[1e9 / 50.0; 8], &[1e9 / 50.0; 5]]);
        near(
            figure(&rates, Figure::Subselection(Replacement::Without)),
            50.0,
        );
    }

    #[test]
    fn m_x6_m_x7_best_means_and_percentiles_leave_out_the_worst_of_times_and_of_rates() {
        let upward: Vec<f64> = (1..=40).map(f64::from).collect();
        let times = of(Metric::Time, &[&upward]);
        near(figure(&times, Figure::BestMean(95)), 19.5);
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        near(
            figure(&of(Metric::Time, &[&ten]), Figure::Percentile(95)),
            9.0,
        );
        let rates: Vec<f64> = ten.iter().map(|rate| 1e9 / rate).collect();
        near(figure(&of(ops(), &[&rates]), Figure::Percentile(95)), 2.0);
        // The best half of 1..=4 a second: 4 and 3, whose harmonic mean is 24 / 7.
        let four: Vec<f64> = (1..=4).map(|rate| 1e9 / f64::from(rate)).collect();
        near(
            figure(&of(ops(), &[&four]), Figure::BestMean(50)),
            24.0 / 7.0,
        );
    }

    #[test]
    fn m_x8_positive_always_means_worse_and_a_spread_is_never_good() {
        let (times, rates) = (of(Metric::Time, &[&[1.0]]), of(ops(), &[&[1.0]]));
        let percent = |measurement: &Measurement, figure, candidate, base| {
            let readings = Readings::of(measurement).unwrap();
            let worse = readings.worsening(figure, candidate, base)?;
            Some((worse * 1e4).round() / 1e2)
        };
        assert_eq!(percent(&times, Figure::Mean, 108.0, 100.0), Some(8.0));
        assert_eq!(percent(&rates, Figure::Mean, 92.0, 100.0), Some(8.0));
        assert_eq!(percent(&rates, Figure::Mean, 0.0, 100.0), Some(100.0));
        assert_eq!(percent(&rates, Figure::StdDev, 2.0, 1.0), Some(100.0));
        assert_eq!(percent(&times, Figure::Mean, 1.0, 0.0), None);
        let same = Readings::of(&times)
            .unwrap()
            .worsening(Figure::Mean, 5.0, 5.0);
        assert!(same.is_some_and(|same| same == 0.0 && same.is_sign_positive()));
    }

    #[test]
    fn figures_are_read_as_they_are_written() {
        for figure in Figure::BLOCK {
            assert_eq!(figure.to_string().parse(), Ok(figure));
        }
        for word in ["p101", "best-", "p", "p+5", "average", ""] {
            let message = word.parse::<Figure>().unwrap_err();
            assert!(message.contains("best-95"), "{message}");
        }
    }
}
