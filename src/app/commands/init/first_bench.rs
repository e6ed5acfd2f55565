//! The first bench of a package: a source file that compiles unchanged, and its manifest entries.

use std::path::{Path, PathBuf};

use super::manifest::{HARNESS, Manifest};
use super::origin::{CrateOrigin, relative_path, resolve_package_directory};
use super::planned::PlannedFiles;
use crate::app::error::AppError;

/// Name of the bench target.
const NAME: &str = "first";

/// Source of the bench; `LIBRARY` stands for the crate name of the library.
const SOURCE: &str = r#"//! A first benchmark: call what should be fast in the body of `first`.

use LIBRARY as _; // what is to be measured: `use LIBRARY::...;`
use perfcheck::{Suite, black_box};

fn first(suite: &mut Suite) {
    // Set-up, which is not timed.
    let text = "the quick brown fox jumps over the lazy dog";
    // `black_box` keeps the compiler from computing the result in advance.
    suite.bench("first", |b| {
        b.iter(|| black_box(text).split_whitespace().count())
    });
}

perfcheck::main!(first);
"#;

/// Declarations that a bench of edition 2015 needs in addition.
const DECLARATIONS: &str = "extern crate LIBRARY;\nextern crate perfcheck;\n\n";

/// A package without benchmarks, and what its first bench needs.
pub(super) struct FirstBench<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) workspace: &'a Manifest,
    /// Crate name of the library
    pub(super) library: String,
}

impl FirstBench<'_> {
    /// Reports whether the package already depends on the harness.
    pub(super) fn has_harness(&self) -> bool {
        let used = self.manifest.used_crates(self.workspace);
        used.iter().any(|used| used.package == HARNESS)
    }

    /// Plans the files. Takes the harness from `origin` unless the package depends on it already.
    pub(super) fn plan(
        &self,
        origin: Option<&CrateOrigin>,
        files: &mut PlannedFiles,
    ) -> Result<(), AppError> {
        let origin = origin.filter(|_| !self.has_harness());
        let manifest = &self.manifest;
        let changed = manifest.with_bench(NAME, origin)?;
        files.create(self.path(), self.source())?;
        files.change(manifest.path.clone(), manifest.text.clone(), changed);
        Ok(())
    }

    fn path(&self) -> PathBuf {
        let name = format!("benches/{NAME}.rs");
        self.manifest.path.with_file_name(name)
    }

    fn source(&self) -> String {
        let source = if self.manifest.uses_edition_2015(self.workspace) {
            let (docs, code) = SOURCE.split_once("\n\n").unwrap_or_default();
            let code = code.split_once('\n').unwrap_or_default().1;
            format!("{docs}\n\n{DECLARATIONS}{code}")
        } else {
            SOURCE.to_owned()
        };
        source.replace("LIBRARY", &self.library)
    }
}

/// Converts the origin to the form for a manifest in `directory`: the user's path is relative to the working directory.
pub(super) fn relative_to_manifest(
    directory: &Path,
    origin: &CrateOrigin,
) -> Result<CrateOrigin, AppError> {
    let CrateOrigin::Path(path) = origin else {
        return Ok(origin.clone());
    };
    let harness = resolve_package_directory(path, HARNESS, "--harness")?;
    if path.is_absolute() {
        return Ok(CrateOrigin::Path(harness));
    }
    let directory = directory.canonicalize()?;
    Ok(CrateOrigin::Path(relative_path(&directory, &harness)))
}
