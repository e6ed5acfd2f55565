//! Facts about where and how a run was measured.

use serde::{Deserialize, Serialize};

/// The machine. Changes of `cpu` or `architecture` make runs incomparable; the others only warn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostFacts {
    /// CPU model, as the system names it.
    pub cpu: String,
    /// Instruction set, e.g. `x86_64`.
    pub architecture: String,
    /// Operating system, e.g. `linux`.
    pub os: String,
    /// Logical processors this process may use.
    pub cores: u32,
    /// Kernel release.
    pub kernel: String,
    /// Frequency governor of the first processor, where the system has one.
    pub governor: Option<String>,
    /// Microcode revision, where the system tells.
    pub microcode: Option<String>,
    /// Whether others use the machine, too: a virtual machine, a container host or a CI runner. `None` where nobody said so of imported values.
    pub shared: Option<bool>,
}

/// How the executables were built. Any difference makes runs incomparable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuildFacts {
    /// First line of `rustc -vV`, e.g. `rustc 1.95.0 (59807616e 2026-04-14)`.
    pub rustc: String,
    /// Target triple.
    pub target: String,
    /// Cargo profile.
    pub profile: String,
    /// Effective flags, separated by spaces.
    pub rustflags: String,
}

/// All facts of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// The machine.
    pub host: HostFacts,
    /// The build.
    pub build: BuildFacts,
}

/// The first digits of a commit, as people are told it.
pub fn first_digits(hash: &str, digits: usize) -> &str {
    hash.get(..digits).unwrap_or(hash)
}

/// A commit, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Commit {
    /// Full hash.
    pub hash: String,
    /// Name of the author.
    pub author: String,
    /// When it was written, RFC 3339.
    pub authored: String,
    /// First line of the message.
    pub subject: String,
}

impl Commit {
    /// The first digits of the hash.
    pub fn short(&self) -> &str {
        first_digits(&self.hash, 10)
    }
}

/// The state of the checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GitState {
    /// Full hash of `HEAD`.
    pub commit: String,
    /// Branch, `None` for a detached `HEAD`.
    pub branch: Option<String>,
    /// Whether tracked files differ from `HEAD`.
    pub dirty: bool,
}

impl GitState {
    /// The first digits of the commit.
    pub fn short(&self) -> &str {
        first_digits(&self.commit, 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn a_commit_is_called_by_its_first_ten_digits() {
        let hash = "59807616e1a2b3c4d5e6f708192a3b4c5d6e7f80";
        let commit = Commit {
            hash: hash.to_owned(),
            ..Commit::default()
        };
        let state = GitState {
            commit: "59807".to_owned(),
            ..GitState::default()
        };
        assert_eq!((commit.short(), state.short()), ("59807616e1", "59807"));
    }
}
