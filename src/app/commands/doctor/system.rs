//! Judges the effects of the system and of other programs on measurements: virtual machine, limits, load, memory (pure).

use super::finding::{NOT_TOLD, good_finding, unknown_finding};
use crate::app::measuring::paired::MUCH_STOLEN;
use crate::report::{DoctorFinding, Severity};
use perfcheck_analysis::model::{HostActivity, MachineState, MemoryState};
use perfcheck_engine::child::ValgrindError;
use perfcheck_engine::process::TimeSamplingError;

/// Share of stolen processor time that deserves attention.
const SOME_STOLEN: f64 = 0.002;
/// Number of processors kept busy by other programs, as limits of bad and improvable load.
const MUCH_BUSY: f64 = 0.5;
const SOME_BUSY: f64 = 0.1;
/// Limits of little free memory: a share of all memory, and a number of bytes.
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
        || "what it takes from us is not told".to_owned(),
        |share| format!("{:.1} % of the time went to others", share * 100.0),
    );
    let mut found = match (surroundings.virtual_machine, &surroundings.hypervisor) {
        (Some(true), Some(name)) => format!("yes ({name}): {in_words}"),
        (Some(true), None) => format!("yes: {in_words}"),
        (Some(false), _) => "no".to_owned(),
        (None, _) => return unknown_finding(TOPIC, NOT_TOLD),
    };
    if surroundings.ci {
        found += "; a CI runner, another one each time";
    }
    let found = good_finding(TOPIC, found);
    let what = "Others use the same processors, caches and memory, and nothing in here can stop that. Compare builds side by side (`--against`), not with stored runs; rent whole cores or a dedicated host.";
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

pub(super) fn judge_layouts(has_linker: &Result<bool, String>) -> DoctorFinding {
    const TOPIC: &str = "layouts of code";
    match has_linker {
        Ok(true) => good_finding(
            TOPIC,
            "both sides can be linked with their functions at the same places".to_owned(),
        ),
        Ok(false) => good_finding(TOPIC, "executables run as they were linked".to_owned()).with_problem(
            Severity::Improvable,
            "The toolchain for this target has no linker of its own (`ld.lld`). A change of 1 to 3 % in code that was not touched may come from where its functions lie:",
            &["cargo perfcheck --against main --noise-threshold 3%"],
        ),
        Err(why) => unknown_finding(TOPIC, why),
    }
}

/// Judges `valgrind`: its version, or the reason why it is unavailable.
pub(super) fn judge_instructions(valgrind: &Result<String, ValgrindError>) -> DoctorFinding {
    const TOPIC: &str = "instructions";
    match valgrind {
        Ok(version) => good_finding(TOPIC, format!("are counted with valgrind {version}")),
        Err(why @ ValgrindError::Broken(_)) => unknown_finding(TOPIC, &why.to_string()),
        Err(why @ ValgrindError::Missing) => good_finding(TOPIC, why.to_string()).with_problem(
            Severity::Improvable,
            "With it the instructions of benchmarks whose time has changed are counted, and the function that has more of them is named:",
            &["sudo apt install valgrind"],
        ),
    }
}

/// Judges whether time can be sampled by function, the fallback if instructions are not counted.
pub(super) fn judge_sampled_time(samples: &Result<(), TimeSamplingError>) -> DoctorFinding {
    const TOPIC: &str = "sampled time";
    match samples {
        Ok(()) => good_finding(
            TOPIC,
            "the time of processes can be sampled by function".to_owned(),
        ),
        Err(TimeSamplingError::System) => {
            good_finding(TOPIC, TimeSamplingError::System.to_string())
        }
        Err(why @ TimeSamplingError::Failed(_)) => unknown_finding(TOPIC, &why.to_string()),
        Err(why) => {
            let found = good_finding(TOPIC, why.to_string());
            let what = "Where instructions are not counted, it would name the function that takes more time.";
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
            "{place}{quota:.2} processors in each {} ms",
            period as f64 / 1e3
        ),
        _ if !surroundings.limits_readable && meanwhile.out_of_quota.is_none() => {
            return unknown_finding(TOPIC, &format!("{place}{NOT_TOLD}"));
        }
        _ => format!("{place}no quota of processor time is set"),
    };
    if let Some(bytes) = surroundings.memory_limit_bytes {
        found = format!("{found}, {} of memory", format_gibibytes(bytes));
    }
    let waited = meanwhile.out_of_quota.filter(|count| *count > 0);
    if let Some(count) = waited {
        found = format!("{found}; used up {count} times meanwhile");
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
        "Who has used up his quota stands still until the next period, in the middle of a sample. Give the container processors of its own in place of a share (Kubernetes: the static CPU manager policy, whole numbers as requests and limits):",
        &["docker run --cpuset-cpus 0-1 ..."],
    )
}

pub(super) fn judge_load(state: &MachineState, meanwhile: &HostActivity) -> DoctorFinding {
    const TOPIC: &str = "other programs";
    let processors = state.processors.online.unwrap_or(1) as f64;
    let busy = meanwhile.others_share.map(|share| share * processors);
    let mut found = match busy {
        Some(busy) => format!("used {busy:.2} of {processors} processors meanwhile"),
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
    // A load average includes this process.
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
        "They take processors, caches and memory from the benchmarks. Close them, or wait. What is running:",
        &["ps -eo pcpu,pid,comm --sort=-pcpu | head"],
    )
}

pub(super) fn judge_randomization(value: Option<u8>) -> DoctorFinding {
    const TOPIC: &str = "address layout";
    let found = |text: &str| good_finding(TOPIC, text.to_owned());
    match value {
        Some(0 | 1) => found("the same in each launch, wholly or in part").with_problem(
            Severity::Improvable,
            "One layout may suit one build by chance, and all launches then share it. Randomised, launches see many:",
            &["sudo sysctl -w kernel.randomize_va_space=2"],
        ),
        Some(_) => found("randomised: no single one decides"),
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
        found = format!("{found}; {pages} pages swapped meanwhile");
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
        "Pages that come back from swap, or a file cache that is pushed out, take milliseconds. Close what holds memory:",
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
        "The kernel joins pages when it finds the time, so that benchmarks with much memory have them in some launches and not in others.",
        &["echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"],
    )
}

pub(super) fn judge_priority(nice: Option<i32>) -> Option<DoctorFinding> {
    let nice = nice.filter(|nice| *nice > 0)?;
    let found = good_finding("priority", format!("nice {nice}: all others come first"));
    Some(found.with_problem(
        Severity::Improvable,
        "Start it without `nice`, or raise this shell's priority:",
        &["sudo renice --priority 0 --pid $$"],
    ))
}

/// Formats bytes in the unit in which memory is sold.
fn format_gibibytes(bytes: u64) -> String {
    let gib = bytes as f64 / (1_u64 << 30) as f64;
    format!("{gib:.1} GiB")
}
