//! Questions to git about a directory. A question may have no answer, such as the commit of a repository without commits; that git cannot answer is an error.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::git_error::GitError;
use crate::process::Supervisor;
use perfcheck_analysis::model::GitState;

/// A git work tree that contains a directory.
#[derive(Debug, Clone)]
pub struct Checkout {
    directory: PathBuf,
    pub(super) supervisor: Supervisor,
    /// The repository's common directory: the same for all its work trees.
    pub common_directory: PathBuf,
    /// The directory that holds everything that is checked out.
    pub top: PathBuf,
    /// Where in the work tree the directory lies; empty at its top.
    pub prefix: PathBuf,
}

impl Checkout {
    /// The checkout that `directory` lies in.
    pub fn find(directory: &Path, supervisor: &Supervisor) -> Result<Self, GitError> {
        const PATHS: [&str; 3] = ["--git-common-dir", "--show-toplevel", "--show-prefix"];
        let ask = |paths: &[&str]| {
            let question = [&["rev-parse"], paths].concat();
            let answer = run(supervisor, directory, &[], &question);
            answer.map_err(|error| match error {
                // Without git, a directory is as good as in none where no repository is seen.
                GitError::Start(_) if !is_below_repository(directory) => {
                    GitError::NotARepository(directory.to_owned())
                }
                other => other.about_directory(directory),
            })
        };
        let all = ask(&PATHS)?;
        let lines: Vec<&[u8]> = trimmed(&all).split(|byte| *byte == b'\n').collect();
        let [common_directory, top, prefix] = if let Ok(lines) = <[_; 3]>::try_from(lines) {
            lines.map(path_of)
        } else {
            // One of the paths has a line end in it: one question each.
            let path = |which: &str| Ok::<_, GitError>(path_of(trimmed(&ask(&[which])?)));
            [path(PATHS[0])?, path(PATHS[1])?, path(PATHS[2])?]
        };
        // Seen from the directory: only git 2.31 and later can be asked for an absolute path.
        let common_directory = directory.join(common_directory);
        let canonical = common_directory.canonicalize();
        Ok(Self {
            directory: directory.to_owned(),
            supervisor: supervisor.clone(),
            common_directory: canonical.map_err(|source| GitError::Unusable {
                directory: directory.to_owned(),
                said: format!("{}: {source}", common_directory.display()),
            })?,
            top,
            prefix,
        })
    }

    /// Commit, branch and whether tracked files differ; `None` before the first commit.
    pub fn state(&self) -> Result<Option<GitState>, GitError> {
        let question = [&STATUS[..], &["--untracked-files=no"]].concat();
        Ok(state_of(&self.run(&question)?))
    }

    /// The full hash that a revision stands for; `None` where it stands for no commit.
    pub fn resolve(&self, revision: &str) -> Result<Option<String>, GitError> {
        // No name begins so, and git would take it for an option.
        if revision.starts_with('-') {
            return Ok(None);
        }
        let object = |name: &str| {
            let answer = self.ask(&["rev-parse", "--verify", "--quiet", name])?;
            // `^HEAD` has an answer, which is no object.
            let is_hash = |answer: &String| answer.bytes().all(|byte| byte.is_ascii_hexdigit());
            Ok::<_, GitError>(answer.filter(is_hash))
        };
        let commit = |name: &str| object(&format!("{name}^{{commit}}"));
        if let Some(commit) = commit(revision)? {
            return Ok(Some(commit));
        }
        // Git takes everything behind `:/` for the text that it looks for.
        match object(revision)? {
            Some(found) => commit(&found),
            None => Ok(None),
        }
    }

    /// How many commits lie between `HEAD` and the point where it left `branch`; `None`: they share no history.
    pub fn commits_since(&self, branch: &str) -> Result<Option<u64>, GitError> {
        let Some(branch) = self.resolve(branch)? else {
            return Ok(None);
        };
        if self.ask(&["merge-base", "HEAD", &branch])?.is_none() {
            return Ok(None);
        }
        let range = format!("{branch}..HEAD");
        let count = self.ask(&["rev-list", "--count", &range])?;
        Ok(count.and_then(|count| count.parse().ok()))
    }

    /// Whether `commit` is `HEAD` or one of its ancestors.
    pub fn is_ancestor(&self, commit: &str) -> Result<bool, GitError> {
        let answer = self.ask(&["merge-base", "--is-ancestor", commit, "HEAD"])?;
        Ok(answer.is_some())
    }

    /// The names of all branches, those of remotes without the remote; `None` where git has none to tell.
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

    /// Git's answer without its line end; `None` where it says no.
    pub(super) fn ask(&self, arguments: &[&str]) -> Result<Option<String>, GitError> {
        let output = self
            .supervisor
            .output(git_command(&self.directory).args(arguments))?;
        let is_answer = output.status.success();
        Ok(is_answer.then(|| String::from_utf8_lossy(trimmed(&output.stdout)).into_owned()))
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        run(&self.supervisor, &self.directory, &[], arguments)
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
fn git_command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    for name in HOOK_VARIABLES {
        command.env_remove(name);
    }
    command
        .arg("-C")
        .arg(directory)
        .env("GIT_OPTIONAL_LOCKS", "0")
        // In a group of its own it would be stopped where it asks at the terminal.
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    command
}

/// Git's stdout in `directory`, with additional variables.
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
    // Settings for this call say nothing about what failed.
    let settings = words.chunks(2).take_while(|pair| pair[0] == "-c").count();
    let command = words[2 * settings..].join(" ");
    let mut said = String::from_utf8_lossy(&output.stderr)
        .trim_end()
        .to_owned();
    if said.is_empty() {
        said = output.status.to_string();
    }
    if GitError::mentions_unknown_option(&said) {
        let version = supervisor.output(git_command(directory).arg("--version"))?;
        return Err(GitError::TooOld {
            command,
            said: said.lines().next().unwrap_or_default().to_owned(),
            version: String::from_utf8_lossy(trimmed(&version.stdout)).into_owned(),
        });
    }
    Err(GitError::from_words(directory, command, said))
}

fn is_below_repository(directory: &Path) -> bool {
    let mut above = directory.ancestors();
    above.any(|directory| directory.join(".git").exists())
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
