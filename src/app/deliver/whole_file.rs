//! Writes result files completely or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Maximum number of names tried for the temporary file; other processes may use some at the same time.
const TRIES: u32 = 100;

/// Writes `bytes` to a temporary file in the same directory and renames it to `path`: readers see either the old content or the new.
pub(in crate::app) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    replace_file(path, bytes).map_err(named)
}

/// Like [`write_whole`], but leaves naming the file in errors to the caller.
pub(in crate::app) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Write through symbolic links, to the file the user means. Devices and pipes cannot be replaced, so write to them directly.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|found| !found.is_file()) {
        return File::options().write(true).open(&target)?.write_all(bytes);
    }
    let Some(name) = target.file_name() else {
        return Err(io::Error::other("it names no file"));
    };
    for number in 0..TRIES {
        let mut beside = OsString::from(".");
        beside.push(name);
        beside.push(format!(".{number}.partial"));
        let beside = target.with_file_name(beside);
        let mut file = match File::options().write(true).create_new(true).open(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            other => other?,
        };
        let written = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&beside, &target));
        if written.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_file(&beside);
        }
        return written;
    }
    Err(io::Error::other(
        "files of earlier attempts are beside it: remove `.*.partial`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("report.md");
        for content in ["first, longer", "second"] {
            write_whole(&path, content.as_bytes()).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("read"), content);
        }
        assert_eq!(fs::read_dir(directory.path()).expect("read").count(), 1);
    }

    #[test]
    fn an_error_names_the_file_and_leaves_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("missing").join("report.md");
        let error = write_whole(&path, b"x").expect_err("no directory");
        assert!(error.to_string().contains("report.md"), "{error}");
        assert_eq!(fs::read_dir(directory.path()).expect("read").count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let directory = tempfile::tempdir().expect("a directory");
        let (link, file) = (directory.path().join("link"), directory.path().join("file"));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        write_whole(&link, b"new").expect("written");
        assert_eq!(fs::read_to_string(&file).expect("read"), "new");
        assert!(link.is_symlink());
    }
}
