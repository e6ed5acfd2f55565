//! Turns comparisons into findings: result rows, remarks, exceeded limits and the exit code.
//!
//! This module must not print, read a store or measure. Its findings are data, which the output layers turn into sentences.

mod check_limits;
mod conclusion;
mod limit;
mod paired;
mod remark;
mod row;
mod sizes;
mod stored;

pub use conclusion::{Conclusion, ConclusionError, Coverage, Evidence, GatePolicy, conclude};
pub use limit::{Ceiling, ExceededLimit, Limit, LimitNote, LimitReport, Scope};
pub use paired::{PairedEvidence, RoundsCost};
pub use remark::{
    BenchmarkNote, ChangedFunction, CodeChange, ComparedBuilds, RunNote, Sameness, SizeChange,
};
pub use row::{ComparisonContext, FailedTarget, Findings, Method, Order, Row, SortKey};
pub use stored::{ReferenceChoice, References, StoredEvidence, is_large_start_up, summarize_all};
