//! Benchmarks of Criterion that run on both sides and are not measured.

use std::collections::BTreeSet;

use super::launch::launch_spec;
use super::launcher::Launcher;
use super::target::PairedTarget;
use crate::child::{ChildError, Rehearsal, Rehearsed};
use perfcheck_analysis::model::{BenchmarkKey, Side};

/// The benchmarks whose processes come through one iteration, and then many, on both sides.
pub fn rehearsed(
    pair: &PairedTarget,
    launcher: Launcher<'_>,
) -> Result<BTreeSet<BenchmarkKey>, ChildError> {
    let mut well = BTreeSet::new();
    for benchmark in &pair.benchmarks {
        let key = &benchmark.key;
        if come_through(pair, &key.id, Rehearsed::Once, launcher)?
            && come_through(pair, &key.id, Rehearsed::ForAWhile, launcher)?
        {
            well.insert(key.clone());
        }
    }
    Ok(well)
}

/// Whether both sides do, at the same time.
fn come_through(
    pair: &PairedTarget,
    id: &str,
    what: Rehearsed,
    launcher: Launcher<'_>,
) -> Result<bool, ChildError> {
    let means = launcher.means(&|_| ());
    let mut under_way = Vec::new();
    for side in Side::BOTH {
        let spec = launch_spec(pair.targets.of(side), 0, 0);
        match Rehearsal::start(&spec, id, what, &means)? {
            Some(rehearsal) => under_way.push(rehearsal),
            None => return Ok(false),
        }
    }
    for rehearsal in under_way {
        if !rehearsal.came_through()? {
            return Ok(false);
        }
    }
    Ok(true)
}
