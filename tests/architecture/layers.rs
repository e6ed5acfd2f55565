//! Which module may import which. Between crates, the manifests determine this and the compiler checks it. The table below covers the modules within
//! a crate, and the modules of the root package that may use other crates of the workspace.

use super::scanner::{crate_modules, names_crate};
use super::sources::Source;

/// A crate's modules from the lowest layer up, each with the modules that it may import.
type Layers = &'static [(&'static str, &'static [&'static str])];

/// The crates with layers.
pub const LAYERS: [(&str, Layers); 4] = [
    (
        "crates/analysis/src",
        &[
            ("model", &[]),
            ("exit_code", &["model"]),
            ("compare", &["model"]),
            ("findings", &["model", "exit_code", "compare"]),
        ],
    ),
    (
        "crates/build/src",
        &[("cargo", &[]), ("link", &[]), ("sides", &["cargo", "link"])],
    ),
    (
        "crates/bench/src",
        &[("child", &[]), ("measure", &["child"])],
    ),
    (
        "src",
        &[
            ("sanitize", &[]),
            ("config", &["perfcheck_analysis"]),
            (
                "interchange",
                &["sanitize", "perfcheck_analysis", "perfcheck_stats"],
            ),
            ("output", &["sanitize", "perfcheck_analysis"]),
            (
                "error",
                &[
                    "config",
                    "interchange",
                    "perfcheck_analysis",
                    "perfcheck_build",
                    "perfcheck_host",
                    "perfcheck_store",
                ],
            ),
            ("diagnostics", &["error", "perfcheck_host"]),
            (
                "options",
                &[
                    "config",
                    "output",
                    "error",
                    "perfcheck_analysis",
                    "perfcheck_bench",
                    "perfcheck_build",
                ],
            ),
            (
                "naming",
                &["sanitize", "perfcheck_analysis", "perfcheck_bench"],
            ),
            ("workers", &[]),
            (
                "session",
                &[
                    "sanitize",
                    "config",
                    "output",
                    "error",
                    "options",
                    "perfcheck_analysis",
                    "perfcheck_build",
                    "perfcheck_host",
                    "perfcheck_store",
                ],
            ),
            (
                "stored",
                &[
                    "sanitize",
                    "config",
                    "interchange",
                    "output",
                    "error",
                    "options",
                    "naming",
                    "session",
                    "perfcheck_analysis",
                    "perfcheck_bench",
                    "perfcheck_host",
                    "perfcheck_store",
                ],
            ),
            (
                "delivery",
                &[
                    "sanitize",
                    "config",
                    "interchange",
                    "output",
                    "error",
                    "options",
                    "session",
                    "stored",
                    "perfcheck_analysis",
                    "perfcheck_host",
                    "perfcheck_store",
                ],
            ),
            (
                "pipeline",
                &[
                    "sanitize",
                    "config",
                    "output",
                    "error",
                    "options",
                    "naming",
                    "session",
                    "stored",
                    "delivery",
                    "perfcheck_analysis",
                    "perfcheck_bench",
                    "perfcheck_build",
                    "perfcheck_code",
                    "perfcheck_host",
                    "perfcheck_store",
                ],
            ),
            (
                "commands",
                &[
                    "sanitize",
                    "config",
                    "interchange",
                    "output",
                    "error",
                    "options",
                    "naming",
                    "session",
                    "stored",
                    "delivery",
                    "pipeline",
                    "perfcheck_analysis",
                    "perfcheck_bench",
                    "perfcheck_build",
                    "perfcheck_code",
                    "perfcheck_host",
                    "perfcheck_stats",
                    "perfcheck_store",
                ],
            ),
            // `cli` may import only modules with option types, because it translates the command line into these types.
            (
                "cli",
                &[
                    "config",
                    "interchange",
                    "output",
                    "error",
                    "options",
                    "session",
                    "delivery",
                    "pipeline",
                    "commands",
                    "perfcheck_analysis",
                    "perfcheck_bench",
                    "perfcheck_build",
                ],
            ),
            // The binary names the library by its crate name.
            (
                "main",
                &["perfcheck_analysis", "perfcheck_build", "perfcheck_host"],
            ),
        ],
    ),
];

/// Crates of the workspace that a module of the root package may use only if the table permits it.
const CRATES: [&str; 7] = [
    "perfcheck_analysis",
    "perfcheck_bench",
    "perfcheck_build",
    "perfcheck_code",
    "perfcheck_host",
    "perfcheck_stats",
    "perfcheck_store",
];

/// Dependencies that only one module may use, so that they can be replaced there. Each has the folder of the crate, the dependency and the module.
const HOMES: [(&str, &str, &str); 4] = [
    ("crates/build/src", "cargo_metadata", "cargo"),
    ("src", "indicatif", "output"),
    ("src", "owo_colors", "output"),
    ("src", "toml_edit", "commands"),
];

/// Returns complaints about dependencies that `source` uses although only another module may use them.
pub fn strangers(source: &Source) -> Vec<String> {
    let homes = HOMES.iter().filter(|(root, _, _)| *root == source.root());
    homes
        .filter(|(_, name, home)| source.module() != *home && names_crate(&source.tokens, name))
        .map(|(_, name, home)| {
            format!(
                "{} uses `{name}`, which is at home in `{home}`",
                source.path
            )
        })
        .collect()
}

/// Returns complaints about imports of `source` that its layer forbids.
pub fn forbidden_imports(source: &Source) -> Vec<String> {
    if source.module() == "lib" {
        return Vec::new();
    }
    let layers = LAYERS
        .iter()
        .find(|(root, _)| *root == source.root())
        .map_or(&[][..], |(_, layers)| layers);
    let Some((_, allowed)) = layers.iter().find(|(name, _)| *name == source.module()) else {
        return vec![format!(
            "{}: its module has no layer: add it to LAYERS",
            source.path
        )];
    };
    let modules: Vec<&str> = layers.iter().map(|(module, _)| *module).collect();
    let mut imported = crate_modules(&source.tokens, source.depth(), &modules);
    if source.root() == "src" {
        let crates = CRATES.iter();
        let named = crates.filter(|name| names_crate(&source.tokens, name));
        imported.extend(named.map(|name| (*name).to_owned()));
    }
    imported
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

mod tests {
    use super::super::sources::Source;
    use super::{forbidden_imports, strangers};

    #[test]
    fn an_upward_import_is_found_in_every_spelling() {
        for planted in [
            "use crate::findings::Row;",
            "use crate::{model::Run, findings};",
            "use crate::{\n    model::{Run, RunId},\n    findings::{self, Row},\n};",
            "fn f() { crate::findings::open(); }",
            "fn f() { call!(crate::findings::open()); }",
            "pub use super::super::findings::Row;",
            "use super::super::{model::Run, findings::Row};",
        ] {
            let complaints = forbidden_imports(&Source::new(
                "crates/analysis/src/compare/decide.rs",
                planted,
            ));
            assert_eq!(
                complaints,
                [
                    "crates/analysis/src/compare/decide.rs imports `findings`, which its layer forbids"
                ],
                "{planted}"
            );
        }
        for harmless in [
            "use crate::model::Run;",
            "use super::clock;",
            "pub(in super::super) fn f() {}",
            "use crate::compare::SCHEMA;",
        ] {
            let complaints = forbidden_imports(&Source::new(
                "crates/analysis/src/compare/decide.rs",
                harmless,
            ));
            assert_eq!(complaints, [""; 0], "{harmless}");
        }
        let everything = forbidden_imports(&Source::new(
            "crates/analysis/src/compare/decide.rs",
            "use crate::*;",
        ));
        assert_eq!(everything.len(), 1);
        let of_report = |planted| forbidden_imports(&Source::new("src/output/table.rs", planted));
        assert_eq!(of_report("use perfcheck_store::Store;").len(), 1);
        assert_eq!(of_report("use perfcheck_analysis::model::Run;").len(), 0);
        let nowhere = forbidden_imports(&Source::new("src/helpers.rs", ""));
        assert!(nowhere[0].contains("has no layer"), "{nowhere:?}");
    }

    #[test]
    fn a_dependency_away_from_home_is_found() {
        let found = |path| strangers(&Source::new(path, "use cargo_metadata::Package;")).len();
        assert_eq!(found("crates/build/src/sides/build.rs"), 1);
        assert_eq!(found("crates/build/src/cargo/metadata.rs"), 0);
    }
}
