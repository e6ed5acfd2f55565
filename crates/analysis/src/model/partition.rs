//! Types for `--partition`: which part of a suite a job measures, and the facts that must be equal in all parts before `merge` combines them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One of the parts into which `--partition` divides a suite. The second of eight parts is written `2/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ShardId {
    /// Number of this part, counted from 1.
    pub part: u32,
    /// Number of all parts.
    pub of: u32,
}

impl ShardId {
    /// The largest number of parts. A larger number is rejected as a typing error.
    pub const MOST: u32 = 1000;

    /// Reports whether the number of parts is allowed and there is a part with this number.
    pub fn is_valid(self) -> bool {
        (1..=Self::MOST).contains(&self.of) && (1..=self.of).contains(&self.part)
    }

    /// Reports whether this part measures the benchmark at this position of the suite, counted from 0. Benchmarks are assigned round-robin.
    pub fn contains_position(self, place: usize) -> bool {
        place % self.of as usize + 1 == self.part as usize
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl FromStr for ShardId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = text.split_once('/');
        let found = found.and_then(|(part, of)| {
            Some(Self {
                part: part.parse().ok()?,
                of: of.parse().ok()?,
            })
        });
        found.filter(|found| found.is_valid()).ok_or_else(|| {
            format!(
                "expected K/N, such as 2/8 for the second of eight parts, with K from 1 to N and N at most {}",
                Self::MOST
            )
        })
    }
}

/// The reference that the user asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestedReference {
    /// A revision or an executable that is measured side by side, regardless of stored runs.
    Beside,
    /// The stored run of this name.
    Named(String),
    /// The last accepted run.
    Accepted,
}

/// The facts of a run that measured one part of a suite. All parts must have the same facts, except for `part`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// The part that the run measured.
    pub part: ShardId,
    /// Number of benchmarks in all parts together.
    pub benchmarks: usize,
    /// A digest of the names of all benchmarks.
    pub suite: String,
    /// The reference that all parts are compared with.
    pub reference: RequestedReference,
    /// Whether the run is a control, in which both sides are the same executable.
    pub control: bool,
    /// The words that select benchmarks. If there are none, all benchmarks are selected.
    pub filter: Vec<String>,
    /// Whether a word of `filter` must equal the whole id of a benchmark. Otherwise it must occur in the id.
    pub exact: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_benchmark_is_dealt_to_one_part() {
        for of in 1..=9 {
            for place in 0..20 {
                let parts =
                    (1..=of).filter(|part| ShardId { part: *part, of }.contains_position(place));
                assert_eq!(parts.count(), 1);
            }
        }
    }

    #[test]
    fn a_part_is_one_of_those_that_there_are() {
        assert_eq!("2/8".parse(), Ok(ShardId { part: 2, of: 8 }));
        assert_eq!(ShardId { part: 2, of: 8 }.to_string(), "2/8");
        for wrong in ["0/8", "9/8", "1/0", "1/1001", "2", "a/b", "-1/2", ""] {
            assert!(wrong.parse::<ShardId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_part_is_valid_up_to_the_last_of_the_largest_number_of_parts() {
        let is_valid = |part, of| ShardId { part, of }.is_valid();
        assert!(is_valid(1, 1) && is_valid(1, 1_000) && is_valid(1_000, 1_000));
        assert!(!is_valid(0, 1) && !is_valid(2, 1) && !is_valid(0, 0));
        assert!(!is_valid(1, 1_001) && !is_valid(1_001, 1_000));
    }

    #[test]
    fn the_second_of_three_parts_has_every_third_benchmark_from_the_second_on() {
        let part = ShardId { part: 2, of: 3 };
        let places: Vec<usize> = (0..9)
            .filter(|place| part.contains_position(*place))
            .collect();
        assert_eq!(places, [1, 4, 7]);
    }
}
