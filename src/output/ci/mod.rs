//! Reports for other programs and for readers elsewhere: GitHub, GitLab, readers of `JUnit`'s XML, and Markdown for comments.
//!
//! Must not decide. Invariant: a benchmark's name cannot break out of its place in a format, or start a command.

mod github;
mod gitlab;
mod junit;
mod markdown;
mod report;

pub use report::{ReportContext, ReportKind, SourcePlace, write_report};
