//! Reads the files of the shards, checks that the shards belong together, and combines them into one run with a head, a plan, processes and notes.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::AppError;
use crate::interchange::{
    ExchangeError, InputContent, PortableConclusion, PortableHead, PortableRun, read_portable,
};
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::findings::{FailedTarget, RoundsCost, Row, RunNote};
use perfcheck_analysis::model::{
    BenchmarkInProcess, BenchmarkKey, BySide, CountedBenchmark, Environment, GitState, NewRun,
    ProcessRecord, ProgressReporter, RequestedReference, Shard, ShardId, Side,
};

/// A shard as measured by one job.
pub(super) struct MeasuredShard<'a> {
    /// Name of the file that contains the shard.
    file: &'a str,
    /// The run, or the candidate of a side-by-side measurement.
    pub(super) run: PortableRun,
    /// The base and the plan of a side-by-side measurement.
    pub(super) base: Option<MeasuredBase>,
    /// Which part of the suite the shard is, and what its job was asked to measure.
    pub(super) partition: Shard,
    /// The conclusion of the job that measured the shard.
    pub(super) concluded: PortableConclusion,
}

/// The base of a side-by-side measurement, with the plan of that measurement.
pub(super) struct MeasuredBase {
    pub(super) run: PortableRun,
    plan: Plan,
}

/// At least one shard of a suite, sorted by number.
pub(super) struct ShardedSuite<'a> {
    pub(super) parts: Vec<MeasuredShard<'a>>,
    /// The shards of the suite that no file contains.
    pub(super) missing: Vec<ShardId>,
}

impl<'a> MeasuredShard<'a> {
    /// Makes a shard from the runs of the file `name`. Fails unless the file contains one run that was measured with `--partition`, or both sides of
    /// one side-by-side measurement with `--partition`.
    fn from_runs(name: &'a str, mut runs: Vec<PortableRun>) -> Result<Self, AppError> {
        let is_pair = runs.len() == 2 && runs[0].head.pair.is_some();
        let (Some(mut run), true) = (runs.pop(), runs.is_empty() || is_pair) else {
            return Err(AppError::Usage(format!(
                "{name} must contain exactly one run\n  help: in the job of each part: cargo perfcheck store export latest --output {name}"
            )));
        };
        let Some(partition) = run.head.begun.partition.clone() else {
            return Err(AppError::Usage(format!(
                "{name} is not a part of a suite: its run was measured without `--partition`\n  help: use `cargo perfcheck store import` for whole runs"
            )));
        };
        let (ours, theirs) = (env!("CARGO_PKG_VERSION"), &run.head.begun.tool_version);
        if theirs != ours {
            return Err(AppError::Usage(format!(
                "{name} was measured by cargo-perfcheck {theirs}, but this is {ours}, which may decide differently\n  help: use the version of cargo perfcheck that measured the parts"
            )));
        }
        let damaged = |reason: &str| ExchangeError::Broken {
            place: name.to_owned(),
            reason: reason.to_owned(),
        };
        let plan = (run.head.plan.as_deref()).map(serde_json::from_str);
        let plan = plan.transpose();
        let plan = plan.map_err(|error| damaged(&format!("its plan cannot be read: {error}")))?;
        let concluded = run.conclusion.take();
        Ok(Self {
            file: name,
            base: (runs.pop().zip(plan)).map(|(run, plan)| MeasuredBase { run, plan }),
            concluded: concluded.ok_or_else(|| damaged("the run's final record is missing"))?,
            partition,
            run,
        })
    }

    pub(super) fn part(&self) -> ShardId {
        self.partition.part
    }

    pub(super) fn head(&self) -> &PortableHead {
        &self.run.head
    }

    pub(super) fn environment(&self) -> &Environment {
        &self.head().begun.environment
    }

    /// Returns the git states from which both sides were built. Without a base, only the candidate has one.
    pub(super) fn git(&self) -> BySide<Option<&GitState>> {
        let base = self.base.as_ref();
        BySide {
            base: base.and_then(|base| base.run.head.begun.git.as_ref()),
            candidate: self.head().begun.git.as_ref(),
        }
    }

    fn benchmarks(&self) -> impl Iterator<Item = &BenchmarkInProcess> {
        let processes = self.run.processes.iter();
        processes.flat_map(|process| &process.benchmarks)
    }

    /// Returns the benchmarks that the shard's processes ran.
    pub(super) fn measured(&self) -> BTreeSet<&BenchmarkKey> {
        self.benchmarks().map(|one| &one.benchmark.key).collect()
    }

    /// Returns the features of the bench targets that the shard's processes ran.
    fn features(&self) -> BTreeMap<(&str, &str), &[String]> {
        let processes = self.run.processes.iter();
        let facts = processes.map(|process| {
            let target = (&*process.head.package, &*process.head.target);
            (target, &process.target_facts.features[..])
        });
        facts.collect()
    }

    /// Returns the first difference from `other` in settings that shards must share, with the values of `other` and of this shard.
    fn find_difference(&self, other: &Self) -> Option<(&'static str, [String; 2])> {
        let differ = |what, of: &dyn Fn(&Self) -> String| {
            let both = [of(other), of(self)];
            (both[0] != both[1]).then_some((what, both))
        };
        let commit = |git: Option<&GitState>| match git {
            Some(git) if git.dirty => format!("{} with uncommitted changes", git.commit),
            Some(git) => git.commit.clone(),
            None => "none".to_owned(),
        };
        let plan = |part: &Self| {
            part.base.as_ref().map(|base| Plan {
                seed: 0,
                seeds: BTreeMap::new(),
                noise: BTreeMap::new(),
                ..base.plan.clone()
            })
        };
        differ("number of parts", &|part| part.part().of.to_string())
            .or_else(|| {
                differ("suite", &|part| {
                    let Shard {
                        benchmarks, suite, ..
                    } = &part.partition;
                    format!("{benchmarks} benchmarks ({})", &suite[..suite.len().min(8)])
                })
            })
            .or_else(|| differ("commit", &|part| commit(part.git().candidate)))
            .or_else(|| differ("reference commit", &|part| commit(part.git().base)))
            .or_else(|| {
                differ("measuring method", &|part| match &part.base {
                    Some(_) => "side by side".to_owned(),
                    None => "alone".to_owned(),
                })
            })
            .or_else(|| differ("arguments", &|part| describe_request(&part.partition)))
            .or_else(|| differ("build", &|part| format_facts(&part.environment().build)))
            .or_else(|| differ("plan", &|part| format_facts(&plan(part))))
            .or_else(|| {
                differ("settings", &|part| {
                    format_facts(&part.head().begun.decision)
                })
            })
            .or_else(|| {
                let (mine, others) = (self.features(), other.features());
                let mut both = mine.iter().filter_map(|(target, features)| {
                    let other = others.get(target)?;
                    (features != other).then(|| [other, features].map(|one| one.join(", ")))
                });
                Some(("features", both.next()?))
            })
    }
}

/// Describes which comparison was requested and for which benchmarks, to show how the requests of two shards differ.
fn describe_request(partition: &Shard) -> String {
    let reference = match &partition.reference {
        RequestedReference::Beside => "side by side with another build".to_owned(),
        RequestedReference::Named(name) => format!("against `{name}`"),
        RequestedReference::Accepted => "against the last accepted run".to_owned(),
    };
    let control = if partition.control {
        ", identical executables"
    } else {
        ""
    };
    let exact = if partition.exact { " --exact" } else { "" };
    let filter = partition.filter.join(" ");
    format!("{reference}{control}, filter `{filter}`{exact}")
}

/// Formats facts or settings with their names.
fn format_facts(facts: &impl Serialize) -> String {
    serde_json::to_string(facts).unwrap_or_default()
}

impl<'a> ShardedSuite<'a> {
    /// Reads the shards and checks that they belong to one suite and that none occurs twice.
    pub(super) fn read(
        files: &'a [InputContent],
        progress: &ProgressReporter<'_>,
    ) -> Result<Self, AppError> {
        let bytes = files.iter().map(|file| file.bytes.len()).sum();
        let mut before = 0;
        let mut parts = Vec::new();
        for file in files {
            let runs = read_portable(file, (before, bytes), progress)?;
            parts.push(MeasuredShard::from_runs(&file.name, runs)?);
            before += file.bytes.len();
        }
        parts.sort_by_key(MeasuredShard::part);
        for pair in parts.windows(2) {
            pair[1].check(&pair[0])?;
        }
        let mut owners = BTreeMap::new();
        for part in &parts {
            for verdict in &part.run.verdicts {
                let key = &verdict.benchmark;
                if let Some(other) = owners.insert(key, part.file) {
                    return Err(AppError::Usage(format!(
                        "`{key}` is in both {other} and {}, but belongs in one part only",
                        part.file
                    )));
                }
            }
        }
        let all = parts.first().map_or(0, |part| part.part().of);
        let missing = (1..=all).map(|part| ShardId { part, of: all });
        let is_there = |part: &ShardId| parts.iter().any(|found| found.part() == *part);
        let missing = missing.filter(|part| !is_there(part)).collect();
        Ok(Self { parts, missing })
    }

    /// Returns the first shard. All shards share its settings.
    pub(super) fn first(&self) -> &MeasuredShard<'a> {
        &self.parts[0]
    }
}

impl MeasuredShard<'_> {
    /// Refuses this shard if it belongs to another suite than `before`, or if both are the same part.
    fn check(&self, before: &Self) -> Result<(), AppError> {
        let (file, other, part) = (self.file, before.file, self.part());
        if let Some((what, [there, here])) = self.find_difference(before) {
            return Err(AppError::Usage(format!(
                "{other} (part {}) and {file} (part {part}) do not belong together: they differ in their {what}: {there}; {here}\n  help: merge only files from one pipeline, whose jobs measure the same commits with the same arguments, except for K in `--partition K/N`",
                before.part()
            )));
        }
        if part == before.part() {
            return Err(AppError::Usage(format!(
                "part {part} is in both {other} and {file}\n  help: leave out one of them"
            )));
        }
        Ok(())
    }
}

impl ShardedSuite<'_> {
    /// Builds the head of the merged run from the head of the first shard. It begins at the earliest start of all shards and has their combined
    /// environment.
    pub(super) fn begun_run(&self, side: Side) -> NewRun {
        let first = self.first();
        let git = first.git();
        let loads = self.parts.iter().filter_map(|part| part.head().begun.load);
        let starts = self.parts.iter().map(|part| part.head().begun.started);
        let begun = first.head().begun.clone();
        NewRun {
            started: starts.min().unwrap_or(begun.started),
            git: git.get(side).cloned(),
            environment: self.environment(),
            load: loads.reduce(f64::max),
            partition: None,
            ..begun
        }
    }

    /// Combines the environments of the shards. Different hosts are combined into a host name that no other run has, so that other runs are not
    /// compared with these numbers.
    fn environment(&self) -> Environment {
        let mut environment = self.first().environment().clone();
        let hosts = || self.parts.iter().map(|part| &part.environment().host);
        let together = |names: BTreeSet<&String>| -> String {
            let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
            names.join(" + ")
        };
        environment.host.cpu = together(hosts().map(|host| &host.cpu).collect());
        environment.host.kernel = together(hosts().map(|host| &host.kernel).collect());
        environment.host.shared = Some(hosts().any(|host| host.shared != Some(false)));
        environment
    }

    /// Combines the plans that the shards had for their side-by-side measurements. Each benchmark keeps the seed and the noise of the host that
    /// measured it.
    pub(super) fn plan(&self) -> Option<Plan> {
        let first = self.first().base.as_ref()?;
        let mut whole = first.plan.clone();
        for part in &self.parts {
            let Some(MeasuredBase { plan, .. }) = &part.base else {
                continue;
            };
            whole.noise.extend(plan.noise.clone());
            whole.seeds.extend(plan.seeds.clone());
            if plan.seed != whole.seed {
                let measured = part.measured().into_iter();
                let seeds = measured.map(|key| (key.to_string(), plan.seed));
                whole.seeds.extend(seeds);
            }
        }
        Some(whole)
    }

    fn sides(&self, side: Side) -> impl Iterator<Item = &PortableRun> {
        self.parts.iter().filter_map(move |part| match side {
            Side::Base => part.base.as_ref().map(|base| &base.run),
            Side::Candidate => Some(&part.run),
        })
    }

    /// Returns all processes of a side. Each shard numbered its attempts from the start, so the attempts of a bench target in the same round are
    /// renumbered.
    pub(super) fn processes(&self, side: Side) -> Vec<ProcessRecord> {
        let mut attempts: BTreeMap<(String, String, u32), u32> = BTreeMap::new();
        let processes = self.sides(side).flat_map(|run| &run.processes).cloned();
        let counted = processes.map(|mut process| {
            let head = &mut process.head;
            let place = (head.package.clone(), head.target.clone(), head.ordinal);
            let attempt = attempts.entry(place).or_default();
            head.attempt = *attempt;
            *attempt += 1;
            process
        });
        counted.collect()
    }

    pub(super) fn counted(&self, side: Side) -> Vec<CountedBenchmark> {
        let counted = self.sides(side).flat_map(|run| &run.counted);
        counted.cloned().collect()
    }

    fn rows(&self) -> impl Iterator<Item = &Row<'static>> {
        let concluded = self.parts.iter().map(|part| &part.concluded.concluded);
        concluded.flat_map(|concluded| &concluded.rows)
    }

    /// Returns the rows of the benchmarks that got a verdict without being measured.
    pub(super) fn settled(&self) -> Vec<Row<'static>> {
        let parts = self.parts.iter();
        let measured: BTreeSet<&BenchmarkKey> = parts.flat_map(MeasuredShard::measured).collect();
        let settled = self.rows().filter(|row| !measured.contains(&row.key));
        settled.cloned().collect()
    }

    /// Returns for each benchmark how long its rounds took, and whether the time budget ended them.
    pub(super) fn cost_of_rounds(&self) -> BTreeMap<BenchmarkKey, RoundsCost> {
        let cost = |row: &Row<'_>| {
            let cost = RoundsCost {
                seconds: row.seconds?,
                ran_out_of_time: row.ran_out_of_time(),
            };
            Some((row.key.clone(), cost))
        };
        self.rows().filter_map(cost).collect()
    }

    /// Returns the bench targets that failed in any shard, each once.
    pub(super) fn failed_targets(&self) -> Vec<FailedTarget> {
        let concluded = self.parts.iter().map(|part| &part.concluded.concluded);
        let mut failed: Vec<FailedTarget> = Vec::new();
        for one in concluded.flat_map(|concluded| &concluded.failed_targets) {
            let same = |known: &FailedTarget| known.key() == one.key();
            if !failed.iter().any(same) {
                failed.push(one.clone());
            }
        }
        failed
    }

    /// Describes the references that the shards were compared with.
    pub(super) fn reference(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        for part in &self.parts {
            let reference = &*part.concluded.concluded.verdicts.reference;
            if !words.contains(&reference) {
                words.push(reference);
            }
        }
        words.join(", ")
    }

    /// Returns the notes on the whole suite: those of each shard, without duplicates, and those that only the combination reveals.
    pub(super) fn remarks(&self) -> Vec<RunNote> {
        let mut all: Vec<RunNote> = Vec::new();
        for part in &self.parts {
            let verdicts = &part.concluded.concluded.verdicts;
            for remark in &verdicts.remarks {
                merge_note(&mut all, remark);
            }
            for size in &verdicts.sizes {
                merge_note(&mut all, &RunNote::Size(Box::new(size.clone())));
            }
        }
        let missing = (!self.missing.is_empty()).then(|| RunNote::PartsMissing {
            parts: self.missing.clone(),
        });
        missing
            .into_iter()
            .chain(self.host_note())
            .chain(all)
            .collect()
    }

    /// Returns a note if the shards were measured on different hosts.
    fn host_note(&self) -> Option<RunNote> {
        let mut hosts: Vec<(String, Vec<ShardId>)> = Vec::new();
        for part in &self.parts {
            let host = &part.environment().host;
            let cores = host.cores;
            let words = format!("{}, {cores} cores, {} {}", host.cpu, host.os, host.kernel);
            match hosts.iter_mut().find(|(known, _)| *known == words) {
                Some((_, parts)) => parts.push(part.part()),
                None => hosts.push((words, vec![part.part()])),
            }
        }
        (hosts.len() > 1).then_some(RunNote::HostsDiffer { hosts })
    }
}

/// Merges a shard's note into the notes of the other shards.
fn merge_note(all: &mut Vec<RunNote>, remark: &RunNote) {
    for known in all.iter_mut() {
        match (known, remark) {
            (
                RunNote::Skipped { benchmarks, reason },
                RunNote::Skipped {
                    benchmarks: more,
                    reason: why,
                },
            )
            | (
                RunNote::NotCounted { benchmarks, reason },
                RunNote::NotCounted {
                    benchmarks: more,
                    reason: why,
                },
            )
            | (
                RunNote::NotSampled { benchmarks, reason },
                RunNote::NotSampled {
                    benchmarks: more,
                    reason: why,
                },
            ) if reason == why => {
                benchmarks.extend(more.clone());
                benchmarks.sort();
                return;
            }
            (RunNote::Stolen { share }, RunNote::Stolen { share: other }) => {
                *share = share.max(*other);
                return;
            }
            (RunNote::CodeDiffers(known), RunNote::CodeDiffers(other))
                if known.builds() == other.builds() =>
            {
                return;
            }
            (RunNote::Size(known), RunNote::Size(other))
                if (&known.package, &known.target, known.reference)
                    == (&other.package, &other.target, other.reference) =>
            {
                return;
            }
            _ => {}
        }
    }
    // Drop the note `SmallChanges`, because small changes are detected again for the whole suite.
    if !all.contains(remark) && *remark != RunNote::SmallChanges {
        all.push(remark.clone());
    }
}
