//! The colors of all output, and text for terminals without UTF-8.
//!
//! A text is colored by its role, such as a heading or a verdict, and this module defines the color of each role. For terminals without UTF-8, a
//! writer replaces characters, and [`Charset`] knows the width that a text then has.

use owo_colors::{OwoColorize, Style};
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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

/// The characters that a stream accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// The stream accepts all characters.
    Unicode,
    /// The stream accepts ASCII characters only.
    Ascii,
}

/// A writer that converts its input to ASCII if the stream requires it.
pub struct CharsetWriter<W> {
    writer: W,
    charset: Charset,
    /// First bytes of a character that was split between two writes.
    begun: Vec<u8>,
}

impl<W: Write> CharsetWriter<W> {
    /// Creates a writer in front of `writer` that converts to `charset`.
    pub fn new(writer: W, charset: Charset) -> Self {
        Self {
            writer,
            charset,
            begun: Vec::new(),
        }
    }
}

impl<W: Write> Write for CharsetWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.charset == Charset::Unicode {
            return self.writer.write(bytes);
        }
        self.begun.extend_from_slice(bytes);
        let mut text = String::new();
        let mut rest = &self.begun[..];
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(whole) => {
                    text.push_str(&to_ascii(whole));
                    rest = &[];
                }
                Err(error) => {
                    let (whole, others) = rest.split_at(error.valid_up_to());
                    text.push_str(&to_ascii(&String::from_utf8_lossy(whole)));
                    rest = others;
                    let Some(length) = error.error_len() else {
                        break;
                    };
                    text.push('?');
                    rest = &rest[length..];
                }
            }
        }
        self.begun = rest.to_vec();
        self.writer.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The charset of stdout. Widths of text are computed for it.
static OF_STDOUT: OnceLock<Charset> = OnceLock::new();

impl Charset {
    /// Sets the charset in which stdout prints, so that the layout of all text uses the widths of that charset. Before the first call, the charset is
    /// Unicode. Later calls have no effect.
    pub fn write_global(self) {
        let _ = OF_STDOUT.set(self);
    }

    /// Returns the charset of stdout, for which text is laid out.
    pub(super) fn global() -> Self {
        OF_STDOUT.get().copied().unwrap_or(Self::Unicode)
    }

    /// Returns the width of `text` as printed, in columns. `text` has no color codes.
    pub(super) fn width(self, text: &str) -> usize {
        match self {
            Self::Unicode => text.width(),
            Self::Ascii => text.chars().map(|c| self.width_of_char(c)).sum(),
        }
    }

    /// Returns the width of a character as printed, in columns.
    pub(super) fn width_of_char(self, c: char) -> usize {
        if self == Self::Unicode || c.is_ascii() {
            return c.width().unwrap_or(0);
        }
        ascii_replacement(c).map_or_else(|| c.escape_unicode().len(), str::len)
    }
}

/// Replaces the program's own characters by ASCII characters that look similar, and escapes all other characters that are not ASCII.
pub(super) fn to_ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for c in text.chars() {
        match ascii_replacement(c) {
            Some(replacement) => ascii.push_str(replacement),
            None if c.is_ascii() => ascii.push(c),
            None => ascii.extend(c.escape_unicode()),
        }
    }
    ascii
}

/// The characters that the program itself prints, each with the ASCII text that replaces it.
const REPLACEMENTS: [(&str, &str); 33] = [
    // Numbers and words.
    ("µμ", "u"),
    ("−–—", "-"),
    ("…", "~"),
    ("±", "+/-"),
    ("→", "->"),
    ("≥", ">="),
    ("²", "2"),
    ("\u{a0}", " "),
    ("×", "x"),
    ("’‘", "'"),
    ("“”", "\""),
    // Verdicts.
    ("▲", "^"),
    ("▼", "v"),
    ("✗", "x"),
    // The mark of a good finding of `doctor`, and the symbol of `incomparable`.
    ("✓", "+"),
    ("≠", "!"),
    // Parts of drawn intervals: what is within the noise threshold, what is beyond it, the estimate, and the line at zero.
    ("─╴╶", "-"),
    ("━╸╺╾╼", "="),
    ("●", "o"),
    ("│┼┿┤├", "|"),
    // Corners of the line that draws a step between two levels of a history.
    ("└┘┌┐", "+"),
    // Backgrounds (noise band, expected range), and arrows for values beyond the scale.
    ("·", "."),
    ("░", ":"),
    ("‹«", "<"),
    ("›»", ">"),
    // Sparklines, from low to high.
    ("▁", "_"),
    ("▂", "."),
    ("▃", "-"),
    ("▄", "="),
    ("▅", "+"),
    ("▆", "*"),
    ("▇", "%"),
    ("█", "#"),
];

fn ascii_replacement(c: char) -> Option<&'static str> {
    let mut replacements = REPLACEMENTS.iter();
    let found = replacements.find(|(ours, _)| ours.contains(c));
    found.map(|(_, ascii)| *ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pieces: &[&[u8]], charset: Charset) -> String {
        let mut bytes = Vec::new();
        let mut writer = CharsetWriter::new(&mut bytes, charset);
        for piece in pieces {
            writer.write_all(piece).unwrap();
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn our_characters_have_replacements_and_others_are_escaped() {
        let text = "1.2 µs  −3 %  ▲ regressed  ╬ 長 \u{1b}[1m";
        assert_eq!(
            written(&[text.as_bytes()], Charset::Ascii),
            "1.2 us  -3 %  ^ regressed  \\u{256c} \\u{9577} \u{1b}[1m"
        );
        assert_eq!(written(&[text.as_bytes()], Charset::Unicode), text);
    }

    #[test]
    fn a_change_is_an_arrow_and_no_comparison() {
        let text = "allocations 12 → 14, detects ≥ 1 %, 2.5 ± 0.1, R²";
        assert_eq!(
            to_ascii(text),
            "allocations 12 -> 14, detects >= 1 %, 2.5 +/- 0.1, R2"
        );
    }

    #[test]
    fn text_is_as_wide_as_it_is_printed() {
        for text in [
            "allocations 12 → 14",
            "−1.2 µs ±3 %",
            "長い名前/e\u{301}",
            "a\u{a0}b",
        ] {
            assert_eq!(Charset::Ascii.width(text), to_ascii(text).len(), "{text}");
        }
        assert_eq!(Charset::Unicode.width("12 → 14 長"), 10);
        // Drawings rely on one column for each of their characters.
        for c in "▲▼✗≠−✓─╴╶━╸╺╾╼●│┼┿┤├└┘┌┐·░‹«›»▁▂▃▄▅▆▇█…".chars()
        {
            for charset in [Charset::Unicode, Charset::Ascii] {
                assert_eq!(charset.width_of_char(c), 1, "{c}");
            }
        }
    }

    #[test]
    fn a_character_in_two_pieces_is_one() {
        let (first, second) = "µ".as_bytes().split_at(1);
        assert_eq!(
            written(&[b"1 ", first, second, b"s"], Charset::Ascii),
            "1 us"
        );
        assert_eq!(written(&[b"a\xffb"], Charset::Ascii), "a?b");
    }
}
