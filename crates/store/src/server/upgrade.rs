//! Creates a team's store, or upgrades an older one by running all missing scripts in one transaction. If several processes try at the same time, the
//! scripts run only once.

use super::session::{SCRIPTS, SETTINGS, TeamSession};
use crate::{ExistingStore, StoreError};

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
