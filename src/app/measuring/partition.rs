//! Which benchmarks of a suite one of several jobs measures.
//!
//! The plan follows from the names of the benchmarks alone, so that jobs with stores of their own, which never talk to each other, make the same one.

use std::collections::BTreeSet;

use perfcheck_analysis::model::{AskedReference, BenchmarkKey, Partition, SuitePart};
use perfcheck_engine::measure::Filter;

/// What is asked for of a part.
pub(in crate::app) struct AskedPart<'a> {
    pub(in crate::app) part: SuitePart,
    pub(in crate::app) filter: &'a Filter,
    pub(in crate::app) reference: AskedReference,
}

/// The benchmarks of one part.
pub(in crate::app) struct Deal {
    own: BTreeSet<BenchmarkKey>,
    /// What the run of the part knows of the others.
    pub(in crate::app) partition: Partition,
}

impl Deal {
    /// Deals out `all` benchmarks in their natural order, one to each part in turn: neighbours, which are often alike, go to different jobs.
    pub(in crate::app) fn of<'k>(
        asked: AskedPart<'_>,
        all: impl Iterator<Item = &'k BenchmarkKey>,
        control: bool,
    ) -> Self {
        let all: BTreeSet<&BenchmarkKey> = all.collect();
        let mut ordered: Vec<&BenchmarkKey> = all.into_iter().collect();
        ordered.sort_by(|a, b| a.in_natural_order(b));
        let mut digest = blake3::Hasher::new();
        for part in ordered
            .iter()
            .flat_map(|key| [&key.package, &key.target, &key.id])
        {
            digest.update(&(part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        let dealt = ordered.iter().enumerate();
        let own = dealt.filter(|(place, _)| asked.part.has(*place));
        Self {
            own: own.map(|(_, key)| (*key).clone()).collect(),
            partition: Partition {
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

    /// Whether a benchmark belongs to the part.
    pub(in crate::app) fn has(&self, key: &BenchmarkKey) -> bool {
        self.own.contains(key)
    }

    /// Whether the part has no benchmark, as there are fewer than parts.
    pub(in crate::app) fn is_empty(&self) -> bool {
        self.own.is_empty()
    }
}
