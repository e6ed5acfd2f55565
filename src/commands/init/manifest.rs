//! Reads the bench entries of manifests as written, and inserts the entries of a first bench without touching other lines.

use std::fs;
use std::path::PathBuf;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};

use super::options::CrateOrigin;
use crate::error::AppError;
use perfcheck_host::os::display_with_slashes;

/// Crate name of the harness.
pub(super) const HARNESS: &str = "perfcheck";

/// Both names of the table of dev-dependencies. Cargo reads the second only before edition 2024.
const DEV_DEPENDENCIES: [&str; 2] = ["dev-dependencies", "dev_dependencies"];

/// A `Cargo.toml`.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) path: PathBuf,
    pub(super) text: String,
    document: DocumentMut,
}

/// A crate that a package may use in its benches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UsedCrate {
    /// The name by which the code of the package refers to the crate.
    pub(super) in_code: String,
    /// The name of the crate's own package.
    pub(super) package: String,
    /// The version requirement in the manifest, if there is one.
    pub(super) requirement: Option<String>,
}

/// The `[lib]` entry of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LibraryEntry {
    /// Path of the library's root source file, relative to the manifest.
    pub(super) path: PathBuf,
    /// Whether Rust code in other crates can call the library: it is neither a procedural macro nor built only for other languages.
    pub(super) is_callable: bool,
    /// Whether `cargo bench` runs the `#[bench]` functions of the library.
    pub(super) is_benched: bool,
}

impl Manifest {
    pub(super) fn read(path: PathBuf) -> Result<Self, AppError> {
        let refused = |why: String| AppError::Usage(format!("{}: {why}", path.display()));
        let text = fs::read_to_string(&path).map_err(|error| refused(error.to_string()))?;
        let document = text.parse();
        let document =
            document.map_err(|error: toml_edit::TomlError| refused(error.to_string()))?;
        Ok(Self {
            path,
            text,
            document,
        })
    }

    /// Returns the crates that the package's benches may use. `workspace` provides inherited entries.
    pub(super) fn used_crates(&self, workspace: &Self) -> Vec<UsedCrate> {
        let mut tables = tables_of_dependencies(self.document.as_table());
        let targets = self.document.get("target").and_then(Item::as_table_like);
        for (_, target) in targets.into_iter().flat_map(TableLike::iter) {
            tables.extend(
                target
                    .as_table_like()
                    .map(tables_of_dependencies)
                    .unwrap_or_default(),
            );
        }
        let inherited = (workspace.document.get("workspace"))
            .and_then(|found| found.get("dependencies"))
            .and_then(Item::as_table_like);
        let entries = tables.into_iter().flat_map(TableLike::iter);
        let mut found: Vec<UsedCrate> = entries
            .map(|(name, entry)| {
                let is_inherited = entry.get("workspace").and_then(Item::as_bool) == Some(true);
                let shared = inherited.filter(|_| is_inherited);
                used_crate(
                    name,
                    shared.and_then(|table| table.get(name)).unwrap_or(entry),
                )
            })
            .collect();
        found.dedup();
        found
    }

    /// Reports whether the target of this kind (`bench`, `example`, `test`, `bin`) uses the harness of libtest.
    pub(super) fn has_libtest_harness(&self, kind: &str, name: &str) -> bool {
        self.flag_of_target(kind, name, "harness").unwrap_or(true)
    }

    /// Reports whether the manifest excludes the bench target from `cargo bench`.
    pub(super) fn is_excluded(&self, bench: &str) -> bool {
        self.flag_of_target("bench", bench, "bench") == Some(false)
    }

    /// Returns the targets of this kind that `cargo bench` runs because the manifest says so. An example must also be a test: otherwise cargo only
    /// builds it.
    pub(super) fn benched_targets(&self, kind: &str) -> Vec<&str> {
        let entries = self.entries(kind).into_iter();
        entries
            .filter(|entry| {
                let says = |flag: &str| entry.get(flag).and_then(Item::as_bool) == Some(true);
                says("bench") && (kind != "example" || says("test"))
            })
            .filter_map(|entry| entry.get("name")?.as_str())
            .collect()
    }

    fn flag_of_target(&self, kind: &str, name: &str, flag: &str) -> Option<bool> {
        let is_named =
            |entry: &&dyn TableLike| entry.get("name").and_then(Item::as_str) == Some(name);
        let entry = self.entries(kind).into_iter().find(is_named)?;
        entry.get(flag)?.as_bool()
    }

    fn entries(&self, kind: &str) -> Vec<&dyn TableLike> {
        match self.document.get(kind) {
            Some(Item::ArrayOfTables(tables)) => {
                tables.iter().map(|table| table as &dyn TableLike).collect()
            }
            Some(Item::Value(Value::Array(values))) => {
                let tables = values.iter().filter_map(Value::as_inline_table);
                tables.map(|table| table as &dyn TableLike).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the manifest's settings for the library, with cargo's defaults where there are none. The manifest does not show whether the package
    /// has a library at all: only cargo knows that.
    pub(super) fn library(&self) -> LibraryEntry {
        let entry = self.document.get("lib");
        let entry = |name: &str| entry.and_then(|entry| entry.get(name));
        let kinds = entry("crate-type").and_then(Item::as_array);
        let links = |kind: &Value| matches!(kind.as_str(), Some("lib" | "rlib" | "dylib"));
        let is_macro = entry("proc-macro").and_then(Item::as_bool) == Some(true);
        LibraryEntry {
            path: entry("path")
                .and_then(Item::as_str)
                .unwrap_or("src/lib.rs")
                .into(),
            is_benched: entry("bench").and_then(Item::as_bool) != Some(false),
            is_callable: !is_macro && kinds.is_none_or(|kinds| kinds.iter().any(links)),
        }
    }

    /// Reports whether the package uses edition 2015, in which `extern crate` is required.
    pub(super) fn uses_edition_2015(&self, workspace: &Self) -> bool {
        let package = self.document.get("package");
        let item = package.and_then(|package| package.get("edition"));
        let inherited = || {
            workspace
                .document
                .get("workspace")?
                .get("package")?
                .get("edition")
        };
        let edition = match item {
            Some(table) if table.is_table_like() => inherited(),
            other => other,
        };
        edition
            .and_then(Item::as_str)
            .is_none_or(|edition| edition == "2015")
    }

    /// Returns the text of the manifest with an entry for the bench target `bench`, and with the harness as a dev-dependency if `harness` is given.
    pub(super) fn with_bench(
        &self,
        bench: &str,
        harness: Option<&CrateOrigin>,
    ) -> Result<String, AppError> {
        let refused = |what: &str| {
            AppError::Usage(format!(
                "{}: `{what}` has a form that cargo does not accept",
                self.path.display()
            ))
        };
        let mut document = self.document.clone();
        if let Some(origin) = harness {
            // Cargo ignores the second spelling if both exist.
            let [name, other] = DEV_DEPENDENCIES;
            let has_other = !document.contains_key(name) && document.contains_key(other);
            let name = if has_other { other } else { name };
            let table = document.entry(name).or_insert(Item::Table(Table::new()));
            let table = table.as_table_like_mut().ok_or_else(|| refused(name))?;
            table.insert(HARNESS, value(dependency(origin)));
        }
        let benches = document.entry("bench");
        match benches.or_insert(Item::ArrayOfTables(ArrayOfTables::new())) {
            Item::ArrayOfTables(tables) => {
                let mut table = Table::new();
                table.insert("name", value(bench));
                table.insert("harness", value(false));
                tables.push(table);
            }
            Item::Value(Value::Array(values)) => {
                let mut table = InlineTable::new();
                table.insert("name", bench.into());
                table.insert("harness", false.into());
                values.push(table);
            }
            _ => return Err(refused("bench")),
        }
        let text = document.to_string();
        Ok(if self.text.contains("\r\n") {
            text.replace("\r\n", "\n").replace('\n', "\r\n")
        } else {
            text
        })
    }
}

fn tables_of_dependencies(of: &dyn TableLike) -> Vec<&dyn TableLike> {
    let names = DEV_DEPENDENCIES.into_iter().chain(["dependencies"]);
    names
        .filter_map(|name| of.get(name)?.as_table_like())
        .collect()
}

fn used_crate(name: &str, entry: &Item) -> UsedCrate {
    let text = |key: &str| entry.get(key).and_then(Item::as_str);
    let requirement = entry.as_str().or_else(|| text("version"));
    UsedCrate {
        in_code: name.replace('-', "_"),
        package: text("package").unwrap_or(name).to_owned(),
        requirement: requirement.map(str::to_owned),
    }
}

fn dependency(origin: &CrateOrigin) -> InlineTable {
    let mut table = InlineTable::new();
    match origin {
        CrateOrigin::Path(path) => table.insert("path", display_with_slashes(path).into()),
        CrateOrigin::Git(address) => table.insert("git", address.into()),
    };
    table
}

/// Returns the versions of a package in the text of a `Cargo.lock`.
pub(super) fn locked_versions(lock: &str, package: &str) -> Vec<String> {
    let Ok(document) = lock.parse::<DocumentMut>() else {
        return Vec::new();
    };
    let packages = document.get("package").and_then(Item::as_array_of_tables);
    let packages = packages.into_iter().flat_map(ArrayOfTables::iter);
    packages
        .filter(|entry| entry.get("name").and_then(Item::as_str) == Some(package))
        .filter_map(|entry| Some(entry.get("version")?.as_str()?.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn manifest(text: &str) -> Manifest {
        Manifest {
            path: PathBuf::from("Cargo.toml"),
            text: text.to_owned(),
            document: text.parse().expect("a manifest"),
        }
    }

    #[test]
    fn entries_are_added_and_every_other_line_stays() {
        let text = "# about\n[package]\nname = \"x\"   # here\n\n[dev-dependencies]\n# old\nold = \"1\" # kept\n\n[lints]\nworkspace = true\n# end\n";
        let origin = CrateOrigin::Path("../harness".into());
        let changed = manifest(text).with_bench("first", Some(&origin));
        let changed = changed.expect("it has room");
        assert_eq!(
            changed,
            "# about\n[package]\nname = \"x\"   # here\n\n[dev-dependencies]\n# old\nold = \"1\" # kept\nperfcheck = { path = \"../harness\" }\n\n\
             [lints]\nworkspace = true\n\n[[bench]]\nname = \"first\"\nharness = false\n# end\n"
        );
    }

    #[test]
    fn what_is_missing_is_made_and_other_line_ends_and_inline_lists_are_kept() {
        let origin = CrateOrigin::Git("ssh://localhost/a".into());
        let result = manifest("[package]\r\nname = \"x\"\r\n").with_bench("first", Some(&origin));
        assert_eq!(
            result.expect("it has room"),
            "[package]\r\nname = \"x\"\r\n\r\n[dev-dependencies]\r\nperfcheck = { git = \"ssh://localhost/a\" }\r\n\r\n[[bench]]\r\nname = \"first\"\r\nharness = false\r\n"
        );
        let inline = "bench = [{ name = \"a\" }]\n[package]\nname = \"x\"\n";
        let result = manifest(inline).with_bench("first", None).expect("room");
        assert!(
            result
                .starts_with("bench = [{ name = \"a\" }, { name = \"first\", harness = false }]\n")
        );
        let odd = manifest("bench = 1\n").with_bench("first", None);
        assert!(odd.is_err());
    }

    #[test]
    fn crates_are_known_by_their_names_in_code_and_their_own() {
        let workspace = manifest("[workspace.dependencies]\ncriterion = { version = \"0.5\" }\n");
        let member = manifest(
            "[dependencies]\na-b = \"1\"\n[dev-dependencies]\ncriterion.workspace = true\n\
             [target.'cfg(unix)'.dev-dependencies]\nmeter = { package = \"divan\", version = \"0.1\" }\n",
        );
        let found = member.used_crates(&workspace).into_iter();
        let found: Vec<_> = found
            .map(|used| {
                format!(
                    "{} {} {}",
                    used.in_code,
                    used.package,
                    used.requirement.unwrap_or_default()
                )
            })
            .collect();
        assert_eq!(
            found,
            ["criterion criterion 0.5", "a_b a-b 1", "meter divan 0.1"]
        );
    }

    #[test]
    fn harness_library_and_edition_are_those_of_the_manifest_or_the_usual_ones() {
        let plain = manifest("[package]\nedition = \"2024\"\n");
        assert!(plain.has_libtest_harness("bench", "a") && !plain.uses_edition_2015(&plain));
        assert_eq!(plain.library().path, Path::new("src/lib.rs"));
        assert!(plain.library().is_callable);
        let other = manifest(
            "[package]\nedition.workspace = true\n[lib]\npath = \"a.rs\"\ncrate-type = [\"cdylib\"]\n[[bench]]\nname = \"a\"\nharness = false\n",
        );
        assert!(
            !other.has_libtest_harness("bench", "a") && other.has_libtest_harness("bench", "b")
        );
        assert!(!other.library().is_callable && other.library().path == Path::new("a.rs"));
        let workspace = manifest("[workspace.package]\nedition = \"2021\"\n");
        assert!(!other.uses_edition_2015(&workspace) && other.uses_edition_2015(&plain));
    }

    #[test]
    fn a_lock_file_says_which_versions_there_are() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"0.3.2\"\n[[package]]\nname = \"b\"\nversion = \"1.0.0\"\n[[package]]\nname = \"a\"\nversion = \"0.5.1\"\n";
        assert_eq!(locked_versions(lock, "a"), ["0.3.2", "0.5.1"]);
        assert_eq!(locked_versions("damaged", "a"), [""; 0]);
    }
}
