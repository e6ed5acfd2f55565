//! The hard workloads under tango.

use std::cell::RefCell;
use std::rc::Rc;

use arena_hard::{Body, Workload};
use tango_bench::{Benchmark, IntoBenchmarks, benchmark_fn, tango_benchmarks};

fn hard() -> impl IntoBenchmarks {
    arena_peers::set_cost();
    let benchmark = |Workload { name, set_up }: &'static Workload| {
        // Once, when tango first asks: it asks again when its two seconds have begun.
        let work: Rc<RefCell<Option<Body>>> = Rc::default();
        benchmark_fn(*name, move |b| {
            let work = Rc::clone(&work);
            work.borrow_mut().get_or_insert_with(set_up);
            b.iter(move || work.borrow_mut().as_mut().map(|work| work()))
        })
    };
    arena_peers::of_the_kind()
        .map(benchmark)
        .collect::<Vec<Benchmark>>()
}

tango_benchmarks!(hard());
