//! A connection to a team's store: opened, checked, and bounded in time.

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ToSql;
use rusqlite::types::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::config::Host;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql as ServerToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Socket};

use super::address::TeamAddress;
use super::values::Held;
use crate::store::StoreError;
use crate::store::error::{Attempt, Fault, said};

/// The version of the team's schema that this program reads and writes.
const VERSION: u32 = 1;
const SCHEMA: &str = include_str!("schema.sql");
const ROLES: &str = include_str!("roles.sql");

/// A server that says nothing for so long is given up.
const PATIENCE: Duration = Duration::from_mins(1);
/// The same of a server that is not reached.
const REACHED_WITHIN: Duration = Duration::from_secs(10);

/// A connection, and where it leads.
pub(in crate::store) struct TeamSession {
    // Declared before the runtime, which polls the connection behind it.
    client: Client,
    runtime: Runtime,
    place: PathBuf,
}

impl fmt::Debug for TeamSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TeamSession({})", self.place.display())
    }
}

impl TeamSession {
    /// Whether this is an address that can be connected to.
    pub(in crate::store) fn check_address(address: &str) -> Result<(), StoreError> {
        TeamAddress::read(address).map(|_| ())
    }

    /// Connects to the store of this address, and checks that it is one of ours.
    pub(in crate::store) fn open(address: &str) -> Result<Self, StoreError> {
        let session = Self::connect(address)?;
        let version = session.version().map_err(|fault| session.complete(fault))?;
        match version {
            Some(VERSION) => Ok(session),
            Some(found) => Err(StoreError::Newer {
                path: session.place.clone(),
                found,
                supported: VERSION,
            }),
            None => Err(StoreError::NoTeamStore {
                path: session.place.clone(),
            }),
        }
    }

    /// The same, for reading alone.
    pub(in crate::store) fn open_to_read(address: &str) -> Result<Self, StoreError> {
        let session = Self::open(address)?;
        session
            .batch("SET default_transaction_read_only TO on")
            .map_err(|fault| session.complete(fault))?;
        Ok(session)
    }

    /// Makes a store in the database of this address, and its roles where they are wanted. Tells whether there was none before.
    pub(in crate::store) fn create(address: &str, with_roles: bool) -> Result<bool, StoreError> {
        let mut session = Self::connect(address)?;
        let is_new = match session.version().map_err(|fault| session.complete(fault))? {
            None => true,
            Some(VERSION) => false,
            Some(_) => return Self::open(address).map(|_| false),
        };
        session.write(|session| {
            if is_new {
                session.batch(SCHEMA)?;
            }
            if with_roles {
                session.batch(ROLES)?;
            }
            Ok(())
        })?;
        Ok(is_new)
    }

    fn connect(address: &str) -> Result<Self, StoreError> {
        let TeamAddress {
            mut config,
            encryption,
        } = TeamAddress::read(address)?;
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
            Some(encryption) => reach(&runtime, &config, encryption),
            None => reach(&runtime, &config, NoTls),
        };
        let client = client.map_err(unreachable)?;
        let session = Self {
            client,
            runtime,
            place,
        };
        session
            .batch("SET search_path TO perfcheck; SET lock_timeout TO '10s'")
            .map_err(|fault| session.complete(fault))?;
        Ok(session)
    }

    /// The version of the store in this database; `None` where there is none.
    fn version(&self) -> Attempt<Option<u32>> {
        let there = "SELECT 1 FROM pg_class WHERE oid = to_regclass('perfcheck.made_by')";
        if self.query(there, &[])?.is_empty() {
            let taken = "SELECT 1 FROM pg_namespace WHERE nspname = 'perfcheck'";
            if self.query(taken, &[])?.is_empty() {
                return Ok(None);
            }
            return Err(Fault::Store(StoreError::ForeignSchema {
                path: self.place.clone(),
            }));
        }
        let rows = self.query("SELECT version FROM perfcheck.made_by", &[])?;
        match rows.first().and_then(|row| row.first()) {
            Some(Value::Integer(version)) => Ok(u32::try_from(*version).ok()),
            _ => Err(Fault::Content("it does not say its version".into())),
        }
    }

    /// The server and its database, as messages name them.
    pub(in crate::store) fn place(&self) -> &Path {
        &self.place
    }

    /// Runs queries on one snapshot of the store.
    pub(in crate::store) fn read<T>(
        &self,
        query: impl FnOnce(&Self) -> Attempt<T>,
    ) -> Result<T, StoreError> {
        self.within("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", query)
    }

    /// Runs statements that happen together or not at all.
    pub(in crate::store) fn write<T>(
        &mut self,
        statements: impl FnOnce(&Self) -> Attempt<T>,
    ) -> Result<T, StoreError> {
        self.within("BEGIN", statements)
    }

    fn within<T>(
        &self,
        begin: &str,
        statements: impl FnOnce(&Self) -> Attempt<T>,
    ) -> Result<T, StoreError> {
        let attempt = || {
            self.batch(begin)?;
            match statements(self) {
                Ok(value) => self.batch("COMMIT").map(|()| value),
                Err(fault) => {
                    // Where this fails the connection is gone, and the transaction with it.
                    let _ = self.batch("ROLLBACK");
                    Err(fault)
                }
            }
        };
        attempt().map_err(|fault| self.complete(fault))
    }

    /// The rows of a query whose values are those that a file would be given.
    pub(in crate::store) fn query(
        &self,
        query: &str,
        values: &[&dyn ToSql],
    ) -> Attempt<Vec<Vec<Value>>> {
        let rows = self.rows(&translated(query), &typed(&held(values)?))?;
        rows.iter()
            .map(|row| {
                (0..row.len())
                    .map(|column| Ok(row.try_get::<_, Held>(column).map_err(server)?.0))
                    .collect()
            })
            .collect()
    }

    /// Runs such a statement. Tells how many rows it changed.
    pub(in crate::store) fn execute(
        &self,
        statement: &str,
        values: &[&dyn ToSql],
    ) -> Attempt<usize> {
        self.change(&translated(statement), &typed(&held(values)?))
    }

    /// The rows of a query in the server's own words and types.
    pub(super) fn rows(
        &self,
        query: &str,
        values: &[(&(dyn ServerToSql + Sync), Type)],
    ) -> Attempt<Vec<tokio_postgres::Row>> {
        self.wait(self.client.query_typed(query, values))
    }

    /// Runs a statement in the server's own words and types. Tells how many rows it changed.
    pub(super) fn change(
        &self,
        statement: &str,
        values: &[(&(dyn ServerToSql + Sync), Type)],
    ) -> Attempt<usize> {
        let changed = self.wait(self.client.execute_typed(statement, values))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs statements without values.
    fn batch(&self, statements: &str) -> Attempt<()> {
        self.wait(self.client.batch_execute(statements))
    }

    fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Attempt<T> {
        match self
            .runtime
            .block_on(async { timeout(PATIENCE, answer).await })
        {
            Ok(answered) => answered.map_err(server),
            Err(_) => Err(Fault::Store(StoreError::Unreachable {
                path: self.place.clone(),
                detail: format!("no answer within {} s", PATIENCE.as_secs()),
            })),
        }
    }

    fn complete(&self, fault: Fault) -> StoreError {
        fault.at(&self.place, PATIENCE)
    }
}

/// A connection, or what is in its way.
fn reach<T>(runtime: &Runtime, config: &Config, encryption: T) -> Result<Client, String>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let connecting = async { timeout(REACHED_WITHIN, config.connect(encryption)).await };
    let (client, connection) = runtime
        .block_on(connecting)
        .map_err(|_| format!("no answer within {} s", REACHED_WITHIN.as_secs()))?
        .map_err(|error| said(&error))?;
    // What goes wrong later is told to whoever waits for an answer.
    runtime.spawn(async move { drop(connection.await) });
    Ok(client)
}

fn server(error: tokio_postgres::Error) -> Fault {
    Fault::Server(error)
}

fn held(values: &[&dyn ToSql]) -> Attempt<Vec<Held>> {
    let held = values.iter().map(|value| Held::of(*value));
    Ok(held.collect::<Result<_, _>>()?)
}

fn typed(held: &[Held]) -> Vec<(&(dyn ServerToSql + Sync), Type)> {
    let typed = held.iter();
    typed
        .map(|value| (value as &(dyn ServerToSql + Sync), value.r#type()))
        .collect()
}

/// The address without user and password: it stands in messages and logs.
fn public_name(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    let port = match config.get_ports() {
        [] | [5432] => String::new(),
        [port, ..] => format!(":{port}"),
    };
    let database = config.get_dbname().unwrap_or_default();
    format!("postgres://{host}{port}/{database}")
}

/// A statement of a file in the server's words: `$1` for `?1`, no choice of indexes, and no order of joins.
fn translated(statement: &str) -> String {
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

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    #[test]
    fn a_statement_is_told_in_the_server_s_words() {
        assert_eq!(
            translated(
                "SELECT a FROM runs r INDEXED BY runs_by_branch\nCROSS JOIN b ON b.id = ?1 WHERE c = ?12"
            ),
            "SELECT a FROM runs r\nJOIN b ON b.id = $1 WHERE c = $12"
        );
    }

    #[test]
    fn no_message_has_the_password() {
        let config = Config::from_str("postgres://me:secret@db.example:6000/team").expect("parses");
        assert_eq!(public_name(&config), "postgres://db.example:6000/team");
    }
}
