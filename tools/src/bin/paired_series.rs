//! Writes the rounds of all side-by-side measurements in a store as JSON lines, for `ablate_paired` and other analyses.
//!
//! `cargo run --release -p perfcheck-tools --bin paired_series -- STORE WORKSPACE_KEY > OUT.jsonl`
//!
//! There is one object per benchmark: `workload`, `run` (of the candidate), `iterations`, and `rounds`, a list of [base samples, candidate samples]
//! in nanoseconds per iteration, in the order in which they were taken.

use std::io::Write;
use std::path::Path;

use perfcheck_analysis::model::{Sample, Side};
use perfcheck_store::Store;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [store, key] = arguments.as_slice() else {
        return Err("see the head of this file for the arguments".into());
    };
    let store = Store::open_existing(Path::new(store))?.ok_or("there is no such store")?;
    let workspace = store
        .find_workspace(key)?
        .ok_or("there is no such workspace")?;
    let mut out = std::io::stdout().lock();
    let times = |samples: &[Sample]| -> Vec<f64> {
        samples
            .iter()
            .map(|sample| sample.per_iteration())
            .collect()
    };
    for summary in store.runs(workspace, None)? {
        let Some(pair) = summary.run.pair.filter(|pair| pair.side == Side::Candidate) else {
            continue;
        };
        let base = store.measurements(pair.partner, None)?;
        for candidate in store.measurements(summary.run.id, None)? {
            let key = &candidate.benchmark.key;
            let Some(base) = base.iter().find(|base| base.benchmark.key == *key) else {
                continue;
            };
            let mut rounds = Vec::new();
            let mut iterations = None;
            for process in &candidate.processes {
                let other = base
                    .processes
                    .iter()
                    .find(|other| other.process == process.process);
                if let Some(other) = other {
                    iterations = process.series.flat.first().map(|sample| sample.iterations);
                    rounds.push([times(&other.series.flat), times(&process.series.flat)]);
                }
            }
            let record = serde_json::json!({
                "workload": key.id, "run": summary.run.id, "iterations": iterations, "rounds": rounds,
            });
            writeln!(out, "{record}")?;
        }
    }
    Ok(())
}
