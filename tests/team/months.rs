//! A team's store that grows for years: samples are stored and removed by month, and histories are kept.

use std::fs;

use serde_json::Value;

use super::{measured, push, sent, server};
use crate::commands::crates::Crate;
use crate::support::{Finished, Machine};

const DAY: i64 = 86_400 * 1_000_000_000;

/// Changes the dates of a project's runs: the first was measured `first` days ago, and each later run `step` days after the one before.
fn aged(listed: &Crate, machine: &Machine, first: i64, step: i64) {
    let runs = listed.perfcheck(machine, &["store", "runs", "--message-format", "json"]);
    let mut runs: Vec<i64> = (runs.run().expect_code(0).messages("run").iter())
        .map(|run| run["run"].as_i64().expect("a number"))
        .collect();
    runs.sort_unstable();
    let connection = rusqlite::Connection::open(machine.store()).expect("opens");
    for (place, run) in (0_i64..).zip(runs) {
        let earlier = (first - place * step) * DAY;
        connection
            .execute(
                "UPDATE runs SET started = started - ?1, finished = finished - ?1 WHERE id = ?2",
                [earlier, run],
            )
            .expect("ages");
    }
}

fn months(server: &crate::support::postgres::Server, database: &str) -> Vec<String> {
    let names = "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'perfcheck.series'::regclass AND c.relkind = 'r' ORDER BY 1";
    let names = server.sql(database, names).expect("tells");
    names.lines().map(str::to_owned).collect()
}

/// Returns the run number and the value of each point of a history.
fn points(finished: &Finished) -> Vec<(Value, Value)> {
    let points = finished.messages("history-point").into_iter();
    points
        .map(|point| (point["run"].clone(), point["value"].clone()))
        .collect()
}

#[test]
fn old_samples_go_by_month_and_the_history_still_shows_their_runs() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let database = address.rsplit('/').next().expect("a name").to_owned();
    let machine = Machine::new();
    let listed = measured(&machine, 12);
    // Runs are about a month apart. The last one was measured today.
    aged(&listed, &machine, 341, 31);
    assert_eq!(
        sent(&push(&listed, &machine, &address).run().expect_code(0)),
        (12, 0)
    );
    let before = months(server, &database);
    assert!(before.len() >= 11, "{before:?}");
    let there = |words: &[&str]| {
        let command = listed
            .perfcheck(&machine, words)
            .args(["--store", &address]);
        command.run()
    };
    let history = ["history", "b", "--all-branches", "--message-format", "json"];
    let old = points(&there(&history).expect_code(0));
    assert_eq!(old.len(), 12);
    there(&["baseline", "save", "kept", "2"]).expect_code(0);
    // Delete the branch of the runs, so that no later run is compared with them.
    listed.git(&machine, &["checkout", "--quiet", "-b", "next"]);
    listed.git(&machine, &["branch", "--quiet", "-D", "main"]);
    let prune = ["store", "prune", "--samples", "--older-than", "100d"];
    let shown = there(&prune).expect_code(0);
    assert!(
        shown.stdout.contains("would be removed") && shown.stdout.contains("baseline kept"),
        "{shown}"
    );
    assert_eq!(months(server, &database), before, "nothing was removed yet");
    let role = format!("{database}_may_send");
    let init = ["store", "init", "--roles", &address];
    listed.perfcheck(&machine, &init).run().expect_code(0);
    let user = format!("CREATE ROLE {role} LOGIN IN ROLE perfcheck_writer");
    server.sql(&database, &user).expect("made");
    let as_writer = address.replace(
        &format!("team:{}@", crate::support::postgres::PASSWORD),
        &format!("{role}@"),
    );
    let not_allowed = listed
        .perfcheck(&machine, &prune)
        .args(["--yes", "--store", &as_writer])
        .run();
    not_allowed
        .expect_code(5)
        .expect_stderr(&["the database user lacks a permission"]);
    let admin = format!("GRANT perfcheck_admin TO {role}");
    server.sql(&database, &admin).expect("granted");
    let removed = listed
        .perfcheck(&machine, &prune)
        .args(["--yes", "--store", &as_writer])
        .run();
    removed.expect_code(0);
    let samples = "SELECT string_agg(DISTINCT rb.run::TEXT, ' ') FROM perfcheck.series s JOIN perfcheck.run_benchmarks rb ON rb.id = s.run_benchmark";
    let left = server.sql(&database, samples).expect("tells");
    let left: Vec<&str> = left.split(' ').collect();
    assert!(
        left.contains(&"2") && left.contains(&"12") && !left.contains(&"1"),
        "{left:?}"
    );
    assert_eq!(points(&there(&history).expect_code(0)), old);
    let after = months(server, &database);
    assert!(
        after.len() < before.len() && !after.contains(&before[0]),
        "{after:?}"
    );
    there(&["compare", "1", "12"]).expect_stderr(&["the samples of run 1 were removed", "history"]);
    there(&["show", "1"]).expect_code(0);
    // Runs can still be sent for a month whose table was emptied or dropped.
    let other = Machine::new();
    let late = measured(&other, 1);
    aged(&late, &other, 341, 0);
    assert_eq!(
        sent(&push(&late, &other, &address).run().expect_code(0)),
        (1, 0)
    );
}

#[test]
fn psql_reads_the_history_from_the_view_that_the_book_shows() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let database = address.rsplit('/').next().expect("a name").to_owned();
    let machine = Machine::new();
    let listed = measured(&machine, 2);
    push(&listed, &machine, &address).run().expect_code(0);
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/internals/src/store.md");
    let book = fs::read_to_string(book).expect("the book");
    let (_, query) = book.split_once("```sql\n").expect("a query");
    let (query, _) = query.split_once("```").expect("its end");
    let told = server
        .sql(
            &database,
            &query
                .replace("parse/10000", "b")
                .replace("example.org/parser", "example.org/listed"),
        )
        .expect("told");
    let rows: Vec<Vec<&str>> = told.lines().map(|line| line.split('|').collect()).collect();
    assert_eq!(rows.len(), 2, "{told}");
    assert_eq!(rows[0].len(), 5);
    assert!(
        rows[0][2].starts_with("15") && rows[1][2].starts_with("10"),
        "{told}"
    );
}
