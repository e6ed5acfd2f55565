//! One type name means one type in all crates, so that a reader who meets `Row` need not ask which one it is.
//!
//! Structs, enums, unions, traits and type aliases outside tests count. Associated types do not count, nor do replacements of a type on other systems
//! (`#[cfg(not(...))]`). Exceptions are listed here with their reasons.

use super::modules::{Tree, without_tests};
use super::scanner::contains;
use super::sources::Source;
use std::collections::{BTreeMap, BTreeSet};

const BOTH_APIS: &str =
    "what a bench author writes has the same name in Criterion's API and in that of `perfcheck`";
const CRITERION: &str = "Criterion's API prescribes it, to authors of benches who see no other";
const ON_THE_WIRE: &str =
    "the tool reads what authors of benches write, without depending on the harness";

/// Names that may mean several types, each with the reason.
pub const SHARED_NAMES: [(&str, &str); 10] = [
    ("AsyncBencher", BOTH_APIS),
    ("AsyncExecutor", BOTH_APIS),
    ("Baseline", CRITERION),
    ("BatchSize", BOTH_APIS),
    ("Bencher", BOTH_APIS),
    ("Benchmark", CRITERION),
    ("Measurement", CRITERION),
    ("SamplingMode", ON_THE_WIRE),
    ("Throughput", ON_THE_WIRE),
    (
        "Window",
        "a feature of the harness decides which of the two is compiled",
    ),
];

/// Returns each type name that means several types, with the positions of its definitions as `path:line`.
pub fn shared_names(crates: &[Vec<Source>]) -> BTreeMap<String, Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for files in crates {
        let tree = Tree::read(files);
        let compiled: BTreeSet<usize> = tree.modules.iter().map(|module| module.file).collect();
        for source in compiled.into_iter().map(|file| &files[file]) {
            for (definition, place) in placed(source, defined_types(source)) {
                let (_, name) = definition;
                places.entry(name).or_default().push(place);
            }
        }
    }
    places.retain(|_, places| places.len() > 1);
    places
}

/// The keyword and the name in the definition of a type, such as `struct` and `Row`.
type Definition = (String, String);

/// Returns the types that a file defines outside tests, in the order of the file.
fn defined_types(source: &Source) -> Vec<Definition> {
    let tokens = without_tests(&source.tokens);
    let mut found = Vec::new();
    // For each open brace: whether it begins the body of a trait or an `impl`, in which `type` defines an associated type.
    let mut holds_associated = Vec::new();
    let mut item_begins = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => {
                holds_associated.push(is_trait_or_impl(&tokens[item_begins..at]));
                item_begins = at + 1;
            }
            "}" => {
                holds_associated.pop();
                item_begins = at + 1;
            }
            ";" => item_begins = at + 1,
            "struct" | "enum" | "union" | "trait" | "type" => {
                let is_associated = token == "type" && holds_associated.last() == Some(&true);
                let is_stand_in = contains(&tokens[item_begins..at], &["cfg", "(", "not", "("]);
                let counts = !is_associated && !is_stand_in;
                let name = tokens.get(at + 1).filter(|_| counts);
                if let Some(name) = name.filter(|name| name.starts_with(char::is_uppercase)) {
                    found.push((token.clone(), name.clone()));
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns true if the tokens before a brace are the head of a trait or of an `impl`, and not of a function that mentions `impl`.
fn is_trait_or_impl(head: &[String]) -> bool {
    let keyword = head.iter().find(|token| {
        let keywords = ["fn", "impl", "trait", "mod", "struct", "enum", "union"];
        keywords.contains(&token.as_str())
    });
    keyword.is_some_and(|keyword| keyword == "impl" || keyword == "trait")
}

/// Adds the position in the file to each definition, as `path:line`.
fn placed(source: &Source, definitions: Vec<Definition>) -> Vec<(Definition, String)> {
    let mut seen: BTreeMap<Definition, usize> = BTreeMap::new();
    let place = |definition: Definition| {
        let nth = seen.entry(definition.clone()).or_default();
        let (keyword, name) = &definition;
        let mut lines = (source.text.lines().enumerate())
            .filter(|(_, line)| defines(line, keyword, name))
            .map(|(line, _)| line + 1);
        let line = lines.nth(*nth).unwrap_or(0);
        *nth += 1;
        let place = format!("{}:{line}", source.path);
        (definition, place)
    };
    definitions.into_iter().map(place).collect()
}

/// Returns true if a line of source begins the definition of this type, with any visibility.
fn defines(line: &str, keyword: &str, name: &str) -> bool {
    let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    !line.trim_start().starts_with("//")
        && words.any(|word| word == keyword)
        && words.next() == Some(name)
}

/// Returns complaints about names that several types share without a reason, and about reasons that are no longer needed.
pub fn ambiguous_names(crates: &[Vec<Source>], allowed: &[(&str, &str)]) -> Vec<String> {
    let shared = shared_names(crates);
    let is_allowed = |name: &String| allowed.iter().any(|(one, _)| one == name);
    let unreasoned = shared.iter().filter(|(name, _)| !is_allowed(name));
    let mut found: Vec<String> = unreasoned
        .map(|(name, places)| {
            let places = places.join(" and ");
            format!("`{name}` stands for several types: {places}")
        })
        .collect();
    let idle = allowed
        .iter()
        .filter(|(name, _)| !shared.contains_key(*name));
    found.extend(
        idle.map(|(name, _)| format!("`{name}` means one type: remove it from SHARED_NAMES")),
    );
    found
}

mod tests {
    use super::*;

    /// Returns the complaints about crates that have these files. A file is given by its path and text.
    fn complaints(crates: &[&[(&str, &str)]], allowed: &[(&str, &str)]) -> Vec<String> {
        let of = |files: &&[(&str, &str)]| {
            let files = files.iter().map(|(path, text)| Source::new(path, text));
            files.collect::<Vec<Source>>()
        };
        ambiguous_names(&crates.iter().map(of).collect::<Vec<_>>(), allowed)
    }

    #[test]
    fn a_name_of_two_types_is_found_across_files_and_crates_with_both_places() {
        let root = ("src/lib.rs", "mod a;\nmod b;");
        let a = (
            "src/a.rs",
            "//! Docs.\n\npub(crate) struct Row<'a>(&'a u8);",
        );
        let b = ("src/b.rs", "#[derive(Debug)]\nenum Row { struct_: u8 }");
        assert_eq!(
            complaints(&[&[root, a, b]], &[]),
            ["`Row` stands for several types: src/a.rs:3 and src/b.rs:2"]
        );
        let other = ("crates/other/src/lib.rs", "//! Docs.\npub trait Row {}");
        assert_eq!(
            complaints(&[&[root, a], &[other]], &[]),
            ["`Row` stands for several types: src/a.rs:3 and crates/other/src/lib.rs:2"]
        );
        let twice = "fn f() { struct Row; }\nfn g() -> impl Copy { type Row = u8; 1 }";
        assert_eq!(
            complaints(&[&[("src/lib.rs", twice)]], &[]),
            ["`Row` stands for several types: src/lib.rs:1 and src/lib.rs:2"]
        );
    }

    #[test]
    fn tests_associated_types_stand_ins_and_comments_count_for_nothing() {
        let root = "mod a; #[cfg(test)] mod tests; struct Row; #[derive(Debug)] #[cfg(not(unix))] pub struct Row;";
        let a = "// struct Row\nimpl Iterator for A { type Row = u8; fn f() {} type Item = Row; }
            pub unsafe trait B { type Row; fn g() -> u8 { 1 } type Row; } fn h(struct_: Row, kind: u8) { let x = Row; }
            #[cfg(test)] mod tests { struct Row; } #[cfg(all(test, unix))] mod more { enum Row {} }";
        let tests = ("src/tests.rs", "type Row = u8; struct Row;");
        let unreached = ("src/unreached.rs", "struct Row;");
        let files = [("src/lib.rs", root), ("src/a.rs", a), tests, unreached];
        assert_eq!(complaints(&[&files], &[]), [""; 0]);
    }

    #[test]
    fn a_reason_allows_a_name_as_long_as_it_is_needed() {
        let reasons = [("Row", "a reason")];
        let (root, a) = (
            ("src/lib.rs", "mod a; struct Row;"),
            ("src/a.rs", "struct Row;"),
        );
        assert_eq!(complaints(&[&[root, a]], &reasons), [""; 0]);
        assert_eq!(
            complaints(&[&[root]], &reasons),
            ["`Row` means one type: remove it from SHARED_NAMES"]
        );
    }
}
