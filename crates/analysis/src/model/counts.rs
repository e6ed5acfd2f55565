//! Counts for each function of a benchmark, from separate processes: instructions of an iteration, which do not depend on a clock or on the load of
//! the machine, or the number of times that sampling found the benchmark in the function.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BenchmarkKey, limits};

/// The counts of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedBenchmark {
    /// The benchmark.
    pub benchmark: BenchmarkKey,
    /// Its counts.
    pub counts: BenchmarkCounts,
}

/// Counts of a benchmark; empty unless requested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkCounts {
    /// Instruction counts, one for each process, in the order counted.
    pub instructions: Vec<InstructionCount>,
    /// Samples of its time, if instructions could not be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeSamples>,
}

/// The instructions that one process counted for a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCount {
    /// Number of iterations with these instructions, at least 1.
    pub iterations: u64,
    /// Instructions in user space, of all threads, without those of the harness.
    pub instructions: u64,
    /// The functions with most of the instructions, most first; readable names, without hashes.
    pub functions: Vec<FunctionCount>,
}

/// The instructions that one process counted for a benchmark, by call stack. They are not stored, because stacks are many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackCounts {
    /// Number of iterations with these instructions, at least 1.
    pub iterations: u64,
    /// Instructions of a function, without those of the functions that it calls, by call stack: readable names, the outermost caller first.
    pub instructions: BTreeMap<Vec<String>, u64>,
}

/// The functions in which a benchmark spends its time, found by sampling after equal amounts of CPU time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeSamples {
    /// Samples in user space, of all threads; at least 1.
    pub samples: u64,
    /// The functions with most of the samples, most first; readable names, without hashes.
    pub functions: Vec<FunctionCount>,
}

/// The count of a function, without the functions that it calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCount {
    /// Readable name of the function.
    pub name: String,
    /// Instructions in all iterations of the count, or samples.
    pub count: u64,
}

impl FunctionCount {
    /// Returns the functions with the highest counts, most first, as many as a run keeps.
    pub fn top_functions(counts: impl IntoIterator<Item = (String, u64)>) -> Vec<Self> {
        let counts = counts.into_iter();
        let mut functions: Vec<Self> = counts.map(|(name, count)| Self { name, count }).collect();
        functions.sort_by_key(|one| Reverse(one.count));
        functions.truncate(limits::MOST_COUNTED_FUNCTIONS);
        functions
    }
}

impl InstructionCount {
    /// Returns the instructions per iteration.
    pub fn per_iteration(&self) -> f64 {
        self.instructions as f64 / self.iterations as f64
    }
}
