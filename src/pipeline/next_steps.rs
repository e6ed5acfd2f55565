//! Advice after a run: the last lines of its report, each with a command.

use std::path::PathBuf;

use crate::naming::unambiguous_word;
use crate::options::CommonOptions;
use crate::sanitize::{shell_command, shell_quoted};
use crate::session::NamedRun;
use perfcheck_analysis::compare::Comparison;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::Row;
use perfcheck_analysis::model::{BenchmarkKey, ProgramBenchmark, RunId, Tally, Verdict};
use perfcheck_store::public_location;

/// If the advice would have to name more benchmarks than this, it accepts the whole run instead.
const MAX_NAMED_BENCHMARKS: usize = 3;

/// The reference of the next run with the same command line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NextReference<'a> {
    /// The last accepted run.
    Accepted,
    /// The run that a baseline names at that time.
    Named(&'a str),
    /// The command line determines the reference, so accepting runs does not change it.
    Fixed,
}

/// The run that the advice is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdvisedRun<'a> {
    pub(crate) run: RunId,
    /// Command line that measures again, without a filter: advice appends the benchmark.
    pub(crate) again: &'a str,
    /// Flags that lead other commands to this workspace and store.
    pub(crate) place: &'a str,
    pub(crate) next: NextReference<'a>,
}

/// Returns advice on what to do next.
pub(crate) fn next_steps(rows: &[Row<'_>], advised: &AdvisedRun<'_>) -> Vec<String> {
    let tally: Tally = rows.iter().filter_map(|row| row.verdict).collect();
    let count = |verdict| tally.count(verdict);
    let accept = (count(Verdict::Regressed) > 0)
        .then(|| advised.accept_line(accept_command(rows, Verdict::Regressed, advised)))
        .flatten();
    let is_next = matches!(advised.next, NextReference::Accepted);
    let begins = count(Verdict::New) + count(Verdict::Incomparable);
    let first = is_next && !rows.is_empty() && begins == rows.len();
    let first = first.then(|| format!("Run {} is the reference for the next run.", advised.run));
    let clearer = [Verdict::Regressed, Verdict::Suspect, Verdict::Failed];
    let open = clearer.iter().all(|verdict| count(*verdict) == 0);
    let stored = |row: &Row<'_>| {
        let comparison = row.comparison.as_ref();
        row.verdict == Some(Verdict::Inconclusive)
            && comparison.is_some_and(|found| !found.is_paired())
    };
    let open = (open && rows.iter().any(stored)).then(|| {
        format!(
            "To detect smaller changes: cargo perfcheck --against REV{}",
            advised.place
        )
    });
    let shown = accept.as_deref();
    let doubts = [
        advise_on_suspects(rows, advised, shown),
        advise_on_inconclusive(rows, advised, shown),
    ];
    (explain_command(rows, advised).into_iter())
        .chain(accept.clone())
        .chain(doubts.into_iter().flatten())
        .chain(first)
        .chain(open)
        .collect()
}

impl AdvisedRun<'_> {
    /// Returns the line with the command that makes this run the reference of the next run. If the reference is the last accepted run, this is the
    /// command `accepting`. If it is a baseline, the command saves the run as that baseline. Returns `None` if the command line fixes the reference.
    fn accept_line(&self, accepting: String) -> Option<String> {
        let Self { run, place, .. } = self;
        let command = match self.next {
            NextReference::Accepted => accepting,
            NextReference::Named(name) => format!(
                "cargo perfcheck baseline save {} {run}{place}",
                shell_quoted(name)
            ),
            NextReference::Fixed => return None,
        };
        Some(format!("Accept: {command}   (if the change is intended)"))
    }

    /// Returns the lines about a benchmark that may be slower: the sentence `known`, the command that measures the benchmark again, and the command
    /// that accepts the run. The last line is left out if it is the same as `shown`, which is printed elsewhere already.
    fn doubt_lines(
        &self,
        known: String,
        row: &Row<'_>,
        accepting: String,
        shown: Option<&str>,
    ) -> String {
        let again = format!("Measure again: {}", rerun_command(self.again, row));
        let accept = self.accept_line(accepting);
        let accept = accept.filter(|line| shown != Some(&**line));
        let lines: Vec<String> = [known, again].into_iter().chain(accept).collect();
        lines.join("\n")
    }

    /// Returns the line that says that this run is not accepted; empty if accepting it would not change the reference of the next run.
    fn not_accepted_note(&self) -> String {
        match self.next {
            NextReference::Accepted => format!("\nRun {} is not accepted.", self.run),
            NextReference::Named(_) | NextReference::Fixed => String::new(),
        }
    }
}

/// Explains exit status 6 of a comparison with a run that the user named.
pub(crate) fn explain_nothing_compared(
    exit_code: ExitCode,
    named: Option<&NamedRun>,
    rows: &[Row<'_>],
) -> Option<String> {
    let NamedRun { run, name } = named.filter(|_| exit_code == ExitCode::NoBaseline)?;
    let is_new = |row: &Row<'_>| row.verdict == Some(Verdict::New);
    let why = if rows.iter().all(is_new) {
        ", which has none of these benchmarks"
    } else {
        ""
    };
    Some(format!(
        "Nothing could be compared with `{}` (run {run}){why}: exit status {}.",
        name.escape_debug(),
        ExitCode::NoBaseline.number()
    ))
}

/// Explains that a baseline still names its earlier run. `place` has the flags that lead commands to the store.
///
/// A baseline does not move to a run that is worse than the baseline. Otherwise the next run would be compared with the slower run, and the slowdown
/// would no longer be found.
pub(crate) fn explain_kept_name(named: &NamedRun, run: RunId, place: &str) -> String {
    let NamedRun { run: before, name } = named;
    format!(
        "Baseline `{name}` is still run {before}. If the change is intended: cargo perfcheck baseline save {name} {run}{place}"
    )
}

/// Returns the command that accepts the run.
fn accept_run_command(advised: &AdvisedRun<'_>) -> String {
    format!("cargo perfcheck accept {}{}", advised.run, advised.place)
}

/// Returns the command that accepts all benchmarks with this verdict: by name if they are few, else the whole run.
fn accept_command(rows: &[Row<'_>], verdict: Verdict, advised: &AdvisedRun<'_>) -> String {
    let AdvisedRun { run, place, .. } = advised;
    let meant: Vec<&Row<'_>> = rows
        .iter()
        .filter(|row| row.verdict == Some(verdict))
        .collect();
    let measured = rows.iter().filter(|row| row.measurement.is_some()).count();
    if meant.len() > MAX_NAMED_BENCHMARKS || meant.len() == measured {
        return accept_run_command(advised);
    }
    let words: Vec<String> = meant.iter().map(|row| row_word(row, rows)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let flags = format!(" --run {run}{place}");
    shell_command("cargo perfcheck accept", &words, &flags)
}

/// Returns a word that selects exactly this row's benchmark in commands about the run.
fn row_word(row: &Row<'_>, rows: &[Row<'_>]) -> String {
    unambiguous_word(&row.key, rows.iter().map(|row| &row.key))
}

/// Returns the command that explains the worst regression.
fn explain_command(rows: &[Row<'_>], advised: &AdvisedRun<'_>) -> Option<String> {
    let AdvisedRun { run, place, .. } = advised;
    let seen = |row: &&Row<'_>| estimate(row.comparison.as_ref());
    let worst = rows
        .iter()
        .filter(|row| row.verdict == Some(Verdict::Regressed))
        .max_by(|a, b| seen(a).total_cmp(&seen(b)))?;
    let flags = format!(" --run {run}{place}");
    let explain = shell_command("cargo perfcheck explain", &[&row_word(worst, rows)], &flags);
    Some(format!("Why: {explain}"))
}

/// Returns advice on the `suspect` benchmark that looks slowest.
fn advise_on_suspects(
    rows: &[Row<'_>],
    advised: &AdvisedRun<'_>,
    shown: Option<&str>,
) -> Option<String> {
    let seen = |row: &&Row<'_>| estimate(row.comparison.as_ref());
    let worst = rows
        .iter()
        .filter(|row| row.verdict == Some(Verdict::Suspect))
        // Skip side-by-side measurements: drift between runs does not affect them.
        .filter(|row| {
            let comparison = row.comparison.as_ref();
            comparison.is_some_and(|comparison| comparison.run_grounds().is_some())
        })
        .max_by(|a, b| seen(a).total_cmp(&seen(b)))?;
    let comparison = worst.comparison.as_ref()?;
    let percent = |fraction: Option<f64>| format!("{:.1} %", fraction.unwrap_or(f64::NAN) * 100.0);
    let known = format!(
        "suspect: `{}` looks {} slower. Runs on this host drift by {} (standard deviation), so stored numbers cannot show changes below {}.{}",
        worst.key.id.escape_debug(),
        percent(Some(seen(&worst))),
        percent(comparison.run_grounds().map(|grounds| grounds.run_sd)),
        percent(comparison.smallest_callable),
        advised.not_accepted_note(),
    );
    let accepting = accept_command(rows, Verdict::Suspect, advised);
    Some(advised.doubt_lines(known, worst, accepting, shown))
}

/// Returns advice on benchmarks that look slower without proof.
fn advise_on_inconclusive(
    rows: &[Row<'_>],
    advised: &AdvisedRun<'_>,
    shown: Option<&str>,
) -> Option<String> {
    let slower: Vec<&Row<'_>> = rows
        .iter()
        .filter(|row| row.verdict == Some(Verdict::Inconclusive) && row.looks_slower())
        .collect();
    let seen = |row: &&&Row<'_>| estimate(row.comparison.as_ref());
    let worst = *slower.iter().max_by(|a, b| seen(a).total_cmp(&seen(b)))?;
    let others = match slower.len() - 1 {
        0 => String::new(),
        1 => " (1 more benchmark also looks slower)".to_owned(),
        more => format!(" ({more} more benchmarks also look slower)"),
    };
    let known = format!(
        "inconclusive: `{}` looks {:.1} % slower{others}, but this is not certain.{}",
        worst.key.id.escape_debug(),
        estimate(worst.comparison.as_ref()) * 100.0,
        advised.not_accepted_note(),
    );
    Some(advised.doubt_lines(known, worst, accept_run_command(advised), shown))
}

/// Returns the command that measures only this benchmark, with enough rounds to settle it.
fn rerun_command(again: &str, row: &Row<'_>) -> String {
    let BenchmarkKey {
        package,
        target,
        id,
    } = &row.key;
    let look = row.comparison.as_ref().and_then(Comparison::look);
    let rounds = look.and_then(|look| look.rounds_needed);
    let rounds = rounds.map_or_else(String::new, |needed| format!(" --rounds {needed}"));
    if ProgramBenchmark::binary_of_target(target).is_some() {
        let id = shell_quoted(id);
        return format!("{again}{rounds} -p {package} --program {id}");
    }
    if ProgramBenchmark::is_build(target) {
        let command = format!("{again}{rounds} -p {package} --exact");
        return shell_command(&command, &[id], "");
    }
    let target = shell_quoted(target);
    let command = format!("{again}{rounds} -p {package} --bench {target} --exact");
    shell_command(&command, &[id], "")
}

fn estimate(comparison: Option<&Comparison>) -> f64 {
    comparison
        .and_then(|comparison| comparison.change)
        .map_or(f64::NAN, |change| change.estimate)
}

/// Formats flags with their values, each after a space.
pub(crate) fn format_flags<const N: usize>(pairs: [(&str, Option<String>); N]) -> String {
    let flag =
        |(flag, value): (&str, Option<String>)| Some(format!(" {flag} {}", shell_quoted(&value?)));
    pairs.into_iter().filter_map(flag).collect()
}

/// Returns the flags that lead any command to the workspace and store of `common`.
pub(crate) fn workspace_flags(common: &CommonOptions) -> String {
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    format_flags([
        ("--manifest-path", path(&common.cargo.manifest_path)),
        (
            "--store",
            path(&common.store.as_deref().map(public_location)),
        ),
    ])
}
