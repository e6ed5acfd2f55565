//! Keeps the architecture of docs/DESIGN.md: which module may import which, where a third-party crate is at home, what a module file
//! looks like, and that the document names every file.

#![expect(clippy::unwrap_used, reason = "a test: what cannot be read fails it")]

#[path = "architecture/scanner.rs"]
mod scanner;

use scanner::{contains, crate_modules, names_crate, tokens};
use std::fs;
use std::path::{Path, PathBuf};

/// Every module of `src/`, from the bottom up, and what it may import of the crate.
const LAYERS: [(&str, &[&str]); 18] = [
    ("escape", &[]),
    ("model", &[]),
    ("stats", &[]),
    ("exit_code", &["model"]),
    ("settings", &["model"]),
    ("exchange", &["escape", "model", "stats"]),
    ("compare", &["model", "stats"]),
    ("process", &[]),
    ("cargo", &["model", "process"]),
    ("child", &["model", "process", "stats"]),
    ("host", &["model"]),
    ("store", &["model"]),
    (
        "measure",
        &[
            "model", "stats", "compare", "process", "cargo", "child", "host", "store",
        ],
    ),
    ("sides", &["model", "process", "cargo", "host"]),
    ("report", &["escape", "model", "compare"]),
    (
        "app",
        &[
            "escape",
            "model",
            "stats",
            "exit_code",
            "settings",
            "compare",
            "process",
            "cargo",
            "child",
            "host",
            "store",
            "measure",
            "sides",
            "exchange",
            "report",
        ],
    ),
    // Option types alone: the command line is translated into them.
    (
        "cli",
        &[
            "model", "settings", "compare", "cargo", "sides", "exchange", "measure", "report",
            "app",
        ],
    ),
    // The binary: it names the library by the crate's name, and this table does not concern it.
    ("main", &[]),
];

/// Every dependency, and the modules that may use it.
const HOMES: [(&str, &[&str]); 34] = [
    ("anstream", &["main", "report"]),
    ("blake3", &["sides", "store", "host", "exchange", "report"]),
    ("cargo_config2", &["cargo"]),
    ("cargo_metadata", &["cargo"]),
    ("ciborium", &["child"]),
    ("clap", &["cli"]),
    ("clap_cargo", &["cli"]),
    ("comfy_table", &["report"]),
    ("crossbeam_channel", &["process", "cargo", "child"]),
    ("csv", &["exchange"]),
    ("ctrlc", &["process"]),
    ("dirs", &["store", "sides", "host"]),
    ("globset", &["settings"]),
    ("indicatif", &["report"]),
    ("jiff", &["host"]),
    ("nix", &["process"]),
    ("object", &["host"]),
    ("owo_colors", &["report/theme"]),
    ("perfcheck", &["app/doctor/workloads"]),
    ("postcard", &["store"]),
    ("rand", &["process", "host"]),
    ("rand_xoshiro", &["stats"]),
    ("rayon", &["stats", "compare", "app"]),
    ("regex", &["app/grouping/pattern"]),
    ("rusqlite", &["store"]),
    ("rusqlite_migration", &["store"]),
    ("rustix", &["process", "host", "store", "sides"]),
    (
        "serde",
        &[
            "model", "stats", "compare", "cargo", "child", "store", "sides", "exchange", "app",
        ],
    ),
    (
        "serde_json",
        &[
            "escape", "settings", "cargo", "child", "store", "sides", "exchange", "report", "app",
        ],
    ),
    ("statrs", &["stats"]),
    ("strsim", &["settings", "app"]),
    ("toml_edit", &["sides"]),
    ("unicode_width", &["report/units"]),
    ("zstd", &["store"]),
];
/// `thiserror` is at home wherever errors are: not in the pure modules.
const WITHOUT_ERRORS: [&str; 5] = ["model", "stats", "exit_code", "compare", "report"];

const MOST_LINES: usize = 600;
/// Files above [`MOST_LINES`] and the reason for each.
const LONG_FILES: [(&str, &str); 0] = [];

/// A source file below the directories of [`HARNESSES`] or `src/`.
struct Source {
    /// Relative to the repository, with `/`.
    path: String,
    text: String,
    tokens: Vec<String>,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            tokens: tokens(text),
        }
    }

    /// The path within the crate without `.rs`, e.g. `store/open`; for `mod.rs` that of its directory.
    fn module_path(&self) -> &str {
        let inner = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let inner = inner.strip_suffix(".rs").unwrap_or(inner);
        inner.strip_suffix("/mod").unwrap_or(inner)
    }

    /// The child of the crate's root that the file belongs to.
    fn module(&self) -> &str {
        let path = self.module_path();
        path.split_once('/').map_or(path, |(module, _)| module)
    }

    fn depth(&self) -> usize {
        match self.module_path() {
            "lib" | "main" => 0,
            path => path.split('/').count(),
        }
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(below: &str) -> Vec<Source> {
    fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    collect(&repository().join(below), &mut paths);
    paths.sort();
    let sources: Vec<Source> = paths
        .iter()
        .map(|path| {
            let relative = path.strip_prefix(repository()).unwrap();
            let relative = relative
                .components()
                .map(|part| part.as_os_str().to_str().unwrap());
            Source::new(
                &relative.collect::<Vec<_>>().join("/"),
                &fs::read_to_string(path).unwrap(),
            )
        })
        .collect();
    assert!(
        sources.len() > 10,
        "only {} files below {below}",
        sources.len()
    );
    sources
}

/// Where the crates for bench authors are.
const HARNESSES: [&str; 2] = ["harness/src", "harness/criterion/src"];

/// The files of all crates.
fn all_sources() -> Vec<Source> {
    let mut all = sources("src");
    for below in HARNESSES {
        all.extend(sources(below));
    }
    all
}

/// Fails with all complaints, one a line.
fn none_of(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Imports of `source` that its layer forbids.
fn forbidden_imports(source: &Source) -> Vec<String> {
    if source.module() == "lib" {
        return Vec::new();
    }
    let Some((_, allowed)) = LAYERS.iter().find(|(module, _)| *module == source.module()) else {
        return vec![format!(
            "{}: its module has no layer: add it to LAYERS",
            source.path
        )];
    };
    crate_modules(
        &source.tokens,
        source.depth(),
        &LAYERS.map(|(module, _)| module),
    )
    .into_iter()
    .filter(|module| module != source.module() && !allowed.contains(&module.as_str()))
    .map(|module| {
        format!(
            "{} imports `{module}`, which its layer forbids",
            source.path
        )
    })
    .collect()
}

/// Third-party crates that `source` uses although they are at home elsewhere.
fn strangers(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for (name, homes) in HOMES {
        let at_home = homes
            .iter()
            .any(|home| [source.module(), source.module_path()].contains(home));
        if names_crate(&source.tokens, name) && !at_home {
            found.push(format!(
                "{} uses `{name}`, which is at home in {}",
                source.path,
                homes.join(", ")
            ));
        }
    }
    if names_crate(&source.tokens, "thiserror") && WITHOUT_ERRORS.contains(&source.module()) {
        found.push(format!("{} defines errors in a pure module", source.path));
    }
    found
}

/// What is written to the standard streams without going through a writer that was passed in.
fn direct_output(source: &Source) -> Vec<String> {
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
    if opens_streams && source.path.starts_with("src/") && source.module() != "main" {
        found.push(format!(
            "{}: the standard streams are opened in main.rs alone",
            source.path
        ));
    }
    found
}

/// Whether module docs come first, and a `mod.rs` holds nothing but docs, `mod` and `pub use`.
fn misshapen(source: &Source) -> Vec<String> {
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

/// Names of the `[dependencies]` of a manifest, as code spells them.
fn dependencies(manifest: &str) -> Vec<String> {
    manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| {
            line.split_once('=')
                .map(|(name, _)| name.trim().replace('-', "_"))
        })
        .collect()
}

#[test]
fn imports_point_downwards() {
    none_of(
        &sources("src")
            .iter()
            .flat_map(forbidden_imports)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn the_layers_stand_on_one_another_and_adapters_side_by_side() {
    const ADAPTERS: [&str; 4] = ["cargo", "child", "store", "host"];
    for (height, (module, allowed)) in LAYERS.iter().enumerate() {
        for below in *allowed {
            let stands_lower = LAYERS[..height].iter().any(|(lower, _)| lower == below);
            assert!(
                stands_lower,
                "`{module}` may import `{below}`, which does not stand below it"
            );
            let side_by_side = ADAPTERS.contains(module) && ADAPTERS.contains(below);
            assert!(
                !side_by_side,
                "the adapters `{module}` and `{below}` may not know each other"
            );
        }
    }
}

#[test]
fn every_dependency_has_its_home_and_is_used_nowhere_else() {
    let sources = sources("src");
    none_of(&sources.iter().flat_map(strangers).collect::<Vec<_>>());
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    for name in dependencies(&manifest) {
        let known = name == "thiserror" || HOMES.iter().any(|(known, _)| *known == name);
        assert!(known, "`{name}` has no home: add it to HOMES");
        assert!(
            sources
                .iter()
                .any(|source| names_crate(&source.tokens, &name)),
            "`{name}` is used nowhere"
        );
    }
}

#[test]
fn all_output_goes_through_writers_that_are_passed_in() {
    let all = all_sources();
    none_of(&all.iter().flat_map(direct_output).collect::<Vec<_>>());
}

#[test]
fn module_files_begin_with_their_docs_and_stay_short() {
    let all = all_sources();
    none_of(&all.iter().flat_map(misshapen).collect::<Vec<_>>());
    for (path, _) in LONG_FILES {
        assert!(
            all.iter().any(|source| source.path == path),
            "{path} is gone: remove it from LONG_FILES"
        );
    }
}

#[test]
fn the_design_names_every_file_and_no_other() {
    let design = fs::read_to_string(repository().join("docs/DESIGN.md")).unwrap();
    let all = all_sources();
    let missing = all
        .iter()
        .filter(|source| !design.contains(&format!("`{}`", source.path)))
        .map(|source| format!("docs/DESIGN.md has no sentence on `{}`", source.path));
    let gone = design
        .split('`')
        .filter(|quoted| {
            Path::new(quoted)
                .extension()
                .is_some_and(|extension| extension == "rs")
                && (quoted.starts_with("src/")
                    || HARNESSES.iter().any(|below| quoted.starts_with(below)))
        })
        .filter(|quoted| !repository().join(quoted).is_file())
        .map(|quoted| format!("docs/DESIGN.md names `{quoted}`, which is not there"));
    none_of(&missing.chain(gone).collect::<Vec<_>>());
}

// The scanner and the rules themselves, on planted violations.

#[test]
fn comments_strings_characters_and_lifetimes_name_nothing() {
    let source = r##"
        // crate::store
        /* crate::store /* nested */ crate::store */
        const A: &str = "crate::store \" crate::store";
        const B: &str = r#"crate::store " crate::store"#;
        const C: (char, char, u8) = ('"', '\'', b'"');
        fn f<'a>(x: &'a str) -> &'a str { x }
        use crate::model;
    "##;
    let found = crate_modules(&tokens(source), 2, &[]);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["model"]);
}

#[test]
fn an_upward_import_is_found_in_every_spelling() {
    for planted in [
        "use crate::store::Store;",
        "use crate::{model::Run, store};",
        "use crate::{\n    model::{Run, RunId},\n    store::{self, Store},\n};",
        "fn f() { crate::store::open(); }",
        "fn f() { call!(crate::store::open()); }",
        "pub use super::super::store::Store;",
        "use super::super::{model::Run, store::Store};",
    ] {
        let complaints = forbidden_imports(&Source::new("src/report/table.rs", planted));
        assert_eq!(
            complaints,
            ["src/report/table.rs imports `store`, which its layer forbids"],
            "{planted}"
        );
    }
    for harmless in [
        "use crate::model::Run;",
        "use super::theme;",
        "pub(in super::super) fn f() {}",
        "use crate::report::SCHEMA;",
    ] {
        let complaints = forbidden_imports(&Source::new("src/report/table.rs", harmless));
        assert_eq!(complaints, [""; 0], "{harmless}");
    }
    let everything = forbidden_imports(&Source::new("src/report/table.rs", "use crate::*;"));
    assert_eq!(everything.len(), 1);
    let nowhere = forbidden_imports(&Source::new("src/helpers.rs", ""));
    assert!(nowhere[0].contains("has no layer"), "{nowhere:?}");
}

#[test]
fn a_crate_away_from_home_is_found() {
    for (path, planted) in [
        ("src/app/run.rs", "use rusqlite::Connection;"),
        (
            "src/report/table.rs",
            "fn f() { let _ = owo_colors::Style::new(); }",
        ),
        (
            "src/compare/decide.rs",
            "#[derive(thiserror::Error)] enum E {}",
        ),
    ] {
        assert_eq!(strangers(&Source::new(path, planted)).len(), 1, "{planted}");
    }
    for (path, harmless) in [
        ("src/store/open.rs", "use rusqlite::Connection;"),
        ("src/report/theme.rs", "use owo_colors::Style;"),
        (
            "src/app/run.rs",
            "fn f(rand: u8) -> u8 { self.clap.serde + rand }",
        ),
    ] {
        assert_eq!(
            strangers(&Source::new(path, harmless)),
            [""; 0],
            "{harmless}"
        );
    }
}

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

#[test]
fn dependencies_are_read_from_the_manifest() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na-b = \"1\"\nc = { version = \"1\" }\n\n[dev-dependencies]\nd = \"1\"\n";
    assert_eq!(dependencies(manifest), ["a_b", "c"]);
}
