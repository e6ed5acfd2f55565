//! Delivers results to streams, files, reports, the summary of a CI job and the page.
//!
//! Must not decide or measure.

pub(in crate::app) mod job_summary;
pub(in crate::app) mod method;
pub(in crate::app) mod next_steps;
pub(in crate::app) mod page;
pub(in crate::app) mod page_place;
pub(in crate::app) mod place;
pub(in crate::app) mod reports;
mod source_place;
pub(in crate::app) mod whole_file;
pub(in crate::app) mod working;
pub(in crate::app) mod write;

pub use reports::{ReportOptions, ReportRequest, RequestedReportKind};
