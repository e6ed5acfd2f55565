//! The values of one benchmark over many runs, all computed in the same way so that they can be compared.

use serde::Serialize;

use super::launch_values::{Location, MIN_SAMPLES_FOR_LOW_QUANTILE, RunTimes};
use super::run_level::RunValues;
use crate::model::{Measurement, RunPoint};

/// The run values of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSeries {
    /// The statistic of each process; `None` if no run has usable samples.
    pub location: Option<Location>,
    /// The logarithm of the nanoseconds per iteration of each run, in order. `None` for a run without usable samples, with only those of a ramp, or
    /// with less than half as many per process as the newest run: a low quantile depends on the number of samples.
    pub values: Vec<Option<f64>>,
}

impl RunSeries {
    /// Computes the values of `runs`, oldest first. The last run with usable samples determines how all values are computed.
    pub fn from_runs(runs: &[Option<&Measurement>]) -> Self {
        let runs: Vec<Option<RunEvidence>> = runs
            .iter()
            .map(|run| run.and_then(RunEvidence::from_measurement))
            .collect();
        let Some(newest) = runs.iter().rev().flatten().next() else {
            return Self {
                location: None,
                values: vec![None; runs.len()],
            };
        };
        let from_ramp = newest.is_from_ramp();
        let most = newest.fewest_samples();
        let fits = |run: &&RunEvidence| {
            run.is_from_ramp() == from_ramp && run.fewest_samples() * 2 >= most
        };
        let fitting = runs.iter().flatten().filter(fits);
        let count = fitting.map(RunEvidence::fewest_samples).min();
        let count = count.unwrap_or(most);
        let location = if from_ramp || count * newest.launches() < MIN_SAMPLES_FOR_LOW_QUANTILE {
            Location::Median
        } else {
            Location::LowQuantile
        };
        let value = |run: &RunEvidence| run.value(location, count);
        Self {
            location: Some(location),
            values: runs
                .iter()
                .map(|run| run.as_ref().filter(fits).and_then(value))
                .collect(),
        }
    }
}

/// The data from which the value of a run is computed.
enum RunEvidence {
    /// Its samples.
    Samples(RunTimes),
    /// The values kept after the samples were removed, computed from all of them.
    Point(RunPoint),
}

impl RunEvidence {
    /// Returns `None` if no samples count.
    fn from_measurement(measurement: &Measurement) -> Option<Self> {
        let samples = RunTimes::from_measurement(measurement);
        if samples.takes_time() {
            return Some(Self::Samples(samples));
        }
        let point = measurement.expired.filter(|point| point.launches > 0);
        point.map(Self::Point)
    }

    fn launches(&self) -> usize {
        match self {
            Self::Samples(run) => run.launches.len(),
            Self::Point(point) => point.launches,
        }
    }

    fn fewest_samples(&self) -> usize {
        match self {
            Self::Samples(run) => run.fewest_samples().unwrap_or(0),
            Self::Point(point) => point.samples,
        }
    }

    fn is_from_ramp(&self) -> bool {
        match self {
            Self::Samples(run) => run.launches.iter().any(|launch| launch.from_ramp),
            Self::Point(point) => point.from_ramp,
        }
    }

    /// Returns the value from the first `count` samples of each process.
    fn value(&self, location: Location, count: usize) -> Option<f64> {
        match self {
            Self::Samples(run) => {
                let launches = run.values(location, count);
                RunValues { launches }.value(location.run_value())
            }
            Self::Point(point) => match location {
                Location::Median => point.median,
                Location::LowQuantile | Location::SecondFastest => point.low_quantile,
            },
        }
    }
}

/// Returns the values to keep of a measurement whose samples are removed.
pub fn run_point(measurement: &Measurement) -> RunPoint {
    match RunEvidence::from_measurement(measurement) {
        Some(RunEvidence::Point(point)) => point,
        Some(run @ RunEvidence::Samples(_)) => RunPoint {
            launches: run.launches(),
            samples: run.fewest_samples(),
            from_ramp: run.is_from_ramp(),
            low_quantile: run.value(Location::LowQuantile, run.fewest_samples()),
            median: run.value(Location::Median, run.fewest_samples()),
        },
        None => RunPoint {
            launches: 0,
            samples: 0,
            from_ramp: false,
            low_quantile: None,
            median: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{floors, measurement};

    #[test]
    fn the_value_of_a_run_is_its_floor_and_runs_without_samples_have_none() {
        let runs = [
            floors(&[100.0, 110.0, 105.0], 120),
            floors(&[200.0; 3], 120),
        ];
        let nothing = measurement(vec![]);
        let series = RunSeries::from_runs(&[Some(&runs[0]), None, Some(&nothing), Some(&runs[1])]);
        assert_eq!(series.location, Some(Location::LowQuantile));
        let ns: Vec<Option<f64>> = (series.values.iter())
            .map(|value| value.map(|value| value.exp().round()))
            .collect();
        assert_eq!(ns, [Some(100.0), None, None, Some(200.0)]);
    }

    #[test]
    fn a_run_with_far_fewer_samples_does_not_count_and_one_with_a_few_less_shortens_all() {
        let run = |samples| floors(&[100.0; 3], samples);
        let series = RunSeries::from_runs(&[Some(&run(40)), Some(&run(90)), Some(&run(120))]);
        let counts: Vec<bool> = series.values.iter().map(Option::is_some).collect();
        assert_eq!(counts, [false, true, true]);
    }

    #[test]
    fn what_is_left_of_removed_samples_gives_the_value_that_they_gave() {
        for (samples, floor) in [(120, 100.0), (10, 100.0)] {
            let old = floors(&[floor, 110.0, 105.0], samples);
            let new = floors(&[200.0; 3], samples);
            let mut removed = measurement(vec![]);
            removed.expired = Some(run_point(&old));
            let whole = RunSeries::from_runs(&[Some(&old), Some(&new)]);
            assert!(whole.values[0].is_some());
            assert_eq!(RunSeries::from_runs(&[Some(&removed), Some(&new)]), whole);
            assert_eq!(run_point(&removed), run_point(&old));
        }
    }

    #[test]
    fn of_few_samples_the_median_is_taken_and_of_none_nothing() {
        let run = floors(&[100.0; 3], 10);
        assert_eq!(
            RunSeries::from_runs(&[Some(&run)]).location,
            Some(Location::Median)
        );
        let empty = RunSeries::from_runs(&[None, None]);
        assert_eq!((empty.location, empty.values.len()), (None, 2));
    }

    #[test]
    fn a_hundred_samples_in_all_launches_together_are_enough_for_a_low_quantile() {
        let location =
            |samples| RunSeries::from_runs(&[Some(&floors(&[100.0; 5], samples))]).location;
        assert_eq!(location(20), Some(Location::LowQuantile));
        assert_eq!(location(19), Some(Location::Median));
    }
}
