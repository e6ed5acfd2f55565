//! The build: `cargo bench --no-run`, read message by message.

#![expect(
    clippy::disallowed_methods,
    reason = "runs cargo, through the supervisor"
)]

use cargo_metadata::{Artifact, BuildScript, Message, TargetKind};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::error::CargoError;
use super::library_path::{Binary, Surroundings, directory, variables};
use super::metadata::Workspace;
use super::options::CargoOptions;
use super::toolchain::Toolchain;
use crate::model::TargetFacts;
use crate::process::{Interrupt, Leftovers, Supervisor};

/// How long cargo may take to put its house in order after Ctrl-C.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// A bench executable, ready to be launched.
#[derive(Debug, Clone)]
pub struct BenchTarget {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// What to start: the executable, or the configured runner.
    pub program: PathBuf,
    /// Arguments of the runner, ending with the executable; empty without a runner.
    pub first_arguments: Vec<OsString>,
    /// Working directory.
    pub directory: PathBuf,
    /// Variables to set (`None`: to remove).
    pub variables: BTreeMap<String, Option<OsString>>,
    /// Facts for comparability.
    pub facts: TargetFacts,
}

/// The outcome of a build that worked.
#[derive(Debug, Clone)]
pub struct Built {
    /// By package and target name.
    pub targets: Vec<BenchTarget>,
}

/// Builds the bench targets that `options` select. Cargo's own output goes to our stderr as it comes.
pub fn build(
    cargo: &Path,
    workspace: &Workspace,
    toolchain: &Toolchain,
    options: &CargoOptions,
    supervisor: &Supervisor,
    interrupt: &Interrupt,
) -> Result<Built, CargoError> {
    let mut command = Command::new(cargo);
    command
        .args([
            "bench",
            "--no-run",
            "--message-format=json-render-diagnostics",
        ])
        .args(options.for_build())
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let start_error = |source| CargoError::Start {
        program: cargo.to_owned(),
        source,
    };
    let mut group = supervisor
        .spawn(&mut command, Leftovers::Leave)
        .map_err(start_error)?;
    let Some(messages) = group.leader().stdout.take() else {
        return Err(start_error(std::io::ErrorKind::BrokenPipe.into()));
    };
    let (sender, received) = crossbeam_channel::unbounded();
    thread::spawn(move || {
        for message in Message::parse_stream(BufReader::new(messages)).map_while(Result::ok) {
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    let mut artifacts: Vec<Artifact> = Vec::new();
    let mut scripts: Vec<BuildScript> = Vec::new();
    loop {
        crossbeam_channel::select! {
            recv(received) -> message => match message {
                Ok(Message::CompilerArtifact(artifact)) => artifacts.push(artifact),
                Ok(Message::BuildScriptExecuted(script)) => scripts.push(script),
                Ok(_) => {}
                Err(_) => break,
            },
            recv(interrupt.channel()) -> _ => {
                group.interrupt();
                let _ = group.end(INTERRUPT_GRACE);
                return Err(CargoError::Interrupted);
            }
        }
    }
    let status = group.end(Duration::from_hours(1)).map_err(start_error)?;
    if interrupt.requested() {
        return Err(CargoError::Interrupted);
    }
    if !status.success() {
        return Err(CargoError::Build {
            status: status.to_string(),
        });
    }
    let binaries: Vec<Binary> = artifacts.iter().filter_map(binary).collect();
    let surroundings = Surroundings {
        cargo,
        toolchain,
        scripts: &scripts,
        binaries: &binaries,
    };
    let mut targets: Vec<BenchTarget> = artifacts
        .into_iter()
        .filter(|artifact| artifact.target.kind == [TargetKind::Bench])
        .filter_map(|artifact| bench_target(&surroundings, workspace, artifact))
        .collect();
    targets.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
    Ok(Built { targets })
}

fn binary(artifact: &Artifact) -> Option<Binary> {
    let executable = artifact.executable.as_ref()?;
    (artifact.target.kind == [TargetKind::Bin]).then(|| Binary {
        package: artifact.package_id.clone(),
        name: artifact.target.name.clone(),
        executable: executable.clone().into(),
    })
}

fn bench_target(
    surroundings: &Surroundings<'_>,
    workspace: &Workspace,
    artifact: Artifact,
) -> Option<BenchTarget> {
    let package = workspace.package(&artifact.package_id)?;
    let executable = artifact.executable?.into_std_path_buf();
    let mut features = artifact.features;
    features.sort();
    let variables = variables(surroundings, package, &executable);
    let (program, first_arguments) = match surroundings.toolchain.runner.split_first() {
        None => (executable, Vec::new()),
        Some((runner, arguments)) => {
            let mut arguments = arguments.to_vec();
            arguments.push(executable.into());
            (runner.into(), arguments)
        }
    };
    Some(BenchTarget {
        package: package.name.to_string(),
        target: artifact.target.name,
        program,
        first_arguments,
        directory: directory(package),
        variables,
        facts: TargetFacts { features },
    })
}
