//! Facts about the machine.

use std::{fs, thread};

use crate::os;
use perfcheck_analysis::model::HostFacts;

/// Reads the facts about this machine. `ci` means that it is a CI runner, which shares its machine with others.
pub fn read_host_facts(ci: bool) -> HostFacts {
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
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
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        microcode: field(&cpu_info, "microcode"),
        shared: Some(ci || virtual_machine),
    }
}

fn cpu_model(cpu_info: &str) -> String {
    // On Arm, `/proc/cpuinfo` has no model name, but implementer and part identify the processor. Other systems than Linux have no such file.
    field(cpu_info, "model name")
        .or_else(|| {
            let implementer = field(cpu_info, "CPU implementer")?;
            let part = field(cpu_info, "CPU part")?;
            Some(format!("implementer {implementer} part {part}"))
        })
        .or_else(os::processor_name)
        .unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the first value for `name` in lines of the form `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{TimeSamplingError, read_usage, try_time_samples};
    use perfcheck_analysis::model::SystemFeature;

    #[test]
    fn what_is_said_to_be_missing_is_what_the_system_cannot_do() {
        let missing = SystemFeature::missing_on(std::env::consts::OS);
        let is_missing = |feature| missing.contains(&feature);
        let usage = read_usage(std::process::id());
        assert_eq!(is_missing(SystemFeature::ProcessUsage), usage.is_none());
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
}
