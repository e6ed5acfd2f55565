//! Resolves a word on the command line to a benchmark: by id, by the name of a bench target with a single benchmark, or by a part of an id.

use std::collections::BTreeMap;

use perfcheck_analysis::model::{BenchmarkKey, as_in_cells};
use perfcheck_bench::measure::Filter;

/// Maximum number of names listed in an error.
const MOST_LISTED: usize = 12;
/// Maximum number of similar names suggested for a misspelled word.
const MOST_OFFERED: usize = 3;
/// Minimum Jaro-Winkler similarity of a suggested name.
const LEAST_LIKENESS: f64 = 0.7;

/// Returns the benchmarks among `all` that `word` may stand for. If the word is unambiguous, the result has a single element.
pub(super) fn find_candidates<'k>(word: &str, all: &[&'k BenchmarkKey]) -> Vec<&'k BenchmarkKey> {
    let those = |wanted: &dyn Fn(&BenchmarkKey) -> bool| -> Vec<&'k BenchmarkKey> {
        all.iter().copied().filter(|key| wanted(key)).collect()
    };
    let mut exact = those(&|key| key.id == word || full_name(key) == word);
    if exact.is_empty() {
        exact = those(&|key| as_in_cells(&key.id) == word);
    }
    if !exact.is_empty() {
        return exact;
    }
    let mut by_target: BTreeMap<&str, Vec<&'k BenchmarkKey>> = BTreeMap::new();
    for key in all {
        by_target.entry(&key.target).or_default().push(key);
    }
    match by_target.remove(word) {
        Some(of_target) if of_target.len() == 1 => of_target,
        _ => those(&|key| key.id.contains(word) || as_in_cells(&key.id).contains(word)),
    }
}

/// Returns the benchmarks among `all` whose ids are similar to `word`, most similar first.
pub(super) fn similar_keys<'k>(word: &str, all: &[&'k BenchmarkKey]) -> Vec<&'k BenchmarkKey> {
    most_similar(word, all.iter().copied(), |key| &key.id)
}

/// Like [`similar_keys`], for any items with a name.
pub(super) fn most_similar<T: Copy + Ord>(
    word: &str,
    all: impl Iterator<Item = T>,
    name: impl Fn(&T) -> &str,
) -> Vec<T> {
    let word = word.to_lowercase();
    let likeness = |one: &T| strsim::jaro_winkler(&word, &name(one).to_lowercase());
    let mut near: Vec<(f64, T)> = all
        .map(|one| (likeness(&one), one))
        .filter(|(likeness, _)| *likeness >= LEAST_LIKENESS)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    near.truncate(MOST_OFFERED);
    near.into_iter().map(|(_, one)| one).collect()
}

/// Builds the message for a filter that matches no benchmark.
pub(super) fn no_match_message(filter: &Filter) -> String {
    let relation = if filter.exact {
        "that is called"
    } else {
        "whose id contains"
    };
    format!("no benchmark {relation} `{}`", filter.words.join("` or `"))
}

/// Returns the full name of a benchmark, `PACKAGE/TARGET: ID`, with the id escaped as in Rust's debug output. Unlike `list`, this also escapes quotes
/// and backslashes.
pub(super) fn full_name(key: &BenchmarkKey) -> String {
    format!("{}/{}: {}", key.package, key.target, key.id.escape_debug())
}

/// Lists the benchmarks below the heading `before`, one per line. Returns an empty string if there are none.
pub(super) fn list_keys(before: &str, keys: &[&BenchmarkKey]) -> String {
    let in_cells = |key: &&BenchmarkKey| {
        let id = as_in_cells(&key.id);
        full_name(&BenchmarkKey {
            id,
            ..(*key).clone()
        })
    };
    list_names(before, keys.iter().map(in_cells))
}

/// Lists names below the heading `before`, one per line. Returns an empty string if there are none.
pub(super) fn list_names(before: &str, mut names: impl ExactSizeIterator<Item = String>) -> String {
    if names.len() == 0 {
        return String::new();
    }
    let mut lines: Vec<String> = names.by_ref().take(MOST_LISTED).collect();
    if let more @ 1.. = names.len() {
        lines.push(format!("and {more} more"));
    }
    format!("; {before}\n    {}", lines.join("\n    "))
}

/// Returns the word by which commands find the benchmark `key` among `all`: its id, or its full name if another benchmark has the same id.
pub(super) fn unambiguous_word<'k>(
    key: &BenchmarkKey,
    all: impl IntoIterator<Item = &'k BenchmarkKey>,
) -> String {
    let mut namesakes = all
        .into_iter()
        .filter(|other| *other != key && other.id == key.id);
    match namesakes.next() {
        None => key.id.clone(),
        Some(_) => full_name(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<BenchmarkKey> {
        let key = |target: &str, id: &str| BenchmarkKey {
            package: "p".to_owned(),
            target: target.to_owned(),
            id: id.to_owned(),
        };
        vec![
            key("sorts", "sort"),
            key("sorts", "sort/10"),
            key("sorts", "merge/10"),
            key("parse", "json"),
        ]
    }

    fn candidate_ids(word: &str) -> Vec<String> {
        let keys = keys();
        let all: Vec<&BenchmarkKey> = keys.iter().collect();
        let found = find_candidates(word, &all);
        found.into_iter().map(|key| key.id.clone()).collect()
    }

    #[test]
    fn a_whole_id_comes_before_a_target_and_that_before_a_part() {
        assert_eq!(candidate_ids("sort"), ["sort"]);
        assert_eq!(candidate_ids("parse"), ["json"]);
        assert_eq!(candidate_ids("merge"), ["merge/10"]);
        assert_eq!(candidate_ids("p/sorts: sort/10"), ["sort/10"]);
        assert_eq!(candidate_ids("10"), ["sort/10", "merge/10"]);
        assert_eq!(candidate_ids("nothing"), [""; 0]);
    }

    #[test]
    fn a_slip_of_the_pen_is_answered_with_names_like_it() {
        let keys = keys();
        let all: Vec<&BenchmarkKey> = keys.iter().collect();
        let ids = |word| -> Vec<&str> {
            similar_keys(word, &all)
                .iter()
                .map(|key| &*key.id)
                .collect()
        };
        assert_eq!(ids("Jsno"), ["json"]);
        assert_eq!(ids("sotr")[0], "sort");
        assert_eq!(ids("quite another"), [""; 0]);
    }
}
