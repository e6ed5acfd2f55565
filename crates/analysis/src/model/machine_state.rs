//! Properties of a machine that decide how steady its measurements are, as reported by the system. `None` and empty lists mean that the system
//! reports nothing.
//!
//! Also lists what the tool cannot do on some operating systems. A run names the system on which it was measured, so readers of a stored run can be told
//! what its measurements lack. The code that asks the systems is in `crates/host/src/os`, and a test there compares this list with it.

use serde::Serialize;

use super::Nanos;

/// The state of the machine before a measurement. Members are null if the system does not report them.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineState {
    /// The clock that benches read.
    pub timer: TimerState,
    /// The settings of frequency scaling.
    pub frequency: FrequencyState,
    /// The processors: their number, their kinds, and how many of them this process may use.
    pub processors: ProcessorState,
    /// The virtual machine or container in which the system runs, with its limits.
    pub surroundings: SystemEnvironment,
    /// The memory and swap space, and how much of them is in use.
    pub memory: MemoryState,
    /// The temperature and the power supply.
    pub power: PowerState,
    /// Load average over the last minute: the mean number of processes that ran or waited to run.
    pub load: Option<f64>,
    /// How Linux randomizes the addresses of a process (`randomize_va_space`): 0 is not at all, 1 leaves out the heap, 2 is fully.
    pub address_randomisation: Option<u8>,
    /// The nice value of this process. If it is above 0, the scheduler prefers other processes.
    pub nice: Option<i32>,
}

/// The clock that benches read. A member is null if its value could not be determined.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimerState {
    /// Name of the kernel's clock source, e.g. `tsc`.
    pub source: Option<String>,
    /// Names of the clock sources that the kernel could use. Empty if they are unknown.
    pub available: Vec<String>,
    /// The smallest difference between two readings of the clock, in nanoseconds.
    pub step_ns: Option<Nanos>,
    /// Time that one reading of the clock takes, in nanoseconds.
    pub reading_ns: Option<f64>,
}

/// Settings that determine the frequency of the processors. A member is null if the system does not report it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrequencyState {
    /// The frequency governors of all processors. Each name is listed once. Empty if they are unknown.
    pub governors: Vec<String>,
    /// The frequency driver, e.g. `intel_pstate`.
    pub driver: Option<String>,
    /// The energy preferences of all processors, e.g. `balance_performance`. Each is listed once. Empty if they are unknown.
    pub preferences: Vec<String>,
    /// Whether processors may exceed their nominal frequency (boost).
    pub boost: Option<bool>,
    /// Path of the file that switches boost on and off.
    pub boost_switch: Option<&'static str>,
    /// The lowest frequency that the settings allow on any processor, in kHz.
    pub lowest_khz: Option<u64>,
    /// The highest frequency that the settings allow on any processor, in kHz.
    pub highest_khz: Option<u64>,
}

/// The processors of the machine, and which of them this process may use. A member is null if the system does not report it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessorState {
    /// Number of processors that are online.
    pub online: Option<usize>,
    /// Number of processors that this process may use.
    pub allowed: Option<usize>,
    /// The largest number of online processors that share a core. It is 1 without hyper-threading.
    pub threads_per_core: Option<usize>,
    /// Numbers of the processors on which the scheduler puts no process by itself (`isolcpus`). Empty if there are none.
    pub isolated: Vec<u32>,
    /// Whether there are cores of different kinds, such as performance cores and efficiency cores.
    pub hybrid: Option<bool>,
    /// Number of NUMA nodes, which are groups of processors with memory of their own.
    pub nodes: Option<usize>,
}

/// The environment in which the system runs: a virtual machine, a container or CI, with the limits that it sets.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemEnvironment {
    /// Whether this is a virtual machine. Null if it is unknown.
    pub virtual_machine: Option<bool>,
    /// Name of the hypervisor, e.g. `KVM`. Null if there is none or it is unknown.
    pub hypervisor: Option<String>,
    /// The kind of container, e.g. `Docker`. Null if none was found.
    pub container: Option<String>,
    /// Whether the limits of the control group could be read. If not, there may be limits although the members below are null.
    pub limits_readable: bool,
    /// Processor time that the control group may use, as a number of processors. Null if there is no limit.
    pub processor_quota: Option<f64>,
    /// Period of `processor_quota`, in microseconds. A control group that has used up its quota waits for the next period. Null if there is no quota.
    pub quota_period_us: Option<u64>,
    /// Memory that the control group may use, in bytes. Null if there is no limit.
    pub memory_limit_bytes: Option<u64>,
    /// Whether this machine is a CI runner, as environment variables show.
    pub ci: bool,
}

/// The memory and swap space of the machine. A member is null if the system does not report it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryState {
    /// All memory of the machine, in bytes.
    pub total_bytes: Option<u64>,
    /// Memory that programs can still get without swapping, in bytes.
    pub available_bytes: Option<u64>,
    /// All swap space, in bytes.
    pub swap_bytes: Option<u64>,
    /// Swap space in use, in bytes.
    pub swap_used_bytes: Option<u64>,
    /// When the system uses transparent huge pages: `always`, `madvise` or `never`.
    pub huge_pages: Option<String>,
}

/// The temperature and the power supply of the machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PowerState {
    /// The thermal zone that is nearest to its temperature limit or, without limits, the hottest one. Null if the system reports no temperature.
    pub hottest: Option<HeatState>,
    /// Whether the machine runs on battery. Null if it has neither a battery nor a mains supply that the system reports.
    pub on_battery: Option<bool>,
    /// The power profile that is set in the firmware, e.g. `low-power`. Null if there is none.
    pub profile: Option<String>,
}

/// A thermal zone of the machine, which is a place with a temperature sensor.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeatState {
    /// Name of the zone, e.g. `x86_pkg_temp`.
    pub zone: String,
    /// Temperature of the zone, in degrees Celsius.
    pub celsius: f64,
    /// Temperature at which the system slows down or stops, in degrees Celsius. Null if the zone has no such limit.
    pub limit_celsius: Option<f64>,
}

/// What else happened on the machine during a measurement. Members are null if the system does not report them.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostActivity {
    /// Duration of the measurement, in seconds.
    pub seconds: f64,
    /// The fraction of all processors' time that the hypervisor gave to other virtual machines.
    pub stolen_share: Option<f64>,
    /// The fraction of all processors' time that other programs used.
    pub others_share: Option<f64>,
    /// The programs besides `cargo perfcheck` that used most processor time, the busiest first. There are at most three.
    pub busiest: Vec<BusyProgram>,
    /// How often processors were throttled because of their temperature.
    pub slowed_by_heat: Option<u64>,
    /// How often the control group used up its processor quota and had to wait.
    pub out_of_quota: Option<u64>,
    /// Number of memory pages that were swapped in or out.
    pub swapped_pages: Option<u64>,
}

/// A program that was busy during a measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusyProgram {
    /// Name of the program, as the system reports it. Processes of the same name count as one program.
    pub name: String,
    /// Number of processors that the program kept busy on average. It can be a fraction, such as 0.4.
    pub processors: f64,
}

/// Something that the tool can do only on some operating systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemFeature {
    /// Giving the functions of both builds the same order and addresses.
    FunctionOrder,
    /// Telling which functions differ between two builds. On Windows, this works only for programs that are linked with GNU tools.
    MachineCode,
    /// Binding a benchmark to one processor.
    ProcessorBinding,
    /// Counting instructions, for which valgrind is needed.
    InstructionCounts,
    /// Sampling how the time is spread over functions.
    FunctionTimes,
}

impl SystemFeature {
    /// Returns the features that the operating system `os` lacks. The name is that of the standard library, such as `macos`. Runs of other programs may
    /// have other names, about which nothing is known. The feature that matters most comes first.
    pub fn missing_on(os: &str) -> &'static [Self] {
        match os {
            "macos" => &[
                Self::ProcessorBinding,
                Self::InstructionCounts,
                Self::FunctionTimes,
            ],
            "windows" => &[
                Self::FunctionOrder,
                Self::MachineCode,
                Self::InstructionCounts,
                Self::FunctionTimes,
            ],
            _ => &[],
        }
    }
}
