//! Queries git about a directory, and reads the description of a commit.
//!
//! A query may have no result, such as the commit of a repository without commits; a failure of git is an error. Known failures are explained, with
//! advice.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::os;
use crate::process::{RunError, Supervisor};
use perfcheck_analysis::model::{Commit, GitState};

/// A git work tree that contains a directory.
#[derive(Debug, Clone)]
pub struct Checkout {
    directory: PathBuf,
    pub(super) supervisor: Supervisor,
    /// The repository's common directory, shared by all its work trees.
    pub common_directory: PathBuf,
    /// Top directory of the work tree.
    pub top: PathBuf,
    /// Path of the directory within the work tree; empty at its top.
    pub prefix: PathBuf,
}

impl Checkout {
    /// Finds the checkout that contains `directory`.
    pub fn find(directory: &Path, supervisor: &Supervisor) -> Result<Self, GitError> {
        const PATHS: [&str; 3] = ["--git-common-dir", "--show-toplevel", "--show-prefix"];
        let ask = |paths: &[&str]| {
            let question = [&["rev-parse"], paths].concat();
            let answer = run(supervisor, directory, &[], &question);
            answer.map_err(|error| match error {
                // If git is not installed and neither `directory` nor a parent has a `.git`, report that there is no repository.
                GitError::Start(_) if !is_below_repository(directory) => {
                    GitError::NotARepository(directory.to_owned())
                }
                other => other.about_directory(directory),
            })
        };
        let all = ask(&PATHS)?;
        let lines: Vec<&[u8]> = trim_line_feed(&all).split(|byte| *byte == b'\n').collect();
        let [common_directory, top, prefix] = if let Ok(lines) = <[_; 3]>::try_from(lines) {
            lines.map(path_from_git)
        } else {
            // A path contains a line feed, so ask for each of them separately.
            let path =
                |which: &str| Ok::<_, GitError>(path_from_git(trim_line_feed(&ask(&[which])?)));
            [path(PATHS[0])?, path(PATHS[1])?, path(PATHS[2])?]
        };
        // The answer is relative to `directory`: absolute paths need git 2.31 or later.
        let common_directory = directory.join(common_directory);
        let canonical = os::canonicalize(&common_directory);
        Ok(Self {
            directory: directory.to_owned(),
            supervisor: supervisor.clone(),
            common_directory: canonical.map_err(|source| GitError::Unusable {
                directory: directory.to_owned(),
                message: format!("{}: {source}", common_directory.display()),
            })?,
            top,
            prefix,
        })
    }

    /// Returns the commit, the branch, and whether tracked files are modified; `None` before the first commit.
    pub fn state(&self) -> Result<Option<GitState>, GitError> {
        let question = [&STATUS[..], &["--untracked-files=no"]].concat();
        Ok(parse_state(&self.run(&question)?))
    }

    /// Returns the full hash of a revision; `None` if it denotes no commit.
    pub fn resolve(&self, revision: &str) -> Result<Option<String>, GitError> {
        // No revision begins with a dash, and git would parse it as an option.
        if revision.starts_with('-') {
            return Ok(None);
        }
        let object = |name: &str| {
            let answer = self.query(&["rev-parse", "--verify", "--quiet", name])?;
            // For names such as `^HEAD`, git prints something other than a hash.
            let is_hash = |answer: &String| answer.bytes().all(|byte| byte.is_ascii_hexdigit());
            Ok::<_, GitError>(answer.filter(is_hash))
        };
        let commit = |name: &str| object(&format!("{name}^{{commit}}"));
        if let Some(commit) = commit(revision)? {
            return Ok(Some(commit));
        }
        // After `:/`, git would treat `^{commit}` as a part of the text to search for, so resolve the object first.
        match object(revision)? {
            Some(found) => commit(&found),
            None => Ok(None),
        }
    }

    /// Returns the number of commits on `HEAD` since it left `branch`; `None` if they have no common history.
    pub fn commits_since(&self, branch: &str) -> Result<Option<u64>, GitError> {
        let Some(branch) = self.resolve(branch)? else {
            return Ok(None);
        };
        if self.query(&["merge-base", "HEAD", &branch])?.is_none() {
            return Ok(None);
        }
        let range = format!("{branch}..HEAD");
        let count = self.query(&["rev-list", "--count", &range])?;
        Ok(count.and_then(|count| count.parse().ok()))
    }

    /// Reports whether `commit` is `HEAD` or one of its ancestors.
    pub fn is_ancestor(&self, commit: &str) -> Result<bool, GitError> {
        let answer = self.query(&["merge-base", "--is-ancestor", commit, "HEAD"])?;
        Ok(answer.is_some())
    }

    /// Returns the names of all branches, without the names of remotes; `None` if there are none.
    pub fn branches(&self) -> Result<Option<BTreeSet<String>>, GitError> {
        let refs = self.run(&[
            "for-each-ref",
            "--format=%(refname)",
            "refs/heads",
            "refs/remotes",
        ])?;
        let refs = String::from_utf8_lossy(&refs);
        let name = |reference: &str| {
            reference
                .strip_prefix("refs/heads/")
                .or_else(|| {
                    let of_remote = reference.strip_prefix("refs/remotes/")?;
                    of_remote.split_once('/').map(|(_, branch)| branch)
                })
                .map(str::to_owned)
        };
        let names: BTreeSet<String> = refs.lines().filter_map(name).collect();
        Ok((!names.is_empty()).then_some(names))
    }

    /// Returns git's output without its final line feed; `None` if git exits with failure.
    pub(super) fn query(&self, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let output = self
            .supervisor
            .output(git_command(&self.directory).args(arguments))?;
        let is_answer = output.status.success();
        Ok(is_answer.then(|| String::from_utf8_lossy(trim_line_feed(&output.stdout)).into_owned()))
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        run(&self.supervisor, &self.directory, &[], arguments)
    }
}

/// Arguments of a query for the state of a checkout, without the option for untracked files.
pub(super) const STATUS: [&str; 4] = ["status", "--porcelain=v2", "--branch", "--no-ahead-behind"];

/// Parses the output of [`STATUS`].
pub(super) fn parse_state(output: &[u8]) -> Option<GitState> {
    let text = String::from_utf8_lossy(output);
    let head = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let commit = head("# branch.oid ")?;
    let branch = head("# branch.head ")?;
    (commit != "(initial)").then(|| GitState {
        commit: commit.to_owned(),
        branch: (branch != "(detached)").then(|| branch.to_owned()),
        dirty: text.lines().any(|line| !line.starts_with('#')),
    })
}

/// Variables that git sets for its hooks. They are removed, so that in a hook git finds other repositories as usual.
pub const HOOK_VARIABLES: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
];

/// Returns a git command that runs in `directory`.
fn git_command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    for name in HOOK_VARIABLES {
        command.env_remove(name);
    }
    command
        .arg("-C")
        .arg(directory)
        .env("GIT_OPTIONAL_LOCKS", "0")
        // Never prompt: git runs in a background process group, which the system would stop when it reads from the
        // terminal.
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    command
}

/// Runs git in `directory` with additional variables, and returns its standard output.
pub(super) fn run(
    supervisor: &Supervisor,
    directory: &Path,
    environment: &[(&str, &Path)],
    arguments: &[impl AsRef<OsStr>],
) -> Result<Vec<u8>, GitError> {
    let mut command = git_command(directory);
    command.args(arguments).envs(environment.iter().copied());
    let output = supervisor.output(&mut command)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let words: Vec<_> = arguments
        .iter()
        .map(|argument| argument.as_ref().to_string_lossy())
        .collect();
    // Leave the `-c` settings out of the message, because they do not show what failed.
    let settings = words.chunks(2).take_while(|pair| pair[0] == "-c").count();
    let command = words[2 * settings..].join(" ");
    let mut message = String::from_utf8_lossy(&output.stderr)
        .trim_end()
        .to_owned();
    if message.is_empty() {
        message = output.status.to_string();
    }
    if GitError::mentions_unknown_option(&message) {
        let version = supervisor.output(git_command(directory).arg("--version"))?;
        return Err(GitError::TooOld {
            command,
            message: message.lines().next().unwrap_or_default().to_owned(),
            version: String::from_utf8_lossy(trim_line_feed(&version.stdout)).into_owned(),
        });
    }
    Err(GitError::from_stderr(directory, command, message))
}

fn is_below_repository(directory: &Path) -> bool {
    let mut above = directory.ancestors();
    above.any(|directory| directory.join(".git").exists())
}

/// Removes the line feed that git adds to its output.
pub(super) fn trim_line_feed(answer: &[u8]) -> &[u8] {
    answer.strip_suffix(b"\n").unwrap_or(answer)
}

/// Converts a name from git, which is bytes, to a path. Removes the slash at the end of a directory's name.
pub(super) fn path_from_git(name: &[u8]) -> PathBuf {
    let name = name.strip_suffix(b"/").unwrap_or(name);
    os::path_from_bytes(name)
}

/// The oldest supported version of git.
const OLDEST_GIT: &str = "2.30";

/// An error of a git command.
#[derive(Debug, Clone, thiserror::Error)]
pub enum GitError {
    /// Git could not be started.
    #[error(
        "could not start `git`: {0}\n  help: install git {OLDEST_GIT} or newer; without it, runs have no commit and cannot be compared with a revision"
    )]
    Start(Arc<io::Error>),
    /// The directory is in no repository.
    #[error(
        "`{}` is not in a git repository\n  help: revisions can be measured only in a git clone; use `--baseline NAME` to compare with a stored run",
        .0.display()
    )]
    NotARepository(PathBuf),
    /// The repository belongs to another user, so git refuses to work in it.
    #[error(
        "git refuses to work in `{}`, because the repository belongs to another user\n  help: run `{exception}` to trust it",
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
        "git does not work in `{directory}`: {message}\n  help: make sure that `git -C {directory} status` works",
        directory = directory.display()
    )]
    Unusable {
        /// The directory.
        directory: PathBuf,
        /// Git's stderr.
        message: String,
    },
    /// Git is too old and does not know an option.
    #[error(
        "`git {command}` failed: {message}\n  help: update git to {OLDEST_GIT} or newer; this is {version}"
    )]
    TooOld {
        /// The subcommand and its arguments.
        command: String,
        /// Git's stderr.
        message: String,
        /// Output of `git --version`.
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
    /// The two commits have no common history in this clone.
    #[error("HEAD and `{branch}` have no common ancestor\n  help: {hint}")]
    NoMergeBase {
        /// The name that the user gave.
        branch: String,
        /// Advice.
        hint: String,
    },
    /// The end of a range is not a descendant of its beginning.
    #[error("`{good}` is not an ancestor of `{bad}`\n  help: name the older commit first")]
    NotAncestor {
        /// The beginning of the range, as the caller gave it.
        good: String,
        /// The end of the range, as the caller gave it.
        bad: String,
    },
    /// The user's clone lacks the commit of a submodule.
    #[error(
        "the submodule `{path}` does not have the commit {commit}\n  help: run `git -C {path} fetch origin {commit}`",
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
        "the git filter `{filter}` failed for `{file}` in commit {commit}\n{message}\n  help: fix the command that `git config --get-regexp '^filter.{filter}'` prints{}",
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
        message: String,
    },
    /// Git could not write a file in the cache.
    #[error(
        "git cannot write to the cache\n{message}\n  help: you can remove the cache at any time; set PERFCHECK_CACHE to use another directory"
    )]
    NotWritten {
        /// Git's stderr.
        message: String,
    },
    /// Git failed for another reason.
    #[error(
        "`git {command}` failed\n{message}\n  help: `git fsck` lists missing or damaged objects, and `git fetch` may restore them from the remote repository"
    )]
    Failed {
        /// The subcommand and its arguments.
        command: String,
        /// Git's stderr.
        message: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl GitError {
    /// Creates the error for `git command`, run in `directory`, which failed and wrote `message` to stderr.
    pub(super) fn from_stderr(directory: &Path, command: String, message: String) -> Self {
        if message.contains("not a git repository") {
            return Self::NotARepository(directory.to_owned());
        }
        let mut lines = message.lines().map(str::trim);
        if message.contains("dubious ownership") || message.contains("is owned by someone else") {
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
                message,
            };
        }
        let cannot_write = ["unable to write", "unable to create", "No space left"];
        if cannot_write.iter().any(|words| message.contains(words)) {
            return Self::NotWritten { message };
        }
        Self::Failed { command, message }
    }

    /// Reports whether git's message is about an unknown option.
    pub(super) fn mentions_unknown_option(message: &str) -> bool {
        [
            "unknown option",
            "unknown switch",
            "unrecognized argument",
            "usage: git",
        ]
        .iter()
        .any(|words| message.contains(words))
    }

    /// Converts a general failure to [`Self::Unusable`], for queries that only check whether git works in
    /// `directory`.
    pub(super) fn about_directory(self, directory: &Path) -> Self {
        match self {
            Self::Failed { message, .. } | Self::NotWritten { message } => Self::Unusable {
                directory: directory.to_owned(),
                message,
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
        "; run `git lfs fetch origin {commit}` to get the files of the commit, or set GIT_LFS_SKIP_SMUDGE=1 if the benchmarks need none of them"
    )
}

impl Checkout {
    /// Returns author, date and subject; empty if git does not know the commit.
    pub fn describe(&self, commit: &str) -> Result<Commit, GitError> {
        let format = "--format=%an%x00%aI%x00%s";
        let answer = self
            .query(&["log", "-1", "--no-show-signature", format, commit])?
            .unwrap_or_default();
        let mut parts = answer.splitn(3, '\0').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        Ok(Commit {
            hash: commit.to_owned(),
            author: part(),
            authored: part(),
            subject: part(),
        })
    }
}
