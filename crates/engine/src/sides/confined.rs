//! Writes files only inside a directory of the cache: no symbolic link on the path is followed.
//!
//! A revision may have a link where the present state has a directory, or the reverse. A file copied through such a link would replace a file of the
//! user. So all code that writes into a tree or into the copy of the sources must use this module.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

/// Creates the parent directories of `path` below `root` and returns the full path. Fails if one of them is a link or a file.
pub(super) fn create_parents(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let mut here = root.to_owned();
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else {
            return Err(outside_error(root, path));
        };
        here.push(name);
        if parts.peek().is_none() {
            break;
        }
        match fs::symlink_metadata(&here) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(outside_error(root, &here)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&here)?,
            Err(error) => return Err(error),
        }
    }
    Ok(here)
}

/// Writes a new file at `path` below `root`, in place of an existing file or link.
pub(super) fn write_file(root: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let place = create_parents(root, path)?;
    remove_entry(&place)?;
    // This fails if a link was created in the meantime.
    File::create_new(&place)?.write_all(content)
}

/// Copies the file `origin` to `path` below `root`, in place of an existing file or link. A link to a directory is copied as a link.
pub(super) fn copy_file(root: &Path, path: &Path, origin: &Path) -> io::Result<()> {
    let place = create_parents(root, path)?;
    remove_entry(&place)?;
    if origin.is_symlink() && !origin.is_file() {
        return symlink(fs::read_link(origin)?, &place);
    }
    fs::copy(origin, &place).map(|_| ())
}

/// Creates a link at `path` below `root`, unless the path exists or one of its parents is not a directory.
pub(super) fn create_link_if_free(root: &Path, path: &Path, leads_to: &Path) -> io::Result<()> {
    let is_blocked = |above: &Path| {
        fs::symlink_metadata(root.join(above)).is_ok_and(|metadata| !metadata.is_dir())
    };
    let mut directories = path.ancestors().skip(1);
    if directories.any(|above| !above.as_os_str().is_empty() && is_blocked(above)) {
        return Ok(());
    }
    let place = create_parents(root, path)?;
    match symlink(leads_to, place) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes a file or a link, if it exists.
pub(super) fn remove_entry(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn outside_error(root: &Path, path: &Path) -> io::Error {
    let path = path.strip_prefix(root).unwrap_or(path);
    io::Error::new(
        io::ErrorKind::NotADirectory,
        format!("`{}` leads out of the directory", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a directory `root` with the links `absolute`, `deep/er/relative` and `file` to `outside`, which has the file `data`.
    fn directory_with_links() -> tempfile::TempDir {
        let home = tempfile::tempdir().expect("a directory");
        let outside = home.path().join("outside");
        fs::create_dir_all(home.path().join("root/deep/er")).expect("made");
        fs::create_dir(&outside).expect("made");
        fs::write(outside.join("data"), "untouched").expect("written");
        let links = [
            ("root/absolute", outside.clone()),
            ("root/deep/er/relative", "../../../outside".into()),
            ("root/file", outside.join("data")),
        ];
        for (link, leads_to) in links {
            symlink(leads_to, home.path().join(link)).expect("linked");
        }
        home
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let home = directory_with_links();
        let root = &home.path().join("root");
        let origin = &home.path().join("origin");
        fs::write(origin, "other").expect("written");
        for path in [
            "absolute/data",
            "absolute/new/data",
            "deep/er/relative/data",
            "../outside/data",
            "/outside/data",
        ] {
            let path = Path::new(path);
            assert!(write_file(root, path, b"other").is_err(), "{path:?}");
            assert!(copy_file(root, path, origin).is_err(), "{path:?}");
        }
        for path in ["absolute/linked", "deep/er/relative/linked"] {
            create_link_if_free(root, Path::new(path), origin).expect("left alone");
        }
        write_file(root, Path::new("file"), b"other").expect("replaced");
        assert!(!root.join("file").is_symlink());
        let outside = home.path().join("outside");
        let data = fs::read_to_string(outside.join("data"));
        assert_eq!(data.expect("readable"), "untouched");
        assert_eq!(fs::read_dir(outside).expect("readable").count(), 1);
    }

    #[test]
    fn directories_on_the_way_are_made() {
        let home = directory_with_links();
        let root = &home.path().join("root");
        write_file(root, Path::new("deep/new/file"), b"text").expect("written");
        let text = fs::read(root.join("deep/new/file"));
        assert_eq!(text.expect("readable"), b"text");
    }
}
