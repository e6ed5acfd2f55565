//! The machine code of a function in two builds (`explain --asm`).

use serde::Serialize;

use perfcheck_analysis::model::{BenchmarkKey, BySide, RunId};

/// The machine code of a function in both builds of a verdict.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineCode {
    /// The run that has the verdict; its build is the candidate.
    pub run: RunId,
    /// The run whose build is the base.
    pub base_run: RunId,
    /// The benchmark.
    pub benchmark: BenchmarkKey,
    /// The name of the function, without hashes.
    pub function: String,
    /// The functions of this name: instances of a generic function share one. If some differ, those that are the same are left out; else all but the first are.
    pub pairs: Vec<MachineCodePair>,
    /// How many are left out because they are the same on both sides.
    pub same_functions: usize,
    /// Whether the run found that data which the function refers to differ, or may differ, although its code is the same.
    pub data_differ: bool,
}

/// A function in the base, in the candidate, or in both.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineCodePair {
    /// The bytes of its code; null on the side that does not have it.
    pub bytes: BySide<Option<u64>>,
    /// Its instructions in order.
    pub rows: Vec<MachineCodeRow>,
}

/// An instruction of the base beside the one of the candidate.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineCodeRow {
    /// The number of the row as a target of jumps, which name it `L1`, `L2`; null where no jump leads here.
    pub label: Option<usize>,
    /// The instruction of the base in Intel's syntax; null where the candidate alone has one.
    pub base: Option<String>,
    /// The instruction of the candidate; null where the base alone has one.
    pub candidate: Option<String>,
    /// Whether the sides differ in this row.
    pub differs: bool,
}
