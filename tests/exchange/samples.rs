//! The result of reading whole files. The snapshots contain every value; `INSTA_UPDATE=always` updates them after `samples/make.sh`.

use super::{directory, file_names, runs_of, runs_of_tree, sample};
use cargo_perfcheck::interchange::{FileFormat, ForeignRun, detect};
use std::fmt::Write as _;
use std::fs;

/// Formats all that was read as lines of text for a snapshot.
fn text(runs: &[ForeignRun]) -> String {
    let mut text = String::new();
    for run in runs {
        let name = run.name.as_deref().unwrap_or("(no name)");
        let (imported, processes) = (&run.imported, run.imported.processes.len());
        let known = if imported.processes_known {
            "known"
        } else {
            "not known"
        };
        let _ = writeln!(
            text,
            "{name}: {processes} processes ({known}), {}",
            run.unit
        );
        for group in &imported.groups {
            let (metric, phase) = (&group.metrics[0], group.phase);
            let _ = writeln!(
                text,
                "  {} [{metric}, {phase:?}, {:?}]",
                group.id, group.throughput
            );
            for row in &group.rows {
                let sample = row.samples[0];
                let (process, iterations) = (row.process, sample.iterations);
                let _ = writeln!(
                    text,
                    "    {process}: {} = {} / {iterations}",
                    sample.per_iteration(),
                    sample.elapsed.0
                );
            }
        }
        for caveat in &run.caveats {
            let _ = writeln!(text, "  - {caveat}");
        }
    }
    text
}

#[test]
fn every_file_is_known_for_what_it_is() {
    for name in file_names() {
        let program = name.split(['-', '.']).next().unwrap();
        let expected = match program {
            "hyperfine" => FileFormat::Hyperfine,
            "critcmp" => FileFormat::Critcmp,
            "divan" => FileFormat::Divan,
            "libtest" | "bencher" => FileFormat::Libtest,
            _ => panic!("{name}: a program without a format"),
        };
        assert_eq!(detect(&sample(&name)).unwrap(), expected, "{name}");
    }
}

#[test]
fn every_value_that_a_program_wrote_is_read() {
    for name in file_names() {
        let runs = runs_of(sample(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        insta::assert_snapshot!(name.replace('.', "_"), text(&runs));
    }
}

#[test]
fn every_baseline_of_criterions_trees_is_a_run_with_all_of_its_samples() {
    for name in ["criterion-0.3", "criterion-0.8"] {
        let runs = runs_of_tree(directory().join(name)).unwrap();
        let names: Vec<&str> = runs.iter().filter_map(|run| run.name.as_deref()).collect();
        assert_eq!(names, ["after", "before"], "{name}");
        insta::assert_snapshot!(name.replace('.', "_"), text(&runs));
    }
}

/// Criterion's directory `new` has the last measurement. It becomes a run of its own unless a baseline of the same tree has the same numbers.
#[test]
fn the_newest_numbers_of_a_tree_are_a_run_where_no_baseline_has_them() {
    let place = tempfile::tempdir().unwrap();
    let whole = directory().join("criterion-0.8/alone");
    let put = |from: &str, to: &str| {
        let to = place.path().join("tree/alone").join(to);
        fs::create_dir_all(&to).unwrap();
        for file in ["benchmark.json", "sample.json"] {
            fs::copy(whole.join(from).join(file), to.join(file)).unwrap();
        }
    };
    let names = || {
        let runs = runs_of_tree(place.path().join("tree")).unwrap();
        runs.into_iter()
            .filter_map(|run| run.name)
            .collect::<Vec<_>>()
    };
    put("before", "new");
    assert_eq!(names(), ["new"]);
    put("before", "before");
    assert_eq!(names(), ["before"]);
    put("after", "new");
    assert_eq!(names(), ["before", "new"]);
    put("after", "after");
    assert_eq!(names(), ["after", "before"]);
}
