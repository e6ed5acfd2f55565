//! Finds test files that no test executable compiles. The tests in a file that no `mod` names would never run, so they could not fail.

use std::path::Path;

/// Returns the files among `paths` that no other file declares as a module. `paths` are relative to the tests' directory, and `text` returns the
/// content of a file. A file directly in that directory is an executable and needs no declaration.
pub fn forgotten(paths: &[String], text: impl Fn(&str) -> String) -> Vec<&str> {
    let declared = |path: &str| {
        let path = Path::new(path);
        let is_map = path.ends_with("mod.rs");
        // The module's name, and the directory of the file that must declare it.
        let (named, parent) = if is_map {
            (path.parent(), path.parent().and_then(Path::parent))
        } else {
            (Some(path), path.parent())
        };
        let (Some(name), Some(parent)) = (named.and_then(Path::file_stem), parent) else {
            return false;
        };
        let declaration = format!("mod {};", name.to_string_lossy());
        paths.iter().any(|other| {
            let other_path = Path::new(other);
            let stands_for = if other_path.ends_with("mod.rs") {
                other_path.parent() == Some(parent)
            } else {
                // An executable declares modules in its own directory. Any other file declares modules in the directory with its name.
                other_path.with_extension("") == parent
                    || (parent == Path::new("") && other_path.parent() == Some(parent))
            };
            stands_for
                && text(other).lines().any(|line| {
                    let line = line.trim_start();
                    line == declaration || line.strip_prefix("pub ") == Some(&*declaration)
                })
        })
    };
    let is_executable = |path: &str| !path.contains('/');
    (paths.iter())
        .map(String::as_str)
        .filter(|path| !is_executable(path) && !declared(path))
        .collect()
}

mod tests {
    use super::forgotten;

    #[test]
    fn a_test_file_that_nothing_declares_is_found() {
        let files = [
            ("cli.rs", "mod commands;"),
            ("commands/mod.rs", "pub mod flags;\n// mod gone;"),
            ("commands/flags.rs", ""),
            ("commands/gone.rs", ""),
            ("page/mod.rs", "mod flags;"),
            ("page/flags.rs", ""),
        ];
        let paths = files.map(|(path, _)| path.to_owned());
        let text = |path: &str| {
            let found = files.iter().find(|(known, _)| *known == path);
            found.unwrap().1.to_owned()
        };
        assert_eq!(forgotten(&paths, text), ["commands/gone.rs", "page/mod.rs"]);
    }
}
