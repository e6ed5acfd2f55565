//! Rules for the shape of files: docs come first, a `mod.rs` has no code, the length is bounded, and output goes only through writers that are passed
//! in.

use super::scanner::contains;
use super::sources::Source;

const MOST_LINES: usize = 1_000;
/// Files longer than [`MOST_LINES`], each with the reason.
pub const LONG_FILES: [(&str, &str); 0] = [];

/// Finds macros such as `println!`, which write to a standard stream instead of a writer that was passed in.
pub fn direct_output(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for name in ["print", "println", "eprint", "eprintln", "dbg"] {
        if contains(&source.tokens, &[name, "!"]) {
            found.push(format!(
                "{}: `{name}!`: write to the writer that is passed in",
                source.path
            ));
        }
    }
    let opens_streams = ["stdout", "stderr"].iter().any(|stream| {
        ["io", "anstream"]
            .iter()
            .any(|of| contains(&source.tokens, &[of, "::", stream, "("]))
    });
    if opens_streams && !source.path.starts_with("harness/") && source.module() != "main" {
        found.push(format!(
            "{}: the standard streams are opened in main.rs alone",
            source.path
        ));
    }
    found
}

/// Checks that module docs come first, and that a `mod.rs` has only docs, `mod` and `pub use`.
pub fn misshapen(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    if !source.text.starts_with("//!") {
        found.push(format!("{} does not begin with `//!`", source.path));
    }
    let is_map = source.path.ends_with("/mod.rs") && !source.module_path().ends_with("/tests");
    for word in ["fn", "struct", "enum", "trait", "impl", "const", "static"] {
        if is_map && contains(&source.tokens, &[word]) {
            found.push(format!(
                "{} holds more than docs, `mod` and `pub use`: `{word}`",
                source.path
            ));
        }
    }
    let lines = source.text.lines().count();
    if lines > MOST_LINES && !LONG_FILES.iter().any(|(path, _)| *path == source.path) {
        found.push(format!(
            "{} has {lines} lines, more than {MOST_LINES}",
            source.path
        ));
    }
    found
}

mod tests {
    use super::*;

    #[test]
    fn direct_output_and_misshapen_files_are_found() {
        let prints = Source::new(
            "src/measure/visit.rs",
            "//! Docs.\nfn f() { println!(\"{}\", 1); }",
        );
        assert_eq!(direct_output(&prints).len(), 1);
        let opens = Source::new(
            "src/app/run.rs",
            "//! Docs.\nfn f() { let _ = std::io::stdout(); }",
        );
        assert_eq!(direct_output(&opens).len(), 1);
        let pipes = Source::new(
            "src/child/session.rs",
            "//! Docs.\nfn f() { command.stdout(Stdio::piped()); }",
        );
        assert_eq!(direct_output(&pipes), [""; 0]);
        assert_eq!(
            misshapen(&Source::new("src/app/run.rs", "use std::io;")).len(),
            1
        );
        assert_eq!(
            misshapen(&Source::new("src/app/mod.rs", "//! Docs.\nfn f() {}")).len(),
            1
        );
        let long = format!("//! Docs.\n{}", "//\n".repeat(MOST_LINES));
        assert_eq!(misshapen(&Source::new("src/app/run.rs", &long)).len(), 1);
    }
}
