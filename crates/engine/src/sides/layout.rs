//! The place of the copied sources, chosen such that relative paths out of the repository still lead to the same files.
//!
//! For a checkout at `/home/me/dev/made`, `../sibling` is `/home/me/dev/sibling`. The copy is then placed at `source/made`, and `source/sibling` is a
//! link to the original directory. The copy has as many imitated parent directories as relative paths lead upwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::error::{SidesError, file_error};
use super::mirror::WantedFiles;
use super::path_text::to_text;
use super::shelf::remove_directory;
use super::sources::{is_tagged_as_cache, normalize_lexically};

/// The paths outside the repository that manifests and symbolic links name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OutsidePaths {
    /// The paths named relatively, which need a link.
    pub(super) relative: BTreeSet<PathBuf>,
    /// The paths named absolutely.
    pub(super) absolute: BTreeSet<PathBuf>,
    /// A named directory that contains the repository, for which no link can be made.
    pub(super) above: Option<PathBuf>,
}

impl OutsidePaths {
    /// Collects the paths outside `top` that the links and manifests among `wanted` name, and those that the manifests found there name in turn.
    pub(super) fn collect(wanted: &WantedFiles, top: &Path) -> Self {
        let mut found = Self::default();
        for (path, origin) in wanted.iter().filter(|(_, origin)| origin.is_symlink()) {
            let leads_to = fs::read_link(origin).unwrap_or_default();
            let here = top.join(path);
            let there = normalize_lexically(&here.parent().unwrap_or(top).join(&leads_to));
            let is_outside = leads_to.is_relative() && !there.starts_with(top);
            if is_outside && !top.starts_with(&there) && there.exists() {
                found.relative.insert(there);
            }
        }
        let mut queue: Vec<(PathBuf, PathBuf)> = wanted
            .iter()
            .filter(|(path, _)| path.ends_with("Cargo.toml"))
            .map(|(path, origin)| (top.join(path), origin.clone()))
            .collect();
        let mut seen = BTreeSet::new();
        while let Some((manifest, origin)) = queue.pop() {
            if !seen.insert(manifest.clone()) {
                continue;
            }
            let directory = manifest.parent().unwrap_or(top);
            for named in named_paths(&origin) {
                let is_absolute = named.is_absolute();
                let path = normalize_lexically(&directory.join(named));
                if path.starts_with(top) || !path.exists() {
                    continue;
                }
                if top.starts_with(&path) {
                    found.above = Some(path);
                    continue;
                }
                // The manifest there may name further paths, and so may that of the workspace from which it inherits.
                queue.extend(
                    path.ancestors()
                        .map(|above| above.join("Cargo.toml"))
                        .filter(|manifest| manifest.is_file() && !manifest.starts_with(top))
                        .map(|manifest| (manifest.clone(), manifest)),
                );
                // The relative paths of a package that is not linked lead to their original places anyway.
                let from_here = directory.starts_with(top)
                    || found
                        .relative
                        .iter()
                        .any(|linked| directory.starts_with(linked));
                if is_absolute || !from_here {
                    found.absolute.insert(path);
                } else {
                    found.relative.insert(path);
                }
            }
        }
        found
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.relative.extend(other.relative);
        self.absolute.extend(other.absolute);
        self.above = self.above.take().or(other.above);
    }

    /// Returns each path with a hash of the sizes and times of the files below it.
    pub(super) fn fingerprints(&self) -> Vec<(String, String)> {
        self.relative
            .iter()
            .chain(&self.absolute)
            .map(|path| (to_text(path), fingerprint(path)))
            .collect()
    }
}

/// The imitated directories above the repository, and the links in them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DirectoryLayout {
    /// Path from the highest of them to the repository's top.
    below: PathBuf,
    links: BTreeMap<PathBuf, PathBuf>,
}

impl DirectoryLayout {
    /// Computes the layout for a repository at `top` with at least `levels` imitated directories above it.
    pub(super) fn new(top: &Path, outside: &OutsidePaths, levels: usize) -> Self {
        let depth = top.components().count();
        let mut needed = levels;
        for path in &outside.relative {
            let shared = shared_components(path, top);
            needed = needed.max(depth - shared);
        }
        let highest: PathBuf = top.components().take(depth - needed.min(depth)).collect();
        let below = top.strip_prefix(&highest).unwrap_or(Path::new(""));
        let mut links = BTreeMap::new();
        for path in &outside.relative {
            if let Ok(relative) = path.strip_prefix(&highest) {
                // The link replaces the first directory that is not on the path to the repository.
                let shared = shared_components(relative, below);
                let link: PathBuf = relative.components().take(shared + 1).collect();
                links.insert(link.clone(), highest.join(&link));
            }
        }
        Self {
            below: below.to_owned(),
            links,
        }
    }

    /// Returns the number of imitated directories above the repository.
    pub(super) fn levels(&self) -> usize {
        self.below.components().count()
    }

    /// Returns the path of the repository's top if the highest directory is `root`.
    pub(super) fn top_in(&self, root: &Path) -> PathBuf {
        // Joining an empty path would append a slash.
        if self.below.as_os_str().is_empty() {
            root.to_owned()
        } else {
            root.join(&self.below)
        }
    }

    /// Creates the links next to the repository if the highest directory is `root`.
    pub(super) fn make_links(&self, root: &Path) -> Result<(), SidesError> {
        for (link, leads_to) in &self.links {
            make_link(&root.join(link), leads_to)?;
        }
        Ok(())
    }
}

/// Creates a link, in place of anything at its path.
pub(super) fn make_link(link: &Path, leads_to: &Path) -> Result<(), SidesError> {
    if fs::read_link(link).is_ok_and(|old| old == leads_to) {
        return Ok(());
    }
    if link.is_symlink() || link.is_file() {
        fs::remove_file(link).map_err(file_error("cannot remove", link))?;
    } else {
        remove_directory(link)?;
    }
    let parent = link.parent().unwrap_or(link);
    fs::create_dir_all(parent).map_err(file_error("cannot make", parent))?;
    symlink(leads_to, link).map_err(file_error("cannot make", link))
}

fn shared_components(one: &Path, other: &Path) -> usize {
    one.components()
        .zip(other.components())
        .take_while(|(one, other)| one == other)
        .count()
}

/// Returns every path in a manifest that is absolute or leads upwards.
fn named_paths(manifest: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let Ok(document) = text.parse::<DocumentMut>() else {
        // Cargo will report the error.
        return Vec::new();
    };
    let mut found = Vec::new();
    collect_paths(document.as_table(), &mut found);
    found.retain(|path: &PathBuf| {
        path.is_absolute() || path.components().any(|part| part == Component::ParentDir)
    });
    found
}

fn collect_paths(table: &dyn TableLike, found: &mut Vec<PathBuf>) {
    for (name, item) in table.iter() {
        let names_paths = matches!(name, "path" | "members" | "workspace" | "build");
        match item {
            Item::Value(Value::String(text)) if names_paths => found.push(text.value().into()),
            Item::Value(Value::Array(array)) if names_paths => {
                let texts = array.iter().filter_map(Value::as_str);
                // Only the part of a pattern before its first wildcard counts.
                found.extend(texts.map(|text| {
                    Path::new(text)
                        .components()
                        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?']))
                        .collect()
                }));
            }
            Item::ArrayOfTables(tables) => {
                for table in tables {
                    collect_paths(table, found);
                }
            }
            other => {
                if let Some(table) = other.as_table_like() {
                    collect_paths(table, found);
                }
            }
        }
    }
}

/// Returns a hash of the names, sizes and times of the files below `path`, without directories that builds or git fill.
fn fingerprint(path: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut queue = vec![path.to_owned()];
    while let Some(here) = queue.pop() {
        let Ok(metadata) = fs::metadata(&here) else {
            continue;
        };
        if metadata.is_file() {
            hasher.update(here.as_os_str().as_encoded_bytes());
            hasher.update(format!("{} {:?}", metadata.len(), metadata.modified().ok()).as_bytes());
            continue;
        }
        let is_filled_by_builds = is_tagged_as_cache(&here) || here.ends_with(".git");
        if metadata.is_dir() && !is_filled_by_builds {
            let mut entries: Vec<PathBuf> = fs::read_dir(&here)
                .into_iter()
                .flatten()
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| !path.is_symlink() || path.is_file())
                .collect();
            entries.sort();
            queue.extend(entries);
        }
    }
    hasher.finalize().to_hex()[..24].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(top: &str, outside: &[&str]) -> DirectoryLayout {
        let outside = OutsidePaths {
            relative: outside.iter().map(PathBuf::from).collect(),
            ..OutsidePaths::default()
        };
        DirectoryLayout::new(Path::new(top), &outside, 0)
    }

    #[test]
    fn without_paths_that_lead_out_nothing_above_the_repository_is_imitated() {
        let plain = layout("/home/me/made", &[]);
        assert_eq!(plain, DirectoryLayout::default());
        assert_eq!(plain.top_in(Path::new("/cache")), Path::new("/cache"));
    }

    #[test]
    fn every_path_gets_a_link_where_it_leaves_the_way_to_the_repository() {
        let made = layout(
            "/home/me/group/made",
            &["/home/me/group/near/a", "/home/me/far"],
        );
        assert_eq!(
            made.top_in(Path::new("/cache")),
            Path::new("/cache/group/made")
        );
        let expected = BTreeMap::from([
            ("far".into(), "/home/me/far".into()),
            ("group/near".into(), "/home/me/group/near".into()),
        ]);
        assert_eq!(made.links, expected);
    }
}
