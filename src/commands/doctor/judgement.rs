//! Turns facts about the machine into findings: good conditions, causes of unsteady results with remedies, and unknown facts.
//!
//! The findings are about the hardware (timer, frequency, processors, heat, power) and about the system with its other programs (virtual machine,
//! limits, load, memory). This module must not read the machine itself. Invariant: every fact that matters for measurements has a finding, even if
//! the system does not reveal the fact. The only exception is the priority, which has a finding only if it is lowered.

use crate::output::{
    DoctorFinding, NoiseFindings, Severity, counted, in_percent, missing_features,
};
use crate::pipeline::paired::MUCH_STOLEN;
use perfcheck_analysis::model::{
    FrequencyState, HostActivity, MachineState, MemoryState, PowerState, ProcessorState,
    SystemFeature, TimerState,
};
use perfcheck_bench::child::ValgrindError;
use perfcheck_host::process::TimeSamplingError;

/// If the smallest slowdown that a usual comparison can detect is above `WELL_RESOLVED`, the noise of the machine is improvable. If it is even above
/// `BADLY_RESOLVED`, the noise is bad.
const WELL_RESOLVED: f64 = 0.02;
const BADLY_RESOLVED: f64 = 0.05;

/// The facts that `doctor` has found out about the machine and the toolchain, for judging.
pub(super) struct DoctorFacts<'o> {
    /// Name of the operating system, as the standard library has it.
    pub(super) system: &'o str,
    pub(super) state: &'o MachineState,
    pub(super) meanwhile: &'o HostActivity,
    pub(super) noise: &'o [NoiseFindings],
    /// Whether the toolchain has a linker that can change the layout of executables. An error has the reason why this is unknown.
    pub(super) has_linker: Result<bool, String>,
    /// Version of valgrind. An error has the reason why valgrind cannot be used.
    pub(super) valgrind: Result<String, ValgrindError>,
    /// Whether the time of a process can be sampled. An error has the reason why this is impossible.
    pub(super) samples: Result<(), TimeSamplingError>,
}

/// Returns all findings in display order.
pub(super) fn judge(observed: &DoctorFacts<'_>) -> Vec<DoctorFinding> {
    let (state, meanwhile) = (observed.state, observed.meanwhile);
    let mut findings = vec![
        judge_timer(&state.timer),
        judge_frequency(&state.frequency),
        judge_boost(&state.frequency),
        judge_processors(&state.processors),
        judge_virtual_machine(state, meanwhile),
        judge_limits(state, meanwhile),
        judge_load(state, meanwhile),
        judge_heat(&state.power, meanwhile),
        judge_power(&state.power),
        judge_randomization(state.address_randomisation),
        judge_memory(&state.memory, meanwhile),
        judge_huge_pages(&state.memory),
    ];
    findings.extend(judge_priority(state.nice));
    findings.extend(judge_features(observed));
    findings.push(judge_noise(observed.noise));
    findings
}

/// Judges the features that need a linker, valgrind or the kernel. Those that the operating system lacks share one finding without advice, because no
/// program that the user could install would change that.
fn judge_features(observed: &DoctorFacts<'_>) -> Vec<DoctorFinding> {
    let missing = SystemFeature::missing_on(observed.system);
    let has = |feature| !missing.contains(&feature);
    let mut findings = Vec::new();
    if has(SystemFeature::FunctionOrder) {
        findings.push(judge_layouts(observed.system, &observed.has_linker));
    }
    if has(SystemFeature::InstructionCounts) || observed.valgrind.is_ok() {
        findings.push(judge_instructions(&observed.valgrind));
    }
    if has(SystemFeature::FunctionTimes) {
        findings.push(judge_sampled_time(&observed.samples));
    }
    let lacking = missing_features(observed.system);
    findings.extend(lacking.map(|lacking| unknown_finding("system", &lacking)));
    findings
}

fn judge_noise(noise: &[NoiseFindings]) -> DoctorFinding {
    const TOPIC: &str = "noise";
    let smallest: Vec<(&str, f64)> = noise
        .iter()
        .filter_map(|one| Some((one.workload.as_str(), one.smallest_change?)))
        .collect();
    if smallest.len() < noise.len() || smallest.is_empty() {
        return unknown_finding(TOPIC, "too few rounds; use `--time 1min` to measure longer");
    }
    let words: Vec<String> = smallest
        .iter()
        .map(|(name, change)| format!("{} ({name})", in_percent((change * 1e3).round() / 1e3)))
        .collect();
    let found = good_finding(
        TOPIC,
        format!(
            "a default side-by-side run finds slowdowns of at least {}",
            words.join(", ")
        ),
    );
    let worst = smallest
        .iter()
        .map(|(_, change)| *change)
        .fold(0.0, f64::max);
    let severity = if worst > BADLY_RESOLVED {
        Severity::Bad
    } else if worst > WELL_RESOLVED {
        Severity::Improvable
    } else {
        return found;
    };
    found.with_problem(
        severity,
        "Fix the problems marked above and run doctor again. Until then, measure longer:",
        &["cargo perfcheck --against main --time-budget 5min"],
    )
}

/// The text of a finding about a fact that the system does not reveal.
pub(super) const NOT_TOLD: &str = "not readable here";

/// Creates a finding for a fact without problems.
pub(super) fn good_finding(topic: &'static str, found: String) -> DoctorFinding {
    DoctorFinding {
        topic,
        severity: Severity::Good,
        found,
        advice: None,
        commands: Vec::new(),
    }
}

/// Creates a finding for an unknown fact, with the reason.
pub(super) fn unknown_finding(topic: &'static str, why: &str) -> DoctorFinding {
    DoctorFinding {
        topic,
        severity: Severity::Unknown,
        found: why.to_owned(),
        advice: None,
        commands: Vec::new(),
    }
}

impl DoctorFinding {
    /// Returns the finding with a problem and with the commands that solve it.
    pub(super) fn with_problem(self, severity: Severity, what: &str, commands: &[&str]) -> Self {
        Self {
            severity,
            advice: Some(what.to_owned()),
            commands: commands.iter().map(|line| (*line).to_owned()).collect(),
            ..self
        }
    }
}

/// Clock sources that a program can read without a system call.
const QUICK_SOURCES: [&str; 6] = [
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
    "timebase",
    "riscv_clocksource",
];
/// The timer is improvable if a reading takes longer than this, or if its step exceeds `COARSE_STEP_NS`. Both bounds are in nanoseconds.
const SLOW_READING_NS: f64 = 200.0;
const COARSE_STEP_NS: u64 = 1_000;
/// The temperature is improvable if it is closer than this to the critical temperature, in degrees Celsius.
const NEARLY_TOO_HOT: f64 = 10.0;

pub(super) fn judge_timer(timer: &TimerState) -> DoctorFinding {
    const TOPIC: &str = "timer";
    let (Some(step), Some(reading)) = (timer.step_ns, timer.reading_ns) else {
        return unknown_finding(TOPIC, "the timer does not advance");
    };
    let source = timer.source.as_deref();
    let name = source.map_or_else(String::new, |source| format!("{source}: "));
    let found = good_finding(
        TOPIC,
        format!(
            "{name}a reading takes {reading:.0} ns, successive readings differ by at least {} ns",
            step.0
        ),
    );
    let is_slow_source = source.is_some_and(|source| !QUICK_SOURCES.contains(&source));
    if is_slow_source && timer.available.iter().any(|name| name == "tsc") {
        return found.with_problem(
            Severity::Bad,
            "This clock source is slow to read, and a faster one is available.",
            &["echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"],
        );
    }
    if reading > SLOW_READING_NS || step.0 > COARSE_STEP_NS {
        return found.with_problem(
            Severity::Improvable,
            "Verdicts are unaffected, because samples last 500 µs. Latencies (`iter_latency`) below 10 µs are imprecise. If the kernel has rejected the `tsc` timer, boot with `clocksource=tsc`.",
            &[],
        );
    }
    found
}

pub(super) fn judge_frequency(frequency: &FrequencyState) -> DoctorFinding {
    const TOPIC: &str = "frequency";
    if frequency.governors.is_empty() {
        return unknown_finding(
            TOPIC,
            "not readable here, as is usual in virtual machines and containers",
        );
    }
    let mut found = format!("governor {}", frequency.governors.join(", "));
    if let Some(driver) = &frequency.driver {
        found = format!("{found} ({driver})");
    }
    if let (Some(lowest), Some(highest)) = (frequency.lowest_khz, frequency.highest_khz) {
        let ghz = |khz: u64| khz as f64 / 1e6;
        found = format!("{found}, {:.1} to {:.1} GHz", ghz(lowest), ghz(highest));
    }
    let found = good_finding(TOPIC, found);
    let steady = ["performance", "userspace"];
    if frequency
        .governors
        .iter()
        .all(|name| steady.contains(&name.as_str()))
    {
        return found;
    }
    found.with_problem(
        Severity::Improvable,
        "The frequency follows the load, so the first and the last samples run at different frequencies. The `performance` governor keeps it high. (To undo this, set the governor named above.)",
        &["sudo cpupower frequency-set --governor performance"],
    )
}

pub(super) fn judge_boost(frequency: &FrequencyState) -> DoctorFinding {
    const TOPIC: &str = "boost";
    match (frequency.boost, frequency.boost_switch) {
        (Some(false), _) => {
            good_finding(TOPIC, "off: heat does not change the frequency".to_owned())
        }
        (Some(true), switch) => {
            let command = switch.map(|path| {
                // The file `no_turbo` forbids boost and the other file permits it, so they need opposite values.
                let off = u8::from(path.ends_with("no_turbo"));
                format!("echo {off} | sudo tee {path}")
            });
            good_finding(TOPIC, "on".to_owned()).with_problem(
                Severity::Improvable,
                "A core's boost depends on its temperature and on the other cores. With boost off, results are slower but steadier.",
                &command.iter().map(String::as_str).collect::<Vec<_>>(),
            )
        }
        (None, _) => unknown_finding(TOPIC, NOT_TOLD),
    }
}

pub(super) fn judge_processors(processors: &ProcessorState) -> DoctorFinding {
    const TOPIC: &str = "processors";
    let Some(allowed) = processors.allowed.or(processors.online) else {
        return unknown_finding(TOPIC, NOT_TOLD);
    };
    let mut found = match processors.online {
        Some(online) if online != allowed => format!("{allowed} of {online} available"),
        _ => format!("{allowed}"),
    };
    match processors.threads_per_core {
        Some(1) => found += ", apparently each on its own core",
        Some(threads) => found = format!("{found}, {threads} per core"),
        None => found += ", possibly sharing cores",
    }
    if processors.hybrid == Some(true) {
        found += ", of different kinds";
    }
    if let Some(nodes) = processors.nodes.filter(|nodes| *nodes > 1) {
        found = format!("{found}, {nodes} memory nodes");
    }
    let isolated: Vec<String> = processors.isolated.iter().map(u32::to_string).collect();
    if !isolated.is_empty() {
        found = format!("{found}, isolated: {}", isolated.join(","));
    }
    let found = good_finding(TOPIC, found);
    if allowed == 1 {
        return found.with_problem(
            Severity::Bad,
            "With a single processor, any other program interrupts the samples. Give this process or container at least two.",
            &[],
        );
    }
    if processors.hybrid == Some(true) {
        return found.with_problem(
            Severity::Improvable,
            "A benchmark runs faster on some processors than on others. Use processors of one kind:",
            &["taskset --cpu-list \"$(cat /sys/devices/cpu_core/cpus)\" cargo perfcheck"],
        );
    }
    if processors
        .threads_per_core
        .is_some_and(|threads| threads > 1)
    {
        return found.with_problem(
            Severity::Improvable,
            "Processors that share a core slow each other down. To turn sharing off until the next boot:",
            &["echo off | sudo tee /sys/devices/system/cpu/smt/control"],
        );
    }
    found
}

pub(super) fn judge_heat(power: &PowerState, meanwhile: &HostActivity) -> DoctorFinding {
    const TOPIC: &str = "temperature";
    let slowed = meanwhile.slowed_by_heat;
    let mut found = match &power.hottest {
        Some(heat) => {
            let limit = heat.limit_celsius;
            let limit = limit.map_or_else(String::new, |limit| format!(" (limit {limit:.0})"));
            format!("{} {:.0} degrees{limit}", heat.zone, heat.celsius)
        }
        None if slowed.is_some() => "no sensor".to_owned(),
        None => return unknown_finding(TOPIC, "no sensor can be read"),
    };
    let heat = power.hottest.as_ref();
    let room = heat.and_then(|heat| Some(heat.limit_celsius? - heat.celsius));
    let advice = "A hot processor lowers its frequency. Improve its cooling, let it cool down between runs, or switch boost off.";
    match slowed {
        Some(0) => found += ", not throttled during measurement",
        Some(times) => {
            found = format!(
                "{found}, throttled {} during measurement",
                counted(times as usize, "time")
            );
        }
        None => {}
    }
    let found = good_finding(TOPIC, found);
    if slowed.is_some_and(|times| times > 0) {
        return found.with_problem(Severity::Bad, advice, &[]);
    }
    if room.is_some_and(|room| room < NEARLY_TOO_HOT) {
        return found.with_problem(Severity::Improvable, advice, &[]);
    }
    found
}

pub(super) fn judge_power(power: &PowerState) -> DoctorFinding {
    const TOPIC: &str = "power";
    let profile = power.profile.as_deref();
    let with_profile = |text: &str| match profile {
        Some(profile) => format!("{text}, profile {profile}"),
        None => text.to_owned(),
    };
    let found = match power.on_battery {
        Some(true) => {
            return good_finding(TOPIC, with_profile("on battery")).with_problem(
                Severity::Bad,
                "Plug the machine in: on battery, processors run at a lower frequency.",
                &[],
            );
        }
        Some(false) => with_profile("on AC power"),
        None if profile.is_some() => with_profile("no battery"),
        None => {
            return unknown_finding(
                TOPIC,
                "the system reports neither a battery nor a power supply",
            );
        }
    };
    let found = good_finding(TOPIC, found);
    if profile.is_some_and(|profile| ["low-power", "quiet", "cool"].contains(&profile)) {
        return found.with_problem(
            Severity::Improvable,
            "This profile saves power at the expense of speed. To change it:",
            &["echo performance | sudo tee /sys/firmware/acpi/platform_profile"],
        );
    }
    found
}

/// A virtual machine is improvable if other guests took at least this share of its processor time.
const SOME_STOLEN: f64 = 0.002;
/// If other programs keep at least this many processors busy, the load is bad; from `SOME_BUSY` on, it is improvable.
const MUCH_BUSY: f64 = 0.5;
const SOME_BUSY: f64 = 0.1;
/// Free memory counts as little if it is below this share of all memory, or below `LITTLE_BYTES`.
const LITTLE_MEMORY: f64 = 0.05;
const LITTLE_BYTES: u64 = 256 << 20;

pub(super) fn judge_virtual_machine(
    state: &MachineState,
    meanwhile: &HostActivity,
) -> DoctorFinding {
    const TOPIC: &str = "virtual machine";
    let surroundings = &state.surroundings;
    let stolen = meanwhile.stolen_share;
    let in_words = stolen.map_or_else(
        || "time taken by other guests is unknown".to_owned(),
        |share| format!("{:.1} % of the time went to other guests", share * 100.0),
    );
    let mut found = match (surroundings.virtual_machine, &surroundings.hypervisor) {
        (Some(true), Some(name)) => format!("yes ({name}): {in_words}"),
        (Some(true), None) => format!("yes: {in_words}"),
        (Some(false), _) => "no".to_owned(),
        (None, _) => return unknown_finding(TOPIC, NOT_TOLD),
    };
    if surroundings.ci {
        found += "; each CI job may run on a different machine";
    }
    let found = good_finding(TOPIC, found);
    let what = "Other guests use the same processors, caches and memory. Compare builds side by side (`--against`) rather than with stored runs, or rent whole cores or a dedicated host.";
    match stolen {
        Some(share) if share > MUCH_STOLEN => found.with_problem(Severity::Bad, what, &[]),
        _ if surroundings.virtual_machine == Some(true) || surroundings.ci => {
            let severity = match stolen {
                Some(share) if share < SOME_STOLEN && !surroundings.ci => return found,
                _ => Severity::Improvable,
            };
            found.with_problem(
                severity,
                what,
                &["cargo perfcheck --against-merge-base main"],
            )
        }
        _ => found,
    }
}

pub(super) fn judge_layouts(system: &str, has_linker: &Result<bool, String>) -> DoctorFinding {
    const TOPIC: &str = "code layout";
    if system == "macos" {
        return unknown_finding(
            TOPIC,
            "both sides are linked with the same function order if the linker allows it; never tried on a Mac",
        );
    }
    match has_linker {
        Ok(true) => good_finding(
            TOPIC,
            "both sides can be linked with the same function order".to_owned(),
        ),
        Ok(false) => good_finding(TOPIC, "executables run as built, each with its own function order".to_owned()).with_problem(
            Severity::Improvable,
            "The toolchain for this target has no `ld.lld` linker, so untouched code may seem 1 to 3 % faster or slower because its functions moved. To ignore such changes:",
            &["cargo perfcheck --against main --noise-threshold 3%"],
        ),
        Err(why) => unknown_finding(TOPIC, why),
    }
}

/// Judges `valgrind`: its version, or the reason why it is unavailable.
pub(super) fn judge_instructions(valgrind: &Result<String, ValgrindError>) -> DoctorFinding {
    const TOPIC: &str = "instructions";
    match valgrind {
        Ok(version) => good_finding(TOPIC, format!("counted with valgrind {version}")),
        Err(why @ ValgrindError::Broken(_)) => unknown_finding(TOPIC, &why.to_string()),
        Err(why @ ValgrindError::Missing) => good_finding(TOPIC, why.to_string()).with_problem(
            Severity::Improvable,
            "With valgrind, cargo perfcheck counts the instructions of benchmarks whose time changed, and names the functions that execute more. To install it:",
            &["sudo apt install valgrind"],
        ),
    }
}

/// Judges whether the time of each function can be sampled, which is the fallback if instructions are not counted.
pub(super) fn judge_sampled_time(samples: &Result<(), TimeSamplingError>) -> DoctorFinding {
    const TOPIC: &str = "sampled time";
    match samples {
        Ok(()) => good_finding(TOPIC, "the time of each function can be sampled".to_owned()),
        Err(TimeSamplingError::System) => {
            good_finding(TOPIC, TimeSamplingError::System.to_string())
        }
        Err(why @ TimeSamplingError::Failed(_)) => unknown_finding(TOPIC, &why.to_string()),
        Err(why) => {
            let found = good_finding(TOPIC, why.to_string());
            let what = "To let cargo perfcheck name the function that takes more time, even without instruction counts:";
            match why {
                TimeSamplingError::Paranoid(_) => found.with_problem(
                    Severity::Improvable,
                    what,
                    &["sudo sysctl kernel.perf_event_paranoid=2"],
                ),
                TimeSamplingError::Refused => found.with_problem(
                    Severity::Improvable,
                    what,
                    &["docker run --cap-add PERFMON ..."],
                ),
                _ => found,
            }
        }
    }
}

pub(super) fn judge_limits(state: &MachineState, meanwhile: &HostActivity) -> DoctorFinding {
    const TOPIC: &str = "limits";
    let surroundings = &state.surroundings;
    let place = surroundings
        .container
        .as_ref()
        .map_or_else(String::new, |name| format!("{name}: "));
    let mut found = match (surroundings.processor_quota, surroundings.quota_period_us) {
        (Some(quota), Some(period)) => format!(
            "{place}quota of {quota:.2} processors (period {} ms)",
            period as f64 / 1e3
        ),
        _ if !surroundings.limits_readable && meanwhile.out_of_quota.is_none() => {
            return unknown_finding(TOPIC, &format!("{place}{NOT_TOLD}"));
        }
        _ => format!("{place}no limit on processor time"),
    };
    if let Some(bytes) = surroundings.memory_limit_bytes {
        found = format!("{found}, memory limited to {}", format_gibibytes(bytes));
    }
    let waited = meanwhile.out_of_quota.filter(|count| *count > 0);
    if let Some(count) = waited {
        found = format!("{found}; quota used up {count}x during measurement");
    }
    let found = good_finding(TOPIC, found);
    if surroundings.processor_quota.is_none() && waited.is_none() {
        return found;
    }
    let severity = if waited.is_some() {
        Severity::Bad
    } else {
        Severity::Improvable
    };
    found.with_problem(
        severity,
        "A process that uses up its quota pauses until the next period, even in the middle of a sample. Give the container whole processors instead of a share (Kubernetes: static CPU manager policy, with whole-number requests and limits):",
        &["docker run --cpuset-cpus 0-1 ..."],
    )
}

pub(super) fn judge_load(state: &MachineState, meanwhile: &HostActivity) -> DoctorFinding {
    const TOPIC: &str = "other programs";
    let processors = state.processors.online.unwrap_or(1) as f64;
    let busy = meanwhile.others_share.map(|share| share * processors);
    let mut found = match busy {
        Some(busy) => format!("used {busy:.2} of {processors} processors during measurement"),
        None => match state.load {
            Some(load) => format!("load {load:.1} at the start"),
            None => return unknown_finding(TOPIC, NOT_TOLD),
        },
    };
    let programs: Vec<String> = meanwhile
        .busiest
        .iter()
        .map(|program| format!("{} {:.2}", program.name, program.processors))
        .collect();
    if !programs.is_empty() {
        found = format!("{found} ({})", programs.join(", "));
    }
    if let (Some(load), Some(_)) = (state.load, busy) {
        found = format!("{found}; load {load:.1}");
    }
    let found = good_finding(TOPIC, found);
    // The load average includes this process, so subtract 1.
    let busy = busy.unwrap_or_else(|| state.load.unwrap_or(0.0) - 1.0);
    let severity = if busy >= MUCH_BUSY {
        Severity::Bad
    } else if busy >= SOME_BUSY {
        Severity::Improvable
    } else {
        return found;
    };
    found.with_problem(
        severity,
        "Other programs take processors, caches and memory from the benchmarks. Close them, or wait. To list them:",
        &["ps -eo pcpu,pid,comm --sort=-pcpu | head"],
    )
}

pub(super) fn judge_randomization(value: Option<u8>) -> DoctorFinding {
    const TOPIC: &str = "address layout";
    let found = |text: &str| good_finding(TOPIC, text.to_owned());
    match value {
        Some(0 | 1) => found("wholly or partly the same in each process").with_problem(
            Severity::Improvable,
            "All processes share one memory layout, which may favor one build by chance. To randomize it:",
            &["sudo sysctl -w kernel.randomize_va_space=2"],
        ),
        Some(_) => found("randomized for each process"),
        None => unknown_finding(TOPIC, NOT_TOLD),
    }
}

pub(super) fn judge_memory(memory: &MemoryState, meanwhile: &HostActivity) -> DoctorFinding {
    const TOPIC: &str = "memory";
    let (Some(total), Some(available)) = (memory.total_bytes, memory.available_bytes) else {
        return unknown_finding(TOPIC, NOT_TOLD);
    };
    let mut found = format!(
        "{} of {} free",
        format_gibibytes(available),
        format_gibibytes(total)
    );
    match (memory.swap_bytes, memory.swap_used_bytes) {
        (Some(0), _) => found += ", no swap",
        (Some(all), Some(used)) => {
            found = format!(
                "{found}, {} of {} swap used",
                format_gibibytes(used),
                format_gibibytes(all)
            );
        }
        _ => {}
    }
    let swapped = meanwhile.swapped_pages.filter(|pages| *pages > 0);
    if let Some(pages) = swapped {
        found = format!("{found}; pages swapped during measurement: {pages}");
    }
    let found = good_finding(TOPIC, found);
    let is_little = available < LITTLE_BYTES || (available as f64) < LITTLE_MEMORY * total as f64;
    if swapped.is_none() && !is_little {
        return found;
    }
    found.with_problem(
        if is_little {
            Severity::Bad
        } else {
            Severity::Improvable
        },
        "Reading pages back from swap or disk takes milliseconds. Close programs that use a lot of memory. To list them:",
        &["ps -eo rss,pid,comm --sort=-rss | head"],
    )
}

pub(super) fn judge_huge_pages(memory: &MemoryState) -> DoctorFinding {
    const TOPIC: &str = "huge pages";
    let Some(word) = &memory.huge_pages else {
        return unknown_finding(TOPIC, NOT_TOLD);
    };
    let found = good_finding(TOPIC, format!("transparent: {word}"));
    if word != "always" {
        return found;
    }
    found.with_problem(
        Severity::Improvable,
        "The kernel merges pages in the background, so benchmarks that use a lot of memory get huge pages in some processes but not in others. To prevent this:",
        &["echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"],
    )
}

pub(super) fn judge_priority(nice: Option<i32>) -> Option<DoctorFinding> {
    let nice = nice.filter(|nice| *nice > 0)?;
    let found = good_finding(
        "priority",
        format!("nice {nice}: other processes have priority"),
    );
    Some(found.with_problem(
        Severity::Improvable,
        "Run cargo perfcheck without `nice`, or raise this shell's priority:",
        &["sudo renice --priority 0 --pid $$"],
    ))
}

fn format_gibibytes(bytes: u64) -> String {
    let gib = bytes as f64 / (1_u64 << 30) as f64;
    format!("{gib:.1} GiB")
}
