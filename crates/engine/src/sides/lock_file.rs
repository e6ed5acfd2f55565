//! Cargo's lock files: the versions they hold, and the differences between two of them.

use std::collections::{BTreeMap, BTreeSet};
use toml_edit::{DocumentMut, Table};

use super::outcome::Dependency;

/// Returns the locked versions by package name. The result is empty for an unreadable file, which cargo will complain about.
pub(super) fn parse_locked_versions(lock_file: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let Ok(document) = lock_file.parse::<DocumentMut>() else {
        return found;
    };
    let packages = document
        .get("package")
        .and_then(|item| item.as_array_of_tables());
    for package in packages.into_iter().flatten() {
        // Packages of the workspace have no source; their versions are part of the change itself.
        let text = |name: &str| package.get(name)?.as_str().map(str::to_owned);
        let (Some(name), Some(version), Some(source)) =
            (text("name"), text("version"), text("source"))
        else {
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

/// Adds to `base` the packages of `current` whose names it lacks. Cargo uses the versions it finds and drops packages that are not needed.
///
/// Returns `None` if one of the two cannot be read.
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
        let made = complete_lock_file(NEW, OLD).expect("both are lock files");
        let versions = parse_locked_versions(&made);
        assert_eq!(versions["twice"], ["1.0.0", "2.0.1"]);
        assert_eq!(versions["gone"], ["3.0.0 (0123456789)"]);
        assert_eq!(made.matches("name = \"own\"").count(), 1);
    }
}
