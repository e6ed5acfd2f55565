//! Measures benchmarks: discovers them, orders them, lays out their samples, and drives the child processes.
//!
//! A [`Campaign`] of one side or two runs in rounds over its targets (`campaign.rs`, `target.rs`, `subject.rs`, `process.rs`). A [`Driver`] has a
//! file for each way of asking an executable: `own.rs` with `visit.rs`, `criterion.rs`, `printed.rs`. All random choices are drawn in `schedule.rs`.
//! Must not decide what a result means, nor print. Invariant: for the same seed, the processes of a run do the same things in the same order,
//! independent of later comparisons; both sides get the same requests, independent of what either does.

mod campaign;
mod counting;
mod criterion;
mod criterion_config;
mod discover;
mod driver;
mod own;
mod plan;
mod printed;
mod process;
mod progress;
mod sampling;
mod schedule;
mod subject;
mod target;
mod visit;

pub use campaign::{BenchmarkCost, Campaign, CampaignEnd, CampaignSink};
pub use counting::{CountError, CountRequest, CountResult, count_instructions, count_stacks};
pub use criterion::rehearse;
pub use discover::{
    DiscoveredBenches, DiscoveredTarget, Filter, ReferenceContext, TargetFailure, discover,
};
pub use driver::Driver;
pub use plan::{PairedPlan, RoundSettings};
pub use sampling::{SampleResult, sample_time};
pub use schedule::FlatSchedule;
pub use subject::{ResolvedSettings, SampleLengths, TimeLimit};
pub use target::PairedTarget;
