//! Opens pages in the user's viewer, and creates a directory for a page whose path the user has not given.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that starts the system's viewer"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::os;

/// Opens `file` without waiting for the viewer to end.
pub fn open_in_viewer(file: &Path) -> io::Result<()> {
    let (program, arguments) = os::VIEWER;
    os::outlive_us(&mut Command::new(program))
        .args(arguments)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
        .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))
}

/// Creates a new directory of this process, and returns the path of a page in it. On Unix only the user can read the directory.
pub fn temporary_page() -> io::Result<PathBuf> {
    let name = format!("cargo-perfcheck-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    // Fails if the directory exists, because it may belong to another user.
    os::create_private_dir(&directory)?;
    Ok(directory.join("index.html"))
}
