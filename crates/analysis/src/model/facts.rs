//! Facts about the machine, the build and the checkout of a run.

use serde::{Deserialize, Serialize};

/// The machine. A different `cpu` or `architecture` makes runs incomparable; other differences cause warnings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostFacts {
    /// CPU model, as reported by the system.
    pub cpu: String,
    /// Instruction set, e.g. `x86_64`.
    pub architecture: String,
    /// Operating system, e.g. `linux`.
    pub os: String,
    /// Logical processors that this process may use.
    pub cores: u32,
    /// Kernel release.
    pub kernel: String,
    /// Frequency governor of the first processor, if any.
    pub governor: Option<String>,
    /// Microcode revision, if known.
    pub microcode: Option<String>,
    /// Whether the machine is shared with others: a virtual machine, a container host or a CI runner. `None` if an import does not say so.
    pub shared: Option<bool>,
}

/// The build of the executables. Any difference makes runs incomparable.
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

/// The environment of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// The machine.
    pub host: HostFacts,
    /// The build.
    pub build: BuildFacts,
}

/// Returns the first digits of a commit hash, for people.
pub fn shorten_hash(hash: &str, digits: usize) -> &str {
    hash.get(..digits).unwrap_or(hash)
}

/// A commit, described for people.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Commit {
    /// Full hash.
    pub hash: String,
    /// Name of the author.
    pub author: String,
    /// Time at which it was authored, RFC 3339.
    pub authored: String,
    /// First line of the message.
    pub subject: String,
}

impl Commit {
    /// Returns the first digits of the hash.
    pub fn short(&self) -> &str {
        shorten_hash(&self.hash, 10)
    }
}

/// The state of the checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GitState {
    /// Full hash of `HEAD`.
    pub commit: String,
    /// Branch; `None` for a detached `HEAD`.
    pub branch: Option<String>,
    /// Whether tracked files differ from `HEAD`.
    pub dirty: bool,
}

impl GitState {
    /// Returns the first digits of the commit.
    pub fn short(&self) -> &str {
        shorten_hash(&self.commit, 10)
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
