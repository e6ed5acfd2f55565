//! How help is laid out: its width, and what of it `-h` leaves to `--help`.

use crate::report::terminal_width;

/// Flags that `--help` alone lists: cargo's, those for experts, and those that hardly anybody needs twice. With the others `-h` fits a screen.
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

/// The columns of help: those of the terminal as far as lines stay readable. `COLUMNS` is not asked, which may say 0.
fn width() -> usize {
    match terminal_width() {
        usize::MAX => 100,
        columns => columns.min(110),
    }
}

/// The command line with its help as it is to be read.
pub(super) fn laid_out(command: clap::Command) -> clap::Command {
    shortened(command).term_width(width())
}

/// Leaves flags to `--help`.
fn shortened(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let is_long = ONLY_IN_LONG_HELP.contains(&arg.get_id().as_str());
        arg.hide_short_help(is_long)
    });
    command.mut_subcommands(shortened)
}

/// Values of flags that are numbers may begin with `-`: the flag's own error then says what it takes.
pub(super) fn numbers_with_a_sign(command: clap::Command) -> clap::Command {
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
    command.mut_subcommands(numbers_with_a_sign)
}
