//! `floor WORKLOAD ITERATIONS [SAMPLES [PER_MILLE]]`: runs a workload; with SAMPLES above 0, prints the fastest sample in nanoseconds per
//! iteration. PER_MILLE takes the place of the commit's own cost.
//!
//! Without SAMPLES it is what an instruction counter runs: the difference of two counts over the difference of iterations is the cost of one.

use arena_subject::slow_path::SlowPath;
use arena_subject::workloads::{Alloc, Alu, Hash, Mem, Parse, Sort};
use arena_subject::{layout, slow};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    layout::keep();
    let arguments: Vec<String> = std::env::args().collect();
    let number = |place: usize| arguments.get(place).and_then(|text| text.parse().ok());
    if let Some(per_mille) = number(4) {
        slow::set_per_mille(per_mille as u32);
    }
    let iterations: u64 = number(2).expect("ITERATIONS");
    let mut work: Box<dyn FnMut() -> u64> = match arguments[1].as_str() {
        "alu" => body(Alu::set_up(), Alu::run),
        "sort" => body(Sort::set_up(), Sort::run),
        "alloc" => body(Alloc::set_up(), Alloc::run),
        "mem" => body(Mem::set_up(), Mem::run),
        "hash" => body(Hash::set_up(), Hash::run),
        "parse" => body(Parse::set_up(), Parse::run),
        "slow_path" => body(SlowPath::set_up(), SlowPath::run),
        other => panic!("no workload is called {other}"),
    };
    let mut sample = || {
        let began = Instant::now();
        for _ in 0..iterations {
            black_box(work());
        }
        began.elapsed().as_nanos() as f64 / iterations as f64
    };
    match number(3) {
        None | Some(0) => {
            sample();
        }
        Some(samples) => {
            let fastest = (0..samples).map(|_| sample()).fold(f64::INFINITY, f64::min);
            println!("{fastest:.3}");
        }
    }
}

fn body<W: 'static>(mut work: W, run: fn(&mut W) -> u64) -> Box<dyn FnMut() -> u64> {
    Box::new(move || run(&mut work))
}
