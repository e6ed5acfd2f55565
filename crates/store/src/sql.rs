//! One interface to statements, rows and transactions of SQLite and PostgreSQL. All queries of a read see the same snapshot. All statements of a
//! write are one transaction, which takes its lock immediately. Errors name the path of the store.
//!
//! Statements are written once, in the common subset of both dialects. A session of PostgreSQL translates what differs.

#[cfg(feature = "postgres")]
use super::server::TeamSession;
use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, OptionalExtension, ToSql, Transaction, TransactionBehavior};

use super::error::{Attempt, Fault};
use super::open::{Database, Journal, StoreFile};
use super::{Store, StoreError};

/// A database connection on which statements run.
#[derive(Clone, Copy)]
pub(super) enum Sql<'c> {
    Sqlite(&'c Connection),
    /// A team's PostgreSQL database.
    #[cfg(feature = "postgres")]
    Postgres(&'c TeamSession),
}

/// A row of a result.
pub(super) enum StoredRow<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    #[cfg(feature = "postgres")]
    Postgres(&'r [rusqlite::types::Value]),
}

impl StoredRow<'_> {
    /// Returns the value of a column, counted from 0.
    pub(super) fn get<T: FromSql>(&self, column: usize) -> rusqlite::Result<T> {
        match self {
            Self::Sqlite(row) => row.get(column),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => {
                let value = self.get_ref(column)?;
                T::column_result(value).map_err(|error| {
                    rusqlite::Error::FromSqlConversionFailure(
                        column,
                        value.data_type(),
                        error.into(),
                    )
                })
            }
        }
    }

    /// Returns the value of a column without conversion.
    pub(super) fn get_ref(&self, column: usize) -> rusqlite::Result<ValueRef<'_>> {
        match self {
            Self::Sqlite(row) => row.get_ref(column),
            #[cfg(feature = "postgres")]
            Self::Postgres(row) => row
                .get(column)
                .map(ValueRef::from)
                .ok_or(rusqlite::Error::InvalidColumnIndex(column)),
        }
    }
}

/// The largest number of row ids in one statement. Longer lists are divided among several statements.
pub(super) const AT_ONCE: usize = 1_000;

/// Formats numbers as a list for a statement.
pub(super) fn join_numbers(numbers: impl Iterator<Item = i64>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    numbers.join(", ")
}

impl Sql<'_> {
    /// Reports whether the database is an SQLite file.
    pub(super) fn is_file(self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// Calls `visit` with each row of a query.
    pub(super) fn each(
        self,
        query: &str,
        values: &[&dyn ToSql],
        mut visit: impl FnMut(&StoredRow<'_>) -> Attempt<()>,
    ) -> Attempt<()> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(query)?;
                let mut rows = statement.query(values)?;
                while let Some(row) = rows.next()? {
                    visit(&StoredRow::Sqlite(row))?;
                }
                Ok(())
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => {
                for row in session.query(query, values)? {
                    visit(&StoredRow::Postgres(&row))?;
                }
                Ok(())
            }
        }
    }

    /// Like [`Self::each`], but runs one query for each number. `of_one` gets an SQL expression for the number, and returns the text of the query. On
    /// PostgreSQL, all queries are combined into one.
    pub(super) fn each_by_number(
        self,
        numbers: impl Iterator<Item = i64>,
        of_one: &dyn Fn(&str) -> String,
        values: &[&dyn ToSql],
        mut visit: impl FnMut(&StoredRow<'_>) -> Attempt<()>,
    ) -> Attempt<()> {
        match self {
            Self::Sqlite(_) => {
                let query = of_one(&format!("?{}", values.len() + 1));
                for number in numbers {
                    let mut all = values.to_vec();
                    all.push(&number);
                    self.each(&query, &all, &mut visit)?;
                }
                Ok(())
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => {
                let rows: Vec<String> = numbers.map(|number| format!("({number})")).collect();
                let of_each = format!(
                    "SELECT found.* FROM (VALUES {}) AS asked (number) JOIN LATERAL ({}) AS found ON TRUE",
                    rows.join(", "),
                    of_one("asked.number")
                );
                self.each(&of_each, values, visit)
            }
        }
    }

    /// Returns the result of `read` for each row of a query.
    pub(super) fn all<T>(
        self,
        query: &str,
        values: &[&dyn ToSql],
        mut read: impl FnMut(&StoredRow<'_>) -> rusqlite::Result<T>,
    ) -> Attempt<Vec<T>> {
        let mut found = Vec::new();
        self.each(query, values, |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the result of `read` for the first row of a query, if there is one.
    pub(super) fn first<T>(
        self,
        query: &str,
        values: &[&dyn ToSql],
        read: impl FnOnce(&StoredRow<'_>) -> rusqlite::Result<T>,
    ) -> Attempt<Option<T>> {
        match self {
            Self::Sqlite(connection) => Ok(connection
                .prepare_cached(query)?
                .query_row(values, |row| read(&StoredRow::Sqlite(row)))
                .optional()?),
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => {
                let rows = session.query(query, values)?;
                let first = rows.first().map(|row| read(&StoredRow::Postgres(row)));
                Ok(first.transpose()?)
            }
        }
    }

    /// Like [`Self::first`], for a query that always returns a row.
    pub(super) fn one<T>(
        self,
        query: &str,
        values: &[&dyn ToSql],
        read: impl FnOnce(&StoredRow<'_>) -> rusqlite::Result<T>,
    ) -> Attempt<T> {
        self.first(query, values, read)?
            .ok_or(Fault::Sqlite(rusqlite::Error::QueryReturnedNoRows))
    }

    /// Reports whether a query returns a row.
    pub(super) fn exists(self, query: &str, values: &[&dyn ToSql]) -> Attempt<bool> {
        Ok(self.first(query, values, |_| Ok(()))?.is_some())
    }

    /// Runs a statement and returns the number of changed rows.
    pub(super) fn run(self, statement: &str, values: &[&dyn ToSql]) -> Attempt<usize> {
        match self {
            Self::Sqlite(connection) => {
                Ok(connection.prepare_cached(statement)?.execute(values)?)
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(session) => session.execute(statement, values),
        }
    }
}

/// The failures that a finished write must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// The death of this process. If possible, the write does not wait for the disk, because a flush between two processes of a run would disturb the
    /// measurement. After a power failure, the last of these transactions may be missing, but none is incomplete.
    Kill,
    /// A power failure and the death of this process. This is required for everything that a command reports when it ends.
    PowerLoss,
}

impl Store {
    /// Runs queries on one snapshot of the store.
    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(Sql<'_>) -> Attempt<T>,
    ) -> Result<T, StoreError> {
        match &self.database {
            Database::File(file) => file.read(query),
            #[cfg(feature = "postgres")]
            Database::Server(session) => session.read(|session| query(Sql::Postgres(session))),
        }
    }

    /// Runs statements in one transaction.
    pub(super) fn write<T>(
        &mut self,
        survives: Durability,
        statements: impl FnOnce(Sql<'_>) -> Attempt<T>,
    ) -> Result<T, StoreError> {
        match &mut self.database {
            Database::File(file) => file.write(survives, statements),
            #[cfg(feature = "postgres")]
            Database::Server(session) => {
                session.write(|session| statements(Sql::Postgres(session)))
            }
        }
    }
}

impl StoreFile {
    fn read<T>(&self, query: impl FnOnce(Sql<'_>) -> Attempt<T>) -> Result<T, StoreError> {
        let attempt = || -> Attempt<T> {
            let snapshot =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
            query(Sql::Sqlite(&snapshot))
        };
        attempt().map_err(|fault| fault.into_error(self.path(), self.busy_timeout))
    }

    fn write<T>(
        &mut self,
        survives: Durability,
        statements: impl FnOnce(Sql<'_>) -> Attempt<T>,
    ) -> Result<T, StoreError> {
        let level = match (self.journal, survives) {
            (Journal::WriteAhead, Durability::Kill) => "NORMAL",
            // With a rollback journal, NORMAL could corrupt the file at a power failure instead of only losing the
            // last writes.
            (Journal::Rollback, _) | (_, Durability::PowerLoss) => "FULL",
        };
        let attempt = || -> Attempt<T> {
            self.connection.pragma_update(None, "synchronous", level)?;
            let transaction =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let value = statements(Sql::Sqlite(&transaction))?;
            transaction.commit()?;
            Ok(value)
        };
        let written =
            attempt().map_err(|fault| fault.into_error(self.path(), self.busy_timeout))?;
        // Writes to a deleted file succeed, but are lost when it is closed.
        if self.path().exists() {
            Ok(written)
        } else {
            Err(StoreError::Moved(self.path().to_owned()))
        }
    }
}
