//! Errors of reading and writing files of other programs, worded for the user of the command line.

use std::fmt::{self, Write as _};
use std::io;
use std::path::PathBuf;

/// A row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedRow {
    /// Index of the file among those read.
    pub file: usize,
    /// Name of the file.
    pub name: String,
    /// Line on which the row begins, from 1.
    pub line: u64,
    /// The column, as the column map names it; `None` for the whole row.
    pub column: Option<String>,
    /// A description of the error, in words that continue a sentence about the row or column.
    pub reason: String,
}

impl fmt::Display for MalformedRow {
    /// Writes position and reason in the style of compilers: `a.csv:12: has 3 columns instead of 2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.name, self.line)?;
        if let Some(column) = &self.column {
            write!(f, "column `{column}` ")?;
        }
        f.write_str(&self.reason)
    }
}

/// The error of an import or export.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// A file could not be opened or read.
    #[error("could not read {}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A file exceeds the size limit.
    #[error(
        "{name} is larger than {limit_mib} MiB\n  help: split it, and give all parts of one session the same value in a process column"
    )]
    TooLong {
        /// Name of the file.
        name: String,
        /// The limit, in MiB.
        limit_mib: u64,
    },
    /// The column map is invalid.
    #[error("invalid column map: {0}")]
    ColumnMap(String),
    /// The column map names a column that the file does not have.
    #[error("{name} has no column `{column}`; {}", describe_columns(there))]
    NoColumn {
        /// Name of the file.
        name: String,
        /// The column that the file does not have.
        column: String,
        /// The columns of the file.
        there: Vec<String>,
    },
    /// The column map uses a column name that occurs twice.
    #[error(
        "{name} has several columns named `{column}`\n  help: use a column number: `#{first}` or `#{second}`"
    )]
    SeveralColumns {
        /// Name of the file.
        name: String,
        /// The column name that occurs several times.
        column: String,
        /// Number of the first such column.
        first: usize,
        /// Number of the second such column.
        second: usize,
    },
    /// The unit of the values is unknown.
    #[error(
        "the unit of column `{0}` is unknown\n  help: add `--unit ns` (or us, ms, s, ticks:100ns, ops/s, bytes/s, ...), or add `value={0}[ns]` or `unit=COLUMN` to the column map; `--guess-units` reads large values as ticks of 100 ns"
    )]
    NoUnit(String),
    /// Rows could not be read.
    #[error("{}", describe_malformed_rows(rows, *total))]
    Malformed {
        /// The first of the malformed rows.
        rows: Vec<MalformedRow>,
        /// Number of all malformed rows.
        total: u64,
    },
    /// The files have no rows.
    #[error("there are no values in {names}{hint}")]
    Empty {
        /// Names of the files.
        names: String,
        /// Advice for the user, or nothing.
        hint: &'static str,
    },
    /// A file violates its format.
    #[error("{place}: {reason}; nothing was stored")]
    Broken {
        /// The file, followed by line and column or by the path within its JSON.
        place: String,
        /// A description of the error in the file, and advice.
        reason: String,
    },
    /// The content of a file matches no known format.
    #[error(
        "the format of {0} is not known\n  help: set `--format` to criterion (a directory), critcmp, hyperfine, divan, libtest or jsonl; a table of values needs `--columns`"
    )]
    UnknownFormat(String),
    /// Files of different formats cannot form one run.
    #[error(
        "{first} is {first_format} and {second} is {second_format}\n  help: import each format separately"
    )]
    SeveralFormats {
        /// Name of the first file.
        first: String,
        /// Format of the first file.
        first_format: String,
        /// Name of the second file.
        second: String,
        /// Format of the second file.
        second_format: String,
    },
    /// A file could not be written.
    #[error("could not write {}: {source}", path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A limit is exceeded.
    #[error("there are more than {most} {what}\n  help: {hint}")]
    TooMany {
        /// The name of the items of which there are too many, as a noun in the plural.
        what: &'static str,
        /// The maximum number that is allowed.
        most: usize,
        /// Advice for the user.
        hint: &'static str,
    },
    /// The user interrupted the command.
    #[error("interrupted")]
    Interrupted,
}

fn describe_columns(there: &[String]) -> String {
    match there {
        [only] if only.contains([';', '\t', '|']) => {
            let separator = if only.contains(';') {
                "';'"
            } else if only.contains('\t') {
                "tab"
            } else {
                "'|'"
            };
            format!(
                "its first line has only one column: `{}`\n  help: to split columns at another character, add `--separator {separator}`",
                only.escape_debug()
            )
        }
        [] => "the file is empty".to_owned(),
        [only] if only.is_empty() => "its first line is empty".to_owned(),
        _ => format!(
            "its columns are {}\n  help: name a column as in the first line, or by number: `#1`",
            there.join(", ")
        ),
    }
}

fn describe_malformed_rows(rows: &[MalformedRow], total: u64) -> String {
    let plural = if total == 1 {
        "row cannot"
    } else {
        "rows cannot"
    };
    let mut text = format!("{total} {plural} be read; nothing was stored");
    for row in rows {
        let _ = write!(text, "\n  {row}");
    }
    if total > rows.len() as u64 {
        let _ = write!(text, "\n  and {} more", total - rows.len() as u64);
    }
    let has_commas = |row: &MalformedRow| {
        row.reason.ends_with("is not a number")
            && row.reason.matches(',').count() == 1
            && !row.reason.contains('.')
    };
    if rows.iter().any(has_commas) {
        text.push_str("\n  help: use `--decimal-comma` to read 1,5 as 1.5");
    }
    text.push_str("\n  help: use `--lenient` to skip such rows and count them");
    text
}

/// Returns the reason of a JSON error without the position, which messages show separately. The reason is cut after 300 characters, since it may
/// quote the input.
pub(super) fn reason_without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ");
    let reason = reason.map_or(text.as_str(), |(reason, _)| reason);
    reason.chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_numbers_may_be_decimal_commas() {
        let has_hint = |reason: &str| {
            let row = MalformedRow {
                file: 0,
                name: "a.csv".to_owned(),
                line: 2,
                column: Some("ms".to_owned()),
                reason: reason.to_owned(),
            };
            describe_malformed_rows(&[row], 1).contains("--decimal-comma")
        };
        assert!(has_hint("`1,5` is not a number"));
        assert!(!has_hint("`1,234.5` is not a number"));
        assert!(!has_hint("`1 ms` is not a number"));
        assert!(!has_hint("is empty"));
    }

    #[test]
    fn a_file_without_a_header_line_is_empty() {
        assert_eq!(describe_columns(&[]), "the file is empty");
        let there = ["a".to_owned(), "b".to_owned()];
        assert!(describe_columns(&there).starts_with("its columns are a, b\n"));
    }
}
