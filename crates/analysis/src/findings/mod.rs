//! From comparisons to what is told of them: rows, remarks, limits that are kept or exceeded, and the outcome. Pure: data in, data out.
//!
//! Must not print, read a store or measure. Invariant: what is to be told is data here; words are made by whoever tells it.

mod check_limits;
mod code;
mod conclude;
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
pub use in_turn::{RoundsCost, RoundsEvidence};
pub use limit::{Ceiling, Exceeded, Limit, LimitRemark, Limits, Scope};
pub use order::{Order, SortKey};
pub use references::{Chosen, References};
pub use remark::{Remark, RunRemark};
pub use row::{FailedTarget, Findings, Method, Row, Verdicts};
pub use stored::{StoredEvidence, summarize_all};
