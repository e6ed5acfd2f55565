//! What there is to draw of one measurement: its samples, how densely they lie, launch by launch, and the ramps.
//!
//! Pure numbers; how they look is the matter of `report`.

use super::summary::{Summary, sample_times};
use crate::model::{LaunchSeries, Measurement};
use perfcheck_stats::{density_curve, silverman_bandwidth};

/// Places at which a density is computed.
const POINTS: usize = 160;

/// Of the samples this share, where it lies closest together, says what is near: up to a quarter of them may be interruptions.
const CLOSE: f64 = 0.75;
/// Samples further away than so many times what these take up are counted and not drawn; of a normal distribution none is.
const REACH: f64 = 2.0;

/// Everything that is drawn of one benchmark. Times are nanoseconds per iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct Portrait {
    /// The numbers.
    pub summary: Summary,
    /// The launches with samples.
    pub launches: Vec<LaunchPortrait>,
    /// The times that are drawn, from and to.
    pub range: (f64, f64),
    /// Samples that lie outside of that.
    pub outside: usize,
    /// Density of all samples over the range; empty where they do not spread.
    pub density: Vec<(f64, f64)>,
    /// Linear phases: iterations and nanoseconds of each sample.
    pub ramps: Vec<(f64, f64)>,
}

/// One launch.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchPortrait {
    /// Its samples, in the order taken.
    pub times: Vec<f64>,
    /// Their density over the range; empty where they do not spread.
    pub density: Vec<(f64, f64)>,
    /// Their median.
    pub median: f64,
}

impl Portrait {
    /// Of a measurement with samples.
    pub fn of(measurement: &Measurement, summary: &Summary) -> Option<Self> {
        let launches = sample_times(measurement);
        let mut all: Vec<f64> = launches.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let range = drawn_range(&all)?;
        let is_inside = |time: &&f64| (range.0..=range.1).contains(*time);
        let inside: Vec<f64> = all.iter().filter(is_inside).copied().collect();
        let ramp = |launch: &LaunchSeries| -> Vec<(f64, f64)> {
            let samples = launch.series.linear.iter();
            samples
                .map(|sample| (sample.iterations as f64, sample.elapsed.as_f64()))
                .collect()
        };
        Some(Self {
            summary: summary.clone(),
            launches: launches
                .into_iter()
                .filter_map(|times| {
                    let inside: Vec<f64> = times.iter().filter(is_inside).copied().collect();
                    Some(LaunchPortrait {
                        median: perfcheck_stats::median(&times)?,
                        density: density(&inside, range),
                        times,
                    })
                })
                .collect(),
            outside: all.len() - inside.len(),
            density: density(&inside, range),
            ramps: measurement.launches.iter().flat_map(ramp).collect(),
            range,
        })
    }
}

/// From the smallest to the largest value within reach of the closest three quarters, and a little beyond. Quartiles would not do: of a busy
/// host's samples nearly a quarter may lie far above, and then the upper one does, too.
pub(super) fn drawn_range(sorted: &[f64]) -> Option<(f64, f64)> {
    let (from, to) = closest(sorted)?;
    let reach = REACH * (to - from);
    let is_near = |time: &&f64| reach == 0.0 || (from - reach..=to + reach).contains(*time);
    let least = sorted.iter().find(is_near)?;
    let most = sorted.iter().rfind(is_near)?;
    let near: Vec<f64> = sorted.iter().filter(is_near).copied().collect();
    // So far out a curve is near zero: it ends within the picture.
    let tail = silverman_bandwidth(&near).map_or(0.0, |bandwidth| 2.5 * bandwidth);
    let room = match tail.max((most - least) * 0.06) {
        0.0 => least.abs().max(1e-3) * 0.01,
        room => room,
    };
    Some(((least - room).max(0.0), most + room))
}

/// The shortest interval from sample to sample that holds [`CLOSE`] of them.
fn closest(sorted: &[f64]) -> Option<(f64, f64)> {
    let held = (sorted.len() as f64 * CLOSE).ceil().max(1.0) as usize;
    let ends = sorted
        .windows(held)
        .map(|held| (held[0], held[held.len() - 1]));
    ends.min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))
}

fn density(values: &[f64], range: (f64, f64)) -> Vec<(f64, f64)> {
    silverman_bandwidth(values).map_or_else(Vec::new, |bandwidth| {
        density_curve(values, bandwidth, range, POINTS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{flat_launch, measurement, with_ramp};
    use crate::compare::summarize;

    fn portrait(launches: Vec<LaunchSeries>) -> Portrait {
        let measurement = measurement(launches);
        let summary = summarize(&measurement, 0.95, 1000, 1).unwrap();
        Portrait::of(&measurement, &summary).unwrap()
    }

    #[test]
    fn what_lies_far_out_is_counted_and_does_not_squeeze_the_rest() {
        let mut times: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i % 8)).collect();
        times.push(9_000.0);
        let found = portrait(vec![flat_launch(0, 1000, &times)]);
        assert_eq!(found.outside, 1);
        assert!(found.range.0 < 100.0 && found.range.1 > 107.0 && found.range.1 < 112.0);
        assert_eq!(found.launches[0].times.len(), 41);
        assert_eq!(found.density.len(), POINTS);
        assert!(found.density.iter().all(|(_, y)| y.is_finite()));
    }

    #[test]
    fn up_to_a_quarter_of_the_samples_may_be_interruptions() {
        for every in [5, 8, 13] {
            let times: Vec<f64> = (0..390)
                .map(|i| match i % every {
                    0 => 250.0 + f64::from(i) * 15.0,
                    _ => 100.0 + f64::from(i * 7 % 80) * 0.1,
                })
                .collect();
            let found = portrait(vec![flat_launch(0, 1000, &times)]);
            assert!(found.range.1 < 115.0, "{every}: {:?}", found.range);
            assert_eq!(found.outside, 390usize.div_ceil(every as usize));
        }
    }

    #[test]
    fn two_speeds_are_both_drawn_where_each_has_its_share() {
        let times: Vec<f64> = (0..100)
            .map(|i| if i % 3 == 0 { 180.0 } else { 100.0 } + f64::from(i % 7))
            .collect();
        let found = portrait(vec![flat_launch(0, 1000, &times)]);
        assert_eq!(found.outside, 0);
        assert!(found.range.1 > 186.0);
    }

    #[test]
    fn samples_without_spread_have_a_range_and_no_density() {
        let found = portrait(vec![flat_launch(0, 1000, &[5.0; 9])]);
        assert!(found.range.0 < 5.0 && found.range.1 > 5.0);
        assert_eq!(found.density, []);
        let mostly = portrait(vec![flat_launch(0, 1000, &[5.0, 5.0, 5.0, 5.0, 5.0, 9.0])]);
        assert_eq!(mostly.outside, 0);
    }

    #[test]
    fn ramps_of_all_launches_are_there() {
        let launch = |k| with_ramp(flat_launch(k, 1000, &[5.0, 6.0]), 10, 4, 5.0, 0.0);
        let found = portrait(vec![launch(0), launch(1)]);
        assert_eq!(found.ramps.len(), 8);
        assert_eq!(found.ramps[1], (20.0, 100.0));
    }
}
