//! Rules that benchmarks must keep, with the benchmarks that each is for.

use globset::{GlobBuilder, GlobMatcher};

use crate::model::{BenchmarkKey, Gate};

/// Where a rule was written: it is for the benchmarks there.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Only those of this package.
    pub package: Option<String>,
    /// Only those whose ids match.
    pub within: Option<GlobMatcher>,
}

/// A rule and the benchmarks that it is for.
#[derive(Debug, Clone)]
pub struct FailRule {
    /// What must be kept.
    pub gate: Gate,
    scope: Scope,
    pattern: Option<GlobMatcher>,
}

impl FailRule {
    /// Reads `[PATTERN=]STATISTIC:LIMIT`. The error says what was expected.
    pub fn read(text: &str, scope: Scope) -> Result<Self, String> {
        let gate: Gate = text.parse()?;
        let pattern = gate.pattern.as_deref().map(|pattern| {
            GlobBuilder::new(pattern)
                .build()
                .map(|glob| glob.compile_matcher())
                .map_err(|error| error.to_string())
        });
        Ok(Self {
            pattern: pattern.transpose()?,
            gate,
            scope,
        })
    }

    /// Whether it is for this benchmark.
    pub fn is_for(&self, key: &BenchmarkKey) -> bool {
        let Scope { package, within } = &self.scope;
        let matches =
            |glob: &Option<GlobMatcher>| glob.as_ref().is_none_or(|glob| glob.is_match(&key.id));
        package
            .as_ref()
            .is_none_or(|package| *package == key.package)
            && matches(within)
            && matches(&self.pattern)
    }
}

/// Reads a rule of the command line: it is for all benchmarks that it matches.
pub fn fail_rule(text: &str) -> Result<FailRule, String> {
    FailRule::read(text, Scope::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_for_what_its_place_and_its_pattern_are_for() {
        let key = |package: &str, id: &str| BenchmarkKey {
            package: package.into(),
            target: "t".into(),
            id: id.into(),
        };
        let all = fail_rule("median:5%").expect("well formed");
        assert!(all.is_for(&key("p", "x")));
        let parse = fail_rule("parse/*=median:5%").expect("well formed");
        assert!(parse.is_for(&key("p", "parse/10")) && !parse.is_for(&key("p", "sort/10")));
        let scope = Scope {
            package: Some("p".into()),
            within: globset::Glob::new("*/10")
                .ok()
                .map(|glob| glob.compile_matcher()),
        };
        let both = FailRule::read("parse/*=median:5%", scope).expect("well formed");
        assert!(both.is_for(&key("p", "parse/10")));
        for (package, id) in [("q", "parse/10"), ("p", "parse/11"), ("p", "sort/10")] {
            assert!(!both.is_for(&key(package, id)), "{package} {id}");
        }
        assert!(fail_rule("[=median:5%").is_err());
    }
}
