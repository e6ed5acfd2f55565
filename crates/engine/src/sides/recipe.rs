//! The recipe of a build: everything that affects it. A kept build with an equal recipe is used instead of a new one.

use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::path_text::single;
use crate::cargo::CargoOptions;
use perfcheck_analysis::model::BuildFacts;

/// Version of the recipe; to be incremented whenever builds are made or kept in another way.
pub(super) const VERSION: u32 = 5;

/// Length of a key, in characters.
const LENGTH: usize = 24;

/// The name of a kept folder. All keys have the same length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses a key; returns `None` for any other text.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let is_key = name.len() == LENGTH && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_key.then(|| Self(name.to_owned()))
    }

    /// Computes the key of `ingredients`.
    pub(super) fn compute(ingredients: &impl Serialize) -> Self {
        let text = serde_json::to_vec(ingredients).expect("paths are given as text");
        Self(blake3::hash(&text).to_hex()[..LENGTH].to_owned())
    }
}

/// Everything known that can change the result of building a commit.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Recipe<'a> {
    pub(super) version: u32,
    pub(super) commit: &'a str,
    #[serde(serialize_with = "single::serialize")]
    pub(super) manifest: &'a Path,
    /// The directory in which it is built; `root` is the one in which it runs.
    #[serde(serialize_with = "single::serialize")]
    pub(super) source: PathBuf,
    #[serde(serialize_with = "single::serialize")]
    pub(super) root: &'a Path,
    pub(super) facts: &'a BuildFacts,
    pub(super) toolchain: Option<OsString>,
    pub(super) flags: Vec<OsString>,
    pub(super) variables: Vec<(String, OsString)>,
    /// Files that are not part of the commit, with hashes of their content: files added to the sources, and cargo's configuration.
    pub(super) files: Vec<(String, String)>,
    /// Packages outside the repository, with hashes of their files' sizes and times.
    pub(super) outside: Vec<(String, String)>,
}

impl Recipe<'_> {
    pub(super) fn key(&self) -> Key {
        Key::compute(self)
    }
}

/// Returns the flags that affect the result, as cargo would get them for `manifest`.
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
    decisive.build_flags()
}
