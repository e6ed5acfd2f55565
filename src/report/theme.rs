//! The one theme: which meaning has which colour. Colours are always written; the stream strips them where
//! the terminal, `--color` or `NO_COLOR` say so.

use owo_colors::{OwoColorize, Style};
use std::fmt::Display;

use crate::escape;
use perfcheck_analysis::model::Verdict;

/// What text is, for its colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Ink {
    /// Text like most.
    #[default]
    Plain,
    /// Something that matters less.
    Faint,
    /// A heading.
    Heading,
    /// Something that is different on another side.
    Differing,
    /// Something that a verdict says.
    Verdict(Verdict),
}

/// Text in its colour; colours of nothing would keep blanks at the end of a line.
pub(super) fn inked(ink: Ink, text: &str) -> String {
    match ink {
        _ if text.is_empty() => String::new(),
        Ink::Plain => text.to_owned(),
        Ink::Faint => faint(text),
        Ink::Heading => heading(text),
        Ink::Differing => text.yellow().to_string(),
        Ink::Verdict(verdict) => in_colour_of(verdict, text),
    }
}

/// Text for a verdict.
pub(super) fn verdict(verdict: Verdict) -> String {
    in_colour_of(verdict, verdict.word())
}

/// The symbol of a verdict, one column wide: each of the three, colour, symbol and word, says it all.
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

/// Other text in the colour of a verdict. Worse is red and better is blue: people who see no difference of red and green see this one.
pub(super) fn in_colour_of(verdict: Verdict, text: &str) -> String {
    let style = match verdict {
        Verdict::Regressed | Verdict::Failed => Style::new().red().bold(),
        Verdict::Suspect => Style::new().yellow().bold(),
        Verdict::Incomparable | Verdict::Missing => Style::new().yellow(),
        Verdict::Improved => Style::new().bright_blue().bold(),
        Verdict::Inconclusive | Verdict::New => Style::new().cyan(),
        // Nothing happened: nothing is to catch the eye.
        Verdict::Unchanged => Style::new(),
    };
    text.style(style).to_string()
}

/// The text as a heading.
pub(super) fn heading(text: impl Display) -> String {
    text.bold().to_string()
}

/// The text as something that matters less.
pub(super) fn faint(text: impl Display) -> String {
    text.dimmed().to_string()
}

/// Somebody else's text without anything that a terminal would obey or hide, but for line ends.
pub(super) fn printable(text: &str) -> String {
    escape::terminal_lines(text)
}

/// A word for what is going on, right-aligned and coloured as cargo's are.
pub(super) fn status(word: &str) -> String {
    format!("{word:>12}").green().bold().to_string()
}

/// The word for how a command ends.
pub(super) fn outcome(word: &str, is_good: bool) -> String {
    if is_good {
        word.green().bold().to_string()
    } else {
        word.red().bold().to_string()
    }
}

/// `warning:`, as cargo colours it.
pub(super) fn warning() -> String {
    "warning".yellow().bold().to_string()
}

/// `error:`, as cargo colours it.
pub(super) fn error() -> String {
    "error".red().bold().to_string()
}

/// What was written for a terminal, without its colours: for files.
pub fn without_colours(bytes: &[u8]) -> Vec<u8> {
    anstream::adapter::strip_bytes(bytes).into_vec()
}
