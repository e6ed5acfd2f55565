//! What a build is made from: where that is the same, a kept build is used instead of a new one.

use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::build::BenchesFrom;
use crate::cargo::CargoOptions;
use crate::model::BuildFacts;

/// To be counted up whenever builds are made or kept in another way.
const VERSION: u32 = 1;

/// The name of a kept build. All have the same length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The key of whatever `ingredients` are.
    pub(super) fn of(ingredients: &impl Serialize) -> Self {
        let text = serde_json::to_vec(ingredients).unwrap_or_default();
        Self(blake3::hash(&text).to_hex()[..24].to_owned())
    }
}

/// Everything that can change what cargo makes of a commit, as far as one can know.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Recipe {
    pub(super) version: u32,
    pub(super) commit: String,
    pub(super) manifest: PathBuf,
    pub(super) facts: BuildFacts,
    pub(super) toolchain: Option<OsString>,
    pub(super) flags: Vec<OsString>,
    pub(super) variables: Vec<(String, OsString)>,
    pub(super) benches_from: BenchesFrom,
    /// Files that are laid into the sources beside those of the commit, with the hash of their content.
    pub(super) files: Vec<(PathBuf, String)>,
}

impl Recipe {
    pub(super) const VERSION: u32 = VERSION;
}

/// The flags that matter for what is made, as cargo would be given them for `manifest`.
pub(super) fn decisive_flags(options: &CargoOptions, manifest: &Path) -> Vec<OsString> {
    let decisive = CargoOptions {
        manifest_path: Some(manifest.to_owned()),
        target_dir: None,
        jobs: None,
        verbose: 0,
        quiet: false,
        color: None,
        offline: false,
        locked: false,
        frozen: false,
        ..options.clone()
    };
    decisive.for_build()
}
