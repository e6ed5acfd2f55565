//! Drives unmodified Criterion benches through the socket on which they report to a runner.
//!
//! Implements the runner's side of cargo-criterion's protocol, see docs/guide/src/coming-from.md. The child measures by
//! itself. The parent can only delay it: the child waits before its first benchmark and after each one.

mod arguments;
mod connection;
mod message;
mod rehearsal;
mod session;

pub use arguments::{
    CriterionRequest, CriterionSettings, FEWEST_SAMPLES, USUAL_MEASUREMENT, USUAL_WARM_UP,
    round_up_to_seconds,
};
pub(super) use connection::Connection;
pub use message::CriterionVersion;
pub(super) use rehearsal::OutputFilter;
pub use rehearsal::{Rehearsal, RehearsalMode};
pub use session::{CriterionMeasurement, CriterionReport, CriterionSession, ExcessiveDuration};
