//! Drives unmodified Criterion benches through the socket on which they report to a runner.
//!
//! Implements the runner's side of cargo-criterion's protocol, see docs/guide/src/coming-from.md. The child measures by
//! itself. The parent can only delay it: the child waits before its first benchmark and after each one.

mod arguments;
mod connection;
mod filter;
mod message;
mod owner;
mod quiet;
mod rehearsal;
mod scale;
mod session;

pub use arguments::{
    Config, CriterionRequest, FEWEST_SAMPLES, Said, USUAL_MEASUREMENT, USUAL_WARM_UP,
    in_whole_seconds,
};
pub(super) use arguments::{enough, without_count};
pub(super) use connection::Connection;
pub(super) use filter::{beginning, exactly};
pub use message::CriterionVersion;
pub(super) use quiet::Quiet;
pub use rehearsal::{Rehearsal, Rehearsed};
pub(super) use scale::UnitScale;
pub use session::{CriterionSession, Measured, Reported, TooLong};
