//! Turns facts into findings (pure): good conditions, causes of unsteady results, and remedies.
//!
//! Invariant: every fact that matters for measurements has a finding, even if the system does not reveal it.

use super::finding::{good_finding, unknown_finding};
use super::hardware::{
    judge_boost, judge_frequency, judge_heat, judge_power, judge_processors, judge_timer,
};
use super::system::{
    judge_huge_pages, judge_instructions, judge_layouts, judge_limits, judge_load, judge_memory,
    judge_priority, judge_randomization, judge_sampled_time, judge_virtual_machine,
};
use crate::report::{DoctorFinding, NoiseFindings, Severity, in_percent};
use perfcheck_analysis::model::{HostActivity, MachineState};
use perfcheck_engine::child::ValgrindError;
use perfcheck_engine::process::TimeSamplingError;

/// Limits of the smallest slowdown that a usual comparison detects.
const WELL_RESOLVED: f64 = 0.02;
const BADLY_RESOLVED: f64 = 0.05;

/// The facts to judge.
pub(super) struct DoctorFacts<'o> {
    pub(super) state: &'o MachineState,
    pub(super) meanwhile: &'o HostActivity,
    pub(super) noise: &'o [NoiseFindings],
    /// Whether the toolchain has a linker that can change the layout of executables; an error gives the reason why this is unknown
    pub(super) has_linker: Result<bool, String>,
    /// Version of valgrind; an error gives the reason why it cannot be used
    pub(super) valgrind: Result<String, ValgrindError>,
    /// Whether the time of a process can be sampled; an error gives the reason why not
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
    findings.push(judge_layouts(&observed.has_linker));
    findings.push(judge_instructions(&observed.valgrind));
    findings.push(judge_sampled_time(&observed.samples));
    findings.push(judge_noise(observed.noise));
    findings
}

fn judge_noise(noise: &[NoiseFindings]) -> DoctorFinding {
    const TOPIC: &str = "noise";
    let smallest: Vec<(&str, f64)> = noise
        .iter()
        .filter_map(|one| Some((one.workload.as_str(), one.smallest_change?)))
        .collect();
    if smallest.len() < noise.len() || smallest.is_empty() {
        return unknown_finding(TOPIC, "too few rounds in this time");
    }
    let words: Vec<String> = smallest
        .iter()
        .map(|(name, change)| format!("{} ({name})", in_percent((change * 1e3).round() / 1e3)))
        .collect();
    let found = good_finding(
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
    found.with_problem(
        severity,
        "Change what is marked above and look again; until then measure longer:",
        &["cargo perfcheck --against main --time-budget 5min"],
    )
}
