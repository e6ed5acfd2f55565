//! Imports runs that this tool exported elsewhere, unchanged and each only once.

use std::collections::{HashMap, HashSet};
use std::io;

use super::options::ImportOptions;
use crate::error::AppError;
use crate::interchange::{ExchangeError, InputContent, PortableRun, read_portable};
use crate::options::CommonOptions;
use crate::output::{self, ImportedRun, write_taken_over};
use crate::session::{Context, World};
use crate::stored::transfer::{
    ReferencePlace, find_run, portable_runs, referenced_runs, to_record,
};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{PortableRunId, ProgressReporter, RunId, Side};
use perfcheck_store::{Store, WorkspaceId, check_baseline_name, is_address};

/// A run that was read from one of the files.
struct FileRun<'a> {
    run: PortableRun,
    file: &'a str,
    /// Number of this run in the store, if it is stored already.
    known: Option<RunId>,
    /// The index that the run will have among the runs to store, or the index of the next run to store if the store has this one already.
    place: usize,
    baselines: Vec<String>,
}

/// Reads the files and stores their new runs, all or none.
pub(super) fn import_portable(
    files: &[InputContent],
    options: &ImportOptions,
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let mut found =
        world.with_progress("Reading", 0, |progress| read_runs(files, options, progress))?;
    if world.interrupt.is_requested() {
        return Err(ExchangeError::Interrupted.into());
    }
    let is_part = |one: &&FileRun<'_>| one.run.head.begun.partition.is_some();
    if let (true, Some(part)) = (is_address(&context.store_name), found.iter().find(is_part)) {
        return Err(AppError::Usage(format!(
            "{} is one part of a suite, but a team's store accepts only whole runs\n  help: cargo perfcheck merge FILE..., then `cargo perfcheck store push`",
            part.file
        )));
    }
    if let Some((store, workspace)) = context.open_stored()? {
        find_stored(&mut found, &store, workspace)?;
    }
    let mut numbers: Vec<Option<RunId>> = Vec::new();
    let fresh = found.iter_mut().filter(|one| one.known.is_none());
    for (place, one) in fresh.enumerate() {
        one.place = place;
    }
    if !options.dry_run {
        let (mut store, workspace) = context.open_store()?;
        choose_names(&mut found, options, &store, workspace, world)?;
        numbers = store_new_runs(&found, &mut store, workspace, world)?;
        for one in found.iter().filter(|one| one.known.is_some()) {
            for name in &one.baselines {
                if let Some(known) = one.known {
                    store.set_baseline(workspace, name, known)?;
                }
            }
        }
    }
    let lines: Vec<ImportedRun> = (found.iter())
        .map(|one| ImportedRun {
            run: one
                .known
                .or_else(|| numbers.get(one.place).copied().flatten()),
            known: one.known.is_some(),
            file: one.file.to_owned(),
            started: perfcheck_host::to_rfc3339(one.run.head.begun.started),
            benchmarks: one.run.count_benchmarks(),
            processes: one.run.processes.len(),
            is_base: is_base(&one.run),
            baselines: one.baselines.clone(),
        })
        .collect();
    write_taken_over(world.stdout, &lines, common.output.format)?;
    Ok(ExitCode::Clean)
}

fn is_base(run: &PortableRun) -> bool {
    (run.head.pair).is_some_and(|pair| pair.side == Side::Base)
}

/// Returns the runs of all files in their order. If a run occurs several times, only its first occurrence is returned.
fn read_runs<'a>(
    files: &'a [InputContent],
    options: &ImportOptions,
    progress: &ProgressReporter<'_>,
) -> Result<Vec<FileRun<'a>>, AppError> {
    let mut all: Vec<FileRun<'a>> = Vec::new();
    let bytes = files.iter().map(|file| file.bytes.len()).sum();
    let mut before = 0;
    for file in files {
        let mut runs = read_portable(file, (before, bytes), progress)?;
        before += file.bytes.len();
        let there = |all: &[FileRun<'_>], run: &PortableRun| {
            (all.iter()).any(|other| other.run.is_same_measurement(run))
        };
        // A pair is a duplicate only if both sides are duplicates.
        let doubled: Vec<bool> = (runs.iter())
            .map(|run| match run.head.pair {
                Some(pair) => there(&all, run) && there(&all, &runs[pair.partner]),
                None => there(&all, run),
            })
            .collect();
        let places = new_places(doubled.iter().map(|doubled| !doubled), all.len());
        for run in &mut runs {
            if let Some(pair) = &mut run.head.pair {
                pair.partner = places[pair.partner];
            }
        }
        let fresh = runs
            .into_iter()
            .zip(doubled)
            .filter(|(_, doubled)| !doubled);
        all.extend(fresh.map(|(run, _)| FileRun {
            run,
            file: &file.name,
            known: None,
            place: 0,
            baselines: Vec::new(),
        }));
    }
    if options.runs.is_empty() {
        return Ok(all);
    }
    select_runs(all, &options.runs)
}

/// Computes the index that each run has after the runs that are not `kept` are dropped. Indices begin at `first`. A dropped run gets the index of the
/// next kept run.
fn new_places(kept: impl Iterator<Item = bool>, first: usize) -> Vec<usize> {
    kept.scan(first, |next, kept| {
        let place = *next;
        *next += usize::from(kept);
        Some(place)
    })
    .collect()
}

/// Keeps the runs that have one of these names. If such a run is one side of a pair, this keeps the other side, too.
fn select_runs<'a>(all: Vec<FileRun<'a>>, only: &[String]) -> Result<Vec<FileRun<'a>>, AppError> {
    for wanted in only {
        if !(all.iter()).any(|one| one.run.head.baselines.contains(wanted)) {
            return Err(AppError::Usage(format!(
                "`--run {wanted}`: no run in the files has this name"
            )));
        }
    }
    let named = |one: &FileRun<'_>| {
        only.iter()
            .any(|name| one.run.head.baselines.contains(name))
    };
    let kept: Vec<bool> = (all.iter())
        .map(|one| {
            let partner = one.run.head.pair.and_then(|pair| all.get(pair.partner));
            named(one) || partner.is_some_and(named)
        })
        .collect();
    let places = new_places(kept.iter().copied(), 0);
    let mut picked = Vec::new();
    for (mut one, _) in all.into_iter().zip(kept).filter(|(_, kept)| *kept) {
        if let Some(pair) = &mut one.run.head.pair {
            pair.partner = places[pair.partner];
        }
        picked.push(one);
    }
    Ok(picked)
}

/// Records which of the runs are in the store already. A side of a pair counts only if the store has the other side, too.
fn find_stored(
    found: &mut [FileRun<'_>],
    store: &Store,
    workspace: WorkspaceId,
) -> Result<(), AppError> {
    let mut known = Vec::new();
    for one in found.iter() {
        let mut same = None;
        for candidate in store.find_runs_begun(workspace, one.run.head.reference())? {
            let stored =
                portable_runs(store, workspace, &[candidate], &ProgressReporter::silent())?;
            if (stored.first()).is_some_and(|stored| stored.is_same_measurement(&one.run)) {
                same = Some(candidate);
                break;
            }
        }
        known.push(same);
    }
    for (at, one) in found.iter_mut().enumerate() {
        let partner = one.run.head.pair.map(|pair| known[pair.partner]);
        one.known = known[at].filter(|_| partner.is_none_or(|partner| partner.is_some()));
    }
    Ok(())
}

/// Determines the names under which the runs are saved: the name that the user gives, or the runs' own names if these are not yet used.
fn choose_names(
    found: &mut [FileRun<'_>],
    options: &ImportOptions,
    store: &Store,
    workspace: WorkspaceId,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    if let Some(name) = &options.save_baseline {
        let mut candidates: Vec<_> = found.iter_mut().filter(|one| !is_base(&one.run)).collect();
        let [only] = candidates.as_mut_slice() else {
            return Err(AppError::Usage(format!(
                "`--save-baseline {name}` needs a single run, but there are {}\n  help: select one with `--run NAME`, or omit `--save-baseline` to keep their names",
                candidates.len()
            )));
        };
        if only.run.head.begun.partition.is_some() {
            return Err(AppError::Usage(format!(
                "{} is one part of a suite, but only a whole suite can be a baseline\n  help: cargo perfcheck merge --save-baseline {name} FILE...",
                only.file
            )));
        }
        only.baselines = vec![name.clone()];
        return Ok(());
    }
    for one in found {
        for name in &one.run.head.baselines {
            check_baseline_name(name)?;
            match store.baseline(workspace, name)? {
                Some(taken) if Some(taken) == one.known => {}
                Some(taken) if !options.move_names => {
                    let warning = format!(
                        "`{name}` still names run {taken}; use `--move-names` to move this name to the imported run, or `--save-baseline` to choose another name"
                    );
                    output::write_warning(world.stderr, &warning)?;
                }
                _ => one.baselines.push(name.clone()),
            }
        }
    }
    Ok(())
}

fn store_new_runs(
    found: &[FileRun<'_>],
    store: &mut Store,
    workspace: WorkspaceId,
    world: &mut World<'_>,
) -> Result<Vec<Option<RunId>>, AppError> {
    let fresh: Vec<&FileRun<'_>> = found.iter().filter(|one| one.known.is_none()).collect();
    if fresh.is_empty() {
        return Ok(Vec::new());
    }
    let together: HashMap<PortableRunId, ReferencePlace> = (found.iter())
        .map(|one| {
            let run = one
                .known
                .map_or(ReferencePlace::Together(one.place), ReferencePlace::Stored);
            (one.run.head.reference(), run)
        })
        .collect();
    let (mut lost_verdicts, mut lost_runs) = (0, HashSet::new());
    let mut runs = Vec::new();
    for one in fresh {
        let mut run = one.run.clone();
        if let Some(pair) = &mut run.head.pair {
            pair.partner = found[pair.partner].place;
        }
        let mut named = HashMap::new();
        for reference in referenced_runs(&run) {
            if named.contains_key(&reference) {
                continue;
            }
            let known = match together.get(&reference) {
                Some(together) => *together,
                None => find_run(reference, store, workspace)?
                    .map_or(ReferencePlace::Nowhere, ReferencePlace::Stored),
            };
            named.insert(reference, known);
        }
        let is_lost =
            |reference: &PortableRunId| matches!(named[reference], ReferencePlace::Nowhere);
        let of_verdicts = run.verdicts.iter().filter_map(|found| found.reference);
        lost_verdicts += of_verdicts.filter(is_lost).count();
        let concluded = run.conclusion.iter().flat_map(|found| found.runs.values());
        lost_runs.extend(concluded.copied().filter(is_lost));
        runs.push(to_record(run, one.baselines.clone(), named));
    }
    warn_of_lost(lost_verdicts, lost_runs.len(), world)?;
    let fresh = found.iter().filter(|one| one.known.is_none());
    let count = fresh.map(|one| one.run.count_benchmarks()).sum();
    let numbers = world.with_progress("Storing", count, |progress| {
        store.insert_transferred(workspace, &runs, progress)
    })?;
    Ok(numbers.into_iter().map(Some).collect())
}

/// Warns of references to runs that are in neither the store nor the files. `verdicts` is the number of verdicts that were compared with such a run,
/// and `runs` is the number of such runs on which stored conclusions rely.
fn warn_of_lost(verdicts: usize, runs: usize, world: &mut World<'_>) -> io::Result<()> {
    if verdicts > 0 {
        let warning = format!(
            "verdicts kept without their reference runs: {verdicts} (those runs are neither in this store nor in the files)"
        );
        output::write_warning(world.stderr, &warning)?;
    }
    if runs > 0 {
        let warning = format!(
            "some verdicts rely on runs that are neither in this store nor in the files (missing runs: {runs}); the verdicts are kept, and `explain` says where a run is missing"
        );
        output::write_warning(world.stderr, &warning)?;
    }
    Ok(())
}
