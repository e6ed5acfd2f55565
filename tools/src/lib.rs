//! Functions that several simulations and validations share: random numbers, made-up measurements, verdicts on them, and exact intervals of counts.

pub mod numbers;
pub mod paired_verdict;
pub mod proportion;
pub mod series;
