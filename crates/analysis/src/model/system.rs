//! What the tool cannot do on some operating systems.
//!
//! A run names the system on which it was measured, so readers of a stored run can be told what its measurements lack. The code that asks the systems is
//! in `crates/host/src/os`, and a test there compares this list with it.

/// Something that the tool can do only on some operating systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemFeature {
    /// Giving the functions of both builds the same order and addresses.
    FunctionOrder,
    /// Telling which functions differ between two builds.
    MachineCode,
    /// Binding a benchmark to one processor.
    ProcessorBinding,
    /// Reading the CPU time, threads and interruptions of a process.
    ProcessUsage,
    /// Counting instructions, for which valgrind is needed.
    InstructionCounts,
    /// Sampling how the time is spread over functions.
    FunctionTimes,
}

impl SystemFeature {
    /// All features, the one that matters most first.
    pub const ALL: [Self; 6] = [
        Self::FunctionOrder,
        Self::MachineCode,
        Self::ProcessorBinding,
        Self::ProcessUsage,
        Self::InstructionCounts,
        Self::FunctionTimes,
    ];

    /// Returns the features that the operating system `os` lacks. The name is that of the standard library, such as `macos`. Runs of other programs may
    /// have other names, about which nothing is known.
    pub fn missing_on(os: &str) -> &'static [Self] {
        match os {
            "macos" | "windows" => &Self::ALL,
            _ => &[],
        }
    }
}
