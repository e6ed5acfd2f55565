//! Which benchmarks the user named.

use perfcheck_analysis::model::as_in_cells;

/// `FILTER...` and `--exact`, as in `cargo bench`: a benchmark is wanted if its id contains (or is) any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The words; empty: everything.
    pub words: Vec<String>,
    /// Whether a word is the whole id.
    pub exact: bool,
}

impl Filter {
    /// Whether the benchmark with this id is wanted, as it is or as tables show it.
    pub fn wants(&self, id: &str) -> bool {
        let shown = as_in_cells(id);
        self.words.is_empty()
            || self.words.iter().any(|word| {
                if self.exact {
                    id == word || shown == *word
                } else {
                    id.contains(word.as_str()) || shown.contains(word.as_str())
                }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_word_selects_and_none_selects_everything() {
        let filter = |words: &[&str], exact| Filter {
            words: words.iter().map(ToString::to_string).collect(),
            exact,
        };
        assert!(filter(&[], false).wants("sort/10"));
        assert!(filter(&["parse", "sort"], false).wants("sort/10"));
        assert!(!filter(&["parse"], false).wants("sort/10"));
        assert!(!filter(&["sort"], true).wants("sort/10"));
        assert!(filter(&["sort/10"], true).wants("sort/10"));
    }
}
