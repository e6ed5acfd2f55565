//! Analyzes again files that Criterion 0.8.2 wrote for real benches (`itoa` 1.0.18 and a bench of this project, by `tests/real/criterion_check.sh`).

use std::fs;
use std::path::{Path, PathBuf};

use super::criterion_files::{Checked, benchmarks, check};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/criterion_samples")
}

fn output() -> String {
    fs::read_to_string(samples().join("output.txt")).unwrap()
}

#[test]
fn c8_c10_c11_the_numbers_of_criterion_come_out_of_its_own_samples() {
    let output = output();
    let checked: Vec<Checked> = benchmarks(&samples())
        .iter()
        .map(|directory| check(directory, &output))
        .collect();
    assert_eq!(checked.len(), 4);
    for one in &checked {
        let name = one.benchmark.display();
        assert!(one.failures.is_empty(), "{name}: {:#?}", one.failures);
        assert!(one.values >= 11 && one.bounds >= 8, "{name}");
    }
    assert!(checked.iter().all(|one| one.worst <= 1e-12));
    // Some benchmarks have flat samples, which have no slope. Some have outliers.
    assert!(checked.iter().any(|one| one.bounds == 8));
    assert!(checked.iter().map(|one| one.outliers).sum::<usize>() > 20);
}

#[test]
fn a_file_that_says_something_else_is_told_apart() {
    let scratch = tempfile::tempdir().unwrap();
    let from = samples().join("own/linear/new");
    for file in ["benchmark", "estimates", "sample", "tukey"] {
        let file = format!("{file}.json");
        fs::copy(from.join(&file), scratch.path().join(&file)).unwrap();
    }
    let output = output();
    let failures = || check(scratch.path(), &output).failures.len();
    assert_eq!(failures(), 0);
    let path = scratch.path().join("estimates.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut estimates: serde_json::Value = serde_json::from_str(&text).unwrap();
    let write = |estimates: &serde_json::Value| fs::write(&path, estimates.to_string()).unwrap();
    let slope = estimates["slope"]["point_estimate"].as_f64().unwrap();
    estimates["slope"]["point_estimate"] = (slope * (1.0 + 1e-8)).into();
    write(&estimates);
    assert_eq!(failures(), 1);
    // Widen an interval on one side by a third of its length.
    let interval = &mut estimates["mean"]["confidence_interval"];
    let (low, high) = (&interval["lower_bound"], &interval["upper_bound"]);
    let length = high.as_f64().unwrap() - low.as_f64().unwrap();
    interval["upper_bound"] = (high.as_f64().unwrap() + length / 3.0).into();
    write(&estimates);
    assert_eq!(failures(), 2);
    assert_eq!(
        check(scratch.path(), "another/benchmark time: [1 ns 2 ns 3 ns]")
            .failures
            .len(),
        3
    );
}
