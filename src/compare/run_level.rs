//! The test that decides about stored runs: a prediction interval at the level of runs.

use super::question::HostClass;
use crate::stats::{mean, sample_variance, student_t};

/// How many runs' worth of evidence the prior standard deviation counts for.
const PRIOR_DF: f64 = 4.0;

/// A run, reduced to its launch values.
pub(super) struct RunValues {
    /// One value per launch, logarithms.
    pub launches: Vec<f64>,
}

impl RunValues {
    /// The run's value.
    pub(super) fn value(&self) -> Option<f64> {
        mean(&self.launches)
    }
}

/// The difference of a run from its reference, with a standard error that allows for the drift between runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunLevel {
    /// Run value less reference value, logarithms.
    pub difference: f64,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Standard deviation between runs: prior and runs seen together.
    pub run_sd: f64,
}

impl RunLevel {
    /// `s^2 = (nu0 s0^2 + (m - 1) s_runs^2) / (nu0 + m - 1)` over the m runs of `spread`;
    /// `SE = sqrt(max(s^2 (1 + 1 / averaged), s_new^2 / k_new + s_base^2 / k_base))`; df = nu0 + m - 1.
    ///
    /// `None` where the new run or the reference has no launch.
    pub(super) fn of(
        new: &RunValues,
        averaged: &[RunValues],
        spread: &[RunValues],
        host: HostClass,
    ) -> Option<Self> {
        let averaged_values: Vec<f64> = averaged.iter().filter_map(RunValues::value).collect();
        let spread_values: Vec<f64> = spread.iter().filter_map(RunValues::value).collect();
        let difference = new.value()? - mean(&averaged_values)?;
        let more_runs = spread_values.len().saturating_sub(1) as f64;
        let df = PRIOR_DF + more_runs;
        let prior = PRIOR_DF * host.prior_sd().powi(2);
        let seen = more_runs * sample_variance(&spread_values).unwrap_or(0.0);
        let run_variance = (prior + seen) / df;
        let between_runs = run_variance * (1.0 + 1.0 / averaged_values.len() as f64);
        let launches_base: usize = averaged.iter().map(|run| run.launches.len()).sum();
        let within = launch_variance(std::slice::from_ref(new)) / new.launches.len() as f64
            + launch_variance(averaged) / launches_base as f64;
        Some(Self {
            difference,
            standard_error: between_runs.max(within).sqrt(),
            df,
            run_sd: run_variance.sqrt(),
        })
    }

    /// p of "slower by more than `threshold`".
    pub(super) fn p_greater(&self, threshold: f64) -> f64 {
        student_t::upper_tail((self.difference - threshold) / self.standard_error, self.df)
            .unwrap_or(1.0)
    }

    /// p of "faster by more than `threshold`".
    pub(super) fn p_less(&self, threshold: f64) -> f64 {
        student_t::cdf((self.difference + threshold) / self.standard_error, self.df).unwrap_or(1.0)
    }

    /// Half the width of the two-sided interval whose one-sided level is `level`.
    pub(super) fn margin(&self, level: f64) -> f64 {
        student_t::critical(level, self.df).map_or(f64::INFINITY, |t| t * self.standard_error)
    }
}

/// Variance between the launches of a run, pooled over `runs`; 0 where no run has two launches.
fn launch_variance(runs: &[RunValues]) -> f64 {
    let (mut squares, mut df) = (0.0, 0.0);
    for run in runs {
        if let Some(variance) = sample_variance(&run.launches) {
            let more = (run.launches.len() - 1) as f64;
            squares += variance * more;
            df += more;
        }
    }
    if df > 0.0 { squares / df } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(launches: &[f64]) -> RunValues {
        RunValues {
            launches: launches.to_vec(),
        }
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn a_single_reference_run_leaves_the_prior_with_four_degrees_of_freedom() {
        let base = [run(&[1.0; 5])];
        let level = RunLevel::of(&run(&[1.1; 5]), &base, &base, HostClass::Shared).unwrap();
        close(level.run_sd, 0.03);
        close(level.standard_error, 0.03 * 2.0_f64.sqrt());
        close(level.df, 4.0);
        close(level.difference, 0.1);
        // stats.t.ppf(.99, 4) = 3.7469473879791968: on a shared host +2 % of threshold needs about +20 %.
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
        let level = RunLevel::of(&run(&[0.0; 5]), &runs[..1], &runs, HostClass::Shared).unwrap();
        // (4 x .03^2 + 2 x .01^2) / 6
        close(level.run_sd, (0.0038_f64 / 6.0).sqrt());
        close(level.df, 6.0);
    }

    #[test]
    fn launches_that_differ_more_than_runs_set_the_standard_error() {
        let wild = run(&[0.0, 0.4, -0.4, 0.2, -0.2]);
        let base = [run(&[0.0; 5])];
        let level = RunLevel::of(&wild, &base, &base, HostClass::Dedicated).unwrap();
        close(level.standard_error, (0.1_f64 / 5.0).sqrt());
    }

    #[test]
    fn the_tail_and_the_margin_are_one_inversion() {
        let base = [run(&[0.0, 0.01])];
        let level = RunLevel::of(&run(&[0.2, 0.21]), &base, &base, HostClass::Dedicated).unwrap();
        let p = level.p_greater(0.02);
        assert!((level.difference - level.margin(p) - 0.02).abs() < 1e-9);
        let other = level.p_less(0.02);
        assert!((level.difference + level.margin(other) + 0.02).abs() < 1e-6);
    }

    #[test]
    fn without_launches_there_is_no_test() {
        let base = [run(&[1.0])];
        assert!(RunLevel::of(&run(&[]), &base, &base, HostClass::Shared).is_none());
        assert!(RunLevel::of(&run(&[1.0]), &[], &base, HostClass::Shared).is_none());
    }
}
