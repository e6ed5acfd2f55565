//! The view of a result for people: amount of detail, arrangement of rows, and available columns.

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

/// The amount of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Only benchmarks that need attention, and the outcome.
    Quiet,
    /// All benchmarks, and the remarks that matter.
    Usual,
    /// All remarks, and all columns that fit.
    Verbose,
}

/// The arrangement of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrder {
    /// By bench target and group. A group is the part of an id before the last `/`, and names show what follows it.
    Groups,
    /// By bench target, with complete ids.
    Targets,
    /// In the given order, with complete ids.
    List,
}

/// The layout of a result for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Maximum width of a line, in columns; `usize::MAX` if lines are not broken.
    pub columns: usize,
    /// Number of rows that fit on the screen. If there are more and they have verdicts, the worst come first; `usize::MAX` disables this.
    pub screenful: usize,
    /// Amount of detail.
    pub verbosity: Verbosity,
    /// Arrangement of rows.
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

    /// Creates a view with the columns and lines of stdout. In a file or a pipe, ids stay complete so that they can be searched for.
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

    /// Breaks prose into lines that fit; every line but the first begins with `indent`. A command at the end gets a line of its own, so that it can
    /// be copied.
    pub(super) fn wrap_prose(&self, text: &str, indent: &str) -> String {
        wrap_prose(text, self.columns, indent)
    }
}

/// Like [`View::wrap_prose`], for a given number of columns.
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
