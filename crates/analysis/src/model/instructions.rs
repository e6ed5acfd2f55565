//! Instructions of an iteration, counted in processes of their own: no clock is read, so another load on the machine changes nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::BenchmarkKey;

/// What was counted of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedInstructions {
    /// Which.
    pub benchmark: BenchmarkKey,
    /// A count for each process, in the order counted.
    pub counts: Vec<InstructionCount>,
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

/// The instructions of a function, without those of what it calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCount {
    /// Its readable name.
    pub name: String,
    /// How many, in all iterations of the count.
    pub instructions: u64,
}

/// What one process counted of a benchmark by the calls that led to a function. It is not stored: stacks are many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackCounts {
    /// The iterations that the instructions belong to, at least 1.
    pub iterations: u64,
    /// The instructions of a function, without those of what it calls, by its stack: readable names, the outermost caller first.
    pub instructions: BTreeMap<Vec<String>, u64>,
}

impl InstructionCount {
    /// Instructions of an iteration.
    pub fn per_iteration(&self) -> f64 {
        self.instructions as f64 / self.iterations as f64
    }
}
