//! Several runs of one benchmark at once: Kruskal and Wallis's test of all of them is a gate, behind which each is compared by Mann and Whitney's.

use serde::Serialize;

use super::decide::{adjusted, answer, look};
use super::observations::SideSamples;
use super::procedures::Setting;
use crate::compare::comparison::Comparison;
use crate::compare::question::{Question, Rules};
use crate::model::{Analysis, DecisionSettings, Measurement, Test};
use perfcheck_stats::{KruskalWallis, derived_seed};

/// A test of all runs together, before each is compared with the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateGroup {
    /// Kruskal and Wallis's H of all runs together.
    pub h: f64,
    /// The p-value of H.
    pub p_value: f64,
    /// Whether it is below the level, so that single differences count.
    pub open: bool,
}

/// What several runs of a benchmark say together, and each of them behind that.
#[derive(Debug, Clone, PartialEq)]
pub struct AcrossRuns {
    /// The test of all runs together.
    pub gate: GateGroup,
    /// The candidates in their order, each by Mann and Whitney's test. The correction of the rules is over the candidates; behind a closed gate p is 1.
    pub comparisons: Vec<Comparison>,
}

/// Compares the candidates of `questions`, which share a benchmark and its reference. `None` where fewer than two candidates and the reference
/// have as many observations as a test of ranks needs.
pub fn across_runs(questions: &[Question<'_>], rules: &Rules) -> Option<AcrossRuns> {
    let analysis = Analysis {
        test: Test::MannWhitney,
        ..rules.decision.analysis
    };
    let decision = DecisionSettings {
        analysis,
        ..rules.decision
    };
    let setting = Setting::of(&decision);
    let gate = gate(questions, rules, &setting)?;
    let found: Vec<_> = (questions.iter())
        .map(|question| look(question, rules, &setting))
        .collect();
    let adjusted = if gate.open {
        adjusted(&found, &analysis)
    } else {
        vec![1.0; found.len()]
    };
    let comparisons = found.into_iter().zip(questions).zip(adjusted);
    Some(AcrossRuns {
        gate,
        comparisons: comparisons
            .map(|((found, question), adjusted)| answer(found, question, adjusted, &setting))
            .collect(),
    })
}

/// The test of all runs that have enough observations.
fn gate(questions: &[Question<'_>], rules: &Rules, setting: &Setting<'_>) -> Option<GateGroup> {
    let first = questions.first()?;
    let seed = derived_seed(rules.seed, &first.candidate.benchmark.key.to_string());
    let observed = |runs: &[&Measurement]| {
        SideSamples::of(runs, setting.decision, seed).observations(setting.analysis)
    };
    let base = observed(&first.reference.averaged);
    let candidates: Vec<Vec<f64>> = (questions.iter())
        .map(|question| observed(&[question.candidate]))
        .filter(|observed| observed.len() >= setting.fewest())
        .collect();
    if base.len() < setting.fewest() || candidates.len() < 2 {
        return None;
    }
    let groups: Vec<&[f64]> = (std::iter::once(&base).chain(&candidates))
        .map(Vec::as_slice)
        .collect();
    let test = KruskalWallis::of(&groups)?;
    Some(GateGroup {
        h: test.h,
        p_value: test.p,
        open: test.p < setting.level,
    })
}
