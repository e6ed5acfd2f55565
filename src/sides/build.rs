//! The sequence: resolve, lay out the sources, build, copy out; or find it all kept.

#![expect(
    clippy::disallowed_methods,
    reason = "the time that a build takes is part of the report"
)]

use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::error::{SidesError, about};
use super::folder::Folder;
use super::kept::{BenchRecord, Kept, Made, Record, Shelf, copy_out, hash_file};
use super::mirror::{Mirror, Wanted};
use super::outcome::{Provenance, Side, SideTarget, Sides};
use super::recipe::{Key, Recipe, decisive_flags};
use super::sources::{ignored_files, own_sources};
use crate::cargo::{BuildOrder, BuildOutput, CargoError, CargoOptions, Toolchain, Workspace};
use crate::host::{Checkout, PresentFiles, Revision, build_environment};
use crate::process::{Interrupt, Supervisor};

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct SidesRequest<'a> {
    /// The directory of all workspaces' folders.
    pub cache: &'a Path,
    /// The cargo to call.
    pub cargo: &'a Path,
    /// The user's flags.
    pub options: &'a CargoOptions,
    /// The user's workspace.
    pub workspace: &'a Workspace,
    /// The checkout that it lies in.
    pub checkout: &'a Checkout,
    /// Whose bench targets a revision is built with.
    pub benches_from: BenchesFrom,
    /// Starts processes.
    pub supervisor: &'a Supervisor,
    /// Whether the user wants to stop.
    pub interrupt: &'a Interrupt,
}

/// Whose bench targets a revision is built with: `--benches-from`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum BenchesFrom {
    /// Its own.
    #[default]
    Revision,
    /// The current ones, with their data and dev-dependencies.
    WorkTree,
}

/// What the user should see while it goes on.
#[derive(Debug, Clone, Copy)]
pub enum BuildEvent<'a> {
    /// Another process works in the folder; we wait until it is done.
    Waiting {
        /// The folder.
        folder: &'a Path,
    },
    /// The executables of a state were kept: nothing is built.
    Found {
        /// `None`: the work tree.
        revision: Option<&'a Revision>,
    },
    /// The sources of a state are laid out.
    CheckingOut {
        /// Of which.
        revision: &'a Revision,
    },
    /// Cargo begins; its own output follows.
    Building {
        /// `None`: the work tree.
        revision: Option<&'a Revision>,
    },
}

/// Builds `base` and the work tree, in this order, so that the copy of the sources is the work tree's in the end.
pub fn build_sides(
    request: &SidesRequest<'_>,
    base: &Revision,
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<Sides, SidesError> {
    let mut bench = Workbench::open(request, events)?;
    let (base, base_locked) = bench.revision(base)?;
    let (candidate, locked) = bench.work_tree()?;
    bench.shelf.prune()?;
    Ok(Sides {
        base,
        candidate,
        facts: bench.toolchain.facts.clone(),
        dependencies: super::lock_file::differences(&base_locked, &locked),
    })
}

/// Builds one commit alone.
pub fn build_commit(
    request: &SidesRequest<'_>,
    revision: &Revision,
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<Side, SidesError> {
    let mut bench = Workbench::open(request, events)?;
    let (side, _) = bench.revision(revision)?;
    bench.shelf.prune()?;
    Ok(side)
}

type Locked = BTreeMap<String, Vec<String>>;

/// The locked folder and everything that both sides share.
struct Workbench<'a, 'e> {
    request: &'a SidesRequest<'a>,
    events: &'e mut dyn FnMut(BuildEvent<'_>),
    folder: Folder,
    shelf: Shelf,
    toolchain: Toolchain,
    /// Top of the user's checkout.
    top: PathBuf,
    /// The manifest that the user's flags select, seen from the top.
    manifest: PathBuf,
    /// What is checked out now.
    present: PresentFiles,
    /// Ignored files that go with every state, as they would if it were checked out in place.
    ignored: Wanted,
}

/// Where the files of a state come from.
struct State<'a> {
    revision: Option<&'a Revision>,
    wanted: Wanted,
}

impl<'a, 'e> Workbench<'a, 'e> {
    fn open(
        request: &'a SidesRequest<'a>,
        events: &'e mut dyn FnMut(BuildEvent<'_>),
    ) -> Result<Self, SidesError> {
        let top = request.checkout.top()?;
        let manifest = selected_manifest(request.options, request.workspace);
        let manifest = manifest
            .canonicalize()
            .map_err(about("cannot find", &manifest))?;
        let Ok(relative) = manifest.strip_prefix(&top) else {
            return Err(SidesError::Elsewhere { manifest, top });
        };
        let relative = relative.to_owned();
        let toolchain = Toolchain::detect(request.options)?;
        let mut waiting = |folder: &Path| events(BuildEvent::Waiting { folder });
        let folder = Folder::lock(
            request.cache,
            request.checkout,
            request.interrupt,
            &mut waiting,
        )?;
        let shelf = Shelf::open(folder.kept())?;
        let present = request.checkout.present_files()?;
        let ignored = ignored_files(&top, &present.ignored, request.workspace.target_directory());
        Ok(Self {
            request,
            events,
            folder,
            shelf,
            toolchain,
            top,
            manifest: relative,
            present,
            ignored,
        })
    }

    /// The side of a commit, with a checkout of its own.
    fn revision(&mut self, revision: &Revision) -> Result<(Side, Locked), SidesError> {
        let key = self.key(revision)?;
        let began = Instant::now();
        let (kept, provenance, checkout_time) = match self.shelf.find(&key)? {
            Some(kept) => {
                (self.events)(BuildEvent::Found {
                    revision: Some(revision),
                });
                self.export(revision, &kept.directory)?;
                (kept, Provenance::Cached, began.elapsed())
            }
            None => {
                (self.events)(BuildEvent::CheckingOut { revision });
                let unfinished = self.shelf.unfinished()?;
                let wanted = self.export(revision, &unfinished)?;
                if !wanted.contains_key(&self.manifest) {
                    return Err(SidesError::NoWorkspace {
                        revision: revision.clone(),
                        manifest: self.manifest.clone(),
                    });
                }
                let state = State {
                    revision: Some(revision),
                    wanted,
                };
                let checkout_time = self.lay_out(&state, began)?;
                let kept =
                    self.build(&state, Some(key), &unfinished)
                        .map_err(|error| match error {
                            SidesError::Cargo(source)
                                if !matches!(source, CargoError::Interrupted) =>
                            {
                                SidesError::Revision {
                                    revision: revision.clone(),
                                    source,
                                }
                            }
                            other => other,
                        })?;
                (kept, Provenance::Built, checkout_time)
            }
        };
        let root = kept.directory.join("tree");
        let mut side = self.side(kept, &root, provenance, checkout_time)?;
        side.0.commit = Some(revision.clone());
        Ok(side)
    }

    /// The side of the work tree, which runs where the user's files are.
    fn work_tree(&mut self) -> Result<(Side, Locked), SidesError> {
        let began = Instant::now();
        let head = self.request.checkout.revision("HEAD").ok();
        let commit = match head {
            Some(head) if self.request.checkout.is_clean()? => Some(head),
            _ => None,
        };
        let known = match &commit {
            Some(head) => Some(self.key(head)?),
            None => None,
        };
        let found = match &known {
            Some(key) => self.shelf.find(key)?,
            None => None,
        };
        let (kept, provenance, checkout_time) = if let Some(kept) = found {
            (self.events)(BuildEvent::Found { revision: None });
            (kept, Provenance::Cached, began.elapsed())
        } else {
            let mut wanted: Wanted = self.ignored.clone();
            for path in &self.present.sources {
                wanted.insert(path.clone(), self.top.join(path));
            }
            let state = State {
                revision: None,
                wanted,
            };
            let checkout_time = self.lay_out(&state, began)?;
            let unfinished = self.shelf.unfinished()?;
            let kept = self.build(&state, known, &unfinished)?;
            (kept, Provenance::Built, checkout_time)
        };
        let top = self.top.clone();
        let mut side = self.side(kept, &top, provenance, checkout_time)?;
        side.0.commit = commit;
        Ok(side)
    }

    fn mirror(&self) -> Mirror {
        Mirror {
            root: self.folder.source(),
            notes: self.folder.source_notes(),
        }
    }

    /// Makes the copy of the sources that of `state`; returns the time since `began`.
    fn lay_out(&self, state: &State<'_>, began: Instant) -> Result<Duration, SidesError> {
        self.check_interrupt()?;
        // A state without a lock file is built with the one that is there.
        let lock_file = self.lock_file();
        let spared: &[&Path] = if state.wanted.contains_key(&lock_file) {
            &[]
        } else {
            &[&lock_file]
        };
        self.mirror().hold(&state.wanted, spared)?;
        Ok(began.elapsed())
    }

    /// Builds what was laid out, and keeps it under `key`; without one, under that of its content.
    fn build(
        &mut self,
        state: &State<'_>,
        key: Option<Key>,
        unfinished: &Path,
    ) -> Result<Kept, SidesError> {
        self.check_interrupt()?;
        (self.events)(BuildEvent::Building {
            revision: state.revision,
        });
        let began = Instant::now();
        let output = self.call_cargo(&self.folder.source())?;
        let build_time = began.elapsed();
        let made = self.made(&output)?;
        let key = if let Some(key) = key {
            key
        } else {
            let key = Key::of(&(&output, &made));
            // Somebody may be running it: what is the same already stays.
            if let Some(kept) = self.shelf.find(&key)? {
                return Ok(kept);
            }
            key
        };
        let place = self.shelf.place(&key);
        let record = Record {
            output: copy_out(&output, &self.folder.target(), unfinished, &place)?,
            source: self.folder.source(),
            made,
            build_time,
        };
        self.shelf.put(unfinished, &key, record)
    }

    fn call_cargo(&self, source: &Path) -> Result<BuildOutput, SidesError> {
        let request = self.request;
        let options = CargoOptions {
            manifest_path: Some(source.join(&self.manifest)),
            target_dir: Some(self.folder.target()),
            ..request.options.clone()
        };
        let workspace = Workspace::load(request.cargo, &options)?;
        let Some(options) = workspace.existing(&options) else {
            return Ok(BuildOutput::default());
        };
        let mut variables: Vec<(&'static str, OsString)> =
            vec![("CARGO_BUILD_BUILD_DIR", self.folder.target().into())];
        if let Some(name) = self.toolchain.rustup_name() {
            variables.push(("RUSTUP_TOOLCHAIN", name.to_owned()));
        }
        let order = BuildOrder {
            cargo: request.cargo,
            workspace: &workspace,
            options: &options,
            variables: &variables,
            supervisor: request.supervisor,
            interrupt: request.interrupt,
        };
        self.mirror().built_now()?;
        let outcome = order.carry_out();
        self.mirror().built_now()?;
        Ok(outcome?)
    }

    /// Describes what was just built.
    fn made(&self, output: &BuildOutput) -> Result<Made, SidesError> {
        let source = self.folder.source();
        let workspace_root = source.join(self.request.checkout.prefix.as_path());
        let mut benches = BTreeMap::new();
        for bench in output.executables() {
            let record = BenchRecord {
                executable_hash: hash_file(&bench.executable)?,
                sources: own_sources(&bench, &workspace_root, &source)?,
            };
            benches.insert(format!("{} {}", bench.package, bench.target), record);
        }
        let mut libraries = Vec::new();
        for library in output.libraries() {
            libraries.push(hash_file(&library)?);
        }
        let lock_file = source.join(self.lock_file());
        let locked = fs::read_to_string(lock_file).unwrap_or_default();
        Ok(Made {
            benches,
            libraries_hash: Key::of(&libraries).as_str().to_owned(),
            locked: super::lock_file::versions(&locked),
        })
    }

    /// Writes the revision's files into `directory`, and returns what is to be built.
    fn export(&self, revision: &Revision, directory: &Path) -> Result<Wanted, SidesError> {
        let tree = directory.join("tree");
        let index = directory.join("index");
        let files = self
            .request
            .checkout
            .export(&revision.commit, &tree, &index)?;
        let mut wanted = self.ignored.clone();
        for path in files {
            let origin = tree.join(&path);
            wanted.insert(path, origin);
        }
        Ok(wanted)
    }

    fn side(
        &self,
        kept: Kept,
        root: &Path,
        provenance: Provenance,
        checkout_time: Duration,
    ) -> Result<(Side, Locked), SidesError> {
        let Kept { record, in_use, .. } = kept;
        let moved = |path: &Path| Some(root.join(path.strip_prefix(&record.source).ok()?));
        let output = record.output.relocated(&moved)?;
        let executables = output.executables();
        let targets = output.targets(self.request.cargo, &self.toolchain);
        let targets = targets
            .into_iter()
            .zip(executables)
            .filter_map(|(target, bench)| {
                let known = record
                    .made
                    .benches
                    .get(&format!("{} {}", bench.package, bench.target))?;
                Some(SideTarget {
                    target,
                    executable: bench.executable,
                    executable_hash: known.executable_hash.clone(),
                    libraries_hash: record.made.libraries_hash.clone(),
                    sources: known.sources.clone(),
                })
            })
            .collect();
        let side = Side {
            commit: None,
            targets,
            provenance,
            checkout_time,
            build_time: record.build_time,
            _in_use: in_use,
        };
        Ok((side, record.made.locked))
    }

    fn key(&self, revision: &Revision) -> Result<Key, SidesError> {
        let mut files = Vec::new();
        for (path, origin) in &self.ignored {
            files.push((path.clone(), hash_file(origin)?));
        }
        Ok(Key::of(&Recipe {
            version: Recipe::VERSION,
            commit: revision.commit.clone(),
            manifest: self.manifest.clone(),
            facts: self.toolchain.facts.clone(),
            toolchain: self.toolchain.rustup_name().map(Into::into),
            flags: decisive_flags(self.request.options, &self.manifest),
            variables: build_environment(),
            benches_from: self.request.benches_from,
            files,
        }))
    }

    /// The workspace's lock file, seen from the top.
    fn lock_file(&self) -> PathBuf {
        self.request.checkout.prefix.join("Cargo.lock")
    }

    fn check_interrupt(&self) -> Result<(), SidesError> {
        if self.request.interrupt.requested() {
            return Err(SidesError::Interrupted);
        }
        Ok(())
    }
}

/// The manifest that cargo would choose: the one that is named, or the nearest one above the current directory.
fn selected_manifest(options: &CargoOptions, workspace: &Workspace) -> PathBuf {
    if let Some(path) = &options.manifest_path {
        return path.clone();
    }
    let here = std::env::current_dir().unwrap_or_default();
    here.ancestors()
        .map(|directory| directory.join("Cargo.toml"))
        .find(|manifest| manifest.is_file())
        .unwrap_or_else(|| workspace.root().join("Cargo.toml"))
}
