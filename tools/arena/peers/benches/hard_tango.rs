//! The hard workloads under tango.

use arena_hard::Workload;
use tango_bench::{Benchmark, IntoBenchmarks, benchmark_fn, tango_benchmarks};

fn hard() -> impl IntoBenchmarks {
    arena_peers::set_cost();
    let benchmark = |Workload { name, set_up }: &'static Workload| {
        benchmark_fn(*name, |b| {
            let mut work = set_up();
            b.iter(move || work())
        })
    };
    arena_peers::of_the_kind()
        .map(benchmark)
        .collect::<Vec<Benchmark>>()
}

tango_benchmarks!(hard());
