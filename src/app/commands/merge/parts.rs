//! The files of the shards. This module alone checks that they belong together.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::app::error::AppError;
use crate::exchange::{
    ExchangeError, InputContent, PortableConclusion, PortableHead, PortableRun, read_portable,
};
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::model::{
    BenchmarkInProcess, BenchmarkKey, BySide, Environment, GitState, ProgressReporter,
    RequestedReference, Shard, ShardId, TargetFacts,
};

/// A shard as measured by one job.
pub(super) struct MeasuredShard<'a> {
    /// File that contains the shard
    file: &'a str,
    /// The run, or the candidate of a side-by-side measurement
    pub(super) run: PortableRun,
    /// The base and the plan of a side-by-side measurement
    pub(super) base: Option<(PortableRun, Plan)>,
    /// Position of the shard in the suite
    pub(super) partition: Shard,
    /// Conclusion of the shard
    pub(super) concluded: PortableConclusion,
}

/// At least one shard of a suite, sorted by number.
pub(super) struct ShardedSuite<'a> {
    pub(super) parts: Vec<MeasuredShard<'a>>,
    /// Shards without a file
    pub(super) missing: Vec<ShardId>,
}

impl<'a> MeasuredShard<'a> {
    fn read(
        file: &'a InputContent,
        reached: (usize, usize),
        told: &ProgressReporter<'_>,
    ) -> Result<Self, AppError> {
        let mut runs = read_portable(file, reached, told)?;
        let name = &*file.name;
        let is_pair = runs.len() == 2 && runs[0].head.pair.is_some();
        let (Some(mut run), true) = (runs.pop(), runs.is_empty() || is_pair) else {
            return Err(AppError::Usage(format!(
                "{name} holds several runs or none, and a part is one\n  help: in the job of each part: cargo perfcheck store export latest --output {name}"
            )));
        };
        let Some(partition) = run.head.begun.partition.clone() else {
            return Err(AppError::Usage(format!(
                "{name} is no part of a suite: its run was measured without `--partition`\n  help: `cargo perfcheck store import` takes whole runs"
            )));
        };
        let (ours, theirs) = (env!("CARGO_PKG_VERSION"), &run.head.begun.tool_version);
        if theirs != ours {
            return Err(AppError::Usage(format!(
                "{name} was measured by version {theirs} of cargo-perfcheck, and this is {ours}: other versions may decide in another way\n  help: merge with the version that measured"
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
            base: runs.pop().zip(plan),
            concluded: concluded.ok_or_else(|| damaged("it has no conclusion"))?,
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

    /// Returns the checkouts of both sides; without a base, only that of the run.
    pub(super) fn git(&self) -> BySide<Option<&GitState>> {
        let base = self.base.as_ref();
        BySide {
            base: base.and_then(|(base, _)| base.head.begun.git.as_ref()),
            candidate: self.head().begun.git.as_ref(),
        }
    }

    fn launched(&self) -> impl Iterator<Item = &BenchmarkInProcess> {
        let launches = self.run.launches.iter();
        launches.flat_map(|launch| &launch.benchmarks)
    }

    /// Returns the benchmarks that its processes ran.
    pub(super) fn measured(&self) -> BTreeSet<&BenchmarkKey> {
        self.launched().map(|one| &one.benchmark.key).collect()
    }

    /// Returns the features of the bench targets that its processes ran.
    fn features(&self) -> BTreeMap<(&str, &str), &TargetFacts> {
        let launches = self.run.launches.iter();
        let facts = launches.map(|launch| {
            let target = (&*launch.head.package, &*launch.head.target);
            (target, &launch.target_facts)
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
            Some(git) if git.dirty => format!("{} with changes", git.commit),
            Some(git) => git.commit.clone(),
            None => "none".to_owned(),
        };
        let plan = |part: &Self| {
            part.base.as_ref().map(|(_, plan)| Plan {
                seed: 0,
                seeds: BTreeMap::new(),
                noise: BTreeMap::new(),
                ..plan.clone()
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
            .or_else(|| differ("commit of the base", &|part| commit(part.git().base)))
            .or_else(|| {
                differ("way of measuring", &|part| match &part.base {
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
                let mut both = mine.iter().filter_map(|(target, facts)| {
                    let other = others.get(target)?;
                    (facts != other).then(|| [other, facts].map(|one| one.features.join(", ")))
                });
                Some(("features", both.next()?))
            })
    }
}

/// Describes the requested comparison.
fn describe_request(partition: &Shard) -> String {
    let reference = match &partition.reference {
        RequestedReference::Beside => "beside another build".to_owned(),
        RequestedReference::Named(name) => format!("against `{name}`"),
        RequestedReference::Accepted => "against the last accepted run".to_owned(),
    };
    let control = if partition.control { ", identical" } else { "" };
    let exact = if partition.exact { " --exact" } else { "" };
    let filter = partition.filter.join(" ");
    format!("{reference}{control}, filter `{filter}`{exact}")
}

/// Formats facts or settings with their names.
fn format_facts(facts: &impl Serialize) -> String {
    serde_json::to_string(facts).unwrap_or_default()
}

impl<'a> ShardedSuite<'a> {
    /// Reads the shards and checks that they form one suite, each present once.
    pub(super) fn read(
        files: &'a [InputContent],
        told: &ProgressReporter<'_>,
    ) -> Result<Self, AppError> {
        let bytes = files.iter().map(|file| file.bytes.len()).sum();
        let mut before = 0;
        let mut parts = Vec::new();
        for file in files {
            parts.push(MeasuredShard::read(file, (before, bytes), told)?);
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
                        "`{key}` is in {other} and in {}, and belongs to one part",
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

    /// Returns the first shard, which represents the common settings.
    pub(super) fn first(&self) -> &MeasuredShard<'a> {
        &self.parts[0]
    }
}

impl MeasuredShard<'_> {
    /// Refuses a shard of another suite than `before`, or with the same number.
    fn check(&self, before: &Self) -> Result<(), AppError> {
        let (file, other, part) = (self.file, before.file, self.part());
        if let Some((what, [there, here])) = self.find_difference(before) {
            return Err(AppError::Usage(format!(
                "{file} (part {part}) and {other} (part {}) do not belong together: they differ in their {what}: {there}; {here}\n  help: name the files of one pipeline; its jobs measure the same commits with the same arguments but for K of `--partition K/N`",
                before.part()
            )));
        }
        if part == before.part() {
            return Err(AppError::Usage(format!(
                "part {part} is there twice: {other} and {file}\n  help: leave out one of them"
            )));
        }
        Ok(())
    }
}
