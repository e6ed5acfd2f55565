//! Puts the statements of an explanation in order and writes them, as a summary of a few lines, as text that fits 80 columns, or as one JSON message.

use std::io::{self, Write};

use super::measured::failure_statements;
use super::measured::{BenchmarkSelector, Explanation};
use super::unpaired::note_statements;
use super::{measured, paired, unpaired};
use crate::output::layout::{Cell, Column, Table};
use crate::output::messages::{
    DecisionNumbers, ExplanationMessage, JsonMessage, Numbers, Statement, decided_by, write_message,
};
use crate::output::view::{MessageFormat, wrap_prose};
use crate::output::words::extras::{
    self, NamedUsage, describe_changed_counts, format_percentile_change, format_sample_counts,
    list_functions, quantile_name,
};
use crate::output::words::remarks::{describe_code_change, describe_sameness};
use crate::output::words::sentences::{self, capitalize};
use crate::output::words::{analysis, remarks};
use crate::output::{terminal, units};
use perfcheck_analysis::compare::{
    AllocationComparison, Comparison, CountChange, Difference, InstructionComparison,
    LatencyComparison, PercentileChange, SampledTime, UsageComparison,
};
use perfcheck_analysis::findings::{BenchmarkNote, CodeChange, Method, Row, Sameness};
use perfcheck_analysis::model::{MIN_PROCESSES, Statistic, Verdict};

/// Width of the full explanation, in columns. The left margin of `MARGIN` columns has the topics of the sentences.
const WIDTH: usize = 80;
const MARGIN: usize = 11;

/// How long an explanation for people is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExplanationDepth {
    /// A summary in a few lines. It suggests commands, which select the benchmark with these arguments.
    Summary(BenchmarkSelector),
    /// The whole derivation of the verdict.
    Full,
}

/// Writes an explanation of how a verdict was reached. `depth` applies to people only: the JSON message always has the whole derivation.
pub fn write_explanation(
    writer: &mut dyn Write,
    explanation: &Explanation<'_>,
    depth: ExplanationDepth,
    format: MessageFormat,
) -> io::Result<()> {
    let statements = statements(explanation);
    match (format, depth) {
        (MessageFormat::Human, ExplanationDepth::Summary(bench)) => {
            write_summary(writer, explanation, &bench)
        }
        (MessageFormat::Human, ExplanationDepth::Full) => {
            write_derivation(writer, explanation, &statements)
        }
        (MessageFormat::Json, _) => {
            let decision = &explanation.run.begun.decision;
            let method = explanation
                .method
                .filter(|_| explanation.comparison().is_some());
            let message = ExplanationMessage {
                run: explanation.run.id,
                benchmark: explanation.key,
                verdict: explanation.verdict,
                decided_by: method.map(|method| decided_by(method, decision.analysis.subject)),
                sentences: &statements,
            };
            write_message(writer, JsonMessage::Explanation(message))
        }
    }
}

/// One or more sentences of an explanation, with their topic.
#[derive(Debug)]
pub struct LabeledSentence {
    /// The topic, such as `measured`, as the JSON message names it.
    pub topic: &'static str,
    /// The sentences.
    pub text: String,
}

/// Returns the sentences of an explanation in reading order, for outputs that have a layout of their own.
pub fn labeled_sentences(explanation: &Explanation<'_>) -> Vec<LabeledSentence> {
    let statements = statements(explanation).into_iter();
    statements
        .map(|statement| LabeledSentence {
            topic: statement.numbers.topic(),
            text: statement.text,
        })
        .collect()
}

fn statements(explanation: &Explanation<'_>) -> Vec<Statement> {
    let mut statements = vec![verdict_statement(explanation)];
    statements.extend(measured::side_statements(explanation));
    statements.extend(start_up_statement(explanation));
    statements.extend(explanation.code.map(code_statement));
    let subject = explanation.run.begun.decision.analysis.subject;
    match (explanation.method, explanation.comparison()) {
        (Some(method), Some(comparison)) if explanation.verdict != Verdict::Failed => {
            statements.extend(match method {
                _ if subject != Statistic::Time => unpaired::statements_about(subject, comparison),
                Method::Paired => paired::statements(explanation, comparison),
                Method::Stored(test) if test.is_foreign() => {
                    unpaired::alternative_statements(explanation, comparison)
                }
                Method::Stored(test) => unpaired::statements(explanation, comparison, test),
            });
            statements.extend(extra_statements(explanation, comparison, method));
        }
        _ => {
            let decided = uncompared_statements(explanation);
            let known = decided
                .iter()
                .any(|statement| matches!(statement.numbers, Numbers::Decision(_)));
            statements.extend(decided);
            if !known {
                statements.push(unknown_statement(explanation));
            }
        }
    }
    statements
}

fn verdict_statement(explanation: &Explanation<'_>) -> Statement {
    let meaning = verdict_meaning(explanation);
    Statement::new(
        format!("{}: {meaning}.", capitalize(explanation.verdict.word())),
        Numbers::Verdict {
            change: explanation.change,
            reference_run: explanation.reference,
        },
    )
}

/// Returns a statement about the start of a program, if it is a large part of its time.
fn start_up_statement(explanation: &Explanation<'_>) -> Option<Statement> {
    let mut notes = explanation.row?.remarks.iter();
    notes.find_map(|note| match note {
        BenchmarkNote::StartUp {
            empty_ns,
            median_ns,
        } => Some(Statement::new(
            format!(
                "{}. All times of the program include the start-up.",
                capitalize(&remarks::describe_start_up(*empty_ns, *median_ns))
            ),
            Numbers::StartUp {
                empty_ns: *empty_ns,
                median_ns: *median_ns,
            },
        )),
        _ => None,
    })
}

/// Returns a statement that lists all functions whose machine code differs.
fn code_statement(change: &CodeChange) -> Statement {
    let text = format!("{}.", capitalize(&describe_code_change(change, usize::MAX)));
    Statement::new(
        text,
        Numbers::Code {
            functions: change.functions.clone(),
            left_out: change.left_out,
        },
    )
}

/// Returns a statement that says that the store does not know how the verdict was reached.
fn unknown_statement(explanation: &Explanation<'_>) -> Statement {
    let compare = explanation.reference.map_or_else(String::new, |reference| {
        format!(
            " Use `cargo perfcheck compare {reference} {}` to compare the two runs again.",
            explanation.run.id
        )
    });
    Statement::new(
        format!(
            "The reasons for this verdict are not stored: another program measured the run, or an export left them out.{compare}"
        ),
        Numbers::Origin {},
    )
}

fn write_summary(
    writer: &mut dyn Write,
    explanation: &Explanation<'_>,
    bench: &BenchmarkSelector,
) -> io::Result<()> {
    write_head(writer, explanation)?;
    let columns = units::terminal_width();
    for (subject, text) in summary_lines(explanation, bench) {
        let text = wrap_prose(
            &terminal::escape_terminal_text(&text),
            columns,
            &" ".repeat(MARGIN),
        );
        let subject = terminal::faint(format!("{subject:MARGIN$}"));
        writeln!(writer, "{subject}{text}")?;
    }
    let run = explanation.run.id;
    let explain = |flag: &str| {
        let flags = format!(" --run {run} {flag}");
        bench.command("cargo perfcheck explain", &flags)
    };
    let mut more = vec![format!("Full explanation: {}", explain("--full"))];
    let is_named = |code: &CodeChange| !code.functions.is_empty();
    if explanation.code.is_some_and(is_named) {
        more.push(format!("Machine code: {}", explain("--asm FUNCTION")));
        more.push(format!(
            "Flame graphs: {}",
            explain("--flamegraph FILE.svg")
        ));
    }
    writeln!(writer)?;
    for line in more {
        writeln!(
            writer,
            "{}",
            terminal::faint(terminal::escape_terminal_text(&line))
        )?;
    }
    Ok(())
}

fn write_head(writer: &mut dyn Write, explanation: &Explanation<'_>) -> io::Result<()> {
    let key = explanation.key;
    writeln!(
        writer,
        "{} {}, run {}: {}\n",
        terminal::heading(format!("{}/{}", key.package, key.target)),
        units::id_in_prose(&key.id, units::terminal_width()),
        explanation.run.id,
        terminal::verdict(explanation.verdict)
    )
}

fn write_derivation(
    writer: &mut dyn Write,
    explanation: &Explanation<'_>,
    statements: &[Statement],
) -> io::Result<()> {
    write_head(writer, explanation)?;
    let subjects = statements.iter().scan("", |before, statement| {
        let subject = if statement.numbers.topic() == *before {
            ""
        } else {
            statement.numbers.topic()
        };
        *before = statement.numbers.topic();
        Some(Cell::faint(subject))
    });
    let texts = statements.iter().map(|statement| statement.text.as_str());
    Table::new(vec![
        Column::fact("", subjects).with_min_width(MARGIN),
        Column::prose("", texts),
    ])
    .write(writer, WIDTH)
}

/// Maximum number of functions that the summary names if only their machine code is known to differ.
const MOST_NAMED: usize = 3;

/// Returns the lines of the summary, each with its topic. Commands in the lines select the benchmark with the arguments of `bench`.
fn summary_lines(
    explanation: &Explanation<'_>,
    bench: &BenchmarkSelector,
) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        ("change", describe_change(explanation)),
        ("reference", describe_reference(explanation)),
        ("certainty", describe_certainty(explanation)),
    ];
    lines.extend(describe_functions(explanation).map(|text| ("where", text)));
    lines.extend(start_up_statement(explanation).map(|one| ("start-up", one.text)));
    lines.push(("next", next_step(explanation, bench)));
    lines
}

/// Names the functions whose instructions or time changed. If neither was counted, names those whose machine code differs. Returns `None` unless the
/// verdict reports a change or a suspicion.
fn describe_functions(explanation: &Explanation<'_>) -> Option<String> {
    let has_changed = matches!(
        explanation.verdict,
        Verdict::Regressed | Verdict::Suspect | Verdict::Improved
    );
    let counted = explanation.comparison().and_then(|found| {
        let counted = found.instructions.as_ref();
        let sampled = found.sampled_time.as_ref();
        let sampled = sampled.filter(|found| !found.functions.is_empty());
        counted
            .map(extras::describe_instruction_change)
            .or_else(|| sampled.map(extras::describe_sampled_time))
    });
    let differs = || Some(remarks::describe_code_change(explanation.code?, MOST_NAMED));
    let text = counted.or_else(differs).filter(|_| has_changed)?;
    Some(format!("{}.", capitalize(&text)))
}

/// Says in words what the verdict means.
fn verdict_meaning(explanation: &Explanation<'_>) -> &'static str {
    match explanation.verdict {
        Verdict::Regressed if is_by_slow_path(explanation) => {
            "some samples are slower by more than noise (a slow path)"
        }
        Verdict::Regressed => "slower by more than noise",
        Verdict::Suspect => "looks slower, but this is not certain",
        Verdict::Failed => "the benchmark could not be measured",
        Verdict::Incomparable => "the two runs were measured under different conditions",
        Verdict::Missing => "the reference has this benchmark, but this run does not",
        Verdict::Inconclusive => "too uncertain to tell whether there is a change",
        Verdict::New => "no reference has this benchmark",
        Verdict::Unchanged if sameness(explanation).is_some() => {
            "both builds run the same machine code, so nothing was measured"
        }
        Verdict::Unchanged => "no change beyond the noise threshold",
        Verdict::Improved if is_by_slow_path(explanation) => {
            "some slow samples are gone (a slow path of the reference)"
        }
        Verdict::Improved => "faster by more than noise",
    }
}

/// Reports whether the change itself is no more than noise, so that only a slow path explains the verdict.
fn is_by_slow_path(explanation: &Explanation<'_>) -> bool {
    explanation.comparison().is_some_and(|found| {
        let is_noise = |change: f64| change.abs() <= found.noise_threshold;
        found.slow_side().is_some() && explanation.change.is_some_and(is_noise)
    })
}

fn describe_change(explanation: &Explanation<'_>) -> String {
    let subject = explanation.run.begun.decision.analysis.subject;
    let comparison = explanation.comparison();
    let values = comparison
        .and_then(|found| sentences::format_values(found, subject, explanation.metric))
        .map(|values| format!("{} → {}", values.base, values.candidate));
    let change = explanation.change.map(units::change);
    let numbers: Vec<String> = [change, values].into_iter().flatten().collect();
    if numbers.is_empty() {
        return format!("{}.", capitalize(verdict_meaning(explanation)));
    }
    format!("{}: {}.", numbers.join(", "), verdict_meaning(explanation))
}

fn describe_reference(explanation: &Explanation<'_>) -> String {
    let Some(reference) = explanation.reference else {
        return "Nothing.".to_owned();
    };
    let is_paired = explanation.comparison().is_some_and(Comparison::is_paired);
    let mut sides = explanation.base.iter();
    // A side-by-side measurement has a single base: the build of the reference, measured again as another run.
    let base = sides.find(|side| side.run == reference || is_paired);
    let git = base.and_then(|side| side.git.as_ref());
    let commit = git.map_or_else(String::new, |git| {
        let hash = git.short();
        let branch = git.branch.as_deref();
        let branch = branch.map_or_else(String::new, |branch| format!(", {branch}"));
        let changes = if git.dirty {
            " with uncommitted changes"
        } else {
            ""
        };
        format!(" (commit {hash}{changes}{branch})")
    });
    let comparison = explanation.comparison();
    let how = match comparison {
        Some(found) if found.is_paired() => format!(
            ", measured side by side in {}",
            units::counted(found.extent.processes_candidate(), "round")
        ),
        Some(_) => ", using its stored numbers".to_owned(),
        None => String::new(),
    };
    format!("Run {reference}{commit}{how}.")
}

fn describe_certainty(explanation: &Explanation<'_>) -> String {
    let decision = &explanation.run.begun.decision;
    let change = explanation.comparison().and_then(|found| found.change);
    let known = change.filter(|change| change.lower.is_finite() || change.upper.is_finite());
    if let Some(change) = known {
        return format!(
            "{} interval of the change: {}; {}.",
            units::percent(analysis::interval_level(decision)),
            units::change_interval(change.lower, change.upper),
            analysis::describe_false_alarm_rate(decision)
        );
    }
    if let Some(same) = sameness(explanation) {
        return format!("Certain: {}.", remarks::describe_sameness(same));
    }
    match explanation.verdict {
        Verdict::Incomparable => {
            let blocking = explanation.row.map_or(&[][..], |row| &row.blocking);
            let differences: Vec<String> = blocking.iter().map(Difference::to_string).collect();
            if differences.is_empty() {
                "The two runs were not compared.".to_owned()
            } else {
                format!(
                    "The two runs were not compared: {}.",
                    differences.join("; ")
                )
            }
        }
        Verdict::Failed => {
            let failures = sentences::group_by_message(explanation.failures);
            let first = failures.first().map(|(message, _)| format!(": {message}"));
            format!("No result{}.", first.unwrap_or_default())
        }
        _ => "Nothing was compared.".to_owned(),
    }
}

fn next_step(explanation: &Explanation<'_>, bench: &BenchmarkSelector) -> String {
    let run = explanation.run.id;
    let again = |flags: &str| bench.command(&format!("cargo perfcheck{flags} --exact"), "");
    match explanation.verdict {
        Verdict::Regressed => {
            let accept = bench.command("cargo perfcheck accept", &format!(" --run {run}"));
            format!("If the change is intended: {accept}")
        }
        Verdict::Suspect => format!("Measure again: {}", again("")),
        Verdict::Inconclusive => {
            let look = explanation.comparison().and_then(|found| found.look());
            let rounds = look.and_then(|look| look.rounds_needed);
            let rounds = rounds.map_or_else(String::new, |needed| format!(" --rounds {needed}"));
            let settles = explanation.row.and_then(remarks::settlement_of);
            let settles = settles.map_or_else(String::new, |way| format!("{}. ", capitalize(&way)));
            format!(
                "{settles}Measure only this benchmark again: {}",
                again(&rounds)
            )
        }
        Verdict::Failed => "See what the bench printed: cargo bench".to_owned(),
        Verdict::Incomparable => {
            "Measure both builds under the same conditions: cargo perfcheck --against REV"
                .to_owned()
        }
        Verdict::Missing => format!(
            "If the benchmark was removed or renamed: cargo perfcheck accept {run}{}",
            bench.place
        ),
        Verdict::New => "Nothing: later runs are compared with this one.".to_owned(),
        Verdict::Unchanged | Verdict::Improved => "Nothing.".to_owned(),
    }
}

/// Explains the verdict of a benchmark that was not compared: why it was not, and what would have led to another verdict.
fn uncompared_statements(explanation: &Explanation<'_>) -> Vec<Statement> {
    let mut statements = failure_statements(explanation.failures);
    let side_by_side = explanation.run.pair.is_some();
    let reference = explanation.reference;
    let same = sameness(explanation);
    let named = reference.map_or_else(|| "the reference".to_owned(), |run| format!("run {run}"));
    let (decision, otherwise) = match explanation.verdict {
        Verdict::New if side_by_side => (
            format!("{named} does not have this benchmark, or has it in another bench target, so there was nothing to compare."),
            "`--against REV --benches-from worktree` builds REV with the current benchmarks, so both sides have this one.".to_owned(),
        ),
        Verdict::New => (
            "No reference has this benchmark. The reference is the run that you name, or else the last accepted run of the same branch or of the branch that it forked from.".to_owned(),
            "If this run is accepted, the next one will be compared with it.".to_owned(),
        ),
        Verdict::Missing => (
            format!("{named} has this benchmark, but the new build of its bench target does not: it was removed, renamed or left out of the build."),
            "If it was renamed, it is reported as `new` under its new name. Once you accept a run without it, it is no longer `missing`.".to_owned(),
        ),
        Verdict::Incomparable => explain_incomparable(explanation, &named, &mut statements),
        Verdict::Failed => explain_failed(explanation, &mut statements),
        Verdict::Unchanged => match same {
            Some(same) => (
                format!("{}, so the benchmark was not measured against {named}.", describe_sameness(same)),
                "Use `--measure-identical` to measure it anyway.".to_owned(),
            ),
            None => return statements,
        },
        _ => return statements,
    };
    statements.push(Statement::new(
        capitalize(&decision),
        Numbers::Decision(DecisionNumbers::Uncompared {
            reference_run: reference,
        }),
    ));
    statements.push(Statement::new(
        otherwise,
        Numbers::Otherwise {
            smallest_callable: None,
            rounds_needed: None,
        },
    ));
    statements
}

/// Returns what is the same on both sides, if the benchmark was not measured because of that. Otherwise returns `None`.
fn sameness(explanation: &Explanation<'_>) -> Option<Sameness> {
    let side_by_side = explanation.run.pair.is_some();
    let same = explanation.row.and_then(Row::sameness);
    let is_unmeasured = side_by_side && explanation.candidate.is_none();
    same.or(is_unmeasured.then_some(Sameness::Executable))
}

fn explain_incomparable(
    explanation: &Explanation<'_>,
    named: &str,
    statements: &mut Vec<Statement>,
) -> (String, String) {
    let blocking = explanation.row.map_or(&[][..], |row| &row.blocking);
    for difference in blocking {
        statements.push(Statement::new(
            format!("{difference}."),
            Numbers::Difference(difference.clone()),
        ));
    }
    let facts: Vec<&str> = blocking.iter().map(|found| found.fact.word()).collect();
    let facts = if facts.is_empty() {
        // If a side-by-side measurement stored no differences, only the benchmark's version can differ.
        "benchmark-version".to_owned()
    } else {
        facts.join(",")
    };
    let may_differ = blocking.iter().all(|found| found.fact.may_differ());
    (
        format!(
            "The benchmark was not compared with {named} because the conditions differ ({facts}). Such a difference can change times even if the code is the same."
        ),
        if may_differ {
            format!(
                "`--allow-different {facts}` compares the runs anyway, but it is better to measure both builds under the same conditions (`--against REV`)."
            )
        } else {
            "Measure both builds under the same conditions (`--against REV`). The next run will be compared with this one.".to_owned()
        },
    )
}

fn explain_failed(
    explanation: &Explanation<'_>,
    statements: &mut Vec<Statement>,
) -> (String, String) {
    let comparison = explanation.comparison();
    statements.extend(note_statements(
        comparison.map_or(&[], |found| &found.notes),
    ));
    let of_pair = explanation.method == Some(Method::Paired) || explanation.run.pair.is_some();
    let good = explanation
        .candidate
        .as_ref()
        .map_or(0, |candidate| candidate.processes);
    let decision = if explanation.candidate.is_none() {
        "The bench target could not run on at least one side, so nothing was measured.".to_owned()
    } else if of_pair {
        format!(
            "Too few rounds measured both sides for a verdict (the new build was measured in {good})."
        )
    } else if good == 0 {
        "None of the benchmark's processes produced samples.".to_owned()
    } else {
        format!(
            "Only {good} of the benchmark's processes produced samples. If any process fails, a verdict needs samples from at least {MIN_PROCESSES}."
        )
    };
    (
        decision,
        "The run printed the output of the process to stderr. To reproduce the failure in one process, run `cargo bench`.".to_owned(),
    )
}

/// Returns a statement for each comparison of instructions, sampled time, allocations, resources and latencies. If the verdict is about the time, the
/// statements say that it does not cover what they describe.
fn extra_statements(
    explanation: &Explanation<'_>,
    comparison: &Comparison,
    method: Method,
) -> Vec<Statement> {
    let subject = explanation.run.begun.decision.analysis.subject;
    let allocations = comparison
        .allocations
        .as_ref()
        .map(|found| allocations(found, subject));
    let latencies = comparison
        .latencies
        .as_ref()
        .map(|found| latencies(found, comparison.noise_threshold, method, subject));
    let instructions = comparison.instructions.as_ref();
    let instructions =
        instructions.map(|found| instructions_compared(found, explanation, comparison));
    let sampled = comparison.sampled_time.as_ref().map(sampled_time);
    let usage = comparison.usage.as_ref();
    let usage = usage.map(|found| usage_compared(found, comparison.noise_threshold, subject));
    let counts = instructions.into_iter().chain(sampled).chain(allocations);
    counts.chain(usage).chain(latencies).collect()
}

/// Returns a sentence which says that the verdict covers only `time`, and not the statistic that the text before describes. Returns an empty text if
/// the verdict is about another statistic than the time, because another statement says so.
fn exclude_from_verdict(subject: Statistic, time: &str) -> String {
    if subject == Statistic::Time {
        format!(" The verdict above covers only {time}.")
    } else {
        String::new()
    }
}

fn allocations(found: &AllocationComparison, subject: Statistic) -> Statement {
    let all = found.with_names();
    let result = if found.has_changed() {
        format!(
            "Memory allocation per iteration changed: {}.",
            describe_changed_counts(found)
        )
    } else if all.iter().all(|(_, one)| one.verdict == Verdict::Unchanged) {
        format!(
            "Memory allocation per iteration is unchanged: allocations {}, bytes {}.",
            units::count(found.count.candidate),
            units::bytes(found.bytes.candidate)
        )
    } else {
        "It is unclear whether memory allocation per iteration changed.".to_owned()
    };
    let ground = match all.iter().find(|(_, one)| !one.exact) {
        None => {
            "The counts did not vary between iterations or processes, so any difference is real."
                .to_owned()
        }
        Some((name, one)) => format!(
            "The counts varied, so a rank test compared the means of the processes ({name}: {} → {}, exact two-sided p {}). Only a difference beyond the noise threshold counts.",
            units::count(one.base),
            units::count(one.candidate),
            format_p(one),
        ),
    };
    Statement::new(
        format!("{result} {ground}{}", exclude_from_verdict(subject, "time")),
        Numbers::Allocations(*found),
    )
}

fn instructions_compared(
    found: &InstructionComparison,
    explanation: &Explanation<'_>,
    comparison: &Comparison,
) -> Statement {
    let subject = explanation.run.begun.decision.analysis.subject;
    let one = &found.change;
    let ground = if one.exact {
        "Callgrind counted the same number in every process of a side, so the difference is exact."
            .to_owned()
    } else {
        format!(
            "Callgrind's counts varied between processes, so Welch's test compared them (two-sided p {}).",
            format_p(one)
        )
    };
    let (base, candidate) = (units::count(one.base), units::count(one.candidate));
    let result = if one.base == one.candidate {
        format!("An iteration executes {candidate} instructions, as before.")
    } else {
        let noise = units::percent(comparison.noise_threshold);
        let size = match one.verdict {
            Verdict::Unchanged => format!(", within the noise threshold of {noise}"),
            Verdict::Inconclusive => ", which may be noise".to_owned(),
            _ => format!(", beyond the noise threshold of {noise}"),
        };
        let functions = list_functions(&found.functions, units::signed_count);
        let functions = if functions.is_empty() {
            String::new()
        } else {
            format!(" Functions whose own instructions changed most: {functions}.")
        };
        format!(
            "Instructions per iteration: {base} → {candidate} ({}){size}.{functions}",
            units::change(one.relative())
        )
    };
    let relation = match extras::describe_contradiction(comparison, explanation.metric) {
        Some(contradiction) => format!(
            "The time contradicts them: {contradiction}.{}",
            describe_layouts(comparison)
        ),
        None => "The same instructions can take more or less time, depending on branch prediction and caches.".to_owned(),
    };
    Statement::new(
        format!(
            "{result} {ground} {relation}{}",
            exclude_from_verdict(subject, "time")
        ),
        Numbers::Instructions(found.clone()),
    )
}

/// If at least this share of the rounds has the direction of the estimate, the layout does not decide the direction.
const AGREEMENT: f64 = 0.9;

/// Says what the rounds show about the layout as the cause of a change. Returns an empty text for stored runs.
fn describe_layouts(comparison: &Comparison) -> String {
    let rounds = comparison.extent.processes_candidate();
    let Some(agreeing) = comparison.look().and_then(|look| look.agreeing_rounds) else {
        return String::new();
    };
    if comparison.extent.layouts() == 0 {
        return " All rounds had the same code layout, which may be the cause.".to_owned();
    }
    let meaning = if agreeing as f64 >= AGREEMENT * rounds as f64 {
        "the layout does not decide the direction"
    } else {
        "the layout, or noise, decides the direction of a round"
    };
    format!(" The rounds had different layouts of code and memory, so {meaning}.")
}

fn sampled_time(found: &SampledTime) -> Statement {
    let functions: Vec<String> = (found.functions.iter())
        .map(|one| {
            let [base, candidate] = [one.cost.base, one.cost.candidate].map(units::time);
            let error = one.standard_error.map(units::time);
            let error = error.map_or_else(String::new, |error| format!(", standard error {error}"));
            let more = units::signed_time(one.difference());
            format!("{} {base} → {candidate} ({more}{error})", one.name)
        })
        .collect();
    let result = if functions.is_empty() {
        "No function's time differs significantly.".to_owned()
    } else {
        format!(
            "Functions whose own time per iteration changed most: {}.",
            functions.join("; ")
        )
    };
    Statement::new(
        format!(
            "{result} Instructions were not counted, so a profiler sampled the reference and the new build after the verdict ({}). A function's share of the samples is its share of the time. Differences below three standard errors are left out. The verdict does not use these samples.",
            format_sample_counts(found)
        ),
        Numbers::SampledTime(found.clone()),
    )
}

fn usage_compared(found: &UsageComparison, noise_threshold: f64, subject: Statistic) -> Statement {
    let words = NamedUsage::from_comparison(found).into_iter().map(|one| {
        let change = one.change;
        if change.base == change.candidate {
            return format!("{} {}, as before", one.name, (one.write)(change.candidate));
        }
        let (lower, upper) = (change.change.lower, change.change.upper);
        let bounds = if lower.is_finite() && upper.is_finite() {
            format!(", {} to {}", units::change(lower), units::change(upper))
        } else {
            String::new()
        };
        format!("{}{bounds}: {}", one.format(), change.verdict)
    });
    Statement::new(
        format!(
            "A run of the program: {}. The means over the processes were compared, with Student's interval. A change is reported only if its whole interval is beyond the noise threshold ({}).{}",
            words.collect::<Vec<_>>().join("; "),
            units::percent(noise_threshold),
            exclude_from_verdict(subject, "time")
        ),
        Numbers::Usage(found.into()),
    )
}

fn format_p(one: &CountChange) -> String {
    units::or_dash(one.p_value.map(units::p_value))
}

fn latencies(
    found: &LatencyComparison,
    noise_threshold: f64,
    method: Method,
    subject: Statistic,
) -> Statement {
    let words: Vec<String> = found.percentiles.iter().map(format_percentile).collect();
    let compared = match method {
        Method::Paired => " and compared round by round",
        Method::Stored(_) => {
            ", and their means over the processes were compared, ignoring drift between runs"
        }
    };
    Statement::new(
        format!(
            "Single operations: {}. Percentiles were taken in each process{compared}; operations of different processes were never pooled. A change is reported only if its whole interval is beyond the noise threshold ({}), the rounding of the histogram ({}) and a step of the clock. Operations ran in a closed loop, so queueing behind slow operations is not included.{}",
            words.join("; "),
            units::percent(noise_threshold),
            units::rounding(found.rounding()),
            exclude_from_verdict(subject, "the mean time"),
        ),
        Numbers::Latencies(found.into()),
    )
}

fn format_percentile(one: &PercentileChange) -> String {
    let bounds = if one.change.lower.is_finite() && one.change.upper.is_finite() {
        format!(
            ", {} to {}",
            units::change(one.change.lower),
            units::change(one.change.upper)
        )
    } else {
        String::new()
    };
    if one.base_ns == one.candidate_ns {
        return format!(
            "{} unchanged at {}",
            quantile_name(one.quantile),
            units::time(one.candidate_ns)
        );
    }
    format!("{}{bounds}: {}", format_percentile_change(one), one.verdict)
}
