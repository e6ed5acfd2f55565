//! Creating and opening stores, and refusing files that are not stores.

use std::fs;
use std::path::Path;

use perfcheck_analysis::model::Acceptance;
use perfcheck_store::{OpenOptions, Store, StoreError};

use crate::store::builders::{fresh_file, new_run, open, place, process, record};

/// Returns all files in a directory with their bytes.
fn snapshot(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .expect("lists")
        .map(|entry| entry.expect("entry"))
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                fs::read(entry.path()).unwrap_or_default(),
            )
        })
        .collect();
    files.sort();
    files
}

/// Asserts that both functions for opening refuse the file, and leave it and its directory unchanged.
fn assert_refused(path: &Path, is_expected: impl Fn(&StoreError) -> bool) {
    let directory = path.parent().expect("directory");
    let before = snapshot(directory);
    for outcome in [
        Store::open(path).map(|_| ()),
        Store::open_existing(path).map(|_| ()),
    ] {
        let error = outcome.expect_err("refused");
        assert!(is_expected(&error), "{error:?}");
        assert!(error.to_string().contains("perfcheck.db"), "{error}");
        assert!(error.to_string().contains("\n  help: "), "{error}");
    }
    assert_eq!(snapshot(directory), before);
}

/// Creates a store with content, closes it and lets `change` modify the bytes of the file.
fn changed(change: impl FnOnce(&mut Vec<u8>)) -> (tempfile::TempDir, std::path::PathBuf) {
    let (directory, path) = place();
    let (mut store, workspace) = open(&path);
    record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a", "b"],
    );
    drop(store);
    let mut bytes = fs::read(&path).expect("reads");
    change(&mut bytes);
    fs::write(&path, bytes).expect("writes");
    (directory, path)
}

#[cfg(unix)]
#[test]
fn a_new_store_belongs_to_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("temporary directory");
    let path = directory.path().join("new/cargo-perfcheck/perfcheck.db");
    let (store, _) = open(&path);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().expect("parent")), 0o700);
    assert_eq!(mode(&directory.path().join("new")), 0o700);
    assert_eq!(mode(&path), 0o600);
    // The log contains the same data as the store, so it has the same permissions.
    assert_eq!(mode(&path.with_extension("db-wal")), 0o600);
    assert_eq!(mode(&path.with_extension("db-shm")), 0o600);
    drop(store);
}

#[cfg(unix)]
#[test]
fn permissions_that_the_user_chose_stay() {
    use std::os::unix::fs::PermissionsExt;
    let (directory, path) = place();
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("sets");
    };
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    drop(open(&path));
    set(directory.path(), 0o755);
    set(&path, 0o640);
    drop(open(&path));
    assert_eq!((mode(directory.path()), mode(&path)), (0o755, 0o640));
}

#[test]
fn reading_where_there_is_no_store_finds_none_and_makes_none() {
    let (directory, path) = place();
    assert!(Store::open_existing(&path).expect("no error").is_none());
    assert!(
        Store::open_existing(&directory.path().join("no/such/directory.db"))
            .expect("no error")
            .is_none()
    );
    assert_eq!(snapshot(directory.path()), []);
}

#[test]
fn an_empty_file_is_no_store_yet_and_becomes_one() {
    let (_directory, path) = place();
    fs::write(&path, "").expect("writes");
    assert!(Store::open_existing(&path).expect("no error").is_none());
    assert_eq!(fs::read(&path).expect("reads"), b"");
    drop(open(&path));
    let store = Store::open_existing(&path).expect("opens").expect("is one");
    store.check().expect("whole");
}

#[test]
fn a_store_opened_for_reading_reads_and_refuses_to_write() {
    let (_directory, mut store, workspace) = fresh_file();
    let run = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    let mut reader = Store::open_existing(store.path())
        .expect("opens")
        .expect("is one");
    assert_eq!(
        reader.find_workspace("key").expect("reads"),
        Some(workspace)
    );
    assert_eq!(reader.measurements(run, None).expect("reads").len(), 1);
    assert!(matches!(reader.accept(run), Err(StoreError::ReadOnly(_))));
    assert!(matches!(
        reader.ensure_workspace("other", "/other"),
        Err(StoreError::ReadOnly(_))
    ));
}

#[test]
fn a_path_that_looks_like_a_uri_is_a_path() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let path = directory.path().join("file:a b?mode=memory#%41.db");
    drop(open(&path));
    assert!(path.is_file());
    assert!(Store::open_existing(&path).expect("opens").is_some());
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_leads_to_the_same_store() {
    let (directory, path) = place();
    let link = directory.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).expect("links");
    drop(open(&path));
    let (store, _) = open(&link);
    assert_eq!(store.path(), path.canonicalize().expect("canonical"));
}

#[test]
fn a_text_file_is_refused_untouched() {
    let (_directory, path) = place();
    fs::write(
        &path,
        "Dear diary, today I measured nothing at all.\n".repeat(100),
    )
    .expect("writes");
    assert_refused(&path, |error| matches!(error, StoreError::NotADatabase(_)));
    fs::write(&path, "x").expect("writes");
    assert_refused(&path, |error| matches!(error, StoreError::NotADatabase(_)));
}

#[test]
fn a_database_of_another_program_is_refused_untouched() {
    for id in [0_u32, 0x4750_4B47] {
        let (_directory, path) = changed(|bytes| bytes[68..72].copy_from_slice(&id.to_be_bytes()));
        assert_refused(
            &path,
            |error| matches!(error, StoreError::Foreign { application_id, .. } if *application_id == id),
        );
    }
}

#[test]
fn a_store_of_a_newer_schema_is_refused_untouched() {
    let (_directory, path) = changed(|bytes| bytes[60..64].copy_from_slice(&99_u32.to_be_bytes()));
    assert_refused(&path, |error| {
        matches!(
            error,
            StoreError::Newer {
                found: 99,
                supported: 1,
                ..
            }
        )
    });
}

#[test]
fn a_truncated_store_is_refused_untouched() {
    for length in [20, 400, 4096, 6000] {
        let (_directory, path) = changed(|bytes| bytes.truncate(length));
        assert_refused(&path, |error| matches!(error, StoreError::Corrupt { .. }));
    }
}

#[test]
fn a_directory_in_place_of_the_file_is_refused() {
    let (_directory, path) = place();
    fs::create_dir(&path).expect("creates");
    assert_refused(&path, |error| matches!(error, StoreError::NotAFile(_)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_in_place_of_the_file_is_refused_without_waiting_for_a_writer() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let (_directory, path) = place();
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("creates");
    // Check only the refusal: comparing the content would wait for a writer.
    assert!(matches!(Store::open(&path), Err(StoreError::NotAFile(_))));
    assert!(matches!(
        Store::open_existing(&path),
        Err(StoreError::NotAFile(_))
    ));
}

#[test]
fn a_file_in_place_of_a_directory_is_named() {
    let (directory, path) = place();
    fs::write(directory.path().join("file"), "").expect("writes");
    let below = directory.path().join("file/perfcheck.db");
    match Store::open(&below) {
        Err(StoreError::Io { path, .. }) => {
            assert!(path.starts_with(directory.path().join("file")));
        }
        other => panic!("{other:?}"),
    }
    assert!(!path.exists());
}

#[test]
fn a_full_device_is_an_error_and_no_loss() {
    let (_directory, mut store, workspace) = fresh_file();
    let path = store.path().to_owned();
    let before = record(
        &mut store,
        workspace,
        &new_run("c0ffee", "main"),
        Acceptance::Automatic,
        &["a"],
    );
    let measurements = store.measurements(before, None).expect("reads");
    drop(store);

    // The limit of one page is below the current size, so the file must not grow at all.
    let options = OpenOptions {
        max_pages: Some(1),
        ..OpenOptions::default()
    };
    let mut store = Store::open_with(&path, options).expect("opens");
    let run = store
        .begin_run(workspace, &new_run("c0ffee", "main"))
        .expect("fits");
    let ids: Vec<String> = (0..300).map(|index| format!("benchmark {index}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let error = store
        .record_process(run, &process(0, &ids))
        .expect_err("full");
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert_eq!(store.processes(run).expect("reads"), []);
    assert_eq!(
        store.measurements(before, None).expect("reads"),
        measurements
    );
    drop(store);

    // With enough space, the same store can be written again.
    let (mut store, _) = open(&path);
    store.check().expect("whole");
    assert_eq!(
        store.measurements(before, None).expect("reads"),
        measurements
    );
    store.record_process(run, &process(0, &ids)).expect("fits");
}

#[test]
fn a_creation_that_finds_no_space_can_be_repeated() {
    let (_directory, path) = place();
    let options = OpenOptions {
        max_pages: Some(3),
        ..OpenOptions::default()
    };
    let error = Store::open_with(&path, options).expect_err("full");
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert!(Store::open_existing(&path).expect("no error").is_none());
    open(&path).0.check().expect("whole");
}
