//! The program valgrind of this machine.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use crate::process::{RunError, Supervisor};

/// The program, which is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Valgrind {
    version: String,
}

/// Why nothing can be counted with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoValgrind {
    /// It is not installed.
    #[error("valgrind is not installed")]
    Missing,
    /// It is there and does not work.
    #[error("valgrind does not work: {0}")]
    Broken(String),
}

/// How it is called.
const PROGRAM: &str = "valgrind";

/// By what counts are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedBy {
    /// The function.
    Function,
    /// The function and its callers.
    Stack,
}

/// So many callers of a function tell its counts apart. A dozen of them call the harness, the others are the benchmark's. Functions that call one another
/// in turn make a stack of each depth, so there is an end.
pub const MOST_CALLERS: usize = 64;

impl Valgrind {
    /// Looks for it where programs are.
    pub fn find(supervisor: &Supervisor) -> Result<Self, NoValgrind> {
        let asked = supervisor
            .output(Command::new(PROGRAM).arg("--version"))
            .map_err(|error| match error {
                RunError::Start(source) if source.kind() == ErrorKind::NotFound => {
                    NoValgrind::Missing
                }
                // The command that asked is interrupted, too.
                other => NoValgrind::Broken(other.to_string()),
            })?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if !asked.status.success() {
            return Err(NoValgrind::Broken(said(&asked.stderr)));
        }
        let version = said(&asked.stdout);
        Ok(Self {
            version: version.trim_start_matches("valgrind-").to_owned(),
        })
    }

    /// Such as `3.19.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What runs `program` with its arguments under callgrind, which writes into `directory`.
    pub(super) fn command(
        directory: &Path,
        bounds: &[OsString],
        counted_by: CountedBy,
        program: &Path,
        arguments: &[OsString],
    ) -> (OsString, Vec<OsString>) {
        let file = |option: &str, name: &str| {
            let mut option = OsString::from(option);
            option.push(directory.join(name));
            option
        };
        let fixed = [
            "--tool=callgrind",
            "--quiet",
            // No pipes in the directory of temporary files.
            "--vgdb=no",
            "--demangle=no",
            "--dump-line=no",
            // A function that calls itself is one, under its own name.
            "--separate-recs=1",
        ];
        let mut all: Vec<OsString> = fixed.map(OsString::from).to_vec();
        all.push(file("--callgrind-out-file=", "%p"));
        // What it has to say would be taken for output of the bench.
        all.push(file("--log-file=", "log.%p"));
        all.extend_from_slice(bounds);
        if counted_by == CountedBy::Stack {
            all.push(format!("--separate-callers={MOST_CALLERS}").into());
        }
        all.push("--".into());
        all.push(program.into());
        all.extend_from_slice(arguments);
        (PROGRAM.into(), all)
    }
}
