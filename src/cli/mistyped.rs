//! Detects mistyped commands, and commands after a flag, which clap would accept as filters.

/// Words of other tools, with the commands that they mean here.
const OTHER_WORDS: [(&str, &str); 3] = [
    ("cmp", "compare"),
    ("diff", "compare"),
    ("self-test", "doctor --benches"),
];

/// Length from which a command's name may have two typing errors.
const LONG_WORD: usize = 6;

/// Suggests a command for `word`: one with a similar name, or a subcommand of `store`.
pub(super) fn suggest_command(word: &str, line: &clap::Command) -> Option<String> {
    let word = word.to_lowercase();
    if let Some((_, meant)) = OTHER_WORDS.iter().find(|(other, _)| *other == word) {
        return Some((*meant).to_owned());
    }
    let top = line
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let top = top.map(|command| (command.get_name(), command.get_name().to_owned()));
    let store = line.find_subcommand("store")?.get_subcommands();
    let store = store.map(|command| (command.get_name(), format!("store {}", command.get_name())));
    let near = top
        .chain(store)
        .map(|(name, whole)| (strsim::osa_distance(&word, name), name, whole));
    let (slips, name, whole) = near.min_by_key(|(slips, ..)| *slips)?;
    let allowed = if name.len() < LONG_WORD { 1 } else { 2 };
    (slips <= allowed).then_some(whole)
}

/// Rejects a filter that is a command's name. A flag before a command makes its name a filter, which users hardly ever intend.
pub(super) fn reject_command_as_filter(
    word: &str,
    line: &mut clap::Command,
) -> Result<(), clap::Error> {
    if line.find_subcommand(word).is_none() {
        return Ok(());
    }
    let message = format!(
        "`{word}` is a command and comes first: `cargo perfcheck {word} ...`; `cargo perfcheck run {word}` takes it for a filter"
    );
    Err(line.error(clap::error::ErrorKind::ArgumentConflict, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_line;

    #[test]
    fn a_command_is_known_by_its_misspelling_and_no_benchmark_is_taken_for_one() {
        let line = command_line();
        for (word, meant) in [
            ("histroy", "history"),
            ("Compair", "compare"),
            ("diff", "compare"),
            ("self-test", "doctor --benches"),
            ("runs", "store runs"),
            ("prune", "store prune"),
            ("improt", "store import"),
        ] {
            assert_eq!(
                suggest_command(word, &line).as_deref(),
                Some(meant),
                "{word}"
            );
        }
        for word in [
            "sort",
            "json/parse",
            "fib",
            "hash",
            "group/10",
            "text",
            "sum",
        ] {
            assert_eq!(suggest_command(word, &line), None, "{word}");
        }
    }
}
