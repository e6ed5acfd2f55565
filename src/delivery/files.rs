//! The files that results are written to: a single result, an HTML page, and the summary of a GitHub Actions job, to which every step appends.
//!
//! Invariant: a result file is written completely or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::AppError;
use crate::interchange::ExchangeError;
use crate::output::strip_colors;
use crate::session::{Context, World};

/// How many names are tried for the temporary file. Other processes may use some of them at the same time.
const TRIES: u32 = 100;

/// Writes `bytes` to a temporary file in the same directory and renames it to `path`: readers see either the old content or the new.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    replace_file(path, bytes).map_err(named)
}

/// Like [`write_whole`], but its errors do not name the file, so that the caller can do so in its own words.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Write through symbolic links, to the file the user means. Devices and pipes cannot be replaced, so write to them directly.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|found| !found.is_file()) {
        return File::options().write(true).open(&target)?.write_all(bytes);
    }
    let Some(name) = target.file_name() else {
        return Err(io::Error::other("the path has no file name"));
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
            // Ignore a second error: the first one is the one to report.
            let _ = fs::remove_file(&beside);
        }
        return written;
    }
    Err(io::Error::other(
        "earlier attempts left temporary files in the same directory; remove the files `.*.partial` there",
    ))
}

/// Returns the parent directory of `file` if there is no such directory. Callers check this first, so that no long computation is lost because its
/// result cannot be written.
pub(crate) fn missing_directory(file: &Path) -> Option<&Path> {
    let parent = file.parent().filter(|parent| *parent != Path::new(""))?;
    (!parent.is_dir()).then_some(parent)
}

/// Fails if there is no directory for `file`.
pub(crate) fn check_destination(file: &Path) -> Result<(), ExchangeError> {
    let Some(missing) = missing_directory(file) else {
        return Ok(());
    };
    let why = format!("there is no directory {}", missing.display());
    Err(ExchangeError::Write {
        path: file.to_owned(),
        source: io::Error::new(io::ErrorKind::NotFound, why),
    })
}

/// Writes a result to `file`, without colors, or to stdout if `file` is `-` or `None`.
pub(crate) fn write_result(
    file: Option<&Path>,
    world: &mut World<'_>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), AppError> {
    let Some(path) = file.filter(|path| *path != Path::new("-")) else {
        return Ok(write(world.stdout)?);
    };
    let mut text = Vec::new();
    write(&mut text)?;
    Ok(write_whole(path, &strip_colors(&text))?)
}

/// The file name of a page for which the user names only a directory.
const INDEX: &str = "index.html";

/// Returns the workspace's name for a page. Pages are sent to others, so the name omits the rest of the path.
pub(crate) fn workspace_name(context: &Context) -> String {
    let root = context.workspace.root();
    let name = root.file_name().unwrap_or(root.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Reports whether a path denotes a directory.
pub(crate) fn is_directory(place: &Path) -> bool {
    let text = place.as_os_str().to_string_lossy();
    text.ends_with(std::path::is_separator) || place.is_dir()
}

/// Returns the file to which a page is written. For a directory, this is its index file, and the directory is created if it does not exist.
pub(crate) fn page_file(place: &Path) -> io::Result<PathBuf> {
    let about =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", place.display()));
    if !is_directory(place) {
        return Ok(place.to_owned());
    }
    fs::create_dir_all(place).map_err(about)?;
    Ok(place.join(INDEX))
}

/// Writes a page to `place`, which may be a directory, or to stdout if `place` is `-` or `None`.
pub(crate) fn write_page_result(
    place: Option<&Path>,
    world: &mut World<'_>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), AppError> {
    let file = place.map(page_file).transpose()?;
    write_result(file.as_deref(), world, write)
}

/// Maximum bytes of a step's summary. GitHub shows nothing of a larger file, so exceeding it would lose earlier reports, too.
///
/// GitHub Docs, "Workflow commands for GitHub Actions", "Step isolation and limits".
const MOST: u64 = 1024 * 1024;

/// Appends `text` to the file, creating it if necessary.
pub(crate) fn append(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    let before = file.metadata()?;
    if before.is_file() && before.len().saturating_add(text.len() as u64) > MOST {
        return Err(io::Error::other(
            "this report would exceed the 1 MiB that GitHub allows per step",
        ));
    }
    let written = file.write_all(text);
    if written.is_err() && before.is_file() {
        // Remove a partial report, which would garble what follows. The write error is the one to report.
        let _ = file.set_len(before.len());
    }
    written
}

#[cfg(test)]
mod tests {
    use std::fs;

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

    #[test]
    fn a_directory_gets_an_index_and_a_file_is_taken_as_it_is() {
        let here = tempfile::tempdir().expect("a directory");
        let place = |name: &str| page_file(&here.path().join(name)).expect("a place");
        assert_eq!(place("page.html"), here.path().join("page.html"));
        let page = place("a/b/");
        assert!(page.ends_with("a/b/index.html") && here.path().join("a/b").is_dir());
        assert!(place("a").ends_with("a/index.html"));
    }

    #[test]
    fn calls_of_a_step_follow_one_another_as_long_as_there_is_room() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("summary.md");
        append(&path, b"first\n").expect("written");
        append(&path, b"second\n").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("read"), "first\nsecond\n");
        let room = usize::try_from(MOST).expect("small") - "first\nsecond\n".len();
        let error = append(&path, &vec![b'a'; room + 1]).expect_err("too much");
        assert!(error.to_string().contains("1 MiB"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("read"), "first\nsecond\n");
        append(&path, &vec![b'a'; room]).expect("all of it");
        assert_eq!(fs::metadata(&path).expect("there").len(), MOST);
    }
}
