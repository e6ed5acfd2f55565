//! Measures two builds side by side and stores them as a pair of runs, or keeps the rounds in memory for commands that store nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tracing::info_span;

use super::counting::count_paired;
use super::machine_code::read_size;
use super::pair::Pairing;
use super::request::{Request, busy_warning};
use crate::error::AppError;
use crate::options::Effort;
use crate::output::Progress;
use crate::pipeline::judge::PairedMeasured;
use crate::pipeline::record::RecordedRun;
use crate::session::World;
use perfcheck_analysis::compare::{HostNoise, PairedSeries, Plan, check_settled};
use perfcheck_analysis::findings::{RoundsCost, RunNote};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, BySide, DecisionSettings, Environment, EstimateKind, Event, Failure,
    GitState, Metric, Nanos, NewRun, NullObserver, Observer, PastCommit, ProcessHead,
    ProcessOutcome, ProcessRecord, Purpose, Round, RunId, Sample, Shard, Side, WarmUpGoal,
};
use perfcheck_bench::child::ProcessContext;
use perfcheck_bench::measure::{
    BenchmarkCost, Campaign, CampaignEnd, CampaignResult, CampaignSink, PairedPlan, PairedTarget,
    RoundSettings, TimeLimit,
};
use perfcheck_store::{Store, StoreError, WorkspaceId};

/// Ratio of a round's time to the time of its samples. Process start, warm-up and lead-in take the rest.
const TIME_OVER_SAMPLES: f64 = 1.6;
/// Maximum number of rounds of a benchmark under a time budget.
const ROUNDS_WITH_BUDGET: u32 = 1000;
/// A time budget in which fewer than this many rounds fit counts as small.
const ROUNDS_IN_SMALL_BUDGET: u32 = 60;
/// Numbers of rounds after which the data are tested (a "look") under a small budget. With a hundred benchmarks, fewer than 20 rounds settle none of
/// them at the significance level of a first look.
const LOOKS_IN_SMALL_BUDGET: [u32; 5] = [20, 30, 60, 100, 200];
/// How long a round samples each benchmark under a small budget. The time is short, so that more rounds fit: only many rounds average out the
/// differences between processes.
const SAMPLES_IN_SMALL_BUDGET: Duration = Duration::from_millis(10);
/// Minimum share of stolen processor time, from 0 to 1, that a remark reports.
pub(crate) const MUCH_STOLEN: f64 = 0.02;
/// Maximum number of control runs, newest first, from which the noise of a benchmark is computed.
const MOST_CONTROLS: usize = 200;

/// Estimates how many rounds of `planned` benchmarks fit into `time`. The estimate must not be far too high: the significance level is spread over
/// the planned rounds, so too many would leave little of it for the first looks.
fn rounds_that_fit(time: Duration, planned: usize) -> u32 {
    let of_one = RoundSettings::default().time.as_f64() * TIME_OVER_SAMPLES;
    (time.as_secs_f64() * 1e9 / (of_one * planned.max(1) as f64)) as u32
}

/// Reports whether the time budget is too small for the usual looks.
fn has_small_budget(effort: Effort, planned: usize) -> bool {
    let is_small = |time| rounds_that_fit(time, planned) < ROUNDS_IN_SMALL_BUDGET;
    effort.rounds.is_none() && effort.time_budget.is_some_and(is_small)
}

/// Plans the looks of `planned` benchmarks, before the first round.
fn plan(decision: &DecisionSettings, effort: Effort, planned: usize, seed: u64) -> Plan {
    let in_time =
        |time| rounds_that_fit(time, planned).clamp(Plan::USUAL_ROUNDS, ROUNDS_WITH_BUDGET);
    let usual = || effort.time_budget.map_or(Plan::USUAL_ROUNDS, in_time);
    Plan {
        looks: if has_small_budget(effort, planned) {
            LOOKS_IN_SMALL_BUDGET.to_vec()
        } else {
            Plan::looks_up_to(effort.rounds.unwrap_or_else(usual))
        },
        significance_level: decision.significance_level,
        planned,
        confidence_level: decision.confidence_level,
        resamples: decision.resamples,
        seed,
        seeds: BTreeMap::new(),
        noise: BTreeMap::new(),
    }
}

/// A measurement of two builds with all its settings, which are fixed before the first round.
pub(crate) struct PairedMeasurement<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) environment: &'a Environment,
    pub(crate) git: BySide<Option<GitState>>,
    pub(crate) decision: DecisionSettings,
    pub(crate) plan: Plan,
    /// Factor by which the time limits of the request are multiplied.
    pub(crate) time_factor: u32,
    /// The noise threshold of all benchmarks, which replaces their own settings; `None` if their own settings apply.
    pub(crate) noise_threshold: Option<f64>,
    /// The names under which the builds are kept in the cache; `None` for a build that is not kept.
    pub(crate) builds: BySide<Option<String>>,
    /// For each benchmark whose base is the build of an earlier run, that run.
    pub(crate) earlier: BTreeMap<BenchmarkKey, RunId>,
    /// The name of the base in messages.
    pub(crate) reference: String,
    /// Remarks about the builds.
    pub(crate) remarks: Vec<RunNote>,
    pub(crate) purpose: Purpose,
    /// The place of the candidate's commit in a history, if the measurement is for that history.
    pub(crate) past: Option<PastCommit>,
    /// The shard that is measured, if the suite is split.
    pub(crate) partition: Option<Shard>,
}

/// A measurement whose two runs have begun in the store.
pub(crate) struct BegunPair<'a> {
    pub(crate) measurement: PairedMeasurement<'a>,
    pub(crate) runs: BySide<RunId>,
}

impl<'a> PairedMeasurement<'a> {
    /// Plans a measurement of `planned` benchmarks as the request says.
    pub(crate) fn new(
        request: &'a Request<'a>,
        environment: &'a Environment,
        git: BySide<Option<GitState>>,
        planned: usize,
    ) -> Self {
        let decision = request.paired_decision();
        Self {
            request,
            environment,
            git,
            decision,
            plan: plan(&decision, request.effort, planned, request.seed),
            time_factor: 1,
            noise_threshold: None,
            builds: BySide::default(),
            earlier: BTreeMap::new(),
            reference: String::new(),
            remarks: Vec::new(),
            purpose: Purpose::Comparison,
            past: None,
            partition: None,
        }
    }

    /// Stores the two runs, so that every round can be stored as it ends.
    pub(crate) fn begin(
        self,
        store: &mut Store,
        workspace: WorkspaceId,
        pairs: &[PairedTarget],
    ) -> Result<BegunPair<'a>, AppError> {
        let noise = match self.purpose {
            Purpose::Control => BTreeMap::new(),
            _ => self.known_noise(store, workspace, pairs)?,
        };
        let plan = Plan { noise, ..self.plan };
        let measurement = Self { plan, ..self };
        let new_run = |side: Side| NewRun {
            started: perfcheck_host::now(),
            git: measurement.git.get(side).clone(),
            environment: measurement.environment.clone(),
            load: measurement.request.load,
            seed: measurement.plan.seed,
            decision: measurement.decision,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            build: measurement.builds.get(side).clone(),
            partition: measurement.partition.clone(),
            past: match side {
                Side::Base => None,
                Side::Candidate => measurement.past.clone(),
            },
        };
        let purpose = match measurement.partition {
            Some(_) => Purpose::Part,
            None => measurement.purpose,
        };
        let plan = serde_json::to_string(&measurement.plan).expect("a plan is JSON");
        let sides = BySide {
            base: &new_run(Side::Base),
            candidate: &new_run(Side::Candidate),
        };
        let runs = store.begin_pair(workspace, sides, &plan, purpose)?;
        Ok(BegunPair { measurement, runs })
    }

    /// Reads the noise of each benchmark: how much identical builds differed in earlier control runs on hosts like this one. A benchmark without
    /// control runs has no entry.
    fn known_noise(
        &self,
        store: &Store,
        workspace: WorkspaceId,
        pairs: &[PairedTarget],
    ) -> Result<BTreeMap<String, HostNoise>, StoreError> {
        let mut known = BTreeMap::new();
        for benchmark in pairs.iter().flat_map(|pair| &pair.benchmarks) {
            let changes = store.controls(workspace, benchmark, self.environment, MOST_CONTROLS)?;
            if let Some(noise) = HostNoise::from_changes(&changes) {
                known.insert(benchmark.key.to_string(), noise);
            }
        }
        Ok(known)
    }

    /// Returns the noise threshold of a benchmark. This is the threshold of this measurement if it has one, or else that in the settings of the
    /// benchmark, or else that of the run.
    pub(crate) fn noise_threshold(&self, benchmark: &Benchmark) -> f64 {
        let layers = &self.request.context.tables.layers;
        self.noise_threshold
            .or_else(|| layers.resolve(benchmark).1)
            .unwrap_or(self.decision.noise_threshold)
    }

    /// Estimates the time of measuring `pairs`.
    pub(crate) fn expected(
        &self,
        pairs: Vec<PairedTarget>,
        world: &World<'_>,
    ) -> (Duration, EstimateKind) {
        let timeout = self.request.timeout;
        let context =
            ProcessContext::new(world.supervisor, world.interrupt, &NullObserver, timeout);
        self.campaign(pairs, context).expected_duration()
    }

    fn campaign<'c>(
        &'c self,
        pairs: Vec<PairedTarget>,
        context: ProcessContext<'c>,
    ) -> Campaign<'c> {
        let effort = self.request.effort;
        let mut usual = RoundSettings::default();
        if has_small_budget(effort, self.plan.planned) {
            usual.time = SAMPLES_IN_SMALL_BUDGET.into();
            usual.short_time = usual.time;
        }
        let tables = &self.request.context.tables;
        let limit = effort.limit_per_benchmark(tables.workspace.time_per_benchmark);
        let warm_up = tables.layers.command_line.warm_up;
        let threshold = move |benchmark: &Benchmark| self.noise_threshold(benchmark);
        let rounds = self.plan.looks.last().copied();
        let paired_plan = PairedPlan {
            rounds: rounds.unwrap_or(Plan::USUAL_ROUNDS),
            round: RoundSettings {
                warm_up: match warm_up {
                    Some(WarmUpGoal::Time(time)) => time,
                    _ => usual.warm_up,
                },
                warm_up_iterations: match warm_up {
                    Some(WarmUpGoal::Iterations(count)) => Some(count),
                    _ => None,
                },
                ..usual
            },
            time_budget: effort.time_budget.map(|time| time * self.time_factor),
            time_per_benchmark: limit.map(|limit| TimeLimit {
                time: limit.time * self.time_factor,
                ..limit
            }),
            bind: true,
            seed: self.plan.seed,
        };
        Campaign::paired(pairs, threshold, paired_plan, context)
    }

    /// Measures `pairs` and passes the processes of each round to `record` when the round has ended. An interrupt during a test of the data ends the
    /// process with the message `left`.
    pub(crate) fn run_rounds(
        &self,
        mut pairs: Vec<PairedTarget>,
        record: &mut dyn FnMut(Side, &ProcessRecord) -> Result<(), StoreError>,
        left: &str,
        world: &mut World<'_>,
    ) -> Result<CampaignResult, AppError> {
        if pairs.is_empty() {
            return Ok(CampaignResult {
                end: CampaignEnd::Complete,
                costs: Vec::new(),
            });
        }
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        if let Some(warning) = busy_warning(self.request.load, self.environment.host.cores) {
            progress.observe(&Event::Warning(&warning));
        }
        for pair in &mut pairs {
            for target in [&mut pair.targets.base, &mut pair.targets.candidate] {
                self.request.configure(target);
                target.facts.size = read_size(target);
            }
        }
        let timeout = self.request.timeout;
        let context = ProcessContext::new(world.supervisor, world.interrupt, &progress, timeout);
        let campaign = self.campaign(pairs, context);
        let mut sink = CampaignSink {
            record,
            standing: &mut |benchmark, noise_threshold, rounds| {
                let series = PairedSeries {
                    key: &benchmark.key,
                    metric: &benchmark.metric,
                    rounds,
                    noise_threshold,
                };
                let look = || check_settled(&series, &self.plan);
                let is_look = self.plan.looks.contains(&(rounds.len() as u32));
                is_look.then(|| world.interrupt.while_computing(left, look))
            },
        };
        Ok(campaign.run(&mut sink)?)
    }
}

impl BegunPair<'_> {
    /// Measures and stores all rounds, then counts instructions where they are needed. The runs stay open until a conclusion is recorded.
    pub(crate) fn measure(
        &self,
        store: &mut Store,
        pairing: Pairing,
        world: &mut World<'_>,
    ) -> Result<PairedMeasured, AppError> {
        let _stage = info_span!("measure").entered();
        let (runs, measurement) = (self.runs, &self.measurement);
        let left = RecordedRun::Pair(runs).left_incomplete();
        let pairs = pairing.pairs;
        let mut record = |side, process: &_| store.record_process(*runs.get(side), process);
        let result = measurement.run_rounds(pairs.clone(), &mut record, &left, world)?;
        let spent = result.costs;
        if result.end == CampaignEnd::Interrupted {
            return Err(AppError::Interrupted(left));
        }
        let apart = spent.iter().filter(|spent| !spent.is_together);
        let apart: BTreeSet<BenchmarkKey> = apart.map(|spent| spent.key.clone()).collect();
        // Processes that alternated sample by sample ran at the same time, so one side's processes show the stolen time of both sides.
        let mut heads = store.processes(runs.candidate)?;
        if !apart.is_empty() {
            heads.extend(store.processes(runs.base)?);
        }
        let request = measurement.request;
        let cores = measurement.environment.host.cores;
        let read = |run| (world.interrupt).while_computing(&left, || store.measurements(run, None));
        let known = measurement.remarks.iter().cloned();
        let mut measured = PairedMeasured {
            runs,
            measured: BySide {
                base: read(runs.base)?,
                candidate: read(runs.candidate)?,
            },
            plan: measurement.plan.clone(),
            decision: measurement.decision,
            earlier: measurement.earlier.clone(),
            settled: pairing.settled,
            reference: measurement.reference.clone(),
            host: request.context.host_class(measurement.environment),
            remarks: known
                .chain(remarks_on_skipped(&spent))
                .chain(remark_on_stolen_time(&heads, &spent, cores))
                .collect(),
            cost: spent.into_iter().map(cost_of_rounds).collect(),
        };
        count_paired(&mut measured, &pairs, &apart, request, &left, store, world)?;
        Ok(measured)
    }
}

fn cost_of_rounds(spent: BenchmarkCost) -> (BenchmarkKey, RoundsCost) {
    let cost = RoundsCost {
        seconds: spent.time.as_secs_f64(),
        ran_out_of_time: spent.ran_out_of_time,
    };
    (spent.key, cost)
}

/// Returns a remark for each reason for which benchmarks declined to be measured.
pub(crate) fn remarks_on_skipped(spent: &[BenchmarkCost]) -> impl Iterator<Item = RunNote> + use<> {
    let mut skipped: BTreeMap<String, Vec<BenchmarkKey>> = BTreeMap::new();
    for one in spent {
        if let Some(visit) = &one.skipped {
            let benchmarks = skipped.entry(visit.reason.clone()).or_default();
            benchmarks.push(one.key.clone());
        }
    }
    let skipped = skipped.into_iter();
    skipped.map(|(reason, benchmarks)| RunNote::Skipped { benchmarks, reason })
}

/// Returns a remark if a hypervisor gave much of the processors' time to others.
fn remark_on_stolen_time(
    heads: &[ProcessHead],
    spent: &[BenchmarkCost],
    cores: u32,
) -> Option<RunNote> {
    let conducts = heads.iter().filter_map(|head| head.conduct);
    let stolen: u64 = conducts.filter_map(|found| found.stolen).map(|t| t.0).sum();
    let time: Duration = spent.iter().map(|spent| spent.time).sum();
    let share = stolen as f64 / (time.as_nanos() as f64 * f64::from(cores.max(1)));
    (share >= MUCH_STOLEN).then_some(RunNote::Stolen { share })
}

/// One side of a round.
struct RecordedSide {
    samples: Vec<Sample>,
    /// For each quad, whether this side took the first sample.
    led: Vec<bool>,
    layout: Option<u32>,
}

/// Keeps the rounds of a measurement in memory, for measurements that are not stored.
#[derive(Default)]
pub(crate) struct RecordedRounds {
    sides: BTreeMap<BenchmarkKey, BySide<BTreeMap<u32, RecordedSide>>>,
    /// The metric that the samples measure.
    pub(crate) metrics: BTreeMap<BenchmarkKey, Metric>,
    /// The shortest time of a program that does nothing, for each benchmark that is a program.
    pub(crate) start_ups: BTreeMap<BenchmarkKey, Nanos>,
    /// The failures of each benchmark, on either side.
    pub(crate) failures: BTreeMap<BenchmarkKey, Vec<Failure>>,
}

impl RecordedRounds {
    /// Records a process of one side.
    pub(crate) fn record(&mut self, side: Side, process: &ProcessRecord) {
        let usage = process.head.conduct.and_then(|usage| usage.run);
        let start_up = usage.and_then(|usage| usage.start_up);
        for in_process in &process.benchmarks {
            let key = in_process.benchmark.key.clone();
            match &in_process.outcome {
                ProcessOutcome::Measured(series) => {
                    let metric = in_process.benchmark.metric.clone();
                    self.metrics.insert(key.clone(), metric);
                    if let Some(time) = start_up {
                        let shortest = self.start_ups.entry(key.clone()).or_insert(time);
                        *shortest = time.min(*shortest);
                    }
                    let recorded = RecordedSide {
                        samples: series.comparable_samples(),
                        led: in_process.extras.led.clone(),
                        layout: process.head.layout,
                    };
                    let sides = self.sides.entry(key).or_default();
                    sides.get_mut(side).insert(process.head.ordinal, recorded);
                }
                // A failure is recorded on both sides.
                ProcessOutcome::Failed { .. } if side == Side::Base => {}
                ProcessOutcome::Failed { side, message } => {
                    self.failures.entry(key).or_default().push(Failure {
                        process: process.head.ordinal,
                        side: *side,
                        message: message.clone(),
                    });
                }
            }
        }
    }

    /// Returns the rounds with measurements of both sides.
    pub(crate) fn rounds(self) -> BTreeMap<BenchmarkKey, Vec<Round>> {
        let both = |mut sides: BySide<BTreeMap<u32, RecordedSide>>| {
            let base = sides.base.into_iter();
            base.filter_map(|(round, base)| {
                let candidate = sides.candidate.remove(&round)?;
                Some(Round {
                    base: base.samples,
                    candidate: candidate.samples,
                    led: candidate.led,
                    layout: candidate.layout,
                })
            })
            .collect()
        };
        let sides = self.sides.into_iter();
        sides.map(|(key, sides)| (key, both(sides))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::{BenchmarkKey, Nanos, ProcessUsage, Timestamp};

    #[test]
    fn looks_are_few_and_rounds_short_where_a_budget_is_small_for_its_benchmarks() {
        let looks = |rounds, seconds: Option<u64>, planned| {
            let effort = Effort {
                rounds,
                time_budget: seconds.map(Duration::from_secs),
                ..Effort::default()
            };
            let decision = DecisionSettings::default();
            let plan = plan(&decision, effort, planned, 1);
            (plan.looks, has_small_budget(effort, planned))
        };
        let little = (LOOKS_IN_SMALL_BUDGET.to_vec(), true);
        assert_eq!(looks(None, Some(60), 83), little);
        assert_eq!(looks(None, Some(2), 1), little);
        let usual = (Plan::looks_up_to(Plan::USUAL_ROUNDS), false);
        assert_eq!(looks(None, None, 83), usual);
        assert_eq!(looks(None, Some(60), 10), usual);
        assert_eq!(looks(None, Some(60), 1), (Plan::looks_up_to(937), false));
        // `--rounds` decides alone.
        let ten = (Plan::looks_up_to(10), false);
        assert_eq!(looks(Some(10), Some(60), 83), ten);
    }

    #[test]
    fn stolen_time_is_told_of_as_a_share_of_all_processors_where_it_is_much() {
        let head = |ordinal, stolen| ProcessHead {
            package: "p".into(),
            target: "t".into(),
            ordinal,
            attempt: 0,
            started: Timestamp(0),
            padding_bytes: 0,
            layout: None,
            harness: None,
            conduct: Some(ProcessUsage {
                threads: 1,
                cpu: Nanos(1),
                working_time: Nanos(1),
                stolen,
                ..ProcessUsage::default()
            }),
            failure: None,
        };
        let spent = [BenchmarkCost {
            ran_out_of_time: false,
            key: BenchmarkKey {
                package: "p".into(),
                target: "t".into(),
                id: "b".into(),
            },
            time: Duration::from_secs(10),
            is_together: true,
            skipped: None,
        }];
        let second = Some(Nanos(1_000_000_000));
        let two = [head(0, second), head(1, second)];
        let tenth = RunNote::Stolen { share: 0.1 };
        assert_eq!(remark_on_stolen_time(&two, &spent, 2), Some(tenth));
        assert_eq!(remark_on_stolen_time(&two, &spent, 64), None);
        assert_eq!(remark_on_stolen_time(&[head(0, None)], &spent, 2), None);
        assert_eq!(remark_on_stolen_time(&[], &[], 2), None);
    }
}
