//! Dimensions of a pivot's rows and columns: runs, packages, targets, ids and their parts.

use std::fmt;
use std::str::FromStr;

use perfcheck_analysis::model::{BenchmarkKey, Source, as_in_cells};

/// Label of an id without the requested part.
const NO_PART: &str = "(none)";

/// A property that distinguishes benchmarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dimension {
    /// The run, as the user named it
    Run,
    /// The cargo package
    Package,
    /// The bench target
    Target,
    /// The whole id
    Id,
    /// A part of the id between `/`, counted from 0
    Part(usize),
    /// All parts from this one on
    From(usize),
    /// A part or property by the name that an import gave it
    Named(String),
}

impl FromStr for Dimension {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word = text.trim();
        let number = |digits: &str| digits.parse::<usize>().ok();
        Ok(match word {
            "" => return Err(format!("a dimension is missing; there are {}", Self::WORDS)),
            "run" => Self::Run,
            "package" => Self::Package,
            "target" => Self::Target,
            "id" => Self::Id,
            "group" => Self::Part(0),
            "function" => Self::Part(1),
            "input" => Self::From(2),
            _ => match word.strip_prefix("part").and_then(number) {
                Some(0) => return Err("the parts of an id count from 1: part1".to_owned()),
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
    /// The dimensions that always exist, for messages.
    pub const WORDS: &str = "run, package, target, id, group (first part of an id), function (second), input (the rest), part1, part2, ...";

    /// Returns the label of a benchmark. `source` provides the names of parts and additional properties in an import.
    pub(super) fn label(&self, run: &str, key: &BenchmarkKey, source: Option<&Source>) -> String {
        let names = source.map_or(&[][..], |source| &source.id_parts);
        let parts: Vec<&str> = key.id.split('/').collect();
        let part = |at: usize| match parts.get(at) {
            // Imports escape a `/` that is no separator.
            Some(part) if !names.is_empty() => as_in_cells(part),
            Some(part) => (*part).to_owned(),
            None => NO_PART.to_owned(),
        };
        let named = |name: &str| names.iter().position(|known| known == name);
        // An imported column may have the name of a numbered part; then the column takes precedence.
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

/// Returns the value of an import's column that is not part of the ids.
fn imported_label(key: &BenchmarkKey, name: &str, source: &Source) -> String {
    let mut dimensions = source.dimensions.iter();
    let found = dimensions.find(|dimension| dimension.name == name);
    let label = found.and_then(|dimension| dimension.labels.get(&key.id));
    label.cloned().unwrap_or_else(|| NO_PART.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> BenchmarkKey {
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
            dimension.label("main", &key(id), None)
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
            dimension.label("a", &key("json/text%2Futf8"), Some(&source))
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
            named_like_a_part.label("a", &key("sorted/10"), Some(&source)),
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
