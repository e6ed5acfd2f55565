//! Asks cargo which targets `cargo bench` would build: the roots of its unit graph. Asks the same about the binaries of programs and `cargo build`.
//!
//! `bench = false`, `required-features` and features decide what cargo builds, but stable cargo does not report its decision in advance.
//! `--unit-graph` does, without building anything; `RUSTC_BOOTSTRAP` enables the flag. A cargo that does not know the flag selects the targets by
//! itself when it builds.

use cargo_metadata::{Artifact, Package, Target, TargetKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;

use super::metadata::{Workspace, is_run_by};
use super::options::{CargoOptions, is_library};
use perfcheck_analysis::model::ProgramBenchmark;

/// A bench target, or the binary of a program, that cargo skips.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedTarget {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// The reason.
    pub reason: SkipReason,
}

/// The reason why cargo skips a target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkipReason {
    /// The target requires these features, which are off.
    FeaturesOff(Vec<String>),
    /// The manifest says `bench = false` for the target.
    BenchIsFalse,
}

/// The targets of a build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TargetSelection {
    /// The flags of `cargo bench` that name the targets. If there are none, cargo selects the targets by itself.
    pub(super) flags: Vec<OsString>,
    /// The targets to measure.
    pub(super) targets: BTreeSet<SelectedTarget>,
    /// The bench targets of the selected packages that cargo skips.
    pub(super) skipped: Vec<SkippedTarget>,
}

/// A target of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct SelectedTarget {
    pub(super) package_id: String,
    pub(super) kinds: Vec<String>,
    pub(super) name: String,
}

/// The parts of cargo's unit graph that are used here.
#[derive(Debug, Deserialize)]
struct UnitGraph {
    units: Vec<GraphUnit>,
    roots: Vec<usize>,
}

#[derive(Debug, Deserialize)]
struct GraphUnit {
    pkg_id: String,
    target: UnitTarget,
    features: Vec<String>,
    /// `test` if the unit runs benchmarks, `build` if it is only built. An example with `bench = true` has one such unit of each kind.
    mode: String,
}

#[derive(Debug, Deserialize)]
struct UnitTarget {
    kind: Vec<String>,
    name: String,
}

impl UnitGraph {
    /// Returns the targets that cargo would build in this mode, without those that only other targets need.
    fn roots(&self, mode: &str) -> BTreeSet<SelectedTarget> {
        let units = self.roots.iter().filter_map(|root| self.units.get(*root));
        let units = units.filter(|unit| unit.mode == mode);
        let names = units.map(|unit| SelectedTarget {
            package_id: unit.pkg_id.clone(),
            kinds: unit.target.kind.clone(),
            name: unit.target.name.clone(),
        });
        names.collect()
    }

    /// Returns the features that the target requires and that are off.
    fn features_off(&self, package: &Package, target: &Target) -> Vec<String> {
        let units = self.units.iter();
        let units = units.filter(|unit| unit.pkg_id == package.id.repr);
        let on: BTreeSet<&String> = units.flat_map(|unit| &unit.features).collect();
        let required = target.required_features.iter();
        required
            .filter(|feature| !on.contains(feature))
            .cloned()
            .collect()
    }
}

impl SelectedTarget {
    pub(super) fn new(package: &Package, target: &Target) -> Self {
        Self {
            package_id: package.id.repr.clone(),
            kinds: target.kind.iter().map(ToString::to_string).collect(),
            name: target.name.clone(),
        }
    }

    pub(super) fn from_artifact(artifact: &Artifact) -> Self {
        Self {
            package_id: artifact.package_id.repr.clone(),
            kinds: (artifact.target.kind.iter())
                .map(ToString::to_string)
                .collect(),
            name: artifact.target.name.clone(),
        }
    }
}

impl TargetSelection {
    /// Selects the roots of a unit graph, except libraries and binaries without benchmarks: compiling their unit tests takes long and measures
    /// nothing.
    pub(super) fn from_unit_graph(
        workspace: &Workspace,
        options: &CargoOptions,
        json: &[u8],
    ) -> Result<Self, serde_json::Error> {
        let graph: UnitGraph = serde_json::from_slice(json)?;
        let roots = graph.roots("test");
        let selected = workspace.selected(options);
        let mut selection = Self::default();
        for (package, target) in all_targets(&selected) {
            let name = SelectedTarget::new(package, target);
            if roots.contains(&name) {
                if options.selects_units_of(target) || Workspace::may_hold_benches(package, target)
                {
                    selection.targets.insert(name);
                }
            } else if target.kind == [TargetKind::Bench] {
                let off = graph.features_off(package, target);
                selection.skipped.push(SkippedTarget {
                    package: package.name.to_string(),
                    target: target.name.clone(),
                    reason: if off.is_empty() {
                        SkipReason::BenchIsFalse
                    } else {
                        SkipReason::FeaturesOff(off)
                    },
                });
            }
        }
        selection.flags = selection.flags_of_targets(&selected, options);
        Ok(selection)
    }

    /// Selects every target that may hold benchmarks. Cargo then builds only the ones that it selects by itself.
    pub(super) fn from_manifests(workspace: &Workspace, options: &CargoOptions) -> Self {
        let selected = workspace.selected(options);
        let targets = all_targets(&selected).filter(|(package, target)| {
            options.selects_units_of(target) || Workspace::may_hold_benches(package, target)
        });
        Self {
            targets: targets
                .map(|(package, target)| SelectedTarget::new(package, target))
                .collect(),
            ..Self::default()
        }
    }

    /// Returns the flags that name the targets. A flag applies to all selected packages. If a flag would also select an unwanted target, returns no
    /// flags, so that cargo selects by itself.
    fn flags_of_targets(&self, selected: &[&Package], options: &CargoOptions) -> Vec<OsString> {
        let mut flags: BTreeSet<Vec<&str>> = BTreeSet::new();
        let mut others: BTreeSet<Vec<&str>> = BTreeSet::new();
        for (package, target) in all_targets(selected) {
            let Some(flag) = target_flag(target) else {
                continue;
            };
            if self.targets.contains(&SelectedTarget::new(package, target)) {
                flags.insert(flag);
            } else {
                others.insert(flag);
            }
        }
        if !flags.is_disjoint(&others) {
            return Vec::new();
        }
        flags.extend(options.benches.iter().map(|name| vec!["--bench", name]));
        flags.extend(options.lib.then(|| vec!["--lib"]));
        flags.extend(options.bins.then(|| vec!["--bins"]));
        flags.into_iter().flatten().map(OsString::from).collect()
    }
}

/// Lists the binaries of `programs` that cargo skips because features are off. `json` is the unit graph of `cargo build`.
pub(super) fn list_gated_binaries(
    workspace: &Workspace,
    options: &CargoOptions,
    programs: &[ProgramBenchmark],
    json: &[u8],
) -> Result<Vec<SkippedTarget>, serde_json::Error> {
    let graph: UnitGraph = serde_json::from_slice(json)?;
    let roots = graph.roots("build");
    let selected = workspace.selected(options);
    let skipped = all_targets(&selected).filter(|(package, target)| {
        is_run_by(programs, package, target)
            && !target.required_features.is_empty()
            && !roots.contains(&SelectedTarget::new(package, target))
    });
    let skipped = skipped.map(|(package, target)| SkippedTarget {
        package: package.name.to_string(),
        target: ProgramBenchmark::target_of_binary(&target.name),
        reason: SkipReason::FeaturesOff(graph.features_off(package, target)),
    });
    Ok(skipped.collect())
}

/// Iterates over the targets of these packages.
pub(super) fn all_targets<'p>(
    packages: &[&'p Package],
) -> impl Iterator<Item = (&'p Package, &'p Target)> {
    let targets = |package: &&'p Package| {
        let package: &'p Package = package;
        package.targets.iter().map(move |target| (package, target))
    };
    packages.iter().flat_map(targets)
}

/// Returns the flag that selects a target, or `None` for a build script.
fn target_flag(target: &Target) -> Option<Vec<&str>> {
    let flag = match &target.kind[..] {
        _ if is_library(target) => return Some(vec!["--lib"]),
        [TargetKind::Bench] => "--bench",
        [TargetKind::Bin] => "--bin",
        [TargetKind::Example] => "--example",
        [TargetKind::Test] => "--test",
        _ => return None,
    };
    Some(vec![flag, &target.name])
}
