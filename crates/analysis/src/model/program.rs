//! A program of the workspace that is measured as a benchmark: each of its runs is one iteration. Also a build of the workspace, which is measured as
//! a run of cargo.

use std::path::PathBuf;

/// The prefix of the target name of a program. A bench target may have the name of the binary, but no bench target has a colon in its name.
const TARGET_PREFIX: &str = "program:";

/// A program with its arguments and its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramBenchmark {
    /// Name of the package that has the program.
    pub package: String,
    /// Name of the binary.
    pub binary: String,
    /// Id of the benchmark.
    pub id: String,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// The file that the program reads as its standard input, relative to the package's directory. `None` if it has no input.
    pub stdin: Option<PathBuf>,
    /// The words of a command that runs before each run of the program, in the package's directory. Empty if there is none.
    pub prepare: Vec<String>,
    /// The exit status with which the program succeeds.
    pub exit: i32,
    /// The build that a run makes, if the program is cargo. `None` for a program of the workspace.
    pub build: Option<TimedBuild>,
}

/// A build of the workspace whose time is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedBuild {
    /// The user's flags that decide what is built. They are the version of the benchmark, because the arguments also name directories, which differ
    /// between the sides.
    pub flags: String,
    /// The source files that count as changed: each gets the present as its modification time before each run.
    pub touched: Vec<PathBuf>,
}

impl ProgramBenchmark {
    /// The name of the bench target that stands for builds of the workspace.
    pub const BUILD_TARGET: &'static str = "cargo:build";

    /// Reports whether the bench target `target` stands for builds of the workspace.
    pub fn is_build(target: &str) -> bool {
        target == Self::BUILD_TARGET
    }

    /// Returns the name of the bench target that stands for the binary `name`.
    pub fn target_of_binary(name: &str) -> String {
        format!("{TARGET_PREFIX}{name}")
    }

    /// Returns the name of the binary that the bench target `target` stands for. Returns `None` if it is an ordinary bench target.
    pub fn binary_of_target(target: &str) -> Option<&str> {
        target.strip_prefix(TARGET_PREFIX)
    }

    /// Returns a text that changes with everything that the program is run with. It is the version of the benchmark, because times of runs with
    /// different arguments cannot be compared.
    pub fn version(&self) -> String {
        if let Some(build) = &self.build {
            return build.flags.clone();
        }
        let mut words: Vec<String> = self.arguments.iter().map(|word| quote(word)).collect();
        if let Some(stdin) = &self.stdin {
            words.extend(["<".to_owned(), quote(&stdin.display().to_string())]);
        }
        if !self.prepare.is_empty() {
            words.push("after".to_owned());
            words.extend(self.prepare.iter().map(|word| quote(word)));
        }
        if self.exit != 0 {
            words.push(format!("with status {}", self.exit));
        }
        words.join(" ")
    }
}

/// Quotes a word with characters that separate or quote words.
fn quote(word: &str) -> String {
    let is_plain =
        |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '\'' | '"' | '\\');
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("{word:?}")
    }
}

/// Splits a command line into words, as a POSIX shell does: spaces separate words, and quotes and backslashes protect characters. Nothing is
/// expanded. Fails if a quote is not closed.
pub fn split_command_line(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        None => return Err(format!("a quote ({character}) is not closed")),
                        Some(next) if next == character => break,
                        Some('\\') if character == '"' => {
                            let next = characters.next();
                            if let Some(next) = next.filter(|next| !matches!(next, '"' | '\\')) {
                                word.extend(['\\', next]);
                            } else {
                                word.extend(next);
                            }
                        }
                        Some(next) => word.push(next),
                    }
                }
            }
            '\\' => match characters.next() {
                None => return Err("it ends with a backslash".to_owned()),
                Some(next) => word.get_or_insert_default().push(next),
            },
            space if space.is_whitespace() => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_as_a_shell_splits_it() {
        let split = |line: &str| split_command_line(line).expect("words");
        assert_eq!(
            split("rg -c fn corpus.txt"),
            ["rg", "-c", "fn", "corpus.txt"]
        );
        assert_eq!(split("  a\t b "), ["a", "b"]);
        assert_eq!(split(r#"a 'b c' "d \"e\" \n" f\ g"#).len(), 4);
        assert_eq!(
            split(r#"'b c' "d \"e\" \n" f\ g"#),
            ["b c", r#"d "e" \n"#, "f g"]
        );
        assert_eq!(split(r#"a='' "" x"y"z"#), ["a=", "", "xyz"]);
        assert_eq!(split(""), [""; 0]);
        assert!(split_command_line("a 'b").is_err());
        assert!(split_command_line("a \\").is_err());
    }

    #[test]
    fn the_version_tells_runs_with_other_arguments_or_input_apart() {
        let program = ProgramBenchmark {
            package: "p".into(),
            binary: "rg".into(),
            id: "search".into(),
            arguments: vec!["-c".into(), "a b".into()],
            stdin: None,
            prepare: Vec::new(),
            exit: 0,
            build: None,
        };
        assert_eq!(program.version(), r#"-c "a b""#);
        let other = ProgramBenchmark {
            stdin: Some("in.txt".into()),
            prepare: vec!["rm".into(), "out".into()],
            exit: 1,
            ..program
        };
        assert_eq!(
            other.version(),
            r#"-c "a b" < in.txt after rm out with status 1"#
        );
        let build = ProgramBenchmark {
            build: Some(TimedBuild {
                flags: "--profile dev".into(),
                touched: vec!["/cache/base/src/lib.rs".into()],
            }),
            ..other
        };
        assert_eq!(build.version(), "--profile dev");
    }

    #[test]
    fn the_target_of_a_program_cannot_be_a_bench_target() {
        let target = ProgramBenchmark::target_of_binary("rg");
        assert_eq!(target, "program:rg");
        assert_eq!(ProgramBenchmark::binary_of_target(&target), Some("rg"));
        assert_eq!(ProgramBenchmark::binary_of_target("rg"), None);
        let build = ProgramBenchmark::BUILD_TARGET;
        assert_eq!(ProgramBenchmark::binary_of_target(build), None);
        assert!(ProgramBenchmark::is_build(build) && build.contains(':'));
    }
}
