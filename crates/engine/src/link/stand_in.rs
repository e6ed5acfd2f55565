//! Runs in place of cargo's linker during our builds: links as requested, and keeps the inputs of the link.
//!
//! Rustc removes the object files of a crate right after the link, so they must be copied while the linker runs. The stand-in is this program,
//! started by rustc under the name of the real linker, because rustc derives from the name which arguments a linker takes.

#![expect(
    clippy::disallowed_methods,
    reason = "it is the linker of a build: it starts the real one"
)]

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::error::{LinkError, file_error};
use super::kept::KeptLink;

/// Names the folder of kept links. The stand-in is inside this folder, so that no other process is mistaken for it.
const FOLDER_VARIABLE: &str = "PERFCHECK_LINKS";
/// Names the real linker.
const LINKER_VARIABLE: &str = "PERFCHECK_LINKER";
/// Name of the directory of stand-ins in that folder.
const STAND_INS: &str = "linkers";
/// Maximum number of kept links of executables in the target directory.
const MOST_LINKS: usize = 64;

/// Links in place of the real linker and returns its exit status. Returns `None` if this process was not started for that.
pub fn run_as_linker(arguments: &[OsString]) -> Option<Result<ExitCode, LinkError>> {
    let (own, rest) = arguments.split_first()?;
    let folder = PathBuf::from(std::env::var_os(FOLDER_VARIABLE)?);
    let linker = PathBuf::from(std::env::var_os(LINKER_VARIABLE)?);
    if !Path::new(own).starts_with(folder.join(STAND_INS)) {
        return None;
    }
    let status = match Command::new(&linker).args(rest).status() {
        Ok(status) => status,
        Err(error) => return Some(Err(file_error("cannot start the linker", &linker)(error))),
    };
    if status.success() {
        // Ignore a failure to keep the link: the executable is then merely not linked again.
        let _ = KeptLink::keep(&folder, &linker, rest);
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Some(Ok(code.map_or(ExitCode::FAILURE, ExitCode::from)))
}

/// The stand-in, ready to be passed to cargo.
pub(crate) struct LinkRecorder {
    folder: PathBuf,
    linker: PathBuf,
    stand_in: PathBuf,
}

impl LinkRecorder {
    /// Installs `program`, which calls [`run_as_linker`], in `folder` as the stand-in of `linker`.
    pub(crate) fn install(folder: &Path, linker: &Path, program: &Path) -> Result<Self, LinkError> {
        let stand_ins = folder.join(STAND_INS);
        std::fs::create_dir_all(&stand_ins).map_err(file_error("cannot make", &stand_ins))?;
        let name = linker.file_name().unwrap_or(OsStr::new("cc"));
        let stand_in = stand_ins.join(name);
        if std::fs::read_link(&stand_in).ok().as_deref() != Some(program) {
            let _ = std::fs::remove_file(&stand_in);
            std::os::unix::fs::symlink(program, &stand_in)
                .map_err(file_error("cannot make", &stand_in))?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            linker: linker.to_owned(),
            stand_in,
        })
    }

    /// Removes the oldest links beyond the newest [`MOST_LINKS`].
    pub(crate) fn prune(&self) {
        let entries = std::fs::read_dir(&self.folder);
        let mut by_age: Vec<_> = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let made = std::fs::metadata(&path).ok()?.modified().ok()?;
                (!path.ends_with(STAND_INS)).then_some((made, path))
            })
            .collect();
        by_age.sort();
        for (_, path) in by_age.iter().rev().skip(MOST_LINKS) {
            // The next build tries again to remove it.
            let _ = std::fs::remove_dir_all(path);
        }
    }

    /// Returns the variables that make cargo use the stand-in for `target`.
    pub(crate) fn variables(&self, target: &str) -> [(String, OsString); 3] {
        let name = target.to_uppercase().replace(['-', '.'], "_");
        [
            (
                format!("CARGO_TARGET_{name}_LINKER"),
                self.stand_in.clone().into(),
            ),
            (FOLDER_VARIABLE.to_owned(), self.folder.clone().into()),
            (LINKER_VARIABLE.to_owned(), self.linker.clone().into()),
        ]
    }
}
