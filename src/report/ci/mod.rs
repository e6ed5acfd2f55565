//! Results for other programs and for people elsewhere: GitHub, GitLab, whatever reads `JUnit`'s XML, and Markdown for comments.
//!
//! Must not decide. Invariant: a name from a bench can neither end the form that it stands in nor begin a command.

mod context;
mod github;
mod gitlab;
mod gitlab_metrics;
mod junit;
mod kind;
mod markdown;

pub use context::{ReportContext, SourcePlace};
pub use kind::{ReportKind, write_report};
