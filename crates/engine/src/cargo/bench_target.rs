//! A bench executable with everything needed to start it as `cargo bench` would.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use perfcheck_analysis::model::{SkipSupport, TargetFacts};

/// A bench executable that is ready to be started.
#[derive(Debug, Clone)]
pub struct BenchTarget {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// Program to start: the executable, or the configured runner.
    pub program: PathBuf,
    /// Arguments of the runner, with the executable as the last; empty without a runner.
    pub first_arguments: Vec<OsString>,
    /// Working directory.
    pub directory: PathBuf,
    /// Environment variables to set; `None` removes a variable.
    pub variables: BTreeMap<String, Option<OsString>>,
    /// Facts that decide whether two runs can be compared.
    pub facts: TargetFacts,
    /// Whether its processes can skip benchmarks; discovery finds out.
    pub skipping: SkipSupport,
}

impl BenchTarget {
    /// Returns the path of the executable itself, even if a runner starts it.
    pub fn executable(&self) -> &Path {
        self.first_arguments
            .last()
            .map_or(self.program.as_path(), Path::new)
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
