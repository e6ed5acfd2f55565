//! Lays out the help text: how wide it is, and which flags only `--help` shows. Also detects mistyped commands, and commands that follow a flag,
//! because clap would accept these as filters.

use crate::output::terminal_width;

/// Flags that only `--help` lists: cargo's own, expert flags and rarely used ones. Without them, `-h` fits on one screen.
const ONLY_IN_LONG_HELP: [&str; 68] = [
    // The id that clap-cargo gives to `--manifest-path`.
    "PATH",
    "against_executable",
    "against_merge_base",
    "all",
    "all_features",
    "allow_different",
    "as_built",
    "benches",
    "benches_from",
    "bins",
    "center",
    "color",
    "confidence_level",
    "config",
    "correction",
    "decimal_comma",
    "drop_first",
    "drop_rows",
    "exact",
    "exclude",
    "explain",
    "facts",
    "features",
    "frozen",
    "guess_units",
    "harness",
    "ignore_drift",
    "instructions",
    "jobs",
    "latency_digits",
    "lenient",
    "lib",
    "locked",
    "measure_identical",
    "measurement_time",
    "method",
    "metric",
    "move_names",
    "no_default_features",
    "no_header",
    "observations",
    "offline",
    "outliers",
    "partition",
    "place",
    "profile",
    "program",
    "push",
    "quantile",
    "rank_p",
    "report_key",
    "resamples",
    "samples",
    "sampling_mode",
    "seed",
    "separator",
    "significance_level",
    "sort",
    "store",
    "target",
    "target_dir",
    "test",
    "time_per_benchmark",
    "timeout",
    "verdict",
    "warm_up_iterations",
    "warm_up_time",
    "workspace",
];

/// Returns the width of help in columns: the terminal's, up to a readable limit.
/// `COLUMNS` is ignored, because it may be 0.
fn help_width() -> usize {
    match terminal_width() {
        usize::MAX => 100,
        columns => columns.min(110),
    }
}

/// Returns the command line with the layout of its help.
pub(super) fn with_layout(command: clap::Command) -> clap::Command {
    with_short_help(command).term_width(help_width())
}

/// Hides the flags in [`ONLY_IN_LONG_HELP`] from `-h`.
fn with_short_help(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let is_long = ONLY_IN_LONG_HELP.contains(&arg.get_id().as_str());
        arg.hide_short_help(is_long)
    });
    command.mut_subcommands(with_short_help)
}

/// Allows numeric values to begin with `-`, so that the flag's own error explains the valid range.
pub(super) fn allow_signed_numbers(command: clap::Command) -> clap::Command {
    const NUMBERS: [&str; 5] = ["FACTOR", "FRACTION", "MIB", "N", "TIME"];
    let is_number = |name: &clap::builder::Str| NUMBERS.contains(&name.as_str());
    let command = command.mut_args(|arg| {
        let numbers = arg
            .get_value_names()
            .is_some_and(|names| names.iter().all(is_number));
        if numbers {
            arg.allow_hyphen_values(true)
        } else {
            arg
        }
    });
    command.mut_subcommands(allow_signed_numbers)
}

/// Words that are not commands of this tool, some of them because they are commands of other tools. Each comes with the command that users probably
/// mean.
const OTHER_WORDS: [(&str, &str); 3] = [
    ("cmp", "compare"),
    ("diff", "compare"),
    ("self-test", "doctor --self-test"),
];

/// Minimum length of a command's name for which two typing errors are tolerated instead of one.
const LONG_WORD: usize = 6;

/// Suggests a command for a mistyped `word`: an entry of [`OTHER_WORDS`], or the command or subcommand of `store` with the most similar name.
pub(super) fn suggest_command(word: &str, line: &clap::Command) -> Option<String> {
    let word = word.to_lowercase();
    if let Some((_, meant)) = OTHER_WORDS.iter().find(|(other, _)| *other == word) {
        return Some((*meant).to_owned());
    }
    let top = line
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let top = top.map(|command| (command.get_name(), command.get_name().to_owned()));
    let store = line.find_subcommand("store")?.get_subcommands();
    let store = store.map(|command| (command.get_name(), format!("store {}", command.get_name())));
    let near = top
        .chain(store)
        .map(|(name, whole)| (strsim::osa_distance(&word, name), name, whole));
    let (slips, name, whole) = near.min_by_key(|(slips, ..)| *slips)?;
    let allowed = if name.len() < LONG_WORD { 1 } else { 2 };
    (slips <= allowed).then_some(whole)
}

/// Rejects a filter that is a command's name. If a flag precedes a command, clap takes the command for a filter, which users hardly ever intend.
pub(super) fn reject_command_as_filter(
    word: &str,
    line: &mut clap::Command,
) -> Result<(), clap::Error> {
    if line.find_subcommand(word).is_none() {
        return Ok(());
    }
    let message = format!(
        "`{word}` is a command and must come first: `cargo perfcheck {word} ...`; to filter by this word, use `cargo perfcheck run {word}`"
    );
    Err(line.error(clap::error::ErrorKind::ArgumentConflict, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_line;

    #[test]
    fn a_command_is_known_by_its_misspelling_and_no_benchmark_is_taken_for_one() {
        let line = command_line();
        for (word, meant) in [
            ("histroy", "history"),
            ("Compair", "compare"),
            ("diff", "compare"),
            ("self-test", "doctor --self-test"),
            ("runs", "store runs"),
            ("prune", "store prune"),
            ("improt", "store import"),
        ] {
            assert_eq!(
                suggest_command(word, &line).as_deref(),
                Some(meant),
                "{word}"
            );
        }
        for word in [
            "sort",
            "json/parse",
            "fib",
            "hash",
            "group/10",
            "text",
            "sum",
        ] {
            assert_eq!(suggest_command(word, &line), None, "{word}");
        }
    }
}
