//! Where the copy of the sources stands, so that relative paths which lead out of the repository lead to the same place.
//!
//! `../sibling` of a checkout at `/home/me/dev/made` is `/home/me/dev/sibling`. The copy then stands at `source/made`, and
//! `source/sibling` is a link to the real one: as many directories above the repository are imitated as paths lead out of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::error::{SidesError, about};
use super::mirror::Wanted;
use super::shelf::remove_directory;
use super::sources::plain;

/// Paths outside of the repository that manifests name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outside {
    /// By a relative path: they need a link.
    pub(super) relative: BTreeSet<PathBuf>,
    /// By an absolute path.
    pub(super) absolute: BTreeSet<PathBuf>,
}

impl Outside {
    /// What the manifests among `wanted`, and those that they lead to, name outside of `top`.
    pub(super) fn of(wanted: &Wanted, top: &Path) -> Self {
        let mut found = Self::default();
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
                let path = plain(&directory.join(named));
                if path.starts_with(top) || !path.exists() {
                    continue;
                }
                // Its own paths count too, and those of the workspace that it inherits from.
                queue.extend(
                    path.ancestors()
                        .map(|above| above.join("Cargo.toml"))
                        .filter(|manifest| manifest.is_file() && !manifest.starts_with(top))
                        .map(|manifest| (manifest.clone(), manifest)),
                );
                // Relative paths of a package that is not linked lead where they always led.
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

    pub(super) fn join(&mut self, other: Self) {
        self.relative.extend(other.relative);
        self.absolute.extend(other.absolute);
    }

    /// Each path with a hash over sizes and times of the files below it.
    pub(super) fn fingerprints(&self) -> Vec<(PathBuf, String)> {
        self.relative
            .iter()
            .chain(&self.absolute)
            .map(|path| (path.clone(), fingerprint(path)))
            .collect()
    }
}

/// Where the sources stand, and which links stand beside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// The copy of the repository's top.
    pub(super) source: PathBuf,
    links: BTreeMap<PathBuf, PathBuf>,
}

impl Layout {
    /// The layout below `root` for a repository at `top`, imitating at least `levels` directories above it.
    pub(super) fn new(
        root: &Path,
        top: &Path,
        outside: &Outside,
        levels: usize,
    ) -> Result<Self, SidesError> {
        let depth = top.components().count();
        let mut needed = levels;
        for path in &outside.relative {
            if top.starts_with(path) {
                return Err(SidesError::Above {
                    path: path.clone(),
                    top: top.to_owned(),
                });
            }
            let common = path
                .components()
                .zip(top.components())
                .take_while(|(one, other)| one == other)
                .count();
            needed = needed.max(depth - common);
        }
        let base: PathBuf = top.components().take(depth - needed.min(depth)).collect();
        let below = top.strip_prefix(&base).unwrap_or(Path::new(""));
        let mut links = BTreeMap::new();
        for path in &outside.relative {
            let Ok(relative) = path.strip_prefix(&base) else {
                continue;
            };
            // The first directory that the way to the repository does not share.
            let shared = relative
                .components()
                .zip(below.components())
                .take_while(|(one, other)| one == other)
                .count();
            let link: PathBuf = relative.components().take(shared + 1).collect();
            links.insert(root.join(&link), base.join(&link));
        }
        Ok(Self {
            source: root.join(below),
            links,
        })
    }

    /// How many directories above the repository are imitated below `root`.
    pub(super) fn levels(&self, root: &Path) -> usize {
        let below = self.source.strip_prefix(root);
        below.map_or(0, |below| below.components().count())
    }

    /// Makes the links.
    pub(super) fn make(&self) -> Result<(), SidesError> {
        for (link, leads_to) in &self.links {
            if fs::read_link(link).is_ok_and(|old| old == *leads_to) {
                continue;
            }
            if link.is_symlink() {
                fs::remove_file(link).map_err(about("cannot remove", link))?;
            } else {
                remove_directory(link)?;
            }
            let parent = link.parent().unwrap_or(link);
            fs::create_dir_all(parent).map_err(about("cannot make", parent))?;
            symlink(leads_to, link).map_err(about("cannot make", link))?;
        }
        Ok(())
    }
}

/// Every path in a manifest that is absolute or leads upwards.
fn named_paths(manifest: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let Ok(document) = text.parse::<DocumentMut>() else {
        // Cargo will say what is wrong.
        return Vec::new();
    };
    let mut found = Vec::new();
    collect(document.as_table(), &mut found);
    found.retain(|path: &PathBuf| {
        path.is_absolute() || path.components().any(|part| part == Component::ParentDir)
    });
    found
}

fn collect(table: &dyn TableLike, found: &mut Vec<PathBuf>) {
    for (name, item) in table.iter() {
        let names_paths = matches!(name, "path" | "members" | "workspace" | "build");
        match item {
            Item::Value(Value::String(text)) if names_paths => found.push(text.value().into()),
            Item::Value(Value::Array(array)) if names_paths => {
                let texts = array.iter().filter_map(Value::as_str);
                // A pattern: what stands before it is what counts.
                found.extend(texts.map(|text| {
                    Path::new(text)
                        .components()
                        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?']))
                        .collect()
                }));
            }
            Item::ArrayOfTables(tables) => {
                for table in tables {
                    collect(table, found);
                }
            }
            other => {
                if let Some(table) = other.as_table_like() {
                    collect(table, found);
                }
            }
        }
    }
}

/// A hash over names, sizes and times of the files below `path`; directories that builds fill are left out.
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
        let is_filled_by_builds = here.join("CACHEDIR.TAG").exists()
            || here.file_name().is_some_and(|name| name == ".git");
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

    fn layout(top: &str, outside: &[&str]) -> Layout {
        let outside = Outside {
            relative: outside.iter().map(PathBuf::from).collect(),
            absolute: BTreeSet::new(),
        };
        Layout::new(Path::new("/cache"), Path::new(top), &outside, 0).expect("a layout")
    }

    #[test]
    fn without_paths_that_lead_out_nothing_above_the_repository_is_imitated() {
        let plain = layout("/home/me/made", &[]);
        assert_eq!(plain.source, Path::new("/cache"));
        assert!(plain.links.is_empty());
    }

    #[test]
    fn every_path_gets_a_link_where_it_leaves_the_way_to_the_repository() {
        let made = layout(
            "/home/me/group/made",
            &["/home/me/group/near/a", "/home/me/far"],
        );
        assert_eq!(made.source, Path::new("/cache/group/made"));
        let expected = BTreeMap::from([
            ("/cache/far".into(), "/home/me/far".into()),
            ("/cache/group/near".into(), "/home/me/group/near".into()),
        ]);
        assert_eq!(made.links, expected);
    }
}
