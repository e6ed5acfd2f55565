//! Combines the shards of a suite into one run: head, plan, processes and notes.

use std::collections::{BTreeMap, BTreeSet};

use super::parts::{MeasuredShard, ShardedSuite};
use crate::exchange::PortableRun;
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::findings::{FailedTarget, RoundsCost, Row, RunNote};
use perfcheck_analysis::model::{
    BenchmarkKey, CountedBenchmark, Environment, NewRun, ProcessRecord, ShardId, Side,
};

impl ShardedSuite<'_> {
    /// Builds the head of the merged run: that of the first shard, with the earliest start.
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

    /// Combines the environments of the shards. Mixed hosts yield a host of its own, so that other runs are not compared with these numbers.
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

    /// Combines the plans of a side-by-side measurement: each benchmark keeps the seed and the noise of the host that measured it.
    pub(super) fn plan(&self) -> Option<Plan> {
        let (_, first) = self.first().base.as_ref()?;
        let mut whole = first.clone();
        for part in &self.parts {
            let Some((_, plan)) = &part.base else {
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
            Side::Base => part.base.as_ref().map(|(base, _)| base),
            Side::Candidate => Some(&part.run),
        })
    }

    /// Returns all processes of a side. Renumbers attempts of a bench target in the same round, since each shard counted from the start.
    pub(super) fn launches(&self, side: Side) -> Vec<ProcessRecord> {
        let mut attempts: BTreeMap<(String, String, u32), u32> = BTreeMap::new();
        let launches = self.sides(side).flat_map(|run| &run.launches).cloned();
        let counted = launches.map(|mut launch| {
            let head = &mut launch.head;
            let place = (head.package.clone(), head.target.clone(), head.ordinal);
            let attempt = attempts.entry(place).or_default();
            head.attempt = *attempt;
            *attempt += 1;
            launch
        });
        counted.collect()
    }

    /// Returns the instruction counts of a side.
    pub(super) fn counted(&self, side: Side) -> Vec<CountedBenchmark> {
        let counted = self.sides(side).flat_map(|run| &run.counted);
        counted.cloned().collect()
    }

    fn rows(&self) -> impl Iterator<Item = &Row<'static>> {
        let concluded = self.parts.iter().map(|part| &part.concluded.concluded);
        concluded.flat_map(|concluded| &concluded.rows)
    }

    /// Returns the verdicts that needed no measurement.
    pub(super) fn settled(&self) -> Vec<Row<'static>> {
        let parts = self.parts.iter();
        let measured: BTreeSet<&BenchmarkKey> = parts.flat_map(MeasuredShard::measured).collect();
        let settled = self.rows().filter(|row| !measured.contains(&row.key));
        settled.cloned().collect()
    }

    /// Returns the cost of each benchmark's rounds.
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

    /// Describes the references of the shards.
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
            for remark in &part.concluded.concluded.verdicts.remarks {
                merge_note(&mut all, remark);
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

    /// Returns a note if the hosts differ.
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

/// Merges a shard's note into the notes of others.
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
            _ => {}
        }
    }
    // Small changes are detected again for the whole suite.
    if !all.contains(remark) && *remark != RunNote::SmallChanges {
        all.push(remark.clone());
    }
}
