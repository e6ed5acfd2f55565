//! What one process under callgrind has written so far.

use std::fs;
use std::path::PathBuf;

use super::profile::{Profile, ProfilePart};
use super::valgrind::Valgrind;
use super::windows::Windows;
use crate::child::launch_spec::LaunchSpec;

/// The files of a process, read in the order in which they are written, each once.
#[derive(Debug)]
pub struct Recording {
    windows: Windows,
    directory: PathBuf,
    /// Ordinal of the next one.
    next: u32,
    /// What belongs to no whole window yet.
    open: Vec<ProfilePart>,
}

impl Recording {
    /// Into `directory`, which is there and empty.
    pub fn new(windows: Windows, directory: PathBuf) -> Self {
        Self {
            windows,
            directory,
            next: 1,
            open: Vec::new(),
        }
    }

    /// The process to be started in place of `spec`.
    #[must_use]
    pub fn of(&self, spec: LaunchSpec) -> LaunchSpec {
        let bounds = self.windows.bounds();
        let (program, first_arguments) = Valgrind::command(
            &self.directory,
            &bounds,
            &spec.program,
            &spec.first_arguments,
        );
        LaunchSpec {
            program: program.into(),
            first_arguments,
            ..spec
        }
    }

    /// What the process of this number has done in windows since this was asked last, a profile for each.
    pub fn windows(&mut self, process: u32) -> Vec<Profile> {
        loop {
            let part = self.directory.join(format!("{process}.{}", self.next));
            // The next one is there: this one was written to its end.
            let is_whole = |text: &String| text.contains("\ntotals: ");
            let Some(text) = fs::read_to_string(&part).ok().filter(is_whole) else {
                return self.windows.timed(&mut self.open);
            };
            self.next += 1;
            self.open.extend(ProfilePart::parse(&text));
            // Of long benches there are many.
            let _ = fs::remove_file(&part);
        }
    }

    /// What callgrind had to say of the process, its first line.
    pub fn complaint(&self, process: u32) -> Option<String> {
        let log = fs::read_to_string(self.directory.join(format!("log.{process}"))).ok()?;
        let said = log
            .lines()
            .map(|line| line.trim_start_matches(|c: char| "= 0123456789".contains(c)));
        said.map(str::trim)
            .find(|line| !line.is_empty())
            .map(str::to_owned)
    }
}
