//! docs/guide/src/commands.md is what the command line says of itself.

use cargo_perfcheck::cli::command_line;
use clap::{Arg, Command};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const CHAPTER: &str = "docs/guide/src/commands.md";

const HEAD: &str = "\
# Commands

<!-- Made of the command line: PERFCHECK_WRITE_COMMANDS=1 cargo test --test cli book::commands -->

`cargo perfcheck` without a command is `cargo perfcheck run`. `-h` prints the usual flags of a command, `--help` all of them. Flags that `run` has, too, are described there.
";

/// Text of help as Markdown: what is not in backquotes is no markup.
fn prose(text: &str) -> String {
    let parts = text.trim().split('`').enumerate();
    let plain = |part: &str| {
        let mut plain = String::new();
        for c in part.chars() {
            match c {
                '<' => plain.push_str("&lt;"),
                '*' | '_' | '[' | ']' | '#' => plain.extend(['\\', c]),
                _ => plain.push(c),
            }
        }
        plain
    };
    let parts = parts.map(|(place, part)| {
        if place % 2 == 0 {
            plain(part)
        } else {
            part.to_owned()
        }
    });
    parts.collect::<Vec<_>>().join("`")
}

/// How a flag or an argument is spelled, in backquotes.
fn spelling(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default().iter();
    let value = names.map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let takes_values = arg.get_action().takes_values();
    let flags: Vec<String> = (arg.get_short().map(|short| format!("-{short}")))
        .into_iter()
        .chain(arg.get_long().map(|long| format!("--{long}")))
        .collect();
    match (flags.is_empty(), takes_values && !value.is_empty()) {
        (true, _) => format!("`{value}`"),
        (false, true) => format!("`{} {value}`", flags.join("`, `")),
        (false, false) => format!("`{}`", flags.join("`, `")),
    }
}

/// What a flag does, with its values and its default.
fn description(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let (first, rest) = help.split_once('\n').unwrap_or((&help, ""));
    let mut text = prose(first);
    let defaults = arg.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        write!(text, " (default: `{}`)", defaults.join("`, `")).expect("a string");
    }
    for paragraph in rest.split("\n\n").filter(|part| !part.trim().is_empty()) {
        let is_example = paragraph.trim_start_matches('\n').starts_with("  ");
        let shown = if is_example {
            format!("```text\n{}\n  ```", paragraph.trim_matches('\n'))
        } else {
            prose(paragraph.trim()).replace('\n', "\n  ")
        };
        write!(text, "\n\n  {shown}").expect("a string");
    }
    let values = arg.get_possible_values().into_iter();
    let values = values.filter(|value| arg.get_action().takes_values() && !value.is_hide_set());
    for (place, value) in values.enumerate() {
        let help = value.get_help().map(|help| prose(&help.to_string()));
        let help = help.map(|help| format!(": {help}")).unwrap_or_default();
        let before = if place == 0 { "\n" } else { "" };
        write!(text, "{before}\n  - `{}`{help}", value.get_name()).expect("a string");
    }
    text
}

/// The flags of `run` by their spelling, for which another command has only a name.
type Known = BTreeMap<String, String>;

fn arguments(command: &Command, known: &Known, page: &mut String) {
    let mut headings: Vec<(&str, Vec<&Arg>)> = Vec::new();
    let mut shared = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        if ["help", "version"].contains(&arg.get_id().as_str()) {
            continue;
        }
        if known.get(&spelling(arg)) == Some(&description(arg)) {
            shared.push(spelling(arg));
            continue;
        }
        let usual = if arg.is_positional() {
            "Arguments"
        } else {
            "Options"
        };
        let heading = arg.get_help_heading().unwrap_or(usual);
        match headings.iter_mut().find(|(name, _)| *name == heading) {
            Some((_, args)) => args.push(arg),
            None => headings.push((heading, vec![arg])),
        }
    }
    for (heading, args) in headings {
        writeln!(page, "\n**{heading}**\n").expect("a string");
        for arg in args {
            writeln!(page, "- {}: {}", spelling(arg), description(arg)).expect("a string");
        }
    }
    if !shared.is_empty() {
        writeln!(page, "\nAs for `run`: {}.", shared.join(", ")).expect("a string");
    }
}

fn section(command: &mut Command, known: &Known, page: &mut String) {
    let name = command
        .get_bin_name()
        .unwrap_or(command.get_name())
        .to_owned();
    let about = command.get_long_about().or_else(|| command.get_about());
    let about = about.map(|about| prose(&about.to_string()));
    let about = about.unwrap_or_default();
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    writeln!(
        page,
        "\n## {}\n\n{about}\n\n```text\n{usage}\n```",
        name.trim_start_matches("cargo perfcheck ")
    )
    .expect("a string");
    arguments(command, known, page);
    let after = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    if let Some(after) = after {
        writeln!(page, "\n```text\n{}\n```", after.to_string().trim()).expect("a string");
    }
    for below in command
        .get_subcommands_mut()
        .filter(|below| below.get_name() != "help" && !below.is_hide_set())
    {
        section(below, known, page);
    }
}

fn chapter() -> String {
    let mut page = HEAD.to_owned();
    let mut all = command_line();
    all.build();
    let run = all.find_subcommand("run").expect("the command `run`");
    let known = run
        .get_arguments()
        .map(|arg| (spelling(arg), description(arg)))
        .collect();
    for command in all
        .get_subcommands_mut()
        .filter(|command| command.get_name() != "help" && !command.is_hide_set())
    {
        let none = Known::new();
        let known = if command.get_name() == "run" {
            &none
        } else {
            &known
        };
        section(command, known, &mut page);
    }
    let lines = page.lines().map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn the_chapter_on_commands_is_what_the_command_line_says_of_itself() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(CHAPTER);
    let said = chapter();
    if std::env::var_os("PERFCHECK_WRITE_COMMANDS").is_some() {
        fs::write(&path, &said).expect("a file of the repository");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == said,
        "{CHAPTER} is not what the command line says: PERFCHECK_WRITE_COMMANDS=1 cargo test --test cli book::commands"
    );
}
