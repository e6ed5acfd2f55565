//! The settings that all rounds of a campaign share, and the plan of a side-by-side measurement. Computes the layout of rounds of two sides, whose
//! samples alternate in quads (ABBA or BAAB). Two successive quads are compared together.
//!
//! Two builds of a benchmark run the same number of iterations. So do two benchmarks, unless the slower one would take too long with as many.

use std::time::{Duration, Instant};

use super::benchmark::{PairedSubjects, ResolvedSettings, TimeLimit};
use super::sides::CampaignSides;
use crate::child::ProcessContext;
use crate::measure::FlatSchedule;
use crate::measure::schedule::{SampleLayout, compute_ramp};
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::model::{Benchmark, BySide, Interleaving, Nanos, SamplingSettings, Side};
use perfcheck_host::ControlProbe;

/// If two quads take longer than this, in nanoseconds, a round has only one quad.
const LONG_QUADS_NS: f64 = 6e8;
/// Minimum sampling time of a round, as a share of the time for starting and setting up its processes.
const SHARE_OF_OVERHEAD: f64 = 0.5;
/// Two benchmarks have their own numbers of iterations if an iteration of one takes more than this many times as long as an iteration of the other.
const OWN_ITERATIONS_RATIO: f64 = 4.0;

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

/// Reports whether each side has its own number of iterations. `sides_ns` has the time of an iteration on each side.
pub(super) fn have_own_iterations(subjects: PairedSubjects, sides_ns: [f64; 2]) -> bool {
    let [quicker_ns, slower_ns] = sort_times(sides_ns);
    subjects == PairedSubjects::Benchmarks && slower_ns > OWN_ITERATIONS_RATIO * quicker_ns
}

/// Returns the times of the quicker and of the slower side. No time is shorter than a picosecond.
fn sort_times(sides_ns: [f64; 2]) -> [f64; 2] {
    let [one, other] = sides_ns.map(|ns| ns.max(1e-3));
    [one.min(other), one.max(other)]
}

/// Lays out the samples of each side of a benchmark's rounds. `sides_ns` has the time of an iteration on each side.
pub(super) fn compute_round_layouts(
    settings: &RoundSettings,
    sides_ns: BySide<f64>,
    subjects: PairedSubjects,
) -> CampaignSides<SampleLayout> {
    let times = [sides_ns.base, sides_ns.candidate];
    let [base, candidate] = if have_own_iterations(subjects, times) {
        times.map(|ns| compute_round_layout(settings, [ns; 2]))
    } else {
        let both = compute_round_layout(settings, times);
        [both.clone(), both]
    };
    BySide { base, candidate }.into()
}

/// Returns how long an iteration of the base and the iterations that the candidate runs meanwhile take together, in nanoseconds, without setup and
/// drops.
pub(super) fn iteration_ns_of_both(layouts: &CampaignSides<SampleLayout>) -> f64 {
    let (base, candidate) = (layouts.get(Side::Base), layouts.get(Side::Candidate));
    let iterations = |layout: &SampleLayout| layout.iterations_with_lead_in() as f64;
    base.iteration_ns[0] + candidate.iteration_ns[1] * (iterations(candidate) / iterations(base))
}

/// Lays out the samples of a benchmark's rounds, for both sides alike. `sides_ns` has the time of an iteration on each side. Samples of the quicker
/// side get the target length. The number of samples comes from [`compute_quads`].
pub(super) fn compute_round_layout(settings: &RoundSettings, sides_ns: [f64; 2]) -> SampleLayout {
    let [quicker_ns, slower_ns] = sort_times(sides_ns);
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
    let iterations = layout.iterations_with_lead_in();
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

    /// Lays out rounds in which an iteration takes this long on each side.
    fn layouts_of(sides_ns: [f64; 2], subjects: PairedSubjects) -> CampaignSides<SampleLayout> {
        let [base, candidate] = sides_ns;
        let sides_ns = BySide { base, candidate };
        compute_round_layouts(&RoundSettings::default(), sides_ns, subjects)
    }

    /// Returns how long the first round of two benchmarks takes after its warm-up, in nanoseconds.
    fn round_ns(sides_ns: [f64; 2]) -> f64 {
        let layouts = layouts_of(sides_ns, PairedSubjects::Benchmarks);
        let quads = compute_quads(
            &RoundSettings::default(),
            layouts.get(Side::Base),
            0,
            iteration_ns_of_both(&layouts),
            Duration::ZERO,
        );
        let side_ns = |(side, ns): (&Side, f64)| {
            let layout = layouts.get(*side);
            let samples = 2 * quads * layout.iterations_with_lead_in();
            (samples + layout.linear.iter().sum::<u64>()) as f64 * ns
        };
        Side::BOTH.iter().zip(sides_ns).map(side_ns).sum()
    }

    #[test]
    fn a_round_of_two_benchmarks_is_as_short_as_the_slower_one_allows() {
        let times = [0.3, 7.0, 1e3, 5e4, 5e5, 3e6, 2e7, 2e9];
        for (base, candidate) in times.iter().flat_map(|ns| times.map(|other| (*ns, other))) {
            let took = round_ns([base, candidate]);
            // Ramps and samples of short iterations, and four samples of each side.
            let most = 50.0 * MS + 8.0 * base.max(candidate);
            assert!(took < most, "{base} ns beside {candidate} ns: {took} ns");
        }
    }

    #[test]
    fn only_benchmarks_that_are_more_than_four_times_as_slow_have_their_own_iterations() {
        let iterations = |sides_ns, subjects| {
            let layouts = layouts_of(sides_ns, subjects);
            Side::BOTH.map(|side| layouts.get(side).iterations_with_lead_in())
        };
        let [builds, benchmarks] = [PairedSubjects::Builds, PairedSubjects::Benchmarks];
        assert_eq!(iterations([1e3, 20.0 * MS], builds), [600, 600]);
        assert_eq!(iterations([4e3, 1e3], benchmarks), [600, 600]);
        assert_eq!(iterations([5e3, 1e3], benchmarks), [120, 600]);
        assert_eq!(iterations([1e3, 20.0 * MS], benchmarks), [600, 1]);
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
