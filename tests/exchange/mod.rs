//! Files of other benchmark programs, read as `import` reads them. The files in `tests/exchange/samples` were written by these programs. Tests also
//! read damaged copies of them.

#![expect(clippy::unwrap_used, reason = "a test: what is not there fails it")]

mod damaged;
mod samples;

use cargo_perfcheck::interchange::{
    ForeignInput, ForeignRun, InputContent, detect, read, read_runs,
};
use perfcheck_analysis::model::ProgressReporter;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the directory with files that other benchmark programs wrote.
fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchange/samples")
}

/// Reads the file `name` of [`directory`].
fn sample(name: &str) -> InputContent {
    read(&directory().join(name), &mut std::io::empty()).unwrap()
}

/// Returns the sorted names of the files that a reader gets one by one. Criterion's trees of directories are not among them.
fn file_names() -> Vec<String> {
    let mut names: Vec<String> = (fs::read_dir(directory()).unwrap())
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name != "README.md" && name != "make.sh")
        .collect();
    names.sort();
    names
}

/// Reads the runs of a file, whose format is detected from its content.
fn runs_of(file: InputContent) -> Result<Vec<ForeignRun>, String> {
    let format = detect(&file).map_err(|error| error.to_string())?;
    read_runs(
        &ForeignInput::Files(&[file], format),
        None,
        &ProgressReporter::silent(),
    )
    .map_err(|error| error.to_string())
}

/// Reads the runs of a tree of directories that Criterion wrote.
fn runs_of_tree(tree: PathBuf) -> Result<Vec<ForeignRun>, String> {
    read_runs(
        &ForeignInput::Trees(&[tree]),
        None,
        &ProgressReporter::silent(),
    )
    .map_err(|error| error.to_string())
}
