//! Recognizes the harness of a bench target from its manifest and source, and describes the tool's support of it.
//!
//! A run asks each executable about its harness (docs/guide/src/coming-from.md). This module only reads text, so that nothing has to be built.

use std::fs;
use std::path::Path;

use super::manifest::{HARNESS, UsedCrate, locked_versions};
use perfcheck_build::cargo::has_libtest_benches;

/// The oldest Criterion that transmits its samples, and the oldest divan that lists its benchmarks.
const CRITERION: HarnessVersion = (0, 3, 3);
const DIVAN: HarnessVersion = (0, 1, 19);

type HarnessVersion = (u64, u64, u64);

/// The harness of a bench target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BenchStyle {
    /// The harness of this project.
    Own,
    /// This project's drop-in replacement for Criterion.
    OwnCriterion,
    /// Criterion, with its version if known.
    Criterion(Option<String>),
    /// divan, with its version if known.
    Divan(Option<String>),
    /// `#[bench]` functions of libtest.
    Libtest,
    /// libtest's harness in a target without `#[bench]` functions, so the target has no benchmarks.
    NoFunctions,
    /// A known harness, by name, that never runs because the manifest does not disable libtest's harness.
    Hidden(&'static str),
    /// No known harness.
    Unknown,
}

impl BenchStyle {
    /// Recognizes the harness of a bench target with this source.
    pub(super) fn recognize(
        source: &Path,
        has_libtest_harness: bool,
        used: &[UsedCrate],
        lock: &str,
    ) -> Self {
        let has_attribute = has_libtest_benches(source);
        let source = fs::read_to_string(source).unwrap_or_default();
        let known: Vec<&UsedCrate> = (used.iter())
            .filter(|used| Self::from_crate(used, lock).is_some())
            .collect();
        let named = known
            .iter()
            .find(|used| refers_to_crate(&source, &used.in_code));
        // If the source names no harness, one of its modules in other files may import one. Then assume the harness that the package depends on, if
        // there is only one.
        let only = || match known[..] {
            [only] if has_other_files(&source) => Some(only),
            _ => None,
        };
        match (has_libtest_harness, named.copied()) {
            (true, _) if has_attribute => Self::Libtest,
            (true, Some(used)) => Self::from_crate(used, lock)
                .map_or(Self::NoFunctions, |style| Self::Hidden(style.name())),
            (true, None) => Self::NoFunctions,
            (false, named) => (named.or_else(only))
                .and_then(|used| Self::from_crate(used, lock))
                .unwrap_or(Self::Unknown),
        }
    }

    fn from_crate(used: &UsedCrate, lock: &str) -> Option<Self> {
        match used.package.as_str() {
            HARNESS => Some(Self::Own),
            "perfcheck-criterion" => Some(Self::OwnCriterion),
            "criterion" => Some(Self::Criterion(resolve_version(used, lock))),
            "divan" => Some(Self::Divan(resolve_version(used, lock))),
            _ => None,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Own => HARNESS,
            Self::OwnCriterion => "perfcheck-criterion",
            Self::Criterion(_) => "Criterion",
            Self::Divan(_) => "divan",
            Self::Libtest => "libtest",
            Self::NoFunctions => "no `#[bench]`",
            Self::Hidden(name) => name,
            Self::Unknown => "unknown",
        }
    }

    pub(super) fn name_with_version(&self) -> String {
        match self {
            Self::Criterion(Some(version)) | Self::Divan(Some(version)) => {
                format!("{} {version}", self.name())
            }
            other => other.name().to_owned(),
        }
    }

    pub(super) fn describe_support(&self) -> String {
        let older = |version: &Option<String>, than: HarnessVersion| {
            let version = version.as_deref().and_then(parse_version);
            version.is_some_and(|version| version < than)
        };
        match self {
            Self::Own | Self::OwnCriterion => "works unmodified".to_owned(),
            Self::Criterion(version) if older(version, CRITERION) => {
                "too old: needs Criterion 0.3.3 or later".to_owned()
            }
            Self::Criterion(_) => "works unmodified, on perfcheck's harness".to_owned(),
            Self::Divan(version) if older(version, DIVAN) => {
                "too old: needs divan 0.1.19 or later".to_owned()
            }
            Self::Divan(None) => {
                "works unmodified with divan 0.1.19 or later: one value per process".to_owned()
            }
            Self::Divan(Some(_)) => "works unmodified: one value per process".to_owned(),
            Self::Libtest => {
                "works unmodified with nightly or RUSTC_BOOTSTRAP=1: one value per process"
                    .to_owned()
            }
            Self::NoFunctions => "skipped: libtest finds no benchmark in it".to_owned(),
            Self::Hidden(_) => {
                "runs nothing: its `[[bench]]` entry lacks `harness = false`".to_owned()
            }
            Self::Unknown => {
                "use `cargo perfcheck list` to see whether it can be measured".to_owned()
            }
        }
    }
}

/// Reports whether parts of `source` are in other files: `mod name;`, `include!`.
fn has_other_files(source: &str) -> bool {
    source.lines().map(str::trim).any(|line| {
        let is_module = line.starts_with("mod ") || line.starts_with("pub mod ");
        (is_module && line.ends_with(';')) || line.contains("include!(")
    })
}

/// Reports whether `source` refers to the crate `name`.
fn refers_to_crate(source: &str, name: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    source.match_indices(name).any(|(at, _)| {
        let after = &source[at + name.len()..];
        let is_path = ["::", ";", " as "]
            .iter()
            .any(|next| after.starts_with(next));
        !source[..at].ends_with(continues) && is_path
    })
}

/// Returns the version of the crate: the only locked version that fits the requirement, or else the version that an exact requirement (`=`) names.
fn resolve_version(used: &UsedCrate, lock: &str) -> Option<String> {
    let wanted = used.requirement.as_deref();
    let wanted = wanted.map(|text| text.trim_start_matches(['^', '=', '~', ' ']));
    let mut locked = locked_versions(lock, &used.package);
    if locked.len() > 1 {
        locked.retain(|version| {
            wanted.is_some_and(|wanted| {
                let rest = version.strip_prefix(wanted);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        });
    }
    match <[String; 1]>::try_from(locked) {
        Ok([version]) => Some(version),
        // Without a single locked version, only an exact requirement determines the version.
        Err(_) => wanted
            .filter(|_| {
                used.requirement
                    .as_deref()
                    .is_some_and(|text| text.starts_with('='))
            })
            .map(str::to_owned),
    }
}

fn parse_version(version: &str) -> Option<HarnessVersion> {
    let mut parts = version.split(['.', '-', '+']).map(str::parse);
    let mut next = || parts.next().unwrap_or(Ok(0)).ok();
    Some((next()?, next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(in_code: &str, package: &str, requirement: &str) -> UsedCrate {
        UsedCrate {
            in_code: in_code.to_owned(),
            package: package.to_owned(),
            requirement: Some(requirement.to_owned()),
        }
    }

    fn style(
        source: &str,
        has_libtest_harness: bool,
        crates: &[UsedCrate],
        lock: &str,
    ) -> BenchStyle {
        let file = tempfile::NamedTempFile::with_suffix(".rs").expect("a file");
        fs::write(file.path(), source).expect("written");
        BenchStyle::recognize(file.path(), has_libtest_harness, crates, lock)
    }

    #[test]
    fn a_harness_is_known_by_what_the_source_goes_into() {
        let crates = [
            used("criterion", "criterion", "0.5"),
            used("meter", "divan", "0.1"),
            used("perfcheck", "perfcheck", "0.1"),
        ];
        let of = |source: &str| style(source, false, &crates, "");
        assert_eq!(of("use criterion::Criterion;"), BenchStyle::Criterion(None));
        assert_eq!(of("fn main() { meter::main(); }"), BenchStyle::Divan(None));
        assert_eq!(of("perfcheck::main!(a);"), BenchStyle::Own);
        assert_eq!(
            of("use my_criterion::Criterion; fn main() {}"),
            BenchStyle::Unknown
        );
        // The benches are in modules, and the package has one harness.
        let drop_in = [used("criterion", "perfcheck-criterion", "0.1")];
        assert_eq!(
            style("mod all;", false, &drop_in, ""),
            BenchStyle::OwnCriterion
        );
        assert_eq!(style("mod all;", false, &[], ""), BenchStyle::Unknown);
        // A standalone program does not use the harness that other benches of the package use.
        let plain = "fn main() { println!(\"criterion\"); }";
        assert_eq!(style(plain, false, &drop_in, ""), BenchStyle::Unknown);
    }

    #[test]
    fn around_other_benches_the_harness_of_libtest_runs_nothing() {
        let crates = [used("criterion", "criterion", "0.5")];
        let of = |source: &str| style(source, true, &crates, "");
        assert_eq!(of("#[bench]\nfn a() {}"), BenchStyle::Libtest);
        assert_eq!(
            of("criterion::criterion_main!(a);"),
            BenchStyle::Hidden("Criterion")
        );
        assert_eq!(of("fn a() {}"), BenchStyle::NoFunctions);
    }

    #[test]
    fn the_version_is_the_locked_one_and_decides_what_works() {
        let of = |requirement: &str, locked: &[&str]| {
            let entry = |version: &&str| {
                format!("[[package]]\nname = \"criterion\"\nversion = \"{version}\"\n")
            };
            let lock: String = locked.iter().map(entry).collect();
            let crates = [used("criterion", "criterion", requirement)];
            let style = style("use criterion::Bencher;", false, &crates, &lock);
            (style.name_with_version(), style.describe_support())
        };
        for (requirement, locked, name, outcome) in [
            (
                "0.5",
                &["0.5.1"][..],
                "Criterion 0.5.1",
                "on perfcheck's harness",
            ),
            ("0.3", &["0.3.2", "0.5.1"], "Criterion 0.3.2", "too old"),
            (
                "0.3",
                &["0.3.3"],
                "Criterion 0.3.3",
                "on perfcheck's harness",
            ),
            ("0.3", &[], "Criterion", "on perfcheck's harness"),
            ("=0.3.0", &[], "Criterion 0.3.0", "too old"),
        ] {
            let (words, support) = of(requirement, locked);
            assert_eq!(words, name, "{requirement} {locked:?}");
            assert!(
                support.contains(outcome),
                "{requirement} {locked:?}: {support}"
            );
        }
        let divan = |version: &str| BenchStyle::Divan(Some(version.to_owned())).describe_support();
        assert!(divan("0.1.18").contains("too old"));
        assert!(divan("0.1.21").starts_with("works"));
    }
}
