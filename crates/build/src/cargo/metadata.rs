//! The workspace as described by `cargo metadata`, and the facts about benchmarks that cargo does not report, read from manifests and sources.

use cargo_metadata::{
    CargoOpt, DependencyKind, Metadata, MetadataCommand, Package, Target, TargetKind,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml_edit::{DocumentMut, Item, TableLike};

use super::error::CargoError;
use super::options::{CargoOptions, is_library};
use super::options::{is_glob, matches_package};
use perfcheck_analysis::model::ProgramBenchmark;
use perfcheck_host::process::Supervisor;

/// The `[package.metadata.perfcheck]` table of a package.
#[derive(Debug, Clone, PartialEq)]
pub struct PackageSettings {
    /// Name of the package.
    pub package: String,
    /// Path of its `Cargo.toml`.
    pub manifest: PathBuf,
    /// The table, as JSON.
    pub table: Value,
}

/// A package and its bench targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchPackage {
    /// Name of the package.
    pub name: String,
    /// Path of its `Cargo.toml`.
    pub manifest: PathBuf,
    /// The main source files of its targets with benchmarks.
    pub sources: Vec<PathBuf>,
}

impl BenchPackage {
    fn new(package: &Package, is_wanted: impl Fn(&Target) -> bool) -> Self {
        let targets = package.targets.iter();
        Self {
            name: package.name.to_string(),
            manifest: package.manifest_path.clone().into(),
            sources: targets
                .filter(|target| is_wanted(target))
                .map(|target| target.src_path.clone().into())
                .collect(),
        }
    }
}

/// A library or a binary whose code benchmarks can execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredCrate {
    /// Name of the package.
    pub package: String,
    /// Name of the crate in Rust code.
    pub name: String,
    /// Its main source file.
    pub source: PathBuf,
}

/// A workspace, as cargo describes it.
#[derive(Debug, Clone)]
pub struct Workspace {
    metadata: Metadata,
}

impl Workspace {
    /// Loads the workspace with `cargo metadata`.
    pub fn load(
        cargo: &Path,
        options: &CargoOptions,
        supervisor: &Supervisor,
    ) -> Result<Self, CargoError> {
        // Only members are of interest. Without dependencies, cargo does not resolve, lock or download anything.
        let mut command = Self::command(cargo, options);
        let written = Self::run(&mut command.no_deps().cargo_command(), cargo, supervisor)?;
        Self::parse(&written).map_err(|what| CargoError::Answer {
            program: "cargo metadata".to_owned(),
            what,
        })
    }

    /// Prepares a command that makes cargo resolve the dependencies for the triple `target` and write the lock file, as a build would.
    pub(super) fn resolve_command(cargo: &Path, options: &CargoOptions, target: &str) -> Command {
        let mut command = Self::command(cargo, options);
        let mut flags = options.metadata_flags();
        // Without `--filter-platform`, cargo downloads the dependencies for all platforms.
        flags.extend(["--filter-platform".to_owned(), target.to_owned()]);
        command.other_options(flags);
        command.cargo_command()
    }

    /// Reports whether a member of the workspace depends on this package.
    pub fn depends_on(&self, package: &str) -> bool {
        let members = self.members().into_iter();
        let mut dependencies = members.flat_map(|one| &one.dependencies);
        dependencies.any(|dependency| dependency.name == package)
    }

    /// Returns the packages that the library and the binaries of a member depend on. Returns `None` if the workspace has no such member.
    pub fn library_dependencies(&self, member: &str) -> Option<Vec<&str>> {
        let mut members = self.members().into_iter();
        let dependencies = &members.find(|one| *one.name == member)?.dependencies;
        let used = dependencies
            .iter()
            .filter(|dependency| dependency.kind != DependencyKind::Development);
        Some(used.map(|dependency| dependency.name.as_str()).collect())
    }

    fn command(cargo: &Path, options: &CargoOptions) -> MetadataCommand {
        let mut command = MetadataCommand::new();
        command
            .cargo_path(cargo)
            .other_options(options.metadata_flags());
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
        command
    }

    /// Runs `cargo metadata` and returns its output.
    pub(super) fn run(
        command: &mut Command,
        cargo: &Path,
        supervisor: &Supervisor,
    ) -> Result<Vec<u8>, CargoError> {
        let output = supervisor
            .output(command)
            .map_err(|error| CargoError::not_run(cargo, error))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(CargoError::Metadata(message.trim_end().to_owned()));
        }
        Ok(output.stdout)
    }

    /// Parses the output of `cargo metadata`.
    pub(super) fn parse(written: &[u8]) -> Result<Self, String> {
        let text = str::from_utf8(written).map_err(|error| error.to_string())?;
        // A wrapper around cargo may print additional lines.
        let line = text.lines().find(|line| line.starts_with('{'));
        let metadata = MetadataCommand::parse(line.unwrap_or_default());
        let metadata = metadata.map_err(|error| error.to_string())?;
        Ok(Self { metadata })
    }

    /// Returns the workspace's root directory.
    pub fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Returns the `[workspace.metadata.perfcheck]` table as JSON, or null if the workspace has none.
    pub fn settings(&self) -> &Value {
        &self.metadata.workspace_metadata["perfcheck"]
    }

    /// Returns the `[package.metadata.perfcheck]` tables of the members that have one.
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

    /// Returns the names of the packages that `options` select.
    pub fn selected_packages(&self, options: &CargoOptions) -> Vec<String> {
        let selected = self.selected(options).into_iter();
        selected.map(|package| package.name.to_string()).collect()
    }

    /// Reports whether there may be something to build: always if `options` name targets, otherwise if a selected package has a target that may hold
    /// benchmarks.
    ///
    /// If not, callers report that there is nothing to measure, instead of a failed build.
    pub fn has_bench_targets(&self, options: &CargoOptions) -> bool {
        !options.selects_all_benches() || self.selected(options).into_iter().any(has_benches)
    }

    /// Reports whether a build with `options` may have bench targets, and not only programs.
    pub fn may_build_benches(&self, options: &CargoOptions) -> bool {
        options.selects_benches() && self.has_bench_targets(options)
    }

    /// Fails if `options` name a package or bench target that the workspace does not have. Cargo itself checks patterns of bench targets.
    pub fn refuse_unknown(&self, options: &CargoOptions) -> Result<(), CargoError> {
        if let Some(name) = options.packages.iter().find(|name| !self.has_package(name)) {
            let members = self.members().into_iter();
            return Err(CargoError::NoSuchPackage {
                name: name.clone(),
                existing: members.map(|one| one.name.to_string()).collect(),
            });
        }
        let selected = self.selected(options);
        match (options.benches.iter()).find(|name| !may_have_bench(&selected, name)) {
            None => Ok(()),
            Some(name) => Err(CargoError::NoSuchBench {
                name: name.clone(),
                existing: bench_names(&selected),
            }),
        }
    }

    /// Removes from `options` the packages and bench targets that the workspace does not have. Returns `None` if nothing is left to build.
    ///
    /// Cargo refuses unknown names, but an older revision may not have had them yet.
    pub fn retain_existing(&self, options: &CargoOptions) -> Option<CargoOptions> {
        let mut existing = self.retain_packages(options);
        let selected = self.selected(&existing);
        existing
            .benches
            .retain(|name| may_have_bench(&selected, name));
        let nothing_left = (existing.packages.is_empty() && !options.packages.is_empty())
            || (existing.selects_all_benches() && !options.selects_all_benches())
            || !self.has_bench_targets(&existing);
        (!nothing_left).then_some(existing)
    }

    /// Removes from `options` the packages that the workspace does not have.
    pub(crate) fn retain_packages(&self, options: &CargoOptions) -> CargoOptions {
        let mut existing = options.clone();
        existing.packages.retain(|name| self.has_package(name));
        existing.exclude.retain(|name| self.has_package(name));
        existing
    }

    /// Returns the names of the binaries of a package, sorted.
    pub fn binaries(&self, package: &str) -> Vec<String> {
        let members = self.members().into_iter();
        let targets = members
            .filter(|one| *one.name == package)
            .flat_map(|one| &one.targets);
        let binaries = targets.filter(|target| target.kind == [TargetKind::Bin]);
        let mut names: Vec<String> = binaries.map(|target| target.name.clone()).collect();
        names.sort();
        names
    }

    /// Reports whether a package specification matches any member.
    fn has_package(&self, specification: &str) -> bool {
        let mut members = self.members().into_iter();
        members.any(|package| matches_package(specification, package))
    }

    /// Returns every package of the workspace with its bench targets.
    pub fn bench_packages(&self) -> Vec<BenchPackage> {
        let members = self.members().into_iter();
        members
            .map(|package| BenchPackage::new(package, |target| target.kind == [TargetKind::Bench]))
            .collect()
    }

    /// Returns the selected packages that have targets with benchmarks, and the main source files of these targets. Libraries and binaries count only
    /// if `options` name them: otherwise they are the code that is measured.
    pub fn selected_bench_packages(&self, options: &CargoOptions) -> Vec<BenchPackage> {
        let is_measured = |package: &Package, target: &Target| {
            options.selects_units_of(target)
                || !is_library(target)
                    && target.kind != [TargetKind::Bin]
                    && Self::may_hold_benches(package, target)
        };
        let selected = self.selected(options).into_iter();
        selected
            .map(|package| BenchPackage::new(package, |target| is_measured(package, target)))
            .filter(|package| !package.sources.is_empty())
            .collect()
    }

    /// Returns the crates that the selected benchmarks measure: the libraries of the selected packages and of the members on which these depend, and
    /// the binaries of `programs`. Support crates ([`Self::support_packages`]) are not measured.
    pub fn measured_crates(
        &self,
        options: &CargoOptions,
        programs: &[ProgramBenchmark],
    ) -> Vec<MeasuredCrate> {
        let mut packages = self.selected(options);
        let support = self.support_packages(options);
        packages.retain(|package| !support.iter().any(|name| *package.name == *name));
        let mut place = 0;
        while let Some(package) = packages.get(place).copied() {
            for found in self.measured_dependencies(package) {
                if packages.iter().all(|one| one.id != found.id) {
                    packages.push(found);
                }
            }
            place += 1;
        }
        packages.sort_by(|one, other| one.name.cmp(&other.name));
        let is_linked =
            |target: &Target| is_library(target) && target.kind != [TargetKind::ProcMacro];
        let mut found = Vec::new();
        for package in packages {
            let targets = package.targets.iter();
            for target in targets.filter(|one| is_linked(one) || is_run_by(programs, package, one))
            {
                found.push(MeasuredCrate {
                    package: package.name.to_string(),
                    name: target.name.replace('-', "_"),
                    source: target.src_path.clone().into(),
                });
            }
        }
        found
    }

    /// Returns the names of the selected packages that only support the benches or tests of others: they have no benchmarks, and other members use
    /// them only as dev-dependencies. Packages that `options` name are never support.
    pub fn support_packages(&self, options: &CargoOptions) -> Vec<String> {
        let mut selected = self.selected(options);
        if !options.packages.is_empty() {
            selected.clear();
        }
        let members = self.members();
        selected.retain(|package| {
            let is_it = |found: &&Package| found.id == package.id;
            let mut others = members.iter().filter(|other| other.id != package.id);
            let is_measured =
                |other: &&Package| self.measured_dependencies(other).iter().any(is_it);
            let is_used = |other: &&Package| {
                let used = self.dependencies(other, DependencyKind::Development);
                used.iter().any(is_it)
            };
            others.clone().any(is_used) && !has_benches(package) && !others.any(is_measured)
        });
        let names = selected.into_iter().map(|package| package.name.to_string());
        names.collect()
    }

    /// Returns the members that are measured together with the library of `package`. Benches in a package without a library measure dev-dependencies.
    fn measured_dependencies(&self, package: &Package) -> Vec<&Package> {
        let mut found = self.dependencies(package, DependencyKind::Normal);
        if !package.targets.iter().any(is_library_with_functions) && has_benches(package) {
            found.extend(self.dependencies(package, DependencyKind::Development));
        }
        found
    }

    /// Returns the members on which `package` depends in this way.
    fn dependencies(&self, package: &Package, kind: DependencyKind) -> Vec<&Package> {
        let dependencies = package.dependencies.iter();
        let paths: Vec<_> = dependencies
            .filter(|one| one.kind == kind)
            .filter_map(|one| one.path.as_deref())
            .collect();
        let mut members = self.members();
        members.retain(|member| {
            let directory = member.manifest_path.parent();
            directory.is_some_and(|directory| paths.contains(&directory))
        });
        members
    }

    /// Returns specifications of all packages of the workspace, as `-p` takes them.
    pub(crate) fn package_specifications(&self) -> Vec<String> {
        let members = self.members().into_iter();
        members
            .map(|package| format!("{}@{}", package.name, package.version))
            .collect()
    }

    /// Returns the main source files of the targets that `cargo build` builds: the libraries and binaries of the selected packages.
    pub(crate) fn built_sources(&self, options: &CargoOptions) -> Vec<PathBuf> {
        let selected = self.selected(options).into_iter();
        selected
            .flat_map(|package| &package.targets)
            .filter(|target| is_library(target) || target.kind == [TargetKind::Bin])
            .map(|target| target.src_path.clone().into())
            .collect()
    }

    /// Lists all targets of the workspace, bench targets first. Each has the name of its package, its own name and its main source file.
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

    /// Returns the directories that cargo writes to: for final artifacts and for intermediate files.
    pub fn target_directories(&self) -> Vec<&Path> {
        let target = self.metadata.target_directory.as_std_path();
        let build = self.metadata.build_directory.as_ref();
        let build = build.map(|directory| directory.as_std_path());
        [target].into_iter().chain(build).collect()
    }

    /// Returns the directory of a package of the workspace.
    pub fn package_directory(&self, package: &str) -> Option<&Path> {
        let mut members = self.members().into_iter();
        let package = members.find(|one| *one.name == package)?;
        package.manifest_path.as_std_path().parent()
    }

    /// Returns the directories of the workspace's packages.
    pub fn package_directories(&self) -> Vec<&Path> {
        let packages = self.metadata.workspace_packages().into_iter();
        let manifests = packages.map(|package| package.manifest_path.as_std_path());
        manifests.filter_map(Path::parent).collect()
    }

    pub(super) fn selected(&self, options: &CargoOptions) -> Vec<&Package> {
        let mut selected = self.members();
        let names = |list: &[String], package: &Package| {
            list.iter().any(|name| matches_package(name, package))
        };
        if options.workspace {
            selected.retain(|package| !names(&options.exclude, package));
        } else if !options.packages.is_empty() {
            selected.retain(|package| names(&options.packages, package));
        } else if !self.metadata.workspace_default_members.is_missing() {
            // An old cargo does not report the default members.
            return self.metadata.workspace_default_packages();
        }
        selected
    }

    /// Reports whether plain `cargo bench` may run benchmarks of this target: a bench target, another target with `bench = true` in its manifest, or
    /// a library or binary with `#[bench]` functions.
    pub(super) fn may_hold_benches(package: &Package, target: &Target) -> bool {
        match &target.kind[..] {
            [TargetKind::Bench] => true,
            [TargetKind::Example | TargetKind::Test] => sets_bench_true(package, target),
            kind if is_library(target) || *kind == [TargetKind::Bin] => {
                has_bench_functions(package, target) || sets_bench_true(package, target)
            }
            _ => false,
        }
    }

    /// Returns every package of the workspace.
    pub(super) fn members(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }
}

/// Reports whether the sources of a target contain `#[bench]` functions. Reads only the target's main file, with one exception. For a library, and
/// for a binary in a package without a library, it reads all files below the main file's directory, unless that is the directory of `Cargo.toml`.
pub(super) fn has_bench_functions(package: &Package, target: &Target) -> bool {
    let is_alone = is_library(target)
        || (target.kind == [TargetKind::Bin] && !package.targets.iter().any(is_library));
    let beside = target.src_path.parent();
    let beside = beside.filter(|all| is_alone && Some(*all) != package.manifest_path.parent());
    has_libtest_benches(beside.unwrap_or(&target.src_path).as_std_path())
}

/// Reports whether the target is the binary of one of these programs.
pub(super) fn is_run_by(programs: &[ProgramBenchmark], package: &Package, target: &Target) -> bool {
    let mut programs = programs.iter();
    target.kind == [TargetKind::Bin]
        && programs.any(|one| *package.name == one.package && target.name == one.binary)
}

/// Reports whether a target of the package may hold benchmarks.
fn has_benches(package: &Package) -> bool {
    let mut targets = package.targets.iter();
    targets.any(|target| Workspace::may_hold_benches(package, target))
}

/// Reports whether a target is a library that may have functions. Some packages of benches have an empty library. Reads only its main file.
fn is_library_with_functions(target: &Target) -> bool {
    if !is_library(target) {
        return false;
    }
    let text = fs::read_to_string(&target.src_path).unwrap_or_default();
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let mut words = code.flat_map(str::split_whitespace);
    words.any(|word| matches!(word, "fn" | "mod"))
}

/// Reports whether these packages have a bench target of this name. Accepts every pattern, because cargo itself checks patterns.
fn may_have_bench(packages: &[&Package], name: &str) -> bool {
    is_glob(name) || bench_names(packages).iter().any(|known| known == name)
}

fn bench_names(packages: &[&Package]) -> Vec<String> {
    let targets = packages.iter().flat_map(|package| &package.targets);
    targets
        .filter(|target| target.kind == [TargetKind::Bench])
        .map(|target| target.name.clone())
        .collect()
}

/// The attribute of libtest's benches.
const ATTRIBUTE: &str = "#[bench]";

/// Reports whether the source file at `path`, or any file in the directory `path`, has a `#[bench]` function.
pub fn has_libtest_benches(path: &Path) -> bool {
    if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten();
        return entries
            .filter_map(Result::ok)
            .any(|entry| has_libtest_benches(&entry.path()));
    }
    let is_source = path.extension().is_some_and(|extension| extension == "rs");
    let has_attribute = |source: String| {
        let mut lines = source.lines();
        lines.any(|line| line.trim_start().starts_with(ATTRIBUTE))
    };
    is_source && fs::read_to_string(path).is_ok_and(has_attribute)
}

/// Reports whether the manifest sets `bench = true` for the target.
pub(super) fn sets_bench_true(package: &Package, target: &Target) -> bool {
    let text = fs::read_to_string(&package.manifest_path).unwrap_or_default();
    let Ok(document) = text.parse::<DocumentMut>() else {
        return false;
    };
    let key = match &target.kind[..] {
        [TargetKind::Bin] => "bin",
        [TargetKind::Example] => "example",
        [TargetKind::Test] => "test",
        _ if is_library(target) => "lib",
        _ => return false,
    };
    let is_on = |entry: &dyn TableLike| entry.get("bench").and_then(Item::as_bool) == Some(true);
    let is_named =
        |entry: &dyn TableLike| entry.get("name").and_then(Item::as_str) == Some(&target.name);
    match document.get(key) {
        Some(Item::ArrayOfTables(tables)) => {
            let mut tables = tables.iter();
            tables.any(|table| is_named(table) && is_on(table))
        }
        Some(Item::Value(toml_edit::Value::Array(values))) => {
            let mut tables = values.iter().filter_map(toml_edit::Value::as_inline_table);
            tables.any(|table| is_named(table) && is_on(table))
        }
        Some(table) => table.as_table_like().is_some_and(is_on),
        None => false,
    }
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
            drop(workspace.selected_packages(&options));
            drop(workspace.selected_bench_packages(&options));
            workspace.targets()
        };
        let whole = Workspace::parse(METADATA).expect("it is whole");
        let targets = look_at(&whole);
        assert!(targets.iter().any(|(_, target, _)| target == "costs"));
        perfcheck_mutations::attack("cargo's metadata", &[METADATA.to_vec()], |bytes| {
            drop(Workspace::parse(bytes).map(|workspace| look_at(&workspace)));
        });
    }

    #[test]
    fn measured_crates_are_reached_through_normal_dependencies_and_from_packages_of_benches() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let package = |name: &str, rest: &str, library: &str| {
            let manifest = format!(
                "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n{rest}"
            );
            fs::create_dir_all(root.join(name).join("src")).expect("a directory");
            fs::write(root.join(name).join("Cargo.toml"), manifest).expect("written");
            fs::write(root.join(name).join("src/lib.rs"), library).expect("written");
        };
        fs::write(
            root.join("Cargo.toml"),
            "[workspace]\nmembers = [\"*\"]\nresolver = \"3\"\n",
        )
        .expect("written");
        let bench = "[[bench]]\nname = \"all\"\npath = \"src/lib.rs\"\n";
        package(
            "text",
            &format!(
                "[dependencies]\nunicode = {{ path = \"../unicode\" }}\n[dev-dependencies]\ntext = {{ path = \".\" }}\ndata = {{ path = \"../data\" }}\n{bench}"
            ),
            "pub fn f() {}\n",
        );
        package("unicode", "", "pub fn f() {}\n");
        package("data", "", "pub fn f() {}\n");
        package(
            "gauges",
            &format!("[dev-dependencies]\nengine = {{ path = \"../engine\" }}\n{bench}"),
            "// The benches of the module fn.\n",
        );
        package(
            "engine",
            "[dev-dependencies]\nengine = { path = \".\" }\n",
            "pub mod parts {}\n",
        );
        package("alone", "", "pub fn f() {}\n");
        let find = |packages: &[&str]| {
            let options = CargoOptions {
                manifest_path: Some(root.join("Cargo.toml")),
                packages: packages.iter().map(ToString::to_string).collect(),
                offline: true,
                ..CargoOptions::default()
            };
            let cargo = Path::new(env!("CARGO"));
            let workspace = Workspace::load(cargo, &options, &Supervisor::default());
            let workspace = workspace.expect("a workspace");
            let crates = workspace.measured_crates(&options, &[]).into_iter();
            let names: Vec<String> = crates.map(|one| one.name).collect();
            (
                names.join(" "),
                workspace.support_packages(&options).join(" "),
            )
        };
        for (packages, crates, support) in [
            (&[][..], "alone engine gauges text unicode", "data"),
            (&["text"], "text unicode", ""),
            (&["text", "data"], "data text unicode", ""),
            (&["gauges"], "engine gauges", ""),
        ] {
            let expected = (crates.to_owned(), support.to_owned());
            assert_eq!(find(packages), expected, "{packages:?}");
        }
    }
}
