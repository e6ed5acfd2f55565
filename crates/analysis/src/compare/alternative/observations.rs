//! Turns the samples of a side into the observations of a test: one value per process, or every sample.

use crate::compare::samples::used_launches;
use crate::compare::summary::sample_times;
use crate::model::{Analysis, DecisionSettings, Measurement, Metric, Observations, Statistic};
use perfcheck_stats::{
    Better, Quantile, Stream, SubsampledCentre, Subsampling, derived_seed, mean,
    slope_through_origin,
};

/// The quantile that is used as the floor.
const FLOOR: f64 = 0.01;

/// The samples of a side, process by process; a reference of several runs is one side.
pub(super) struct SideSamples {
    /// Nanoseconds per iteration of the deciding samples, or of those that a filter leaves.
    pub launches: Vec<Vec<f64>>,
    /// Iterations and nanoseconds of the linear phases.
    ramps: Vec<(Vec<f64>, Vec<f64>)>,
    /// The smallest relative difference that the clock can show in a sample of typical length.
    pub resolution: f64,
    /// The metric that the samples measure.
    pub metric: Option<Metric>,
    seed: u64,
}

impl SideSamples {
    /// Collects the samples of `runs` as `decision` requires; `seed` is the seed of all random numbers of their benchmark.
    pub fn from_runs(runs: &[&Measurement], decision: &DecisionSettings, seed: u64) -> Self {
        let series = || runs.iter().flat_map(|run| &run.launches);
        let ramps = series().map(|launch| {
            let samples = launch.series.linear.iter();
            samples
                .map(|sample| (sample.iterations as f64, sample.elapsed.as_f64()))
                .unzip()
        });
        // Amounts have no clock.
        let timed = runs.iter().filter(|run| run.benchmark.metric.is_timed());
        let timed = timed.flat_map(|run| &run.launches);
        let resolution = timed.filter_map(|launch| {
            let lengths: Vec<f64> = launch
                .series
                .deciding_samples()
                .iter()
                .map(|sample| sample.elapsed.as_f64())
                .collect();
            let typical = Quantile::Linear.select(&mut lengths.clone(), 0.5)?;
            (typical > 0.0).then(|| launch.quantum.as_f64() / typical)
        });
        Self {
            resolution: resolution.fold(0.0, f64::max),
            launches: (runs.iter())
                .flat_map(|run| match decision.analysis.observations {
                    Observations::Filtered => used_launches(run, decision),
                    Observations::Launches | Observations::Samples => sample_times(run),
                })
                .collect(),
            ramps: ramps
                .filter(|(x, _): &(Vec<f64>, Vec<f64>)| !x.is_empty())
                .collect(),
            metric: runs.first().map(|run| run.benchmark.metric.clone()),
            seed,
        }
    }

    /// Returns a stream of random numbers for the benchmark.
    pub fn stream<'a>(&self, name: &'a str) -> Stream<'a> {
        Stream {
            seed: self.seed,
            name,
        }
    }

    /// Returns all samples, process after process.
    pub fn pooled(&self) -> Vec<f64> {
        self.launches.concat()
    }

    /// Returns the observations of a test. Processes without the requested center give none.
    pub fn observations(&self, analysis: &Analysis) -> Vec<f64> {
        match analysis.observations {
            Observations::Samples | Observations::Filtered => self.pooled(),
            Observations::Launches => self.centers(analysis),
        }
    }

    /// Returns the center of each process that has it.
    fn centers(&self, analysis: &Analysis) -> Vec<f64> {
        match analysis.center_in_force() {
            Statistic::Slope => self
                .ramps
                .iter()
                .filter_map(|(x, y)| slope_through_origin(x, y))
                .collect(),
            Statistic::Subselection => self
                .subselection()
                .map_or_else(Vec::new, |found| found.medians),
            center => self
                .launches
                .iter()
                .filter_map(|launch| center_of_samples(center, analysis, launch))
                .collect(),
        }
    }

    /// Returns the subselection center of the side, with the median of each process.
    pub fn subselection(&self) -> Option<SubsampledCentre> {
        let launches: Vec<&[f64]> = self.launches.iter().map(Vec::as_slice).collect();
        let stream = Stream {
            seed: derived_seed(self.seed, "subselection"),
            name: "parts",
        };
        SubsampledCentre::compute(&launches, Subsampling::DOCUMENTED, stream)
    }

    /// Returns the slope over all linear phases.
    pub fn slope(&self) -> Option<f64> {
        let (x, y): (Vec<f64>, Vec<f64>) = self
            .ramps
            .iter()
            .flat_map(|(x, y)| x.iter().copied().zip(y.iter().copied()))
            .unzip();
        slope_through_origin(&x, &y)
    }
}

/// Computes a center from samples; `None` for slope and subselection, which need whole processes.
pub(super) fn center_of_samples(
    center: Statistic,
    analysis: &Analysis,
    samples: &[f64],
) -> Option<f64> {
    let quantile = |rule: Quantile, p: f64| rule.select(&mut samples.to_vec(), p);
    match center {
        Statistic::Mean => mean(samples),
        Statistic::Median => quantile(analysis.quantile_in_force(), 0.5),
        // By default the floor is a sample that was measured; the settings may choose another definition.
        Statistic::Floor => quantile(analysis.quantile.unwrap_or(Quantile::InvertedCdf), FLOOR),
        Statistic::BestMean(percent) => Better::Lower.best_mean(samples, percent.into()),
        _ => None,
    }
}
