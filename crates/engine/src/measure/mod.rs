//! Measuring: which benchmarks, in which order, with which schedules; the loop that drives the children.
//!
//! There is one loop. A [`Campaign`] has rounds; in each round it launches every target as often as it takes to visit each open benchmark
//! once, hands what came of it to its sink, and asks the sink whether a benchmark needs no more. A plain run is a campaign of one side, A/B one of
//! two:
//!
//! ```text
//! Campaign            campaign.rs, progress.rs   rounds, what is left, who is told
//!   Target            target.rs                  a bench target: an executable for each side (sides.rs) and what they have in common
//!     Subject         subject.rs                 one of its benchmarks: how it is sampled, what it has had
//!   OpenLaunch        launch.rs                  one process of each side, and the records of both
//! Driver              driver.rs                  how an executable is driven; each way has a file that serves one side and two:
//!                     own.rs (visit.rs)          by commands: two sides live at once and take samples in turn, or are launched in turn
//!                     criterion.rs (criterion_config.rs)
//!                                                at our leave, from benchmark to benchmark: two sides live at once and measure in turn
//!                     printed.rs                 one process for one benchmark: two sides are launched in turn
//! ```
//!
//! One side and two differ in what is asked of a child: a launch of one side has the schedules of `schedule.rs`, a round of two those of
//! `plan.rs`, which are short and in quads, and `laying_out.rs` gives both sides another layout of their code. `seat.rs` binds both sides to a processor, `shared_cache.rs`
//! keeps one side's data from filling the cache of both, and `progress.rs` knows that rounds are no promise.
//! All that is left to chance is drawn in `chance.rs`. Beside the loop, without a clock: `rehearsal.rs` runs benchmarks of Criterion, `counting.rs` counts instructions, `sampling.rs` samples
//! the time (`sampled_process.rs`).
//!
//! Must not decide what a result means, nor print. Invariant: the processes of a run do the same things in the
//! same order for the same seed, whatever the run will be compared with; both sides are asked for the same things, whatever either does.

mod aside;
mod campaign;
mod chance;
mod count_error;
mod counting;
mod criterion;
mod criterion_config;
mod discover;
mod driver;
mod filter;
mod launch;
mod laying_out;
mod lengths;
mod own;
mod plan;
mod printed;
mod progress;
mod rehearsal;
mod sampled_process;
mod sampling;
mod schedule;
mod seat;
mod shared_cache;
mod sides;
mod stacks;
mod subject;
mod target;
mod visit;

pub use campaign::{Campaign, CampaignSink, Ended, Spent};
pub use count_error::CountError;
pub use counting::{CountResult, ToCount, count_instructions, count_stacks};
pub use discover::{BesideCandidate, Discovered, DiscoveredTarget, TargetFailure, discover};
pub use driver::Driver;
pub use filter::Filter;
pub use lengths::SampleLengths;
pub use plan::{PairedPlan, RoundSettings};
pub use rehearsal::rehearsed;
pub use sampling::{SampleResult, sample_time};
pub use schedule::FlatSchedule;
pub use subject::{Resolved, TimeLimit};
pub use target::PairedTarget;
