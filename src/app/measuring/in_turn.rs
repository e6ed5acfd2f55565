//! Two builds measured in turn and stored as two runs that belong together: what runs, `bisect` and `doctor` have in common.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::counting::count_in_turn;
use super::measured::MeasuredInTurn;
use super::request::{Request, busy};
use crate::app::context::World;
use crate::app::error::AppError;
use crate::app::options::Effort;
use crate::app::stored::conclusions::end_of;
use crate::report::Progress;
use perfcheck_analysis::compare::{HostNoise, PairedSeries, Plan, standing};
use perfcheck_analysis::findings::{Conclusion, RoundsCost, RunRemark};
use perfcheck_analysis::model::{
    Acceptance, Benchmark, BenchmarkKey, Bound, BySide, DecisionSettings, Environment, Event,
    GitState, LaunchHead, LaunchRecord, NewRun, Observer, Partition, Purpose, RunEnd, RunId, Side,
    Silence, WarmUpGoal,
};
use perfcheck_engine::child::Launcher;
use perfcheck_engine::host;
use perfcheck_engine::measure::{
    Campaign, CampaignSink, Ended, PairedPlan, PairedTarget, RoundSettings, Spent, TimeLimit,
};
use perfcheck_engine::store::{Store, StoreError, WorkspaceId};

/// A round takes about so many times as long as its samples: launches, warm-up and lead-in.
const TIME_OVER_SAMPLES: f64 = 1.6;
/// Rounds at most, where the user gives a time.
const ROUNDS_WITH_BUDGET: u32 = 1000;
/// Where so many rounds do not fit into the time, it is little.
const ROUNDS_IN_LITTLE_TIME: u32 = 60;
/// When is looked then. Of a hundred benchmarks, fewer than 20 rounds can settle none at the level of a first look.
const LOOKS_IN_LITTLE_TIME: [u32; 5] = [20, 30, 60, 100, 200];
/// Time of the samples of a round, where there is so little: what differs between processes is averaged by rounds.
const SAMPLES_IN_LITTLE_TIME: Duration = Duration::from_millis(10);
/// A share of stolen time that is worth a word.
pub(in crate::app) const MUCH_STOLEN: f64 = 0.02;
/// Of each benchmark, the newest controls that count.
const MOST_CONTROLS: usize = 200;

/// The rounds that `planned` benchmarks can have in `time`, about. The level is spent over them, so far too many would leave hardly
/// any for those that come first.
fn fitting(time: Duration, planned: usize) -> u32 {
    let of_one = RoundSettings::default().time.as_f64() * TIME_OVER_SAMPLES;
    (time.as_secs_f64() * 1e9 / (of_one * planned.max(1) as f64)) as u32
}

/// Whether so little time is given that the looks that are usual would come too late.
fn is_little(effort: Effort, planned: usize) -> bool {
    let is_little = |time| fitting(time, planned) < ROUNDS_IN_LITTLE_TIME;
    effort.rounds.is_none() && effort.time_budget.is_some_and(is_little)
}

/// The cost of a benchmark's rounds.
fn cost_of_rounds(spent: Spent) -> (BenchmarkKey, RoundsCost) {
    let cost = RoundsCost {
        seconds: spent.time.as_secs_f64(),
        ran_out_of_time: spent.ran_out_of_time,
    };
    (spent.key, cost)
}

/// The plan of an A/B run with `planned` benchmarks, fixed before its first round.
pub(in crate::app) fn plan(
    decision: &DecisionSettings,
    effort: Effort,
    planned: usize,
    seed: u64,
) -> Plan {
    let in_time = |time| fitting(time, planned).clamp(Plan::USUAL_ROUNDS, ROUNDS_WITH_BUDGET);
    let usual = || effort.time_budget.map_or(Plan::USUAL_ROUNDS, in_time);
    Plan {
        looks: if is_little(effort, planned) {
            LOOKS_IN_LITTLE_TIME.to_vec()
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

/// A measurement of two builds.
pub(in crate::app) struct InTurn<'a> {
    pub(in crate::app) request: &'a Request<'a>,
    pub(in crate::app) environment: &'a Environment,
    pub(in crate::app) git: BySide<Option<GitState>>,
    pub(in crate::app) decision: DecisionSettings,
    pub(in crate::app) plan: Plan,
    /// How many times as long as the request says it may take.
    longer: u32,
    /// The names that both builds are kept under.
    pub(in crate::app) builds: BySide<Option<String>>,
    /// The earlier runs whose builds the base is.
    pub(in crate::app) earlier: BTreeMap<BenchmarkKey, RunId>,
    pub(in crate::app) purpose: Purpose,
    /// Which part of a suite this is, if it is one of several.
    pub(in crate::app) partition: Option<Partition>,
    /// The runs that it has begun.
    pub(in crate::app) begun: Option<BySide<RunId>>,
}

impl<'a> InTurn<'a> {
    /// A measurement of `planned` benchmarks against a base of this checkout.
    pub(in crate::app) fn of(
        request: &'a Request<'a>,
        environment: &'a Environment,
        base: Option<GitState>,
        planned: usize,
        purpose: Purpose,
    ) -> Self {
        let decision = request.decision_in_turn();
        Self {
            request,
            environment,
            git: BySide {
                base,
                candidate: request.git.clone(),
            },
            decision,
            plan: plan(&decision, request.effort, planned, request.seed),
            longer: 1,
            builds: BySide::default(),
            earlier: BTreeMap::new(),
            purpose,
            partition: None,
            begun: None,
        }
    }

    /// Gives it so many times the rounds and the time that the request says.
    pub(in crate::app) fn lengthen(&mut self, times: u32) {
        self.longer *= times;
        self.plan.looks.iter_mut().for_each(|look| *look *= times);
    }

    /// Measures `pairs`, counts instructions where that is wanted, and stores all of it; the two runs are left open, for the caller to say how they ended.
    pub(in crate::app) fn measure(
        &mut self,
        store: &mut Store,
        workspace: WorkspaceId,
        pairs: Vec<PairedTarget>,
        world: &mut World<'_>,
    ) -> Result<MeasuredInTurn, AppError> {
        if self.purpose != Purpose::Control {
            self.plan.noise = self.known_noise(store, workspace, &pairs)?;
        }
        let new_run = |git: &Option<GitState>, build: &Option<String>| NewRun {
            started: host::now(),
            git: git.clone(),
            environment: self.environment.clone(),
            load: self.request.load,
            seed: self.plan.seed,
            decision: self.decision,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            build: build.clone(),
            partition: self.partition.clone(),
        };
        let plan = serde_json::to_string(&self.plan).unwrap_or_default();
        let (base, candidate) = store.begin_pair(
            workspace,
            &new_run(&self.git.base, &self.builds.base),
            &new_run(&self.git.candidate, &self.builds.candidate),
            &plan,
            match self.partition {
                Some(_) => Purpose::Part,
                None => self.purpose,
            },
        )?;
        let runs = BySide { base, candidate };
        self.begun = Some(runs);
        let mut record = |side, launch: &_| store.record_launch(*runs.of(side), launch);
        let left = pair_left_incomplete(&runs);
        let to_count = pairs.clone();
        let (ended, spent) = self.campaign(pairs, &mut record, &left, world)?;
        if ended == Ended::Interrupted {
            return Err(AppError::Interrupted(left));
        }
        // Sides that were sampled in turn lived in the same moments: one tells.
        let mut heads = store.launches(candidate)?;
        if spent.iter().any(|spent| !spent.in_turn) {
            heads.extend(store.launches(base)?);
        }
        let apart = spent.iter().filter(|spent| !spent.in_turn);
        let apart: BTreeSet<BenchmarkKey> = apart.map(|spent| spent.key.clone()).collect();
        let cores = self.environment.host.cores;
        let read = |run| (world.interrupt).while_computing(&left, || store.measurements(run, None));
        let mut measured = MeasuredInTurn {
            remarks: skipped(&spent)
                .chain(much_stolen(&heads, &spent, cores))
                .collect(),
            runs,
            measured: BySide {
                base: read(base)?,
                candidate: read(candidate)?,
            },
            plan: self.plan.clone(),
            decision: self.decision,
            earlier: self.earlier.clone(),
            cost: spent.into_iter().map(cost_of_rounds).collect(),
        };
        count_in_turn(
            &mut measured,
            &to_count,
            &apart,
            self.request,
            &left,
            store,
            world,
        )?;
        Ok(measured)
    }

    /// What controls on a host like this one have shown of the benchmarks.
    fn known_noise(
        &self,
        store: &Store,
        workspace: WorkspaceId,
        pairs: &[PairedTarget],
    ) -> Result<BTreeMap<String, HostNoise>, StoreError> {
        let mut known = BTreeMap::new();
        for benchmark in pairs.iter().flat_map(|pair| &pair.benchmarks) {
            let changes = store.controls(workspace, benchmark, self.environment, MOST_CONTROLS)?;
            if let Some(noise) = HostNoise::of(&changes) {
                known.insert(benchmark.key.to_string(), noise);
            }
        }
        Ok(known)
    }

    /// The noise threshold of a benchmark: its own, else that of the run.
    pub(in crate::app) fn noise_threshold(&self, benchmark: &Benchmark) -> f64 {
        let layers = &self.request.context.tables.layers;
        let own = layers.resolve(benchmark).1;
        own.unwrap_or(self.decision.noise_threshold)
    }

    /// How long measuring `pairs` should take by its plan alone.
    pub(in crate::app) fn expected(
        &self,
        pairs: Vec<PairedTarget>,
        world: &World<'_>,
    ) -> (Duration, Bound) {
        let launcher = Launcher::new(
            world.supervisor,
            world.interrupt,
            &Silence,
            self.request.timeout,
        );
        self.planned(pairs, launcher).expected()
    }

    fn planned<'c>(&'c self, pairs: Vec<PairedTarget>, launcher: Launcher<'c>) -> Campaign<'c> {
        let effort = self.request.effort;
        let mut usual = RoundSettings::default();
        if is_little(effort, self.plan.planned) {
            usual.time = SAMPLES_IN_LITTLE_TIME.into();
            usual.short_time = usual.time;
        }
        let tables = &self.request.context.tables;
        let limit = effort.limit_per_benchmark(tables.workspace.time_per_benchmark);
        let warm_up = tables.layers.command_line.warm_up;
        let threshold = move |benchmark: &Benchmark| self.noise_threshold(benchmark);
        Campaign::in_turn(
            pairs,
            threshold,
            PairedPlan {
                rounds: self
                    .plan
                    .looks
                    .last()
                    .copied()
                    .unwrap_or(Plan::USUAL_ROUNDS),
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
                time_budget: effort.time_budget.map(|time| time * self.longer),
                time_per_benchmark: limit.map(|limit| TimeLimit {
                    time: limit.time * self.longer,
                    ..limit
                }),
                bind: true,
                seed: self.plan.seed,
            },
            launcher,
        )
    }

    /// Measures `pairs`; each launch goes to `record` as soon as its round has ended. `left`: what is left behind where this is interrupted
    /// between two rounds.
    pub(in crate::app) fn campaign(
        &self,
        mut pairs: Vec<PairedTarget>,
        record: &mut dyn FnMut(Side, &LaunchRecord) -> Result<(), StoreError>,
        left: &str,
        world: &mut World<'_>,
    ) -> Result<(Ended, Vec<Spent>), AppError> {
        if pairs.is_empty() {
            return Ok((Ended::Complete, Vec::new()));
        }
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        if let Some(warning) = busy(self.request.load, self.environment.host.cores) {
            progress.observe(&Event::Warning(&warning));
        }
        for pair in &mut pairs {
            self.request.instruct(&mut pair.targets.base);
            self.request.instruct(&mut pair.targets.candidate);
        }
        let campaign = self.planned(
            pairs,
            Launcher::new(
                world.supervisor,
                world.interrupt,
                &progress,
                self.request.timeout,
            ),
        );
        let mut sink = CampaignSink {
            record,
            standing: &mut |benchmark, noise_threshold, rounds| {
                let series = PairedSeries {
                    key: &benchmark.key,
                    metric: &benchmark.metric,
                    rounds,
                    noise_threshold,
                };
                let look = || standing(&series, &self.plan);
                let is_look = self.plan.looks.contains(&(rounds.len() as u32));
                is_look.then(|| world.interrupt.while_computing(left, look))
            },
        };
        Ok(campaign.run(&mut sink)?)
    }
}

/// Says what an interrupted pair of runs leaves behind.
pub(in crate::app) fn pair_left_incomplete(runs: &BySide<RunId>) -> String {
    let run = runs.candidate;
    format!("; run {run} is stored as incomplete with the rounds that had ended")
}

/// Ends both runs of a pair. The candidate may be accepted, the base is measured again for its sake alone.
pub(in crate::app) fn finish(
    store: &mut Store,
    runs: &BySide<RunId>,
    concluded: &Conclusion<'_>,
    acceptance: Acceptance,
) -> Result<(), StoreError> {
    let end = end_of(concluded, acceptance);
    let of_base = RunEnd {
        verdicts: Vec::new(),
        conclusion: None,
        ..end.clone()
    };
    store.finish_pair((runs.base, &of_base), (runs.candidate, &end))
}

/// The benchmarks that declined to be measured, by their reasons.
pub(in crate::app) fn skipped(spent: &[Spent]) -> impl Iterator<Item = RunRemark> + use<> {
    let mut skipped: BTreeMap<String, Vec<BenchmarkKey>> = BTreeMap::new();
    for one in spent {
        if let Some(reason) = &one.skipped {
            let benchmarks = skipped.entry(reason.clone()).or_default();
            benchmarks.push(one.key.clone());
        }
    }
    let skipped = skipped.into_iter();
    skipped.map(|(reason, benchmarks)| RunRemark::Skipped { benchmarks, reason })
}

/// How much of the processors' time a hypervisor gave to others, where that is much.
fn much_stolen(heads: &[LaunchHead], spent: &[Spent], cores: u32) -> Option<RunRemark> {
    let conducts = heads.iter().filter_map(|head| head.conduct);
    let stolen: u64 = conducts.filter_map(|found| found.stolen).map(|t| t.0).sum();
    let time: Duration = spent.iter().map(|spent| spent.time).sum();
    let share = stolen as f64 / (time.as_nanos() as f64 * f64::from(cores.max(1)));
    (share >= MUCH_STOLEN).then_some(RunRemark::Stolen { share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::{BenchmarkKey, Conduct, Nanos, Timestamp};

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
            (plan.looks, is_little(effort, planned))
        };
        let little = (LOOKS_IN_LITTLE_TIME.to_vec(), true);
        assert_eq!(looks(None, Some(60), 83), little);
        assert_eq!(looks(None, Some(2), 1), little);
        let usual = (Plan::looks_up_to(Plan::USUAL_ROUNDS), false);
        assert_eq!(looks(None, None, 83), usual);
        assert_eq!(looks(None, Some(60), 10), usual);
        assert_eq!(looks(None, Some(60), 1), (Plan::looks_up_to(937), false));
        // Who says how many rounds has them.
        let ten = (Plan::looks_up_to(10), false);
        assert_eq!(looks(Some(10), Some(60), 83), ten);
    }

    #[test]
    fn stolen_time_is_told_of_as_a_share_of_all_processors_where_it_is_much() {
        let head = |ordinal, stolen| LaunchHead {
            package: "p".into(),
            target: "t".into(),
            ordinal,
            attempt: 0,
            started: Timestamp(0),
            padding_bytes: 0,
            layout: None,
            harness: None,
            conduct: Some(Conduct {
                threads: 1,
                cpu: Nanos(1),
                asked: Nanos(1),
                involuntary_switches: 0,
                stolen,
                processor: None,
                control: None,
            }),
            failure: None,
        };
        let spent = [Spent {
            ran_out_of_time: false,
            key: BenchmarkKey {
                package: "p".into(),
                target: "t".into(),
                id: "b".into(),
            },
            time: Duration::from_secs(10),
            in_turn: true,
            skipped: None,
        }];
        let second = Some(Nanos(1_000_000_000));
        let two = [head(0, second), head(1, second)];
        let tenth = RunRemark::Stolen { share: 0.1 };
        assert_eq!(much_stolen(&two, &spent, 2), Some(tenth));
        assert_eq!(much_stolen(&two, &spent, 64), None);
        assert_eq!(much_stolen(&[head(0, None)], &spent, 2), None);
        assert_eq!(much_stolen(&[], &[], 2), None);
    }
}
