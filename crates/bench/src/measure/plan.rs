//! The settings that all rounds of a campaign share, and the plan of a side-by-side measurement. Computes the layout of rounds of two sides, whose
//! samples alternate in quads (ABBA or BAAB). Two successive quads are compared together.

use std::time::{Duration, Instant};

use super::benchmark::{ResolvedSettings, TimeLimit};
use crate::child::ProcessContext;
use crate::measure::FlatSchedule;
use crate::measure::schedule::{SampleLayout, compute_ramp};
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::model::{Benchmark, Interleaving, Nanos, SamplingSettings};
use perfcheck_host::ControlProbe;

/// If two quads take longer than this, in nanoseconds, a round has only one quad.
const LONG_QUADS_NS: f64 = 6e8;
/// Minimum sampling time of a round, as a share of the time for starting and setting up its processes.
const SHARE_OF_OVERHEAD: f64 = 0.5;

/// The plan of a side-by-side measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedPlan {
    /// Maximum number of rounds.
    pub rounds: u32,
    /// The layout of each round.
    pub round: RoundSettings,
    /// Time budget of the measurement. After the first round, no visit begins that is expected to end after the budget.
    pub time_budget: Option<Duration>,
    /// Time limit of one benchmark.
    pub time_per_benchmark: Option<TimeLimit>,
    /// Whether benchmarks that need only one processor are bound to one.
    pub bind: bool,
    /// Seed of all random choices.
    pub seed: u64,
}

impl PairedPlan {
    /// Returns the settings of a benchmark with its own noise threshold.
    pub(super) fn resolve(&self, noise_threshold: f64) -> ResolvedSettings {
        ResolvedSettings {
            sampling: SamplingSettings {
                processes: self.rounds,
                samples: None,
                warm_up: self.round.warm_up,
                warm_up_iterations: self.round.warm_up_iterations,
                measurement: self.round.time,
                turns: Interleaving::Samples,
                ..SamplingSettings::default()
            },
            noise_threshold,
            pinned: None,
            pinned_samples: None,
            past_visit: None,
        }
    }
}

/// The layout of rounds before anything is known about the benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundSettings {
    /// Time of a round's samples, both sides together, if the benchmark needs many rounds.
    pub time: Nanos,
    /// Time of the samples in each of the first [`Plan::ROUNDS_OF_UNCHANGED`] rounds, which decide most benchmarks.
    pub short_time: Nanos,
    /// Target length of a sample.
    pub sample: Nanos,
    /// The number of iterations before each sample, as a share of the iterations in the sample. Their time is discarded. They warm the caches that
    /// the other side has used.
    pub lead_in: f64,
    /// Warm-up time of each process.
    pub warm_up: Nanos,
    /// Warm-up iterations, if their number is set instead of a time.
    pub warm_up_iterations: Option<u32>,
}

impl Default for RoundSettings {
    fn default() -> Self {
        Self {
            time: Duration::from_millis(40).into(),
            short_time: Duration::from_millis(20).into(),
            sample: Duration::from_micros(500).into(),
            lead_in: 0.2,
            warm_up: Duration::from_millis(2).into(),
            warm_up_iterations: None,
        }
    }
}

impl RoundSettings {
    /// Returns how long the samples of the next round take, in nanoseconds, if the benchmark has had this number of `rounds`.
    fn time_after(&self, rounds: usize) -> f64 {
        let time = if rounds < Plan::ROUNDS_OF_UNCHANGED {
            self.short_time
        } else {
            self.time
        };
        time.as_f64()
    }

    /// Returns how much longer the samples of a later round take than those of the first `rounds` rounds on average.
    pub(super) fn growth_after(&self, rounds: u32) -> Duration {
        let growth = Duration::from(self.time).saturating_sub(self.short_time.into());
        let short = rounds.min(Plan::ROUNDS_OF_UNCHANGED as u32);
        growth.mul_f64(f64::from(short) / f64::from(rounds.max(1)))
    }
}

/// Lays out the samples of a benchmark's rounds, for both sides alike. `sides_ns` has the time of an iteration on each side. Samples of the quicker
/// side get the target length. The number of samples comes from [`compute_quads`].
pub(super) fn compute_round_layout(settings: &RoundSettings, sides_ns: [f64; 2]) -> SampleLayout {
    let quicker_ns = sides_ns[0].min(sides_ns[1]).max(1e-3);
    let slower_ns = sides_ns[0].max(sides_ns[1]).max(1e-3);
    let iterations = (settings.sample.as_f64() / quicker_ns).round().max(1.0);
    let lead_in = if iterations > 1.0 {
        (iterations * settings.lead_in).round()
    } else {
        0.0
    };
    SampleLayout {
        iteration_ns: [quicker_ns, slower_ns],
        linear: compute_ramp(quicker_ns),
        flat: Some(FlatSchedule {
            iterations: iterations as u64,
            samples: 2 * Plan::QUADS_TOGETHER,
        }),
        lead_in: lead_in as u64,
    }
}

/// Returns the number of quads in a round if the benchmark has had this number of `rounds`. A quad has two samples of each side. `total_ns` is the
/// time of one iteration of both sides together, including setup and drops. `overhead` is the time for starting and setting up both sides.
pub(super) fn compute_quads(
    settings: &RoundSettings,
    layout: &SampleLayout,
    rounds: usize,
    total_ns: f64,
    overhead: Duration,
) -> u64 {
    let iterations = layout.flat.map_or(1, |flat| flat.iterations) + layout.lead_in;
    // A warm-up may be wrong: assume at least the iteration time that the samples were laid out for.
    let total_ns = total_ns.max(2.0 * layout.iteration_ns[0]);
    let quad_ns = 2.0 * iterations as f64 * total_ns;
    let wanted_ns = settings
        .time_after(rounds)
        .max(overhead.as_nanos() as f64 * SHARE_OF_OVERHEAD);
    let fewest = if quad_ns * Plan::QUADS_TOGETHER as f64 > LONG_QUADS_NS {
        1
    } else {
        Plan::QUADS_TOGETHER
    };
    let fitting = (wanted_ns / quad_ns) as u64;
    (fitting / Plan::QUADS_TOGETHER * Plan::QUADS_TOGETHER).max(fewest)
}

/// The settings of a campaign, which stay the same for all of its rounds.
pub(super) struct CampaignSettings<'c> {
    pub(super) seed: u64,
    /// The plan of the rounds if two sides are measured. `None` if one side is measured, because each benchmark then
    /// has its own number of processes.
    pub(super) plan: Option<PairedPlan>,
    pub(super) context: ProcessContext<'c>,
    /// Resolves the settings of a benchmark. Called again when a process reports the author's settings.
    pub(super) resolve: Box<dyn Fn(&Benchmark) -> ResolvedSettings + 'c>,
    pub(super) control: Option<ControlProbe>,
    /// Time limit for all processes together.
    pub(super) time_budget: Option<Duration>,
    pub(super) began: Instant,
}

#[expect(
    clippy::disallowed_methods,
    reason = "how much of the time budget is left"
)]
impl<'c> CampaignSettings<'c> {
    pub(super) fn new(
        seed: u64,
        resolve: impl Fn(&Benchmark) -> ResolvedSettings + 'c,
        context: ProcessContext<'c>,
    ) -> Self {
        Self {
            seed,
            plan: None,
            context,
            resolve: Box::new(resolve),
            control: None,
            time_budget: None,
            began: Instant::now(),
        }
    }

    /// Returns the time limit of one benchmark.
    pub(super) fn time_per_benchmark(&self) -> Option<TimeLimit> {
        self.plan.and_then(|plan| plan.time_per_benchmark)
    }

    /// Returns how much of the time budget is left, if there is one.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let budget = self.time_budget?;
        Some(budget.saturating_sub(self.began.elapsed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    fn quads_of(iteration_ns: f64, rounds: usize, overhead: Duration) -> u64 {
        let settings = RoundSettings::default();
        let layout = compute_round_layout(&settings, [iteration_ns; 2]);
        compute_quads(&settings, &layout, rounds, 2.0 * iteration_ns, overhead)
    }

    #[test]
    fn samples_take_half_a_millisecond_or_an_iteration_and_lead_in_is_a_fifth() {
        let settings = RoundSettings::default();
        let of = |iteration_ns| {
            let layout = compute_round_layout(&settings, [iteration_ns; 2]);
            (layout.flat.map(|flat| flat.iterations), layout.lead_in)
        };
        assert_eq!(of(1000.0), (Some(500), 100));
        assert_eq!(of(0.4 * MS), (Some(1), 0));
        assert_eq!(of(50.0 * MS), (Some(1), 0));
        // An iteration without measurable time has a limit, too.
        assert_eq!(of(0.0), of(1e-3));
    }

    #[test]
    fn a_round_has_two_quads_at_least_but_where_they_take_very_long() {
        let at_once = Duration::ZERO;
        // A quad has four samples of 0.5 ms, each after a lead-in of 0.1 ms. So 8 quads take about 20 ms.
        assert_eq!(quads_of(1000.0, 0, at_once), 8);
        assert_eq!(quads_of(1000.0, 29, at_once), 8);
        assert_eq!(quads_of(1000.0, 30, at_once), 16, "40 ms");
        assert_eq!(quads_of(20.0 * MS, 0, at_once), 2);
        assert_eq!(quads_of(70.0 * MS, 0, at_once), 2);
        assert_eq!(quads_of(80.0 * MS, 0, at_once), 1, "two take 0.64 s");
    }

    #[test]
    fn a_warm_up_that_took_no_time_makes_no_round_longer() {
        let settings = RoundSettings::default();
        let layout = compute_round_layout(&settings, [1000.0; 2]);
        let of = |total_ns| compute_quads(&settings, &layout, 0, total_ns, Duration::ZERO);
        assert_eq!((of(0.0), of(f64::NAN), of(2000.0)), (8, 8, 8));
    }

    #[test]
    fn sides_come_as_often_first_however_many_quads_fit() {
        for micros in (100..40_000).step_by(37) {
            let quads = quads_of(f64::from(micros) * 1e3, 0, Duration::ZERO);
            assert!(quads.is_multiple_of(2), "{micros} us: {quads}");
        }
    }

    #[test]
    fn the_rounds_to_come_are_longer_than_the_short_ones_that_were() {
        let settings = RoundSettings::default();
        let growth = |rounds| settings.growth_after(rounds).as_millis();
        assert_eq!(growth(0), 0, "the plan says how long those are");
        assert_eq!((growth(1), growth(30)), (20, 20));
        assert_eq!(growth(60), 10, "half of the mean is of long rounds");
        let alike = RoundSettings {
            short_time: settings.time,
            ..settings
        };
        assert_eq!(alike.growth_after(20), Duration::ZERO);
    }

    #[test]
    fn costly_processes_are_used_for_half_their_time() {
        let start = Duration::from_millis(96);
        assert_eq!(quads_of(1000.0, 0, start), 20, "48 ms");
        assert_eq!(quads_of(1000.0, 0, start / 10), 8);
    }
}
