//! What docs/CI.md tells people to copy: YAML that parses, in which every command line of ours does, too.

use cargo_perfcheck::cli;
use saphyr::{LoadableYamlNode, Yaml};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

const PAGE: &str = include_str!("../../docs/CI.md");

/// The code blocks of the page in one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let parts = PAGE.split(&fence as &str).skip(1);
    parts
        .map(|part| part.split("\n```").next().expect("a fence ends"))
        .collect()
}

/// The words of a simple shell command, without its comment.
fn words(line: &str) -> Vec<OsString> {
    let command = line.split(" #").next().unwrap_or(line);
    let mut words: Vec<String> = vec![String::new()];
    let mut quote = None;
    for c in command.trim().chars() {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().expect("there is one").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words.into_iter().map(OsString::from).collect()
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

fn check(line: &str) {
    let words = words(line);
    let mut arguments = vec![OsString::from("cargo-perfcheck")];
    arguments.extend(words.into_iter().skip(1));
    if let Err(error) = cli::parse(arguments) {
        panic!("{line}\n{error}");
    }
}

#[test]
fn every_workflow_parses_and_so_does_every_command_in_it() {
    let mut commands = 0;
    for block in blocks("yaml") {
        let documents = Yaml::load_from_str(block).expect(block);
        let mut found = Vec::new();
        texts(&documents[0], &mut found);
        let lines = found.iter().flat_map(|text| text.lines());
        for line in lines.filter(|line| line.trim_start().starts_with("cargo perfcheck ")) {
            check(line);
            commands += 1;
        }
        let top = documents[0].as_mapping().expect("a mapping");
        assert!(!top.is_empty());
    }
    assert_eq!(commands, 3);
}

#[test]
fn every_command_of_the_page_parses() {
    let shell: Vec<&str> = blocks("sh").into_iter().flat_map(str::lines).collect();
    assert!(shell.len() > 3);
    for line in shell {
        check(line);
    }
    // Also those within sentences, where they are whole.
    let within = PAGE
        .split('`')
        .filter(|part| part.starts_with("cargo perfcheck "));
    for command in within.filter(|part| !part.contains("...") && !part.contains('\n')) {
        check(command);
    }
}

#[test]
fn every_kind_of_report_is_on_the_page() {
    for kind in cargo_perfcheck::report::ReportKind::ALL {
        let named = [format!("`{kind}`"), format!("`{kind}=FILE`")];
        assert!(named.iter().any(|name| PAGE.contains(name)), "no {kind}");
    }
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).expect("README.md");
    assert!(readme.contains("docs/CI.md"));
}
