//! The progress of a campaign: the remaining visits, the time left, and the events about both.
//!
//! With one side, all processes run as planned, so the time left can be estimated. With two sides, rounds end as soon as the benchmark is settled, so
//! only the maximum is known.

use std::time::Duration;

use super::campaign::Campaign;
use super::driver::{Driver, TimePrecision};
use super::process::ActiveProcesses;
use super::subject::{CampaignBenchmark, TimeLimit};
use super::target::Target;
use perfcheck_analysis::model::{EstimateKind, Event, VisitPlan};

/// Other benchmarks wait for one in doubt until it has had this many rounds.
const ROUNDS_IN_DOUBT: u32 = 60;
/// Number of rounds after which the time left is known: the first round includes one-time costs.
const ROUNDS_UNTIL_KNOWN: u32 = 2;
/// Saved time that is worth a hint at an update.
const WORTH_AN_UPDATE: Duration = Duration::from_secs(5);

impl Campaign<'_> {
    /// Returns the expected duration before anything but the plan is known, and how to read it.
    pub fn expected_duration(&self) -> (Duration, EstimateKind) {
        (self.time_left(0), self.bound())
    }

    /// Reports the plan of the measurement.
    pub(super) fn report_plan(&self, plan: VisitPlan) {
        let (expected, bound) = self.expected_duration();
        self.launcher.observer.observe(&Event::Planned {
            benchmarks: self.subjects().count(),
            visits: self.visits_left(0),
            expected,
            bound,
            plan,
        });
    }

    /// Reports that a benchmark is about to be visited.
    pub(super) fn report_visit(&self, launch: &ActiveProcesses, place: usize) {
        let round = launch.round();
        self.launcher.observer.observe(&Event::Visiting {
            benchmark: &self.subject(launch, place).benchmark.key,
            launch: round,
            done: self.done,
            visits: self.done + self.visits_left(round),
            left: self.time_left(round),
            bound: self.bound(),
            settled: self.subjects().filter(|subject| !subject.is_open()).count(),
        });
    }

    /// Reports whether nothing is left to visit, or no time for it.
    pub(super) fn is_over(&self) -> bool {
        let mut targets = self.targets.iter();
        targets.all(|target| target.late.is_some() || target.open_subjects().next().is_none())
    }

    /// Reports whether the benchmarks that can wait do so: a time budget is first spent on those in doubt.
    pub(super) fn must_waiters_wait(&self) -> bool {
        let in_time = self.targets.iter().filter(|target| target.late.is_none());
        let mut open = in_time.flat_map(Target::open_subjects);
        self.time_budget.is_some()
            && open.any(|subject| !subject.can_wait() && subject.measured < ROUNDS_IN_DOUBT)
    }

    /// Keeps the benchmarks in `wanted` whose visits will end before the time is up. With one side, a process is for all of them or for none.
    pub(super) fn retain_in_time(&mut self, index: usize, round: u32, wanted: &mut Vec<usize>) {
        let Some(budget) = self.time_budget else {
            return;
        };
        let left = budget.saturating_sub(self.began.elapsed());
        let target = &mut self.targets[index];
        if self.in_turn.is_some() {
            target.retain_fitting(left.saturating_sub(target.link_time), wanted);
            return;
        }
        if target.round_time > left {
            target.late.get_or_insert(round);
        }
        if target.late.is_some() {
            wanted.clear();
        }
    }

    /// Reports the cost of rounding up to whole seconds, if it justifies an update.
    pub(super) fn report_rounding(&self, launch: &ActiveProcesses) {
        let (round, limit) = (launch.round(), self.time_per_benchmark());
        let target = &self.targets[launch.index];
        let Some(why) = target.drivers.candidate.explain_rounding() else {
            return;
        };
        let of_all = |time_of: fn(&CampaignBenchmark) -> Duration| -> Duration {
            let each = target.open_subjects();
            each.map(|subject| time_of(subject) * subject.visits_left(round, limit))
                .sum()
        };
        let spared = of_all(CampaignBenchmark::rounding_cost);
        if spared < WORTH_AN_UPDATE {
            return;
        }
        let bench = &target.executables.candidate;
        let message = format!(
            "{}/{}: {why}, Criterion 0.4 and later do not: an update would save {:.0} s of {:.0} s",
            bench.package,
            bench.target,
            spared.as_secs_f64(),
            of_all(|subject| subject.visit).as_secs_f64()
        );
        self.launcher.observer.observe(&Event::Warning(&message));
    }

    /// Reports which targets had fewer processes than requested. The number of rounds is only a maximum, so it is not reported.
    pub(super) fn report_late_targets(&self, rounds: u32) {
        if self.in_turn.is_some() {
            return;
        }
        for target in &self.targets {
            if let (Some(had), Some(budget)) = (target.late, self.time_budget) {
                let bench = &target.executables.candidate;
                let message = format!(
                    "{}/{}: {had} of {rounds} launches, as one takes {:.1} s and `--time-budget` is {:.1} s",
                    bench.package,
                    bench.target,
                    target.round_time.as_secs_f64(),
                    budget.as_secs_f64()
                );
                self.launcher.observer.observe(&Event::Warning(&message));
            }
        }
    }

    /// Returns the time limit of one benchmark.
    pub(super) fn time_per_benchmark(&self) -> Option<TimeLimit> {
        self.in_turn.and_then(|plan| plan.time_per_benchmark)
    }

    pub(super) fn subjects(&self) -> impl Iterator<Item = &CampaignBenchmark> {
        self.targets.iter().flat_map(|target| &target.subjects)
    }

    fn visits_left(&self, round: u32) -> usize {
        let limit = self.time_per_benchmark();
        let left = self
            .subjects()
            .map(|subject| subject.visits_left(round, limit) as usize);
        left.sum()
    }

    /// Estimates how long the remaining visits take, from those so far.
    fn time_left(&self, round: u32) -> Duration {
        let limit = self.time_per_benchmark();
        let mut left = Duration::ZERO;
        for target in &self.targets {
            let visits_left = |subject: &CampaignBenchmark| subject.visits_left(round, limit);
            let open = || {
                target
                    .open_subjects()
                    .filter(|subject| visits_left(subject) > 0)
            };
            left += open()
                .map(|subject| {
                    (subject.visit + self.expected_growth(target, subject)) * visits_left(subject)
                })
                .sum::<Duration>();
            let rounds = open().map(visits_left).max().unwrap_or(0);
            left += if self.in_turn.is_none() {
                // The time between visits, for example for recording. It is unknown before the first round has ended.
                let of_a_round: Duration = open().map(|subject| subject.visit).sum();
                target.round_time.saturating_sub(of_a_round) * rounds
            } else {
                target.link_time * rounds
            };
        }
        match (&self.in_turn, self.time_budget) {
            (Some(_), Some(budget)) => left.min(budget.saturating_sub(self.began.elapsed())),
            _ => left,
        }
    }

    /// Returns by how much the next visits of a benchmark are longer than the mean of its past ones: later rounds of our own harness are longer.
    fn expected_growth(&self, target: &Target, subject: &CampaignBenchmark) -> Duration {
        match (&self.in_turn, &target.drivers.candidate) {
            (Some(plan), Driver::Own) => plan.round.growth_after(subject.measured),
            _ => Duration::ZERO,
        }
    }

    /// Returns how to read the time left. A benchmark that has never run has no upper bound.
    fn bound(&self) -> EstimateKind {
        let mut open = self.subjects().filter(|subject| subject.is_open());
        match &self.in_turn {
            // An author's time may turn out to be shorter than a whole second.
            None if open.all(|subject| subject.paced || subject.told != TimePrecision::Exactly) => {
                EstimateKind::About
            }
            None => EstimateKind::AtLeast,
            Some(_)
                if self.time_budget.is_some()
                    || open.all(|subject| subject.measured >= ROUNDS_UNTIL_KNOWN) =>
            {
                EstimateKind::AtMost
            }
            Some(_) => EstimateKind::UsuallyAtMost,
        }
    }
}

impl Target {
    /// Keeps the last of `wanted` whose visits fit into `left` together. Gives up benchmarks that do not even fit alone.
    fn retain_fitting(&mut self, left: Duration, wanted: &mut Vec<usize>) {
        let mut free = left;
        let mut fitting = Vec::new();
        while let Some(place) = wanted.pop() {
            let subject = &mut self.subjects[place];
            if let Some(less) = free.checked_sub(subject.visit) {
                free = less;
                fitting.push(place);
            } else if subject.visit > left {
                subject.done = true;
            } else {
                subject.waited += 1;
            }
        }
        fitting.reverse();
        *wanted = fitting;
    }

    fn open_subjects(&self) -> impl Iterator<Item = &CampaignBenchmark> {
        self.subjects.iter().filter(|subject| subject.is_open())
    }
}
