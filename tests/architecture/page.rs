//! Rules for the architecture page: what it must contain, and what it must not.

use std::collections::BTreeSet;

/// Limits of the architecture page in bytes and in files that it names. It must stay short and name files only as examples.
const MOST_BYTES: usize = 20_500;
const MOST_NAMED_FILES: usize = 20;

/// Returns the faults of the architecture page. It must name each of `folders` as `src/app/` between backquotes, and nothing that does not exist. It
/// must name few files and stay short.
pub fn page_faults(page: &str, folders: &[String], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let quoted: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let mut faults: Vec<String> = folders
        .iter()
        .filter(|folder| !quoted.contains(folder.as_str()))
        .map(|folder| format!("the page has no sentence on `{folder}`"))
        .collect();
    let is_path = |path: &str| {
        let begins = ["src/", "crates/", "harness/", "tests/", "tools/"];
        begins.iter().any(|begin| path.starts_with(begin)) && !path.contains([' ', '*', '<', '{'])
    };
    let paths = || quoted.iter().filter(|path| is_path(path));
    faults.extend(
        paths()
            .filter(|path| !exists(path))
            .map(|path| format!("the page names `{path}`, which is not there")),
    );
    let files = paths().filter(|path| path.contains(".rs")).count();
    if files > MOST_NAMED_FILES {
        faults.push(format!(
            "the page names {files} files: each says itself what it is for"
        ));
    }
    if page.len() > MOST_BYTES {
        faults.push(format!(
            "the page has {} bytes, more than {MOST_BYTES}",
            page.len()
        ));
    }
    faults
}

mod tests {
    use super::{MOST_BYTES, page_faults};

    #[test]
    fn a_folder_without_a_sentence_and_a_list_of_files_are_found() {
        let folders = ["src/app/".to_owned(), "src/store/".to_owned()];
        let exists = |path: &str| path != "src/gone/";
        let page = |text: &str| page_faults(text, &folders, exists);
        let whole = "`src/app/` and `src/store/`, `src/store/open.rs`, `cargo test`, `src/*.rs`";
        assert_eq!(page(whole), [""; 0]);
        assert_eq!(page("`src/app/` alone").len(), 1);
        assert_eq!(page(&format!("{whole} `src/gone/`")).len(), 1);
        assert_eq!(
            page(&format!("{whole}{}", "long ".repeat(MOST_BYTES / 5))).len(),
            1
        );
        let files: Vec<String> = (0..20).map(|n| format!("`src/{n}.rs`")).collect();
        assert_eq!(page(&format!("{whole} {}", files.join(" "))).len(), 1);
    }
}
