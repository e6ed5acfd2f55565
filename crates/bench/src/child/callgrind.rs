//! Runs benches under callgrind, valgrind's instruction counter: finds the installed valgrind and the functions that delimit the timed code, and
//! reads the counts between them.
//!
//! Callgrind writes a file each time the process reaches such a function, before the process goes on. The counts of a
//! window are therefore on disk by the time the process reports its result. The harness and Criterion run unchanged:
//! the delimiting functions are found by name.

mod lines;
mod profile;

pub use self::lines::CountedSources;
pub use self::profile::{Profile, TimedWindows, TimedWindowsError};

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::lines::attribute_lines;
use self::profile::{ClockReadings, ProfilePart};
use super::process::ProcessSpec;
use perfcheck_host::process::{RunError, Supervisor};

/// An installed valgrind that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Valgrind {
    version: String,
}

/// The reason why valgrind cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValgrindError {
    /// Valgrind is not installed.
    #[error("valgrind is not installed")]
    Missing,
    /// Valgrind is installed, but does not work.
    #[error("valgrind does not work: {0}")]
    Broken(String),
}

const PROGRAM: &str = "valgrind";

/// How callgrind divides its counts: by function, by chain of callers or by source line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CountBy {
    /// Each function has one count.
    Function,
    /// Each function has one count for every chain of callers that led to it.
    Stack,
    /// Each line of these files has one count. All other code counts for the line that executed it.
    Line(CountedSources),
}

/// The largest number of callers that callgrind records for a function. About a dozen of them belong to the harness, the rest to the benchmark. The
/// number is limited because mutual recursion has a different stack at every depth.
pub const MOST_CALLERS: usize = 64;

impl Valgrind {
    /// Searches for valgrind on the `PATH` and runs `valgrind --version`.
    pub fn find(supervisor: &Supervisor) -> Result<Self, ValgrindError> {
        let output = supervisor
            .output(Command::new(PROGRAM).arg("--version"))
            .map_err(|error| match error {
                RunError::Start(source) if source.kind() == ErrorKind::NotFound => {
                    ValgrindError::Missing
                }
                // An interrupt by the user ends up here, too. The calling command notices it without our help.
                other => ValgrindError::Broken(other.to_string()),
            })?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if !output.status.success() {
            return Err(ValgrindError::Broken(text(&output.stderr)));
        }
        let version = text(&output.stdout);
        Ok(Self {
            version: version.trim_start_matches("valgrind-").to_owned(),
        })
    }

    /// Returns the version, such as `3.19.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the command line that runs `program` with its arguments under callgrind, which writes its files into
    /// `directory`.
    pub(super) fn command_line(
        directory: &Path,
        bounds: &[OsString],
        counted_by: &CountBy,
        program: &Path,
        arguments: &[OsString],
    ) -> (OsString, Vec<OsString>) {
        let file = |option: &str, name: &str| {
            let mut option = OsString::from(option);
            option.push(directory.join(name));
            option
        };
        let fixed = [
            "--tool=callgrind",
            "--quiet",
            // Do not create pipes in the temporary directory.
            "--vgdb=no",
            "--demangle=no",
            // Count a recursive function once, under its own name.
            "--separate-recs=1",
        ];
        let mut all: Vec<OsString> = fixed.map(OsString::from).to_vec();
        all.push(file("--callgrind-out-file=", "%p"));
        // On stderr, valgrind's messages would be mistaken for output of the bench.
        all.push(file("--log-file=", "log.%p"));
        all.extend_from_slice(bounds);
        match counted_by {
            CountBy::Function => all.push("--dump-line=no".into()),
            CountBy::Stack => {
                all.push("--dump-line=no".into());
                all.push(format!("--separate-callers={MOST_CALLERS}").into());
            }
            CountBy::Line(_) => all.push("--dump-line=yes".into()),
        }
        all.push("--".into());
        all.push(program.into());
        all.extend_from_slice(arguments);
        (PROGRAM.into(), all)
    }
}

/// The files that callgrind writes for one process. Each is read once, in the order in which they were written.
#[derive(Debug)]
pub struct Recording {
    windows: TimedWindows,
    counted_by: CountBy,
    directory: PathBuf,
    /// The number in the name of the next file to read. Callgrind numbers the files of a process from 1.
    next: u32,
    /// The files that belong to the window in which the process is now. A window is the time between two calls of the functions that delimit the
    /// timed code.
    open: Vec<ProfilePart>,
    /// Whether only Criterion reads the clock in its timing methods, or the benchmark does so too. The first window shows it. `None` before that
    /// window, and for other harnesses.
    readings: Option<ClockReadings>,
    is_damaged: bool,
}

/// A line that callgrind logs in every process. It does not report a problem.
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
            &self.counted_by,
            &spec.program,
            &spec.first_arguments,
        );
        ProcessSpec {
            program: program.into(),
            first_arguments,
            ..spec
        }
    }

    /// Returns a profile for each window that the process has completed since the last call.
    pub fn take_windows(&mut self, process: u32) -> Vec<Profile> {
        loop {
            let part = self.part_name(process);
            let part = self.directory.join(part);
            let text = fs::read(&part).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            // Every complete file ends with this line.
            if !text.contains("\ntotals: ") {
                return self.windows.take_timed(&mut self.open, &mut self.readings);
            }
            self.next += 1;
            let parsed = match &self.counted_by {
                CountBy::Line(sources) => attribute_lines(&text, sources),
                CountBy::Function | CountBy::Stack => ProfilePart::parse(&text),
            };
            match parsed {
                Some(part) => self.open.push(part),
                None => self.is_damaged = true,
            }
            // A long bench writes many files, so remove each that was read.
            let _ = fs::remove_file(&part);
        }
    }

    /// Returns the name of the next file. Callgrind writes no number if it writes only one file, at the end of the process.
    fn part_name(&self, process: u32) -> String {
        match (&self.windows, self.next) {
            (TimedWindows::Whole, 1) => process.to_string(),
            (_, next) => format!("{process}.{next}"),
        }
    }

    /// Returns true if a file of callgrind could not be parsed. The counts are then too low.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Returns the first line of valgrind's log that reports a problem, if there is one.
    pub fn first_log_line(&self) -> Option<String> {
        let entries = fs::read_dir(&self.directory).ok()?.filter_map(Result::ok);
        let mut logs =
            entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"log."));
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
