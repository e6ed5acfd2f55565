//! What one process under callgrind has written so far.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::profile::{Profile, ProfilePart};
use super::valgrind::{CountedBy, Valgrind};
use super::windows::{ClockReadings, Windows};
use crate::child::launch_spec::LaunchSpec;

/// The files of a process, read in the order in which they are written, each once.
#[derive(Debug)]
pub struct Recording {
    windows: Windows,
    counted_by: CountedBy,
    directory: PathBuf,
    /// Ordinal of the next one.
    next: u32,
    /// What belongs to no whole window yet.
    open: Vec<ProfilePart>,
    /// What the first window has shown.
    readings: Option<ClockReadings>,
    is_damaged: bool,
}

/// It says so of every process.
const POSITIONS: &str = "Using source line as position.";

impl Recording {
    /// Into `directory`, which is there and empty.
    pub fn new(windows: Windows, counted_by: CountedBy, directory: PathBuf) -> Self {
        Self {
            windows,
            counted_by,
            directory,
            next: 1,
            open: Vec::new(),
            readings: None,
            is_damaged: false,
        }
    }

    /// The process to be started in place of `spec`.
    #[must_use]
    pub fn of(&self, spec: LaunchSpec) -> LaunchSpec {
        let bounds = self.windows.bounds();
        let (program, first_arguments) = Valgrind::command(
            &self.directory,
            &bounds,
            self.counted_by,
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
            let text = fs::read(&part).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            // The line that a part ends with.
            if !text.contains("\ntotals: ") {
                return self.windows.timed(&mut self.open, &mut self.readings);
            }
            self.next += 1;
            match ProfilePart::parse(&text) {
                Some(part) => self.open.push(part),
                None => self.is_damaged = true,
            }
            // Of long benches there are many.
            let _ = fs::remove_file(&part);
        }
    }

    /// Whether a part could not be read: then what was counted is too little.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// What valgrind had to say, its first line.
    pub fn complaint(&self) -> Option<String> {
        let entries = fs::read_dir(&self.directory).ok()?.filter_map(Result::ok);
        let mut logs = entries.filter(|entry| entry.file_name().as_bytes().starts_with(b"log."));
        logs.find_map(|log| {
            let text = fs::read_to_string(log.path()).ok()?;
            let behind_number = |line: &str| {
                let rest = line
                    .trim_start_matches('=')
                    .trim_start_matches(|c: char| c.is_ascii_digit());
                rest.trim_start_matches('=').trim().to_owned()
            };
            let mut lines = text.lines().map(behind_number);
            lines.find(|line| !line.is_empty() && line != POSITIONS)
        })
    }
}
