//! Inspects the first bytes of a file before SQLite does, because opening a database can already write to it.
//!
//! Offsets are those of "The Database Header" in <https://www.sqlite.org/fileformat2.html>.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::StoreError;
use super::schema::{APPLICATION_ID, VERSION};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Size of the smallest page, and so of the smallest database.
const SMALLEST_DATABASE_BYTES: usize = 512;
const USER_VERSION_OFFSET: usize = 60;
const APPLICATION_ID_OFFSET: usize = 68;

/// The state of a file that may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileState {
    /// An empty file.
    Empty,
    /// A store of this version, which is not newer than the current one.
    Store(u32),
}

/// Inspects a regular file; an error if it must not be opened.
pub(super) fn inspect(path: &Path) -> Result<FileState, StoreError> {
    let failed = |source: io::Error| StoreError::Io {
        path: path.to_owned(),
        action: "read",
        source,
    };
    // Judge only the bytes read. A length from the metadata could be older, from before another process wrote the
    // first page.
    let mut start = Vec::with_capacity(SMALLEST_DATABASE_BYTES);
    File::open(path)
        .and_then(|file| {
            file.take(SMALLEST_DATABASE_BYTES as u64)
                .read_to_end(&mut start)
        })
        .map_err(failed)?;
    classify(&start, path)
}

fn classify(start: &[u8], path: &Path) -> Result<FileState, StoreError> {
    if start.is_empty() {
        return Ok(FileState::Empty);
    }
    if !start.starts_with(MAGIC) {
        return Err(StoreError::NotADatabase(path.to_owned()));
    }
    if start.len() < SMALLEST_DATABASE_BYTES {
        return Err(StoreError::Corrupt {
            path: path.to_owned(),
            detail: format!("it ends after {} bytes", start.len()),
        });
    }
    let number = |offset: usize| {
        let bytes = &start[offset..offset + 4];
        u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    let application_id = number(APPLICATION_ID_OFFSET);
    if application_id != APPLICATION_ID {
        return Err(StoreError::Foreign {
            path: path.to_owned(),
            application_id,
        });
    }
    match number(USER_VERSION_OFFSET) {
        found if found > VERSION => Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            supported: VERSION,
        }),
        version => Ok(FileState::Store(version)),
    }
}
