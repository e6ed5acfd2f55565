//! How statements run: reads in one snapshot, writes in one immediate transaction, errors with their path.

use rusqlite::{Transaction, TransactionBehavior};

use super::error::Attempt;
use super::open::{Database, Journal, StoreFile};
use super::sql::Sql;
use super::{Store, StoreError};

/// What a finished write has to survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Survives {
    /// The death of this process. Nothing waits for the device between two launches: a flush there would be noise
    /// in what is being measured. A loss of power may take the last such writes, in whole transactions.
    Kill,
    /// A loss of power as well: what a command reports when it ends.
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

    /// Runs statements that happen together or not at all.
    pub(super) fn write<T>(
        &mut self,
        survives: Survives,
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
        attempt().map_err(|fault| fault.at(self.path(), self.busy_timeout))
    }

    fn write<T>(
        &mut self,
        survives: Survives,
        statements: impl FnOnce(Sql<'_>) -> Attempt<T>,
    ) -> Result<T, StoreError> {
        let level = match (self.journal, survives) {
            (Journal::WriteAhead, Survives::Kill) => "NORMAL",
            // With a rollback journal NORMAL could damage the file when power fails, not only lose its tail.
            (Journal::Rollback, _) | (_, Survives::PowerLoss) => "FULL",
        };
        let attempt = || -> Attempt<T> {
            self.connection.pragma_update(None, "synchronous", level)?;
            let transaction =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let value = statements(Sql::Sqlite(&transaction))?;
            transaction.commit()?;
            Ok(value)
        };
        let written = attempt().map_err(|fault| fault.at(self.path(), self.busy_timeout))?;
        // A file that was deleted takes writes without a murmur, and they are gone when it is closed.
        if self.path().exists() {
            Ok(written)
        } else {
            Err(StoreError::Moved(self.path().to_owned()))
        }
    }
}
