//! Truncated files and files with a changed byte: they are read, or refused with a position, and nothing panics.

use super::{directory, file_names, runs_of, runs_of_tree, sample};
use cargo_perfcheck::config::Tables;
use cargo_perfcheck::interchange::{ForeignRun, InputContent, read_portable};
use perfcheck_analysis::model::ProgressReporter;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The largest number of truncations of a file that are tried, and the largest number of its bytes that are changed in turn. They are spread over the
/// file.
const DAMAGES: usize = 250;

/// Bytes that have a meaning in at least one of the formats, such as quotation marks. They replace other bytes of a file.
const MEANINGFUL: &[u8] = b"\"\\{}[],:.-+eE019 \n\t\x00\x7f\xff\xc3/#|";

/// A damaged copy of a file: a truncated one, or one with a changed byte.
struct Damage {
    said: String,
    bytes: Vec<u8>,
}

/// Returns damaged copies of a file. For every byte there is one copy that ends before this byte, and one in which this byte is changed. If the file
/// has more than `most` bytes, there are such copies for at most `most` of them, spread over the file.
fn damages(bytes: &[u8], most: usize) -> impl Iterator<Item = Damage> {
    let step = bytes.len().div_ceil(most).max(1);
    let places = (0..bytes.len()).filter(move |at| (at + at / step).is_multiple_of(step));
    let places: Vec<usize> = places.collect();
    let cuts = places.clone().into_iter().map(|at| Damage {
        said: format!("cut before byte {at}"),
        bytes: bytes[..at].to_vec(),
    });
    let changes = places.into_iter().enumerate().map(|(nth, at)| {
        let mut changed = bytes.to_vec();
        let put = MEANINGFUL[(nth * 7 + at) % MEANINGFUL.len()];
        changed[at] = if put == changed[at] { b'x' } else { put };
        Damage {
            said: format!("byte {at} is {put}"),
            bytes: changed,
        }
    });
    cuts.chain(changes)
}

/// Asserts that a result has printable names and finite values that are not negative, or that the error names the file.
#[track_caller]
fn is_sane(read: Result<Vec<ForeignRun>, String>, name: &str, said: &str) {
    let runs = match read {
        Ok(runs) => runs,
        Err(reason) => {
            assert!(
                reason.contains(name) && reason.len() < 2000,
                "{name}: {said}: {reason}"
            );
            return;
        }
    };
    for group in runs.iter().flat_map(|run| &run.imported.groups) {
        let id = &group.id;
        assert!(
            !id.trim().is_empty() && !id.chars().any(char::is_control),
            "{name}: {said}: {id:?}"
        );
        assert!(!group.rows.is_empty(), "{name}: {said}: {id}");
        for row in &group.rows {
            let value = row.samples[0].per_iteration();
            assert!(
                value.is_finite() && value >= 0.0,
                "{name}: {said}: {id}: {value}"
            );
            assert!(row.samples[0].iterations > 0, "{name}: {said}: {id}");
        }
    }
}

fn damage_files(most: usize) {
    for name in file_names() {
        let whole = sample(&name);
        for damage in damages(&whole.bytes, most) {
            let file = InputContent {
                name: name.clone(),
                bytes: damage.bytes,
                blake3: String::new(),
            };
            is_sane(runs_of(file), &name, &damage.said);
        }
    }
}

fn damage_trees(most: usize) {
    let place = tempfile::tempdir().unwrap();
    let benchmark = place.path().join("tree/alone/base");
    fs::create_dir_all(&benchmark).unwrap();
    let whole = directory().join("criterion-0.8/alone/before");
    let files = ["benchmark.json", "sample.json"];
    for damaged in files {
        for file in files {
            fs::copy(whole.join(file), benchmark.join(file)).unwrap();
        }
        let bytes = fs::read(whole.join(damaged)).unwrap();
        for damage in damages(&bytes, most) {
            fs::write(benchmark.join(damaged), damage.bytes).unwrap();
            let read = runs_of_tree(place.path().join("tree"));
            is_sane(read, damaged, &damage.said);
        }
    }
}

#[test]
fn a_damaged_file_is_read_or_refused_with_its_name() {
    damage_files(DAMAGES);
}

#[test]
fn a_damaged_tree_is_read_or_refused_with_the_name_of_the_file() {
    damage_trees(DAMAGES);
}

#[test]
#[ignore = "takes a minute: every cut and a change of every byte"]
fn all_damages_are_read_or_refused() {
    damage_files(usize::MAX);
    damage_trees(usize::MAX);
}

/// Returns a file with this name and this content, as a reader gets it.
fn file(name: &str, bytes: &[u8]) -> InputContent {
    InputContent {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
        blake3: String::new(),
    }
}

#[test]
fn a_damaged_foreign_file_of_any_kind_is_read_or_refused_by_chance() {
    for name in file_names() {
        let whole = [sample(&name).bytes];
        perfcheck_mutations::attack(&name, &whole, |bytes| {
            is_sane(runs_of(file(&name, bytes)), &name, "by chance");
        });
    }
}

#[test]
fn a_damaged_export_is_read_or_refused_by_chance() {
    let whole = fs::read(directory().join("../damaged/export.jsonl")).unwrap();
    let runs = read_portable(
        &file("export.jsonl", &whole),
        (0, 1),
        &ProgressReporter::silent(),
    )
    .unwrap();
    assert_eq!(runs.len(), 2);
    perfcheck_mutations::attack("exports", &[whole], |bytes| {
        if let Err(error) = read_portable(
            &file("export.jsonl", bytes),
            (0, 1),
            &ProgressReporter::silent(),
        ) {
            let said = error.to_string();
            assert!(said.contains("export.jsonl"), "{said}");
        }
    });
}

#[test]
fn a_damaged_table_of_settings_is_read_or_refused_by_chance() {
    let table = json!({
        "rounds": 3, "samples": 20, "warm-up-time": "5ms", "measurement-time": "0.1s",
        "noise-threshold": 0.02, "latency-digits": 3,
        "override": [{"match": "sort/*", "rounds": 4, "noise-threshold": "5%"}]
    });
    let read = |table: &Value| {
        let manifest = Path::new("/w/Cargo.toml");
        Tables::parse(manifest, table, [("p", manifest, table)]).map_err(|error| error.to_string())
    };
    assert_eq!(read(&table).map(drop), Ok(()));
    let whole = serde_json::to_vec(&table).unwrap();
    perfcheck_mutations::attack("settings", &[whole], |bytes| {
        // Cargo parses the manifest, so the settings arrive as JSON of any shape.
        let Ok(table) = serde_json::from_slice::<Value>(bytes) else {
            return;
        };
        if let Err(said) = read(&table) {
            assert!(said.contains("Cargo.toml"), "{said}");
        }
    });
}
