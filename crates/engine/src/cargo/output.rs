//! The results of a build as reported by cargo's messages: enough to start its bench executables later, from another place.
//!
//! Plain data that can be written to a file. The paths are cargo's until [`BuildOutput::relocate`] replaces those of copied files. The environment
//! of a process is computed anew for each start, because it depends on ours.

use cargo_metadata::{Artifact, BuildScript, CrateType, Package, TargetKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::bench_target::BenchTarget;
use super::error::CargoError;
use super::library_path::{BenchEnvironment, Binary, bench_variables, package_directory};
use super::metadata::Workspace;
use super::options::is_library;
use super::selection::SkippedTarget;
use super::toolchain::Toolchain;
use perfcheck_analysis::model::{SkipSupport, TargetFacts};

/// The parts of cargo's messages that are needed to start bench executables.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BuildOutput {
    packages: Vec<Package>,
    artifacts: Vec<Artifact>,
    scripts: Vec<BuildScript>,
    /// The bench targets that cargo skipped.
    pub skipped: Vec<SkippedTarget>,
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
        artifacts.retain(|artifact| {
            artifact.executable.is_some() || !dynamic_libraries(artifact).is_empty()
        });
        // Cargo's build order and whether it had to build an artifact are not part of the result.
        for artifact in &mut artifacts {
            artifact.fresh = false;
        }
        artifacts.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        let mut packages: Vec<Package> = workspace.members().into_iter().cloned().collect();
        packages.retain(|package| {
            artifacts
                .iter()
                .any(|artifact| artifact.package_id == package.id)
        });
        Self {
            packages,
            artifacts,
            scripts,
            skipped: Vec::new(),
        }
    }

    /// Returns the bench executables, sorted by package and target.
    pub fn executables(&self) -> Vec<BenchExecutable> {
        let mut found: Vec<BenchExecutable> = self
            .benches()
            .map(|(package, artifact, executable)| BenchExecutable {
                package: package.name.to_string(),
                target: target_name(artifact),
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
            .map(|path| super::library_path::strip_kind(path.as_str()).into())
            .filter(|path: &PathBuf| path.starts_with(target_directory))
            .collect();
        directories.sort();
        directories.dedup();
        directories
    }

    /// Replaces every path for which `moved` returns a new one, because a file was copied or a directory moved.
    pub fn relocate(&self, moved: &dyn Fn(&Path) -> Option<PathBuf>) -> Result<Self, CargoError> {
        let unreadable = |error: serde_json::Error| CargoError::Answer {
            program: "cargo bench".to_owned(),
            what: error.to_string(),
        };
        let mut value = serde_json::to_value(self).map_err(unreadable)?;
        relocate_value(&mut value, moved);
        serde_json::from_value(value).map_err(unreadable)
    }

    /// Returns the bench executables with everything needed to start them, sorted by package and target.
    pub fn targets(&self, cargo: &Path, toolchain: &Toolchain) -> Vec<BenchTarget> {
        let binaries: Vec<Binary> = self.artifacts.iter().filter_map(binary).collect();
        let surroundings = BenchEnvironment {
            cargo,
            toolchain,
            scripts: &self.scripts,
            binaries: &binaries,
        };
        let mut targets: Vec<BenchTarget> = self
            .benches()
            .map(|(package, artifact, executable)| {
                bench_target(&surroundings, package, artifact, executable)
            })
            .collect();
        targets.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
        targets
    }

    fn benches(&self) -> impl Iterator<Item = (&Package, &Artifact, &Path)> {
        self.artifacts
            .iter()
            .filter(|artifact| artifact.target.kind == [TargetKind::Bench] || is_unit(artifact))
            .filter_map(|artifact| {
                let executable = artifact.executable.as_ref()?;
                let package = self
                    .packages
                    .iter()
                    .find(|package| package.id == artifact.package_id)?;
                Some((package, artifact, executable.as_std_path()))
            })
    }
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
            let path = super::library_path::strip_kind(text);
            let kind = &text[..text.len() - path.len()];
            if path.starts_with('/')
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
        .filter(|name| matches!(name.extension(), Some("so" | "dylib")))
        .map(|name| name.clone().into_std_path_buf())
        .collect()
}

/// Reports whether the artifact runs the benchmarks of a target that is not a bench target.
fn is_unit(artifact: &Artifact) -> bool {
    artifact.profile.test && artifact.target.kind != [TargetKind::Bench]
}

/// Returns the target's name for benchmark ids. A bench target and another target may share a name, so the others get a prefix with a colon, which no
/// target name contains.
fn target_name(artifact: &Artifact) -> String {
    let name = &artifact.target.name;
    match &artifact.target.kind[..] {
        _ if !is_unit(artifact) => name.clone(),
        _ if is_library(&artifact.target) => format!("lib:{name}"),
        [TargetKind::Example] => format!("example:{name}"),
        [TargetKind::Test] => format!("test:{name}"),
        _ => format!("bin:{name}"),
    }
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
        target: target_name(artifact),
        program,
        first_arguments,
        directory: package_directory(package),
        variables: bench_variables(surroundings, package, executable),
        facts: TargetFacts { features },
        skipping: SkipSupport::Works,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutations::attack;
    use cargo_metadata::Message;

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
}
