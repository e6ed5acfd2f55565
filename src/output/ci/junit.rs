//! The report in `JUnit`'s XML: a test suite for each bench target, with a test case for each benchmark.
//!
//! This XML has no standard. The output uses only what three schemas have in common: those of Ant, of Maven's Surefire and of Jenkins' xUnit plugin
//! (`junit-10.xsd`). None of them allows properties of test cases, so the numbers of a benchmark are properties of the suite, and their names begin
//! with the id of the benchmark.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::context::ReportContext;
use crate::output::messages::decided_by;
use crate::output::words::sentences::{self, RowSeverity};
use crate::sanitize;
use perfcheck_analysis::findings::{FailedTarget, Findings, Row};
use perfcheck_analysis::model::{BenchmarkKey, Measurement, Unit, Verdict};

/// The outcome of a test case, which stands for a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaseOutcome {
    Passed,
    Failure,
    Error,
    Skipped,
}

impl CaseOutcome {
    fn from_row(row: &Row<'_>, findings: &Findings<'_>, context: &ReportContext<'_>) -> Self {
        match (
            RowSeverity::from_row(row, findings, context.fail_on),
            row.verdict,
        ) {
            (RowSeverity::Error, _) => Self::Error,
            (RowSeverity::Failure, _) => Self::Failure,
            // These verdicts show neither success nor failure, so the test case counts as skipped.
            (
                _,
                Some(
                    Verdict::Suspect
                    | Verdict::Incomparable
                    | Verdict::Missing
                    | Verdict::Inconclusive,
                ),
            ) => Self::Skipped,
            _ => Self::Passed,
        }
    }

    fn element_name(self) -> Option<&'static str> {
        match self {
            Self::Passed => None,
            Self::Failure => Some("failure"),
            Self::Error => Some("error"),
            Self::Skipped => Some("skipped"),
        }
    }
}

/// A bench target, with the rows of its benchmarks and with its failure, if it failed.
#[derive(Default)]
struct TestSuite<'f, 'm> {
    rows: Vec<&'f Row<'m>>,
    failed: Option<&'f FailedTarget>,
    declined: Vec<DeclinedBenchmark<'f>>,
}

/// A benchmark that declined to be measured, with its author's reason.
struct DeclinedBenchmark<'f> {
    key: &'f BenchmarkKey,
    reason: &'f str,
}

impl TestSuite<'_, '_> {
    fn count_cases(&self) -> usize {
        self.rows.len() + self.declined.len() + usize::from(self.failed.is_some())
    }
}

pub(crate) fn write_junit(
    writer: &mut dyn Write,
    findings: &Findings<'_>,
    context: &ReportContext<'_>,
) -> io::Result<()> {
    // Group the rows by bench target, because the findings may have them in another order.
    let mut suites: BTreeMap<(&str, &str), TestSuite<'_, '_>> = BTreeMap::new();
    for row in &findings.rows {
        let suite = suites.entry((&row.key.package, &row.key.target));
        suite.or_default().rows.push(row);
    }
    for failed in &findings.failed_targets {
        let suite = suites.entry((&failed.package, &failed.target));
        suite.or_default().failed = Some(failed);
    }
    for (key, reason) in findings.declined() {
        let suite = suites.entry((&key.package, &key.target));
        let declined = DeclinedBenchmark { key, reason };
        suite.or_default().declined.push(declined);
    }
    let outcomes = |rows: &[&Row<'_>], wanted: CaseOutcome| {
        rows.iter()
            .filter(|row| CaseOutcome::from_row(row, findings, context) == wanted)
            .count()
    };
    let all: Vec<&Row<'_>> = findings.rows.iter().collect();
    writeln!(writer, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        writer,
        "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{}\">",
        sanitize::xml(&sanitize::one_line(context.key)),
        suites.values().map(TestSuite::count_cases).sum::<usize>(),
        outcomes(&all, CaseOutcome::Failure),
        outcomes(&all, CaseOutcome::Error) + findings.failed_targets.len(),
        format_sample_seconds(&all, findings),
    )?;
    for ((package, target), suite) in &mut suites {
        suite.rows.sort_by(|a, b| a.key.cmp_natural(&b.key));
        let rows = &suite.rows;
        writeln!(
            writer,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\" timestamp=\"{}\">",
            escape_attribute(&format!("{package}/{target}")),
            suite.count_cases(),
            outcomes(rows, CaseOutcome::Failure),
            outcomes(rows, CaseOutcome::Error) + usize::from(suite.failed.is_some()),
            outcomes(rows, CaseOutcome::Skipped) + suite.declined.len(),
            format_sample_seconds(rows, findings),
            // The start of the run is in UTC. Schemas that check this attribute allow no time zone, so remove the `Z`.
            escape_attribute(context.started.trim_end_matches('Z')),
        )?;
        write_properties(writer, rows, findings)?;
        if let Some(failed) = suite.failed {
            write_failed_target(writer, failed)?;
        }
        for row in rows {
            write_case(writer, row, findings, context)?;
        }
        for DeclinedBenchmark { key, reason } in &suite.declined {
            write_declined(writer, key, reason)?;
        }
        if let Some(sentence) = sentences::describe_incomplete_run(findings.run) {
            let text = sanitize::xml(&sentence);
            writeln!(writer, "    <system-out>{text}</system-out>")?;
        }
        writeln!(writer, "  </testsuite>")?;
    }
    writeln!(writer, "</testsuites>")
}

/// Writes a single test case in place of all benchmarks of a bench target that failed.
fn write_failed_target(writer: &mut dyn Write, failed: &FailedTarget) -> io::Result<()> {
    let sentence = sentences::describe_target_failure(failed);
    writeln!(
        writer,
        "    <testcase name=\"(bench target)\" classname=\"{}\" time=\"0.000\">",
        escape_attribute(&format!("{}.{}", failed.package, failed.target)),
    )?;
    writeln!(
        writer,
        "      <error type=\"failed\" message=\"{}\"></error>",
        escape_attribute(&sentence)
    )?;
    writeln!(
        writer,
        "      <system-out>{}</system-out>\n    </testcase>",
        sanitize::xml(&sentence)
    )
}

/// Writes a test case for a benchmark that declined to be measured, with its author's reason.
fn write_declined(writer: &mut dyn Write, key: &BenchmarkKey, reason: &str) -> io::Result<()> {
    writeln!(
        writer,
        "    <testcase name=\"{}\" classname=\"{}\" time=\"0.000\">\n      <skipped type=\"skipped\" message=\"{}\"></skipped>\n    </testcase>",
        escape_attribute(&key.id),
        escape_attribute(&format!("{}.{}", key.package, key.target)),
        escape_attribute(reason),
    )
}

fn escape_attribute(text: &str) -> String {
    sanitize::xml(&sanitize::one_line(text))
}

/// Returns the total time of the samples in seconds. It is 0 for imported samples, because most of their iteration counts are made up.
fn format_sample_seconds(rows: &[&Row<'_>], findings: &Findings<'_>) -> String {
    let is_known = findings.run.source.is_none();
    let measured = rows.iter().filter_map(|row| row.measurement);
    let measured = measured.filter(|_| is_known);
    // The sum starts at 0, because `Iterator::sum` of no numbers is -0.
    let spent = measured
        .map(measured_seconds)
        .fold(0.0, |sum, one| sum + one);
    // Write three decimals, because the schema of Jenkins allows no more.
    format!("{spent:.3}")
}

fn measured_seconds(measurement: &Measurement) -> f64 {
    let samples = measurement.processes.iter().flat_map(|process| {
        let series = &process.series;
        std::iter::once(&series.warm_up)
            .chain(&series.linear)
            .chain(&series.flat)
    });
    samples
        .map(|sample| sample.elapsed.as_f64() * 1e-9)
        .fold(0.0, |sum, one| sum + one)
}

fn write_properties(
    writer: &mut dyn Write,
    rows: &[&Row<'_>],
    findings: &Findings<'_>,
) -> io::Result<()> {
    let mut properties = vec![
        ("run".to_owned(), findings.run.id.to_string()),
        ("seed".to_owned(), findings.run.begun.seed.to_string()),
    ];
    if let Some(sentence) = sentences::describe_incomplete_run(findings.run) {
        properties.push(("incomplete".to_owned(), sentence));
    }
    if let Some(verdicts) = &findings.verdicts {
        let method = decided_by(verdicts.method, verdicts.decision.analysis.subject);
        properties.push(("reference".to_owned(), verdicts.reference.clone()));
        properties.push(("decided_by".to_owned(), method.to_owned()));
        let level = verdicts.decision.significance_level;
        properties.push(("significance_level".to_owned(), level.to_string()));
    }
    let unit = match findings.decision().analysis.subject.unit() {
        Unit::Time => "_ns",
        Unit::Bytes => "_bytes",
        Unit::Count => "",
    };
    for row in rows {
        let id = &row.key.id;
        let mut number = |name: &str, value: Option<f64>| {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                // Use the debug format, which writes small numbers with an exponent.
                properties.push((format!("{id}: {name}"), format!("{value:?}")));
            }
        };
        let summary = row.summary.as_ref();
        let comparison = row.comparison.as_ref();
        let change = comparison.and_then(|found| found.change);
        number("median_ns", summary.map(|found| found.median.estimate));
        let compared = comparison.and_then(|found| found.compared);
        number(&format!("before{unit}"), compared.map(|values| values.base));
        number(
            &format!("after{unit}"),
            compared.map(|values| values.candidate),
        );
        number("change", change.map(|found| found.estimate));
        number("change_lower", change.map(|found| found.lower));
        number("change_upper", change.map(|found| found.upper));
        number("p_value", comparison.and_then(|found| found.p_value));
        if let Some(verdict) = row.verdict {
            properties.push((format!("{id}: verdict"), verdict.to_string()));
        }
    }
    writeln!(writer, "    <properties>")?;
    for (name, value) in properties {
        writeln!(
            writer,
            "      <property name=\"{}\" value=\"{}\"/>",
            escape_attribute(&name),
            escape_attribute(&value)
        )?;
    }
    writeln!(writer, "    </properties>")
}

fn write_case(
    writer: &mut dyn Write,
    row: &Row<'_>,
    findings: &Findings<'_>,
    context: &ReportContext<'_>,
) -> io::Result<()> {
    let problem = sentences::describe_problem(row, findings, context.fail_on);
    let notes = sentences::notes_beyond(row, findings, &problem);
    writeln!(
        writer,
        "    <testcase name=\"{}\" classname=\"{}\" time=\"{}\">",
        escape_attribute(&row.key.id),
        escape_attribute(&format!("{}.{}", row.key.package, row.key.target)),
        format_sample_seconds(&[row], findings),
    )?;
    if let Some(element) = CaseOutcome::from_row(row, findings, context).element_name() {
        writeln!(
            writer,
            "      <{element} type=\"{}\" message=\"{}\">{}</{element}>",
            problem.word,
            escape_attribute(&problem.sentence),
            sanitize::xml(&notes.join("\n"))
        )?;
    }
    let texts: Vec<String> = std::iter::once(problem.sentence).chain(notes).collect();
    writeln!(
        writer,
        "      <system-out>{}</system-out>",
        sanitize::xml(&texts.join("\n"))
    )?;
    writeln!(writer, "    </testcase>")
}
