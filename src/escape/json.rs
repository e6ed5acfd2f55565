//! Escapes for JSON that a library has written: the same value, in characters that are harmless in the place of output.
//!
//! The replaced characters occur only inside strings, where `\u` and four digits mean the character itself.

use std::fmt::Write as _;

use super::terminal;

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
