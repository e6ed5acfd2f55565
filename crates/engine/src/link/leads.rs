//! Rewrites paths that were compiled into an executable, so that they lead to the files of its own side.
//!
//! `env!("CARGO_MANIFEST_DIR")` and `env!("CARGO_BIN_EXE_name")` become text in the executable. Both sides are built at the same path, so both would
//! read the files and start the programs of the last build. In the kept copy, a path of the same length replaces this text; nothing else changes.
//! Whether two sides are identical is decided before that.

use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::Path;

/// A path and its replacement of the same length.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PathRewrite {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl PathRewrite {
    /// Returns `None` if the lengths differ, or if `from` is empty.
    pub(crate) fn new(from: &Path, to: &Path) -> Option<Self> {
        let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        let lead = Self {
            from: bytes(from),
            to: bytes(to),
        };
        (!lead.from.is_empty() && lead.from.len() == lead.to.len()).then_some(lead)
    }

    /// Returns the rewrite that is equivalent to this one followed by `leads`.
    pub(crate) fn then(mut self, leads: &[Self]) -> Self {
        for lead in leads {
            lead.apply(&mut self.to);
        }
        self
    }

    /// Replaces every occurrence of the path. Reports whether there was one.
    pub(crate) fn apply(&self, bytes: &mut [u8]) -> bool {
        let places: Vec<usize> = memmem::find_iter(bytes, &self.from).collect();
        for start in &places {
            bytes[*start..start + self.to.len()].copy_from_slice(&self.to);
        }
        !places.is_empty()
    }
}

/// Applies all rewrites to a file.
pub(crate) fn apply_all(leads: &[PathRewrite], path: &Path) -> io::Result<()> {
    // On other systems executables are signed, and a changed one would not start.
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let mut bytes = fs::read(path)?;
    let mut changed = false;
    for lead in leads {
        changed |= lead.apply(&mut bytes);
    }
    if changed {
        // Write a new file instead of changing one that a process may be running.
        let permissions = fs::metadata(path)?.permissions();
        fs::remove_file(path)?;
        fs::write(path, bytes)?;
        fs::set_permissions(path, permissions)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_occurrence_is_replaced_and_nothing_else() {
        let lead = PathRewrite::new(Path::new("/a/b"), Path::new("/c/d")).expect("the same length");
        let mut bytes = b"/a/b/x\0/a//a/b/a/bc/a/".to_vec();
        assert!(lead.apply(&mut bytes));
        assert_eq!(bytes, b"/c/d/x\0/a//c/d/c/dc/a/");
        assert!(!lead.apply(&mut bytes));
    }

    #[test]
    fn paths_of_other_lengths_are_left_alone() {
        assert!(PathRewrite::new(Path::new("/a"), Path::new("/bc")).is_none());
        assert!(PathRewrite::new(Path::new(""), Path::new("")).is_none());
    }
}
