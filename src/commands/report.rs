//! `cargo perfcheck report`: writes a page and other reports on a stored run, or on a comparison of two.

use clap::Args;
use std::path::{Path, PathBuf};

use super::store::run_lines;
use crate::delivery::files::{is_directory, page_file, workspace_name, write_whole};
use crate::delivery::page::PageFindings;
use crate::delivery::reports::{ReportOptions, ReportRequest, ReportWriter, RequestedReportKind};
use crate::error::AppError;
use crate::options::{CommonOptions, ComparisonOptions, FailureOptions};
use crate::output::{
    MessageFormat, RunLine, counted, page_file_name, write_page, write_page_written,
    write_run_index, write_warning,
};
use crate::pipeline::request::git_state;
use crate::session::{Context, NamedRun, World, resolve_run};
use crate::stored::comparison::{StoredComparison, run_with_verdicts};
use crate::stored::conclusions::read_findings;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Findings, LimitReport};
use perfcheck_analysis::model::{RunStatus, Side};
use perfcheck_bench::measure::Filter;
use perfcheck_store::{Store, WorkspaceId};

/// With `--all`, at most this many runs get a page, because each page is a file of its own.
const MOST_PAGES: usize = 50;

const AFTER_REPORT: &str = "\
The page is one file that needs no network and no server: send it, attach it to a CI job, or open it from disk. It shows a table of
all benchmarks. For each benchmark it shows charts, every statistic, and how the verdict was reached. It also says where and how the runs
were measured. Nothing is built or run.

Examples:
  cargo perfcheck report --open                       open a page about the latest run in the browser
  cargo perfcheck report --report html=report.html    write a page about the latest run
  cargo perfcheck report 12 --report html=public/     write a page about run 12 as public/index.html
  cargo perfcheck report --all --report html=public/  write a page for each run of the branch, and public/index.html
  cargo perfcheck report main latest --report html=a.html --report junit=a.xml
                                                      compare `latest` with `main`, as `compare main latest` does

Exit status: 0 whatever the verdicts are, 2 usage error, 4 nothing to compare, 5 store or output file unusable, 6 no such run.";

/// Options of `report`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_long_help = AFTER_REPORT)]
pub struct ReportCommandOptions {
    /// Report on this run (default: latest), or on two: first the reference, then the run to report on. A run is a number, baseline, `latest` or
    /// `@commit`
    #[arg(value_name = "RUN", num_args = 0..=2, allow_negative_numbers = true)]
    pub runs: Vec<String>,
    /// Write an index and a page for each of the newest 50 runs of the branch into the directory of `--report html=DIR/`
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,
    /// Open the page in the browser; without `--report html=FILE`, it is written to a temporary directory
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub(crate) reports: ReportOptions,
}

impl ReportCommandOptions {
    /// Refuses options whose result could not be written or shown.
    fn check(&self, common: &CommonOptions) -> Result<(), AppError> {
        let wanted = &self.reports.wanted;
        if wanted.is_empty() && !self.open {
            return Err(AppError::Usage(
                "a report needs `--open` or `--report`\n  help: `--open` shows a page in the browser, `--report html=FILE` writes one"
                    .to_owned(),
            ));
        }
        self.reports.refuse(
            RequestedReportKind::is_about_verdicts,
            "`cargo perfcheck report` does not write this kind of report\n  help: `cargo perfcheck compare` writes tables, `cargo perfcheck show RUN ID --report svg=FILE` draws a benchmark",
        )?;
        let is_site = |found: &ReportRequest| {
            let place = found.file.as_deref();
            found.kind == RequestedReportKind::Page && place.is_some_and(is_directory)
        };
        if self.all && !(wanted.len() == 1 && wanted.iter().all(is_site)) {
            return Err(AppError::Usage(
                "`--all` needs `--report html=DIR/` and no other report\n  help: cargo perfcheck report --all --report html=public/"
                    .to_owned(),
            ));
        }
        let on_stdout =
            |found: &ReportRequest| found.kind == RequestedReportKind::Page && found.file.is_none();
        if self.open && wanted.iter().any(on_stdout) {
            return Err(AppError::Usage(
                "`--open` cannot open a page on stdout\n  help: name a file: --report html=report.html --open"
                    .to_owned(),
            ));
        }
        self.reports.check(common.output.format)
    }
}

/// Carries out `cargo perfcheck report`.
pub fn report(
    options: &ReportCommandOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.check(common)?;
    let context = Context::load(common, world)?;
    let (store, workspace) = context.open_required()?;
    let delivery = ReportCall {
        options,
        common,
        context: &context,
        store: &store,
        workspace,
    };
    match &options.runs[..] {
        [] if options.all => delivery.report_all(world)?,
        [] => delivery.report_run("latest", world)?,
        [run] => delivery.report_run(run, world)?,
        [base, candidate] => delivery.report_two([base, candidate], world)?,
        [_, _, ..] => {
            return Err(AppError::Usage(
                "a report shows one run or compares two\n  help: `cargo perfcheck compare` compares more runs"
                    .to_owned(),
            ));
        }
    }
    Ok(ExitCode::Clean)
}

/// A call of `cargo perfcheck report`, with the store that it reads.
struct ReportCall<'a> {
    options: &'a ReportCommandOptions,
    common: &'a CommonOptions,
    context: &'a Context,
    store: &'a Store,
    workspace: WorkspaceId,
}

impl ReportCall<'_> {
    /// Reports on a run with its verdicts. If the run belongs to a side-by-side measurement, reports on the candidate.
    fn report_run(&self, word: &str, world: &mut World<'_>) -> Result<(), AppError> {
        let run = resolve_run(self.store, self.workspace, word)?;
        let head = run_with_verdicts(self.store, run)?;
        let measured = self.store.measurements(head.id, None)?;
        let findings = world.with_progress("Describing", measured.len(), |progress| {
            read_findings(self.context, self.store, &head, &measured, progress)
        })?;
        self.deliver(&findings, world)
    }

    /// Writes pages of the newest runs of the branch into a directory, with an index.
    fn report_all(&self, world: &mut World<'_>) -> Result<(), AppError> {
        let mut wanted = self.options.reports.wanted.iter();
        let Some(directory) = wanted.find_map(|wanted| wanted.file.as_deref()) else {
            return Ok(());
        };
        let index = page_file(directory)?;
        let branch = git_state(self.context, world)?.and_then(|git| git.branch);
        let is_wanted = |line: &RunLine| {
            let run = &line.run;
            let side = run.pair.map(|pair| pair.side);
            let of_branch = run.begun.git.as_ref().and_then(|git| git.branch.as_ref());
            run.status == RunStatus::Complete
                && side != Some(Side::Base)
                && (branch.is_none() || of_branch == branch.as_ref())
        };
        let mut lines = run_lines(self.store, self.workspace, usize::MAX)?;
        lines.retain(is_wanted);
        lines.truncate(MOST_PAGES);
        if lines.is_empty() {
            return Err(AppError::NothingToCompare(format!(
                "no complete run of {} is stored\n  help: `cargo perfcheck` measures one",
                branch.map_or_else(
                    || "this workspace".to_owned(),
                    |name| format!("branch `{name}`")
                )
            )));
        }
        for line in &lines {
            let file = index.with_file_name(page_file_name(line.run.id));
            let measured = self.store.measurements(line.run.id, None)?;
            let findings = world.with_progress("Describing", measured.len(), |progress| {
                read_findings(self.context, self.store, &line.run, &measured, progress)
            })?;
            self.write_page(&findings, &[Some(file)], world)?;
        }
        let workspace = workspace_name(self.context);
        let title = branch.map_or_else(
            || format!("{workspace}: runs"),
            |branch| format!("{workspace}: runs of {branch}"),
        );
        let mut text = Vec::new();
        write_run_index(&mut text, &title, &lines)?;
        write_whole(&index, &text)?;
        if !self.common.output.quiet && self.common.output.format == MessageFormat::Human {
            let pages = counted(lines.len(), "page");
            let place = index.display();
            writeln!(world.stdout, "Wrote {place}, an index of {pages}.")?;
        }
        self.open_page(&index, world)
    }

    /// Reports on a comparison of two runs, made as by `compare BASE CANDIDATE`.
    fn report_two(
        &self,
        [base_word, word]: [&String; 2],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let named = NamedRun::resolve(self.store, self.workspace, base_word)?;
        let candidate = NamedRun::resolve(self.store, self.workspace, word)?;
        let base = named.run;
        let comparison = StoredComparison {
            store: self.store,
            workspace: self.workspace,
            context: self.context,
            filter: &Filter::default(),
            options: &ComparisonOptions::default(),
        };
        let both = comparison.read(named, &candidate)?;
        let count = both.measured.candidate.len();
        let mut concluded = world.with_progress("Comparing", count, |progress| {
            comparison.conclude(&both, progress)
        })?;
        concluded.verdicts.reference = if base.to_string() == **base_word {
            format!("run {base}")
        } else {
            format!("`{base_word}` (run {base})")
        };
        // A report on two runs shows only verdicts. Limits belong to the report on a single run.
        concluded.verdicts.limits = LimitReport::default();
        let findings = Findings::new(&both.heads.candidate, concluded);
        self.deliver(&findings, world)
    }

    /// Writes the pages, then the other reports.
    fn deliver(&self, findings: &Findings<'_>, world: &mut World<'_>) -> Result<(), AppError> {
        let wanted = self.options.reports.wanted.iter().cloned();
        let (pages, others): (Vec<_>, Vec<_>) =
            wanted.partition(|wanted| wanted.kind == RequestedReportKind::Page);
        if self.options.open || !pages.is_empty() {
            self.write_pages(findings, &pages, world)?;
        }
        if others.is_empty() {
            return Ok(());
        }
        let fail_on = FailureOptions::default().fail_on(&self.context.tables.workspace);
        let reporting = ReportWriter {
            options: &ReportOptions {
                wanted: others,
                key: self.options.reports.key.clone(),
            },
            fail_on: &fail_on,
            context: self.context,
            store: self.store,
            workspace: self.workspace,
        };
        reporting.write_reports(findings, world)
    }

    /// Writes the page to each requested place, or to a temporary directory if there is none. Opens the first page in the browser if requested.
    fn write_pages(
        &self,
        findings: &Findings<'_>,
        pages: &[ReportRequest],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let mut files = Vec::new();
        for wanted in pages {
            files.push(wanted.file.as_deref().map(page_file).transpose()?);
        }
        if pages.is_empty() {
            files.push(Some(perfcheck_host::temporary_page()?));
        }
        self.write_page(findings, &files, world)?;
        match files.into_iter().flatten().next() {
            Some(first) => self.open_page(&first, world),
            None => Ok(()),
        }
    }

    /// Writes the page to each file; `None` is stdout.
    fn write_page(
        &self,
        findings: &Findings<'_>,
        files: &[Option<PathBuf>],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let gathered = PageFindings::from_findings(self.store, findings)?
            .gather(self.store, self.workspace)?;
        let page = world.with_progress("Drawing", gathered.benchmarks(), |progress| {
            gathered.page(workspace_name(self.context), progress)
        });
        let mut text = Vec::new();
        write_page(&mut text, &page)?;
        for file in files {
            let Some(file) = file else {
                world.stdout.write_all(&text)?;
                continue;
            };
            write_whole(file, &text)?;
            if !self.common.output.quiet {
                let place = file.display().to_string();
                let format = self.common.output.format;
                write_page_written(world.stdout, &page, &place, text.len(), format)?;
            }
        }
        Ok(())
    }

    /// Opens a page in the browser if requested.
    fn open_page(&self, file: &Path, world: &mut World<'_>) -> Result<(), AppError> {
        if self.options.open
            && let Err(error) = perfcheck_host::open_in_viewer(file)
        {
            let place = file.display();
            let text =
                format!("the page could not be opened: {error}\n  help: open {place} in a browser");
            write_warning(world.stderr, &text)?;
        }
        Ok(())
    }
}
