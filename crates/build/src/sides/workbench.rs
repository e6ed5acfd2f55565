//! The locked folder of a workspace with its trees and kept builds (`BuildCache`). Also everything else that the builds of both sides share: the
//! user's checkout and the paths of the sources (`SideBuilder`).

#![expect(
    clippy::disallowed_methods,
    reason = "the time that a checkout takes is part of the report"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::cache::{CacheLimit, FolderCache, PrunedFolders, WorkspaceFolder, remove_directory};
use super::configuration;
use super::request::{
    BuildEvent, SidesError, SidesRequest, UncopiedFile, UncopiedReason, file_error,
};
use super::sources::{Caches, PresentSources, list_sources};
use super::state::{CurrentCheckout, DirectoryLayout, OutsidePaths, State};
use crate::link::{LinkRecorder, is_relinkable};
use perfcheck_analysis::model::CriterionHarness;
use perfcheck_host::os::canonicalize;
use perfcheck_host::{Revision, build_environment};

/// The maximum number of revisions that stay checked out. Revisions that are in use may exceed it.
const MOST_TREES: usize = 4;

/// The locked folder of a workspace, with the trees and builds that are kept in it.
pub(super) struct BuildCache<'a> {
    pub(super) request: &'a SidesRequest<'a>,
    pub(super) folder: WorkspaceFolder,
    pub(super) trees: FolderCache,
    pub(super) kept: FolderCache,
}

/// The locked folder, and everything that the builds of both sides share.
pub(super) struct SideBuilder<'a, 'e> {
    pub(super) request: &'a SidesRequest<'a>,
    pub(super) events: &'e mut dyn FnMut(BuildEvent<'_>),
    pub(super) shelves: BuildCache<'a>,
    pub(super) present: CurrentCheckout,
    /// The manifest that the user's flags select, relative to the top.
    pub(super) manifest: PathBuf,
    pub(super) layout: DirectoryLayout,
    /// A directory that contains the repository and that a manifest names.
    pub(super) above: Option<PathBuf>,
    pub(super) configuration: Vec<PathBuf>,
    /// The harness that Criterion benches should be built with. A build uses Criterion itself if it cannot use another harness.
    pub(super) harness: CriterionHarness,
    /// Keeps the link inputs of executables. `None` if executables cannot be linked again.
    pub(super) link_keeping: Option<LinkRecorder>,
}

impl<'a> BuildCache<'a> {
    /// Locks the folder, after waiting until no other process works in it.
    pub(super) fn open(
        request: &'a SidesRequest<'a>,
        events: &mut dyn FnMut(BuildEvent<'_>),
    ) -> Result<Self, SidesError> {
        Self::open_repository(&repository_top(request)?, request, events)
    }

    /// Like [`Self::open`], for the repository that is checked out at `top`.
    fn open_repository(
        top: &Path,
        request: &'a SidesRequest<'a>,
        events: &mut dyn FnMut(BuildEvent<'_>),
    ) -> Result<Self, SidesError> {
        let mut waiting = |folder: &Path| events(BuildEvent::Waiting(folder));
        let folder = WorkspaceFolder::lock(
            request.cache,
            request.checkout,
            top,
            request.supervisor.interrupt(),
            &mut waiting,
        )?;
        Ok(Self {
            trees: FolderCache::open(folder.trees(), CacheLimit::Folders(MOST_TREES))?,
            kept: FolderCache::open(folder.kept(), CacheLimit::Bytes(request.room))?,
            request,
            folder,
        })
    }

    /// Lists the files of the work tree at `top` as it is now.
    fn present_sources(&self, top: &Path) -> Result<PresentSources, SidesError> {
        let workspace = self.request.workspace;
        let mut caches = workspace.target_directories();
        caches.push(self.folder.root());
        // A cache that contains the sources must not hide them.
        caches.extend(
            Some(self.request.cache)
                .filter(|cache| canonicalize(cache).is_ok_and(|cache| !top.starts_with(cache))),
        );
        // Cargo's metadata does not reflect `--target-dir`.
        let flag = self.request.options.target_dir.as_deref();
        let flag = flag.map(std::path::absolute).transpose();
        let flag = flag.map_err(file_error("cannot find", Path::new(".")))?;
        caches.extend(flag.as_deref());
        let caches = Caches::new(caches);
        let packages = workspace.package_directories();
        list_sources(top, self.request, &caches, &packages)
    }
}

impl<'a, 'e> SideBuilder<'a, 'e> {
    pub(super) fn open(
        request: &'a SidesRequest<'a>,
        events: &'e mut dyn FnMut(BuildEvent<'_>),
    ) -> Result<Self, SidesError> {
        let top = repository_top(request)?;
        let here = std::env::current_dir().map_err(file_error("cannot find", Path::new(".")))?;
        let manifest = selected_manifest(request, &here);
        // Only the directory is resolved: if the manifest is a link, cargo uses the path of the link.
        let directory = manifest.parent().unwrap_or(Path::new("."));
        let manifest = canonicalize(directory)
            .map_err(file_error("cannot find", &manifest))?
            .join("Cargo.toml");
        let Ok(relative) = manifest.strip_prefix(&top) else {
            return Err(SidesError::Elsewhere { manifest, top });
        };
        let shelves = BuildCache::open_repository(&top, request, events)?;
        let sources = shelves.present_sources(&top)?;
        let cargo_home = build_environment()
            .into_iter()
            .find(|(name, _)| name == "CARGO_HOME")
            .map(|(_, value)| value.into())
            .or_else(|| Some(dirs::home_dir()?.join(".cargo")));
        let mut bench = Self {
            layout: DirectoryLayout::default(),
            above: None,
            present: CurrentCheckout {
                checkout: request.checkout.cloned(),
                prefix: request.prefix().to_owned(),
                sources,
                packages: request.workspace.selected_bench_packages(request.options),
                top,
            },
            manifest: relative.to_owned(),
            configuration: configuration::files(&here, cargo_home.as_deref()),
            harness: request.harness,
            link_keeping: link_keeping(request, &shelves.folder),
            request,
            events,
            shelves,
        };
        bench.layout = bench.present_layout(&OutsidePaths::default())?;
        bench.report_uncopied(|left_out| left_out.reason == UncopiedReason::Unreadable);
        Ok(bench)
    }

    /// Reports the uncopied files of the work tree that `which` selects.
    pub(super) fn report_uncopied(&mut self, which: impl Fn(&UncopiedFile) -> bool) {
        let left_out = self.present.sources.left_out.iter();
        let named: Vec<UncopiedFile> = left_out.filter(|one| which(one)).cloned().collect();
        if !named.is_empty() {
            (self.events)(BuildEvent::LeftOut(&named));
        }
    }

    pub(super) fn check_out(&mut self, revision: &Revision) -> Result<State, SidesError> {
        self.check_interrupt()?;
        (self.events)(BuildEvent::CheckingOut(revision));
        let began = Instant::now();
        let mut state = self.present.prepare_revision(
            self.request.require_checkout()?,
            revision,
            self.request.benches_from,
            &self.shelves.trees,
            &self.layout,
        )?;
        if !state.wanted.contains_key(&self.workspace_manifest()) {
            return Err(SidesError::NoWorkspace {
                revision: revision.clone(),
                manifest: self.workspace_manifest(),
            });
        }
        state.time = began.elapsed();
        Ok(state)
    }

    /// Returns the work tree as it is now, after another state was built.
    pub(super) fn refresh_work_tree(&mut self) -> Result<State, SidesError> {
        self.present.sources = self.shelves.present_sources(&self.present.top)?;
        self.work_tree()
    }

    pub(super) fn work_tree(&self) -> Result<State, SidesError> {
        // Use the path of the work tree as the user spells it, if the path of the workspace's root shows the spelling.
        let root = self.request.workspace.root();
        let levels = self.request.prefix().components().count();
        let spelled = root
            .ancestors()
            .nth(levels)
            .filter(|spelled| canonicalize(spelled).is_ok_and(|real| real == self.present.top));
        let directory = spelled.unwrap_or(&self.present.top).to_owned();
        self.present
            .prepare_work_tree(directory, &self.shelves.trees, &self.layout)
    }

    /// Reports whether the layout already has a place for everything that `states` need. If not, the layout is extended.
    pub(super) fn update_layout(&mut self, states: &[&State]) -> Result<bool, SidesError> {
        let mut outside = OutsidePaths::default();
        for state in states {
            outside.merge(OutsidePaths::collect(&state.wanted, &self.present.top));
        }
        let layout = self.present_layout(&outside)?;
        let is_settled = layout == self.layout;
        self.layout = layout;
        self.above = outside.above;
        Ok(is_settled)
    }

    /// Computes the layout for the work tree and for the paths `outside` that other states need.
    pub(super) fn present_layout(
        &self,
        outside: &OutsidePaths,
    ) -> Result<DirectoryLayout, SidesError> {
        let top = &self.present.top;
        let mut all = OutsidePaths::collect(&self.present.sources.wanted, top);
        all.merge(outside.clone());
        let notes = self.shelves.folder.notes_path("levels");
        // The number never decreases, because paths are part of the build.
        let before = fs::read_to_string(&notes)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        let layout = DirectoryLayout::new(top, &all, before.unwrap_or(0));
        if before != Some(layout.levels()) {
            remove_directory(&self.shelves.folder.sources())?;
            fs::write(&notes, layout.levels().to_string())
                .map_err(file_error("cannot write", &notes))?;
        }
        Ok(layout)
    }

    /// Returns the path of the repository's top in the copy of the sources.
    pub(super) fn sources_top(&self) -> PathBuf {
        self.layout.top_in(&self.shelves.folder.sources())
    }

    /// Returns the manifest of the workspace, relative to the top.
    pub(super) fn workspace_manifest(&self) -> PathBuf {
        self.request.prefix().join("Cargo.toml")
    }

    pub(super) fn prune(&mut self) -> Result<(), SidesError> {
        if let Some(keeping) = &self.link_keeping {
            keeping.prune();
        }
        self.shelves.trees.prune(&[])?;
        let PrunedFolders { folders, bytes } = self.shelves.kept.prune(self.request.spared)?;
        if folders > 0 {
            (self.events)(BuildEvent::Removed {
                builds: folders,
                bytes,
            });
        }
        Ok(())
    }

    pub(super) fn check_interrupt(&self) -> Result<(), SidesError> {
        if self.request.supervisor.interrupt().is_requested() {
            return Err(SidesError::Interrupted);
        }
        Ok(())
    }
}

/// Returns the top of the repository, or the root of the workspace if there is no repository.
fn repository_top(request: &SidesRequest<'_>) -> Result<PathBuf, SidesError> {
    if let Some(checkout) = request.checkout {
        return Ok(checkout.top.clone());
    }
    let root = request.workspace.root();
    canonicalize(root).map_err(file_error("cannot find", root))
}

/// Installs the stand-in for the linker, which keeps the link inputs of a build. Returns `None` without a stand-in, if executables for the target cannot
/// be linked again, or if the installation fails.
fn link_keeping(request: &SidesRequest<'_>, folder: &WorkspaceFolder) -> Option<LinkRecorder> {
    let program = request.stand_in?;
    let toolchain = request.toolchain;
    if !is_relinkable(&toolchain.facts.target) {
        return None;
    }
    let linker = toolchain.linker.as_deref().unwrap_or(Path::new("cc"));
    LinkRecorder::install(&folder.links(), linker, program).ok()
}

/// Returns the manifest that cargo would choose: the named one, or the nearest one from the current directory upwards.
fn selected_manifest(request: &SidesRequest<'_>, here: &Path) -> PathBuf {
    if let Some(path) = &request.options.manifest_path {
        return here.join(path);
    }
    here.ancestors()
        .map(|directory| directory.join("Cargo.toml"))
        .find(|manifest| manifest.is_file())
        .unwrap_or_else(|| request.workspace.root().join("Cargo.toml"))
}
