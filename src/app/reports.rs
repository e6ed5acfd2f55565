//! `--report`: what a run or a comparison found, for CI systems and pull requests; on GitHub Actions also without being asked.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::context::{Context, World};
use super::error::AppError;
use super::job_summary;
use super::options::StoreOptions;
use super::run::write;
use super::whole_file::write_whole;
use crate::host;
use crate::model::{BenchmarkKey, Verdict};
use crate::report::{
    Findings, MessageFormat, ReportKind, Surroundings, write_report, write_warning,
};

/// The key of a report where nobody says another.
const USUAL_KEY: &str = "benchmarks";

/// What `--report` asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportOptions {
    /// Reports in the order in which they were asked for.
    pub wanted: Vec<WantedReport>,
    /// Tells these reports apart from those of other jobs.
    pub key: Option<String>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedReport {
    /// Which kind.
    pub kind: ReportKind,
    /// The file; `None`: stdout.
    pub file: Option<PathBuf>,
}

impl ReportOptions {
    /// Refuses what could not be written, before anything is measured.
    pub(super) fn check(&self, format: MessageFormat) -> Result<(), AppError> {
        let on_stdout: Vec<ReportKind> = self
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
                    "`--report {}` and `--report {}` are both written to {}\n  help: give each a file of its own",
                    other.kind,
                    wanted.kind,
                    file.display()
                )));
            }
            let parent = match file.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
            if file.is_dir() || !parent.is_dir() {
                let what = if file.is_dir() {
                    "is a directory".to_owned()
                } else {
                    format!(
                        "cannot be written: there is no directory {}",
                        parent.display()
                    )
                };
                return Err(AppError::Usage(format!(
                    "--report {}: {} {what}",
                    wanted.kind,
                    file.display()
                )));
            }
        }
        Ok(())
    }

    /// Whether a report stands on stdout in place of the table.
    pub(super) fn replaces_table(&self) -> bool {
        let mut wanted = self.wanted.iter();
        wanted.any(|wanted| wanted.file.is_none() && wanted.kind.is_whole())
    }

    fn asks_for(&self, kind: ReportKind) -> bool {
        self.wanted.iter().any(|wanted| wanted.kind == kind)
    }
}

/// What reports need beside the findings.
pub(super) struct Reporting<'a> {
    pub(super) options: &'a ReportOptions,
    pub(super) fail_on: &'a [Verdict],
    pub(super) context: &'a Context,
}

impl Reporting<'_> {
    /// Writes findings as the user wants them: the table or the messages, then the reports.
    pub(super) fn publish(
        &self,
        findings: &Findings<'_>,
        common: &StoreOptions,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let shown = if self.options.replaces_table() {
            Ok(())
        } else {
            write(findings, common, world)
        };
        // Where stdout is full, the files may have room.
        shown.and(self.write_reports(findings, world))
    }

    /// Writes the reports: all that can be written, then the first error.
    pub(super) fn write_reports(
        &self,
        findings: &Findings<'_>,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let job = world.variables.job.clone();
        let started = host::to_rfc3339(findings.run.started);
        let sources = self.context.bench_sources();
        let source_file = |key: &BenchmarkKey| {
            let found = sources
                .iter()
                .find(|found| found.package == key.package && found.target == key.target);
            found.map(|found| found.file.clone())
        };
        let key = self.options.key.as_deref().or(job.as_deref());
        let surroundings = Surroundings {
            key: key.unwrap_or(USUAL_KEY),
            started: &started,
            fail_on: self.fail_on,
            source_file: &source_file,
        };
        let mut result = Ok(());
        for wanted in &self.options.wanted {
            let written = write_wanted(wanted, findings, &surroundings, world);
            result = result.and(written);
        }
        if world.commands.are_obeyed() {
            self.tell_github(findings, &surroundings, world)?;
        }
        result
    }

    /// What a job of GitHub Actions gets without asking: annotations, and the summary of the job.
    fn tell_github(
        &self,
        findings: &Findings<'_>,
        surroundings: &Surroundings<'_>,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        if !self.options.asks_for(ReportKind::GitHub) {
            let mut commands = Vec::new();
            write_report(&mut commands, ReportKind::GitHub, findings, surroundings)?;
            // The runner reads both streams, and stdout may lead elsewhere.
            let stderr = &mut world.stderr;
            world.commands.let_through(|| stderr.write_all(&commands))?;
        }
        let Some(path) = &world.variables.github_step_summary else {
            return Ok(());
        };
        let mut summary = Vec::new();
        write_report(&mut summary, ReportKind::Markdown, findings, surroundings)?;
        if let Err(error) = job_summary::append(path, &summary) {
            write_warning(
                world.stderr,
                &format!(
                    "the summary of the job was not written: {}: {error}",
                    path.display()
                ),
            )?;
        }
        Ok(())
    }
}

/// Whether two paths lead to one file, which has room for one report. Devices and pipes take several.
pub(super) fn is_same_file(a: &Path, b: &Path) -> bool {
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

fn write_wanted(
    wanted: &WantedReport,
    findings: &Findings<'_>,
    surroundings: &Surroundings<'_>,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let mut text = Vec::new();
    write_report(&mut text, wanted.kind, findings, surroundings)?;
    let stdout = &mut world.stdout;
    match (&wanted.file, wanted.kind) {
        (Some(file), _) => write_whole(file, &text)?,
        (None, ReportKind::GitHub) => world.commands.let_through(|| stdout.write_all(&text))?,
        (None, _) => stdout.write_all(&text)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(kinds: &[(ReportKind, Option<&str>)]) -> ReportOptions {
        let report = |(kind, file): &(ReportKind, Option<&str>)| WantedReport {
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
        use ReportKind::{GitHub, JUnit, Markdown};
        let human = MessageFormat::Human;
        let both = wanted(&[(Markdown, None), (JUnit, None)]);
        assert!(both.check(human).is_err());
        let beside = wanted(&[(Markdown, None), (GitHub, None), (JUnit, Some("a.xml"))]);
        assert!(beside.check(human).is_ok() && beside.replaces_table());
        assert!(beside.check(MessageFormat::Json).is_err());
        let annotations = wanted(&[(GitHub, None)]);
        assert!(!annotations.replaces_table());
    }

    #[test]
    fn a_file_holds_one_report_whatever_it_is_called() {
        use ReportKind::{JUnit, Markdown};
        let human = MessageFormat::Human;
        let twice = wanted(&[(Markdown, Some("a.out")), (JUnit, Some("./src/../a.out"))]);
        let error = twice.check(human).expect_err("one file").to_string();
        assert!(
            error.contains("`--report markdown` and `--report junit`"),
            "{error}"
        );
        let apart = wanted(&[(Markdown, Some("a.out")), (JUnit, Some("b.out"))]);
        assert!(apart.check(human).is_ok());
        let nowhere = wanted(&[(Markdown, Some("/dev/null")), (JUnit, Some("/dev/null"))]);
        assert!(!cfg!(unix) || nowhere.check(human).is_ok());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_refused_before_anything_is_measured() {
        let lost = wanted(&[(ReportKind::JUnit, Some("no/such/directory/a.xml"))]);
        let error = lost.check(MessageFormat::Human).expect_err("no directory");
        assert!(error.to_string().contains("no/such/directory"), "{error}");
        let directory = wanted(&[(ReportKind::JUnit, Some("."))]);
        assert!(directory.check(MessageFormat::Human).is_err());
    }
}
