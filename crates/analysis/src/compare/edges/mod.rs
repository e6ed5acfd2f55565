//! Side-by-side comparisons as edges between states of the code, and the levels that explain them.
//!
//! A ratio of two builds that were measured side by side is valid on any machine, so the history of a benchmark is a leveling network: nodes are
//! states of the code, edges are measured ratios with their errors. Levels are found first; then the network is solved by weighted least squares over
//! levels, so that the errors of many small changes do not add up to a change that nobody measured. docs/internals/src/statistics/history.md
//! describes the method.

mod levels;
mod network;
mod placement;

pub use network::{Edge, Network};
pub use placement::{ClassChange, Disagreement, LevelEstimate, LevelTrend};

#[cfg(test)]
mod tests;
