//! One benchmark over many runs: the run values, all taken in the same way, so that they can be set side by side.

use serde::Serialize;

use super::launch_values::{Location, MIN_SAMPLES_FOR_LOW_QUANTILE, RunTimes};
use super::run_level::RunValues;
use crate::model::Measurement;

/// The run values of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSeries {
    /// What was taken of each launch; `None` where no run has usable samples.
    pub location: Option<Location>,
    /// ln of nanoseconds per iteration, a value for each run in its order; `None` where a run has no usable samples, has only those of a ramp, or
    /// less than half as many in a launch as the newest run: a low quantile depends on the number it is taken from.
    pub values: Vec<Option<f64>>,
}

impl RunSeries {
    /// The values of `runs`, oldest first; the last one with usable samples decides how all are taken.
    pub fn of(runs: &[Option<&Measurement>]) -> Self {
        let runs: Vec<Option<RunTimes>> = runs
            .iter()
            .map(|run| run.map(RunTimes::of).filter(|run| !run.launches.is_empty()))
            .collect();
        let Some(newest) = runs.iter().rev().flatten().next() else {
            return Self {
                location: None,
                values: vec![None; runs.len()],
            };
        };
        let from_ramp = is_from_ramp(newest);
        let most = newest.fewest_samples().unwrap_or(0);
        let fits = |run: &&RunTimes| {
            is_from_ramp(run) == from_ramp
                && run
                    .fewest_samples()
                    .is_some_and(|samples| samples * 2 >= most)
        };
        let fitting = runs.iter().flatten().filter(fits);
        let count = fitting
            .filter_map(RunTimes::fewest_samples)
            .min()
            .unwrap_or(most);
        let location = if from_ramp || count * newest.launches.len() < MIN_SAMPLES_FOR_LOW_QUANTILE
        {
            Location::Median
        } else {
            Location::LowQuantile
        };
        let value = |run: &RunTimes| {
            let launches = run.values(location, count);
            RunValues { launches }.value(location.run_value())
        };
        Self {
            location: Some(location),
            values: runs
                .iter()
                .map(|run| run.as_ref().filter(fits).and_then(value))
                .collect(),
        }
    }
}

fn is_from_ramp(run: &RunTimes) -> bool {
    run.launches.iter().any(|launch| launch.from_ramp)
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
        let series = RunSeries::of(&[Some(&runs[0]), None, Some(&nothing), Some(&runs[1])]);
        assert_eq!(series.location, Some(Location::LowQuantile));
        let ns: Vec<Option<f64>> = (series.values.iter())
            .map(|value| value.map(|value| value.exp().round()))
            .collect();
        assert_eq!(ns, [Some(100.0), None, None, Some(200.0)]);
    }

    #[test]
    fn a_run_with_far_fewer_samples_does_not_count_and_one_with_a_few_less_shortens_all() {
        let run = |samples| floors(&[100.0; 3], samples);
        let series = RunSeries::of(&[Some(&run(40)), Some(&run(90)), Some(&run(120))]);
        let counts: Vec<bool> = series.values.iter().map(Option::is_some).collect();
        assert_eq!(counts, [false, true, true]);
    }

    #[test]
    fn of_few_samples_the_median_is_taken_and_of_none_nothing() {
        let run = floors(&[100.0; 3], 10);
        assert_eq!(
            RunSeries::of(&[Some(&run)]).location,
            Some(Location::Median)
        );
        let empty = RunSeries::of(&[None, None]);
        assert_eq!((empty.location, empty.values.len()), (None, 2));
    }
}
