//! The program that a user reads pages with, and a place for pages that nobody named.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that starts the system's viewer"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program that opens a file as the user's desktop would, and what comes before the file.
const VIEWER: (&str, &[&str]) = if cfg!(target_os = "macos") {
    ("open", &[])
} else if cfg!(windows) {
    // `start` takes the first quoted word for a title.
    ("cmd", &["/C", "start", ""])
} else {
    ("xdg-open", &[])
};

/// Opens `file` and does not wait for the viewer's end.
pub fn open_in_viewer(file: &Path) -> io::Result<()> {
    let (program, arguments) = VIEWER;
    Command::new(program)
        .args(arguments)
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
        .map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))
}

/// Where a page goes that nobody named: a directory of this process, readable by the user alone where the system has that.
pub fn temporary_page() -> io::Result<PathBuf> {
    let name = format!("cargo-perfcheck-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    // What is there already may be somebody else's.
    builder.create(&directory)?;
    Ok(directory.join("index.html"))
}
