//! Options of `init`.

use clap::{Args, ValueEnum};

use super::origin::CrateOrigin;

const AFTER_INIT: &str = "\
Init looks at the bench targets of the selected packages and says which harness each of them has, whether it works as it is, and what to run next. Benches of Criterion, divan \
and libtest work unmodified. Nothing is built or measured.

Where the selected package has no benchmarks, --harness writes a first bench (benches/first.rs) and its entries in Cargo.toml, comments and formatting untouched. Without it, \
init prints what to add, unless the package depends on the harness already. A file that exists is never replaced.

Examples:
  cargo perfcheck init                                       say which benches work as they are
  cargo perfcheck init --harness path=../perfcheck/harness   write a first bench, with the harness of a clone
  cargo perfcheck init -p parser --harness git=ADDRESS       the same for the package `parser`, with a repository
  cargo perfcheck init --ci github --tool git=ADDRESS        write .github/workflows/perfcheck.yml
  cargo perfcheck init --ci gitlab --tool git=ADDRESS        write .gitlab-ci.yml, or print the job for the existing one

Exit status: 0, 2 usage or a file that exists, 5 a file could not be written.";

/// Options of `init`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_long_help = AFTER_INIT)]
pub struct InitOptions {
    /// Take the harness of a first bench from `path=DIRECTORY` or `git=ADDRESS`
    #[arg(long, value_name = "ORIGIN")]
    pub harness: Option<CrateOrigin>,
    /// Write a workflow for this CI system
    #[arg(long, value_name = "SYSTEM", requires = "tool")]
    pub ci: Option<CiSystem>,
    /// Make the CI job install the tool from `git=ADDRESS`, or from `path=DIRECTORY` in the repository
    #[arg(long, value_name = "ORIGIN", requires = "ci")]
    pub tool: Option<CrateOrigin>,
    /// Print the planned changes without writing them
    #[arg(long)]
    pub dry_run: bool,
}

/// A supported CI system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CiSystem {
    /// GitHub Actions
    #[value(name = "github")]
    GitHub,
    /// GitLab CI
    #[value(name = "gitlab")]
    GitLab,
}
