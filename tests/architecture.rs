//! Keeps the architecture: which module may import which, that no files import each other in a circle, where a third-party crate is at home,
//! what a module file looks like, and that the page on it names every folder.

#![expect(clippy::unwrap_used, reason = "a test: what cannot be read fails it")]

#[path = "architecture/circles.rs"]
mod circles;
#[path = "architecture/forgotten.rs"]
mod forgotten;
#[path = "architecture/imports.rs"]
mod imports;
#[path = "architecture/modules.rs"]
mod modules;
#[path = "architecture/page.rs"]
mod page;
#[path = "architecture/scanner.rs"]
mod scanner;

use circles::{circles, described};
use forgotten::forgotten;
use imports::{Imports, imports};
use page::page_faults;
use scanner::{contains, crate_modules, names_crate, tokens};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Every module of `src/`, from the bottom up, and what it may import of the crate.
const LAYERS: [(&str, &[&str]); 18] = [
    ("escape", &[]),
    ("model", &[]),
    ("exit_code", &["model"]),
    ("settings", &["model"]),
    ("exchange", &["escape", "model"]),
    ("compare", &["model"]),
    ("findings", &["model", "exit_code", "settings", "compare"]),
    ("process", &[]),
    ("cargo", &["model", "process"]),
    ("child", &["model", "process"]),
    ("host", &["model"]),
    ("store", &["model"]),
    ("measure", &["model", "process", "cargo", "child", "host"]),
    ("sides", &["model", "process", "cargo", "host"]),
    ("report", &["escape", "model", "compare", "findings"]),
    (
        "app",
        &[
            "escape",
            "model",
            "exit_code",
            "settings",
            "compare",
            "findings",
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
            "model", "settings", "compare", "findings", "cargo", "sides", "exchange", "measure",
            "report", "app",
        ],
    ),
    // The binary: it names the library by the crate's name, and this table does not concern it.
    ("main", &[]),
];

/// Every dependency, and the modules that may use it.
const HOMES: [(&str, &[&str]); 33] = [
    ("anstream", &["main", "report"]),
    ("blake3", &["sides", "store", "host", "exchange", "report"]),
    ("cargo_config2", &["cargo"]),
    ("cargo_metadata", &["cargo"]),
    (
        "ciborium",
        &["child", "compare/tests/stored", "findings/conclude"],
    ),
    ("clap", &["cli"]),
    ("clap_cargo", &["cli"]),
    ("crossbeam_channel", &["process", "cargo", "child"]),
    ("csv", &["exchange"]),
    ("ctrlc", &["process"]),
    ("dirs", &["store", "sides", "host"]),
    ("getrandom", &["host"]),
    ("globset", &["settings"]),
    ("indicatif", &["report"]),
    ("jiff", &["host"]),
    ("nix", &["process"]),
    ("object", &["host"]),
    ("owo_colors", &["report/theme"]),
    ("perfcheck", &["app/commands/doctor/workloads"]),
    (
        "perfcheck_stats",
        &["exchange", "compare", "child", "measure", "app"],
    ),
    ("postcard", &["store"]),
    ("rayon", &["compare", "findings", "app"]),
    ("regex", &["app/commands/compare/grouping/pattern"]),
    ("rusqlite", &["store"]),
    ("rusqlite_migration", &["store"]),
    (
        "rustix",
        &["process", "host", "store", "sides", "report/units"],
    ),
    (
        "serde",
        &[
            "model",
            "exit_code",
            "compare",
            "findings",
            "cargo",
            "child",
            "store",
            "sides",
            "exchange",
            "report",
            "app",
        ],
    ),
    (
        "serde_json",
        &[
            "escape", "settings", "cargo", "child", "store", "sides", "exchange", "report", "app",
        ],
    ),
    ("strsim", &["settings", "app"]),
    ("terminal_size", &["report"]),
    ("toml_edit", &["sides"]),
    ("unicode_width", &["report/units"]),
    ("zstd", &["store"]),
];
/// `thiserror` is at home wherever errors are: not in the pure modules.
const WITHOUT_ERRORS: [&str; 4] = ["model", "exit_code", "compare", "report"];

const MOST_LINES: usize = 600;
/// Files above [`MOST_LINES`] and the reason for each.
const LONG_FILES: [(&str, &str); 0] = [];

/// A source file of one of [`crates`].
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

/// The Rust files below a folder, relative to the repository, with `/`.
fn rust_files(below: &str) -> Vec<String> {
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
    let relative = paths.iter().map(|path| {
        let path = path.strip_prefix(repository()).unwrap();
        let parts = path.components().map(Component::as_os_str);
        let parts: Vec<&str> = parts.map(|part| part.to_str().unwrap()).collect();
        parts.join("/")
    });
    relative.collect()
}

fn sources(below: &str) -> Vec<Source> {
    let sources: Vec<Source> = rust_files(below)
        .iter()
        .map(|path| Source::new(path, &fs::read_to_string(repository().join(path)).unwrap()))
        .collect();
    assert!(
        sources.len() > 10,
        "only {} files below {below}",
        sources.len()
    );
    sources
}

/// The folders with the sources of all crates.
fn crates() -> Vec<String> {
    let mut found: Vec<String> = ["src", "harness/src", "harness/criterion/src"]
        .map(str::to_owned)
        .into();
    for entry in fs::read_dir(repository().join("crates"))
        .into_iter()
        .flatten()
    {
        let name = entry.unwrap().file_name().into_string().unwrap();
        found.push(format!("crates/{name}/src"));
    }
    found
}

/// The files of all crates.
fn all_sources() -> Vec<Source> {
    crates().iter().flat_map(|below| sources(below)).collect()
}

/// The folder `below` and all within it that hold Rust, each with a `/` at its end; none if there is no such folder.
fn folders(below: &str) -> BTreeSet<String> {
    let files = if repository().join(below).is_dir() {
        rust_files(below)
    } else {
        Vec::new()
    };
    files
        .iter()
        .filter_map(|file| file.rsplit_once('/'))
        .map(|(folder, _)| format!("{folder}/"))
        .collect()
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
fn no_files_import_each_other_in_circles() {
    let mut found = Vec::new();
    for below in crates() {
        let imports = imports(&sources(&below));
        let circles = circles(&imports).into_iter();
        found.extend(circles.map(|circle| described(&imports, &circle)));
    }
    none_of(&found);
}

#[test]
fn the_architecture_page_names_every_folder_and_lists_no_files() {
    let page = fs::read_to_string(repository().join("docs/ARCHITECTURE.md")).unwrap();
    // Tests and tools have their own pages on what is in them.
    let mut wanted: Vec<String> = ["tests/", "tools/"].map(str::to_owned).into();
    wanted.extend(crates().iter().flat_map(|root| folders(root)));
    none_of(&page_faults(&page, &wanted, |path| {
        repository().join(path).exists()
    }));
}

#[test]
fn no_test_file_is_forgotten() {
    let paths: Vec<String> = (rust_files("tests").iter())
        .map(|path| path["tests/".len()..].to_owned())
        .collect();
    let text = |path: &str| fs::read_to_string(repository().join("tests").join(path)).unwrap();
    let complaints = forgotten(&paths, text).into_iter();
    none_of(
        &complaints
            .map(|path| format!("no test executable declares tests/{path}"))
            .collect::<Vec<_>>(),
    );
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

/// The imports of a crate of these files.
fn imports_of(files: &[(&str, &str)]) -> Imports {
    let files: Vec<Source> = files
        .iter()
        .map(|(path, text)| Source::new(path, text))
        .collect();
    imports(&files)
}

/// What the file `src/user.rs` imports, if this is its text, in a crate with two folders.
fn imported_by(user: &str) -> Vec<String> {
    let all = imports_of(&[
        ("src/lib.rs", "pub mod shelf; pub mod plain; mod user;"),
        (
            "src/shelf/mod.rs",
            "mod books; mod prints; pub use books::{Book as Volume, open}; pub use prints::*; pub mod made;",
        ),
        (
            "src/shelf/books.rs",
            "use super::Print; pub struct Book(Print); pub fn open() {} #[cfg(test)] mod tests { use crate::user; fn f() { user::f() } }",
        ),
        ("src/shelf/prints.rs", "pub enum Print { Large }"),
        ("src/shelf/made.rs", "newtype!(Made);"),
        (
            "src/plain.rs",
            "pub use crate::shelf::open; pub mod deep { pub fn f() {} }",
        ),
        ("src/user.rs", user),
    ]);
    assert_eq!(
        all["src/shelf/books.rs"].keys().collect::<Vec<_>>(),
        ["src/shelf/prints.rs"]
    );
    let of_user = all.get("src/user.rs").cloned().unwrap_or_default();
    of_user.into_keys().collect()
}

#[test]
fn imports_lead_to_the_file_that_defines_the_item() {
    let books: &[&str] = &["src/shelf/books.rs"];
    let prints: &[&str] = &["src/shelf/prints.rs"];
    let made: &[&str] = &["src/shelf/made.rs"];
    for (planted, expected) in [
        ("use crate::shelf::Volume;", books),
        ("use crate::{shelf::{self, open}};", books),
        ("use super::shelf; fn f() { shelf::open() }", books),
        ("fn f() { call!(crate::shelf::open()) }", books),
        ("fn f() { use crate::shelf::Volume; }", books),
        ("mod inner { use super::super::shelf::Volume; }", books),
        ("use crate::shelf as s; type V = s::Volume;", books),
        ("use crate::shelf::Print::{self, Large};", prints),
        ("use crate::shelf::*; type P = Print;", prints),
        ("use crate::shelf::made::Made;", made),
        // What a file that is no map hands on is imported from both.
        (
            "use crate::plain::open;",
            &["src/plain.rs", "src/shelf/books.rs"],
        ),
        ("fn f() { crate::plain::deep::f() }", &["src/plain.rs"]),
        // Nothing is used.
        ("use crate::shelf;", &[]),
        ("use crate::shelf::*;", &[]),
        ("pub(in crate::shelf) fn f() {}", &[]),
        ("#[cfg(test)] use crate::shelf::Volume;", &[]),
        ("#[cfg(test)] mod tests { use crate::shelf::open; }", &[]),
        (
            "use std::{fs, io::{self, Write}}; fn f(open: u8) { self.open(); }",
            &[],
        ),
    ] {
        assert_eq!(imported_by(planted), expected, "{planted}");
    }
}

#[test]
fn a_circle_is_found_however_long_and_a_line_is_none() {
    let there_and_back = imports_of(&[
        ("src/lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
        ("src/a.rs", "use crate::b::B; pub struct A;"),
        ("src/b.rs", "use crate::c::C; pub struct B;"),
        ("src/c.rs", "pub struct C(crate::a::A); use crate::d::D;"),
        ("src/d.rs", "pub struct D; fn f(_: D) -> D { D }"),
        ("src/e.rs", "use crate::a::A;"),
    ]);
    let found = circles(&there_and_back);
    assert_eq!(
        found,
        [BTreeSet::from(["src/a.rs", "src/b.rs", "src/c.rs"])]
    );
    let described = described(&there_and_back, &found[0]);
    assert!(
        described.contains("src/c.rs imports\n    src/a.rs  (crate::a::A)"),
        "{described}"
    );
    assert!(!described.contains("src/d.rs"), "{described}");
}

#[test]
fn a_folder_without_a_sentence_and_a_list_of_files_are_found() {
    let folders = ["src/app/".to_owned(), "src/store/".to_owned()];
    let exists = |path: &str| path != "src/gone/";
    let page = |text: &str| page_faults(text, &folders, exists);
    let whole = "`src/app/` and `src/store/`, `src/store/open.rs`, `cargo test`, `src/*.rs`";
    assert_eq!(page(whole), [""; 0]);
    assert_eq!(page("`src/app/` alone").len(), 1);
    assert_eq!(page(&format!("{whole} `src/gone/`")).len(), 1);
    assert_eq!(page(&format!("{whole}{}", "long ".repeat(4000))).len(), 1);
    let files: Vec<String> = (0..20).map(|n| format!("`src/{n}.rs`")).collect();
    assert_eq!(page(&format!("{whole} {}", files.join(" "))).len(), 1);
}

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
