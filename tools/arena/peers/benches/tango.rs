//! The three workloads under tango.

use arena_subject::workloads::{Alloc, Alu, Sort};
use tango_bench::{IntoBenchmarks, benchmark_fn, tango_benchmarks};

fn main_three() -> impl IntoBenchmarks {
    arena_peers::set_cost();
    [
        benchmark_fn("alu", |b| {
            let mut work = Alu::set_up();
            b.iter(move || work.run())
        }),
        benchmark_fn("sort", |b| {
            let mut work = Sort::set_up();
            b.iter(move || work.run())
        }),
        benchmark_fn("alloc", |b| {
            let mut work = Alloc::set_up();
            b.iter(move || work.run())
        }),
    ]
}

tango_benchmarks!(main_three());
