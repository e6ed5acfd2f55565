//! Paths that were compiled into an executable, led to the files of its own side.
//!
//! `env!("CARGO_MANIFEST_DIR")` and `env!("CARGO_BIN_EXE_name")` become text in the executable. Both sides are built at the same path, so both would
//! read the same files, and start the same programs: those that were built last. A path of the same length takes their place, in the copy that
//! is kept; nothing else changes, and whether two sides are identical is decided before.

use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::Path;

/// What takes the place of what. Both have the same length.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Lead {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Lead {
    /// `None` where the lengths differ, or where there is nothing to find.
    pub(crate) fn new(from: &Path, to: &Path) -> Option<Self> {
        let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        let lead = Self {
            from: bytes(from),
            to: bytes(to),
        };
        (!lead.from.is_empty() && lead.from.len() == lead.to.len()).then_some(lead)
    }

    /// The lead that goes from the same place to where `leads` go from its end.
    pub(crate) fn continued(mut self, leads: &[Self]) -> Self {
        for lead in leads {
            lead.apply(&mut self.to);
        }
        self
    }

    /// Puts one in the place of the other, wherever it stands.
    pub(crate) fn apply(&self, bytes: &mut [u8]) -> bool {
        let places: Vec<usize> = memmem::find_iter(bytes, &self.from).collect();
        for start in &places {
            bytes[*start..start + self.to.len()].copy_from_slice(&self.to);
        }
        !places.is_empty()
    }
}

/// Applies all leads to a file.
pub(crate) fn apply(leads: &[Lead], path: &Path) -> io::Result<()> {
    // Elsewhere executables are signed, and would not start any more.
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let mut bytes = fs::read(path)?;
    let mut changed = false;
    for lead in leads {
        changed |= lead.apply(&mut bytes);
    }
    if changed {
        // A new file: nobody can be running it.
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
        let lead = Lead::new(Path::new("/a/b"), Path::new("/c/d")).expect("the same length");
        let mut bytes = b"/a/b/x\0/a//a/b/a/bc/a/".to_vec();
        assert!(lead.apply(&mut bytes));
        assert_eq!(bytes, b"/c/d/x\0/a//c/d/c/dc/a/");
        assert!(!lead.apply(&mut bytes));
    }

    #[test]
    fn paths_of_other_lengths_are_left_alone() {
        assert!(Lead::new(Path::new("/a"), Path::new("/bc")).is_none());
        assert!(Lead::new(Path::new(""), Path::new("")).is_none());
    }
}
