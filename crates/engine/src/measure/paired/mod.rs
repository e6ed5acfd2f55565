//! A/B: two builds of the same benchmarks, launched afresh in every round and sampled in turn.
//!
//! Must not decide: when a benchmark is settled, the caller says. Invariant: both sides are asked for the same things, whatever either of them does.

mod launch_both;
mod launch_pair;
mod one_by_one;
mod plan;
mod quads;
mod rounds;
mod seat;
mod step_by_step;
mod subject;
mod turns;

pub use plan::PairedPlan;
pub use quads::{RoundLayout, RoundSettings, lay_out_round};
pub use rounds::{PairedCampaign, PairedSink, PairedTarget, Spent};
