//! The message of `explain --asm`: the machine code of a function in two builds.

use serde::Serialize;

use perfcheck_analysis::model::{BenchmarkKey, BySide, RunId};

/// The machine code of a function in both builds of a verdict.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineCode {
    /// Run that has the verdict; its build is the candidate.
    pub run: RunId,
    /// Run whose build is the base.
    pub base_run: RunId,
    /// The benchmark.
    pub benchmark: BenchmarkKey,
    /// Name of the function, without hashes.
    pub function: String,
    /// Functions of this name: all instances of a generic function share it. Contains the functions that differ; if all are the same, only the first
    /// one.
    pub pairs: Vec<MachineCodePair>,
    /// Number of functions left out because they are the same on both sides.
    pub same_functions: usize,
    /// Whether the data that the function refers to differ, or may differ, although its code is the same.
    pub data_differ: bool,
}

/// A function in the base, in the candidate, or in both.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineCodePair {
    /// Size of the code in bytes; null for a side that does not have the function.
    pub bytes: BySide<Option<u64>>,
    /// The instructions, in order.
    pub rows: Vec<MachineCodeRow>,
}

/// An instruction of the base next to one of the candidate.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineCodeRow {
    /// Number of the row as a jump target, which jumps show as `L1`, `L2`; null if no jump leads here.
    pub label: Option<usize>,
    /// Instruction of the base in Intel syntax; null if only the candidate has one.
    pub base: Option<String>,
    /// Instruction of the candidate in Intel syntax; null if only the base has one.
    pub candidate: Option<String>,
    /// Whether the sides differ in this row.
    pub differs: bool,
}
