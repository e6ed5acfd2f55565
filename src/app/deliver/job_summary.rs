//! The summary of a GitHub Actions job: a file to which every step appends complete reports.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Maximum bytes of a step's summary. GitHub shows nothing of a larger file, so exceeding it would lose earlier reports, too.
///
/// GitHub Docs, "Workflow commands for GitHub Actions", "Step isolation and limits".
const MOST: u64 = 1024 * 1024;

/// Appends `text` to the file, creating it if necessary.
pub(in crate::app) fn append(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    let before = file.metadata()?;
    if before.is_file() && before.len().saturating_add(text.len() as u64) > MOST {
        return Err(io::Error::other(
            "with this report it would have more than the 1 MiB that GitHub takes of a step",
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
    use super::*;
    use std::fs;

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
