//! The location of an HTML page, and the name that the page gives the workspace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::app::context::Context;

/// Name of the page's file in a directory.
const INDEX: &str = "index.html";

/// Returns the workspace's name for a page. Pages are sent to others, so the name omits the rest of the path.
pub(in crate::app) fn workspace_name(context: &Context) -> String {
    let root = context.workspace.root();
    let name = root.file_name().unwrap_or(root.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Reports whether a path denotes a directory.
pub(in crate::app) fn is_directory(place: &Path) -> bool {
    let text = place.as_os_str().to_string_lossy();
    text.ends_with(std::path::is_separator) || place.is_dir()
}

/// Returns the file for a path. For a directory, which is created if the path ends in a separator, this is its index file.
pub(in crate::app) fn page_file(place: &Path) -> io::Result<PathBuf> {
    let about =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", place.display()));
    if !is_directory(place) {
        return Ok(place.to_owned());
    }
    fs::create_dir_all(place).map_err(about)?;
    Ok(place.join(INDEX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_gets_an_index_and_a_file_is_taken_as_it_is() {
        let here = tempfile::tempdir().expect("a directory");
        let place = |name: &str| page_file(&here.path().join(name)).expect("a place");
        assert_eq!(place("page.html"), here.path().join("page.html"));
        let made = place("a/b/");
        assert!(made.ends_with("a/b/index.html") && here.path().join("a/b").is_dir());
        assert!(place("a").ends_with("a/index.html"));
    }
}
