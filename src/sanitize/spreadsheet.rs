//! Text for tables of separated values (RFC 4180). Spreadsheets read these and evaluate formulas in them.

use std::borrow::Cow;

use super::terminal;

/// Escapes text that a spreadsheet would read as a formula: a leading apostrophe makes the cell text, as if a user had typed it. The caller must add
/// quotation marks where the table needs them.
///
/// Source of the characters that begin formulas: OWASP, "CSV Injection".
pub fn text(text: &str) -> Cow<'_, str> {
    let starts_formula = |c: char| {
        matches!(
            c,
            '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠'
        )
    };
    let shown = if text.contains(is_shown_escaped) {
        let one = |c: char| {
            if is_shown_escaped(c) {
                terminal::one_line(c.encode_utf8(&mut [0; 4]))
            } else {
                c.to_string()
            }
        };
        text.chars().map(one).collect::<String>().into()
    } else {
        Cow::Borrowed(text)
    };
    // A spreadsheet ignores leading blanks, so a formula may begin after them.
    if text.trim_start_matches(' ').starts_with(starts_formula) {
        format!("'{shown}").into()
    } else {
        shown
    }
}

/// Returns true if a cell shows the character as an escape. Line ends and tabs stay, because they can stand between quotation marks.
fn is_shown_escaped(c: char) -> bool {
    !matches!(c, '\n' | '\r' | '\t') && terminal::is_harmful(c)
}

/// Escapes text as [`text`] does, and adds quotation marks if the cell needs them.
pub fn cell(text: &str) -> String {
    let text = self::text(text);
    if text.contains([',', '"', '\n', '\r', ';', '\t'])
        // Quote a leading colon: at the beginning of a line it may be a command in a CI system's log.
        || text.starts_with(['\'', ':'])
        || text.trim() != text
    {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_reads_back_as_its_text_and_is_no_formula() {
        for (text, written) in [
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("@x", "\"'@x\""),
            ("-1", "\"'-1\""),
            ("=cmd|'/c calc'!A1", "\"'=cmd|'/c calc'!A1\""),
            ("  =1+1", "\"'  =1+1\""),
            ("\t=1", "\"'\t=1\""),
            ("::error::x", "\"::error::x\""),
            ("plain/1", "plain/1"),
            (" x", "\" x\""),
            ("\u{1b}[2J\u{202e}", "\\u{1b}[2J\\u{202e}"),
        ] {
            assert_eq!(cell(text), written);
        }
    }
}
