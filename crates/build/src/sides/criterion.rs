//! Builds Criterion benches with the harness of this project in place of Criterion.
//!
//! A patch on cargo's command line replaces Criterion with `perfcheck-criterion`, whose sources are part of this program. The patch applies only to
//! the copy of the sources. It may change the copy's lock file for Criterion and for packages that only Criterion needs. The lock file is restored
//! after the build.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::PathBuf;
use toml_edit::{DocumentMut, Item, Table, value};

use super::lock_file::{LockedPackage, parse_packages};
use super::request::{SidesError, file_error};
use crate::cargo::{Workspace, config_argument};
use perfcheck::sources::CrateFile;
use perfcheck_host::os::display_with_slashes;

/// The Criterion that a build uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CriterionBuild {
    /// The build has no Criterion.
    #[default]
    Absent,
    /// The harness of this project replaces these versions of Criterion.
    Replaced(Vec<String>),
    /// The build uses Criterion itself, because the harness could not replace it for this reason. `None` if Criterion was not to be replaced.
    AsIs(Option<String>),
}

impl CriterionBuild {
    /// Reports whether the Criterion benches of both builds run on the same harness.
    pub fn is_same_harness(&self, other: &Self) -> bool {
        !matches!(
            (self, other),
            (Self::Replaced(_), Self::AsIs(_)) | (Self::AsIs(_), Self::Replaced(_))
        )
    }
}

/// The packages with Criterion's interface, with the latest known version of each as (major, minor).
const KNOWN: [(&str, (u64, u64)); 2] = [
    ("criterion", (0, 8)),
    ("codspeed-criterion-compat", (5, u64::MAX)),
];

/// Package name of the harness in the builds of benches. Not `perfcheck`, because the user's workspace may depend on `perfcheck`, too.
const CARRIED_HARNESS: &str = "perfcheck-for-criterion";

/// The oldest compiler that builds the harness, as (major, minor).
const OLDEST_COMPILER: (u64, u64) = (1, 85);

/// A Criterion that can be replaced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReplaceableCriterion {
    package: String,
    version: String,
}

impl fmt::Display for ReplaceableCriterion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.package, self.version)
    }
}

impl ReplaceableCriterion {
    fn folder_name(&self) -> String {
        format!("{}-{}", self.package, self.version)
    }
}

/// The reason why a build does not replace Criterion.
#[derive(Debug)]
pub(super) enum NotReplaced {
    /// The caller must build without the replacement, and record this about the Criterion of the build.
    BuildWithout(CriterionBuild),
    /// No build is possible.
    Failed(SidesError),
}

impl NotReplaced {
    pub(super) fn impossible(reason: impl Into<String>) -> Self {
        Self::BuildWithout(CriterionBuild::AsIs(Some(reason.into())))
    }
}

impl<E: Into<SidesError>> From<E> for NotReplaced {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Reports whether a build may use Criterion. This is so if the lock file has it, or if a member of the workspace depends on it and the lock file is
/// out of date or missing. The check is much faster than parsing the lock file.
pub(super) fn may_use_criterion(lock_file: Option<&str>, workspace: &Workspace) -> bool {
    let Some(lock_file) = lock_file else {
        return true;
    };
    KNOWN.iter().any(|(name, _)| {
        lock_file.contains(&format!("name = \"{name}\"")) || workspace.depends_on(name)
    })
}

/// Returns true if the library of the workspace's member `member` may compile only with Criterion itself: if it depends on Criterion, or shares a package
/// with it. Cargo compiles a shared package with the features that Criterion enables, too. Development dependencies do not count.
pub(super) fn library_may_need_criterion(
    member: &str,
    workspace: &Workspace,
    lock_file: &str,
) -> bool {
    let packages = parse_packages(lock_file);
    let of_library = reachable_packages([member], workspace, &packages);
    let of_criterion = reachable_packages(KNOWN.map(|(name, _)| name), workspace, &packages);
    !of_library.is_disjoint(&of_criterion)
}

/// Returns the names of the packages that `roots` depend on, directly or not, and of `roots` themselves.
fn reachable_packages<'a>(
    roots: impl IntoIterator<Item = &'a str>,
    workspace: &'a Workspace,
    packages: &'a BTreeMap<LockedPackage, Vec<String>>,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut unvisited: Vec<&str> = roots.into_iter().collect();
    while let Some(name) = unvisited.pop() {
        if !reached.insert(name) {
            continue;
        }
        // The lock file does not tell which dependencies of a member are for development.
        if let Some(dependencies) = workspace.library_dependencies(name) {
            unvisited.extend(dependencies);
        } else {
            let versions = packages.iter().filter(|(one, _)| one.name == name);
            let dependencies = versions.flat_map(|(_, dependencies)| dependencies);
            unvisited.extend(dependencies.filter_map(|one| one.split(' ').next()));
        }
    }
    reached
}

/// Finds the Criterion versions in a lock file that can be replaced. `rustc` is the first line of `rustc -vV`.
pub(super) fn find_replaceable(
    lock_file: &str,
    rustc: &str,
) -> Result<Vec<ReplaceableCriterion>, NotReplaced> {
    let packages = parse_packages(lock_file);
    let find_known = |package: &LockedPackage| KNOWN.iter().find(|(name, _)| *name == package.name);
    let mut replaceable = Vec::new();
    for package in packages.keys() {
        let Some((_, newest)) = find_known(package) else {
            continue;
        };
        // If only replaced packages need this package, nothing uses it after the replacement.
        let mut users = packages
            .iter()
            .filter(|(_, dependencies)| is_among(package, dependencies))
            .peekable();
        if users.peek().is_some() && users.all(|(user, _)| find_known(user).is_some()) {
            continue;
        }
        let LockedPackage {
            name,
            version,
            source,
        } = package.clone();
        match source {
            Some(source) if source.starts_with("registry+") => {}
            Some(_) => {
                return Err(NotReplaced::impossible(format!(
                    "{name} does not come from crates.io"
                )));
            }
            None => {
                return Err(NotReplaced::impossible(format!(
                    "{name} comes from a local directory"
                )));
            }
        }
        if parse_version(&version).is_none_or(|version| version > *newest) {
            return Err(NotReplaced::impossible(format!(
                "{name} {version} is too new for this cargo-perfcheck"
            )));
        }
        replaceable.push(ReplaceableCriterion {
            package: name,
            version,
        });
    }
    if replaceable.is_empty() {
        return Err(NotReplaced::BuildWithout(CriterionBuild::Absent));
    }
    let compiler = rustc.split(' ').nth(1).and_then(parse_version);
    if compiler.is_some_and(|compiler| compiler < OLDEST_COMPILER) {
        let (major, minor) = OLDEST_COMPILER;
        return Err(NotReplaced::impossible(format!(
            "the harness needs Rust {major}.{minor} or later"
        )));
    }
    Ok(replaceable)
}

/// Returns the major and the minor number of a version.
fn parse_version(text: &str) -> Option<(u64, u64)> {
    let mut numbers = text.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Reports whether `package` is among `dependencies`. A dependency has a version only if its name is ambiguous.
fn is_among(package: &LockedPackage, dependencies: &[String]) -> bool {
    dependencies.iter().any(|one| {
        let mut words = one.split(' ');
        words.next() == Some(&package.name)
            && words
                .next()
                .is_none_or(|version| version == package.version)
    })
}

/// Fails if a patch has changed a lock file for anything but Criterion and packages that only Criterion needs.
pub(super) fn check_lock_change(
    before: &str,
    after: &str,
    replaced: &[ReplaceableCriterion],
) -> Result<(), NotReplaced> {
    let (before, after) = (parse_packages(before), parse_packages(after));
    let is_ours = |package: &LockedPackage| {
        let is_replaced = replaced
            .iter()
            .any(|one| one.package == package.name && one.version == package.version);
        package.source.is_none() && (package.name == CARRIED_HARNESS || is_replaced)
    };
    for one in replaced {
        if !after.keys().any(|package| {
            is_ours(package) && package.name == one.package && package.version == one.version
        }) {
            return Err(NotReplaced::impossible(format!(
                "cargo does not use the replacement for {} {}",
                one.package, one.version
            )));
        }
    }
    // A new package is needed only by Criterion if all packages that depend on it are new, too.
    let is_new = |package: &LockedPackage| !before.contains_key(package);
    for package in after.keys().filter(|one| is_new(one) && !is_ours(one)) {
        let mut users = after
            .iter()
            .filter(|(_, dependencies)| is_among(package, dependencies));
        if users.any(|(user, _)| !is_new(user) && !is_ours(user)) {
            return Err(NotReplaced::impossible(format!(
                "cargo would then use {} {} in other packages, too",
                package.name, package.version
            )));
        }
    }
    Ok(())
}

/// Writes the sources of the harness, and of its replacement for each version of Criterion, below a directory in the folder of a workspace.
pub(super) struct CarriedSources {
    pub(super) directory: PathBuf,
}

impl CarriedSources {
    /// Returns a hash of the contents of all files. It is part of the recipe of a build.
    pub(super) fn hash() -> String {
        let mut hasher = blake3::Hasher::new();
        let manifests = [
            perfcheck::sources::MANIFEST,
            perfcheck_criterion::sources::MANIFEST,
        ];
        let files = perfcheck::sources::FILES
            .iter()
            .chain(perfcheck_criterion::sources::FILES);
        for text in files.map(|file| file.text).chain(manifests) {
            hasher.update(text.as_bytes());
        }
        hasher.finalize().to_hex()[..24].to_owned()
    }

    /// Writes the sources. Only files that differ are written, because cargo builds a package again if its files have a new time. Returns true if any
    /// file was written.
    pub(super) fn write(&self, replaced: &[ReplaceableCriterion]) -> Result<bool, SidesError> {
        let harness = carried_manifest(
            perfcheck::sources::MANIFEST,
            CARRIED_HARNESS,
            env!("CARGO_PKG_VERSION"),
        );
        let mut is_new =
            self.write_package(CARRIED_HARNESS, &harness, perfcheck::sources::FILES)?;
        for one in replaced {
            let mut manifest = carried_manifest(
                perfcheck_criterion::sources::MANIFEST,
                &one.package,
                &one.version,
            );
            let mut dependency = toml_edit::InlineTable::new();
            dependency.insert("package", CARRIED_HARNESS.into());
            dependency.insert("path", format!("../{CARRIED_HARNESS}").into());
            manifest["dependencies"]["perfcheck"] = value(dependency);
            manifest["lib"]["name"] = value(one.package.replace('-', "_"));
            is_new |= self.write_package(
                &one.folder_name(),
                &manifest,
                perfcheck_criterion::sources::FILES,
            )?;
        }
        Ok(is_new)
    }

    fn write_package(
        &self,
        folder: &str,
        manifest: &DocumentMut,
        files: &[CrateFile],
    ) -> Result<bool, SidesError> {
        let mut is_new = false;
        let folder = self.directory.join(folder);
        let manifest = manifest.to_string();
        let files = files.iter().map(|file| (file.path, file.text));
        for (path, text) in files.chain([("Cargo.toml", &*manifest)]) {
            // Warnings about this crate mean nothing to the user, whose flags may turn them into errors.
            let text = match path {
                "src/lib.rs" => format!("#![allow(warnings)]\n{text}"),
                _ => text.to_owned(),
            };
            let path = folder.join(path);
            if fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
                continue;
            }
            let parent = path.parent().unwrap_or(&folder);
            fs::create_dir_all(parent).map_err(file_error("cannot make", parent))?;
            fs::write(&path, text).map_err(file_error("cannot write", &path))?;
            is_new = true;
        }
        Ok(is_new)
    }

    /// Returns the values of `--config` that make cargo use the replacements.
    pub(super) fn patches(&self, replaced: &[ReplaceableCriterion]) -> Vec<String> {
        // In `--config`, cargo accepts no inline tables.
        let patches = replaced.iter().flat_map(|one| {
            let folder = one.folder_name();
            let path = display_with_slashes(&self.directory.join(&folder));
            let keys = ["patch", "crates-io", &folder];
            [
                config_argument(&[&keys[..], &["package"]].concat(), &one.package),
                config_argument(&[&keys[..], &["path"]].concat(), &path),
            ]
        });
        patches.collect()
    }
}

/// Returns the manifest with which a package that is part of this program is built outside of this project's workspace.
fn carried_manifest(text: &str, name: &str, version: &str) -> DocumentMut {
    let mut manifest: DocumentMut = text.parse().expect("cargo has read it");
    for key in [
        "example",
        "bench",
        "test",
        "bin",
        "lints",
        "dev-dependencies",
    ] {
        manifest.remove(key);
    }
    let mut package = Table::new();
    package["name"] = value(name);
    package["version"] = value(version);
    package["edition"] = value("2024");
    package["publish"] = value(false);
    manifest["package"] = Item::Table(package);
    manifest["workspace"] = Item::Table(Table::new());
    manifest
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const BEFORE: &str = r#"
[[package]]
name = "criterion"
version = "0.5.1"
source = "registry+somewhere"
dependencies = ["serde"]

[[package]]
name = "serde"
version = "1.0.1"
source = "registry+somewhere"

[[package]]
name = "own"
version = "0.1.0"
dependencies = ["criterion"]
"#;

    const AFTER: &str = r#"
[[package]]
name = "criterion"
version = "0.5.1"
dependencies = ["perfcheck-for-criterion", "tokio 1.2.0"]

[[package]]
name = "perfcheck-for-criterion"
version = "0.1.0"

[[package]]
name = "tokio"
version = "1.2.0"
source = "registry+somewhere"

[[package]]
name = "own"
version = "0.1.0"
dependencies = ["criterion"]
"#;

    fn replaceable(lock_file: &str) -> Vec<ReplaceableCriterion> {
        find_replaceable(lock_file, "rustc 1.95.0 (0 2026-04-14)").expect("replaceable")
    }

    fn reason(error: NotReplaced) -> String {
        match error {
            NotReplaced::BuildWithout(CriterionBuild::AsIs(Some(reason))) => reason,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_compiler_that_cannot_build_the_harness_is_named() {
        assert_eq!(replaceable(BEFORE)[0].to_string(), "criterion 0.5.1");
        let old = find_replaceable(BEFORE, "rustc 1.84.1 (0 2025-01-27)");
        let old = reason(old.expect_err("too old"));
        assert_eq!(old, "the harness needs Rust 1.85 or later");
    }

    #[test]
    fn a_criterion_that_only_another_one_needs_is_not_replaced() {
        let with_compat = format!(
            "{}\n[[package]]\nname = \"codspeed-criterion-compat\"\nversion = \"2.10.1\"\nsource = \"registry+somewhere\"\ndependencies = [\"criterion\"]\n",
            BEFORE.replace("[\"criterion\"]", "[\"codspeed-criterion-compat\"]")
        );
        let shown = |text: &str| {
            replaceable(text)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        assert_eq!(shown(&with_compat), ["codspeed-criterion-compat 2.10.1"]);
        let with_both = with_compat.replace(
            "[\"codspeed-criterion-compat\"]",
            "[\"codspeed-criterion-compat\", \"criterion\"]",
        );
        assert_eq!(
            shown(&with_both),
            ["codspeed-criterion-compat 2.10.1", "criterion 0.5.1"]
        );
    }

    #[test]
    fn the_lock_file_may_change_for_criterion_and_what_only_criterion_needs() {
        let replaced = replaceable(BEFORE);
        let check = |after: &str| check_lock_change(BEFORE, after, &replaced).map_err(reason);
        assert_eq!(check(AFTER), Ok(()));
        assert_eq!(
            check(BEFORE),
            Err("cargo does not use the replacement for criterion 0.5.1".to_owned())
        );
        let others = AFTER.replace("[\"criterion\"]", "[\"criterion\", \"tokio\"]");
        assert_eq!(
            check(&others),
            Err("cargo would then use tokio 1.2.0 in other packages, too".to_owned())
        );
        let other_version = others.replace("\"tokio\"]", "\"tokio 1.1.0\"]");
        assert_eq!(check(&other_version), Ok(()));
    }

    #[test]
    fn all_files_of_both_crates_are_carried() {
        let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../harness");
        for (crate_directory, carried) in [
            ("src", perfcheck::sources::FILES),
            ("criterion/src", perfcheck_criterion::sources::FILES),
        ] {
            let files = fs::read_dir(harness.join(crate_directory)).expect("readable");
            let names = files.map(|file| file.expect("an entry").file_name());
            let mut names: Vec<String> = names
                .map(|name| format!("src/{}", name.to_string_lossy()))
                .collect();
            names.sort();
            let carried: Vec<&str> = carried.iter().map(|file| file.path).collect();
            assert_eq!(names, carried);
        }
    }
}
