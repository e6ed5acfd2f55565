//! The outcome of building both sides: the executables of each bench target, and the facts about each build.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::criterion::CriterionBuild;
use crate::cargo::{BenchTarget, SkippedTarget};
use crate::link::{PathRewrite, Relinkable};
use perfcheck_analysis::model::{BuildFacts, GitState};
use perfcheck_host::Revision;

/// The builds of both sides, ready to be measured.
#[derive(Debug, Clone)]
pub struct PreparedSides {
    /// The state with which the work tree is compared.
    pub base: BuiltSide,
    /// The work tree.
    pub candidate: BuiltSide,
    /// Compiler, target, profile and flags, the same for both.
    pub facts: BuildFacts,
    /// Dependencies whose locked versions differ.
    pub dependencies: Vec<Dependency>,
}

/// The build of one side. Its executables stay in place while a clone of this value lives.
#[derive(Debug, Clone)]
pub struct BuiltSide {
    /// Name under which the build is kept.
    pub name: String,
    /// The commit that was built. `None` for a work tree with changes.
    pub commit: Option<Revision>,
    /// The state of git when the sources were copied. `None` for a build that was found by its name.
    pub git: Option<GitState>,
    /// The bench executables of the build, sorted by package and target name.
    pub targets: Vec<SideTarget>,
    /// Whether the executables were built for this run or come from a kept build.
    pub provenance: BuildOrigin,
    /// Time spent on preparing the sources.
    pub checkout_time: Duration,
    /// How long the build took, even if it was made for an earlier run.
    pub build_time: Duration,
    /// The bench targets that cargo skipped.
    pub skipped: Vec<SkippedTarget>,
    /// The features with which each package of the workspace was compiled, as far as they are known.
    pub features: BTreeMap<String, BTreeSet<String>>,
    /// The locked versions of the dependencies, by package name.
    pub(super) locked: BTreeMap<String, Vec<String>>,
    /// The Criterion that the benches use.
    pub criterion: CriterionBuild,
    /// The directory of the workspace's sources that debug information names, after paths were rewritten for this side.
    pub sources: PathBuf,
    /// The directory in which the build is kept. Files that are added to it are removed with the build.
    pub directory: PathBuf,
    pub(super) _in_use: [Arc<File>; 2],
}

/// Where the executables of a side come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildOrigin {
    /// Cargo built them for this run.
    Built,
    /// The executables come from a kept build.
    Cached,
}

/// A bench executable of one side.
#[derive(Debug, Clone)]
pub struct SideTarget {
    /// The program, arguments and environment to start it with.
    pub target: BenchTarget,
    /// Path of the executable itself, even if a runner starts it.
    pub executable: PathBuf,
    /// The folder of the sources and the folder of the build, whose paths the executable may contain.
    pub(super) folders: [PathBuf; 2],
    /// Hash of the executable as it was built, before paths in it were rewritten for its side.
    pub executable_hash: String,
    /// Hash of the build's private dynamic libraries and of the binaries next to the executable.
    pub companions_hash: String,
    /// The link inputs of the executable, if it can be linked again.
    pub relinkable: Option<Relinkable>,
    /// The bench target's own sources and the data files next to them: paths in the repository, with hashes. For a program, these are its inputs.
    pub sources: BTreeMap<PathBuf, String>,
}

/// The bench executables of both sides with the same package and target name.
#[derive(Debug, Clone, Copy)]
pub enum TargetPair<'a> {
    /// Both sides have the bench target.
    Both {
        /// The executable of the base.
        base: &'a SideTarget,
        /// The executable of the work tree.
        candidate: &'a SideTarget,
    },
    /// Only the work tree has the bench target.
    CandidateOnly(&'a SideTarget),
    /// Only the base has the bench target.
    BaseOnly(&'a SideTarget),
}

/// A dependency whose locked versions differ between the sides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// The name of the package.
    pub name: String,
    /// The versions that the base locks. Empty if the dependency is new.
    pub base: Vec<String>,
    /// The versions that the work tree locks. Empty if the dependency is gone.
    pub candidate: Vec<String>,
}

impl PreparedSides {
    /// Pairs the targets of both sides, sorted by package and target name.
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
    /// Returns the bench executables of the build, with everything needed to start them.
    pub fn bench_targets(&self) -> Vec<BenchTarget> {
        let targets = self.targets.iter();
        targets.map(|side| side.target.clone()).collect()
    }
}

impl SideTarget {
    /// Reports whether both are the same program, byte by byte, with the same libraries and binaries.
    ///
    /// The files that they read at run time may still differ: see [`Self::differing_sources`].
    pub fn is_identical_to(&self, other: &Self) -> bool {
        self.executable_hash == other.executable_hash && self.has_same_companions(other)
    }

    /// Returns true if this executable and `other` were built together with the same private dynamic libraries and the same ordinary binaries.
    pub fn has_same_companions(&self, other: &Self) -> bool {
        self.companions_hash == other.companions_hash
    }

    /// Returns the bytes of this executable, with the paths of its own side replaced by the paths of the side of
    /// `other`.
    pub fn with_paths_of(&self, other: &Self) -> io::Result<Vec<u8>> {
        let mut bytes = fs::read(&self.executable)?;
        for (from, to) in self.folders.iter().zip(&other.folders) {
            if let Some(lead) = PathRewrite::new(from, to) {
                lead.apply(&mut bytes);
            }
        }
        Ok(bytes)
    }

    /// Returns the [`Self::differing_sources`] that an executable may read at run time. For a bench, these are the files that are not Rust.
    pub fn differing_data<'a>(&'a self, other: &'a Self) -> Vec<&'a Path> {
        let mut differing = self.differing_sources(other);
        let is_program = self.target.has_programs();
        differing.retain(|path| {
            is_program || path.extension().is_none_or(|extension| extension != "rs")
        });
        differing
    }

    /// Returns the own files of the bench target that differ between the sides: sources and the data next to them, or the inputs of a program. Both
    /// sides of a program read the files of one of them, so an input that the other does not have, such as an untracked file, is no difference.
    pub fn differing_sources<'a>(&'a self, other: &'a Self) -> Vec<&'a Path> {
        let is_program = self.target.has_programs();
        let names: BTreeSet<&PathBuf> = self.sources.keys().chain(other.sources.keys()).collect();
        names
            .into_iter()
            .filter(|name| {
                let (own, others) = (self.sources.get(*name), other.sources.get(*name));
                own != others && !(is_program && (own.is_none() || others.is_none()))
            })
            .map(PathBuf::as_path)
            .collect()
    }
}
