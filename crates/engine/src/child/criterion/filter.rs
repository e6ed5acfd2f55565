//! Selects benchmarks of a Criterion bench by a regular expression over full ids, the only filter that all versions
//! have.

/// Longest argument of a program on Linux (`MAX_ARG_STRLEN`), without the terminating zero.
const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// Returns the expression that matches exactly these ids; `None` if it is too long for a command line.
pub(in crate::child) fn filter_exactly<'i>(
    ids: impl IntoIterator<Item = &'i str>,
) -> Option<String> {
    let ids: Vec<String> = ids.into_iter().map(escape_regex).collect();
    let expression = format!("^(?:{})$", ids.join("|"));
    (expression.len() <= LONGEST_ARGUMENT).then_some(expression)
}

/// Returns the expression that matches every id that begins with `id`.
pub(in crate::child) fn filter_prefix(id: &str) -> String {
    format!("^(?:{})", escape_regex(id))
}

/// Escapes the id so that the expression matches only this id.
fn escape_regex(id: &str) -> String {
    let mut expression = String::with_capacity(id.len());
    for character in id.chars() {
        match character {
            // An argument cannot contain NUL, so any character is accepted in its place.
            '\0' => expression.push('.'),
            '\n' => expression.push_str("\\n"),
            meta if r"\.+*?()|[]{}^$#&-~".contains(meta) => expression.extend(['\\', meta]),
            other => expression.push(other),
        }
    }
    expression
}

#[cfg(test)]
mod tests {
    use super::filter_exactly;

    #[test]
    fn characters_with_a_meaning_are_escaped() {
        assert_eq!(
            filter_exactly(["sort/10", "a.b (c|d)*"]).as_deref(),
            Some(r"^(?:sort/10|a\.b \(c\|d\)\*)$")
        );
    }

    #[test]
    fn a_filter_that_no_command_line_holds_is_none() {
        let long = "x".repeat(1000);
        assert_eq!(filter_exactly(vec![long.as_str(); 200]), None);
    }
}
