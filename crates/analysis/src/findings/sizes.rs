//! How the sizes of executables differ between the two sides, and the limits on them (`--limit size:1%`).
//!
//! A size is exact, so it needs no interval, and no verdict depends on it.

use super::limit::{Ceiling, ExceededLimit, Limit, LimitNote, LimitReport};
use super::remark::{RunNote, SizeChange};
use super::row::Row;
use crate::compare::Estimate;
use crate::model::{BenchmarkKey, BySide, Measurement, Statistic};

/// Returns a key for the executable as a whole. Its id is empty.
fn target_key(package: &str, target: &str) -> BenchmarkKey {
    BenchmarkKey {
        package: package.to_owned(),
        target: target.to_owned(),
        id: String::new(),
    }
}

/// Returns the sizes of the executables whose size is stored with the measurements of both sides.
pub(super) fn find_measured_sizes<'m>(
    measured: impl Iterator<Item = BySide<&'m Measurement>>,
) -> Vec<SizeChange> {
    let mut sizes: Vec<SizeChange> = Vec::new();
    for BySide { base, candidate } in measured {
        let known = base.target_facts.size.zip(candidate.target_facts.size);
        let BenchmarkKey {
            package, target, ..
        } = &candidate.benchmark.key;
        let is_new = sizes.iter().all(|one| !one.belongs_to(package, target));
        if let Some((base, candidate)) = known.filter(|_| is_new) {
            sizes.push(SizeChange::new(
                package.clone(),
                target.clone(),
                BySide { base, candidate },
                Vec::new(),
            ));
        }
    }
    sizes
}

/// Removes the remarks about sizes, and adds their sizes to `sizes`. They replace sizes that are stored with measurements, because they name functions.
pub(super) fn take_sizes(remarks: &mut Vec<RunNote>, sizes: &mut Vec<SizeChange>) {
    let taken: Vec<SizeChange> = remarks.iter().filter_map(RunNote::size).cloned().collect();
    remarks.retain(|remark| remark.size().is_none());
    for change in taken {
        sizes.retain(|known| {
            let is_replaced = known.reference.is_none() || known.reference == change.reference;
            !(is_replaced && known.belongs_to(&change.package, &change.target))
        });
        sizes.push(change);
    }
}

/// Returns remarks about the sizes that have a limit or changed by at least `threshold`, a fraction.
pub(super) fn find_notable_sizes(
    sizes: &[SizeChange],
    threshold: f64,
) -> impl Iterator<Item = RunNote> + '_ {
    let notable = sizes.iter().filter(move |one| one.is_notable(threshold));
    notable.map(|one| RunNote::Size(Box::new(one.clone())))
}

/// Checks the limits on sizes, adds the results to `checked`, and marks the sizes that have a limit.
pub(super) fn check_sizes(
    limits: &[&Limit],
    rows: &[Row<'_>],
    sizes: &mut [SizeChange],
    checked: &mut LimitReport,
) {
    for change in sizes.iter_mut() {
        change.limited = false;
    }
    for limit in limits {
        if limit.statistic != Statistic::Size {
            continue;
        }
        let mut values = Vec::new();
        for change in sizes.iter_mut() {
            if limit.applies_to_target(&change.package, &change.target) {
                change.limited = true;
                let value = match limit.ceiling {
                    Ceiling::Change(_) => change.relative(),
                    Ceiling::Value(_) => change.size.candidate.compared_bytes() as f64,
                };
                values.push((target_key(&change.package, &change.target), value));
            }
        }
        let mut unknown = Vec::new();
        for row in rows {
            let BenchmarkKey {
                package, target, ..
            } = &row.key;
            let key = target_key(package, target);
            let is_listed = values.iter().any(|(known, _)| *known == key) || unknown.contains(&key);
            if is_listed || !limit.applies_to_target(package, target) {
                continue;
            }
            let size = row.measurement.and_then(|found| found.target_facts.size);
            match size.filter(|_| !limit.ceiling.is_change()) {
                Some(size) => values.push((key, size.compared_bytes() as f64)),
                None => unknown.push(key),
            }
        }
        if values.is_empty() && unknown.is_empty() {
            let remark = LimitNote::ForNothing(limit.text.clone());
            if !checked.remarks.contains(&remark) {
                checked.remarks.push(remark);
            }
        }
        // The rows say already what has no reference or was not measured.
        let is_compared = |key: &BenchmarkKey| {
            rows.iter().any(|row| {
                let is_of_target = row.key.package == key.package && row.key.target == key.target;
                is_of_target && row.comparison.is_some()
            })
        };
        unknown.retain(is_compared);
        if !unknown.is_empty() {
            let text = limit.text.clone();
            let remark = LimitNote::WithoutStatistic(text, Statistic::Size, unknown);
            checked.remarks.push(remark);
        }
        let exceeded = values.into_iter();
        let exceeded = exceeded.filter(|(_, value)| *value > limit.ceiling.value());
        checked
            .exceeded
            .extend(exceeded.map(|(key, value)| ExceededLimit {
                key,
                text: limit.text.clone(),
                statistic: Statistic::Size,
                ceiling: limit.ceiling,
                found: Estimate {
                    estimate: value,
                    lower: value,
                    upper: value,
                },
                shared_level: None,
            }));
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;
    use crate::compare::fixtures::measurement;
    use crate::exit_code::ExitCode;
    use crate::model::{ExecutableSize, RunId, Verdict};

    fn size(stripped: u64) -> ExecutableSize {
        ExecutableSize {
            stripped: Some(stripped),
            ..ExecutableSize::default()
        }
    }

    fn change(target: &str, base: u64, candidate: u64) -> SizeChange {
        let size = BySide {
            base: size(base),
            candidate: size(candidate),
        };
        SizeChange::new("p".to_owned(), target.to_owned(), size, Vec::new())
    }

    fn check(limits: &[&str], rows: &[Row<'_>], sizes: &mut [SizeChange]) -> LimitReport {
        let limits = limits.iter().map(|text| Limit::from_str(text));
        let limits: Vec<Limit> = limits.map(|limit| limit.expect("a limit")).collect();
        let mut checked = LimitReport::default();
        let limits: Vec<&Limit> = limits.iter().collect();
        check_sizes(&limits, rows, sizes, &mut checked);
        checked
    }

    #[test]
    fn an_executable_that_grew_more_than_a_limit_allows_is_a_regression() {
        let mut sizes = [change("a", 1_000, 1_010), change("b", 1_000, 1_011)];
        let found = check(&["size:1%"], &[], &mut sizes);
        let exceeded: Vec<&str> = found.exceeded.iter().map(|one| &*one.key.target).collect();
        assert_eq!(exceeded, ["b"]);
        assert_eq!(found.exit_code(), ExitCode::Regression);
        assert!(found.has_worsened() && sizes.iter().all(|one| one.limited));
        let found = check(&["size:1010"], &[], &mut sizes);
        assert_eq!(found.exceeded.len(), 1);
        assert!(!found.has_worsened());
        let found = check(&["a=size:0%", "size:2%", "median:1%"], &[], &mut sizes);
        assert_eq!(found.exceeded[0].text, "a=size:0%");
        assert_eq!((found.exceeded.len(), found.remarks.len()), (1, 0));
    }

    #[test]
    fn code_and_data_are_compared_if_the_size_without_symbols_is_unknown() {
        let size = |text| ExecutableSize {
            text,
            data: 100,
            bss: text * 2,
            stripped: None,
        };
        let mut sizes = [change("a", 0, 0)];
        sizes[0].size = BySide {
            base: size(900),
            candidate: size(920),
        };
        assert!((sizes[0].relative() - 0.02).abs() < 1e-12);
        let found = check(&["size:1%", "size:1019", "size:1020"], &[], &mut sizes);
        let exceeded: Vec<&str> = found.exceeded.iter().map(|one| &*one.text).collect();
        assert_eq!(exceeded, ["size:1%", "size:1019"]);
    }

    #[test]
    fn a_smaller_executable_exceeds_no_change() {
        let mut sizes = [change("a", 1_000, 500)];
        assert_eq!(check(&["size:0%"], &[], &mut sizes), LimitReport::default());
    }

    #[test]
    fn a_limit_names_what_it_cannot_be_checked_for() {
        let mut run = measurement(Vec::new());
        run.target_facts.size = Some(size(2_000));
        let row = Row::from_measurement(&run, None);
        let nothing = LimitNote::ForNothing("x=size:1%".to_owned());
        assert_eq!(
            check(&["x=size:1%"], std::slice::from_ref(&row), &mut []).remarks,
            [nothing]
        );
        // A value needs no reference, and a change without one is left to the row.
        let found = check(
            &["size:1kB", "size:1%"],
            std::slice::from_ref(&row),
            &mut [],
        );
        assert_eq!((found.exceeded.len(), found.remarks.len()), (1, 0));
        let missing = Row::unmeasured(row.key, Verdict::Missing, None);
        assert_eq!(check(&["size:1%"], &[missing], &mut []).remarks, []);
    }

    #[test]
    fn users_are_told_of_sizes_beyond_the_threshold_or_with_a_limit() {
        let mut sizes = [change("a", 1_000, 1_009), change("b", 1_000, 990)];
        let told = |sizes: &[SizeChange]| find_notable_sizes(sizes, 0.01).count();
        assert_eq!(told(&sizes), 1);
        check(&["a=size:5%"], &[], &mut sizes);
        assert_eq!(told(&sizes), 2);
    }

    #[test]
    fn sizes_of_measurements_are_replaced_by_those_of_remarks() {
        let mut base = measurement(Vec::new());
        base.target_facts.size = Some(size(10));
        let mut candidate = base.clone();
        candidate.target_facts.size = Some(size(20));
        let pair = BySide {
            base: &base,
            candidate: &candidate,
        };
        let mut sizes = find_measured_sizes([pair, pair].into_iter());
        assert_eq!((sizes.len(), sizes[0].relative()), (1, 1.0));
        let key = &candidate.benchmark.key;
        let better = SizeChange {
            reference: Some(RunId(3)),
            ..change(&key.target, 10, 30)
        };
        let other = SizeChange {
            reference: Some(RunId(4)),
            ..better.clone()
        };
        let both = [better, other].map(|one| SizeChange {
            package: key.package.clone(),
            ..one
        });
        let mut remarks = both
            .clone()
            .map(|one| RunNote::Size(Box::new(one)))
            .to_vec();
        remarks.push(RunNote::Imported);
        take_sizes(&mut remarks, &mut sizes);
        assert_eq!(remarks, [RunNote::Imported]);
        assert_eq!(sizes, both);
    }
}
