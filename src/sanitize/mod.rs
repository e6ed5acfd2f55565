//! Escapes for foreign text in our output: one function for each place that it may appear in.
//!
//! Names of benchmarks, branches and baselines, messages of panics and imported files may contain anything. These functions turn them into text
//! that its reader (a terminal, a browser, a spreadsheet, a CI system) treats as mere text. This is the lowest of all modules: every module that
//! writes may use it. Invariant: harmless text stays unchanged, and harmful text stays visible.

mod formats;
mod markdown;
mod terminal;
mod workflow;

pub use formats::{
    csv_cell, csv_text, html, in_script as json_in_script, json, openmetrics_label, xml,
};
pub use markdown::{code as markdown_code, prose as markdown};
pub use terminal::{
    EscapedStream, format_command as shell_command, is_harmful, lines as terminal_lines, one_line,
    quote as shell_quoted,
};
pub use workflow::{
    CommandGuard, LogCommands, data as workflow_data, property as workflow_property,
};
