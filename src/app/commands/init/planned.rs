//! Files that are written together: all or none.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::app::deliver::whole_file::write_whole;
use crate::app::error::AppError;

/// The files to write.
#[derive(Debug, Default)]
pub(super) struct PlannedFiles {
    files: Vec<PlannedFile>,
}

#[derive(Debug)]
struct PlannedFile {
    path: PathBuf,
    /// Current content; `None` for a new file. Only files whose content was read are ever changed
    old: Option<String>,
    new: String,
}

impl PlannedFiles {
    /// Plans a new file.
    pub(super) fn create(&mut self, path: PathBuf, content: String) -> Result<(), AppError> {
        if path.symlink_metadata().is_ok() {
            return Err(AppError::Usage(format!(
                "`{}` is there already; nothing was written\n  help: move it away and run this again",
                path.display()
            )));
        }
        self.files.push(PlannedFile {
            path,
            old: None,
            new: content,
        });
        Ok(())
    }

    /// Plans a change of a file.
    pub(super) fn change(&mut self, path: PathBuf, old: String, new: String) {
        self.files.push(PlannedFile {
            path,
            old: Some(old),
            new,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Prints the planned files without writing them. Paths are relative to `root` if possible.
    pub(super) fn show(&self, root: &Path, out: &mut dyn Write) -> io::Result<()> {
        for file in &self.files {
            let path = display_path(&file.path, root);
            let added = (file.old.as_deref()).and_then(|old| added_lines(old, &file.new));
            match (&file.old, &added) {
                (Some(_), Some(_)) => writeln!(out, "\n{path}, added:\n")?,
                (Some(_), None) => writeln!(out, "\n{path}, changed:\n")?,
                (None, _) => writeln!(out, "\n{path}, new:\n")?,
            }
            let text = added.as_deref().unwrap_or(&file.new).trim_matches('\n');
            for line in text.lines() {
                writeln!(out, "{}", format!("    {line}").trim_end())?;
            }
        }
        Ok(())
    }

    /// Writes the files and lists them. After an error, restores the files written before it.
    pub(super) fn write(&self, root: &Path, out: &mut dyn Write) -> Result<(), AppError> {
        let mut made = Vec::new();
        for (count, file) in self.files.iter().enumerate() {
            let written = create_directories(&file.path, &mut made)
                .and_then(|()| write_whole(&file.path, file.new.as_bytes()));
            if let Err(error) = written {
                self.restore(count, &made);
                return Err(error.into());
            }
        }
        for file in &self.files {
            let verb = if file.old.is_some() {
                "Changed"
            } else {
                "Wrote"
            };
            writeln!(out, "{verb} {}", display_path(&file.path, root))?;
        }
        Ok(())
    }

    /// Restores the files. Ignores errors: the first error is the one to report.
    fn restore(&self, written: usize, made: &[PathBuf]) {
        for file in &self.files[..written] {
            let _ = match &file.old {
                Some(old) => write_whole(&file.path, old.as_bytes()),
                None => fs::remove_file(&file.path),
            };
        }
        for directory in made.iter().rev() {
            let _ = fs::remove_dir(directory);
        }
    }
}

/// Creates the directories above `path` one by one, and records them in `made`.
fn create_directories(path: &Path, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    for directory in above.into_iter().rev().filter(|above| !above.exists()) {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", directory.display()))
        };
        fs::create_dir(directory).map_err(named)?;
        made.push(directory.to_owned());
    }
    Ok(())
}

/// Formats a path relative to the root of the workspace if it is below it.
pub(super) fn display_path(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Returns the lines that `new` adds to `old`; `None` if `new` lacks a line of `old`.
fn added_lines(old: &str, new: &str) -> Option<String> {
    let mut old = old.lines().peekable();
    let mut added = Vec::new();
    for line in new.lines() {
        if old.next_if_eq(&line).is_none() {
            added.push(line);
        }
    }
    old.peek().is_none().then(|| added.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_to_a_file_is_told_from_what_was_there() {
        assert_eq!(
            added_lines("a\nb\n", "a\nx\nb\ny\n").as_deref(),
            Some("x\ny")
        );
        assert_eq!(added_lines("a\nb\n", "a\nc\n"), None);
    }

    #[test]
    fn what_comes_before_a_file_that_cannot_be_written_is_taken_back() {
        let directory = tempfile::tempdir().expect("a directory");
        let manifest = directory.path().join("Cargo.toml");
        fs::write(&manifest, "old").expect("written");
        let mut files = PlannedFiles::default();
        files.change(manifest.clone(), "old".to_owned(), "new".to_owned());
        let bench = directory.path().join("benches/first.rs");
        files.create(bench, String::new()).expect("it is not there");
        // A path below a file cannot be created.
        let nowhere = manifest.join("more/file");
        files
            .create(nowhere, String::new())
            .expect("it is not there");
        let error = files.write(directory.path(), &mut Vec::new());
        let error = error.expect_err("a file is no directory").to_string();
        assert!(error.contains("Cargo.toml/more"), "{error}");
        assert_eq!(fs::read_to_string(&manifest).expect("read"), "old");
        assert_eq!(fs::read_dir(directory.path()).expect("read").count(), 1);
    }
}
