//! Statistics: slices in, values out.
//!
//! No I/O, no clock, nothing of the rest of the crate. Everything random draws from a named generator seeded by
//! (base seed, stream name, block), so that the same data give the same bytes for any number of threads.
//! The formulas with their sources stand in docs/STATISTICS.md.

pub mod binomial;
mod bootstrap;
mod description;
mod fisher;
mod holm;
mod low_quantile;
mod outliers;
mod quantile;
mod random;
mod ranked;
mod regression;
mod sign_flip;
mod signed_rank;
mod statistic;
pub mod student_t;
mod t_score;

pub use bootstrap::{Interval, Resampling, percentile_interval, ratio_interval};
pub use description::{Description, NORMAL_MAD, mean, sample_variance};
pub use fisher::FisherExact;
pub use holm::{adjusted_p_values, step_levels};
pub use low_quantile::{ClusterLowQuantile, Width, paired_standard_error};
pub use outliers::{Fences, OutlierCounts, OutlierLabel};
pub use quantile::{Quantile, median};
pub use random::{Draws, Stream, derived_seed};
pub use ranked::{ClusterMad, ClusterMedian};
pub use regression::{Line, r_squared_through_origin, slope_through_origin};
pub use sign_flip::sign_flip_upper_tail;
pub use signed_rank::SignedRank;
pub use statistic::{ClusterMean, ClusterSd, ClusterSlope, Statistic};
pub use t_score::{SMALL_SAMPLE, TScore, welch};
