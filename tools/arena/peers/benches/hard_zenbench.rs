//! The hard workloads under zenbench.

use std::time::Duration;

use arena_hard::{Body, Workload};
use zenbench::Suite;

fn hard(suite: &mut Suite) {
    arena_peers::set_cost();
    for Workload { name, set_up } in arena_peers::of_the_kind() {
        suite.group(*name, |group| {
            // A second, so that two builds take two. Of `--mode=confirm` the command gives the rounds and nothing ends them sooner.
            let config = group.config().auto_rounds(false);
            config.max_rounds(200).max_time(Duration::from_secs(1));
            // Once, in the process that measures: zenbench calls the function for each sample.
            let mut work: Option<Body> = None;
            group.bench(*name, move |b| b.iter(work.get_or_insert_with(set_up)));
        });
    }
}

zenbench::main!(hard);
