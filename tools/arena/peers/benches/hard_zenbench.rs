//! The hard workloads under zenbench.

use arena_hard::{Body, Workload};
use zenbench::Suite;

fn hard(suite: &mut Suite) {
    arena_peers::set_cost();
    for Workload { name, set_up } in arena_peers::of_the_kind() {
        // Once, in the process that measures: zenbench calls the function for each sample.
        let mut work: Option<Body> = None;
        suite.bench(*name, move |b| b.iter(work.get_or_insert_with(set_up)));
    }
}

zenbench::main!(hard);
