//! Text that the pages tell readers to copy: command lines and workflows must parse, and benches must equal those of the example.

use cargo_perfcheck::config::{SettingsError, Tables};
use perfcheck_analysis::compare::Fact;
use perfcheck_analysis::exit_code::ExitCode;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

use super::pages::Page;
use super::workflows::{commands_in, expect_careful, fault};

/// Returns the CI workflows that both books show.
fn workflows() -> Vec<String> {
    let pages = ["ci", "workflows"].map(Page::chapter);
    let blocks = pages.iter().flat_map(Page::blocks);
    blocks
        .filter(|block| block.language == "yaml")
        .map(|block| block.code.to_owned())
        .collect()
}

#[test]
fn every_workflow_parses_and_so_does_every_command_in_it() {
    let workflows = workflows();
    let commands = workflows.iter().flat_map(|text| commands_in(text));
    assert_eq!(commands.count(), 9);
}

#[test]
fn workflows_give_no_foreign_text_to_a_shell_and_no_credentials_to_what_they_run() {
    let workflows = workflows();
    let scripts: usize = workflows.iter().map(|text| expect_careful(text)).sum();
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
    for kind in cargo_perfcheck::output::ReportKind::ALL {
        let named = [format!("`{kind}`"), format!("`{kind}=FILE`")];
        assert!(
            named.iter().any(|name| page.text.contains(name)),
            "no {kind}"
        );
    }
}

/// Returns the part of a chapter below a heading.
fn part<'p>(page: &'p Page, heading: &str) -> &'p str {
    let (_, text) = page.text.split_once(heading).expect(heading);
    text.split("\n## ").next().expect("a part")
}

/// Returns the first cell of each row of all tables in `text`, except of heading rows.
fn first_cells(text: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    for table in text.split("|---|").skip(1) {
        let rows = table
            .lines()
            .skip(1)
            .take_while(|row| row.starts_with("| "));
        cells.extend(rows.filter_map(|row| row[2..].split(" | ").next()));
    }
    cells
}

#[test]
fn every_fact_that_makes_runs_incomparable_is_in_the_guide() {
    let page = Page::chapter("comparing");
    let text = part(&page, "## What can be compared\n");
    for fact in Fact::BLOCKING {
        assert!(text.contains(&format!("`{fact}`")), "no {fact}");
    }
    assert!(text.contains("one of these nine facts") && Fact::BLOCKING.len() == 9);
}

#[test]
fn every_exit_code_is_in_the_guide() {
    use ExitCode::*;
    let all = [
        Clean,
        Regression,
        Usage,
        BuildFailed,
        BenchmarkFailed,
        StoreUnusable,
        NoBaseline,
        Interrupted,
    ];
    let numbers = all.map(|code| code.number().to_string());
    let page = Page::chapter("results");
    assert_eq!(first_cells(part(&page, "## Exit codes\n")), numbers);
}

#[test]
fn every_key_of_the_guide_is_one_that_the_tool_knows() {
    let page = Page::chapter("configuration");
    let cells = first_cells(part(&page, "## Keys\n"));
    let keys = cells
        .iter()
        .flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let mut count = 0;
    for key in keys {
        // An object is the wrong value for most keys, so the parser complains about the value of a key that it knows.
        let table = json!({ key: { "no": "value" } });
        let read = Tables::parse(
            Path::new("Cargo.toml"),
            &table,
            None::<(&str, &Path, &Value)>,
        );
        let unknown =
            matches!(&read, Err(SettingsError::UnknownKey { key: found, .. }) if found == key);
        assert!(!unknown, "{key}");
        count += 1;
    }
    assert_eq!(count, 23);
}

/// Returns the Rust block of `document` whose first line names `bench`, without that line.
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
