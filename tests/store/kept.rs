//! Executables that are kept, and come back to be run again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use perfcheck_analysis::model::{
    Acceptance, ContentHash, FileFact, KeptTarget, LIBRARY_PATH_VARIABLE, PrivateLibrary, RunId,
    Secret,
};
use perfcheck_engine::store::{ExtractedTarget, KeptSummary, Reason, Store, StoreError};

use crate::store::builders::{fresh, new_run, open, place, record};
use crate::store::processes::{start, under};

/// A user on a machine.
pub fn secret() -> Secret {
    Secret::new([7; 32], "a machine".to_owned())
}

/// Where the contents of a store lie.
pub fn contents(store: &Path) -> PathBuf {
    PathBuf::from(format!("{}.kept", store.display()))
}

/// The names of the files that lie there, sorted.
pub fn files(store: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(contents(store))
        .expect("lists")
        .map(|entry| {
            entry
                .expect("entry")
                .file_name()
                .into_string()
                .expect("text")
        })
        .collect();
    names.sort();
    names
}

/// A shell of the system, copied to `directory` as a bench executable would be.
pub fn executable(directory: &Path, name: &str) -> PathBuf {
    let path = directory.join(name);
    fs::copy("/bin/sh", &path).expect("copies");
    path
}

pub fn target(program: &Path) -> KeptTarget {
    KeptTarget {
        package: "package".into(),
        target: "target".into(),
        program: program.to_owned(),
        arguments: vec!["-c".into(), r#"echo "$0 $COLOUR ${GONE-unset}""#.into()],
        directory: "/".into(),
        variables: [
            ("COLOUR".to_owned(), Some("blue".into())),
            ("GONE".to_owned(), None),
        ]
        .into(),
        libraries: Vec::new(),
        opened: vec![FileFact {
            path: "data/input.txt".into(),
            hash: ContentHash([3; 32]),
        }],
        opened_below: "/project".into(),
    }
}

/// An accepted run that keeps `targets`.
pub fn keeping(store: &mut Store, targets: &[KeptTarget]) -> (RunId, KeptSummary) {
    let workspace = store.workspace("key", "/project").expect("workspace");
    let run = new_run("c0ffee", "main");
    let run = record(store, workspace, &run, Acceptance::Automatic, &["a"]);
    let summary = store
        .keep_executables(run, targets, &secret())
        .expect("keeps");
    (run, summary)
}

/// The only executable of a run, written to `into`.
pub fn extract(store: &Store, run: RunId, into: &Path) -> Result<ExtractedTarget, StoreError> {
    let kept = store.kept(run)?;
    assert_eq!(kept.len(), 1);
    store.extract(&kept[0], &secret(), into)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn an_executable_comes_back_with_its_surroundings_and_runs() {
    let (directory, mut store, _) = fresh();
    let program = executable(directory.path(), "bench-0123456789abcdef");
    let (run, _) = keeping(&mut store, &[target(&program)]);
    let bytes = fs::read(&program).expect("reads");
    fs::remove_file(&program).expect("as cargo clean does");

    let into = directory.path().join("private");
    let found = extract(&store, run, &into).expect("extracts");
    assert_eq!(found.program, into.join("bench-0123456789abcdef"));
    assert!(fs::read(&found.program).expect("reads") == bytes);
    assert_eq!((mode(&into), mode(&found.program)), (0o700, 0o500));
    assert_eq!(found.opened.0, Path::new("/project"));
    assert_eq!(found.opened.1, target(&program).opened);

    let mut command = Command::new(&found.program);
    for (name, value) in &found.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command
        .args(&found.arguments)
        .arg("hello")
        .current_dir(&found.directory)
        .output()
        .expect("starts");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "hello blue unset\n"
    );
}

#[test]
fn the_contents_belong_to_the_user_alone() {
    let (directory, mut store, _) = fresh();
    keeping(
        &mut store,
        &[target(&executable(directory.path(), "bench"))],
    );
    assert_eq!(mode(&contents(store.path())), 0o700);
    for name in files(store.path()) {
        assert_eq!(mode(&contents(store.path()).join(name)), 0o600);
    }
}

#[test]
fn what_several_runs_keep_is_stored_once() {
    let (directory, mut store, _) = fresh();
    let [one, two] = ["one", "two"].map(|name| executable(directory.path(), name));
    let (first, new) = keeping(&mut store, &[target(&one)]);
    let (second, old) = keeping(&mut store, &[target(&two)]);
    assert_eq!(files(store.path()).len(), 1);
    assert_eq!((new.targets, new.shared_bytes), (1, 0));
    assert_eq!((old.added_bytes, old.shared_bytes), (0, new.added_bytes));
    assert!(new.added_bytes > 0);
    for (run, name) in [(first, "one"), (second, "two")] {
        let found = extract(&store, run, &directory.path().join(format!("to {name}")));
        assert!(found.expect("extracts").program.ends_with(name));
    }
}

#[test]
fn keeping_again_replaces_what_the_run_kept() {
    let (directory, mut store, _) = fresh();
    let program = executable(directory.path(), "bench");
    let (run, _) = keeping(&mut store, &[target(&program)]);
    let mut changed = target(&program);
    changed.arguments = vec!["--other".into()];
    store
        .keep_executables(run, &[changed.clone()], &secret())
        .expect("keeps");
    let found = extract(&store, run, &directory.path().join("private")).expect("extracts");
    assert_eq!(found.arguments, changed.arguments);
}

#[test]
fn private_libraries_come_back_and_come_first_on_the_library_path() {
    let (directory, mut store, _) = fresh();
    let library = directory.path().join("libmine.so.1.2");
    fs::write(&library, "not looked into").expect("writes");
    let mut target = target(&executable(directory.path(), "bench"));
    target.libraries = vec![PrivateLibrary {
        name: "libmine.so.1".into(),
        path: library,
    }];
    target.variables.insert(
        LIBRARY_PATH_VARIABLE.into(),
        Some("/target/deps:/usr".into()),
    );
    let (run, _) = keeping(&mut store, &[target.clone()]);
    assert_eq!(files(store.path()).len(), 2);

    let into = directory.path().join("private");
    let found = extract(&store, run, &into).expect("extracts");
    let libraries = into.join("libraries");
    let content = fs::read_to_string(libraries.join("libmine.so.1")).expect("reads");
    assert_eq!(content, "not looked into");
    let path = found.variables[LIBRARY_PATH_VARIABLE].clone().expect("set");
    let expected = format!("{}:/target/deps:/usr", libraries.display());
    assert_eq!(path.to_str(), Some(expected.as_str()));

    // A name that leads out of the directory is not kept.
    target.libraries[0].name = "../libmine.so.1".into();
    let refused = store.keep_executables(run, &[target], &secret());
    assert!(matches!(refused, Err(StoreError::Io { .. })), "{refused:?}");
}

#[test]
fn a_reader_extracts_without_writing_to_the_store() {
    let (directory, mut store, _) = fresh();
    let (run, _) = keeping(
        &mut store,
        &[target(&executable(directory.path(), "bench"))],
    );
    let path = store.path().to_owned();
    drop(store);
    let before = fs::read(&path).expect("reads");
    let reader = Store::open_existing(&path).expect("opens").expect("is one");
    extract(&reader, run, &directory.path().join("private")).expect("extracts");
    drop(reader);
    assert!(fs::read(&path).expect("reads") == before);
}

#[test]
fn a_run_that_is_not_there_keeps_nothing_and_leaves_nothing() {
    let (directory, mut store, _) = fresh();
    let target = target(&executable(directory.path(), "bench"));
    let refused = store.keep_executables(RunId(99), &[target], &secret());
    assert!(matches!(refused, Err(StoreError::NoSuchRun { run }) if run == RunId(99)));
    assert_eq!(files(store.path()), [""; 0]);
}

/// What the other process does that is killed.
pub fn keep_for_ever(path: &Path, mut tell: impl FnMut(String)) {
    let (mut store, _) = open(path);
    let program = std::env::current_exe().expect("known");
    let one = executable(path.parent().expect("parent"), "other bench");
    for round in 0.. {
        // Something new each time, so that there is something to write.
        let mut bytes = fs::read(&program).expect("reads");
        bytes.truncate(8 << 20);
        bytes.extend(format!("{round} {}", std::process::id()).bytes());
        fs::write(&one, bytes).expect("writes");
        let (run, _) = keeping(&mut store, &[target(&one)]);
        tell(format!("kept {run}"));
        store.plan_removal(0, Reason::Unnamed).expect("plans");
    }
}

#[test]
fn a_killed_process_leaves_whole_executables_and_what_is_swept_up() {
    use std::io::{BufRead, BufReader};
    let (directory, path) = place();
    for pause in [3, 40, 90, 200] {
        let mut child = start("keep for ever", &path);
        let out = BufReader::new(child.stdout.take().expect("piped"));
        let told = out
            .lines()
            .map(|line| line.expect("text"))
            .find_map(|line| line.strip_prefix("kept ").map(str::to_owned))
            .expect("keeps one");
        std::thread::sleep(std::time::Duration::from_millis(pause));
        child.kill().expect("killed");
        child.wait().expect("ends");
        let (store, _) = open(&path);
        let run = RunId(told.parse().expect("number"));
        let into = directory.path().join(told);
        let found = extract(&store, run, &into).expect("what was told is whole");
        fs::remove_file(found.program).expect("removes");
    }
    let (mut store, workspace) = open(&path);
    store.check().expect("whole");
    // Every run that has a record has its content, too.
    for summary in store.runs(workspace, None).expect("reads") {
        for kept in store.kept(summary.run.id).expect("reads") {
            let into = directory.path().join(format!("all {}", summary.run.id));
            let found = store.extract(&kept, &secret(), &into).expect("extracts");
            fs::remove_file(found.program).expect("removes");
        }
    }
    let plan = store.plan_removal(0, Reason::Unnamed).expect("plans");
    store.execute(&plan).expect("executes");
    assert_eq!(files(store.path()), [""; 0]);
}

#[test]
fn executables_that_are_kept_and_removed_at_once_stay_whole() {
    let (directory, path) = place();
    drop(open(&path));
    let program = executable(directory.path(), "bench");
    std::thread::scope(|scope| {
        let keeper = scope.spawn(|| {
            let (mut store, _) = open(&path);
            for round in 0..25 {
                let (run, _) = keeping(&mut store, &[target(&program)]);
                let into = directory.path().join(round.to_string());
                // Removed in between, with its record: allowed, before it is read or after.
                let kept = store.kept(run).expect("reads");
                for record in &kept {
                    match store.extract(record, &secret(), &into) {
                        Ok(_) => {}
                        Err(StoreError::Kept(error)) => {
                            assert_eq!(store.kept(run).expect("reads"), [], "{error}");
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        });
        let (mut store, _) = open(&path);
        while !keeper.is_finished() {
            let plan = store.plan_removal(0, Reason::Unnamed).expect("plans");
            store.execute(&plan).expect("executes");
        }
        keeper.join().expect("all whole or gone");
    });
}

/// The role of a process that may write no file beyond a limit, as on a full device.
pub fn keep_large(path: &Path) {
    let (mut store, workspace) = open(path);
    let run = store.latest_run(workspace).expect("reads").expect("is one");
    let large = std::env::current_exe().expect("known");
    let refused = store.keep_executables(run, &[target(&large)], &secret());
    assert!(
        matches!(refused, Err(StoreError::Full { .. })),
        "{refused:?}"
    );
    assert_eq!(
        store.kept(run).expect("reads").len(),
        1,
        "the old one stays"
    );
}

#[test]
fn a_full_device_loses_nothing_and_leaves_nothing_behind() {
    let (directory, path) = place();
    let (mut store, _) = open(&path);
    let (run, _) = keeping(
        &mut store,
        &[target(&executable(directory.path(), "bench"))],
    );
    let before = files(&path);
    drop(store);
    // 1000 blocks of 512 bytes: the database fits, the executable of this test does not.
    let limited = r#"trap "" XFSZ; ulimit -f 1000; exec "$0" "$@""#;
    let output = under(&["sh", "-c", limited], "keep large", &path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .expect("starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(files(&path), before);
    let (store, _) = open(&path);
    extract(&store, run, &directory.path().join("private")).expect("extracts");
}
