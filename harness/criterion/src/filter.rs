//! Which benchmarks are wanted.

#[cfg(not(feature = "regex"))]
use crate::pattern::Pattern as Expression;
#[cfg(feature = "regex")]
use regex::Regex as Expression;

/// Which benchmarks of a [`Criterion`](crate::Criterion) run.
#[derive(Debug, Clone)]
pub enum BenchmarkFilter {
    /// All.
    AcceptAll,
    /// Those in whose id it is found. With the feature `regex` this is the crate `regex`'s type, else [`Pattern`](crate::Pattern).
    Regex(Expression),
    /// The one that is called so.
    Exact(String),
    /// None.
    RejectAll,
}

impl BenchmarkFilter {
    /// Benchmarks in whose id the expression `text` is found.
    pub(crate) fn expression(text: &str) -> Result<Self, String> {
        Expression::new(text)
            .map(Self::Regex)
            .map_err(|error| format!("the filter `{text}` is no regular expression: {error}"))
    }

    /// Whether the benchmark `id` is wanted, which a listing calls `escaped`.
    pub(crate) fn accepts(&self, id: &str, escaped: &str) -> bool {
        match self {
            Self::AcceptAll => true,
            Self::Regex(expression) => expression.is_match(id),
            Self::Exact(name) => id == name || escaped == name,
            Self::RejectAll => false,
        }
    }
}
