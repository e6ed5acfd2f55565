//! Tests of the store's internals.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;

use super::history::{
    CONTROLS, LIST, NEWEST_VERDICT, accepted_steps_sql, past_commits_sql, past_sql,
};
use super::measurements::results_sql;
use super::steps::{ACCEPTED_BRANCHES, accepted_runs_sql};
use super::{BranchFilter, OpenOptions, RunFilter, Store, StoreError};

impl Store {
    /// Returns the SQLite connection of a store in a file.
    fn connection(&self) -> &Connection {
        &self.database.file().expect("a file").connection
    }
}

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("temporary directory");
    let path = directory.path().join("perfcheck.db");
    (directory, path)
}

fn impatient() -> OpenOptions {
    OpenOptions {
        busy_timeout: Duration::from_millis(20),
        ..OpenOptions::default()
    }
}

fn assert_locked<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    match outcome {
        Err(StoreError::Locked { waited, .. }) => assert_eq!(waited, Duration::from_millis(20)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_writer_that_holds_the_store_for_too_long_is_an_error_and_readers_do_not_mind() {
    let (_directory, path) = place();
    let workspace = Store::open(&path)
        .and_then(|mut store| store.ensure_workspace("key", "/project"))
        .expect("creates");
    let other = Connection::open(&path).expect("opens");
    other
        .execute_batch("BEGIN IMMEDIATE; UPDATE workspaces SET label = 'half done'")
        .expect("holds");

    let mut store = Store::open_with(&path, impatient()).expect("opens");
    assert_locked(store.ensure_workspace("another", "/another"));
    assert_eq!(store.find_workspace("key").expect("reads"), Some(workspace));
    assert_eq!(store.workspaces().expect("reads")[0].label, "/project");
    other.execute_batch("ROLLBACK").expect("lets go");
    store
        .ensure_workspace("another", "/another")
        .expect("free again");
}

#[test]
fn a_creation_that_another_process_holds_for_too_long_is_an_error() {
    let (_directory, path) = place();
    let other = Connection::open(&path).expect("opens");
    other.execute_batch("BEGIN EXCLUSIVE").expect("holds");
    assert_locked(Store::open_with(&path, impatient()));
}

#[test]
fn a_database_with_tables_and_no_application_id_is_refused() {
    let (_directory, path) = place();
    let other = Connection::open(&path).expect("opens");
    other
        .execute_batch("CREATE TABLE notes (text TEXT)")
        .expect("creates");
    drop(other);
    let before = std::fs::read(&path).expect("reads");
    assert!(matches!(
        Store::open(&path),
        Err(StoreError::Foreign {
            application_id: 0,
            ..
        })
    ));
    assert_eq!(std::fs::read(&path).expect("reads"), before);
}

/// The version in the file's header may be older than the one in the log.
#[test]
fn a_newer_version_that_is_only_in_the_log_is_refused_and_stays_there() {
    let (_directory, path) = place();
    drop(Store::open(&path).expect("creates"));
    let newer = Connection::open(&path).expect("opens");
    newer
        .execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 7")
        .expect("upgrades");
    // Copy the file and its log while no process has the copies open, as after a kill.
    let (_copy, copied) = place();
    for suffix in ["", "-wal"] {
        let from = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        std::fs::copy(from(&path), from(&copied)).expect("copies");
    }
    let before = std::fs::read(&copied).expect("reads");
    for _ in 0..2 {
        assert!(matches!(
            Store::open(&copied),
            Err(StoreError::Newer {
                found: 7,
                supported: super::schema::VERSION,
                ..
            })
        ));
    }
    assert!(
        std::fs::read(&copied).expect("reads") == before,
        "the file was changed"
    );
    assert!(matches!(
        Store::open_existing(&copied),
        Err(StoreError::Newer { found: 7, .. })
    ));
}

#[test]
fn a_store_is_in_write_ahead_mode_and_survives_a_kill_at_normal_and_power_loss_at_full() {
    let (_directory, path) = place();
    let mut store = Store::open(&path).expect("creates");
    let pragma = |store: &Store, name: &str| -> String {
        store
            .connection()
            .pragma_query_value(None, name, |row| {
                row.get_ref(0).map(|value| format!("{value:?}"))
            })
            .expect("tells")
    };
    assert!(
        pragma(&store, "journal_mode").contains("wal")
            || pragma(&store, "journal_mode").contains("119")
    );
    assert_eq!(pragma(&store, "foreign_keys"), "Integer(1)");
    let workspace = store.ensure_workspace("key", "/project").expect("writes");
    assert_eq!(pragma(&store, "synchronous"), "Integer(1)");
    let other = store.ensure_workspace("other", "/other").expect("writes");
    store.adopt(other, workspace).expect("adopts");
    assert_eq!(pragma(&store, "synchronous"), "Integer(2)");
}

#[test]
fn a_word_or_a_json_text_that_nobody_wrote_is_damage() {
    let (_directory, path) = place();
    let mut store = Store::open(&path).expect("creates");
    let workspace = store.ensure_workspace("key", "/project").expect("writes");
    store
        .connection()
        .execute_batch(
            "INSERT INTO environments (facts) VALUES ('{}');
             INSERT INTO runs (workspace, environment, started, seed, decision, tool_version)
             VALUES (1, 1, 0, 0, '{}', '')",
        )
        .expect("inserts");
    match store.runs(workspace, None) {
        Err(StoreError::Corrupt { detail, .. }) => {
            assert!(detail.contains("missing field"), "{detail}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_question_about_the_history_scans_a_table() {
    let (_directory, path) = place();
    let store = Store::open(&path).expect("creates");
    let plan = |sql: &str, values: usize| -> Vec<String> {
        let mut statement = store
            .connection()
            .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
            .expect("prepares");
        assert_eq!(statement.parameter_count(), values);
        let nulls = vec![None::<i64>; values];
        statement
            .query_map(rusqlite::params_from_iter(nulls), |row| row.get(3))
            .and_then(Iterator::collect)
            .expect("explains")
    };
    let mut plans = vec![plan(LIST, 1), plan(CONTROLS, 2)];
    for branch in [BranchFilter::Any, BranchFilter::Only(None)] {
        for runs in [RunFilter::Own, RunFilter::Accepted] {
            plans.push(plan(&past_sql("?5", branch, runs), 5));
        }
        plans.push(plan(&accepted_steps_sql("?5", branch), 5));
    }
    plans.push(plan(NEWEST_VERDICT, 2));
    for branch in [BranchFilter::Any, BranchFilter::Only(None)] {
        plans.push(plan(&past_commits_sql("?5", branch), 5));
    }
    plans.push(plan(&accepted_runs_sql(), 3));
    plans.push(plan(ACCEPTED_BRANCHES, 1));
    let counts = "JOIN counts c ON c.run_benchmark = rb.id";
    for (columns, tables) in [("rb.id, rb.verdict", ""), ("c.total", counts)] {
        let of_few = plan(&results_sql(columns, tables, "1, 2, 3", Some("4, 5")), 0);
        // A few benchmarks of a run are looked up by index, because the run may have thousands.
        assert!(of_few[0].contains("(benchmark=? AND run=?)"), "{of_few:#?}");
        plans.push(of_few);
        plans.push(plan(&results_sql(columns, tables, "1, 2, 3", None), 0));
    }
    for plan in &plans {
        assert!(!plan.is_empty());
        for step in plan {
            assert!(
                !step.starts_with("SCAN") && !step.contains("TEMP B-TREE"),
                "{plan:#?}"
            );
        }
    }
    // A rare branch and accepted runs have their own indexes.
    assert!(
        plans[6]
            .iter()
            .any(|step| step.contains("accepted_runs_by_branch")),
        "{:#?}",
        plans[6]
    );
}

/// Creates a file of version 1 with a complete, accepted run, as the first version of this program wrote it.
fn of_version_1(path: &Path) {
    let connection = Connection::open(path).expect("creates");
    connection
        .execute_batch(include_str!("schema/1.sql"))
        .expect("creates");
    connection
        .execute_batch(
            r#"PRAGMA user_version = 1;
            INSERT INTO workspaces (key, label) VALUES ('key', '/project');
            INSERT INTO environments (facts) VALUES ('{"host":{"cpu":"","architecture":"","os":"","cores":1,
                "kernel":"","governor":null,"microcode":null,"shared":false},
                "build":{"rustc":"","target":"","profile":"","rustflags":""}}');
            INSERT INTO runs (workspace, environment, status, acceptance, started, finished, exit_code, seed,
                              decision, tool_version)
            VALUES (1, 1, 'complete', 'automatic', 1, 2, 0, 7, '{"noise_threshold":0.02,
                "significance_level":0.01,"confidence_level":0.99,"resamples":1000}', '0.1.0');
            INSERT INTO baselines (workspace, name, run) VALUES (1, 'main', 1);"#,
        )
        .expect("fills");
}

#[test]
fn a_store_of_version_1_opens_with_what_it_holds() {
    for open in [
        |path: &Path| Store::open(path).expect("opens"),
        |path: &Path| Store::open_existing(path).expect("opens").expect("is one"),
    ] {
        let (_directory, path) = place();
        of_version_1(&path);
        let store = open(&path);
        let workspace = store.find_workspace("key").expect("reads").expect("is one");
        let run = store
            .baseline(workspace, "main")
            .expect("reads")
            .expect("named");
        let head = store.run(run).expect("reads");
        assert_eq!((head.begun.seed, head.pair, head.plan), (7, None, None));
        store.check().expect("whole");
        let version: u32 = store
            .connection()
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .expect("tells");
        assert_eq!(version, super::schema::VERSION);
    }
}

#[test]
fn the_database_refuses_a_purpose_without_a_partner_and_one_that_there_is_not() {
    let (_directory, path) = place();
    of_version_1(&path);
    let connection = Connection::open(&path).expect("opens");
    connection
        .execute_batch(
            "PRAGMA foreign_keys = 1; BEGIN; PRAGMA defer_foreign_keys = 1;
             INSERT INTO runs (id, workspace, environment, started, seed, decision, tool_version, partner, role, purpose)
             SELECT -2, workspace, environment, started, seed, decision, tool_version, 2, 'base', 'search' FROM runs WHERE id = 1 UNION ALL
             SELECT 2, workspace, environment, started, seed, decision, tool_version, -2, 'candidate', 'search' FROM runs WHERE id = 1;
             COMMIT;",
        )
        .expect("fills");
    drop(connection);
    let store = Store::open(&path).expect("opens");
    for broken in [
        "UPDATE runs SET purpose = 'control' WHERE id = 1",
        "UPDATE runs SET purpose = NULL WHERE id = -2",
        "UPDATE runs SET purpose = 'pastime' WHERE id = -2",
        "UPDATE runs SET purpose = 'past' WHERE id = 2",
        "UPDATE runs SET committed = 5 WHERE id = 2",
        "UPDATE runs SET purpose = 'past', committed = 5, series = 's', acceptance = 'automatic' WHERE id = 2",
        "UPDATE runs SET acceptance = 'automatic' WHERE id = -2",
        "UPDATE runs SET partner = 1 WHERE id = 2",
        "UPDATE runs SET role = 'base' WHERE id = 2",
        "UPDATE runs SET purpose = 'part' WHERE id = 1",
        "UPDATE runs SET part = '{}' WHERE id = 1",
        "UPDATE runs SET part = '{}', purpose = 'part', acceptance = 'automatic' WHERE id = 1",
    ] {
        let refused = store.connection().execute(broken, []);
        assert!(refused.is_err(), "{broken}");
    }
    store.check().expect("whole");
}

#[test]
fn series_without_allocations_and_latencies_are_read_and_damaged_ones_are_not() {
    let (_directory, path) = place();
    of_version_1(&path);
    let connection = Connection::open(&path).expect("opens");
    connection
        .execute_batch(
            "INSERT INTO benchmarks (workspace, package, target, name) VALUES (1, 'p', 't', 'b');
             INSERT INTO processes (run, package, target, ordinal, attempt, started, padding_bytes)
             VALUES (1, 'p', 't', 0, 0, 3, 4);",
        )
        .expect("fills");
    let series = perfcheck_analysis::model::Series {
        warm_up: perfcheck_analysis::model::Sample {
            iterations: 1,
            elapsed: perfcheck_analysis::model::Nanos(7),
        },
        linear: Vec::new(),
        flat: Vec::new(),
    };
    let conditions = r#"{"version":null,"throughput":{"bytes":null,"elements":null},"settings":{},"target":{"features":[]},
        "sampling":{"processes":5,"samples":null,"warm_up":1,"measurement":2,"mode":"standard"},"noise_threshold":0.02}"#;
    connection
        .execute("INSERT INTO conditions (facts) VALUES (?1)", [conditions])
        .expect("fills");
    connection
        .execute_batch("INSERT INTO run_benchmarks (run, benchmark, conditions) VALUES (1, 1, 1)")
        .expect("fills");
    connection
        .execute(
            "INSERT INTO series (run_benchmark, process, position, samples) VALUES (1, 1, 0, ?1)",
            [super::encoding::encode(&series)],
        )
        .expect("fills");
    drop(connection);
    let store = Store::open(&path).expect("opens");
    let found = store
        .measurements(perfcheck_analysis::model::RunId(1), None)
        .expect("reads");
    let process = &found[0].processes[0];
    assert_eq!(process.series, series);
    assert_eq!(process.extras, perfcheck_analysis::model::Extras::default());
    store.check().expect("whole");
    for column in ["allocations", "latencies"] {
        let damage = format!("UPDATE series SET {column} = x'0101000000'");
        store.connection().execute_batch(&damage).expect("writes");
        for outcome in [
            store.check(),
            store
                .measurements(perfcheck_analysis::model::RunId(1), None)
                .map(|_| ()),
        ] {
            let error = outcome.expect_err("damaged");
            assert!(error.to_string().contains("checksum"), "{error}");
        }
        let repair = format!("UPDATE series SET {column} = NULL");
        store.connection().execute_batch(&repair).expect("writes");
    }
}

#[test]
fn a_side_of_a_pair_takes_the_other_one_with_it() {
    let (_directory, path) = place();
    for side in [0, 1] {
        let mut store = Store::open(&path).expect("opens");
        let workspace = store.ensure_workspace("key", "/project").expect("writes");
        let run = perfcheck_analysis::model::NewRun {
            started: perfcheck_analysis::model::Timestamp(0),
            git: None,
            environment: perfcheck_analysis::model::Environment::default(),
            load: None,
            seed: 0,
            decision: perfcheck_analysis::model::DecisionSettings::default(),
            build: None,
            partition: None,
            past: None,
            tool_version: String::new(),
        };
        let runs = store
            .begin_pair(
                workspace,
                perfcheck_analysis::model::BySide {
                    base: &run,
                    candidate: &run,
                },
                "{}",
                perfcheck_analysis::model::Purpose::Comparison,
            )
            .expect("begins");
        let removed = store
            .connection()
            .execute(
                "DELETE FROM runs WHERE id = ?1",
                [[runs.base, runs.candidate][side].0],
            )
            .expect("deletes");
        assert_eq!(removed, 1);
        assert_eq!(store.runs(workspace, None).expect("reads"), []);
        store.check().expect("whole");
    }
}
