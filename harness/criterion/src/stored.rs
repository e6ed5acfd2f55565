//! `--save-baseline` and `--baseline` are passed on to `cargo perfcheck`, which builds and measures the same target and owns the store. It never
//! passes these flags to the executable, so there is no recursion.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use perfcheck::sequence::print_note;

use crate::command_line::{CommandLine, StoreRequest, VisitMode};

/// Environment variable for `cargo perfcheck` and its child processes, as a second guard against recursion.
const HANDED_OVER: &str = "PERFCHECK_HANDED_OVER";

const EXECUTABLE: &str = if cfg!(windows) {
    "cargo-perfcheck.exe"
} else {
    "cargo-perfcheck"
};

/// If the command line refers to stored runs, runs `cargo perfcheck` and exits with its status.
pub(crate) fn delegate_to_cargo_perfcheck(line: &CommandLine) {
    let Some(stored) = &line.stored else {
        return;
    };
    if !matches!(line.mode, VisitMode::Bench(_)) {
        return;
    }
    if std::env::var_os(HANDED_OVER).is_some() {
        fail("cargo perfcheck has started this with a flag of baselines, which it must not");
    }
    let Some(executable) = find_executable() else {
        fail(
            "baselines are kept by `cargo perfcheck`, which is not installed: `cargo install cargo-perfcheck`",
        );
    };
    let arguments = match perfcheck_arguments(stored, line) {
        Ok(arguments) => arguments,
        Err(message) => fail(&message),
    };
    print_note(&format!("running `cargo {}`", arguments.join(" ")));
    let status = Command::new(&executable)
        .args(&arguments)
        .env(HANDED_OVER, "1")
        .status();
    match status {
        Ok(status) => std::process::exit(status.code().unwrap_or(101)),
        Err(error) => fail(&format!("cannot run {}: {error}", executable.display())),
    }
}

fn fail(message: &str) -> ! {
    print_note(&format!("error: {message}"));
    std::process::exit(2)
}

/// Finds `cargo-perfcheck` where cargo would find it.
fn find_executable() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = std::env::home_dir().map(|home| home.join(".cargo"));
    let installed = cargo_home.or(home).map(|home| home.join("bin"));
    std::env::split_paths(&path)
        .chain(installed)
        .map(|directory| directory.join(EXECUTABLE))
        .find(|candidate| candidate.is_file())
}

/// Returns the arguments for `cargo`.
fn perfcheck_arguments(stored: &StoreRequest, line: &CommandLine) -> Result<Vec<String>, String> {
    let mut arguments = vec!["perfcheck".to_owned()];
    let mut push = |words: &[&str]| arguments.extend(words.iter().map(|word| (*word).to_owned()));
    if let StoreRequest::Both(base, new) = stored {
        push(&["compare", base, new]);
    }
    if let Ok(manifest) = std::env::var("CARGO_MANIFEST_PATH") {
        push(&["--manifest-path", &manifest]);
    }
    match stored {
        StoreRequest::Both(..) => return Ok(arguments),
        StoreRequest::Save(name) => push(&["--save-baseline", name]),
        StoreRequest::Compare(name) => push(&["--baseline", name]),
    }
    let executable = std::env::args_os().next().unwrap_or_default();
    if let Some(target) = bench_target_pattern(Path::new(&executable)) {
        push(&["--bench", &target]);
    }
    let configuration = &line.configuration;
    let seconds = |time: Duration| time.as_secs_f64().to_string();
    if let Some(size) = configuration.sample_size {
        push(&["--samples", &size.to_string()]);
    }
    if let Some(time) = configuration.warm_up_time {
        push(&["--warm-up-time", &seconds(time)]);
    }
    if let Some(time) = configuration.measurement_time {
        push(&["--measurement-time", &seconds(time)]);
    }
    if let Some(threshold) = configuration.noise_threshold {
        push(&["--noise-threshold", &threshold.to_string()]);
    }
    if line.is_exact {
        push(&["--exact"]);
    } else if let Some(filter) = line.filters.iter().find(|filter| !is_literal(filter)) {
        return Err(format!(
            "cargo perfcheck takes filters as they are written, and `{filter}` is an expression: name the benchmarks, or call `cargo perfcheck` with several filters"
        ));
    }
    if !line.filters.is_empty() {
        // Separate the filters, because one could have the name of a command.
        push(&["--"]);
    }
    for filter in &line.filters {
        push(&[filter]);
    }
    Ok(arguments)
}

/// Reports whether an expression only matches itself. A dot is allowed: its matches include itself.
fn is_literal(filter: &str) -> bool {
    !filter.contains([
        '\\', '^', '$', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}',
    ])
}

/// Returns the bench target of an executable that cargo built, as a pattern: the file's name has `_` where the target's name may have `-`.
fn bench_target_pattern(executable: &Path) -> Option<String> {
    let stem = executable.file_stem()?.to_str()?;
    let (name, hash) = stem.rsplit_once('-')?;
    let is_hash = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| name.replace('_', "[-_]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments_for(line: &str) -> Result<Vec<String>, String> {
        let words = line.split_whitespace().map(ToOwned::to_owned);
        let line = CommandLine::parse(words).unwrap().unwrap();
        perfcheck_arguments(line.stored.as_ref().unwrap(), &line).map(|mut arguments| {
            // Remove the flags that depend on this test's own executable and package.
            for flag in ["--manifest-path", "--bench"] {
                if let Some(at) = arguments.iter().position(|argument| argument == flag) {
                    arguments.drain(at..at + 2);
                }
            }
            arguments
        })
    }

    #[test]
    fn flags_of_criterion_become_those_of_cargo_perfcheck() {
        assert_eq!(
            arguments_for(
                "--save-baseline old --sample-size 20 --measurement-time 0.5 parse --bench"
            )
            .unwrap()
            .join(" "),
            "perfcheck --save-baseline old --samples 20 --measurement-time 0.5 -- parse"
        );
        assert_eq!(
            arguments_for(
                "--baseline old --warm-up-time 1 --noise-threshold 0.05 --exact a|b --bench"
            )
            .unwrap()
            .join(" "),
            "perfcheck --baseline old --warm-up-time 1 --noise-threshold 0.05 --exact -- a|b"
        );
        assert_eq!(
            arguments_for("--baseline old --load-baseline new --bench")
                .unwrap()
                .join(" "),
            "perfcheck compare old new"
        );
        assert!(
            arguments_for("-s old ^a --bench")
                .unwrap_err()
                .contains("`^a` is an expression")
        );
    }

    #[test]
    fn the_target_is_read_off_the_executable() {
        let of = |path: &str| bench_target_pattern(Path::new(path));
        assert_eq!(
            of("target/release/deps/my_bench-0123456789abcdef").as_deref(),
            Some("my[-_]bench")
        );
        assert_eq!(of("target/release/deps/my_bench"), None);
        assert_eq!(of("other-name"), None);
    }
}
