//! Formats the commands that the tool suggests, so that users can paste them into a POSIX shell.

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
