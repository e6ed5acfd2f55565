//! Resolves revisions of a repository, and exports the files of a commit to another directory.
//!
//! Never writes into the user's repository or checkout: files are exported through a separate index, so `HEAD`, index, references and the list of
//! work trees do not change. Unlike the queries in `git.rs`, these operations must succeed: every failure is an error with advice.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::git::{Checkout, GitError, path_from_git, run, trim_line_feed};
use crate::os;
use crate::process::Supervisor;
use perfcheck_analysis::model::GitState;

/// A commit, and the name that the user gave for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// Name given by the user.
    pub name: String,
    /// Full hash.
    pub commit: String,
}

impl Revision {
    /// Returns the state of a clean checkout of this commit.
    pub fn clean_state(&self) -> GitState {
        GitState {
            commit: self.commit.clone(),
            branch: None,
            dirty: false,
        }
    }

    /// Returns the first ten digits of the hash.
    pub fn short(&self) -> &str {
        self.commit.get(..10).unwrap_or(&self.commit)
    }
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.commit.starts_with(&self.name) {
            f.write_str(self.short())
        } else {
            write!(f, "{} ({})", self.name, self.short())
        }
    }
}

/// A commit and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitTime {
    /// Full hash.
    pub commit: String,
    /// When the commit was made, in seconds since the Unix epoch.
    pub seconds: i64,
}

/// The current files of a repository, relative to its top. A nested repository has its own list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PresentFiles {
    /// Tracked files that exist.
    pub tracked: Vec<PathBuf>,
    /// Files that are not tracked and not ignored.
    pub untracked: Vec<PathBuf>,
    /// Ignored files, and directories in which everything is ignored.
    pub ignored: Vec<PathBuf>,
    /// Checked out submodules.
    pub submodules: Vec<PathBuf>,
    /// Nested repositories that are no submodules and not ignored.
    pub clones: Vec<PathBuf>,
    /// Whether git is told to overlook changes of a tracked file (`assume-unchanged` or `skip-worktree`).
    pub hides_changes: bool,
}

/// Settings that override the user's, so that git writes all files and writes nothing elsewhere.
const PLAIN: [&str; 14] = [
    "-c",
    "core.sparseCheckout=false",
    "-c",
    "core.splitIndex=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "submodule.recurse=false",
    "-c",
    "advice.detachedHead=false",
];

/// Mode of a submodule in an index.
const SUBMODULE_MODE: &str = "160000";

impl Checkout {
    /// Resolves `name` to a commit.
    pub fn revision(&self, name: &str) -> Result<Revision, GitError> {
        match self.resolve(name)? {
            Some(commit) => Ok(Revision {
                name: name.to_owned(),
                commit,
            }),
            None => Err(GitError::UnknownRevision {
                revision: name.to_owned(),
                hint: self.hint_for(name)?,
            }),
        }
    }

    /// Returns the merge base of `HEAD` and `branch`. If there is no local branch of this name, that of `origin` is
    /// used.
    pub fn merge_base(&self, branch: &str) -> Result<Revision, GitError> {
        let remote = format!("origin/{branch}");
        let other = match self.resolve(branch)? {
            Some(other) => other,
            None => match self.resolve(&remote)? {
                Some(other) => other,
                None => self.revision(branch)?.commit,
            },
        };
        match self.query(&["merge-base", "HEAD", &other])? {
            Some(commit) => Ok(Revision {
                name: format!("merge base with {branch}"),
                commit,
            }),
            None => Err(GitError::NoMergeBase {
                branch: branch.to_owned(),
                hint: if self.is_shallow()? {
                    SHALLOW.to_owned()
                } else {
                    format!("use `--against {branch}` to compare with its tip")
                },
            }),
        }
    }

    /// Returns the commits after `good`, up to and including `bad`: oldest first, along first parents. Fails if `good` is not an ancestor of `bad`.
    pub fn commits_between(&self, good: &str, bad: &str) -> Result<Vec<String>, GitError> {
        let not_ancestor = || GitError::NotAncestor {
            good: good.to_owned(),
            bad: bad.to_owned(),
        };
        self.query(&["merge-base", "--is-ancestor", good, bad])?
            .ok_or_else(not_ancestor)?;
        let range = format!("{good}..{bad}");
        let listed = self.run(&["rev-list", "--first-parent", "--reverse", &range])?;
        let listed = String::from_utf8_lossy(&listed);
        Ok(listed.lines().map(str::to_owned).collect())
    }

    /// Resolves both ends of a range. Returns the older end, and the commits after it up to and including the newer end, oldest first. Only the newer
    /// end keeps its name; the commits before it are named by their hashes.
    pub fn range(&self, older: &str, newer: &str) -> Result<(Revision, Vec<Revision>), GitError> {
        let (first, last) = (self.revision(older)?, self.revision(newer)?);
        let commits =
            self.commits_between(&first.commit, &last.commit)
                .map_err(|error| match error {
                    GitError::NotAncestor { .. } => GitError::NotAncestor {
                        good: older.to_owned(),
                        bad: newer.to_owned(),
                    },
                    other => other,
                })?;
        let named = |commit: String| {
            let is_last = commit == last.commit;
            let name = if is_last { &last.name } else { &commit };
            Revision {
                name: name.clone(),
                commit,
            }
        };
        Ok((first, commits.into_iter().map(named).collect()))
    }

    /// Returns the time of each commit on the first-parent line that ends at `tip`, oldest first, in seconds since the Unix epoch.
    pub fn commit_times(&self, tip: &str) -> Result<Vec<CommitTime>, GitError> {
        let listed = self.run(&[
            "log",
            "--first-parent",
            "--no-show-signature",
            "--format=%H %ct",
            tip,
        ])?;
        let listed = String::from_utf8_lossy(&listed);
        let mut times: Vec<CommitTime> = listed
            .lines()
            .filter_map(|line| {
                let (commit, seconds) = line.split_once(' ')?;
                Some(CommitTime {
                    commit: commit.to_owned(),
                    seconds: seconds.parse().ok()?,
                })
            })
            .collect();
        times.reverse();
        Ok(times)
    }

    /// Returns the commits that have a tag.
    pub fn tagged_commits(&self) -> Result<BTreeSet<String>, GitError> {
        // An annotated tag is an object of its own. The second field is then the hash of the commit.
        let listed = self.run(&[
            "for-each-ref",
            "--format=%(objectname) %(*objectname)",
            "refs/tags",
        ])?;
        let listed = String::from_utf8_lossy(&listed);
        let commits = listed
            .lines()
            .filter_map(|line| line.split(' ').rfind(|hash| !hash.is_empty()));
        Ok(commits.map(str::to_owned).collect())
    }

    /// Returns the local branch to which a range of commits with the end `tip` belongs: the branch that the user named as its end, or else the checked
    /// out branch if it contains the end.
    pub fn branch_of_range(&self, tip: &Revision) -> Result<Option<String>, GitError> {
        let reference = format!("refs/heads/{}", tip.name);
        // Unlike `rev-parse`, this does not take `main~1` for a branch.
        let is_branch = self.query(&["show-ref", "--verify", "--quiet", &reference])?;
        if is_branch.is_some() {
            return Ok(Some(tip.name.clone()));
        }
        let current = self.state()?.and_then(|state| state.branch);
        match current {
            Some(branch) if self.is_ancestor(&tip.commit)? => Ok(Some(branch)),
            _ => Ok(None),
        }
    }

    /// Lists the files of the repository at `top`. The directories `excluded` are not listed or searched, except for
    /// tracked and ignored files.
    pub fn present_files(
        top: &Path,
        excluded: &[PathBuf],
        supervisor: &Supervisor,
    ) -> Result<PresentFiles, GitError> {
        let mut found = PresentFiles::default();
        for entry in list_entries(supervisor, top, &["--cached", "-v"])? {
            // An entry is a letter, a space and a path. The letter is `S` for `skip-worktree`, and lowercase for `assume-unchanged`.
            let [letter, b' ', path @ ..] = &entry[..] else {
                continue;
            };
            found.hides_changes |= *letter == b'S' || letter.is_ascii_lowercase();
            let path = path_from_git(path);
            let here = top.join(&path);
            match here.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => {
                    if here.join(".git").exists() {
                        found.submodules.push(path);
                    }
                }
                Ok(_) => found.tracked.push(path),
                // Deleted, but still in the index.
                Err(_) => {}
            }
        }
        let excluded: Vec<OsString> = excluded.iter().map(|path| exclude_option(path)).collect();
        let mut untracked: Vec<&OsStr> = ["--others", "--exclude-standard"].map(OsStr::new).into();
        untracked.extend(excluded.iter().map(OsString::as_os_str));
        for path in list_files(supervisor, top, &untracked)? {
            match top.join(&path).symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => found.clones.push(path),
                Ok(_) => found.untracked.push(path),
                Err(_) => {}
            }
        }
        let ignored = ["--others", "--ignored", "--exclude-standard", "--directory"];
        found.ignored = list_files(supervisor, top, &ignored)?;
        Ok(found)
    }

    /// Writes the files of `commit` to `directory` and returns their paths. The directory belongs to this program;
    /// files of an earlier commit in it are updated or removed.
    ///
    /// `index` is a directory for git's index of the written files. Submodules are copied from the user's clones,
    /// never from the network; submodules that were never fetched stay empty.
    pub fn export_files(
        &self,
        commit: &str,
        directory: &Path,
        index: &Path,
    ) -> Result<Vec<PathBuf>, GitError> {
        let git_directory = self.run(&["rev-parse", "--absolute-git-dir"])?;
        let writer = CommitWriter {
            supervisor: &self.supervisor,
            git_directories: vec![
                path_from_git(trim_line_feed(&git_directory)),
                self.common_directory.clone(),
            ],
            checked_out: self.top.clone(),
            directory: directory.to_owned(),
            index: index.to_owned(),
        };
        let mut files = Vec::new();
        writer.write(commit, Path::new(""), &mut files)?;
        files.sort();
        Ok(files)
    }

    /// Creates a `.git` that makes `directory` look like a checkout of `commit` to build scripts that run git. It
    /// refers to the user's objects and tags and has no branches. Unchanged files keep their modification times.
    pub fn write_git_directory(&self, directory: &Path, commit: &str) -> Result<(), GitError> {
        let failed = |source: io::Error| GitError::Failed {
            command: "init".to_owned(),
            message: source.to_string(),
        };
        let repository = directory.join(".git");
        let environment = [
            ("GIT_DIR", repository.as_path()),
            ("GIT_WORK_TREE", directory),
        ];
        // A repository with another object format cannot have this commit: the clone at this path must have been
        // replaced.
        let is_usable = std::fs::read(repository.join("HEAD"))
            .is_ok_and(|head| head.trim_ascii_end().len() == commit.len());
        if !is_usable {
            match std::fs::remove_dir_all(&repository) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
            let format = self.query(&["rev-parse", "--show-object-format"])?;
            let format = format!("--object-format={}", format.as_deref().unwrap_or("sha1"));
            let init = [
                "init",
                "--quiet",
                "--template=",
                &format,
                "--ref-format=files",
            ];
            match run(&self.supervisor, directory, &environment, &init) {
                // Git before 2.45 has no choice of a reference format, and before 2.28 none of an object format.
                Err(GitError::TooOld { .. }) => run(
                    &self.supervisor,
                    directory,
                    &environment,
                    &["init", "--quiet", "--template="],
                )?,
                done => done?,
            };
        }
        let objects = alternates_line(&self.common_directory.join("objects"));
        let tags = [
            "for-each-ref",
            "--format=%(objectname) %(refname)",
            "refs/tags",
        ];
        let tags = self.run(&tags)?;
        let mut head = commit.as_bytes().to_vec();
        head.push(b'\n');
        let shallow = std::fs::read(self.common_directory.join("shallow")).unwrap_or_default();
        let files: [(&str, &[u8]); 4] = [
            ("shallow", &shallow),
            ("objects/info/alternates", &objects),
            ("packed-refs", &tags),
            ("HEAD", &head),
        ];
        let mut is_new = false;
        for (name, content) in files {
            let path = repository.join(name);
            if std::fs::read(&path).is_ok_and(|old| old == content) {
                continue;
            }
            is_new = true;
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(failed)?;
            }
            std::fs::write(&path, content).map_err(failed)?;
        }
        if is_new || !repository.join("index").exists() {
            let _ = std::fs::remove_file(repository.join("index.lock"));
            let mut arguments = PLAIN.to_vec();
            arguments.extend(["read-tree", commit]);
            run(&self.supervisor, directory, &environment, &arguments)?;
        }
        Ok(())
    }

    fn is_shallow(&self) -> Result<bool, GitError> {
        let answer = self.query(&["rev-parse", "--is-shallow-repository"])?;
        Ok(answer.is_some_and(|answer| answer == "true"))
    }

    fn hint_for(&self, name: &str) -> Result<String, GitError> {
        let remote = format!("origin/{name}");
        if self.resolve(&remote)?.is_some() {
            return Ok(format!("did you mean `{remote}`?"));
        }
        if self.is_shallow()? {
            return Ok(SHALLOW.to_owned());
        }
        let head = self.query(&["rev-parse", "--verify", "HEAD"])?;
        let hint = match head {
            None => "the repository has no commits yet",
            Some(_) => "run `git fetch --all --tags` to fetch all branches and tags",
        };
        Ok(hint.to_owned())
    }
}

const SHALLOW: &str = "this clone is shallow: run `git fetch --unshallow` to get the full history (on CI, set `fetch-depth: 0` in the checkout step)";

/// A writer of a commit of a repository, and of the commits of its submodules.
struct CommitWriter<'a> {
    supervisor: &'a Supervisor,
    /// Git directories of the repository, which may contain those of submodules in `modules/`. The first one has the objects.
    git_directories: Vec<PathBuf>,
    /// The user's checkout. Its submodules may contain their own repositories.
    checked_out: PathBuf,
    directory: PathBuf,
    index: PathBuf,
}

impl CommitWriter<'_> {
    fn write(&self, commit: &str, below: &Path, files: &mut Vec<PathBuf>) -> Result<(), GitError> {
        let mut arguments = PLAIN.to_vec();
        arguments.extend(["read-tree", "--reset", "-u", commit]);
        self.git(&arguments)?;
        let listed = self.git(&["ls-files", "--stage", "-z"])?;
        for entry in listed.split(|byte| *byte == 0) {
            let mut halves = entry.splitn(2, |byte| *byte == b'\t');
            let (Some(facts), Some(name)) = (halves.next(), halves.next()) else {
                continue;
            };
            let facts = String::from_utf8_lossy(facts);
            let mut facts = facts.split(' ');
            let (mode, object) = (facts.next(), facts.next().unwrap_or_default());
            let path = path_from_git(name);
            if mode == Some(SUBMODULE_MODE) {
                if let Some(inner) = self.submodule(&path, object, below)? {
                    inner.write(object, &below.join(&path), files)?;
                }
            } else {
                files.push(below.join(path));
            }
        }
        Ok(())
    }

    /// Returns the writer for the submodule at `path`; `None` if the user has never fetched it.
    fn submodule(&self, path: &Path, commit: &str, below: &Path) -> Result<Option<Self>, GitError> {
        let mut places: Vec<PathBuf> = Vec::new();
        if let Some(name) = self.submodule_name(path)? {
            let modules = |directory: &PathBuf| directory.join("modules").join(&name);
            places.extend(self.git_directories.iter().map(modules));
        }
        places.push(self.checked_out.join(path).join(".git"));
        places.retain(|place| place.is_dir());
        if places.is_empty() {
            return Ok(None);
        }
        let wanted = format!("{commit}^{{commit}}");
        let mut found = None;
        for place in places {
            let environment = [("GIT_DIR", place.as_path())];
            match run(
                self.supervisor,
                &place,
                &environment,
                &["cat-file", "-e", &wanted],
            ) {
                Ok(_) => {
                    found = Some(place);
                    break;
                }
                Err(GitError::Interrupted) => return Err(GitError::Interrupted),
                // Another repository may have the commit.
                Err(_) => {}
            }
        }
        let place = found.ok_or_else(|| GitError::MissingSubmoduleCommit {
            path: below.join(path),
            commit: commit.to_owned(),
        })?;
        Ok(Some(Self {
            supervisor: self.supervisor,
            git_directories: vec![place],
            checked_out: self.checked_out.join(path),
            directory: self.directory.join(path),
            index: self.index.join("submodules").join(path),
        }))
    }

    fn submodule_name(&self, path: &Path) -> Result<Option<PathBuf>, GitError> {
        let modules = self.directory.join(".gitmodules");
        let question = [
            OsStr::new("config"),
            OsStr::new("--file"),
            modules.as_os_str(),
            OsStr::new("--null"),
            OsStr::new("--get-regexp"),
            OsStr::new(r"^submodule\..*\.path$"),
        ];
        let answer = match run(self.supervisor, &self.directory, &[], &question) {
            Ok(answer) => answer,
            Err(GitError::Interrupted) => return Err(GitError::Interrupted),
            // The commit has no `.gitmodules`, or the file names no submodule.
            Err(_) => return Ok(None),
        };
        let name = answer
            .split(|byte| *byte == 0)
            .filter_map(|entry| {
                let mut halves = entry.splitn(2, |byte| *byte == b'\n');
                let key = halves.next()?;
                (path_from_git(halves.next()?) == path).then_some(key)
            })
            .find_map(|key| {
                let name = key.strip_prefix(b"submodule.")?.strip_suffix(b".path")?;
                Some(path_from_git(name))
            });
        Ok(name)
    }

    fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let failed = |source: io::Error| GitError::Failed {
            command: arguments.join(" "),
            message: source.to_string(),
        };
        for directory in [&self.directory, &self.index] {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        let index = self.index.join("index");
        // Remove the lock of a process that was killed. No other process writes here.
        let _ = std::fs::remove_file(self.index.join("index.lock"));
        let environment = [
            ("GIT_DIR", self.git_directories[0].as_path()),
            ("GIT_WORK_TREE", &self.directory),
            ("GIT_INDEX_FILE", &index),
        ];
        run(self.supervisor, &self.directory, &environment, arguments)
    }
}

/// Returns the paths that `git ls-files` lists in `top`.
fn list_files(
    supervisor: &Supervisor,
    top: &Path,
    which: &[impl AsRef<OsStr>],
) -> Result<Vec<PathBuf>, GitError> {
    let entries = list_entries(supervisor, top, which)?;
    Ok(entries.iter().map(|entry| path_from_git(entry)).collect())
}

/// Returns what `git ls-files` prints in `top`, an entry for each file.
fn list_entries(
    supervisor: &Supervisor,
    top: &Path,
    which: &[impl AsRef<OsStr>],
) -> Result<Vec<Vec<u8>>, GitError> {
    let words = ["ls-files", "-z"].map(OsStr::new).into_iter();
    let words: Vec<&OsStr> = words.chain(which.iter().map(AsRef::as_ref)).collect();
    let listed = run(supervisor, top, &[], &words)?;
    let entries = listed
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty());
    Ok(entries.map(<[u8]>::to_vec).collect())
}

/// Returns the option that excludes a directory from listing and search.
fn exclude_option(directory: &Path) -> OsString {
    let mut flag = b"--exclude=/".to_vec();
    for byte in os::path_to_bytes(directory) {
        if b"*?[]\\!# ".contains(&byte) {
            flag.push(b'\\');
        }
        flag.push(byte);
    }
    flag.push(b'/');
    os::text_from_bytes(flag)
}

/// Returns a line of `objects/info/alternates`. Paths with a line feed or a leading quote are quoted as in C.
fn alternates_line(objects: &Path) -> Vec<u8> {
    let name = os::path_to_bytes(objects);
    let mut line = Vec::new();
    if name.starts_with(b"\"") || name.contains(&b'\n') {
        line.push(b'"');
        for byte in &name {
            match byte {
                b'\n' => line.extend(b"\\n"),
                b'"' | b'\\' => line.extend([b'\\', *byte]),
                _ => line.push(*byte),
            }
        }
        line.push(b'"');
    } else {
        line.extend(name);
    }
    line.push(b'\n');
    line
}
