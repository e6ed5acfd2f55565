//! `cargo perfcheck report`: a page about a run or about two that are compared, and where it goes.

use clap::Args;
use std::path::{Path, PathBuf};

use crate::app::context::{Context, World, resolve_run};
use crate::app::deliver::page::PageSubject;
use crate::app::deliver::page_place::{file_at, is_directory, name_of};
use crate::app::deliver::place::check_place;
use crate::app::deliver::whole_file::write_whole;
use crate::app::deliver::working::working;
use crate::app::error::AppError;
use crate::app::options::{ComparisonOptions, StoreOptions};
use crate::app::stored::comparison::StoredComparison;
use crate::app::stored::conclusions::findings_of;
use crate::app::stored::sides::run_with_verdicts;
use crate::report::{write_page, write_page_place, write_warning};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Findings, Limits};
use perfcheck_analysis::model::RunId;
use perfcheck_engine::host;
use perfcheck_engine::measure::Filter;
use perfcheck_engine::store::{Store, WorkspaceId};

const AFTER_REPORT: &str = "\
The page is one file that needs no network and no server: send it, attach it to a CI job, open it from a disk. It has a table of all
benchmarks, charts and every statistic of each, how each verdict came about, and where and how the runs were measured. Nothing is built or run.

Examples:
  cargo perfcheck report --html report.html      the latest run with what it was compared with
  cargo perfcheck report 12 --html public/       run 12, as public/index.html
  cargo perfcheck report main latest --html a.html
                                                 `latest` compared with `main`, as `compare main latest` does it
  cargo perfcheck report --open                  the latest run, in the browser

Exit status: 0 whatever the verdicts are, 2 usage, 4 nothing to compare, 5 store or file unusable, 6 no such run.";

/// Which page, and where to.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = AFTER_REPORT)]
pub struct PageOptions {
    /// A run (default: latest), or two: the reference and what is compared with it. Numbers, baselines, `latest` or `@commit`
    #[arg(value_name = "RUN", num_args = 0..=2)]
    pub runs: Vec<String>,
    /// Write the page into this file, or as index.html into this directory (it exists or ends with `/`); `-` is stdout
    #[arg(long, value_name = "FILE|DIR")]
    pub html: Option<PathBuf>,
    /// Open the page in the browser; without --html it goes to a temporary directory
    #[arg(long)]
    pub open: bool,
}

/// Runs the command.
pub fn report(
    options: &PageOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let to_stdout = options.html.as_deref() == Some(Path::new("-"));
    match (&options.html, options.open) {
        (None, false) => {
            return Err(AppError::Usage(
                "a report needs a place\n  help: `--html report.html` writes a page there, `--html public/` writes public/index.html, `--open` shows it in the browser"
                    .to_owned(),
            ));
        }
        (Some(_), true) if to_stdout => {
            return Err(AppError::Usage(
                "a page on stdout cannot be opened\n  help: name a file: --html report.html --open"
                    .to_owned(),
            ));
        }
        _ => {}
    }
    let file = options.html.as_deref().filter(|_| !to_stdout);
    if let Some(file) = file.filter(|place| !is_directory(place)) {
        check_place(file)?;
    }
    let context = Context::load(&world.variables, common)?;
    let (store, workspace) = context.require_stored()?;
    let resolved = |word: &String| resolve_run(&store, workspace, word);
    let latest = "latest".to_owned();
    let subject = match &options.runs[..] {
        [] => of_run(&context, &store, resolved(&latest)?, world)?,
        [run] => of_run(&context, &store, resolved(run)?, world)?,
        [base, candidate] => of_two(&store, workspace, &context, [base, candidate], world)?,
        [_, _, ..] => {
            return Err(AppError::Usage(
                "a page is about one run, or about two\n  help: `cargo perfcheck compare` sets more of them side by side"
                    .to_owned(),
            ));
        }
    };
    let gathered = subject.gather(&store, workspace)?;
    let page = working("Drawing", gathered.benchmarks(), world, |told| {
        gathered.page(name_of(&context), told)
    });
    if to_stdout {
        write_page(world.stdout, &page)?;
        return Ok(ExitCode::Clean);
    }
    let file = match &options.html {
        Some(place) => file_at(place)?,
        None => host::temporary_page()?,
    };
    let mut text = Vec::new();
    write_page(&mut text, &page)?;
    write_whole(&file, &text)?;
    if !common.output.quiet {
        write_page_place(
            world.stdout,
            &page,
            &file.display().to_string(),
            text.len(),
            common.output.format,
        )?;
    }
    if options.open
        && let Err(error) = host::open_in_viewer(&file)
    {
        write_warning(
            world.stderr,
            &format!(
                "the page could not be opened: {error}\n  help: open {} in a browser",
                file.display()
            ),
        )?;
    }
    Ok(ExitCode::Clean)
}

/// A run with the verdicts that it has; of an A/B measurement the candidate has them.
fn of_run(
    context: &Context,
    store: &Store,
    run: RunId,
    world: &mut World<'_>,
) -> Result<PageSubject, AppError> {
    let head = run_with_verdicts(store, run)?;
    let measured = store.measurements(head.id, None)?;
    let findings = working("Describing", measured.len(), world, |told| {
        findings_of(context, store, &head, &measured, told)
    })?;
    Ok(PageSubject::of(store, &findings)?)
}

/// Two runs, compared as `compare BASE CANDIDATE` does it.
fn of_two(
    store: &Store,
    workspace: WorkspaceId,
    context: &Context,
    [base_word, word]: [&String; 2],
    world: &mut World<'_>,
) -> Result<PageSubject, AppError> {
    let base = resolve_run(store, workspace, base_word)?;
    let candidate = resolve_run(store, workspace, word)?;
    let comparison = StoredComparison {
        store,
        workspace,
        context,
        filter: &Filter::default(),
        options: &ComparisonOptions::default(),
    };
    let both = comparison.read((base, base_word), (candidate, word))?;
    let count = both.measured.candidate.len();
    let mut concluded = working("Comparing", count, world, |told| {
        comparison.conclude(&both, base_word, told)
    })?;
    concluded.verdicts.reference = if base.to_string() == **base_word {
        format!("run {base}")
    } else {
        format!("`{base_word}` (run {base})")
    };
    // A page about two runs is about their verdicts: limits are those of a run.
    concluded.verdicts.limits = Limits::default();
    let findings = Findings::of(&both.heads.candidate, concluded);
    Ok(PageSubject::of(store, &findings)?)
}
