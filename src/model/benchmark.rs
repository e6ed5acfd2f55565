//! What a benchmark is called and what one iteration of it processes.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::{AuthorSettings, Metric};

/// The identity of a benchmark across runs: ids of two packages or targets never collide.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BenchmarkKey {
    /// Name of the cargo package.
    pub package: String,
    /// Name of the bench target in the package.
    pub target: String,
    /// Id within the executable, e.g. `group/function/input`.
    pub id: String,
}

impl fmt::Display for BenchmarkKey {
    /// `package/target: id`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}: {}", self.package, self.target, self.id)
    }
}

/// What one iteration processes; both may be known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throughput {
    /// Bytes per iteration.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Elements per iteration.
    #[serde(default)]
    pub elements: Option<u64>,
}

/// A benchmark as its executable announces it.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// Its identity.
    pub key: BenchmarkKey,
    /// The author's version string: benchmarks of different versions are not comparable.
    pub version: Option<String>,
    /// What one iteration processes.
    pub throughput: Throughput,
    /// The same in the author's words, where it is neither bytes nor elements.
    pub other_throughput: Option<String>,
    /// What the author set in code.
    pub settings: AuthorSettings,
    /// What its samples mean.
    pub metric: Metric,
}
