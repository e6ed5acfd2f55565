//! Resolves a word on the command line to a benchmark: by id, by the name of a bench target with a single benchmark, or by a part of an id. Also tells
//! benchmarks apart by a property, such as a part of the id.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use perfcheck_analysis::model::{BenchmarkKey, Source, as_in_cells};
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

/// The label of a benchmark whose id does not have the requested part.
const NO_PART: &str = "(none)";

/// A property of benchmarks by which a table forms its rows or columns, or a ranking its groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dimension {
    /// The run, as the user named it.
    Run,
    /// The cargo package.
    Package,
    /// The bench target.
    Target,
    /// The whole id.
    Id,
    /// A part of the id between `/`, counted from 0.
    Part(usize),
    /// All parts of the id from this index on.
    From(usize),
    /// A part of the id, or another property of the benchmark, by the name that an import gave to it.
    Named(String),
}

impl FromStr for Dimension {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word = text.trim();
        let number = |digits: &str| digits.parse::<usize>().ok();
        Ok(match word {
            "" => {
                return Err(format!(
                    "a dimension is missing; dimensions are {}",
                    Self::WORDS
                ));
            }
            "run" => Self::Run,
            "package" => Self::Package,
            "target" => Self::Target,
            "id" => Self::Id,
            "group" => Self::Part(0),
            "function" => Self::Part(1),
            "input" => Self::From(2),
            _ => match word.strip_prefix("part").and_then(number) {
                Some(0) => return Err("parts of an id are numbered from 1: part1".to_owned()),
                Some(part) => Self::Part(part - 1),
                None => Self::Named(word.to_owned()),
            },
        })
    }
}

impl fmt::Display for Dimension {
    /// Formats the dimension as users write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run => f.pad("run"),
            Self::Package => f.pad("package"),
            Self::Target => f.pad("target"),
            Self::Id => f.pad("id"),
            Self::Part(0) => f.pad("group"),
            Self::Part(1) => f.pad("function"),
            Self::Part(part) => write!(f, "part{}", part + 1),
            Self::From(_) => f.pad("input"),
            Self::Named(name) => f.pad(name),
        }
    }
}

impl Dimension {
    /// The names of the dimensions that exist for every run, as error messages list them.
    pub const WORDS: &str = "run, package, target, id, group (first part of an id), function (second), input (the rest), part1, part2, ...";

    /// Returns the label of a benchmark in this dimension. For an imported run, `source` has the names of the parts of ids and further properties of
    /// the benchmarks.
    pub(crate) fn label(&self, run: &str, key: &BenchmarkKey, source: Option<&Source>) -> String {
        let names = source.map_or(&[][..], |source| &source.id_parts);
        let parts: Vec<&str> = key.id.split('/').collect();
        let part = |at: usize| match parts.get(at) {
            // Restore each `/` that the import escaped because it does not separate parts.
            Some(part) if !names.is_empty() => as_in_cells(part),
            Some(part) => (*part).to_owned(),
            None => NO_PART.to_owned(),
        };
        let named = |name: &str| names.iter().position(|known| known == name);
        // A column of the imported table may be called `part3`, `group` or the like. Such a column takes precedence over the part of the id that has
        // this name.
        if let (Self::Part(_) | Self::From(_), Some(at)) = (self, named(&self.to_string())) {
            return part(at);
        }
        match self {
            Self::Run => run.to_owned(),
            Self::Package => key.package.clone(),
            Self::Target => key.target.clone(),
            Self::Id if names.is_empty() => key.id.clone(),
            Self::Id => as_in_cells(&key.id),
            Self::Part(at) => part(*at),
            Self::From(at) if *at < parts.len() => {
                let rest: Vec<String> = (*at..parts.len()).map(part).collect();
                rest.join("/")
            }
            Self::From(_) => NO_PART.to_owned(),
            Self::Named(name) => match (named(name), source) {
                (Some(at), _) => part(at),
                (None, Some(source)) => imported_label(key, name, source),
                (None, None) => NO_PART.to_owned(),
            },
        }
    }
}

/// Returns the label that a benchmark has in the column `name` of the imported table. This is a column whose values are not part of the ids.
fn imported_label(key: &BenchmarkKey, name: &str, source: &Source) -> String {
    let mut dimensions = source.dimensions.iter();
    let found = dimensions.find(|dimension| dimension.name == name);
    let label = found.and_then(|dimension| dimension.labels.get(&key.id));
    label.cloned().unwrap_or_else(|| NO_PART.to_owned())
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

    fn crate_key(id: &str) -> BenchmarkKey {
        BenchmarkKey {
            package: "crate".into(),
            target: "bench".into(),
            id: id.into(),
        }
    }

    #[test]
    fn an_id_has_parts_and_what_it_has_not_is_called_none() {
        let label = |word: &str, id: &str| {
            let dimension: Dimension = word.parse().unwrap();
            dimension.label("main", &crate_key(id), None)
        };
        let id = "sort/std/10/sorted";
        let found = ["run", "package", "target", "id"].map(|word| label(word, id));
        assert_eq!(found, ["main", "crate", "bench", id]);
        let found = ["group", "function", "input", "part3", "part4"].map(|word| label(word, id));
        assert_eq!(found, ["sort", "std", "10/sorted", "10", "sorted"]);
        let found = ["group", "function", "input"].map(|word| label(word, "sort"));
        assert_eq!(found, ["sort", "(none)", "(none)"]);
    }

    #[test]
    fn parts_of_imported_ids_have_the_names_of_their_columns() {
        let source = Source {
            id_parts: vec!["serializer".to_owned(), "mode".to_owned()],
            ..Source::default()
        };
        let label = |word: &str| {
            let dimension: Dimension = word.parse().unwrap();
            dimension.label("a", &crate_key("json/text%2Futf8"), Some(&source))
        };
        assert_eq!(
            ["serializer", "mode", "data", "id", "function"].map(label),
            ["json", "text/utf8", "(none)", "json/text/utf8", "text/utf8"]
        );
        let named_like_a_part: Dimension = "input".parse().unwrap();
        let source = Source {
            id_parts: vec!["input".to_owned(), "size".to_owned()],
            ..Source::default()
        };
        assert_eq!(
            named_like_a_part.label("a", &crate_key("sorted/10"), Some(&source)),
            "sorted"
        );
    }

    #[test]
    fn a_part_counts_from_one() {
        assert!("part0".parse::<Dimension>().is_err());
        assert!(" ".parse::<Dimension>().is_err());
        for word in ["run", "group", "function", "input", "part7", "mode"] {
            let read: Dimension = word.parse().unwrap();
            assert_eq!(read.to_string(), word);
        }
    }
}
