//! Assignment of a suite's benchmarks to shards, one per job.
//!
//! The assignment depends on the names of benchmarks alone, so that independent jobs with separate stores agree on it.

use std::collections::BTreeSet;

use perfcheck_analysis::model::{BenchmarkKey, RequestedReference, Shard, ShardId};
use perfcheck_engine::measure::Filter;

/// The requested shard.
pub(in crate::app) struct ShardRequest<'a> {
    pub(in crate::app) part: ShardId,
    pub(in crate::app) filter: &'a Filter,
    pub(in crate::app) reference: RequestedReference,
}

/// The benchmarks of one shard.
pub(in crate::app) struct ShardPlan {
    own: BTreeSet<BenchmarkKey>,
    /// Facts about the whole suite that the shard's run records
    pub(in crate::app) partition: Shard,
}

impl ShardPlan {
    /// Assigns `all` benchmarks round-robin in natural order: neighbors, which are often similar, go to different jobs.
    pub(in crate::app) fn assign<'k>(
        asked: ShardRequest<'_>,
        all: impl Iterator<Item = &'k BenchmarkKey>,
        control: bool,
    ) -> Self {
        let all: BTreeSet<&BenchmarkKey> = all.collect();
        let mut ordered: Vec<&BenchmarkKey> = all.into_iter().collect();
        ordered.sort_by(|a, b| a.cmp_natural(b));
        let mut digest = blake3::Hasher::new();
        for part in ordered
            .iter()
            .flat_map(|key| [&key.package, &key.target, &key.id])
        {
            digest.update(&(part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        let dealt = ordered.iter().enumerate();
        let own = dealt.filter(|(place, _)| asked.part.contains_position(*place));
        Self {
            own: own.map(|(_, key)| (*key).clone()).collect(),
            partition: Shard {
                part: asked.part,
                benchmarks: ordered.len(),
                suite: digest.finalize().to_hex().to_string(),
                reference: asked.reference,
                control,
                filter: asked.filter.words.clone(),
                exact: asked.filter.exact,
            },
        }
    }

    /// Reports whether a benchmark belongs to the shard.
    pub(in crate::app) fn has(&self, key: &BenchmarkKey) -> bool {
        self.own.contains(key)
    }

    /// Reports whether the shard has no benchmark because there are fewer benchmarks than shards.
    pub(in crate::app) fn is_empty(&self) -> bool {
        self.own.is_empty()
    }
}
