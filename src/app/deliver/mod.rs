//! Delivers results to streams, files, reports, the summary of a CI job and the page.
//!
//! Must not decide or measure.

pub(in crate::app) mod files;
pub(in crate::app) mod method;
pub(in crate::app) mod next_steps;
pub(in crate::app) mod page;
pub(in crate::app) mod progress;
pub(in crate::app) mod reports;

pub use reports::{ReportOptions, ReportRequest, RequestedReportKind};
