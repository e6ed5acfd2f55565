//! A team's store on a real PostgreSQL server: sending runs to it, and commands that read it.

mod kills;
mod months;
mod sending;

use std::fs;
use std::net::TcpListener;

use crate::commands::crates::Crate;
use crate::messages::schema::expect_valid;
use crate::support::postgres::{PASSWORD, Server, shared};
use crate::support::{Finished, Machine, Perfcheck, skipped};

/// Settings with the project's id, by which the team's store recognizes the project on every machine.
const ID: &str = "[workspace.metadata.perfcheck]\nid = \"example.org/listed\"\n";
const JSON: [&str; 2] = ["--message-format", "json"];

/// Creates a crate with two benchmarks and measures it `runs` times. The last run has a regression.
fn measured(machine: &Machine, runs: usize) -> Crate {
    let listed = Crate::of(machine, &["a", "b"], ID).into_repository(machine);
    for run in 1..=runs {
        let slower: &[(&str, f64)] = if run == runs {
            &[("b", 150.0)]
        } else {
            &[("b", 100.0)]
        };
        let code = i32::from(run == runs && runs > 1);
        listed
            .measure(machine, &["a"], slower)
            .run()
            .expect_code(code);
    }
    listed
}

fn push(listed: &Crate, machine: &Machine, address: &str) -> Perfcheck {
    listed
        .perfcheck(machine, &["store", "push", address])
        .args(JSON)
}

/// Returns how many runs were sent, and how many the team's store already had.
fn sent(finished: &Finished) -> (usize, u64) {
    let pushed = finished.messages("runs-pushed");
    expect_valid(&pushed[0]);
    let sent = pushed[0]["sent"].as_array().expect("numbers");
    (sent.len(), pushed[0]["already"].as_u64().expect("a number"))
}

/// Returns the PostgreSQL server of the tests. If there is none, reports that the test is skipped.
fn server() -> Option<&'static Server> {
    let server = shared();
    if server.is_none() {
        skipped("PostgreSQL is not installed");
    }
    server
}

#[test]
fn runs_are_sent_once_and_every_command_reads_them_as_in_a_file() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let machine = Machine::new();
    let listed = measured(&machine, 3);
    assert_eq!(
        sent(&push(&listed, &machine, &address).run().expect_code(0)),
        (3, 0)
    );
    assert_eq!(
        sent(&push(&listed, &machine, &address).run().expect_code(0)),
        (0, 3)
    );
    for words in [
        vec!["store", "runs"],
        vec!["show", "3"],
        vec!["show", "3", "--message-format", "json"],
        vec!["compare", "1", "3"],
        vec!["compare", "1", "3", "--message-format", "json"],
        vec!["explain", "b", "--full"],
        vec!["history"],
        vec!["history", "b", "--message-format", "json"],
        vec!["report", "3", "--report", "markdown"],
        vec!["store", "export", "1", "2", "3"],
        vec!["store", "prune", "--keep-last", "1"],
        vec!["baseline", "list"],
    ] {
        let here = listed.perfcheck(&machine, &words).run();
        let there = listed
            .perfcheck(&machine, &words)
            .args(["--store", &address])
            .run();
        assert_eq!(here.stdout, there.stdout, "{words:?}: {there}");
        assert_eq!(here.code(), there.code(), "{words:?}: {there}");
    }
    let page = machine.home().join("page.html");
    let report = format!("html={}", page.display());
    let told = [
        "compare", "1", "3", "--store", &address, "--report", "markdown", "--report", &report,
    ];
    let told = listed.perfcheck(&machine, &told).run();
    let page = fs::read_to_string(page).expect("a page");
    let unknown = Crate::write(
        machine.home().join("unknown"),
        &["a"],
        &ID.replace("listed", "unknown"),
    );
    let nothing = unknown
        .perfcheck(&machine, &["history", "--store", &address])
        .run();
    assert!(nothing.stderr.contains("no runs are stored"), "{nothing}");
    for text in [&told.stdout, &told.stderr, &page, &nothing.stderr] {
        assert!(!text.contains(PASSWORD), "{text}");
    }
}

#[test]
fn a_run_that_the_team_removed_is_not_sent_again() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let machine = Machine::new();
    let listed = measured(&machine, 2);
    push(&listed, &machine, &address).run().expect_code(0);
    let remove = ["store", "remove", "2", "--store", &address];
    listed.perfcheck(&machine, &remove).run().expect_code(0);
    assert_eq!(
        sent(&push(&listed, &machine, &address).run().expect_code(0)),
        (0, 1)
    );
    // A run that is measured afterwards gets a number that no other run has had.
    listed
        .measure(&machine, &["a", "b"], &[])
        .run()
        .expect_code(0);
    let finished = push(&listed, &machine, &address).run().expect_code(0);
    assert_eq!(
        finished.messages("runs-pushed")[0]["sent"],
        serde_json::json!([3])
    );
}

#[test]
fn names_and_levels_of_the_team_are_changed_there() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let machine = Machine::new();
    let listed = measured(&machine, 2);
    push(&listed, &machine, &address).run().expect_code(0);
    let there = |words: &[&str]| {
        let command = listed
            .perfcheck(&machine, words)
            .args(["--store", &address]);
        command.run().expect_code(0)
    };
    there(&["baseline", "save", "v1", "1"]);
    there(&["accept", "b"]);
    let names = there(&["baseline", "list", "--message-format", "json"]);
    assert_eq!(names.messages("baseline")[0]["name"], "v1");
    there(&["baseline", "rename", "v1", "v2"]);
    there(&["baseline", "remove", "v2"]);
    let runs = there(&["store", "runs", "--message-format", "json"]);
    let newest = &runs.messages("run")[0];
    assert_eq!(newest["accepted_benchmarks"][0]["id"], "b", "{newest}");
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do_next() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let database = address.rsplit('/').next().expect("a name").to_owned();
    let machine = Machine::new();
    let listed = measured(&machine, 1);
    let refused = |words: &[&str], code: i32, texts: &[&str]| {
        let finished = listed.perfcheck(&machine, words).run();
        finished.expect_code(code).expect_stderr(texts);
    };
    refused(
        &["store", "push"],
        2,
        &["no team store was given", "PERFCHECK_TEAM_STORE"],
    );
    refused(
        &["store", "push", "team@/tmp/postgres"],
        2,
        &["is not the address", "postgres://user@host/database"],
    );
    refused(
        &["store", "push", "postgres://["],
        2,
        &["the address of the team's store"],
    );
    refused(
        &["--store", &address],
        2,
        &["measuring needs a store on this machine", "store push"],
    );
    let nobody = "postgres://team@127.0.0.1:1/perf";
    refused(
        &["store", "push", nobody],
        5,
        &["cannot be reached", "still in this machine's store"],
    );
    refused(&["history", "--store", nobody], 5, &["cannot be reached"]);
    let none = server.address("postgres");
    refused(
        &["history", "--store", &none],
        5,
        &["there is no store", "store init"],
    );
    server
        .sql("postgres", &format!("CREATE DATABASE {database}_other"))
        .expect("made");
    let other = server.address(&format!("{database}_other"));
    server
        .sql(&format!("{database}_other"), "CREATE SCHEMA perfcheck")
        .expect("made");
    refused(
        &["store", "init", &other],
        5,
        &["was made by another program", "nothing was changed"],
    );
    server
        .sql(&database, "UPDATE perfcheck.made_by SET version = 7")
        .expect("made");
    refused(
        &["store", "push", &address],
        5,
        &["schema version 7", "nothing was changed"],
    );
    server
        .sql(&database, "UPDATE perfcheck.made_by SET version = 1")
        .expect("made");
    let reader = "CREATE ROLE r LOGIN; GRANT USAGE ON SCHEMA perfcheck TO r; GRANT SELECT ON ALL TABLES IN SCHEMA perfcheck TO r";
    server.sql(&database, reader).expect("made");
    let as_reader = address.replace(&format!("team:{PASSWORD}@"), "r@");
    refused(
        &["store", "push", &as_reader],
        5,
        &["the database user lacks a permission", "perfcheck_writer"],
    );
    refused(&["store", "runs", "--store", &as_reader], 0, &[]);
    // A project without a configured name has a different key on every machine.
    let manifest = listed.root.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("read");
    fs::write(&manifest, text.replace(ID, "")).expect("written");
    refused(
        &["store", "push", &address],
        2,
        &["same on every machine", "id ="],
    );
    refused(
        &["history", "--store", &address],
        2,
        &["same on every machine"],
    );
}

#[test]
fn many_machines_send_at_once() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let machines: Vec<Machine> = (0..6).map(|_| Machine::new()).collect();
    let crates: Vec<Crate> = machines
        .iter()
        .map(|machine| measured(machine, 2))
        .collect();
    let all: Vec<_> = (crates.iter().zip(&machines))
        .map(|(listed, machine)| push(listed, machine, &address).start())
        .collect();
    for sender in all {
        assert_eq!(sent(&sender.finish().expect_code(0)), (2, 0));
    }
    let stored = || {
        let runs = crates[0].perfcheck(&machines[0], &["store", "runs", "--store", &address]);
        let runs = runs.args(JSON).args(["--last", "50"]).run();
        runs.expect_code(0).messages("run").len()
    };
    assert_eq!(stored(), 12);
    // Send the same runs from one machine several times at once.
    for _ in 0..3 {
        crates[0]
            .measure(&machines[0], &["a", "b"], &[])
            .run()
            .expect_code(0);
    }
    let all: Vec<_> = (0..4)
        .map(|_| push(&crates[0], &machines[0], &address).start())
        .collect();
    let all = all
        .into_iter()
        .map(|sender| sent(&sender.finish().expect_code(0)).0);
    assert_eq!(all.sum::<usize>(), 3);
    assert_eq!(stored(), 15);
}

#[test]
fn the_way_over_a_network_is_encrypted_and_the_server_proves_who_it_is() {
    let port = TcpListener::bind("localhost:0").and_then(|free| free.local_addr());
    let port = port.expect("a free port").port();
    let Some(server) = Server::start_encrypted(port) else {
        return skipped("PostgreSQL is not installed");
    };
    let machine = Machine::new();
    let listed = measured(&machine, 1);
    let at = |host: &str, parameters: &str| {
        format!("postgres://team@{host}:{port}/postgres?{parameters}")
    };
    let roots = |name: &str| {
        let path = server.data().join(name).display().to_string();
        format!("sslmode=verify-full&sslrootcert={path}")
    };
    let init = |address: &str| {
        listed
            .perfcheck(&machine, &["store", "init", address])
            .run()
    };
    init(&at("localhost", &roots("other.crt")))
        .expect_code(5)
        .expect_stderr(&["certificate"]);
    init(&at("127.0.0.1", &roots("ca.crt")))
        .expect_code(5)
        .expect_stderr(&["certificate"]);
    init(&at("localhost", &roots("nothing.crt")))
        .expect_code(2)
        .expect_stderr(&["sslrootcert="]);
    init(&at("localhost", "sslmode=prefer"))
        .expect_code(2)
        .expect_stderr(&["verify-full"]);
    let address = at("localhost", &roots("ca.crt"));
    init(&address).expect_code(0);
    assert_eq!(
        sent(&push(&listed, &machine, &address).run().expect_code(0)),
        (1, 0)
    );
}

#[test]
fn readers_read_writers_send_and_admins_name_and_remove() {
    let Some(server) = server() else { return };
    let address = server.fresh_database();
    let database = address.rsplit('/').next().expect("a name").to_owned();
    let machine = Machine::new();
    let listed = measured(&machine, 2);
    for _ in 0..2 {
        let init = ["store", "init", "--roles", &address];
        listed.perfcheck(&machine, &init).run().expect_code(0);
    }
    for role in ["reader", "writer", "admin"] {
        let user = format!("CREATE ROLE {database}_{role} LOGIN IN ROLE perfcheck_{role}");
        server.sql(&database, &user).expect("made");
    }
    let as_role =
        |role: &str| address.replace(&format!("team:{PASSWORD}@"), &format!("{database}_{role}@"));
    let try_as = |role: &str, words: &[&str], code: i32| {
        let named = ["--store", &as_role(role)].map(str::to_owned);
        listed
            .perfcheck(&machine, words)
            .args(named)
            .run()
            .expect_code(code)
    };
    push(&listed, &machine, &as_role("reader"))
        .run()
        .expect_code(5);
    for writes in [
        "SELECT perfcheck.process_number(0)",
        "SELECT perfcheck.begin_transfer(1, '{x}', '{x}', '{p}', '{t}', '{n}', 0, 0, '{}')",
        "SELECT perfcheck.expire_series('{1}')",
    ] {
        let as_reader = format!("SET ROLE {database}_reader; {writes}");
        assert_eq!(server.sql(&database, &as_reader), None, "{writes}");
    }
    assert_eq!(
        sent(
            &push(&listed, &machine, &as_role("writer"))
                .run()
                .expect_code(0)
        ),
        (2, 0)
    );
    for role in ["reader", "writer", "admin"] {
        try_as(role, &["history", "b"], 0);
        try_as(role, &["compare", "1", "2"], 1);
    }
    for role in ["reader", "writer"] {
        try_as(role, &["baseline", "save", "v1", "1"], 5)
            .expect_stderr(&["the database user lacks a permission", "perfcheck_admin"]);
        try_as(role, &["accept", "2"], 5);
        try_as(role, &["store", "remove", "2"], 5);
    }
    try_as("admin", &["baseline", "save", "v1", "1"], 0);
    try_as("admin", &["accept", "2"], 0);
    try_as("admin", &["store", "remove", "2"], 0);
    // A writer can neither restore removed runs nor change existing ones.
    assert_eq!(
        sent(
            &push(&listed, &machine, &as_role("writer"))
                .run()
                .expect_code(0)
        ),
        (0, 1)
    );
}
