//! Lists the files of the work tree, and the files that belong to a bench target.
//!
//! The copy must contain every file that a build could read. It omits directories that cargo and other tools fill with reproducible files, and
//! ignored files that are too many or too large. Files that are omitted for their size or permissions are reported.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::kept::{files_below, hash_file};
use super::mirror::WantedFiles;
use super::request::{SidesError, SidesRequest, UncopiedFile, UncopiedReason, file_error};
use crate::cargo::{BenchExecutable, BenchTarget};
use perfcheck_host::Checkout;
use perfcheck_host::os::canonicalize;
use perfcheck_host::process::Supervisor;

/// Maximum size of an ignored file or directory that is copied, in bytes.
const LARGEST_IGNORED: u64 = 32 << 20;
/// Maximum number of entries of an ignored directory that is copied.
const MOST_IGNORED_FILES: usize = 2_000;
/// Maximum number of input files of a program whose contents are compared between the sides.
const MOST_INPUTS: usize = 10_000;
/// The first bytes of `CACHEDIR.TAG` (<https://bford.info/cachedir/>).
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// The files of the work tree as it is now.
#[derive(Debug, Default)]
pub(super) struct PresentSources {
    /// All files to copy.
    pub(super) wanted: WantedFiles,
    /// The files in `wanted` that stay in place when another revision is checked out: git ignores them, or they belong to a repository of their own.
    pub(super) ignored: WantedFiles,
    /// Files and directories that are not part of the revision but that its benchmarks may read, regardless of size.
    pub(super) readable: Vec<PathBuf>,
    pub(super) left_out: Vec<UncopiedFile>,
    /// Whether the files may differ from the commit although git calls every tracked file unchanged: there are untracked files, or git is told to
    /// overlook changes.
    pub(super) may_differ: bool,
}

/// The directories that hold only files that can be made again.
#[derive(Debug)]
pub(super) struct Caches {
    known: Vec<PathBuf>,
    /// Results for directories that were examined before.
    looked_at: RefCell<HashMap<PathBuf, bool>>,
}

impl Caches {
    /// Creates the set of the directories in `known` and of all that are marked by a `CACHEDIR.TAG`.
    pub(super) fn new<'a>(known: impl IntoIterator<Item = &'a Path>) -> Self {
        let known = known.into_iter();
        let spelled =
            known.flat_map(|path| [path.to_owned()].into_iter().chain(canonicalize(path)));
        Self {
            known: spelled.collect(),
            looked_at: RefCell::default(),
        }
    }

    /// Reports whether `path` is a directory that is known or tagged to hold only files that can be made again.
    fn is_cache(&self, path: &Path) -> bool {
        self.known.iter().any(|known| known == path) || is_tagged_as_cache(path)
    }

    /// Reports whether `path`, relative to `top`, is a directory of files that can be made again, or is in one.
    fn contains(&self, top: &Path, path: &Path) -> bool {
        if path.as_os_str().is_empty() {
            return false;
        }
        if let Some(known) = self.looked_at.borrow().get(path) {
            return *known;
        }
        let is_inside = self.is_cache(&top.join(path))
            || path
                .parent()
                .is_some_and(|parent| self.contains(top, parent));
        self.looked_at
            .borrow_mut()
            .insert(path.to_owned(), is_inside);
        is_inside
    }

    /// Returns the known directories inside `top`, relative to it.
    fn known_in(&self, top: &Path) -> Vec<PathBuf> {
        let inside = self
            .known
            .iter()
            .filter_map(|path| path.strip_prefix(top).ok());
        let inside = inside.filter(|path| !path.as_os_str().is_empty());
        inside.map(Path::to_owned).collect()
    }
}

/// Reports whether a `CACHEDIR.TAG` declares that the directory holds only files that can be made again.
pub(super) fn is_tagged_as_cache(directory: &Path) -> bool {
    let mut beginning = [0; CACHE_SIGNATURE.len()];
    File::open(directory.join("CACHEDIR.TAG"))
        .and_then(|mut tag| tag.read_exact(&mut beginning))
        .is_ok_and(|()| beginning == CACHE_SIGNATURE)
}

/// Lists the files below `top`, which is the top of a repository or a directory in no repository. `packages` are the directories of the workspace's
/// packages, which are copied even if git ignores them.
pub(super) fn list_sources(
    top: &Path,
    request: &SidesRequest<'_>,
    caches: &Caches,
    packages: &[&Path],
) -> Result<PresentSources, SidesError> {
    let packages = packages
        .iter()
        .filter_map(|directory| canonicalize(directory).ok());
    let packages = packages.filter_map(|path| Some(path.strip_prefix(top).ok()?.to_owned()));
    let mut listing = SourceListing {
        top,
        supervisor: request.supervisor,
        caches,
        packages: packages.collect(),
        sources: WantedFiles::new(),
        found: PresentSources::default(),
    };
    match request.checkout {
        Some(_) => listing.add_repository(Path::new(""), FileOwner::State)?,
        None => listing.add_directory(Path::new(""), FileOwner::State),
    }
    Ok(listing.finish())
}

/// Whether a file depends on the state of the repository that is checked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileOwner {
    /// The file belongs to the state that is checked out.
    State,
    /// The file stays in place regardless of the state that is checked out.
    Surroundings,
}

struct SourceListing<'a> {
    top: &'a Path,
    supervisor: &'a Supervisor,
    caches: &'a Caches,
    packages: Vec<PathBuf>,
    sources: WantedFiles,
    found: PresentSources,
}

impl SourceListing<'_> {
    /// Adds the files that git lists in the repository at `below`.
    fn add_repository(&mut self, below: &Path, owner: FileOwner) -> Result<(), SidesError> {
        let here = self.top.join(below);
        let files = Checkout::present_files(&here, &self.caches.known_in(&here), self.supervisor)?;
        self.found.may_differ |= owner == FileOwner::State && files.hides_changes;
        let mut reached = HashMap::new();
        for path in files.tracked {
            // The index may still list files behind a directory that has become a link.
            if is_reached_without_links(&here, path.parent(), &mut reached) {
                self.add_file(below.join(path), owner);
            }
        }
        for path in files.untracked {
            let path = below.join(path);
            if !self.caches.contains(self.top, &path) {
                self.found.may_differ |= owner == FileOwner::State;
                self.add_file(path, owner);
            }
        }
        for path in files.submodules {
            self.add_repository(&below.join(path), owner)?;
        }
        let others = files.clones.iter().chain(&files.ignored);
        for path in others.filter(|path| !path.starts_with(".")) {
            self.add_ignored(&below.join(path));
        }
        Ok(())
    }

    /// Adds all files below a directory that is in no repository. For a repository inside it, adds the files that git lists.
    fn add_directory(&mut self, below: &Path, owner: FileOwner) {
        let mut directories = vec![below.to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in self.entries(&directory).into_iter().flatten() {
                let path = directory.join(entry.file_name());
                if self.is_skipped(&path) {
                    continue;
                }
                if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    self.add_file(path, owner);
                } else if !self.try_add_repository(&path, owner) {
                    directories.push(path);
                }
            }
        }
    }

    /// Adds a file or directory that is not the repository's own. Packages of the workspace are always added, everything else unless it is too large.
    fn add_ignored(&mut self, path: &Path) {
        let here = self.top.join(path);
        let Ok(metadata) = here.symlink_metadata() else {
            return;
        };
        if self.caches.contains(self.top, path) {
            return;
        }
        self.found.readable.push(path.to_owned());
        if !metadata.is_dir() {
            if metadata.is_file() && metadata.len() > LARGEST_IGNORED {
                self.leave_out(path, UncopiedReason::TooLarge);
            } else {
                self.add_file(path.to_owned(), FileOwner::Surroundings);
            }
            return;
        }
        let packages: Vec<PathBuf> = (self.packages.iter())
            .filter(|package| package.starts_with(path))
            .cloned()
            .collect();
        for package in &packages {
            let mut above = package
                .ancestors()
                .take_while(|above| above.starts_with(path));
            let is_in_repository =
                above.any(|above| self.try_add_repository(above, FileOwner::Surroundings));
            if !is_in_repository {
                self.add_directory(package, FileOwner::Surroundings);
            }
        }
        match self.files_within_limits(path, &packages) {
            Some(files) => {
                for path in files {
                    self.add_file(path, FileOwner::Surroundings);
                }
            }
            None => self.leave_out(path, UncopiedReason::TooLarge),
        }
    }

    /// Lists the files below an ignored directory, without `packages`. Returns `None` if they are too many or too large. Examines no more files than
    /// may be copied.
    fn files_within_limits(&mut self, path: &Path, packages: &[PathBuf]) -> Option<Vec<PathBuf>> {
        let mut found = Vec::new();
        let (mut entries, mut size) = (0, 0);
        let mut directories = vec![path.to_owned()];
        while let Some(directory) = directories.pop() {
            if packages.contains(&directory) {
                continue;
            }
            for entry in self.entries(&directory).into_iter().flatten() {
                let path = directory.join(entry.file_name());
                let Ok(metadata) = entry.metadata() else {
                    continue;
                };
                if self.is_skipped(&path) {
                    continue;
                }
                entries += 1;
                if metadata.is_dir() {
                    directories.push(path);
                } else {
                    size += if metadata.is_file() {
                        metadata.len()
                    } else {
                        0
                    };
                    found.push(path);
                }
                if entries > MOST_IGNORED_FILES || size > LARGEST_IGNORED {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Adds the files that git lists in a repository at `path`, and reports whether there is one.
    fn try_add_repository(&mut self, path: &Path, owner: FileOwner) -> bool {
        let here = self.top.join(path);
        here.join(".git").exists()
            && Checkout::find(&here, self.supervisor).is_ok_and(|inside| inside.top == here)
            && self.add_repository(path, owner).is_ok()
    }

    /// Reports whether no build reads the path: git's own files, and files that can be made again.
    fn is_skipped(&self, path: &Path) -> bool {
        path.ends_with(".git") || self.caches.is_cache(&self.top.join(path))
    }

    fn entries(&mut self, directory: &Path) -> Option<impl Iterator<Item = fs::DirEntry> + use<>> {
        match fs::read_dir(self.top.join(directory)) {
            Ok(entries) => Some(entries.filter_map(Result::ok)),
            Err(error) => {
                if error.kind() == io::ErrorKind::PermissionDenied {
                    self.leave_out(directory, UncopiedReason::Unreadable);
                }
                None
            }
        }
    }

    /// Adds a file or a link, if it exists and a build could read it.
    fn add_file(&mut self, path: PathBuf, owner: FileOwner) {
        let origin = self.top.join(&path);
        let Ok(metadata) = origin.symlink_metadata() else {
            return;
        };
        if metadata.is_file() {
            if let Err(error) = File::open(&origin) {
                if error.kind() == io::ErrorKind::PermissionDenied {
                    self.leave_out(&path, UncopiedReason::Unreadable);
                }
                return;
            }
        } else if !metadata.is_symlink() {
            // Skip sockets, devices and pipes.
            return;
        }
        let files = match owner {
            FileOwner::State => &mut self.sources,
            FileOwner::Surroundings => &mut self.found.ignored,
        };
        files.insert(path, origin);
    }

    fn leave_out(&mut self, path: &Path, reason: UncopiedReason) {
        self.found.left_out.push(UncopiedFile {
            path: path.to_owned(),
            reason,
        });
    }

    fn finish(mut self) -> PresentSources {
        let found = &mut self.found;
        found.wanted.clone_from(&found.ignored);
        found.wanted.append(&mut self.sources);
        found.readable.sort();
        found
            .left_out
            .sort_by(|one, other| one.path.cmp(&other.path));
        found.left_out.dedup();
        self.found
    }
}

/// Reports whether the path from `top` to the directory `path` contains no links. `known` caches the results.
fn is_reached_without_links(
    top: &Path,
    path: Option<&Path>,
    known: &mut HashMap<PathBuf, bool>,
) -> bool {
    let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else {
        return true;
    };
    if let Some(known) = known.get(path) {
        return *known;
    }
    let is_reached = is_reached_without_links(top, path.parent(), known)
        && top
            .join(path)
            .symlink_metadata()
            .is_ok_and(|found| found.is_dir());
    known.insert(path.to_owned(), is_reached);
    is_reached
}

/// Returns a bench target's own sources, as the compiler listed them, and the files next to them that are not Rust. Each has its path relative to
/// `top` and the hash of its content.
pub(super) fn own_sources(
    bench: &BenchExecutable,
    workspace_root: &Path,
    top: &Path,
) -> Result<BTreeMap<PathBuf, String>, SidesError> {
    let mut files: Vec<PathBuf> = vec![bench.source.clone()];
    let listed = fs::read_to_string(bench.executable.with_extension("d")).unwrap_or_default();
    files.extend(
        dependency_files(&listed)
            .iter()
            .map(|path| normalize_lexically(&workspace_root.join(path))),
    );
    let directory = bench.source.parent().unwrap_or(top);
    let is_data = |path: &PathBuf| path.extension().is_none_or(|extension| extension != "rs");
    files.extend(files_below(directory).into_iter().filter(is_data));
    let mut hashed = BTreeMap::new();
    for file in files {
        if let Ok(relative) = file.strip_prefix(top)
            && file.is_file()
        {
            let hash = hash_file(&file).map_err(file_error("cannot read", &file))?;
            hashed.insert(relative.to_owned(), hash);
        }
    }
    Ok(hashed)
}

/// Returns the files that a program is given: its standard input, and the files and directories that its arguments name. Each has its path relative
/// to the directory of the package and the hash of its content. Files that cannot be read are left out, because the program reports them.
pub(super) fn hash_inputs(target: &BenchTarget) -> BTreeMap<PathBuf, String> {
    let mut hashed = BTreeMap::new();
    for program in &target.programs {
        let arguments = program.arguments.iter().map(Path::new);
        let named = arguments.chain(program.stdin.as_deref());
        // An empty argument, such as a pattern that matches everything, would name the directory itself.
        let named = named.filter(|name| !name.as_os_str().is_empty());
        for file in list_inputs(named.map(|name| target.directory.join(name)).collect()) {
            if let Ok(relative) = file.strip_prefix(&target.directory)
                && let Ok(hash) = hash_file(&file)
            {
                hashed.insert(relative.to_owned(), hash);
            }
        }
    }
    hashed
}

/// Lists the regular files among `paths` and in the directories among them, up to [`MOST_INPUTS`]. Leaves out what cargo and git write.
fn list_inputs(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    while let Some(path) = paths.pop() {
        if files.len() == MOST_INPUTS {
            break;
        }
        if path.is_file() {
            files.push(path);
        } else if path.is_dir() && !is_tagged_as_cache(&path) && !path.ends_with(".git") {
            let entries = fs::read_dir(&path).into_iter().flatten();
            let mut within: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            within.retain(|path| !path.is_symlink());
            // The order decides which files are within the limit, so it must not depend on the file system.
            within.sort_unstable_by(|a, b| b.cmp(a));
            paths.extend(within);
        }
    }
    files
}

/// Returns the files that the compiler lists as read: lines `FILE:` with nothing after the colon.
fn dependency_files(listed: &str) -> Vec<PathBuf> {
    listed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.strip_suffix(':'))
        .map(|file| PathBuf::from(file.replace("\\ ", " ")))
        .collect()
}

/// Removes `.` and `..` from a path without accessing the file system.
pub(super) fn normalize_lexically(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::{ProgramBenchmark, SkipSupport, TargetFacts};

    #[test]
    fn the_inputs_of_a_program_are_the_files_that_it_names() {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["corpus/a.txt", "in.txt", "other.txt"] {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(path, "words").expect("written");
        }
        let program = ProgramBenchmark {
            package: "p".into(),
            binary: "rg".into(),
            id: "search".into(),
            arguments: ["", "--count", "corpus", "absent"]
                .map(str::to_owned)
                .into(),
            stdin: Some("in.txt".into()),
            prepare: Vec::new(),
            exit: 0,
            build: None,
        };
        let target = BenchTarget {
            package: "p".into(),
            target: "program:rg".into(),
            program: "/nowhere".into(),
            first_arguments: Vec::new(),
            directory: directory.path().to_owned(),
            variables: BTreeMap::new(),
            facts: TargetFacts::default(),
            skipping: SkipSupport::Works,
            programs: vec![program],
        };
        let inputs = hash_inputs(&target);
        let names = inputs.keys().map(PathBuf::as_path);
        assert!(
            names.eq(["corpus/a.txt", "in.txt"].map(Path::new)),
            "{inputs:?}"
        );
    }

    #[test]
    fn the_compilers_list_names_each_file_on_a_line_of_its_own() {
        let listed = "/t/deps/a-1.d: benches/a.rs src/b c.rs\n\n/t/deps/a-1: benches/a.rs\n\nbenches/a.rs:\nsrc/b\\ c.rs:\n\n# env-dep:X=1:\n";
        let expected = [PathBuf::from("benches/a.rs"), PathBuf::from("src/b c.rs")];
        assert_eq!(dependency_files(listed), expected);
    }

    #[test]
    fn dots_are_taken_out_of_paths() {
        assert_eq!(
            normalize_lexically(Path::new("/a/./b/../c")),
            Path::new("/a/c")
        );
    }
}
