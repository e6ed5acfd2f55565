//! Analyzes samples that Criterion stored, and compares the results with Criterion's: slope, mean, median, MAD, standard deviation, fences and
//! outliers to 1e-9, intervals within the noise of the resamples.
//!
//! `cargo run -p perfcheck-tools --bin criterion_check -- CRITERION_HOME OUTPUT`, where OUTPUT is a file with the text that the benches printed.
//! Exits with status 1 if something differs. `tests/real/criterion_check.sh` runs real benches, then this program.

#![allow(clippy::print_stdout)]

#[path = "../../../tests/systems/criterion_files.rs"]
mod criterion_files;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, output] = &arguments[..] else {
        println!("usage: criterion_check CRITERION_HOME OUTPUT");
        return ExitCode::from(2);
    };
    let output = std::fs::read_to_string(output).expect("what the benches printed");
    let root = Path::new(root);
    let benchmarks = criterion_files::benchmarks(root);
    let mut failures = 0;
    let (mut values, mut bounds, mut outliers, mut worst) = (0, 0, 0, 0.0_f64);
    for directory in &benchmarks {
        let checked = criterion_files::check(directory, &output);
        let name = checked.benchmark.strip_prefix(root).unwrap_or(directory);
        for failure in &checked.failures {
            println!("{}: {failure}", name.display());
        }
        failures += checked.failures.len();
        values += checked.values;
        bounds += checked.bounds;
        outliers += checked.outliers;
        worst = worst.max(checked.worst);
    }
    println!(
        "{} benchmarks: {values} values agree to {worst:.0e}, {bounds} bounds of intervals, {outliers} outliers; {failures} differences",
        benchmarks.len()
    );
    if failures == 0 && !benchmarks.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
