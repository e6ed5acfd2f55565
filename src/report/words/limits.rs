//! Describes the results of limits (`--limit`): which benchmarks exceed them, and which limits could not be checked.

use std::io::{self, Write};

use crate::report::text::status::write_warning_within;
use crate::report::view::wrap_prose;
use crate::report::{theme, units};
use perfcheck_analysis::compare::{Estimate, LevelShare, SharedLevel};
use perfcheck_analysis::findings::{ExceededLimit, LimitNote, LimitReport};
use perfcheck_analysis::model::{BenchmarkKey, Statistic, Unit};

/// Writes limits that benchmarks exceed, and limits without a decision, wrapped at `columns`.
pub(crate) fn write_limits(
    writer: &mut dyn Write,
    limits: &LimitReport,
    columns: usize,
) -> io::Result<()> {
    for found in &limits.exceeded {
        let text = format!("{}: {}", theme::error(), describe_exceeded(found));
        writeln!(writer, "{}", wrap_prose(&text, columns, "  "))?;
    }
    for remark in &limits.remarks {
        write_warning_within(writer, &describe_limit_remark(remark), columns)?;
    }
    Ok(())
}

/// Describes a benchmark's value and the limit that it exceeds.
pub(crate) fn describe_exceeded(limit: &ExceededLimit) -> String {
    let number = |value: f64| {
        if limit.ceiling.is_change() {
            units::change(value)
        } else {
            format_in_unit(value, limit.statistic.unit())
        }
    };
    let Estimate {
        estimate,
        lower,
        upper,
    } = limit.found;
    let interval = if lower == upper {
        String::new()
    } else {
        let upper = if upper.is_finite() {
            number(upper)
        } else {
            "?".to_owned()
        };
        format!(
            " [{}, {upper}]{}",
            number(lower),
            describe_shared_level(limit.shared_level)
        )
    };
    let found = match (limit.ceiling.is_change(), estimate.is_finite()) {
        (true, true) => format!("changed by {}{interval}", number(estimate)),
        // A change from zero is more than any percentage.
        (true, false) => "changed from none to some".to_owned(),
        (false, _) => format!("{}{interval}", number(estimate)),
    };
    theme::escape_terminal_text(&format!(
        "{}: {} {found}, more than `{}` allows",
        limit.key.id, limit.statistic, limit.text
    ))
}

/// Gives the level of an interval that is wider because several numbers share the confidence level.
fn describe_shared_level(shared: Option<SharedLevel>) -> String {
    match shared {
        Some(SharedLevel {
            family,
            share:
                LevelShare::Interval {
                    confidence_level,
                    interval_level,
                },
        }) if family > 1 => format!(
            " ({}: {family} numbers share {})",
            units::percent(interval_level),
            units::percent(confidence_level)
        ),
        _ => String::new(),
    }
}

fn format_in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Time => units::time(value),
        Unit::Bytes => format!("{} B", format_count(value)),
        Unit::Count => format_count(value),
    }
}

/// Formats a mean of counts with at most two decimals.
fn format_count(value: f64) -> String {
    let hundredths = (value * 100.0).round() / 100.0;
    format!("{hundredths}")
}

/// Explains why a limit decided nothing.
pub(crate) fn describe_limit_remark(remark: &LimitNote) -> String {
    match remark {
        LimitNote::ForNothing(text) => {
            format!("the limit `{text}` is for no benchmark that was compared")
        }
        LimitNote::WithoutStatistic(text, statistic, benchmarks) => format!(
            "the limit `{text}` says nothing of {}: {}",
            name_benchmarks(benchmarks),
            explain_missing_statistic(*statistic)
        ),
        LimitNote::Undecided {
            text,
            benchmarks,
            family,
            is_change,
        } => {
            let share = match family {
                1 => String::new(),
                _ => format!(" where {family} numbers share the level"),
            };
            let way_out = if *is_change {
                "more processes, or both builds side by side (`--against`), narrow it"
            } else {
                "more launches narrow it"
            };
            format!(
                "the limit `{text}` is neither kept nor exceeded by {}: what was seen lies above the limit, the whole interval does not{share}; {way_out}",
                name_benchmarks(benchmarks)
            )
        }
    }
}

/// Names the first benchmark and counts the others: `` `parse` and 3 more ``.
pub(crate) fn name_benchmarks(benchmarks: &[BenchmarkKey]) -> String {
    let first = benchmarks.first().map_or("", |key| &key.id);
    match benchmarks.len() {
        0 | 1 => format!("`{first}`"),
        several => format!("`{first}` and {} more", several - 1),
    }
}

fn explain_missing_statistic(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Allocations | Statistic::Bytes | Statistic::Peak => {
            "its allocations were not counted (the bench needs the counting allocator of `perfcheck`)"
        }
        Statistic::Instructions => "its instructions were not counted",
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
    use perfcheck_analysis::findings::Ceiling;

    #[test]
    fn an_exceeded_limit_says_what_was_found_also_where_there_was_nothing_before() {
        let said = |found: Estimate| {
            describe_exceeded(&ExceededLimit {
                key: BenchmarkKey {
                    package: "crate".into(),
                    target: "bench".into(),
                    id: "parse".into(),
                },
                text: "allocations:10%".into(),
                statistic: Statistic::Allocations,
                ceiling: Ceiling::Change(0.1),
                found,
                shared_level: Some(SharedLevel::bonferroni(0.95, 50)),
            })
        };
        let all = |value| Estimate {
            estimate: value,
            lower: value,
            upper: value,
        };
        assert_eq!(
            said(all(0.5)),
            "parse: allocations changed by +50.0 %, more than `allocations:10%` allows"
        );
        assert_eq!(
            said(all(f64::INFINITY)),
            "parse: allocations changed from none to some, more than `allocations:10%` allows"
        );
        let apart = Estimate {
            estimate: 0.3,
            lower: 0.2,
            upper: 0.4,
        };
        assert_eq!(
            said(apart),
            "parse: allocations changed by +30.0 % [+20.0 %, +40.0 %] (99.9 %: 50 numbers share 95 %), more than `allocations:10%` allows"
        );
    }

    #[test]
    fn a_limit_that_decides_nothing_says_why() {
        let key = |id: &str| BenchmarkKey {
            package: "crate".into(),
            target: "bench".into(),
            id: id.into(),
        };
        let without = |benchmarks| {
            describe_limit_remark(&LimitNote::WithoutStatistic(
                "p99:1ms".into(),
                Statistic::Latency(990),
                benchmarks,
            ))
        };
        assert!(
            without(vec![key("a")]).contains("says nothing of `a`: it is no latency benchmark")
        );
        assert!(without(vec![key("a"), key("b"), key("c")]).contains("`a` and 2 more: "));
        let undecided = |family, is_change| {
            describe_limit_remark(&LimitNote::Undecided {
                text: "median:5%".into(),
                benchmarks: vec![key("a")],
                family,
                is_change,
            })
        };
        let among = undecided(50, true);
        assert!(
            among.contains("neither kept nor exceeded by `a`")
                && among.contains("50 numbers share the level")
                && among.contains("--against"),
            "{among}"
        );
        let alone = undecided(1, false);
        assert!(
            !alone.contains("share the level") && !alone.contains("--against"),
            "{alone}"
        );
    }
}
