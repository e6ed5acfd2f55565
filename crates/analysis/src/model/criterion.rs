//! The data that Criterion writes about a benchmark, both in its files and in its messages to a runner (criterion 0.2 to 0.8).
//!
//! Only types: their users decide which file or message to read. A throughput of an unknown kind is kept as text.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Throughput;

/// The content of `benchmark.json`, which Criterion writes last.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CriterionBenchmark {
    /// The full id: group, function and parameter.
    pub full_id: String,
    /// The full id, cut if it is long, and with ` #2` if it occurred before.
    #[serde(default)]
    pub title: Option<String>,
    /// The work of one iteration.
    #[serde(default)]
    pub throughput: Option<DeclaredThroughput>,
}

/// The content of `sample.json`: an object; before 0.3.3, an array of the two columns.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CriterionSamples {
    /// Iterations of each sample.
    pub iters: Vec<f64>,
    /// The measured value of each sample, in the unit of the measurement.
    pub times: Vec<f64>,
    /// The sampling mode: how iterations were distributed over samples.
    #[serde(default = "default_sampling_mode")]
    pub sampling_mode: String,
}

/// Before 0.3.3 there was only this mode.
fn default_sampling_mode() -> String {
    "Linear".to_owned()
}

/// A throughput that an author declared, in a format that later versions extend.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum DeclaredThroughput {
    /// A whole number.
    Count(u64),
    /// Another number.
    Number(f64),
    /// A text.
    Text(String),
    /// A kind with its content, or named parts.
    Members(BTreeMap<String, DeclaredThroughput>),
    /// Any other value.
    Other(IgnoredAny),
}

impl DeclaredThroughput {
    /// Returns the throughput if its kind is known: `{"Bytes":10}`, `{"ElementsAndBytes":{"elements":3,"bytes":9}}`.
    pub fn throughput(&self) -> Option<Throughput> {
        let (kind, content) = match self {
            Self::Members(members) if members.len() == 1 => members.first_key_value()?,
            _ => return None,
        };
        let mut throughput = Throughput::default();
        match (kind.as_str(), content) {
            ("Bytes" | "BytesDecimal", Self::Count(bytes)) => throughput.bytes = Some(*bytes),
            ("Bits", Self::Count(bits)) if bits % 8 == 0 => throughput.bytes = Some(bits / 8),
            ("Elements", Self::Count(elements)) => throughput.elements = Some(*elements),
            ("ElementsAndBytes", Self::Members(parts)) => {
                for (name, part) in parts {
                    match (name.as_str(), part) {
                        ("elements", Self::Count(elements)) => {
                            throughput.elements = Some(*elements);
                        }
                        ("bytes", Self::Count(bytes)) => throughput.bytes = Some(*bytes),
                        _ => return None,
                    }
                }
            }
            _ => return None,
        }
        Some(throughput)
    }

    /// Describes the value as its author would recognize it, e.g. `Frames(3)`.
    pub fn describe(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::Members(members) => {
                let words = members
                    .iter()
                    .map(|(name, content)| format!("{name}({})", content.describe()));
                words.collect::<Vec<_>>().join(", ")
            }
            Self::Other(_) => "?".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn throughputs_that_criterion_knows_are_numbers_and_others_are_none() {
        let members = |parts: &[(&str, DeclaredThroughput)]| {
            let parts = parts.iter().cloned();
            DeclaredThroughput::Members(parts.map(|(name, part)| (name.to_owned(), part)).collect())
        };
        let count = DeclaredThroughput::Count;
        let found = |parts: &[(&str, DeclaredThroughput)]| {
            let throughput = members(parts).throughput()?;
            Some((throughput.bytes, throughput.elements))
        };
        assert_eq!(found(&[("Bytes", count(10))]), Some((Some(10), None)));
        assert_eq!(
            found(&[("BytesDecimal", count(10))]),
            Some((Some(10), None))
        );
        assert_eq!(found(&[("Bits", count(24))]), Some((Some(3), None)));
        assert_eq!(found(&[("Bits", count(25))]), None);
        assert_eq!(found(&[("Elements", count(7))]), Some((None, Some(7))));
        let both = members(&[("elements", count(3)), ("bytes", count(9))]);
        assert_eq!(
            found(&[("ElementsAndBytes", both)]),
            Some((Some(9), Some(3)))
        );
        let other = members(&[("elements", count(3)), ("frames", count(9))]);
        assert_eq!(found(&[("ElementsAndBytes", other)]), None);
        assert_eq!(found(&[("Frames", count(3))]), None);
        assert_eq!(
            found(&[("Bytes", count(10)), ("Elements", count(7))]),
            None,
            "a kind is one member"
        );
        assert_eq!(count(10).throughput(), None);
    }
}
