//! The hard workloads under Criterion.

use arena_hard::Workload;
use criterion::{Criterion, criterion_group, criterion_main};

fn hard(criterion: &mut Criterion) {
    arena_peers::set_cost();
    for Workload { name, set_up } in arena_peers::of_the_kind() {
        // Outside of the function, which Criterion calls for each sample.
        let mut work = set_up();
        criterion.bench_function(name, |b| b.iter(|| work()));
    }
}

criterion_group!(benches, hard);
criterion_main!(benches);
