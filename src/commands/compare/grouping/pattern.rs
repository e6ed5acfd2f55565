//! The regular expression that selects the part of an id for the column.

use regex::Regex;
use std::str::FromStr;

/// Placeholder for the captured part in the name of a row.
const ANYTHING: &str = "*";

/// A regular expression whose captures form the column; the rest of the id forms the row.
#[derive(Debug, Clone)]
pub struct GroupPattern(Regex);

/// The cell of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupPlace {
    pub(super) row: String,
    pub(super) column: String,
}

impl GroupPattern {
    /// Returns the expression as the user wrote it.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the cell of the benchmark with this id; `None` if the expression does not match.
    ///
    /// The column consists of the captures of all named groups, joined by `/`; without named groups of the first group; without groups of the whole
    /// match.
    pub(super) fn place(&self, id: &str) -> Option<GroupPlace> {
        let captures = self.0.captures(id)?;
        let named: Vec<usize> = self
            .0
            .capture_names()
            .enumerate()
            .filter_map(|(at, name)| name.map(|_| at))
            .collect();
        let groups = match (&named[..], captures.len()) {
            ([], 1) => vec![0],
            ([], _) => vec![1],
            (named, _) => named.to_vec(),
        };
        let mut row = String::new();
        let mut end = 0;
        let mut column: Vec<&str> = Vec::new();
        for found in groups.into_iter().filter_map(|group| captures.get(group)) {
            column.push(found.as_str());
            // A nested group is part of its outer group already.
            if found.start() >= end {
                row += &id[end..found.start()];
                row += ANYTHING;
                end = found.end();
            }
        }
        row += &id[end..];
        Some(GroupPlace {
            row,
            column: column.join("/"),
        })
    }
}

/// Patterns are equal if their texts are.
impl PartialEq for GroupPattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl FromStr for GroupPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Regex::new(text)
            .map(Self)
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(pattern: &str, id: &str) -> Option<(String, String)> {
        let pattern: GroupPattern = pattern.parse().expect("an expression");
        pattern.place(id).map(|found| (found.row, found.column))
    }

    fn at(row: &str, column: &str) -> (String, String) {
        (row.to_owned(), column.to_owned())
    }

    #[test]
    fn a_group_names_the_column_and_the_rest_of_the_id_the_row() {
        assert_eq!(
            place("^sort/([^/]+)", "sort/heap/10"),
            Some(at("sort/*/10", "heap"))
        );
        assert_eq!(
            place("[^/]+$", "sort/heap/10"),
            Some(at("sort/heap/*", "10"))
        );
        assert_eq!(place("^sort/([^/]+)", "parse/json"), None);
        assert_eq!(
            place("^(?<what>[^/]+)/.*/(?<size>\\d+)$", "sort/heap/10"),
            Some(at("*/heap/*", "sort/10"))
        );
        assert_eq!(place("(größe)", "a/größe"), Some(at("a/*", "größe")));
        assert_eq!(place("a(b)?", "a"), Some(at("a", "")));
    }

    #[test]
    fn what_is_no_expression_is_refused_with_the_place() {
        let error = "sort/(".parse::<GroupPattern>().expect_err("unclosed");
        assert!(error.contains("unclosed group"), "{error}");
    }
}
