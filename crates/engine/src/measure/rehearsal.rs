//! Runs benchmarks of Criterion on both sides without measuring them.

#![expect(clippy::disallowed_methods, reason = "how long a set-up takes")]

use std::collections::BTreeSet;
use std::time::Instant;

use super::launch::launch_spec;
use super::target::PairedTarget;
use crate::child::{ChildError, ProcessContext, Rehearsal, RehearsalMode};
use perfcheck_analysis::model::{BenchmarkKey, Side};

/// Returns the benchmarks whose processes complete one iteration, and then many, on both sides. Stops after a benchmark that takes too long.
pub fn rehearse(
    pair: &PairedTarget,
    launcher: ProcessContext<'_>,
) -> Result<BTreeSet<BenchmarkKey>, ChildError> {
    let mut well = BTreeSet::new();
    for benchmark in &pair.benchmarks {
        match completes(pair, &benchmark.key.id, launcher) {
            Ok(true) => {
                well.insert(benchmark.key.clone());
            }
            Ok(false) => {}
            Err(ChildError::Interrupted) => return Err(ChildError::Interrupted),
            Err(_) => break,
        }
    }
    Ok(well)
}

fn completes(
    pair: &PairedTarget,
    id: &str,
    launcher: ProcessContext<'_>,
) -> Result<bool, ChildError> {
    let began = Instant::now();
    if !both_complete(pair, id, RehearsalMode::Once, launcher)? {
        return Ok(false);
    }
    let set_up = began.elapsed();
    both_complete(pair, id, RehearsalMode::ForAWhile { set_up }, launcher)
}

/// Reports whether both sides complete this at the same time.
fn both_complete(
    pair: &PairedTarget,
    id: &str,
    what: RehearsalMode,
    launcher: ProcessContext<'_>,
) -> Result<bool, ChildError> {
    let launcher = launcher.without_observer();
    let mut under_way = Vec::new();
    for side in Side::BOTH {
        let spec = launch_spec(pair.targets.get(side), 0, 0);
        match Rehearsal::start(&spec, id, what, &launcher)? {
            Some(rehearsal) => under_way.push(rehearsal),
            None => return Ok(false),
        }
    }
    for mut rehearsal in under_way {
        if !rehearsal.wait_for_success()? {
            return Ok(false);
        }
    }
    Ok(true)
}
