//! The layout of help: its width, and the flags that `-h` leaves to `--help`.

use crate::report::terminal_width;

/// Flags that only `--help` lists: cargo's own, expert flags and rarely used ones. The others make `-h` fit one screen.
const ONLY_IN_LONG_HELP: [&str; 65] = [
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
    "ignore_drift",
    "instructions",
    "jobs",
    "latency_digits",
    "lenient",
    "lib",
    "locked",
    "manifest_path",
    "measure_identical",
    "measurement_time",
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

/// Hides the long list of flags from `-h`.
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
