//! `cargo perfcheck report`: a page and other reports about a stored run, or about two that are compared.

use crate::app::context::{Context, World, resolve_run};
use crate::app::deliver::page::PageSubject;
use crate::app::deliver::page_place::{file_at, name_of};
use crate::app::deliver::reports::{ReportOptions, Reporting, WantedKind, WantedReport};
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
use perfcheck_engine::host;
use perfcheck_engine::measure::Filter;
use perfcheck_engine::store::{Store, WorkspaceId};

/// Which reports of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageOptions {
    /// A run, or two: the reference and what is compared with it; none: the latest.
    pub runs: Vec<String>,
    /// What is written.
    pub reports: ReportOptions,
    /// Whether the page is shown.
    pub open: bool,
}

impl PageOptions {
    /// Refuses what could not be written or shown.
    fn check(&self, common: &StoreOptions) -> Result<(), AppError> {
        let wanted = &self.reports.wanted;
        if wanted.is_empty() && !self.open {
            return Err(AppError::Usage(
                "a report needs a form\n  help: `--report html=report.html` writes a page there, `--report html=public/` writes public/index.html, `--open` shows it in the browser"
                    .to_owned(),
            ));
        }
        self.reports.refuse(
            WantedKind::is_about_verdicts,
            "a report is about verdicts\n  help: `cargo perfcheck compare` writes tables in this form, `cargo perfcheck show RUN BENCH --report svg=FILE` draws a benchmark",
        )?;
        let on_stdout =
            |found: &WantedReport| found.kind == WantedKind::Page && found.file.is_none();
        if self.open && wanted.iter().any(on_stdout) {
            return Err(AppError::Usage(
                "a page on stdout cannot be opened\n  help: name a file: --report html=report.html --open"
                    .to_owned(),
            ));
        }
        self.reports.check(common.output.format)
    }
}

/// Runs the command.
pub fn report(
    options: &PageOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.check(common)?;
    let context = Context::load(&world.variables, common)?;
    let (store, workspace) = context.require_stored()?;
    let delivery = Delivery {
        options,
        common,
        context: &context,
        store: &store,
        workspace,
    };
    match &options.runs[..] {
        [] => delivery.of_run("latest", world)?,
        [run] => delivery.of_run(run, world)?,
        [base, candidate] => delivery.of_two([base, candidate], world)?,
        [_, _, ..] => {
            return Err(AppError::Usage(
                "a report is about one run, or about two\n  help: `cargo perfcheck compare` sets more of them side by side"
                    .to_owned(),
            ));
        }
    }
    Ok(ExitCode::Clean)
}

/// One call of the command, with what it stands on.
struct Delivery<'a> {
    options: &'a PageOptions,
    common: &'a StoreOptions,
    context: &'a Context,
    store: &'a Store,
    workspace: WorkspaceId,
}

impl Delivery<'_> {
    /// Reports a run with the verdicts that it has; of an A/B measurement the candidate has them.
    fn of_run(&self, word: &str, world: &mut World<'_>) -> Result<(), AppError> {
        let run = resolve_run(self.store, self.workspace, word)?;
        let head = run_with_verdicts(self.store, run)?;
        let measured = self.store.measurements(head.id, None)?;
        let findings = working("Describing", measured.len(), world, |told| {
            findings_of(self.context, self.store, &head, &measured, told)
        })?;
        self.deliver(&findings, world)
    }

    /// Reports two runs, compared as `compare BASE CANDIDATE` does it.
    fn of_two(
        &self,
        [base_word, word]: [&String; 2],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let base = resolve_run(self.store, self.workspace, base_word)?;
        let candidate = resolve_run(self.store, self.workspace, word)?;
        let comparison = StoredComparison {
            store: self.store,
            workspace: self.workspace,
            context: self.context,
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
        // A report about two runs is about their verdicts: limits are those of a run.
        concluded.verdicts.limits = Limits::default();
        let findings = Findings::of(&both.heads.candidate, concluded);
        self.deliver(&findings, world)
    }

    /// Writes the pages, then the other reports.
    fn deliver(&self, findings: &Findings<'_>, world: &mut World<'_>) -> Result<(), AppError> {
        let wanted = self.options.reports.wanted.iter().cloned();
        let (pages, others): (Vec<_>, Vec<_>) =
            wanted.partition(|wanted| wanted.kind == WantedKind::Page);
        if self.options.open || !pages.is_empty() {
            self.pages(findings, &pages, world)?;
        }
        if others.is_empty() {
            return Ok(());
        }
        let fail_on = ComparisonOptions::default().fail_on(&self.context.tables.workspace);
        let reporting = Reporting {
            options: &ReportOptions {
                wanted: others,
                key: self.options.reports.key.clone(),
            },
            fail_on: &fail_on,
            context: self.context,
        };
        reporting.write_reports(findings, world)
    }

    /// Writes the page to each place, or to a temporary one where it is only to be shown; and shows the first.
    fn pages(
        &self,
        findings: &Findings<'_>,
        pages: &[WantedReport],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let gathered = PageSubject::of(self.store, findings)?.gather(self.store, self.workspace)?;
        let page = working("Drawing", gathered.benchmarks(), world, |told| {
            gathered.page(name_of(self.context), told)
        });
        let mut text = Vec::new();
        write_page(&mut text, &page)?;
        let mut files = Vec::new();
        for wanted in pages {
            match &wanted.file {
                Some(place) => files.push(file_at(place)?),
                None => world.stdout.write_all(&text)?,
            }
        }
        if pages.is_empty() {
            files.push(host::temporary_page()?);
        }
        for file in &files {
            write_whole(file, &text)?;
            if !self.common.output.quiet {
                let place = file.display().to_string();
                let format = self.common.output.format;
                write_page_place(world.stdout, &page, &place, text.len(), format)?;
            }
        }
        if let (true, Some(file)) = (self.options.open, files.first())
            && let Err(error) = host::open_in_viewer(file)
        {
            write_warning(
                world.stderr,
                &format!(
                    "the page could not be opened: {error}\n  help: open {} in a browser",
                    file.display()
                ),
            )?;
        }
        Ok(())
    }
}
