//! Bench executables that are written against Criterion, unchanged: the socket on which they report to a runner.
//!
//! Speaks the protocol of cargo-criterion from the runner's side, see docs/src/coming-from.md. The child measures by itself; what we hold is
//! its leave to go on: before its first benchmark and after each one it waits for us.

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
