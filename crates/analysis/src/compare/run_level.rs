//! The test that decides about stored runs: a prediction interval for the difference between a new run and its reference.
//!
//! If low quantiles are compared, the value of a run is the value of its fastest process (the floor). Slow spells of the host that cover whole
//! processes do not move the floor, as long as one process escapes them. If medians are compared, the value of a run is the mean of its processes.

use super::question::HostClass;
use crate::model::Side;
use perfcheck_stats::{mean, sample_variance, student_t};

/// Degrees of freedom of the prior standard deviation. It weighs as much as a standard deviation estimated from measured runs with as many degrees of
/// freedom.
const PRIOR_DF: f64 = 4.0;

/// How the value of a run is computed from its process values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunValue {
    /// The smallest process value.
    Floor,
    /// The mean of the process values.
    Mean,
}

/// A run, reduced to the values of its processes.
#[derive(Debug, Clone)]
pub(super) struct RunValues {
    /// The logarithm of the value of each process.
    pub processes: Vec<f64>,
}

impl RunValues {
    /// Returns the value of the run, or `None` if it has no processes.
    pub(super) fn value(&self, kind: RunValue) -> Option<f64> {
        match kind {
            RunValue::Floor => self.processes.iter().copied().min_by(f64::total_cmp),
            RunValue::Mean => mean(&self.processes),
        }
    }

    /// Returns how far the fastest process lies below the next one. Returns `None` if there are fewer than two processes.
    fn gap(&self) -> Option<f64> {
        let mut processes = self.processes.clone();
        processes.sort_by(f64::total_cmp);
        Some(processes.get(1)? - processes[0])
    }

    /// Returns the sum of the squared distances of the processes from the floor, and the number of processes above it.
    fn above_floor(&self) -> (f64, f64) {
        let floor = self.value(RunValue::Floor).unwrap_or(0.0);
        let squares = self.processes.iter().map(|y| (y - floor).powi(2)).sum();
        (squares, self.processes.len().saturating_sub(1) as f64)
    }
}

/// A fastest process of a run that no other process of the run came near, so its value may be an accident.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LoneFloor {
    /// The side that the floor belongs to.
    pub side: Side,
    /// How far the second fastest process lies above the floor, as a difference of logarithms.
    pub gap: f64,
}

/// The difference of a run from its reference, with a standard error that allows for the drift between runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunLevel {
    /// The reference value: the mean logarithm of the values of the reference runs.
    pub base: f64,
    /// The logarithm of the run's value minus `base`.
    pub difference: f64,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub df: f64,
    /// Standard deviation between runs, pooled from the prior and the runs that were measured.
    pub run_sd: f64,
    /// The floor whose uncertainty determines the standard error. `None` if the drift between runs is larger than this uncertainty, or if the value
    /// of a run is not a floor.
    pub lone_floor: Option<LoneFloor>,
}

impl RunLevel {
    /// Estimates the difference of `candidate` from the reference, with its standard error SE.
    ///
    /// The variance between runs combines a prior with the m runs of `spread`: `s^2 = (nu0 s0^2 + (m - 1) s_runs^2) / (nu0 + m - 1)`. Here s0 is the
    /// prior standard deviation, nu0 its degrees of freedom, and `s_runs` the standard deviation of the runs. The result has df = nu0 + m - 1 degrees
    /// of freedom. Each level in `earlier` adds the squares of its runs about their mean, and one degree of freedom less than its number of runs.
    ///
    /// SE^2 is the larger of two variances: the drift between runs, `s^2 (1 + 1 / averaged)`, and the uncertainty within runs. If the value of a run
    /// is its floor, the latter is `u_new^2 + mean of u_base^2 / averaged`, where [`FloorGaps`] defines u. If it is a mean over processes, the latter
    /// is `s_new^2 / k_new + s_base^2 / k_base`, where s is the standard deviation between processes and k their number.
    ///
    /// Returns `None` if the new run or the reference has no process.
    pub(super) fn estimate(
        candidate: &RunValues,
        averaged: &[RunValues],
        spread: &[RunValues],
        earlier: &[Vec<RunValues>],
        kind: RunValue,
        host: HostClass,
    ) -> Option<Self> {
        let values = |runs: &[RunValues]| -> Vec<f64> {
            runs.iter().filter_map(|run| run.value(kind)).collect()
        };
        let averaged_values = values(averaged);
        let base = mean(&averaged_values)?;
        let difference = candidate.value(kind)? - base;
        let levels = std::iter::once(spread).chain(earlier.iter().map(Vec::as_slice));
        let (run_variance, df) = pool_run_variance(levels.map(values), host);
        let predicted = 1.0 + 1.0 / averaged_values.len() as f64;
        let between_runs = run_variance * predicted;
        let (within, lone_floor) = match kind {
            RunValue::Floor => {
                let gaps = FloorGaps::from_runs(candidate, averaged);
                (gaps.variance(), Some(gaps.lone_floor()))
            }
            RunValue::Mean => {
                let processes_base: usize = averaged.iter().map(|run| run.processes.len()).sum();
                let candidate_part = process_variance(std::slice::from_ref(candidate))
                    / candidate.processes.len() as f64;
                let base_part = process_variance(averaged) / processes_base as f64;
                (candidate_part + base_part, None)
            }
        };
        Some(Self {
            base,
            difference,
            standard_error: between_runs.max(within).sqrt(),
            df,
            run_sd: run_variance.sqrt(),
            lone_floor: lone_floor.filter(|_| within > between_runs),
        })
    }

    /// Returns the p-value of the test whether the run is slower than its reference by more than `threshold`.
    pub(super) fn p_greater(&self, threshold: f64) -> f64 {
        student_t::upper_tail((self.difference - threshold) / self.standard_error, self.df)
            .unwrap_or(1.0)
    }

    /// Returns the p-value of the test whether the run is faster than its reference by more than `threshold`.
    pub(super) fn p_less(&self, threshold: f64) -> f64 {
        student_t::cdf((self.difference + threshold) / self.standard_error, self.df).unwrap_or(1.0)
    }

    /// Returns how far the bounds of the interval lie from the estimate. `level` is the one-sided level of each bound.
    pub(super) fn margin(&self, level: f64) -> f64 {
        student_t::upper_quantile(level, self.df).map_or(f64::INFINITY, |t| t * self.standard_error)
    }
}

/// Pools the prior variance with the variance of measured runs. `levels` holds the values of the runs of each level, and only the differences within
/// a level count. Returns the variance between runs and its degrees of freedom.
pub(super) fn pool_run_variance(
    levels: impl Iterator<Item = Vec<f64>>,
    host: HostClass,
) -> (f64, f64) {
    let (mut more_runs, mut seen) = (0.0, 0.0);
    for level in levels {
        let more = level.len().saturating_sub(1) as f64;
        more_runs += more;
        seen += more * sample_variance(&level).unwrap_or(0.0);
    }
    let df = PRIOR_DF + more_runs;
    ((PRIOR_DF * host.prior_sd().powi(2) + seen) / df, df)
}

/// The distances between the two fastest processes of each run, which measure how uncertain the floors are.
///
/// A floor lies above the true floor by about as much as the next process lies above it. If the noise is exponential with mean b, the gap between the
/// two smallest of k values has mean b / (k - 1), and the smallest value has a standard deviation of b / k (Sukhatme 1937). For five normal values,
/// both are 0.67 standard deviations. A single gap is a poor estimate and may be small by chance, so every gap counts at least as much as the usual
/// gap. The uncertainty of a floor is u = max(gap, usual gap).
struct FloorGaps {
    candidate: f64,
    base: Vec<f64>,
    /// The upper median of all gaps. With one run in the reference, it is the larger of the two gaps.
    usual: f64,
}

impl FloorGaps {
    fn from_runs(candidate: &RunValues, averaged: &[RunValues]) -> Self {
        // A single process has no gap. Instead, use the typical distance of the other runs' processes from their floors.
        let (squares, count) = averaged
            .iter()
            .chain([candidate])
            .map(RunValues::above_floor)
            .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let lone_process = if count > 0.0 {
            (squares / count).sqrt()
        } else {
            0.0
        };
        let gap = |run: &RunValues| run.gap().unwrap_or(lone_process);
        let (candidate, base): (f64, Vec<f64>) =
            (gap(candidate), averaged.iter().map(gap).collect());
        let mut all = base.clone();
        all.push(candidate);
        all.sort_by(f64::total_cmp);
        Self {
            candidate,
            base,
            usual: all[all.len() / 2],
        }
    }

    /// Returns the variance of the difference between the floor of the new run and the mean floor of the reference.
    fn variance(&self) -> f64 {
        let square = |gap: f64| gap.max(self.usual).powi(2);
        let base: Vec<f64> = self.base.iter().map(|gap| square(*gap)).collect();
        square(self.candidate) + mean(&base).unwrap_or(0.0) / base.len().max(1) as f64
    }

    /// Returns the widest gap between the two fastest processes of a run, and its side.
    fn lone_floor(&self) -> LoneFloor {
        let base = self.base.iter().copied().fold(0.0, f64::max);
        LoneFloor {
            side: if self.candidate >= base {
                Side::Candidate
            } else {
                Side::Base
            },
            gap: self.candidate.max(base),
        }
    }
}

/// Returns the variance between the processes of a run, pooled over `runs`. It is 0 if no run has two processes.
fn process_variance(runs: &[RunValues]) -> f64 {
    let (mut squares, mut df) = (0.0, 0.0);
    for run in runs {
        if let Some(variance) = sample_variance(&run.processes) {
            let more = (run.processes.len() - 1) as f64;
            squares += variance * more;
            df += more;
        }
    }
    if df > 0.0 { squares / df } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(processes: &[f64]) -> RunValues {
        RunValues {
            processes: processes.to_vec(),
        }
    }

    fn floors(
        candidate: &RunValues,
        averaged: &[RunValues],
        spread: &[RunValues],
        host: HostClass,
    ) -> RunLevel {
        RunLevel::estimate(candidate, averaged, spread, &[], RunValue::Floor, host).unwrap()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn variances_of_processes_are_pooled_by_their_degrees_of_freedom() {
        // The variances are 1 with two degrees of freedom and 8 with one.
        let runs = [run(&[1.0, 2.0, 3.0]), run(&[10.0, 14.0]), run(&[5.0])];
        close(process_variance(&runs), (2.0 * 1.0 + 8.0) / 3.0);
        close(process_variance(&runs[2..]), 0.0);
    }

    #[test]
    fn the_error_of_means_is_that_of_both_sides_by_their_numbers_of_processes() {
        let (candidate, base) = (run(&[0.0, 0.2]), [run(&[1.0, 1.4]), run(&[1.0, 1.4])]);
        let host = HostClass::Dedicated;
        let found =
            RunLevel::estimate(&candidate, &base, &base, &[], RunValue::Mean, host).unwrap();
        // The variances are .02 and .08, over two and four processes.
        close(found.standard_error, 0.03_f64.sqrt());
    }

    #[test]
    fn a_single_reference_run_leaves_the_prior_with_four_degrees_of_freedom() {
        let base = [run(&[1.0; 5])];
        let level = floors(&run(&[1.1; 5]), &base, &base, HostClass::Shared);
        close(level.run_sd, 0.03);
        close(level.standard_error, 0.03 * 2.0_f64.sqrt());
        close(level.df, 4.0);
        close(level.difference, 0.1);
        // stats.t.ppf(.99, 4) = 3.7469473879791968. On a shared host with a threshold of 2 %, the smallest change that can be reported is about +20
        // %.
        close(
            level.margin(0.01),
            3.746_947_387_979_197 * level.standard_error,
        );
        let callable = (1.02_f64.ln() + level.margin(0.01)).exp_m1();
        assert!((0.19..0.21).contains(&callable), "{callable}");
    }

    #[test]
    fn runs_that_were_seen_pull_the_prior_towards_their_own_spread() {
        let runs: Vec<RunValues> = [0.0, 0.01, 0.02].iter().map(|r| run(&[*r; 5])).collect();
        let level = floors(&run(&[0.0; 5]), &runs[..1], &runs, HostClass::Shared);
        // (4 x .03^2 + 2 x .01^2) / 6
        close(level.run_sd, (0.0038_f64 / 6.0).sqrt());
        close(level.df, 6.0);
    }

    #[test]
    fn a_level_that_was_accepted_keeps_the_noise_of_the_one_before() {
        let candidate_level = [run(&[1.0; 5])];
        let before: Vec<RunValues> = [0.0, 0.01, 0.02].iter().map(|r| run(&[*r; 5])).collect();
        let level = |earlier: &[Vec<RunValues>]| {
            let host = HostClass::Shared;
            let candidate = run(&[1.0; 5]);
            RunLevel::estimate(
                &candidate,
                &candidate_level,
                &candidate_level,
                earlier,
                RunValue::Floor,
                host,
            )
            .unwrap()
        };
        let known = level(&[before]);
        // (4 x .03^2 + 0 + 2 x .01^2) / 6: the step from 0 to 1 does not count.
        close(known.run_sd, (0.0038_f64 / 6.0).sqrt());
        close(known.df, 6.0);
        close(level(&[]).df, 4.0);
        close(level(&[vec![run(&[0.0; 5])]]).df, 4.0);
    }

    #[test]
    fn the_drift_seen_between_runs_is_that_of_their_floors() {
        // The floors are 0, .01 and .02, but the means lie far apart.
        let runs = [
            run(&[0.0, 0.0, 0.3, 0.3, 0.3]),
            run(&[0.01; 5]),
            run(&[0.02, 0.02, 0.02, 0.02, 0.9]),
        ];
        let level = floors(&run(&[0.0; 5]), &runs[..1], &runs, HostClass::Shared);
        close(level.run_sd, (0.0038_f64 / 6.0).sqrt());
    }

    #[test]
    fn the_value_of_a_run_is_its_fastest_process_and_of_a_reference_the_mean_of_its_runs() {
        let candidate = run(&[0.5, 0.21, 0.4, 0.2, 0.3]);
        let base = [run(&[0.1, 0.11, 0.9]), run(&[0.7, 0.06, 0.05])];
        let level = floors(&candidate, &base, &base, HostClass::Shared);
        close(level.difference, 0.2 - 0.075);
        let means = RunLevel::estimate(
            &candidate,
            &base,
            &base,
            &[],
            RunValue::Mean,
            HostClass::Shared,
        )
        .unwrap();
        close(means.difference, 0.322 - (1.11 + 0.81) / 6.0);
    }

    #[test]
    fn slow_processes_beside_a_floor_that_two_processes_reached_leave_the_standard_error() {
        let disturbed = run(&[0.0, 0.3, 0.001, 0.4, 0.2]);
        let base = [run(&[0.0; 5])];
        let level = floors(&disturbed, &base, &base, HostClass::Dedicated);
        close(level.standard_error, 0.01 * 2.0_f64.sqrt());
        assert_eq!(level.lone_floor, None);
    }

    #[test]
    fn a_floor_that_one_process_alone_reached_is_as_uncertain_as_its_gap_whichever_side_it_is_on() {
        let lone = run(&[0.25, 0.05, 0.2, 0.3, 0.2]);
        let firm = run(&[0.0; 5]);
        for (candidate, base, side) in [(&lone, &firm, Side::Candidate), (&firm, &lone, Side::Base)]
        {
            let base = [run(&base.processes)];
            let level = floors(candidate, &base, &base, HostClass::Shared);
            close(level.standard_error, 0.15 * 2.0_f64.sqrt());
            let floor = level.lone_floor.unwrap();
            assert_eq!(floor.side, side);
            close(floor.gap, 0.15);
        }
    }

    #[test]
    fn one_run_with_a_lone_floor_among_many_hardly_counts_and_a_gap_below_the_usual_one_counts_as_that()
     {
        let gap = |gap: f64| run(&[0.0, gap, 0.3, 0.3, 0.3]);
        let base = [gap(0.15), gap(0.0), gap(0.0)];
        let level = floors(&gap(0.0), &base, &base, HostClass::Dedicated);
        close(level.standard_error, (0.15_f64.powi(2) / 3.0 / 3.0).sqrt());
        let base = [gap(0.1), gap(0.2), gap(0.3)];
        let level = floors(&gap(0.0), &base, &base, HostClass::Dedicated);
        // The upper median of 0, .1, .2 and .3 is .2. It replaces the smaller gaps of the new run and of the first base run.
        let expected = 0.04 + (0.04 + 0.04 + 0.09) / 3.0 / 3.0;
        close(level.standard_error, f64::sqrt(expected));
    }

    #[test]
    fn a_single_process_is_as_far_above_its_floor_as_those_of_the_other_side() {
        let single = run(&[0.0]);
        let base = [run(&[0.0, 0.0, 0.1, 0.2, 0.2])];
        let level = floors(&single, &base, &base, HostClass::Shared);
        // The floor of each side has an error of sqrt((.1^2 + .2^2 + .2^2) / 4) = .15.
        close(level.standard_error, 0.15 * 2.0_f64.sqrt());
        let alone = [run(&[0.0])];
        let nothing_known = floors(&single, &alone, &alone, HostClass::Shared);
        close(nothing_known.standard_error, 0.03 * 2.0_f64.sqrt());
    }

    #[test]
    fn means_of_processes_that_differ_more_than_runs_have_the_standard_error_of_the_processes() {
        let wild = run(&[0.0, 0.4, -0.4, 0.2, -0.2]);
        let base = [run(&[0.0; 5])];
        let level = RunLevel::estimate(
            &wild,
            &base,
            &base,
            &[],
            RunValue::Mean,
            HostClass::Dedicated,
        )
        .unwrap();
        close(level.standard_error, (0.1_f64 / 5.0).sqrt());
    }

    #[test]
    fn the_tail_and_the_margin_are_one_inversion() {
        let base = [run(&[0.0, 0.01])];
        let level = floors(&run(&[0.2, 0.21]), &base, &base, HostClass::Dedicated);
        let p = level.p_greater(0.02);
        assert!((level.difference - level.margin(p) - 0.02).abs() < 1e-9);
        let other = level.p_less(0.02);
        assert!((level.difference + level.margin(other) + 0.02).abs() < 1e-6);
    }

    #[test]
    fn without_processes_there_is_no_test() {
        let base = [run(&[1.0])];
        for kind in [RunValue::Floor, RunValue::Mean] {
            let test = |candidate: &[f64], averaged: &[RunValues]| {
                RunLevel::estimate(
                    &run(candidate),
                    averaged,
                    &base,
                    &[],
                    kind,
                    HostClass::Shared,
                )
            };
            assert!(test(&[], &base).is_none());
            assert!(test(&[1.0], &[]).is_none());
            assert!(test(&[1.0], &base).is_some());
        }
    }

    #[test]
    fn where_every_run_has_one_process_no_floor_has_a_gap() {
        let (candidate, base) = (run(&[0.3]), [run(&[0.0]), run(&[0.1])]);
        let gaps = FloorGaps::from_runs(&candidate, &base);
        close(gaps.variance(), 0.0);
        close(gaps.lone_floor().gap, 0.0);
        // One process lies .2 above the floor of its run. So the lone processes may be .2 above their true floors.
        let base = [run(&[0.0]), run(&[0.1, 0.3])];
        let gaps = FloorGaps::from_runs(&candidate, &base);
        close(gaps.variance(), 0.2_f64.powi(2) * 1.5);
        close(gaps.lone_floor().gap, 0.2);
    }

    #[test]
    fn a_gap_as_wide_as_the_drift_between_runs_leaves_the_standard_error_to_that() {
        let host = HostClass::Shared;
        let found = |gap: f64| {
            let side = run(&[0.0, gap]);
            floors(
                &side,
                std::slice::from_ref(&side),
                std::slice::from_ref(&side),
                host,
            )
        };
        let drift = host.prior_sd();
        let (just, wider) = (found(drift), found(1.001 * drift));
        assert_eq!(just.lone_floor, None);
        close(just.standard_error, drift * 2.0_f64.sqrt());
        assert!(wider.lone_floor.is_some());
        close(wider.standard_error, 1.001 * drift * 2.0_f64.sqrt());
    }
}
