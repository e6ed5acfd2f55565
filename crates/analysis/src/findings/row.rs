//! What was found of one benchmark, and of a whole run.

use serde::{Deserialize, Serialize};

use super::code::Sameness;
use super::limit::Limits;
use super::remark::{Remark, RunRemark};
use crate::compare::{Comparison, Difference, Fact, HostClass, Summary};
use crate::model::{
    BenchmarkKey, DecisionSettings, Measurement, Run, RunId, Tally, Test, Thresholds, Verdict,
};
use perfcheck_stats::GeometricMean;

/// How verdicts are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Runs that were stored at different times are compared by this test.
    Stored(Test),
    /// Both sides were measured in turn.
    Paired,
}

/// What was found of one benchmark. It is stored with the run, but for the measurement and its description, which the store has anyway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row<'a> {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// What was measured; `None` for a missing benchmark.
    #[serde(skip)]
    pub measurement: Option<&'a Measurement>,
    /// The description of what was measured; `None` without samples.
    #[serde(skip)]
    pub summary: Option<Summary>,
    /// The verdict, where there is one.
    pub verdict: Option<Verdict>,
    /// How the verdict was reached, where two measurements were compared.
    pub comparison: Option<Comparison>,
    /// The runs that it was compared with, newest first; `None` for one that the store of an imported run does not have.
    pub reference: Vec<Option<RunId>>,
    /// The runs from which the drift between runs was estimated, newest first; `None` likewise.
    pub spread: Vec<Option<RunId>>,
    /// What makes the sides incomparable.
    pub blocking: Vec<Difference>,
    /// How long its rounds took, in seconds, where two builds were measured in turn.
    pub seconds: Option<f64>,
    /// What else a reader should know.
    pub remarks: Vec<Remark>,
}

impl<'a> Row<'a> {
    /// A benchmark of which the run has a verdict and no measurement.
    pub fn unmeasured(key: BenchmarkKey, verdict: Verdict, reference: Option<RunId>) -> Self {
        Self {
            key,
            measurement: None,
            summary: None,
            verdict: Some(verdict),
            comparison: None,
            reference: reference.into_iter().map(Some).collect(),
            spread: Vec::new(),
            blocking: Vec::new(),
            seconds: None,
            remarks: Vec::new(),
        }
    }

    /// Whether it is undecided because its time had ended.
    pub fn ran_out_of_time(&self) -> bool {
        let is_end = |remark: &Remark| {
            matches!(
                remark,
                Remark::Undecided {
                    ran_out_of_time: true,
                    ..
                }
            )
        };
        self.remarks.iter().any(is_end)
    }

    /// A benchmark that was measured and compared with nothing; it has the verdict that it was given before, if any.
    pub fn described(measurement: &'a Measurement, summary: Option<Summary>) -> Self {
        Self {
            key: measurement.benchmark.key.clone(),
            measurement: Some(measurement),
            summary,
            verdict: measurement.verdict,
            comparison: None,
            reference: Vec::new(),
            spread: Vec::new(),
            blocking: Vec::new(),
            seconds: None,
            remarks: Vec::new(),
        }
    }

    /// The row without what was measured, which may be read again.
    pub fn without_measurement(self) -> Row<'static> {
        Row {
            measurement: None,
            ..self
        }
    }

    /// In what both sides are the same, where nothing was measured for that reason.
    pub fn same(&self) -> Option<Sameness> {
        self.remarks.iter().find_map(|remark| match remark {
            Remark::Same(same) => Some(*same),
            _ => None,
        })
    }

    /// Whether it is unchanged because both builds run the same machine code.
    pub fn is_same_code(&self) -> bool {
        self.verdict == Some(Verdict::Unchanged) && self.same().is_some()
    }

    /// The change that was found, a fraction.
    pub fn change(&self) -> Option<f64> {
        Some(self.comparison.as_ref()?.change?.estimate)
    }
}

/// A bench target that died, or broke the rules, before all of its benchmarks were known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTarget {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// What happened.
    pub message: String,
}

impl FailedTarget {
    /// A key that stands for the target as a whole.
    pub fn key(&self) -> BenchmarkKey {
        BenchmarkKey {
            package: self.package.clone(),
            target: self.target.clone(),
            id: String::new(),
        }
    }
}

/// What verdicts rest on, and what is to be said of them as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdicts {
    /// What was compared with, as people call it.
    pub reference: String,
    /// The settings of the decision that were in force.
    pub decision: DecisionSettings,
    /// How the verdicts were reached.
    pub method: Method,
    /// The kind of host whose drift was assumed.
    pub host: HostClass,
    /// Facts that the user let differ.
    pub allowed: Vec<Fact>,
    /// How many comparisons share the significance level.
    pub family: usize,
    /// Facts that differ without making the sides incomparable, each once.
    pub warnings: Vec<Difference>,
    /// What else a reader should know of the comparison as a whole.
    pub remarks: Vec<RunRemark>,
    /// What to do next, a line each: said once, at the end of the run.
    #[serde(skip)]
    pub advice: Vec<String>,
    /// What the limits made of it.
    pub limits: Limits,
}

impl Verdicts {
    /// Verdicts of which nothing is said yet.
    pub fn of(
        reference: String,
        method: Method,
        decision: DecisionSettings,
        host: HostClass,
    ) -> Self {
        Self {
            reference,
            decision,
            method,
            host,
            allowed: Vec::new(),
            family: 0,
            warnings: Vec::new(),
            remarks: Vec::new(),
            advice: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// The benchmarks that declined to be measured on a side, and why.
    pub fn declined(&self) -> impl Iterator<Item = (&BenchmarkKey, &str)> {
        self.remarks.iter().flat_map(|remark| {
            let (benchmarks, reason) = match remark {
                RunRemark::Skipped { benchmarks, reason } => (&benchmarks[..], &**reason),
                _ => (&[][..], ""),
            };
            benchmarks.iter().map(move |key| (key, reason))
        })
    }
}

/// What is told of a run: what it measured and how that compares.
#[derive(Debug, Clone)]
pub struct Findings<'a> {
    /// The run.
    pub run: &'a Run,
    /// The benchmarks, in the order in which they are to be shown.
    pub rows: Vec<Row<'a>>,
    /// Verdicts and what they rest on; `None` where nothing was compared.
    pub verdicts: Option<Verdicts>,
    /// Bench targets of which not all benchmarks are in the rows.
    pub failed_targets: Vec<FailedTarget>,
    /// The status that the process ends with.
    pub exit_code: u8,
}

impl Findings<'_> {
    /// The settings of the decision in force.
    pub fn decision(&self) -> &DecisionSettings {
        let decision = self.verdicts.as_ref().map(|verdicts| &verdicts.decision);
        decision.unwrap_or(&self.run.begun.decision)
    }

    /// How many benchmarks were compared, and the geometric mean of their changes, a fraction; `None` where fewer than three were, or none was called:
    /// noise has nothing to sum up.
    pub fn together(&self) -> Option<(usize, f64)> {
        let is_called = |verdict| matches!(verdict, Verdict::Regressed | Verdict::Improved);
        let called = |row: &Row<'_>| row.verdict.is_some_and(is_called);
        let ratio = |row: &Row<'_>| match row.change() {
            Some(change) => Some(1.0 + change),
            None => row.is_same_code().then_some(1.0),
        };
        let ratios: Vec<f64> = self.rows.iter().filter_map(ratio).collect();
        let is_worth_it = ratios.len() > 2 && self.rows.iter().any(called);
        let mean = GeometricMean::of(&ratios).filter(|_| is_worth_it)?;
        Some((mean.used, mean.mean - 1.0))
    }

    /// The benchmarks without a row that declined to be measured, and why.
    pub fn declined(&self) -> Vec<(&BenchmarkKey, &str)> {
        let declined = self.verdicts.iter().flat_map(Verdicts::declined);
        let has_row = |key: &BenchmarkKey| self.rows.iter().any(|row| row.key == *key);
        declined.filter(|(key, _)| !has_row(key)).collect()
    }

    /// The level of the intervals of times.
    pub fn confidence_level(&self) -> f64 {
        self.decision().confidence_level
    }

    /// The thresholds in force.
    pub fn thresholds(&self) -> Thresholds {
        self.decision().thresholds
    }

    /// How often each verdict was given.
    pub fn tally(&self) -> Tally {
        self.rows.iter().filter_map(|row| row.verdict).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::code::Sameness;

    #[test]
    fn only_what_is_unchanged_because_the_code_is_the_same_runs_the_same_code() {
        let is_same = |verdict, remarks: &[Remark]| {
            let key = BenchmarkKey {
                package: "p".to_owned(),
                target: "t".to_owned(),
                id: "b".to_owned(),
            };
            let row = Row {
                remarks: remarks.to_vec(),
                ..Row::unmeasured(key, verdict, None)
            };
            row.is_same_code()
        };
        let same = [Remark::Same(Sameness::Reachable)];
        assert!(is_same(Verdict::Unchanged, &same));
        assert!(!is_same(Verdict::Unchanged, &[]));
        assert!(!is_same(Verdict::Failed, &same));
    }
}
