//! Tests that describe machines and check the findings about them.

use super::judgement::{DoctorFacts, judge, judge_instructions, judge_layouts, judge_sampled_time};
use crate::output::{DoctorFinding, NoiseFindings, Severity};
use perfcheck_analysis::model::{
    BusyProgram, FrequencyState, HeatState, HostActivity, MachineState, MemoryState, Nanos,
    PowerState, ProcessorState, SystemEnvironment, TimerState,
};
use perfcheck_bench::child::ValgrindError;
use perfcheck_host::process::TimeSamplingError;

/// Returns a machine without problems.
fn workstation() -> MachineState {
    MachineState {
        timer: TimerState {
            source: Some("tsc".into()),
            available: vec!["tsc".into(), "hpet".into()],
            step_ns: Some(Nanos(1)),
            reading_ns: Some(20.0),
        },
        frequency: FrequencyState {
            governors: vec!["performance".into()],
            driver: Some("intel_pstate".into()),
            boost: Some(false),
            boost_switch: Some("/sys/devices/system/cpu/intel_pstate/no_turbo"),
            lowest_khz: Some(3_600_000),
            highest_khz: Some(3_600_000),
            ..FrequencyState::default()
        },
        processors: ProcessorState {
            online: Some(8),
            allowed: Some(8),
            threads_per_core: Some(1),
            hybrid: Some(false),
            nodes: Some(1),
            ..ProcessorState::default()
        },
        surroundings: SystemEnvironment {
            virtual_machine: Some(false),
            limits_readable: true,
            ..SystemEnvironment::default()
        },
        memory: MemoryState {
            total_bytes: Some(32 << 30),
            available_bytes: Some(20 << 30),
            swap_bytes: Some(8 << 30),
            swap_used_bytes: Some(0),
            huge_pages: Some("madvise".into()),
        },
        power: PowerState {
            hottest: Some(HeatState {
                zone: "x86_pkg_temp".into(),
                celsius: 48.0,
                limit_celsius: Some(95.0),
            }),
            on_battery: Some(false),
            profile: None,
        },
        load: Some(0.2),
        address_randomisation: Some(2),
        nice: Some(0),
    }
}

fn quiet() -> HostActivity {
    HostActivity {
        seconds: 10.0,
        stolen_share: Some(0.0),
        others_share: Some(0.004),
        slowed_by_heat: Some(0),
        out_of_quota: Some(0),
        swapped_pages: Some(0),
        ..HostActivity::default()
    }
}

fn noise(smallest_change: Option<f64>) -> Vec<NoiseFindings> {
    vec![NoiseFindings {
        clock_step: None,
        workload: "processor".into(),
        rounds: 80,
        seconds: 5.0,
        difference: None,
        smallest_change,
        resolvable: Vec::new(),
    }]
}

fn found(
    state: &MachineState,
    meanwhile: &HostActivity,
    smallest: Option<f64>,
) -> Vec<DoctorFinding> {
    judge(&DoctorFacts {
        system: "linux",
        state,
        meanwhile,
        noise: &noise(smallest),
        // A machine that reveals nothing has no working toolchain either.
        has_linker: smallest.map(|_| true).ok_or_else(|| "no rustc".to_owned()),
        valgrind: smallest
            .map(|_| "3.24.0".to_owned())
            .ok_or_else(|| ValgrindError::Broken("no program starts".to_owned())),
        samples: (smallest.map(|_| ()))
            .ok_or_else(|| TimeSamplingError::Failed("no system".to_owned())),
    })
}

/// Returns the finding about `topic` after applying `change` to a good machine.
#[track_caller]
fn about(topic: &str, change: impl FnOnce(&mut MachineState, &mut HostActivity)) -> DoctorFinding {
    let (mut state, mut meanwhile) = (workstation(), quiet());
    change(&mut state, &mut meanwhile);
    let found = found(&state, &meanwhile, Some(0.012));
    let finding = found.into_iter().find(|finding| finding.topic == topic);
    finding.expect("a finding about it")
}

#[test]
fn a_good_machine_is_good_and_nothing_is_to_be_done() {
    for finding in found(&workstation(), &quiet(), Some(0.012)) {
        assert_eq!(finding.severity, Severity::Good, "{finding:?}");
        assert_eq!(finding.advice, None, "{finding:?}");
    }
}

#[test]
fn what_the_system_lacks_is_one_finding_without_advice() {
    let judged = judge(&DoctorFacts {
        system: "windows",
        state: &MachineState::default(),
        meanwhile: &HostActivity::default(),
        noise: &noise(Some(0.012)),
        has_linker: Ok(true),
        valgrind: Err(ValgrindError::Missing),
        samples: Err(TimeSamplingError::System),
    });
    let of = |topic: &str| judged.iter().find(|finding| finding.topic == topic);
    let system = of("system").expect("a finding about it");
    assert_eq!(system.severity, Severity::Unknown);
    assert!(
        system.found.contains("not supported on Windows")
            && system.found.contains("instruction counts"),
        "{system:?}"
    );
    for topic in ["code layout", "instructions", "sampled time"] {
        assert!(of(topic).is_none(), "{topic}");
    }
    assert!(judged.iter().all(|finding| finding.commands.is_empty()));
}

#[test]
fn a_toolchain_without_a_linker_of_its_own_leaves_functions_where_they_are() {
    let finding = judge_layouts("linux", &Ok(false));
    assert_eq!(finding.severity, Severity::Improvable);
    assert_eq!(
        finding.found,
        "executables run as built, each with its own function order"
    );
    assert_eq!(
        judge_layouts("linux", &Err("no rustc".to_owned())).severity,
        Severity::Unknown
    );
    // The linker of macOS is another one.
    let finding = judge_layouts("macos", &Ok(false));
    assert!(
        finding.found.ends_with("never tried on a Mac"),
        "{finding:?}"
    );
    assert_eq!(finding.advice, None);
}

#[test]
fn why_the_time_is_not_sampled_is_said_with_what_allows_it() {
    assert_eq!(judge_sampled_time(&Ok(())).severity, Severity::Good);
    let paranoid = judge_sampled_time(&Err(TimeSamplingError::Paranoid(3)));
    assert_eq!(paranoid.severity, Severity::Improvable);
    assert!(paranoid.found.contains("is 3"), "{paranoid:?}");
    assert_eq!(
        paranoid.commands,
        ["sudo sysctl kernel.perf_event_paranoid=2"]
    );
    let refused = judge_sampled_time(&Err(TimeSamplingError::Refused));
    assert!(refused.found.contains("not permitted"), "{refused:?}");
    // The user cannot remedy either of these reasons, so they are no problem.
    for why in [TimeSamplingError::System, TimeSamplingError::Missing] {
        assert_eq!(judge_sampled_time(&Err(why)).severity, Severity::Good);
    }
}

#[test]
fn without_valgrind_it_is_said_what_it_would_tell() {
    let finding = judge_instructions(&Err(ValgrindError::Missing));
    assert_eq!(finding.severity, Severity::Improvable);
    assert_eq!(finding.found, "valgrind is not installed");
    assert_eq!(finding.commands, ["sudo apt install valgrind"]);
    let finding = judge_instructions(&Ok("3.24.0".to_owned()));
    assert_eq!(finding.severity, Severity::Good);
    assert_eq!(finding.found, "counted with valgrind 3.24.0");
}

#[test]
fn a_machine_that_tells_nothing_is_unknown_and_gets_no_advice() {
    let findings = found(&MachineState::default(), &HostActivity::default(), None);
    for finding in findings {
        assert_eq!(finding.severity, Severity::Unknown, "{finding:?}");
        assert_eq!(finding.advice, None, "{finding:?}");
    }
}

#[test]
fn in_a_container_what_is_hidden_is_not_taken_for_what_is_not_there() {
    let state = MachineState {
        frequency: FrequencyState::default(),
        power: PowerState::default(),
        surroundings: SystemEnvironment {
            container: Some("Docker".into()),
            ..SystemEnvironment::default()
        },
        ..workstation()
    };
    let meanwhile = HostActivity {
        slowed_by_heat: None,
        out_of_quota: None,
        ..quiet()
    };
    let findings = found(&state, &meanwhile, Some(0.012));
    let hidden = [
        "frequency",
        "boost",
        "virtual machine",
        "limits",
        "temperature",
        "power",
    ];
    for finding in findings {
        let expected = if hidden.contains(&finding.topic) {
            Severity::Unknown
        } else {
            Severity::Good
        };
        assert_eq!(finding.severity, expected, "{finding:?}");
        assert_eq!(finding.advice, None, "{finding:?}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn whatever_is_not_good_has_a_reason_and_most_have_a_command() {
    let cases: [(&str, Severity, &str, DoctorFinding); 14] = [
        (
            "timer",
            Severity::Bad,
            "echo tsc | sudo tee",
            about("timer", |state, _| state.timer.source = Some("hpet".into())),
        ),
        (
            "frequency",
            Severity::Improvable,
            "cpupower frequency-set --governor performance",
            about("frequency", |state, _| {
                state.frequency.governors = vec!["performance".into(), "schedutil".into()];
            }),
        ),
        (
            "boost",
            Severity::Improvable,
            "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo",
            about("boost", |state, _| state.frequency.boost = Some(true)),
        ),
        (
            "boost",
            Severity::Improvable,
            "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost",
            about("boost", |state, _| {
                state.frequency.boost = Some(true);
                state.frequency.boost_switch = Some("/sys/devices/system/cpu/cpufreq/boost");
            }),
        ),
        (
            "processors",
            Severity::Bad,
            "",
            about("processors", |state, _| state.processors.allowed = Some(1)),
        ),
        (
            "processors",
            Severity::Improvable,
            "smt/control",
            about("processors", |state, _| {
                state.processors.threads_per_core = Some(2);
            }),
        ),
        (
            "processors",
            Severity::Improvable,
            "taskset",
            about("processors", |state, _| {
                state.processors.hybrid = Some(true);
            }),
        ),
        (
            "virtual machine",
            Severity::Bad,
            "",
            about("virtual machine", |state, meanwhile| {
                state.surroundings.virtual_machine = Some(true);
                meanwhile.stolen_share = Some(0.08);
            }),
        ),
        (
            "limits",
            Severity::Bad,
            "--cpuset-cpus",
            about("limits", |state, meanwhile| {
                state.surroundings.processor_quota = Some(1.5);
                state.surroundings.quota_period_us = Some(100_000);
                meanwhile.out_of_quota = Some(12);
            }),
        ),
        (
            "other programs",
            Severity::Bad,
            "ps -eo",
            about("other programs", |_, meanwhile| {
                meanwhile.others_share = Some(0.2);
                meanwhile.busiest = vec![BusyProgram {
                    name: "rustc".into(),
                    processors: 1.55,
                }];
            }),
        ),
        (
            "temperature",
            Severity::Bad,
            "",
            about("temperature", |_, meanwhile| {
                meanwhile.slowed_by_heat = Some(3);
            }),
        ),
        (
            "power",
            Severity::Bad,
            "",
            about("power", |state, _| state.power.on_battery = Some(true)),
        ),
        (
            "address layout",
            Severity::Improvable,
            "randomize_va_space=2",
            about("address layout", |state, _| {
                state.address_randomisation = Some(0);
            }),
        ),
        (
            "memory",
            Severity::Improvable,
            "ps -eo rss",
            about("memory", |_, meanwhile| meanwhile.swapped_pages = Some(40)),
        ),
    ];
    for (topic, severity, command, finding) in cases {
        assert_eq!((finding.topic, finding.severity), (topic, severity));
        assert!(finding.advice.is_some(), "{finding:?}");
        let commands = finding.commands.join("\n");
        assert!(commands.contains(command), "{finding:?}");
        assert_eq!(command.is_empty(), commands.is_empty(), "{finding:?}");
    }
}

#[test]
fn what_was_found_is_said_with_its_numbers() {
    let busy = about("other programs", |_, meanwhile| {
        meanwhile.others_share = Some(0.25);
        meanwhile.busiest = vec![BusyProgram {
            name: "rustc".into(),
            processors: 1.5,
        }];
    });
    assert_eq!(
        busy.found,
        "used 2.00 of 8 processors during measurement (rustc 1.50); load 0.2"
    );
    let quota = about("limits", |state, _| {
        state.surroundings.container = Some("Docker".into());
        state.surroundings.processor_quota = Some(0.5);
        state.surroundings.quota_period_us = Some(100_000);
        state.surroundings.memory_limit_bytes = Some(2 << 30);
    });
    assert_eq!(
        quota.found,
        "Docker: quota of 0.50 processors (period 100 ms), memory limited to 2.0 GiB"
    );
    assert_eq!(quota.severity, Severity::Improvable);
}

#[test]
fn a_machine_without_a_guest_s_counters_is_judged_by_its_load() {
    let by_load = |load| {
        about("other programs", |state, meanwhile| {
            meanwhile.others_share = None;
            state.load = Some(load);
        })
        .severity
    };
    assert_eq!(by_load(0.8), Severity::Good, "that may be ourselves");
    assert_eq!(by_load(3.0), Severity::Bad);
}

#[test]
fn a_quiet_guest_is_good_and_a_ci_runner_is_never() {
    let guest = |ci| {
        about("virtual machine", |state, _| {
            state.surroundings.virtual_machine = Some(true);
            state.surroundings.ci = ci;
        })
        .severity
    };
    assert_eq!(guest(false), Severity::Good);
    assert_eq!(guest(true), Severity::Improvable);
}

#[test]
fn noise_is_judged_by_the_smallest_slowdown_of_its_worst_workload() {
    for (smallest, severity) in [
        (Some(0.015), Severity::Good),
        (Some(0.03), Severity::Improvable),
        (Some(0.2), Severity::Bad),
        (None, Severity::Unknown),
    ] {
        let findings = found(&workstation(), &quiet(), smallest);
        let noise = findings.last().expect("noise comes last");
        assert_eq!((noise.topic, noise.severity), ("noise", severity));
    }
}

#[test]
fn a_nice_value_is_told_only_where_it_is_one() {
    let topics = |nice| {
        let mut state = workstation();
        state.nice = nice;
        let findings = found(&state, &quiet(), None);
        findings.iter().any(|finding| finding.topic == "priority")
    };
    assert!(topics(Some(10)));
    assert!(!topics(Some(0)));
    assert!(!topics(None));
}
