//! Which files start programs. Clippy checks this, except in files that disable its lint because of the clock. This rule checks those files.

use super::scanner::contains;
use super::sources::Source;

/// The files that start programs themselves, each with the reason.
pub const STARTERS: [(&str, &str); 5] = [
    ("crates/host/src/process/group.rs", "the one launcher"),
    (
        "crates/host/src/process/peak_memory.rs",
        "a helper, and its program in the same group",
    ),
    (
        "crates/host/src/process/reaper.rs",
        "a helper of the launcher that outlives us",
    ),
    ("crates/host/src/viewer.rs", "a viewer outlives us"),
    (
        "crates/build/src/link/kept.rs",
        "a linker of cargo's, in the group of the build",
    ),
];

/// Finds programs that `source` starts without the launcher. Only files in which clippy's lint is turned off are searched.
pub fn started_past_the_launcher(source: &Source) -> Vec<String> {
    let is_unwatched = ["expect", "allow"].iter().any(|word| {
        let switched_off = [
            "#",
            "!",
            "[",
            word,
            "(",
            "clippy",
            "::",
            "disallowed_methods",
        ];
        contains(&source.tokens, &switched_off)
    });
    if !is_unwatched || STARTERS.iter().any(|(path, _)| *path == source.path) {
        return Vec::new();
    }
    // `spawn`, `output` and the like take no arguments if they are methods of a `Command`. The launcher's functions take the command as an argument.
    ["spawn", "output", "status", "exec"]
        .iter()
        .filter(|call| {
            let called = source.tokens.windows(5).any(|five| {
                five[1..] == [".", **call, "(", ")"] && five[0] != "self"
            });
            called && contains(&source.tokens, &["Command"])
        })
        .map(|call| {
            format!(
                "{}: `.{call}()` starts a program that signals do not reach: use process::Supervisor",
                source.path
            )
        })
        .collect()
}

mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_started_past_the_launcher_is_found() {
        let with = |body: &str| {
            let text = format!(
                "//! Docs.\n#![expect(clippy::disallowed_methods, reason = \"deadlines\")]\nuse std::process::Command;\nfn f(command: &mut Command) {{ {body} }}"
            );
            started_past_the_launcher(&Source::new("crates/bench/src/child/a.rs", &text)).len()
        };
        assert_eq!(with("command.spawn();"), 1);
        assert_eq!(with("Command::new(name).arg(x).output();"), 1);
        assert_eq!(with("supervisor.output(command);"), 0);
        assert_eq!(with("self.status();"), 0);
    }
}
