//! `cargo perfcheck export RUN...`: stored runs for other machines and other programs.

use clap::{Args, ValueEnum};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::app::context::{Context, World, resolve_run};
use crate::app::deliver::whole_file::replace;
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::app::stored::transfer::{portable_runs, reading_runs};
use crate::exchange::{
    ExchangeError, ExportedRun, write_benchstat, write_bmf, write_criterion, write_csv,
    write_portable,
};
use crate::report::{self, MessageFormat, Progress, write_exported};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{Observer, RunId};
use perfcheck_engine::store::{Store, WorkspaceId};

/// A format that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Everything that the store has of a run, for `import`
    #[value(name = "jsonl")]
    Portable,
    /// The tree that Criterion writes, each run a baseline
    Criterion,
    /// Lines for benchstat, one a launch
    #[value(alias = "go")]
    Benchstat,
    /// Bencher Metric Format
    Bmf,
    /// Every sample as a row
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
  cargo perfcheck export main --output main.jsonl          a run, whole, for another machine or CI job
  cargo perfcheck import main.jsonl                        ... and there
  cargo perfcheck export 12 13 --format criterion --output target/criterion
  cargo perfcheck export old --format benchstat > old.txt  with another one: benchstat old.txt new.txt
  cargo perfcheck export --format bmf | bencher run --adapter json --file /dev/stdin
  cargo perfcheck export latest --format csv --output samples.csv

docs/EXCHANGE.md says what each format keeps and loses.

Exit status: 0, 2 usage, 5 store unusable, or a file that cannot be written, 6 no such run.";

/// What is exported, and where to.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ExportOptions {
    /// Runs: numbers, baselines, `latest` or `@commit`
    #[arg(value_name = "RUN", default_value = "latest")]
    pub runs: Vec<String>,
    /// Format to write
    #[arg(long, value_name = "FMT", default_value = "jsonl")]
    pub format: ExportFormat,
    /// File to write to, or directory of Criterion's format; `-` is the standard output
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// Runs the command.
pub fn export(
    options: &ExportOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    let (store, workspace) = context.require_stored()?;
    let mut runs: Vec<RunId> = Vec::new();
    for word in &options.runs {
        let run = resolve_run(&store, workspace, word)?;
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    if options.format.takes_one() && runs.len() > 1 {
        return Err(AppError::Usage(format!(
            "a {name} file is one run\n  help: export each by itself: `--format {name} --output old.txt RUN`",
            name = options.format.name()
        )));
    }
    let output = options
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
    if options.format == ExportFormat::Criterion {
        let root = output.ok_or_else(|| {
            AppError::Usage(
                "Criterion's format is a directory\n  help: `--output target/criterion`, or another one"
                    .to_owned(),
            )
        })?;
        let exported = exported(&store, workspace, &runs, &progress)?;
        drop(progress);
        let (count, left_out) = write_criterion(root, &exported)?;
        for one in left_out {
            report::write_warning(world.stderr, &one)?;
        }
        if count == 0 {
            return Err(AppError::Usage(
                "nothing was exported: no benchmark of these runs has samples that Criterion's files can hold".to_owned(),
            ));
        }
    } else if let Some(path) = output {
        let mut bytes = Vec::new();
        write(
            &mut bytes,
            &store,
            workspace,
            options.format,
            &runs,
            &progress,
        )?;
        replace(path, &bytes).map_err(|source| ExchangeError::Write {
            path: path.to_owned(),
            source,
        })?;
    } else {
        write(
            world.stdout,
            &store,
            workspace,
            options.format,
            &runs,
            &progress,
        )?;
        return Ok(ExitCode::Clean);
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

fn write(
    writer: &mut dyn Write,
    store: &Store,
    workspace: WorkspaceId,
    format: ExportFormat,
    runs: &[RunId],
    observer: &dyn Observer,
) -> Result<(), AppError> {
    let exported = || exported(store, workspace, runs, observer);
    match format {
        ExportFormat::Portable => {
            let runs = with_partners(store, runs)?;
            let runs = portable_runs(store, workspace, &runs, observer)?;
            write_portable(writer, &runs, env!("CARGO_PKG_VERSION"))?;
        }
        ExportFormat::Csv => write_csv(writer, &exported()?)?,
        ExportFormat::Benchstat => {
            for run in exported()? {
                write_benchstat(writer, &run)?;
            }
        }
        ExportFormat::Bmf => {
            for run in exported()? {
                write_bmf(writer, &run)?;
            }
        }
        ExportFormat::Criterion => {}
    }
    Ok(())
}

/// The runs, and the other sides of those that are sides of an A/B measurement; ascending, so that bases come before candidates.
fn with_partners(store: &Store, runs: &[RunId]) -> Result<Vec<RunId>, AppError> {
    let mut all = runs.to_vec();
    for run in runs {
        all.extend(store.run(*run)?.pair.map(|pair| pair.partner));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

fn exported(
    store: &Store,
    workspace: WorkspaceId,
    runs: &[RunId],
    observer: &dyn Observer,
) -> Result<Vec<ExportedRun>, AppError> {
    let names = store.baselines(workspace)?;
    let read = runs.iter().enumerate().map(|(done, id)| {
        observer.observe(&reading_runs(done, runs.len()));
        let name = names.iter().find(|baseline| baseline.run == *id);
        Ok(ExportedRun {
            name: name.map_or_else(|| format!("run-{id}"), |baseline| baseline.name.clone()),
            run: store.run(*id)?,
            measurements: store.measurements(*id, None)?,
        })
    });
    let read = read.collect();
    observer.observe(&reading_runs(runs.len(), runs.len()));
    read
}
