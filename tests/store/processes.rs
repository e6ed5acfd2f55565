//! Stores used by several threads and processes, and by processes that are killed.
//!
//! The other processes are this test executable itself, with a role in their environment.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use perfcheck_analysis::model::{Acceptance, RunId, RunStatus};
use perfcheck_store::Store;

use crate::store::builders::{end, key, new_run, open, place, process, record, series};

const ROLE: &str = "STORE_TEST_ROLE";
const STORE: &str = "STORE_TEST_STORE";
const IDS: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

/// The main function of the other process.
#[test]
#[ignore = "a role for the other tests here, which start it as a process of its own"]
fn another_process() {
    let path = std::env::var_os(STORE).expect("started by a test");
    let path = Path::new(&path);
    match std::env::var(ROLE).expect("started by a test").as_str() {
        "open and close" => drop(open(path)),
        #[cfg(unix)]
        "find it locked" => {
            let file = std::fs::File::options()
                .read(true)
                .write(true)
                .open(path)
                .expect("opens");
            lock(&file).expect_err("the other process holds the lock");
        }
        "record" => record_runs(path, 3, |_| {}),
        "record for ever" => record_runs(path, usize::MAX, |line| {
            let mut out = std::io::stdout();
            writeln!(out, "{line}")
                .and_then(|()| out.flush())
                .expect("the parent reads");
        }),
        "read only" => read_only(path),
        role => panic!("no role {role}"),
    }
}

fn other_process(program: &Path, role: &str, path: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args([
            "--exact",
            "store::processes::another_process",
            "--ignored",
            "--nocapture",
        ])
        .env(ROLE, role)
        .env(STORE, path);
    command
}

pub fn start(role: &str, path: &Path) -> Child {
    other_process(&std::env::current_exe().expect("known"), role, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts")
}

fn assert_succeeds(child: Child) {
    let output = child.wait_with_output().expect("ends");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Records complete runs of three processes. Calls `tell` after recording each process and each end of a run.
fn record_runs(path: &Path, runs: usize, mut tell: impl FnMut(String)) {
    let (mut store, workspace) = open(path);
    for _ in 0..runs {
        let run = store
            .begin_run(workspace, &new_run("c0ffee", "main"))
            .expect("begins");
        for ordinal in 0..3 {
            store
                .record_process(run, &process(ordinal, &IDS))
                .expect("records");
            tell(format!("process {run} {ordinal}"));
        }
        store
            .finish_run(run, &end(Acceptance::Automatic, vec![]))
            .expect("ends");
        tell(format!("end {run}"));
    }
}

/// Asserts that every run has only complete processes, and that complete runs have all of them.
fn assert_whole(path: &Path) {
    let (store, workspace) = open(path);
    store.check().expect("whole");
    for summary in store.runs(workspace, None).expect("reads") {
        let run = summary.run.id;
        let processes = store.processes(run).expect("reads");
        if summary.run.status == RunStatus::Complete {
            assert_eq!(processes.len(), 3, "run {run}");
        }
        let measurements = store.measurements(run, None).expect("reads");
        assert_eq!(
            measurements.len(),
            if processes.is_empty() { 0 } else { IDS.len() }
        );
        for (position, measurement) in (0..).zip(measurements) {
            assert_eq!(measurement.benchmark.key, key(IDS[position as usize]));
            let read: Vec<_> = measurement
                .processes
                .into_iter()
                .map(|process| process.series)
                .collect();
            let written: Vec<_> = processes
                .iter()
                .map(|process| series(u64::from(process.ordinal) * 1000 + position))
                .collect();
            assert!(read == written, "run {run}: a series differs");
        }
    }
}

#[test]
fn two_threads_that_record_at_once_both_succeed() {
    let (_directory, path) = place();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| record_runs(&path, 10, |_| {}));
        }
    });
    assert_whole(&path);
    let (store, workspace) = open(&path);
    assert_eq!(store.runs(workspace, None).expect("reads").len(), 20);
}

#[test]
fn processes_that_create_the_store_and_record_at_once_all_succeed() {
    for _ in 0..5 {
        let (_directory, path) = place();
        let children: Vec<Child> = (0..4).map(|_| start("record", &path)).collect();
        children.into_iter().for_each(assert_succeeds);
        assert_whole(&path);
        let (store, workspace) = open(&path);
        let runs = store.runs(workspace, None).expect("reads");
        assert_eq!(runs.len(), 12);
        assert!(
            runs.iter()
                .all(|summary| summary.run.status == RunStatus::Complete)
        );
    }
}

#[test]
fn threads_that_create_the_store_at_once_all_succeed() {
    for _ in 0..10 {
        let (_directory, path) = place();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| open(&path).1)).collect();
            let workspaces: Vec<_> = threads
                .into_iter()
                .map(|thread| thread.join().expect("opens"))
                .collect();
            assert!(
                workspaces
                    .iter()
                    .all(|workspace| *workspace == workspaces[0])
            );
        });
    }
}

#[test]
fn a_reader_sees_the_last_whole_state_while_another_records() {
    let (_directory, path) = place();
    let (mut store, workspace) = open(&path);
    record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    let mut child = start("record for ever", &path);
    for _ in 0..50 {
        let reader = Store::open_existing(&path).expect("opens").expect("is one");
        let newest = reader
            .runs(workspace, Some(1))
            .expect("reads")
            .remove(0)
            .run
            .id;
        for measurement in reader.measurements(newest, None).expect("reads") {
            assert!(!measurement.processes.is_empty());
        }
    }
    child.kill().expect("killed");
    child.wait().expect("ends");
}

#[cfg(unix)]
fn lock(file: &std::fs::File) -> rustix::io::Result<()> {
    rustix::fs::fcntl_lock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
}

/// If a process closes a file, it loses all its locks on the file, including those of SQLite. An additional lock on the file shows whether this has
/// happened.
#[cfg(unix)]
#[test]
fn a_second_opening_in_the_same_process_does_not_give_up_the_locks_of_the_first() {
    let (_directory, path) = place();
    let (first, _) = open(&path);
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(&path)
        .expect("opens");
    lock(&file).expect("nobody else has it open");
    drop(Store::open(&path).expect("opens"));
    drop(Store::open_existing(&path).expect("opens"));
    assert_succeeds(start("find it locked", &path));
    drop((first, file));
}

#[test]
fn a_killed_process_loses_nothing_that_it_reported_and_leaves_only_whole_processes() {
    let (_directory, path) = place();
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut processes: Vec<(RunId, u32)> = Vec::new();
    let mut ends: Vec<RunId> = Vec::new();
    for _ in 0..20 {
        let mut child = start("record for ever", &path);
        let out = BufReader::new(child.stdout.take().expect("piped"));
        let mut kill_after = Some(random(25));
        let mut killed = false;
        for line in out.lines() {
            let line = line.expect("text");
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["process", run, ordinal] => {
                    processes.push((
                        RunId(run.parse().expect("number")),
                        ordinal.parse().expect("number"),
                    ));
                }
                ["end", run] => ends.push(RunId(run.parse().expect("number"))),
                // Skip the lines of the other process's test harness.
                _ => continue,
            }
            match kill_after {
                Some(0) if !killed => {
                    std::thread::sleep(Duration::from_micros(random(3000)));
                    child.kill().expect("killed");
                    killed = true;
                }
                Some(left) if !killed => kill_after = Some(left - 1),
                // Ignore reports between the decision to kill and the death of the process.
                _ => {}
            }
        }
        child.wait().expect("ends");
        assert!(killed, "the other process ended by itself");
        assert_whole(&path);
    }
    let (store, _) = open(&path);
    for (run, ordinal) in processes {
        let heads = store.processes(run).expect("reads");
        assert!(
            heads.iter().any(|head| head.ordinal == ordinal),
            "process {ordinal} of run {run} is lost"
        );
    }
    for run in ends {
        assert_eq!(
            store.run(run).expect("reads").status,
            RunStatus::Complete,
            "run {run}"
        );
    }
}

/// The role of a user who may only read the store.
fn read_only(path: &Path) {
    let store = Store::open_existing(path).expect("opens").expect("is one");
    store.check().expect("whole");
    let workspace = store.find_workspace("key").expect("reads").expect("is one");
    let run = store.latest_run(workspace).expect("reads").expect("is one");
    assert_eq!(
        store.measurements(run, None).expect("reads").len(),
        IDS.len()
    );
    drop(store);
    let written = Store::open(path).and_then(|mut store| store.accept(run));
    assert!(written.is_err(), "a read-only store was written");
}

#[cfg(unix)]
#[test]
fn a_store_in_a_read_only_directory_can_be_read() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;

    const NOBODY: u32 = 65_534;
    let (directory, path) = place();
    record_runs(&path, 1, |_| {});
    // Copy the executable to a directory that another user can access.
    let program = directory.path().join("program");
    fs::copy(std::env::current_exe().expect("known"), &program).expect("copies");
    let mut command = other_process(&program, "read only", &path);
    // The superuser can write everywhere, so run the process as another user.
    let is_superuser = chown(directory.path(), Some(NOBODY), None).is_ok();
    if is_superuser {
        command.uid(NOBODY);
    }
    fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("sets");
    fs::set_permissions(directory.path(), Permissions::from_mode(0o555)).expect("sets");
    let before = fs::read(&path).expect("reads");
    let output = command.current_dir("/").output().expect("starts");
    fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).expect("sets");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        fs::read(&path).expect("reads") == before,
        "the file was changed"
    );
}
