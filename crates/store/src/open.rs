//! Opens stores: their location, SQLite's settings, the journal mode, and reading from media that cannot be written.
//!
//! Creates files with private permissions, and inspects existing ones before SQLite does, because opening a database can already write to it.
//! Invariants: files of other programs are rejected unchanged; the time of opening does not depend on the amount of stored data.

#[cfg(feature = "postgres")]
use super::server::TeamSession;
use rusqlite::config::DbConfig;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, OpenFlags, ffi};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::{Level, debug, enabled};

use super::error::{Attempt, Fault};
use super::schema::{APPLICATION_ID, ExistingStore, VERSION};
use super::{StoreError, schema};
use perfcheck_host::os;

/// An open store with one connection. Threads do not share it: each opens the store for itself.
#[derive(Debug)]
pub struct Store {
    pub(super) database: Database,
    /// The lock held while a run is measured; see [`Store::lock_for_measuring`].
    measuring: Option<File>,
}

/// The database of a store.
#[derive(Debug)]
pub(super) enum Database {
    /// A file of this user.
    File(StoreFile),
    /// A team's PostgreSQL database.
    #[cfg(feature = "postgres")]
    Server(TeamSession),
}

impl Database {
    /// Returns the file; `None` for a team's store.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(clippy::unnecessary_wraps, reason = "without the feature it always is")
    )]
    pub(super) fn file(&self) -> Option<&StoreFile> {
        match self {
            Self::File(file) => Some(file),
            #[cfg(feature = "postgres")]
            Self::Server(_) => None,
        }
    }
}

/// A file opened by SQLite.
#[derive(Debug)]
pub(super) struct StoreFile {
    // Declared before `file`, so that SQLite closes the file before `OpenFile` allows others to read it directly.
    pub(super) connection: Connection,
    file: OpenFile,
    pub(super) busy_timeout: Duration,
    pub(super) journal: Journal,
}

/// Options for opening a store.
#[derive(Debug, Clone, Copy)]
pub struct OpenOptions {
    /// Longest time to wait for another process that is writing.
    pub busy_timeout: Duration,
    /// Largest size of the file in pages of 4 KiB; `None` for no limit.
    pub max_pages: Option<u32>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(10),
            max_pages: None,
        }
    }
}

/// The journal mode of SQLite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Journal {
    /// Write-ahead log: readers and a writer do not wait for each other.
    WriteAhead,
    /// Rollback journal, for file systems without support for a write-ahead log.
    Rollback,
}

/// The purpose of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Write,
    Read,
}

impl Store {
    /// Opens the store at `path` for reading and writing, and creates it with its directories if it does not exist.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, OpenOptions::default())
    }

    /// Like [`Store::open`], with options.
    pub fn open_with(path: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        if is_address(path) {
            return Self::open_team(path, Access::Write);
        }
        create_if_absent(path)?;
        match OpenFile::register(path)? {
            Some((file, _)) => Ok(Self::from_file(StoreFile::connect(
                file,
                Access::Write,
                options,
            )?)),
            None => Err(StoreError::Io {
                path: path.to_owned(),
                action: "open",
                source: ErrorKind::NotFound.into(),
            }),
        }
    }

    /// Opens the store at `path` for reading only; `None` if it does not exist or is empty. Never creates a store.
    ///
    /// Works on read-only media, unless another process left an unfinished transaction there.
    pub fn open_existing(path: &Path) -> Result<Option<Self>, StoreError> {
        Self::open_existing_with(path, OpenOptions::default())
    }

    /// Like [`Store::open_existing`], with options.
    pub fn open_existing_with(
        path: &Path,
        options: OpenOptions,
    ) -> Result<Option<Self>, StoreError> {
        if is_address(path) {
            return Self::open_team(path, Access::Read).map(Some);
        }
        let Some((file, found)) = OpenFile::register(path)? else {
            return Ok(None);
        };
        if found == FileState::Empty {
            return Ok(None);
        }
        let file = StoreFile::connect(file, Access::Read, options)?;
        // Migrate an older schema first, because queries support only the current one.
        let version = schema::read_version(&file.connection, file.path())
            .map_err(|fault| fault.into_error(file.path(), options.busy_timeout))?;
        match version {
            // The creation was interrupted and rolled back.
            0 => Ok(None),
            schema::VERSION => Ok(Some(Self::from_file(file))),
            _ => {
                let path = file.path().to_owned();
                drop(file);
                drop(Self::open_with(&path, options)?);
                Self::open_existing_with(&path, options)
            }
        }
    }

    /// Creates a store in the database at this address, or upgrades an older one, and creates the roles for its users if requested. Returns what the
    /// database contained before.
    pub fn create_in(address: &str, with_roles: bool) -> Result<ExistingStore, StoreError> {
        #[cfg(feature = "postgres")]
        return TeamSession::create(address, with_roles);
        #[cfg(not(feature = "postgres"))]
        {
            let _ = (address, with_roles);
            Err(StoreError::NoPostgres)
        }
    }

    /// Checks that the address is valid and that this program was built with PostgreSQL, without contacting the server.
    pub fn check_address(address: &str) -> Result<(), StoreError> {
        #[cfg(feature = "postgres")]
        return TeamSession::check_address(address);
        #[cfg(not(feature = "postgres"))]
        {
            let _ = address;
            Err(StoreError::NoPostgres)
        }
    }

    /// Returns the absolute path of the file without symbolic links, or the address of a team's store without its
    /// password.
    pub fn path(&self) -> &Path {
        match &self.database {
            Database::File(file) => file.path(),
            #[cfg(feature = "postgres")]
            Database::Server(session) => session.place(),
        }
    }

    #[cfg(feature = "postgres")]
    fn open_team(address: &Path, access: Access) -> Result<Self, StoreError> {
        let address = address.to_str().unwrap_or_default();
        let session = match access {
            Access::Write => TeamSession::open(address)?,
            Access::Read => TeamSession::open_to_read(address)?,
        };
        Ok(Self {
            database: Database::Server(session),
            measuring: None,
        })
    }

    #[cfg(not(feature = "postgres"))]
    fn open_team(_: &Path, _: Access) -> Result<Self, StoreError> {
        Err(StoreError::NoPostgres)
    }

    fn from_file(file: StoreFile) -> Self {
        Self {
            database: Database::File(file),
            measuring: None,
        }
    }

    /// Announces to other processes that a run is measured into the store: holds a shared lock of the store's
    /// directory until this value is dropped or the process ends. Does nothing if the system has no such locks.
    pub(super) fn lock_for_measuring(&mut self) {
        if self.measuring.is_none() {
            let directory = self.directory();
            self.measuring = directory.filter(|directory| directory.try_lock_shared().is_ok());
        }
    }

    /// Reports whether another process measures a run into the store. It is always `false` for a team's store, and on a system without such locks.
    pub fn is_in_use_for_measuring(&self) -> bool {
        let directory = self.directory();
        directory
            .is_some_and(|directory| matches!(directory.try_lock(), Err(TryLockError::WouldBlock)))
    }

    fn directory(&self) -> Option<File> {
        File::open(self.database.file()?.path().parent()?).ok()
    }
}

impl StoreFile {
    /// Returns the absolute path of the file, without symbolic links.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    fn connect(file: OpenFile, access: Access, options: OpenOptions) -> Result<Self, StoreError> {
        let path = file.path().to_owned();
        let outcome = match access {
            Access::Write => connect_to_write(&path, options),
            Access::Read => connect_to_read(&path, options),
        };
        let (connection, journal) =
            outcome.map_err(|fault| fault.into_error(&path, options.busy_timeout))?;
        debug!(?path, ?access, ?journal, "store opened");
        if enabled!(Level::DEBUG) {
            connection.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(log_statement));
        }
        Ok(Self {
            connection,
            file,
            busy_timeout: options.busy_timeout,
            journal,
        })
    }
}

/// Logs a statement that has ended. Its values stay out of the log.
fn log_statement(event: TraceEvent<'_>) {
    if let TraceEvent::Profile(statement, time) = event {
        let statement = statement.sql();
        let words: Vec<&str> = statement.split_whitespace().collect();
        debug!(?time, statement = words.join(" "), "query");
    }
}

/// Number of prepared statements in the cache.
const STATEMENT_CACHE_CAPACITY: usize = 64;
/// Size of SQLite's page cache in kilobytes. With the default of 2 MB, pages of a large store are read and written
/// repeatedly.
const CACHE_KILOBYTES: i64 = 64 * 1024;

/// Returns the flags for opening. SQLite needs no mutex, because Rust ensures that only one thread at a time uses the
/// connection.
fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn connect_to_write(path: &Path, options: OpenOptions) -> Attempt<(Connection, Journal)> {
    let mut connection = Connection::open_with_flags(path, flags())?;
    let journal = set_up(&mut connection, path, options).inspect_err(|_| {
        // Leave a rejected file unchanged, even if another program left a write-ahead log beside it.
        let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    })?;
    Ok((connection, journal))
}

fn set_up(connection: &mut Connection, path: &Path, options: OpenOptions) -> Attempt<Journal> {
    apply_settings(connection, options)?;
    if let Some(pages) = options.max_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    schema::migrate(connection, path)?;
    choose_journal(connection, path)
}

/// Applies the settings of every connection.
fn apply_settings(connection: &Connection, options: OpenOptions) -> Attempt<()> {
    connection.busy_timeout(options.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_CAPACITY);
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cache_size", -CACHE_KILOBYTES)?;
    // Query plans then do not depend on values. Otherwise SQLite would prepare a statement again for each benchmark.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Selects the write-ahead log if possible. A network file system has no shared memory for it, and another open
/// connection may prevent the change for now.
fn choose_journal(connection: &Connection, path: &Path) -> Attempt<Journal> {
    // Processes on two machines share no memory. If both used a write-ahead log, they would corrupt the database
    // (<https://www.sqlite.org/wal.html>).
    let wanted = if os::is_on_network(path) {
        "delete"
    } else {
        "wal"
    };
    let mut mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != wanted
        && let Ok(changed) =
            connection.pragma_update_and_check(None, "journal_mode", wanted, |row| {
                row.get::<_, String>(0)
            })
    {
        mode = changed;
    }
    Ok(parse_journal(&mode))
}

fn parse_journal(mode: &str) -> Journal {
    if mode == "wal" {
        Journal::WriteAhead
    } else {
        Journal::Rollback
    }
}

fn connect_to_read(path: &Path, options: OpenOptions) -> Attempt<(Connection, Journal)> {
    match open_read_only(path, flags(), options, "") {
        Err(Fault::Sqlite(rusqlite::Error::SqliteFailure(failure, _)))
            if is_log_failure(failure) && has_log(path) =>
        {
            // On a full disk, SQLite can keep the index of the log in memory, if no other process has the store open.
            open_read_only(path, flags(), options, "PRAGMA locking_mode = EXCLUSIVE")
        }
        Err(Fault::Sqlite(rusqlite::Error::SqliteFailure(failure, _)))
            if is_log_failure(failure) =>
        {
            // No files can be created beside the store, and there is no log, so the file is the whole store.
            let immutable = immutable_uri(path);
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_URI;
            open_read_only(Path::new(&immutable), flags, options, "")
        }
        outcome => outcome,
    }
}

fn open_read_only(
    path: &Path,
    flags: OpenFlags,
    options: OpenOptions,
    first: &str,
) -> Attempt<(Connection, Journal)> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch(first)?;
    apply_settings(&connection, options)?;
    connection.pragma_update(None, "query_only", true)?;
    // If the log cannot be shared, the first read fails.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok((connection, parse_journal(&mode)))
}

/// Reports whether the error may mean that SQLite cannot use a write-ahead log: its directory is not writable, or the disk is full.
fn is_log_failure(failure: ffi::Error) -> bool {
    matches!(
        failure.extended_code & 0xff,
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_READONLY | ffi::SQLITE_FULL
    ) || matches!(
        failure.extended_code,
        ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_SHMOPEN | ffi::SQLITE_IOERR_SHMMAP
    )
}

/// Reports whether there is a write-ahead log with content beside the file.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|metadata| metadata.len() > 0)
}

/// Returns the path as a URI that marks the file as immutable, with special characters escaped.
fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri + "?immutable=1"
}

/// Creates directories (on Unix 0700) and an empty file (0600) if they do not exist. On Windows they inherit the rights of the
/// directory above them. SQLite creates its additional files with the same permissions as the file.
pub(super) fn create_if_absent(path: &Path) -> Result<(), StoreError> {
    if path.try_exists().unwrap_or(false) {
        return Ok(());
    }
    let failed = |path: &Path, action, source| StoreError::Io {
        path: path.to_owned(),
        action,
        source,
    };
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        os::create_private_dirs(parent)
            .map_err(|source| failed(parent, "create the directory", source))?;
    }
    // Take the lock, because closing the new file must not coincide with a connection of this process, see
    // `OpenFile`.
    let _lock = open_files();
    match os::create_private_file(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(path, "create", error)),
    }
}

/// The files that this process has open as stores, with the number of stores for each.
///
/// POSIX releases all locks of a process on a file when the process closes *any* descriptor of the file ("How To
/// Corrupt An SQLite Database File", 2.2). Therefore a file is read directly only if no store of this process has it
/// open.
static OPEN_FILES: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

fn open_files() -> MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    // The map is always consistent, so a poisoned lock is harmless.
    OPEN_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An entry in the map of open files: the canonical path.
#[derive(Debug)]
pub(super) struct OpenFile(PathBuf);

impl OpenFile {
    /// Adds the file to the map and returns its state; `None` if it does not exist. Rejects files that must not be
    /// opened.
    pub(super) fn register(path: &Path) -> Result<Option<(Self, FileState)>, StoreError> {
        let failed = |source: io::Error| StoreError::Io {
            path: path.to_owned(),
            action: "open",
            source,
        };
        let mut files = open_files();
        let metadata = match std::fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return match std::fs::read_link(path) {
                    // SQLite would create the target of the link. That may hide a disk that is not mounted, so ask
                    // the user.
                    Ok(target) => Err(StoreError::DanglingLink {
                        path: path.to_owned(),
                        target,
                    }),
                    Err(_) => Ok(None),
                };
            }
            Err(error) => return Err(failed(error)),
        };
        // Check before opening: opening a pipe would block.
        if !metadata.is_file() {
            return Err(StoreError::NotAFile(path.to_owned()));
        }
        let canonical = os::canonicalize(path).map_err(failed)?;
        let found = if files.contains_key(&canonical) {
            // The file was inspected when it was first opened; SQLite reads the version again in any case.
            FileState::Store(schema::VERSION)
        } else {
            inspect(&canonical)?
        };
        *files.entry(canonical.clone()).or_insert(0) += 1;
        Ok(Some((Self(canonical), found)))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let mut files = open_files();
        if let Some(stores) = files.get_mut(&self.0) {
            *stores -= 1;
            if *stores == 0 {
                files.remove(&self.0);
            }
        }
    }
}

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Size of the smallest page, and so of the smallest database.
const SMALLEST_DATABASE_BYTES: usize = 512;
/// Offset of the user version in the file, in bytes; see "The Database Header" in <https://www.sqlite.org/fileformat2.html>.
const USER_VERSION_OFFSET: usize = 60;
/// Offset of the application id in the file, in bytes; see [`USER_VERSION_OFFSET`].
const APPLICATION_ID_OFFSET: usize = 68;

/// The state of a file that may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileState {
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

/// Returns the default path, `cargo-perfcheck/perfcheck.db` in the user's data directory. It is not in the target
/// directory, because `cargo clean` must not delete baselines.
pub fn default_path() -> Result<PathBuf, StoreError> {
    let directory = dirs::data_dir().ok_or(StoreError::NoDataDirectory)?;
    Ok(directory.join("cargo-perfcheck").join("perfcheck.db"))
}

/// Reports whether the path is the address of a team's store rather than a file.
pub fn is_address(path: &Path) -> bool {
    path.to_str()
        .is_some_and(|text| text.starts_with("postgres://") || text.starts_with("postgresql://"))
}

/// Returns the name of a store for messages and reports: the path of a file, or the address of a team's store without
/// its password.
pub fn public_location(path: &Path) -> PathBuf {
    let Some((scheme, rest)) = path.to_str().and_then(|text| text.split_once("://")) else {
        return path.to_owned();
    };
    if !is_address(path) {
        return path.to_owned();
    }
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split_once(':').map_or(user, |(user, _)| user);
            format!("{user}@{host}")
        }
        None => authority.to_owned(),
    };
    let tail = match tail.split_once('?') {
        Some((database, parameters)) => {
            let kept = parameters
                .split('&')
                .filter(|one| !one.starts_with("password="));
            let kept: Vec<&str> = kept.collect();
            let separator = if kept.is_empty() { "" } else { "?" };
            format!("{database}{separator}{}", kept.join("&"))
        }
        None => tail.to_owned(),
    };
    format!("{scheme}://{authority}{tail}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_location_that_is_shown_has_a_password() {
        for (given, shown) in [
            ("/a/b:c@d", "/a/b:c@d"),
            ("postgres://db/perf", "postgres://db/perf"),
            ("postgres://me@db:1/perf?a=b", "postgres://me@db:1/perf?a=b"),
            ("postgres://me:secret@db/perf", "postgres://me@db/perf"),
            ("postgres://me:sec@ret@db", "postgres://me@db"),
            (
                "postgresql://me@db/perf?password=secret",
                "postgresql://me@db/perf",
            ),
            (
                "postgres://me:secret@%2Ftmp/d?password=x&a=b",
                "postgres://me@%2Ftmp/d?a=b",
            ),
        ] {
            assert_eq!(public_location(Path::new(given)), Path::new(shown));
        }
    }
}
