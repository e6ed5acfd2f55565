//! The results of one benchmark and of a whole run, and the order in which benchmarks are shown.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

use super::limit::LimitReport;
use super::remark::{BenchmarkNote, RunNote, Sameness, SizeChange};
use crate::compare::{Comparison, Difference, Fact, HostClass, Summary};
use crate::model::{
    BenchmarkKey, DecisionSettings, Measurement, Run, RunId, Tally, Test, Thresholds, Verdict,
};
use perfcheck_stats::{GeometricMean, words};

/// The method by which verdicts are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Stored runs, measured at different times, are compared by this test.
    Stored(Test),
    /// Both sides were measured side by side.
    Paired,
}

/// The results of one benchmark. They are stored with the run, except for the measurement and its description, which the store has anyway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row<'a> {
    /// The benchmark.
    pub key: BenchmarkKey,
    /// The measurement. `None` if the run has none, as for a missing benchmark.
    #[serde(skip)]
    pub measurement: Option<&'a Measurement>,
    /// Summary statistics of the measurement. `None` if it has no samples.
    #[serde(skip)]
    pub summary: Option<Summary>,
    /// The verdict. `None` if the benchmark was not judged.
    pub verdict: Option<Verdict>,
    /// The comparison, if two measurements were compared.
    pub comparison: Option<Comparison>,
    /// The runs that the benchmark was compared with, newest first. If the row comes from another store, `None` stands for a run that this store does
    /// not have.
    pub reference: Vec<Option<RunId>>,
    /// The runs from which drift was estimated, newest first. `None` stands for a run that this store does not have.
    pub spread: Vec<Option<RunId>>,
    /// The differences that make the sides incomparable.
    pub blocking: Vec<Difference>,
    /// Duration of the benchmark's rounds in seconds, if it was measured side by side.
    pub seconds: Option<f64>,
    /// Further remarks on the benchmark.
    pub remarks: Vec<BenchmarkNote>,
}

impl<'a> Row<'a> {
    /// Creates a row for a benchmark that has a verdict but no measurement.
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

    /// Reports whether the benchmark is undecided and its time budget ended before it was settled.
    pub fn ran_out_of_time(&self) -> bool {
        let is_end = |remark: &BenchmarkNote| {
            matches!(
                remark,
                BenchmarkNote::Undecided {
                    ran_out_of_time: true,
                    ..
                }
            )
        };
        self.remarks.iter().any(is_end)
    }

    /// Creates a row for a benchmark that was measured but not compared. The row has the verdict of the measurement, if there is one.
    pub fn from_measurement(measurement: &'a Measurement, summary: Option<Summary>) -> Self {
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

    /// Removes the measurement, which can be read from the store again.
    pub fn without_measurement(self) -> Row<'static> {
        Row {
            measurement: None,
            ..self
        }
    }

    /// If the benchmark was not measured because both sides are the same, returns in which respect they are the same.
    pub fn sameness(&self) -> Option<Sameness> {
        self.remarks.iter().find_map(|remark| match remark {
            BenchmarkNote::Same(same) => Some(*same),
            _ => None,
        })
    }

    /// Reports whether the benchmark is unchanged because both builds run the same machine code.
    pub fn is_same_code(&self) -> bool {
        self.verdict == Some(Verdict::Unchanged) && self.sameness().is_some()
    }

    /// Returns the estimated change, as a fraction.
    pub fn change(&self) -> Option<f64> {
        Some(self.comparison.as_ref()?.change?.estimate)
    }
}

/// A bench target that died or violated the protocol before all of its benchmarks were known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTarget {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// Description of the failure.
    pub message: String,
}

impl FailedTarget {
    /// Returns a key for the target as a whole. Its id is empty.
    pub fn key(&self) -> BenchmarkKey {
        BenchmarkKey {
            package: self.package.clone(),
            target: self.target.clone(),
            id: String::new(),
        }
    }
}

/// The basis of the verdicts, and remarks on the comparison as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonContext {
    /// Description of the reference, as it is shown to users.
    pub reference: String,
    /// The decision settings in force.
    pub decision: DecisionSettings,
    /// The method by which the verdicts were reached.
    pub method: Method,
    /// The class of the host, on which the assumed drift between runs depends.
    pub host: HostClass,
    /// The facts that the user allows to differ.
    pub allowed: Vec<Fact>,
    /// Number of comparisons among which the significance level is divided.
    pub family: usize,
    /// Differences between the sides that do not make them incomparable. Each is listed once.
    pub warnings: Vec<Difference>,
    /// Further remarks on the comparison as a whole.
    pub remarks: Vec<RunNote>,
    /// Advice on what to do next, one line each, printed once at the end of the run.
    #[serde(skip)]
    pub advice: Vec<String>,
    /// The results of checking the limits.
    pub limits: LimitReport,
    /// The sizes of the executables that both sides have.
    #[serde(default)]
    pub sizes: Vec<SizeChange>,
}

impl ComparisonContext {
    /// Creates the basis without remarks.
    pub fn new(
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
            limits: LimitReport::default(),
            sizes: Vec::new(),
        }
    }

    /// Returns the benchmarks that declined to be measured on a side, with their reasons.
    pub fn declined(&self) -> impl Iterator<Item = (&BenchmarkKey, &str)> {
        self.remarks.iter().flat_map(|remark| {
            let (benchmarks, reason) = match remark {
                RunNote::Skipped { benchmarks, reason } => (&benchmarks[..], &**reason),
                _ => (&[][..], ""),
            };
            benchmarks.iter().map(move |key| (key, reason))
        })
    }
}

/// The findings about a run: its measurements and their comparison.
#[derive(Debug, Clone)]
pub struct Findings<'a> {
    /// The run.
    pub run: &'a Run,
    /// The benchmarks, in the order of the output.
    pub rows: Vec<Row<'a>>,
    /// The basis of the verdicts. `None` if nothing was compared.
    pub verdicts: Option<ComparisonContext>,
    /// Bench targets that failed before all of their benchmarks were known, so that some benchmarks may have no row.
    pub failed_targets: Vec<FailedTarget>,
    /// The exit status of the process.
    pub exit_code: u8,
}

impl Findings<'_> {
    /// Returns the decision settings in force.
    pub fn decision(&self) -> &DecisionSettings {
        let decision = self.verdicts.as_ref().map(|verdicts| &verdicts.decision);
        decision.unwrap_or(&self.run.begun.decision)
    }

    /// Returns the number of benchmarks that were compared, and the geometric mean of their changes as a fraction. Returns `None` for fewer than
    /// three benchmarks. Also returns `None` if no benchmark regressed or improved, because a mean of noise has no meaning.
    pub fn mean_change(&self) -> Option<(usize, f64)> {
        let is_called = |verdict| matches!(verdict, Verdict::Regressed | Verdict::Improved);
        let called = |row: &Row<'_>| row.verdict.is_some_and(is_called);
        let ratio = |row: &Row<'_>| match row.change() {
            Some(change) => Some(1.0 + change),
            None => row.is_same_code().then_some(1.0),
        };
        let ratios: Vec<f64> = self.rows.iter().filter_map(ratio).collect();
        let is_worth_it = ratios.len() > 2 && self.rows.iter().any(called);
        let mean = GeometricMean::compute(&ratios).filter(|_| is_worth_it)?;
        Some((mean.used, mean.mean - 1.0))
    }

    /// Returns the benchmarks that declined to be measured and have no row, with their reasons.
    pub fn declined(&self) -> Vec<(&BenchmarkKey, &str)> {
        let declined = self.verdicts.iter().flat_map(ComparisonContext::declined);
        let has_row = |key: &BenchmarkKey| self.rows.iter().any(|row| row.key == *key);
        declined.filter(|(key, _)| !has_row(key)).collect()
    }

    /// Returns the confidence level of the intervals that describe times.
    pub fn confidence_level(&self) -> f64 {
        self.decision().confidence_level
    }

    /// Returns the thresholds in force.
    pub fn thresholds(&self) -> Thresholds {
        self.decision().thresholds
    }

    /// Returns the number of benchmarks with each verdict.
    pub fn tally(&self) -> Tally {
        self.rows.iter().filter_map(|row| row.verdict).collect()
    }
}

words! {
    /// The order in which benchmarks are listed.
    Order {
        Name = "name": "Sort by package, target and id",
        Change = "change": "Put the largest slowdown first",
        Time = "time": "Put the longest time first",
        WorstFirst = "worst": "Sort by verdict, worst first, then by change",
    }
}

/// The values that benchmarks are sorted by. Benchmarks without a value come last.
#[derive(Debug, Clone, Copy)]
pub struct SortKey<'k> {
    /// The benchmark.
    pub key: &'k BenchmarkKey,
    /// The verdict on the benchmark.
    pub verdict: Option<Verdict>,
    /// The change of the benchmark, as a fraction.
    pub change: Option<f64>,
    /// The time of the benchmark, in a unit that is the same for all benchmarks.
    pub time: Option<f64>,
}

impl Order {
    /// Compares two benchmarks. If their values are equal, their names decide.
    pub fn compare(self, a: &SortKey<'_>, b: &SortKey<'_>) -> Ordering {
        let descending = |a: Option<f64>, b: Option<f64>| {
            let value = |x: Option<f64>| x.unwrap_or(f64::NEG_INFINITY);
            value(b).total_cmp(&value(a))
        };
        let verdict = |key: &SortKey<'_>| (key.verdict.is_none(), key.verdict);
        let first = match self {
            Self::Name => Ordering::Equal,
            Self::Change => descending(a.change, b.change),
            Self::Time => descending(a.time, b.time),
            Self::WorstFirst => verdict(a)
                .cmp(&verdict(b))
                .then_with(|| descending(a.change, b.change)),
        };
        first.then_with(|| a.key.cmp_natural(b.key))
    }

    /// Sorts rows in this order.
    pub fn sort(self, rows: &mut [Row<'_>]) {
        rows.sort_by(|a, b| self.compare(&a.sort_key(), &b.sort_key()));
    }
}

impl Row<'_> {
    /// Returns the values that this row is sorted by.
    pub fn sort_key(&self) -> SortKey<'_> {
        SortKey {
            key: &self.key,
            verdict: self.verdict,
            change: self.change(),
            time: self.summary.as_ref().map(|found| found.median.estimate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{ITERATIONS, changed_by, flat_process, key, measurement, run};
    use crate::compare::summarize;
    use crate::findings::remark::Sameness;

    fn row(id: &str, verdict: Verdict, change: Option<f64>) -> Row<'static> {
        Row {
            comparison: change.map(changed_by),
            ..Row::unmeasured(key(id), verdict, None)
        }
    }

    fn findings<'r>(
        run: &'r Run,
        rows: Vec<Row<'r>>,
        verdicts: Option<ComparisonContext>,
    ) -> Findings<'r> {
        Findings {
            run,
            rows,
            verdicts,
            failed_targets: Vec::new(),
            exit_code: 0,
        }
    }

    fn context(decision: &DecisionSettings, remarks: Vec<RunNote>) -> ComparisonContext {
        ComparisonContext {
            remarks,
            ..ComparisonContext::new(
                "run 3".to_owned(),
                Method::Paired,
                *decision,
                HostClass::Shared,
            )
        }
    }

    fn skipped(ids: &[&str], reason: &str) -> RunNote {
        RunNote::Skipped {
            benchmarks: ids.iter().map(|id| key(id)).collect(),
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn only_what_is_unchanged_because_the_code_is_the_same_runs_the_same_code() {
        let is_same = |verdict, remarks: &[BenchmarkNote]| {
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
        let same = [BenchmarkNote::Same(Sameness::Reachable)];
        assert!(is_same(Verdict::Unchanged, &same));
        assert!(!is_same(Verdict::Unchanged, &[]));
        assert!(!is_same(Verdict::Failed, &same));
    }

    #[test]
    fn a_row_without_a_comparison_has_no_change_and_a_failed_target_is_named_without_a_benchmark() {
        let failed = FailedTarget {
            package: "p".to_owned(),
            target: "t".to_owned(),
            message: "it died".to_owned(),
        };
        let key = BenchmarkKey {
            package: "p".to_owned(),
            target: "t".to_owned(),
            id: String::new(),
        };
        assert_eq!(failed.key(), key);
        assert_eq!(Row::unmeasured(key, Verdict::Failed, None).change(), None);
    }

    #[test]
    fn the_mean_change_is_that_of_all_that_was_compared_or_runs_the_same_code() {
        let run = run();
        let same = Row {
            remarks: vec![BenchmarkNote::Same(Sameness::Run)],
            ..row("same", Verdict::Unchanged, None)
        };
        let mean = |rows: &[Row<'static>]| findings(&run, rows.to_vec(), None).mean_change();
        let regressed = row("a", Verdict::Regressed, Some(3.0));
        let other = row("b", Verdict::Inconclusive, Some(1.0));
        let missing = row("c", Verdict::Missing, None);
        let rows = [regressed.clone(), other.clone(), missing.clone(), same];
        // The ratios are 4, 2 and 1.
        let (used, change) = mean(&rows).expect("three benchmarks, one of them regressed");
        assert_eq!(used, 3);
        assert!((change - 1.0).abs() < 1e-12, "{change}");
        assert_eq!(mean(&[regressed, other.clone(), missing]), None);
        let improved = row("a", Verdict::Improved, Some(-0.75));
        let unchanged = row("d", Verdict::Unchanged, Some(0.0));
        let rows = [unchanged.clone(), unchanged, improved.clone(), improved];
        let (used, change) = mean(&rows).expect("two of four improved");
        assert_eq!(used, 4);
        assert!((change + 0.5).abs() < 1e-12, "{change}");
        assert_eq!(mean(&[other.clone(), other.clone(), other]), None);
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn benchmarks_that_declined_are_told_with_their_reasons_unless_they_have_a_row() {
        let run = run();
        let remarks = vec![
            skipped(&["a", "b"], "no network"),
            RunNote::Imported,
            skipped(&["c"], "no disk"),
        ];
        let context = context(&DecisionSettings::default(), remarks);
        let (a, b, c) = (key("a"), key("b"), key("c"));
        let all: Vec<_> = context.declined().collect();
        assert_eq!(
            all,
            [(&a, "no network"), (&b, "no network"), (&c, "no disk")]
        );
        let rows = vec![row("b", Verdict::New, None)];
        let some = findings(&run, rows.clone(), Some(context));
        assert_eq!(some.declined(), [(&a, "no network"), (&c, "no disk")]);
        assert_eq!(findings(&run, rows, None).declined(), []);
    }

    #[test]
    fn the_settings_in_force_are_those_of_the_comparison_or_else_those_of_the_run() {
        let settings = |confidence_level, iqr_fence| DecisionSettings {
            confidence_level,
            thresholds: Thresholds {
                iqr_fence,
                ..Thresholds::default()
            },
            ..DecisionSettings::default()
        };
        let (of_run, of_comparison) = (settings(0.9, 2.0), settings(0.8, 4.0));
        let mut run = run();
        run.begun.decision = of_run;
        let compared = findings(&run, Vec::new(), Some(context(&of_comparison, Vec::new())));
        let alone = findings(&run, Vec::new(), None);
        for (found, expected) in [(compared, of_comparison), (alone, of_run)] {
            assert_eq!(*found.decision(), expected);
            assert_eq!(found.confidence_level(), expected.confidence_level);
            assert_eq!(found.thresholds(), expected.thresholds);
        }
    }

    #[test]
    fn verdicts_are_counted_worst_first_and_what_was_not_judged_has_none() {
        let run = run();
        let unjudged = Row {
            verdict: None,
            ..row("u", Verdict::New, None)
        };
        let rows = vec![
            row("a", Verdict::Improved, None),
            row("b", Verdict::Regressed, None),
            unjudged,
            row("c", Verdict::Improved, None),
        ];
        let tally = findings(&run, rows, None).tally();
        let expected = [(Verdict::Regressed, 1), (Verdict::Improved, 2)];
        assert!(tally.iter().eq(expected), "{tally:?}");
    }

    #[test]
    fn each_order_puts_benchmarks_without_its_value_last_and_equal_ones_by_name() {
        let keys = ["b10", "b2", "b3", "b4"].map(key);
        let benchmark = |place: usize, verdict, change, time| SortKey {
            key: &keys[place],
            verdict,
            change,
            time,
        };
        let all = [
            benchmark(0, Some(Verdict::Unchanged), Some(0.2), Some(5.0)),
            benchmark(1, Some(Verdict::Regressed), Some(0.1), None),
            benchmark(2, Some(Verdict::Regressed), Some(0.3), Some(9.0)),
            benchmark(3, None, None, Some(5.0)),
        ];
        let sorted = |order: Order| {
            let mut sorted = all;
            sorted.sort_by(|a, b| order.compare(a, b));
            sorted.map(|one| &*one.key.id)
        };
        assert_eq!(sorted(Order::Name), ["b2", "b3", "b4", "b10"]);
        assert_eq!(sorted(Order::Change), ["b3", "b10", "b2", "b4"]);
        assert_eq!(sorted(Order::Time), ["b3", "b4", "b10", "b2"]);
        assert_eq!(sorted(Order::WorstFirst), ["b3", "b2", "b10", "b4"]);
        let equal = Order::Name.compare(&all[0], &all[0]);
        assert_eq!(equal, Ordering::Equal);
    }

    #[test]
    fn rows_are_sorted_by_their_verdict_their_change_and_their_median() {
        let timed = |id: &str, time: f64| {
            let process = |k| flat_process(k, ITERATIONS, &[time; 3]);
            let mut found = measurement((0..3).map(process).collect());
            found.benchmark.key.id = id.to_owned();
            found
        };
        let measured = [timed("a", 100.0), timed("b", 300.0)];
        let mut rows = measured.each_ref().map(|found| Row {
            verdict: Some(Verdict::Unchanged),
            ..Row::from_measurement(found, summarize(found, 0.95, 1_000, 7))
        });
        rows[0].comparison = Some(changed_by(0.5));
        let first = rows[0].sort_key();
        assert_eq!((first.key, first.verdict), (&key("a"), rows[0].verdict));
        assert_eq!((first.change, first.time), (Some(0.5), Some(100.0)));
        let first_in = |order: Order, rows: &mut [Row<'_>]| {
            order.sort(rows);
            rows[0].key.id.clone()
        };
        assert_eq!(first_in(Order::Time, &mut rows), "b");
        assert_eq!(first_in(Order::Change, &mut rows), "a");
    }

    #[test]
    fn a_row_of_a_measurement_keeps_its_verdict_and_can_be_left_without_the_measurement() {
        let found = Measurement {
            verdict: Some(Verdict::Suspect),
            ..measurement(vec![flat_process(0, ITERATIONS, &[100.0; 3])])
        };
        let summary = summarize(&found, 0.95, 1_000, 7);
        assert!(summary.is_some());
        let row = Row::from_measurement(&found, summary.clone());
        let expected = Row {
            measurement: Some(&found),
            summary,
            ..Row::unmeasured(key("b"), Verdict::Suspect, None)
        };
        assert_eq!(row, expected);
        let without = Row {
            measurement: None,
            ..expected
        };
        assert_eq!(row.without_measurement(), without);
        let of_run = Row::unmeasured(key("b"), Verdict::Missing, Some(RunId(3)));
        assert_eq!(of_run.reference, [Some(RunId(3))]);
        assert_eq!(
            (of_run.key, of_run.verdict),
            (without.key, Some(Verdict::Missing))
        );
    }

    #[test]
    fn only_a_remark_of_its_kind_says_that_time_ran_out_or_that_both_sides_are_the_same() {
        let with = |remark: Option<BenchmarkNote>| Row {
            remarks: vec![BenchmarkNote::OnlyCandidate]
                .into_iter()
                .chain(remark)
                .collect(),
            ..row("b", Verdict::Inconclusive, None)
        };
        let undecided = |ran_out_of_time| {
            with(Some(BenchmarkNote::Undecided {
                rounds: None,
                seconds: None,
                ran_out_of_time,
                noise_threshold: None,
            }))
        };
        assert!(undecided(true).ran_out_of_time());
        assert!(!undecided(false).ran_out_of_time() && !with(None).ran_out_of_time());
        let same = with(Some(BenchmarkNote::Same(Sameness::Reachable)));
        assert_eq!(same.sameness(), Some(Sameness::Reachable));
        assert_eq!(with(None).sameness(), None);
    }

    #[test]
    fn the_change_of_a_row_is_the_estimate_of_its_comparison() {
        assert_eq!(
            row("b", Verdict::Regressed, Some(0.25)).change(),
            Some(0.25)
        );
    }
}
