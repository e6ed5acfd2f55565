//! The recipe of a build: everything that affects it. A kept build with an equal recipe is used instead of a new one.
//!
//! Keys and notes contain paths as text, even paths that are not UTF-8.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::cargo::CargoOptions;
use perfcheck_analysis::model::{BuildFacts, ProgramBenchmark};
use perfcheck_host::os::path_from_bytes;

/// The version of the recipe. It must be incremented whenever builds are made or kept in another way.
pub(super) const VERSION: u32 = 7;

/// Length of a key, in characters.
const LENGTH: usize = 24;

/// The name of a kept folder. All keys have the same length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses a key, or returns `None` if the text is not a key.
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

/// A file or a directory with a hash of what it contains. Keys are computed from the pair of both texts.
#[derive(Debug, Clone, Serialize)]
#[serde(into = "(String, String)")]
pub(super) struct HashedPath {
    /// The path as text.
    pub(super) path: String,
    pub(super) hash: String,
}

impl From<HashedPath> for (String, String) {
    fn from(hashed: HashedPath) -> Self {
        (hashed.path, hashed.hash)
    }
}

/// Everything known that can change the result of building a commit.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Recipe<'a> {
    pub(super) version: u32,
    pub(super) commit: &'a str,
    #[serde(serialize_with = "single::serialize")]
    pub(super) manifest: &'a Path,
    /// The directory of the sources during the build. The executables run in `root`.
    #[serde(serialize_with = "single::serialize")]
    pub(super) source: PathBuf,
    #[serde(serialize_with = "single::serialize")]
    pub(super) root: &'a Path,
    pub(super) facts: &'a BuildFacts,
    pub(super) toolchain: Option<OsString>,
    pub(super) flags: Vec<OsString>,
    /// The hash of the sources that replace Criterion. Empty if Criterion is not to be replaced.
    pub(super) criterion: String,
    pub(super) variables: Vec<(String, OsString)>,
    /// Files that are not part of the commit, with hashes of their content: files added to the sources, and cargo's configuration.
    pub(super) files: Vec<HashedPath>,
    /// Packages outside the repository, with hashes of their files' sizes and times.
    pub(super) outside: Vec<HashedPath>,
}

impl Recipe<'_> {
    pub(super) fn key(&self) -> Key {
        Key::compute(self)
    }
}

/// Returns the flags that affect the result, as cargo would get them for `manifest`, and the packages and binaries of the `programs`.
pub(super) fn decisive_flags(
    options: &CargoOptions,
    programs: &[ProgramBenchmark],
    manifest: &Path,
) -> Vec<OsString> {
    let decisive = CargoOptions {
        manifest_path: Some(manifest.to_owned()),
        ..options.decisive()
    };
    let mut flags = decisive.build_flags();
    let binaries: BTreeSet<[&str; 2]> = (programs.iter())
        .map(|one| [&*one.package, &*one.binary])
        .collect();
    for [package, binary] in binaries {
        flags.extend(["--package", package, "--bin", binary].map(OsString::from));
    }
    flags
}

/// First character of the text for a path that is not UTF-8. No path contains it.
const IN_DIGITS: char = '\0';

/// Returns the path itself if it is UTF-8, otherwise its bytes as hexadecimal digits.
pub(super) fn to_text(path: &Path) -> String {
    if let Some(text) = path.to_str() {
        return text.to_owned();
    }
    let mut text = IN_DIGITS.to_string();
    for byte in path.as_os_str().as_encoded_bytes() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn from_text(text: &str) -> PathBuf {
    let Some(digits) = text.strip_prefix(IN_DIGITS) else {
        return PathBuf::from(text);
    };
    let bytes: Vec<u8> = digits
        .as_bytes()
        .chunks(2)
        .filter_map(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok())
        .collect();
    path_from_bytes(&bytes)
}

/// Serializes a path as text, for `#[serde(with)]`.
pub(super) mod single {
    use super::{
        Deserialize, Deserializer, Path, PathBuf, Serialize, Serializer, from_text, to_text,
    };

    pub(in super::super) fn serialize<S: Serializer>(
        path: impl AsRef<Path>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        to_text(path.as_ref()).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<PathBuf, D::Error> {
        Ok(from_text(&String::deserialize(deserializer)?))
    }
}

/// Serializes a list of paths as texts, for `#[serde(with)]`.
pub(super) mod list {
    use super::{Deserialize, Deserializer, PathBuf, Serializer, from_text, to_text};

    pub(in super::super) fn serialize<S: Serializer>(
        paths: &[PathBuf],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| to_text(path)))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        Ok(texts.iter().map(|text| from_text(text)).collect())
    }
}

/// Serializes a map whose keys are paths, for `#[serde(with)]`.
pub(super) mod map {
    use super::{
        BTreeMap, Deserialize, Deserializer, PathBuf, Serialize, Serializer, from_text, to_text,
    };

    pub(in super::super) fn serialize<S: Serializer, T: Serialize>(
        map: &BTreeMap<PathBuf, T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(map.iter().map(|(path, value)| (to_text(path), value)))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<PathBuf, T>, D::Error> {
        let map = BTreeMap::<String, T>::deserialize(deserializer)?;
        let paths = map.into_iter();
        Ok(paths
            .map(|(text, value)| (from_text(&text), value))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_survives_as_text() {
        for name in [&b"src/a b.rs"[..], b"caf\xe9", b"\xff/\xc3\xa9", b""] {
            let path = path_from_bytes(name);
            assert_eq!(from_text(&to_text(&path)), path);
        }
    }
}
