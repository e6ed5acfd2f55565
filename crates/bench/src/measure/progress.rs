//! The progress of a campaign: the remaining visits, the time left, and the events about both.
//!
//! With one side, all processes run as planned, so the time left can be estimated. With two sides, rounds end as soon as the benchmark is settled, so
//! only the maximum is known.

use std::iter::Sum;
use std::time::Duration;

use super::benchmark::{CampaignBenchmark, TimePrecision};
use super::plan::CampaignSettings;
use super::target::Target;
use perfcheck_analysis::model::{EstimateKind, Event};

/// The time left is known once a benchmark has had this many rounds, because the first round includes one-time costs.
const ROUNDS_UNTIL_KNOWN: u32 = 2;

/// The remaining work of some targets.
#[derive(Debug, Clone, Copy)]
pub(super) struct RemainingWork {
    /// The maximum number of visits that are still to come.
    pub(super) visits: usize,
    /// Expected duration of these visits, estimated from earlier ones. The time budget does not shorten it.
    time: Duration,
    /// Number of benchmarks that need no more visits.
    pub(super) settled: usize,
    /// Whether all open benchmarks have run often enough to know how long they take.
    is_time_known: bool,
}

impl Sum for RemainingWork {
    fn sum<I: Iterator<Item = Self>>(targets: I) -> Self {
        let nothing = Self {
            visits: 0,
            time: Duration::ZERO,
            settled: 0,
            is_time_known: true,
        };
        targets.fold(nothing, |all, one| Self {
            visits: all.visits + one.visits,
            time: all.time + one.time,
            settled: all.settled + one.settled,
            is_time_known: all.is_time_known && one.is_time_known,
        })
    }
}

impl RemainingWork {
    /// Estimates the work that remains in a target from `round` on.
    pub(super) fn estimate(target: &Target, settings: &CampaignSettings<'_>, round: u32) -> Self {
        let limit = settings.time_per_benchmark();
        let visits_left = |benchmark: &CampaignBenchmark| benchmark.visits_left(round, limit);
        let visits = target.benchmarks.iter().map(visits_left);
        let visits = visits.map(|visits| visits as usize).sum();
        let open = || {
            let benchmarks = target.open_benchmarks();
            benchmarks.filter(|benchmark| visits_left(benchmark) > 0)
        };
        let growth = |benchmark: &CampaignBenchmark| match settings.plan {
            Some(plan) if target.has_longer_rounds => plan.round.growth_after(benchmark.measured),
            _ => Duration::ZERO,
        };
        let time_of_visits: Duration = open()
            .map(|benchmark| (benchmark.visit + growth(benchmark)) * visits_left(benchmark))
            .sum();
        let rounds = open().map(visits_left).max().unwrap_or(0);
        let time_of_a_round = if settings.plan.is_some() {
            target.link_time
        } else {
            // The time between visits, for example for recording. It is unknown before the first round has ended.
            let visits: Duration = open().map(|benchmark| benchmark.visit).sum();
            target.round_time.saturating_sub(visits)
        };
        let is_time_known = |benchmark: &CampaignBenchmark| match settings.plan {
            // If the harness accepts only whole seconds, the estimate is no lower bound, because the author's time may turn out to be shorter.
            None => benchmark.paced || benchmark.time_precision != TimePrecision::Exactly,
            Some(_) => benchmark.measured >= ROUNDS_UNTIL_KNOWN,
        };
        Self {
            visits,
            time: time_of_visits + time_of_a_round * rounds,
            settled: target.benchmarks.len() - target.open_benchmarks().count(),
            is_time_known: target.open_benchmarks().all(is_time_known),
        }
    }

    /// Returns how long the remaining visits take.
    pub(super) fn time_left(&self, settings: &CampaignSettings<'_>) -> Duration {
        match (settings.plan, settings.time_left()) {
            (Some(_), Some(left)) => self.time.min(left),
            _ => self.time,
        }
    }

    /// Returns the kind of the estimate of the time left. As long as a benchmark has never run, the estimate is only a lower bound.
    pub(super) fn estimate_kind(&self, settings: &CampaignSettings<'_>) -> EstimateKind {
        match settings.plan {
            None if self.is_time_known => EstimateKind::About,
            None => EstimateKind::AtLeast,
            Some(_) if settings.time_budget.is_some() || self.is_time_known => EstimateKind::AtMost,
            Some(_) => EstimateKind::UsuallyAtMost,
        }
    }
}

impl Target {
    /// Warns if the target ran fewer than the planned `processes`. With two sides there is no warning, because the number of rounds is only a
    /// maximum.
    pub(super) fn report_lateness(&self, settings: &CampaignSettings<'_>, processes: u32) {
        if let (None, Some(had), Some(budget)) = (settings.plan, self.late, settings.time_budget) {
            let bench = &self.executables.candidate;
            let message = format!(
                "{}/{}: ran only {had} of {processes} processes, because one process takes {:.1} s and `--time-budget` is {:.1} s",
                bench.package,
                bench.target,
                self.round_time.as_secs_f64(),
                budget.as_secs_f64()
            );
            settings.context.observer.observe(&Event::Warning(&message));
        }
    }
}
