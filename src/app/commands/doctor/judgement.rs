//! Turns facts into findings (pure): good conditions, causes of unsteady results, and remedies.
//!
//! Invariant: every fact that matters for measurements has a finding, even if the system does not reveal it.

use super::finding::{good, unknown};
use super::hardware::{boost, frequency, heat, power, processors, timer};
use super::system::{
    huge_pages, instructions, layouts, limits, load, memory, priority, randomisation, sampled_time,
    virtual_machine,
};
use crate::report::{DoctorFinding, NoiseFindings, Severity, in_percent};
use perfcheck_analysis::model::{Happenings, MachineState};
use perfcheck_engine::child::NoValgrind;
use perfcheck_engine::process::NoTimeSamples;

/// Limits of the smallest slowdown that a usual comparison detects.
const WELL_RESOLVED: f64 = 0.02;
const BADLY_RESOLVED: f64 = 0.05;

/// The facts to judge.
pub(super) struct Observed<'o> {
    pub(super) state: &'o MachineState,
    pub(super) meanwhile: &'o Happenings,
    pub(super) noise: &'o [NoiseFindings],
    /// Whether the toolchain has a linker that can change the layout of executables; an error gives the reason why this is unknown
    pub(super) has_linker: Result<bool, String>,
    /// Version of valgrind; an error gives the reason why it cannot be used
    pub(super) valgrind: Result<String, NoValgrind>,
    /// Whether the time of a process can be sampled; an error gives the reason why not
    pub(super) samples: Result<(), NoTimeSamples>,
}

/// Returns all findings in display order.
pub(super) fn judge(observed: &Observed<'_>) -> Vec<DoctorFinding> {
    let (state, meanwhile) = (observed.state, observed.meanwhile);
    let mut findings = vec![
        timer(&state.timer),
        frequency(&state.frequency),
        boost(&state.frequency),
        processors(&state.processors),
        virtual_machine(state, meanwhile),
        limits(state, meanwhile),
        load(state, meanwhile),
        heat(&state.power, meanwhile),
        power(&state.power),
        randomisation(state.address_randomisation),
        memory(&state.memory, meanwhile),
        huge_pages(&state.memory),
    ];
    findings.extend(priority(state.nice));
    findings.push(layouts(&observed.has_linker));
    findings.push(instructions(&observed.valgrind));
    findings.push(sampled_time(&observed.samples));
    findings.push(noise(observed.noise));
    findings
}

fn noise(noise: &[NoiseFindings]) -> DoctorFinding {
    const TOPIC: &str = "noise";
    let smallest: Vec<(&str, f64)> = noise
        .iter()
        .filter_map(|one| Some((one.workload.as_str(), one.smallest_change?)))
        .collect();
    if smallest.len() < noise.len() || smallest.is_empty() {
        return unknown(TOPIC, "too few rounds in this time");
    }
    let words: Vec<String> = smallest
        .iter()
        .map(|(name, change)| format!("{} ({name})", in_percent((change * 1e3).round() / 1e3)))
        .collect();
    let found = good(
        TOPIC,
        format!(
            "a usual A/B run finds slowdowns from {} on",
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
    found.but(
        severity,
        "Change what is marked above and look again; until then measure longer:",
        &["cargo perfcheck --against main --time-budget 5min"],
    )
}
