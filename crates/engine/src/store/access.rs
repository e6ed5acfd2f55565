//! Runs statements: reads in one snapshot, writes in one immediate transaction, errors with the path of the store.

use rusqlite::{Transaction, TransactionBehavior};

use super::error::Attempt;
use super::open::{Database, Journal, StoreFile};
use super::sql::Sql;
use super::{Store, StoreError};

/// The failures that a finished write must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durability {
    /// The death of this process. Between two processes of a bench nothing waits for the disk, because a flush would
    /// disturb the measurement. After a power failure the last of these transactions may be missing, each of them as
    /// a whole.
    Kill,
    /// A power failure as well: for everything that a command reports when it ends.
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
