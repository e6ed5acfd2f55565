//! Text for terminals, without characters that a terminal obeys or hides; and commands that users paste into a POSIX shell.
//!
//! Writers escape foreign text where they insert it. A stream at the end catches forgotten cases: it escapes everything that a terminal would obey
//! except colors and line ends. Invariant: the stream leaves text that is escaped for JSON or XML unchanged, so it can also carry results for
//! programs.

use std::io::{self, Write};

/// Escapes all characters that a terminal would obey or hide, except line ends.
pub fn lines(text: &str) -> String {
    escaped(text, |c| c == '\n')
}

/// Like [`lines`], but escapes line ends too.
pub fn one_line(text: &str) -> String {
    escaped(text, |_| false)
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if stays(c) => escaped.push(c),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            c if is_harmful(c) => escaped.extend(c.escape_unicode()),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Reports whether a character controls the terminal, or is invisible and may change how other characters are displayed.
pub fn is_harmful(c: char) -> bool {
    c.is_control() || is_invisible(c) || is_noncharacter(c)
}

/// Reports whether a character is invisible: marks and overrides of direction, joiners, separators of lines, tags, the byte order mark, fillers
/// (Unicode's `Default_Ignorable_Code_Point` except variation selectors, which choose among images of the character before them).
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Reports whether Unicode will never assign this code point. XML forbids some of these.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

/// Maximum number of bytes of an incomplete character or color code to hold back until it is complete.
const MOST_PENDING: usize = 32;

/// A stream for text that may be read in a terminal. It escapes everything that a terminal would obey except colors and line ends.
#[derive(Debug)]
pub struct EscapedStream<W> {
    writer: W,
    pending: Vec<u8>,
}

/// Whether the first bytes of a slice can be written as they are.
enum BytePiece {
    /// This many bytes pass unchanged.
    Harmless(usize),
    /// This many bytes must be escaped.
    Harmful(usize),
    /// More bytes are needed to decide.
    Unfinished,
}

impl<W: Write> EscapedStream<W> {
    /// Makes a stream that writes to `writer`.
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            pending: Vec::new(),
        }
    }

    fn write_escaped(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut passed = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while !rest.is_empty() {
            match classify_first_piece(rest) {
                BytePiece::Harmless(length) => {
                    passed.extend_from_slice(&rest[..length]);
                    rest = &rest[length..];
                }
                BytePiece::Harmful(length) => {
                    let shown = String::from_utf8_lossy(&rest[..length]);
                    passed.extend_from_slice(one_line(&shown).as_bytes());
                    rest = &rest[length..];
                }
                BytePiece::Unfinished if rest.len() > MOST_PENDING => {
                    let shown = String::from_utf8_lossy(&rest[..1]);
                    passed.extend_from_slice(one_line(&shown).as_bytes());
                    rest = &rest[1..];
                }
                BytePiece::Unfinished => {
                    self.pending = rest.to_vec();
                    break;
                }
            }
        }
        self.writer.write_all(&passed)
    }
}

/// Decides what to do with the first of these bytes.
fn classify_first_piece(bytes: &[u8]) -> BytePiece {
    match bytes {
        [b'\n' | b'\t' | b' '..=b'~', ..] => {
            let plain = |byte: &&u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
            BytePiece::Harmless(bytes.iter().take_while(plain).count())
        }
        // The lines of a table of separated values end with these two characters.
        [b'\r', b'\n', ..] => BytePiece::Harmless(2),
        [] | [b'\r' | 0x1b] | [0x1b, b'['] => BytePiece::Unfinished,
        [0x1b, b'[', parameters @ ..] => {
            let is_parameter = |byte: &&u8| matches!(byte, b'0'..=b'9' | b';' | b':');
            let length = parameters.iter().take_while(is_parameter).count();
            match parameters.get(length) {
                Some(b'm') => BytePiece::Harmless(length + 3),
                Some(_) => BytePiece::Harmful(1),
                None => BytePiece::Unfinished,
            }
        }
        [0x00..=0x7f, ..] => BytePiece::Harmful(1),
        [first, ..] => {
            let length = match first {
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => return BytePiece::Harmful(1),
            };
            let Some(encoded) = bytes.get(..length) else {
                return BytePiece::Unfinished;
            };
            match std::str::from_utf8(encoded)
                .ok()
                .and_then(|text| text.chars().next())
            {
                Some(c) if is_harmful(c) => BytePiece::Harmful(length),
                Some(_) => BytePiece::Harmless(length),
                None => BytePiece::Harmful(1),
            }
        }
    }
}

impl<W: Write> Write for EscapedStream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.pending.is_empty() {
            self.write_escaped(bytes)?;
        } else {
            let mut all = std::mem::take(&mut self.pending);
            all.extend_from_slice(bytes);
            self.write_escaped(&all)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Formats `command`, then the `words` (at least one), then `flags`. If a word looks like a flag, the words come after the flags and `--` instead.
/// `flags` are already quoted, each with a space before it.
pub fn format_command(command: &str, words: &[&str], flags: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    let quoted = quoted.join(" ");
    if words.iter().any(|word| word.starts_with('-')) {
        format!("{command}{flags} -- {quoted}")
    } else {
        format!("{command} {quoted}{flags}")
    }
}

/// Quotes a word so that a POSIX shell reads back the same word.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=+,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.contains(char::is_control) {
        // A line end would break the command in two. POSIX has had this quoting since 2024, and shells for longer.
        let quoted: String = word.chars().map(dollar_quote).collect();
        format!("$'{quoted}'")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Escapes a character between `$'` and `'`.
fn dollar_quote(c: char) -> String {
    match c {
        '\\' | '\'' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c.is_control() => {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).bytes();
            // Always write three digits, so that a digit that follows is not read as part of the escape.
            bytes.fold(String::new(), |octal, byte| format!("{octal}\\{byte:03o}"))
        }
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_of_it() {
        assert_eq!(
            one_line("a\u{1b}[2Jb\u{9b}31m\u{7}\r\n\tü"),
            r"a\u{1b}[2Jb\u{9b}31m\u{7}\r\n\tü"
        );
        assert_eq!(lines("a\nb\r\n"), "a\nb\\r\n");
    }

    #[test]
    fn what_turns_the_direction_of_text_is_seen() {
        assert_eq!(
            one_line("a\u{202e}b\u{2066}c\u{61c}d"),
            r"a\u{202e}b\u{2066}c\u{61c}d"
        );
        assert_eq!(one_line("\u{ffff}\u{1fffe}"), r"\u{ffff}\u{1fffe}");
        assert_eq!(one_line("a\u{3164}b\u{34f}"), r"a\u{3164}b\u{34f}");
    }

    #[test]
    fn ordinary_text_of_any_script_stays() {
        for text in ["größe/長さ=10", "עברית", "a \\ \"b\" 'c'", "🦀 e\u{301}"] {
            assert_eq!(one_line(text), text);
        }
    }

    fn seen(pieces: &[&[u8]]) -> String {
        let mut written = Vec::new();
        let mut stream = EscapedStream::new(&mut written);
        for piece in pieces {
            stream.write_all(piece).expect("memory");
        }
        drop(stream);
        String::from_utf8(written).expect("text")
    }

    #[test]
    fn colours_line_ends_and_text_pass() {
        let text = "\u{1b}[1;31mred\u{1b}[0m größe\t長い 🦀\r\nnext\n";
        assert_eq!(seen(&[text.as_bytes()]), text);
    }

    #[test]
    fn everything_else_that_a_terminal_obeys_is_shown() {
        assert_eq!(
            seen(&["\u{1b}[2Ja\u{1b}]0;title\u{7}\u{9b}5m\rb\u{202e}c\u{8}".as_bytes()]),
            "\\u{1b}[2Ja\\u{1b}]0;title\\u{7}\\u{9b}5m\\rb\\u{202e}c\\u{8}"
        );
        assert_eq!(seen(&[b"\xff\xfeok"]), "\u{fffd}\u{fffd}ok");
    }

    #[test]
    fn pieces_make_no_difference() {
        let text = "\u{1b}[1mö\u{1b}[0m\u{202e}\r\n\u{1b}[2K🦀\n";
        let whole = seen(&[text.as_bytes()]);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(seen(&bytes), whole);
    }

    #[test]
    fn an_id_in_a_command_can_be_pasted_into_a_shell() {
        assert_eq!(quote("sort/10"), "sort/10");
        assert_eq!(quote("two words"), "'two words'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote("line\nfeed"), r"$'line\nfeed'");
        assert_eq!(quote("it's\u{1b}1\\"), r"$'it\'s\0331\\'");
    }

    #[test]
    fn a_word_that_looks_like_a_flag_stands_behind_all_flags() {
        let written = |words: &[&str]| format_command("accept", words, " --run 3");
        assert_eq!(written(&["a b", "c"]), "accept 'a b' c --run 3");
        assert_eq!(written(&["a", "-b c"]), "accept --run 3 -- a '-b c'");
    }
}
