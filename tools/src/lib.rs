//! What several of the simulations and validations have in common: random numbers, measurements made up from them, the verdict on
//! them, and exact intervals of what was counted.

pub mod numbers;
pub mod paired_verdict;
pub mod proportion;
pub mod series;
