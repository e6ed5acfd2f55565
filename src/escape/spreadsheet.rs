//! Text for tables of separated values (RFC 4180), which spreadsheets read and then calculate.

use std::borrow::Cow;

use super::terminal;

/// Text that no spreadsheet takes for a formula: a quotation mark in front makes it text, as it does where a user types it. For
/// writers that quote by themselves.
///
/// Characters that begin formulas: OWASP, "CSV Injection".
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
    // Blanks in front do not stop a spreadsheet.
    if text.trim_start_matches(' ').starts_with(starts_formula) {
        format!("'{shown}").into()
    } else {
        shown
    }
}

/// Line ends and tabs can stand between quotation marks.
fn is_shown_escaped(c: char) -> bool {
    !matches!(c, '\n' | '\r' | '\t') && terminal::is_harmful(c)
}

/// The same as a whole cell, quoted where that is needed.
pub fn cell(text: &str) -> String {
    let text = self::text(text);
    if text.contains([',', '"', '\n', '\r', ';', '\t'])
        // A line of a CI system's log that begins with a colon may be a command.
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
