//! What processes of their own counted of benchmarks, by function: instructions of an iteration, for which no clock is read, so another load on the machine
//! changes nothing; or how often the time found a benchmark in which function.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BenchmarkKey, limits};

/// What was counted of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedBenchmark {
    /// Which.
    pub benchmark: BenchmarkKey,
    /// What.
    pub counts: CountsOfBenchmark,
}

/// Counts of a benchmark; empty where nobody asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountsOfBenchmark {
    /// Instructions: a count for each process, in the order counted.
    pub instructions: Vec<InstructionCount>,
    /// Samples of its time, where instructions could not be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeSamples>,
}

/// What one process counted of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCount {
    /// The iterations that the instructions belong to, at least 1.
    pub iterations: u64,
    /// Instructions in user space, of all threads. The harness's own are not part of it.
    pub instructions: u64,
    /// The functions in which most of them are, most first; readable names, without hashes.
    pub functions: Vec<FunctionCount>,
}

/// What one process counted of a benchmark by the calls that led to a function. It is not stored: stacks are many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackCounts {
    /// The iterations that the instructions belong to, at least 1.
    pub iterations: u64,
    /// The instructions of a function, without those of what it calls, by its stack: readable names, the outermost caller first.
    pub instructions: BTreeMap<Vec<String>, u64>,
}

/// Where the time of a benchmark went, by samples: where it was whenever so much time on a processor had passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSamples {
    /// Samples in user space, of all threads; at least 1.
    pub samples: u64,
    /// The functions in which most of them are, most first; readable names, without hashes.
    pub functions: Vec<FunctionCount>,
}

/// What was counted in a function, without what it calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCount {
    /// Its readable name.
    pub name: String,
    /// How many: instructions in all iterations of the count, or samples.
    pub count: u64,
}

impl FunctionCount {
    /// As many functions as a run keeps, most first.
    pub fn most(counts: impl IntoIterator<Item = (String, u64)>) -> Vec<Self> {
        let counts = counts.into_iter();
        let mut functions: Vec<Self> = counts.map(|(name, count)| Self { name, count }).collect();
        functions.sort_by_key(|one| Reverse(one.count));
        functions.truncate(limits::MOST_COUNTED_FUNCTIONS);
        functions
    }
}

impl InstructionCount {
    /// Instructions of an iteration.
    pub fn per_iteration(&self) -> f64 {
        self.instructions as f64 / self.iterations as f64
    }
}
