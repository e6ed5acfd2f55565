//! How a result is laid out for people: how much detail it has, how its rows are arranged, and how many columns and lines fit on the screen.

use super::units;
use clap::ValueEnum;
use perfcheck_analysis::findings::Order;
use perfcheck_analysis::model::Verdict;

/// The form in which a result is written: for people, or for programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// A table
    #[default]
    Human,
    /// One JSON object per line
    Json,
}

/// The form of values in text and Markdown; CSV and messages have both forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ValueForm {
    /// Times, rates or amounts, as measured
    #[value(name = "time")]
    Values,
    /// Ratios to the reference; above 1 means worse
    #[value(name = "ratio")]
    Ratios,
}

/// How much of a result is printed. `--quiet` and `--verbose` choose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Only benchmarks that need attention, and the outcome.
    Quiet,
    /// All benchmarks except those with unchanged code, which a sentence counts, and the notes that call for an action. This is the default.
    Usual,
    /// All benchmarks with all remarks, and every column that fits.
    Verbose,
}

/// How the rows of a table of benchmarks are grouped and ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrder {
    /// Rows are grouped by bench target, and within a target by group. A group is the part of an id before the last `/`. Below the heading of a
    /// group, a row shows only the part of its id after that `/`.
    Groups,
    /// Rows are grouped by bench target and show complete ids.
    Targets,
    /// Rows are not grouped. They stay in the order in which the caller passes them, and show complete ids.
    List,
}

/// The settings by which a result is laid out for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Maximum width of a line, in columns; `usize::MAX` if lines are not broken.
    pub columns: usize,
    /// Number of rows that fit on the screen. If a table with verdicts has more rows, the worst results come first. `usize::MAX` disables this.
    pub screenful: usize,
    /// How much of the result is printed.
    pub verbosity: Verbosity,
    /// How the rows of tables are grouped and ordered.
    pub arrangement: RowOrder,
    /// If set, only rows with one of these verdicts are shown.
    pub only: Option<Vec<Verdict>>,
}

/// Maximum line width of prose: longer lines are harder to read.
const LONGEST_PROSE: usize = 110;

impl View {
    /// Creates the default view for a terminal with this many columns.
    pub fn for_terminal(columns: usize) -> Self {
        Self {
            columns,
            screenful: usize::MAX,
            verbosity: Verbosity::Usual,
            arrangement: RowOrder::Groups,
            only: None,
        }
    }

    /// Creates a view that fits the terminal on stdout. If stdout is a file or a pipe, ids are shown complete, so that a search in the output finds
    /// them.
    pub fn for_stdout(
        verbosity: Verbosity,
        sort: Option<Order>,
        only: Option<Vec<Verdict>>,
    ) -> Self {
        let (columns, lines) = units::terminal_size();
        let arrangement = match (sort, columns) {
            (None | Some(Order::Name), usize::MAX) => RowOrder::Targets,
            (None | Some(Order::Name), _) => RowOrder::Groups,
            _ => RowOrder::List,
        };
        Self {
            columns,
            screenful: if sort.is_none() { lines } else { usize::MAX },
            verbosity,
            arrangement,
            only,
        }
    }

    /// Breaks prose into lines that fit the view. Every line but the first begins with `indent`. A command at the end of the text gets a line of its
    /// own, so that readers can copy it.
    pub(super) fn wrap_prose(&self, text: &str, indent: &str) -> String {
        wrap_prose(text, self.columns, indent)
    }
}

/// Breaks prose into lines of at most `columns`, with the rules of [`View::wrap_prose`].
pub(super) fn wrap_prose(text: &str, columns: usize, indent: &str) -> String {
    if columns == usize::MAX {
        return text.replace('\n', &format!("\n{indent}"));
    }
    let room = columns.min(LONGEST_PROSE).saturating_sub(indent.len());
    let mut lines = Vec::new();
    for line in text.split('\n') {
        match line.find(": cargo perfcheck ") {
            Some(at) if units::width(line) > room => {
                let (words, command) = line.split_at(at + 1);
                lines.extend(units::wrap_if_needed(words, room));
                lines.push(format!("  {}", command.trim_start()));
            }
            _ => lines.extend(units::wrap_if_needed(line, room)),
        }
    }
    lines.join(&format!("\n{indent}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_between_words_and_commands_stay_whole() {
        let text = "Run 2 is not accepted. If that is meant: cargo perfcheck accept 2 --manifest-path a/long/path";
        assert_eq!(
            View::for_terminal(30).wrap_prose(text, ""),
            "Run 2 is not accepted. If that\nis meant:\n  cargo perfcheck accept 2 --manifest-path a/long/path"
        );
        assert_eq!(View::for_terminal(usize::MAX).wrap_prose(text, ""), text);
        assert_eq!(
            View::for_terminal(80).wrap_prose("short: cargo perfcheck history", "  "),
            "short: cargo perfcheck history"
        );
    }
}
