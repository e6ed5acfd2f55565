//! The states to build: their files, and the directories in which their executables run.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml_edit::DocumentMut;

use super::confined::{create_link_if_free, write_file};
use super::error::{SidesError, file_error, source_error};
use super::folder::{WorkspaceFolder, create_private_dir};
use super::kept::{RunDirectories, hash_file};
use super::layout::{DirectoryLayout, make_link};
use super::lock_file::complete_lock_file;
use super::mirror::{WantedFiles, add_without_conflicts};
use super::overlay::{OldPackage, Overlay};
use super::path_text::{list, to_text};
use super::recipe::Key;
use super::shelf::{CachedFolder, FOR_GOOD, FolderCache, UseLock};
use super::sources::PresentSources;
use crate::cargo::BenchPackage;
use crate::host::{Checkout, Revision};
use perfcheck_analysis::model::{BenchesFrom, GitState};

/// A state of the repository that can be built.
#[derive(Debug)]
pub(super) struct State {
    /// The checked-out commit, for build scripts that query git.
    pub(super) head: Option<String>,
    /// The commit; `None` for a work tree with changes.
    pub(super) commit: Option<Revision>,
    /// State of git: commit, branch, and whether tracked files differ.
    pub(super) git: Option<GitState>,
    /// Whether this is the user's work tree, changed or not.
    pub(super) is_work_tree: bool,
    /// Its files, with the paths of the originals.
    pub(super) wanted: WantedFiles,
    /// The directories in which it runs.
    pub(super) ground: RunDirectories,
    /// Files that are not part of the commit, with hashes.
    pub(super) added: Vec<(String, String)>,
    /// Whether the lock file belongs to another state.
    pub(super) lock_file_is_foreign: bool,
    /// Time spent on preparing it.
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
    /// Its files.
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
    /// Returns the state of the work tree, whose top the user spells `directory`. Its tree is a link.
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
            // Executables that are kept elsewhere contain this path.
            let notes = place.directory.join(FOR_GOOD);
            fs::write(&notes, b"").map_err(file_error("cannot write", &notes))?;
        }
        let git = self.git()?;
        let is_commit = |git: &&GitState| !git.dirty && !self.sources.has_untracked;
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
        let mut contents = TreeContents {
            files: checkout.export_files(&revision.commit, tree, &index)?,
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

/// Returns the names of files with hashes of their content.
pub(super) fn hash_files(
    files: &WantedFiles,
    mut which: impl FnMut(&PathBuf) -> bool,
) -> Result<Vec<(String, String)>, SidesError> {
    let mut found = Vec::new();
    for (path, origin) in files.iter().filter(|(path, _)| which(path)) {
        let hash = if origin.is_symlink() && !origin.is_file() {
            let leads_to = fs::read_link(origin).map_err(source_error("cannot read", origin))?;
            format!("link to {}", to_text(&leads_to))
        } else {
            hash_file(origin).map_err(source_error("cannot read", origin))?
        };
        found.push((to_text(path), hash));
    }
    Ok(found)
}
