//! Checks that docs/guide/src/commands.md equals the text generated from the command line.

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

`cargo perfcheck` without a command is `cargo perfcheck run`. `-h` prints the usual flags of a command; `--help` prints all of them, with more about some, and examples. A flag that several commands share is described once, under [common options](#common-options). [Reading results](results.md#exit-codes) explains the exit codes, and [Methods, tests and thresholds](../../internals/src/methods.md) the flags about other systems' statistics.
";

/// The chapter describes a flag under "common options" if at least this many commands have it.
const COMMON: usize = 3;

/// Flags whose values docs/internals/src/methods.md explains.
const OF_METHODS: [&str; 8] = [
    "center",
    "correction",
    "method",
    "observations",
    "outliers",
    "quantile",
    "rank-p",
    "test",
];

/// How the paragraph about the exit status begins. It is the only paragraph from the end of a command's help that the chapter repeats, because other
/// chapters contain the rest.
const EXIT_STATUS: &str = "Exit status:";

/// Formats text of help as Markdown. Characters that would be markup are escaped, except between backquotes.
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

/// Returns how a flag or an argument is spelled, between backquotes.
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

/// Describes the effect of a flag, its values and its default.
fn description(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string);
    let mut text = prose(&help.unwrap_or_default());
    let defaults = arg.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        write!(text, " (default: `{}`)", defaults.join("`, `")).expect("a string");
    }
    let values = arg.get_possible_values().into_iter();
    let values: Vec<_> = values
        .filter(|value| arg.get_action().takes_values() && !value.is_hide_set())
        .collect();
    let explained = values.iter().any(|value| value.get_help().is_some());
    let elsewhere = arg
        .get_long()
        .is_some_and(|long| OF_METHODS.contains(&long));
    if !values.is_empty() && (elsewhere || !explained) {
        let names: Vec<String> =
            (values.iter().map(|value| format!("`{}`", value.get_name()))).collect();
        let end = if text.ends_with('.') { "" } else { "." };
        write!(text, "{end} Values: {}", names.join(", ")).expect("a string");
        return text;
    }
    for (place, value) in values.iter().enumerate() {
        let help = value.get_help().map(|help| prose(&help.to_string()));
        let help = help.map(|help| format!(": {help}")).unwrap_or_default();
        let before = if place == 0 { "\n" } else { "" };
        write!(text, "{before}\n  - `{}`{help}", value.get_name()).expect("a string");
    }
    text
}

fn entry(arg: &Arg) -> String {
    format!("- {}: {}", spelling(arg), description(arg))
}

/// Returns the flags and arguments that the chapter describes. It leaves out `--help`, `--version` and hidden ones.
fn arguments(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_usual = |arg: &&Arg| ["help", "version"].contains(&arg.get_id().as_str());
    (command.get_arguments()).filter(move |arg| !arg.is_hide_set() && !is_usual(arg))
}

/// Returns the commands that the chapter describes. `completions` and `man` are among them, although help hides these two.
fn below(command: &Command) -> impl Iterator<Item = &Command> {
    (command.get_subcommands()).filter(|below| below.get_name() != "help")
}

fn name(command: &Command) -> &str {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    name.trim_start_matches("cargo perfcheck ")
}

/// The flags and arguments of all commands. Each of them comes with the commands that have it.
#[derive(Default)]
struct Shared {
    commands: Vec<String>,
    by_entry: BTreeMap<String, Vec<usize>>,
}

impl Shared {
    fn add(&mut self, command: &Command) {
        if below(command).next().is_some() {
            return below(command).for_each(|command| self.add(command));
        }
        for arg in arguments(command).filter(|arg| !arg.is_positional()) {
            let have = self.by_entry.entry(entry(arg)).or_default();
            have.push(self.commands.len());
        }
        self.commands.push(name(command).to_owned());
    }

    fn having(&self, arg: &Arg) -> &[usize] {
        self.by_entry.get(&entry(arg)).map_or(&[], Vec::as_slice)
    }

    fn is_common(&self, arg: &Arg) -> bool {
        self.having(arg).len() >= COMMON
    }

    /// Returns the command whose section describes `arg`, or `None` if that is `command` itself. Other commands that have the argument refer to that
    /// section.
    fn described_by(&self, arg: &Arg, command: &str) -> Option<&str> {
        let first = &self.commands[*self.having(arg).first()?];
        (first != command).then_some(first)
    }

    /// Returns a title that names the commands with the indices `have`. If these are more than half of all commands, the title names the exceptions
    /// instead.
    fn title(&self, have: &[usize]) -> String {
        let list = |has: bool| {
            let numbers = (0..self.commands.len()).filter(|at| have.contains(at) == has);
            let names = numbers.map(|at| format!("`{}`", self.commands[at]));
            names.collect::<Vec<_>>().join(", ")
        };
        if have.len() * 2 > self.commands.len() {
            format!("Every command but {}", list(false))
        } else {
            list(true)
        }
    }

    /// Writes the flags and arguments that several commands share, grouped by the commands that have them.
    fn write(&self, all: &Command, page: &mut String) {
        let mut groups: Vec<(&[usize], Vec<String>)> = Vec::new();
        let mut commands: Vec<&Command> = below(all).collect();
        while !commands.is_empty() {
            for arg in commands.iter().flat_map(|command| arguments(command)) {
                if !self.is_common(arg) {
                    continue;
                }
                let (have, entry) = (self.having(arg), entry(arg));
                match groups.iter_mut().find(|(group, _)| *group == have) {
                    Some((_, entries)) if entries.contains(&entry) => {}
                    Some((_, entries)) => entries.push(entry),
                    None => groups.push((have, vec![entry])),
                }
            }
            commands = commands.into_iter().flat_map(below).collect();
        }
        groups.sort_by_key(|(have, _)| std::cmp::Reverse(have.len()));
        page.push_str("\n## Common options\n");
        for (have, entries) in groups {
            let (title, entries) = (self.title(have), entries.join("\n"));
            write!(page, "\n**{title}**\n\n{entries}\n").expect("a string");
        }
    }
}

fn options(command: &Command, shared: &Shared, page: &mut String) {
    let mut headings: Vec<(&str, Vec<&Arg>)> = Vec::new();
    let mut elsewhere: Vec<(&str, Vec<String>)> = Vec::new();
    for arg in arguments(command).filter(|arg| !shared.is_common(arg)) {
        if let Some(other) = shared.described_by(arg, name(command)) {
            match elsewhere.iter_mut().find(|(found, _)| *found == other) {
                Some((_, args)) => args.push(spelling(arg)),
                None => elsewhere.push((other, vec![spelling(arg)])),
            }
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
            writeln!(page, "{}", entry(arg)).expect("a string");
        }
    }
    for (other, args) in elsewhere {
        writeln!(page, "\nAs for `{other}`: {}.", args.join(", ")).expect("a string");
    }
}

/// Writes the exit status of a command from the end of its help.
fn exit_status(after: &str, page: &mut String) {
    let paragraphs = after.trim().split("\n\n");
    for paragraph in paragraphs.filter(|part| part.starts_with(EXIT_STATUS)) {
        writeln!(page, "\n{}", prose(&paragraph.replace('\n', " "))).expect("a string");
    }
}

fn section(command: &Command, shared: &Shared, page: &mut String) {
    let about = command.get_long_about().or_else(|| command.get_about());
    let about = about.map(|about| prose(&about.to_string()));
    let about = about.unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let title = name(command);
    write!(page, "\n## {title}\n\n{about}\n\n```text\n{usage}\n```\n").expect("a string");
    options(command, shared, page);
    let after = command
        .get_after_long_help()
        .or_else(|| command.get_after_help());
    if let Some(after) = after {
        exit_status(&after.to_string(), page);
    }
    for command in below(command) {
        section(command, shared, page);
    }
}

fn chapter() -> String {
    let mut page = HEAD.to_owned();
    let mut all = command_line();
    all.build();
    let mut shared = Shared::default();
    below(&all).for_each(|command| shared.add(command));
    shared.write(&all, &mut page);
    for command in below(&all) {
        section(command, &shared, &mut page);
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
