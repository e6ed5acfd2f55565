//! Reports for CI systems and for people away from the terminal: annotations for GitHub, two reports for GitLab, XML in `JUnit`'s format, and
//! Markdown for comments.
//!
//! This module must not decide anything. Invariant: the name of a benchmark cannot break out of its place in a format, or start a command.

mod context;
mod github;
mod gitlab;
mod junit;
mod kind;
mod markdown;

pub use context::{ReportContext, SourcePlace};
pub use kind::{ReportKind, write_report};
