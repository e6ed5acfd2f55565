//! A bench target of a campaign: its executables, one for each side, and the benchmarks that all sides have. The target chooses the benchmarks of
//! each round and evaluates them after the round.

#![expect(
    clippy::disallowed_methods,
    reason = "how long links take, for the time budget"
)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::benchmark::{BenchmarkIndex, CampaignBenchmark, PerBenchmark};
use super::discover::{DiscoveredTarget, HarnessKind};
use super::plan::CampaignSettings;
use super::process::{ActiveProcesses, Interrupted, ProcessNumber, new_record};
use super::schedule;
use super::sides::CampaignSides;
use perfcheck_analysis::compare::LookStatus;
use perfcheck_analysis::model::{Benchmark, BySide, Event, Round, Side};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_build::link::{CodeLayouts, LinkError};

/// An executable on each side, with the benchmarks that are measured side by side.
#[derive(Debug, Clone)]
pub struct PairedTarget {
    /// The executables.
    pub targets: BySide<BenchTarget>,
    /// The benchmarks as announced by the candidate.
    pub benchmarks: Vec<Benchmark>,
    /// The benchmarks of the base that differ from those of the candidate: for the id of a benchmark, the id of the one that the base measures
    /// beside it. If an id has no entry, both sides measure the same benchmark.
    pub base_ids: BTreeMap<String, String>,
    /// The kind of harness of each side. Both have the same driver.
    pub harnesses: BySide<HarnessKind>,
    /// Links both executables again with other code layouts. `None` if that is not possible.
    pub layouts: Option<CodeLayouts>,
}

impl PairedTarget {
    /// Pairs an executable with itself.
    pub fn with_itself(found: DiscoveredTarget) -> Self {
        Self {
            targets: BySide {
                base: found.target.clone(),
                candidate: found.target,
            },
            benchmarks: found.benchmarks,
            base_ids: BTreeMap::new(),
            harnesses: BySide {
                base: found.harness.clone(),
                candidate: found.harness,
            },
            layouts: None,
        }
    }
}

/// Judges from a benchmark's noise threshold and rounds whether the benchmark needs more rounds.
pub(super) type StandingFn<'s> = dyn FnMut(&Benchmark, f64, &[Round]) -> Option<LookStatus> + 's;

/// The benchmarks that a round visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RoundScope {
    AllOpen,
    /// Only the open benchmarks that cannot wait, because their speed is still in doubt.
    InDoubt,
}

/// A bench target that is being measured.
pub(super) struct Target {
    /// The executables to start.
    pub(super) executables: CampaignSides<BenchTarget>,
    /// The executables as cargo built them. Executables with other code layouts are linked from these.
    pub(super) built: CampaignSides<BenchTarget>,
    /// Links the executables of both sides again.
    pub(super) layouts: Option<CodeLayouts>,
    /// The round for which the executables were last linked. `None` if they still have the layout of their build.
    pub(super) layout: Option<u32>,
    /// Time that linking took for the current layout.
    pub(super) link_time: Duration,
    pub(super) benchmarks: PerBenchmark<CampaignBenchmark>,
    /// Whether later rounds sample for longer than the first ones.
    pub(super) has_longer_rounds: bool,
    /// Duration of the last round.
    pub(super) round_time: Duration,
    /// The round for which there was no time left.
    pub(super) late: Option<u32>,
}

impl Target {
    /// Creates a target that has not been started.
    pub(super) fn new(
        executables: CampaignSides<BenchTarget>,
        benchmarks: PerBenchmark<CampaignBenchmark>,
    ) -> Self {
        Self {
            built: executables.clone(),
            executables,
            layouts: None,
            layout: None,
            link_time: Duration::ZERO,
            benchmarks,
            has_longer_rounds: false,
            round_time: Duration::ZERO,
            late: None,
        }
    }

    /// Returns the ids of benchmarks. A campaign uses indices, but a bench that goes through its benchmarks by itself must be told their ids.
    pub(super) fn ids(&self, indices: &[BenchmarkIndex]) -> Vec<String> {
        let id = |index: &BenchmarkIndex| self.benchmarks[*index].subject.key.id.clone();
        indices.iter().map(id).collect()
    }

    pub(super) fn find_benchmark(&self, id: &str) -> Option<BenchmarkIndex> {
        let has_id = |benchmark: &CampaignBenchmark| benchmark.subject.key.id == id;
        self.benchmarks.indices_of(has_id).next()
    }

    pub(super) fn open_benchmarks(&self) -> impl Iterator<Item = &CampaignBenchmark> {
        let benchmarks = self.benchmarks.iter();
        benchmarks.filter(|benchmark| benchmark.is_open())
    }

    /// Returns the benchmarks that this round visits, in random order. They are visited from the end of the list. The round does not count for the
    /// other open benchmarks, which wait.
    pub(super) fn choose_benchmarks(
        &mut self,
        settings: &CampaignSettings<'_>,
        round: u32,
        scope: RoundScope,
    ) -> Vec<BenchmarkIndex> {
        let is_visited = |benchmark: &CampaignBenchmark| {
            benchmark.is_open() && (scope == RoundScope::AllOpen || !benchmark.can_wait())
        };
        let mut chosen: Vec<BenchmarkIndex> = self.benchmarks.indices_of(is_visited).collect();
        for benchmark in self.benchmarks.iter_mut() {
            if benchmark.is_open() && !is_visited(benchmark) {
                benchmark.waited += 1;
            }
        }
        let bench = &self.executables.candidate;
        let mut draws = schedule::stream(settings.seed, "order", bench, u64::from(round));
        draws.shuffle(&mut chosen);
        // Every benchmark gets its first round, regardless of the time.
        if round > 0 {
            self.retain_in_time(settings, round, &mut chosen);
        }
        chosen
    }

    /// Keeps the `chosen` benchmarks whose visits will end before the time is up. With one side, keeps all or none, because one process measures all
    /// of them.
    fn retain_in_time(
        &mut self,
        settings: &CampaignSettings<'_>,
        round: u32,
        chosen: &mut Vec<BenchmarkIndex>,
    ) {
        let Some(left) = settings.time_left() else {
            return;
        };
        if settings.plan.is_some() {
            self.retain_fitting(left.saturating_sub(self.link_time), chosen);
            return;
        }
        if self.round_time > left {
            self.late.get_or_insert(round);
        }
        if self.late.is_some() {
            chosen.clear();
        }
    }

    /// Goes through `chosen` from the end and keeps the benchmarks whose visits together fit into the time `left`. A benchmark that would not fit
    /// even without the others is given up.
    fn retain_fitting(&mut self, left: Duration, chosen: &mut Vec<BenchmarkIndex>) {
        let mut free = left;
        let mut fitting = Vec::new();
        while let Some(index) = chosen.pop() {
            let benchmark = &mut self.benchmarks[index];
            if let Some(less) = free.checked_sub(benchmark.visit) {
                free = less;
                fitting.push(index);
            } else if benchmark.visit > left {
                benchmark.done = true;
            } else {
                benchmark.waited += 1;
            }
        }
        fitting.reverse();
        *chosen = fitting;
    }

    /// Links the executables for this round. If that fails, they run as built from now on.
    pub(super) fn link_layout(&mut self, settings: &CampaignSettings<'_>, round: u32) {
        let Some(layouts) = self.layouts.take() else {
            return;
        };
        let began = Instant::now();
        if let Err(error) = layouts.link(round) {
            let bench = &self.executables.candidate;
            let message = format!(
                "{}/{}: the code layout no longer varies between rounds: {error}",
                bench.package, bench.target
            );
            // One of the two executables may have been linked again, so go back to both executables as built.
            self.executables = self.built.clone();
            self.layout = None;
            self.link_time = Duration::ZERO;
            if !matches!(error, LinkError::Interrupted) {
                settings.context.observer.observe(&Event::Warning(&message));
            }
            return;
        }
        self.link_time = began.elapsed();
        self.layout = Some(round);
        for side in self.executables.sides_in(Side::BOTH) {
            let path = layouts.executables().get(side).to_path_buf();
            let executable = self.executables.get_mut(side);
            *executable = executable.clone().with_executable(path);
        }
        self.layouts = Some(layouts);
    }

    /// Prepares the next process of each side. Both sides get the same padding, because differences in padding would add noise to the comparison.
    pub(super) fn prepare_processes(&self, seed: u64, number: ProcessNumber) -> ActiveProcesses {
        let block = number.block();
        let padding = schedule::draw_padding(seed, &self.executables.candidate, block);
        let begin = |executable: &_| new_record(executable, self.layout, number, padding);
        ActiveProcesses {
            records: self.executables.map(begin),
            block,
        }
    }

    /// Determines which of the benchmarks that this round has `visited` need no more rounds.
    pub(super) fn evaluate_rounds(
        &mut self,
        settings: &CampaignSettings<'_>,
        round: u32,
        visited: &[BenchmarkIndex],
        standing: &mut StandingFn<'_>,
    ) -> Result<(), Interrupted> {
        let limit = settings.time_per_benchmark();
        for index in visited {
            // There may be thousands of benchmarks, and each needs a computation.
            if settings.context.interrupt.is_requested() {
                return Err(Interrupted);
            }
            let benchmark = &mut self.benchmarks[*index];
            if benchmark.is_open() {
                let threshold = benchmark.resolved.noise_threshold;
                let found = standing(&benchmark.subject, threshold, &benchmark.rounds);
                if let Some(found) = found {
                    benchmark.standing = found;
                }
                benchmark.done = matches!(found, Some(LookStatus::Settled(_)))
                    || benchmark.is_out_of_time(limit)
                    || benchmark.visits_left(round + 1, None) == 0;
            }
        }
        Ok(())
    }
}
