//! Simulates, with fixed seeds, whether intervals and p-values keep their stated levels, and whether process effects raise false alarms. Prints the
//! Markdown of tools/simulated.md.
//!
//! `cargo run --release -p perfcheck-tools --bin validate [-- [coverage|samples|p-values|alarms|families|histories|all] [RUNS]]` (default: all, 4000
//! runs per cell) takes some minutes on one thread. `RAYON_NUM_THREADS` changes the time but no digit.

#![allow(clippy::print_stdout)]

mod alarms;
mod band;
mod coverage;
mod families;
mod histories;
mod noise;
mod p_values;
mod samples;
mod stored;
mod turns;

use perfcheck_stats::{Draws, Stream};
use perfcheck_tools::numbers::Numbers;
use rayon::prelude::*;

/// The base seed of all simulations. Run i of a stream draws from block i.
const SEED: u64 = 20_251_121;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let part = arguments.next().unwrap_or_else(|| "all".to_owned());
    let runs: u64 = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(4_000);
    println!(
        "`RAYON_NUM_THREADS=1 cargo run --release -p perfcheck-tools --bin validate -- {part} {runs}`, seed {SEED}.\n"
    );
    let wanted = |name| part == "all" || part == name;
    if wanted("coverage") {
        coverage::print(runs);
    }
    if wanted("samples") {
        samples::print(runs);
    }
    if wanted("p-values") {
        p_values::print(runs);
    }
    if wanted("alarms") {
        alarms::print(runs);
    }
    if wanted("families") {
        families::print(runs);
    }
    if wanted("histories") {
        histories::print(runs);
    }
}

/// Returns the results of `runs` simulations with the stream `name`, in the order of their blocks.
fn simulated<T: Send>(runs: u64, name: &str, one: impl Fn(&mut Numbers) -> T + Sync) -> Vec<T> {
    (0..runs)
        .into_par_iter()
        .map(|run| one(&mut Numbers(Draws::new(Stream { seed: SEED, name }, run))))
        .collect()
}
