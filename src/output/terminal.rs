//! The theme, which gives each meaning a color, and the writer for terminals without UTF-8.
//!
//! All output is written with colors and Unicode. The stream removes the colors according to the terminal, `--color` and `NO_COLOR`. For a terminal
//! without UTF-8, `main` inserts a writer that replaces the program's own characters by ASCII of the same width and escapes all others.

use owo_colors::{OwoColorize, Style};
use std::fmt::Display;
use std::io::{self, Write};

use crate::sanitize;
use perfcheck_analysis::model::Verdict;

/// The meaning of a text, which determines its color.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TextRole {
    /// Ordinary text.
    #[default]
    Plain,
    /// Less important text.
    Faint,
    /// A heading.
    Heading,
    /// Text that differs between base and candidate.
    Differing,
    /// Text about a verdict.
    Verdict(Verdict),
}

/// Colors a text. An empty text gets no color codes: with codes at the end of a line, the blanks before them would not be removed.
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

/// Escapes foreign text, so that it can neither control a terminal nor hide other text. Keeps line ends.
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
    /// All characters.
    Unicode,
    /// ASCII only.
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

/// Converts `text` to ASCII.
pub(super) fn to_ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for c in text.chars() {
        match ascii_replacement(c) {
            Some(replacement) => ascii.push(replacement),
            None if c.is_ascii() => ascii.push(c),
            None => ascii.extend(c.escape_unicode()),
        }
    }
    ascii
}

/// ASCII replacements of the program's own characters.
const REPLACEMENTS: [(&str, char); 30] = [
    // Numbers and words.
    ("µμ", 'u'),
    ("−–—", '-'),
    ("…±", '~'),
    ("→", '>'),
    ("×", 'x'),
    ("’‘", '\''),
    ("“”", '"'),
    // Verdicts.
    ("▲", '^'),
    ("▼", 'v'),
    ("✗", 'x'),
    // Findings.
    ("✓", '+'),
    ("≠", '!'),
    // Intervals: within the noise threshold, beyond it, the estimate, and zero.
    ("─╴╶", '-'),
    ("━╸╺╾╼", '='),
    ("●", 'o'),
    ("│┼┿┤├", '|'),
    // Steps of a history.
    ("└┘┌┐", '+'),
    // Backgrounds (noise band, expected range), and arrows for values beyond the scale.
    ("·", '.'),
    ("░", ':'),
    ("‹«", '<'),
    ("›»", '>'),
    // Sparklines, from low to high.
    ("▁", '_'),
    ("▂", '.'),
    ("▃", '-'),
    ("▄", '='),
    ("▅", '+'),
    ("▆", '*'),
    ("▇", '%'),
    ("≥", '>'),
    ("█", '#'),
];

fn ascii_replacement(c: char) -> Option<char> {
    let mut replacements = REPLACEMENTS.iter();
    let found = replacements.find(|(ours, _)| ours.contains(c));
    found.map(|(_, ascii)| *ascii)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::units;

    fn written(pieces: &[&[u8]], charset: Charset) -> String {
        let mut bytes = Vec::new();
        let mut writer = CharsetWriter::new(&mut bytes, charset);
        for piece in pieces {
            writer.write_all(piece).unwrap();
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn our_characters_keep_their_width_and_others_are_escaped() {
        let text = "1.2 µs  −3 %  ▲ regressed  ╬ 長 \u{1b}[1m";
        assert_eq!(
            written(&[text.as_bytes()], Charset::Ascii),
            "1.2 us  -3 %  ^ regressed  \\u{256c} \\u{9577} \u{1b}[1m"
        );
        assert_eq!(written(&[text.as_bytes()], Charset::Unicode), text);
        for c in (' '..'\u{3000}').filter(|c| ascii_replacement(*c).is_some()) {
            assert_eq!(units::width(&c.to_string()), 1, "{c}");
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
