//! What Criterion says of a benchmark, in its files and in its messages to a runner: the shapes that both have (criterion 0.2 to 0.8).
//!
//! Types alone: who reads which file or message is the readers' business. A throughput of a kind that is not known is kept in words.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Throughput;

/// `benchmark.json`, which is written last.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CriterionBenchmark {
    /// Group, function and parameter.
    pub full_id: String,
    /// The same, cut where it is long, and with ` #2` where it came before.
    #[serde(default)]
    pub title: Option<String>,
    /// What one iteration processes.
    #[serde(default)]
    pub throughput: Option<Declared>,
}

/// `sample.json`: an object, and before 0.3.3 an array of the two columns.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CriterionSamples {
    /// Iterations of each sample.
    pub iters: Vec<f64>,
    /// What was measured of each, in the unit of the measurement.
    pub times: Vec<f64>,
    /// How iterations were laid out.
    #[serde(default = "linear")]
    pub sampling_mode: String,
}

/// Before 0.3.3 there was nothing else.
fn linear() -> String {
    "Linear".to_owned()
}

/// What an author declared, of a shape that later versions extend.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Declared {
    /// An amount.
    Count(u64),
    /// Another number.
    Number(f64),
    /// A word.
    Text(String),
    /// A kind with what it says, or parts by name.
    Members(BTreeMap<String, Declared>),
    /// Something without words.
    Other(IgnoredAny),
}

impl Declared {
    /// As numbers that we know: `{"Bytes":10}`, `{"ElementsAndBytes":{"elements":3,"bytes":9}}`.
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

    /// As its author would recognise it, e.g. `Frames(3)`.
    pub fn in_words(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::Members(members) => {
                let words = members
                    .iter()
                    .map(|(name, content)| format!("{name}({})", content.in_words()));
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
        let members = |parts: &[(&str, Declared)]| {
            let parts = parts.iter().cloned();
            Declared::Members(parts.map(|(name, part)| (name.to_owned(), part)).collect())
        };
        let count = Declared::Count;
        let found = |parts: &[(&str, Declared)]| {
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
