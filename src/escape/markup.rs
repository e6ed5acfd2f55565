//! Text for XML and HTML, and for labels of metrics.
//!
//! All take what [`terminal`] makes of it: characters that command or hide are shown, which covers all that XML 1.0 forbids (section
//! 2.2: most controls, U+FFFE and U+FFFF).

use super::terminal;

/// Text or the quoted value of an attribute in XML; line ends are kept.
pub fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in terminal::lines(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // In an attribute a bare one would be read as a blank.
            '\n' => escaped.push_str("&#10;"),
            // With two signs before it, a command in the log of a CI system.
            '[' if escaped.ends_with("##") => escaped.push_str("&#91;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text or the quoted value of an attribute in HTML. Not for scripts, style sheets and addresses.
pub fn html(text: &str) -> String {
    // Unquoted values would need more; the entities are the same.
    xml(text)
}

/// The value of a label in the text format of `OpenMetrics`, which knows three escapes.
///
/// GitLab takes a `#` for the beginning of a comment in a label too, and the rest of the line is none to it (`Parsers::Metrics::Generic`):
/// one name would cost the whole report.
pub fn openmetrics_label(text: &str) -> String {
    // What was a line end or a control character is a backslash and letters by then.
    let shown = terminal::one_line(text).replace('#', "\\u{23}");
    shown.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
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
}
