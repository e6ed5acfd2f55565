//! What a build of both sides gives: executables, target by target.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::cargo::{BenchTarget, SkippedTarget};
use crate::host::Revision;
use crate::link::{Lead, Relinkable};
use perfcheck_analysis::model::{BuildFacts, GitState};

/// Both sides, ready to be launched.
#[derive(Debug, Clone)]
pub struct PreparedSides {
    /// The state that the work tree is compared with.
    pub base: BuiltSide,
    /// The work tree.
    pub candidate: BuiltSide,
    /// Compiler, target, profile and flags, the same for both.
    pub facts: BuildFacts,
    /// Dependencies whose locked versions differ.
    pub dependencies: Vec<Dependency>,
}

/// One side. Its executables stay in place for as long as a clone of this value lives.
#[derive(Debug, Clone)]
pub struct BuiltSide {
    /// The name that it is kept under.
    pub name: String,
    /// The commit; `None`: the work tree with changes of its own.
    pub commit: Option<Revision>,
    /// Git's state when the sources were copied; `None` for a build that was found by its name.
    pub git: Option<GitState>,
    /// Its bench executables, in the order of package and target name.
    pub targets: Vec<SideTarget>,
    /// Whether the executables were built now or before.
    pub provenance: Provenance,
    /// How long it took to lay out the sources.
    pub checkout_time: Duration,
    /// How long the build took, whether now or before.
    pub build_time: Duration,
    /// The bench targets that cargo passed over.
    pub skipped: Vec<SkippedTarget>,
    /// The locked versions of its dependencies, by package name.
    pub(super) locked: BTreeMap<String, Vec<String>>,
    pub(super) _in_use: [Arc<File>; 2],
}

/// Where executables come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Cargo built them now.
    Built,
    /// They were built before and kept.
    Cached,
}

/// A bench executable of one side.
#[derive(Debug, Clone)]
pub struct SideTarget {
    /// How it is launched.
    pub target: BenchTarget,
    /// The executable itself, behind any runner.
    pub executable: PathBuf,
    /// The folders of its side: that of the sources, and that of the build.
    pub(super) folders: [PathBuf; 2],
    /// The hash of the executable as it was built, before paths in it were changed to lead to the files of its side.
    pub executable_hash: String,
    /// The hash of the private dynamic libraries of the build and of the binaries beside the executable.
    pub companions_hash: String,
    /// What the executable was linked from, if the link can be repeated.
    pub relinkable: Option<Relinkable>,
    /// The bench target's own sources and the data files beside them: paths within the repository, with hashes.
    pub sources: BTreeMap<PathBuf, String>,
}

/// The bench executables of both sides with the same package and target name.
#[derive(Debug, Clone, Copy)]
pub enum TargetPair<'a> {
    /// Both sides have it.
    Both {
        /// The executable of the base.
        base: &'a SideTarget,
        /// The executable of the work tree.
        candidate: &'a SideTarget,
    },
    /// Only the work tree has it.
    CandidateOnly(&'a SideTarget),
    /// Only the base has it.
    BaseOnly(&'a SideTarget),
}

/// A dependency whose locked versions differ between the sides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// The name of the package.
    pub name: String,
    /// The versions that the base locks; none if the dependency is new.
    pub base: Vec<String>,
    /// The versions that the work tree locks; none if the dependency is gone.
    pub candidate: Vec<String>,
}

impl PreparedSides {
    /// All targets, by package and name.
    pub fn pairs(&self) -> Vec<TargetPair<'_>> {
        let by_name = |side: &'_ BuiltSide| -> BTreeMap<(String, String), usize> {
            let name =
                |target: &SideTarget| (target.target.package.clone(), target.target.target.clone());
            let targets = side.targets.iter().enumerate();
            targets.map(|(at, target)| (name(target), at)).collect()
        };
        let (base, candidate) = (by_name(&self.base), by_name(&self.candidate));
        let names: BTreeSet<_> = base.keys().chain(candidate.keys()).collect();
        names
            .into_iter()
            .filter_map(|name| {
                let base = base.get(name).map(|at| &self.base.targets[*at]);
                let candidate = candidate.get(name).map(|at| &self.candidate.targets[*at]);
                match (base, candidate) {
                    (Some(base), Some(candidate)) => Some(TargetPair::Both { base, candidate }),
                    (None, Some(candidate)) => Some(TargetPair::CandidateOnly(candidate)),
                    (Some(base), None) => Some(TargetPair::BaseOnly(base)),
                    (None, None) => None,
                }
            })
            .collect()
    }
}

impl BuiltSide {
    /// How its executables are launched.
    pub fn bench_targets(&self) -> Vec<BenchTarget> {
        let targets = self.targets.iter();
        targets.map(|side| side.target.clone()).collect()
    }
}

impl SideTarget {
    /// Whether both are the same program, byte by byte, with the same companions.
    ///
    /// What it reads when it runs may differ all the same: see [`Self::differing_sources`].
    pub fn is_identical_to(&self, other: &Self) -> bool {
        self.executable_hash == other.executable_hash && self.has_companions_of(other)
    }

    /// Whether both have the same private dynamic libraries and the same binaries beside them.
    pub fn has_companions_of(&self, other: &Self) -> bool {
        self.companions_hash == other.companions_hash
    }

    /// The executable as it would be if paths that were compiled into it led to the other's side.
    pub fn led_to(&self, other: &Self) -> io::Result<Vec<u8>> {
        let mut bytes = fs::read(&self.executable)?;
        for (from, to) in self.folders.iter().zip(&other.folders) {
            if let Some(lead) = Lead::new(from, to) {
                lead.apply(&mut bytes);
            }
        }
        Ok(bytes)
    }

    /// Those of [`Self::differing_sources`] that are no Rust: what an executable reads while it runs is not in it.
    pub fn differing_data<'a>(&'a self, other: &'a Self) -> Vec<&'a Path> {
        let mut differing = self.differing_sources(other);
        differing.retain(|path| path.extension().is_none_or(|extension| extension != "rs"));
        differing
    }

    /// The bench target's own files (sources and data beside them) that are not the same on both sides.
    pub fn differing_sources<'a>(&'a self, other: &'a Self) -> Vec<&'a Path> {
        let names: BTreeSet<&PathBuf> = self.sources.keys().chain(other.sources.keys()).collect();
        names
            .into_iter()
            .filter(|name| self.sources.get(*name) != other.sources.get(*name))
            .map(PathBuf::as_path)
            .collect()
    }
}
