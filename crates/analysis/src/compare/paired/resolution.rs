//! Estimates which changes can be found on this host, and after how many rounds. The estimate uses rounds that compare an executable with itself.
//!
//! It computes the power of a paired test, for the floor test and the rank test at each look of the plan: docs/internals/src/statistics/host.md.

use super::plan::{PairedMethod, Plan};
use super::series::{PairedSeries, UsableRounds, find_refusal};
use super::speed_test::{FloorTest, ONE_DEVIATION, RankTest, SpeedTest};
use crate::compare::estimate::Estimate;
use perfcheck_stats::{normal, student_t};

/// The plans that are tried in turn, given by their largest number of rounds. The first is the default.
const PLANS: [u32; 5] = [Plan::USUAL_ROUNDS, 300, 450, 600, 1000];

/// The number of standard errors that are added to an estimated deviation, to be cautious. The true deviation exceeds the sum in only one of ten
/// cases.
const CAUTION: f64 = 1.2816;

/// The precision that side-by-side comparisons have on a host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostResolution {
    /// The number of rounds from which the precision was estimated.
    pub rounds: usize,
    /// The difference that was measured between the two sides, which are the same executable, with its interval.
    pub difference: Estimate,
    /// The standard deviation that one round contributes to the difference of floors, as an upper limit with a confidence of 90 %. Divided by the
    /// square root of the number of rounds, it gives the standard error.
    floor: f64,
    /// The standard deviation that one round contributes to the difference that the rank test estimates, as an upper limit with a confidence of 90 %.
    ranks: f64,
    /// The smallest difference, as a logarithm, that can be distinguished however many rounds there are.
    least_error: f64,
}

/// The requirements on a comparison that is planned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerTarget {
    /// The largest relative change that still counts as noise.
    pub noise_threshold: f64,
    /// The one-sided significance level of a single benchmark.
    pub significance_level: f64,
    /// The required power: the share of comparisons that find the change if it is real.
    pub power: f64,
}

/// After how many rounds a change is found, and with which plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundsNeeded {
    /// Number of rounds after which the change is found.
    pub rounds: u32,
    /// The largest number of rounds of the plan. All looks of the plan share the significance level.
    pub at_most: u32,
}

impl HostResolution {
    /// Estimates the precision from rounds that compare an executable with itself. The interval of the difference is two-sided at `confidence_level`.
    /// Returns `None` if the rounds cannot be tested or are too few.
    pub fn estimate(series: &PairedSeries<'_>, confidence_level: f64, seed: u64) -> Option<Self> {
        let usable = UsableRounds::select(series, series.rounds.len());
        if find_refusal(series, &usable).is_some() {
            return None;
        }
        let method = PairedMethod::default();
        let tail = (1.0 - confidence_level) / 2.0;
        let speed = SpeedTest::test(&usable, 0.0, tail, &method, seed)?;
        let floor = FloorTest::test(&usable, 0.0, &method, seed)?;
        let ranks = RankTest::test(&usable, 0.0)?;
        let rounds = usable.rounds.len();
        let root = (rounds as f64).sqrt();
        // A deviation estimated from k rounds has a relative error of 1 / sqrt(2k). Enlarge the estimate, so that the promise also holds if the true
        // deviation is larger.
        let cautious = root * (1.0 + CAUTION / (2.0 * rounds as f64).sqrt());
        Some(Self {
            rounds,
            difference: Estimate::from_logarithms(
                speed.difference,
                speed.lower(tail),
                speed.upper(tail),
            ),
            floor: floor.standard_error * cautious,
            ranks: (ranks.upper(ONE_DEVIATION) - ranks.lower(ONE_DEVIATION)) / 2.0 * cautious,
            least_error: floor.resolution,
        })
    }

    /// Returns after how many rounds a slowdown by `change` is found. Returns `None` if that takes more than 1000 rounds, or if the change is within
    /// the noise threshold.
    pub fn rounds_needed(&self, change: f64, demand: &PowerTarget) -> Option<RoundsNeeded> {
        let beyond = change.ln_1p() - demand.noise_threshold.ln_1p();
        PLANS.into_iter().find_map(|at_most| {
            let looks = levels_of_looks(at_most, demand.significance_level);
            let found = looks.into_iter().find(|(rounds, level)| {
                beyond >= self.detectable_excess(*rounds, *level, demand.power)
            });
            found.map(|(rounds, _)| RoundsNeeded { rounds, at_most })
        })
    }

    /// Returns the smallest slowdown that a measurement of at most `rounds` rounds finds with the required power.
    pub fn smallest_change(&self, rounds: u32, demand: &PowerTarget) -> Option<f64> {
        let looks = levels_of_looks(rounds, demand.significance_level);
        let reach = looks
            .into_iter()
            .map(|(rounds, level)| self.detectable_excess(rounds, level, demand.power))
            .reduce(f64::min)?;
        let change = (demand.noise_threshold.ln_1p() + reach).exp_m1();
        change.is_finite().then_some(change)
    }

    /// Returns how far a change must lie beyond the noise threshold to be found at a look, as a logarithm. This is the distance delta in the usual
    /// formula for the number of rounds, n = ((t(alpha) + t(beta)) s / delta)^2. Here alpha is the level, 1 - beta the power, and s the standard
    /// deviation of one round.
    fn detectable_excess(&self, rounds: u32, level: f64, power: f64) -> f64 {
        let method = PairedMethod::default();
        let (of_floor, of_ranks) = (
            level * method.floor_share,
            level * (1.0 - method.floor_share),
        );
        let root = f64::from(rounds).sqrt();
        let df = (f64::from(rounds) - 1.0).min(method.most_df);
        let t = |tail| student_t::upper_quantile(tail, df).unwrap_or(f64::INFINITY);
        let error = (self.floor / root).max(self.least_error);
        let by_floor = (t(of_floor) + t(1.0 - power)) * error;
        // If all n signs agree, the p-value of the rank test is 2^-n. It cannot be smaller.
        let by_ranks = if 0.5_f64.powf(f64::from(rounds)) > of_ranks {
            f64::INFINITY
        } else {
            let z = |tail| normal::quantile(tail).map_or(f64::INFINITY, |z| -z);
            (z(of_ranks) + z(1.0 - power)) * self.ranks / root + self.least_error
        };
        by_floor.min(by_ranks)
    }
}

/// Lists the looks of a measurement of at most `at_most` rounds, each with the level at which it tests the speed.
fn levels_of_looks(at_most: u32, significance_level: f64) -> Vec<(u32, f64)> {
    let plan = Plan {
        looks: Plan::looks_up_to(at_most),
        significance_level,
        planned: 1,
        confidence_level: 0.95,
        resamples: 1,
        seed: 0,
        seeds: std::collections::BTreeMap::new(),
        noise: std::collections::BTreeMap::new(),
    };
    let method = PairedMethod::default();
    let mut before = 0.0;
    plan.looks
        .iter()
        .map(|look| {
            let spent = plan.spent_share(*look as usize, &method);
            let share = spent - before;
            before = spent;
            (*look, plan.floor_level() * share)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Estimate;
    use crate::compare::fixtures::key;
    use crate::compare::paired::tests::timed_series;
    use crate::model::{Nanos, Round, Sample};
    use perfcheck_stats::SignedRank;

    #[test]
    fn the_test_of_ranks_has_the_half_of_the_level_that_floors_leave() {
        let host = host(1e9, 0.01, 0.0);
        // scipy.stats.norm: isf(0.005) = 2.575829303548901, isf(0.1) = 1.281551565544600; times 0.01 over the square root of 100 rounds.
        let expected = (2.575_829_303_548_901 + 1.281_551_565_544_6) / 1_000.0;
        let reach = host.detectable_excess(100, 0.01, 0.9);
        assert!((reach / expected - 1.0).abs() < 1e-9, "{reach}");
        // If the signs of five rounds all agree, the p-value is 1 / 32, which is above the level.
        assert!(host.detectable_excess(5, 0.01, 0.9) > 1e6);
    }

    fn host(floor: f64, ranks: f64, least_error: f64) -> HostResolution {
        HostResolution {
            rounds: 60,
            difference: Estimate::unbounded(0.0),
            floor,
            ranks,
            least_error,
        }
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn the_test_of_floors_has_the_half_of_the_level_and_the_power_by_students_t() {
        // Half of a level of 5 %, and a power of 95 %: stats.t.isf(.025, df) and stats.t.isf(.05, df) of 8 and of 15 degrees of freedom.
        let reach = |host: HostResolution, rounds| host.detectable_excess(rounds, 0.05, 0.95);
        let of_8 = 2.306_004_135_204_166 + 1.859_548_037_530_89;
        let of_15 = 2.131_449_545_559_774_4 + 1.753_050_355_692_572;
        near(reach(host(0.03, 1e9, 0.0), 9), of_8 * 0.01);
        near(reach(host(0.03, 1e9, 0.0), 16), of_15 * 0.03 / 4.0);
        // The floor test assumes at most 15 degrees of freedom, however many rounds there are.
        near(reach(host(0.03, 1e9, 0.0), 100), of_15 * 0.003);
        near(reach(host(0.03, 1e9, 0.004), 100), of_15 * 0.004);
    }

    #[test]
    fn what_cannot_be_distinguished_adds_to_what_the_ranks_find() {
        // This would be the result if any difference could be distinguished.
        let expected = (2.575_829_303_548_901 + 1.281_551_565_544_6) / 1_000.0;
        let reach = |least_error| host(1e9, 0.01, least_error).detectable_excess(100, 0.01, 0.9);
        near(reach(1e-3), expected + 1e-3);
    }

    #[test]
    fn ranks_find_something_from_the_level_on_that_all_signs_reach() {
        // Half of a level of 1/16 is the p-value of five rounds whose signs all agree.
        let reach = |level| host(1e9, 0.01, 0.0).detectable_excess(5, level, 0.9);
        assert!(reach(0.0625) < 1.0);
        assert!(reach(0.0625_f64.next_down()) > 1e6);
    }

    #[test]
    fn looks_spend_the_level_by_the_squares_of_their_numbers() {
        let found = levels_of_looks(30, 0.0125);
        // The speed test has 80 % of the level. It may spend a ninth of that at the first look, and four ninths up to the second one.
        let expected = [(10, 0.01 / 9.0), (20, 0.03 / 9.0), (30, 0.05 / 9.0)];
        assert_eq!(found.len(), expected.len());
        for ((rounds, level), (at, of_level)) in found.into_iter().zip(expected) {
            assert_eq!(rounds, at);
            near(level, of_level);
        }
    }

    #[test]
    fn a_change_is_found_at_the_first_look_that_reaches_it() {
        let host = host(0.1, 0.1, 1e-4);
        let demand = PowerTarget {
            noise_threshold: 0.02,
            significance_level: 0.01,
            power: 0.9,
        };
        let looks = levels_of_looks(200, 0.01);
        let reach = |(rounds, level): (u32, f64)| host.detectable_excess(rounds, level, 0.9);
        let just = |at: usize| (demand.noise_threshold.ln_1p() + reach(looks[at])).exp_m1();
        for (at, (rounds, _)) in looks.iter().enumerate().skip(1) {
            let found = |change| host.rounds_needed(change, &demand);
            let (rounds, at_most) = (*rounds, 200);
            let expected = Some(RoundsNeeded { rounds, at_most });
            assert_eq!(found(just(at) * (1.0 + 1e-9)), expected);
            assert_ne!(found(just(at) * (1.0 - 1e-9)), expected);
        }
        near(host.smallest_change(200, &demand).unwrap(), just(5));
        assert_eq!(host.smallest_change(1, &demand), None);
    }

    #[test]
    fn the_deviation_that_a_round_adds_is_stated_with_its_upper_limit() {
        let rounds: Vec<Round> = (0..32)
            .map(|k| {
                let side = |ns: f64| {
                    let elapsed = Nanos((ns * 1e6).round() as u64);
                    let iterations = 1_000_000;
                    vec![
                        Sample {
                            iterations,
                            elapsed
                        };
                        8
                    ]
                };
                Round {
                    layout: None,
                    base: side(100.0),
                    candidate: side(100.0 + f64::from(k * 7 % 32)),
                    led: Vec::new(),
                }
            })
            .collect();
        let key = key("b");
        let series = timed_series(&key, &rounds);
        let found = HostResolution::estimate(&series, 0.95, 5).unwrap();
        // The error of 32 rounds is the deviation of one round divided by sqrt(32). The relative error of this deviation is 1 / sqrt(2 * 32) = 1 / 8,
        // and the true deviation is more than 1.2816 errors larger in one case of ten.
        let of_round =
            |standard_error: f64| standard_error * 32.0_f64.sqrt() * (1.0 + 1.2816 / 8.0);
        let usable = UsableRounds::select(&series, 32);
        // A two-sided interval of 95 % leaves 2.5 % on each side.
        let speed = SpeedTest::test(&usable, 0.0, 0.025, &PairedMethod::default(), 5).unwrap();
        let bounds = [found.difference.lower, found.difference.upper];
        for (bound, expected) in bounds
            .into_iter()
            .zip([speed.lower(0.025), speed.upper(0.025)])
        {
            assert!((bound.ln_1p() - expected).abs() < 1e-12, "{bound}");
        }
        let floor = FloorTest::test(&usable, 0.0, &PairedMethod::default(), 5).unwrap();
        assert!((found.floor / of_round(floor.standard_error) - 1.0).abs() < 1e-12);
        // The interval at this level reaches one standard error to each side of the estimate.
        let differences: Vec<f64> = (0..32).map(|k| (1.0 + f64::from(k) / 100.0).ln()).collect();
        let ranks = SignedRank::new(&differences).unwrap();
        let level = 0.158_655_253_931_457_05;
        let width = ranks.upper_bound(level) - ranks.lower_bound(level);
        assert!((found.ranks / of_round(width / 2.0) - 1.0).abs() < 1e-9);
    }
}
