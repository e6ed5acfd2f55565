//! Criterion benches on the harness of this project.
//!
//! A patch on cargo's command line replaces Criterion with `perfcheck-criterion`, whose sources are part of this program. The patch applies only to
//! the copy of the sources. It may change the copy's lock file for Criterion and for packages that only Criterion needs. The lock file is restored
//! after the build.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use toml_edit::{DocumentMut, Item, Table, value};

use super::request::{SidesError, file_error};
use crate::cargo::config_argument;
use perfcheck::sources::CrateFile;

/// The Criterion that a build uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CriterionBuild {
    /// The build has no Criterion.
    Absent,
    /// The harness of this project replaces these versions of Criterion.
    Replaced(Vec<String>),
    /// Criterion itself. The reason why it could not be replaced; `None` if it was not to be replaced.
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

/// A package as a lock file describes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct LockedPackage {
    name: String,
    version: String,
    /// Registry or repository; `None` for a directory.
    source: Option<String>,
}

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
    /// The build is possible without the replacement.
    Because(CriterionBuild),
    /// No build is possible.
    Failed(SidesError),
}

impl NotReplaced {
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Self::Because(CriterionBuild::AsIs(Some(reason.into())))
    }
}

impl<E: Into<SidesError>> From<E> for NotReplaced {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// The names of the packages with Criterion's interface.
pub(super) const KNOWN_NAMES: [&str; 2] = [KNOWN[0].0, KNOWN[1].0];

/// Reports whether a lock file may have one of the packages in `KNOWN`. Much faster than parsing the file.
pub(super) fn is_criterion_named(lock_file: &str) -> bool {
    KNOWN
        .iter()
        .any(|(name, _)| lock_file.contains(&format!("name = \"{name}\"")))
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
        // If only replaced packages need this one, nothing uses it after the replacement.
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
                return Err(NotReplaced::because(format!(
                    "{name} does not come from crates.io"
                )));
            }
            None => {
                return Err(NotReplaced::because(format!(
                    "{name} comes from a local directory"
                )));
            }
        }
        if parse_version(&version).is_none_or(|version| version > *newest) {
            return Err(NotReplaced::because(format!(
                "{name} {version} is too new for this cargo-perfcheck"
            )));
        }
        replaceable.push(ReplaceableCriterion {
            package: name,
            version,
        });
    }
    if replaceable.is_empty() {
        return Err(NotReplaced::Because(CriterionBuild::Absent));
    }
    let compiler = rustc.split(' ').nth(1).and_then(parse_version);
    if compiler.is_some_and(|compiler| compiler < OLDEST_COMPILER) {
        let (major, minor) = OLDEST_COMPILER;
        return Err(NotReplaced::because(format!(
            "the harness needs Rust {major}.{minor} or later"
        )));
    }
    Ok(replaceable)
}

/// Returns major and minor version.
fn parse_version(text: &str) -> Option<(u64, u64)> {
    let mut numbers = text.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Returns the packages of a lock file, each with its dependencies as written there; none if the file cannot be read.
fn parse_packages(lock_file: &str) -> BTreeMap<LockedPackage, Vec<String>> {
    let document: DocumentMut = lock_file.parse().unwrap_or_default();
    let packages = document
        .get("package")
        .and_then(Item::as_array_of_tables)
        .into_iter()
        .flatten();
    packages
        .filter_map(|package| {
            let text = |key: &str| Some(package.get(key)?.as_str()?.to_owned());
            let dependencies = package.get("dependencies").and_then(Item::as_array);
            let dependencies = dependencies.into_iter().flatten();
            let dependencies = dependencies.filter_map(|one| one.as_str().map(str::to_owned));
            let package = LockedPackage {
                name: text("name")?,
                version: text("version")?,
                source: text("source"),
            };
            Some((package, dependencies.collect()))
        })
        .collect()
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
fn check_lock_change(
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
            return Err(NotReplaced::because(format!(
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
            return Err(NotReplaced::because(format!(
                "cargo would then use {} {} in other packages, too",
                package.name, package.version
            )));
        }
    }
    Ok(())
}

/// The sources of the harness and of the replacement for each version of Criterion, below a directory in the folder of a workspace.
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

    /// Writes only files that differ, because cargo builds a package again if its files have a new time. Reports whether any file was written.
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
            let path = self.directory.join(&folder).display().to_string();
            let keys = ["patch", "crates-io", &folder];
            [
                config_argument(&[&keys[..], &["package"]].concat(), &one.package),
                config_argument(&[&keys[..], &["path"]].concat(), &path),
            ]
        });
        patches.collect()
    }
}

/// Returns the manifest for building a carried package outside this project's workspace.
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

/// A backup of the copy's lock file from before a patch. The backup is also written to a file (the note). If this process is killed, the next one
/// restores the lock file from the note.
pub(super) struct LockFileBackup {
    path: PathBuf,
    note: PathBuf,
    text: String,
    modified: SystemTime,
    permissions: Permissions,
}

impl LockFileBackup {
    /// Saves the lock file at `path` in the file `note`, and makes the lock file writable.
    pub(super) fn save(path: &Path, note: PathBuf) -> Result<Self, SidesError> {
        let text = fs::read_to_string(path).map_err(file_error("cannot read", path))?;
        let metadata = fs::metadata(path).map_err(file_error("cannot inspect", path))?;
        let modified = metadata.modified();
        // A process that is killed now must not leave half a note.
        let unfinished = note.with_extension("new");
        fs::write(&unfinished, &text).map_err(file_error("cannot write", &unfinished))?;
        fs::rename(&unfinished, &note).map_err(file_error("cannot write", &note))?;
        let permissions = metadata.permissions();
        let mut writable = permissions.clone();
        writable.set_mode(permissions.mode() | 0o200);
        fs::set_permissions(path, writable).map_err(file_error("cannot change", path))?;
        Ok(Self {
            path: path.to_owned(),
            note,
            text,
            modified: modified.map_err(file_error("cannot inspect", path))?,
            permissions,
        })
    }

    /// Fails if the patch has changed the lock file for anything but Criterion and packages that only Criterion needs.
    pub(super) fn check_change(
        &self,
        replaced: &[ReplaceableCriterion],
    ) -> Result<(), NotReplaced> {
        let after =
            fs::read_to_string(&self.path).map_err(file_error("cannot read", &self.path))?;
        check_lock_change(&self.text, &after, replaced)
    }

    /// Gives the patched lock file the time of the original. With a new time, the build scripts of a package with a lock file would run again.
    pub(super) fn keep_time(&self) -> Result<(), SidesError> {
        set_modified(&self.path, self.modified).map_err(file_error("cannot write", &self.path))
    }

    /// Restores content, time and permissions of the lock file, and removes the note.
    pub(super) fn restore(&self) -> Result<(), SidesError> {
        fs::write(&self.path, &self.text).map_err(file_error("cannot write", &self.path))?;
        self.keep_time()?;
        fs::set_permissions(&self.path, self.permissions.clone())
            .map_err(file_error("cannot change", &self.path))?;
        fs::remove_file(&self.note).map_err(file_error("cannot remove", &self.note))
    }

    /// Restores the lock file from the file `note`, if a killed process has left one.
    pub(super) fn restore_abandoned(path: &Path, note: &Path) -> Result<(), SidesError> {
        let text = match fs::read_to_string(note) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            text => text.map_err(file_error("cannot read", note))?,
        };
        if path.is_file() {
            // It may be read-only.
            fs::remove_file(path).map_err(file_error("cannot remove", path))?;
            fs::write(path, text).map_err(file_error("cannot write", path))?;
        }
        fs::remove_file(note).map_err(file_error("cannot remove", note))
    }
}

fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    File::options().write(true).open(path)?.set_modified(time)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            NotReplaced::Because(CriterionBuild::AsIs(Some(reason))) => reason,
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
    fn the_lock_file_of_a_killed_process_is_restored_even_if_it_is_read_only() {
        let directory = tempfile::tempdir().expect("a directory");
        let (path, note) = (
            directory.path().join("Cargo.lock"),
            directory.path().join("note"),
        );
        fs::write(&path, BEFORE).expect("written");
        let _killed = LockFileBackup::save(&path, note.clone()).expect("saved");
        fs::write(&path, AFTER).expect("written");
        fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("changed");
        LockFileBackup::restore_abandoned(&path, &note).expect("restored");
        assert_eq!(fs::read_to_string(&path).expect("there"), BEFORE);
        assert!(!note.exists());
        LockFileBackup::restore_abandoned(&path, &note).expect("nothing to do");
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
