//! What the pages tell people to copy: command lines and workflows that parse, benches that are those of the example.

use std::fs;
use std::path::Path;

use super::pages::Page;
use super::workflows::{commands_in, expect_careful, fault};

/// The workflows of the chapter.
fn workflows(page: &Page) -> Vec<&str> {
    let blocks = page.blocks().into_iter();
    blocks
        .filter(|block| block.language == "yaml")
        .map(|block| block.code)
        .collect()
}

#[test]
fn every_workflow_parses_and_so_does_every_command_in_it() {
    let page = Page::chapter("ci");
    let commands = workflows(&page).into_iter().flat_map(commands_in);
    assert_eq!(commands.count(), 9);
}

#[test]
fn workflows_give_no_foreign_text_to_a_shell_and_no_credentials_to_what_they_run() {
    let page = Page::chapter("ci");
    let scripts: usize = workflows(&page).into_iter().map(expect_careful).sum();
    assert!(scripts >= 6, "{scripts}");
}

#[test]
fn every_command_of_every_page_parses() {
    let lines: Vec<String> = Page::all().iter().flat_map(Page::command_lines).collect();
    let faults: Vec<String> = lines.iter().filter_map(|line| fault(line)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(lines.len() > 100, "{}", lines.len());
}

#[test]
fn every_kind_of_report_is_on_the_page() {
    let page = Page::chapter("ci");
    for kind in cargo_perfcheck::report::ReportKind::ALL {
        let named = [format!("`{kind}`"), format!("`{kind}=FILE`")];
        assert!(
            named.iter().any(|name| page.text.contains(name)),
            "no {kind}"
        );
    }
}

/// The first block of the language Rust in `document` whose first line names `bench`, without that line.
fn listing(document: &str, bench: &str) -> String {
    let head = format!("```rust\n// benches/{bench}.rs");
    let (_, block) = document.split_once(&head).expect("the listing");
    let (_, code) = block.split_once('\n').expect("lines");
    let (code, _) = code.split_once("```").expect("its end");
    code.to_owned()
}

#[test]
fn the_benches_that_readme_and_book_show_are_those_of_the_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (document, bench) in [
        ("README.md", "count"),
        ("docs/guide/src/quick-start.md", "count"),
        ("docs/guide/src/writing.md", "sorting"),
    ] {
        let document = fs::read_to_string(root.join(document)).expect("the document");
        let example = root.join(format!("examples/words/benches/{bench}.rs"));
        let example = fs::read_to_string(example).expect("the example");
        assert_eq!(listing(&document, bench), example);
    }
}
