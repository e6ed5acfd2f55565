//! The sequence: lay out the sources, build, copy out; or find it all kept.

#![expect(
    clippy::disallowed_methods,
    reason = "the time that a build takes is part of the report"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::configuration;
use super::error::{SidesError, about};
use super::folder::Folder;
use super::kept::{BenchRecord, Copying, Made, Record, hash_file};
use super::layout::{Layout, Outside};
use super::lock_file::{differences, versions};
use super::mirror::Mirror;
use super::outcome::{Provenance, Side, SideTarget, Sides};
use super::recipe::{Key, Recipe, VERSION, decisive_flags};
use super::request::{BuildEvent, SidesRequest};
use super::shelf::{Place, Shelf, remove_directory};
use super::sources::{ignored, own_sources};
use super::state::{Present, State};
use crate::cargo::{BuildOrder, BuildOutput, CargoError, CargoOptions, Toolchain, Workspace};
use crate::host::{Revision, build_environment};

/// How many builds are kept, and how many revisions stay checked out, beside those that are in use.
const MOST_KEPT: usize = 16;
const MOST_TREES: usize = 4;

/// Builds `base` and the work tree, in this order, so that the copy of the sources is the work tree's in the end.
pub fn build_sides(
    request: &SidesRequest<'_>,
    base: &Revision,
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<Sides, SidesError> {
    let mut bench = Workbench::open(request, events)?;
    let (base, candidate) = loop {
        let states = (bench.check_out(base)?, bench.work_tree()?);
        if bench.is_settled(&[&states.0, &states.1])? {
            break states;
        }
    };
    let (base, base_locked) = bench.side(base)?;
    let (candidate, locked) = bench.side(candidate)?;
    bench.prune()?;
    Ok(Sides {
        base,
        candidate,
        facts: bench.toolchain.facts.clone(),
        dependencies: differences(&base_locked, &locked),
    })
}

/// Builds one commit alone.
pub fn build_commit(
    request: &SidesRequest<'_>,
    revision: &Revision,
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<Side, SidesError> {
    let mut bench = Workbench::open(request, events)?;
    let state = loop {
        let state = bench.check_out(revision)?;
        if bench.is_settled(&[&state])? {
            break state;
        }
    };
    let (side, _) = bench.side(state)?;
    bench.prune()?;
    Ok(side)
}

type Locked = BTreeMap<String, Vec<String>>;

/// The locked folder and everything that both sides share.
struct Workbench<'a, 'e> {
    request: &'a SidesRequest<'a>,
    events: &'e mut dyn FnMut(BuildEvent<'_>),
    folder: Folder,
    trees: Shelf,
    kept: Shelf,
    toolchain: Toolchain,
    present: Present,
    /// The manifest that the user's flags select, seen from the top.
    manifest: PathBuf,
    layout: Layout,
    configuration: Vec<PathBuf>,
}

impl<'a, 'e> Workbench<'a, 'e> {
    fn open(
        request: &'a SidesRequest<'a>,
        events: &'e mut dyn FnMut(BuildEvent<'_>),
    ) -> Result<Self, SidesError> {
        let top = request.checkout.top()?;
        let here = std::env::current_dir().map_err(about("cannot find", Path::new(".")))?;
        let manifest = selected_manifest(request, &here);
        let manifest = manifest
            .canonicalize()
            .map_err(about("cannot find", &manifest))?;
        let Ok(relative) = manifest.strip_prefix(&top) else {
            return Err(SidesError::Elsewhere { manifest, top });
        };
        let toolchain = Toolchain::detect(request.options)?;
        let mut waiting = |folder: &Path| events(BuildEvent::Waiting { folder });
        let folder = Folder::lock(
            request.cache,
            request.checkout,
            request.interrupt,
            &mut waiting,
        )?;
        let files = request.checkout.present_files()?;
        let ignored = ignored(&top, &files.ignored, request.workspace.target_directory());
        let mut wanted = ignored.files.clone();
        for path in files.sources {
            let origin = top.join(&path);
            wanted.insert(path, origin);
        }
        let cargo_home = build_environment()
            .into_iter()
            .find(|(name, _)| name == "CARGO_HOME")
            .map(|(_, value)| value.into())
            .or_else(|| Some(dirs::home_dir()?.join(".cargo")));
        let mut bench = Self {
            trees: Shelf::open(folder.trees(), MOST_TREES)?,
            kept: Shelf::open(folder.kept(), MOST_KEPT)?,
            layout: Layout::default(),
            present: Present {
                checkout: request.checkout.clone(),
                wanted,
                ignored: ignored.files,
                readable: ignored.readable,
                packages: request.workspace.bench_packages(Some(request.options)),
                top,
            },
            manifest: relative.to_owned(),
            configuration: configuration::files(&here, cargo_home.as_deref()),
            request,
            events,
            folder,
            toolchain,
        };
        bench.layout = bench.present_layout(&Outside::default())?;
        Ok(bench)
    }

    fn check_out(&mut self, revision: &Revision) -> Result<State, SidesError> {
        self.check_interrupt()?;
        (self.events)(BuildEvent::CheckingOut { revision });
        let began = Instant::now();
        let mut state = self.present.revision(
            revision,
            self.request.benches_from,
            &self.trees,
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

    fn work_tree(&self) -> Result<State, SidesError> {
        // As the user spells it, where that can be told from the workspace's root.
        let root = self.request.workspace.root();
        let levels = self.request.checkout.prefix.components().count();
        let spelled = root.ancestors().nth(levels).filter(|spelled| {
            spelled
                .canonicalize()
                .is_ok_and(|real| real == self.present.top)
        });
        let directory = spelled.unwrap_or(&self.present.top).to_owned();
        self.present.work_tree(directory, &self.trees, &self.layout)
    }

    /// Whether the layout has a place for everything that `states` need; if not, it has from now on.
    fn is_settled(&mut self, states: &[&State]) -> Result<bool, SidesError> {
        let mut outside = Outside::default();
        for state in states {
            outside.join(Outside::of(&state.wanted, &self.present.top));
        }
        let layout = self.present_layout(&outside)?;
        let is_settled = layout == self.layout;
        self.layout = layout;
        Ok(is_settled)
    }

    /// The layout for the work tree and whatever lies `outside` of other states.
    fn present_layout(&self, outside: &Outside) -> Result<Layout, SidesError> {
        let top = &self.present.top;
        let mut all = Outside::of(&self.present.wanted, top);
        all.join(outside.clone());
        let notes = self.folder.join("levels");
        // Never fewer than before: paths are part of what is built.
        let before = fs::read_to_string(&notes)
            .ok()
            .and_then(|text| text.trim().parse().ok());
        let layout = Layout::new(top, &all, before.unwrap_or(0))?;
        if before != Some(layout.levels()) {
            remove_directory(&self.folder.sources())?;
            fs::write(&notes, layout.levels().to_string())
                .map_err(about("cannot write", &notes))?;
        }
        Ok(layout)
    }

    /// Where the copy of the sources stands.
    fn source(&self) -> PathBuf {
        self.layout.top_in(&self.folder.sources())
    }

    fn side(&mut self, state: State) -> Result<(Side, Locked), SidesError> {
        let outcome = self.found_or_built(&state);
        let (place, record, provenance) =
            outcome.map_err(|error| match (error, &state.commit) {
                (SidesError::Cargo(source), Some(revision))
                    if !state.is_work_tree && !matches!(source, CargoError::Interrupted) =>
                {
                    SidesError::Revision {
                        revision: revision.clone(),
                        source,
                    }
                }
                (other, _) => other,
            })?;
        let moved = |path: &Path| Some(state.root.join(path.strip_prefix(&record.source).ok()?));
        let output = record.output.relocated(&moved)?;
        let executables = output.executables();
        let targets = output.targets(self.request.cargo, &self.toolchain);
        let targets = targets
            .into_iter()
            .zip(executables)
            .filter_map(|(mut target, bench)| {
                if let Ok(inside) = target.directory.strip_prefix(&state.root) {
                    target.directory = state.directory.join(inside);
                }
                let known = record
                    .made
                    .benches
                    .get(&bench_name(&bench.package, &bench.target))?;
                Some(SideTarget {
                    target,
                    executable: bench.executable,
                    executable_hash: known.executable_hash.clone(),
                    companions_hash: record.made.companions_hash.clone(),
                    sources: known.sources.clone(),
                })
            })
            .collect();
        let side = Side {
            commit: state.commit,
            targets,
            provenance,
            checkout_time: state.time,
            build_time: record.build_time,
            _in_use: [place.in_use, state.in_use],
        };
        Ok((side, record.made.locked))
    }

    fn found_or_built(&mut self, state: &State) -> Result<(Place, Record, Provenance), SidesError> {
        let key = state.commit.as_ref().map(|commit| self.key(state, commit));
        let key = key.transpose()?;
        let shown = state.commit.as_ref().filter(|_| !state.is_work_tree);
        if let Some(key) = &key
            && let Some((place, record)) = self.find(key)?
        {
            (self.events)(BuildEvent::Found { revision: shown });
            return Ok((place, record, Provenance::Cached));
        }
        self.check_interrupt()?;
        (self.events)(BuildEvent::Building { revision: shown });
        let began = Instant::now();
        self.lay_out(state)?;
        let output = self.call_cargo(state)?;
        let build_time = began.elapsed();
        let made = self.made(&output)?;
        // Without a commit, what came out is the key.
        let key = key.unwrap_or_else(|| Key::of(&(&state.root, &output, &made)));
        if state.commit.is_none()
            && let Some((place, record)) = self.find(&key)?
        {
            let record = Record {
                build_time,
                ..record
            };
            return Ok((place, record, Provenance::Built));
        }
        let unfinished = self.kept.unfinished()?;
        let source = self.source();
        let copying = Copying {
            target: &self.folder.target(),
            unfinished: &unfinished,
            place: &self.kept.path(&key),
            source: (&source, &state.root),
        };
        let record = Record {
            output: copying.copy_out(&output)?,
            source,
            made,
            build_time,
        };
        record.write(&unfinished)?;
        Ok((self.kept.put(&key)?, record, Provenance::Built))
    }

    /// A build that was kept, if it is whole.
    fn find(&self, key: &Key) -> Result<Option<(Place, Record)>, SidesError> {
        let place = self.kept.find(key)?;
        Ok(place.and_then(|place| {
            let record = Record::read(&place.directory)?;
            Some((place, record))
        }))
    }

    /// Makes the copy of the sources that of `state`.
    fn lay_out(&self, state: &State) -> Result<(), SidesError> {
        self.layout.make_links(&self.folder.sources())?;
        // A state without a lock file is built with the one that is there.
        let lock_file = self.present.lock_file();
        let mut spared = vec![Path::new(".git")];
        if !state.wanted.contains_key(&lock_file) {
            spared.push(&lock_file);
        }
        self.mirror().hold(&state.wanted, &spared)?;
        let checkout = self.request.checkout;
        let head = match &state.commit {
            Some(commit) => Some(commit.commit.clone()),
            None => checkout.resolve("HEAD"),
        };
        if let Some(head) = head {
            checkout.stand_in(&self.source(), &head)?;
        }
        self.check_interrupt()
    }

    fn mirror(&self) -> Mirror {
        Mirror {
            root: self.source(),
            notes: self.folder.join("source-notes"),
        }
    }

    fn call_cargo(&self, state: &State) -> Result<BuildOutput, SidesError> {
        let request = self.request;
        let source = &self.source();
        let mut options = CargoOptions {
            manifest_path: Some(source.join(&self.manifest)),
            target_dir: Some(self.folder.target()),
            ..request.options.clone()
        };
        options.config.extend(configuration::redirections(
            &self.configuration,
            &self.present.top,
            source,
        ));
        if state.lock_file_is_foreign {
            options.offline |= options.frozen;
            options.locked = false;
            options.frozen = false;
        }
        if !state.wanted.contains_key(&self.manifest) {
            // The package was not there yet.
            return Ok(BuildOutput::default());
        }
        let workspace = Workspace::load(request.cargo, &options)?;
        if !state.is_work_tree {
            match workspace.existing(&options) {
                Some(existing) => options = existing,
                None => return Ok(BuildOutput::default()),
            }
        }
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
        let source = &self.source();
        let workspace_root = source.join(&self.request.checkout.prefix);
        let mut benches = BTreeMap::new();
        for bench in output.executables() {
            let record = BenchRecord {
                executable_hash: hash_file(&bench.executable)?,
                sources: own_sources(&bench, &workspace_root, source)?,
            };
            benches.insert(bench_name(&bench.package, &bench.target), record);
        }
        let mut companions = Vec::new();
        for path in output.libraries().iter().chain(&output.binaries()) {
            companions.push(hash_file(path)?);
        }
        companions.sort();
        let locked = fs::read_to_string(source.join(self.present.lock_file()));
        Ok(Made {
            benches,
            companions_hash: Key::of(&companions).as_str().to_owned(),
            locked: versions(&locked.unwrap_or_default()),
        })
    }

    fn key(&self, state: &State, commit: &Revision) -> Result<Key, SidesError> {
        let mut files = state.added.clone();
        for path in &self.configuration {
            files.push((path.clone(), hash_file(path)?));
        }
        let recipe = Recipe {
            version: VERSION,
            commit: &commit.commit,
            manifest: &self.manifest,
            source: &self.source(),
            root: &state.root,
            facts: &self.toolchain.facts,
            toolchain: self.toolchain.rustup_name().map(Into::into),
            flags: decisive_flags(self.request.options, &self.manifest),
            variables: build_environment(),
            files,
            outside: Outside::of(&state.wanted, &self.present.top).fingerprints(),
        };
        Ok(recipe.key())
    }

    /// The manifest of the workspace, seen from the top.
    fn workspace_manifest(&self) -> PathBuf {
        self.request.checkout.prefix.join("Cargo.toml")
    }

    fn prune(&self) -> Result<(), SidesError> {
        self.trees.prune()?;
        self.kept.prune()
    }

    fn check_interrupt(&self) -> Result<(), SidesError> {
        if self.request.interrupt.requested() {
            return Err(SidesError::Interrupted);
        }
        Ok(())
    }
}

fn bench_name(package: &str, target: &str) -> String {
    format!("{package} {target}")
}

/// The manifest that cargo would choose: the one that is named, or the nearest one above the current directory.
fn selected_manifest(request: &SidesRequest<'_>, here: &Path) -> PathBuf {
    if let Some(path) = &request.options.manifest_path {
        return path.clone();
    }
    here.ancestors()
        .map(|directory| directory.join("Cargo.toml"))
        .find(|manifest| manifest.is_file())
        .unwrap_or_else(|| request.workspace.root().join("Cargo.toml"))
}
