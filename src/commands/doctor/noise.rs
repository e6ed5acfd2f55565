//! Measures the noise of this host. For this purpose, the tool measures its own executable side by side with itself: whatever difference it finds is
//! noise.
//!
//! The executable contains the benchmarks, so no project is needed. One benchmark depends only on the processor. The other depends on memory, which
//! other programs share.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use crate::error::AppError;
use crate::output::{NoiseFindings, Progress, Resolvable};
use crate::pipeline::paired::RecordedRounds;
use crate::session::World;
use perfcheck::{BenchFunction, Bencher, Suite};
use perfcheck_analysis::compare::{HostResolution, PairedSeries, Plan, PowerTarget};
use perfcheck_analysis::model::{
    DecisionSettings, Metric, ProcessRecord, SkipSupport, TargetFacts,
};
use perfcheck_bench::child::ProcessContext;
use perfcheck_bench::measure::{
    Campaign, CampaignEnd, CampaignSink, DiscoveredBenches, PairedPlan, PairedTarget,
    RoundSettings, discover,
};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_stats::derived_seed;

/// Options of `cargo perfcheck doctor`.
#[derive(Debug, Clone)]
pub struct DoctorOptions {
    /// How long to measure the noise.
    pub time: Duration,
    /// Maximum number of rounds of each workload. `None` means as many rounds as fit into the time.
    pub rounds: Option<u32>,
    /// Seed of all random choices. `None` means a fresh seed.
    pub seed: Option<u64>,
}

/// How long a process may take to answer beyond the time of the measurement that it was asked for.
const TIMEOUT: Duration = Duration::from_secs(20);
/// A change counts as resolvable if a comparison detects it with at least this probability.
pub(super) const POWER: f64 = 0.9;
/// Slowdowns for which the effort to detect them is reported.
const CHANGES: [f64; 5] = [0.1, 0.05, 0.02, 0.01, 0.005];
/// To detect a change that is no larger than the usual noise threshold, the threshold must be lowered. It is then set to this share of the change.
const SHARE_OF_CHANGE: f64 = 0.25;
pub(super) const CONFIDENCE_LEVEL: f64 = 0.95;

/// Measures for about the time set in `options`.
pub(super) fn measure(
    options: &DoctorOptions,
    seed: u64,
    world: &mut World<'_>,
) -> Result<Vec<NoiseFindings>, AppError> {
    let target = own_bench()?;
    let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
    let interrupted = || AppError::Interrupted(String::new());
    let context = ProcessContext::new(world.supervisor, world.interrupt, &progress, TIMEOUT);
    let found = discover(vec![target], None, context).map_err(|_| interrupted())?;
    let clock_step = found.targets.first().and_then(|found| found.clock_step);
    let pairs = pair_with_itself(found)?;
    let benchmarks = pairs.iter().map(|pair| pair.benchmarks.len()).sum();
    let campaign = Campaign::paired(
        pairs,
        |_| DecisionSettings::PAIRED_NOISE_THRESHOLD,
        PairedPlan {
            rounds: options
                .rounds
                .unwrap_or_else(|| most_rounds(options.time, benchmarks)),
            round: RoundSettings::default(),
            time_budget: Some(options.time),
            time_per_benchmark: None,
            bind: true,
            seed,
        },
        context,
    );
    let mut recorded = RecordedRounds::default();
    let mut sink = CampaignSink {
        record: &mut |side, process: &ProcessRecord| {
            recorded.record(side, process);
            Ok::<(), AppError>(())
        },
        // Never stop early, because the whole time is used to estimate the noise.
        standing: &mut |_, _, _| None,
    };
    let result = campaign.run(&mut sink)?;
    if result.end == CampaignEnd::Interrupted {
        return Err(interrupted());
    }
    let rounds = recorded.rounds();
    let findings = result.costs.iter().map(|spent| {
        let rounds = rounds.get(&spent.key).map_or(&[][..], Vec::as_slice);
        let series = PairedSeries {
            key: &spent.key,
            metric: &Metric::Time,
            rounds,
            noise_threshold: DecisionSettings::PAIRED_NOISE_THRESHOLD,
        };
        let seed = derived_seed(seed, &spent.key.id);
        let resolution = HostResolution::estimate(&series, CONFIDENCE_LEVEL, seed);
        let of_one = spent.time.as_secs_f64() / rounds.len().max(1) as f64;
        NoiseFindings {
            workload: spent.key.id.clone(),
            clock_step,
            rounds: rounds.len(),
            seconds: spent.time.as_secs_f64(),
            difference: resolution.map(|found| found.difference),
            smallest_change: resolution.and_then(|found| {
                found.smallest_change(Plan::USUAL_ROUNDS, &demand(usual_threshold()))
            }),
            resolvable: resolution
                .map_or_else(Vec::new, |found| resolvable_changes(&found, of_one)),
        }
    });
    Ok(findings.collect())
}

/// Returns an upper bound on the number of rounds that fit into the time. The bound counts only the time of the samples.
fn most_rounds(time: Duration, benchmarks: usize) -> u32 {
    let of_one = RoundSettings::default().short_time.as_f64() * benchmarks.max(1) as f64;
    (time.as_nanos() as f64 / of_one).ceil().max(1.0) as u32
}

/// Returns the tool's own executable as a bench target.
fn own_bench() -> Result<BenchTarget, AppError> {
    let unusable = |error| {
        AppError::NothingToMeasure(format!(
            "cannot find the cargo-perfcheck executable: {error}"
        ))
    };
    Ok(BenchTarget {
        package: env!("CARGO_PKG_NAME").to_owned(),
        target: "doctor".to_owned(),
        program: std::env::current_exe().map_err(unusable)?,
        first_arguments: vec![WORKLOADS_ARGUMENT.into()],
        directory: "/".into(),
        variables: BTreeMap::new(),
        facts: TargetFacts::default(),
        skipping: SkipSupport::Works,
        programs: Vec::new(),
    })
}

/// Pairs each target with itself.
fn pair_with_itself(found: DiscoveredBenches) -> Result<Vec<PairedTarget>, AppError> {
    if let Some(failure) = found.failures.first() {
        return Err(AppError::NothingToMeasure(failure.message.clone()));
    }
    Ok(found
        .targets
        .into_iter()
        .map(PairedTarget::with_itself)
        .collect())
}

fn usual_threshold() -> f64 {
    DecisionSettings::PAIRED_NOISE_THRESHOLD
}

fn demand(noise_threshold: f64) -> PowerTarget {
    PowerTarget {
        noise_threshold,
        significance_level: DecisionSettings::default().significance_level,
        power: POWER,
    }
}

/// Returns how many rounds and seconds it takes to detect each of [`CHANGES`].
fn resolvable_changes(found: &HostResolution, seconds_of_a_round: f64) -> Vec<Resolvable> {
    let of = |change: f64| {
        let noise_threshold = if change > usual_threshold() {
            usual_threshold()
        } else {
            change * SHARE_OF_CHANGE
        };
        let needed = found.rounds_needed(change, &demand(noise_threshold));
        Resolvable {
            change,
            noise_threshold,
            rounds: needed.map(|needed| needed.rounds),
            rounds_at_most: needed.map(|needed| needed.at_most),
            seconds: needed.map(|needed| f64::from(needed.rounds) * seconds_of_a_round),
        }
    };
    CHANGES.into_iter().map(of).collect()
}

/// The argument that makes the tool's executable run as a bench process with the workloads of `doctor`.
pub const WORKLOADS_ARGUMENT: &str = "__workloads";

/// Number of steps in an iteration of each benchmark.
const STEPS: u32 = 5_000;
/// Number of entries in the table of the benchmark `memory`. The table has 4 MiB, more than the private caches of most cores.
const ENTRIES: u32 = 1 << 20;

/// Runs the workloads of `doctor` as a bench process does, by the harness protocol.
pub fn run_workloads() -> ExitCode {
    perfcheck::run(&[
        BenchFunction::new("processor", processor),
        BenchFunction::new("memory", memory),
    ])
}

fn processor(suite: &mut Suite) {
    suite.bench("processor", |bencher: &mut Bencher<'_>| {
        bencher.iter(|| steps(black_box(0x9E37_79B9_7F4A_7C15)));
    });
}

/// Computes random numbers by xorshift64* (Marsaglia 2003; Vigna 2016). Each step depends on the previous one.
fn steps(mut state: u64) -> u64 {
    for _ in 0..STEPS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state = state.wrapping_mul(0x2545_F491_4F6C_DD1D);
    }
    state
}

fn memory(suite: &mut Suite) {
    suite.bench("memory", |bencher: &mut Bencher<'_>| {
        let table = one_cycle();
        let mut place = 0;
        bencher.iter(|| {
            place = walk(&table, place);
            place
        });
    });
}

/// Returns a table in which each entry is the index of the next one. This linear congruential sequence visits all entries before it repeats (Hull and
/// Dobell 1962), in an order that processors cannot predict.
fn one_cycle() -> Vec<u32> {
    let next = |entry: u32| entry.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) % ENTRIES;
    (0..ENTRIES).map(next).collect()
}

fn walk(table: &[u32], mut place: u32) -> u32 {
    for _ in 0..STEPS {
        place = table[place as usize];
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_one_cycle_through_all_entries() {
        let table = one_cycle();
        let (mut place, mut steps) = (0, 0);
        loop {
            place = table[place as usize];
            steps += 1;
            if place == 0 {
                break;
            }
        }
        assert_eq!(steps, ENTRIES);
    }
}
