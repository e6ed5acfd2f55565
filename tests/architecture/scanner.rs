//! A minimal scanner for Rust that finds which modules and crates the source names. It leaves out comments, keeps literals whole and splits the rest
//! into identifiers and punctuation. Unlike a parser, it also sees code inside macro calls.

use std::collections::BTreeSet;

/// Returns the tokens of `source`: identifiers, `::`, strings with their quotation marks, and single punctuation characters. Comments, raw strings,
/// characters and lifetimes are left out.
pub fn tokens(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        at += match rest {
            ['/', '/', ..] => length_until(rest, '\n'),
            ['/', '*', ..] => block_comment(rest),
            ['"', ..] => {
                let length = string(rest).min(rest.len());
                found.push(rest[..length].iter().collect());
                length
            }
            ['\'', ..] => quote(rest),
            [':', ':', ..] => {
                found.push("::".to_owned());
                2
            }
            [c, ..] if is_of_word(*c) => raw_string(rest).unwrap_or_else(|| {
                let length = rest.iter().take_while(|c| is_of_word(**c)).count();
                found.push(rest[..length].iter().collect());
                length
            }),
            [c, ..] => {
                if !c.is_whitespace() {
                    found.push(c.to_string());
                }
                1
            }
            [] => 1,
        };
    }
    found
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn length_until(chars: &[char], end: char) -> usize {
    chars.iter().position(|c| *c == end).unwrap_or(chars.len())
}

/// Returns the length of a block comment. Block comments can be nested.
fn block_comment(chars: &[char]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < chars.len() {
        match &chars[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the length of the string literal at the beginning of `chars`.
fn string(chars: &[char]) -> usize {
    let mut at = 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// Returns the length of a character literal. If the quotation mark begins a lifetime instead, returns the length of the mark and the name.
fn quote(chars: &[char]) -> usize {
    match chars {
        [_, '\\', _, rest @ ..] => 3 + length_until(rest, '\'') + 1,
        [_, _, '\'', ..] => 3,
        _ => {
            1 + chars[1..]
                .iter()
                .take_while(|c| c.is_alphanumeric() || **c == '_')
                .count()
        }
    }
}

/// Returns the length of a raw string such as `r"..."` or `br#"..."#`, if there is one.
fn raw_string(chars: &[char]) -> Option<usize> {
    let prefix = chars.iter().take_while(|c| c.is_alphabetic()).count();
    let word: String = chars[..prefix].iter().collect();
    let hashes = chars[prefix..].iter().take_while(|c| **c == '#').count();
    if !["r", "br", "cr"].contains(&word.as_str()) || chars.get(prefix + hashes) != Some(&'"') {
        return None;
    }
    let mut at = prefix + hashes + 1;
    while at < chars.len() {
        let closing = chars[at + 1..]
            .iter()
            .take(hashes)
            .filter(|c| **c == '#')
            .count();
        at += 1;
        if chars[at - 1] == '"' && closing == hashes {
            return Some(at + hashes);
        }
    }
    Some(at)
}

/// Returns the modules directly below the crate's root that the code names. A path can name them through `crate::`, alone or as a group. It can also
/// name them through a chain of `super::` that is long enough to reach the root from a file `depth` modules below it. Inside an inline module such a
/// chain ends below the root. So after a chain only names in `modules` count, which lists the children of the root.
pub fn crate_modules(tokens: &[String], depth: usize, modules: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let starts_path = at == 0 || tokens[at - 1] != "::";
        if token == "crate" && is(tokens, at + 1, "::") {
            found.extend(heads(&tokens[at + 2..]));
        } else if token == "super" && starts_path {
            let mut end = at;
            let mut supers = 0;
            while is(tokens, end, "super") && is(tokens, end + 1, "::") {
                (end, supers) = (end + 2, supers + 1);
            }
            if supers >= depth.max(1) {
                let heads = heads(&tokens[end..]).into_iter();
                found.extend(heads.filter(|head| modules.contains(&head.as_str())));
            }
        }
    }
    found
}

/// Returns the first segment of a path, or of each path in a group.
fn heads(tokens: &[String]) -> Vec<String> {
    if !is(tokens, 0, "{") {
        return tokens.first().cloned().into_iter().collect();
    }
    let mut heads = Vec::new();
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ if depth == 1 && (is(tokens, at - 1, "{") || is(tokens, at - 1, ",")) => {
                heads.push(token.clone());
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    heads
}

/// Returns true if the crate `name` is used: at the beginning of a path, or alone in a `use`.
pub fn names_crate(tokens: &[String], name: &str) -> bool {
    tokens.iter().enumerate().any(|(at, token)| {
        let begins = at == 0 || !matches!(tokens[at - 1].as_str(), "::" | ".");
        let used = at > 0 && tokens[at - 1] == "use";
        token == name && begins && (used || is(tokens, at + 1, "::"))
    })
}

/// Returns true if the tokens `wanted` occur one directly after the other.
pub fn contains(tokens: &[String], wanted: &[&str]) -> bool {
    tokens
        .windows(wanted.len())
        .any(|window| window.iter().eq(wanted))
}

fn is(tokens: &[String], at: usize, wanted: &str) -> bool {
    tokens.get(at).is_some_and(|token| token == wanted)
}

mod tests {
    use super::{crate_modules, tokens};

    #[test]
    fn comments_strings_characters_and_lifetimes_name_nothing() {
        let source = r##"
            // crate::store
            /* crate::store /* nested */ crate::store */
            const A: &str = "crate::store \" crate::store";
            const B: &str = r#"crate::store " crate::store"#;
            const C: (char, char, u8) = ('"', '\'', b'"');
            fn f<'a>(x: &'a str) -> &'a str { x }
            use crate::model;
        "##;
        let found = crate_modules(&tokens(source), 2, &[]);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["model"]);
    }
}
