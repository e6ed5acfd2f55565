//! JSON that was written by a library: the same value, in characters that are harmless where it goes.
//!
//! What is replaced can only stand inside of strings, where `\u` and four digits mean the character itself.

use std::fmt::Write as _;

use super::terminal;

/// Compact JSON for terminals and logs: no character that they obey or hide, no command of a CI system (`##[`, `##vso[`).
pub fn json(json: &str) -> String {
    let shown = escaped(json, |c| terminal::is_harmful(c) && !c.is_ascii());
    shown.replace("##", "#\\u0023")
}

/// Compact JSON for a `<script type="application/json">` element: nothing in it ends the element or begins a comment.
///
/// What must not stand there: HTML Standard, "Restrictions for contents of script elements".
pub fn in_script(json: &str) -> String {
    escaped(json, |c| {
        matches!(c, '<' | '>' | '&') || (terminal::is_harmful(c) && !c.is_ascii())
    })
}

fn escaped(json: &str, is_replaced: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        // No control character of ASCII but DEL stands in a string of JSON.
        if is_replaced(c) || c == '\u{7f}' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                // Writing into memory does not fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

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
}
