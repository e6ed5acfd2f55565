//! The facts of a kept executable, as the JSON text that is sealed and stored.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use perfcheck_analysis::model::{ContentHash, FileFact, RunId};

/// What was recorded of an executable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFacts {
    /// The run that was measured with it.
    pub run: RunId,
    /// The key of the workspace when it was kept.
    pub workspace: String,
    /// Name of the package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// File name of the executable.
    pub name: String,
    /// The executable.
    pub program: KeptContent,
    /// Its arguments.
    #[serde(with = "texts")]
    pub arguments: Vec<OsString>,
    /// Working directory.
    #[serde(with = "path")]
    pub directory: PathBuf,
    /// Variables to set (`None`: to remove).
    #[serde(with = "variables")]
    pub variables: BTreeMap<String, Option<OsString>>,
    /// Libraries that are kept with it.
    pub libraries: Vec<LibraryFact>,
    /// The directory in which opened files were watched.
    #[serde(with = "path")]
    pub opened_below: PathBuf,
    /// Files that it opened there.
    #[serde(with = "files")]
    pub opened: Vec<FileFact>,
}

/// A kept content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptContent {
    /// Its hash.
    pub hash: ContentHash,
    /// Bytes when it is not compressed.
    pub size: u64,
}

/// A kept library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryFact {
    /// The file name by which it is asked for.
    pub name: String,
    /// The library.
    pub content: KeptContent,
}

impl KeptFacts {
    /// Every content that is needed to run it.
    pub(super) fn contents(&self) -> impl Iterator<Item = KeptContent> + '_ {
        let libraries = self.libraries.iter().map(|library| library.content);
        std::iter::once(self.program).chain(libraries)
    }
}

/// Text of the system: as text where it is Unicode, else as its bytes, so that nothing is lost.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Text {
    Unicode(String),
    Bytes(Vec<u8>),
}

impl Text {
    fn new(text: OsString) -> Self {
        text.into_string()
            .map_or_else(|text| Self::Bytes(text.into_encoded_bytes()), Self::Unicode)
    }

    fn into_os(self) -> OsString {
        match self {
            Self::Unicode(text) => text.into(),
            #[cfg(unix)]
            Self::Bytes(bytes) => std::os::unix::ffi::OsStringExt::from_vec(bytes),
            // Written on another system, where alone it can be run.
            #[cfg(not(unix))]
            Self::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        }
    }
}

mod texts {
    use super::{Deserialize, Deserializer, OsString, Serializer, Text};

    pub(super) fn serialize<S: Serializer>(
        texts: &[OsString],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(texts.iter().cloned().map(Text::new))
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<Vec<OsString>, D::Error> {
        let texts = Vec::<Text>::deserialize(deserializer)?;
        Ok(texts.into_iter().map(Text::into_os).collect())
    }
}

mod path {
    use super::{Deserialize, Deserializer, Path, PathBuf, Serialize, Serializer, Text};

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        Text::new(path.as_os_str().to_owned()).serialize(serializer)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<PathBuf, D::Error> {
        Ok(Text::deserialize(deserializer)?.into_os().into())
    }
}

mod variables {
    use super::{BTreeMap, Deserialize, Deserializer, OsString, Serializer, Text};

    pub(super) fn serialize<S: Serializer>(
        variables: &BTreeMap<String, Option<OsString>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            variables
                .iter()
                .map(|(name, value)| (name, value.clone().map(Text::new))),
        )
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Option<OsString>>, D::Error> {
        let variables = BTreeMap::<String, Option<Text>>::deserialize(deserializer)?;
        let variable = |(name, value): (String, Option<Text>)| (name, value.map(Text::into_os));
        Ok(variables.into_iter().map(variable).collect())
    }
}

mod files {
    use super::{ContentHash, Deserialize, Deserializer, FileFact, PathBuf, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct File {
        #[serde(with = "super::path")]
        path: PathBuf,
        hash: ContentHash,
    }

    pub(super) fn serialize<S: Serializer>(
        files: &[FileFact],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(files.iter().map(|file| File {
            path: file.path.clone(),
            hash: file.hash,
        }))
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<Vec<FileFact>, D::Error> {
        let files = Vec::<File>::deserialize(deserializer)?;
        let fact = |File { path, hash }| FileFact { path, hash };
        Ok(files.into_iter().map(fact).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn text_that_is_not_unicode_comes_back_byte_for_byte() {
        use std::os::unix::ffi::OsStringExt;
        let odd = OsString::from_vec(vec![b'a', 0xff, b'"']);
        let content = KeptContent {
            hash: ContentHash([7; 32]),
            size: u64::MAX,
        };
        let facts = KeptFacts {
            run: RunId(7),
            workspace: "key".into(),
            package: "package".into(),
            target: "target".into(),
            name: "target-0123".into(),
            program: content,
            arguments: vec!["--bench".into(), odd.clone()],
            directory: PathBuf::from(odd.clone()),
            variables: [("A".into(), Some(odd.clone())), ("B".into(), None)].into(),
            libraries: vec![LibraryFact {
                name: "liba.so".into(),
                content,
            }],
            opened_below: "/project".into(),
            opened: vec![FileFact {
                path: odd.into(),
                hash: content.hash,
            }],
        };
        let text = serde_json::to_string(&facts).expect("text");
        assert_eq!(
            serde_json::from_str::<KeptFacts>(&text).expect("reads"),
            facts
        );
    }

    #[test]
    fn a_damaged_record_of_an_executable_is_read_or_refused() {
        let hash = "0123456789abcdef".repeat(4);
        let whole = format!(
            r#"{{"run":3,"workspace":"git:/w","package":"p","target":"t","name":"t-1","program":{{"hash":"{hash}","size":9}},"arguments":["--a",[255,254]],"directory":"/w","variables":{{"A":"b","C":null,"D":[255]}},"libraries":[{{"name":"liba.so","content":{{"hash":"{hash}","size":1}}}}],"opened_below":"/w","opened":[]}}"#
        );
        let read = |bytes: &[u8]| serde_json::from_slice::<KeptFacts>(bytes);
        let found = read(whole.as_bytes()).expect("it is whole");
        assert_eq!(found.contents().count(), 2);
        crate::mutations::attack("kept executables", &[whole.into_bytes()], |bytes| {
            if let Ok(found) = read(bytes) {
                let text = serde_json::to_vec(&found).expect("what was read can be written");
                assert_eq!(read(&text).expect("and read again"), found);
            }
        });
    }
}
