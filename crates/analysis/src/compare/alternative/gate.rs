//! Several runs of one benchmark at once: the Kruskal-Wallis test of all of them is a gate. Behind it each run is compared by the Mann-Whitney test.

use serde::Serialize;

use super::decide::{adjust_p_values, build_comparison, test_question};
use super::observations::SideSamples;
use super::procedures::PublishedTest;
use crate::compare::comparison::Comparison;
use crate::compare::question::{Question, TestPolicy};
use crate::model::{Analysis, DecisionSettings, Measurement, Test};
use perfcheck_stats::{KruskalWallis, derived_seed};

/// A test of all runs together, before each is compared with the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateGroup {
    /// The H statistic of the Kruskal-Wallis test of all runs together.
    pub h: f64,
    /// The p-value of H.
    pub p_value: f64,
    /// Whether the p-value is below the level, so that single differences count.
    pub open: bool,
}

/// The results for several runs of a benchmark: the gate and the single comparisons behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct AcrossRuns {
    /// The test of all runs together.
    pub gate: GateGroup,
    /// Comparisons of the candidates, in order, by the Mann-Whitney test. p is corrected over the candidates; it is 1 if the gate is closed.
    pub comparisons: Vec<Comparison>,
}

/// Compares the candidates of `questions`, which share a benchmark and its reference. `None` unless the reference and at least two candidates have as
/// many observations as a rank test needs.
pub fn compare_across_runs(questions: &[Question<'_>], rules: &TestPolicy) -> Option<AcrossRuns> {
    let analysis = Analysis {
        test: Test::MannWhitney,
        ..rules.decision.analysis
    };
    let decision = DecisionSettings {
        analysis,
        ..rules.decision
    };
    let setting = PublishedTest::from_decision(&decision);
    let gate = test_gate(questions, rules, &setting)?;
    let found: Vec<_> = (questions.iter())
        .map(|question| test_question(question, rules, &setting))
        .collect();
    let adjusted = if gate.open {
        adjust_p_values(&found, &analysis)
    } else {
        vec![1.0; found.len()]
    };
    let comparisons = found.into_iter().zip(questions).zip(adjusted);
    Some(AcrossRuns {
        gate,
        comparisons: comparisons
            .map(|((found, question), adjusted)| {
                build_comparison(found, question, adjusted, &setting)
            })
            .collect(),
    })
}

/// Tests all runs that have enough observations.
fn test_gate(
    questions: &[Question<'_>],
    rules: &TestPolicy,
    setting: &PublishedTest<'_>,
) -> Option<GateGroup> {
    let first = questions.first()?;
    let seed = derived_seed(rules.seed, &first.candidate.benchmark.key.to_string());
    let observed = |runs: &[&Measurement]| {
        SideSamples::from_runs(runs, setting.decision, seed).observations(setting.analysis)
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
    let test = KruskalWallis::test(&groups)?;
    Some(GateGroup {
        h: test.h,
        p_value: test.p,
        open: test.p < setting.level,
    })
}
