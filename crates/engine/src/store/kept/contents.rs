//! The directory of contents beside the database: one zstd file for each content, named by its BLAKE3 hash.
//!
//! Everything is streamed: an executable may be larger than memory. A file gets its name in one step, when it is whole
//! and on the device, and only inside the transaction that records it: whoever holds the store's write lock sees all
//! names there are. A file under another name is one being made (its maker holds a lock on it) or left over from a kill.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::StoreError;
use super::error::KeptError;
use super::facts::KeptContent;
use super::privacy;
use perfcheck_analysis::model::ContentHash;

const SUFFIX: &str = ".zst";
const UNFINISHED: &str = "unfinished-";
/// zstd's own default; docs/STORE.md has what other levels would save and cost.
const LEVEL: i32 = 3;
const CHUNK_BYTES: usize = 1 << 18;

/// The directory.
pub(super) struct KeptFolder {
    pub(super) directory: PathBuf,
}

/// What a file in the directory is.
pub(super) enum FolderEntry {
    Content(ContentHash),
    /// Nobody is making it any more.
    Abandoned,
}

/// A content that is compressed and on the device, and has no name yet. Removed when dropped before it gets one.
pub(super) struct Packed {
    pub(super) content: KeptContent,
    pub(super) compressed: u64,
    path: PathBuf,
    // Holds the lock.
    _file: File,
}

impl Drop for Packed {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The hash and size of a file.
pub(super) fn identify(path: &Path) -> Result<KeptContent, StoreError> {
    let read = |source| StoreError::of_file(path, "read", source);
    let mut hasher = blake3::Hasher::new();
    hasher
        .update_reader(File::open(path).map_err(read)?)
        .map_err(read)?;
    Ok(content_of(&hasher))
}

fn content_of(hasher: &blake3::Hasher) -> KeptContent {
    KeptContent {
        hash: ContentHash(*hasher.finalize().as_bytes()),
        size: hasher.count(),
    }
}

impl KeptFolder {
    /// Those of the database at `store`.
    pub(super) fn beside(store: &Path) -> Self {
        let mut directory = store.as_os_str().to_owned();
        directory.push(".kept");
        Self {
            directory: directory.into(),
        }
    }

    /// Where a content lies.
    pub(super) fn path(&self, hash: ContentHash) -> PathBuf {
        self.directory.join(format!("{hash}{SUFFIX}"))
    }

    /// Creates the directory for its owner alone, unless it is there.
    pub(super) fn create(&self) -> Result<(), StoreError> {
        privacy::create_private(&self.directory)
    }

    /// Compresses a file, of which is known what it holds.
    pub(super) fn pack(&self, source: &Path, expected: KeptContent) -> Result<Packed, StoreError> {
        let (file, path) = self.unfinished()?;
        let mut packed = Packed {
            content: expected,
            compressed: 0,
            path,
            _file: file
                .try_clone()
                .map_err(|error| StoreError::of_file(&self.directory, "create a file in", error))?,
        };
        let write = |error| StoreError::of_file(&packed.path, "write", error);
        let read = |error| StoreError::of_file(source, "read", error);
        let mut hasher = blake3::Hasher::new();
        let mut encoder = zstd::Encoder::new(file, LEVEL).map_err(write)?;
        encoder.include_checksum(true).map_err(write)?;
        let mut from = File::open(source).map_err(read)?;
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let length = from.read(&mut chunk).map_err(read)?;
            if length == 0 {
                break;
            }
            hasher.update(&chunk[..length]);
            encoder.write_all(&chunk[..length]).map_err(write)?;
        }
        let file = encoder.finish().map_err(write)?;
        file.sync_all().map_err(write)?;
        let compressed = file.metadata().map_err(write)?.len();
        if content_of(&hasher) != expected {
            return Err(KeptError::Changing {
                path: source.to_owned(),
            }
            .into());
        }
        packed.compressed = compressed;
        Ok(packed)
    }

    /// A new file that nobody else takes for abandoned.
    fn unfinished(&self) -> Result<(File, PathBuf), StoreError> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{UNFINISHED}{}-{number}", std::process::id());
            let path = self.directory.join(name);
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Ok(file) => {
                    // Where there are no locks it is never swept either.
                    let _ = file.lock();
                    // A sweep may have come between creation and lock.
                    if path.exists() {
                        return Ok((file, path));
                    }
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StoreError::of_file(&path, "create", error)),
            }
        }
    }

    /// Gives a packed content its name. Call it inside the transaction that records the content.
    pub(super) fn place(&self, packed: &Packed) -> Result<(), StoreError> {
        let path = self.path(packed.content.hash);
        std::fs::rename(&packed.path, &path)
            .map_err(|error| StoreError::of_file(&path, "create", error))
    }

    /// Waits until the names are on the device.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        if cfg!(unix) {
            File::open(&self.directory)
                .and_then(|directory| directory.sync_all())
                .map_err(|error| StoreError::of_file(&self.directory, "write", error))?;
        }
        Ok(())
    }

    /// Bytes that a content takes; `None` where it is not there.
    pub(super) fn compressed(&self, hash: ContentHash) -> Option<u64> {
        let metadata = std::fs::symlink_metadata(self.path(hash)).ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// Writes a content out, or says what is wrong with it.
    pub(super) fn unpack(
        &self,
        content: KeptContent,
        mut to: impl Write,
    ) -> Result<(), StoreError> {
        let path = self.path(content.hash);
        let file = match open_no_link(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(KeptError::Gone { path }.into());
            }
            Err(error) => return Err(StoreError::of_file(&path, "read", error)),
        };
        let damaged = |detail: String| KeptError::Damaged {
            path: path.clone(),
            detail,
        };
        let mut from = zstd::Decoder::new(file)
            .map_err(|error| damaged(error.to_string()))?
            // Not a byte more than was recorded: a swapped file may be a bomb.
            .take(content.size.saturating_add(1));
        let mut hasher = blake3::Hasher::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let length = from
                .read(&mut chunk)
                .map_err(|error| damaged(error.to_string()))?;
            if length == 0 {
                break;
            }
            hasher.update(&chunk[..length]);
            to.write_all(&chunk[..length])
                .map_err(|error| StoreError::of_file(&path, "copy", error))?;
        }
        if content_of(&hasher) != content {
            return Err(damaged("it is not the content that was recorded".into()).into());
        }
        Ok(())
    }

    /// Whether a content is there and is what its name says.
    pub(super) fn is_sound(&self, content: KeptContent) -> bool {
        self.unpack(content, io::sink()).is_ok()
    }

    /// Everything of ours that lies in the directory, with the bytes it takes. Files that are being made are left out.
    pub(super) fn entries(&self) -> Result<Vec<(PathBuf, FolderEntry, u64)>, StoreError> {
        let read = |error| StoreError::of_file(&self.directory, "read", error);
        let listing = match std::fs::read_dir(&self.directory) {
            Ok(listing) => listing,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(read(error)),
        };
        let mut entries = Vec::new();
        for file in listing {
            let file = file.map_err(read)?;
            let name = file.file_name();
            let Some(name) = name.to_str() else { continue };
            let hash = name.strip_suffix(SUFFIX).and_then(|hash| hash.parse().ok());
            let entry = match hash {
                Some(hash) => FolderEntry::Content(hash),
                None if name.starts_with(UNFINISHED) && is_abandoned(&file.path()) => {
                    FolderEntry::Abandoned
                }
                None => continue,
            };
            let bytes = file.metadata().map_or(0, |metadata| metadata.len());
            entries.push((file.path(), entry, bytes));
        }
        entries.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        Ok(entries)
    }
}

/// Removes a file that has no record, unless it is being made. Call it inside a transaction that writes: then
/// nobody records it in between.
pub(super) fn remove(path: &Path, entry: &FolderEntry) -> Result<(), StoreError> {
    let lock = match entry {
        FolderEntry::Content(_) => None,
        FolderEntry::Abandoned => match File::open(path) {
            Ok(file) if file.try_lock().is_ok() => Some(file),
            _ => return Ok(()),
        },
    };
    let removed = std::fs::remove_file(path);
    drop(lock);
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(StoreError::of_file(path, "remove", error))
        }
        _ => Ok(()),
    }
}

fn is_abandoned(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Opens a file that is no symbolic link and no pipe.
fn open_no_link(path: &Path) -> io::Result<File> {
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    File::open(path)
}
