//! Delivers results to streams, files, reports, the summary of a CI job and the page.
//!
//! This module must not decide or measure anything.

pub(crate) mod files;
pub(crate) mod method;
pub(crate) mod page;
pub(crate) mod reports;

pub use reports::{ReportOptions, ReportRequest, RequestedReportKind};
