//! The build: `cargo bench --no-run`, read message by message.

#![expect(
    clippy::disallowed_methods,
    reason = "runs cargo, through the supervisor"
)]

use cargo_metadata::{Artifact, BuildScript, Message};
use std::ffi::OsString;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::bench_target::BenchTarget;
use super::error::CargoError;
use super::metadata::Workspace;
use super::options::CargoOptions;
use super::output::BuildOutput;
use super::toolchain::Toolchain;
use crate::process::{Interrupt, Leftovers, Supervisor};

/// How long cargo may take to put its house in order after Ctrl-C.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// The outcome of a build that worked.
#[derive(Debug, Clone)]
pub struct BuiltTargets {
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
) -> Result<BuiltTargets, CargoError> {
    let order = BuildOrder {
        cargo,
        workspace,
        options,
        variables: &[],
        supervisor,
        interrupt,
    };
    let output = order.carry_out()?;
    Ok(BuiltTargets {
        targets: output.targets(cargo, toolchain),
    })
}

/// What is to be built, and how.
#[derive(Debug, Clone, Copy)]
pub struct BuildOrder<'a> {
    /// The cargo to call.
    pub cargo: &'a Path,
    /// The workspace that is built.
    pub workspace: &'a Workspace,
    /// Which targets, and how.
    pub options: &'a CargoOptions,
    /// Variables for cargo, beside those that it inherits; `None`: not to be inherited.
    pub variables: &'a [(String, Option<OsString>)],
    /// Starts processes.
    pub supervisor: &'a Supervisor,
    /// Whether the user wants to stop.
    pub interrupt: &'a Interrupt,
}

impl BuildOrder<'_> {
    /// Runs cargo. Its own output goes to our stderr as it comes.
    pub fn carry_out(&self) -> Result<BuildOutput, CargoError> {
        let Some(options) = self.workspace.buildable(self.options) else {
            return Ok(BuildOutput::default());
        };
        let mut command = Command::new(self.cargo);
        command
            .args([
                "bench",
                "--no-run",
                "--message-format=json-render-diagnostics",
            ])
            .args(options.for_build())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        for (name, value) in self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let start_error = |source| CargoError::Start {
            program: self.cargo.to_owned(),
            source,
        };
        let mut group = self
            .supervisor
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
                recv(self.interrupt.channel()) -> _ => {
                    group.interrupt();
                    let _ = group.end(INTERRUPT_GRACE);
                    return Err(CargoError::Interrupted);
                }
            }
        }
        let status = group.end(Duration::from_hours(1)).map_err(start_error)?;
        if self.interrupt.requested() {
            return Err(CargoError::Interrupted);
        }
        if !status.success() {
            return Err(CargoError::Build(status.to_string()));
        }
        Ok(BuildOutput::new(self.workspace, artifacts, scripts))
    }
}
