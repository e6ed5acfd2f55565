//! Which files below a directory are opened while something runs, and whether they are still the same later.
//!
//! Linux tells it by inotify(7), which goes by path and not by process: what an editor opens meanwhile is included, and
//! every open costs the opener a little, so watch a launch whose times do not count. Elsewhere there is no answer.
//! Invariant: what was not seen is said (`gaps`), never taken for nothing.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use perfcheck_analysis::model::{ContentHash, FileFact};

/// What was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileOpened {
    /// Regular files that were opened or read and that nobody made or wrote meanwhile, sorted by path.
    pub files: Vec<FileFact>,
    /// Why some may be missing, in words; empty if none are.
    pub gaps: Vec<String>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// It is not there, or cannot be read.
    Gone,
    /// It has another content.
    Differs,
}

/// The recorded files below `root` that are no longer the same.
pub fn changed_files(recorded: &[FileFact], root: &Path) -> Vec<(PathBuf, FileChange)> {
    let change = |fact: &FileFact| match hash_of(&root.join(&fact.path)) {
        Ok(hash) if hash == fact.hash => None,
        Ok(_) => Some(FileChange::Differs),
        Err(_) => Some(FileChange::Gone),
    };
    recorded
        .iter()
        .filter_map(|fact| Some((fact.path.clone(), change(fact)?)))
        .collect()
}

/// The hash of a regular file.
fn hash_of(path: &Path) -> io::Result<ContentHash> {
    // Before anything is opened: a pipe would block.
    if !std::fs::metadata(path)?.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(ContentHash(*hasher.finalize().as_bytes()))
}

#[cfg(target_os = "linux")]
pub use watching::OpenedFiles;

#[cfg(target_os = "linux")]
mod watching {
    use std::collections::{BTreeMap, BTreeSet, VecDeque};
    use std::ffi::OsStr;
    use std::fs;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    use super::{FileOpened, hash_of};
    use perfcheck_analysis::model::FileFact;

    /// A watch takes about 1 kB of the kernel's memory, and so many directories take well under a second.
    const MOST_WATCHES: usize = 8192;
    const BUFFER_BYTES: usize = 1 << 16;
    /// Cargo marks its target directories with this file.
    const CACHE_MARK: &str = "CACHEDIR.TAG";

    /// Watches a directory.
    pub struct OpenedFiles {
        events: OwnedFd,
        root: PathBuf,
        /// Directories relative to the root, by watch.
        directories: BTreeMap<i32, PathBuf>,
        read: BTreeSet<PathBuf>,
        written: BTreeSet<PathBuf>,
        gaps: BTreeSet<String>,
    }

    impl OpenedFiles {
        /// Begins to watch the directories below `root`, but not those below `excluded`, no `.git` and nothing that
        /// is marked as a cache. `None` where the system cannot.
        pub fn watch(root: &Path, excluded: &[PathBuf]) -> Option<Self> {
            Self::watch_at_most(MOST_WATCHES, root, excluded)
        }

        pub(super) fn watch_at_most(
            most: usize,
            root: &Path,
            excluded: &[PathBuf],
        ) -> Option<Self> {
            let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let mut watch = Self {
                events,
                root: root.to_owned(),
                directories: BTreeMap::new(),
                read: BTreeSet::new(),
                written: BTreeSet::new(),
                gaps: BTreeSet::new(),
            };
            let mut left: VecDeque<PathBuf> = [PathBuf::new()].into();
            while let Some(relative) = left.pop_front() {
                if watch.directories.len() == most {
                    watch.gap(format!("only {most} directories were watched"));
                    break;
                }
                let directory = root.join(&relative);
                let flags = WatchFlags::OPEN
                    | WatchFlags::ACCESS
                    | WatchFlags::CREATE
                    | WatchFlags::MODIFY
                    | WatchFlags::MOVED_TO
                    | WatchFlags::ONLYDIR
                    | WatchFlags::DONT_FOLLOW
                    | WatchFlags::EXCL_UNLINK;
                match inotify::add_watch(&watch.events, &directory, flags) {
                    Ok(number) => watch.directories.insert(number, relative.clone()),
                    Err(Errno::NOSPC) => {
                        let watched = watch.directories.len();
                        watch.gap(format!(
                            "the system allows no more than {watched} watched directories here"
                        ));
                        break;
                    }
                    Err(error) => {
                        watch.gap(format!(
                            "`{}` was not watched: {error}",
                            directory.display()
                        ));
                        continue;
                    }
                };
                left.extend(children(&directory, &relative, excluded));
            }
            (!watch.directories.is_empty()).then_some(watch)
        }

        fn gap(&mut self, words: String) {
            self.gaps.insert(words);
        }

        /// Takes what the system has noted since the last call. It notes a limited number of events, 16384 by
        /// default, so call this now and then while something long runs.
        pub fn drain(&mut self) {
            let mut buffer = vec![MaybeUninit::uninit(); BUFFER_BYTES];
            let mut reader = Reader::new(&self.events, &mut buffer);
            // An error is the end of what there is.
            while let Ok(event) = reader.next() {
                let happened = event.events();
                if happened.contains(ReadFlags::QUEUE_OVERFLOW) {
                    self.gaps
                        .insert("more was opened at once than the system could note".to_owned());
                }
                let (Some(directory), Some(name)) =
                    (self.directories.get(&event.wd()), event.file_name())
                else {
                    continue;
                };
                if happened.contains(ReadFlags::ISDIR) {
                    if happened.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
                        let made = directory.join(OsStr::from_bytes(name.to_bytes()));
                        self.gaps.insert(format!(
                            "`{}` was made meanwhile and not watched",
                            made.display()
                        ));
                    }
                    continue;
                }
                let path = directory.join(OsStr::from_bytes(name.to_bytes()));
                let written = ReadFlags::CREATE | ReadFlags::MODIFY | ReadFlags::MOVED_TO;
                if happened.intersects(written) {
                    self.written.insert(path);
                } else if happened.intersects(ReadFlags::OPEN | ReadFlags::ACCESS) {
                    self.read.insert(path);
                }
            }
        }

        /// Ends the watch and hashes what was opened. A file that was written meanwhile is an output, or its content
        /// at the time is no longer known: it is left out.
        pub fn finish(mut self) -> FileOpened {
            self.drain();
            let files = self
                .read
                .difference(&self.written)
                .filter_map(|path| {
                    Some(FileFact {
                        path: path.clone(),
                        hash: hash_of(&self.root.join(path)).ok()?,
                    })
                })
                .collect();
            FileOpened {
                files,
                gaps: self.gaps.into_iter().collect(),
            }
        }
    }

    /// The directories in a directory that are to be watched, without following links.
    fn children(directory: &Path, relative: &Path, excluded: &[PathBuf]) -> Vec<PathBuf> {
        let Ok(listing) = fs::read_dir(directory) else {
            return Vec::new();
        };
        let mut children: Vec<PathBuf> = listing
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter(|entry| {
                let path = entry.path();
                entry.file_name() != ".git"
                    && !excluded.contains(&path)
                    && !path.join(CACHE_MARK).exists()
            })
            .map(|entry| relative.join(entry.file_name()))
            .collect();
        children.sort();
        children
    }
}

/// Watches a directory: not on this system.
#[cfg(not(target_os = "linux"))]
pub struct OpenedFiles(std::convert::Infallible);

#[cfg(not(target_os = "linux"))]
impl OpenedFiles {
    /// `None`: this system cannot.
    pub fn watch(_: &Path, _: &[PathBuf]) -> Option<Self> {
        None
    }

    /// Takes what the system has noted.
    pub fn drain(&mut self) {}

    /// Ends the watch.
    pub fn finish(self) -> FileOpened {
        match self.0 {}
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::*;

    /// A package with data, a target directory and a repository.
    fn package() -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("temporary directory");
        for (path, text) in [
            ("data/deep/input.txt", "input"),
            ("data/unread.txt", "unread"),
            ("target/debug/artifact", "artifact"),
            ("other-target/CACHEDIR.TAG", "Signature"),
            ("other-target/artifact", "artifact"),
            (".git/HEAD", "ref"),
            ("config.toml", "config"),
        ] {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().expect("parent")).expect("creates");
            fs::write(path, text).expect("writes");
        }
        directory
    }

    fn names(opened: &FileOpened) -> Vec<&str> {
        opened
            .files
            .iter()
            .map(|fact| fact.path.to_str().expect("text"))
            .collect()
    }

    #[test]
    fn files_that_are_opened_are_named_wherever_they_lie_but_for_builds_and_git() {
        let package = package();
        let root = package.path();
        let mut watch = OpenedFiles::watch(root, &[root.join("target")]).expect("inotify is there");
        for path in [
            "config.toml",
            "target/debug/artifact",
            "other-target/artifact",
            ".git/HEAD",
        ] {
            fs::read(root.join(path)).expect("reads");
        }
        watch.drain();
        // By another process, as a bench is one.
        let output = std::process::Command::new("cat")
            .arg(root.join("data/deep/input.txt"))
            .output()
            .expect("starts");
        assert_eq!(output.stdout, b"input");
        let opened = watch.finish();
        assert_eq!(names(&opened), ["config.toml", "data/deep/input.txt"]);
        assert_eq!(opened.gaps, [""; 0]);
    }

    #[test]
    fn what_is_written_meanwhile_is_no_input() {
        let package = package();
        let root = package.path();
        let watch = OpenedFiles::watch(root, &[]).expect("inotify is there");
        fs::write(root.join("output.txt"), "made here").expect("writes");
        fs::read(root.join("output.txt")).expect("reads");
        fs::read(root.join("config.toml")).expect("reads");
        fs::write(root.join("config.toml"), "changed").expect("writes");
        fs::create_dir(root.join("scratch")).expect("creates");
        let opened = watch.finish();
        assert_eq!(names(&opened), [""; 0]);
        assert_eq!(
            opened.gaps,
            ["`scratch` was made meanwhile and not watched"]
        );
    }

    #[test]
    fn more_directories_than_may_be_watched_are_a_gap() {
        let package = package();
        let watch = OpenedFiles::watch_at_most(2, package.path(), &[]).expect("inotify is there");
        let gaps = watch.finish().gaps;
        assert_eq!(gaps, ["only 2 directories were watched"]);
    }

    #[test]
    fn more_events_than_the_system_notes_are_a_gap() {
        let package = package();
        let limit: usize = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(16_384);
        let watch = OpenedFiles::watch(package.path(), &[]).expect("inotify is there");
        // Two files in turn, so that equal events do not become one.
        let files = ["config.toml", "data/unread.txt"].map(|path| package.path().join(path));
        for round in 0..=limit {
            drop(File::open(&files[round % 2]).expect("opens"));
        }
        let opened = watch.finish();
        assert_eq!(names(&opened), ["config.toml", "data/unread.txt"]);
        assert_eq!(
            opened.gaps,
            ["more was opened at once than the system could note"]
        );
    }

    #[test]
    fn a_file_that_changed_or_went_is_named() {
        let package = package();
        let root = package.path();
        let fact = |path: &str| FileFact {
            path: path.into(),
            hash: hash_of(&root.join(path)).expect("reads"),
        };
        let recorded = ["config.toml", "data/unread.txt", "data/deep/input.txt"].map(fact);
        assert_eq!(changed_files(&recorded, root), []);
        fs::write(root.join("config.toml"), "CONFIG").expect("writes");
        fs::remove_file(root.join("data/unread.txt")).expect("removes");
        fs::create_dir(root.join("data/unread.txt")).expect("creates");
        assert_eq!(
            changed_files(&recorded, root),
            [
                (PathBuf::from("config.toml"), FileChange::Differs),
                (PathBuf::from("data/unread.txt"), FileChange::Gone),
            ]
        );
    }
}
