//! The states to build: their files, and the directories in which their executables run.
//!
//! The path of the copied sources is chosen so that relative paths out of the repository still lead to the same files. For a checkout at
//! `/home/me/dev/made`, `../sibling` is `/home/me/dev/sibling`. The copy is then placed at `source/made`, and `source/sibling` is a link to the
//! original directory. The copy has as many imitated parent directories as relative paths lead upwards.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;
use std::{fs, io};
use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::cache::{
    CachedFolder, FOR_GOOD, FolderCache, UseLock, WorkspaceFolder, create_private_dir,
    remove_directory,
};
use super::configuration::complete_lock_file;
use super::kept::{RunDirectories, hash_file};
use super::key::{HashedPath, Key, list, to_text};
use super::mirror::{WantedFiles, add_without_conflicts, create_link_if_free, write_file};
use super::overlay::{OldPackage, Overlay};
use super::request::{SidesError, file_error, source_error};
use super::sources::{PresentSources, is_tagged_as_cache, normalize_lexically};
use crate::cargo::BenchPackage;
use perfcheck_analysis::model::{BenchesFrom, GitState};
use perfcheck_host::os::{create_link, read_file_facts, remove_file_or_link};
use perfcheck_host::{Checkout, GitError, Revision};

/// A state of the repository that can be built.
#[derive(Debug)]
pub(super) struct State {
    /// The checked-out commit, for build scripts that query git.
    pub(super) head: Option<String>,
    /// The commit whose files the state has. `None` if it is a work tree with changes.
    pub(super) commit: Option<Revision>,
    /// State of git: commit, branch, and whether tracked files differ.
    pub(super) git: Option<GitState>,
    /// Whether this is the user's work tree, changed or not.
    pub(super) is_work_tree: bool,
    /// The files of the state, with the paths of the originals.
    pub(super) wanted: WantedFiles,
    /// The directories in which the executables of the state run.
    pub(super) ground: RunDirectories,
    /// Files that are not part of the commit, with hashes.
    pub(super) added: Vec<HashedPath>,
    /// Whether the lock file belongs to another state.
    pub(super) lock_file_is_foreign: bool,
    /// Time spent on preparing the state.
    pub(super) time: Duration,
    pub(super) in_use: UseLock,
}

/// The user's checkout as it is now.
#[derive(Debug)]
pub(super) struct CurrentCheckout {
    pub(super) checkout: Option<Checkout>,
    /// Path of the workspace relative to the top.
    pub(super) prefix: PathBuf,
    /// The top of the checkout.
    pub(super) top: PathBuf,
    /// The files of the checkout.
    pub(super) sources: PresentSources,
    /// The packages with bench targets that the user selected.
    pub(super) packages: Vec<BenchPackage>,
}

/// The files in a tree, as recorded next to it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct TreeContents {
    #[serde(with = "list")]
    files: Vec<PathBuf>,
    #[serde(with = "list")]
    laid: Vec<PathBuf>,
}

impl State {
    /// Records that the state is not exactly a commit.
    pub(super) fn mark_as_changed(&mut self) {
        self.commit = None;
        if let Some(git) = &mut self.git {
            git.dirty = true;
        }
    }
}

impl CurrentCheckout {
    /// Returns the state of the work tree. `directory` is the top of the work tree as the user spells it. The tree of this state is a link.
    pub(super) fn prepare_work_tree(
        &self,
        directory: PathBuf,
        trees: &FolderCache,
        layout: &DirectoryLayout,
    ) -> Result<State, SidesError> {
        let key = Key::compute(&("work tree", to_text(&directory), layout.levels()));
        let place = trees.find_or_create(&key)?;
        let highest = WorkspaceFolder::sources_in_tree(&place.directory);
        let root = layout.top_in(&highest);
        if place.alone {
            layout.make_links(&highest)?;
            make_link(&root, &directory)?;
            // Executables that are kept elsewhere contain this path, so the folder must stay.
            let notes = place.directory.join(FOR_GOOD);
            fs::write(&notes, b"").map_err(file_error("cannot write", &notes))?;
        }
        let git = self.git()?;
        let is_commit = |git: &&GitState| !git.dirty && !self.sources.may_differ;
        Ok(State {
            commit: git.as_ref().filter(is_commit).map(|git| Revision {
                name: "HEAD".to_owned(),
                commit: git.commit.clone(),
            }),
            head: git.as_ref().map(|git| git.commit.clone()),
            git,
            is_work_tree: true,
            wanted: self.sources.wanted.clone(),
            ground: RunDirectories {
                tree: place.directory,
                root,
                directory,
            },
            added: hash_files(&self.sources.ignored, |_| true)?,
            lock_file_is_foreign: false,
            time: Duration::ZERO,
            in_use: place.in_use,
        })
    }

    /// Checks out a revision into a tree, and returns its state.
    pub(super) fn prepare_revision(
        &self,
        checkout: &Checkout,
        revision: &Revision,
        benches_from: BenchesFrom,
        trees: &FolderCache,
        layout: &DirectoryLayout,
    ) -> Result<State, SidesError> {
        let overlay = Overlay {
            top: &self.top,
            prefix: &self.prefix,
            present: &self.sources.wanted,
            packages: &self.packages,
        };
        let overlay = (benches_from == BenchesFrom::WorkTree).then_some(overlay);
        let decisive = match &overlay {
            Some(overlay) => {
                let files = overlay.decisive_files();
                hash_files(&self.sources.wanted, |path| files.contains(path))?
            }
            None => Vec::new(),
        };
        let key = Key::compute(&(&revision.commit, benches_from, decisive, layout.levels()));
        let place = trees.find_or_create(&key)?;
        let highest = WorkspaceFolder::sources_in_tree(&place.directory);
        let tree = layout.top_in(&highest);
        if place.alone {
            layout.make_links(&highest)?;
        }
        let contents = self.check_out(checkout, revision, overlay.as_ref(), &place, &tree)?;
        let own = contents.files.iter();
        let mut wanted: WantedFiles = own.map(|path| (path.clone(), tree.join(path))).collect();
        add_without_conflicts(&mut wanted, &self.sources.ignored);
        let laid: BTreeSet<&PathBuf> = contents.laid.iter().collect();
        let lock_file = self.lock_file();
        let has_none = !wanted.contains_key(&lock_file);
        if let (true, Some(current)) = (has_none, self.sources.wanted.get(&lock_file)) {
            wanted.insert(lock_file.clone(), current.clone());
        }
        let is_foreign = has_none || laid.contains(&lock_file);
        let added = hash_files(&wanted, |path| {
            laid.contains(path)
                || self.sources.ignored.contains_key(path)
                || (is_foreign && *path == lock_file)
        })?;
        Ok(State {
            head: Some(revision.commit.clone()),
            git: Some(revision.clean_state()),
            commit: Some(revision.clone()),
            is_work_tree: false,
            wanted,
            ground: RunDirectories {
                tree: place.directory,
                directory: tree.clone(),
                root: tree,
            },
            added,
            lock_file_is_foreign: is_foreign,
            time: Duration::ZERO,
            in_use: place.in_use,
        })
    }

    /// Asks git for the current state of the user's checkout.
    pub(super) fn git(&self) -> Result<Option<GitState>, SidesError> {
        Ok(match &self.checkout {
            Some(checkout) => checkout.state()?,
            None => None,
        })
    }

    /// Returns the path of the workspace's lock file, relative to the top.
    pub(super) fn lock_file(&self) -> PathBuf {
        self.prefix.join("Cargo.lock")
    }

    /// Makes the tree equal to the revision. A tree that other processes use is left as it is.
    fn check_out(
        &self,
        checkout: &Checkout,
        revision: &Revision,
        overlay: Option<&Overlay<'_>>,
        place: &CachedFolder,
        tree: &Path,
    ) -> Result<TreeContents, SidesError> {
        let notes = place.directory.join("contents.json");
        if !place.alone
            && let Ok(text) = fs::read(&notes)
            && let Ok(contents) = serde_json::from_slice(&text)
        {
            return Ok(contents);
        }
        let _ = fs::remove_file(&notes);
        create_private_dir(tree)?;
        let index = place.directory.join("index");
        let export_error = |source| match source {
            GitError::Interrupted | GitError::Start(_) | GitError::TooOld { .. } => {
                SidesError::Git(source)
            }
            source => SidesError::CheckOut {
                revision: revision.clone(),
                source: source.into(),
            },
        };
        let exported = checkout.export_files(&revision.commit, tree, &index);
        let mut contents = TreeContents {
            files: exported.map_err(export_error)?,
            laid: Vec::new(),
        };
        if let Some(overlay) = overlay {
            self.lay_over(revision, overlay, tree, &mut contents)?;
        }
        self.link_data(tree)?;
        let text = serde_json::to_vec(&contents).map_err(io::Error::from);
        text.and_then(|text| fs::write(&notes, text))
            .map_err(file_error("cannot write", &notes))?;
        Ok(contents)
    }

    fn lay_over(
        &self,
        revision: &Revision,
        overlay: &Overlay<'_>,
        tree: &Path,
        contents: &mut TreeContents,
    ) -> Result<(), SidesError> {
        let old: Vec<OldPackage> = contents
            .files
            .iter()
            .filter(|path| path.ends_with("Cargo.toml"))
            .filter_map(|path| {
                Some(OldPackage {
                    name: package_name(&tree.join(path))?,
                    manifest: path.clone(),
                })
            })
            .collect();
        let mut files: BTreeSet<PathBuf> = contents.files.drain(..).collect();
        let mut laid = overlay.apply(tree, &old, &mut files)?;
        if laid.is_empty() {
            let names = self.packages.iter().map(|package| package.name.clone());
            return Err(SidesError::NoPackage {
                revision: revision.clone(),
                packages: names.collect(),
            });
        }
        let lock_file = self.lock_file();
        if let (true, Some(current)) = (
            files.contains(&lock_file),
            self.sources.wanted.get(&lock_file),
        ) {
            let path = tree.join(&lock_file);
            let old = fs::read_to_string(&path).unwrap_or_default();
            let current = fs::read_to_string(current).unwrap_or_default();
            if let Some(text) = complete_lock_file(&old, &current) {
                write_file(tree, &lock_file, text.as_bytes())
                    .map_err(file_error("cannot write", &path))?;
                laid.insert(lock_file);
            }
        }
        contents.files = files.into_iter().collect();
        contents.laid = laid.into_iter().collect();
        Ok(())
    }

    /// Creates links to ignored files, which a benchmark may read.
    fn link_data(&self, tree: &Path) -> Result<(), SidesError> {
        for path in &self.sources.readable {
            create_link_if_free(tree, path, &self.top.join(path))
                .map_err(file_error("cannot make", &tree.join(path)))?;
        }
        Ok(())
    }
}

fn package_name(manifest: &Path) -> Option<String> {
    let document: DocumentMut = fs::read_to_string(manifest).ok()?.parse().ok()?;
    Some(document.get("package")?.get("name")?.as_str()?.to_owned())
}

/// Returns the paths of the files that `which` selects, with hashes of their content.
pub(super) fn hash_files(
    files: &WantedFiles,
    mut which: impl FnMut(&PathBuf) -> bool,
) -> Result<Vec<HashedPath>, SidesError> {
    let mut found = Vec::new();
    for (path, origin) in files.iter().filter(|(path, _)| which(path)) {
        let hash = if origin.is_symlink() && !origin.is_file() {
            let leads_to = fs::read_link(origin).map_err(source_error("cannot read", origin))?;
            format!("link to {}", to_text(&leads_to))
        } else {
            hash_file(origin).map_err(source_error("cannot read", origin))?
        };
        found.push(HashedPath {
            path: to_text(path),
            hash,
        });
    }
    Ok(found)
}

/// The paths outside the repository that manifests and symbolic links name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OutsidePaths {
    /// The paths that are named relatively. Each needs a link in the layout.
    pub(super) relative: BTreeSet<PathBuf>,
    /// The paths that are named absolutely.
    pub(super) absolute: BTreeSet<PathBuf>,
    /// A directory that is named and that contains the repository. It cannot be linked.
    pub(super) above: Option<PathBuf>,
}

impl OutsidePaths {
    /// Collects the paths outside `top` that the links and manifests among `wanted` name. If such a path has a manifest, the paths that it names are
    /// collected, too.
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
                // The manifest at this path may name further paths, and so may the manifest of the workspace from which it inherits.
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
    pub(super) fn fingerprints(&self) -> Vec<HashedPath> {
        self.relative
            .iter()
            .chain(&self.absolute)
            .map(|path| HashedPath {
                path: to_text(path),
                hash: fingerprint(path),
            })
            .collect()
    }
}

/// The directories above the repository that the copy of the sources imitates, so that relative paths out of the repository still work. Also has the
/// links in these directories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DirectoryLayout {
    /// Path from the highest imitated directory to the repository's top.
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
///
/// A hard link to the file, or a mount of the directory, is as good as a link. It must not be replaced, because the original would be removed with it.
pub(super) fn make_link(link: &Path, leads_to: &Path) -> Result<(), SidesError> {
    let is_link = fs::read_link(link).is_ok_and(|old| old == leads_to);
    if is_link || !link.is_symlink() && is_same_entry(link, leads_to) {
        return Ok(());
    }
    if link.is_symlink() || link.is_file() {
        remove_file_or_link(link).map_err(file_error("cannot remove", link))?;
    } else {
        remove_directory(link)?;
    }
    let parent = link.parent().unwrap_or(link);
    fs::create_dir_all(parent).map_err(file_error("cannot make", parent))?;
    create_link(leads_to, link).map_err(file_error("cannot make", link))
}

/// Reports whether both paths lead to the same file or directory.
fn is_same_entry(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| read_file_facts(path).map(|facts| facts.identity());
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
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
        let result = layout(
            "/home/me/group/made",
            &["/home/me/group/near/a", "/home/me/far"],
        );
        assert_eq!(
            result.top_in(Path::new("/cache")),
            Path::new("/cache/group/made")
        );
        let expected = BTreeMap::from([
            ("far".into(), "/home/me/far".into()),
            ("group/near".into(), "/home/me/group/near".into()),
        ]);
        assert_eq!(result.links, expected);
    }

    #[test]
    fn a_file_is_replaced_by_a_link_unless_it_is_the_original() {
        let home = tempfile::tempdir().expect("a directory");
        let [original, same, other] = ["original", "same", "other"].map(|n| home.path().join(n));
        fs::write(&original, "text").expect("written");
        fs::hard_link(&original, &same).expect("linked");
        make_link(&same, &original).expect("it is as good as a link");
        assert!(!same.is_symlink());
        fs::write(&other, "other").expect("written");
        make_link(&other, &original).expect("replaced");
        assert_eq!(fs::read_to_string(&other).expect("there"), "text");
    }
}
