//! `--report`: findings for CI systems and pull requests, in files or on stdout. On GitHub Actions, reports are also written without the flag.
//!
//! Annotations mark the source line of each benchmark. The source text suffices to find that line: benches of every harness spell the parts of an id
//! as string literals or function names.

use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, fs};

use super::files;
use super::files::{is_directory, missing_directory, page_file, workspace_name, write_whole};
use super::page::PageFindings;
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::output::{
    MessageFormat, ReportContext, ReportKind, SourcePlace, TableFormat, write_json, write_page,
    write_report, write_table, write_warning,
};
use crate::session::{Context, World};
use perfcheck_analysis::findings::Findings;
use perfcheck_analysis::model::{BenchmarkKey, Verdict};
use perfcheck_store::{Store, WorkspaceId};

/// The key that tells the reports of several jobs apart, if neither the user nor the CI job names one.
const USUAL_KEY: &str = "benchmarks";

/// Reports to write in addition to the table, in the order of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct ReportOptions {
    /// Write a report to FILE; without FILE, print it instead of the table
    ///
    /// May be given more than once. Reports on verdicts: markdown (a comment for a pull request), github (annotations, in addition to the table),
    /// gitlab (code quality), gitlab-metrics, junit, html (a page, also of a ranking; FILE may be a directory). Only with `compare` and `rank`: text,
    /// csv and markdown-table write the table in that form. Only with `compare`: svg draws the two groups of each row. `coverage` writes html (a page
    /// with the sources) and lcov (a tracefile). On GitHub Actions, a run writes annotations and the job summary without this flag.
    #[arg(long = "report", value_name = "KIND[=FILE]", value_parser = ReportRequest::from_str)]
    pub wanted: Vec<ReportRequest>,
    /// Use this key to distinguish reports of several jobs on one commit [default: the name of the CI job, or `benchmarks`]
    #[arg(
        id = "report_key",
        long = "report-key",
        value_name = "KEY",
        requires = "wanted"
    )]
    pub key: Option<String>,
}

/// One requested report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportRequest {
    /// The kind of report.
    pub kind: RequestedReportKind,
    /// The file, or for a page possibly a directory; `None` for stdout.
    pub file: Option<PathBuf>,
}

impl FromStr for ReportRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, file) = match text.split_once('=') {
            Some((_, "")) => return Err("the file name is empty; use `-` for stdout".to_owned()),
            Some((kind, "-")) => (kind, None),
            Some((kind, file)) => (kind, Some(PathBuf::from(file))),
            None => (text, None),
        };
        Ok(Self {
            kind: kind.parse()?,
            file,
        })
    }
}

/// The kind of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedReportKind {
    /// Findings in the format of another tool.
    Findings(ReportKind),
    /// An HTML page, which also shows stored measurements of both sides.
    Page,
    /// The table in another form, written by the command that owns the table.
    Table(TableFormat),
    /// A picture, drawn by the command that owns it.
    Picture,
    /// A tracefile of lcov, written by `coverage`.
    Tracefile,
}

impl RequestedReportKind {
    /// The kinds that are not in the format of another tool, each with the word by which `--report` selects it.
    const OTHERS: [(&str, Self); 6] = [
        ("html", Self::Page),
        ("text", Self::Table(TableFormat::Text)),
        ("csv", Self::Table(TableFormat::Csv)),
        ("markdown-table", Self::Table(TableFormat::Markdown)),
        ("svg", Self::Picture),
        ("lcov", Self::Tracefile),
    ];

    /// Lists all kinds, each with the word by which `--report` selects it.
    fn all_with_words() -> impl Iterator<Item = (&'static str, Self)> {
        let findings = ReportKind::ALL.iter();
        findings
            .map(|kind| (kind.word(), Self::Findings(*kind)))
            .chain(Self::OTHERS)
    }

    /// Returns true if a report of this kind replaces the table on stdout, because it is a complete result.
    fn is_whole(self) -> bool {
        match self {
            Self::Findings(kind) => kind.replaces_table(),
            Self::Page | Self::Table(_) | Self::Picture | Self::Tracefile => true,
        }
    }

    /// Reports whether this kind shows the verdicts of a run.
    pub(crate) fn is_about_verdicts(self) -> bool {
        matches!(self, Self::Findings(_) | Self::Page)
    }
}

impl fmt::Display for RequestedReportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Self::all_with_words().find(|(_, kind)| kind == self);
        f.write_str(known.map_or("", |(word, _)| word))
    }
}

impl FromStr for RequestedReportKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::all_with_words().find(|(word, _)| *word == text);
        found.map(|(_, kind)| kind).ok_or_else(|| {
            let words: Vec<&str> = Self::all_with_words().map(|(word, _)| word).collect();
            format!(
                "`{text}` is not a kind of report; the kinds are {}",
                words.join(", ")
            )
        })
    }
}

impl ReportOptions {
    /// Refuses reports that could not be written, before anything is measured.
    pub(crate) fn check(&self, format: MessageFormat) -> Result<(), AppError> {
        let on_stdout: Vec<RequestedReportKind> = self
            .wanted
            .iter()
            .filter(|wanted| wanted.file.is_none())
            .map(|wanted| wanted.kind)
            .collect();
        if let (MessageFormat::Json, Some(kind)) = (format, on_stdout.first()) {
            return Err(AppError::Usage(format!(
                "`--message-format json` and `--report {kind}` are both written to stdout\n  help: name a file: --report {kind}=FILE"
            )));
        }
        let mut whole = on_stdout.iter().filter(|kind| kind.is_whole());
        if let (Some(first), Some(second)) = (whole.next(), whole.next()) {
            return Err(AppError::Usage(format!(
                "`--report {first}` and `--report {second}` are both written to stdout\n  help: name a file for one of them: --report {second}=FILE"
            )));
        }
        for (place, wanted) in self.wanted.iter().enumerate() {
            let Some(file) = &wanted.file else { continue };
            let mut earlier = self.wanted[..place].iter();
            let same = earlier.find(|other| {
                let other = other.file.as_deref();
                other.is_some_and(|other| is_same_file(other, file))
            });
            if let Some(other) = same {
                return Err(AppError::Usage(format!(
                    "`--report {}` and `--report {}` are both written to {}\n  help: name a different file for each",
                    other.kind,
                    wanted.kind,
                    file.display()
                )));
            }
            if wanted.kind == RequestedReportKind::Page && is_directory(file) {
                continue;
            }
            let why = match missing_directory(file) {
                Some(missing) => Some(format!(
                    "cannot be written: there is no directory {}",
                    missing.display()
                )),
                None => file.is_dir().then(|| "is a directory".to_owned()),
            };
            if let Some(what) = why {
                return Err(AppError::Usage(format!(
                    "--report {}: {} {what}",
                    wanted.kind,
                    file.display()
                )));
            }
        }
        Ok(())
    }

    /// Refuses reports that could not be written for a run and its verdicts.
    pub(crate) fn check_for_run(&self, format: MessageFormat) -> Result<(), AppError> {
        self.refuse(
            RequestedReportKind::is_about_verdicts,
            "a run does not write reports of this kind\n  help: `cargo perfcheck compare` writes tables of stored runs, `cargo perfcheck show` draws a benchmark",
        )?;
        self.check(format)
    }

    /// Refuses kinds that the command does not support, and says `why`, or which command writes a tracefile.
    pub(crate) fn refuse(
        &self,
        is_known: impl Fn(RequestedReportKind) -> bool,
        why: &str,
    ) -> Result<(), AppError> {
        let mut kinds = self.wanted.iter().map(|wanted| wanted.kind);
        match kinds.find(|kind| !is_known(*kind)) {
            Some(RequestedReportKind::Tracefile) => Err(AppError::Usage(
                "`--report lcov`: only `cargo perfcheck coverage` writes it".to_owned(),
            )),
            Some(kind) => Err(AppError::Usage(format!("`--report {kind}`: {why}"))),
            None => Ok(()),
        }
    }

    /// Lists the requested forms of the table, each with its file; `None` is stdout.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (TableFormat, Option<&Path>)> {
        self.wanted.iter().filter_map(|wanted| match wanted.kind {
            RequestedReportKind::Table(form) => Some((form, wanted.file.as_deref())),
            _ => None,
        })
    }

    /// Lists the files of the requested pages; `None` is stdout.
    pub(crate) fn pages(&self) -> impl Iterator<Item = Option<&Path>> {
        let wanted = self.wanted.iter();
        let pages = wanted.filter(|wanted| wanted.kind == RequestedReportKind::Page);
        pages.map(|wanted| wanted.file.as_deref())
    }

    /// Reports whether a report replaces the table on stdout.
    pub(crate) fn replaces_table(&self) -> bool {
        let mut wanted = self.wanted.iter();
        wanted.any(|wanted| wanted.file.is_none() && wanted.kind.is_whole())
    }

    fn asks_for(&self, kind: ReportKind) -> bool {
        let kind = RequestedReportKind::Findings(kind);
        self.wanted.iter().any(|wanted| wanted.kind == kind)
    }
}

/// Everything that reports need in addition to the findings.
pub(crate) struct ReportWriter<'a> {
    pub(crate) options: &'a ReportOptions,
    pub(crate) fail_on: &'a [Verdict],
    pub(crate) context: &'a Context,
    pub(crate) store: &'a Store,
    pub(crate) workspace: WorkspaceId,
}

impl ReportWriter<'_> {
    /// Writes the findings as requested: first as a table or as JSON messages, then as reports.
    pub(crate) fn publish(
        &self,
        findings: &Findings<'_>,
        common: &CommonOptions,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let shown = if self.options.replaces_table() {
            Ok(())
        } else {
            (world.interrupt).while_computing(&interrupted_message(findings), || {
                write_findings(findings, common, world)
            })
        };
        // Write the files even if stdout failed, e.g. because its disk is full.
        shown.and(self.write_reports(findings, world))
    }

    /// Writes as many reports as possible, then returns the first error.
    pub(crate) fn write_reports(
        &self,
        findings: &Findings<'_>,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let job = world.variables.job.clone();
        let started = perfcheck_host::to_rfc3339(findings.run.begun.started);
        let sources = self.context.bench_sources();
        let source_place = |key: &BenchmarkKey| {
            let found = sources
                .iter()
                .find(|found| found.package == key.package && found.target == key.target)?;
            // If the source is unreadable, mark its first line.
            let source = fs::read_to_string(&found.path).unwrap_or_default();
            Some(SourcePlace {
                file: found.file.clone(),
                line: find_line(&source, &key.id),
            })
        };
        let key = self.options.key.as_deref().or(job.as_deref());
        let context = ReportContext {
            key: key.unwrap_or(USUAL_KEY),
            started: &started,
            store: &self.context.store_name,
            fail_on: self.fail_on,
            source_place: &source_place,
        };
        let mut result = Ok(());
        for wanted in &self.options.wanted {
            let written = self.write_wanted(wanted, findings, &context, world);
            result = result.and(written);
        }
        if world.commands.are_obeyed() {
            self.report_to_github(findings, &context, world)?;
        }
        result
    }

    /// Writes the annotations and the job summary that a GitHub Actions job gets without asking.
    fn report_to_github(
        &self,
        findings: &Findings<'_>,
        context: &ReportContext<'_>,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        if !self.options.asks_for(ReportKind::GitHub) {
            let mut commands = Vec::new();
            write_report(&mut commands, ReportKind::GitHub, findings, context)?;
            // Write to stderr: the runner reads both streams, but stdout may be redirected.
            let stderr = &mut world.stderr;
            world.commands.let_through(|| stderr.write_all(&commands))?;
        }
        let Some(path) = &world.variables.github_step_summary else {
            return Ok(());
        };
        let mut summary = Vec::new();
        write_report(&mut summary, ReportKind::Markdown, findings, context)?;
        if let Err(error) = files::append(path, &summary) {
            write_warning(
                world.stderr,
                &format!(
                    "the job summary was not written: {}: {error}",
                    path.display()
                ),
            )?;
        }
        Ok(())
    }

    fn write_wanted(
        &self,
        wanted: &ReportRequest,
        findings: &Findings<'_>,
        context: &ReportContext<'_>,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        if !wanted.kind.is_about_verdicts() {
            // The command itself has written this report.
            return Ok(());
        }
        let interrupt = world.interrupt;
        let text =
            interrupt.while_computing(&interrupted_message(findings), || match wanted.kind {
                RequestedReportKind::Findings(kind) => {
                    let mut text = Vec::new();
                    write_report(&mut text, kind, findings, context)?;
                    Ok(text)
                }
                _ => self.page(findings, world),
            })?;
        let stdout = &mut world.stdout;
        match (&wanted.file, wanted.kind) {
            (Some(file), RequestedReportKind::Page) => write_whole(&page_file(file)?, &text)?,
            (Some(file), _) => write_whole(file, &text)?,
            (None, RequestedReportKind::Findings(ReportKind::GitHub)) => {
                world.commands.let_through(|| stdout.write_all(&text))?;
            }
            (None, _) => stdout.write_all(&text)?,
        }
        Ok(())
    }

    fn page(&self, findings: &Findings<'_>, world: &mut World<'_>) -> Result<Vec<u8>, AppError> {
        let (store, workspace) = (self.store, self.workspace);
        let gathered = PageFindings::from_findings(store, findings)?.gather(store, workspace)?;
        let mut text = Vec::new();
        let page = world.with_progress("Drawing", gathered.benchmarks(), |progress| {
            gathered.page(workspace_name(self.context), progress)
        });
        write_page(&mut text, &page)?;
        Ok(text)
    }
}

/// Returns the message for an interrupt while reports are written. It says what is kept.
fn interrupted_message(findings: &Findings<'_>) -> String {
    format!(
        "; run {} is stored, but not all reports were written",
        findings.run.id
    )
}

/// Reports whether two paths lead to the same regular file, which can contain only one report. Devices and pipes accept several.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let known = fs::canonicalize(path).ok();
        known.or_else(|| {
            let parent = path.parent().filter(|parent| *parent != Path::new(""));
            let parent = fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?;
            Some(parent.join(path.file_name()?))
        })
    };
    let is_file = fs::metadata(a).map_or(true, |found| found.is_file());
    is_file && place(a).is_some_and(|place_of_a| place(b) == Some(place_of_a))
}

/// Returns the number of the source line that names the benchmark `id`, to which an annotation can then point. Returns 1 if no line names it.
///
/// Searches the parts of the id in order, each from the line of the previous part on: a name may occur in several groups. Skips parts that are not in
/// the source, such as inputs.
pub(super) fn find_line(source: &str, id: &str) -> usize {
    let lines: Vec<&str> = source.lines().collect();
    let mut place = None;
    for part in id.split('/').flat_map(|part| part.split("::")) {
        let from = place.unwrap_or(0);
        let after = lines[from..].iter().position(|line| line_names(line, part));
        place = after.map(|after| from + after).or(place);
    }
    place.map_or(1, |place| place + 1)
}

/// Reports whether the line's code contains the name as a string literal or declares a function with it.
fn line_names(line: &str, name: &str) -> bool {
    let code = line.trim_start();
    if name.is_empty() || code.starts_with("//") {
        return false;
    }
    let declares = |declared: &str| {
        let rest = declared.strip_prefix(name);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['(', '<']))
    };
    code.contains(&format!("\"{name}\"")) || code.split("fn ").skip(1).any(declares)
}

/// Writes the findings as a table or as JSON messages.
pub(crate) fn write_findings(
    findings: &Findings<'_>,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    match common.output.format {
        MessageFormat::Human => write_table(world.stdout, findings, &common.output.view())?,
        MessageFormat::Json => write_json(world.stdout, findings)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_a_kind_and_perhaps_a_file() {
        let read = |text| ReportRequest::from_str(text);
        let junit = read("junit=out/a=b.xml").expect("a kind and a file");
        assert_eq!(junit.kind, RequestedReportKind::Findings(ReportKind::JUnit));
        assert_eq!(
            read("html=a/").expect("a page").kind,
            RequestedReportKind::Page
        );
        assert_eq!(junit.file.as_deref(), Some(Path::new("out/a=b.xml")));
        for text in ["markdown", "markdown=-"] {
            assert_eq!(read(text).expect("a kind").file, None);
        }
        assert!(read("markdown=").is_err());
        let unknown = read("xml").expect_err("no kind");
        assert!(unknown.contains("markdown, github"), "{unknown}");
    }

    fn wanted(kinds: &[(RequestedReportKind, Option<&str>)]) -> ReportOptions {
        let report = |(kind, file): &(RequestedReportKind, Option<&str>)| ReportRequest {
            kind: *kind,
            file: file.map(PathBuf::from),
        };
        ReportOptions {
            wanted: kinds.iter().map(report).collect(),
            key: None,
        }
    }

    #[test]
    fn stdout_holds_one_result() {
        let [markdown, junit, github] =
            [ReportKind::Markdown, ReportKind::JUnit, ReportKind::GitHub]
                .map(RequestedReportKind::Findings);
        let human = MessageFormat::Human;
        let both = wanted(&[(markdown, None), (junit, None)]);
        assert!(both.check(human).is_err());
        let page = wanted(&[(markdown, None), (RequestedReportKind::Page, None)]);
        assert!(page.check(human).is_err());
        let beside = wanted(&[(markdown, None), (github, None), (junit, Some("a.xml"))]);
        assert!(beside.check(human).is_ok() && beside.replaces_table());
        assert!(beside.check(MessageFormat::Json).is_err());
        let annotations = wanted(&[(github, None)]);
        assert!(!annotations.replaces_table());
    }

    #[test]
    fn a_file_holds_one_report_whatever_it_is_called() {
        let [markdown, junit] =
            [ReportKind::Markdown, ReportKind::JUnit].map(RequestedReportKind::Findings);
        let human = MessageFormat::Human;
        let twice = wanted(&[(markdown, Some("a.out")), (junit, Some("./src/../a.out"))]);
        let error = twice.check(human).expect_err("one file").to_string();
        assert!(
            error.contains("`--report markdown` and `--report junit`"),
            "{error}"
        );
        let apart = wanted(&[(markdown, Some("a.out")), (junit, Some("b.out"))]);
        assert!(apart.check(human).is_ok());
        let nowhere = wanted(&[(markdown, Some("/dev/null")), (junit, Some("/dev/null"))]);
        assert!(!cfg!(unix) || nowhere.check(human).is_ok());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_refused_before_anything_is_measured() {
        let junit = RequestedReportKind::Findings(ReportKind::JUnit);
        let lost = wanted(&[(junit, Some("no/such/directory/a.xml"))]);
        let error = lost.check(MessageFormat::Human).expect_err("no directory");
        assert!(error.to_string().contains("no/such/directory"), "{error}");
        let directory = wanted(&[(junit, Some("."))]);
        assert!(directory.check(MessageFormat::Human).is_err());
        let lost = wanted(&[(RequestedReportKind::Page, Some("no/such/directory/a.html"))]);
        assert!(lost.check(MessageFormat::Human).is_err());
    }

    #[test]
    fn a_page_may_go_into_a_directory() {
        for place in [".", "public/", "no/such/directory/"] {
            let page = wanted(&[(RequestedReportKind::Page, Some(place))]);
            assert!(page.check(MessageFormat::Human).is_ok(), "{place}");
        }
    }

    #[test]
    fn every_kind_is_read_as_it_is_written() {
        for (_, kind) in RequestedReportKind::all_with_words() {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        let error = "xml".parse::<RequestedReportKind>().expect_err("no kind");
        assert!(
            error.ends_with("junit, html, text, csv, markdown-table, svg, lcov"),
            "{error}"
        );
    }

    const SOURCE: &str = r#"// "stable" is named here, too.
fn sorts(suite: &mut Suite) {
    let mut group = suite.group("sort");
    group.bench_inputs("stable", [10, 1000], |b, n| b.iter(|| sort(n)));
    suite.group("search").bench("stable", |b| b.iter(|| search()));
}
#[divan::bench(args = [1, 2])]
fn fibonacci<const N: usize>(n: u64) -> u64 { fib(n) }
"#;

    #[test]
    fn a_benchmark_is_where_its_names_are_one_after_the_other() {
        for (id, line) in [
            ("sort/stable/1000", 4),
            ("search/stable", 5),
            ("fibonacci/2", 8),
            ("module::fibonacci", 8),
            ("fib", 1),
            ("nowhere", 1),
            ("", 1),
        ] {
            assert_eq!(find_line(SOURCE, id), line, "{id}");
        }
        assert_eq!(find_line("", "a"), 1);
    }
}
