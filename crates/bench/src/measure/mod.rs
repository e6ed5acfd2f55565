//! Measures benchmarks: discovers them, orders them, lays out their samples, and drives the child processes.
//!
//! A [`Campaign`] of one side or two runs in rounds over its targets (`campaign.rs`, `target.rs`, `benchmark.rs`). A driver runs the processes of a
//! target for each kind of harness: `own.rs` with `visit.rs`, `criterion.rs`, `printed.rs`, `program.rs`. It sees a target's round (`driver.rs`), not the campaign.
//! All random choices are drawn in `schedule.rs`.
//!
//! Must not decide what a result means, nor print. There are two invariants. For the same seed, the processes of a run do the same things in the same
//! order, whichever comparisons follow. Both builds of a benchmark get the same requests, whatever either of them does.

mod benchmark;
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
mod program;
mod progress;
mod sampling;
mod schedule;
mod sides;
mod target;
mod visit;

pub use benchmark::{ResolvedSettings, SampleLengths, SkippedVisit, TimeLimit};
pub use campaign::{BenchmarkCost, Campaign, CampaignEnd, CampaignResult, CampaignSink};
pub use counting::{
    CountError, CountRequest, CountResult, LineCounter, count_instructions, count_stacks,
};
pub use criterion::rehearse;
pub use discover::{
    DiscoveredBenches, DiscoveredTarget, Filter, HarnessKind, ReferenceContext, TargetFailure,
    discover,
};
pub use plan::{PairedPlan, RoundSettings};
pub use program::find_childless;
pub use sampling::{SampleResult, sample_time};
pub use schedule::FlatSchedule;
pub use target::PairedTarget;
