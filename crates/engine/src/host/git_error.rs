//! Errors of git: known situations are explained, with advice.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::process::RunError;

/// The oldest supported version of git.
const OLDEST_GIT: &str = "2.30";

/// An error of a git command.
#[derive(Debug, Clone, thiserror::Error)]
pub enum GitError {
    /// Git could not be started.
    #[error(
        "could not start `git`: {0}\n  help: install git {OLDEST_GIT} or newer; without it there is neither a commit nor a comparison with a revision"
    )]
    Start(Arc<io::Error>),
    /// The directory is in no repository.
    #[error(
        "`{}` is in no git repository\n  help: a revision can be measured in a clone only; `--baseline NAME` compares with a stored run",
        .0.display()
    )]
    NotARepository(PathBuf),
    /// The repository belongs to another user, so git refuses to work in it.
    #[error(
        "git does not work in `{}`, because the repository belongs to another user\n  help: `{exception}` makes an exception for it",
        directory.display()
    )]
    ForeignOwner {
        /// The directory.
        directory: PathBuf,
        /// The command that git suggests.
        exception: String,
    },
    /// The repository has no work tree, or git cannot read its configuration or data.
    #[error(
        "git does not work in `{directory}`: {said}\n  help: `git -C {directory} status` has to work",
        directory = directory.display()
    )]
    Unusable {
        /// The directory.
        directory: PathBuf,
        /// Git's stderr.
        said: String,
    },
    /// The git is too old and does not know an option.
    #[error(
        "`git {command}` failed: {said}\n  help: git {OLDEST_GIT} or newer is needed, and this is {version}"
    )]
    TooOld {
        /// The subcommand and its arguments.
        command: String,
        /// Git's stderr.
        said: String,
        /// Git's version, in its own words.
        version: String,
    },
    /// The name denotes no commit.
    #[error("there is no revision `{revision}` in this repository\n  help: {hint}")]
    UnknownRevision {
        /// The name that the user gave.
        revision: String,
        /// Advice.
        hint: String,
    },
    /// The two commits have no common history, as far as the clone has it.
    #[error("HEAD and `{branch}` have no common ancestor\n  help: {hint}")]
    NoMergeBase {
        /// The name that the user gave.
        branch: String,
        /// Advice.
        hint: String,
    },
    /// The end of a range is not a descendant of its beginning.
    #[error(
        "`{good}` is no ancestor of `{bad}`\n  help: the first is to be the older one of the two"
    )]
    NotAncestor {
        /// The beginning.
        good: String,
        /// The end.
        bad: String,
    },
    /// The user's clone lacks the commit of a submodule.
    #[error(
        "the submodule `{path}` has not got the commit {commit}\n  help: `git -C {path} fetch origin {commit}` brings it",
        path = path.display()
    )]
    MissingSubmoduleCommit {
        /// Path of the submodule in the checkout.
        path: PathBuf,
        /// The missing commit.
        commit: String,
    },
    /// A filter program failed while git wrote a file.
    #[error(
        "the git filter `{filter}` failed for `{file}` of {commit}\n{said}\n  help: make the command work that `git config --get-regexp '^filter.{filter}'` prints{}",
        lfs_help(filter, commit)
    )]
    Filter {
        /// Name of the filter in git's configuration.
        filter: String,
        /// The file.
        file: String,
        /// The commit that was written.
        commit: String,
        /// The stderr of git and the filter.
        said: String,
    },
    /// Git could not write a file in the cache.
    #[error(
        "git cannot write to the cache\n{said}\n  help: the cache can be removed at any time; PERFCHECK_CACHE names another place"
    )]
    NotWritten {
        /// Git's stderr.
        said: String,
    },
    /// Git failed for another reason.
    #[error(
        "`git {command}` failed\n{said}\n  help: `git fsck` names objects that are missing or damaged, `git fetch` brings what the remote repository has"
    )]
    Failed {
        /// The subcommand and its arguments.
        command: String,
        /// Git's stderr.
        said: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl GitError {
    /// Creates the error for `git command`, run in `directory`, which failed and wrote `said` to stderr.
    pub(super) fn from_stderr(directory: &Path, command: String, said: String) -> Self {
        if said.contains("not a git repository") {
            return Self::NotARepository(directory.to_owned());
        }
        let mut lines = said.lines().map(str::trim);
        if said.contains("dubious ownership") || said.contains("is owned by someone else") {
            let offer = lines.find(|line| line.starts_with("git config"));
            let usual = || {
                let path = directory.display();
                format!("git config --global --add safe.directory {path}")
            };
            return Self::ForeignOwner {
                directory: directory.to_owned(),
                exception: offer.map_or_else(usual, str::to_owned),
            };
        }
        if let Some((file, filter)) = lines.find_map(parse_failed_filter) {
            return Self::Filter {
                filter: filter.to_owned(),
                file: file.to_owned(),
                commit: match command.strip_prefix("read-tree ") {
                    Some(arguments) => arguments.rsplit(' ').next().unwrap_or_default(),
                    None => "HEAD",
                }
                .to_owned(),
                said,
            };
        }
        let cannot_write = ["unable to write", "unable to create", "No space left"];
        if cannot_write.iter().any(|words| said.contains(words)) {
            return Self::NotWritten { said };
        }
        Self::Failed { command, said }
    }

    /// Reports whether git's message is about an unknown option.
    pub(super) fn mentions_unknown_option(said: &str) -> bool {
        [
            "unknown option",
            "unknown switch",
            "unrecognized argument",
            "usage: git",
        ]
        .iter()
        .any(|words| said.contains(words))
    }

    /// Converts a general failure to [`Self::Unusable`], for queries that only check whether git works in
    /// `directory`.
    pub(super) fn about_directory(self, directory: &Path) -> Self {
        match self {
            Self::Failed { said, .. } | Self::NotWritten { said } => Self::Unusable {
                directory: directory.to_owned(),
                said,
            },
            other => other,
        }
    }
}

impl From<RunError> for GitError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Start(source) => Self::Start(Arc::new(source)),
            RunError::Interrupted => Self::Interrupted,
        }
    }
}

/// Parses file and filter from git's line `fatal: FILE: smudge filter NAME failed`, or `clean filter 'NAME'`.
fn parse_failed_filter(line: &str) -> Option<(&str, &str)> {
    let line = line
        .strip_prefix("fatal: ")
        .or(line.strip_prefix("error: "))?;
    let (file, rest) =
        (line.rsplit_once(": smudge filter ")).or_else(|| line.rsplit_once(": clean filter "))?;
    Some((file, rest.strip_suffix(" failed")?.trim_matches('\'')))
}

fn lfs_help(filter: &str, commit: &str) -> String {
    if filter != "lfs" {
        return String::new();
    }
    format!(
        "; `git lfs fetch origin {commit}` brings what the commit refers to, and with GIT_LFS_SKIP_SMUDGE=1 such files are left out, where the benchmarks need none"
    )
}
