//! Sending runs as soon as they are stored (`--push`), and the choice of the team's store.

use std::fs;

use super::{ID, measured, push, sent, server};
use crate::against::project::{Project, compared};
use crate::commands::scripted::{finish, verdict};
use crate::support::postgres::Server;
use crate::support::{Machine, Perfcheck};

/// An address without a server.
const NOWHERE: &str = "postgres://team:hunter2@127.0.0.1:1/nowhere";

fn to(command: Perfcheck, address: &str) -> Perfcheck {
    command.arg("--push").env("PERFCHECK_TEAM_STORE", address)
}

/// Sets the environment variables by which `psql` would find a database of `server`.
fn surroundings(command: Perfcheck, server: &Server, database: &str) -> Perfcheck {
    command
        .env("PGHOST", server.data())
        .env("PGUSER", "team")
        .env("PGDATABASE", database)
}

#[test]
fn what_is_measured_is_sent_and_no_server_changes_no_verdict() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let machine = Machine::new();
    let listed = measured(&machine, 1);
    let first = listed.measure(&machine, &["a"], &[("b", 100.0)]);
    let first = to(first, &address).run().expect_code(0);
    assert_eq!(sent(&first), (2, 0), "{first}");

    let slower = || listed.measure(&machine, &["a"], &[("b", 150.0)]);
    let lost = to(slower(), NOWHERE).run().expect_code(1);
    assert_eq!(finish(&lost)["verdicts"]["regressed"], 1, "{lost}");
    let lost = lost.expect_stderr(&["not sent", "127.0.0.1", "cargo perfcheck store push"]);
    assert!(!lost.stderr.contains("hunter2"), "{lost}");
    let later = push(&listed, &machine, &address).run().expect_code(0);
    assert_eq!(sent(&later), (1, 2), "{later}");

    // The verdict is the same whether sending succeeds or fails.
    let sent_too = to(slower(), &address).run().expect_code(1);
    assert_eq!(sent(&sent_too), (1, 3), "{sent_too}");
}

#[test]
fn what_is_wrong_with_the_address_is_said_before_anything_is_measured() {
    let machine = Machine::new();
    let listed = measured(&machine, 1);
    let refused = |address: Option<&str>, texts: &[&str]| {
        let command = listed.measure(&machine, &["a", "b"], &[]).arg("--push");
        let command = match address {
            Some(address) => command.env("PERFCHECK_TEAM_STORE", address),
            None => command,
        };
        let refused = command.run();
        refused.expect_stderr(texts).code()
    };
    assert_eq!(refused(None, &["no team store", "team-store"]), 2);
    let wrong = "postgres://db.example:x/perf";
    assert_eq!(refused(Some(wrong), &["address"]), 2);
    let manifest = listed.root.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let with = |line: &str| {
        let text = text.replace(ID, &format!("{ID}{line}\n"));
        assert!(text.contains(line));
        fs::write(&manifest, text).expect("written");
    };
    with(&format!("team-store = \"{NOWHERE}\""));
    assert_eq!(refused(None, &["password", "PGPASSFILE"]), 2);
    fs::write(&manifest, text.replace(ID, "")).expect("written");
    assert_eq!(refused(Some("postgres://db.example/perf"), &["id = "]), 2);
    fs::write(&manifest, &text).expect("written");
    let runs = listed.perfcheck(&machine, &["store", "runs", "--message-format", "json"]);
    assert_eq!(runs.run().messages("run").len(), 1);
}

#[test]
fn the_manifest_and_the_variables_of_postgresql_lead_to_the_store() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let (_, database) = address.rsplit_once('/').expect("an address");
    let machine = Machine::new();
    let listed = measured(&machine, 1);
    let manifest = listed.root.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let named = format!("{ID}team-store = \"postgres://\"\n");
    fs::write(&manifest, text.replace(ID, &named)).expect("written");
    let send = listed.perfcheck(&machine, &["store", "push", "--message-format", "json"]);
    let done = surroundings(send, server, database).run().expect_code(0);
    assert_eq!(sent(&done), (1, 0), "{done}");
    let read = listed.perfcheck(&machine, &["history", "b", "--store", "postgres://"]);
    surroundings(read, server, database).run().expect_code(0);
}

#[test]
fn a_baseline_of_the_team_is_built_here_and_measured_side_by_side() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let machine = Machine::new();
    let project = Project::new(&machine);
    let manifest = fs::read_to_string(project.root().join("Cargo.toml")).expect("a manifest");
    project.write("Cargo.toml", &format!("{manifest}\n{ID}"));
    project.commit();
    let on = |store: &str, command: Perfcheck| {
        command
            .env("PERFCHECK_STORE", machine.home().join(store))
            .env("PERFCHECK_TEAM_STORE", &address)
    };
    let ci = on("ci.db", project.measure(&["--push"]));
    assert_eq!(sent(&ci.run().expect_code(0)), (1, 0));
    let name = |run: &str| {
        let save = ["baseline", "save", "main", run, "--store", &address];
        project.perfcheck(&save).run().expect_code(0);
    };
    name("1");
    let commit = project.git(&["rev-parse", "HEAD"]);
    project.takes(200);
    let desk = |words: &[&str]| on("desk.db", project.measure(words)).run();
    let slower = desk(&["--baseline", "main"]).expect_code(1);
    assert_eq!(verdict(&slower, "cost"), "regressed", "{slower}");
    assert_eq!(verdict(&slower, "constant"), "unchanged", "{slower}");
    let said = format!(
        "`main` in the team's store: run 1, commit {}",
        &commit[..10]
    );
    let slower = slower.expect_stderr(&[&said]);
    assert!(compared(&slower, "cost")["paired"].is_object(), "{slower}");
    // A baseline that neither store knows gives exit status 6, as without a team's store.
    desk(&["--baseline", "nosuch"]).expect_code(6);

    // A run with uncommitted changes cannot be built again on another machine.
    let dirty = on("ci.db", project.measure(&["--push", "--fail-on", "none"]));
    dirty.run().expect_code(0);
    name("latest");
    desk(&["--baseline", "main"])
        .expect_code(2)
        .expect_stderr(&["uncommitted changes", "baseline save main"]);
}
