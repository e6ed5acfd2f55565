//! Keeping the executables of a run, with all that running them again takes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::report::write_warning;
use perfcheck_analysis::model::{FileFact, KeptTarget, LIBRARY_PATH_VARIABLE, RunId, Secret};
use perfcheck_engine::cargo::BenchTarget;
use perfcheck_engine::host::{self, OpenedFiles, default_secret_path, private_libraries};
use perfcheck_engine::store::{DEFAULT_QUOTA_BYTES, Reason, Store};

/// Tests give an executable times of its own by this variable; they stay its own when it is run again.
const SCRIPTED_CLOCK: &str = "PERFCHECK_SCRIPTED_CLOCK";

/// Watches what the benches open, in order to tell later whether it is still the same.
pub(in crate::app) struct Watch {
    directory: PathBuf,
    files: OpenedFiles,
}

/// Begins to watch the directories that the targets run in.
pub(in crate::app) fn watch(targets: &[&BenchTarget]) -> Vec<Watch> {
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
pub(in crate::app) fn drain(watches: &mut [Watch]) {
    for watch in watches {
        watch.files.drain();
    }
}

/// What was opened, by directory.
pub(in crate::app) fn opened(
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
pub(in crate::app) fn keep_candidate(
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
pub(in crate::app) fn keep(
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
                "kept executables take {} MiB, more than {} MiB\n  help: `cargo perfcheck store prune --executables` shows what could go",
                plan.stored_bytes >> 20,
                plan.quota_bytes >> 20
            ),
        )?;
    }
    Ok(())
}

pub(in crate::app) fn secret(world: &World<'_>) -> Result<Secret, AppError> {
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
