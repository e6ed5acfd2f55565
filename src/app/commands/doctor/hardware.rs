//! Judges the effects of the hardware on measurements: timer, frequency, processors, heat, power (pure).

use super::finding::{NOT_TOLD, good_finding, unknown_finding};
use crate::report::{DoctorFinding, Severity};
use perfcheck_analysis::model::{
    FrequencyState, HostActivity, PowerState, ProcessorState, TimerState,
};

/// Clock sources that are read without entering the kernel.
const QUICK_SOURCES: [&str; 6] = [
    "tsc",
    "kvm-clock",
    "arch_sys_counter",
    "hyperv_clocksource_tsc_page",
    "timebase",
    "riscv_clocksource",
];
/// Limits of a timer reading and a timer step, above which results mention them.
const SLOW_READING_NS: f64 = 200.0;
const COARSE_STEP_NS: u64 = 1_000;
/// Degrees below the critical temperature.
const NEARLY_TOO_HOT: f64 = 10.0;

pub(super) fn judge_timer(timer: &TimerState) -> DoctorFinding {
    const TOPIC: &str = "timer";
    let (Some(step), Some(reading)) = (timer.step_ns, timer.reading_ns) else {
        return unknown_finding(TOPIC, "it does not move");
    };
    let source = timer.source.as_deref();
    let name = source.map_or_else(String::new, |source| format!("{source}: "));
    let found = good_finding(
        TOPIC,
        format!("{name}steps of {} ns, {reading:.0} ns a reading", step.0),
    );
    let is_slow_source = source.is_some_and(|source| !QUICK_SOURCES.contains(&source));
    if is_slow_source && timer.available.iter().any(|name| name == "tsc") {
        return found.with_problem(
            Severity::Bad,
            "This source is slow to read, and a quick one is there.",
            &["echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"],
        );
    }
    if reading > SLOW_READING_NS || step.0 > COARSE_STEP_NS {
        return found.with_problem(
            Severity::Improvable,
            "Samples last 500 µs, so verdicts do not suffer; single operations (`iter_latency`) of less than 10 µs do. The boot parameter `clocksource=tsc` helps where the kernel has rejected this timer.",
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
            "not readable here, as usual in virtual machines and containers: who chooses it is not known",
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
        "The frequency follows the load, so the first samples run at another one than the last. With `performance` it stays high. (Back: the name above.)",
        &["sudo cpupower frequency-set --governor performance"],
    )
}

pub(super) fn judge_boost(frequency: &FrequencyState) -> DoctorFinding {
    const TOPIC: &str = "boost";
    match (frequency.boost, frequency.boost_switch) {
        (Some(false), _) => {
            good_finding(TOPIC, "off: no frequency that heat takes back".to_owned())
        }
        (Some(true), switch) => {
            let command = switch.map(|path| {
                // `no_turbo` forbids boost where the other file permits it, so the value to write is inverted.
                let off = u8::from(path.ends_with("no_turbo"));
                format!("echo {off} | sudo tee {path}")
            });
            good_finding(TOPIC, "on".to_owned()).with_problem(
                Severity::Improvable,
                "How far a core may boost depends on its temperature and on what the others do. Off, results are slower and steadier.",
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
        Some(online) if online != allowed => format!("{allowed} of {online} are ours"),
        _ => format!("{allowed}"),
    };
    match processors.threads_per_core {
        Some(1) => found += ", each a core of its own as far as the system shows",
        Some(threads) => found = format!("{found}, {threads} share a core"),
        None => found += ", whether they share cores is not told",
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
            "With a single processor everything else that runs interrupts the samples. Allow this process, or this container, a second one.",
            &[],
        );
    }
    if processors.hybrid == Some(true) {
        return found.with_problem(
            Severity::Improvable,
            "A benchmark runs faster on some of them than on others. Keep to those of one kind:",
            &["taskset --cpu-list \"$(cat /sys/devices/cpu_core/cpus)\" cargo perfcheck"],
        );
    }
    if processors
        .threads_per_core
        .is_some_and(|threads| threads > 1)
    {
        return found.with_problem(
            Severity::Improvable,
            "What runs on the other half of a core slows this half down. Off until the next start:",
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
            let limit = limit.map_or_else(String::new, |limit| format!(" of at most {limit:.0}"));
            format!("{} {:.0}{limit} degrees", heat.zone, heat.celsius)
        }
        None if slowed.is_some() => "no sensor".to_owned(),
        None => return unknown_finding(TOPIC, "no sensor can be read"),
    };
    let heat = power.hottest.as_ref();
    let room = heat.and_then(|heat| Some(heat.limit_celsius? - heat.celsius));
    let advice = "A hot processor lowers its frequency. Free its air, let it cool down between runs, switch boost off.";
    match slowed {
        Some(0) => found += ", not slowed down meanwhile",
        Some(times) => found = format!("{found}, slowed down {times} times meanwhile"),
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
            return good_finding(TOPIC, with_profile("from a battery")).with_problem(
                Severity::Bad,
                "Plug it in: a machine that saves its battery chooses its own frequency.",
                &[],
            );
        }
        Some(false) => with_profile("from the mains"),
        None if profile.is_some() => with_profile("no battery"),
        None => return unknown_finding(TOPIC, "the system names no battery and no supply"),
    };
    let found = good_finding(TOPIC, found);
    if profile.is_some_and(|profile| ["low-power", "quiet", "cool"].contains(&profile)) {
        return found.with_problem(
            Severity::Improvable,
            "The firmware saves power.",
            &["echo performance | sudo tee /sys/firmware/acpi/platform_profile"],
        );
    }
    found
}
