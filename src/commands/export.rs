//! `cargo perfcheck store export RUN...`: exports stored runs for other machines and other programs.

use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

use crate::delivery::files::{check_destination, replace_file};
use crate::error::AppError;
use crate::interchange::{
    ExchangeError, ExportedRun, PortableRun, write_benchstat, write_bmf, write_criterion,
    write_csv, write_portable,
};
use crate::options::CommonOptions;
use crate::output::{self, MessageFormat, write_exported};
use crate::session::{Context, World, resolve_run};
use crate::stored::transfer::portable_runs;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::RunId;
use perfcheck_store::{Store, WorkspaceId};

/// A supported export format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// All stored data of a run, for `store import`
    #[value(name = "jsonl")]
    Portable,
    /// Criterion's directory tree, with each run as a baseline
    Criterion,
    /// Lines for benchstat, one for each process and benchmark
    #[value(alias = "go")]
    Benchstat,
    /// Bencher Metric Format
    Bmf,
    /// CSV with one row for each sample
    Csv,
}

impl ExportFormat {
    fn name(self) -> String {
        let word = self.to_possible_value();
        word.map_or_else(String::new, |word| word.get_name().to_owned())
    }

    fn takes_one(self) -> bool {
        matches!(self, Self::Benchstat | Self::Bmf)
    }
}

const AFTER_HELP: &str = "\
Examples:
  cargo perfcheck store export main --output main.jsonl          a whole run, for another machine or CI job
  cargo perfcheck store import main.jsonl                        on that machine
  cargo perfcheck store export 12 13 --format criterion --output target/criterion
  cargo perfcheck store export old --format benchstat > old.txt  then: benchstat old.txt new.txt
  cargo perfcheck store export --format bmf | bencher run --adapter json --file /dev/stdin
  cargo perfcheck store export latest --format csv --output samples.csv

Exit status: 0 success; 2 usage error; 5 store unusable, or a file could not be written; 6 no such run.";

/// Options of `store export`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct ExportOptions {
    /// Export these runs: numbers, baselines, `latest` or `@commit`
    #[arg(
        value_name = "RUN",
        default_value = "latest",
        allow_negative_numbers = true
    )]
    pub runs: Vec<String>,
    /// Write in this format
    #[arg(long, value_name = "FMT", default_value = "jsonl")]
    pub format: ExportFormat,
    /// Write to this file (`--format criterion`: this directory); `-` is stdout
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// Carries out `cargo perfcheck store export`.
pub fn export(
    options: &ExportOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let (store, workspace) = context.open_required()?;
    let mut runs: Vec<RunId> = Vec::new();
    for word in &options.runs {
        let run = resolve_run(&store, workspace, word)?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    if options.format.takes_one() && runs.len() > 1 {
        return Err(AppError::Usage(format!(
            "`--format {name}` exports only one run\n  help: export each run separately: `--format {name} --output old.txt RUN`",
            name = options.format.name()
        )));
    }
    let output = options
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    // Criterion's directory needs no check here: it is created if it does not exist.
    if let Some(path) = output.filter(|_| options.format != ExportFormat::Criterion) {
        check_destination(path)?;
    }
    if options.format == ExportFormat::Criterion {
        let root = output.ok_or_else(|| {
            AppError::Usage(
                "`--format criterion` needs an output directory\n  help: name one, e.g. `--output target/criterion`"
                    .to_owned(),
            )
        })?;
        let exported = read_run(&store, workspace, &runs, world)?;
        let (count, left_out) =
            world.with_progress("Writing", benchmarks_of(&exported), |progress| {
                write_criterion(root, &exported, progress)
            })?;
        for one in left_out {
            output::write_warning(world.stderr, &one)?;
        }
        if count == 0 {
            return Err(AppError::Usage(
                "nothing was exported: no benchmark of these runs has samples that Criterion's format supports".to_owned(),
            ));
        }
    } else {
        let bytes = serialize_runs(&store, workspace, options.format, &runs, world)?;
        let Some(path) = output else {
            world.stdout.write_all(&bytes)?;
            return Ok(ExitCode::Clean);
        };
        replace_file(path, &bytes).map_err(|source| ExchangeError::Write {
            path: path.to_owned(),
            source,
        })?;
    }
    if let Some(path) = output {
        let quiet = common.output.quiet && common.output.format == MessageFormat::Human;
        if !quiet {
            let (path, name) = (path.display().to_string(), options.format.name());
            write_exported(world.stdout, &runs, &name, &path, common.output.format)?;
        }
    }
    Ok(ExitCode::Clean)
}

/// Serializes the runs into one file.
fn serialize_runs(
    store: &Store,
    workspace: WorkspaceId,
    format: ExportFormat,
    runs: &[RunId],
    world: &mut World<'_>,
) -> Result<Vec<u8>, AppError> {
    let mut bytes = Vec::new();
    if format == ExportFormat::Portable {
        let runs = with_partners(store, runs)?;
        let runs = world.with_progress("Reading runs", 0, |progress| {
            portable_runs(store, workspace, &runs, progress)
        })?;
        let count = runs.iter().map(PortableRun::count_benchmarks).sum();
        world.with_progress("Writing", count, |progress| {
            write_portable(&mut bytes, &runs, env!("CARGO_PKG_VERSION"), progress)
        })?;
        return Ok(bytes);
    }
    let runs = read_run(store, workspace, runs, world)?;
    world.with_progress("Writing", benchmarks_of(&runs), |progress| {
        if format == ExportFormat::Csv {
            return write_csv(&mut bytes, &runs, progress);
        }
        let mut each = runs.iter();
        each.try_for_each(|run| match format {
            ExportFormat::Bmf => write_bmf(&mut bytes, run, progress),
            _ => write_benchstat(&mut bytes, run, progress),
        })
    })?;
    Ok(bytes)
}

fn benchmarks_of(runs: &[ExportedRun]) -> usize {
    runs.iter().map(|run| run.measurements.len()).sum()
}

/// Adds the other side of each run that was measured side by side. The result is in ascending order, so that each base comes before its candidate.
fn with_partners(store: &Store, runs: &[RunId]) -> Result<Vec<RunId>, AppError> {
    let mut all = runs.to_vec();
    for run in runs {
        all.extend(store.run(*run)?.pair.map(|pair| pair.partner));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

fn read_run(
    store: &Store,
    workspace: WorkspaceId,
    runs: &[RunId],
    world: &mut World<'_>,
) -> Result<Vec<ExportedRun>, AppError> {
    let names = store.baselines(workspace)?;
    world.with_progress("Reading runs", 0, |progress| {
        let read = runs.iter().enumerate().map(|(done, id)| {
            progress.report(done, runs.len());
            let name = names.iter().find(|baseline| baseline.run == *id);
            Ok(ExportedRun {
                name: name.map_or_else(|| format!("run-{id}"), |baseline| baseline.name.clone()),
                run: store.run(*id)?,
                measurements: store.measurements(*id, None)?,
            })
        });
        read.collect()
    })
}
