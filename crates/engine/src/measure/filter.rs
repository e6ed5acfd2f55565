//! The user's filter for benchmarks.

use perfcheck_analysis::model::{BenchmarkKey, as_in_cells};

/// `FILTER...` and `--exact`, as in `cargo bench`: selects a benchmark if its id contains (or is) one of the words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The words. If there are none, every benchmark is selected.
    pub words: Vec<String>,
    /// Whether a word must be the whole id.
    pub exact: bool,
}

impl Filter {
    /// Reports whether this benchmark is selected: by its id, or by the form of the id in tables. A word that begins with `package/target: `, like a
    /// line of `list`, selects only benchmarks of that target.
    pub fn matches(&self, key: &BenchmarkKey) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let shown = as_in_cells(&key.id);
        let target = format!("{}/{}: ", key.package, key.target);
        let is_wanted = |word: &str| {
            if self.exact {
                key.id == word || shown == word
            } else {
                key.id.contains(word) || shown.contains(word)
            }
        };
        let mut words = self.words.iter();
        words.any(|word| is_wanted(word) || word.strip_prefix(&target).is_some_and(is_wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_word_selects_and_none_selects_everything() {
        let wants = |words: &[&str], exact, id: &str| {
            let filter = Filter {
                words: words.iter().map(ToString::to_string).collect(),
                exact,
            };
            filter.matches(&BenchmarkKey {
                package: "text".to_owned(),
                target: "all".to_owned(),
                id: id.to_owned(),
            })
        };
        assert!(wants(&[], false, "sort/10"));
        assert!(wants(&["parse", "sort"], false, "sort/10"));
        assert!(!wants(&["parse"], false, "sort/10"));
        assert!(!wants(&["sort"], true, "sort/10"));
        assert!(wants(&["sort/10"], true, "sort/10"));
        // A line copied from `list`.
        assert!(wants(&["text/all: sort/10"], true, "sort/10"));
        assert!(wants(&["text/all: sort"], false, "sort/10"));
        assert!(!wants(&["text/other: sort/10"], false, "sort/10"));
    }
}
