//! Reads the samples of a measurement in the units that people use, and computes their statistics. Pivots use these statistics, and so do tables that
//! show several runs in columns.
//!
//! The metric determines how samples are read: times and amounts as they are, rates as units per second. No verdict depends on these statistics. The
//! formulas are in docs/internals/src/statistics/other-systems.md.

use super::summary::{described_times, sample_times};
use crate::model::{Measurement, Metric, Statistic};
use perfcheck_stats::{
    Better, Description, HarmonicMean, Quantile, Stream, SubsampledCentre, Subsampling,
    derived_seed, describe_cluster_means,
};

/// Nanoseconds per second. Divided by the time of one unit, it gives the rate per second.
const SECOND_NS: f64 = 1e9;
/// Confidence level of the intervals.
const LEVEL: f64 = 0.95;

/// The block of statistics that a table shows for each benchmark, with the runs in columns. They are the statistics that mmtests prints (with its
/// additions for skewed and for subselected benchmarks), and the deviation between processes.
pub const BLOCK: [Statistic; 18] = [
    Statistic::Min,
    Statistic::Mean,
    Statistic::StdDev,
    Statistic::ProcessStdDev,
    Statistic::Variation,
    Statistic::Max,
    Statistic::BestMean(50),
    Statistic::BestMean(75),
    Statistic::BestMean(90),
    Statistic::BestMean(95),
    Statistic::BestMean(99),
    Statistic::Percentile(500),
    Statistic::Percentile(750),
    Statistic::Percentile(900),
    Statistic::Percentile(950),
    Statistic::Percentile(990),
    Statistic::Subselection,
    Statistic::SubselectionMargin,
];

/// Returns the heading of the column with this statistic: the label that mmtests uses, if mmtests has the statistic. For rates, the label says that
/// the mean is harmonic.
pub fn column_label(statistic: Statistic, metric: &Metric) -> String {
    let kind = match metric {
        Metric::Rate { .. } => "H",
        Metric::Time | Metric::Amount { .. } => "A",
    };
    match statistic {
        Statistic::Min => "Min".to_owned(),
        Statistic::Mean => format!("{kind}mean"),
        Statistic::Median => "Median".to_owned(),
        Statistic::StdDev if kind == "H" => "HStddev".to_owned(),
        Statistic::StdDev => "Stddev".to_owned(),
        Statistic::ProcessStdDev => "ProcessSD".to_owned(),
        Statistic::Variation => "CoeffVar".to_owned(),
        Statistic::Max => "Max".to_owned(),
        Statistic::BestMean(percent) => format!("B{kind}mean-{percent}"),
        Statistic::Percentile(thousandths) => {
            format!("Pctile-{}", f64::from(thousandths) / 10.0)
        }
        Statistic::Subselection => format!("Sub{kind}mean"),
        Statistic::SubselectionReplaced => format!("Sub{kind}meanR"),
        Statistic::SubselectionMargin => format!("Sub{kind}meanCI"),
        other => other.to_string(),
    }
}

/// The samples of a measurement that a filter keeps, or all deciding samples if there is no filter. They are converted as the metric requires.
#[derive(Debug, Clone)]
pub struct Readings<'a> {
    measurement: &'a Measurement,
    /// The samples of each process as costs, so less is better: amounts, or nanoseconds per unit.
    processes: Vec<Vec<f64>>,
    /// All samples together, in the units that people read, such as units per second.
    values: Vec<f64>,
    /// The definition of percentiles and medians that the user requested, if any.
    quantile: Option<Quantile>,
}

impl<'a> Readings<'a> {
    /// Reads the samples of `measurement`; `None` without samples.
    pub fn from_measurement(measurement: &'a Measurement) -> Option<Self> {
        let processes = described_times(measurement);
        let is_rate = matches!(measurement.benchmark.metric, Metric::Rate { .. });
        let all = processes.iter().flatten().copied();
        let values: Vec<f64> = if is_rate {
            all.map(|time| SECOND_NS / time).collect()
        } else {
            all.collect()
        };
        (!values.is_empty()).then_some(Self {
            measurement,
            processes,
            values,
            quantile: None,
        })
    }

    /// Sets the definition of percentiles and medians. With `None`, percentiles are by nearest rank and a median is the mean of the middle two
    /// values.
    #[must_use]
    pub fn with_quantile(self, quantile: Option<Quantile>) -> Self {
        Self { quantile, ..self }
    }

    /// Returns the quantile `p` of the values, sorted from best to worst. For rates, that is the rate that a share of `p` of the samples reaches or
    /// exceeds.
    fn quantile(&self, definition: Quantile, p: f64) -> Option<f64> {
        let sign = match self.preference() {
            Better::Lower => 1.0,
            Better::Higher => -1.0,
        };
        let mut signed: Vec<f64> = self.values.iter().map(|value| sign * value).collect();
        definition.select(&mut signed, p).map(|found| sign * found)
    }

    /// Returns the metric that the values measure.
    pub fn metric(&self) -> &'a Metric {
        &self.measurement.benchmark.metric
    }

    /// Returns the samples in the units that people read: rates in units per second.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the samples as costs, where less is better: for a rate, the time of one unit.
    pub fn costs(&self) -> Vec<f64> {
        self.processes.iter().flatten().copied().collect()
    }

    /// Like [`Self::costs`], but including the samples that a filter leaves out, because tests use all samples.
    pub fn all_costs(&self) -> Vec<f64> {
        sample_times(self.measurement).concat()
    }

    fn is_rate(&self) -> bool {
        matches!(self.metric(), Metric::Rate { .. })
    }

    fn preference(&self) -> Better {
        if self.is_rate() {
            Better::Higher
        } else {
            Better::Lower
        }
    }

    /// Converts a cost into the units of the metric. For a rate, it converts the time of one unit into units per second.
    pub fn from_cost(&self, cost: f64) -> f64 {
        if self.is_rate() {
            SECOND_NS / cost
        } else {
            cost
        }
    }

    /// Computes `statistic`. `seed` starts the random numbers, which are a separate sequence for each benchmark. Returns `None` if tables with
    /// columns do not have this statistic, or if it cannot be computed from the samples.
    pub fn value(&self, statistic: Statistic, seed: u64) -> Option<f64> {
        let described = || Description::compute(&self.values);
        let harmonic = || HarmonicMean::compute(&self.values);
        let found = match statistic {
            Statistic::Min => described()?.min,
            Statistic::Max => described()?.max,
            Statistic::Mean => self.from_cost(describe_cluster_means(&self.slices())?.mean),
            Statistic::Median => self.quantile(self.quantile.unwrap_or(Quantile::Linear), 0.5)?,
            Statistic::StdDev if self.is_rate() => harmonic()?.deviation,
            Statistic::StdDev => described()?.sd?,
            Statistic::ProcessStdDev => {
                let means = describe_cluster_means(&self.slices())?;
                if self.is_rate() {
                    let means: Vec<f64> = self.process_means();
                    (means.len() > 1).then_some(HarmonicMean::compute(&means)?.deviation)?
                } else {
                    means.sd?
                }
            }
            Statistic::Variation if self.is_rate() => {
                let found = harmonic()?;
                found.deviation / found.mean
            }
            Statistic::Variation => described()?.cv()?,
            Statistic::BestMean(percent) if self.is_rate() => {
                // The best rates are the shortest times; the mean of those times gives the harmonic mean of the rates.
                self.from_cost(Better::Lower.best_mean(&self.costs(), percent.into())?)
            }
            Statistic::BestMean(percent) => {
                self.preference().best_mean(&self.values, percent.into())?
            }
            Statistic::Mad => described()?.mad_scaled(),
            Statistic::MadUnscaled => described()?.mad,
            Statistic::LinearPercentile(thousandths) => {
                self.quantile(Quantile::Linear, f64::from(thousandths) / 1000.0)?
            }
            Statistic::Percentile(thousandths) => self.quantile(
                self.quantile.unwrap_or(Quantile::InvertedCdf),
                f64::from(thousandths) / 1000.0,
            )?,
            Statistic::Subselection => {
                self.from_cost(self.subselection(Subsampling::DOCUMENTED, seed)?.centre)
            }
            Statistic::SubselectionReplaced => {
                self.from_cost(self.subselection(Subsampling::SCRIPTED, seed)?.centre)
            }
            Statistic::SubselectionMargin => {
                let centre = self.subselection(Subsampling::DOCUMENTED, seed)?;
                // A time of 0 or less has no rate.
                let interval = (centre.interval(LEVEL))
                    .filter(|found| !self.is_rate() || found.lower > 0.0)?;
                (self.from_cost(interval.upper) - self.from_cost(interval.lower)).abs() / 2.0
            }
            // Tables with columns do not have these statistics.
            Statistic::Time
            | Statistic::Floor
            | Statistic::Slope
            | Statistic::Allocations
            | Statistic::Bytes
            | Statistic::Peak
            | Statistic::Instructions
            | Statistic::Cpu
            | Statistic::Memory
            | Statistic::Size
            | Statistic::BuildTime
            | Statistic::Latency(_) => return None,
        };
        found.is_finite().then_some(found)
    }

    /// Returns by how much `candidate` is worse than `base`, as a fraction of `base`. Both are values of `statistic`. A positive result means slower,
    /// a lower rate, or a larger spread. Returns `None` if `base` is 0 or a value is missing.
    pub fn worsening(&self, statistic: Statistic, candidate: f64, base: f64) -> Option<f64> {
        let preference = if statistic.is_spread() {
            Better::Lower
        } else {
            self.preference()
        };
        // Avoid -0, which would be printed with its sign.
        preference
            .improvement(candidate, base)
            .map(|better| 0.0 - better)
    }

    fn slices(&self) -> Vec<&[f64]> {
        self.processes.iter().map(Vec::as_slice).collect()
    }

    fn process_means(&self) -> Vec<f64> {
        let processes = self.processes.iter();
        processes
            .filter_map(|process| describe_cluster_means(&[process]))
            .map(|means| self.from_cost(means.mean))
            .collect()
    }

    fn subselection(&self, rule: Subsampling, seed: u64) -> Option<SubsampledCentre> {
        let key = self.measurement.benchmark.key.to_string();
        let stream = Stream {
            seed: derived_seed(seed, &key),
            name: "subselection",
        };
        SubsampledCentre::compute(&self.slices(), rule, stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_process, measurement};
    use crate::model::StatisticSet;

    fn measurement_with_metric(metric: Metric, processes: &[&[f64]]) -> Measurement {
        let processes = processes.iter().zip(0..);
        let mut found = measurement(
            processes
                .map(|(times, k)| flat_process(k, 1_000_000, times))
                .collect(),
        );
        found.benchmark.metric = metric;
        found
    }

    fn figure(measurement: &Measurement, statistic: Statistic) -> Option<f64> {
        Readings::from_measurement(measurement)?.value(statistic, 1)
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
        let times = measurement_with_metric(Metric::Time, &[&[100.0, 110.0, 90.0]]);
        near(figure(&times, Statistic::Min), 90.0);
        near(figure(&times, Statistic::Max), 110.0);
        near(figure(&times, Statistic::Mean), 100.0);
        near(figure(&times, Statistic::StdDev), 10.0);
        near(figure(&times, Statistic::Variation), 0.1);
        // The percentile 75 lies halfway between the second and the third of three samples.
        near(figure(&times, Statistic::LinearPercentile(750)), 105.0);
        assert_eq!(figure(&times, Statistic::ProcessStdDev), None);
        assert_eq!(
            figure(&measurement_with_metric(Metric::Time, &[]), Statistic::Min),
            None
        );
    }

    #[test]
    fn m4_m7_m_x9_the_mean_of_rates_is_harmonic_with_the_deviation_of_the_delta_method() {
        // The rates are 100, 110 and 90 operations per second.
        let rates = measurement_with_metric(ops(), &[&[1e9 / 100.0, 1e9 / 110.0, 1e9 / 90.0]]);
        near(figure(&rates, Statistic::Mean), 99.331_103_678_929_76);
        near(figure(&rates, Statistic::StdDev), 8.151_026_747_970_235);
        near(figure(&rates, Statistic::Min), 90.0);
        near(figure(&rates, Statistic::Max), 110.0);
        assert_eq!(column_label(Statistic::Mean, &ops()), "Hmean");
        assert_eq!(column_label(Statistic::Mean, &Metric::Time), "Amean");
    }

    #[test]
    fn m8_m9_processes_weigh_alike_however_many_samples_they_have() {
        let unequal = measurement_with_metric(Metric::Time, &[&[1.0; 4], &[3.0]]);
        near(figure(&unequal, Statistic::Mean), 2.0);
        let processes =
            measurement_with_metric(Metric::Time, &[&[9.0, 11.0], &[12.0], &[13.0, 15.0]]);
        near(figure(&processes, Statistic::ProcessStdDev), 2.0);
    }

    #[test]
    fn m10_m11_m_x5_the_subselection_centre_is_a_figure_in_both_ways_of_drawing() {
        let times = measurement_with_metric(Metric::Time, &[&[10.0; 3], &[20.0; 30]]);
        for way in [Statistic::Subselection, Statistic::SubselectionReplaced] {
            near(figure(&times, way), 15.0);
        }
        assert!(figure(&times, Statistic::SubselectionMargin).unwrap() > 0.0);
        let rates = measurement_with_metric(ops(), &[&[1e9 / 50.0; 8], &[1e9 / 50.0; 5]]);
        near(figure(&rates, Statistic::Subselection), 50.0);
    }

    #[test]
    fn m_x6_m_x7_best_means_and_percentiles_leave_out_the_worst_of_times_and_of_rates() {
        let upward: Vec<f64> = (1..=40).map(f64::from).collect();
        let times = measurement_with_metric(Metric::Time, &[&upward]);
        near(figure(&times, Statistic::BestMean(95)), 19.5);
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let p95 = |measurement: &Measurement, quantile| {
            let readings = Readings::from_measurement(measurement)?.with_quantile(quantile);
            readings.value(Statistic::Percentile(950), 1)
        };
        let (times, rates) = (
            measurement_with_metric(Metric::Time, &[&ten]),
            measurement_with_metric(
                ops(),
                &[&ten.iter().map(|rate| 1e9 / rate).collect::<Vec<_>>()],
            ),
        );
        near(p95(&times, Some(Quantile::FloorRank)), 9.0);
        near(p95(&rates, Some(Quantile::FloorRank)), 2.0);
        // By nearest rank, as in `show` and BenchForge, the rank is ceil(9.5) = 10.
        near(p95(&times, None), 10.0);
        near(p95(&rates, None), 1.0);
        // The best half of the rates from 1 to 4 per second is 4 and 3, whose harmonic mean is 24 / 7.
        let four: Vec<f64> = (1..=4).map(|rate| 1e9 / f64::from(rate)).collect();
        near(
            figure(
                &measurement_with_metric(ops(), &[&four]),
                Statistic::BestMean(50),
            ),
            24.0 / 7.0,
        );
    }

    #[test]
    fn what_one_process_or_an_interval_beyond_zero_cannot_tell_is_not_there() {
        let value = |measurement: &Measurement, statistic| {
            Readings::from_measurement(measurement)
                .unwrap()
                .value(statistic, 7)
        };
        let one: [&[f64]; 1] = [&[100.0, 110.0, 120.0]];
        for metric in [Metric::Time, ops()] {
            let found = value(
                &measurement_with_metric(metric, &one),
                Statistic::ProcessStdDev,
            );
            assert_eq!(found, None);
        }
        let two: [&[f64]; 2] = [&[100.0, 100.0], &[110.0, 110.0]];
        near(
            figure(
                &measurement_with_metric(Metric::Time, &two),
                Statistic::ProcessStdDev,
            ),
            50.0_f64.sqrt(),
        );
        // The means are 1 and 1,000 ns. Student's interval reaches below zero, and no rate corresponds to a time below zero.
        let apart: [&[f64]; 2] = [&[1.0; 10], &[1_000.0; 10]];
        let margin = Statistic::SubselectionMargin;
        assert!(value(&measurement_with_metric(Metric::Time, &apart), margin).is_some());
        assert_eq!(value(&measurement_with_metric(ops(), &apart), margin), None);
        let near_each_other: [&[f64]; 4] = [&[100.0; 4], &[101.0; 4], &[102.0; 4], &[101.0; 4]];
        let of_times = value(
            &measurement_with_metric(Metric::Time, &near_each_other),
            margin,
        )
        .unwrap();
        let of_rates = value(&measurement_with_metric(ops(), &near_each_other), margin).unwrap();
        // The margin of the rates is half the distance between the rates at the bounds of the times, which have a mean of 101 ns.
        let between = 1e9 / (101.0 - of_times) - 1e9 / (101.0 + of_times);
        assert!((of_rates / (between / 2.0) - 1.0).abs() < 1e-9);
        // The processes take 100 and 125 ns. The reciprocals of their rates have a deviation of 12.5 ns and a mean of 112.5 ns. Divide the deviation
        // by the square of the mean.
        let rates: [&[f64]; 2] = [&[100.0, 100.0], &[125.0, 125.0]];
        near(
            figure(
                &measurement_with_metric(ops(), &rates),
                Statistic::ProcessStdDev,
            ),
            12.5e-9 / 112.5e-9 / 112.5e-9,
        );
    }

    #[test]
    fn m_x8_positive_always_means_worse_and_a_spread_is_never_good() {
        let (times, rates) = (
            measurement_with_metric(Metric::Time, &[&[1.0]]),
            measurement_with_metric(ops(), &[&[1.0]]),
        );
        let percent = |measurement: &Measurement, figure, new, base| {
            let readings = Readings::from_measurement(measurement).unwrap();
            let worse = readings.worsening(figure, new, base)?;
            Some((worse * 1e4).round() / 1e2)
        };
        assert_eq!(percent(&times, Statistic::Mean, 108.0, 100.0), Some(8.0));
        assert_eq!(percent(&rates, Statistic::Mean, 92.0, 100.0), Some(8.0));
        assert_eq!(percent(&rates, Statistic::Mean, 0.0, 100.0), Some(100.0));
        assert_eq!(percent(&rates, Statistic::StdDev, 2.0, 1.0), Some(100.0));
        assert_eq!(percent(&times, Statistic::Mean, 1.0, 0.0), None);
        let same = Readings::from_measurement(&times)
            .unwrap()
            .worsening(Statistic::Mean, 5.0, 5.0);
        assert!(same.is_some_and(|same| same == 0.0 && same.is_sign_positive()));
    }

    #[test]
    fn the_block_is_of_statistics_that_columns_have() {
        for statistic in BLOCK {
            let word = statistic.to_string();
            assert_eq!(
                Statistic::parse(&word, StatisticSet::Columns),
                Ok(statistic)
            );
        }
        for word in ["p101", "best-", "p", "p+5", "average", ""] {
            let message = Statistic::parse(word, StatisticSet::Columns).unwrap_err();
            assert!(message.contains("best-95"), "{message}");
        }
    }

    #[test]
    fn means_and_deviations_of_rates_are_labeled_as_harmonic() {
        let label =
            |statistic| [Metric::Time, ops()].map(|metric| column_label(statistic, &metric));
        assert_eq!(label(Statistic::Mean), ["Amean", "Hmean"]);
        assert_eq!(label(Statistic::StdDev), ["Stddev", "HStddev"]);
        assert_eq!(label(Statistic::BestMean(95)), ["BAmean-95", "BHmean-95"]);
        assert_eq!(label(Statistic::Max), ["Max", "Max"]);
    }

    #[test]
    fn samples_are_read_as_rates_a_second_and_their_costs_are_times() {
        let of = |metric| measurement_with_metric(metric, &[&[100.0, 250.0], &[500.0]]);
        let times = [100.0, 250.0, 500.0];
        let read = |metric, expected: [f64; 3]| {
            let measured = of(metric);
            let readings = Readings::from_measurement(&measured).unwrap();
            assert_eq!(readings.values(), expected);
            assert_eq!(
                (readings.costs(), readings.all_costs()),
                (times.to_vec(), times.to_vec())
            );
            assert!(times.map(|time| readings.from_cost(time)).eq(&expected));
        };
        read(Metric::Time, times);
        read(
            Metric::Amount {
                unit: "pages".into(),
            },
            times,
        );
        // A rate is a billion divided by the nanoseconds of one unit.
        read(ops(), [1e7, 4e6, 2e6]);
    }
}
