//! Statements and rows, the same for every database that a store can lie in.
//!
//! Statements are written once, in the words that SQLite and PostgreSQL share; a database translates what it must.

use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, OptionalExtension, ToSql};

use super::error::{Attempt, Fault};
#[cfg(feature = "postgres")]
use super::server::TeamSession;

/// Where statements run.
#[derive(Clone, Copy)]
pub(super) enum Sql<'c> {
    /// A file.
    Sqlite(&'c Connection),
    /// A team's database.
    #[cfg(feature = "postgres")]
    Postgres(&'c TeamSession),
}

/// A row that a statement gave.
pub(super) enum StoredRow<'r> {
    /// Of a file.
    Sqlite(&'r rusqlite::Row<'r>),
    /// Of a team's database.
    #[cfg(feature = "postgres")]
    Postgres(&'r [rusqlite::types::Value]),
}

impl StoredRow<'_> {
    /// The value of a column, from 0.
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

    /// The same, not converted.
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

/// So many rows are named in a statement.
pub(super) const AT_ONCE: usize = 1_000;

/// Numbers as a list in a statement.
pub(super) fn numbered(numbers: impl Iterator<Item = i64>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    numbers.join(", ")
}

impl Sql<'_> {
    /// Whether statements run in a file, which SQLite alone can check.
    pub(super) fn is_file(self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// Hands each row of a query to `visit`.
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

    /// The same of a query for each of `numbers`, whose text is made from what stands there for the number. A server is asked once.
    pub(super) fn each_of(
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

    /// What `read` makes of each row of a query.
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

    /// What `read` makes of the first row of a query, if there is one.
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

    /// The same of a query that gives a row whatever there is.
    pub(super) fn one<T>(
        self,
        query: &str,
        values: &[&dyn ToSql],
        read: impl FnOnce(&StoredRow<'_>) -> rusqlite::Result<T>,
    ) -> Attempt<T> {
        self.first(query, values, read)?
            .ok_or(Fault::Sqlite(rusqlite::Error::QueryReturnedNoRows))
    }

    /// Whether a query gives a row.
    pub(super) fn exists(self, query: &str, values: &[&dyn ToSql]) -> Attempt<bool> {
        Ok(self.first(query, values, |_| Ok(()))?.is_some())
    }

    /// Runs a statement. Tells how many rows it changed.
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
