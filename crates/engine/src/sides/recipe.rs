//! What a build is made from: where that is the same, a kept build is used instead of a new one.

use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::path_text::single;
use crate::cargo::CargoOptions;
use perfcheck_analysis::model::BuildFacts;

/// To be counted up whenever builds are made or kept in another way.
pub(super) const VERSION: u32 = 5;

/// The length of a key.
const LENGTH: usize = 24;

/// The name of something kept. All have the same length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The key that is spelled so, if any is.
    pub(super) fn named(name: &str) -> Option<Self> {
        let is_key = name.len() == LENGTH && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_key.then(|| Self(name.to_owned()))
    }

    /// The key of whatever `ingredients` are.
    pub(super) fn of(ingredients: &impl Serialize) -> Self {
        let text = serde_json::to_vec(ingredients).expect("paths are given as text");
        Self(blake3::hash(&text).to_hex()[..LENGTH].to_owned())
    }
}

/// Everything that can change what cargo makes of a commit, as far as one can know.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Recipe<'a> {
    pub(super) version: u32,
    pub(super) commit: &'a str,
    #[serde(serialize_with = "single::serialize")]
    pub(super) manifest: &'a Path,
    /// Where it is built, and where it runs.
    #[serde(serialize_with = "single::serialize")]
    pub(super) source: PathBuf,
    #[serde(serialize_with = "single::serialize")]
    pub(super) root: &'a Path,
    pub(super) facts: &'a BuildFacts,
    pub(super) toolchain: Option<OsString>,
    pub(super) flags: Vec<OsString>,
    pub(super) variables: Vec<(String, OsString)>,
    /// Files that are not the commit's, with the hash of their content: laid into the sources, or cargo's configuration.
    pub(super) files: Vec<(String, String)>,
    /// Packages outside of the repository, with a hash of their files' sizes and times.
    pub(super) outside: Vec<(String, String)>,
}

impl Recipe<'_> {
    pub(super) fn key(&self) -> Key {
        Key::of(self)
    }
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
