//! Which benchmarks the user named.

use perfcheck_analysis::model::{BenchmarkKey, as_in_cells};

/// `FILTER...` and `--exact`, as in `cargo bench`: a benchmark is wanted if its id contains (or is) any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The words; empty: everything.
    pub words: Vec<String>,
    /// Whether a word is the whole id.
    pub exact: bool,
}

impl Filter {
    /// Whether this benchmark is wanted: by its id, as it is or as tables show it. A word that begins with `package/target: `, as a line of `list`
    /// does, means benchmarks of that target alone.
    pub fn wants(&self, key: &BenchmarkKey) -> bool {
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
            filter.wants(&BenchmarkKey {
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
        // A line of `list`.
        assert!(wants(&["text/all: sort/10"], true, "sort/10"));
        assert!(wants(&["text/all: sort"], false, "sort/10"));
        assert!(!wants(&["text/other: sort/10"], false, "sort/10"));
    }
}
