//! `--benches-from worktree`: puts the current bench targets into the tree of an old state.
//!
//! The overlay replaces the whole directories that hold bench targets, data files included; the `[[bench]]` entries; the dev-dependencies. It adds
//! the directories of the repository that these dependencies name and the old state lacks. Everything else stays as it was, because the old code is
//! to be measured.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml_edit::{DocumentMut, Item, Table};

use super::confined::{copy_file, remove_entry, write_file};
use super::dev_dependencies::DependencyInliner;
use super::error::{SidesError, file_error};
use super::mirror::WantedFiles;
use crate::cargo::BenchPackage;

/// A package of the old state.
pub(super) struct OldPackage {
    pub(super) name: String,
    /// Its manifest, relative to the top of the repository.
    pub(super) manifest: PathBuf,
}

/// The current state, whose bench targets are put into other states.
pub(super) struct Overlay<'a> {
    /// Top of the user's checkout.
    pub(super) top: &'a Path,
    /// The workspace's root, relative to that top.
    pub(super) prefix: &'a Path,
    /// The files of the work tree.
    pub(super) present: &'a WantedFiles,
    /// The current packages with bench targets.
    pub(super) packages: &'a [BenchPackage],
}

impl Overlay<'_> {
    /// Returns the current files that affect the result, relative to the top.
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

    /// Puts the current bench targets into the old state in `tree`, which consists of `files` and `old` packages. Updates `files` and returns the
    /// files that are new or may have changed.
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

    /// Returns the directories that hold bench targets of a package, relative to the top; the file itself if its directory holds all sources.
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
        let path = path.canonicalize().ok()?;
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
