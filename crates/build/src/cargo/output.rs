//! The results of a build as reported by cargo's messages: enough to start its bench executables later, from another place, as `cargo bench` would.
//!
//! Plain data that can be written to a file. The paths are cargo's until [`BuildOutput::relocate`] replaces those of copied files. Invariant: the
//! environment of a process is computed anew for each start, because it depends on ours.

#![expect(
    clippy::disallowed_methods,
    reason = "adds to the variables that the executables inherit"
)]

use cargo_metadata::camino::Utf8PathBuf;
use cargo_metadata::{Artifact, BuildScript, CrateType, Package, PackageId, TargetKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::error::CargoError;
use super::metadata::Workspace;
use super::options::is_library;
use super::selection::{SelectedTarget, SkippedTarget};
use super::toolchain::Toolchain;
use perfcheck_analysis::model::{ProgramBenchmark, SkipSupport, TargetFacts};
use perfcheck_host::os::{LIBRARY_PATH, fallback_library_directories};

/// The parts of cargo's messages that are needed to start bench executables.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BuildOutput {
    packages: Vec<Package>,
    artifacts: Vec<Artifact>,
    scripts: Vec<BuildScript>,
    /// The binaries that were built to be measured. Other binaries were built only because benches may start them.
    #[serde(default)]
    programs: Vec<SelectedTarget>,
    /// The bench targets that cargo skipped.
    pub skipped: Vec<SkippedTarget>,
    /// The features with which each package of the workspace was compiled. Kept builds of earlier versions have none.
    #[serde(default)]
    pub features: BTreeMap<String, BTreeSet<String>>,
    /// The compiler's messages that are still to be printed, colored for a terminal.
    #[serde(skip)]
    pub diagnostics: Vec<String>,
}

/// A bench executable of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchExecutable {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// The target's main source file.
    pub source: PathBuf,
    /// Path of the executable.
    pub executable: PathBuf,
}

impl BuildOutput {
    pub(super) fn new(
        workspace: &Workspace,
        mut artifacts: Vec<Artifact>,
        scripts: Vec<BuildScript>,
    ) -> Self {
        let mut packages: Vec<Package> = workspace.members().into_iter().cloned().collect();
        let mut features: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for artifact in &artifacts {
            let package = (packages.iter()).find(|package| package.id == artifact.package_id);
            if let Some(package) = package {
                let known = features.entry(package.name.to_string()).or_default();
                known.extend(artifact.features.iter().cloned());
            }
        }
        artifacts.retain(|artifact| {
            artifact.executable.is_some() || !dynamic_libraries(artifact).is_empty()
        });
        // Cargo's build order and whether it had to build an artifact are not part of the result.
        for artifact in &mut artifacts {
            artifact.fresh = false;
        }
        artifacts.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        packages.retain(|package| {
            artifacts
                .iter()
                .any(|artifact| artifact.package_id == package.id)
        });
        Self {
            packages,
            artifacts,
            scripts,
            programs: Vec::new(),
            skipped: Vec::new(),
            features,
            diagnostics: Vec::new(),
        }
    }

    /// Adds the output of a build of binaries. All of them are to be measured, and replace those that cargo built together with the benches.
    pub(super) fn add_programs(&mut self, built: Self) {
        let names = built.artifacts.iter().map(SelectedTarget::from_artifact);
        let is_program = |name: &SelectedTarget| name.kinds == [TargetKind::Bin.to_string()];
        self.programs = names.filter(is_program).collect();
        let is_replaced =
            |one: &Artifact| (built.artifacts.iter()).any(|new| new.filenames == one.filenames);
        self.artifacts.retain(|one| !is_replaced(one));
        self.artifacts.extend(built.artifacts);
        self.artifacts.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        let is_known = |package: &Package| self.packages.iter().any(|one| one.id == package.id);
        let packages: Vec<Package> = (built.packages.into_iter())
            .filter(|package| !is_known(package))
            .collect();
        self.packages.extend(packages);
        for (package, features) in built.features {
            self.features.entry(package).or_default().extend(features);
        }
        for script in built.scripts {
            if !self.scripts.contains(&script) {
                self.scripts.push(script);
            }
        }
        self.diagnostics.extend(built.diagnostics);
    }

    /// Returns the executables of benches and programs, sorted by package and target.
    pub fn executables(&self) -> Vec<BenchExecutable> {
        let mut found: Vec<BenchExecutable> = self
            .benches()
            .map(|(package, artifact, executable)| BenchExecutable {
                package: package.name.to_string(),
                target: self.target_name(artifact),
                source: artifact.target.src_path.clone().into(),
                executable: executable.to_owned(),
            })
            .collect();
        found.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
        found
    }

    /// Returns the ordinary binaries that were built together with the benches.
    pub fn binaries(&self) -> Vec<PathBuf> {
        self.artifacts
            .iter()
            .filter_map(binary)
            .map(|binary| binary.executable)
            .collect()
    }

    /// Returns the dynamic libraries that were built, except procedural macros.
    pub fn libraries(&self) -> Vec<PathBuf> {
        self.artifacts.iter().flat_map(dynamic_libraries).collect()
    }

    /// Returns the output directories of the build scripts of packages that have bench executables.
    pub fn output_directories(&self) -> Vec<PathBuf> {
        self.scripts
            .iter()
            .filter(|script| self.benches().any(|bench| bench.0.id == script.package_id))
            .map(|script| script.out_dir.clone().into_std_path_buf())
            .filter(|directory| !directory.as_os_str().is_empty())
            .collect()
    }

    /// Returns the directories inside `target_directory` that build scripts added to the linker's search path.
    pub fn linked_directories(&self, target_directory: &Path) -> Vec<PathBuf> {
        let mut directories: Vec<PathBuf> = self
            .scripts
            .iter()
            .flat_map(|script| &script.linked_paths)
            .map(|path| strip_kind(path.as_str()).into())
            .filter(|path: &PathBuf| path.starts_with(target_directory))
            .collect();
        directories.sort();
        directories.dedup();
        directories
    }

    /// Returns the output with each path replaced by the path that `moved` returns for it. A path stays if `moved` returns `None`.
    pub fn relocate(&self, moved: &dyn Fn(&Path) -> Option<PathBuf>) -> Result<Self, CargoError> {
        let unreadable = |error: serde_json::Error| CargoError::Answer {
            program: "cargo bench".to_owned(),
            what: error.to_string(),
        };
        let mut value = serde_json::to_value(self).map_err(unreadable)?;
        relocate_value(&mut value, moved);
        serde_json::from_value(value).map_err(unreadable)
    }

    /// Returns the executables with everything needed to start them, sorted by package and target. Of the programs, returns those that `programs`
    /// runs.
    pub fn targets(
        &self,
        cargo: &Path,
        toolchain: &Toolchain,
        programs: &[ProgramBenchmark],
    ) -> Vec<BenchTarget> {
        let binaries: Vec<Binary> = self.artifacts.iter().filter_map(binary).collect();
        let surroundings = BenchEnvironment {
            cargo,
            toolchain,
            scripts: &self.scripts,
            binaries: &binaries,
        };
        let mut targets: Vec<BenchTarget> = self
            .benches()
            .map(|(package, artifact, executable)| BenchTarget {
                target: self.target_name(artifact),
                programs: if self.is_program(artifact) {
                    programs_of(programs, package, artifact)
                } else {
                    Vec::new()
                },
                ..bench_target(&surroundings, package, artifact, executable)
            })
            .filter(|found| {
                let is_program = ProgramBenchmark::binary_of_target(&found.target).is_some();
                !is_program || found.has_programs()
            })
            .collect();
        targets.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
        targets
    }

    fn benches(&self) -> impl Iterator<Item = (&Package, &Artifact, &Path)> {
        self.artifacts
            .iter()
            .filter(|artifact| {
                artifact.target.kind == [TargetKind::Bench]
                    || is_unit(artifact)
                    || self.is_program(artifact)
            })
            .filter_map(|artifact| {
                let executable = artifact.executable.as_ref()?;
                let package = self
                    .packages
                    .iter()
                    .find(|package| package.id == artifact.package_id)?;
                Some((package, artifact, executable.as_std_path()))
            })
    }

    /// Reports whether the artifact is a binary that was built to be measured.
    fn is_program(&self, artifact: &Artifact) -> bool {
        !is_unit(artifact) && (self.programs).contains(&SelectedTarget::from_artifact(artifact))
    }

    /// Returns the target's name for benchmark ids. A bench target and another target may share a name. So the name of a target that is not a bench
    /// target gets a prefix with a colon, which no target name contains.
    fn target_name(&self, artifact: &Artifact) -> String {
        let name = &artifact.target.name;
        match &artifact.target.kind[..] {
            _ if self.is_program(artifact) => ProgramBenchmark::target_of_binary(name),
            _ if !is_unit(artifact) => name.clone(),
            _ if is_library(&artifact.target) => format!("lib:{name}"),
            [TargetKind::Example] => format!("example:{name}"),
            [TargetKind::Test] => format!("test:{name}"),
            _ => format!("bin:{name}"),
        }
    }
}

/// Returns the benchmarks of one program.
fn programs_of(
    programs: &[ProgramBenchmark],
    package: &Package,
    artifact: &Artifact,
) -> Vec<ProgramBenchmark> {
    let is_own = |one: &&ProgramBenchmark| {
        one.package == *package.name && one.binary == artifact.target.name
    };
    programs.iter().filter(is_own).cloned().collect()
}

fn sort_key(artifact: &Artifact) -> (&str, &str, &[cargo_metadata::camino::Utf8PathBuf]) {
    (
        &artifact.package_id.repr,
        &artifact.target.name,
        &artifact.filenames,
    )
}

fn relocate_value(value: &mut Value, moved: &dyn Fn(&Path) -> Option<PathBuf>) {
    match value {
        Value::String(text) => {
            // Search paths begin with the kind of library, as in `native=PATH`.
            let path = strip_kind(text);
            let kind = &text[..text.len() - path.len()];
            if Path::new(path).is_absolute()
                && let Some(new) = moved(Path::new(path))
            {
                *text = format!("{kind}{}", new.display());
            }
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| relocate_value(value, moved)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|value| relocate_value(value, moved)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn dynamic_libraries(artifact: &Artifact) -> Vec<PathBuf> {
    let dynamic = |kind: &CrateType| matches!(kind, CrateType::DyLib | CrateType::CDyLib);
    if !artifact.target.crate_types.iter().any(dynamic) {
        return Vec::new();
    }
    artifact
        .filenames
        .iter()
        .filter(|name| matches!(name.extension(), Some("so" | "dylib" | "dll")))
        .map(|name| name.clone().into_std_path_buf())
        .collect()
}

/// Reports whether the artifact runs the benchmarks of a target that is not a bench target.
fn is_unit(artifact: &Artifact) -> bool {
    artifact.profile.test && artifact.target.kind != [TargetKind::Bench]
}

fn binary(artifact: &Artifact) -> Option<Binary> {
    let executable = artifact.executable.as_ref()?;
    (artifact.target.kind == [TargetKind::Bin] && !is_unit(artifact)).then(|| Binary {
        package: artifact.package_id.clone(),
        name: artifact.target.name.clone(),
        executable: executable.clone().into(),
    })
}

fn bench_target(
    surroundings: &BenchEnvironment<'_>,
    package: &Package,
    artifact: &Artifact,
    executable: &Path,
) -> BenchTarget {
    let mut features = artifact.features.clone();
    features.sort();
    let (program, first_arguments) = match surroundings.toolchain.runner.split_first() {
        None => (executable.to_owned(), Vec::new()),
        Some((runner, arguments)) => {
            let mut arguments: Vec<OsString> = arguments.to_vec();
            arguments.push(executable.into());
            (runner.into(), arguments)
        }
    };
    BenchTarget {
        package: package.name.to_string(),
        target: artifact.target.name.clone(),
        program,
        first_arguments,
        directory: package_directory(package),
        variables: bench_variables(surroundings, package, executable),
        facts: TargetFacts {
            features,
            size: None,
        },
        skipping: SkipSupport::Works,
        programs: Vec::new(),
    }
}

/// The variables that tell an executable where its package is.
const MANIFEST_PATH: &str = "CARGO_MANIFEST_PATH";
const MANIFEST_DIRECTORY: &str = "CARGO_MANIFEST_DIR";

/// A bench executable, or a program, that is ready to be started.
#[derive(Debug, Clone)]
pub struct BenchTarget {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// Program to start: the executable, or the configured runner.
    pub program: PathBuf,
    /// The arguments of the runner, the last of which is the executable. Empty if there is no runner.
    pub first_arguments: Vec<OsString>,
    /// Working directory.
    pub directory: PathBuf,
    /// The environment variables to set. A variable without a value is removed.
    pub variables: BTreeMap<String, Option<OsString>>,
    /// Facts that decide whether two runs can be compared.
    pub facts: TargetFacts,
    /// Whether a process of this target still works if it skips benchmarks. The discovery of the benchmarks finds that out.
    pub skipping: SkipSupport,
    /// The benchmarks of a program, each of which runs it with other arguments. Empty for a bench executable, which has its benchmarks itself.
    pub programs: Vec<ProgramBenchmark>,
}

impl BenchTarget {
    /// Returns the path of the executable itself, even if a runner starts it.
    pub fn executable(&self) -> &Path {
        self.first_arguments
            .last()
            .map_or(self.program.as_path(), Path::new)
    }

    /// Reports whether the executable is run as programs, and not as a bench.
    pub fn has_programs(&self) -> bool {
        !self.programs.is_empty()
    }

    /// Makes the program run in the directory of `other` and find its package there. Both then read the same files. Copies of a file may differ in
    /// time by some per cent, because they lie in other pages of memory.
    pub fn move_to_directory_of(&mut self, other: &Self) {
        self.directory.clone_from(&other.directory);
        for name in [MANIFEST_PATH, MANIFEST_DIRECTORY] {
            if let Some(value) = other.variables.get(name) {
                self.variables.insert(name.to_owned(), value.clone());
            }
        }
    }

    /// Makes the program run in the directory of its package in `workspace`, if that has the package.
    pub fn move_to_workspace(&mut self, workspace: &Workspace) {
        let Some(directory) = workspace.package_directory(&self.package) else {
            return;
        };
        let manifest = directory.join("Cargo.toml");
        for (name, path) in [(MANIFEST_PATH, &*manifest), (MANIFEST_DIRECTORY, directory)] {
            self.variables.insert(name.to_owned(), Some(path.into()));
        }
        self.directory = directory.to_owned();
    }

    /// Replaces the executable and keeps everything else.
    #[must_use]
    pub fn with_executable(mut self, executable: PathBuf) -> Self {
        match self.first_arguments.last_mut() {
            Some(behind_runner) => *behind_runner = executable.into(),
            None => self.program = executable,
        }
        self
    }
}

/// The results of a build that determine which environment variables cargo sets for an executable.
pub(super) struct BenchEnvironment<'a> {
    pub(super) cargo: &'a Path,
    pub(super) toolchain: &'a Toolchain,
    /// Every build script that ran, in cargo's order.
    pub(super) scripts: &'a [BuildScript],
    /// Every binary that was built.
    pub(super) binaries: &'a [Binary],
}

/// A binary that cargo built together with the benches of its package.
pub(super) struct Binary {
    pub(super) package: PackageId,
    pub(super) name: String,
    pub(super) executable: PathBuf,
}

/// Returns the environment variables that `cargo bench` would set for an executable of `package`, which lies in a directory `deps`.
///
/// A variable without a value must be removed. If cargo started our parent process, we have inherited the variables of another package.
pub(super) fn bench_variables(
    surroundings: &BenchEnvironment<'_>,
    package: &Package,
    executable: &Path,
) -> BTreeMap<String, Option<OsString>> {
    let mut variables: BTreeMap<String, Option<OsString>> = env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| {
            name.starts_with("CARGO_PKG_") || name == "OUT_DIR" || name.starts_with("CARGO_BIN_")
        })
        .map(|name| (name, None))
        .collect();
    for configured in &surroundings.toolchain.configured_environment {
        if configured.force || env::var_os(&configured.name).is_none() {
            let value = Some(configured.value.clone());
            variables.insert(configured.name.clone(), value);
        }
    }
    if let Some(script) = surroundings
        .scripts
        .iter()
        .find(|script| script.package_id == package.id)
    {
        for (name, value) in &script.env {
            variables.insert(name.clone(), Some(value.into()));
        }
        if !script.out_dir.as_str().is_empty() {
            variables.insert("OUT_DIR".to_owned(), Some(script.out_dir.clone().into()));
        }
    }
    let mut set = |name: &str, value: OsString| {
        variables.insert(name.to_owned(), Some(value));
    };
    let version = &package.version;
    let text = |option: &Option<String>| OsString::from(option.clone().unwrap_or_default());
    let path = |option: &Option<Utf8PathBuf>| {
        OsString::from(
            option
                .as_ref()
                .map_or_else(String::new, ToString::to_string),
        )
    };
    set("CARGO", surroundings.cargo.into());
    set(MANIFEST_PATH, package.manifest_path.clone().into());
    set(MANIFEST_DIRECTORY, package_directory(package).into());
    set("CARGO_PKG_NAME", package.name.to_string().into());
    set("CARGO_PKG_VERSION", version.to_string().into());
    set("CARGO_PKG_VERSION_MAJOR", version.major.to_string().into());
    set("CARGO_PKG_VERSION_MINOR", version.minor.to_string().into());
    set("CARGO_PKG_VERSION_PATCH", version.patch.to_string().into());
    set("CARGO_PKG_VERSION_PRE", version.pre.as_str().into());
    set("CARGO_PKG_AUTHORS", package.authors.join(":").into());
    set("CARGO_PKG_DESCRIPTION", text(&package.description));
    set("CARGO_PKG_HOMEPAGE", text(&package.homepage));
    set("CARGO_PKG_REPOSITORY", text(&package.repository));
    set("CARGO_PKG_LICENSE", text(&package.license));
    set("CARGO_PKG_LICENSE_FILE", path(&package.license_file));
    set("CARGO_PKG_README", path(&package.readme));
    let rust_version = package.rust_version.as_ref().map(ToString::to_string);
    set("CARGO_PKG_RUST_VERSION", text(&rust_version));
    for binary in surroundings.binaries {
        if binary.package == package.id {
            let name = format!("CARGO_BIN_EXE_{}", binary.name);
            set(&name, binary.executable.clone().into());
        }
    }
    if let Ok(joined) = env::join_paths(library_directories(surroundings, executable)) {
        set(LIBRARY_PATH, joined);
    }
    variables
}

/// Returns the package's directory, which is the working directory of its executables.
pub(super) fn package_directory(package: &Package) -> PathBuf {
    let manifest = package.manifest_path.as_std_path();
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Strips the kind of library (as in `native=PATH`) from a search path of a build script.
pub(super) fn strip_kind(path: &str) -> &str {
    match path.split_once('=') {
        Some(("dependency" | "crate" | "native" | "framework" | "all", path)) => path,
        _ => path,
    }
}

/// Lists the directories in which the dynamic linker searches for libraries, in cargo's order: those that build scripts added inside the target
/// directory, the parent of the executable's directory, the executable's directory, and the one of the standard library. The directories of the
/// inherited variable follow.
fn library_directories(surroundings: &BenchEnvironment<'_>, executable: &Path) -> Vec<PathBuf> {
    let deps = executable.parent().unwrap_or(executable);
    let output = deps.parent().unwrap_or(deps);
    let mut directories: Vec<PathBuf> = surroundings
        .scripts
        .iter()
        .flat_map(|script| &script.linked_paths)
        .filter_map(|path| {
            let path = Path::new(strip_kind(path.as_str()));
            path.starts_with(output).then(|| path.into())
        })
        .collect();
    directories.sort();
    directories.dedup();
    directories.push(output.to_owned());
    directories.push(deps.to_owned());
    directories.push(surroundings.toolchain.target_libraries.clone());
    let before = env::var_os(LIBRARY_PATH).unwrap_or_default();
    prepend_paths(directories, env::split_paths(&before).collect())
}

/// Appends `before` to `ours`, duplicates included. If `before` already begins with `ours`, a cargo process has started this one, and `before` is
/// returned unchanged.
fn prepend_paths(mut ours: Vec<PathBuf>, before: Vec<PathBuf>) -> Vec<PathBuf> {
    if before.starts_with(&ours) {
        return before;
    }
    if before.is_empty() {
        ours.extend(fallback_library_directories());
    }
    ours.extend(before);
    ours
}

#[cfg(test)]
mod tests {
    use cargo_metadata::Message;

    use super::*;
    use perfcheck_mutations::attack;

    /// Messages of cargo 1.95 about a small package with a bench target, a binary, a library and a build script.
    const MESSAGES: &[u8] = include_bytes!("corpus/messages.jsonl");
    const METADATA: &[u8] = include_bytes!("corpus/metadata.json");

    fn built(messages: &[u8], workspace: &Workspace) -> BuildOutput {
        let (mut artifacts, mut scripts) = (Vec::new(), Vec::new());
        for message in Message::parse_stream(messages).map_while(Result::ok) {
            match message {
                Message::CompilerArtifact(artifact) => artifacts.push(artifact),
                Message::BuildScriptExecuted(script) => scripts.push(script),
                _ => {}
            }
        }
        BuildOutput::new(workspace, artifacts, scripts)
    }

    #[test]
    fn a_damaged_message_of_cargo_is_read_or_refused() {
        let workspace = Workspace::parse(METADATA).expect("it is whole");
        let whole = built(MESSAGES, &workspace);
        let names: Vec<String> = (whole.executables().into_iter())
            .map(|bench| format!("{}/{}", bench.package, bench.target))
            .collect();
        assert_eq!(names, ["small/bin:small", "small/costs", "small/lib:small"]);
        assert_eq!(
            whole.binaries(),
            [Path::new("/home/me/target/release/small")]
        );
        let moved = |path: &Path| Some(Path::new("/elsewhere").join(path.file_name()?));
        attack("cargo's messages", &[MESSAGES.to_vec()], |messages| {
            let found = built(messages, &workspace);
            drop((found.executables(), found.binaries(), found.libraries()));
            drop(found.output_directories());
            drop(found.linked_directories(Path::new("/home/me/target")));
            let found = found.relocate(&moved).map(|found| found.executables());
            drop(found);
        });
    }

    #[test]
    fn what_was_set_before_follows_unless_it_begins_with_ours() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let joined = |ours: &[&str], before: &[&str]| prepend_paths(paths(ours), paths(before));
        assert_eq!(
            joined(&["a", "b"], &["b", "c"]),
            paths(&["a", "b", "b", "c"])
        );
        assert_eq!(
            joined(&["a", "b"], &["a", "b", "c"]),
            paths(&["a", "b", "c"])
        );
    }
}
