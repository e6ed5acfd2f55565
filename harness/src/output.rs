//! What the executable says to people: results on stdout, all else on stderr.

use std::io::{self, Write};
use std::process::{self, ExitCode};

/// Prints to stdout. A reader that has seen enough and closed the pipe is a success.
pub fn print(text: &str) {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => process::exit(0),
        Err(error) => {
            note(&format!("error: cannot write the results: {error}"));
            process::exit(2);
        }
    }
}

/// Prints a line to stderr, if there is one.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Ends with an error.
pub(crate) fn fail(code: u8, message: &str) -> ExitCode {
    note(&format!("error: {message}"));
    ExitCode::from(code)
}
