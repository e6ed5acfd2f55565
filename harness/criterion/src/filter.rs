//! The filter that selects benchmarks.

#[cfg(not(feature = "regex"))]
use crate::pattern::Pattern as Expression;
#[cfg(feature = "regex")]
use regex::Regex as Expression;

/// A filter that selects the benchmarks of a [`Criterion`](crate::Criterion).
#[derive(Debug, Clone)]
pub enum BenchmarkFilter {
    /// Selects all benchmarks.
    AcceptAll,
    /// Selects benchmarks whose id contains a match. With the feature `regex` this is the type of the crate `regex`, otherwise
    /// [`Pattern`](crate::Pattern).
    Regex(Expression),
    /// Selects the benchmark with this id.
    Exact(String),
    /// Selects no benchmark.
    RejectAll,
}

impl BenchmarkFilter {
    /// Creates a filter from the regular expression `text`.
    pub(crate) fn expression(text: &str) -> Result<Self, String> {
        Expression::new(text)
            .map(Self::Regex)
            .map_err(|error| format!("the filter `{text}` is no regular expression: {error}"))
    }

    /// Reports whether the filter selects the benchmark `id`; `escaped` is the id as listings print it.
    pub(crate) fn accepts(&self, id: &str, escaped: &str) -> bool {
        match self {
            Self::AcceptAll => true,
            Self::Regex(expression) => expression.is_match(id),
            Self::Exact(name) => id == name || escaped == name,
            Self::RejectAll => false,
        }
    }
}
