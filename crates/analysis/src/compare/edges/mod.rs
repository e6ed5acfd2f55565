//! Finds the levels of a history from side-by-side comparisons, which are the edges of a network of states of the code.
//!
//! A ratio of two builds that were measured side by side is valid on any machine, so the history of a benchmark is a leveling network: nodes are
//! states of the code, edges are measured ratios with their errors. First, levels are found. Then the network is solved by weighted least squares
//! over levels, so that the errors of many small changes do not add up to a change that nobody measured. docs/internals/src/statistics/history.md
//! describes the method.

mod levels;
mod network;
mod placement;

pub use network::{Edge, Network};
pub use placement::{ClassChange, Disagreement, LevelEstimate, LevelTrend};

#[cfg(test)]
mod tests;
