//! Samples the time of changed benchmarks by function if their instructions could not be counted.

use std::collections::BTreeSet;
use std::time::Duration;

use super::counted::{CountsByBenchmark, Reasons};
use super::request::Request;
use crate::app::context::World;
use crate::app::error::AppError;
use crate::report::{self, Progress};
use perfcheck_analysis::findings::RunNote;
use perfcheck_analysis::model::{BenchmarkKey, BySide, Side};
use perfcheck_engine::child::ProcessContext;
use perfcheck_engine::measure::{PairedTarget, sample_time};
use perfcheck_engine::process::try_time_samples;

/// Maximum sampling time of a side, shared by all benchmarks.
const TIME_OF_A_SIDE: Duration = Duration::from_secs(2);
/// Sufficient sampling time of a benchmark: about 5,000 samples.
const ENOUGH: Duration = Duration::from_secs(1);

/// Reports whether time can be sampled here and is real: a scripted clock contains no information on functions.
pub(super) fn can_sample(world: &World<'_>) -> bool {
    let variables = &world.variables;
    let is_wanted = !variables.no_sampling && variables.scripted_clock.is_none();
    is_wanted && try_time_samples().is_ok()
}

/// Samples benchmarks on both sides, one after the other, and adds the results to `found`. Returns notes on benchmarks without results.
pub(super) fn sample_in_turn(
    pairs: &[PairedTarget],
    wanted: &BTreeSet<BenchmarkKey>,
    found: &mut BySide<CountsByBenchmark>,
    request: &Request<'_>,
    left: &str,
    world: &mut World<'_>,
) -> Result<Vec<RunNote>, AppError> {
    let count = u32::try_from(wanted.len()).unwrap_or(u32::MAX);
    let time = TIME_OF_A_SIDE.checked_div(count).unwrap_or_default();
    let of = report::counted(wanted.len(), "benchmark");
    request.announce("Sampling", format!("the time of {of}"), world)?;
    let mut failed = Reasons::default();
    for pair in pairs {
        let benchmarks = pair.benchmarks.iter().map(|benchmark| &benchmark.key);
        let here: Vec<BenchmarkKey> = benchmarks
            .filter(|key| wanted.contains(key))
            .cloned()
            .collect();
        if here.is_empty() {
            continue;
        }
        let targets = pair.link_alike();
        for side in Side::BOTH {
            let mut target = targets.get(side).clone();
            request.configure(&mut target);
            let progress =
                Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
            let launcher = ProcessContext::new(
                world.supervisor,
                world.interrupt,
                &progress,
                request.timeout,
            );
            let driver = pair.drivers.get(side);
            let sampled = match sample_time(&target, driver, &here, time.min(ENOUGH), launcher) {
                Ok(sampled) => sampled,
                Err(error) if error.is_interrupt() => {
                    return Err(AppError::Interrupted(left.to_owned()));
                }
                Err(error) => {
                    failed.add(error.to_string(), here.iter().cloned());
                    continue;
                }
            };
            for (key, sampled) in sampled {
                match sampled {
                    Ok(time) => found.get_mut(side).entry(key).or_default().time = Some(time),
                    Err(error) => failed.add(error.to_string(), [key]),
                }
            }
        }
    }
    Ok(failed.remarks(|benchmarks, reason| RunNote::NotSampled { benchmarks, reason }))
}
