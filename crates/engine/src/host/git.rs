//! What git says about a directory. Every question may have no answer: no git, no repository, no commit.

#![expect(clippy::disallowed_methods, reason = "asks git")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use perfcheck_analysis::model::GitState;

/// A git work tree that contains a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    directory: PathBuf,
    /// The repository's common directory: the same for all its work trees.
    pub common_directory: PathBuf,
    /// The directory that holds everything that is checked out.
    pub top: PathBuf,
    /// Where in the work tree the directory lies; empty at its top.
    pub prefix: PathBuf,
}

impl Checkout {
    /// The checkout that `directory` lies in.
    pub fn find(directory: &Path) -> Option<Self> {
        const PATHS: [&str; 3] = ["--git-common-dir", "--show-toplevel", "--show-prefix"];
        let ask = |paths: &[&str]| {
            let question = [&["rev-parse", "--path-format=absolute"], paths].concat();
            answer(directory, &question)
        };
        let all = ask(&PATHS)?;
        let lines: Vec<&[u8]> = all.split(|byte| *byte == b'\n').collect();
        let [common_directory, top, prefix] = if let Ok(lines) = <[_; 3]>::try_from(lines) {
            lines.map(path_of)
        } else {
            // One of the paths has a line end in it: one question each.
            let path = |which: &str| Some(path_of(&ask(&[which])?));
            [path(PATHS[0])?, path(PATHS[1])?, path(PATHS[2])?]
        };
        Some(Self {
            directory: directory.to_owned(),
            common_directory: common_directory.canonicalize().ok()?,
            top,
            prefix,
        })
    }

    /// Commit, branch and whether tracked files differ; `None` before the first commit.
    pub fn state(&self) -> Option<GitState> {
        let question = [&STATUS[..], &["--untracked-files=no"]].concat();
        state_of(&answer(&self.directory, &question)?)
    }

    /// The full hash that a revision stands for.
    pub fn resolve(&self, revision: &str) -> Option<String> {
        let object =
            |name: &str| self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", name]);
        let commit = |name: &str| object(&format!("{name}^{{commit}}"));
        // Git takes everything behind `:/` for the text that it looks for.
        commit(revision).or_else(|| commit(&object(revision)?))
    }

    /// How many commits lie between `HEAD` and the point where it left `branch`; `None`: they share no history.
    pub fn commits_since(&self, branch: &str) -> Option<u64> {
        let branch = self.resolve(branch)?;
        self.ask(&["merge-base", "HEAD", &branch])?;
        let range = format!("{branch}..HEAD");
        self.ask(&["rev-list", "--count", &range])?.parse().ok()
    }

    /// Whether `commit` is `HEAD` or one of its ancestors.
    pub fn is_ancestor(&self, commit: &str) -> bool {
        self.ask(&["merge-base", "--is-ancestor", commit, "HEAD"])
            .is_some()
    }

    /// The names of all branches, those of remotes without the remote; `None` where git has none to tell.
    pub fn branches(&self) -> Option<BTreeSet<String>> {
        let refs = self.ask(&[
            "for-each-ref",
            "--format=%(refname)",
            "refs/heads",
            "refs/remotes",
        ])?;
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
        (!names.is_empty()).then_some(names)
    }

    /// The directory that was asked about.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn ask(&self, arguments: &[&str]) -> Option<String> {
        git(&self.directory, arguments)
    }
}

/// A question for the state of a checkout; which untracked files count as changes is to be added.
pub(super) const STATUS: [&str; 4] = ["status", "--porcelain=v2", "--branch", "--no-ahead-behind"];

/// What the answer to [`STATUS`] says.
pub(super) fn state_of(said: &[u8]) -> Option<GitState> {
    let said = String::from_utf8_lossy(said);
    let head = |name: &str| said.lines().find_map(|line| line.strip_prefix(name));
    let commit = head("# branch.oid ")?;
    let branch = head("# branch.head ")?;
    (commit != "(initial)").then(|| GitState {
        commit: commit.to_owned(),
        branch: (branch != "(detached)").then(|| branch.to_owned()),
        dirty: said.lines().any(|line| !line.starts_with('#')),
    })
}

/// What git tells its hooks about their repository: in a hook, other directories are to be found as everywhere.
pub const HOOK_VARIABLES: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
];

/// Git, asked about `directory`.
pub(super) fn git_command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    for name in HOOK_VARIABLES {
        command.env_remove(name);
    }
    command
        .arg("-C")
        .arg(directory)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null());
    command
}

fn git(directory: &Path, arguments: &[&str]) -> Option<String> {
    String::from_utf8(answer(directory, arguments)?).ok()
}

/// What git answers, without the line end that it adds.
fn answer(directory: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let output = git_command(directory)
        .args(arguments)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| trimmed(&output.stdout).to_owned())
}

/// An answer without the line end that git adds.
pub(super) fn trimmed(answer: &[u8]) -> &[u8] {
    answer.strip_suffix(b"\n").unwrap_or(answer)
}

/// Names are bytes to git; a directory's may end with a slash.
pub(super) fn path_of(name: &[u8]) -> PathBuf {
    let name = name.strip_suffix(b"/").unwrap_or(name);
    PathBuf::from(OsStr::from_bytes(name))
}
