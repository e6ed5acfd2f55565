//! Compares the facts of two measurements. Some facts make the measurements incomparable if they differ. Others only call for caution.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::model::{Environment, Metric, TargetFacts};
use perfcheck_stats::worded;

worded! {
    /// A fact about the machine, the build or the benchmark of a measurement. Facts decide whether two measurements may be compared.
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    Fact {
        /// CPU model.
        Cpu = "cpu",
        /// Instruction set of the machine, such as `x86_64`.
        Architecture = "architecture",
        /// Target triple that the build is for.
        Target = "target",
        /// Cargo profile of the build.
        Profile = "profile",
        /// Features that the package was built with.
        Features = "features",
        /// Compiler flags (`rustflags`) that were in effect for the build.
        Rustflags = "rustflags",
        /// Compiler version.
        Rustc = "rustc",
        /// The version that the author of the benchmark gave it.
        BenchmarkVersion = "benchmark-version",
        /// The quantity that the samples of the benchmark measure, such as time or a rate.
        Metric = "metric",
        /// Operating system.
        Os = "os",
        /// Kernel release.
        Kernel = "kernel",
        /// Governor that controls the frequency of the processor.
        Governor = "governor",
        /// Microcode revision.
        Microcode = "microcode",
        /// Number of logical processors of the machine.
        Cores = "cores",
        /// Whether the benchmark was measured alone or side by side with another build.
        Turns = "measured",
    }
}

impl Fact {
    /// The facts that make two measurements incomparable if they differ.
    pub const BLOCKING: [Self; 9] = [
        Self::Cpu,
        Self::Architecture,
        Self::Target,
        Self::Profile,
        Self::Features,
        Self::Rustflags,
        Self::Rustc,
        Self::BenchmarkVersion,
        Self::Metric,
    ];

    /// Returns true if the user may allow the fact to differ. The metric may never differ, because there is no ratio of a time and a rate.
    pub fn may_differ(self) -> bool {
        Self::BLOCKING.contains(&self) && self != Self::Metric
    }
}

impl FromStr for Fact {
    type Err = String;

    /// Parses the name of a fact that the user wants to allow to differ. Facts that only cause a warning are refused, because they need no
    /// permission.
    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = text.trim();
        Self::BLOCKING
            .into_iter()
            .find(|fact| fact.word() == wanted && fact.may_differ())
            .ok_or_else(|| {
                let names: Vec<&str> = (Self::BLOCKING.iter())
                    .filter(|fact| fact.may_differ())
                    .map(|fact| fact.word())
                    .collect();
                format!(
                    "`{wanted}` cannot be allowed to differ; choose from {}",
                    names.join(", ")
                )
            })
    }
}

/// A fact that differs between a run and its reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Which fact differs.
    pub fact: Fact,
    /// The value of the fact in the new run, as text. It is `none` if the run does not have one, and `unknown` if it was not stated.
    pub candidate: String,
    /// The value of the fact in the reference, in the same form.
    pub base: String,
}

impl Difference {
    /// Returns the difference between a run that was measured alone and a reference that was measured side by side with another build. The two ways
    /// of measuring take samples differently.
    pub fn paired_reference() -> Self {
        Self {
            fact: Fact::Turns,
            candidate: "alone".to_owned(),
            base: "side by side with another build".to_owned(),
        }
    }
}

impl fmt::Display for Difference {
    /// Writes `rustc: 1.94.0 -> 1.95.0`, for example.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.fact, self.base, self.candidate)
    }
}

/// All facts that differ between two measurements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Differences {
    /// Facts that make the measurements incomparable.
    pub blocking: Vec<Difference>,
    /// Facts that differ without making the measurements incomparable.
    pub warnings: Vec<Difference>,
}

impl Differences {
    /// Turns blocking differences into warnings if the user allows their facts to differ. `facts` lists the allowed facts.
    #[must_use]
    pub fn allowing(mut self, facts: &[Fact]) -> Self {
        let (allowed, blocking) = self
            .blocking
            .into_iter()
            .partition(|difference| facts.contains(&difference.fact));
        self.blocking = blocking;
        self.warnings.splice(0..0, allowed);
        self
    }

    /// Returns true if no difference is blocking, so that the measurements may be compared.
    pub fn is_comparable(&self) -> bool {
        self.blocking.is_empty()
    }
}

/// Shown in place of a value that a measurement does not have, such as features that were not enabled.
const ABSENT: &str = "none";
/// Shown in place of a value that is not known, because an import did not state it.
const UNKNOWN: &str = "unknown";

/// The conditions under which a benchmark was or will be measured.
#[derive(Debug, Clone, Copy)]
pub struct Comparability<'a> {
    /// The machine and the build.
    pub environment: &'a Environment,
    /// What is known about the bench target, such as its features.
    pub target: &'a TargetFacts,
    /// The version that the author of the benchmark gave it, if any.
    pub version: Option<&'a str>,
    /// The quantity that the benchmark's samples measure.
    pub metric: &'a Metric,
}

/// Lists the facts that differ between two measurements of the same benchmark. Those in [`Fact::BLOCKING`] make the measurements incomparable, the
/// others are warnings.
pub fn find_differences(candidate: &Comparability<'_>, base: &Comparability<'_>) -> Differences {
    let (candidate_facts, base_facts) = (facts(candidate), facts(base));
    let mut found = Differences::default();
    for ((fact, candidate), (_, base)) in candidate_facts.into_iter().zip(base_facts) {
        if candidate != base {
            let list = if Fact::BLOCKING.contains(&fact) {
                &mut found.blocking
            } else {
                &mut found.warnings
            };
            list.push(Difference {
                fact,
                candidate,
                base,
            });
        }
    }
    found
}

/// Returns the value of a fact that is never absent: `text`, or `unknown` if it is empty because an import did not state it.
fn or_unknown(text: &str) -> String {
    if text.is_empty() { UNKNOWN } else { text }.to_owned()
}

/// Lists every fact with its value, always in the same order, so that the facts of two measurements can be compared pair by pair.
fn facts(circumstances: &Comparability<'_>) -> [(Fact, String); 14] {
    let Environment { host, build } = circumstances.environment;
    let or_absent = |text: &Option<String>| text.clone().unwrap_or_else(|| ABSENT.to_owned());
    let listed = |text: String| {
        if text.is_empty() {
            ABSENT.to_owned()
        } else {
            text
        }
    };
    let mut features = circumstances.target.features.clone();
    features.sort_unstable();
    [
        (Fact::Cpu, or_unknown(&host.cpu)),
        (Fact::Architecture, or_unknown(&host.architecture)),
        (Fact::Target, or_unknown(&build.target)),
        (Fact::Profile, or_unknown(&build.profile)),
        (Fact::Features, listed(features.join(","))),
        (Fact::Rustflags, listed(build.rustflags.clone())),
        (Fact::Rustc, or_unknown(&build.rustc)),
        (
            Fact::BenchmarkVersion,
            circumstances.version.unwrap_or(ABSENT).to_owned(),
        ),
        (Fact::Metric, circumstances.metric.to_string()),
        (Fact::Os, or_unknown(&host.os)),
        (Fact::Kernel, or_unknown(&host.kernel)),
        (Fact::Governor, or_absent(&host.governor)),
        (Fact::Microcode, or_absent(&host.microcode)),
        (Fact::Cores, host.cores.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::measurement;
    use crate::model::Measurement;

    type Change = fn(&mut Environment, &mut Measurement);

    fn comparability<'a>(
        environment: &'a Environment,
        measurement: &'a Measurement,
    ) -> Comparability<'a> {
        Comparability {
            environment,
            target: &measurement.target_facts,
            version: measurement.benchmark.version.as_deref(),
            metric: &measurement.benchmark.metric,
        }
    }

    fn differences_after(change: Change) -> Differences {
        let (environment, base) = (Environment::default(), measurement(vec![]));
        let (mut other, mut candidate) = (environment.clone(), base.clone());
        change(&mut other, &mut candidate);
        find_differences(
            &comparability(&other, &candidate),
            &comparability(&environment, &base),
        )
    }

    #[test]
    fn equal_measurements_have_no_differences() {
        assert_eq!(differences_after(|_, _| {}), Differences::default());
    }

    #[test]
    fn each_blocking_fact_makes_incomparable_and_can_be_allowed() {
        let changes: [(Fact, Change); 8] = [
            (Fact::Cpu, |e, _| e.host.cpu = "x".into()),
            (Fact::Architecture, |e, _| e.host.architecture = "x".into()),
            (Fact::Target, |e, _| e.build.target = "x".into()),
            (Fact::Profile, |e, _| e.build.profile = "x".into()),
            (Fact::Features, |_, m| {
                m.target_facts.features.push("x".into());
            }),
            (Fact::Rustflags, |e, _| e.build.rustflags = "x".into()),
            (Fact::Rustc, |e, _| e.build.rustc = "x".into()),
            (Fact::BenchmarkVersion, |_, m| {
                m.benchmark.version = Some("x".into());
            }),
        ];
        for (fact, change) in changes {
            let differences = differences_after(change);
            assert_eq!(differences.blocking.len(), 1, "{fact}");
            assert_eq!(
                (
                    differences.blocking[0].fact,
                    &*differences.blocking[0].candidate
                ),
                (fact, "x")
            );
            assert!(!differences.is_comparable() && differences.warnings.is_empty());
            let read: Fact = fact.word().parse().unwrap();
            let allowed = differences.allowing(&[read]);
            assert!(allowed.is_comparable());
            assert_eq!(allowed.warnings[0].fact, fact);
        }
    }

    #[test]
    fn the_other_facts_only_warn() {
        let changes: [(Fact, Change); 5] = [
            (Fact::Os, |e, _| e.host.os = "x".into()),
            (Fact::Kernel, |e, _| e.host.kernel = "x".into()),
            (Fact::Governor, |e, _| e.host.governor = Some("x".into())),
            (Fact::Microcode, |e, _| e.host.microcode = Some("x".into())),
            (Fact::Cores, |e, _| e.host.cores = 3),
        ];
        for (fact, change) in changes {
            let differences = differences_after(change);
            assert!(differences.is_comparable());
            assert_eq!(differences.warnings.len(), 1, "{fact}");
            assert_eq!(differences.warnings[0].fact, fact);
        }
    }

    #[test]
    fn an_unknown_fact_is_refused_with_the_names_that_there_are() {
        let message = "compiler".parse::<Fact>().unwrap_err();
        assert!(
            message.contains("`compiler`") && message.contains("rustc, benchmark-version"),
            "{message}"
        );
        assert!("kernel".parse::<Fact>().is_err());
    }

    #[test]
    fn a_difference_reads_from_base_to_candidate() {
        let differences = differences_after(|e, _| e.host.governor = Some("schedutil".into()));
        assert_eq!(
            differences.warnings[0].to_string(),
            "governor: none -> schedutil"
        );
    }

    #[test]
    fn times_and_rates_are_not_comparable_and_no_permission_changes_that() {
        let differences = differences_after(|_, m| {
            m.benchmark.metric = Metric::Rate { unit: "ops".into() };
        });
        assert_eq!(
            differences.blocking[0].to_string(),
            "metric: time -> rate of ops"
        );
        assert!("metric".parse::<Fact>().is_err());
    }
}
