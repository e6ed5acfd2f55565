//! The environment variables that we obey, read once.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that reads the environment"
)]

use std::env;
use std::path::PathBuf;

/// What the environment says to us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variables {
    /// `CARGO`: the cargo that called us, or that is to be called.
    pub cargo: PathBuf,
    /// `PERFCHECK_STORE`: the database.
    pub store: Option<PathBuf>,
    /// `PERFCHECK_SECRET`: the file with this user's secret.
    pub secret: Option<PathBuf>,
    /// The branch that a CI system names where the checkout is detached.
    pub ci_branch: Option<String>,
    /// Whether this is a CI runner (`CI`), whose machine is shared and changes.
    pub ci: bool,
    /// `CARGO_TERM_COLOR`
    pub term_color: Option<String>,
}

impl Variables {
    /// Reads them.
    pub fn read() -> Self {
        let text = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let path = |name| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        Self {
            cargo: path("CARGO").unwrap_or_else(|| "cargo".into()),
            store: path("PERFCHECK_STORE"),
            secret: path("PERFCHECK_SECRET"),
            ci_branch: text("GITHUB_HEAD_REF")
                .or_else(|| text("GITHUB_REF_NAME"))
                .or_else(|| text("CI_COMMIT_REF_NAME")),
            ci: text("CI").is_some(),
            term_color: text("CARGO_TERM_COLOR"),
        }
    }
}

/// A seed that nobody has used before.
pub fn fresh_seed() -> u64 {
    // Half of the range: a seed must survive programs whose integers are signed or are floats only in JSON.
    rand::random::<u64>() >> 11
}
