//! Output for people: results on stdout, everything else on stderr.

use std::io::{self, Write};
use std::process::{self, ExitCode};

/// Prints to stdout. If the reader has closed the pipe, the process exits successfully; `head` does so when it has seen enough.
pub fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => process::exit(0),
        Err(error) => {
            print_note(&format!("error: cannot write the results: {error}"));
            process::exit(2);
        }
    }
}

/// Prints a line to stderr, ignoring errors: there may be no stderr.
pub fn print_note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints an error message and returns the exit code.
pub(crate) fn fail_with(code: u8, message: &str) -> ExitCode {
    print_note(&format!("error: {message}"));
    ExitCode::from(code)
}
