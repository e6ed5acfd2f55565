//! What a bench executable needs to be run again: its content, its surroundings, and the secret that marks our own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The variable in which the dynamic linker looks for libraries besides its own places.
pub const LIBRARY_PATH_VARIABLE: &str = if cfg!(target_os = "macos") {
    "DYLD_FALLBACK_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// BLAKE3 of the content of a file; written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash(pub [u8; 32]);

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for ContentHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl std::str::FromStr for ContentHash {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "not a hash: 64 lower-case hexadecimal digits make one";
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(WRONG),
        };
        let digits = text.as_bytes();
        let mut hash = [0; 32];
        if digits.len() != 2 * hash.len() {
            return Err(WRONG);
        }
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Self(hash))
    }
}

/// A file that a bench opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileFact {
    /// Relative to the directory that was watched.
    pub path: PathBuf,
    /// Its content.
    pub hash: ContentHash,
}

/// A dynamic library of the workspace or the target directory, which is kept with the executable that needs it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PrivateLibrary {
    /// The file name by which it is asked for.
    pub name: String,
    /// Where it was found.
    pub path: PathBuf,
}

/// A bench executable with all that starting it again takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptTarget {
    /// Name of the package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// The executable itself, never a runner.
    pub program: PathBuf,
    /// Its arguments, without those of a runner.
    pub arguments: Vec<OsString>,
    /// Working directory.
    pub directory: PathBuf,
    /// Variables to set (`None`: to remove).
    pub variables: BTreeMap<String, Option<OsString>>,
    /// Libraries that are kept with it.
    pub libraries: Vec<PrivateLibrary>,
    /// Files that it opened, relative to `opened_below`.
    pub opened: Vec<FileFact>,
    /// The directory in which opened files were watched.
    pub opened_below: PathBuf,
}

/// What marks the executables that this user recorded on this machine: a key that lies outside of every store, and the
/// machine. Never printed.
pub struct Secret {
    key: [u8; 32],
    machine: String,
}

impl Secret {
    /// The key of this user and the identity of this machine, empty where the system names none.
    pub fn new(key: [u8; 32], machine: String) -> Self {
        Self { key, machine }
    }

    /// The key.
    pub fn key(&self) -> &[u8; 32] {
        &self.key
    }

    /// The machine.
    pub fn machine(&self) -> &str {
        &self.machine
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_written_in_hexadecimal_digits_and_read_back() {
        let mut bytes = [0xa5; 32];
        bytes[0] = 0x0f;
        let hash = ContentHash(bytes);
        assert!(hash.to_string().starts_with("0fa5a5"));
        assert_eq!(hash.to_string().parse(), Ok(hash));
        for wrong in [
            "",
            "0f",
            &"g".repeat(64),
            &"A5".repeat(32),
            &"a5".repeat(33),
            &"é".repeat(32),
        ] {
            assert!(wrong.parse::<ContentHash>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret::new([77; 32], "machine".to_owned());
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
