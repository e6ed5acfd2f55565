//! Checks the limits of a run (`--limit`, `limit = [...]`): finds the benchmarks that exceed them, and the limits that lead to no decision.
//!
//! A limit never changes a verdict. A benchmark exceeds a limit only if its whole interval is above it.

use crate::findings::{Ceiling, ExceededLimit, Limit, LimitNote, LimitReport};
use std::collections::BTreeSet;

use super::row::Row;
use crate::compare::{
    Comparison, CountChange, Decision, DescribedChange, Estimate, LevelShare, SharedLevel,
    Uncertainty, estimate_at_level,
};
use crate::model::{BenchmarkKey, DecisionSettings, Measurement, Metric, Statistic, Unit};

/// Checks `limits` against `rows`. Limits on the sizes of executables are checked elsewhere.
///
/// The probability of an error is divided equally among all values that need an interval or a test (Bonferroni). More limits therefore mean wider
/// intervals.
pub(super) fn check_limits<'r>(
    rows: &[Row<'_>],
    limits: impl Iterator<Item = &'r Limit>,
    decision: &DecisionSettings,
) -> LimitReport {
    let mut checked = LimitReport::default();
    let mut unmatched = BTreeSet::new();
    let mut limited_rows = Vec::new();
    for limit in limits.filter(|limit| limit.statistic != Statistic::Size) {
        let mut meant = rows
            .iter()
            .filter(|row| limit.applies_to(&row.key))
            .peekable();
        if meant.peek().is_none() && unmatched.insert(limit.text.clone()) {
            let remark = LimitNote::ForNothing(limit.text.clone());
            checked.remarks.push(remark);
        }
        let mut without = Vec::new();
        for row in meant {
            match look_up(row, limit) {
                NumberLookup::Number(value) => limited_rows.push(LimitedRow { row, limit, value }),
                NumberLookup::Nothing => without.push(row.key.clone()),
                NumberLookup::NotCompared => {}
            }
        }
        if !without.is_empty() {
            let text = limit.text.clone();
            let remark = LimitNote::WithoutStatistic(text, limit.statistic, without);
            checked.remarks.push(remark);
        }
    }
    let family = family_size(&limited_rows, decision.confidence_level);
    let mut open = Vec::new();
    for LimitedRow { row, limit, value } in limited_rows {
        let (found, shared_level) = value.with_interval(family, decision);
        if found.lower > limit.ceiling.value() {
            checked.exceeded.push(ExceededLimit {
                key: row.key.clone(),
                text: limit.text.clone(),
                statistic: limit.statistic,
                ceiling: limit.ceiling,
                found,
                shared_level,
            });
        } else if found.estimate > limit.ceiling.value() && shared_level.is_some() {
            open.push((limit, row));
        }
    }
    for together in open.chunk_by(|(a, _), (b, _)| std::ptr::eq(*a, *b)) {
        let limit = together[0].0;
        checked.remarks.push(LimitNote::Undecided {
            text: limit.text.clone(),
            benchmarks: together.iter().map(|(_, row)| row.key.clone()).collect(),
            family,
            is_change: limit.ceiling.is_change(),
        });
    }
    checked.exceeded.sort_by(|a, b| a.key.cmp_natural(&b.key));
    checked
}

/// A row with a limit on one of its values.
struct LimitedRow<'r, 'm> {
    row: &'r Row<'m>,
    limit: &'r Limit,
    value: LimitedValue<'r>,
}

/// Returns how many different values need an interval or a test. The probability of an error is divided among this many values. Two limits on the
/// same value of a benchmark count once, because they use the same interval.
fn family_size(limited_rows: &[LimitedRow<'_, '_>], confidence_level: f64) -> usize {
    let numbers: BTreeSet<(&BenchmarkKey, String, bool)> = limited_rows
        .iter()
        .filter(|limited| limited.value.is_uncertain(confidence_level))
        .map(|LimitedRow { row, limit, .. }| {
            let statistic = match limit.statistic {
                Statistic::Time | Statistic::BuildTime => Statistic::Median,
                other => other,
            };
            (&row.key, statistic.to_string(), limit.ceiling.is_change())
        })
        .collect();
    numbers.len()
}

enum NumberLookup<'a> {
    /// The change or the value that the limit is about.
    Number(LimitedValue<'a>),
    /// The benchmark was measured, but does not have the statistic.
    Nothing,
    /// The benchmark has no reference or no measurement, which its row already reports.
    NotCompared,
}

/// A value that is checked against a limit, before its interval is computed. All values that need an interval share the confidence level, so the
/// intervals can be computed only when all values have been collected.
enum LimitedValue<'a> {
    /// A value whose interval is already known: the change that the verdict is about, or the change of a count that does not vary between processes.
    Settled(Estimate),
    /// The change of a statistic, with the uncertainty from which its interval is computed.
    Change(Uncertainty),
    /// The value of a statistic in the run itself, as opposed to its change.
    Value(&'a Measurement, Statistic),
    /// The change of a count that varies between processes, with the p-value of its test.
    CountsOfBenchmark(CountChange),
}

impl LimitedValue<'_> {
    /// Returns true if the value needs an interval or a test, and therefore a share of the confidence level.
    fn is_uncertain(&self, confidence_level: f64) -> bool {
        match self {
            Self::Settled(_) => false,
            Self::CountsOfBenchmark(_) | Self::Change(_) => true,
            // If all processes agree, the interval is the value itself.
            Self::Value(measurement, statistic) => {
                estimate_at_level(measurement, *statistic, confidence_level)
                    .is_some_and(|found| found.lower < found.upper)
            }
        }
    }

    /// Returns the value with its interval if the confidence level is divided among `family` values. Also returns the divided level, unless the value
    /// needs no share of it. The interval for the change of a count that varies between processes is infinite, unless a test shows that the count
    /// changed.
    fn with_interval(
        &self,
        family: usize,
        decision: &DecisionSettings,
    ) -> (Estimate, Option<SharedLevel>) {
        let shared = SharedLevel::bonferroni(decision.confidence_level, family);
        match self {
            Self::Settled(found) => (*found, None),
            Self::Change(uncertainty) => (
                uncertainty.interval_at(shared.effective_level()),
                Some(shared),
            ),
            Self::Value(measurement, statistic) => {
                let found = estimate_at_level(measurement, *statistic, shared.effective_level())
                    .unwrap_or(Estimate::unbounded(f64::NAN));
                (found, (found.lower < found.upper).then_some(shared))
            }
            Self::CountsOfBenchmark(count) => {
                let p = count.p_value.unwrap_or(1.0);
                let level = decision.significance_level;
                let is_shown = count.has_changed() && p * (family as f64) < level;
                let share = LevelShare::Ranks {
                    significance_level: level,
                    unadjusted_p_value: p,
                };
                let found = if is_shown {
                    certain_change(count)
                } else {
                    Estimate::unbounded(count.relative())
                };
                (found, Some(SharedLevel { family, share }))
            }
        }
    }
}

fn look_up<'a>(row: &'a Row<'_>, limit: &Limit) -> NumberLookup<'a> {
    let number = match limit.ceiling {
        Ceiling::Change(_) => {
            let Some(comparison) = &row.comparison else {
                return NumberLookup::NotCompared;
            };
            change_of(comparison, limit.statistic)
        }
        Ceiling::Value(_) => {
            if row.summary.is_none() {
                return NumberLookup::NotCompared;
            }
            value_of_run(row, limit.statistic)
        }
    };
    number.map_or(NumberLookup::Nothing, NumberLookup::Number)
}

/// Returns the change of a statistic relative to the reference.
fn change_of(comparison: &Comparison, statistic: Statistic) -> Option<LimitedValue<'static>> {
    let described = |found: DescribedChange| LimitedValue::Change(found.uncertainty);
    match statistic {
        // If the verdict is about another metric, so is the change that the comparison reports.
        Statistic::Time | Statistic::BuildTime
            if !matches!(comparison.basis, Decision::OtherMetric(_)) =>
        {
            comparison.change.map(LimitedValue::Settled)
        }
        Statistic::Mean => comparison.description.mean.map(described),
        Statistic::Time | Statistic::BuildTime | Statistic::Median => {
            comparison.description.median.map(described)
        }
        other => {
            if let Some(count) = comparison.count(other) {
                return Some(if count.exact {
                    LimitedValue::Settled(certain_change(&count))
                } else {
                    LimitedValue::CountsOfBenchmark(count)
                });
            }
            let usage = comparison.usage_change(other).map(|one| one.uncertainty);
            let percentile = comparison.percentile(other).map(|one| one.uncertainty);
            usage.or(percentile).map(LimitedValue::Change)
        }
    }
}

/// Returns a change without uncertainty. A change from zero is infinite, so it exceeds every percentage.
fn certain_change(count: &CountChange) -> Estimate {
    let relative = count.relative();
    Estimate {
        estimate: relative,
        lower: relative,
        upper: relative,
    }
}

/// Returns the statistic of the run itself. Returns `None` if the benchmark does not have it.
fn value_of_run<'a>(row: &'a Row<'_>, statistic: Statistic) -> Option<LimitedValue<'a>> {
    let measurement = row.measurement?;
    let is_amount = matches!(measurement.benchmark.metric, Metric::Amount { .. });
    if is_amount && statistic.unit() == Unit::Time {
        return None;
    }
    estimate_at_level(measurement, statistic, 0.5)?;
    Some(LimitedValue::Value(measurement, statistic))
}

#[cfg(test)]
mod tests {
    use crate::findings::Limit;
    use crate::findings::LimitNote;
    use crate::findings::LimitReport;
    use std::str::FromStr;

    use super::*;
    use crate::compare::fixtures::{
        ITERATIONS, certain, changed_by, flat_process, key, measurement,
    };
    use crate::compare::{
        HostClass, InstructionComparison, Question, Reference, TestPolicy, compare, summarize,
    };
    use crate::model::{Allocations, Verdict};

    const PROCESSES: [f64; 5] = [-0.01, 0.01, 0.0, 0.02, -0.02];

    fn measured(id: &str, factor: f64) -> Measurement {
        let process = |(k, spread): (u32, f64)| {
            let times: Vec<f64> = (0..9)
                .map(|i| factor * (100.0 + f64::from(i) * 0.01))
                .collect();
            let times: Vec<f64> = times.iter().map(|time| time * f64::exp(spread)).collect();
            flat_process(k, ITERATIONS, &times)
        };
        let mut run = measurement((0..).zip(PROCESSES).map(process).collect());
        run.benchmark.key.id = id.to_owned();
        run
    }

    /// Checks limits for benchmarks that are slower than one stored run by these factors, on a dedicated machine.
    fn kept(limits: &[&str], factors: &[f64]) -> LimitReport {
        kept_where(limits, factors, |_| ())
    }

    fn kept_where(
        limits: &[&str],
        factors: &[f64],
        alter: impl Fn(&mut Comparison),
    ) -> LimitReport {
        let candidate: Vec<Measurement> = factors
            .iter()
            .enumerate()
            .map(|(place, factor)| measured(&format!("b{place}"), *factor))
            .collect();
        let base = measured("base", 1.0);
        let reference = Reference {
            averaged: vec![&base],
            spread: vec![&base],
            earlier: vec![],
        };
        let questions: Vec<Question<'_>> = candidate
            .iter()
            .map(|candidate| Question {
                candidate,
                reference: &reference,
                noise_threshold: 0.02,
            })
            .collect();
        let decision = DecisionSettings {
            resamples: 1_000,
            ..DecisionSettings::default()
        };
        let by = TestPolicy {
            decision,
            host: HostClass::Dedicated,
            seed: 7,
        };
        let rows: Vec<Row<'_>> = candidate
            .iter()
            .zip(compare(&questions, &by))
            .map(|(candidate, mut comparison)| {
                alter(&mut comparison);
                (candidate, comparison)
            })
            .map(|(candidate, comparison)| Row {
                measurement: Some(candidate),
                summary: summarize(candidate, 0.95, 1_000, 7),
                comparison: Some(comparison),
                ..Row::unmeasured(
                    candidate.benchmark.key.clone(),
                    Verdict::Inconclusive,
                    Some(crate::model::RunId(1)),
                )
            })
            .collect();
        let limits: Vec<Limit> = limits
            .iter()
            .map(|text| Limit::from_str(text).expect("a limit"))
            .collect();
        check_limits(&rows, limits.iter(), &decision)
    }

    /// Returns the factors of one benchmark that is 12 % slower, and of `others` more that are not slower.
    fn one_of(others: usize) -> Vec<f64> {
        let mut factors = vec![1.12];
        factors.extend(vec![1.0; others]);
        factors
    }

    /// Returns the remark that `limit` does not decide about the benchmark `b0`, which is 12 % slower, among fifty benchmarks.
    fn undecided(limit: &str, is_change: bool) -> LimitNote {
        LimitNote::Undecided {
            text: limit.to_owned(),
            benchmarks: vec![measured("b0", 1.0).benchmark.key],
            family: 50,
            is_change,
        }
    }

    #[test]
    fn what_exceeds_a_limit_alone_is_open_where_fifty_benchmarks_share_the_level_and_is_told() {
        let alone = kept(&["median:5%"], &one_of(0));
        assert_eq!(alone.exceeded.len(), 1);
        assert_eq!(alone.exceeded[0].shared_level.unwrap().family, 1);
        let among = kept(&["median:5%"], &one_of(49));
        assert_eq!(among.exceeded, []);
        assert_eq!(among.remarks, [undecided("median:5%", true)]);
    }

    #[test]
    fn only_benchmarks_that_a_rule_is_for_share_its_level_and_two_rules_about_one_number_ask_once()
    {
        let found = kept(&["b0=median:5%", "median:900%", "b0=median:1%"], &one_of(0));
        assert_eq!(found.exceeded.len(), 2);
        assert!(
            found
                .exceeded
                .iter()
                .all(|one| one.shared_level.unwrap().family == 1)
        );
        let found = kept(&["b0=median:5%"], &one_of(49));
        assert_eq!(found.exceeded.len(), 1);
        let found = kept(&["b0=median:5%", "b0=mean:5%", "b0=mean:1us"], &one_of(49));
        let families: BTreeSet<usize> = found
            .exceeded
            .iter()
            .map(|one| one.shared_level.unwrap().family)
            .collect();
        assert_eq!(families, BTreeSet::from([3]));
    }

    #[test]
    fn limits_of_values_share_the_level_too() {
        let limit = "median:106ns";
        let alone = kept(&[limit], &one_of(0));
        assert_eq!(alone.exceeded.len(), 1);
        let among = kept(&[limit], &one_of(49));
        assert_eq!(among.exceeded, []);
        assert_eq!(among.remarks, [undecided(limit, false)]);
    }

    #[test]
    fn a_rule_about_medians_never_takes_the_change_of_another_metric() {
        // With `--metric p95`, the median of the times is not compared.
        let of_another = |comparison: &mut Comparison| comparison.description.median = None;
        let found = kept_where(&["median:5%"], &[1.4], of_another);
        assert_eq!(found.exceeded, []);
        assert!(
            matches!(
                &found.remarks[..],
                [LimitNote::WithoutStatistic(_, Statistic::Median, of)] if of[0].id == "b0"
            ),
            "{:?}",
            found.remarks
        );
    }

    #[test]
    fn a_limit_of_the_time_never_takes_the_change_of_another_metric() {
        let of_another = |comparison: &mut Comparison| {
            comparison.basis = Decision::OtherMetric(None);
            comparison.change = Some(Estimate {
                estimate: 9.0,
                lower: 9.0,
                upper: 9.0,
            });
        };
        let found = kept_where(&["time:50%"], &[1.4], of_another);
        assert_eq!(found.exceeded, [], "the median is 40 % slower, not 900 %");
        assert_eq!(found.remarks, []);
        let found = kept_where(&["time:5%"], &[1.4], of_another);
        assert_eq!(found.exceeded.len(), 1);
    }

    #[test]
    fn a_change_that_is_the_limit_itself_does_not_exceed_it() {
        let changed_by = |change: f64| {
            kept_where(&["time:40%"], &[1.4], |comparison| {
                comparison.change = Some(Estimate {
                    estimate: change,
                    lower: change,
                    upper: change,
                });
            })
        };
        assert_eq!(changed_by(0.4).exceeded, []);
        assert_eq!(changed_by(0.400_001).exceeded.len(), 1);
    }

    #[test]
    fn limits_of_the_time_and_of_the_median_are_about_one_number_and_share_no_level() {
        let found = kept(&["time:106ns", "median:107ns"], &one_of(0));
        assert_eq!(found.exceeded.len(), 2);
        for one in &found.exceeded {
            let shared = one.shared_level.unwrap();
            assert_eq!(shared.family, 1);
            assert!((shared.effective_level() - 0.95).abs() < 1e-12);
        }
        // Two different statistics share the confidence level, so each interval has the level 1 - 0.05 / 2.
        let found = kept(&["time:106ns", "mean:107ns"], &one_of(0));
        assert_eq!(found.exceeded.len(), 2);
        for one in &found.exceeded {
            assert!((one.shared_level.unwrap().effective_level() - 0.975).abs() < 1e-12);
        }
    }

    #[test]
    fn the_change_of_the_verdict_has_its_own_level() {
        let found = kept(&["time:5%", "median:900%"], &[1.4, 1.0]);
        assert_eq!(found.exceeded.len(), 1);
        assert_eq!(found.exceeded[0].shared_level, None);
    }

    #[test]
    fn a_value_in_which_all_processes_agree_takes_no_share_of_the_level() {
        let process = |k| flat_process(k, ITERATIONS, &[100.0; 9]);
        let constant = measurement((0..5).map(process).collect());
        let takes =
            |run: &Measurement| LimitedValue::Value(run, Statistic::Median).is_uncertain(0.95);
        assert!(!takes(&constant));
        assert!(takes(&measured("b", 1.0)));
    }

    #[test]
    fn a_change_of_counts_that_vary_is_certain_if_its_p_times_the_family_is_below_the_level() {
        let decision = DecisionSettings {
            significance_level: 1.0 / 16.0,
            ..DecisionSettings::default()
        };
        let count = CountChange {
            base: 100.0,
            candidate: 150.0,
            exact: false,
            p_value: Some(1.0 / 128.0),
            verdict: Verdict::Regressed,
        };
        let bounds = |count, family| {
            let (found, shared) =
                LimitedValue::CountsOfBenchmark(count).with_interval(family, &decision);
            assert_eq!((found.estimate, shared.unwrap().family), (0.5, family));
            (found.lower, found.upper)
        };
        let unknown = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(bounds(count, 1), (0.5, 0.5));
        assert_eq!(bounds(count, 7), (0.5, 0.5));
        assert_eq!(bounds(count, 8), unknown, "the level itself");
        let p_value = None;
        assert_eq!(bounds(CountChange { p_value, ..count }, 1), unknown);
        let verdict = Verdict::Unchanged;
        assert_eq!(bounds(CountChange { verdict, ..count }, 1), unknown);
    }

    fn limits(texts: &[&str]) -> Vec<Limit> {
        let limit = |text: &&str| Limit::from_str(text).expect("a limit");
        texts.iter().map(limit).collect()
    }

    /// Checks limits for one benchmark.
    fn checked(row: Row<'_>, texts: &[&str]) -> LimitReport {
        let decision = DecisionSettings::default();
        check_limits(&[row], limits(texts).iter(), &decision)
    }

    fn row_of(measurement: &Measurement) -> Row<'_> {
        let summary = summarize(measurement, 0.95, 1_000, 7);
        Row::from_measurement(measurement, summary)
    }

    #[test]
    fn a_limit_for_nothing_is_told_once_and_a_limit_for_something_never() {
        let run = measured("b", 1.0);
        let nothing = ["x=mean:5%", "x=mean:5%", "y=mean:5%", "mean:1s"];
        let found = checked(row_of(&run), &nothing);
        let for_nothing = |text: &str| LimitNote::ForNothing(text.to_owned());
        let expected = ["x=mean:5%", "y=mean:5%"].map(for_nothing);
        assert_eq!(found.remarks, expected);
        assert_eq!(found.exceeded, []);
    }

    #[test]
    fn what_was_not_compared_or_not_measured_is_left_to_its_row() {
        let run = measured("b", 1.0);
        let uncompared = checked(row_of(&run), &["mean:5%"]);
        assert_eq!(uncompared, LimitReport::default());
        let unmeasured = Row::unmeasured(key("b"), Verdict::Missing, None);
        let unmeasured = checked(unmeasured, &["mean:5%", "mean:1ns"]);
        assert_eq!(unmeasured, LimitReport::default());
        // A remark names the statistic that the benchmark does not have.
        let without = checked(row_of(&run), &["mean:1s", "allocations:0"]);
        let (text, benchmarks) = ("allocations:0".to_owned(), vec![key("b")]);
        let remark = LimitNote::WithoutStatistic(text, Statistic::Allocations, benchmarks);
        assert_eq!(without.remarks, [remark]);
    }

    #[test]
    fn an_amount_has_no_time_but_a_time_and_a_rate_have() {
        let limited = |metric: Metric, text: &str| {
            let mut run = measured("b", 1.0);
            run.benchmark.metric = metric;
            for process in &mut run.processes {
                process.extras.allocations = vec![Allocations {
                    count: 3,
                    ..Allocations::default()
                }];
            }
            let row = row_of(&run);
            let limit = Limit::from_str(text).expect("a limit");
            value_of_run(&row, limit.statistic).is_some()
        };
        let unit = || "ops".to_owned();
        assert!(limited(Metric::Time, "median:1ns"));
        assert!(limited(Metric::Rate { unit: unit() }, "median:1ns"));
        assert!(!limited(Metric::Amount { unit: unit() }, "median:1ns"));
        assert!(limited(Metric::Amount { unit: unit() }, "allocations:0"));
        assert!(limited(Metric::Time, "allocations:0"));
        assert!(!limited(Metric::Time, "p99:1ns"));
    }

    #[test]
    fn only_an_estimate_beyond_the_limit_leaves_it_open_and_only_where_a_level_is_shared() {
        let median_of = |change: f64| {
            let unsure = |comparison: &mut Comparison| {
                comparison.description.median = Some(DescribedChange {
                    estimate: Estimate::unbounded(change),
                    uncertainty: Uncertainty::unknown(change),
                });
            };
            kept_where(&["median:5%"], &[1.0], unsure).remarks
        };
        assert_eq!(median_of(0.049), []);
        assert_eq!(median_of(0.05), [], "the limit itself");
        let open = LimitNote::Undecided {
            text: "median:5%".to_owned(),
            benchmarks: vec![key("b0")],
            family: 1,
            is_change: true,
        };
        assert_eq!(median_of(0.051), [open]);
        // The change that the verdict is about has its own level, so a limit on it is never reported as undecided.
        let found = kept_where(&["time:40%"], &[1.4], |comparison| {
            comparison.change = Some(Estimate {
                estimate: 0.5,
                lower: 0.3,
                upper: 0.7,
            });
        });
        assert_eq!(found, LimitReport::default());
    }

    #[test]
    fn what_exceeds_a_limit_is_told_whole_and_by_the_names_of_the_benchmarks() {
        let processes = [(0, 2.0), (1, 2.0), (2, 2.0)];
        let constant = processes.map(|(k, time)| flat_process(k, ITERATIONS, &[time; 9]));
        let runs = ["b10", "b9"].map(|id| {
            let mut run = measurement(constant.to_vec());
            run.benchmark.key.id = id.to_owned();
            run
        });
        let rows = runs.each_ref().map(row_of);
        let limits = limits(&["median:1ns", "b9=mean:3ns"]);
        let found = check_limits(&rows, limits.iter(), &DecisionSettings::default());
        let exceeded = |id: &str| ExceededLimit {
            key: key(id),
            text: "median:1ns".to_owned(),
            statistic: Statistic::Median,
            ceiling: Ceiling::Value(1.0),
            found: certain(2.0),
            // All processes agree, so the value needs no share of the confidence level.
            shared_level: None,
        };
        assert_eq!(found.exceeded, [exceeded("b9"), exceeded("b10")]);
        assert_eq!(found.remarks, []);
    }

    #[test]
    fn a_change_of_counts_is_certain_if_they_are_exact_and_from_zero_beyond_every_limit() {
        let counted = |base: f64, exact: bool, text: &str| {
            let mut comparison = changed_by(0.0);
            comparison.instructions = Some(InstructionComparison {
                change: CountChange {
                    base,
                    candidate: 150.0,
                    exact,
                    p_value: None,
                    verdict: Verdict::Regressed,
                },
                functions: Vec::new(),
            });
            let row = Row {
                comparison: Some(comparison),
                ..Row::unmeasured(key("b"), Verdict::Regressed, None)
            };
            let found = checked(row, &[text]);
            let exceeded = found
                .exceeded
                .iter()
                .map(|one| (one.found, one.shared_level));
            (exceeded.collect::<Vec<_>>(), found.remarks.len())
        };
        let beyond = |change: f64| (vec![(certain(change), None)], 0);
        assert_eq!(counted(100.0, true, "instructions:49%"), beyond(0.5));
        assert_eq!(counted(100.0, true, "instructions:50%"), (vec![], 0));
        let from_zero = counted(0.0, true, "instructions:1000000%");
        assert_eq!(from_zero, beyond(f64::INFINITY));
        // Without a test, counts that vary are undecided.
        assert_eq!(counted(100.0, false, "instructions:49%"), (vec![], 1));
    }
}
