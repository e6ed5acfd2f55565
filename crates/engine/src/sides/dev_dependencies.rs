//! Copies dev-dependencies from one manifest to another: writes out inherited settings and adjusts relative paths.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use toml_edit::{Item, Table, TableLike, Value, value};

use super::sources::normalize_lexically;

/// Adapts dependencies of a current manifest to an old one. Settings inherited from the workspace are written out, because the old workspace may lack
/// them.
pub(super) struct DependencyInliner<'a> {
    pub(super) shared: Option<&'a dyn TableLike>,
    /// Directory of the workspace; like the next two, relative to the top of the repository.
    pub(super) workspace: &'a Path,
    pub(super) package: &'a Path,
    pub(super) old_package: &'a Path,
    /// The directories inside the repository that dependencies name by path.
    pub(super) named: Vec<PathBuf>,
}

impl DependencyInliner<'_> {
    /// Replaces the dev-dependencies of the table `old` with those of `current`.
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
        let (mut made, relative_to) = match (inherits, shared) {
            (true, Some(shared)) => (with_member_settings(shared, item), self.workspace),
            _ => (item.clone(), self.package),
        };
        let Some(path) = made.get("path").and_then(Item::as_str).map(PathBuf::from) else {
            return made;
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
                if let Some(table) = made.as_table_like_mut() {
                    table.insert("path", value(rebased.display().to_string()));
                }
            } else if relative_to != self.old_package {
                // The path leads out of the repository: go up to its top, then follow the original path from there.
                let up = relative_path(self.old_package, Path::new(""));
                let from_top = relative_to.join(&path);
                if let Some(table) = made.as_table_like_mut() {
                    table.insert("path", value(up.join(from_top).display().to_string()));
                }
            }
        }
        made
    }
}

/// Returns a dependency of the workspace with the settings that a member adds to it.
fn with_member_settings(shared: &Item, member: &Item) -> Item {
    let mut made = match shared.as_str() {
        Some(version) => {
            let mut table = toml_edit::InlineTable::new();
            table.insert("version", version.into());
            Item::Value(Value::InlineTable(table))
        }
        None => shared.clone(),
    };
    let Some(table) = made.as_table_like_mut() else {
        return made;
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
    made
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
    use super::*;
    use toml_edit::DocumentMut;

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
        let (made, named) = changed(
            "[dependencies]\na = \"1\"\n\n[dev-dependencies]\nold = \"1\"\n",
            "[dev-dependencies]\nversioned.workspace = true\nnear = { workspace = true, features = [\"x\"] }\nown = \"3\"\n",
            "[workspace.dependencies]\nversioned = \"2\"\nnear = { path = \"tools/near\", features = [\"y\"] }\n",
            "crates/made",
        );
        assert_eq!(
            made,
            "[dependencies]\na = \"1\"\n\n[dev-dependencies]\nversioned = { version = \"2\" }\n\
             near = { path = \"../../tools/near\", features = [\"x\",\"y\"] }\nown = \"3\"\n"
        );
        assert_eq!(named, [PathBuf::from("tools/near")]);
    }

    #[test]
    fn dependencies_of_single_platforms_are_replaced_too() {
        let (made, _) = changed(
            "[target.'cfg(unix)'.dependencies]\na = \"1\"\n\n[target.'cfg(unix)'.dev-dependencies]\nold = \"1\"\n",
            "[target.'cfg(windows)'.dev-dependencies]\nnew = \"2\"\n",
            "",
            "",
        );
        assert_eq!(
            made,
            "[target.'cfg(unix)'.dependencies]\na = \"1\"\n\n[target.\"cfg(windows)\".dev-dependencies]\nnew = \"2\"\n"
        );
    }

    #[test]
    fn paths_out_of_the_repository_keep_their_way() {
        let (made, named) = changed(
            "",
            "[dev-dependencies]\nfar.workspace = true\n",
            "[workspace.dependencies]\nfar = { path = \"../far\" }\n",
            "crates/made",
        );
        assert_eq!(
            made,
            "[dev-dependencies]\nfar = { path = \"../../../far\" }\n"
        );
        assert!(named.is_empty());
    }
}
