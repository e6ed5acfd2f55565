//! Text for formats of files: XML and HTML, labels of metrics, JSON that a library has written, and tables of separated values (RFC 4180).
//!
//! The functions first make all characters visible that a terminal would obey or hide ([`terminal`]). Among these are all characters that XML 1.0
//! forbids (section 2.2: most controls, U+FFFE and U+FFFF). JSON keeps its meaning all the same: such characters occur only in its strings, where
//! `\u` and four digits stand for the character itself. Spreadsheets read tables of separated values, and evaluate formulas in them.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::terminal;

/// Escapes text, or the quoted value of an attribute, for XML; line ends are kept.
pub fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in terminal::lines(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // In an attribute, a bare line end would be read as a space.
            '\n' => escaped.push_str("&#10;"),
            // `##[` is a command in the log of a CI system.
            '[' if escaped.ends_with("##") => escaped.push_str("&#91;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Escapes text, or the quoted value of an attribute, for HTML. Not suitable for scripts, style sheets and addresses.
pub fn html(text: &str) -> String {
    // The entities are those of XML. Unquoted values would need more.
    xml(text)
}

/// Escapes the value of a label in the text format of `OpenMetrics`, which knows three escapes.
///
/// GitLab treats `#` as the beginning of a comment even in a label, and then finds the line invalid (`Parsers::Metrics::Generic`): one name would
/// invalidate the whole report.
pub fn openmetrics_label(text: &str) -> String {
    // `one_line` has replaced line ends and control characters by backslashes and letters.
    let shown = terminal::one_line(text).replace('#', "\\u{23}");
    shown.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Escapes compact JSON for terminals and logs: the result has no character that a terminal obeys or hides, and no command of a CI system (`##[`,
/// `##vso[`).
pub fn json(json: &str) -> String {
    let shown = escaped(json, |c| terminal::is_harmful(c) && !c.is_ascii());
    shown.replace("##", "#\\u0023")
}

/// Escapes compact JSON for a `<script type="application/json">` element: nothing in the result ends the element or begins a comment.
///
/// Forbidden text: HTML Standard, "Restrictions for contents of script elements".
pub fn in_script(json: &str) -> String {
    escaped(json, |c| {
        matches!(c, '<' | '>' | '&') || (terminal::is_harmful(c) && !c.is_ascii())
    })
}

fn escaped(json: &str, is_replaced: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        // DEL is the only ASCII control character that JSON allows unescaped in a string.
        if is_replaced(c) || c == '\u{7f}' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Ignore the result: writing into memory does not fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Escapes text that a spreadsheet would read as a formula: a leading apostrophe makes the cell text, as if a user had typed it. The caller must add
/// quotation marks where the table needs them.
///
/// Source of the characters that begin formulas: OWASP, "CSV Injection".
pub fn csv_text(text: &str) -> Cow<'_, str> {
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

/// Escapes text as [`csv_text`] does, and adds quotation marks if the cell needs them.
pub fn csv_cell(text: &str) -> String {
    let text = csv_text(text);
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
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_label_cannot_leave_its_quotation_marks() {
        assert_eq!(openmetrics_label("a\"} 1\n\\"), r#"a\"} 1\\n\\"#);
        assert_eq!(openmetrics_label("C#"), r"C\\u{23}");
    }

    #[test]
    fn text_cannot_leave_its_element_or_its_attribute() {
        assert_eq!(
            html("</text><script>&\"'\u{0}\u{1b}ü\u{ffff}\n"),
            r"&lt;/text&gt;&lt;script&gt;&amp;&quot;&#39;\u{0}\u{1b}ü\u{ffff}&#10;"
        );
    }

    #[test]
    fn nothing_that_xml_forbids_is_left() {
        let all: String = ('\0'..='\u{ffff}').collect();
        let allowed = |c: char| matches!(c, '\n' | '\t' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}');
        assert!(xml(&all).chars().all(allowed));
    }

    const HOSTILE: &str =
        "</script><!-- \u{2028}\u{2029} ]]> \u{1b}[2J \u{7f}\u{9b} \u{202e} \u{e0041} ##[error] ü";

    #[test]
    fn a_script_element_does_not_end_in_it_and_the_value_is_the_same() {
        let written = in_script(&json!([HOSTILE]).to_string());
        assert!(!written.contains(['<', '>', '&', '\u{2028}', '\u{2029}', '\u{202e}']));
        let read: Value = serde_json::from_str(&written).expect("JSON");
        assert_eq!(read, json!([HOSTILE]));
    }

    #[test]
    fn a_terminal_and_a_log_obey_nothing_of_it_and_the_value_is_the_same() {
        let written = json(&json!({ HOSTILE: HOSTILE }).to_string());
        assert_eq!(terminal::one_line(&written), written);
        assert!(!written.contains("##["));
        let read: Value = serde_json::from_str(&written).expect("JSON");
        assert_eq!(read, json!({ HOSTILE: HOSTILE }));
    }

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
            assert_eq!(csv_cell(text), written);
        }
    }
}
