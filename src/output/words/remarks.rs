//! Turns remarks and the results of limits (`--limit`) into sentences. Every output takes its sentences from here.

use std::io::{self, Write};

use crate::output::text::status::write_warning_within;
use crate::output::view::wrap_prose;
use crate::output::{terminal, units};
use perfcheck_analysis::compare::{Estimate, LevelShare, Note, SharedLevel};
use perfcheck_analysis::findings::{
    BenchmarkNote, ChangedFunction, CodeChange, ExceededLimit, LimitNote, LimitReport, Row,
    RunNote, Sameness, SizeChange,
};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, MIN_PROCESSES, ProgramBenchmark, RunId, ShardId, Statistic, Unit,
};

/// Returns true if a note calls for an action of the user. All other notes only explain how a number was obtained.
pub(crate) fn asks_to_act(note: &Note) -> bool {
    note.withholds_changes()
        || !matches!(
            note,
            Note::SamplesAsUnits
                | Note::MedianOfFewSamples { .. }
                | Note::MedianOfRamp
                | Note::NoVariance
                | Note::NoTScore
                | Note::FewerResamples { .. }
                | Note::LoneFloor { .. }
                | Note::FasterByTScoreOnly
                | Note::SecondFastestOfFewSamples { .. }
        )
}

/// Returns the remarks on a benchmark, with one sentence for each.
pub(crate) fn row_remarks(row: &Row<'_>) -> impl Iterator<Item = String> {
    row.remarks.iter().map(describe_remark)
}

/// Returns the sentence for a remark on a benchmark.
pub(crate) fn describe_remark(remark: &BenchmarkNote) -> String {
    match remark {
        BenchmarkNote::CutShort { processes } => {
            format!(
                "`--time-budget` left time for only {}, but a verdict needs {MIN_PROCESSES}: raise the budget, or select fewer benchmarks",
                units::counted(*processes, "process")
            )
        }
        BenchmarkNote::Undecided {
            rounds,
            seconds,
            ran_out_of_time,
            noise_threshold,
        } => {
            let settles = describe_settlement(*rounds, *seconds, *noise_threshold);
            if *ran_out_of_time {
                format!("time ran out before a decision; {settles}")
            } else {
                settles
            }
        }
        BenchmarkNote::OnlyCandidate => "not in the reference (`--against REV --benches-from worktree` builds REV with the current benchmarks, if that compiles)".to_owned(),
        BenchmarkNote::Same(same) => explain_unmeasured(*same),
        BenchmarkNote::OtherVersion => "the benchmark's version differs (use `--allow-different benchmark-version` to compare it anyway)".to_owned(),
        BenchmarkNote::OtherHarness => "the reference uses a different benchmark harness".to_owned(),
        BenchmarkNote::BaseFailed => "the benchmark fails in the reference, so there is nothing to compare".to_owned(),
        BenchmarkNote::TargetFailed { in_base } => {
            let whose = if *in_base { "the reference's" } else { "the" };
            format!("{whose} bench target failed before it listed its benchmarks; see the error above")
        }
        BenchmarkNote::StartUp {
            empty_ns,
            median_ns,
        } => describe_start_up(*empty_ns, *median_ns),
    }
}

/// Says how much of the time of a program is the start of its process.
pub(crate) fn describe_start_up(empty_ns: f64, median_ns: f64) -> String {
    format!(
        "of {}, about {} is the start-up of an empty program",
        units::time(median_ns),
        units::time(empty_ns.min(median_ns))
    )
}

/// Says what would settle an inconclusive benchmark, such as more rounds. Returns `None` if that is unknown.
pub(crate) fn settlement_of(row: &Row<'_>) -> Option<String> {
    let mut remarks = row.remarks.iter();
    let undecided = remarks.find(|remark| matches!(remark, BenchmarkNote::Undecided { .. }))?;
    Some(describe_remark(undecided))
}

fn describe_settlement(
    rounds: Option<u64>,
    seconds: Option<f64>,
    noise_threshold: Option<f64>,
) -> String {
    let rounds = rounds.map(|rounds| {
        // Say at least one second, because starting to measure again takes that long.
        let time = seconds.map(|seconds| format!(", {:.0} s,", seconds.max(1.0)));
        let time = time.unwrap_or_default();
        format!("about {rounds} rounds{time} would settle the verdict (`--rounds {rounds}`)")
    });
    let threshold = noise_threshold.map(|threshold| {
        let threshold = units::percent(threshold);
        format!("a noise threshold of {threshold} would make the verdict `unchanged`")
    });
    [rounds, threshold]
        .into_iter()
        .flatten()
        .collect::<Vec<String>>()
        .join("; ")
}

/// Explains why a benchmark was not measured: it is the same on both sides.
pub(crate) fn explain_unmeasured(same: Sameness) -> String {
    format!(
        "{} (use `--measure-identical` to measure anyway)",
        describe_sameness(same)
    )
}

/// Says what is the same on both sides: the executable, or the code that the benchmark can reach or ran.
pub(crate) fn describe_sameness(same: Sameness) -> &'static str {
    match same {
        Sameness::Executable => "both sides are the same executable, byte for byte",
        Sameness::Reachable => {
            "all machine code and data that the benchmark can reach are the same"
        }
        Sameness::Run => "the benchmark did not run any machine code that differs",
    }
}

/// Maximum number of functions that a sentence about changed machine code names.
const MOST_NAMED: usize = 5;

/// Describes how the machine code of a bench target differs between the sides. Names the `most` functions with the largest changes.
pub(crate) fn describe_code_change(change: &CodeChange, most: usize) -> String {
    let count = change.functions.len() + change.left_out;
    let from = with_reference("from", change.reference);
    if count == 0 {
        return format!(
            "the machine code of `{}` differs{from} only outside its functions",
            change.target
        );
    }
    let is_other = |function: &&ChangedFunction| !function.same_code;
    let others = change.functions.iter().filter(is_other).count();
    if others == 0 {
        let named: Vec<&str> = (change.functions.iter().take(most))
            .map(|function| &*function.name)
            .collect();
        return format!(
            "the machine code of `{}` does not differ{from}, but data used by {} may: `{}`{}",
            change.target,
            units::counted(count, "function"),
            named.join("`, `"),
            format_rest(count - named.len())
        );
    }
    // The list of functions may be cut, and functions whose code differs come first. If the code of all listed functions differs, assume the same of
    // the functions that are left out.
    let others = if others < change.functions.len() {
        others
    } else {
        count
    };
    let named = change.functions.iter().filter(is_other).take(most);
    let named: Vec<String> = named.map(format_changed_function).collect();
    let of_data = match count - others {
        0 => String::new(),
        some => format!(
            "; data used by {} may differ",
            units::counted(some, "more function")
        ),
    };
    format!(
        "the machine code of `{}` differs{from} in {}: {}{}{of_data}",
        change.target,
        units::counted(others, "function"),
        named.join(", "),
        format_rest(others - named.len())
    )
}

/// Maximum number of functions that a sentence about a size names if no limit applies to the size.
const MOST_GROWN: usize = 3;

/// Describes the sizes of an executable on both sides: `the executable of `planted` has 412.3 kB → 425.1 kB (+3.10 %) without symbols`. Names the
/// functions that grew most.
fn describe_size_change(change: &SizeChange) -> String {
    let BySide { base, candidate } = change.size;
    let name = name_target(&change.target);
    let from = with_reference("compared with", change.reference);
    let [old, new] = [base, candidate].map(|size| units::bytes(size.compared_bytes() as f64));
    let part = match candidate.stripped {
        Some(_) => "without symbols",
        None => "of code and data",
    };
    if base.compared_bytes() == candidate.compared_bytes() {
        return format!("the executable of `{name}` still has {new} {part}");
    }
    let most = if change.limited {
        SizeChange::MOST_FUNCTIONS
    } else {
        MOST_GROWN
    };
    let grown: Vec<String> = (change.functions.iter().take(most))
        .map(format_changed_function)
        .collect();
    let grown = if grown.is_empty() {
        String::new()
    } else {
        format!("; functions that grew most: {}", grown.join(", "))
    };
    format!(
        "the executable of `{name}` has {old} → {new} ({}) {part}{from}{grown}",
        units::change(change.relative())
    )
}

/// Returns the name of a program, or of a bench target.
fn name_target(target: &str) -> &str {
    ProgramBenchmark::binary_of_target(target).unwrap_or(target)
}

fn format_rest(count: usize) -> String {
    match count {
        0 => String::new(),
        more => format!(", {more} more"),
    }
}

/// Returns a phrase such as ` from that of run 3`, which begins with `word` and names the reference. Returns an empty text if `reference` is `None`,
/// because then there is only one reference.
fn with_reference(word: &str, reference: Option<RunId>) -> String {
    reference.map_or_else(String::new, |run| format!(" {word} that of run {run}"))
}

/// Formats a function that differs between the sides, with the size of its code on each.
pub(crate) fn format_changed_function(function: &ChangedFunction) -> String {
    let name = &function.name;
    match (function.bytes.base, function.bytes.candidate) {
        (Some(base), Some(candidate)) if base == candidate => {
            format!("`{name}` (changed, {base} bytes)")
        }
        (Some(base), Some(candidate)) => format!("`{name}` (changed, {base} -> {candidate} bytes)"),
        (None, Some(size)) => format!("`{name}` (added, {size} bytes)"),
        (Some(size), None) => format!("`{name}` (removed, {size} bytes)"),
        (None, None) => format!("`{name}`"),
    }
}

/// Maximum number of differing input files that a sentence names.
const MOST_INPUTS_NAMED: usize = 5;

/// Describes the differing files of a bench target or of a program.
fn describe_differing_files(target: &str, files: &[String], does_not_build: bool) -> String {
    if let Some(program) = ProgramBenchmark::binary_of_target(target) {
        let named = &files[..files.len().min(MOST_INPUTS_NAMED)];
        let more = match files.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        return format!(
            "the input of `{program}` has changed ({}{more}); both builds read the new one",
            named.join(", ")
        );
    }
    format!(
        "the bench target `{target}` itself differs between the sides ({}), so a change may come from the benchmark; {}",
        files.join(", "),
        if does_not_build {
            "the reference does not build with the current benchmarks"
        } else {
            "`--benches-from worktree` uses the current benchmarks on both sides, if the reference builds with them"
        }
    )
}

/// Returns the sentence for a remark on a whole comparison.
pub fn describe_run_remark(remark: &RunNote) -> String {
    match remark {
        RunNote::StoredAlone { reason } => {
            format!("compared with stored numbers only: {reason}")
        }
        RunNote::BenchDiffers {
            package: _,
            target,
            files,
            current_does_not_build,
        } => describe_differing_files(target, files, *current_does_not_build),
        RunNote::CodeDiffers(change) => describe_code_change(change, MOST_NAMED),
        RunNote::Size(change) => describe_size_change(change),
        RunNote::CodeUnknown {
            package: _,
            target,
            reference,
            reason,
        } => format!(
            "the machine code of `{target}` was not compared{}: {reason}",
            with_reference("with", *reference)
        ),
        RunNote::NotCounted { benchmarks, reason } => format!(
            "instructions of {} were not counted: {reason}",
            name_benchmarks(benchmarks)
        ),
        RunNote::NotSampled { benchmarks, reason } => format!(
            "functions of {} were not sampled: {reason}",
            name_benchmarks(benchmarks)
        ),
        RunNote::Skipped { benchmarks, reason } => {
            format!("{} skipped: {reason}", name_benchmarks(benchmarks))
        }
        RunNote::DependencyDiffers { name, versions } => {
            let listed = |versions: &[String]| match versions {
                [] => "none".to_owned(),
                some => some.join(", "),
            };
            format!(
                "the dependency {name} differs: {} -> {}",
                listed(&versions.base),
                listed(&versions.candidate)
            )
        }
        RunNote::NotForRounds { flags, keys, code } => describe_unused_settings(flags, keys, code),
        RunNote::Stolen { share } => format!(
            "other virtual machines took {:.0} % of the processor time during the run, so intervals are wider",
            share * 100.0
        ),
        RunNote::Imported => "another program measured these values under unknown conditions; across languages, machines, or libraries with different guarantees, trust the direction of a difference but not its size".to_owned(),
        RunNote::LeftOut { run, left_out } => format!(
            "the numbers of run {run} use only the samples that its import kept: {}",
            left_out.describe()
        ),
        RunNote::HostUnknown => "the machine that measured these values is unknown, so it is treated as shared: runs may differ by a few percent; if nobody else uses the machine, import with `--fact host=dedicated`, or set `host = \"dedicated\"` in Cargo.toml".to_owned(),
        RunNote::ProcessesUnknown => "an imported run does not say which process measured which repetition, so repetitions count as independent: a difference between two sessions looks like a change".to_owned(),
        RunNote::SampledDifferently { side_by_side, alone } => format!(
            "small changes may come from how the runs were measured: run {side_by_side} alternated with another build in many short rounds; run {alone} was measured alone"
        ),
        RunNote::RoundsAsProcesses => "these runs were measured side by side, but are compared here as independent; each round counts as a process".to_owned(),
        RunNote::Incomplete { run } => describe_incomplete(*run),
        RunNote::AsBuilt { targets, why } => format!(
            "the code layout of {} was not varied because {why}",
            targets.join(", ")
        ),
        RunNote::SmallChanges => "changes below 3 % may come from code layout rather than from what the code does; in tight loops, this also applies to larger changes".to_owned(),
        RunNote::PartsMissing { parts } => format!(
            "{} missing, so {} benchmarks are unknown; measure what is missing, then merge all parts again",
            match &parts[..] {
                [part] => format!("part {part} is"),
                _ => format!("parts {} are", list_shards(parts)),
            },
            if parts.len() == 1 { "its" } else { "their" },
        ),
        RunNote::HostsDiffer { hosts } => {
            let each = hosts.iter().map(|(host, parts)| format!("{} on {host}", list_shards(parts)));
            format!(
                "parts were measured on different machines: {}; each verdict compares both sides on one machine",
                each.collect::<Vec<_>>().join("; ")
            )
        }
        RunNote::ConcludedElsewhere => "these verdicts come from another store; run numbers in their notes refer to that store".to_owned(),
    }
}

/// Lists parts of a suite that was divided among several jobs: `1/8, 3/8`.
fn list_shards(parts: &[ShardId]) -> String {
    let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    parts.join(", ")
}

/// Returns a sentence that says that a run was interrupted, so that only some of its results are known.
pub(crate) fn describe_incomplete(run: RunId) -> String {
    format!("run {run} is incomplete: it was interrupted, so only some of its results are shown")
}

/// Writes the limits that benchmarks exceed and the limits that decided nothing, in lines of at most `columns`.
pub(crate) fn write_limits(
    writer: &mut dyn Write,
    limits: &LimitReport,
    columns: usize,
) -> io::Result<()> {
    for found in &limits.exceeded {
        let text = format!("{}: {}", terminal::error(), describe_exceeded(found));
        writeln!(writer, "{}", wrap_prose(&text, columns, "  "))?;
    }
    for remark in &limits.remarks {
        write_warning_within(writer, &describe_limit_remark(remark), columns)?;
    }
    Ok(())
}

/// Names the settings that side-by-side measurements do not use, and where each was set: on the command line, in Cargo.toml or in the code of the
/// benchmark.
fn describe_unused_settings(flags: &[String], keys: &[String], code: &[String]) -> String {
    let named = |names: &[String], place: &str| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        (!names.is_empty()).then(|| format!("{}{place}", quoted.join(", ")))
    };
    let settings = [
        named(flags, ""),
        named(keys, " in Cargo.toml"),
        named(code, " in benchmark code"),
    ];
    let settings: Vec<String> = settings.into_iter().flatten().collect();
    format!(
        "side-by-side measurements do not use {} (use `--rounds` or `--time-budget` instead)",
        settings.join(", and ")
    )
}

/// Returns the id of a benchmark, or the name of the executable if the key is that of an executable as a whole.
fn name_key(key: &BenchmarkKey) -> String {
    if key.id.is_empty() {
        units::escape_id(name_target(&key.target))
    } else {
        units::escape_id(&key.id)
    }
}

/// Describes the value of a benchmark and the limit that it exceeds. The sentence begins with the id of the benchmark.
pub(crate) fn describe_exceeded(limit: &ExceededLimit) -> String {
    format!("{}: {}", name_key(&limit.key), describe_excess(limit))
}

/// Describes the value of a benchmark and the limit that it exceeds, for outputs that name the benchmark elsewhere.
pub(crate) fn describe_excess(limit: &ExceededLimit) -> String {
    let number = |value: f64| {
        if limit.ceiling.is_change() {
            units::change(value)
        } else {
            format_in_unit(value, limit.statistic.unit())
        }
    };
    let Estimate {
        estimate,
        lower,
        upper,
    } = limit.found;
    let interval = if lower == upper {
        String::new()
    } else {
        let upper = if upper.is_finite() {
            number(upper)
        } else {
            "?".to_owned()
        };
        format!(
            " [{}, {upper}]{}",
            number(lower),
            describe_shared_level(limit.shared_level)
        )
    };
    let found = match (limit.ceiling.is_change(), estimate.is_finite()) {
        (true, true) => format!("changed by {}{interval}", number(estimate)),
        // A change from zero is more than any percentage.
        (true, false) => "changed from none to some".to_owned(),
        (false, _) => format!("{}{interval}", number(estimate)),
    };
    terminal::escape_terminal_text(&format!(
        "{} {found}, more than `{}` allows",
        limit.statistic, limit.text
    ))
}

/// Says that an interval is wider than usual because several intervals share the confidence level, and names its level. Returns an empty text for
/// other intervals.
fn describe_shared_level(shared: Option<SharedLevel>) -> String {
    match shared {
        Some(SharedLevel {
            family,
            share:
                LevelShare::Interval {
                    confidence_level,
                    interval_level,
                },
        }) if family > 1 => format!(
            " ({} interval: {} joint confidence for {family} intervals)",
            units::shared_level(interval_level),
            units::percent(confidence_level)
        ),
        _ => String::new(),
    }
}

fn format_in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Time => units::time(value),
        Unit::Bytes => format!("{} B", format_count(value)),
        Unit::Count => format_count(value),
    }
}

/// Formats a mean of counts with at most two decimals.
fn format_count(value: f64) -> String {
    let hundredths = (value * 100.0).round() / 100.0;
    format!("{hundredths}")
}

/// Explains why a limit decided nothing, such as that it matches no benchmark.
pub(crate) fn describe_limit_remark(remark: &LimitNote) -> String {
    match remark {
        LimitNote::ForNothing(text) => {
            format!("the limit `{text}` matches no benchmark that was compared")
        }
        LimitNote::WithoutStatistic(text, statistic, benchmarks) => format!(
            "the limit `{text}` does not apply to {}: {}",
            name_benchmarks(benchmarks),
            explain_missing_statistic(*statistic)
        ),
        LimitNote::Undecided {
            text,
            benchmarks,
            family,
            is_change,
        } => {
            let share = match family {
                1 => String::new(),
                _ => format!(" (at a joint confidence level for {family} intervals)"),
            };
            let way_out = if *is_change {
                "to narrow the interval, use more processes (`--rounds`) or a side-by-side comparison (`--against`)"
            } else {
                "to narrow the interval, use more processes (`--rounds`)"
            };
            format!(
                "the limit `{text}` is undecided for {}: the estimate exceeds the limit, but its interval{share} extends below the limit; {way_out}",
                name_benchmarks(benchmarks)
            )
        }
    }
}

/// Names the first benchmark and counts the others: `` `parse` and 3 more ``.
pub(crate) fn name_benchmarks(benchmarks: &[BenchmarkKey]) -> String {
    let first = benchmarks.first().map_or_else(String::new, name_key);
    match benchmarks.len() {
        0 | 1 => format!("`{first}`"),
        several => format!("`{first}` and {} more", several - 1),
    }
}

fn explain_missing_statistic(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Allocations | Statistic::Bytes | Statistic::Peak => {
            "allocations were not counted (the bench needs the counting allocator of `perfcheck`)"
        }
        Statistic::Instructions => "instructions were not counted",
        Statistic::Cpu | Statistic::Memory => {
            "only runs of programs have this statistic, and only on Linux"
        }
        Statistic::Size => {
            "the sizes of the executables are unknown (only ELF, PE and Mach-O files for 64-bit processors are read)"
        }
        Statistic::Latency(_) => {
            "this statistic needs a latency benchmark (`iter_latency` times single operations)"
        }
        Statistic::Slope => "there are no samples with increasing iteration counts",
        _ => "the samples are not times, or this statistic cannot be computed from them",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::ExecutableSize;

    #[test]
    fn a_size_is_told_with_the_functions_that_grew() {
        let size = |stripped: u64| ExecutableSize {
            stripped: Some(stripped),
            ..ExecutableSize::default()
        };
        let functions = (0..10).map(|number: u64| ChangedFunction {
            name: format!("f{number}"),
            bytes: BySide {
                base: number.checked_sub(1),
                candidate: Some(9),
            },
            same_code: false,
        });
        let size = BySide {
            base: size(100_000),
            candidate: size(103_000),
        };
        let target = "program:rg".to_owned();
        let mut change = SizeChange::new("p".to_owned(), target, size, functions.collect());
        assert_eq!(
            describe_size_change(&change),
            "the executable of `rg` has 100.0 kB → 103.0 kB (+3.00 %) without symbols; functions that grew most: `f0` (added, 9 bytes), `f1` (changed, 0 -> 9 bytes), `f2` (changed, 1 -> 9 bytes)"
        );
        change.limited = true;
        assert!(describe_size_change(&change).ends_with("`f9` (changed, 8 -> 9 bytes)"));
        change.size.candidate = change.size.base;
        assert_eq!(
            describe_size_change(&change),
            "the executable of `rg` still has 100.0 kB without symbols"
        );
        let loaded = |text| ExecutableSize {
            text,
            data: 10_000,
            ..ExecutableSize::default()
        };
        change.size = BySide {
            base: loaded(90_000),
            candidate: loaded(95_000),
        };
        let told = describe_size_change(&change);
        let size = "the executable of `rg` has 100.0 kB → 105.0 kB (+5.00 %) of code and data";
        assert!(told.starts_with(size), "{told}");
    }
    use perfcheck_analysis::findings::Ceiling;

    #[test]
    fn what_would_settle_it_is_said_in_rounds_in_time_and_as_a_threshold() {
        let sentence = |rounds, seconds, noise_threshold| {
            describe_remark(&BenchmarkNote::Undecided {
                rounds,
                seconds,
                ran_out_of_time: false,
                noise_threshold,
            })
        };
        assert_eq!(
            sentence(Some(380), Some(41.6), Some(0.012)),
            "about 380 rounds, 42 s, would settle the verdict (`--rounds 380`); a noise threshold of 1.2 % would make the verdict `unchanged`"
        );
        assert_eq!(
            sentence(Some(380), None, None),
            "about 380 rounds would settle the verdict (`--rounds 380`)"
        );
        assert_eq!(
            sentence(Some(12), Some(0.2), None),
            "about 12 rounds, 1 s, would settle the verdict (`--rounds 12`)"
        );
        assert_eq!(
            sentence(None, Some(41.6), Some(0.104)),
            "a noise threshold of 10.4 % would make the verdict `unchanged`"
        );
        let ended = describe_remark(&BenchmarkNote::Undecided {
            rounds: Some(46),
            seconds: Some(552.0),
            ran_out_of_time: true,
            noise_threshold: None,
        });
        assert_eq!(
            ended,
            "time ran out before a decision; about 46 rounds, 552 s, would settle the verdict (`--rounds 46`)"
        );
    }

    #[test]
    fn an_exceeded_limit_says_what_was_found_also_where_there_was_nothing_before() {
        let sentence = |found: Estimate| {
            describe_exceeded(&ExceededLimit {
                key: BenchmarkKey {
                    package: "crate".into(),
                    target: "bench".into(),
                    id: "parse".into(),
                },
                text: "allocations:10%".into(),
                statistic: Statistic::Allocations,
                ceiling: Ceiling::Change(0.1),
                found,
                shared_level: Some(SharedLevel::bonferroni(0.95, 50)),
            })
        };
        let all = |value| Estimate {
            estimate: value,
            lower: value,
            upper: value,
        };
        assert_eq!(
            sentence(all(0.5)),
            "parse: allocations changed by +50.0 %, more than `allocations:10%` allows"
        );
        assert_eq!(
            sentence(all(f64::INFINITY)),
            "parse: allocations changed from none to some, more than `allocations:10%` allows"
        );
        let apart = Estimate {
            estimate: 0.3,
            lower: 0.2,
            upper: 0.4,
        };
        assert_eq!(
            sentence(apart),
            "parse: allocations changed by +30.0 % [+20.0 %, +40.0 %] (99.9 % interval: 95 % joint confidence for 50 intervals), more than `allocations:10%` allows"
        );
    }

    #[test]
    fn a_limit_that_decides_nothing_says_why() {
        let key = |id: &str| BenchmarkKey {
            package: "crate".into(),
            target: "bench".into(),
            id: id.into(),
        };
        let without = |benchmarks| {
            describe_limit_remark(&LimitNote::WithoutStatistic(
                "p99:1ms".into(),
                Statistic::Latency(990),
                benchmarks,
            ))
        };
        assert!(
            without(vec![key("a")])
                .contains("does not apply to `a`: this statistic needs a latency benchmark")
        );
        assert!(without(vec![key("a"), key("b"), key("c")]).contains("`a` and 2 more: "));
        let undecided = |family, is_change| {
            describe_limit_remark(&LimitNote::Undecided {
                text: "median:5%".into(),
                benchmarks: vec![key("a")],
                family,
                is_change,
            })
        };
        let among = undecided(50, true);
        assert!(
            among.contains("undecided for `a`")
                && among.contains("joint confidence level for 50 intervals")
                && among.contains("--against"),
            "{among}"
        );
        let named = name_benchmarks(&[key("line\nfeed")]);
        assert!(!named.contains('\n'), "{named}");
        let alone = undecided(1, false);
        assert!(
            !alone.contains("joint confidence") && !alone.contains("--against"),
            "{alone}"
        );
    }
}
