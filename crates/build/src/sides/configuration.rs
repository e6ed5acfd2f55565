//! Cargo's configuration and lock files on both sides.
//!
//! Cargo looks for its configuration in the current directory and its parents, independent of the package that it builds. This program runs cargo in
//! the user's directory. So both sides are built with the configuration that applies there, including untracked files and files in parent
//! directories. Relative paths in a file of the checkout are the exception: they must lead to the state that is built.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, Table, TableLike};

use super::lock_file::{LockedPackage, parse_packages};
use super::outcome::Dependency;
use super::sources::normalize_lexically;
use crate::cargo::config_argument;
use perfcheck_host::os::display_with_slashes;

/// Returns the configuration files that cargo reads when it runs in `here`.
pub(super) fn files(here: &Path, cargo_home: Option<&Path>) -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = here
        .ancestors()
        .map(|directory| directory.join(".cargo"))
        .collect();
    directories.extend(cargo_home.map(Path::to_owned));
    let mut found: Vec<PathBuf> = directories
        .iter()
        .flat_map(|directory| ["config", "config.toml"].map(|name| directory.join(name)))
        .filter(|path| path.is_file())
        .collect();
    found.dedup();
    found
}

/// Returns `--config` arguments for vendored sources and patches that a configuration file of the checkout at `top` names by relative paths. The
/// arguments name the copies of these directories in `source`, if they exist.
pub(super) fn redirections(files: &[PathBuf], top: &Path, source: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().filter(|file| file.starts_with(top)) {
        let text = fs::read_to_string(file).unwrap_or_default();
        let Ok(document) = text.parse::<DocumentMut>() else {
            continue;
        };
        // The file is DIRECTORY/.cargo/config.toml.
        let Some(directory) = file.ancestors().nth(2) else {
            continue;
        };
        let redirected = |path: &str| {
            if Path::new(path).is_absolute() {
                return None;
            }
            let path = normalize_lexically(&directory.join(path));
            let there = source.join(path.strip_prefix(top).ok()?);
            there.exists().then(|| display_with_slashes(&there))
        };
        let root = document.as_table();
        for (name, keys, item) in values_of_keys(root, "source", &["directory", "local-registry"]) {
            if let Some(there) = item.and_then(redirected) {
                found.push(config_argument(&["source", &name, keys], &there));
            }
        }
        let registries = root.get("patch").and_then(Item::as_table_like);
        for (registry, patches) in registries.into_iter().flat_map(TableLike::iter) {
            let Some(patches) = patches.as_table_like() else {
                continue;
            };
            for (name, patch) in patches.iter() {
                let path = patch.get("path").and_then(Item::as_str);
                if let Some(there) = path.and_then(redirected) {
                    found.push(config_argument(&["patch", registry, name, "path"], &there));
                }
            }
        }
    }
    found
}

/// Returns the values of `keys` in every table below `[name]`, each with the name of its table. A value is `None` unless it is a string.
fn values_of_keys<'a>(
    root: &'a dyn TableLike,
    name: &str,
    keys: &[&'static str],
) -> Vec<(String, &'static str, Option<&'a str>)> {
    let mut found = Vec::new();
    let tables = root.get(name).and_then(Item::as_table_like);
    for (name, table) in tables.into_iter().flat_map(TableLike::iter) {
        for key in keys {
            let text = table.get(key).and_then(Item::as_str);
            found.push((name.to_owned(), *key, text));
        }
    }
    found
}

/// Returns the locked versions by package name. The result is empty for an unreadable file, which cargo will complain about.
pub(super) fn parse_locked_versions(lock_file: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in parse_packages(lock_file).into_keys() {
        let LockedPackage {
            name,
            version,
            source,
        } = package;
        // Packages of the workspace have no source. Their versions are part of the change that is measured.
        let Some(source) = source else {
            continue;
        };
        let commit = source.split_once('#').map(|(_, commit)| commit);
        let version = match commit {
            Some(commit) => format!("{version} ({})", commit.get(..10).unwrap_or(commit)),
            None => version,
        };
        found.entry(name).or_default().push(version);
    }
    for versions in found.values_mut() {
        versions.sort();
    }
    found
}

/// Returns the packages whose locked versions differ.
pub(super) fn diff_locked_versions(
    base: &BTreeMap<String, Vec<String>>,
    candidate: &BTreeMap<String, Vec<String>>,
) -> Vec<Dependency> {
    let names: BTreeSet<&String> = base.keys().chain(candidate.keys()).collect();
    let of = |side: &BTreeMap<String, Vec<String>>, name: &String| {
        side.get(name).cloned().unwrap_or_default()
    };
    names
        .into_iter()
        .filter(|name| base.get(*name) != candidate.get(*name))
        .map(|name| {
            let (mut base, mut candidate) = (of(base, name), of(candidate, name));
            // Versions that both sides lock are not a difference.
            let common: Vec<String> = base
                .iter()
                .filter(|version| candidate.contains(version))
                .cloned()
                .collect();
            base.retain(|version| !common.contains(version));
            candidate.retain(|version| !common.contains(version));
            Dependency {
                name: name.clone(),
                base,
                candidate,
            }
        })
        .collect()
}

/// Adds to the lock file `base` the packages of the lock file `current` whose names it lacks. Cargo then uses the versions that it finds, and drops
/// the packages that it does not need.
///
/// Returns `None` if one of the two files cannot be parsed.
pub(super) fn complete_lock_file(base: &str, current: &str) -> Option<String> {
    let mut base: DocumentMut = base.parse().ok()?;
    let current: DocumentMut = current.parse().ok()?;
    let packages = base.get_mut("package")?.as_array_of_tables_mut()?;
    let name = |table: &Table| Some(table.get("name")?.as_str()?.to_owned());
    let known: BTreeSet<String> = packages.iter().filter_map(name).collect();
    for package in current.get("package")?.as_array_of_tables()? {
        if name(package).is_some_and(|name| !known.contains(&name)) {
            let mut package = package.clone();
            package.set_position(None);
            packages.push(package);
        }
    }
    Some(base.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_checkouts_configuration_names_beside_it_is_taken_from_the_sources_that_are_built() {
        let home = tempfile::tempdir().expect("a directory");
        let (top, source) = (home.path().join("top"), home.path().join("source"));
        for directory in ["top/.cargo", "source/vendor", "source/patched"] {
            fs::create_dir_all(home.path().join(directory)).expect("a directory");
        }
        let file = top.join(".cargo/config.toml");
        let text = "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = \"vendor\"\n\
                    [source.gone]\ndirectory = \"elsewhere\"\n[patch.crates-io]\na = { path = \"patched\" }\n";
        fs::write(&file, text).expect("written");
        assert_eq!(files(&top, None)[0], file);
        let found = redirections(&[file], &top, &source);
        let source = display_with_slashes(&source);
        assert_eq!(
            found,
            [
                format!("\"source\".\"vendored\".\"directory\"=\"{source}/vendor\""),
                format!("\"patch\".\"crates-io\".\"a\".\"path\"=\"{source}/patched\""),
            ]
        );
    }

    const OLD: &str = r#"
version = 4
[[package]]
name = "own"
version = "0.1.0"
[[package]]
name = "twice"
version = "1.0.0"
source = "registry+https://example.invalid"
[[package]]
name = "twice"
version = "2.0.0"
source = "registry+https://example.invalid"
[[package]]
name = "gone"
version = "3.0.0"
source = "git+https://example.invalid/gone#0123456789abcdef"
"#;
    const NEW: &str = r#"
version = 4
[[package]]
name = "own"
version = "0.2.0"
[[package]]
name = "twice"
version = "1.0.0"
source = "registry+https://example.invalid"
[[package]]
name = "twice"
version = "2.0.1"
source = "registry+https://example.invalid"
"#;

    #[test]
    fn only_versions_that_are_not_on_both_sides_differ() {
        let found = diff_locked_versions(&parse_locked_versions(OLD), &parse_locked_versions(NEW));
        let dependency = |name: &str, base: &[&str], candidate: &[&str]| Dependency {
            name: name.to_owned(),
            base: base.iter().map(ToString::to_string).collect(),
            candidate: candidate.iter().map(ToString::to_string).collect(),
        };
        let expected = [
            dependency("gone", &["3.0.0 (0123456789)"], &[]),
            dependency("twice", &["2.0.0"], &["2.0.1"]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_lock_file_is_completed_by_what_it_does_not_know() {
        let lock_file = complete_lock_file(NEW, OLD).expect("both are lock files");
        let versions = parse_locked_versions(&lock_file);
        assert_eq!(versions["twice"], ["1.0.0", "2.0.1"]);
        assert_eq!(versions["gone"], ["3.0.0 (0123456789)"]);
        assert_eq!(lock_file.matches("name = \"own\"").count(), 1);
    }
}
