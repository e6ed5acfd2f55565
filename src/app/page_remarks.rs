//! What a page says of a stored run and of its benchmarks beside verdicts: what the run said at its end, as far as the store can tell.
//!
//! Words are those of the run's table where it has some.

use std::collections::BTreeMap;

use super::against::layout_hint;
use super::confirm::in_turn;
use super::page::Judged;
use super::paired::settling;
use super::pairing::IDENTICAL;
use crate::compare::{Circumstances, Difference, differences};
use crate::model::{BySide, Measurement, Run, RunId, Verdict};

/// What there is to say of a benchmark.
pub(super) fn of_benchmark(one: &Judged, head: &Run) -> Vec<String> {
    let replayed = one.replayed.as_ref();
    let agreed = replayed.filter(|found| found.agrees);
    let comparison = agreed.and_then(|found| found.comparison.as_ref());
    let confirmed = agreed.and_then(|found| found.confirmed.as_ref());
    let in_words = confirmed.and_then(|confirmed| {
        let runs = BySide {
            base: confirmed.base,
            candidate: confirmed.candidate,
        };
        let first = confirmed.first_verdict?.word();
        Some(in_turn(
            first,
            confirmed.first_change,
            comparison?.verdict,
            &runs,
        ))
    });
    let settled = head.pair.and_then(|_| settling(comparison));
    let identical = is_identical(one, head).then(|| IDENTICAL.to_owned());
    in_words
        .into_iter()
        .chain(settled)
        .chain(identical)
        .collect()
}

/// Nothing was measured and nothing has changed: the executable is the same.
fn is_identical(one: &Judged, head: &Run) -> bool {
    head.pair.is_some() && one.candidate.is_none() && one.verdict == Some(Verdict::Unchanged)
}

/// What there is to say of the whole: what to be careful about, and what is good to know.
pub(super) fn of_whole(judged: &[Judged], head: &Run) -> (Vec<String>, Vec<String>) {
    let changes = judged.iter().map(|one| (one.verdict, one.change));
    let hint = head.pair.and_then(|_| layout_hint(changes));
    let identical = judged.iter().filter(|one| is_identical(one, head)).count();
    let same = (identical > 0).then(|| {
        let which = if identical == judged.len() {
            "Nothing was measured".to_owned()
        } else {
            format!("{} not measured", were(identical))
        };
        format!("{which}: {IDENTICAL}.")
    });
    let mut again: BTreeMap<(RunId, RunId), usize> = BTreeMap::new();
    for one in judged {
        let confirmed = one
            .replayed
            .as_ref()
            .and_then(|found| found.confirmed.as_ref());
        if let Some(confirmed) = confirmed {
            *again
                .entry((confirmed.base, confirmed.candidate))
                .or_default() += 1;
        }
    }
    let again = again.into_iter().map(|((base, candidate), count)| {
        format!(
            "{} measured again in turn with the reference, in run {candidate} beside run {base}: their medians, changes and charts are those of these runs.",
            were(count)
        )
    });
    (
        hint.into_iter().collect(),
        same.into_iter().chain(again).collect(),
    )
}

fn were(count: usize) -> String {
    match count {
        1 => "1 benchmark was".to_owned(),
        _ => format!("{count} benchmarks were"),
    }
}

/// Facts that differ between two sides, each once; what makes sides incomparable is said of the benchmark.
pub(super) fn differing<'a>(
    sides: impl Iterator<Item = [(&'a Run, &'a Measurement); 2]>,
) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for both in sides {
        let [candidate, base] = both.map(|(run, measurement)| Circumstances {
            environment: &run.environment,
            target: &measurement.target_facts,
            version: measurement.benchmark.version.as_deref(),
            metric: &measurement.benchmark.metric,
        });
        for warning in differences(&candidate, &base).warnings {
            if !found.contains(&warning) {
                found.push(warning);
            }
        }
    }
    found
}
