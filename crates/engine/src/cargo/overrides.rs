//! Settings of `--config` on the command line that affect how benches are started.
//!
//! Cargo itself applies these entries to its builds. The library that reads cargo's configuration knows only files and environment variables, so the
//! entries that matter here are passed to it as the equivalent variables; only `[env]` has none. Cargo reports invalid entries, so they are ignored
//! here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, TableLike};

/// A variable that `[env]` sets for benches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfiguredVariable {
    pub(super) name: String,
    pub(super) value: OsString,
    /// Whether it replaces a variable that is already set.
    pub(super) force: bool,
}

/// The `--config` entries of a command line; later ones win.
#[derive(Debug, Default)]
pub(super) struct Overrides {
    /// The variables of the `[env]` tables.
    pub(super) environment: Vec<ConfiguredVariable>,
    /// The environment variables of cargo that are equivalent to the other keys.
    pub(super) variables: Vec<(String, String)>,
}

impl Overrides {
    /// Reads the values of `--config`, each a file or `KEY=VALUE`, as cargo would in the directory `here`.
    pub(super) fn read(entries: &[String], here: &Path) -> Self {
        let mut overrides = Self::default();
        for entry in entries {
            let path = here.join(entry);
            let (text, root) = match std::fs::read_to_string(&path) {
                // Cargo resolves relative paths as for DIRECTORY/.cargo/config.toml: from two levels up.
                Ok(text) => (text, path.ancestors().nth(2).unwrap_or(here).to_owned()),
                Err(_) => (entry.clone(), here.to_owned()),
            };
            if let Ok(document) = text.parse::<DocumentMut>() {
                overrides.add(&document, &root);
            }
        }
        overrides
    }

    fn add(&mut self, document: &DocumentMut, root: &Path) {
        let table = |name: &str| document.get(name).and_then(Item::as_table_like);
        for (name, item) in table("env").into_iter().flat_map(TableLike::iter) {
            if let Some(variable) = variable(name, item, root) {
                self.environment.retain(|earlier| earlier.name != name);
                self.environment.push(variable);
            }
        }
        for (name, item) in table("build").into_iter().flat_map(TableLike::iter) {
            match name {
                "target" => self.set("CARGO_BUILD_TARGET", split_words(item).first()),
                "rustc" => self.set("CARGO_BUILD_RUSTC", Some(&program(item, root))),
                _ => {}
            }
        }
        for (triple, settings) in table("target").into_iter().flat_map(TableLike::iter) {
            let settings = settings.as_table_like();
            let triple = triple.to_uppercase().replace(['-', '.'], "_");
            for (name, item) in settings.into_iter().flat_map(TableLike::iter) {
                if matches!(name, "runner" | "linker") {
                    let name = format!("CARGO_TARGET_{triple}_{}", name.to_uppercase());
                    self.set(&name, Some(&program(item, root)));
                }
            }
        }
    }

    fn set(&mut self, name: &str, value: Option<&String>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.variables.push((name.to_owned(), value.clone()));
        }
    }
}

fn variable(name: &str, item: &Item, root: &Path) -> Option<ConfiguredVariable> {
    let table = item.as_table_like();
    let is = |key: &str| {
        let flag = table.and_then(|table| table.get(key)?.as_bool());
        flag.unwrap_or(false)
    };
    let value = match table {
        Some(table) => table.get("value")?.as_str()?,
        None => item.as_str()?,
    };
    Some(ConfiguredVariable {
        name: name.to_owned(),
        value: if is("relative") {
            root.join(value).into_os_string()
        } else {
            value.into()
        },
        force: is("force"),
    })
}

/// Returns a program and its arguments. A relative path is resolved against `root`; a bare name is left for `PATH`.
fn program(item: &Item, root: &Path) -> String {
    let mut words = split_words(item);
    if let Some(first) = words.first_mut()
        && first.contains('/')
    {
        *first = PathBuf::from(root).join(&first).display().to_string();
    }
    words.join(" ")
}

/// Splits a string, or an array of strings, into words.
fn split_words(item: &Item) -> Vec<String> {
    if let Some(text) = item.as_str() {
        return text.split_whitespace().map(str::to_owned).collect();
    }
    let array = item.as_array();
    array
        .into_iter()
        .flatten()
        .filter_map(|word| word.as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_files_and_settings_and_later_ones_win() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("settings/extra.toml");
        std::fs::create_dir(home.path().join("settings")).expect("a directory");
        let text = "[env]\nA = \"1\"\nB = { value = \"b\", relative = true, force = true }\n\
                    [target.some-arch]\nrunner = [\"./run\", \"it\"]\nlinker = \"ld\"\n";
        std::fs::write(&file, text).expect("written");
        let entries = ["settings/extra.toml", "env.A=\"2\"", "nonsense"].map(str::to_owned);
        let found = Overrides::read(&entries, home.path());
        let variable = |name: &str, value: OsString, force| ConfiguredVariable {
            name: name.to_owned(),
            value,
            force,
        };
        assert_eq!(
            found.environment,
            [
                variable("B", home.path().join("b").into(), true),
                variable("A", "2".into(), false),
            ]
        );
        let runner = format!("{} it", home.path().join("./run").display());
        let variables = [
            ("CARGO_TARGET_SOME_ARCH_RUNNER", runner.as_str()),
            ("CARGO_TARGET_SOME_ARCH_LINKER", "ld"),
        ];
        assert_eq!(
            found.variables,
            variables.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}
