//! A bench executable with all that it takes to launch it as `cargo bench` would.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use perfcheck_analysis::model::{Skipping, TargetFacts};

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
    /// Whether its processes may pass over benchmarks; discovery finds out.
    pub skipping: Skipping,
}

impl BenchTarget {
    /// The executable itself, behind any runner.
    pub fn executable(&self) -> &Path {
        self.first_arguments
            .last()
            .map_or(self.program.as_path(), Path::new)
    }

    /// The same with another executable.
    #[must_use]
    pub fn with_executable(mut self, executable: PathBuf) -> Self {
        match self.first_arguments.last_mut() {
            Some(behind_runner) => *behind_runner = executable.into(),
            None => self.program = executable,
        }
        self
    }
}
