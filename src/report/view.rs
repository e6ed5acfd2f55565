//! How much of a result people see, in which arrangement and in how many columns.

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

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Shown is what needs attention, and what it comes to.
    Quiet,
    /// Shown are all benchmarks, and the remarks that matter.
    Usual,
    /// Shown are every remark, and every column that there is room for.
    Verbose,
}

/// How rows follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrder {
    /// Rows stand by bench target and by group: the part of an id before the last `/`. Names are the rest of it.
    Groups,
    /// Rows stand by bench target, with whole ids.
    Targets,
    /// Rows stand in the order in which they are given, with whole ids.
    List,
}

/// How a result is laid out for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// A line may take so many columns; `usize::MAX` where nobody breaks lines.
    pub columns: usize,
    /// More rows with verdicts than this stand worst first; `usize::MAX` where they never do.
    pub screenful: usize,
    /// How much is shown.
    pub verbosity: Verbosity,
    /// How rows follow one another.
    pub arrangement: RowOrder,
    /// Only rows with these verdicts are shown.
    pub only: Option<Vec<Verdict>>,
}

/// Prose is easier to read in lines that are not longer than this.
const LONGEST_PROSE: usize = 110;

impl View {
    /// The view of a terminal of so many columns, where nothing else was asked for.
    pub fn of_terminal(columns: usize) -> Self {
        Self {
            columns,
            screenful: usize::MAX,
            verbosity: Verbosity::Usual,
            arrangement: RowOrder::Groups,
            only: None,
        }
    }

    /// The view with as many columns and lines as stdout has. In a file or a pipe ids stay whole, so that they can be searched for.
    pub fn of_stdout(
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

    /// Prose in lines that fit; every line but the first begins with `indent`. A command at the end stays on one line of its own,
    /// so that it can be copied.
    pub(super) fn prose(&self, text: &str, indent: &str) -> String {
        prose(text, self.columns, indent)
    }
}

/// [`View::prose`] for so many columns.
pub(super) fn prose(text: &str, columns: usize, indent: &str) -> String {
    if columns == usize::MAX {
        return text.replace('\n', &format!("\n{indent}"));
    }
    let room = columns.min(LONGEST_PROSE).saturating_sub(indent.len());
    let mut lines = Vec::new();
    for line in text.split('\n') {
        match line.find(": cargo perfcheck ") {
            Some(at) if units::width(line) > room => {
                let (words, command) = line.split_at(at + 1);
                lines.extend(units::fitted(words, room));
                lines.push(format!("  {}", command.trim_start()));
            }
            _ => lines.extend(units::fitted(line, room)),
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
            View::of_terminal(30).prose(text, ""),
            "Run 2 is not accepted. If that\nis meant:\n  cargo perfcheck accept 2 --manifest-path a/long/path"
        );
        assert_eq!(View::of_terminal(usize::MAX).prose(text, ""), text);
        assert_eq!(
            View::of_terminal(80).prose("short: cargo perfcheck history", "  "),
            "short: cargo perfcheck history"
        );
    }
}
