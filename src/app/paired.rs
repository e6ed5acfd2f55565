//! Two builds measured in turn and stored as two runs that belong together: what `--against`, the confirmation of hits, `bisect`
//! and `self-test` have in common.

use std::collections::BTreeMap;
use std::time::Duration;

use super::context::{Context, World};
use super::error::AppError;
use super::findings::summarize_all;
use super::kept::{Watch, drain};
use super::options::{ComparisonOptions, Effort};
use super::pairing::Settled;
use super::run::busy;
use crate::compare::{Comparison, HostNoise, PairedSeries, Plan, Standing, judge, standing};
use crate::exit_code::ExitCode;
use crate::findings::Row;
use crate::host;
use crate::measure::{
    Ended, PairedCampaign, PairedPlan, PairedSink, PairedTarget, RoundSettings, Spent,
};
use crate::model::{
    Acceptance, Benchmark, BenchmarkKey, BySide, DecisionSettings, Environment, Event, GitState,
    LaunchHead, LaunchRecord, Measurement, NewRun, Observer, Purpose, Round, RunEnd, RunId,
    RunVerdict, Sample, Side, Subject, Tally, Verdict,
};
use crate::report::Progress;
use crate::store::{Store, StoreError, WorkspaceId};

/// A benchmark that failed and has fewer whole rounds than this has no verdict.
const FEWEST_ROUNDS: usize = 5;
/// Rounds at most, where the user says nothing.
const ROUNDS: u32 = 100;
/// A round takes about so many times as long as its samples: launches, warm-up and lead-in.
const TIME_OVER_SAMPLES: f64 = 1.6;
/// Rounds at most, where the user gives a time.
const ROUNDS_WITH_BUDGET: u32 = 1000;
/// A share of stolen time that is worth a word.
const MUCH_STOLEN: f64 = 0.02;
/// Of each benchmark, the newest controls that count.
const MOST_CONTROLS: usize = 200;

/// The rounds that `planned` benchmarks can have in `time`, about. The level is spent over them, so far too many would leave hardly
/// any for those that come first.
fn fitting(time: Duration, planned: usize) -> u32 {
    let of_one = RoundSettings::default().time.as_f64() * TIME_OVER_SAMPLES;
    let rounds = time.as_secs_f64() * 1e9 / (of_one * planned.max(1) as f64);
    (rounds as u32).clamp(ROUNDS, ROUNDS_WITH_BUDGET)
}

/// The plan of an A/B run with `planned` benchmarks, fixed before its first round.
pub(super) fn plan(decision: &DecisionSettings, effort: Effort, planned: usize, seed: u64) -> Plan {
    let usual = || {
        let budget = effort.time_budget;
        budget.map_or(ROUNDS, |time| fitting(time, planned))
    };
    let rounds = effort.rounds.unwrap_or_else(usual);
    Plan {
        looks: Plan::looks_up_to(rounds),
        significance_level: decision.significance_level,
        planned,
        confidence_level: decision.confidence_level,
        resamples: decision.resamples,
        seed,
        noise: BTreeMap::new(),
    }
}

/// The settings of an A/B decision.
pub(super) fn paired_decision(
    comparison: &ComparisonOptions,
    context: &Context,
) -> DecisionSettings {
    let mut decision = comparison.decision(&context.tables.workspace);
    if comparison.noise_threshold.is_none() {
        decision.noise_threshold = DecisionSettings::PAIRED_NOISE_THRESHOLD;
    }
    decision
}

/// A measurement of two builds.
pub(super) struct PairedRun<'a> {
    pub(super) context: &'a Context,
    pub(super) environment: &'a Environment,
    pub(super) git: BySide<Option<GitState>>,
    pub(super) decision: DecisionSettings,
    pub(super) plan: Plan,
    pub(super) effort: Effort,
    /// How long a costly benchmark may take, if that is limited.
    pub(super) patience: Option<Duration>,
    /// What the candidate opens, where that is to be known.
    pub(super) watches: Vec<Watch>,
    /// The part of every deadline that does not depend on the request.
    pub(super) timeout: Duration,
    pub(super) load: Option<f64>,
    pub(super) purpose: Purpose,
}

/// What it gave.
pub(super) struct Paired {
    pub(super) runs: BySide<RunId>,
    pub(super) measured: BySide<Vec<Measurement>>,
    pub(super) comparisons: BTreeMap<BenchmarkKey, Comparison>,
    pub(super) spent: Vec<Spent>,
    /// What was noticed of the host meanwhile.
    pub(super) remark: Option<String>,
}

impl Paired {
    /// Makes the verdicts those about `subject`.
    pub(super) fn about(&mut self, subject: Subject, decision: &DecisionSettings) {
        let (keys, mut comparisons): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.comparisons).into_iter().unzip();
        Comparison::about(&mut comparisons, subject, decision);
        self.comparisons = keys.into_iter().zip(comparisons).collect();
    }
}

impl PairedRun<'_> {
    /// Measures `pairs` and stores every round; the two runs are left open, for the caller to say how they ended.
    pub(super) fn measure(
        &mut self,
        store: &mut Store,
        workspace: WorkspaceId,
        pairs: Vec<PairedTarget>,
        world: &mut World<'_>,
    ) -> Result<Paired, AppError> {
        if self.purpose != Purpose::Control {
            self.plan.noise = self.known_noise(store, workspace, &pairs)?;
        }
        let candidate_run = |git: &Option<GitState>| NewRun {
            started: host::now(),
            git: git.clone(),
            environment: self.environment.clone(),
            load: self.load,
            seed: self.plan.seed,
            decision: self.decision,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let plan = serde_json::to_string(&self.plan).unwrap_or_default();
        let (base, candidate) = store.begin_pair(
            workspace,
            &candidate_run(&self.git.base),
            &candidate_run(&self.git.candidate),
            &plan,
            self.purpose,
        )?;
        let runs = BySide { base, candidate };
        let mut watches = std::mem::take(&mut self.watches);
        let mut record = |side, launch: &_| {
            drain(&mut watches);
            store.record_launch(*runs.of(side), launch)
        };
        let (ended, spent) = self.campaign(pairs, &mut record, world)?;
        self.watches = watches;
        if ended == Ended::Interrupted {
            return Err(AppError::Interrupted(format!(
                "; runs {base} and {candidate} are stored as incomplete with the rounds that had ended"
            )));
        }
        let measured = BySide {
            base: store.measurements(base, None)?,
            candidate: store.measurements(candidate, None)?,
        };
        let comparisons = judged(&measured, &self.plan);
        // Sides that were sampled in turn lived in the same moments: one tells.
        let mut heads = store.launches(candidate)?;
        if spent.iter().any(|spent| !spent.in_turn) {
            heads.extend(store.launches(base)?);
        }
        let cores = self.environment.host.cores;
        let mut paired = Paired {
            remark: stolen_in_words(&heads, &spent, cores),
            runs,
            measured,
            comparisons,
            spent,
        };
        paired.about(self.decision.analysis.subject, &self.decision);
        Ok(paired)
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
    pub(super) fn noise_threshold(&self, benchmark: &Benchmark) -> f64 {
        let layers = &self.context.tables.layers;
        let own = layers.resolve(benchmark).1;
        own.unwrap_or(self.decision.noise_threshold)
    }

    /// Measures `pairs`; each launch goes to `record` as soon as its round has ended.
    pub(super) fn campaign(
        &self,
        pairs: Vec<PairedTarget>,
        record: &mut dyn FnMut(Side, &LaunchRecord) -> Result<(), StoreError>,
        world: &mut World<'_>,
    ) -> Result<(Ended, Vec<Spent>), AppError> {
        if pairs.is_empty() {
            return Ok((Ended::Complete, Vec::new()));
        }
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        let cores = self.environment.host.cores;
        if let Some(warning) = self.load.and_then(|load| busy(load, cores)) {
            progress.observe(&Event::Warning(&warning));
        }
        let threshold = |benchmark: &Benchmark| self.noise_threshold(benchmark);
        let campaign = PairedCampaign::plan(
            pairs,
            threshold,
            PairedPlan {
                rounds: self.plan.looks.last().copied().unwrap_or(ROUNDS),
                round: RoundSettings {
                    warm_up: self
                        .context
                        .tables
                        .layers
                        .command_line
                        .warm_up
                        .unwrap_or(RoundSettings::default().warm_up),
                    ..RoundSettings::default()
                },
                time_budget: self.effort.time_budget,
                patience: self.patience,
                bind: true,
                seed: self.plan.seed,
                timeout: self.timeout,
            },
            world.supervisor,
            world.interrupt,
            &progress,
        );
        let mut sink = PairedSink {
            record,
            settled: &mut |key, noise_threshold, rounds| {
                let series = PairedSeries {
                    key,
                    rounds,
                    noise_threshold,
                };
                self.plan.looks.contains(&(rounds.len() as u32))
                    && standing(&series, &self.plan) != Standing::Open
            },
        };
        Ok(campaign.run(&mut sink)?)
    }
}

/// Ends both runs of a pair. Neither is a reference for stored runs: they sample in another way.
pub(super) fn finish(
    store: &mut Store,
    runs: &BySide<RunId>,
    exit_code: ExitCode,
    verdicts: Vec<RunVerdict>,
) -> Result<(), StoreError> {
    let end = |verdicts| RunEnd {
        finished: host::now(),
        acceptance: Acceptance::Pending,
        exit_code: exit_code.number(),
        verdicts,
    };
    store.finish_pair(
        (runs.base, &end(Vec::new())),
        (runs.candidate, &end(verdicts)),
    )
}

/// Rows of what was measured and of what needed no measurement, by key.
pub(super) fn paired_rows<'m>(
    found: &'m Paired,
    settled: &[Settled],
    decision: &DecisionSettings,
    seed: u64,
) -> Vec<Row<'m>> {
    let measured = &found.measured.candidate;
    let summaries = summarize_all(measured, decision, seed);
    let mut rows: Vec<Row<'m>> = measured
        .iter()
        .zip(summaries)
        .map(|(measurement, summary)| {
            let key = &measurement.benchmark.key;
            let comparison = found.comparisons.get(key).cloned();
            let spent = found.spent.iter().find(|spent| spent.key == *key);
            Row {
                key: key.clone(),
                measurement: Some(measurement),
                summary,
                verdict: Some(match &comparison {
                    Some(found)
                        if measurement.failures.is_empty()
                            || found.extent.launches_candidate() >= FEWEST_ROUNDS =>
                    {
                        found.verdict
                    }
                    _ => Verdict::Failed,
                }),
                comparison,
                reference: vec![found.runs.base],
                blocking: Vec::new(),
                seconds: spent.map(|spent| spent.time.as_secs_f64()),
                remarks: settling(found.comparisons.get(key)).into_iter().collect(),
            }
        })
        .collect();
    rows.extend(settled.iter().map(|settled| Row {
        remarks: settled.remark.iter().cloned().collect(),
        ..Row::unmeasured(settled.key.clone(), settled.verdict, found.runs.base)
    }));
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    rows
}

/// The exit code that the rows of an A/B run deserve, and their verdicts counted.
pub(super) fn verdict_of(rows: &[Row<'_>], fail_on: &[Verdict]) -> (ExitCode, Tally) {
    let tally: Tally = rows.iter().filter_map(|row| row.verdict).collect();
    (ExitCode::of_verdicts(&tally, fail_on, true), tally)
}

/// What would settle an inconclusive comparison.
pub(super) fn settling(comparison: Option<&Comparison>) -> Option<String> {
    let needed = comparison?.look()?.rounds_needed?;
    Some(format!(
        "about {needed} rounds in all would settle it (`--rounds {needed}`)"
    ))
}

/// The comparison of each benchmark that both sides have measured in whole rounds.
pub(super) fn judged<'m>(
    measured: &'m BySide<Vec<Measurement>>,
    plan: &Plan,
) -> BTreeMap<BenchmarkKey, Comparison> {
    let mut keys = Vec::new();
    for candidate in &measured.candidate {
        let key = &candidate.benchmark.key;
        let base = measured.base.iter().find(|base| base.benchmark.key == *key);
        let rounds = base.map_or_else(Vec::new, |base| rounds(base, candidate));
        if !rounds.is_empty() {
            keys.push((key, rounds, candidate.noise_threshold));
        }
    }
    let all_series: Vec<PairedSeries<'_>> = keys
        .iter()
        .map(|(key, rounds, noise_threshold)| PairedSeries {
            key,
            rounds,
            noise_threshold: *noise_threshold,
        })
        .collect();
    let comparisons = judge(&all_series, plan).into_iter();
    all_series
        .iter()
        .zip(comparisons)
        .map(|(series, comparison)| {
            let of = |side: &'m [Measurement]| {
                side.iter().find(|found| found.benchmark.key == *series.key)
            };
            let comparison = match (of(&measured.base), of(&measured.candidate)) {
                (Some(base), Some(candidate)) => comparison.beside_in_turn(base, candidate, plan),
                _ => comparison,
            };
            (series.key.clone(), comparison)
        })
        .collect()
}

/// How much of the processors' time a hypervisor gave to others, where that is much.
fn stolen_in_words(heads: &[LaunchHead], spent: &[Spent], cores: u32) -> Option<String> {
    let conducts = heads.iter().filter_map(|head| head.conduct);
    let stolen: u64 = conducts.filter_map(|found| found.stolen).map(|t| t.0).sum();
    let time: Duration = spent.iter().map(|spent| spent.time).sum();
    let share = stolen as f64 / (time.as_nanos() as f64 * f64::from(cores.max(1)));
    (share >= MUCH_STOLEN).then(|| {
        format!(
            "the hypervisor gave {:.0} % of the processors' time to others meanwhile: intervals are wider for that",
            share * 100.0
        )
    })
}

/// The rounds that both sides have.
fn rounds(base: &Measurement, candidate: &Measurement) -> Vec<Round> {
    let mut of_base: BTreeMap<u32, Vec<Sample>> = base
        .launches
        .iter()
        .map(|launch| (launch.launch, launch.series.alike()))
        .collect();
    candidate
        .launches
        .iter()
        .filter_map(|launch| {
            Some(Round {
                base: of_base.remove(&launch.launch)?,
                candidate: launch.series.alike(),
                led: launch.beside.led.clone(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Conduct, Nanos, Timestamp};

    #[test]
    fn stolen_time_is_told_of_as_a_share_of_all_processors_where_it_is_much() {
        let head = |ordinal, stolen| LaunchHead {
            package: "p".into(),
            target: "t".into(),
            ordinal,
            attempt: 0,
            started: Timestamp(0),
            padding_bytes: 0,
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
            key: BenchmarkKey {
                package: "p".into(),
                target: "t".into(),
                id: "b".into(),
            },
            time: Duration::from_secs(10),
            in_turn: true,
        }];
        let second = Some(Nanos(1_000_000_000));
        let two = [head(0, second), head(1, second)];
        let words = stolen_in_words(&two, &spent, 2).expect("a tenth");
        assert!(words.contains("10 %"), "{words}");
        assert_eq!(stolen_in_words(&two, &spent, 64), None);
        assert_eq!(stolen_in_words(&[head(0, None)], &spent, 2), None);
        assert_eq!(stolen_in_words(&[], &[], 2), None);
    }
}
