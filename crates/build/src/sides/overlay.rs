//! `--benches-from worktree`: puts the current bench targets into the tree of an old state.
//!
//! The overlay replaces the whole directories that hold bench targets, including their data files. In manifests it replaces the `[[bench]]` entries
//! and the dev-dependencies, with inherited settings written out and relative paths adjusted. It also adds the directories of the repository that
//! these dependencies name and the old state lacks. Everything else stays as it was, because the old code is to be measured.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, Table, TableLike, Value, value};

use super::mirror::{WantedFiles, copy_file, remove_entry, write_file};
use super::request::{SidesError, file_error};
use super::sources::normalize_lexically;
use crate::cargo::BenchPackage;
use perfcheck_host::os::{canonicalize, display_with_slashes};

/// A package of the old state.
pub(super) struct OldPackage {
    pub(super) name: String,
    /// The manifest of the package, relative to the top of the repository.
    pub(super) manifest: PathBuf,
}

/// The current state, whose bench targets are put into other states.
pub(super) struct Overlay<'a> {
    /// Top of the user's checkout.
    pub(super) top: &'a Path,
    /// The workspace's root, relative to `top`.
    pub(super) prefix: &'a Path,
    /// The files of the work tree.
    pub(super) present: &'a WantedFiles,
    /// The current packages with bench targets.
    pub(super) packages: &'a [BenchPackage],
}

impl Overlay<'_> {
    /// Returns the current files that affect the result of the overlay, relative to the top of the repository.
    pub(super) fn decisive_files(&self) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::from([
            self.prefix.join("Cargo.toml"),
            self.prefix.join("Cargo.lock"),
        ]);
        for package in self.packages {
            files.extend(self.relative_to_top(&package.manifest));
            for place in self.bench_places(package) {
                files.extend(self.present_below(&place).map(|(path, _)| path.clone()));
            }
        }
        files.retain(|path| self.present.contains_key(path));
        files
    }

    /// Puts the current bench targets into the old state in `tree`. `files` are the files of the old state, and `old` are its packages. Updates
    /// `files` and returns the files that are new or may have changed.
    pub(super) fn apply(
        &self,
        tree: &Path,
        old: &[OldPackage],
        files: &mut BTreeSet<PathBuf>,
    ) -> Result<BTreeSet<PathBuf>, SidesError> {
        let mut laid = BTreeSet::new();
        for package in self.packages {
            let Some(manifest) = self.relative_to_top(&package.manifest) else {
                continue;
            };
            // Examples and tests may contain packages of the same name. The one at the current path takes precedence.
            let mut of_that_name = old.iter().filter(|old| old.name == package.name);
            let same_place = of_that_name.clone().find(|old| old.manifest == manifest);
            let Some(old) = same_place.or_else(|| of_that_name.next()) else {
                continue;
            };
            let directory = manifest.parent().unwrap_or(Path::new(""));
            let old_directory = old.manifest.parent().unwrap_or(Path::new(""));
            for place in self.bench_places(package) {
                // The benchmarks of a moved package go to its old directory.
                let there = match place.strip_prefix(directory) {
                    Ok(inside) => old_directory.join(inside),
                    Err(_) => place.clone(),
                };
                laid.extend(self.replace_files(&place, &there, tree, files)?);
            }
            for place in self.change_manifest(&manifest, &old.manifest, tree)? {
                laid.extend(self.replace_files(&place, &place, tree, files)?);
            }
            laid.insert(old.manifest.clone());
        }
        Ok(laid)
    }

    /// Replaces the files at `there` in the tree with the current files at `place`, and returns their paths.
    fn replace_files(
        &self,
        place: &Path,
        there: &Path,
        tree: &Path,
        files: &mut BTreeSet<PathBuf>,
    ) -> Result<Vec<PathBuf>, SidesError> {
        let old: Vec<PathBuf> = files
            .iter()
            .filter(|path| path.starts_with(there))
            .cloned()
            .collect();
        for path in old {
            files.remove(&path);
            let file = tree.join(&path);
            remove_entry(&file).map_err(file_error("cannot remove", &file))?;
        }
        // If the old state has a link or a file at the path of a current directory, remove it, as a checkout of the current state would.
        for above in there.ancestors().skip(1) {
            if files.remove(above) {
                let file = tree.join(above);
                remove_entry(&file).map_err(file_error("cannot remove", &file))?;
            }
        }
        let mut laid = Vec::new();
        for (path, origin) in self.present_below(place) {
            let inside = path.strip_prefix(place).unwrap_or(path);
            let path = if inside.as_os_str().is_empty() {
                there.to_owned()
            } else {
                there.join(inside)
            };
            copy_file(tree, &path, origin).map_err(file_error("cannot copy", origin))?;
            files.insert(path.clone());
            laid.push(path);
        }
        Ok(laid)
    }

    /// Gives the old manifest the current bench targets and dev-dependencies. Returns the directories that the dependencies name and the old state
    /// lacks.
    fn change_manifest(
        &self,
        manifest: &Path,
        old_manifest: &Path,
        tree: &Path,
    ) -> Result<Vec<PathBuf>, SidesError> {
        let old_path = &tree.join(old_manifest);
        let current = read_manifest(&self.top.join(manifest))?;
        let workspace = read_manifest(&self.top.join(self.prefix).join("Cargo.toml"))?;
        let mut old = read_manifest(old_path)?;
        replace_key(old.as_table_mut(), &current, "bench");
        if let Some(package) = old.get_mut("package").and_then(Item::as_table_like_mut) {
            let setting = current
                .get("package")
                .and_then(|item| item.get("autobenches"));
            match setting {
                Some(setting) => {
                    package.insert("autobenches", setting.clone());
                }
                None => {
                    package.remove("autobenches");
                }
            }
        }
        let directory = manifest.parent().unwrap_or(Path::new(""));
        let mut inlining = DependencyInliner {
            shared: workspace
                .get("workspace")
                .and_then(|item| item.get("dependencies"))
                .and_then(Item::as_table_like),
            workspace: self.prefix,
            package: directory,
            old_package: old_manifest.parent().unwrap_or(directory),
            named: Vec::new(),
        };
        inlining.replace_dev_dependencies(old.as_table_mut(), current.as_table());
        inlining.replace_target_dependencies(old.as_table_mut(), current.as_table());
        let missing = inlining
            .named
            .into_iter()
            .filter(|path| !tree.join(path).join("Cargo.toml").exists())
            .filter(|path| self.present.contains_key(&path.join("Cargo.toml")))
            .collect();
        write_file(tree, old_manifest, old.to_string().as_bytes())
            .map_err(file_error("cannot write", old_path))?;
        Ok(missing)
    }

    /// Returns the directories of a package that hold its bench targets, relative to the top of the repository. For a target in `src` or directly in
    /// the package's directory, returns only its source file.
    fn bench_places(&self, package: &BenchPackage) -> BTreeSet<PathBuf> {
        let manifest = self.relative_to_top(&package.manifest).unwrap_or_default();
        let directory = manifest.parent().unwrap_or(Path::new(""));
        package
            .sources
            .iter()
            .filter_map(|source| self.relative_to_top(source))
            .map(|source| {
                let Ok(inside) = source.strip_prefix(directory) else {
                    let parent = source.parent().unwrap_or(&source);
                    let is_top = parent.as_os_str().is_empty();
                    return if is_top { source } else { parent.to_owned() };
                };
                let first = inside.components().next();
                match first {
                    Some(first) if first.as_os_str() != "src" => directory.join(first),
                    _ => source,
                }
            })
            .collect()
    }

    fn present_below<'a>(
        &'a self,
        place: &'a Path,
    ) -> impl Iterator<Item = (&'a PathBuf, &'a PathBuf)> {
        self.present
            .iter()
            .filter(move |(path, _)| path.starts_with(place))
    }

    fn relative_to_top(&self, path: &Path) -> Option<PathBuf> {
        let path = canonicalize(path).ok()?;
        path.strip_prefix(self.top).ok().map(Path::to_owned)
    }
}

fn replace_key(old: &mut Table, current: &DocumentMut, name: &str) {
    match current.get(name) {
        Some(item) => {
            old.insert(name, item.clone());
        }
        None => {
            old.remove(name);
        }
    }
}

fn read_manifest(path: &Path) -> Result<DocumentMut, SidesError> {
    let text = fs::read_to_string(path).map_err(file_error("cannot read", path))?;
    text.parse().map_err(|source| SidesError::Manifest {
        path: path.to_owned(),
        source,
    })
}

/// Adapts dependencies of a current manifest to an old one. Settings inherited from the workspace are written out, because the old workspace may lack
/// them.
pub(super) struct DependencyInliner<'a> {
    pub(super) shared: Option<&'a dyn TableLike>,
    /// Directory of the workspace. This path, `package` and `old_package` are relative to the top of the repository.
    pub(super) workspace: &'a Path,
    pub(super) package: &'a Path,
    pub(super) old_package: &'a Path,
    /// The directories inside the repository that dependencies name by path.
    pub(super) named: Vec<PathBuf>,
}

impl DependencyInliner<'_> {
    /// Replaces the dev-dependencies of the table `old` with the dev-dependencies of `current`.
    pub(super) fn replace_dev_dependencies(
        &mut self,
        old: &mut dyn TableLike,
        current: &dyn TableLike,
    ) {
        for name in ["dev-dependencies", "dev_dependencies"] {
            old.remove(name);
            let Some(current) = current.get(name).and_then(Item::as_table_like) else {
                continue;
            };
            let mut table = Table::new();
            for (name, item) in current.iter() {
                table.insert(name, self.inline_dependency(name, item));
            }
            old.insert(name, Item::Table(table));
        }
    }

    /// Replaces the dev-dependencies in every `[target.'...']` table.
    pub(super) fn replace_target_dependencies(&mut self, old: &mut Table, current: &Table) {
        let tables = |root: &Table| -> BTreeSet<String> {
            let targets = root.get("target").and_then(Item::as_table_like);
            targets.map_or_else(BTreeSet::new, |targets| {
                targets.iter().map(|(name, _)| name.to_owned()).collect()
            })
        };
        for name in tables(old).union(&tables(current)) {
            let empty = Table::new();
            let current = current
                .get("target")
                .and_then(|targets| targets.get(name))
                .and_then(Item::as_table_like)
                .unwrap_or(&empty);
            let has_any = current.get("dev-dependencies").is_some();
            if !has_any && !tables(old).contains(name) {
                continue;
            }
            let targets = old.entry("target").or_insert_with(|| {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            });
            let Some(targets) = targets.as_table_like_mut() else {
                continue;
            };
            let place = targets.entry(name).or_insert_with(|| {
                let mut table = Table::new();
                table.set_implicit(true);
                Item::Table(table)
            });
            if let Some(place) = place.as_table_like_mut() {
                self.replace_dev_dependencies(place, current);
            }
        }
    }

    fn inline_dependency(&mut self, name: &str, item: &Item) -> Item {
        let inherits = item
            .get("workspace")
            .and_then(Item::as_bool)
            .unwrap_or_default();
        let shared = self.shared.and_then(|shared| shared.get(name));
        let (mut dependency, relative_to) = match (inherits, shared) {
            (true, Some(shared)) => (with_member_settings(shared, item), self.workspace),
            _ => (item.clone(), self.package),
        };
        let Some(path) = dependency
            .get("path")
            .and_then(Item::as_str)
            .map(PathBuf::from)
        else {
            return dependency;
        };
        if path.is_relative() {
            let seen_from_top = normalize_lexically(&Path::new("/").join(relative_to).join(&path));
            let climbs = path_climbs_out(relative_to, &path);
            let seen_from_top = seen_from_top.strip_prefix("/").unwrap_or(&seen_from_top);
            if !climbs {
                self.named.push(seen_from_top.to_owned());
            }
            if relative_to != self.old_package && !climbs {
                let rebased = relative_path(self.old_package, seen_from_top);
                if let Some(table) = dependency.as_table_like_mut() {
                    table.insert("path", value(display_with_slashes(&rebased)));
                }
            } else if relative_to != self.old_package {
                // The path leads out of the repository: go up to its top, then follow the original path from there.
                let up = relative_path(self.old_package, Path::new(""));
                let from_top = relative_to.join(&path);
                if let Some(table) = dependency.as_table_like_mut() {
                    table.insert("path", value(display_with_slashes(&up.join(from_top))));
                }
            }
        }
        dependency
    }
}

/// Returns a dependency of the workspace with the settings that a member adds to it.
fn with_member_settings(shared: &Item, member: &Item) -> Item {
    let mut dependency = match shared.as_str() {
        Some(version) => {
            let mut table = toml_edit::InlineTable::new();
            table.insert("version", version.into());
            Item::Value(Value::InlineTable(table))
        }
        None => shared.clone(),
    };
    let Some(table) = dependency.as_table_like_mut() else {
        return dependency;
    };
    if let Some(features) = member.get("features").and_then(Item::as_array) {
        let mut all = features.clone();
        if let Some(shared) = table.get("features").and_then(Item::as_array) {
            for feature in shared {
                all.push(feature.clone());
            }
        }
        table.insert("features", value(all));
    }
    for name in ["default-features", "optional"] {
        if let Some(setting) = member.get(name) {
            table.insert(name, setting.clone());
        }
    }
    dependency
}

/// Reports whether `path`, relative to a directory in the repository, leads out of the repository.
fn path_climbs_out(directory: &Path, path: &Path) -> bool {
    let mut depth = directory.components().count();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir if depth == 0 => return true,
            std::path::Component::ParentDir => depth -= 1,
            std::path::Component::CurDir => {}
            _ => depth += 1,
        }
    }
    false
}

/// Returns the relative path between two directories, both given relative to the top.
fn relative_path(from: &Path, to: &Path) -> PathBuf {
    let shared = from
        .components()
        .zip(to.components())
        .take_while(|(one, other)| one == other)
        .count();
    let up = from.components().skip(shared).map(|_| "..");
    let mut path: PathBuf = up.collect();
    path.extend(to.components().skip(shared));
    if path.as_os_str().is_empty() {
        path.push(".");
    }
    path
}

#[cfg(test)]
mod tests {
    use toml_edit::DocumentMut;

    use super::*;

    fn changed(old: &str, current: &str, workspace: &str, package: &str) -> (String, Vec<PathBuf>) {
        let mut old: DocumentMut = old.parse().expect("a manifest");
        let current: DocumentMut = current.parse().expect("a manifest");
        let workspace: DocumentMut = workspace.parse().expect("a manifest");
        let mut inlining = DependencyInliner {
            shared: workspace
                .get("workspace")
                .and_then(|item| item.get("dependencies"))
                .and_then(Item::as_table_like),
            workspace: Path::new(""),
            package: Path::new(package),
            old_package: Path::new(package),
            named: Vec::new(),
        };
        inlining.replace_dev_dependencies(old.as_table_mut(), current.as_table());
        inlining.replace_target_dependencies(old.as_table_mut(), current.as_table());
        (old.to_string(), inlining.named)
    }

    #[test]
    fn what_dev_dependencies_inherit_is_written_out() {
        let (manifest, named) = changed(
            "[dependencies]\na = \"1\"\n\n[dev-dependencies]\nold = \"1\"\n",
            "[dev-dependencies]\nversioned.workspace = true\nnear = { workspace = true, features = [\"x\"] }\nown = \"3\"\n",
            "[workspace.dependencies]\nversioned = \"2\"\nnear = { path = \"tools/near\", features = [\"y\"] }\n",
            "crates/made",
        );
        assert_eq!(
            manifest,
            "[dependencies]\na = \"1\"\n\n[dev-dependencies]\nversioned = { version = \"2\" }\n\
             near = { path = \"../../tools/near\", features = [\"x\",\"y\"] }\nown = \"3\"\n"
        );
        assert_eq!(named, [PathBuf::from("tools/near")]);
    }

    #[test]
    fn dependencies_of_single_platforms_are_replaced_too() {
        let (manifest, _) = changed(
            "[target.'cfg(unix)'.dependencies]\na = \"1\"\n\n[target.'cfg(unix)'.dev-dependencies]\nold = \"1\"\n",
            "[target.'cfg(windows)'.dev-dependencies]\nnew = \"2\"\n",
            "",
            "",
        );
        assert_eq!(
            manifest,
            "[target.'cfg(unix)'.dependencies]\na = \"1\"\n\n[target.\"cfg(windows)\".dev-dependencies]\nnew = \"2\"\n"
        );
    }

    #[test]
    fn paths_out_of_the_repository_keep_their_way() {
        let (manifest, named) = changed(
            "",
            "[dev-dependencies]\nfar.workspace = true\n",
            "[workspace.dependencies]\nfar = { path = \"../far\" }\n",
            "crates/made",
        );
        assert_eq!(
            manifest,
            "[dev-dependencies]\nfar = { path = \"../../../far\" }\n"
        );
        assert!(named.is_empty());
    }
}
