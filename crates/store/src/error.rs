//! Errors of the store, one variant for each situation, and their mapping from the result codes of SQLite and
//! PostgreSQL.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ffi;

use perfcheck_analysis::model::RunId;

/// An error of the store. No error loses data that was stored before.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system has no data directory for this user.
    #[error(
        "this user has no data directory\n  help: name a store with `--store PATH` or PERFCHECK_STORE"
    )]
    NoDataDirectory,
    /// A file system operation failed.
    #[error("cannot {action} `{}`: {source}\n  help: check the path and its permissions, or name another store with `--store PATH`", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The attempted action, as a verb.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The path is a directory, a pipe or a device.
    #[error("`{}` is not a regular file\n  help: nothing was changed; name another file with `--store PATH` or PERFCHECK_STORE", .0.display())]
    NotAFile(PathBuf),
    /// The path is a symbolic link whose target does not exist.
    #[error("`{}` is a symbolic link to `{}`, which does not exist\n  help: make the file's directory reachable again (is its disk mounted?), remove the link, or name another store with `--store PATH`", path.display(), target.display())]
    DanglingLink {
        /// Path of the link.
        path: PathBuf,
        /// Target of the link.
        target: PathBuf,
    },
    /// The file is not an SQLite database. It was not changed.
    #[error("`{}` is not a database\n  help: nothing was changed; name another file with `--store PATH` or PERFCHECK_STORE", .0.display())]
    NotADatabase(PathBuf),
    /// The file is an SQLite database of another program. It was not changed.
    #[error("`{}` is an SQLite database of another program (application id {application_id:#010x})\n  help: nothing was changed; name another file with `--store PATH` or PERFCHECK_STORE", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The application id in the file's header. It is 0 if none is set.
        application_id: u32,
    },
    /// The store was written by a newer cargo-perfcheck. It was not changed.
    #[error("the store `{}` has schema version {found}, but this cargo-perfcheck supports only versions up to {supported}\n  help: nothing was changed; update cargo-perfcheck, or name another file with `--store PATH`", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema version of the store.
        found: u32,
        /// The newest schema version that this program knows.
        supported: u32,
    },
    /// A team's store was made by an older cargo-perfcheck. It was not changed.
    #[error("the store `{}` has schema version {found}, but this cargo-perfcheck needs version {supported}\n  help: ask the owner of the database to upgrade it with `cargo perfcheck store init ADDRESS`; after that, an older cargo-perfcheck cannot use it", path.display())]
    Older {
        /// The server and its database.
        path: PathBuf,
        /// Schema version of the store.
        found: u32,
        /// The version that this program reads and writes.
        supported: u32,
    },
    /// The content of the store is inconsistent.
    #[error("the store `{}` is damaged: {detail}\n  help: the file was not overwritten; restore a backup, try `sqlite3 FILE .recover`, or move the file away", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Description of the damage.
        detail: String,
    },
    /// Another process kept the store locked for longer than the busy timeout.
    #[error("another process kept the store `{}` locked for {:.1} s\n  help: wait for the other cargo-perfcheck to end, then try again", path.display(), waited.as_secs_f64())]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long this process waited for the lock.
        waited: Duration,
    },
    /// The disk is full, or a quota or size limit is reached.
    #[error("no space left for the store `{}`\n  help: free some space, then try again; earlier runs are still stored", .0.display())]
    Full(PathBuf),
    /// The store can be read, but not written.
    #[error("the store `{}` cannot be written\n  help: check the permissions of the file and of its directory, or name another store with `--store PATH`", .0.display())]
    ReadOnly(PathBuf),
    /// The file was moved or deleted while it was open.
    #[error("the store `{}` was moved or deleted while in use\n  help: put the file back, then try again", .0.display())]
    Moved(PathBuf),
    /// SQLite reported an error for which there is no other variant.
    #[error("an operation on the store `{}` failed: {detail}\n  help: if it happens again, check the file with `sqlite3 FILE 'pragma integrity_check'`", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's message.
        detail: String,
    },
    /// The address of a server is invalid.
    #[error(
        "the address of the team's store is not valid: {0}\n  help: an address looks like `postgres://user@host/database`"
    )]
    BadAddress(String),
    /// The program was built without PostgreSQL, but got the address of a server.
    #[error(
        "this cargo-perfcheck was built without PostgreSQL support\n  help: install it with the `postgres` feature, or name a file with `--store PATH`"
    )]
    NoPostgres,
    /// The server of a team's store did not answer, or the connection was lost.
    #[error("`{}` cannot be reached: {detail}\n  help: check the address, the user and the network, then try again; unsent runs are still in this machine's store", path.display())]
    Unreachable {
        /// The server and its database.
        path: PathBuf,
        /// Message of the client or the server.
        detail: String,
    },
    /// The database user lacks a privilege.
    #[error("the database user lacks a permission on `{}`: {detail}\n  help: ask for a role: `perfcheck_reader` may read, `perfcheck_writer` may also send runs, and `perfcheck_admin` may also name, accept and remove runs; e.g. `GRANT perfcheck_reader TO USER`", path.display())]
    Denied {
        /// The server and its database.
        path: PathBuf,
        /// Message of the server.
        detail: String,
    },
    /// The server reported an error for which there is no other variant.
    #[error("an operation on `{}` failed: {detail}\n  help: nothing was changed; see the server's log", path.display())]
    Server {
        /// The server and its database.
        path: PathBuf,
        /// Message of the server.
        detail: String,
    },
    /// The database has no store.
    #[error("there is no store in `{}`\n  help: use `cargo perfcheck store init ADDRESS` to create one", .0.display())]
    NoTeamStore(PathBuf),
    /// The schema with the store's name belongs to another program. It was not changed.
    #[error("the `perfcheck` schema of `{}` was made by another program\n  help: nothing was changed; name another database", .0.display())]
    ForeignSchema(PathBuf),
    /// The team's store has the run already, or had it and removed it.
    #[error("the team's store already has this run\n  help: there is nothing left to send")]
    AlreadyThere,
    /// There is no such run.
    #[error("there is no run {0}\n  help: use `cargo perfcheck store runs` to list the runs")]
    NoSuchRun(RunId),
    /// The run cannot be compared, because its samples were removed.
    #[error(
        "the samples of run {0} were removed (by `store prune --samples`)\n  help: use `cargo perfcheck report {0} --report markdown` to see its verdicts,\n  and `cargo perfcheck history` to see its values"
    )]
    SamplesRemoved(RunId),
    /// No process can be added, because the run has ended.
    #[error("run {0} has ended\n  help: start a new run")]
    RunEnded(RunId),
    /// The base of a side-by-side measurement cannot become a reference.
    #[error(
        "run {0} is the reference side of a side-by-side measurement\n  help: name the other side, or another run; use `cargo perfcheck store runs` to list the runs"
    )]
    BaseSide(RunId),
    /// The commit prefix is ambiguous.
    #[error("`@{prefix}` matches several commits: {}\n  help: give more digits of the commit", commits.join(", "))]
    AmbiguousCommit {
        /// The prefix.
        prefix: String,
        /// The matching commits, sorted.
        commits: Vec<String>,
    },
    /// There is no baseline of this name.
    #[error(
        "there is no baseline `{name}`\n  help: {}",
        existing_baselines_help(existing)
    )]
    NoSuchBaseline {
        /// The name.
        name: String,
        /// The existing baselines, sorted.
        existing: Vec<String>,
    },
    /// A baseline of this name exists already.
    #[error("the baseline `{0}` already exists\n  help: remove it first, or choose another name")]
    BaselineExists(String),
    /// The name is not valid for a baseline.
    #[error(
        "`{name}` is not a valid name for a baseline: {reason}\n  help: use letters, digits and `.`, `_`, `/`, `-`"
    )]
    BadName {
        /// The name.
        name: String,
        /// The rule that it violates.
        reason: &'static str,
    },
    /// Two workspaces cannot be merged, because both have baselines of the same name. Nothing was moved.
    #[error("both workspaces have baselines named {}\n  help: nothing was moved; rename or remove them in one of the workspaces first", .0.join(", "))]
    NameClash(Vec<String>),
    /// A value is infinite or NaN, which cannot be stored. The text names the value.
    #[error("{0} is not a finite number\n  help: this is a bug; please report it")]
    NotFinite(&'static str),
}

/// Returns the help for a missing baseline.
fn existing_baselines_help(existing: &[String]) -> String {
    if existing.is_empty() {
        return "there are none yet; use `cargo perfcheck --save-baseline NAME` to create one"
            .to_owned();
    }
    format!("the baselines are: {}", existing.join(", "))
}

/// An error within a transaction, where the path of the store is not known yet.
#[derive(Debug)]
pub(super) enum Fault {
    /// An error that is complete without the path of the store.
    Store(StoreError),
    Sqlite(rusqlite::Error),
    #[cfg(feature = "postgres")]
    Server(tokio_postgres::Error),
    /// The stored content is invalid. The text describes how.
    Content(String),
}

/// The result of work within a transaction.
pub(super) type Attempt<T> = Result<T, Fault>;

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Fault {
    /// Completes the error with the path of the store.
    pub(super) fn into_error(self, path: &Path, busy_timeout: Duration) -> StoreError {
        let path = path.to_owned();
        match self {
            Self::Store(error) => error,
            Self::Content(detail) => StoreError::Corrupt { path, detail },
            Self::Sqlite(error) => from_sqlite(&error, path, busy_timeout),
            #[cfg(feature = "postgres")]
            Self::Server(error) => from_server(&error, path, busy_timeout),
        }
    }
}

fn from_sqlite(error: &rusqlite::Error, path: PathBuf, busy_timeout: Duration) -> StoreError {
    use rusqlite::Error;
    let detail = error.to_string();
    match error {
        Error::SqliteFailure(failure, _) => {
            match (failure.extended_code, failure.extended_code & 0xff) {
                (ffi::SQLITE_READONLY_DBMOVED, _) => StoreError::Moved(path),
                // The shared-memory file could not be extended: usually the disk is full.
                (ffi::SQLITE_IOERR_SHMSIZE, _) | (_, ffi::SQLITE_FULL) => StoreError::Full(path),
                (_, ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED) => StoreError::Locked {
                    path,
                    waited: busy_timeout,
                },
                (_, ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB) => {
                    StoreError::Corrupt { path, detail }
                }
                // SQLite could not create its files beside the store, because the directory is not writable.
                (_, ffi::SQLITE_READONLY | ffi::SQLITE_PERM | ffi::SQLITE_CANTOPEN) => {
                    StoreError::ReadOnly(path)
                }
                (
                    ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_TRUNCATE,
                    _,
                ) => StoreError::Io {
                    path,
                    action: "write",
                    source: io::Error::other(format!(
                        "{detail}: the cause may be a file size limit (`ulimit -f`) or a failing disk"
                    )),
                },
                _ => StoreError::Sqlite { path, detail },
            }
        }
        // The columns are STRICT and checked, so a value that does not convert was not written by this program.
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..)
        | Error::Utf8Error(..) => StoreError::Corrupt { path, detail },
        _ => StoreError::Sqlite { path, detail },
    }
}

#[cfg(feature = "postgres")]
fn from_server(error: &tokio_postgres::Error, path: PathBuf, waited: Duration) -> StoreError {
    use tokio_postgres::error::SqlState;
    let detail = message_with_causes(error);
    match error.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE | &SqlState::READ_ONLY_SQL_TRANSACTION) => {
            StoreError::Denied { path, detail }
        }
        Some(&SqlState::DISK_FULL) => StoreError::Full(path),
        Some(&SqlState::LOCK_NOT_AVAILABLE) => StoreError::Locked { path, waited },
        Some(
            &SqlState::ADMIN_SHUTDOWN | &SqlState::CRASH_SHUTDOWN | &SqlState::CANNOT_CONNECT_NOW,
        ) => StoreError::Unreachable { path, detail },
        None if error.is_closed() || std::error::Error::source(error).is_some() => {
            StoreError::Unreachable { path, detail }
        }
        _ => StoreError::Server { path, detail },
    }
}

/// Returns the message of the server or of the connection, with its causes.
#[cfg(feature = "postgres")]
pub(super) fn message_with_causes(error: &tokio_postgres::Error) -> String {
    if let Some(answer) = error.as_db_error() {
        return answer.message().to_owned();
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(deeper) = cause {
        text = format!("{text}: {deeper}");
        cause = deeper.source();
    }
    text
}
