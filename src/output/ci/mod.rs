//! Reports for other programs and for people away from the terminal: GitHub, GitLab, readers of `JUnit`'s XML, and Markdown for comments.
//!
//! Must not decide. Invariant: a benchmark's name cannot break out of its place in a format, or start a command.

mod context;
mod github;
mod gitlab;
mod junit;
mod kind;
mod markdown;

pub use context::{ReportContext, SourcePlace};
pub use kind::{ReportKind, write_report};
