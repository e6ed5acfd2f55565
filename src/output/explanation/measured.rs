//! Explains how a benchmark was measured: the runs and sides, the host, the time, and processes that failed.

use crate::output::messages::{Numbers, Statement};
use crate::output::units;
use crate::output::words::sentences;
use crate::output::words::source::describe_environment;
use crate::sanitize::shell_command;
use perfcheck_analysis::compare::{Comparison, HostControls, Plan};
use perfcheck_analysis::findings::{CodeChange, Method, Row};
use perfcheck_analysis::model::{
    BenchmarkKey, Failure, GitState, Metric, Run, RunId, Verdict, shorten_hash,
};

/// Maximum number of reference runs listed one by one.
const MOST_RUNS_NAMED: usize = 3;

/// Returns the statements about the two sides of a comparison: their runs, processes and samples, and the host. Returns none if the benchmark was not
/// measured.
pub(super) fn side_statements(explanation: &Explanation<'_>) -> Vec<Statement> {
    let Some(candidate) = &explanation.candidate else {
        return Vec::new();
    };
    let method = explanation.method;
    let mut statements = vec![if method == Some(Method::Paired) {
        paired_statement(candidate, explanation.base.first())
    } else {
        single_statement(candidate)
    }];
    let compared_with = explanation
        .row
        .map_or_else(Vec::new, |row| row.compared_runs(explanation.run));
    if method != Some(Method::Paired) && !(explanation.base.is_empty() && compared_with.is_empty())
    {
        statements.push(reference_statement(explanation));
    }
    let environment = &explanation.run.begun.environment;
    let host = &environment.host;
    let text = match &explanation.run.source {
        Some(imported) => format!(
            "Another program measured this benchmark ({}): {}.",
            imported.summary(),
            describe_environment(environment)
        ),
        None => format!(
            "On {}; {}, profile {}{}.{}",
            units::host(host),
            environment.build.rustc,
            environment.build.profile,
            units::missing_features(&host.os)
                .map_or_else(String::new, |missing| format!("; {missing}")),
            describe_host_signs(&explanation.signs),
        ),
    };
    statements.push(Statement::new(
        text,
        Numbers::Place {
            cores: host.cores,
            shared: host.shared,
            load: explanation.run.begun.load,
            clock_step_ns: explanation.signs.clock_step,
            jitter: explanation.signs.jitter,
            control_range: explanation.signs.control_range,
        },
    ));
    statements
}

/// Describes the clock and the control workload of the host, with a sentence for each that is known.
fn describe_host_signs(signs: &HostControls) -> String {
    let clock = signs
        .clock_step
        .map(|step| format!(" The clock advances in steps of {} ns.", step.0));
    let control = signs.steadiness().and_then(|steadiness| {
        Some(format!(
            " The time of a fixed workload varied by up to {:.1} % within 3 ms ({}), and by {:.1} % between processes.",
            signs.jitter? * 100.0,
            steadiness.word(),
            signs.control_range? * 100.0,
        ))
    });
    clock.into_iter().chain(control).collect()
}

fn single_statement(candidate: &MeasuredSide) -> Statement {
    Statement::new(
        format!(
            "{} measured this benchmark: {} from {}.",
            sentences::capitalize(&describe_run(candidate)),
            units::counted(candidate.samples, "sample"),
            units::counted(candidate.processes, "process"),
        ),
        Numbers::Measured {
            run: candidate.run,
            base_run: None,
            processes: candidate.processes,
            samples: candidate.samples,
        },
    )
}

fn paired_statement(candidate: &MeasuredSide, base: Option<&MeasuredSide>) -> Statement {
    let beside = base.map_or_else(
        || "its reference, which is not in this store".to_owned(),
        |base| format!("the reference, {}", describe_run(base)),
    );
    Statement::new(
        format!(
            "The new build, {}, and {beside}, were measured side by side in {}. Each round started a new process of each build. The new build has {}.",
            describe_run(candidate),
            units::counted(candidate.processes, "round"),
            units::counted(candidate.samples, "sample"),
        ),
        Numbers::Measured {
            run: candidate.run,
            base_run: base.map(|base| base.run),
            processes: candidate.processes,
            samples: candidate.samples,
        },
    )
}

fn reference_statement(explanation: &Explanation<'_>) -> Statement {
    let base = &explanation.base;
    let processes: usize = base.iter().map(|side| side.processes).sum();
    let samples: usize = base.iter().map(|side| side.samples).sum();
    let spread = explanation.row.map_or(0, |row| row.spread.len());
    let held = format!(
        "{} from {}",
        units::counted(samples, "sample"),
        units::counted(processes, "process")
    );
    let compared_with = explanation
        .row
        .map_or(base.len(), |row| row.compared_runs(explanation.run).len());
    let text = match &base[..] {
        [] => format!(
            "This run was compared with {}, which this store does not have.",
            units::counted(compared_with, "run")
        ),
        _ if base.len() < compared_with => format!(
            "This run was compared with the mean of {compared_with} runs. This store has {} of them ({}), with {held} in total.",
            base.len(),
            list_runs(base)
        ),
        [only] => format!(
            "This run was compared with {}, which has {held}.",
            describe_run(only)
        ),
        _ => format!(
            "This run was compared with the mean of {} runs ({}), which together have {held}.",
            base.len(),
            list_runs(base)
        ),
    };
    Statement::new(
        text,
        Numbers::Reference {
            runs: base.iter().map(|side| side.run).collect(),
            processes,
            samples,
            runs_spread: spread,
        },
    )
}

/// Lists the numbers of runs: `1, 2, 3`, or `from 1 to 9` if there are many.
fn list_runs(sides: &[MeasuredSide]) -> String {
    let name = |side: &MeasuredSide| side.run.to_string();
    match sides {
        [newest, .., oldest] if sides.len() > MOST_RUNS_NAMED => {
            format!("from {} to {}", name(oldest), name(newest))
        }
        _ => sides.iter().map(name).collect::<Vec<_>>().join(", "),
    }
}

/// Describes the run of a side: `run 3 of 2026-01-01T00:00:00Z (commit 0123456789ab, main, modified)`.
fn describe_run(side: &MeasuredSide) -> String {
    let git = side.git.as_ref().map_or_else(String::new, |git| {
        let hash = shorten_hash(&git.commit, 12);
        let branch = git.branch.as_deref().unwrap_or("detached");
        let dirty = if git.dirty { ", modified" } else { "" };
        format!(" (commit {hash}, {branch}{dirty})")
    });
    format!("run {} of {}{git}", side.run, side.started)
}

/// Returns a statement for each distinct failure message, with the processes that failed with it.
pub(super) fn failure_statements(failures: &[Failure]) -> Vec<Statement> {
    let failures = sentences::group_by_message(failures).into_iter();
    let statements = failures.map(|(message, processes)| {
        let named = sentences::format_processes(&processes);
        Statement::new(
            format!("The benchmark failed in {named}: {message}"),
            Numbers::Failure { processes },
        )
    });
    statements.collect()
}

/// Formats a p-value: `p = 0.0123`. If it is smaller than the smallest value that is printed, the result is `p < .0001`.
pub(super) fn format_p(p: f64) -> String {
    match units::p_value(p) {
        small if small.starts_with('<') => format!("p {}", small.replace('<', "< ")),
        other => format!("p = {other}"),
    }
}

/// Formats a significance level or a share in percent with three significant digits: `0.333 %`.
pub(super) fn format_level(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent <= 0.0 || !percent.is_finite() {
        return units::percent(fraction);
    }
    let decimals = (2.0 - percent.log10().floor()).clamp(0.0, 9.0) as usize;
    let digits = format!("{percent:.decimals$}");
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        &digits
    };
    format!("{digits} %")
}

/// The measurement of a benchmark in one run.
#[derive(Debug, Clone)]
pub struct MeasuredSide {
    /// Number of the run.
    pub run: RunId,
    /// Start of the run, RFC 3339.
    pub started: String,
    /// The checkout that was measured; `None` outside a repository.
    pub git: Option<GitState>,
    /// Number of processes that have samples, or of rounds if two builds were measured side by side.
    pub processes: usize,
    /// Number of samples that the verdict is based on, over all processes.
    pub samples: usize,
}

/// All that is known about one verdict, from which it is explained.
#[derive(Debug, Clone)]
pub struct Explanation<'a> {
    /// The benchmark.
    pub key: &'a BenchmarkKey,
    /// Unit and meaning of the benchmark's samples.
    pub metric: &'a Metric,
    /// The run that has the verdict.
    pub run: &'a Run,
    /// The stored verdict.
    pub verdict: Verdict,
    /// The stored change, as a fraction; `None` without a comparison.
    pub change: Option<f64>,
    /// The run that the benchmark was compared with, as stored; `None` if there was none.
    pub reference: Option<RunId>,
    /// The measurement of the run that has the verdict. If two builds were measured side by side, this is the candidate. `None` if the benchmark was
    /// not measured.
    pub candidate: Option<MeasuredSide>,
    /// The measurements of those reference runs that this store still has, newest first.
    pub base: Vec<MeasuredSide>,
    /// Speed and steadiness of the host, as the run measured them.
    pub signs: HostControls,
    /// Failures of processes that measured the benchmark.
    pub failures: &'a [Failure],
    /// The findings about the benchmark that were stored with the run; `None` if they are not known.
    pub row: Option<&'a Row<'a>>,
    /// Method by which the verdict was decided; `None` if it is not known.
    pub method: Option<Method>,
    /// Functions that differ between the executables of both sides; `None` if unknown.
    pub code: Option<&'a CodeChange>,
    /// Plan of a side-by-side measurement, which says after which rounds the data are tested. `None` for other runs, or if it is not known.
    pub plan: Option<&'a Plan>,
}

impl Explanation<'_> {
    /// Returns the comparison that the verdict is based on, if there was one.
    pub(crate) fn comparison(&self) -> Option<&Comparison> {
        self.row?.comparison.as_ref()
    }
}

/// The command-line arguments that select a benchmark, for commands that are suggested to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchmarkSelector {
    /// The argument that names the benchmark. It is not quoted yet.
    pub word: String,
    /// The flags that select the workspace and the store of the benchmark, each with a space before it.
    pub place: String,
}

impl BenchmarkSelector {
    /// Returns `command` with the argument that names the benchmark, then `flags`, each of which has a space before it, then the flags for workspace
    /// and store.
    pub(super) fn command(&self, command: &str, flags: &str) -> String {
        let flags = format!("{flags}{}", self.place);
        shell_command(command, &[&self.word], &flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::Side;

    #[test]
    fn levels_have_three_digits_however_small_they_are() {
        assert_eq!(format_level(0.01), "1 %");
        assert_eq!(format_level(0.01 / 3.0), "0.333 %");
        assert_eq!(format_level(0.000_012_345), "0.00123 %");
        assert_eq!(format_level(0.5), "50 %");
        assert_eq!(format_level(1.0), "100 %");
        assert_eq!(format_level(0.0), "0 %");
    }

    #[test]
    fn failures_of_one_kind_are_told_once() {
        let failure = |process, message: &str| Failure {
            process,
            side: Side::Candidate,
            message: message.to_owned(),
        };
        let statements =
            failure_statements(&[failure(0, "died"), failure(1, "hung"), failure(2, "died")]);
        let texts: Vec<&str> = statements
            .iter()
            .map(|statement| &*statement.text)
            .collect();
        assert_eq!(
            texts,
            [
                "The benchmark failed in processes 1, 3: died",
                "The benchmark failed in process 2: hung"
            ]
        );
    }
}
