//! The user's flags for cargo, and how to pass them on cargo's command line. Also the package specifications that `-p` and `--exclude` accept: a
//! name, a glob, `name@version`, or a URL.
//!
//! Grammar and meaning of specifications: <https://doc.rust-lang.org/cargo/reference/pkgid-spec.html>.

use cargo_metadata::{Package, Target, TargetKind};
use globset::GlobBuilder;
use std::ffi::OsString;
use std::path::PathBuf;

use perfcheck_analysis::model::CriterionHarness;

/// The flags of `cargo bench` that select packages, targets and features or control the build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "cargo's flags are what they are"
)]
pub struct CargoOptions {
    /// `--manifest-path`.
    pub manifest_path: Option<PathBuf>,
    /// `--package`, repeatable.
    pub packages: Vec<String>,
    /// Whether `--workspace` was given.
    pub workspace: bool,
    /// `--exclude`, repeatable.
    pub exclude: Vec<String>,
    /// `--bench`, repeatable.
    pub benches: Vec<String>,
    /// Whether `--benches` was given: it selects everything that `cargo bench` would run, as without any target flag.
    pub all_benches: bool,
    /// Whether `--lib` was given.
    pub lib: bool,
    /// Whether `--bins` was given.
    pub bins: bool,
    /// `--program`, repeatable, which is not one of cargo's flags. Each is the name of an entry in Cargo.toml or a command line.
    pub programs: Vec<String>,
    /// `--features`, repeatable.
    pub features: Vec<String>,
    /// Whether `--all-features` was given.
    pub all_features: bool,
    /// Whether `--no-default-features` was given.
    pub no_default_features: bool,
    /// `--profile`. `None` means cargo's profile `bench`.
    pub profile: Option<String>,
    /// `--target`.
    pub target: Option<String>,
    /// `--target-dir`.
    pub target_dir: Option<PathBuf>,
    /// Whether `--locked` was given.
    pub locked: bool,
    /// Whether `--offline` was given.
    pub offline: bool,
    /// Whether `--frozen` was given.
    pub frozen: bool,
    /// `--jobs`.
    pub jobs: Option<String>,
    /// `--config`, repeatable.
    pub config: Vec<String>,
    /// Number of times that `--verbose` was given.
    pub verbose: u8,
    /// Whether `--quiet` was given.
    pub quiet: bool,
    /// `--color`.
    pub color: Option<String>,
    /// `--harness`, which is not one of cargo's flags.
    pub harness: Option<CriterionHarness>,
}

impl CargoOptions {
    /// Returns the options that decide what is built, without those that only say where, how fast, with which output and from which sources of crates.
    #[must_use]
    pub fn decisive(&self) -> Self {
        Self {
            manifest_path: None,
            target_dir: None,
            jobs: None,
            verbose: 0,
            quiet: false,
            color: None,
            offline: false,
            locked: false,
            frozen: false,
            ..self.clone()
        }
    }

    /// Returns the flags that `cargo metadata` takes too, except the manifest path and the features.
    pub(super) fn metadata_flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        for (on, flag) in [
            (self.locked, "--locked"),
            (self.offline, "--offline"),
            (self.frozen, "--frozen"),
        ] {
            if on {
                flags.push(flag.to_owned());
            }
        }
        for config in &self.config {
            flags.extend(["--config".to_owned(), config.clone()]);
        }
        flags
    }

    /// Returns the user's target flags, except `--benches`.
    pub(super) fn target_flags(&self) -> Vec<OsString> {
        let named = self.benches.iter().flat_map(|name| ["--bench", name]);
        let kinds = [(self.lib, "--lib"), (self.bins, "--bins")];
        let kinds = kinds.into_iter().filter(|(on, _)| *on);
        named
            .chain(kinds.map(|(_, flag)| flag))
            .map(OsString::from)
            .collect()
    }

    /// Returns every flag that decides what is built.
    pub fn build_flags(&self) -> Vec<OsString> {
        let mut arguments = self.selection_flags();
        arguments.extend(self.target_flags());
        if self.selects_all_benches() {
            arguments.push("--benches".into());
        }
        arguments
    }

    /// Returns the arguments of `cargo bench --no-run`, except those that select targets.
    pub(crate) fn selection_flags(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> =
            self.metadata_flags().into_iter().map(Into::into).collect();
        let mut pair = |flag: &str, value: OsString| {
            arguments.push(flag.into());
            arguments.push(value);
        };
        if let Some(path) = &self.manifest_path {
            pair("--manifest-path", path.into());
        }
        for package in &self.packages {
            pair("--package", package.into());
        }
        for package in &self.exclude {
            pair("--exclude", package.into());
        }
        for features in &self.features {
            pair("--features", features.into());
        }
        for (flag, value) in [
            ("--profile", &self.profile),
            ("--target", &self.target),
            ("--jobs", &self.jobs),
            ("--color", &self.color),
        ] {
            if let Some(value) = value {
                pair(flag, value.into());
            }
        }
        if let Some(directory) = &self.target_dir {
            pair("--target-dir", directory.into());
        }
        for (on, flag) in [
            (self.workspace, "--workspace"),
            (self.all_features, "--all-features"),
            (self.no_default_features, "--no-default-features"),
            (self.quiet, "--quiet"),
        ] {
            if on {
                arguments.push(flag.into());
            }
        }
        arguments.extend((0..self.verbose).map(|_| "--verbose".into()));
        arguments
    }

    /// Reports whether all targets that `cargo bench` would run are selected, possibly with libraries, binaries and programs in addition.
    pub fn selects_all_benches(&self) -> bool {
        self.all_benches
            || (self.benches.is_empty() && !self.lib && !self.bins && self.programs.is_empty())
    }

    /// Reports whether any targets of `cargo bench` are selected, and not only programs.
    pub fn selects_benches(&self) -> bool {
        self.selects_all_benches() || !self.benches.is_empty() || self.lib || self.bins
    }

    /// Reports whether `--lib` or `--bins` selects this target. The sources of such a target may have `#[bench]` functions.
    pub(super) fn selects_units_of(&self, target: &Target) -> bool {
        (self.bins && target.kind == [TargetKind::Bin]) || (self.lib && is_library(target))
    }

    /// Reports whether a flag of the user selects this target. A pattern counts as a match.
    pub(super) fn selects(&self, target: &Target) -> bool {
        let is_named = |name: &String| is_glob(name) || *name == target.name;
        self.selects_units_of(target)
            || (target.kind == [TargetKind::Bench] && self.benches.iter().any(is_named))
    }

    /// Returns the name of the build profile.
    pub fn profile_name(&self) -> &str {
        self.profile.as_deref().unwrap_or("bench")
    }
}

/// Returns a value for `--config`. It sets the key with the path `keys` to the string `text`.
pub(crate) fn config_argument(keys: &[&str], text: &str) -> String {
    let quoted = |text: &str| toml_edit::Value::from(text).to_string();
    let keys: Vec<String> = keys.iter().map(|key| quoted(key)).collect();
    format!("{}={}", keys.join("."), quoted(text))
}

/// Reports whether `--lib` selects this target.
pub(super) fn is_library(target: &Target) -> bool {
    target.kind.iter().any(|kind| {
        matches!(
            kind,
            TargetKind::Lib
                | TargetKind::RLib
                | TargetKind::DyLib
                | TargetKind::CDyLib
                | TargetKind::StaticLib
                | TargetKind::ProcMacro
        )
    })
}

/// Reports whether `specification` matches this package.
pub(super) fn matches_package(specification: &str, package: &Package) -> bool {
    if is_glob(specification) {
        // Cargo matches globs against package names, which contain no slashes.
        let glob = GlobBuilder::new(specification).build();
        return glob.is_ok_and(|glob| glob.compile_matcher().is_match(&**package.name));
    }
    let Some((address, fragment)) = split_address(specification) else {
        return matches_name_and_version(specification, package);
    };
    if !is_address_of(address, package) {
        return false;
    }
    fragment.is_none_or(|fragment| {
        matches_version(fragment, package) || matches_name_and_version(fragment, package)
    })
}

/// Reports whether cargo treats the text as a glob.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', ']'])
}

/// Splits a URL at `#`. Returns `None` if the specification is not a URL.
fn split_address(specification: &str) -> Option<(&str, Option<&str>)> {
    if !specification.contains("://") {
        return None;
    }
    Some(match specification.split_once('#') {
        Some((address, fragment)) => (address, Some(fragment)),
        None => (specification, None),
    })
}

fn matches_name_and_version(text: &str, package: &Package) -> bool {
    match text.split_once(['@', ':']) {
        Some((name, version)) => *name == **package.name && matches_version(version, package),
        None => *text == **package.name,
    }
}

/// Reports whether the package's version matches `wanted`, which may omit trailing parts.
fn matches_version(wanted: &str, package: &Package) -> bool {
    let version = &package.version;
    let whole = version.to_string();
    let parts: Vec<&str> = wanted.split('.').collect();
    let numbers = [version.major, version.minor, version.patch].map(|part| part.to_string());
    let without_build = whole.split('+').next();
    wanted == whole
        || Some(wanted) == without_build
        || (parts.len() < numbers.len()
            && version.pre.is_empty()
            && parts
                .iter()
                .zip(&numbers)
                .all(|(part, number)| part == number))
}

/// Reports whether this member of the workspace has that address. The address may omit the kind of source before `+`.
fn is_address_of(address: &str, package: &Package) -> bool {
    // The id is `path+file:///directory#name@1.0.0` or, before cargo 1.77, `name 1.0.0 (path+file:///directory)`.
    let id = &package.id.repr;
    let own = match id.split_once(" (") {
        Some((_, behind)) => behind.trim_end_matches(')'),
        None => id.split('#').next().unwrap_or_default(),
    };
    let address = address.trim_end_matches('/');
    address == own || own.split_once('+').is_some_and(|(_, own)| address == own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargos_flags_are_passed_on_as_cargo_spells_them() {
        let options = CargoOptions {
            packages: vec!["a".into()],
            benches: vec!["b".into()],
            features: vec!["x y".into()],
            locked: true,
            jobs: Some("2".into()),
            verbose: 2,
            ..CargoOptions::default()
        };
        let expected = "--locked|--package|a|--features|x y|--jobs|2|--verbose|--verbose|--bench|b";
        assert_eq!(
            options.build_flags(),
            expected.split('|').collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_named_program_is_measured_without_the_benches() {
        let options = CargoOptions {
            programs: vec!["search".into()],
            ..CargoOptions::default()
        };
        assert!(!options.selects_benches());
        let with_benches = CargoOptions {
            all_benches: true,
            ..options.clone()
        };
        assert!(with_benches.selects_all_benches());
        let with_one = CargoOptions {
            benches: vec!["parse".into()],
            ..options
        };
        assert!(with_one.selects_benches() && !with_one.selects_all_benches());
    }
}
