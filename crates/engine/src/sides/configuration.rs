//! Cargo's configuration: both sides use the one of the user's checkout.
//!
//! Cargo looks for its configuration in the current directory and its parents, independent of the package that it builds, and is run in the user's
//! directory. So both sides are built with the configuration in force there, including untracked files and files in parent directories. Relative
//! paths in a file of the checkout are the exception: they must lead to the state that is built.

use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, TableLike};

use super::sources::normalize_lexically;

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
            there.exists().then(|| there.display().to_string())
        };
        let root = document.as_table();
        for (name, keys, item) in values_of_keys(root, "source", &["directory", "local-registry"]) {
            if let Some(there) = item.and_then(redirected) {
                found.push(setting(&["source", &name, keys], &there));
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
                    found.push(setting(&["patch", registry, name, "path"], &there));
                }
            }
        }
    }
    found
}

/// Returns the values of `keys` in every table below `[name]`.
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

fn setting(keys: &[&str], text: &str) -> String {
    let quoted = |text: &str| toml_edit::Value::from(text).to_string();
    let keys: Vec<String> = keys.iter().map(|key| quoted(key)).collect();
    format!("{}={}", keys.join("."), quoted(text))
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
        let source = source.display();
        assert_eq!(
            found,
            [
                format!("\"source\".\"vendored\".\"directory\"=\"{source}/vendor\""),
                format!("\"patch\".\"crates-io\".\"a\".\"path\"=\"{source}/patched\""),
            ]
        );
    }
}
