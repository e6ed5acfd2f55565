//! Tests of the session's internals, on a PostgreSQL server that they start.

use std::sync::mpsc::channel;
use std::time::Duration;

use super::session::SCRIPTS;
use super::session::{SETTINGS, TeamSession};
use crate::{ExistingStore, StoreError};
use postgres::Server;

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../../../tests/support/postgres.rs"]
mod postgres;

/// The scripts of a later program, whose stores have a second version.
const SECOND: [&str; 2] = [
    SCRIPTS[0],
    "ALTER TABLE perfcheck.workspaces ADD COLUMN note TEXT; SELECT pg_sleep(0.2)",
];

fn upgrade(address: &str, scripts: &[&str]) -> Result<ExistingStore, StoreError> {
    let mut session = TeamSession::connect(address, SETTINGS).expect("connects");
    session.upgrade(scripts, false)
}

#[test]
fn a_store_is_brought_up_to_date_once_and_an_older_program_is_told_so() {
    let Some(server) = Server::start() else {
        return;
    };
    let address = server.fresh_database();
    let database = address.rsplit('/').next().expect("a name");
    // One session reads all the time, as an older program would. Another one is idle.
    let older = TeamSession::open_to_read(&address).expect("opens");
    let (begun, wait) = channel();
    let (upgraded, found, reads) = std::thread::scope(|scope| {
        let reads = scope.spawn(|| {
            let reader = TeamSession::open_to_read(&address).expect("opens");
            reader.read(|session| {
                session.query("SELECT count(*) FROM workspaces", &[])?;
                begun.send(()).expect("waits");
                session.query("SELECT 1 FROM pg_sleep(0.3)", &[])?;
                session.query("SELECT count(*) FROM workspaces", &[])
            })
        });
        wait.recv().expect("reads");
        let both = [(); 2].map(|()| scope.spawn(|| upgrade(&address, &SECOND)));
        let both = both.map(|one| one.join().expect("ends").expect("upgrades"));
        (
            server.sql(database, "SELECT version FROM perfcheck.made_by"),
            both,
            reads.join(),
        )
    });
    assert_eq!(upgraded.as_deref(), Some("2"));
    let mut found = found.map(|found| found == ExistingStore::Older(1));
    found.sort_unstable();
    assert_eq!(found, [false, true], "one of them upgraded");
    reads
        .expect("ends")
        .expect("who was at work came to the end");
    let error = older.read(|session| session.query("SELECT count(*) FROM workspaces", &[]));
    let error = error.expect_err("the schema is newer");
    assert!(
        matches!(
            error,
            StoreError::Newer {
                found: 2,
                supported: 1,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("update cargo-perfcheck"),
        "{error}"
    );
    let opened = TeamSession::open(&address).map(drop);
    assert!(
        matches!(opened, Err(StoreError::Newer { found: 2, .. })),
        "{opened:?}"
    );
    let result = upgrade(&address, &SCRIPTS);
    assert!(
        matches!(result, Err(StoreError::Newer { found: 2, .. })),
        "{result:?}"
    );
}

#[test]
fn an_upgrade_happens_whole_or_not_at_all_and_a_newer_program_asks_for_it() {
    let Some(server) = Server::start() else {
        return;
    };
    let address = server.fresh_database();
    let database = address.rsplit('/').next().expect("a name");
    let broken = [
        SECOND[0],
        SECOND[1],
        "ALTER TABLE perfcheck.nowhere ADD COLUMN note TEXT",
    ];
    upgrade(&address, &broken).expect_err("the third script fails");
    let columns = "SELECT count(*) FROM information_schema.columns WHERE table_name = 'workspaces' AND column_name = 'note'";
    assert_eq!(server.sql(database, columns).as_deref(), Some("0"));
    TeamSession::open(&address).expect("as before");
    server
        .sql(database, "UPDATE perfcheck.made_by SET version = 0")
        .expect("made older");
    let error = TeamSession::open(&address).map(drop).expect_err("older");
    assert!(
        matches!(
            error,
            StoreError::Older {
                found: 0,
                supported: 1,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("store init"), "{error}");
}

#[test]
fn a_server_that_falls_silent_is_given_up() {
    let Some(server) = Server::start() else {
        return;
    };
    let address = server.fresh_database();
    let mut session = TeamSession::open(&address).expect("opens");
    session.patience = Duration::from_millis(200);
    let error = session.read(|session| session.query("SELECT pg_sleep(20)", &[]));
    let error = error.expect_err("silent");
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("no answer within"), "{error}");
}
