//! What the pages tell people to copy: command lines and workflows that parse, benches that are those of the example.

use cargo_perfcheck::cli;
use saphyr::{LoadableYamlNode, Yaml};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::pages::{Page, words};

/// The workflows of the chapter.
fn workflows(page: &Page) -> Vec<&str> {
    let blocks = page.blocks().into_iter();
    blocks
        .filter(|block| block.language == "yaml")
        .map(|block| block.code)
        .collect()
}

/// Every text of a document.
fn texts(node: &Yaml<'_>, found: &mut Vec<String>) {
    if let Some(text) = node.as_str() {
        found.push(text.to_owned());
    }
    for item in node.as_sequence().into_iter().flatten() {
        texts(item, found);
    }
    for (_, value) in node.as_mapping().into_iter().flatten() {
        texts(value, found);
    }
}

/// Why a command line of ours does not parse.
fn fault(line: &str) -> Option<String> {
    let mut arguments = vec![OsString::from("cargo-perfcheck")];
    arguments.extend(words(line).into_iter().skip(1));
    let error = cli::parse(arguments).err()?;
    Some(format!("{line}\n{error}"))
}

#[test]
fn every_workflow_parses_and_so_does_every_command_in_it() {
    let mut commands = 0;
    let page = Page::chapter("ci");
    for block in workflows(&page) {
        let documents = Yaml::load_from_str(block).expect(block);
        let mut found = Vec::new();
        texts(&documents[0], &mut found);
        let lines = found.iter().flat_map(|text| text.lines());
        for line in lines.filter(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some("cargo") && words.next() == Some("perfcheck")
        }) {
            assert_eq!(fault(line), None);
            commands += 1;
        }
        let top = documents[0].as_mapping().expect("a mapping");
        assert!(!top.is_empty());
    }
    assert_eq!(commands, 3);
}

fn member<'y>(node: &'y Yaml<'y>, name: &str) -> Option<&'y Yaml<'y>> {
    let mut members = node.as_mapping()?.iter();
    let found = members.find(|(key, _)| key.as_str() == Some(name));
    found.map(|(_, value)| value)
}

#[test]
fn workflows_give_no_foreign_text_to_a_shell_and_no_credentials_to_what_they_run() {
    let mut scripts = 0;
    let page = Page::chapter("ci");
    for block in workflows(&page) {
        let documents = Yaml::load_from_str(block).expect(block);
        let Some(jobs) = member(&documents[0], "jobs").and_then(Yaml::as_mapping) else {
            continue;
        };
        let permissions = member(&documents[0], "permissions").expect("for all jobs");
        assert_eq!(
            member(permissions, "contents").and_then(Yaml::as_str),
            Some("read")
        );
        for (_, job) in jobs {
            let may_write = member(job, "permissions").is_some();
            for step in member(job, "steps")
                .and_then(Yaml::as_sequence)
                .expect("steps")
            {
                let script = member(step, "run").and_then(Yaml::as_str);
                let script = script.unwrap_or_default();
                // What an expression becomes is part of the script: through a variable it is text.
                assert!(!script.contains("${{"), "{script}");
                // A job that may write runs nothing of the repository.
                assert!(!(may_write && script.contains("cargo ")), "{script}");
                scripts += usize::from(!script.is_empty());
                let uses = member(step, "uses").and_then(Yaml::as_str);
                if uses.is_some_and(|uses| uses.starts_with("actions/checkout@")) {
                    assert!(!may_write);
                    let options = member(step, "with").expect("options");
                    let kept = member(options, "persist-credentials");
                    assert_eq!(kept.and_then(Yaml::as_bool), Some(false), "{block}");
                }
            }
        }
    }
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
        ("docs/src/quick-start.md", "count"),
        ("docs/src/writing.md", "sorting"),
    ] {
        let document = fs::read_to_string(root.join(document)).expect("the document");
        let example = root.join(format!("examples/words/benches/{bench}.rs"));
        let example = fs::read_to_string(example).expect("the example");
        assert_eq!(listing(&document, bench), example);
    }
}
