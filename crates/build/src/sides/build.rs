//! Builds sides: prepares the sources, runs cargo and keeps the results, or finds a kept build.

#![expect(
    clippy::disallowed_methods,
    reason = "the time that a build takes is part of the report"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use super::cache::{CachedFolder, UseLock};
use super::configuration;
use super::configuration::{diff_locked_versions, parse_locked_versions};
use super::criterion::{
    CarriedSources, CriterionBuild, NotReplaced, ReplaceableCriterion, check_lock_change,
    find_replaceable, library_may_need_criterion, may_use_criterion,
};
use super::kept::{BenchRecord, BuildCopy, BuildRecord, BuildResults, hash_file};
use super::key::{HashedPath, Key, Recipe, VERSION, decisive_flags, to_text};
use super::lock_file::LockFileBackup;
use super::mirror::{Mirror, WantedFiles};
use super::outcome::{BuildOrigin, BuiltSide, PreparedSides, SideTarget};
use super::request::{BuildEvent, SidesError, SidesRequest, file_error, source_error};
use super::sources::{hash_inputs, own_sources};
use super::state::{OutsidePaths, State, hash_files};
use super::workbench::{BuildCache, SideBuilder};
use crate::cargo::{
    BuildOrder, BuildOutput, CargoError, CargoOptions, DiagnosticTiming, Workspace,
};
use crate::link::{KeptLink, Relinkable};
use perfcheck_analysis::model::{BuildFacts, BySide, CriterionHarness, ProgramBenchmark};
use perfcheck_host::os::read_file_facts;
use perfcheck_host::{HOOK_VARIABLES, Revision, build_environment};

/// Builds `base` and then the work tree in the same directory. The work tree comes last, so that the next comparison finds its state there.
pub fn build_sides(
    request: &SidesRequest<'_>,
    base: &Revision,
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<PreparedSides, SidesError> {
    let mut bench = SideBuilder::open(request, events)?;
    let mut built = bench.build_both(base)?;
    if !built.0.criterion.is_same_harness(&built.1.criterion) {
        // Both sides must have the same harness, so build them again without the replacement.
        bench.harness = CriterionHarness::AsIs;
        built = bench.build_both(base)?;
    }
    bench.prune()?;
    let facts = request.toolchain.facts.clone();
    Ok(PreparedSides::from_builds(built.0, built.1, facts))
}

/// Builds only the work tree. Returns the facts about the compiler, too.
pub fn build_work_tree(
    request: &SidesRequest<'_>,
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<(BuiltSide, BuildFacts), SidesError> {
    let mut bench = SideBuilder::open(request, events)?;
    let state = loop {
        let state = bench.work_tree()?;
        if bench.update_layout(&[&state])? {
            break state;
        }
    };
    let side = bench.build_or_reuse_side(state)?;
    bench.prune()?;
    Ok((side, request.toolchain.facts.clone()))
}

/// Returns the build that is kept under `name`, if it still exists with everything it needs.
pub fn find_kept_build(
    request: &SidesRequest<'_>,
    name: &str,
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<Option<BuiltSide>, SidesError> {
    BuildCache::open(request, events)?.find_kept_side(name)
}

/// Returns the builds of both sides that are kept under these names. A build is left out if it no longer exists with everything it needs.
pub fn find_kept_builds(
    request: &SidesRequest<'_>,
    names: &BySide<Option<&str>>,
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<BySide<Option<BuiltSide>>, SidesError> {
    let shelves = BuildCache::open(request, events)?;
    let of = |name: Option<&str>| match name {
        Some(name) => shelves.find_kept_side(name),
        None => Ok(None),
    };
    Ok(BySide {
        base: of(names.base)?,
        candidate: of(names.candidate)?,
    })
}

/// Reads the executables of a bench target (package and name) from the kept builds of both sides, if they still exist. They are only read, so other
/// files that a process would need may be missing.
pub fn read_kept_executables(
    request: &SidesRequest<'_>,
    names: &BySide<Option<&str>>,
    (package, target): (&str, &str),
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<BySide<Option<Vec<u8>>>, SidesError> {
    let shelves = BuildCache::open(request, events)?;
    let of = |name: Option<&str>| {
        // The name may come from another user's store, so it need not be a valid key.
        let Some(key) = name.and_then(Key::parse) else {
            return Ok(None);
        };
        let Some((_place, record)) = shelves.read_record(&key)? else {
            return Ok(None);
        };
        let mut benches = record.output.executables().into_iter();
        let Some(bench) = benches.find(|bench| bench.package == package && bench.target == target)
        else {
            return Ok(None);
        };
        fs::read(&bench.executable)
            .map(Some)
            .map_err(file_error("cannot read", &bench.executable))
    };
    Ok(BySide {
        base: of(names.base)?,
        candidate: of(names.candidate)?,
    })
}

/// Builds only one commit.
pub fn build_commit(
    request: &SidesRequest<'_>,
    revision: &Revision,
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<BuiltSide, SidesError> {
    let mut bench = SideBuilder::open(request, events)?;
    let state = loop {
        let state = bench.check_out(revision)?;
        if bench.update_layout(&[&state])? {
            break state;
        }
    };
    let side = bench.build_or_reuse_side(state)?;
    if !side.skipped.is_empty() {
        (bench.events)(BuildEvent::TargetsSkipped(&side.skipped));
    }
    bench.prune()?;
    Ok(side)
}

impl PreparedSides {
    /// Pairs two builds that the same compiler made with the same flags.
    pub fn from_builds(base: BuiltSide, candidate: BuiltSide, facts: BuildFacts) -> Self {
        Self {
            dependencies: diff_locked_versions(&base.locked, &candidate.locked),
            base,
            candidate,
            facts,
        }
    }
}

/// A build in the cache.
struct KeptBuild {
    key: Key,
    place: CachedFolder,
    record: BuildRecord,
    provenance: BuildOrigin,
}

impl BuildCache<'_> {
    /// Returns the build that is kept under `name`, if it still exists with everything it needs.
    fn find_kept_side(&self, name: &str) -> Result<Option<BuiltSide>, SidesError> {
        // The name may come from another user's store, so it need not be a valid key.
        let Some(key) = Key::parse(name) else {
            return Ok(None);
        };
        let Some(kept) = self.find_build(key)? else {
            return Ok(None);
        };
        let Some(tree) = self.trees.find_at(&kept.record.ground.tree)? else {
            return Ok(None);
        };
        let built = self.prepare_kept(kept, Duration::ZERO, tree.in_use)?;
        Ok(Some(built))
    }

    /// Returns the build that is kept under `key`.
    fn find_build(&self, key: Key) -> Result<Option<KeptBuild>, SidesError> {
        let found = self.read_record(&key)?;
        Ok(found.map(|(place, record)| KeptBuild {
            key,
            place,
            record,
            provenance: BuildOrigin::Cached,
        }))
    }

    /// Prepares a kept build for running in the tree of its state.
    fn prepare_kept(
        &self,
        kept: KeptBuild,
        checkout_time: Duration,
        tree_in_use: UseLock,
    ) -> Result<BuiltSide, SidesError> {
        let KeptBuild {
            key,
            place,
            record,
            provenance,
        } = kept;
        let ground = &record.ground;
        let moved = |path: &Path| Some(ground.root.join(path.strip_prefix(&record.source).ok()?));
        let output = record.output.relocate(&moved)?;
        let executables = output.executables();
        let request = self.request;
        let targets = output.targets(request.cargo, request.toolchain, request.programs);
        let targets = targets
            .into_iter()
            .filter_map(|mut target| {
                let mut executables = executables.iter();
                let bench = executables.find(|bench| {
                    bench.package == target.package && bench.target == target.target
                })?;
                if let Ok(inside) = target.directory.strip_prefix(&ground.root) {
                    target.directory = ground.directory.join(inside);
                }
                let known = record
                    .results
                    .benches
                    .get(&bench_name(&bench.package, &bench.target))?;
                Some(SideTarget {
                    sources: if target.has_programs() {
                        hash_inputs(&target)
                    } else {
                        known.sources.clone()
                    },
                    target,
                    executable: bench.executable.clone(),
                    folders: [ground.root.clone(), place.directory.clone()],
                    executable_hash: known.executable_hash.clone(),
                    companions_hash: known.companions_hash.clone(),
                    relinkable: known.link.as_ref().and_then(|link| {
                        Some(Relinkable {
                            link: KeptLink::read(&place.directory.join(link))?,
                            leads: record.leads.clone(),
                            supervisor: self.request.supervisor.clone(),
                        })
                    }),
                })
            })
            .collect();
        Ok(BuiltSide {
            name: key.as_str().to_owned(),
            commit: None,
            git: None,
            targets,
            provenance,
            checkout_time,
            build_time: record.build_time,
            skipped: output.skipped,
            features: output.features,
            locked: record.results.locked,
            criterion: record.results.criterion,
            sources: ground.root.join(request.prefix()),
            directory: place.directory,
            _in_use: [place.in_use, tree_in_use],
        })
    }

    /// Finds the build that is kept under `key`, if it is complete.
    fn read_record(&self, key: &Key) -> Result<Option<(CachedFolder, BuildRecord)>, SidesError> {
        let place = self.kept.find(key)?;
        Ok(place.and_then(|place| {
            let record = BuildRecord::read(&place.directory)?;
            Some((place, record))
        }))
    }
}

impl SideBuilder<'_, '_> {
    fn build_both(&mut self, base: &Revision) -> Result<(BuiltSide, BuiltSide), SidesError> {
        loop {
            let base = self.prepare_states(base)?.base;
            let base = self.build_or_reuse_side(base)?;
            // The user may have edited files during the build of the base.
            let levels = self.layout.levels();
            let candidate = self.refresh_work_tree()?;
            self.update_layout(&[&candidate])?;
            if self.layout.levels() == levels {
                return Ok((base, self.build_or_reuse_side(candidate)?));
            }
        }
    }

    /// Prepares the states of the revision `base` and of the work tree, and a layout in which both have their place.
    pub(super) fn prepare_states(&mut self, base: &Revision) -> Result<BySide<State>, SidesError> {
        loop {
            let states = BySide {
                base: self.check_out(base)?,
                candidate: self.work_tree()?,
            };
            if self.update_layout(&[&states.base, &states.candidate])? {
                return Ok(states);
            }
        }
    }

    fn build_or_reuse_side(&mut self, mut state: State) -> Result<BuiltSide, SidesError> {
        let outcome = self.find_or_build(&mut state);
        let kept = outcome.map_err(|error| self.explain_error(error, &state))?;
        if let CriterionBuild::AsIs(Some(reason)) = &kept.record.results.criterion {
            (self.events)(BuildEvent::CriterionAsIs(reason));
        }
        let skipped = &kept.record.output.skipped;
        if state.is_work_tree && !skipped.is_empty() {
            (self.events)(BuildEvent::TargetsSkipped(skipped));
        }
        Ok(BuiltSide {
            commit: state.commit,
            git: state.git,
            ..self.shelves.prepare_kept(kept, state.time, state.in_use)?
        })
    }

    /// Wraps an error of cargo with the revision or the directory that caused it. Reports the files that the build lacked, which may be the cause.
    pub(super) fn explain_error(&mut self, error: SidesError, state: &State) -> SidesError {
        if let SidesError::Cargo(CargoError::Build { .. } | CargoError::Metadata(_)) = &error {
            self.report_uncopied(|_| true);
        }
        match (error, &state.commit, &self.above) {
            (SidesError::Cargo(CargoError::Metadata(message)), _, Some(path)) => {
                SidesError::Above {
                    path: path.clone(),
                    top: self.present.top.clone(),
                    message,
                }
            }
            (SidesError::Cargo(source), Some(revision), _)
                if !state.is_work_tree && !matches!(source, CargoError::Interrupted) =>
            {
                SidesError::Revision {
                    revision: revision.clone(),
                    source,
                }
            }
            (other, ..) => other,
        }
    }

    fn find_or_build(&mut self, state: &mut State) -> Result<KeptBuild, SidesError> {
        let key = state
            .commit
            .as_ref()
            .map(|commit| self.commit_key(state, commit));
        let key = key.transpose()?;
        let shown = state.commit.as_ref().filter(|_| !state.is_work_tree);
        if let Some(key) = &key
            && let Some(kept) = self.shelves.find_build(key.clone())?
        {
            (self.events)(BuildEvent::Found(shown));
            return Ok(kept);
        }
        if let Some(kept) = self.find_build_of_equal_files(key.as_ref(), state)? {
            (self.events)(BuildEvent::Found(shown));
            return Ok(kept);
        }
        self.check_interrupt()?;
        (self.events)(BuildEvent::Building(shown));
        let began = Instant::now();
        self.copy_sources(state)?;
        let source = self.sources_top();
        // Hash the copies: the user may have edited the originals in the meantime.
        let copies = state.wanted.keys();
        let copies = copies.map(|path| (path.clone(), source.join(path)));
        let copies = copies.filter(|(_, copy)| fs::symlink_metadata(copy).is_ok());
        let contents = self.contents_key(&copies.collect(), state)?;
        let CargoResult {
            output,
            criterion,
            is_new_harness,
        } = self.call_cargo(state).inspect_err(|error| {
            if let SidesError::Cargo(CargoError::Build {
                first_error: Some(error),
                ..
            }) = error
            {
                (self.events)(BuildEvent::Diagnostics(&error.rendered));
            }
        })?;
        let build_time = began.elapsed();
        if !output.diagnostics.is_empty() {
            (self.events)(BuildEvent::Diagnostics(&output.diagnostics));
        }
        if let (CriterionBuild::Replaced(versions), true) = (&criterion, is_new_harness) {
            (self.events)(BuildEvent::CriterionReplaced(versions));
        }
        let mut results = self.describe_results(&output, criterion)?;
        // A work tree with changes has no commit to name the build by, so the key is a hash of the results.
        let key = key.filter(|_| state.commit.is_some());
        let key =
            key.unwrap_or_else(|| Key::compute(&(to_text(&state.ground.root), &output, &results)));
        if state.commit.is_none()
            && let Some((place, record)) = self.shelves.read_record(&key)?
        {
            return Ok(KeptBuild {
                key,
                place,
                record: BuildRecord {
                    build_time,
                    ..record
                },
                provenance: BuildOrigin::Built,
            });
        }
        let unfinished = self.shelves.kept.create_unfinished()?;
        let copying = BuildCopy {
            target: &self.shelves.folder.target(),
            unfinished: &unfinished,
            place: &self.shelves.kept.path(&key),
            source: &source,
            root: &state.ground.root,
        };
        let (copied, leads) = copying.copy_out(&output)?;
        self.keep_links(&output, &mut results, &unfinished)?;
        let record = BuildRecord {
            output: copied,
            contents: contents.as_str().to_owned(),
            source,
            ground: state.ground.clone(),
            results,
            leads,
            build_time,
        };
        record.write(&unfinished)?;
        Ok(KeptBuild {
            place: self.shelves.kept.finish(&key)?,
            key,
            record,
            provenance: BuildOrigin::Built,
        })
    }

    /// Finds a build of equal files. A changed work tree, which has no `key`, may only use builds that run in the same place. A commit may also use a
    /// build that runs elsewhere, such as one of the work tree at that commit: a copy of that build is kept under `key`. A new build would take
    /// longer: cargo would compile the differences between the two states now, and compile them again for the next build of the other state.
    fn find_build_of_equal_files(
        &self,
        key: Option<&Key>,
        state: &State,
    ) -> Result<Option<KeptBuild>, SidesError> {
        let shelf = &self.shelves.kept;
        let folders = shelf.by_last_use()?.into_iter();
        let records = folders.filter_map(|folder| Some((BuildRecord::read(&folder)?, folder)));
        let mut records: Vec<_> = records.collect();
        if records.is_empty() {
            return Ok(None);
        }
        let contents = self.contents_key(&state.wanted, state)?;
        records.retain(|(record, _)| record.contents == contents.as_str());
        let Some(key) = key else {
            let mut own = records.iter();
            let own = own.find(|(record, _)| record.ground.root == state.ground.root);
            let own = own.and_then(|(_, folder)| Key::parse(folder.file_name()?.to_str()?));
            return own.map_or(Ok(None), |key| self.shelves.find_build(key));
        };
        let Some((record, folder)) = records.into_iter().next() else {
            return Ok(None);
        };
        let unfinished = shelf.create_unfinished()?;
        let record = record.copy_for(&state.ground, &folder, &unfinished, &shelf.path(key))?;
        Ok(Some(KeptBuild {
            place: shelf.finish(key)?,
            key: key.clone(),
            record,
            provenance: BuildOrigin::Cached,
        }))
    }

    /// Returns the key of `files` and of everything else that affects the build, except the place where it runs. The checked-out commit is included,
    /// because build scripts may query it.
    fn contents_key(&self, files: &WantedFiles, state: &State) -> Result<Key, SidesError> {
        let mut recipe = self.recipe(state, hash_files(files, |_| true)?)?;
        recipe.commit = state.head.as_deref().unwrap_or("");
        recipe.root = Path::new("");
        Ok(recipe.key())
    }

    /// Makes the copy of the sources equal to `state`.
    pub(super) fn copy_sources(&self, state: &mut State) -> Result<(), SidesError> {
        self.layout.make_links(&self.shelves.folder.sources())?;
        // A state without a lock file is built with the lock file that is already in the copy.
        let lock_file = self.present.lock_file();
        LockFileBackup::restore_abandoned(
            &self.sources_top().join(&lock_file),
            &self.lock_file_note(),
        )?;
        let mut spared = vec![Path::new(".git")];
        if !state.wanted.contains_key(&lock_file) {
            spared.push(&lock_file);
        }
        let held = self.mirror().update(&state.wanted, &spared)?;
        // The user may remove files of the work tree while they are copied. Files in a tree of the cache must exist.
        let own = |origin: &&PathBuf| origin.starts_with(&state.ground.tree);
        if let Some(origin) = held.gone.iter().find(own) {
            return Err(file_error("cannot find", origin)(
                io::ErrorKind::NotFound.into(),
            ));
        }
        // If files were edited during the copy, or another commit was checked out, the copy does not represent a commit.
        if state.is_work_tree && (!held.is_up_to_date() || self.present.git()? != state.git) {
            state.mark_as_changed();
        }
        if let (Some(checkout), Some(head)) = (self.request.checkout, &state.head) {
            checkout.write_git_directory(&self.sources_top(), head)?;
        }
        self.check_interrupt()
    }

    pub(super) fn mirror(&self) -> Mirror {
        Mirror {
            root: self.sources_top(),
            notes: self.shelves.folder.notes_path("source-notes"),
        }
    }

    /// Returns the user's options for cargo, changed so that cargo builds the copy of the sources, which is equal to `state`.
    pub(super) fn cargo_options(&self, state: &State) -> CargoOptions {
        let source = &self.sources_top();
        let mut options = CargoOptions {
            manifest_path: Some(source.join(&self.manifest)),
            target_dir: Some(self.shelves.folder.target()),
            ..self.request.options.clone()
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
        options
    }

    /// Returns the environment variables to set for cargo. A variable without a value is removed.
    pub(super) fn cargo_variables(&self) -> BTreeMap<String, Option<OsString>> {
        let target = self.shelves.folder.target().into();
        let mut variables = BTreeMap::from([("CARGO_BUILD_BUILD_DIR".to_owned(), Some(target))]);
        if let Some(name) = self.request.toolchain.rustup_name() {
            variables.insert("RUSTUP_TOOLCHAIN".to_owned(), Some(name.to_owned()));
        }
        // Build scripts that run git must find the repository next to the sources, not the one that a git hook's variables name.
        variables.extend(HOOK_VARIABLES.map(|name| (name.to_owned(), None)));
        variables
    }

    fn call_cargo(&self, state: &State) -> Result<CargoResult, SidesError> {
        let request = self.request;
        let mut options = self.cargo_options(state);
        if !state.is_work_tree && !state.wanted.contains_key(&self.manifest) {
            // The revision is older than the package, so there is nothing to build.
            return Ok(CargoResult::default());
        }
        let workspace = Workspace::load(request.cargo, &options, request.supervisor)?;
        let mut programs = request.programs.to_vec();
        let mut has_benches = true;
        if !state.is_work_tree {
            programs.retain(|one| workspace.binaries(&one.package).contains(&one.binary));
            match workspace.retain_existing(&options) {
                Some(existing) => options = existing,
                None if programs.is_empty() => return Ok(CargoResult::default()),
                None => {
                    options = workspace.retain_packages(&options);
                    has_benches = false;
                }
            }
        }
        // Without `--program`, a workspace that has only programs is measured, too.
        let with_benches = has_benches && workspace.may_build_benches(&options);
        let mut variables = self.cargo_variables();
        if let Some(keeping) = &self.link_keeping {
            let of_linker = keeping.variables(&self.request.toolchain.facts.target);
            variables.extend(of_linker.map(|(name, value)| (name, Some(value))));
        }
        let mut order = BuildOrder {
            cargo: request.cargo,
            workspace: &workspace,
            toolchain: request.toolchain,
            options: &options,
            with_benches,
            programs: &[],
            variables: &variables,
            // The error of a revision shows whether its sources are the cause.
            diagnostics: if state.is_work_tree {
                DiagnosticTiming::Immediate
            } else {
                DiagnosticTiming::Later
            },
            supervisor: request.supervisor,
        };
        if !state.is_work_tree && !options.programs.is_empty() {
            // A revision that requires other features for the binary that the user names does not have the program.
            order.remove_gated(&mut programs)?;
        }
        order.programs = &programs;
        self.mirror().record_build_time()?;
        let outcome = self.build_with_criterion(&order);
        self.mirror().record_build_time()?;
        outcome
    }

    /// Runs cargo with the replacement of Criterion. If the user does not want the replacement, or if it is not possible, runs cargo without it.
    fn build_with_criterion(&self, order: &BuildOrder<'_>) -> Result<CargoResult, SidesError> {
        match self.build_with_replacement(order) {
            Ok(result) => Ok(result),
            Err(NotReplaced::BuildWithout(criterion)) => Ok(CargoResult {
                output: order.run_cargo()?,
                criterion,
                is_new_harness: false,
            }),
            Err(NotReplaced::Failed(error)) => Err(error),
        }
    }

    fn build_with_replacement(&self, order: &BuildOrder<'_>) -> Result<CargoResult, NotReplaced> {
        if self.harness == CriterionHarness::AsIs {
            return Err(NotReplaced::BuildWithout(CriterionBuild::AsIs(None)));
        }
        let path = self.sources_top().join(self.present.lock_file());
        let text = fs::read_to_string(&path).ok();
        if !order.with_benches || !may_use_criterion(text.as_deref(), order.workspace) {
            return Err(NotReplaced::BuildWithout(CriterionBuild::Absent));
        }
        // Cargo writes or completes the lock file now, as it would during the build.
        resolve_dependencies(order)?;
        let is_link = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
        let text = fs::read_to_string(&path).map_err(file_error("cannot read", &path))?;
        let replaced = find_replaceable(&text, &order.toolchain.facts.rustc)?;
        if is_link {
            return Err(NotReplaced::impossible("`Cargo.lock` is a symbolic link"));
        }
        let carried = CarriedSources {
            directory: self.shelves.folder.notes_path("criterion"),
        };
        let is_new_harness = carried.write(&replaced)?;
        let mut options = order.options.clone();
        options.config.extend(carried.patches(&replaced));
        options.offline |= options.frozen;
        options.locked = false;
        options.frozen = false;
        let backup = LockFileBackup::save(&path, self.lock_file_note())?;
        let order = BuildOrder {
            options: &options,
            diagnostics: DiagnosticTiming::Later,
            ..*order
        };
        let outcome = build_patched(&order, &backup, &replaced);
        backup.restore()?;
        Ok(CargoResult {
            output: outcome?,
            criterion: CriterionBuild::Replaced(replaced.iter().map(ToString::to_string).collect()),
            is_new_harness,
        })
    }

    /// Returns the path of the file that keeps the original of a patched lock file.
    fn lock_file_note(&self) -> PathBuf {
        self.shelves.folder.notes_path("lock-file-before-patch")
    }

    /// Computes the hashes and versions that describe a finished build.
    fn describe_results(
        &self,
        output: &BuildOutput,
        criterion: CriterionBuild,
    ) -> Result<BuildResults, SidesError> {
        let source = &self.sources_top();
        let workspace_root = source.join(self.request.prefix());
        let mut companions = BTreeMap::new();
        for path in output.libraries().into_iter().chain(output.binaries()) {
            let hash = hash_file(&path).map_err(file_error("cannot read", &path))?;
            companions.insert(path, hash);
        }
        let mut benches = BTreeMap::new();
        for bench in output.executables() {
            let others = companions.iter();
            let others = others.filter(|(path, _)| **path != bench.executable);
            let mut others: Vec<&String> = others.map(|(_, hash)| hash).collect();
            others.sort();
            let record = BenchRecord {
                executable_hash: hash_file(&bench.executable)
                    .map_err(file_error("cannot read", &bench.executable))?,
                companions_hash: Key::compute(&others).as_str().to_owned(),
                link: None,
                sources: match ProgramBenchmark::binary_of_target(&bench.target) {
                    // The inputs of a program depend on its arguments, so they are hashed when it runs.
                    Some(_) => BTreeMap::new(),
                    None => own_sources(&bench, &workspace_root, source)?,
                },
            };
            benches.insert(bench_name(&bench.package, &bench.target), record);
        }
        let locked = fs::read_to_string(source.join(self.present.lock_file()));
        Ok(BuildResults {
            benches,
            locked: parse_locked_versions(&locked.unwrap_or_default()),
            criterion,
        })
    }

    /// Copies the link inputs of the benches into the folder of the build.
    fn keep_links(
        &self,
        output: &BuildOutput,
        results: &mut BuildResults,
        unfinished: &Path,
    ) -> Result<(), SidesError> {
        let links = self.shelves.folder.links();
        for (nth, bench) in output.executables().into_iter().enumerate() {
            self.check_interrupt()?;
            let Some(known) = results
                .benches
                .get_mut(&bench_name(&bench.package, &bench.target))
            else {
                continue;
            };
            let Some(link) = KeptLink::find(&links, &find_linked(&bench.executable)) else {
                continue;
            };
            let place = Path::new("links").join(nth.to_string());
            // Without its link inputs an executable can still run, but not be linked again.
            if link.copy_to(&unfinished.join(&place)).is_ok() {
                known.link = Some(place);
            }
        }
        Ok(())
    }

    fn commit_key(&self, state: &State, commit: &Revision) -> Result<Key, SidesError> {
        let mut recipe = self.recipe(state, state.added.clone())?;
        recipe.commit = &commit.commit;
        Ok(recipe.key())
    }

    /// Returns the recipe for building `state`, with the hashes of `files` and of cargo's configuration files.
    fn recipe<'r>(
        &'r self,
        state: &'r State,
        mut files: Vec<HashedPath>,
    ) -> Result<Recipe<'r>, SidesError> {
        for path in &self.configuration {
            let hash = hash_file(path).map_err(source_error("cannot read", path))?;
            files.push(HashedPath {
                path: to_text(path),
                hash,
            });
        }
        Ok(Recipe {
            version: VERSION,
            commit: "",
            manifest: &self.manifest,
            source: self.sources_top(),
            root: &state.ground.root,
            facts: &self.request.toolchain.facts,
            toolchain: self.request.toolchain.rustup_name().map(Into::into),
            flags: decisive_flags(self.request.options, self.request.programs, &self.manifest),
            criterion: match self.harness {
                CriterionHarness::Perfcheck => CarriedSources::hash(),
                CriterionHarness::AsIs => String::new(),
            },
            variables: build_environment(),
            files,
            outside: OutsidePaths::collect(&state.wanted, &self.present.top).fingerprints(),
        })
    }
}

/// The output of a cargo build, and the Criterion that it used.
#[derive(Default)]
struct CargoResult {
    output: BuildOutput,
    criterion: CriterionBuild,
    /// Whether the sources of the harness or of a replacement had to be written.
    is_new_harness: bool,
}

/// Builds with the patches in the options of `order`. If the patches may have caused a failure, the error asks the caller to build without them.
fn build_patched(
    order: &BuildOrder<'_>,
    backup: &LockFileBackup,
    replaced: &[ReplaceableCriterion],
) -> Result<BuildOutput, NotReplaced> {
    resolve_dependencies(order)?;
    backup.keep_time()?;
    let (before, after) = backup.versions()?;
    check_lock_change(before, &after, replaced)?;
    match order.run_cargo() {
        // Any other failure, such as a full disk, has nothing to do with the harness. And if the library shares no package with Criterion, it would not
        // compile with Criterion either.
        Err(CargoError::Build {
            first_error: Some(error),
            ..
        }) if (error.library_of.as_ref())
            .is_none_or(|member| library_may_need_criterion(member, order.workspace, before)) =>
        {
            Err(NotReplaced::impossible(format!(
                "the benches do not compile with this harness: {}",
                error.text
            )))
        }
        Err(CargoError::Selection(message)) => {
            Err(NotReplaced::impossible(first_error_line(&message)))
        }
        outcome => Ok(outcome?),
    }
}

/// Lets cargo write the lock file. If cargo cannot, the error asks the caller to build without the replacement. That build fails for the same reason,
/// or succeeds.
fn resolve_dependencies(order: &BuildOrder<'_>) -> Result<(), NotReplaced> {
    order.resolve().map_err(|error| match error {
        CargoError::Metadata(message) => NotReplaced::impossible(first_error_line(&message)),
        other => other.into(),
    })
}

/// Returns the first error in cargo's output, without its prefix.
fn first_error_line(message: &str) -> &str {
    let errors = message
        .lines()
        .find_map(|line| line.strip_prefix("error: "));
    errors.unwrap_or("cargo cannot resolve the dependencies")
}

/// Returns the file that the linker wrote. Cargo puts a second name of a binary beside its directory `deps`, in which the file has another name.
fn find_linked(executable: &Path) -> PathBuf {
    let find = || {
        let stem = executable.file_stem()?.to_str()?.replace('-', "_");
        let entries = fs::read_dir(executable.parent()?.join("deps")).ok()?;
        let mut candidates = entries.flatten().map(|entry| entry.path()).filter(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let base = name
                .rsplit_once('-')
                .map(|(base, _)| base.replace('-', "_"));
            base.as_deref() == Some(&stem) && path.extension() == executable.extension()
        });
        candidates.find(|path| has_same_content(path, executable))
    };
    find().unwrap_or_else(|| executable.to_owned())
}

/// Reports whether both paths are names of one file, or of two files with the same content: where files cannot have two names, cargo copies a binary.
fn has_same_content(one: &Path, other: &Path) -> bool {
    let (Ok(facts), Ok(of_other)) = (read_file_facts(one), read_file_facts(other)) else {
        return false;
    };
    facts.identity() == of_other.identity()
        || facts.bytes == of_other.bytes
            && matches!((hash_file(one), hash_file(other)), (Ok(one), Ok(other)) if one == other)
}

fn bench_name(package: &str, target: &str) -> String {
    format!("{package} {target}")
}
