//! From a record to an executable that may be started: every check, then a private copy, then the check of the copy.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use super::super::{Store, StoreError};
use super::contents::{KeptFolder, identify};
use super::error::KeptError;
use super::facts::{KeptContent, KeptFacts};
use super::record::KeptRecord;
use super::{privacy, seal};
use perfcheck_analysis::model::{FileFact, LIBRARY_PATH_VARIABLE, Secret};

/// Where the libraries of an executable go, below the directory of the executable.
const LIBRARIES: &str = "libraries";

/// A kept executable, written out and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractedTarget {
    /// Name of the package.
    pub package: String,
    /// Name of the bench target.
    pub target: String,
    /// The private copy.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Working directory. It may no longer be there.
    pub directory: PathBuf,
    /// Variables to set (`None`: to remove); the library path begins with the kept libraries.
    pub variables: BTreeMap<String, Option<OsString>>,
    /// Files that it opened when it was recorded, and the directory that they are relative to.
    pub opened: (PathBuf, Vec<FileFact>),
}

impl Store {
    /// Writes a kept executable and its libraries into `into`, a directory of this user alone, which is created where
    /// there is none (its parent must be there). One directory for each target: existing files are not overwritten.
    ///
    /// Refused unless this user recorded it on this machine, for this run of this workspace, in a store that nobody
    /// else can write, and unless what was written is what was recorded, byte for byte.
    pub fn extract(
        &self,
        record: &KeptRecord,
        secret: &Secret,
        into: &Path,
    ) -> Result<ExtractedTarget, StoreError> {
        let contents = KeptFolder::beside(self.path());
        privacy::check_store(self.path(), &contents.directory)?;
        let facts = verified(record, secret)?;
        privacy::make_private(into)?;
        let program = into.join(&facts.name);
        write_out(&contents, facts.program, &program)?;
        let mut variables = facts.variables;
        if !facts.libraries.is_empty() {
            let libraries = into.join(LIBRARIES);
            privacy::make_private(&libraries)?;
            for library in &facts.libraries {
                write_out(&contents, library.content, &libraries.join(&library.name))?;
            }
            let recorded = variables
                .get(LIBRARY_PATH_VARIABLE)
                .cloned()
                .flatten()
                .unwrap_or_default();
            let path = std::iter::once(libraries.clone()).chain(std::env::split_paths(&recorded));
            let path = std::env::join_paths(path).map_err(|error| {
                StoreError::of_file(
                    &libraries,
                    "put on the library path",
                    std::io::Error::other(error),
                )
            })?;
            variables.insert(LIBRARY_PATH_VARIABLE.to_owned(), Some(path));
        }
        Ok(ExtractedTarget {
            package: facts.package,
            target: facts.target,
            program,
            arguments: facts.arguments,
            directory: facts.directory,
            variables,
            opened: (facts.opened_below, facts.opened),
        })
    }
}

/// The facts, once nothing speaks against them.
fn verified(record: &KeptRecord, secret: &Secret) -> Result<KeptFacts, KeptError> {
    let (run, package, target) = (record.run, record.package.clone(), record.target.clone());
    if record.origin != seal::origin(secret) {
        return Err(KeptError::RecordedElsewhere {
            run,
            package,
            target,
        });
    }
    let altered = |package, target| KeptError::Altered {
        run,
        package,
        target,
    };
    if !seal::is_sealed(secret, &record.text, &record.mac) {
        return Err(altered(package, target));
    }
    // Not `record.facts`, which the caller could have changed.
    let Ok(facts) = serde_json::from_str::<KeptFacts>(&record.text) else {
        return Err(altered(package, target));
    };
    let made_for = if facts.workspace != record.workspace {
        Some(format!("another workspace, `{}`", facts.workspace))
    } else if (facts.run, &facts.package, &facts.target) != (run, &package, &target) {
        Some(format!(
            "`{}` (package `{}`) in run {}",
            facts.target, facts.package, facts.run
        ))
    } else {
        None
    };
    match made_for {
        None => Ok(facts),
        Some(made_for) => Err(KeptError::Misplaced {
            run,
            package,
            target,
            made_for,
        }),
    }
}

/// Writes a content to a new file, reads it again and compares. A file that fails is removed.
fn write_out(contents: &KeptFolder, content: KeptContent, to: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o500);
    let file = options
        .open(to)
        .map_err(|error| StoreError::of_file(to, "create", error))?;
    let written = unpack_and_check(contents, content, file, to);
    if written.is_err() {
        let _ = std::fs::remove_file(to);
    }
    written
}

fn unpack_and_check(
    contents: &KeptFolder,
    content: KeptContent,
    file: File,
    to: &Path,
) -> Result<(), StoreError> {
    contents.unpack(content, &file)?;
    // Closed before it is started: a file that is open for writing cannot be executed.
    drop(file);
    if identify(to)? == content {
        Ok(())
    } else {
        Err(KeptError::Damaged {
            path: to.to_owned(),
            detail: "the copy differs from what was written".into(),
        }
        .into())
    }
}
