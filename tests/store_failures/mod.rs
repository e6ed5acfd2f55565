//! If a store cannot be used, the command exits with status 5, names the store and leaves it unchanged.

use rusqlite::Connection;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{self, Finished, Machine};

fn steady(machine: &Machine) -> Finished {
    let options = "--rounds 3 --warm-up-time 1ms --measurement-time 5ms --resamples 2000 --seed 7";
    machine
        .perfcheck()
        .testbench("")
        .args(["-p", "steady"])
        .args(options.split(' '))
        .env(
            "PERFCHECK_SCRIPTED_CLOCK",
            "arithmetic=100;memory=100;text=100",
        )
        .run()
}

fn show(machine: &Machine) -> Finished {
    machine.perfcheck().args(["show", "1"]).testbench("").run()
}

/// Asserts that measuring and reading both refuse the store with these messages, and change no byte.
#[track_caller]
fn refused(machine: &Machine, why: &[&str]) {
    let before = fs::read(machine.store()).ok();
    let path = machine.store().display().to_string();
    let words = [&[path.as_str(), "help:"], why].concat();
    steady(machine).expect_code(5).expect_stderr(&words);
    show(machine).expect_code(5).expect_stderr(&words);
    assert_eq!(fs::read(machine.store()).ok(), before, "it was touched");
}

#[test]
fn a_text_file_is_refused() {
    let machine = Machine::new();
    fs::write(machine.store(), "my notes, which nobody may overwrite\n").unwrap();
    refused(&machine, &["is not a database"]);
}

#[test]
fn a_directory_is_refused() {
    let machine = Machine::new();
    fs::create_dir(machine.store()).unwrap();
    refused(&machine, &["is not a regular file"]);
}

#[test]
fn a_database_of_another_program_is_refused() {
    let machine = Machine::new();
    let other = Connection::open(machine.store()).unwrap();
    other
        .execute_batch("CREATE TABLE songs (title TEXT)")
        .unwrap();
    drop(other);
    refused(&machine, &["of another program"]);
}

#[test]
fn a_newer_store_is_refused() {
    let machine = Machine::new();
    steady(&machine).expect_code(0);
    let store = Connection::open(machine.store()).unwrap();
    store
        .execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 999")
        .unwrap();
    drop(store);
    refused(&machine, &["schema version 999", "update"]);
}

#[test]
fn a_store_that_has_lost_its_version_is_refused() {
    let machine = Machine::new();
    steady(&machine).expect_code(0);
    let store = Connection::open(machine.store()).unwrap();
    store
        .execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 0")
        .unwrap();
    drop(store);
    let why = "is damaged: its schema version (`user_version`) is 0, but it has tables";
    refused(&machine, &[why]);
}

#[test]
fn a_truncated_store_is_refused() {
    let machine = Machine::new();
    steady(&machine).expect_code(0);
    let store = Connection::open(machine.store()).unwrap();
    store.execute_batch("PRAGMA journal_mode = DELETE").unwrap();
    drop(store);
    let bytes = fs::read(machine.store()).unwrap();
    fs::write(machine.store(), &bytes[..bytes.len() / 2]).unwrap();
    refused(&machine, &["is damaged"]);
}

#[test]
fn a_store_that_is_locked_for_too_long_is_an_error_and_loses_nothing() {
    let machine = Machine::new();
    steady(&machine).expect_code(0);
    let other = Connection::open(machine.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let path = machine.store().display().to_string();
    steady(&machine)
        .expect_code(5)
        .expect_stderr(&[&path, "locked", "help:"]);
    // Reading works while another process writes.
    show(&machine).expect_code(0);
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    steady(&machine).expect_code(0);
}

/// The store fills a real file system of 1 MiB. This needs a separate mount namespace.
#[test]
fn a_full_disk_is_an_error_and_what_was_stored_stays() {
    let machine = Machine::new();
    let script = r#"
        mount -t tmpfs -o size=1m tmpfs "$1" || exit 77
        export PERFCHECK_STORE="$1/perfcheck.db"
        shift
        "$@" && "$@" || exit 78
        dd if=/dev/zero of="${PERFCHECK_STORE%/*}/filler" bs=1k 2> /dev/null
        "$@"
        echo "status $?"
        rm -f "$PERFCHECK_STORE"-shm
        "$1" perfcheck show 1 --manifest-path "$4" > /dev/null && echo "readable while it is full"
        rm "${PERFCHECK_STORE%/*}/filler"
        "$1" perfcheck show 1 --manifest-path "$4" > /dev/null && echo "still readable"
        "$@" > /dev/null && echo "and writable again"
    "#;
    let command = with_small_disk(&machine, script);
    if !can_mount() {
        support::skipped("no name space in which to mount a small disk");
        return;
    }
    let finished = support::run(command).expect_stderr(&["no space left for the store", "help:"]);
    for line in [
        "status 5",
        "readable while it is full",
        "still readable",
        "and writable again",
    ] {
        assert!(finished.stdout.contains(line), "no {line:?} in\n{finished}");
    }
}

/// Measures into a store on a real file system, mounts the file system read-only, and then uses the store. This needs a separate mount namespace.
#[test]
fn a_file_system_for_reading_alone_is_read_and_said_to_be_one() {
    let machine = Machine::new();
    let script = r#"
        mount -t tmpfs -o size=9m tmpfs "$1" || exit 77
        disk="$1"
        export PERFCHECK_STORE="$disk/perfcheck.db"
        shift
        "$@" || exit 78
        mount -o remount,ro "$disk" || exit 79
        "$@"
        echo "run: status $?"
        "$1" perfcheck accept 1 --manifest-path "$4"
        echo "accept: status $?"
        "$1" perfcheck show 1 --manifest-path "$4" > /dev/null && echo "readable"
        "$1" perfcheck store export 1 --output "$disk/x" --manifest-path "$4"
        echo "export: status $?"
    "#;
    let command = with_small_disk(&machine, script);
    if !can_mount() {
        support::skipped("no name space in which to mount a small disk");
        return;
    }
    let run =
        support::run(command).expect_stderr(&["cannot be written\n  help: check the permissions"]);
    for line in [
        "run: status 5",
        "accept: status 5",
        "readable",
        "export: status 5",
    ] {
        assert!(run.stdout.contains(line), "no {line:?} in\n{run}");
    }
    assert!(
        !run.stderr.contains("integrity_check") && !run.stderr.contains("damaged"),
        "{run}"
    );
}

/// If a file would grow beyond `ulimit -f`, the system sends a signal, which by default kills the process.
#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_no_death() {
    let machine = Machine::new();
    steady(&machine).expect_code(0);
    let limited = |kib: &str, words: &[&str]| {
        let mut command = machine.command("bash");
        command
            .args(["-c", r#"ulimit -f "$1" && shift && exec "$@""#, "bash", kib])
            .arg(env!("CARGO_BIN_EXE_cargo-perfcheck"))
            .arg("perfcheck")
            .args(words)
            .arg("--manifest-path")
            .arg(support::testbench(""))
            // Do not build in the cache, because the limit would apply to the files of such a build, too.
            .env("PERFCHECK_NO_RERUN", "1")
            .env("PERFCHECK_STORE", machine.store());
        support::run(command)
    };
    let store = machine.store().display().to_string();
    let words = "-p steady --rounds 3 --warm-up-time 1ms --measurement-time 5ms";
    let words: Vec<&str> = words.split(' ').collect();
    // The limit has room for SQLite's lock file but not for its log.
    limited("34", &words)
        .expect_code(5)
        .expect_stderr(&[&store, "ulimit -f", "help:"]);
    let file = machine.home().join("page.html").display().to_string();
    limited("34", &["report", "1", "--report", &format!("html={file}")])
        .expect_code(5)
        .expect_stderr(&[&file, "File too large"]);
    assert!(!Path::new(&file).exists());
    // Earlier runs are still in the store.
    show(&machine).expect_code(0);
}

/// Prepares a shell script in a separate mount namespace. Its arguments are a directory for mounting a disk, and a command that measures.
fn with_small_disk(machine: &Machine, script: &str) -> Command {
    let disk = machine.home().join("disk");
    fs::create_dir(&disk).expect("a new directory");
    let measuring = "-p steady --rounds 3 --warm-up-time 1ms --measurement-time 5ms --seed 7";
    let mut command = machine.command("unshare");
    command
        .args(["--user", "--map-root-user", "--mount"])
        .args(["bash", "-c", script, "bash"])
        .arg(&disk)
        .arg(env!("CARGO_BIN_EXE_cargo-perfcheck"))
        .args(["perfcheck", "--manifest-path"])
        .arg(support::testbench(""))
        .args(measuring.split(' '))
        .env(
            "PERFCHECK_SCRIPTED_CLOCK",
            "arithmetic=100;memory=100;text=100",
        );
    command
}

fn can_mount() -> bool {
    let try_it = "--user --map-root-user --mount mount -t tmpfs tmpfs /mnt";
    Command::new("unshare")
        .args(try_it.split(' '))
        .output()
        .is_ok_and(|output| output.status.success())
}

#[test]
fn a_directory_that_cannot_be_written_is_refused() {
    let machine = Machine::new();
    let closed = machine.home().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap();
    if fs::write(closed.join("probe"), "").is_ok() {
        support::skipped("this user may write everywhere");
        return;
    }
    let store = closed.join("below").join("perfcheck.db");
    let run = |words: &[&str]| {
        machine
            .perfcheck()
            .args(words)
            .testbench("")
            .args([Path::new("--store"), &store])
            .run()
    };
    run(&["-p", "steady"])
        .expect_code(5)
        .expect_stderr(&["closed", "help:"]);
}

#[test]
fn a_store_that_vanishes_during_a_run_is_an_error_and_is_not_made_anew() {
    let machine = Machine::new();
    let directory = machine.home().join("data");
    let store = directory.join("perfcheck.db");
    let mut running = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "hangs", "--timeout", "2s", "in_body", "--store"])
        .arg(&store)
        .start();
    running.wait_for_stderr("Process 1 ");
    fs::remove_dir_all(&directory).unwrap();
    let path = store.display().to_string();
    running
        .finish()
        .expect_code(5)
        .expect_stderr(&[&path, "help:"]);
    assert!(!store.exists());
    assert!(machine.left_behind().is_empty());
}

#[test]
fn a_link_to_nothing_is_refused_and_says_where_it_leads() {
    let machine = Machine::new();
    let target = machine.home().join("not-mounted/perfcheck.db");
    std::os::unix::fs::symlink(&target, machine.store()).unwrap();
    let target = target.display().to_string();
    refused(&machine, &["symbolic link", &target, "does not exist"]);
    assert!(fs::symlink_metadata(machine.store()).unwrap().is_symlink());
}
