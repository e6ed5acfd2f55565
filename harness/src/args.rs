//! The command line of a bench executable, as `cargo bench`, `cargo test` and nextest use it. Flags of libtest and Criterion that have no meaning
//! here are accepted with their values, so that scripts which pass them to all bench executables keep working.

use crate::protocol::escape;

/// The mode that the arguments ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExecutableMode {
    /// `cargo bench`: measure and print a table.
    Bench,
    /// `cargo test`, nextest: run each body once.
    Test,
    /// `--list`: print the ids of the selected benchmarks.
    List(ListFormat),
    /// `--help`: print the help.
    Help,
}

/// The format of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListFormat {
    /// The ids, and their number at the end.
    Pretty,
    /// `--format terse`: only the ids.
    Terse,
}

/// The amount of output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum PrintedDetail {
    /// Everything.
    #[default]
    Normal,
    /// `--quiet`: results without the surrounding lines.
    Quiet,
}

/// The filters that select benchmarks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    filters: Vec<String>,
    skips: Vec<String>,
    exact: bool,
    only_ignored: bool,
}

impl Selection {
    /// Reports whether `id` is selected: it matches any of the filters, if there are some, and no `--skip`. `--ignored` selects nothing.
    pub(crate) fn contains(&self, id: &str) -> bool {
        // Ids copied from a listing are escaped.
        let escaped = escape(id);
        let matches = |pattern: &String| {
            if self.exact {
                id == pattern || escaped == *pattern
            } else {
                id.contains(pattern) || escaped.contains(pattern)
            }
        };
        !self.only_ignored
            && (self.filters.is_empty() || self.filters.iter().any(matches))
            && !self.skips.iter().any(matches)
    }
}

/// The parsed command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Args {
    pub(crate) mode: ExecutableMode,
    pub(crate) selection: Selection,
    pub(crate) verbosity: PrintedDetail,
    /// Arguments without effect, each of which causes a warning
    pub(crate) ignored: Vec<String>,
}

/// Flags of libtest and Criterion that have no meaning here.
const FLAGS: [&str; 15] = [
    "--nocapture",
    "--no-capture",
    "--show-output",
    "--include-ignored",
    "--exclude-should-panic",
    "--force-run-in-process",
    "--report-time",
    "--ensure-time",
    "--strict",
    "--shuffle",
    "--verbose",
    "-v",
    "--noplot",
    "--discard-baseline",
    "--quick",
];

/// Options of libtest that take a value and have no meaning here.
const LIBTEST_OPTIONS: [&str; 6] = [
    "--test-threads",
    "--logfile",
    "--color",
    "--colour",
    "--shuffle-seed",
    "-Z",
];

/// Options of Criterion that take a value. They are ignored with a warning.
const CRITERION_OPTIONS: [&str; 15] = [
    "--save-baseline",
    "--baseline",
    "-b",
    "--baseline-lenient",
    "--load-baseline",
    "--sample-size",
    "--warm-up-time",
    "--measurement-time",
    "--nresamples",
    "--noise-threshold",
    "--confidence-level",
    "--significance-level",
    "--profile-time",
    "--plotting-backend",
    "--output-format",
];

impl Args {
    /// Parses the arguments after the program's name. Parsing cannot fail: unknown arguments are listed as ignored.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Self {
        let mut selection = Selection::default();
        let mut ignored = Vec::new();
        let mut verbosity = PrintedDetail::Normal;
        let (mut bench, mut test, mut list, mut terse, mut help) =
            (false, false, false, false, false);
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, attached) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (argument.as_str(), None),
            };
            match name {
                "--bench" => bench = true,
                "--test" => test = true,
                "--list" => list = true,
                "--help" | "-h" => help = true,
                "--exact" => selection.exact = true,
                "--ignored" => selection.only_ignored = true,
                "--quiet" | "-q" => verbosity = PrintedDetail::Quiet,
                "--format" => {
                    terse = attached.or_else(|| arguments.next()).as_deref() == Some("terse");
                }
                "--skip" => selection
                    .skips
                    .extend(attached.or_else(|| arguments.next())),
                "--" => selection.filters.extend(arguments.by_ref()),
                _ if FLAGS.contains(&name) => {}
                _ if LIBTEST_OPTIONS.contains(&name) => {
                    let _ = attached.or_else(|| arguments.next());
                }
                _ if CRITERION_OPTIONS.contains(&name) => {
                    let _ = attached.or_else(|| arguments.next());
                    ignored.push(name.to_owned());
                }
                _ if name.starts_with('-') && name.len() > 1 => ignored.push(argument),
                _ => selection.filters.push(argument),
            }
        }
        let mode = if help {
            ExecutableMode::Help
        } else if list {
            ExecutableMode::List(if terse {
                ListFormat::Terse
            } else {
                ListFormat::Pretty
            })
        } else if bench && !test {
            ExecutableMode::Bench
        } else {
            ExecutableMode::Test
        };
        Self {
            mode,
            selection,
            verbosity,
            ignored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Args {
        Args::parse(line.split_whitespace().map(ToOwned::to_owned))
    }

    #[test]
    fn the_mode_follows_from_bench_test_and_list() {
        assert_eq!(parse("").mode, ExecutableMode::Test);
        assert_eq!(parse("--bench").mode, ExecutableMode::Bench);
        assert_eq!(parse("--bench --test").mode, ExecutableMode::Test);
        assert_eq!(
            parse("--list --bench").mode,
            ExecutableMode::List(ListFormat::Pretty)
        );
        for terse in ["--list --format terse", "--format=terse --list"] {
            assert_eq!(parse(terse).mode, ExecutableMode::List(ListFormat::Terse));
        }
    }

    #[test]
    fn filters_are_alternatives_and_skips_have_the_last_word() {
        let selection = parse("sort hash --skip slow --bench").selection;
        assert!(selection.contains("sort/stable"));
        assert!(selection.contains("a/hash/b"));
        assert!(!selection.contains("other"));
        assert!(!selection.contains("sort/slow"));
        assert!(parse("--bench").selection.contains("anything"));
    }

    #[test]
    fn exact_wants_the_whole_id_plain_or_escaped() {
        let selection = parse("--exact sort --nocapture").selection;
        assert!(selection.contains("sort"));
        assert!(!selection.contains("sort/stable"));
        assert!(parse(r"--exact a\nb").selection.contains("a\nb"));
        let skipping = parse("--exact --skip sort").selection;
        assert!(!skipping.contains("sort") && skipping.contains("sort/stable"));
    }

    #[test]
    fn nothing_is_ignored_in_the_sense_of_libtest() {
        assert!(
            !parse("--list --format terse --ignored")
                .selection
                .contains("a")
        );
        assert!(parse("--include-ignored").selection.contains("a"));
    }

    #[test]
    fn flags_of_others_are_tolerated_with_their_values() {
        let args = parse(
            "--test-threads 4 --color=always --color never --save-baseline main -Z unstable-options --frobnicate --level=3 real --bench",
        );
        assert_eq!(args.selection.filters, ["real"]);
        assert_eq!(
            args.ignored,
            ["--save-baseline", "--frobnicate", "--level=3"]
        );
        assert_eq!(args.mode, ExecutableMode::Bench);
    }

    #[test]
    fn after_two_hyphens_everything_is_a_filter() {
        assert_eq!(parse("-- --bench").selection.filters, ["--bench"]);
    }
}
