//! The workspace as `cargo metadata` describes it.

use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package, TargetKind};
use serde_json::Value;
use std::path::{Path, PathBuf};

use super::error::CargoError;
use super::options::CargoOptions;

/// The `[package.metadata.perfcheck]` table of a package.
#[derive(Debug, Clone, PartialEq)]
pub struct PackageSettings {
    /// Name of the package.
    pub package: String,
    /// Its `Cargo.toml`.
    pub manifest: PathBuf,
    /// The table, as JSON.
    pub table: Value,
}

/// A package and its bench targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchPackage {
    /// Name of the package.
    pub name: String,
    /// Its `Cargo.toml`.
    pub manifest: PathBuf,
    /// The main source files of its bench targets.
    pub sources: Vec<PathBuf>,
}

/// A workspace.
#[derive(Debug, Clone)]
pub struct Workspace {
    metadata: Metadata,
}

impl Workspace {
    /// Asks cargo.
    pub fn load(cargo: &Path, options: &CargoOptions) -> Result<Self, CargoError> {
        let mut command = MetadataCommand::new();
        // Members are all we ask about: without dependencies there is nothing to resolve, lock or download.
        command
            .cargo_path(cargo)
            .no_deps()
            .other_options(options.common());
        if let Some(path) = &options.manifest_path {
            command.manifest_path(path);
        }
        if options.all_features {
            command.features(CargoOpt::AllFeatures);
        }
        if options.no_default_features {
            command.features(CargoOpt::NoDefaultFeatures);
        }
        if !options.features.is_empty() {
            command.features(CargoOpt::SomeFeatures(options.features.clone()));
        }
        let metadata = command.exec().map_err(|error| match error {
            cargo_metadata::Error::CargoMetadata { stderr } => {
                CargoError::Metadata(stderr.trim_end().to_owned())
            }
            cargo_metadata::Error::Io(source) => CargoError::Start {
                program: cargo.to_owned(),
                source,
            },
            other => CargoError::Answer {
                program: "cargo metadata".to_owned(),
                what: other.to_string(),
            },
        })?;
        Ok(Self { metadata })
    }

    /// What cargo would have said.
    #[cfg(test)]
    pub(super) fn read(said: &[u8]) -> Option<Self> {
        let metadata = MetadataCommand::parse(str::from_utf8(said).ok()?).ok()?;
        Some(Self { metadata })
    }

    /// The workspace's root directory.
    pub fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// The `[workspace.metadata.perfcheck]` table, as JSON; null where there is none.
    pub fn settings(&self) -> &Value {
        &self.metadata.workspace_metadata["perfcheck"]
    }

    /// The `[package.metadata.perfcheck]` tables of the members that have one.
    pub fn package_settings(&self) -> Vec<PackageSettings> {
        self.metadata
            .workspace_packages()
            .into_iter()
            .filter(|package| !package.metadata["perfcheck"].is_null())
            .map(|package| PackageSettings {
                package: package.name.to_string(),
                manifest: package.manifest_path.clone().into_std_path_buf(),
                table: package.metadata["perfcheck"].clone(),
            })
            .collect()
    }

    /// The names of the packages that `options` select; `None` where that takes cargo's own understanding of
    /// package specifications.
    pub fn selected_packages(&self, options: &CargoOptions) -> Option<Vec<String>> {
        Some(
            self.selected(options)?
                .iter()
                .map(|package| package.name.to_string())
                .collect(),
        )
    }

    /// Whether any package that `options` select has a bench target at all.
    ///
    /// Cargo refuses a pattern that matches nothing; for us that is no failed build, but nothing to measure.
    pub fn has_bench_targets(&self, options: &CargoOptions) -> bool {
        let Some(selected) = self.selected(options) else {
            return true;
        };
        !options.wants_all_benches()
            || selected
                .iter()
                .flat_map(|package| &package.targets)
                .any(|target| target.kind == [TargetKind::Bench])
    }

    /// Refuses packages and bench targets that the workspace has not got. Patterns and what is more than a name are left to cargo.
    pub fn refuse_unknown(&self, options: &CargoOptions) -> Result<(), CargoError> {
        let members = self.metadata.workspace_packages();
        if let Some(name) = options.packages.iter().find(|name| !self.may_have(name)) {
            return Err(CargoError::NoSuchPackage {
                name: name.clone(),
                existing: members.iter().map(|one| one.name.to_string()).collect(),
            });
        }
        let selected = self.selected(options).unwrap_or(members);
        match (options.benches.iter()).find(|name| !may_have_bench(&selected, name)) {
            None => Ok(()),
            Some(name) => Err(CargoError::NoSuchBench {
                name: name.clone(),
                existing: bench_names(&selected),
            }),
        }
    }

    /// `options` without the packages and bench targets that the workspace has not got; `None` where nothing is left to be built.
    ///
    /// Cargo refuses names that it does not know; in an older state they are only not there yet.
    pub fn existing(&self, options: &CargoOptions) -> Option<CargoOptions> {
        let mut existing = options.clone();
        existing.packages.retain(|name| self.may_have(name));
        existing.exclude.retain(|name| self.may_have(name));
        let selected = self.selected(&existing);
        let of = selected.unwrap_or_else(|| self.metadata.workspace_packages());
        existing.benches.retain(|name| may_have_bench(&of, name));
        let nothing_left = (existing.packages.is_empty() && !options.packages.is_empty())
            || (existing.wants_all_benches() && !options.wants_all_benches())
            || !self.has_bench_targets(&existing);
        (!nothing_left).then_some(existing)
    }

    /// Whether there is a member of this name; more than a name is left to cargo.
    fn may_have(&self, name: &str) -> bool {
        let members = self.metadata.workspace_packages();
        name.contains(['*', '?', '[', '@', ':', '/'])
            || members.iter().any(|package| *name == *package.name)
    }

    /// The packages of the workspace; with `options`, those that they select and that have bench targets.
    pub fn bench_packages(&self, options: Option<&CargoOptions>) -> Vec<BenchPackage> {
        let selected = options.and_then(|options| self.selected(options));
        selected
            .unwrap_or_else(|| self.metadata.workspace_packages())
            .into_iter()
            .map(|package| BenchPackage {
                name: package.name.to_string(),
                manifest: package.manifest_path.clone().into(),
                sources: package
                    .targets
                    .iter()
                    .filter(|target| {
                        target.kind == [TargetKind::Bench]
                            || options.is_some_and(|options| options.wants_units_of(target))
                    })
                    .map(|target| target.src_path.clone().into())
                    .collect(),
            })
            .filter(|package| options.is_none() || !package.sources.is_empty())
            .collect()
    }

    /// Every target of the members that may hold benchmarks: package, name, main source file; bench targets first.
    pub fn targets(&self) -> Vec<(String, String, PathBuf)> {
        let members = self.metadata.workspace_packages().into_iter();
        let mut found: Vec<_> = members
            .flat_map(|package| package.targets.iter().map(move |target| (package, target)))
            .collect();
        found.sort_by_key(|(_, target)| target.kind != [TargetKind::Bench]);
        let named = |(package, target): (&Package, &cargo_metadata::Target)| {
            let file = target.src_path.clone().into_std_path_buf();
            (package.name.to_string(), target.name.clone(), file)
        };
        found.into_iter().map(named).collect()
    }

    /// The directories that cargo fills: for what it makes, and for what it makes that of.
    pub fn target_directories(&self) -> Vec<&Path> {
        let target = self.metadata.target_directory.as_std_path();
        let build = self.metadata.build_directory.as_ref();
        let build = build.map(|directory| directory.as_std_path());
        [target].into_iter().chain(build).collect()
    }

    /// The directories of its packages.
    pub fn package_directories(&self) -> Vec<&Path> {
        let packages = self.metadata.workspace_packages().into_iter();
        let manifests = packages.map(|package| package.manifest_path.as_std_path());
        manifests.filter_map(Path::parent).collect()
    }

    pub(super) fn selected(&self, options: &CargoOptions) -> Option<Vec<&Package>> {
        let members = self.metadata.workspace_packages();
        let names =
            |list: &[String], package: &Package| list.iter().any(|name| *name == *package.name);
        if options.workspace {
            let mut selected = members;
            selected.retain(|package| !names(&options.exclude, package));
            return Some(selected);
        }
        if options.packages.is_empty() {
            // A cargo that is too old to tell them.
            if self.metadata.workspace_default_members.is_missing() {
                return Some(members);
            }
            return Some(self.metadata.workspace_default_packages());
        }
        let known = |name: &String| members.iter().any(|package| *name == *package.name);
        if !options.packages.iter().all(known) {
            return None;
        }
        let mut selected = members;
        selected.retain(|package| names(&options.packages, package));
        Some(selected)
    }

    /// Every package of the workspace.
    pub(super) fn members(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }
}

/// Whether these packages have a bench target of this name; patterns are left to cargo.
fn may_have_bench(packages: &[&Package], name: &str) -> bool {
    name.contains(['*', '?', '[']) || bench_names(packages).iter().any(|known| known == name)
}

fn bench_names(packages: &[&Package]) -> Vec<String> {
    let targets = packages.iter().flat_map(|package| &package.targets);
    targets
        .filter(|target| target.kind == [TargetKind::Bench])
        .map(|target| target.name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &[u8] = include_bytes!("corpus/metadata.json");

    #[test]
    fn a_damaged_description_of_a_workspace_is_read_or_refused() {
        let options = CargoOptions::default();
        let look_at = |workspace: &Workspace| {
            drop(workspace.package_settings());
            drop(workspace.left_out(&options));
            drop(workspace.selected_packages(&options));
            drop(workspace.bench_packages(Some(&options)));
            workspace.targets()
        };
        let whole = Workspace::read(METADATA).expect("it is whole");
        let targets = look_at(&whole);
        assert!(targets.iter().any(|(_, target, _)| target == "costs"));
        crate::mutations::attack("cargo's metadata", &[METADATA.to_vec()], |said| {
            drop(Workspace::read(said).map(|workspace| look_at(&workspace)));
        });
    }
}
