//! Makes a directory hold given files and no others, and writes only files that differ.
//!
//! Writes only inside a directory of the cache and follows no symbolic link on the path. So all code that writes into a tree or into the copy of the
//! sources must use this module. Invariant: cargo, which compares modification times, never mistakes one state of a package for another.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::key::{map, single};
use super::request::{SidesError, file_error};
use perfcheck_host::os;

/// The files that a directory is to hold: the path in the directory, and the path of the original.
pub(super) type WantedFiles = BTreeMap<PathBuf, PathBuf>;

/// Adds those files of `others` that do not collide with `files`. A file collides if `files` has its path, a path above it or a path below it.
pub(super) fn add_without_conflicts(files: &mut WantedFiles, others: &WantedFiles) {
    let can_stay = |path: &Path| {
        let is_below = path.ancestors().any(|above| files.contains_key(above));
        // Paths are ordered, so the first one below `path` comes right after it.
        let mut from_here = files.range(path.to_owned()..);
        let is_above = from_here
            .next()
            .is_some_and(|(next, _)| next.starts_with(path));
        !is_below && !is_above
    };
    let staying: Vec<_> = others.iter().filter(|(path, _)| can_stay(path)).collect();
    let copied = |(path, origin): (&PathBuf, &PathBuf)| (path.clone(), origin.clone());
    files.extend(staying.into_iter().map(copied));
}

/// The facts by which a file is recognized as unchanged without reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    #[serde(with = "single")]
    origin: PathBuf,
    origin_state: CopyState,
    copy_state: CopyState,
}

/// Facts about a file that change whenever the file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct CopyState {
    inode: u64,
    bytes: u64,
    /// Time of the last change of content or attributes.
    changed_seconds: i64,
    changed_nanoseconds: i64,
}

/// The notes about the files that a directory holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Notes {
    #[serde(with = "map")]
    stamps: BTreeMap<PathBuf, Stamp>,
}

/// A file that was changed less than this many seconds before the notes were written may have changed again without a new time.
const SETTLING_SECONDS: i64 = 2;

/// How much later a new modification time is than the latest known one.
const STEP: Duration = Duration::from_millis(10);

/// The outcome of copying files into a directory.
#[derive(Debug, Default)]
pub(super) struct MirroredFiles {
    /// The originals of the copied files, with their states when they were copied.
    origins: Vec<(PathBuf, CopyState)>,
    /// The originals that were removed before they could be copied.
    pub(super) gone: Vec<PathBuf>,
}

impl MirroredFiles {
    /// Reports whether all originals are unchanged since they were copied, as far as the file system knows.
    pub(super) fn is_up_to_date(&self) -> bool {
        let is_same = |(origin, state): &(PathBuf, CopyState)| {
            read_state(origin).is_ok_and(|now| now == *state)
        };
        self.gone.is_empty() && self.origins.iter().all(is_same)
    }
}

/// A directory that is made to hold a given set of files.
///
/// Cargo decides by modification times which files have changed. So a file whose content stays the same keeps its time. A file that is written gets a
/// later time than every earlier build, even if the clock was set back in between. Cargo does not see every change: a macro may read files without
/// declaring them, and a file that was read through a link is remembered by its real path. So if a file that is not Rust changes, or any file is
/// removed, the Rust files of the same package get a new time too.
pub(super) struct Mirror {
    /// The directory.
    pub(super) root: PathBuf,
    /// The file for notes.
    pub(super) notes: PathBuf,
}

impl Mirror {
    /// Makes the directory hold exactly the files in `wanted`, apart from the paths in `spared`.
    pub(super) fn update(
        &self,
        wanted: &WantedFiles,
        spared: &[&Path],
    ) -> Result<MirroredFiles, SidesError> {
        fs::create_dir_all(&self.root).map_err(file_error("cannot make", &self.root))?;
        let known: Option<Notes> = fs::read(&self.notes)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        // Without notes, either an earlier process was stopped halfway or everything is new.
        let notes_were_there = known.is_some();
        let known = known.unwrap_or_default().stamps;
        let settled = self.trusted_before();
        // If this process dies halfway, the next one must not assume anything about the files.
        let _ = fs::remove_file(&self.notes);
        let mut directories: BTreeSet<&Path> = BTreeSet::new();
        for path in wanted.keys() {
            directories.extend(path.ancestors().skip(1));
        }
        let keep = WantedEntries {
            wanted,
            directories: &directories,
            spared,
        };
        let mut changes = Changes {
            everything: !notes_were_there,
            ..Changes::default()
        };
        remove_unwanted(&self.root, Path::new(""), &keep, &mut changes)?;
        let not_before = self.last_build_time()?;
        let mut notes = BTreeMap::new();
        let mut held = MirroredFiles::default();
        for (path, origin) in wanted {
            let copy = self.root.join(path);
            let Ok(state) = read_state(origin) else {
                self.remove_copy(path, &mut changes)?;
                held.gone.push(origin.clone());
                continue;
            };
            let unchanged = known.get(path).is_some_and(|stamp| {
                stamp.origin == *origin
                    && stamp.origin_state == state
                    && (state.changed_seconds, state.changed_nanoseconds) < settled
                    && read_state(&copy).is_ok_and(|now| now == stamp.copy_state)
            });
            if !unchanged {
                create_parents(&self.root, path).map_err(file_error("cannot write", &copy))?;
                match update_copy(origin, &copy, not_before) {
                    Ok(brought) => changes.add(path, brought),
                    Err(_) if fs::symlink_metadata(origin).is_err() => {
                        self.remove_copy(path, &mut changes)?;
                        held.gone.push(origin.clone());
                        continue;
                    }
                    Err(error) => return Err(file_error("cannot copy", origin)(error)),
                }
            }
            held.origins.push((origin.clone(), state));
            notes.insert(path.clone(), (origin, state));
        }
        self.touch_changed_packages(wanted, &changes, not_before)?;
        let mut stamps = BTreeMap::new();
        for (path, (origin, origin_state)) in notes {
            let copy = self.root.join(&path);
            let stamp = Stamp {
                origin: origin.clone(),
                origin_state,
                copy_state: read_state(&copy).map_err(file_error("cannot read", &copy))?,
            };
            stamps.insert(path, stamp);
        }
        let text = serde_json::to_vec(&Notes { stamps }).map_err(io::Error::from);
        text.and_then(|text| fs::write(&self.notes, text))
            .map_err(file_error("cannot write", &self.notes))?;
        Ok(held)
    }

    /// Removes the copy of a file whose original no longer exists.
    fn remove_copy(&self, path: &Path, changes: &mut Changes) -> Result<(), SidesError> {
        let copy = self.root.join(path);
        if fs::symlink_metadata(&copy).is_ok() {
            remove_entry(&copy).map_err(file_error("cannot remove", &copy))?;
            changes.unseen.push(path.to_owned());
        }
        Ok(())
    }

    /// Gives the Rust files of changed packages a new modification time.
    fn touch_changed_packages(
        &self,
        wanted: &WantedFiles,
        changes: &Changes,
        not_before: SystemTime,
    ) -> Result<(), SidesError> {
        let packages: BTreeSet<Option<&Path>> = changes
            .unseen
            .iter()
            .map(|path| package_of(path, wanted))
            .collect();
        if packages.is_empty() && !changes.everything {
            return Ok(());
        }
        // The new time comes from the clock of the file system, like all times with which it is compared.
        let clock = self.notes.with_extension("clock");
        fs::write(&clock, b"").map_err(file_error("cannot write", &clock))?;
        let now = fs::metadata(&clock).and_then(|file| file.modified());
        let now = now.map_err(file_error("cannot read", &clock))?;
        for path in wanted.keys() {
            let is_rust = path.extension().is_some_and(|extension| extension == "rs");
            let package = package_of(path, wanted);
            let is_concerned =
                changes.everything || (package.is_some() && packages.contains(&package));
            let copy = self.root.join(path);
            if is_rust && is_concerned && !copy.is_symlink() {
                os::set_modified(&copy, now.max(not_before + STEP))
                    .map_err(file_error("cannot write", &copy))?;
            }
        }
        Ok(())
    }

    /// Records that something is built from the directory at this time.
    pub(super) fn record_build_time(&self) -> Result<(), SidesError> {
        let path = self.build_time_file();
        fs::write(&path, b"").map_err(file_error("cannot write", &path))
    }

    /// Returns the time before which a file must have changed last for its stamp to be valid. A file that changed shortly before the notes were
    /// written may have changed again without a new time.
    fn trusted_before(&self) -> (i64, i64) {
        os::read_file_facts(&self.notes).map_or((i64::MIN, 0), |notes| {
            let (seconds, nanoseconds) = notes.written;
            (seconds - SETTLING_SECONDS, nanoseconds)
        })
    }

    fn build_time_file(&self) -> PathBuf {
        self.notes.with_extension("built")
    }

    /// Returns the time of the last build. Cargo notices a change of a file only if the file has a later time.
    fn last_build_time(&self) -> Result<SystemTime, SidesError> {
        let path = self.build_time_file();
        match fs::metadata(&path).and_then(|metadata| metadata.modified()) {
            Ok(time) => Ok(time),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(SystemTime::UNIX_EPOCH),
            Err(error) => Err(file_error("cannot read", &path)(error)),
        }
    }
}

/// Changes that cargo may not notice.
#[derive(Debug, Default)]
struct Changes {
    /// Files whose changes cargo may not notice.
    unseen: Vec<PathBuf>,
    /// Whether cargo may have missed changes in every package.
    everything: bool,
}

impl Changes {
    fn add(&mut self, path: &Path, brought: CopiedEntry) {
        match brought {
            CopiedEntry::Nothing => {}
            CopiedEntry::Link => self.everything = true,
            CopiedEntry::File if is_seen_by_cargo(path) => {}
            CopiedEntry::File => self.unseen.push(path.to_owned()),
        }
    }
}

/// Reports whether cargo notices a change of the file's content, by itself or through the compiler.
fn is_seen_by_cargo(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
        || path.ends_with("Cargo.toml")
        || path.ends_with("Cargo.lock")
        || path
            .components()
            .any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
}

/// The kind of entry that had to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopiedEntry {
    Nothing,
    File,
    Link,
}

/// Returns the directory of the package that contains `path`, if any does.
fn package_of<'a>(path: &'a Path, wanted: &WantedFiles) -> Option<&'a Path> {
    path.ancestors()
        .skip(1)
        .find(|directory| wanted.contains_key(&directory.join("Cargo.toml")))
}

struct WantedEntries<'a> {
    wanted: &'a WantedFiles,
    directories: &'a BTreeSet<&'a Path>,
    spared: &'a [&'a Path],
}

/// Removes everything that is not wanted before anything is written, because an old link may be at the path of a new directory.
fn remove_unwanted(
    directory: &Path,
    below: &Path,
    keep: &WantedEntries<'_>,
    changes: &mut Changes,
) -> Result<(), SidesError> {
    let unreadable = || file_error("cannot read", directory);
    for entry in fs::read_dir(directory).map_err(unreadable())? {
        let entry = entry.map_err(unreadable())?;
        let path = below.join(entry.file_name());
        if keep.spared.contains(&path.as_path()) {
            continue;
        }
        let here = entry.path();
        let is_directory = entry.file_type().map_err(unreadable())?.is_dir();
        let outcome = match (is_directory, keep.directories.contains(path.as_path())) {
            (true, true) => {
                remove_unwanted(&here, &path, keep, changes)?;
                Ok(())
            }
            (true, false) if keep.spared.iter().any(|spared| spared.starts_with(&path)) => {
                remove_unwanted(&here, &path, keep, changes)?;
                Ok(())
            }
            (true, false) => {
                changes.unseen.push(path);
                fs::remove_dir_all(&here)
            }
            (false, _) if keep.wanted.contains_key(&path) => Ok(()),
            (false, _) => {
                changes.everything |= here.is_symlink();
                changes.unseen.push(path);
                os::remove_file_or_link(&here)
            }
        };
        outcome.map_err(file_error("cannot remove", &here))?;
    }
    Ok(())
}

/// Makes `copy` equal to `origin`, unless it already is. Returns what had to be written.
fn update_copy(origin: &Path, copy: &Path, not_before: SystemTime) -> io::Result<CopiedEntry> {
    let from = fs::symlink_metadata(origin)?;
    let to = fs::symlink_metadata(copy).ok();
    if from.is_symlink() {
        let leads_to = fs::read_link(origin)?;
        if to.is_some() {
            if fs::read_link(copy).is_ok_and(|old| old == leads_to) {
                return Ok(CopiedEntry::Nothing);
            }
            os::remove_file_or_link(copy)?;
        }
        os::create_link(&leads_to, copy)?;
        return Ok(CopiedEntry::Link);
    }
    let mut brought = CopiedEntry::File;
    if let Some(to) = to {
        if to.is_file() && to.len() == from.len() && same_content(origin, copy)? {
            if to.permissions() != from.permissions() {
                fs::set_permissions(copy, from.permissions())?;
            }
            return Ok(CopiedEntry::Nothing);
        }
        if to.is_symlink() {
            brought = CopiedEntry::Link;
        }
        // The old entry is removed instead of overwritten: it may be read-only, or a link.
        os::remove_file_or_link(copy)?;
    }
    fs::copy(origin, copy)?;
    let written = fs::metadata(copy)?.modified()?;
    if written <= not_before {
        os::set_modified(copy, not_before + STEP)?;
    }
    Ok(brought)
}

fn same_content(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let length = one.read(&mut left)?;
        if length == 0 {
            return Ok(other.read(&mut right)? == 0);
        }
        match other.read_exact(&mut right[..length]) {
            Ok(()) if left[..length] == right[..length] => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

fn read_state(path: &Path) -> io::Result<CopyState> {
    let facts = os::read_file_facts(path)?;
    let (changed_seconds, changed_nanoseconds) = facts.changed;
    Ok(CopyState {
        inode: facts.number,
        bytes: facts.bytes,
        changed_seconds,
        changed_nanoseconds,
    })
}

/// Creates the parent directories of `path` below `root` and returns the full path. Fails if one of them is a link or a file.
///
/// A revision may have a link where the present state has a directory, or the reverse. A file copied through such a link would replace a file of the
/// user.
pub(super) fn create_parents(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let mut here = root.to_owned();
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Err(outside_error(root, path));
        };
        here.push(name);
        if parts.peek().is_none() {
            break;
        }
        match fs::symlink_metadata(&here) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(outside_error(root, &here)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&here)?,
            Err(error) => return Err(error),
        }
    }
    Ok(here)
}

/// Writes a new file at `path` below `root`, in place of an existing file or link.
pub(super) fn write_file(root: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let place = create_parents(root, path)?;
    remove_entry(&place)?;
    // Creating a new file fails if a link was created here in the meantime.
    File::create_new(&place)?.write_all(content)
}

/// Copies the file `origin` to `path` below `root`, in place of an existing file or link. A link to a directory is copied as a link.
pub(super) fn copy_file(root: &Path, path: &Path, origin: &Path) -> io::Result<()> {
    let place = create_parents(root, path)?;
    remove_entry(&place)?;
    if origin.is_symlink() && !origin.is_file() {
        return os::create_link(&fs::read_link(origin)?, &place);
    }
    fs::copy(origin, &place).map(|_| ())
}

/// Creates a link at `path` below `root`, unless the path exists or one of its parents is not a directory.
pub(super) fn create_link_if_free(root: &Path, path: &Path, leads_to: &Path) -> io::Result<()> {
    let is_blocked = |above: &Path| {
        fs::symlink_metadata(root.join(above)).is_ok_and(|metadata| !metadata.is_dir())
    };
    let mut directories = path.ancestors().skip(1);
    if directories.any(|above| !above.as_os_str().is_empty() && is_blocked(above)) {
        return Ok(());
    }
    let place = create_parents(root, path)?;
    match os::create_link(leads_to, &place) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes a file or a link, if it exists.
pub(super) fn remove_entry(path: &Path) -> io::Result<()> {
    match os::remove_file_or_link(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn outside_error(root: &Path, path: &Path) -> io::Error {
    let path = path.strip_prefix(root).unwrap_or(path);
    io::Error::new(
        io::ErrorKind::NotADirectory,
        format!("`{}` points outside the directory", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_after_it_was_copied_is_noticed() {
        let home = tempfile::tempdir().expect("a directory");
        let origin = home.path().join("origin");
        fs::write(&origin, "old").expect("written");
        let mirror = Mirror {
            root: home.path().join("copy"),
            notes: home.path().join("notes"),
        };
        let mut wanted = WantedFiles::from([("file".into(), origin.clone())]);
        let held = mirror.update(&wanted, &[]).expect("copied");
        assert!(held.is_up_to_date());
        fs::write(&origin, "another").expect("written");
        assert!(!held.is_up_to_date());
        // A file that was removed before the copy began.
        wanted.insert("gone".into(), home.path().join("gone"));
        let held = mirror.update(&wanted, &[]).expect("copied");
        assert_eq!(held.gone, [home.path().join("gone")]);
        assert!(!held.is_up_to_date());
    }

    /// Creates a directory `root` with the links `absolute`, `deep/er/relative` and `file` to `outside`, which has the file `data`.
    fn directory_with_links() -> tempfile::TempDir {
        let home = tempfile::tempdir().expect("a directory");
        let outside = home.path().join("outside");
        fs::create_dir_all(home.path().join("root/deep/er")).expect("made");
        fs::create_dir(&outside).expect("made");
        fs::write(outside.join("data"), "untouched").expect("written");
        let links = [
            ("root/absolute", outside.clone()),
            ("root/deep/er/relative", "../../../outside".into()),
            ("root/file", outside.join("data")),
        ];
        for (link, leads_to) in links {
            os::create_link(&leads_to, &home.path().join(link)).expect("linked");
        }
        home
    }

    #[test]
    #[cfg_attr(windows, ignore = "needs symbolic links, also to files")]
    fn nothing_is_written_through_a_link() {
        let home = directory_with_links();
        let root = &home.path().join("root");
        let origin = &home.path().join("origin");
        fs::write(origin, "other").expect("written");
        for path in [
            "absolute/data",
            "absolute/new/data",
            "deep/er/relative/data",
            "../outside/data",
            "/outside/data",
        ] {
            let path = Path::new(path);
            assert!(write_file(root, path, b"other").is_err(), "{path:?}");
            assert!(copy_file(root, path, origin).is_err(), "{path:?}");
        }
        for path in ["absolute/linked", "deep/er/relative/linked"] {
            create_link_if_free(root, Path::new(path), origin).expect("left alone");
        }
        write_file(root, Path::new("file"), b"other").expect("replaced");
        assert!(!root.join("file").is_symlink());
        let outside = home.path().join("outside");
        let data = fs::read_to_string(outside.join("data"));
        assert_eq!(data.expect("readable"), "untouched");
        assert_eq!(fs::read_dir(outside).expect("readable").count(), 1);
    }

    #[test]
    #[cfg_attr(windows, ignore = "needs symbolic links, also to files")]
    fn directories_on_the_way_are_made() {
        let home = directory_with_links();
        let root = &home.path().join("root");
        write_file(root, Path::new("deep/new/file"), b"text").expect("written");
        let text = fs::read(root.join("deep/new/file"));
        assert_eq!(text.expect("readable"), b"text");
    }
}
