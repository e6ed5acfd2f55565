//! Baselines that can be run again: what is kept with a baseline, and how it comes back as one side of an A/B measurement.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::against::{
    Built, InTurn, InUse, beside_revision, discover_both, same_bytes, versions_may_differ,
};
use super::cache_build::cache_directory;
use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::options::{RunOptions, StoreOptions};
use super::pairing::{Pairing, name};
use super::prepare::{build, nothing_found};
use crate::cargo::BenchTarget;
use crate::compare::{Circumstances, differences};
use crate::exit_code::ExitCode;
use crate::host::{
    self, Change, OpenedFiles, changed_files, default_secret_path, private_libraries,
};
use crate::measure::Discovered;
use crate::model::{
    BuildFacts, BySide, Environment, FileFact, KeptTarget, LIBRARY_PATH_VARIABLE, Metric, Run,
    RunId, Secret, TargetFacts,
};
use crate::report::write_warning;
use crate::sides::{BenchesFrom, Stage};
use crate::store::{DEFAULT_QUOTA_BYTES, Reason, Store};

/// Tests give an executable times of its own by this variable; they stay its own when it is run again.
const SCRIPTED_CLOCK: &str = "PERFCHECK_SCRIPTED_CLOCK";

/// Watches what the benches open, in order to tell later whether it is still the same.
pub(super) struct Watch {
    directory: PathBuf,
    files: OpenedFiles,
}

/// Begins to watch the directories that the targets run in.
pub(super) fn watch(targets: &[&BenchTarget]) -> Vec<Watch> {
    let directories: BTreeSet<&PathBuf> = targets.iter().map(|target| &target.directory).collect();
    directories
        .into_iter()
        .filter_map(|directory| {
            Some(Watch {
                directory: directory.clone(),
                files: OpenedFiles::watch(directory, &[])?,
            })
        })
        .collect()
}

/// Takes what was noted so far, before there is too much of it.
pub(super) fn drain(watches: &mut [Watch]) {
    for watch in watches {
        watch.files.drain();
    }
}

/// What was opened, by directory.
pub(super) fn opened(
    watches: Vec<Watch>,
    world: &mut World<'_>,
) -> Result<Vec<(PathBuf, Vec<FileFact>)>, AppError> {
    let mut found = Vec::new();
    for watch in watches {
        let opened = watch.files.finish();
        for gap in opened.gaps {
            let text = format!(
                "of the files that the benches open in {}, some may be missing: {gap}",
                watch.directory.display()
            );
            write_warning(world.stderr, &text)?;
        }
        found.push((watch.directory, opened.files));
    }
    Ok(found)
}

/// Keeps the candidate of an A/B run as that of the checkout, wherever it was built and run: its directory in the cache will be another state's.
pub(super) fn keep_candidate(
    store: &mut Store,
    run: RunId,
    targets: &[BenchTarget],
    watches: Vec<Watch>,
    context: &Context,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let packages = context.workspace.bench_packages(None);
    let at_home = |target: &BenchTarget| {
        let package = packages.iter().find(|found| found.name == target.package);
        let directory = package.and_then(|found| found.manifest.parent());
        directory.map_or_else(|| target.directory.clone(), Path::to_owned)
    };
    let mut opened = opened(watches, world)?;
    for (directory, _) in &mut opened {
        let lives_there = |target: &&BenchTarget| target.directory == *directory;
        if let Some(target) = targets.iter().find(lives_there) {
            *directory = at_home(target);
        }
    }
    let targets: Vec<BenchTarget> = targets
        .iter()
        .map(|target| moved(target, at_home(target)))
        .collect();
    keep(store, run, &targets, &opened, world)
}

/// The target with another directory, also where its variables name that.
fn moved(target: &BenchTarget, directory: PathBuf) -> BenchTarget {
    let mut moved = target.clone();
    for value in moved.variables.values_mut().flatten() {
        if let Ok(inside) = Path::new(&*value).strip_prefix(&target.directory) {
            // Joined to nothing, a path would end in a slash.
            *value = if inside.as_os_str().is_empty() {
                directory.clone().into_os_string()
            } else {
                directory.join(inside).into_os_string()
            };
        }
    }
    moved.directory = directory;
    moved
}

/// Keeps the executables of a run. Where that cannot be, the run has its numbers all the same, and the user is told why.
pub(super) fn keep(
    store: &mut Store,
    run: RunId,
    targets: &[BenchTarget],
    opened: &[(PathBuf, Vec<FileFact>)],
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let mut kept = Vec::new();
    for target in targets {
        let (target, doubt) = kept_target(target, opened, world);
        if let Some(doubt) = doubt {
            let text = format!("the executable of `{}` is kept, but {doubt}", target.target);
            write_warning(world.stderr, &text)?;
        }
        kept.push(target);
    }
    let targets = kept;
    let kept = secret(world).and_then(|secret| Ok(store.keep_executables(run, &targets, &secret)?));
    if let Err(error) = kept {
        write_warning(
            world.stderr,
            &format!("the executables are not kept, only the numbers are: {error}"),
        )?;
        return Ok(());
    }
    let plan = store.plan_removal(DEFAULT_QUOTA_BYTES, Reason::Unnamed)?;
    if plan.stored_bytes > plan.quota_bytes {
        write_warning(
            world.stderr,
            &format!(
                "kept executables take {} MiB, more than {} MiB\n  help: `cargo perfcheck baseline prune` shows what could go",
                plan.stored_bytes >> 20,
                plan.quota_bytes >> 20
            ),
        )?;
    }
    Ok(())
}

fn secret(world: &World<'_>) -> Result<Secret, AppError> {
    let path = match &world.variables.secret {
        Some(path) => path.clone(),
        None => default_secret_path()?,
    };
    Ok(host::secret(&path)?)
}

fn kept_target(
    target: &BenchTarget,
    opened: &[(PathBuf, Vec<FileFact>)],
    world: &World<'_>,
) -> (KeptTarget, Option<String>) {
    let executable = target.executable().to_owned();
    let mut variables = target.variables.clone();
    let library_path = variables
        .get(LIBRARY_PATH_VARIABLE)
        .cloned()
        .flatten()
        .unwrap_or_default();
    // Executables lie in `deps` or beside it; what they share with others of the build lies there too. Cargo names the other places.
    let below: Vec<PathBuf> = executable
        .ancestors()
        .skip(1)
        .take(2)
        .map(Path::to_owned)
        .chain(std::env::split_paths(&library_path))
        .collect();
    let libraries = private_libraries(&executable, &target.directory, &library_path, &below);
    let doubt = match &libraries {
        None => Some("which dynamic libraries it needs is not known".to_owned()),
        Some(libraries) if !libraries.fixed.is_empty() => Some(format!(
            "it will use these libraries as they are by then: {}",
            in_a_row(&libraries.fixed)
        )),
        Some(_) => None,
    };
    if let Some(script) = &world.variables.scripted_clock {
        variables.insert(SCRIPTED_CLOCK.to_owned(), Some(script.into()));
    }
    let (opened_below, opened) = opened
        .iter()
        .find(|(directory, _)| *directory == target.directory)
        .cloned()
        .unwrap_or_else(|| (target.directory.clone(), Vec::new()));
    let kept = KeptTarget {
        package: target.package.clone(),
        target: target.target.clone(),
        program: executable,
        arguments: Vec::new(),
        directory: target.directory.clone(),
        variables,
        libraries: libraries.map_or_else(Vec::new, |libraries| libraries.private),
        opened,
        opened_below,
    };
    (kept, doubt)
}

fn in_a_row(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(", ")
}

/// What came of the wish to run a baseline again.
pub(super) enum Rerun {
    /// It was measured in turn with the work tree, and reported.
    Done(ExitCode),
    /// It cannot be, for this reason: its numbers are what is left. Without a reason there is nothing to say about it.
    Impossible(Option<String>),
}

/// Measures the work tree against the run called `baseline`, both in turn, if that run can be run again: by its kept
/// executables, else by a new build of its commit.
pub(super) fn against_baseline(
    options: &RunOptions,
    baseline: &str,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<Rerun, AppError> {
    let load = host::load();
    let mut context = Context::load(&world.variables, common)?;
    context.tables.layers.command_line = options.layer;
    let Some((store, workspace)) = context.stored()? else {
        return Ok(Rerun::Impossible(None));
    };
    let Ok(run) = resolve_run(&store, workspace, baseline) else {
        return Ok(Rerun::Impossible(None));
    };
    let head = store.run(run)?;
    let again = RunAgain {
        head: &head,
        words: if baseline.parse() == Ok(run.0) {
            format!("run {run}")
        } else {
            format!("`{baseline}` (run {run})")
        },
        options,
        context: &context,
        common,
    };
    let (built, found) = match again.sides(&store, world)? {
        Ok(both) => both,
        Err(reason) => return Ok(Rerun::Impossible(reason)),
    };
    drop(store);
    if found.candidate.is_empty() {
        return Err(nothing_found(&options.filter, &found.candidate));
    }
    let pairing = Pairing::of(
        found,
        &built.identical,
        options.save_baseline.is_some(),
        versions_may_differ(options),
    );
    let turns = InTurn {
        options,
        common,
        context: &context,
        built: &built,
        load,
        control: false,
        named: Some(baseline),
    };
    turns.measure_and_report(pairing, world).map(Rerun::Done)
}

/// A stored run that is to be run again.
pub(super) struct RunAgain<'a> {
    pub(super) head: &'a Run,
    pub(super) words: String,
    pub(super) options: &'a RunOptions,
    pub(super) context: &'a Context,
    pub(super) common: &'a StoreOptions,
}

type Both = (Built, BySide<Discovered>);

impl RunAgain<'_> {
    /// Both sides, ready to be measured; else why not.
    pub(super) fn sides(
        &self,
        store: &Store,
        world: &mut World<'_>,
    ) -> Result<Result<Both, Option<String>>, AppError> {
        let reason = match self.kept_sides(store, world)? {
            Ok(both) => return Ok(Ok(both)),
            Err(Unable::Incomparable) => return Ok(Err(None)),
            Err(Unable::Because(reason)) => reason,
        };
        let clean = self.head.git.as_ref().filter(|git| !git.dirty);
        let (Some(git), Some(checkout)) = (clean, &self.context.checkout) else {
            return Ok(Err(Some(format!(
                "{reason}, and its sources are not a commit that could be built again"
            ))));
        };
        // Git is not handed what a store says, which may come from elsewhere, but the hash that git knows by that name.
        let revision = match checkout.revision(&git.commit) {
            Ok(revision) => revision,
            Err(error) => return Ok(Err(Some(format!("{reason}, and {error}")))),
        };
        let built = beside_revision(
            &revision,
            BenchesFrom::Revision,
            self.context,
            self.common,
            world,
        );
        let mut built = match built {
            Ok(built) => built,
            Err(AppError::Sides(error)) if !error.is_interruption() => {
                return Ok(Err(Some(format!("{reason}, and {error}"))));
            }
            Err(other) => return Err(other),
        };
        built.words = format!("{}, built again", self.words);
        let found = discover_both(self.options, &mut built, self.context, world)?;
        if let Some(failure) = found.base.failures.first() {
            return Ok(Err(Some(format!(
                "{reason}, and `{}` as its commit has it does not run: {}",
                failure.target, failure.message
            ))));
        }
        Ok(Ok((built, found)))
    }

    /// The kept executables beside those of the work tree.
    fn kept_sides(
        &self,
        store: &Store,
        world: &mut World<'_>,
    ) -> Result<Result<Both, Unable>, AppError> {
        let because = |reason: String| Ok(Err(Unable::Because(reason)));
        let records = store.kept(self.head.id)?;
        let (facts, mut candidate) = build(self.context, self.common, world)?;
        if !self.is_comparable(&facts, world) {
            return Ok(Err(Unable::Incomparable));
        }
        if records.is_empty() {
            return because(format!("{} has no kept executables", self.words));
        }
        let secret = match secret(world) {
            Ok(secret) => secret,
            Err(error) => return because(error.to_string()),
        };
        let stage = Stage::open(&cache_directory(world)?)?;
        let mut base = Vec::new();
        let mut remarks = Vec::new();
        let mut identical = BTreeSet::new();
        for (ordinal, record) in records.iter().enumerate() {
            let kept = match store.extract(record, &secret, &stage.base(ordinal)) {
                Ok(kept) => kept,
                Err(error) => return because(error.to_string()),
            };
            let of_target = |target: &&mut BenchTarget| {
                target.package == kept.package && target.target == kept.target
            };
            let Some(target) = candidate.iter_mut().find(of_target) else {
                continue;
            };
            let mut old = target.clone().with_executable(kept.program.clone());
            old.variables = kept.variables;
            if kept.directory.is_dir() {
                old.directory = kept.directory;
            }
            let (below, files) = &kept.opened;
            let changed = changed_in_words(&kept.target, files, below);
            // The same program is another one with other libraries or files.
            let is_all = changed.is_none() && record.facts.libraries.is_empty();
            remarks.extend(changed);
            if is_all && same_bytes(&old, target) && world.variables.scripted_clock.is_none() {
                identical.insert(name(target));
            }
            let called = Path::new(kept.program.file_name().unwrap_or_default());
            let copy = stage.copy_candidate(ordinal, called, target.executable())?;
            *target = target.clone().with_executable(copy);
            base.push(old);
        }
        let mut built = Built {
            targets: BySide { base, candidate },
            identical,
            environment: Environment {
                host: host::detect(world.variables.ci),
                build: facts,
            },
            base_git: self.head.git.clone(),
            words: format!("{}, run again", self.words),
            remarks,
            _in_use: InUse::Stage(stage),
        };
        let found = discover_both(self.options, &mut built, self.context, world)?;
        if let Some(failure) = found.base.failures.first() {
            return because(format!(
                "the kept executable of `{}` does not run: {}",
                failure.target, failure.message
            ));
        }
        Ok(Ok((built, found)))
    }

    /// Whether machine and build are such that both sides can be compared at all.
    fn is_comparable(&self, facts: &BuildFacts, world: &World<'_>) -> bool {
        let here = Environment {
            host: host::detect(world.variables.ci),
            build: facts.clone(),
        };
        let target = TargetFacts::default();
        let circumstances = |environment| Circumstances {
            environment,
            target: &target,
            version: None,
            metric: &Metric::Time,
        };
        differences(
            &circumstances(&here),
            &circumstances(&self.head.environment),
        )
        .allowing(&self.options.comparison.allow_different)
        .comparable()
    }
}

/// Why kept executables cannot be used.
enum Unable {
    /// Whatever is run, the sides would not be comparable: the stored comparison says in which facts they differ.
    Incomparable,
    Because(String),
}

fn changed_in_words(target: &str, recorded: &[FileFact], below: &Path) -> Option<String> {
    let changed: Vec<String> = changed_files(recorded, below)
        .into_iter()
        .map(|(path, change)| match change {
            Change::Gone => format!("{} (gone)", path.display()),
            Change::Differs => path.display().to_string(),
        })
        .collect();
    (!changed.is_empty()).then(|| {
        format!(
            "files that the benches of `{target}` opened have changed since: {}",
            changed.join(", ")
        )
    })
}
