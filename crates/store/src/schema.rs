//! The schema and its migrations. docs/internals/src/store.md explains every column. A released migration is never edited.

use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

use super::StoreError;
use super::error::{Attempt, Fault};

/// `pfck` in ASCII, which marks the file as a store of this program.
pub(super) const APPLICATION_ID: u32 = u32::from_be_bytes(*b"pfck");

/// One SQL script per version, oldest first. `user_version` is the number of scripts applied.
const SCRIPTS: [&str; 1] = [include_str!("schema/1.sql")];

/// The schema version that this program writes, and the newest that it reads.
pub(super) const VERSION: u32 = SCRIPTS.len() as u32;

/// The content of a database before a team's store was created in it or upgraded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingStore {
    /// No store.
    None,
    /// A store of this older version.
    Older(u32),
    /// A store of the current version.
    Present,
}

/// The fields that show whether a database is a store, and of which version.
struct DatabaseIdentity {
    application_id: u32,
    version: u32,
    objects: u64,
}

impl DatabaseIdentity {
    /// Reads all fields in the same transaction, because another process may be creating the schema.
    fn read(transaction: &Transaction<'_>) -> rusqlite::Result<Self> {
        // SQLite returns signed numbers with the bits of unsigned ones.
        let bits = |name| transaction.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
        Ok(Self {
            application_id: bits("application_id")?.cast_unsigned(),
            version: bits("user_version")?.cast_unsigned(),
            objects: transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
                row.get::<_, i64>(0).map(i64::cast_unsigned)
            })?,
        })
    }

    fn is_blank(&self) -> bool {
        self.application_id == 0 && self.version == 0 && self.objects == 0
    }

    /// Returns the version of the store, which is 0 for an empty database. It is an error if the version is above `newest`, or if the database
    /// belongs to another program.
    fn check_version(&self, path: &Path, newest: u32) -> Attempt<u32> {
        if self.is_blank() {
            Ok(0)
        } else if self.application_id != APPLICATION_ID {
            Err(Fault::Store(StoreError::Foreign {
                path: path.to_owned(),
                application_id: self.application_id,
            }))
        } else if self.version > newest {
            Err(Fault::Store(StoreError::Newer {
                path: path.to_owned(),
                found: self.version,
                supported: newest,
            }))
        } else if self.version == 0 && self.objects > 0 {
            Err(Fault::Content(
                "its schema version (`user_version`) is 0, but it has tables".to_owned(),
            ))
        } else {
            Ok(self.version)
        }
    }
}

/// Returns the version of the store, which is 0 for an empty database. Rejects databases of other programs and of newer versions, without writing to
/// them.
pub(super) fn read_version(connection: &Connection, path: &Path) -> Attempt<u32> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
    DatabaseIdentity::read(&transaction)?.check_version(path, VERSION)
}

/// Applies the missing migrations in one transaction.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Attempt<()> {
    if read_version(connection, path)? < VERSION {
        apply(connection, path, &SCRIPTS)?;
        // Write the version to the header of the file itself, where older programs look for it.
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
    Ok(())
}

/// Applies the scripts that are missing. The version is read again under the lock, because another process may have changed the database in the
/// meantime.
fn apply(connection: &mut Connection, path: &Path, scripts: &[&str]) -> Attempt<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let applied =
        DatabaseIdentity::read(&transaction)?.check_version(path, scripts.len() as u32)?;
    for (script, number) in scripts.iter().zip(1..).skip(applied as usize) {
        transaction.execute_batch(script)?;
        transaction.pragma_update(None, "user_version", number)?;
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;
    use std::path::Path;

    use super::{Fault, SCRIPTS, StoreError, apply, migrate};

    #[test]
    fn what_another_process_has_made_of_the_database_meanwhile_counts() {
        let path = Path::new("memory");
        let mut connection = Connection::open_in_memory().expect("in memory");
        for _ in 0..2 {
            apply(&mut connection, path, &SCRIPTS).expect("applied once");
        }
        let newer = apply(&mut connection, path, &[])
            .map_err(|fault| matches!(fault, Fault::Store(StoreError::Newer { .. })));
        assert_eq!(newer, Err(true));
        let mut connection = Connection::open_in_memory().expect("in memory");
        connection
            .execute_batch("CREATE TABLE theirs (x INTEGER);")
            .expect("filled");
        let foreign = apply(&mut connection, path, &SCRIPTS)
            .map_err(|fault| matches!(fault, Fault::Store(StoreError::Foreign { .. })));
        assert_eq!(foreign, Err(true));
    }

    #[test]
    fn an_older_database_is_brought_up_to_date_in_one_transaction_or_not_at_all() {
        let mut connection = Connection::open_in_memory().expect("in memory");
        migrate(&mut connection, Path::new("memory")).expect("version 1");
        connection
            .execute("INSERT INTO workspaces (key, label) VALUES ('k', 'l')", [])
            .expect("fills");
        let version = |connection: &Connection| -> i64 {
            connection
                .pragma_query_value(None, "user_version", |row| row.get(0))
                .expect("tells")
        };
        let second = "ALTER TABLE workspaces ADD COLUMN note TEXT;";
        let third = "ALTER TABLE nowhere ADD COLUMN note TEXT;";
        let broken = [SCRIPTS[0], second, third];
        apply(&mut connection, Path::new("memory"), &broken).expect_err("the third script fails");
        assert_eq!(
            version(&connection),
            1,
            "the second one is rolled back, too"
        );
        apply(&mut connection, Path::new("memory"), &broken[..2]).expect("migrated");
        assert_eq!(version(&connection), 2);
        let label: String = connection
            .query_row(
                "SELECT label FROM workspaces WHERE note IS NULL",
                [],
                |row| row.get(0),
            )
            .expect("what was there is still there");
        assert_eq!(label, "l");
    }

    #[test]
    fn every_table_is_strict() {
        let mut connection = Connection::open_in_memory().expect("in memory");
        migrate(&mut connection, Path::new("memory")).expect("migrated");
        let lax: Vec<String> = connection
            .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND NOT strict AND name NOT LIKE 'sqlite%'")
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .expect("list");
        assert_eq!(lax, Vec::<String>::new());
    }
}
