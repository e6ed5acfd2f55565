//! Reads the files that one process under callgrind has written so far.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::profile::{Profile, ProfilePart};
use super::valgrind::{CountBy, Valgrind};
use super::windows::{ClockReadings, TimedWindows};
use crate::child::launch_spec::ProcessSpec;

/// The files of one process, each read once and in the order in which they were written.
#[derive(Debug)]
pub struct Recording {
    windows: TimedWindows,
    counted_by: CountBy,
    directory: PathBuf,
    /// Number of the next file to read.
    next: u32,
    /// Parts of a window that is not complete yet.
    open: Vec<ProfilePart>,
    /// Whether the benchmark itself reads the clock, as found in the first window.
    readings: Option<ClockReadings>,
    is_damaged: bool,
}

/// Callgrind prints this line in every process; it is no complaint.
const POSITIONS: &str = "Using source line as position.";

impl Recording {
    /// Creates a recording into `directory`, which must exist and be empty.
    pub fn new(windows: TimedWindows, counted_by: CountBy, directory: PathBuf) -> Self {
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

    /// Returns `spec` changed to run under callgrind.
    #[must_use]
    pub fn wrap_spec(&self, spec: ProcessSpec) -> ProcessSpec {
        let bounds = self.windows.dump_options();
        let (program, first_arguments) = Valgrind::command_line(
            &self.directory,
            &bounds,
            self.counted_by,
            &spec.program,
            &spec.first_arguments,
        );
        ProcessSpec {
            program: program.into(),
            first_arguments,
            ..spec
        }
    }

    /// Returns the windows that the process completed since the last call, one profile each.
    pub fn take_windows(&mut self, process: u32) -> Vec<Profile> {
        loop {
            let part = self.directory.join(format!("{process}.{}", self.next));
            let text = fs::read(&part).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            // Every complete file ends with this line.
            if !text.contains("\ntotals: ") {
                return self.windows.take_timed(&mut self.open, &mut self.readings);
            }
            self.next += 1;
            match ProfilePart::parse(&text) {
                Some(part) => self.open.push(part),
                None => self.is_damaged = true,
            }
            // A long bench writes many files.
            let _ = fs::remove_file(&part);
        }
    }

    /// Reports whether a file could not be read, so that the counts are too low.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Returns the first line that valgrind logged, if any.
    pub fn first_log_line(&self) -> Option<String> {
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
