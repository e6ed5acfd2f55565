//! The settings that all rounds of a campaign share.

#![expect(
    clippy::disallowed_methods,
    reason = "how much of the time budget is left"
)]

use std::time::{Duration, Instant};

use super::benchmark::{ResolvedSettings, TimeLimit};
use super::plan::PairedPlan;
use crate::child::ProcessContext;
use perfcheck_analysis::model::Benchmark;
use perfcheck_host::ControlProbe;

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
