//! Compares stored runs by one of the tests that published benchmark systems use, instead of the project's own procedure. A question asks whether one
//! benchmark of a run differs from its reference. All questions are answered together, because their p-values are adjusted for the number of
//! questions.
//!
//! Several runs of one benchmark can also be compared with one reference. First, the Kruskal-Wallis test compares all of them at once. The
//! Mann-Whitney comparisons of the single runs count only if this test is significant.

use serde::Serialize;

use super::procedures::{
    PublishedDecision, PublishedTest, SideSamples, TestDecision, TestFinding, judge_significance,
};
use crate::compare::comparison::{Comparison, Decision, Extent};
use crate::compare::description::ChangeDescription;
use crate::compare::estimate::{ChangeBounds, Estimate};
use crate::compare::note::Note;
use crate::compare::question::{Question, TestPolicy};
use crate::compare::summary::sample_times;
use crate::model::{
    Analysis, DecisionSettings, Measurement, ProgressReporter, Side, Test, Verdict,
};
use crate::model::{WorkStage, map_with_progress};
use perfcheck_stats::{KruskalWallis, RatioVerdict, Significance, derived_seed};

/// The result of testing one benchmark. Its p-value is not adjusted for the number of benchmarks yet.
pub(super) struct TestedBenchmark {
    /// The result of the test, or the verdict of a question that cannot be tested.
    found: Result<TestFinding, Verdict>,
    description: ChangeDescription,
    extent: Extent,
    notes: Vec<Note>,
}

/// Answers all `questions` by the test that `rules` selects, in the same order. The p-values are adjusted for the number of questions.
///
/// A question that cannot be tested counts in this adjustment, too, with a p-value of 1.
pub(in crate::compare) fn compare(
    questions: &[Question<'_>],
    rules: &TestPolicy,
    stage: WorkStage,
    progress: &ProgressReporter<'_>,
) -> Vec<Comparison> {
    let setting = PublishedTest::from_decision(&rules.decision);
    let evidence = map_with_progress(questions, stage, progress, |question| {
        test_question(question, rules, &setting)
    });
    let adjusted = adjust_p_values(&evidence, setting.analysis);
    evidence
        .into_iter()
        .zip(questions)
        .zip(adjusted)
        .map(|((evidence, question), adjusted)| {
            build_comparison(evidence, question, adjusted, &setting)
                .with_stored_extras(question, rules)
        })
        .collect()
}

/// Returns the p-value of each question, adjusted for the number of questions. A question that has no p-value counts as if its p-value were 1.
pub(super) fn adjust_p_values(family: &[TestedBenchmark], analysis: &Analysis) -> Vec<f64> {
    let raw: Vec<f64> = family
        .iter()
        .map(|one| match one.found.as_ref().map(|found| found.decided) {
            Ok(TestDecision::ByP(Some(p))) => p,
            _ => 1.0,
        })
        .collect();
    analysis.correction.adjust(&raw)
}

/// Tests one question as if it were the only one.
pub(super) fn test_question(
    question: &Question<'_>,
    rules: &TestPolicy,
    setting: &PublishedTest<'_>,
) -> TestedBenchmark {
    let seed = derived_seed(rules.seed, &question.candidate.benchmark.key.to_string());
    let candidate = SideSamples::from_runs(&[question.candidate], setting.decision, seed);
    let base = SideSamples::from_runs(&question.reference.averaged, setting.decision, seed);
    let mut notes = Vec::new();
    let found = match find_refusal(question, &base, &mut notes) {
        Some(verdict) => Err(verdict),
        None => Ok(setting.test(&candidate, &base)),
    };
    TestedBenchmark {
        description: match found {
            Ok(_) => ChangeDescription::from_stored_runs(question, rules),
            Err(_) => ChangeDescription::default(),
        },
        found,
        extent: Extent::Runs {
            processes_candidate: candidate.processes.len(),
            processes_base: base.processes.len(),
            averaged: question.reference.averaged.len(),
            spread: question.reference.averaged.len(),
        },
        notes,
    }
}

/// Checks whether a question can be tested. If it cannot, returns its verdict and adds notes about what is missing.
fn find_refusal(
    question: &Question<'_>,
    base: &SideSamples,
    notes: &mut Vec<Note>,
) -> Option<Verdict> {
    let good = sample_times(question.candidate).len();
    if let Some(verdict) = question.failure_verdict(good, notes) {
        return Some(verdict);
    }
    if base.processes.is_empty() {
        notes.push(Note::NoSamples { side: Side::Base });
        return Some(Verdict::Inconclusive);
    }
    None
}

/// Builds the answer to `question` from the result of its test. `adjusted` is the test's p-value, adjusted for the number of benchmarks.
pub(super) fn build_comparison(
    evidence: TestedBenchmark,
    question: &Question<'_>,
    adjusted: f64,
    setting: &PublishedTest<'_>,
) -> Comparison {
    let threshold = question.noise_threshold;
    let mut comparison = Comparison {
        description: evidence.description,
        notes: evidence.notes,
        ..Comparison::undecided(threshold, evidence.extent)
    };
    let found = match evidence.found {
        Ok(found) => found,
        Err(verdict) => {
            comparison.verdict = verdict;
            return comparison;
        }
    };
    let p = match found.decided {
        TestDecision::ByP(p) => p,
        _ => None,
    };
    let adjusted = p.map(|_| adjusted);
    let significance = judge_significance(&found, adjusted, setting);
    comparison.verdict = decide_verdict(&found, significance, threshold);
    comparison.notes.extend(found.notes.iter().cloned());
    comparison.notes.extend(explain_no_change(
        &found,
        significance,
        adjusted,
        comparison.verdict,
        threshold,
        setting,
    ));
    comparison.p_value = adjusted;
    comparison.set_change(found.centre, found.change);
    // The smallest slowdown that would have been reported follows from the width of the interval. It is left out if the interval lies beyond the
    // threshold: then the change was reported, or something other than the width prevented that.
    comparison.smallest_callable = found
        .change
        .filter(|change| !is_beyond(change, threshold))
        .map(|change| threshold + change.estimate - change.lower)
        .filter(|smallest| smallest.is_finite());
    comparison.basis = Decision::Published(PublishedDecision {
        test: setting.analysis.test,
        observations: setting.analysis.observations,
        center: setting.analysis.center_in_force(),
        candidate: found.counts.candidate,
        base: found.counts.base,
        statistic: found.statistic,
        degrees_of_freedom: found.degrees_of_freedom,
        p_value: p,
        adjusted_p_value: adjusted,
        significance,
        level: setting.level,
    });
    comparison
}

/// Returns the verdict that follows from the significance and from the interval of the change. It is `regressed` or `improved` if the test is
/// significant and the whole interval lies strictly beyond the threshold. It is `unchanged` if the whole interval lies within the threshold. There
/// are two exceptions: a rank test with a threshold of 0 needs no interval, and the ratio test is judged only by its own bounds.
fn decide_verdict(found: &TestFinding, significance: Significance, threshold: f64) -> Verdict {
    if let TestDecision::Bounds(verdict) = found.decided {
        return match verdict {
            RatioVerdict::Faster => Verdict::Improved,
            RatioVerdict::Same => Verdict::Unchanged,
            RatioVerdict::Slower => Verdict::Regressed,
        };
    }
    if significance == Significance::NotTested {
        return Verdict::Inconclusive;
    }
    let significant = significance == Significance::Significant;
    // With a threshold of 0, a rank test is decided by its significance alone, and Cliff's delta gives the direction. The interval is ignored,
    // because it may belong to a statistic other than the ranks.
    if let Some(delta) = found.delta.filter(|_| threshold == 0.0) {
        return match significant {
            true if delta > 0.0 => Verdict::Regressed,
            true => Verdict::Improved,
            false => Verdict::Inconclusive,
        };
    }
    let Some(change) = found.change else {
        return Verdict::Inconclusive;
    };
    match ChangeBounds::from(&change).judge(threshold) {
        Verdict::Regressed | Verdict::Improved if !significant => Verdict::Inconclusive,
        verdict => verdict,
    }
}

/// Returns true if the whole interval lies beyond the noise threshold.
fn is_beyond(change: &Estimate, threshold: f64) -> bool {
    let verdict = ChangeBounds::from(change).judge(threshold);
    matches!(verdict, Verdict::Regressed | Verdict::Improved)
}

/// Returns a note that says why the verdict is no change although the difference looks significant or large.
fn explain_no_change(
    found: &TestFinding,
    significance: Significance,
    adjusted: Option<f64>,
    verdict: Verdict,
    threshold: f64,
    setting: &PublishedTest<'_>,
) -> Option<Note> {
    let rejected = adjusted.is_some_and(|p| p < setting.level);
    match (significance, found.delta) {
        (Significance::NotSignificant, Some(delta)) if rejected => Some(Note::NegligibleEffect {
            delta,
            practical: setting.thresholds.practical_effect,
        }),
        (Significance::Significant, _)
            if matches!(verdict, Verdict::Unchanged | Verdict::Inconclusive) =>
        {
            Some(Note::WithinNoise)
        }
        (Significance::NotSignificant, _)
            if (found.change).is_some_and(|change| is_beyond(&change, threshold)) =>
        {
            match (found.decided, adjusted) {
                (TestDecision::ByP(Some(p)), Some(adjusted)) => Some(Note::NotSignificant {
                    p,
                    adjusted,
                    level: setting.level,
                }),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The test that compares several runs of a benchmark and their reference all together, before each run is compared with the reference alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateGroup {
    /// The H statistic of the Kruskal-Wallis test of all runs and the reference.
    pub h: f64,
    /// The p-value of the Kruskal-Wallis test.
    pub p_value: f64,
    /// Whether the p-value is below the significance level. Only then do the comparisons of the single runs count. Otherwise their p-values are 1.
    pub open: bool,
}

/// The results for several runs of a benchmark: the test of all runs together, and the comparison of each run.
#[derive(Debug, Clone, PartialEq)]
pub struct AcrossRuns {
    /// The test of all runs together.
    pub gate: GateGroup,
    /// The Mann-Whitney comparison of each candidate with the reference, in the order of the candidates. The p-values are adjusted for the number of
    /// candidates. They are 1 if the test of all runs together is not significant.
    pub comparisons: Vec<Comparison>,
}

/// Compares several runs of a benchmark with one reference: the candidates of `questions`, which must all have the same benchmark and the same
/// reference. Returns `None` unless the reference and at least two candidates have as many observations as a rank test needs.
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

/// Compares the reference and all candidates with each other in one Kruskal-Wallis test. Candidates with too few observations are left out. Returns
/// `None` if the reference has too few observations, or if fewer than two candidates are left.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BySide;

    /// Creates the finding of a test with five values on each side, with these bounds of the change.
    fn finding(p: f64, bounds: Option<(f64, f64)>, delta: Option<f64>) -> TestFinding {
        TestFinding {
            decided: TestDecision::ByP(Some(p)),
            statistic: None,
            degrees_of_freedom: None,
            change: bounds.map(|(lower, upper)| Estimate {
                estimate: f64::midpoint(lower, upper),
                lower,
                upper,
            }),
            centre: 100.0,
            counts: BySide {
                base: 5,
                candidate: 5,
            },
            delta,
            notes: Vec::new(),
        }
    }

    fn verdict_of(lower: f64, upper: f64, significance: Significance) -> Verdict {
        decide_verdict(
            &finding(0.01, Some((lower, upper)), None),
            significance,
            0.01,
        )
    }

    #[test]
    fn c16_an_interval_must_lie_wholly_and_strictly_beyond_the_noise_threshold() {
        let significant = |lower, upper| verdict_of(lower, upper, Significance::Significant);
        assert_eq!(significant(0.004, 0.018), Verdict::Inconclusive);
        assert_eq!(significant(0.011, 0.020), Verdict::Regressed);
        assert_eq!(significant(-0.020, -0.012), Verdict::Improved);
        assert_eq!(significant(0.010, 0.020), Verdict::Inconclusive);
        assert_eq!(significant(-0.020, -0.010), Verdict::Inconclusive);
        assert_eq!(significant(0.002, 0.008), Verdict::Unchanged);
    }

    /// Calls `work` with the default settings of a published test and a significance level of 5 %.
    fn with_usual_setting<T>(work: impl FnOnce(&PublishedTest<'_>) -> T) -> T {
        work(&PublishedTest {
            decision: &crate::model::DecisionSettings::default(),
            analysis: &Analysis::default(),
            thresholds: &crate::model::Thresholds::default(),
            level: 0.05,
            resamples: 1_000,
        })
    }

    /// Returns the note of `explain_no_change` at a threshold of 2 %.
    fn usual_remark(
        found: &TestFinding,
        significance: Significance,
        adjusted: f64,
        verdict: Verdict,
    ) -> Option<Note> {
        with_usual_setting(|setting| {
            explain_no_change(found, significance, Some(adjusted), verdict, 0.02, setting)
        })
    }

    #[test]
    fn a_large_change_that_is_not_significant_says_why() {
        let remark_of = |lower, upper| {
            let found = finding(0.0079, Some((lower, upper)), Some(1.0));
            let significance = Significance::NotSignificant;
            let verdict = Verdict::Inconclusive;
            usual_remark(&found, significance, 0.0635, verdict)
        };
        let why = Note::NotSignificant {
            p: 0.0079,
            adjusted: 0.0635,
            level: 0.05,
        };
        assert_eq!(remark_of(1.2, 1.5), Some(why.clone()));
        assert_eq!(remark_of(-0.5, -0.4), Some(why));
        assert_eq!(remark_of(-0.01, 0.05), None);
    }

    #[test]
    fn n32_only_a_p_strictly_below_the_level_counts() {
        let found = finding(0.05, None, None);
        let significance =
            |p| with_usual_setting(|setting| judge_significance(&found, Some(p), setting));
        assert_eq!(significance(0.05), Significance::NotSignificant);
        assert_eq!(significance(0.049_999), Significance::Significant);
    }

    #[test]
    fn c15_without_significance_there_is_no_change_whatever_the_interval() {
        let not = Significance::NotSignificant;
        assert_eq!(verdict_of(0.011, 0.020, not), Verdict::Inconclusive);
        assert_eq!(verdict_of(-0.005, 0.005, not), Verdict::Unchanged);
        assert_eq!(
            verdict_of(-0.005, 0.005, Significance::NotTested),
            Verdict::Inconclusive
        );
    }

    #[test]
    fn without_a_threshold_ranks_alone_decide_and_with_one_the_interval() {
        let verdict = |delta, threshold, significance| {
            let found = finding(0.01, Some((-0.1, 0.3)), Some(delta));
            decide_verdict(&found, significance, threshold)
        };
        let significant = Significance::Significant;
        assert_eq!(verdict(0.5, 0.0, significant), Verdict::Regressed);
        assert_eq!(verdict(-0.5, 0.0, significant), Verdict::Improved);
        let not = Significance::NotSignificant;
        assert_eq!(verdict(0.5, 0.0, not), Verdict::Inconclusive);
        assert_eq!(verdict(0.5, 0.01, significant), Verdict::Inconclusive);
        assert_eq!(verdict(0.5, 0.4, significant), Verdict::Unchanged);
    }

    #[test]
    fn a_significant_difference_that_is_no_change_is_said_to_lie_within_noise() {
        let remark_of = |verdict| {
            let found = finding(0.01, Some((0.002, 0.03)), Some(0.5));
            let significance = Significance::Significant;
            usual_remark(&found, significance, 0.01, verdict)
        };
        assert_eq!(remark_of(Verdict::Unchanged), Some(Note::WithinNoise));
        assert_eq!(remark_of(Verdict::Inconclusive), Some(Note::WithinNoise));
        assert_eq!(remark_of(Verdict::Regressed), None);
        assert_eq!(remark_of(Verdict::Improved), None);
    }
}
