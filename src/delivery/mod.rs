//! Delivers results to streams, files, reports, the summary of a CI job and the page.
//!
//! Must not decide or measure.

pub(crate) mod files;
pub(crate) mod method;
pub(crate) mod page;
pub(crate) mod progress;
pub(crate) mod reports;

pub use reports::{ReportOptions, ReportRequest, RequestedReportKind};
