//! Measures benchmarks: discovers them, orders them, lays out their samples, and drives the child processes.
//!
//! There is one loop. A [`Campaign`] has rounds. In each round it starts every target as often as it takes to visit each open benchmark once, passes
//! the records to its sink, and asks the sink whether a benchmark needs more rounds. A plain run is a campaign of one side, a side-by-side
//! measurement one of two:
//!
//! ```text
//! Campaign            campaign.rs, progress.rs   rounds, remaining visits and time, events for the observer
//!   Target            target.rs                  a bench target: an executable for each side (sides.rs) and their common state
//!     Subject         subject.rs                 one of its benchmarks: its settings, and its visits so far
//!   OpenLaunch        launch.rs                  one process of each side, and the records of both
//! Driver              driver.rs                  the way to drive an executable; each way has a file for one side and two:
//!                     own.rs (visit.rs)          by requests: two sides are alive at once and sample alternately, or run one after the other
//!                     criterion.rs (criterion_config.rs)
//!                                                by permissions: two sides are alive at once and measure benchmarks alternately
//!                     printed.rs                 one process for one benchmark: two sides run one after the other
//! ```
//!
//! One side and two differ in the requests to a child. A process of one side has the schedules of `schedule.rs`. A round of two sides has those of
//! `plan.rs`, which are short and consist of quads (ABBA), and `laying_out.rs` gives both sides another code layout. `seat.rs` binds both sides to a
//! processor, `shared_cache.rs` keeps the data of one side from filling the cache of both, and `progress.rs` treats the number of rounds as a
//! maximum.
//! All random choices are drawn in `chance.rs`. Outside the loop, `rehearsal.rs` runs benchmarks of Criterion without measuring them, `counting.rs`
//! counts instructions, and `sampling.rs` samples the time (`sampled_process.rs`).
//!
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
pub use counting::CountError;
pub use counting::{CountRequest, CountResult, count_instructions, count_stacks};
pub use criterion::rehearse;
pub use discover::Filter;
pub use discover::{
    DiscoveredBenches, DiscoveredTarget, ReferenceContext, TargetFailure, discover,
};
pub use driver::Driver;
pub use plan::{PairedPlan, RoundSettings};
pub use sampling::{SampleResult, sample_time};
pub use schedule::FlatSchedule;
pub use subject::SampleLengths;
pub use subject::{ResolvedSettings, TimeLimit};
pub use target::PairedTarget;
