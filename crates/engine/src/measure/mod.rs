//! Measuring: which benchmarks, in which order, with which schedules; the loop that drives the children.
//!
//! Must not decide what a result means, nor print. Invariant: the processes of a run do the same things in the
//! same order for the same seed, whatever the run will be compared with.

mod aside;
mod campaign;
mod chance;
mod criterion;
mod discover;
mod driver;
mod filter;
mod launcher;
mod paired;
mod places;
mod printed;
mod schedule;
mod subject;
mod visit;

pub use campaign::{Campaign, Ended};
pub use discover::{Discovered, DiscoveredTarget, TargetFailure, discover};
pub use driver::Driver;
pub use filter::Filter;
pub use paired::{
    PairedCampaign, PairedPlan, PairedSink, PairedTarget, RoundLayout, RoundSettings, Spent,
    lay_out_round,
};
pub use schedule::{FlatSchedule, Layout, lay_out};
pub use subject::Resolved;
