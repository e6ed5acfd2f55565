//! A bench target of a campaign: its executables, one for each side, and the benchmarks that all sides have.

use crate::measure::ResolvedSettings;
use crate::measure::subject::{CampaignBenchmark, CampaignSides};
use std::time::Duration;

use super::discover::DiscoveredTarget;
use super::driver::Driver;
use perfcheck_analysis::model::{Benchmark, BySide};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_build::link::CodeLayouts;

/// A bench target on both sides, with the benchmarks that both have.
#[derive(Debug, Clone)]
pub struct PairedTarget {
    /// The executables.
    pub targets: BySide<BenchTarget>,
    /// The benchmarks as announced by the candidate.
    pub benchmarks: Vec<Benchmark>,
    /// The way to drive each side.
    pub drivers: BySide<Driver>,
    /// Links both executables again, if that is possible.
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
            drivers: BySide {
                base: found.driver.clone(),
                candidate: found.driver,
            },
            layouts: None,
        }
    }
}

/// How the processes of the two sides of a target run. Only processes of our own harness run at the same time while they are sampled: others wait for
/// each other or run one after the other. A single side has nothing to coexist with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessOverlap {
    /// Both are alive and sampled alternately.
    Together,
    /// A benchmark failed next to the other side: it is tried without it.
    OnTrial,
    /// They cannot be alive at the same time, so they run one after the other.
    Apart,
}

/// A bench target that is being measured.
pub(super) struct Target {
    /// The executables to start.
    pub(super) executables: CampaignSides<BenchTarget>,
    /// The executables as built, from which layouts are made.
    pub(super) built: CampaignSides<BenchTarget>,
    /// The way to drive each side.
    pub(super) drivers: CampaignSides<Driver>,
    pub(super) coexistence: ProcessOverlap,
    /// Links the executables of both sides again.
    pub(super) layouts: Option<CodeLayouts>,
    /// The round for which the executables were linked; `None` if they have the layout of their build.
    pub(super) layout: Option<u32>,
    /// Duration of the last links.
    pub(super) link_time: Duration,
    pub(super) subjects: Vec<CampaignBenchmark>,
    /// Duration of the last round.
    pub(super) round_time: Duration,
    /// The round for which there was no time left.
    pub(super) late: Option<u32>,
}

impl Target {
    /// Creates a target that has not been started. `resolve` returns the settings of each benchmark.
    pub(super) fn new(
        executables: CampaignSides<BenchTarget>,
        drivers: CampaignSides<Driver>,
        benchmarks: Vec<Benchmark>,
        resolve: &impl Fn(&Benchmark) -> ResolvedSettings,
    ) -> Self {
        let told = drivers.candidate.time_precision();
        let subjects = benchmarks.into_iter().map(|benchmark| {
            let resolved = resolve(&benchmark);
            CampaignBenchmark::new(benchmark, resolved, told)
        });
        Self {
            built: executables.clone(),
            executables,
            drivers,
            coexistence: ProcessOverlap::Together,
            layouts: None,
            layout: None,
            link_time: Duration::ZERO,
            subjects: subjects.collect(),
            round_time: Duration::ZERO,
            late: None,
        }
    }

    /// Returns the ids of the benchmarks at `places`. A campaign uses indices; a bench that goes through its benchmarks by itself uses ids.
    pub(super) fn ids(&self, places: &[usize]) -> Vec<String> {
        let of = |place: &usize| self.subjects[*place].benchmark.key.id.clone();
        places.iter().map(of).collect()
    }

    /// Returns the index of the benchmark `id`.
    pub(super) fn index_of(&self, id: &str) -> Option<usize> {
        let mut subjects = self.subjects.iter();
        subjects.position(|subject| subject.benchmark.key.id == id)
    }
}
