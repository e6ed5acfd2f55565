//! Rules that benchmarks must keep (`--fail`, `fail = [...]`): which of them a comparison breaks, and which of them say nothing.
//!
//! A rule never changes a verdict. It is broken only where the whole interval lies above its limit.

use std::collections::BTreeSet;

use super::row::Row;
use super::violation::{Gates, Violation};
use crate::compare::{
    Comparison, CountChange, DescribedChange, Estimate, Share, SharedLevel, Uncertainty, value_at,
};
use crate::findings::FailRule;
use crate::model::{BenchmarkKey, DecisionSettings, Limit, Measurement, Metric, Statistic, Unit};

/// What `rules` make of `rows`. Rules of the workspace count beside those of the command line.
///
/// All numbers that they ask for and that rest on an interval or a test share the level (Bonferroni).
pub(super) fn gates<'r>(
    rows: &[Row<'_>],
    rules: impl Iterator<Item = &'r FailRule>,
    decision: &DecisionSettings,
) -> Gates {
    let mut gates = Gates::default();
    let mut said = BTreeSet::new();
    let mut asked = Vec::new();
    for rule in rules {
        let mut meant = rows.iter().filter(|row| rule.is_for(&row.key)).peekable();
        if meant.peek().is_none() && said.insert(rule.gate.text.clone()) {
            gates.remarks.push(format!(
                "the rule `{}` is for no benchmark that was compared",
                rule.gate
            ));
        }
        let mut without = Vec::new();
        for row in meant {
            match found(row, rule) {
                Found::Number(number) => asked.push((row, rule, number)),
                Found::Nothing => without.push(row.key.id.as_str()),
                Found::NotCompared => {}
            }
        }
        if !without.is_empty() {
            gates.remarks.push(format!(
                "the rule `{}` says nothing of {}: {}",
                rule.gate,
                whom(&without),
                why(rule.gate.statistic)
            ));
        }
    }
    let family = family(&asked, decision.confidence_level);
    let mut open = Vec::new();
    for (row, rule, number) in asked {
        let (is_change, limit) = match rule.gate.limit {
            Limit::Change(limit) => (true, limit),
            Limit::Value(limit) => (false, limit),
        };
        let (found, shared_level) = number.within(family, decision);
        if found.lower > limit {
            gates.violations.push(Violation {
                key: row.key.clone(),
                rule: rule.gate.text.clone(),
                statistic: rule.gate.statistic.to_string(),
                unit: rule.gate.statistic.unit(),
                is_change,
                limit,
                found,
                shared_level,
            });
        } else if found.estimate > limit && shared_level.is_some() {
            open.push((rule, row));
        }
    }
    for together in open.chunk_by(|(a, _), (b, _)| std::ptr::eq(*a, *b)) {
        let ids: Vec<&str> = together
            .iter()
            .map(|(_, row)| row.key.id.as_str())
            .collect();
        gates.remarks.push(undecided(together[0].0, &ids, family));
    }
    gates
        .violations
        .sort_by(|a, b| a.key.in_natural_order(&b.key));
    gates
}

/// That what was seen is more than a rule allows and what is shown is not.
fn undecided(rule: &FailRule, ids: &[&str], family: usize) -> String {
    let share = match family {
        1 => String::new(),
        _ => format!(" where {family} numbers share the level"),
    };
    let way_out = match rule.gate.limit {
        Limit::Change(_) => "more launches, or both builds in turn (`--against`), narrow it",
        Limit::Value(_) => "more launches narrow it",
    };
    format!(
        "the rule `{}` is neither kept nor broken by {}: what was seen lies above the limit, the whole interval does not{share}; {way_out}",
        rule.gate,
        whom(ids)
    )
}

fn whom(ids: &[&str]) -> String {
    match ids {
        [first, others @ ..] if !others.is_empty() => {
            format!("`{first}` and {} more", others.len())
        }
        _ => format!("`{}`", ids.concat()),
    }
}

/// How many different numbers share the level: two rules about the same number of a benchmark ask for one interval.
fn family(asked: &[(&Row<'_>, &FailRule, Number<'_>)], confidence_level: f64) -> usize {
    let numbers: BTreeSet<(&BenchmarkKey, String, bool)> = asked
        .iter()
        .filter(|(_, _, number)| number.is_uncertain(confidence_level))
        .map(|(row, rule, _)| {
            let is_change = matches!(rule.gate.limit, Limit::Change(_));
            let statistic = match rule.gate.statistic {
                Statistic::Time => Statistic::Median,
                other => other,
            };
            (&row.key, statistic.to_string(), is_change)
        })
        .collect();
    numbers.len()
}

/// Whether a change is more than a rule allows: such a run is no reference for later ones, or it would turn green by itself.
pub(super) fn has_worsened(gates: &Gates) -> bool {
    gates.violations.iter().any(|violation| violation.is_change)
}

enum Found<'a> {
    /// The change or the value.
    Number(Number<'a>),
    /// The benchmark does not have the statistic.
    Nothing,
    /// There is nothing to compare it with, or nothing was measured: that has words of its own.
    NotCompared,
}

/// What a rule is about, before it is known how many share the level.
enum Number<'a> {
    /// The change that the verdict rests on, at the level of the verdict; or what varies nowhere.
    Settled(Estimate),
    /// A change with its uncertainty.
    Change(Uncertainty),
    /// A value of the run.
    Value(&'a Measurement, Statistic),
    /// A change of counts that vary, tested by ranks.
    Counts(CountChange),
}

impl Number<'_> {
    /// Whether it takes a share of the level.
    fn is_uncertain(&self, confidence_level: f64) -> bool {
        match self {
            Self::Settled(_) => false,
            Self::Counts(_) | Self::Change(_) => true,
            // Where launches agree the value is its own interval.
            Self::Value(measurement, statistic) => {
                value_at(measurement, *statistic, confidence_level)
                    .is_some_and(|found| found.lower < found.upper)
            }
        }
    }

    /// The number with its interval where so many share the level; without one the bounds are the value.
    fn within(
        &self,
        family: usize,
        decision: &DecisionSettings,
    ) -> (Estimate, Option<SharedLevel>) {
        let shared = SharedLevel::of_interval(decision.confidence_level, family);
        match self {
            Self::Settled(found) => (*found, None),
            Self::Change(uncertainty) => (uncertainty.at(shared.own()), Some(shared)),
            Self::Value(measurement, statistic) => {
                let found = value_at(measurement, *statistic, shared.own())
                    .unwrap_or(Estimate::unbounded(f64::NAN));
                (found, (found.lower < found.upper).then_some(shared))
            }
            Self::Counts(count) => {
                let p = count.p_value.unwrap_or(1.0);
                let level = decision.significance_level;
                let is_shown = count.has_changed() && p * (family as f64) < level;
                let share = Share::Ranks {
                    significance_level: level,
                    unadjusted_p_value: p,
                };
                let found = if is_shown {
                    any_change(count)
                } else {
                    Estimate::unbounded(count.relative())
                };
                (found, Some(SharedLevel { family, share }))
            }
        }
    }
}

fn found<'a>(row: &'a Row<'_>, rule: &FailRule) -> Found<'a> {
    let number = match rule.gate.limit {
        Limit::Change(_) => {
            let Some(comparison) = &row.comparison else {
                return Found::NotCompared;
            };
            change(comparison, rule.gate.statistic)
        }
        Limit::Value(_) => {
            if row.summary.is_none() {
                return Found::NotCompared;
            }
            of_run(row, rule.gate.statistic)
        }
    };
    number.map_or(Found::Nothing, Found::Number)
}

/// The change of a statistic against the reference.
fn change(comparison: &Comparison, statistic: Statistic) -> Option<Number<'static>> {
    let described = |found: DescribedChange| Number::Change(found.uncertainty);
    match statistic {
        Statistic::Time => comparison.change.map(Number::Settled),
        Statistic::Mean => comparison.description.mean.map(described),
        Statistic::Median => comparison.description.median.map(described),
        other => {
            if let Some(count) = comparison.count(other) {
                return Some(if count.exact {
                    Number::Settled(any_change(&count))
                } else {
                    Number::Counts(count)
                });
            }
            let found = comparison.percentile(other)?;
            Some(Number::Change(found.uncertainty))
        }
    }
}

/// A change that is shown. From none to some is more than any percentage.
fn any_change(count: &CountChange) -> Estimate {
    let relative = count.relative();
    Estimate {
        estimate: relative,
        lower: relative,
        upper: relative,
    }
}

/// The statistic of the run itself.
fn of_run<'a>(row: &'a Row<'_>, statistic: Statistic) -> Option<Number<'a>> {
    let measurement = row.measurement?;
    let is_amount = matches!(measurement.benchmark.metric, Metric::Amount { .. });
    if is_amount && statistic.unit() == Unit::Time {
        return None;
    }
    value_at(measurement, statistic, 0.5)?;
    Some(Number::Value(measurement, statistic))
}

fn why(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Allocations | Statistic::Bytes | Statistic::Peak => {
            "its allocations were not counted (the bench needs the counting allocator of `perfcheck`)"
        }
        Statistic::Latency(_) => {
            "it is no latency benchmark (`iter_latency` times single operations)"
        }
        Statistic::Slope => "it has no linear phase",
        _ => "its samples do not give it, or are no times",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::{ITERATIONS, flat_launch, measurement};
    use crate::compare::{Decider, HostClass, Question, Reference, Rules, compare, summarize};
    use crate::findings::Scope;
    use crate::model::Verdict;

    const LAUNCHES: [f64; 5] = [-0.01, 0.01, 0.0, 0.02, -0.02];

    fn measured(id: &str, factor: f64) -> Measurement {
        let launch = |(k, spread): (u32, f64)| {
            let times: Vec<f64> = (0..9)
                .map(|i| factor * (100.0 + f64::from(i) * 0.01))
                .collect();
            let times: Vec<f64> = times.iter().map(|time| time * f64::exp(spread)).collect();
            flat_launch(k, ITERATIONS, &times)
        };
        let mut run = measurement((0..).zip(LAUNCHES).map(launch).collect());
        run.benchmark.key.id = id.to_owned();
        run
    }

    /// What rules make of benchmarks that are slower by these factors than one stored run on a machine of their own.
    fn kept(rules: &[&str], factors: &[f64]) -> Gates {
        kept_where(rules, factors, |_| ())
    }

    fn kept_where(rules: &[&str], factors: &[f64], alter: impl Fn(&mut Comparison)) -> Gates {
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
        let by = Rules {
            decision,
            decider: Decider::RunLevel,
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
                    vec![crate::model::RunId(1)],
                )
            })
            .collect();
        let rules: Vec<FailRule> = rules
            .iter()
            .map(|rule| FailRule::read(rule, Scope::default()).expect("a rule"))
            .collect();
        gates(&rows, rules.iter(), &decision)
    }

    /// One that is 12 % slower, and so many that are not slower.
    fn one_of(others: usize) -> Vec<f64> {
        let mut factors = vec![1.12];
        factors.extend(vec![1.0; others]);
        factors
    }

    #[test]
    fn what_breaks_a_rule_alone_is_open_where_fifty_benchmarks_share_the_level_and_is_told() {
        let alone = kept(&["median:5%"], &one_of(0));
        assert_eq!(alone.violations.len(), 1);
        assert_eq!(alone.violations[0].shared_level.unwrap().family, 1);
        let among = kept(&["median:5%"], &one_of(49));
        assert_eq!(among.violations, []);
        assert!(
            among.remarks[0].contains("neither kept nor broken by `b0`")
                && among.remarks[0].contains("50 numbers share the level"),
            "{:?}",
            among.remarks
        );
        assert_eq!(among.remarks.len(), 1);
    }

    #[test]
    fn only_benchmarks_that_a_rule_is_for_share_its_level_and_two_rules_about_one_number_ask_once()
    {
        let found = kept(&["b0=median:5%", "median:900%", "b0=median:1%"], &one_of(0));
        assert_eq!(found.violations.len(), 2);
        assert!(
            found
                .violations
                .iter()
                .all(|one| one.shared_level.unwrap().family == 1)
        );
        let found = kept(&["b0=median:5%"], &one_of(49));
        assert_eq!(found.violations.len(), 1);
        let found = kept(&["b0=median:5%", "b0=mean:5%", "b0=mean:1us"], &one_of(49));
        let families: BTreeSet<usize> = found
            .violations
            .iter()
            .map(|one| one.shared_level.unwrap().family)
            .collect();
        assert_eq!(families, BTreeSet::from([3]));
    }

    #[test]
    fn limits_of_values_share_the_level_too() {
        let limit = "median:106ns";
        let alone = kept(&[limit], &one_of(0));
        assert_eq!(alone.violations.len(), 1);
        let among = kept(&[limit], &one_of(49));
        assert_eq!(among.violations, []);
        assert!(
            !among.remarks[0].contains("--against"),
            "{:?}",
            among.remarks
        );
    }

    #[test]
    fn a_rule_about_medians_never_takes_the_change_of_another_metric() {
        // As with `--metric p95`, where nothing was found of the medians.
        let of_another = |comparison: &mut Comparison| comparison.description.median = None;
        let found = kept_where(&["median:5%"], &[1.4], of_another);
        assert_eq!(found.violations, []);
        assert!(
            found.remarks[0].contains("says nothing of `b0`"),
            "{:?}",
            found.remarks
        );
    }

    #[test]
    fn the_change_of_the_verdict_has_its_own_level() {
        let found = kept(&["time:5%", "median:900%"], &[1.4, 1.0]);
        assert_eq!(found.violations.len(), 1);
        assert_eq!(found.violations[0].shared_level, None);
    }
}
