//! Reads the facts about the machine, and its whole state before a measurement, including memory, temperature and power, which can make a machine
//! slow down.
//!
//! Fields of memory (total, available, swap, huge pages) are those of `proc_meminfo(5)`.

use std::thread;

use super::files::{RealFiles, SystemFiles, field};
use super::limits::surroundings;
use super::processors::{frequency, online, processors, timer};
use crate::os;
use perfcheck_analysis::model::{HeatState, HostFacts, MachineState, MemoryState, PowerState};

/// Reads the facts about this machine. `ci` means that it is a CI runner, which shares its machine with others.
pub fn read_host_facts(ci: bool) -> HostFacts {
    let cpu_info = RealFiles.text("/proc/cpuinfo").unwrap_or_default();
    let flags = field(&cpu_info, "flags").unwrap_or_default();
    let virtual_machine = flags.split_whitespace().any(|flag| flag == "hypervisor");
    HostFacts {
        cpu: cpu_model(&cpu_info),
        architecture: std::env::consts::ARCH.to_owned(),
        os: std::env::consts::OS.to_owned(),
        cores: thread::available_parallelism()
            .ok()
            .and_then(|cores| u32::try_from(cores.get()).ok())
            .unwrap_or(1),
        kernel: os::kernel_release(),
        governor: RealFiles.line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        microcode: field(&cpu_info, "microcode").map(str::to_owned),
        shared: Some(ci || virtual_machine),
    }
}

fn cpu_model(cpu_info: &str) -> String {
    // On Arm, `/proc/cpuinfo` has no model name, but implementer and part identify the processor. Other systems than Linux have no such file.
    field(cpu_info, "model name")
        .map(str::to_owned)
        .or_else(|| {
            let implementer = field(cpu_info, "CPU implementer")?;
            let part = field(cpu_info, "CPU part")?;
            Some(format!("implementer {implementer} part {part}"))
        })
        .or_else(os::processor_name)
        .unwrap_or_else(|| "unknown".to_owned())
}

/// Position of the nice value after the name of the program.
const NICE: usize = 16;

/// Reads the whole state; `ci` is whether this is a CI runner.
pub fn machine_state(files: &dyn SystemFiles, ci: bool) -> MachineState {
    let online = online(files);
    let load = files.line("/proc/loadavg");
    let stat = files.text("/proc/self/stat");
    MachineState {
        timer: timer(files),
        frequency: frequency(files, &online),
        processors: processors(files, &online),
        surroundings: surroundings(files, ci),
        memory: memory(files),
        power: power(files),
        load: load.and_then(|line| line.split(' ').next()?.parse().ok()),
        address_randomisation: files
            .number("/proc/sys/kernel/randomize_va_space")
            .and_then(|value| u8::try_from(value).ok()),
        nice: stat.and_then(|stat| nice(&stat)),
    }
}

fn nice(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(NICE)?.parse().ok()
}

/// Reads the state of memory.
pub(super) fn memory(files: &dyn SystemFiles) -> MemoryState {
    let text = files.text("/proc/meminfo").unwrap_or_default();
    let bytes = |name| {
        let kib: u64 = field(&text, name)?
            .strip_suffix("kB")?
            .trim()
            .parse()
            .ok()?;
        kib.checked_mul(1024)
    };
    let swap = bytes("SwapTotal");
    MemoryState {
        total_bytes: bytes("MemTotal"),
        available_bytes: bytes("MemAvailable"),
        swap_bytes: swap,
        swap_used_bytes: swap
            .zip(bytes("SwapFree"))
            .map(|(total, free)| total.saturating_sub(free)),
        huge_pages: files
            .line("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|line| bracketed_word(&line)),
    }
}

/// Returns the word in brackets.
fn bracketed_word(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.to_owned())
}

const ZONES: &str = "/sys/class/thermal";
const SUPPLIES: &str = "/sys/class/power_supply";

/// Reads the state of temperature and power.
pub(super) fn power(files: &dyn SystemFiles) -> PowerState {
    PowerState {
        hottest: hottest(files),
        on_battery: on_battery(files),
        profile: files.line("/sys/firmware/acpi/platform_profile"),
    }
}

/// Returns the zone that is nearest to its limit; without limits, the hottest one.
fn hottest(files: &dyn SystemFiles) -> Option<HeatState> {
    let names = files.names(ZONES).into_iter();
    let zones = names.filter(|name| name.starts_with("thermal_zone"));
    let zones = zones.filter_map(|name| {
        let path = format!("{ZONES}/{name}");
        Some(HeatState {
            zone: files.line(&format!("{path}/type")).unwrap_or(name),
            celsius: celsius(&files.line(&format!("{path}/temp"))?)?,
            limit_celsius: limit(files, &path),
        })
    });
    let room = |zone: &HeatState| {
        zone.limit_celsius
            .map_or(200.0 - zone.celsius, |limit| limit - zone.celsius)
    };
    zones.min_by(|one, two| room(one).total_cmp(&room(two)))
}

/// Returns the lowest trip point at which the system slows down or stops.
fn limit(files: &dyn SystemFiles, zone: &str) -> Option<f64> {
    let names = files.names(zone).into_iter();
    let points = names.filter_map(|name| {
        let number = name.strip_suffix("_type")?.strip_prefix("trip_point_")?;
        let kind = files.line(&format!("{zone}/{name}"))?;
        if !["passive", "hot", "critical"].contains(&kind.as_str()) {
            return None;
        }
        celsius(&files.line(&format!("{zone}/trip_point_{number}_temp"))?)
    });
    // Firmware sets unused trip points to 0 or below.
    points
        .filter(|celsius| *celsius > 0.0)
        .min_by(f64::total_cmp)
}

/// Converts the kernel's thousandths of a degree.
fn celsius(text: &str) -> Option<f64> {
    let thousandths: i32 = text.parse().ok()?;
    Some(f64::from(thousandths) / 1000.0)
}

/// Reports whether no mains supply is connected and a battery is discharging. Batteries of peripheral devices do not
/// count.
fn on_battery(files: &dyn SystemFiles) -> Option<bool> {
    let mut found = None;
    for name in files.names(SUPPLIES) {
        let path = format!("{SUPPLIES}/{name}");
        let line = |file: &str| files.line(&format!("{path}/{file}"));
        match line("type").as_deref() {
            Some("Mains" | "USB") if line("online").as_deref() == Some("1") => return Some(false),
            Some("Mains") => found = found.or(Some(false)),
            Some("Battery") if line("scope").as_deref() != Some("Device") => {
                let used_up = line("status").as_deref() == Some("Discharging");
                found = Some(found.unwrap_or(false) || used_up);
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::TestFiles;
    use super::*;
    use crate::RealFiles;
    use crate::process::{TimeSamplingError, read_usage, try_time_samples};
    use perfcheck_analysis::model::SystemFeature;

    #[test]
    fn what_is_said_to_be_missing_is_what_the_system_cannot_do() {
        let missing = SystemFeature::missing_on(std::env::consts::OS);
        let is_missing = |feature| missing.contains(&feature);
        assert!(read_usage(std::process::id()).is_some());
        let samples = try_time_samples();
        assert_eq!(
            is_missing(SystemFeature::FunctionTimes),
            samples == Err(TimeSamplingError::System)
        );
    }

    #[test]
    fn the_cpu_is_named_by_its_model_or_by_implementer_and_part() {
        let x86 = "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nflags\t\t: fpu hypervisor\n";
        assert_eq!(cpu_model(x86), "Some CPU @ 3 GHz");
        let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu_model(arm), "implementer 0x41 part 0xd0c");
    }

    #[test]
    fn load_randomisation_and_our_nice_value_are_read() {
        let texts = TestFiles::from_texts([
            ("/proc/loadavg", "1.50 0.80 0.40 1/200 999\n"),
            ("/proc/sys/kernel/randomize_va_space", "2\n"),
            (
                "/proc/self/stat",
                "9 (x) R 1 9 9 0 -1 0 0 0 0 0 1 2 3 4 30 10 1 0",
            ),
        ]);
        let found = machine_state(&texts, false);
        assert_eq!(found.load, Some(1.5));
        assert_eq!(found.address_randomisation, Some(2));
        assert_eq!(found.nice, Some(10));
    }

    #[test]
    fn on_a_system_that_tells_nothing_only_the_timer_is_known() {
        let found = machine_state(&TestFiles::from_texts([]), false);
        let expected = MachineState {
            timer: found.timer.clone(),
            ..MachineState::default()
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn this_machine_can_be_looked_at_whatever_it_is() {
        let found = machine_state(&RealFiles, true);
        assert!(found.surroundings.ci);
        assert!(found.timer.reading_ns.is_some());
    }

    #[test]
    fn sizes_are_bytes_and_used_swap_is_what_is_not_free() {
        let texts = TestFiles::from_texts([
            (
                "/proc/meminfo",
                "MemTotal:       1000 kB\nMemAvailable:    250 kB\nSwapTotal:  64 kB\nSwapFree:  60 kB\nHugePages_Total:       0\n",
            ),
            (
                "/sys/kernel/mm/transparent_hugepage/enabled",
                "always [madvise] never\n",
            ),
        ]);
        let expected = MemoryState {
            total_bytes: Some(1_024_000),
            available_bytes: Some(256_000),
            swap_bytes: Some(65_536),
            swap_used_bytes: Some(4096),
            huge_pages: Some("madvise".to_owned()),
        };
        assert_eq!(memory(&texts), expected);
        assert_eq!(memory(&TestFiles::from_texts([])), MemoryState::default());
    }

    #[test]
    fn a_size_that_is_none_is_unknown() {
        let texts = TestFiles::from_texts([(
            "/proc/meminfo",
            "MemTotal: much kB\nSwapTotal: 18446744073709551615 kB\n",
        )]);
        assert_eq!(memory(&texts), MemoryState::default());
    }

    #[test]
    fn the_zone_nearest_to_its_limit_is_named() {
        let texts = TestFiles::from_texts([
            ("/sys/class/thermal/cooling_device0/type", "Processor"),
            ("/sys/class/thermal/thermal_zone0/type", "acpitz"),
            ("/sys/class/thermal/thermal_zone0/temp", "27800"),
            ("/sys/class/thermal/thermal_zone1/type", "x86_pkg_temp"),
            ("/sys/class/thermal/thermal_zone1/temp", "91000"),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_0_type",
                "critical",
            ),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_0_temp",
                "105000",
            ),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_1_type",
                "passive",
            ),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_1_temp",
                "95000",
            ),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_2_type",
                "passive",
            ),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_2_temp",
                "-274000",
            ),
        ]);
        let found = hottest(&texts).unwrap();
        assert_eq!(found.zone, "x86_pkg_temp");
        assert_eq!((found.celsius, found.limit_celsius), (91.0, Some(95.0)));
    }

    #[test]
    fn a_laptop_runs_from_its_battery_when_it_is_unplugged_and_a_mouse_s_battery_is_none() {
        let laptop = |online, status| {
            TestFiles::from_texts([
                ("/sys/class/power_supply/AC/type", "Mains"),
                ("/sys/class/power_supply/AC/online", online),
                ("/sys/class/power_supply/BAT0/type", "Battery"),
                ("/sys/class/power_supply/BAT0/status", status),
                ("/sys/class/power_supply/hidpp/type", "Battery"),
                ("/sys/class/power_supply/hidpp/scope", "Device"),
                ("/sys/class/power_supply/hidpp/status", "Discharging"),
            ])
        };
        assert_eq!(on_battery(&laptop("1", "Charging")), Some(false));
        assert_eq!(on_battery(&laptop("0", "Discharging")), Some(true));
        assert_eq!(on_battery(&laptop("0", "Full")), Some(false));
        assert_eq!(on_battery(&TestFiles::from_texts([])), None);
    }

    #[test]
    fn without_sensors_nothing_is_known() {
        assert_eq!(power(&TestFiles::from_texts([])), PowerState::default());
    }
}
