//! Escapes for foreign text in our output: one function for each place that it may appear in.
//!
//! Names of benchmarks, branches and baselines, messages of panics and imported files may contain anything. These functions turn them into text
//! that its reader (a terminal, a browser, a spreadsheet, a CI system) treats as mere text. This is the lowest of all modules: every module that
//! writes may use it. Invariant: harmless text stays unchanged, and harmful text stays visible.

mod markdown;
mod markup;
mod shell;
mod spreadsheet;
mod terminal;
mod workflow;

pub use markdown::{code as markdown_code, prose as markdown};
pub use markup::{html, in_script as json_in_script, json, openmetrics_label, xml};
pub use shell::{format_command as shell_command, quote as shell_quoted};
pub use spreadsheet::{cell as csv_cell, text as csv_text};
pub use terminal::{EscapedStream, is_harmful, lines as terminal_lines, one_line};
pub use workflow::{
    CommandGuard, LogCommands, data as workflow_data, property as workflow_property,
};
