//! Reads and writes Criterion's directories through the command line, and compares them with those that Criterion itself wrote.

#![expect(clippy::unwrap_used, reason = "a test: what cannot be read fails it")]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

use crate::commands::exchanging::rows;
use crate::commands::scripted::stored;
use crate::support::Machine;

const JSON: [&str; 2] = ["--message-format", "json"];

/// Returns the path of directories that criterion 0.8.2 wrote.
fn criterion() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/criterion_samples")
}

/// Returns the JSON files of a tree that contain numbers of benchmarks, with their paths relative to the tree.
fn json_files(root: &Path) -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                let value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                found.push((path.strip_prefix(root).unwrap().to_owned(), value));
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Asserts that numbers are equal up to `tolerance` and everything else exactly. Bounds of intervals are random, so they may differ by up to a
/// quarter of the interval's width. Standard errors of intervals are not compared.
fn agree(ours: &Value, theirs: &Value, tolerance: f64, place: &str) {
    match (ours, theirs) {
        (Value::Object(one), Value::Object(other)) => {
            assert!(one.keys().eq(other.keys()), "{place}: {one:?} {other:?}");
            if let (Some(ours), Some(theirs)) = (bounds(ours), bounds(theirs)) {
                let near = (theirs[1] - theirs[0]) / 4.0 + tolerance * theirs[1].abs();
                let apart = [ours[0] - theirs[0], ours[1] - theirs[1]].map(f64::abs);
                assert!(
                    apart.iter().all(|apart| *apart <= near),
                    "{place}: {ours:?} {theirs:?}"
                );
            }
            for (name, value) in one {
                if !["lower_bound", "upper_bound", "standard_error"].contains(&name.as_str()) {
                    agree(value, &other[name], tolerance, &format!("{place}.{name}"));
                }
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len(), "{place}");
            for (one, other) in one.iter().zip(other) {
                agree(one, other, tolerance, place);
            }
        }
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            assert!(
                (one - other).abs() <= tolerance * other.abs(),
                "{place}: {one} {other}"
            );
        }
        _ => assert_eq!(ours, theirs, "{place}"),
    }
}

fn bounds(interval: &Value) -> Option<[f64; 2]> {
    Some([
        interval["lower_bound"].as_f64()?,
        interval["upper_bound"].as_f64()?,
    ])
}

#[test]
fn criterions_files_go_in_and_come_out_as_criterion_wrote_them() {
    let machine = Machine::new();
    let imported = stored(&machine, &["store", "import"])
        .arg(criterion())
        .args(JSON)
        .run()
        .expect_code(0);
    let finished = imported.messages("import-finished");
    assert_eq!(finished.len(), 1, "{imported}");
    assert_eq!(finished[0]["baseline"], "new");
    assert_eq!(finished[0]["source"]["format"], "criterion");
    let tree = machine.home().join("tree");
    let command = stored(
        &machine,
        &["store", "export", "new", "--format", "criterion"],
    );
    command.arg("--output").arg(&tree).run().expect_code(0);
    let (ours, theirs) = (json_files(&tree), json_files(&criterion()));
    assert!(
        ours.len() >= 12 && ours.len() == theirs.len(),
        "{}",
        ours.len()
    );
    for ((path, ours), (their_path, theirs)) in ours.iter().zip(&theirs) {
        assert_eq!(path, their_path);
        // Criterion's factor of the MAD is 1.4826, rounded to 32 bits.
        agree(ours, theirs, 1e-7, &path.display().to_string());
    }
    // The exported tree contains all samples. If it is imported again, the comparison with the first import says `unchanged`.
    stored(&machine, &["store", "import", "--save-baseline", "again"])
        .arg(&tree)
        .run()
        .expect_code(0);
    let count = |run: &str| {
        let query = format!(
            "SELECT count(*) FROM series s JOIN run_benchmarks rb ON rb.id = s.run_benchmark WHERE rb.run = {run}"
        );
        rows(&machine.store(), &query)
    };
    assert_eq!(count("1"), count("2"));
    let samples = |run: u8| {
        let query = format!(
            "SELECT s.samples FROM series s JOIN run_benchmarks rb ON rb.id = s.run_benchmark JOIN benchmarks b ON b.id = rb.benchmark WHERE rb.run = {run} ORDER BY b.name"
        );
        rows(&machine.store(), &query)
    };
    assert_eq!(samples(1), samples(2));
}

#[test]
fn three_sessions_of_criterion_are_processes_and_a_slowdown_among_them_is_found() {
    let machine = Machine::new();
    // Writes one of six Criterion trees with the same benchmark. In the last three, it is a third slower.
    let tree = |number: u32| {
        let place = machine.home().join(format!("tree{number}/g/f/base"));
        fs::create_dir_all(&place).unwrap();
        let id = r#"{"group_id":"g","function_id":"f","value_str":null,"throughput":{"Elements":3},"full_id":"g/f","directory_name":"g/f","title":"g/f"}"#;
        fs::write(place.join("benchmark.json"), id).unwrap();
        let slower = if number > 3 { 4000 } else { 3000 };
        let times: Vec<u32> = (1..=20)
            .map(|i| i * (slower + number) + i * 7 % 11)
            .collect();
        let iterations: Vec<u32> = (1..=20).map(|i| i * 10).collect();
        let sample =
            serde_json::json!({"sampling_mode": "Linear", "iters": iterations, "times": times});
        fs::write(place.join("sample.json"), sample.to_string()).unwrap();
        machine.home().join(format!("tree{number}"))
    };
    for (name, first) in [("before", 1), ("after", 4)] {
        let trees: Vec<PathBuf> = (first..first + 3).map(tree).collect();
        let command = stored(&machine, &["store", "import", "--save-baseline", name]).args(trees);
        let said = command.args(JSON).run().expect_code(0);
        assert_eq!(
            said.messages("import-finished")[0]["processes"],
            3,
            "{said}"
        );
    }
    let compared = stored(&machine, &["compare", "before", "after"])
        .args(JSON)
        .run()
        .expect_code(1);
    assert_eq!(
        compared.messages("benchmark-compared")[0]["verdict"],
        "regressed",
        "{compared}"
    );
}
