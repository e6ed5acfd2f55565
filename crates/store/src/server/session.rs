//! A connection to a team's store. It checks that the store has a supported version, and limits the time that statements take. It also creates the
//! store, or upgrades an older one by running all missing scripts in one transaction. If several processes try at the same time, the scripts run only
//! once.

use rusqlite::ToSql;
use rusqlite::types::Value;
use std::cell::Cell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql as ServerToSql, Type};
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage, Socket};
use tracing::debug_span;

use super::address::{TeamAddress, machine_or_socket};
use super::values::SqlValue;
use crate::error::{Attempt, Fault, message_with_causes};
use crate::{ExistingStore, StoreError};

/// One script per version, oldest first. A released script is never edited.
pub(super) const SCRIPTS: [&str; 1] = [include_str!("schema.sql")];

/// The version that this program reads and writes.
pub(super) const VERSION: u32 = SCRIPTS.len() as u32;

/// Statements that begin a transaction. Their lock keeps the schema unchanged until the transaction ends, because an upgrade waits for the lock. The
/// version is read under the lock.
const READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; LOCK TABLE made_by IN ACCESS SHARE MODE; SELECT version FROM made_by";
const WRITE: &str = "BEGIN; LOCK TABLE made_by IN ACCESS SHARE MODE; SELECT version FROM made_by";

/// The statements that configure a new connection.
pub(super) const SETTINGS: &str = "SET search_path TO perfcheck; SET lock_timeout TO '10s'";
const SETTINGS_OF_READERS: &str = "SET search_path TO perfcheck; SET lock_timeout TO '10s'; SET default_transaction_read_only TO on";

/// The longest time that a statement waits for locks. It equals `lock_timeout` in the settings.
const LOCKED_FOR: Duration = Duration::from_secs(10);
/// The longest time that a session waits for an answer of the server.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest time that connecting to the server may take.
const REACHED_WITHIN: Duration = Duration::from_secs(10);

/// A connection and the name of its server.
pub(crate) struct TeamSession {
    // Declared before the runtime that drives the client's connection, so that the client is dropped first.
    client: Arc<Client>,
    runtime: Runtime,
    place: PathBuf,
    /// The longest time to wait for an answer of the server.
    pub(super) patience: Duration,
    /// A statement that is sent together with the next one, which saves a round trip. `None` if no statement is waiting.
    unsaid: Cell<Option<&'static str>>,
}

impl fmt::Debug for TeamSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TeamSession({})", self.place.display())
    }
}

impl TeamSession {
    /// Checks that the address is valid.
    pub(crate) fn check_address(address: &str) -> Result<(), StoreError> {
        TeamAddress::parse(address).map(|_| ())
    }

    /// Connects to the store at this address, and checks its version.
    pub(crate) fn open(address: &str) -> Result<Self, StoreError> {
        Self::open_with_settings(address, SETTINGS)
    }

    /// Like [`Self::open`], for reading only.
    pub(crate) fn open_to_read(address: &str) -> Result<Self, StoreError> {
        Self::open_with_settings(address, SETTINGS_OF_READERS)
    }

    fn open_with_settings(address: &str, settings: &'static str) -> Result<Self, StoreError> {
        let session = Self::connect(address, settings)?;
        let found = match session.read_version() {
            Err(Fault::Server(error)) if is_undefined(&error) => session.find_version(),
            found => found,
        };
        let found = found.map_err(|fault| session.to_error(fault))?;
        let Some(version) = found else {
            return Err(StoreError::NoTeamStore(session.place.clone()));
        };
        session.check(version)?;
        Ok(session)
    }

    /// Rejects a store of another version.
    pub(super) fn check(&self, found: u32) -> Result<(), StoreError> {
        let path = self.place.clone();
        match found {
            VERSION => Ok(()),
            0..VERSION => Err(StoreError::Older {
                path,
                found,
                supported: VERSION,
            }),
            _ => Err(StoreError::Newer {
                path,
                found,
                supported: VERSION,
            }),
        }
    }

    pub(super) fn connect(address: &str, settings: &'static str) -> Result<Self, StoreError> {
        let TeamAddress {
            mut config,
            encryption,
        } = TeamAddress::parse(address)?;
        let place = PathBuf::from(public_name(&config));
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(REACHED_WITHIN);
        }
        if config.get_application_name().is_none() {
            config.application_name("cargo-perfcheck");
        }
        let unreachable = |detail: String| StoreError::Unreachable {
            path: place.clone(),
            detail,
        };
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| unreachable(error.to_string()))?;
        let client = match encryption {
            Some(encryption) => connect_within_timeout(&runtime, &config, encryption),
            None => connect_within_timeout(&runtime, &config, NoTls),
        };
        let client = client.map_err(unreachable)?;
        Ok(Self {
            client: Arc::new(client),
            runtime,
            place,
            patience: PATIENCE,
            unsaid: Cell::new(Some(settings)),
        })
    }

    /// Returns the version of the store in this database. Returns `None` if the database has no store.
    pub(super) fn find_version(&self) -> Attempt<Option<u32>> {
        let there = "SELECT to_regclass('perfcheck.made_by') IS NOT NULL, to_regnamespace('perfcheck') IS NOT NULL";
        match self.query(there, &[])?.first().map(Vec::as_slice) {
            Some([Value::Integer(1), _]) => self.read_version(),
            Some([_, Value::Integer(1)]) => {
                Err(Fault::Store(StoreError::ForeignSchema(self.place.clone())))
            }
            _ => Ok(None),
        }
    }

    /// Returns the version of an existing store.
    fn read_version(&self) -> Attempt<Option<u32>> {
        let rows = self.query("SELECT version FROM perfcheck.made_by", &[])?;
        match rows.first().and_then(|row| row.first()) {
            Some(Value::Integer(version)) => Ok(u32::try_from(*version).ok()),
            _ => Err(Fault::Content("it does not report its version".into())),
        }
    }

    /// Returns the name of the server and its database for messages.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// Runs queries on one snapshot of the store.
    pub(crate) fn read<T>(&self, query: impl FnOnce(&Self) -> Attempt<T>) -> Result<T, StoreError> {
        self.in_transaction(READ, query, |session| {
            session.send_without_waiting("COMMIT");
            Ok(())
        })
    }

    /// Runs statements in one transaction.
    pub(crate) fn write<T>(
        &mut self,
        statements: impl FnOnce(&Self) -> Attempt<T>,
    ) -> Result<T, StoreError> {
        self.in_transaction(WRITE, statements, |session| session.batch("COMMIT"))
    }

    /// Like [`Self::write`], for statements that create a store or change its version. It does not check the version.
    pub(super) fn change_schema<T>(
        &mut self,
        statements: impl FnOnce(&Self) -> Attempt<T>,
    ) -> Result<T, StoreError> {
        self.in_transaction("BEGIN", statements, |session| session.batch("COMMIT"))
    }

    fn in_transaction<T>(
        &self,
        begin: &'static str,
        statements: impl FnOnce(&Self) -> Attempt<T>,
        end: impl FnOnce(&Self) -> Attempt<()>,
    ) -> Result<T, StoreError> {
        if let Some(earlier) = self.unsaid.take() {
            self.batch(earlier).map_err(|fault| self.to_error(fault))?;
        }
        self.unsaid.set(Some(begin));
        let outcome = match statements(self) {
            // No statement was sent, so there is no transaction to end.
            outcome if self.unsaid.take().is_some() => outcome,
            Ok(value) => end(self).map(|()| value),
            Err(fault) => {
                self.send_without_waiting("ROLLBACK");
                Err(fault)
            }
        };
        outcome.map_err(|fault| self.to_error(fault))
    }

    /// Returns the rows of a query written for SQLite.
    pub(crate) fn query(&self, query: &str, values: &[&dyn ToSql]) -> Attempt<Vec<Vec<Value>>> {
        let rows = self.rows(
            &translate_statement(query),
            &with_types(&to_sql_values(values)?),
        )?;
        rows.iter()
            .map(|row| {
                (0..row.len())
                    .map(|column| Ok(row.try_get::<_, SqlValue>(column).map_err(server_fault)?.0))
                    .collect()
            })
            .collect()
    }

    /// Runs a statement written for SQLite. Returns the number of changed rows.
    pub(crate) fn execute(&self, statement: &str, values: &[&dyn ToSql]) -> Attempt<usize> {
        self.change(
            &translate_statement(statement),
            &with_types(&to_sql_values(values)?),
        )
    }

    /// Returns the rows of a query in PostgreSQL's syntax and types.
    pub(super) fn rows(
        &self,
        query: &str,
        values: &[(&(dyn ServerToSql + Sync), Type)],
    ) -> Attempt<Vec<tokio_postgres::Row>> {
        let _query = debug_span!("query", statement = ?query).entered();
        self.wait(self.client.query_typed(query, values))
    }

    /// Runs a statement in PostgreSQL's syntax and types. Returns the number of changed rows.
    pub(super) fn change(
        &self,
        statement: &str,
        values: &[(&(dyn ServerToSql + Sync), Type)],
    ) -> Attempt<usize> {
        let _query = debug_span!("query", ?statement).entered();
        let changed = self.wait(self.client.execute_typed(statement, values))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs statements without parameters.
    pub(super) fn batch(&self, statements: &str) -> Attempt<()> {
        let _query = debug_span!("query", statement = ?statements).entered();
        self.wait(self.client.batch_execute(statements))
    }

    /// Sends a statement without waiting for its answer. A failure needs no handling: `COMMIT` after reading and `ROLLBACK` fail only if the
    /// connection is lost, and the transaction with it.
    fn send_without_waiting(&self, statement: &'static str) {
        let client = Arc::clone(&self.client);
        self.runtime
            .spawn(async move { client.batch_execute(statement).await });
        // The first yield passes the statement to the connection, the second one sends it.
        self.runtime.block_on(async {
            yield_now().await;
            yield_now().await;
        });
    }

    fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Attempt<T> {
        let answered = match self.unsaid.take() {
            None => self.in_time(answer)?,
            Some(before) => {
                let before = self.client.simple_query(before);
                let (before, answered) = self.in_time(send_both(before, answer))?;
                if let Some(found) = find_version_row(&before.map_err(server_fault)?) {
                    self.check(found)?;
                }
                answered
            }
        };
        answered.map_err(server_fault)
    }

    fn in_time<T>(&self, answer: impl Future<Output = T>) -> Attempt<T> {
        let answer = async { timeout(self.patience, answer).await };
        self.runtime.block_on(answer).map_err(|_| {
            Fault::Store(StoreError::Unreachable {
                path: self.place.clone(),
                detail: format!("no answer within {} s", self.patience.as_secs()),
            })
        })
    }

    pub(super) fn to_error(&self, fault: Fault) -> StoreError {
        fault.into_error(&self.place, LOCKED_FOR)
    }
}

/// Connects, or describes why that is not possible.
fn connect_within_timeout<T>(
    runtime: &Runtime,
    config: &Config,
    encryption: T,
) -> Result<Client, String>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let within = config.get_connect_timeout().copied();
    let within = within.unwrap_or(REACHED_WITHIN);
    let connecting = async { timeout(within, config.connect(encryption)).await };
    let (client, connection) = runtime
        .block_on(connecting)
        .map_err(|_| format!("no answer within {} s", within.as_secs()))?
        .map_err(|error| message_with_causes(&error))?;
    // Later errors are returned by the requests that wait for an answer.
    runtime.spawn(async move { drop(connection.await) });
    Ok(client)
}

/// Sends two requests one after the other, and waits for both answers.
async fn send_both<A, B>(
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> (A, B) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut of_first, mut of_second) = (None, None);
    poll_fn(move |context| {
        if of_first.is_none()
            && let Poll::Ready(answer) = first.as_mut().poll(context)
        {
            of_first = Some(answer);
        }
        if of_second.is_none()
            && let Poll::Ready(answer) = second.as_mut().poll(context)
        {
            of_second = Some(answer);
        }
        match (of_first.take(), of_second.take()) {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            (first, second) => {
                (of_first, of_second) = (first, second);
                Poll::Pending
            }
        }
    })
    .await
}

/// Returns the version that was read at the beginning of a transaction.
fn find_version_row(answer: &[SimpleQueryMessage]) -> Option<u32> {
    answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    })
}

fn is_undefined(error: &tokio_postgres::Error) -> bool {
    let code = error.code();
    [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME]
        .iter()
        .any(|state| code == Some(state))
}

fn server_fault(error: tokio_postgres::Error) -> Fault {
    Fault::Server(error)
}

fn to_sql_values(values: &[&dyn ToSql]) -> Attempt<Vec<SqlValue>> {
    let held = values.iter().map(|value| SqlValue::from_sqlite(*value));
    Ok(held.collect::<Result<_, _>>()?)
}

fn with_types(held: &[SqlValue]) -> Vec<(&(dyn ServerToSql + Sync), Type)> {
    let typed = held.iter();
    typed
        .map(|value| (value as &(dyn ServerToSql + Sync), value.r#type()))
        .collect()
}

/// Returns the address to show in messages and logs: user, first host, port and database, without the password and the parameters.
fn public_name(config: &Config) -> String {
    let host = match config.get_hosts().first().map(machine_or_socket) {
        Some(Ok(name)) => name.to_owned(),
        Some(Err(path)) => path.display().to_string().replace('/', "%2F"),
        None => String::new(),
    };
    let port = match config.get_ports() {
        [] | [5432] => String::new(),
        [port, ..] => format!(":{port}"),
    };
    let user = config.get_user().map(|user| format!("{user}@"));
    let user = user.unwrap_or_default();
    let database = config.get_dbname().unwrap_or_default();
    format!("postgres://{user}{host}{port}/{database}")
}

/// Translates a statement from SQLite to PostgreSQL: `$1` for `?1`, and no hints for indexes and the order of joins.
fn translate_statement(statement: &str) -> String {
    let mut text = String::with_capacity(statement.len());
    let mut rest = statement;
    while let Some(at) = rest.find(" INDEXED BY ") {
        text.push_str(&rest[..at]);
        let index = &rest[at + " INDEXED BY ".len()..];
        rest = index.trim_start_matches(|c: char| c == '_' || c.is_ascii_alphanumeric());
    }
    text.push_str(rest);
    text.replace('?', "$").replace("CROSS JOIN", "JOIN")
}

const ROLES: &str = include_str!("roles.sql");

/// The statement that takes the lock for creating or upgrading the store of a database.
const TAKE_TURNS: &str = "SELECT pg_advisory_xact_lock(hashtext('perfcheck.made_by'))";

impl TeamSession {
    /// Creates a store in the database at this address, or upgrades the existing one, and creates roles if requested. Returns what the database
    /// contained before.
    pub(crate) fn create(address: &str, with_roles: bool) -> Result<ExistingStore, StoreError> {
        let mut session = Self::connect(address, SETTINGS)?;
        session.upgrade(&SCRIPTS, with_roles)
    }

    /// Like [`Self::create`], on this session and with these scripts.
    pub(super) fn upgrade(
        &mut self,
        scripts: &[&str],
        with_roles: bool,
    ) -> Result<ExistingStore, StoreError> {
        self.change_schema(|session| {
            session.batch(TAKE_TURNS)?;
            let found = session.find_version()?;
            let done = found.unwrap_or(0) as usize;
            let state = match found {
                None => ExistingStore::None,
                Some(version) if done < scripts.len() => ExistingStore::Older(version),
                Some(version) => {
                    if done > scripts.len() {
                        session.check(version)?;
                    }
                    ExistingStore::Present
                }
            };
            if let ExistingStore::Older(_) = state {
                // Wait for open transactions to end. Transactions that begin later find the new version.
                session.batch("LOCK TABLE perfcheck.made_by IN ACCESS EXCLUSIVE MODE")?;
            }
            for script in scripts.iter().skip(done) {
                session.batch(script)?;
            }
            if done < scripts.len() {
                let version = scripts.len();
                session.batch(&format!("UPDATE perfcheck.made_by SET version = {version}"))?;
            }
            if with_roles {
                session.batch(ROLES)?;
            }
            Ok(state)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    #[test]
    fn a_statement_is_told_in_the_server_s_words() {
        assert_eq!(
            translate_statement(
                "SELECT a FROM runs r INDEXED BY runs_by_branch\nCROSS JOIN b ON b.id = ?1 WHERE c = ?12"
            ),
            "SELECT a FROM runs r\nJOIN b ON b.id = $1 WHERE c = $12"
        );
    }

    #[test]
    fn no_message_has_the_password() {
        let config = Config::from_str("postgres://me:secret@db.example:6000/team").expect("parses");
        assert_eq!(public_name(&config), "postgres://me@db.example:6000/team");
        // The name can be used as an address.
        let config = Config::from_str("postgres://me@%2Ftmp/team").expect("parses");
        assert_eq!(public_name(&config), "postgres://me@%2Ftmp/team");
    }
}
