//! Output for terminals without UTF-8: the program's own characters become ASCII characters of the same width, and all others are escaped.
//!
//! The sinks always write Unicode; `main` inserts this writer if the terminal needs it.

use std::io::{self, Write};

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
    // Intervals: inside the noise, beyond it, the estimate, zero and the noise threshold, off the scale.
    ("─╴╶", '-'),
    ("━╸╺╾╼", '='),
    ("●", 'o'),
    ("│┼┿┤├", '|'),
    // Steps of a history.
    ("└┘┌┐", '+'),
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
    use crate::report::units;

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
