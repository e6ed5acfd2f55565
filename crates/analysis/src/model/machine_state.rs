//! Properties of a machine that decide how steady its measurements are, as reported by the system. `None` and empty lists mean that the system
//! reports nothing.

use serde::Serialize;

use super::Nanos;

/// The state of the machine before a measurement.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineState {
    /// The timer.
    pub timer: TimerState,
    /// Frequency scaling of the processors.
    pub frequency: FrequencyState,
    /// The processors, and the number that this process may use.
    pub processors: ProcessorState,
    /// Virtual machine, container and their limits.
    pub surroundings: SystemEnvironment,
    /// Memory.
    pub memory: MemoryState,
    /// Temperature and power.
    pub power: PowerState,
    /// Load average over one minute: processes that ran or waited to run.
    pub load: Option<f64>,
    /// Linux's `randomize_va_space`: 0 is off, 1 leaves out the heap, 2 is full.
    pub address_randomisation: Option<u8>,
    /// The nice value of this process; with a value above 0 other processes come first.
    pub nice: Option<i32>,
}

/// The clock that benches read.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimerState {
    /// The clock source of the kernel.
    pub source: Option<String>,
    /// The clock sources that the kernel could use.
    pub available: Vec<String>,
    /// The smallest step between two readings.
    pub step_ns: Option<Nanos>,
    /// Time that one reading takes.
    pub reading_ns: Option<f64>,
}

/// Settings that determine the frequency of the processors.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrequencyState {
    /// The frequency governors, each once.
    pub governors: Vec<String>,
    /// The frequency driver.
    pub driver: Option<String>,
    /// The energy preferences, each once.
    pub preferences: Vec<String>,
    /// Whether processors may exceed their nominal frequency (boost).
    pub boost: Option<bool>,
    /// The file that switches boost on and off.
    pub boost_switch: Option<&'static str>,
    /// The lowest frequency that is allowed now.
    pub lowest_khz: Option<u64>,
    /// The highest frequency that is allowed now.
    pub highest_khz: Option<u64>,
}

/// The processors.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessorState {
    /// Number of processors that are online.
    pub online: Option<usize>,
    /// Number of processors that this process may use.
    pub allowed: Option<usize>,
    /// The largest number of processors that share a core.
    pub threads_per_core: Option<usize>,
    /// The processors that the scheduler does not use by itself (`isolcpus`).
    pub isolated: Vec<u32>,
    /// Whether there are cores of different kinds.
    pub hybrid: Option<bool>,
    /// Number of memory nodes (NUMA).
    pub nodes: Option<usize>,
}

/// The environment of this system: virtual machine, container, CI.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemEnvironment {
    /// Whether this is a virtual machine.
    pub virtual_machine: Option<bool>,
    /// The maker of the hypervisor.
    pub hypervisor: Option<String>,
    /// The kind of container.
    pub container: Option<String>,
    /// Whether the limits of the container could be read. If not, there may be an unknown quota.
    pub limits_readable: bool,
    /// Processor time that the control group may use, as a number of processors.
    pub processor_quota: Option<f64>,
    /// Period of `processor_quota`, in microseconds. A group that has used up its share waits for the next period.
    pub quota_period_us: Option<u64>,
    /// Memory that the control group may use.
    pub memory_limit_bytes: Option<u64>,
    /// Whether this is a CI runner.
    pub ci: bool,
}

/// Memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryState {
    /// All memory.
    pub total_bytes: Option<u64>,
    /// Memory that programs can get without swapping.
    pub available_bytes: Option<u64>,
    /// Swap space.
    pub swap_bytes: Option<u64>,
    /// Swap space in use.
    pub swap_used_bytes: Option<u64>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
}

/// Temperature and power.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PowerState {
    /// The thermal zone that is nearest to its limit; without limits, the hottest one.
    pub hottest: Option<HeatState>,
    /// Whether the machine runs on battery.
    pub on_battery: Option<bool>,
    /// The firmware's profile, e.g. `low-power`.
    pub profile: Option<String>,
}

/// A thermal zone.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeatState {
    /// Name of the zone.
    pub zone: String,
    /// Temperature of the zone.
    pub celsius: f64,
    /// Temperature at which the system throttles.
    pub limit_celsius: Option<f64>,
}

/// Activity of the machine during a measurement.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostActivity {
    /// Duration of the measurement, in seconds.
    pub seconds: f64,
    /// Share of the processors' time that a hypervisor gave to other machines.
    pub stolen_share: Option<f64>,
    /// Share of the processors' time that other programs used.
    pub others_share: Option<f64>,
    /// The busiest of these programs.
    pub busiest: Vec<BusyProgram>,
    /// How often a processor was throttled because of its temperature.
    pub slowed_by_heat: Option<u64>,
    /// How often the control group used up its processor quota.
    pub out_of_quota: Option<u64>,
    /// Pages that were swapped in or out.
    pub swapped_pages: Option<u64>,
}

/// A program that was busy during a measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusyProgram {
    /// Name of the program, as reported by the system.
    pub name: String,
    /// Number of processors that the program kept busy.
    pub processors: f64,
}
