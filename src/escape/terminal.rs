//! Text for terminals, without characters that a terminal obeys or hides.

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

/// Reports whether a character controls the terminal, or changes the display of others without being visible itself.
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

/// Reports whether a code point is one of those that Unicode will never assign; XML forbids some of them.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
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
}
