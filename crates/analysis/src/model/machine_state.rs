//! What of a machine decides how steady measurements on it are, as the system tells it. `None` and empty lists: it does not tell.

use serde::Serialize;

use super::Nanos;

/// Everything that was looked at before something was measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineState {
    /// The timer.
    pub timer: TimerState,
    /// Frequency of the processors.
    pub frequency: FrequencyState,
    /// The processors and which of them we may use.
    pub processors: ProcessorState,
    /// Virtual machine, container and their limits.
    pub surroundings: Surroundings,
    /// Memory.
    pub memory: MemoryState,
    /// Temperature and power.
    pub power: PowerState,
    /// Average of processes that ran or wanted to, over a minute.
    pub load: Option<f64>,
    /// `randomize_va_space`: 0 off, 1 without the heap, 2 whole.
    pub address_randomisation: Option<u8>,
    /// Our nice value; above 0 others come first.
    pub nice: Option<i32>,
}

/// The timer that benches read.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimerState {
    /// What the kernel reads it from.
    pub source: Option<String>,
    /// What it could read it from.
    pub available: Vec<String>,
    /// The smallest step between two readings.
    pub step_ns: Option<Nanos>,
    /// What a reading takes.
    pub reading_ns: Option<f64>,
}

/// How a processor's frequency is chosen.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrequencyState {
    /// The governors, each once.
    pub governors: Vec<String>,
    /// The driver below them.
    pub driver: Option<String>,
    /// What the processor is asked to prefer, each once.
    pub preferences: Vec<String>,
    /// Whether it may go beyond its nominal frequency.
    pub boost: Option<bool>,
    /// The file that switches that.
    pub boost_switch: Option<&'static str>,
    /// The lowest frequency allowed now.
    pub lowest_khz: Option<u64>,
    /// The highest one.
    pub highest_khz: Option<u64>,
}

/// The processors.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessorState {
    /// How many are switched on.
    pub online: Option<usize>,
    /// How many of them this process may use.
    pub allowed: Option<usize>,
    /// How many share a core, at most.
    pub threads_per_core: Option<usize>,
    /// Those that the scheduler leaves alone.
    pub isolated: Vec<u32>,
    /// Whether cores are of different kinds.
    pub hybrid: Option<bool>,
    /// Memory nodes.
    pub nodes: Option<usize>,
}

/// What this system runs in.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Surroundings {
    /// Whether this is a virtual machine.
    pub virtual_machine: Option<bool>,
    /// Who makes it.
    pub hypervisor: Option<String>,
    /// What kind of container this is.
    pub container: Option<String>,
    /// Whether what sets limits could be read; where it could not, no quota is known, and there may be one.
    pub limits_readable: bool,
    /// Processor time that our group may use, in processors.
    pub processor_quota: Option<f64>,
    /// Period of that quota: who has used his share waits for the next one.
    pub quota_period_us: Option<u64>,
    /// Memory that our group may use.
    pub memory_limit_bytes: Option<u64>,
    /// Whether this is a CI runner.
    pub ci: bool,
}

/// Memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryState {
    /// All of it.
    pub total_bytes: Option<u64>,
    /// What programs can still get without swapping.
    pub available_bytes: Option<u64>,
    /// Swap space.
    pub swap_bytes: Option<u64>,
    /// How much of that is in use.
    pub swap_used_bytes: Option<u64>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
}

/// Temperature and power.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PowerState {
    /// The hottest sensor that says at which temperature it slows the machine down.
    pub hottest: Option<HeatState>,
    /// Whether it runs from a battery.
    pub on_battery: Option<bool>,
    /// The firmware's profile, e.g. `low-power`.
    pub profile: Option<String>,
}

/// A thermal zone.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeatState {
    /// Its name.
    pub zone: String,
    /// How hot it is.
    pub celsius: f64,
    /// Where the system slows down.
    pub limit_celsius: Option<f64>,
}

/// What the machine did while something was measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Happenings {
    /// How long that was, seconds.
    pub seconds: f64,
    /// Share of the processors' time that a hypervisor gave to others.
    pub stolen_share: Option<f64>,
    /// Share of it that other programs used.
    pub others_share: Option<f64>,
    /// The busiest of them.
    pub busiest: Vec<BusyProgram>,
    /// How often a processor was slowed down by its temperature.
    pub slowed_by_heat: Option<u64>,
    /// How often our group had used up its processor quota.
    pub out_of_quota: Option<u64>,
    /// Pages that went to swap or came from there.
    pub swapped_pages: Option<u64>,
}

/// A program that was busy meanwhile.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusyProgram {
    /// Its name, as the system has it.
    pub name: String,
    /// How many processors it kept busy.
    pub processors: f64,
}
