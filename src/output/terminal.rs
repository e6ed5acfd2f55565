//! The colors of all output. A text is colored by its role, such as a heading or a verdict, and this module defines the color of each role.

use owo_colors::{OwoColorize, Style};
use std::fmt::Display;

use crate::sanitize;
use perfcheck_analysis::model::Verdict;

/// The role of a text in the output, which determines its color.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TextRole {
    /// Ordinary text.
    #[default]
    Plain,
    /// Less important text.
    Faint,
    /// A heading.
    Heading,
    /// An instruction that differs between the base and the candidate, in a listing of machine code.
    Differing,
    /// Text about a verdict.
    Verdict(Verdict),
}

/// Colors a text by its role. An empty text gets no color codes: at the end of a line, such codes would keep the blanks before them from being
/// trimmed.
pub(super) fn colorize(ink: TextRole, text: &str) -> String {
    match ink {
        _ if text.is_empty() => String::new(),
        TextRole::Plain => text.to_owned(),
        TextRole::Faint => faint(text),
        TextRole::Heading => heading(text),
        TextRole::Differing => text.yellow().to_string(),
        TextRole::Verdict(verdict) => colorize_for_verdict(verdict, text),
    }
}

/// Returns the colored word for a verdict.
pub(super) fn verdict(verdict: Verdict) -> String {
    colorize_for_verdict(verdict, verdict.word())
}

/// Returns the symbol of a verdict, one column wide. The symbol identifies the verdict without its color or word.
pub(super) fn symbol(verdict: Verdict) -> char {
    match verdict {
        Verdict::Regressed => '▲',
        Verdict::Improved => '▼',
        Verdict::Suspect => '?',
        Verdict::Failed => '✗',
        Verdict::Incomparable => '≠',
        Verdict::Missing => '−',
        Verdict::Inconclusive => '~',
        Verdict::New => '+',
        Verdict::Unchanged => '=',
    }
}

/// Colors a text for a verdict: red for worse and blue for better, because people with red-green color blindness can tell these apart.
pub(super) fn colorize_for_verdict(verdict: Verdict, text: &str) -> String {
    let style = match verdict {
        Verdict::Regressed | Verdict::Failed => Style::new().red().bold(),
        Verdict::Suspect => Style::new().yellow().bold(),
        Verdict::Incomparable | Verdict::Missing => Style::new().yellow(),
        Verdict::Improved => Style::new().bright_blue().bold(),
        Verdict::Inconclusive | Verdict::New => Style::new().cyan(),
        // Nothing changed, so nothing should catch the eye.
        Verdict::Unchanged => Style::new(),
    };
    text.style(style).to_string()
}

/// Formats a text as a heading.
pub(super) fn heading(text: impl Display) -> String {
    text.bold().to_string()
}

/// Formats a less important text.
pub(super) fn faint(text: impl Display) -> String {
    text.dimmed().to_string()
}

/// Escapes text that comes from elsewhere, such as names and messages of benches, so that it can neither control a terminal nor hide other text. Line
/// ends are kept.
pub(super) fn escape_terminal_text(text: &str) -> String {
    sanitize::terminal_lines(text)
}

/// Formats a status word, right-aligned and colored as in cargo.
pub(super) fn status(word: &str) -> String {
    format!("{word:>12}").green().bold().to_string()
}

/// Colors the word for the outcome of a command: green if it is good, else red.
pub(super) fn outcome(word: &str, is_good: bool) -> String {
    if is_good {
        word.green().bold().to_string()
    } else {
        word.red().bold().to_string()
    }
}

/// Returns `warning`, colored as in cargo.
pub(super) fn warning() -> String {
    "warning".yellow().bold().to_string()
}

/// Returns `error`, colored as in cargo.
pub(super) fn error() -> String {
    "error".red().bold().to_string()
}

/// Removes the colors from terminal output, for files.
pub fn strip_colors(bytes: &[u8]) -> Vec<u8> {
    anstream::adapter::strip_bytes(bytes).into_vec()
}
