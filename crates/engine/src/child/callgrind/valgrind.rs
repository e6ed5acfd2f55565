//! The installed valgrind.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use crate::process::{RunError, Supervisor};

/// An installed valgrind that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Valgrind {
    version: String,
}

/// The reason why valgrind cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValgrindError {
    /// Valgrind is not installed.
    #[error("valgrind is not installed")]
    Missing,
    /// Valgrind is installed, but does not work.
    #[error("valgrind does not work: {0}")]
    Broken(String),
}

/// Name of the executable.
const PROGRAM: &str = "valgrind";

/// The key by which instructions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountBy {
    /// By function.
    Function,
    /// By function and its callers.
    Stack,
}

/// Number of callers by which the counts of a function are separated. About a dozen of them belong to the harness,
/// the rest to the benchmark. The number is limited because mutual recursion has a different stack at every depth.
pub const MOST_CALLERS: usize = 64;

impl Valgrind {
    /// Searches for valgrind on the `PATH` and runs `valgrind --version`.
    pub fn find(supervisor: &Supervisor) -> Result<Self, ValgrindError> {
        let asked = supervisor
            .output(Command::new(PROGRAM).arg("--version"))
            .map_err(|error| match error {
                RunError::Start(source) if source.kind() == ErrorKind::NotFound => {
                    ValgrindError::Missing
                }
                // An interrupt ends up here as well; the calling command notices the interrupt by itself.
                other => ValgrindError::Broken(other.to_string()),
            })?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if !asked.status.success() {
            return Err(ValgrindError::Broken(said(&asked.stderr)));
        }
        let version = said(&asked.stdout);
        Ok(Self {
            version: version.trim_start_matches("valgrind-").to_owned(),
        })
    }

    /// Returns the version, such as `3.19.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the command line that runs `program` with its arguments under callgrind, which writes its files into
    /// `directory`.
    pub(super) fn command_line(
        directory: &Path,
        bounds: &[OsString],
        counted_by: CountBy,
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
            // Do not create pipes in the temporary directory.
            "--vgdb=no",
            "--demangle=no",
            "--dump-line=no",
            // Count a recursive function once, under its own name.
            "--separate-recs=1",
        ];
        let mut all: Vec<OsString> = fixed.map(OsString::from).to_vec();
        all.push(file("--callgrind-out-file=", "%p"));
        // On stderr, valgrind's messages would be mistaken for output of the bench.
        all.push(file("--log-file=", "log.%p"));
        all.extend_from_slice(bounds);
        if counted_by == CountBy::Stack {
            all.push(format!("--separate-callers={MOST_CALLERS}").into());
        }
        all.push("--".into());
        all.push(program.into());
        all.extend_from_slice(arguments);
        (PROGRAM.into(), all)
    }
}
