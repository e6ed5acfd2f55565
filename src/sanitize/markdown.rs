//! Text for Markdown in the dialects of GitHub and GitLab.
//!
//! Backslash escapes disable markup, HTML and the borders of tables. They do not disable addresses, mentions and references (`@name`, `#12`, GitLab's
//! `!12`, `~label`, `$12`, `%name`, `[vulnerability:12]`, GitHub's `GH-12` and `:100:`), because GitHub and GitLab look for these only after they
//! have resolved escapes. Therefore a zero-width space follows the sign of each of them. Hashes of commits are put into code elements, where neither
//! site looks for references.

use std::fmt::Write as _;

use super::terminal;

/// The characters that are escaped inside a `<code>` element, because Markdown interprets its content like any other text.
const CODE_MARKS: [char; 14] = [
    '&', '<', '>', '`', '*', '_', '[', ']', '\\', '~', '|', '#', '@', '$',
];
/// A zero-width space. Inserted after a sign such as `@`, it keeps GitHub and GitLab from finding a reference or an address.
const BREAK: &str = "&#8203;";

/// Escapes text and puts it on one line: Markdown finds no markup, link, mention, HTML, end of a cell or beginning of a list in it.
pub fn prose(text: &str) -> String {
    let shown = terminal::one_line(text);
    let shown = shown.trim();
    let mut escaped = String::with_capacity(shown.len());
    let leading = find_leading_mark(shown);
    let mut hash_ends = 0;
    for (at, c) in shown.char_indices() {
        if at < hash_ends {
            continue;
        }
        if leading == Some(at) {
            escaped.push('\\');
        }
        let (before, after) = (&shown[..at], &shown[at + c.len_utf8()..]);
        if let Some(others) = commit_hash_length(before, c, after) {
            // Insert nothing into a hash, so that it can be copied and searched for.
            hash_ends = at + 1 + others;
            let _ = write!(escaped, "<code>{}</code>", &shown[at..hash_ends]);
            continue;
        }
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '~' | '#' | '!' | '&' | '@' => {
                // A backslash before any ASCII punctuation yields the character itself, in tables too.
                escaped.push('\\');
                escaped.push(c);
            }
            // Two dollar signs would enclose a formula, and a backslash does not prevent it.
            '$' => escaped.push_str("&#36;"),
            _ => escaped.push(c),
        }
        if begins_reference(before, c, after) || begins_address(before, c, after) {
            escaped.push_str(BREAK);
        }
    }
    escaped
}

/// Returns the position of the sign that would turn `text` into a list, a heading or a rule.
fn find_leading_mark(text: &str) -> Option<usize> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mark = text[digits..].chars().next()?;
    let is_mark = match mark {
        '.' | ')' => digits > 0,
        '-' | '+' | '=' => digits == 0,
        _ => false,
    };
    let behind = text[digits..].chars().nth(1);
    (is_mark && behind.is_none_or(|c| c == ' ' || c == mark)).then_some(digits)
}

/// Reports whether a sign and the text around it name a person, an issue, a label or an emoji.
fn begins_reference(before: &str, sign: char, after: &str) -> bool {
    let next = after.chars().next();
    match sign {
        '@' | '#' | '!' | '~' | '$' | '%' | '&' => {
            next.is_some_and(|next| next.is_alphanumeric() || matches!(next, '_' | '"' | '-'))
        }
        // The names of two emoji are numbers. Other numbers between colons are positions in a file, such as `lib.rs:100:5`.
        ':' => between_colons(after).is_some_and(|word| {
            let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
            !is_number || matches!(word, "100" | "1234")
        }),
        '[' => between_colons(after).is_some(),
        '-' => {
            let letters = before.len().checked_sub(2).and_then(|at| before.get(at..));
            letters.is_some_and(|letters| letters.eq_ignore_ascii_case("gh"))
                && next.is_some_and(|next| next.is_ascii_digit())
        }
        _ => false,
    }
}

/// Returns how many digits follow the first one of a word that looks like a commit hash: seven to forty hexadecimal digits, some of them letters.
fn commit_hash_length(before: &str, first: char, after: &str) -> Option<usize> {
    if !matches!(first, '0'..='9' | 'a'..='f') || before.ends_with(char::is_alphanumeric) {
        return None;
    }
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, 'a'..='f');
    let rest = after.trim_start_matches(is_digit);
    let others = &after[..after.len() - rest.len()];
    let digits = || std::iter::once(first).chain(others.chars());
    let is_commit = !rest.starts_with(char::is_alphanumeric)
        && (6..40).contains(&others.len())
        && digits().any(|c| c.is_ascii_digit())
        && digits().any(|c| c.is_ascii_lowercase());
    is_commit.then_some(others.len())
}

/// Returns the word at the beginning of `text` if a colon follows it.
fn between_colons(text: &str) -> Option<&str> {
    let of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-');
    let rest = text.trim_start_matches(of_word);
    let word = &text[..text.len() - rest.len()];
    (rest.starts_with(':') && !word.is_empty()).then_some(word)
}

/// Returns true if Markdown would find an address at this character: at the colon of `http://` or `mailto:`, or at the last letter of `www.`.
fn begins_address(before: &str, c: char, after: &str) -> bool {
    let www = before.len().checked_sub(2).and_then(|at| before.get(at..));
    (c == ':' && (after.starts_with("//") || before.to_ascii_lowercase().ends_with("mailto")))
        || (matches!(c, 'w' | 'W')
            && www.is_some_and(|www| www.eq_ignore_ascii_case("ww"))
            && after.starts_with('.'))
}

/// Escapes a name and puts it on one line as code. The name is displayed unchanged, in table cells too.
pub fn code(text: &str) -> String {
    // Use an HTML element: a span between backticks cannot contain every sequence of backticks, and a table cell cannot contain a bare `|`.
    let mut escaped = String::from("<code>");
    let shown = terminal::one_line(text);
    for (at, c) in shown.char_indices() {
        if CODE_MARKS.contains(&c) {
            // Ignore the result: writing into memory does not fail.
            let _ = write!(escaped, "&#{};", u32::from(c));
        } else {
            escaped.push(c);
        }
        // Addresses are found in code elements too.
        if c == '@' || begins_address(&shown[..at], c, &shown[at + c.len_utf8()..]) {
            escaped.push_str(BREAK);
        }
    }
    escaped.push_str("</code>");
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_no_markup() {
        for (text, escaped) in [
            ("a|b", "a\\|b"),
            ("[a](http://b)", "\\[a\\](http:&#8203;//b)"),
            ("a\n<b>`c`", "a\\\\n\\<b\\>\\`c\\`"),
            ("WWW.a.b www .", "WWW&#8203;.a.b www ."),
            (
                "@me #1 a@b.c !2 $x$",
                "\\@&#8203;me \\#&#8203;1 a\\@&#8203;b.c \\!&#8203;2 &#36;&#8203;x&#36;",
            ),
            (
                "lib.rs:100:5 lib.rs:17:5 a::b: :x",
                "lib.rs:&#8203;100:5 lib.rs:17:5 a::&#8203;b: :x",
            ),
            (
                "0ab82a4 defaced 1000000 x0ab82a4",
                "<code>0ab82a4</code> defaced 1000000 x0ab82a4",
            ),
            ("GH-1 ugh-1 GH-a", "GH-&#8203;1 ugh-&#8203;1 GH-a"),
            ("[work_item:1] [a]", "\\[&#8203;work\\_item:1\\] \\[a\\]"),
            ("- a", "\\- a"),
            ("12. a", "12\\. a"),
            ("1.5 % of 2", "1.5 % of 2"),
            ("-2.0", "-2.0"),
            ("---", "\\---"),
            ("=", "\\="),
            ("    a", "a"),
        ] {
            assert_eq!(prose(text), escaped);
        }
    }

    #[test]
    fn code_holds_any_name_in_cells_too() {
        assert_eq!(code("sort/10, a-b"), "<code>sort/10, a-b</code>");
        assert_eq!(
            code("`|<b>@x\n"),
            "<code>&#96;&#124;&#60;b&#62;&#64;&#8203;x&#92;n</code>"
        );
    }
}
