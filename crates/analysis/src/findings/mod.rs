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
pub use conclude::{Conclusion, ConclusionError, Coverage, Terms, conclude};
pub use evidence::Evidence;
pub use in_turn::{RoundsCost, RoundsEvidence};
pub use limit::{Ceiling, Exceeded, Limit, LimitRemark, Limits, Scope};
pub use order::{Order, SortKey};
pub use references::{Chosen, References};
pub use remark::{Remark, RunRemark};
pub use row::{FailedTarget, Findings, Method, Row, Verdicts};
pub use stored::{StoredEvidence, summarize_all};
