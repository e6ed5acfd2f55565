//! `cargo perfcheck doctor --self-test`: compares each executable with itself, and with itself slowed down by a known amount.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use crate::error::AppError;
use crate::options::{CommonOptions, PairedOptions};
use crate::output::{self, ProgressMode, Rate, SelfTestFindings, SelfTestRow, SkippedBenchmark};
use crate::pipeline::paired::{PairedMeasurement, RecordedRounds};
use crate::pipeline::prepare::{nothing_found_error, timeout};
use crate::pipeline::request::Request;
use crate::pipeline::work_tree::WorkTree;
use crate::session::{Context, World};
use perfcheck_analysis::compare::{PairedSeries, Plan, judge};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::{BenchmarkKey, BySide, ProcessRecord, Side, Verdict};
use perfcheck_bench::measure::{CampaignEnd, DiscoveredBenches, Filter, PairedTarget};
use perfcheck_stats::{binomial, derived_seed};

/// The capability that a harness announces if it can slow itself down (docs/internals/src/protocol.md, section 8).
const CAPABILITY: &str = "slowdown";
/// Environment variable that sets the slowdown.
const VARIABLE: &str = "PERFCHECK_SLOWDOWN";
/// One-sided confidence level of the bounds on the false-alarm rate and the detection rate.
const BOUND_LEVEL: f64 = 0.95;

/// Options of the self-test.
#[derive(Debug, Clone)]
pub struct SelfTestOptions {
    /// The filter that selects the benchmarks to test.
    pub filter: Filter,
    /// Slowdown of one side, as a fraction: 0.02 for 2 %.
    pub slowdown: f64,
    /// Number of trials without the slowdown, and number of trials with it.
    pub trials: u32,
    /// Options of the side-by-side measurements.
    pub paired: PairedOptions,
}

fn refuse_sort_by_change(common: &CommonOptions) -> Result<(), AppError> {
    if common.output.order() == Order::Change {
        return Err(AppError::Usage(
            "`--sort change` does not work with `--self-test`, which reports no changes\n  help: `--sort worst` starts with the benchmarks whose slowdowns were found least often, `--sort time` with the benchmarks that took longest".to_owned(),
        ));
    }
    Ok(())
}

fn describe_trial(
    options: &SelfTestOptions,
    trial: u32,
    kind: TrialKind,
    rows: &BTreeMap<BenchmarkKey, SelfTestRow>,
) -> String {
    let done = 2 * trial + u32::from(kind == TrialKind::Slowed);
    format!(
        "{} of {}, {}{}",
        trial + 1,
        options.trials,
        kind.in_words(options.slowdown),
        time_left(rows, done, 2 * options.trials)
    )
}

fn exit_code(has_failures: bool, ended: CampaignEnd) -> ExitCode {
    let mut exit_code = ExitCode::Clean;
    if has_failures {
        exit_code = exit_code.worst_of(ExitCode::BenchmarkFailed);
    }
    if ended == CampaignEnd::Interrupted {
        exit_code = exit_code.worst_of(ExitCode::Interrupted);
    }
    exit_code
}

/// Carries out `cargo perfcheck doctor --self-test`.
pub fn self_test(
    options: &SelfTestOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    refuse_sort_by_change(common)?;
    let paired = &options.paired;
    let load = perfcheck_host::load_average();
    let context = Context::load(common, world)?.with_command_line(paired.layer());
    let timeout = timeout(paired.timeout, &context);
    let is_kept = !world.variables.no_rerun;
    let tree = WorkTree::build(&context, common, &options.filter, timeout, is_kept, world)?;
    let (environment, found) = (tree.environment, tree.found);
    let failed_targets = !found.failures.is_empty();
    if found.is_empty() {
        return Err(nothing_found_error(&options.filter, &found));
    }
    let subjects = TestableBenchmarks::from_discovered(found);
    if subjects.targets.is_empty() {
        return Err(AppError::NothingToMeasure(NO_SUBJECTS.to_owned()));
    }
    let mut request = Request {
        context: &context,
        common,
        filter: &options.filter,
        comparison: &paired.comparison(),
        effort: paired.effort,
        timeout,
        load,
        seed: paired.seed.unwrap_or_else(perfcheck_host::fresh_seed),
        git: None,
    };
    let seed = request.seed;
    let count = subjects.count();
    let usual = PairedMeasurement::new(&request, &environment, BySide::default(), count);
    let (decision, rounds) = (usual.decision, most_rounds(&usual.plan));
    let mut rows: BTreeMap<BenchmarkKey, SelfTestRow> = subjects.rows(&usual);
    let mut ended = CampaignEnd::Complete;
    if world.progress == ProgressMode::Lines {
        // The trials already show the progress.
        world.progress = ProgressMode::Quiet;
    }
    let comparisons = 2 * options.trials;
    let lock = request.measuring_lock(world)?;
    if !common.output.quiet {
        let (of_one, bound) = usual.expected(subjects.pairs(0), world);
        let words = output::describe_plan(count, comparisons, bound, of_one * comparisons);
        output::write_build_event(world.stderr, "Testing", &words)?;
    }
    'trials: for trial in 0..options.trials {
        for kind in [TrialKind::Same, TrialKind::Slowed] {
            let usual = PairedMeasurement::new(&request, &environment, BySide::default(), count);
            let seed = derived_seed(seed, &format!("self-test/{}/{trial}", kind.word()));
            let run = PairedMeasurement {
                plan: Plan { seed, ..usual.plan },
                ..usual
            };
            if !common.output.quiet {
                let words = describe_trial(options, trial, kind, &rows);
                output::write_build_event(world.stderr, "Trial", &words)?;
            }
            let pairs = subjects.pairs(kind.millionths(options.slowdown));
            ended = run_trial(&run, kind, pairs, &mut rows, world)?;
            // Forget the load average, which was read before the first trial. In later trials, the tool itself causes most of the load.
            request.load = None;
            if ended == CampaignEnd::Interrupted {
                break 'trials;
            }
        }
    }
    drop(lock);
    let rows = sort_rows(rows.into_values().collect(), common.output.order());
    let has_failures = failed_targets || rows.iter().any(SelfTestRow::has_failed);
    let exit_code = exit_code(has_failures, ended);
    let findings = SelfTestFindings {
        false_alarms: rate(
            &rows,
            SelfTestRow::false_alarms,
            SelfTestRow::comparisons_with_itself,
        ),
        found: rate(
            &rows,
            SelfTestRow::slowdowns_found,
            SelfTestRow::comparisons_with_slowed,
        ),
        rows,
        skipped: subjects.skipped,
        slowdown: options.slowdown,
        trials: options.trials,
        rounds,
        significance_level: decision.significance_level,
        bound_level: BOUND_LEVEL,
        seed,
        interrupted: ended == CampaignEnd::Interrupted,
        exit_code: exit_code.number(),
    };
    let view = common.output.view();
    output::write_self_test(world.stdout, &findings, common.output.format, &view)?;
    Ok(exit_code)
}

fn sort_rows(mut rows: Vec<SelfTestRow>, order: Order) -> Vec<SelfTestRow> {
    match order {
        Order::Name | Order::Change => {}
        Order::Time => rows.sort_by_key(|row| std::cmp::Reverse(row.time)),
        Order::WorstFirst => {
            rows.sort_by_key(|row| (row.slowdowns_found(), usize::MAX - row.false_alarms()));
        }
    }
    rows
}

const NO_SUBJECTS: &str = "no bench uses a harness that can simulate a slowdown\n  help: use the current `perfcheck` crate; Criterion benches must not run with `--harness as-is`";

/// Whether the sides of a trial are the same or one of them is slowed down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrialKind {
    Same,
    Slowed,
}

impl TrialKind {
    fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Slowed => "slowed",
        }
    }

    fn in_words(self, slowdown: f64) -> String {
        match self {
            Self::Same => "both sides the same".to_owned(),
            Self::Slowed => format!("one side slower by {}", output::in_percent(slowdown)),
        }
    }

    fn millionths(self, slowdown: f64) -> u32 {
        match self {
            Self::Same => 0,
            Self::Slowed => (slowdown * 1e6).round() as u32,
        }
    }
}

/// The benchmarks that can be tested, and those that cannot, each with the reason.
struct TestableBenchmarks {
    targets: Vec<PairedTarget>,
    skipped: Vec<SkippedBenchmark>,
}

impl TestableBenchmarks {
    fn from_discovered(found: DiscoveredBenches) -> Self {
        let mut subjects = Self {
            targets: Vec::new(),
            skipped: Vec::new(),
        };
        for found in found.targets {
            if found.capabilities.iter().any(|word| word == CAPABILITY) {
                subjects.targets.push(PairedTarget::with_itself(found));
            } else {
                let benchmarks = found.benchmarks.into_iter();
                subjects
                    .skipped
                    .extend(benchmarks.map(|benchmark| SkippedBenchmark {
                        key: benchmark.key,
                        why: "its harness cannot simulate a slowdown".to_owned(),
                    }));
            }
        }
        subjects
            .targets
            .retain(|target| !target.benchmarks.is_empty());
        subjects
    }

    fn count(&self) -> usize {
        self.targets
            .iter()
            .map(|target| target.benchmarks.len())
            .sum()
    }

    fn rows(&self, run: &PairedMeasurement<'_>) -> BTreeMap<BenchmarkKey, SelfTestRow> {
        let benchmarks = self.targets.iter().flat_map(|target| &target.benchmarks);
        benchmarks
            .map(|benchmark| {
                let row = SelfTestRow::new(&benchmark.key, run.noise_threshold(benchmark));
                (benchmark.key.clone(), row)
            })
            .collect()
    }

    /// Pairs each target with itself. Only the variable for the slowdown differs, and its value has the same length on both sides, so the size of the
    /// environment does not differ.
    fn pairs(&self, millionths: u32) -> Vec<PairedTarget> {
        let mut pairs = self.targets.clone();
        for pair in &mut pairs {
            for (side, millionths) in [(Side::Base, 0), (Side::Candidate, millionths)] {
                let value = OsString::from(format!("{millionths:07}"));
                let variables = &mut pair.targets.get_mut(side).variables;
                variables.insert(VARIABLE.to_owned(), Some(value));
            }
        }
        pairs
    }
}

/// Makes one comparison of every benchmark.
fn run_trial(
    run: &PairedMeasurement<'_>,
    kind: TrialKind,
    pairs: Vec<PairedTarget>,
    rows: &mut BTreeMap<BenchmarkKey, SelfTestRow>,
    world: &mut World<'_>,
) -> Result<CampaignEnd, AppError> {
    let mut recorded = RecordedRounds::default();
    let mut record = |side, process: &ProcessRecord| {
        recorded.record(side, process);
        Ok(())
    };
    let result = run.run_rounds(pairs, &mut record, "", world)?;
    if result.end == CampaignEnd::Interrupted {
        // Discard a trial with missing rounds, which is not comparable to complete ones.
        return Ok(result.end);
    }
    let failures = std::mem::take(&mut recorded.failures);
    let metrics = std::mem::take(&mut recorded.metrics);
    let rounds = recorded.rounds();
    let all_series: Vec<PairedSeries<'_>> = rounds
        .iter()
        .filter(|(_, rounds)| !rounds.is_empty())
        .map(|(key, rounds)| PairedSeries {
            key,
            metric: &metrics[key],
            rounds,
            noise_threshold: rows[key].noise_threshold,
        })
        .collect();
    let mut verdicts: BTreeMap<&BenchmarkKey, Verdict> =
        failures.keys().map(|key| (key, Verdict::Failed)).collect();
    let judged = (world.interrupt).while_computing("", || judge(&all_series, &run.plan));
    for (series, comparison) in all_series.iter().zip(judged) {
        verdicts.insert(series.key, comparison.verdict);
    }
    for (key, verdict) in verdicts {
        let Some(row) = rows.get_mut(key) else {
            continue;
        };
        match kind {
            TrialKind::Same => row.same.push(verdict),
            TrialKind::Slowed => row.slowed.push(verdict),
        }
        let spent = result.costs.iter().find(|spent| spent.key == *key);
        row.time += spent.map_or(Duration::ZERO, |spent| spent.time);
    }
    Ok(result.end)
}

fn rate(
    rows: &[SelfTestRow],
    count: impl Fn(&SelfTestRow) -> usize,
    of: impl Fn(&SelfTestRow) -> usize,
) -> Rate {
    let count: usize = rows.iter().map(count).sum();
    let of: usize = rows.iter().map(of).sum();
    let (counted, tried) = (count as u32, of as u32);
    Rate {
        count,
        of,
        lower: binomial::lower_bound(counted, tried, BOUND_LEVEL).unwrap_or(0.0),
        upper: binomial::upper_bound(counted, tried, BOUND_LEVEL).unwrap_or(1.0),
    }
}

/// Estimates the time of the remaining comparisons from the time of the completed ones.
fn time_left(rows: &BTreeMap<BenchmarkKey, SelfTestRow>, done: u32, all: u32) -> String {
    let spent: Duration = rows.values().map(|row| row.time).sum();
    if done == 0 {
        return String::new();
    }
    let left = spent.as_secs_f64() / f64::from(done) * f64::from(all - done);
    format!(" (about {left:.0} s left)")
}

fn most_rounds(plan: &Plan) -> u32 {
    plan.looks.last().copied().unwrap_or(0)
}
