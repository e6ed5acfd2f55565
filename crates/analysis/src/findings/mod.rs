//! From comparisons to findings: rows, remarks, exceeded limits, and the outcome. Pure: data in, data out.
//!
//! Must not print, read a store or measure. Invariant: findings are data; the output layers turn them into sentences.

mod check_limits;
mod code;
mod conclude;
mod evidence;
mod in_turn;
mod limit;
mod order;
mod references;
mod remark;
mod renumber;
mod row;
mod stored;

pub use code::{ChangedFunction, CodeChange, ComparedBuilds, Sameness};
pub use conclude::{Conclusion, ConclusionError, Coverage, GatePolicy, conclude};
pub use evidence::Evidence;
pub use in_turn::{PairedEvidence, RoundsCost};
pub use limit::{Ceiling, ExceededLimit, Limit, LimitNote, LimitReport, Scope};
pub use order::{Order, SortKey};
pub use references::{ReferenceChoice, References};
pub use remark::{BenchmarkNote, RunNote};
pub use row::{ComparisonContext, FailedTarget, Findings, Method, Row};
pub use stored::{StoredEvidence, summarize_all};
