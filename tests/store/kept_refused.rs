//! Whatever speaks against a kept executable is a refusal of its own. The numbers of the run stay readable.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use perfcheck_analysis::model::{RunId, Secret};
use perfcheck_engine::store::{KeptError, Store, StoreError};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::store::builders::open;
use crate::store::kept::{contents, executable, extract, files, keeping, secret, target};
use crate::support::skipped;

/// A store, by path, with two runs that keep different executables under the same name.
struct Kept {
    directory: TempDir,
    path: PathBuf,
    runs: [RunId; 2],
}

impl Kept {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("temporary directory");
        // Below a directory of its own, so that its permissions can be changed.
        let place = directory.path().join("place");
        fs::create_dir(&place).expect("creates");
        let path = place.join("perfcheck.db");
        let (mut store, _) = open(&path);
        let runs = ["/bin/sh", "/bin/true"].map(|original| {
            let program = executable(directory.path(), "bench");
            fs::copy(original, &program).expect("copies");
            keeping(&mut store, &[target(&program)]).0
        });
        Self {
            directory,
            path,
            runs,
        }
    }

    fn sql(&self, statements: &str) {
        let connection = Connection::open(&self.path).expect("opens");
        connection.execute_batch(statements).expect("changes");
    }

    /// Where the content of the first run lies.
    fn content(&self) -> PathBuf {
        let (store, _) = open(&self.path);
        let kept = store.kept(self.runs[0]).expect("reads");
        contents(&self.path).join(format!("{}.zst", kept[0].facts.program.hash))
    }

    /// The refusal of the first run's executable: its variant, and words of its message.
    #[track_caller]
    fn refused(&self, is_expected: impl Fn(&KeptError) -> bool, words: &str) {
        self.refused_to(&secret(), is_expected, words);
    }

    #[track_caller]
    fn refused_to(&self, secret: &Secret, is_expected: impl Fn(&KeptError) -> bool, words: &str) {
        let (store, _) = open(&self.path);
        let kept = store.kept(self.runs[0]).expect("reads");
        let into = self.directory.path().join("private");
        match store.extract(&kept[0], secret, &into) {
            Err(StoreError::Kept(error)) => {
                assert!(is_expected(&error), "{error:?}");
                assert!(error.to_string().contains(words), "{error}");
                assert!(!error.hint().is_empty());
            }
            other => panic!("{other:?}"),
        }
        let left = fs::read_dir(&into).map_or(0, Iterator::count);
        assert_eq!(left, 0, "something was written");
        let measured = store.measurements(self.runs[0], None).expect("numbers");
        assert_eq!(measured.len(), 1);
    }

    /// As it is, it can be run: the refusals come from the changes.
    fn extracted(&self) -> Result<(), StoreError> {
        let (store, _) = open(&self.path);
        let into = self.directory.path().join("sound");
        let extracted = extract(&store, self.runs[0], &into).map(|_| ());
        let _ = fs::remove_dir_all(into);
        extracted
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("sets");
}

fn is_altered(error: &KeptError) -> bool {
    matches!(error, KeptError::Altered { .. })
}

#[test]
fn a_changed_argument() {
    let kept = Kept::new();
    kept.extracted().expect("sound");
    kept.sql(r#"UPDATE kept SET facts = replace(facts, '"-c"', '"-e"') WHERE run = 1"#);
    kept.refused(is_altered, "was changed after it was made");
}

#[test]
fn a_changed_hash_directory_or_variable() {
    for (part, by) in [
        (r#""directory":"/""#, r#""directory":"/tmp""#),
        (r#""COLOUR":"blue""#, r#""COLOUR":"blue","LD_PRELOAD":"x""#),
        (r#""hash":""#, r#""hash":"00"#),
    ] {
        let kept = Kept::new();
        if by.ends_with("00") {
            // Another content that is there, and is what its name says.
            kept.sql(
                "UPDATE kept SET facts = replace(facts,
                    json_extract(facts, '$.program.hash'),
                    (SELECT json_extract(facts, '$.program.hash') FROM kept WHERE run = 2))
                 WHERE run = 1",
            );
        } else {
            kept.sql(&format!(
                "UPDATE kept SET facts = replace(facts, '{part}', '{by}') WHERE run = 1"
            ));
        }
        kept.refused(is_altered, "was changed after it was made");
    }
}

#[test]
fn a_row_that_was_swapped_with_its_seal() {
    let kept = Kept::new();
    kept.sql("DELETE FROM kept WHERE run = 1; UPDATE kept SET run = 1");
    kept.refused(
        |error| matches!(error, KeptError::Misplaced { run: RunId(1), .. }),
        "was recorded for `target` (package `package`) in run 2",
    );
}

#[test]
fn a_seal_of_another_row() {
    let kept = Kept::new();
    kept.sql("UPDATE kept SET mac = (SELECT mac FROM kept WHERE run = 2) WHERE run = 1");
    kept.refused(is_altered, "was changed after it was made");
    kept.sql("UPDATE kept SET mac = x'' WHERE run = 1");
    kept.refused(is_altered, "was changed after it was made");
}

#[test]
fn another_secret_or_another_machine() {
    let kept = Kept::new();
    for stranger in [
        Secret::new([8; 32], "a machine".to_owned()),
        Secret::new([7; 32], "another machine".to_owned()),
    ] {
        kept.refused_to(
            &stranger,
            |error| matches!(error, KeptError::RecordedElsewhere { .. }),
            "recorded elsewhere: numbers only",
        );
    }
    // Claiming to be from here does not help.
    let (mut store, _) = open(&kept.path);
    let elsewhere = Secret::new([8; 32], "a machine".to_owned());
    let program = executable(kept.directory.path(), "bench");
    store
        .keep_executables(kept.runs[0], &[target(&program)], &elsewhere)
        .expect("keeps");
    drop(store);
    kept.sql("UPDATE kept SET origin = (SELECT origin FROM kept WHERE run = 2)");
    kept.refused(is_altered, "was changed after it was made");
}

#[test]
fn a_workspace_that_adopted_the_run() {
    let kept = Kept::new();
    let (mut store, workspace) = open(&kept.path);
    let heir = store.workspace("heir", "/elsewhere").expect("creates");
    store.adopt(workspace, heir).expect("adopts");
    drop(store);
    kept.refused(
        |error| matches!(error, KeptError::Misplaced { .. }),
        "was recorded for another workspace, `key`",
    );
}

#[test]
fn a_changed_content() {
    let kept = Kept::new();
    let content = kept.content();
    let sound = fs::read(&content).expect("reads");
    let is_damaged = |error: &KeptError| matches!(error, KeptError::Damaged { .. });
    for position in [0, sound.len() / 2, sound.len() - 1] {
        let mut bytes = sound.clone();
        bytes[position] ^= 1;
        fs::write(&content, bytes).expect("writes");
        kept.refused(is_damaged, "is damaged");
    }
    // A content that is whole, but not this one.
    let (store, _) = open(&kept.path);
    let other = store.kept(kept.runs[1]).expect("reads")[0]
        .facts
        .program
        .hash;
    drop(store);
    fs::copy(contents(&kept.path).join(format!("{other}.zst")), &content).expect("copies");
    kept.refused(is_damaged, "not the content that was recorded");
    // A bomb: 64 MiB of nothing.
    let mut bomb = zstd::Encoder::new(Vec::new(), 1).expect("encoder");
    std::io::copy(
        &mut std::io::Read::take(std::io::repeat(0), 64 << 20),
        &mut bomb,
    )
    .expect("compresses");
    fs::write(&content, bomb.finish().expect("ends")).expect("writes");
    kept.refused(is_damaged, "not the content that was recorded");

    fs::write(&content, sound).expect("writes");
    kept.extracted().expect("sound again");
}

#[test]
fn a_truncated_content() {
    let kept = Kept::new();
    let content = kept.content();
    let sound = fs::read(&content).expect("reads");
    for length in [0, 1, 7, sound.len() / 2, sound.len() - 1] {
        fs::write(&content, &sound[..length]).expect("writes");
        kept.refused(
            |error| matches!(error, KeptError::Damaged { .. }),
            "is damaged",
        );
    }
}

#[test]
fn a_content_that_is_gone_and_comes_back_when_it_is_kept_again() {
    let kept = Kept::new();
    let content = kept.content();
    fs::remove_file(&content).expect("removes");
    kept.refused(|error| matches!(error, KeptError::Gone { .. }), "is gone");
    for damage in [None, Some("rubbish")] {
        if let Some(rubbish) = damage {
            fs::write(&content, rubbish).expect("writes");
        }
        let (mut store, _) = open(&kept.path);
        let program = executable(kept.directory.path(), "bench");
        let (_, summary) = keeping(&mut store, &[target(&program)]);
        assert!(summary.added_bytes > 0);
        drop(store);
        kept.extracted().expect("sound again");
    }
}

#[test]
fn a_store_that_others_can_write() {
    let kept = Kept::new();
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", kept.path.display()));
    let place = kept.path.parent().expect("parent").to_owned();
    for (path, wrong, right) in [
        (kept.path.clone(), 0o666, 0o600),
        (kept.path.clone(), 0o620, 0o600),
        (beside(".kept"), 0o777, 0o700),
        (place, 0o777, 0o700),
    ] {
        set_mode(&path, wrong);
        kept.refused(
            |error| matches!(error, KeptError::Exposed { path: named, .. } if *named == path),
            "can be written by others",
        );
        // Neither is anything kept there.
        let (mut store, _) = open(&kept.path);
        let program = executable(kept.directory.path(), "bench");
        let refused = store.keep_executables(kept.runs[0], &[target(&program)], &secret());
        assert!(matches!(
            refused,
            Err(StoreError::Kept(KeptError::Exposed { .. }))
        ));
        drop(store);
        set_mode(&path, right);
        kept.extracted().expect("sound again");
    }
    // A log that others can write is as good as the store.
    let (mut store, _) = open(&kept.path);
    store.workspace("other", "/other").expect("writes");
    set_mode(&beside("-wal"), 0o666);
    kept.refused(
        |error| matches!(error, KeptError::Exposed { path, .. } if *path == beside("-wal")),
        "can be written by others",
    );
    drop(store);
}

#[test]
fn a_file_in_the_place_of_the_contents() {
    let kept = Kept::new();
    let contents = PathBuf::from(format!("{}.kept", kept.path.display()));
    std::fs::rename(&contents, kept.path.with_extension("aside")).expect("moves");
    std::fs::write(&contents, "").expect("writes");
    set_mode(&contents, 0o600);
    kept.refused(
        |error| error.hint() == format!("move {} away: the tool makes its own", contents.display()),
        "is not a directory",
    );
}

/// Needs the right to give files away.
#[test]
fn a_store_that_belongs_to_another_user() {
    const NOBODY: u32 = 65_534;
    let kept = Kept::new();
    let place = kept.path.parent().expect("parent").to_owned();
    let own = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&place).expect("there"));
    for path in [kept.path.clone(), contents(&kept.path), place] {
        if chown(&path, Some(NOBODY), None).is_err() {
            skipped("only the superuser can give files away");
            return;
        }
        kept.refused(
            |error| matches!(error, KeptError::Exposed { path: named, .. } if *named == path),
            "belongs to another user",
        );
        chown(&path, Some(own), None).expect("takes back");
    }
    kept.extracted().expect("sound again");
}

#[test]
fn a_directory_that_others_can_enter_or_that_is_a_link() {
    let kept = Kept::new();
    let (store, _) = open(&kept.path);
    let into = kept.directory.path().join("open");
    fs::create_dir(&into).expect("creates");
    set_mode(&into, 0o755);
    let link = kept.directory.path().join("link");
    let private = kept.directory.path().join("behind the link");
    fs::create_dir(&private).expect("creates");
    set_mode(&private, 0o700);
    std::os::unix::fs::symlink(&private, &link).expect("links");
    for directory in [into, link] {
        let refused = extract(&store, kept.runs[0], &directory);
        assert!(
            matches!(
                &refused,
                Err(StoreError::Kept(KeptError::NotPrivate { path, .. })) if *path == directory
            ),
            "{refused:?}"
        );
        assert_eq!(fs::read_dir(&directory).expect("lists").count(), 0);
    }
}

#[test]
fn a_file_that_is_in_the_way_is_not_overwritten() {
    let kept = Kept::new();
    let (store, _) = open(&kept.path);
    let into = kept.directory.path().join("private");
    fs::create_dir(&into).expect("creates");
    set_mode(&into, 0o700);
    fs::write(into.join("bench"), "mine").expect("writes");
    let refused = extract(&store, kept.runs[0], &into);
    assert!(matches!(refused, Err(StoreError::Io { .. })), "{refused:?}");
    let content = fs::read_to_string(into.join("bench")).expect("reads");
    assert_eq!(content, "mine");
}

#[test]
fn a_store_that_was_copied_without_its_contents() {
    let kept = Kept::new();
    let copy = kept.directory.path().join("copy.db");
    fs::copy(&kept.path, &copy).expect("copies");
    let store = Store::open(&copy).expect("opens");
    let into = kept.directory.path().join("private");
    let refused = extract(&store, kept.runs[0], &into);
    assert!(
        matches!(refused, Err(StoreError::Kept(KeptError::Gone { .. }))),
        "{refused:?}"
    );
    assert_eq!(files(&kept.path).len(), 2);
}
