//! A bench target of a campaign: its executables, one for each side, and the benchmarks that all sides have.

use std::time::Duration;

use super::discover::DiscoveredTarget;
use super::driver::Driver;
use super::sides::OneOrTwo;
use super::subject::{Resolved, Subject};
use crate::cargo::BenchTarget;
use crate::link::CodeLayouts;
use perfcheck_analysis::model::{Benchmark, BySide};

/// A bench target on both sides, with the benchmarks that both have.
#[derive(Debug, Clone)]
pub struct PairedTarget {
    /// The executables.
    pub targets: BySide<BenchTarget>,
    /// The benchmarks as the candidate announced them.
    pub benchmarks: Vec<Benchmark>,
    /// What they are written against.
    pub drivers: BySide<Driver>,
    /// Links both anew, where that is possible.
    pub layouts: Option<CodeLayouts>,
}

impl PairedTarget {
    /// The same executable on both sides.
    pub fn same(found: DiscoveredTarget) -> Self {
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

/// How the two sides of a target get along. Only benches of ours live side by side while they are sampled: the others stand still or follow
/// one another. One side alone has nobody to get along with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coexistence {
    /// Both alive, sampled in turn.
    Together,
    /// One failed beside the other: it is tried alone.
    OnTrial,
    /// They cannot live at once: launched in turn.
    Apart,
}

/// A bench target under measurement.
pub(super) struct Target {
    /// What is launched.
    pub(super) executables: OneOrTwo<BenchTarget>,
    /// What was built, of which layouts are made.
    pub(super) built: OneOrTwo<BenchTarget>,
    /// Drives both sides alike.
    pub(super) drivers: OneOrTwo<Driver>,
    pub(super) coexistence: Coexistence,
    /// Links the executables of both sides anew.
    pub(super) layouts: Option<CodeLayouts>,
    /// The layout that they have, if not that of their build: the round for which they were linked.
    pub(super) layout: Option<u32>,
    /// How long its last links took.
    pub(super) link_time: Duration,
    pub(super) subjects: Vec<Subject>,
    /// How long its last round of launches took.
    pub(super) round_time: Duration,
    /// The round for which there was no time left.
    pub(super) late: Option<u32>,
}

impl Target {
    /// Nothing of it has been launched; `resolve` settles each benchmark.
    pub(super) fn new(
        executables: OneOrTwo<BenchTarget>,
        drivers: OneOrTwo<Driver>,
        benchmarks: Vec<Benchmark>,
        resolve: &impl Fn(&Benchmark) -> Resolved,
    ) -> Self {
        let told = drivers.candidate.times_told();
        let subjects = benchmarks.into_iter().map(|benchmark| {
            let resolved = resolve(&benchmark);
            Subject::new(benchmark, resolved, told)
        });
        Self {
            built: executables.clone(),
            executables,
            drivers,
            coexistence: Coexistence::Together,
            layouts: None,
            layout: None,
            link_time: Duration::ZERO,
            subjects: subjects.collect(),
            round_time: Duration::ZERO,
            late: None,
        }
    }

    /// The ids of the benchmarks at `places`. A campaign counts places; a bench that goes through its benchmarks by itself names them.
    pub(super) fn ids(&self, places: &[usize]) -> Vec<String> {
        let of = |place: &usize| self.subjects[*place].benchmark.key.id.clone();
        places.iter().map(of).collect()
    }

    /// Where the benchmark `id` stands.
    pub(super) fn place_of(&self, id: &str) -> Option<usize> {
        let mut subjects = self.subjects.iter();
        subjects.position(|subject| subject.benchmark.key.id == id)
    }
}
