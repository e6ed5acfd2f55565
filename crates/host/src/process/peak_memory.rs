//! A helper process that runs a program and reports the most memory that the program had.
//!
//! A process starts in the memory of the process that starts it, or with a copy of that memory. Linux counts this as a part of the peak. Our memory is
//! often larger than that of the program, so the peak of a process that we start ourselves would be ours. The helper is the same executable, but it
//! does nothing else, and only the memory that it has written is copied: about 2.4 MB in a debug build. A program with a smaller peak seems to
//! have this one.

#![expect(clippy::disallowed_methods, reason = "starts itself as the helper")]

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::os;

/// The argument that starts the executable as the helper. The program and its arguments follow.
pub const PEAK_MEMORY_ARGUMENT: &str = "__peak-memory";

/// The exit status of the helper if the program did not end by itself.
const KILLED: u8 = 255;

/// Returns a command that runs `program` in the helper. Arguments that are added to it are those of the program, whose standard output is discarded.
/// The helper prints the peak memory in bytes. Returns `None` if the system does not report peak memory.
pub fn peak_memory_command(program: &Path) -> Option<Command> {
    if !os::REPORTS_PEAK_MEMORY {
        return None;
    }
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.arg(PEAK_MEMORY_ARGUMENT).arg(program);
    Some(command)
}

/// Runs the program whose path and arguments are `line`, as the helper does, and writes its peak memory to `report`. Returns the exit status of the
/// program.
pub fn report_peak_memory(line: &[OsString], report: &mut dyn Write) -> io::Result<u8> {
    let (program, arguments) = line.split_first().ok_or(ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null());
    let mut child = os::copy_at_start(&mut command).spawn()?;
    // The program is in the group of the helper. It is waited for before it is reaped, because its usage is gone afterwards.
    os::take_group(&mut child)?.wait_for_leader();
    let usage = os::usage_of_ended(child.id());
    let status = child.wait()?;
    if let Some(peak) = usage.and_then(|usage| usage.peak_memory) {
        writeln!(report, "{peak}")?;
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(KILLED))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Returns the exit status and the report of a shell script that the helper runs.
    fn run(script: &str) -> (u8, u64) {
        let line = ["/bin/sh", "-c", script].map(OsString::from);
        let mut report = Vec::new();
        let status = report_peak_memory(&line, &mut report).expect("it runs");
        let report = String::from_utf8(report).expect("a number");
        (status, report.trim().parse().expect("a number"))
    }

    #[test]
    fn the_exit_status_is_that_of_the_program() {
        assert_eq!(run("echo words; exit 7").0, 7);
        assert_eq!(run("kill -9 $$").0, KILLED);
    }

    #[test]
    fn a_program_that_needs_more_memory_has_a_higher_peak() {
        // The shell keeps the text of the variable in memory. Without the text, the peak is that of the test process, in
        // which other tests run at the same time; they need much less.
        const TEXT: u64 = 200_000_000;
        let large = format!("x=$(head -c {TEXT} /dev/zero | tr '\\0' x)");
        let [small, large] = ["true", &large].map(|script| run(script).1);
        assert!(small < TEXT && large > TEXT, "{small} {large}");
    }
}
