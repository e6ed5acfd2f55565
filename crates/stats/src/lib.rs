//! Statistics: slices in, values out.
//!
//! No I/O, no clock, nothing of the other crates. Everything random draws from a named generator seeded by
//! (base seed, stream name, block), so that the same data give the same bytes for any number of threads.
//! The formulas with their sources stand in docs/STATISTICS.md.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod bca;
mod better;
pub mod binomial;
mod bootstrap;
mod change_points;
mod cleaned_sample;
mod cluster_function;
mod cluster_means;
mod cluster_ranks;
mod cluster_statistic;
mod correction;
mod density;
mod dependence;
mod description;
mod effect_size;
mod fisher;
mod full_description;
mod geometric_mean;
mod harmonic_mean;
mod histogram;
mod hodges_lehmann;
mod interval;
mod interval_distance;
mod jackknife;
mod kruskal_wallis;
mod log_standard_error;
mod low_quantile;
mod mann_whitney;
mod mean_ratio;
mod median_interval;
mod modality;
pub mod normal;
mod operation_rate;
mod outlier_policy;
mod outliers;
mod paired_log_ratio;
mod permutation;
mod quantile;
mod random;
mod ranks;
mod ratio_verdict;
mod regression;
mod sign_flip;
mod signed_rank;
mod significance;
pub mod student_t;
mod subsampling;
mod t_interval;
mod t_score;
mod trimmed_mean;
mod u_distribution;
mod weighted_ecdf;
mod welch_test;

pub use bca::{bca_bounds, bca_interval};
pub use better::Better;
pub use bootstrap::{
    PercentileRule, Resampling, percentile_interval, percentile_interval_by,
    relative_change_interval, relative_change_resamples, resample,
};
pub use change_points::{ChangePoint, ChangePointRules, change_points};
pub use cleaned_sample::{CleanedSample, CleaningCounts, FirstSample};
pub use cluster_function::ClusterFunction;
pub use cluster_means::{between_to_within_ratio, describe_cluster_means, distinct_resamples};
pub use cluster_ranks::{ClusterMad, ClusterMedian};
pub use cluster_statistic::{ClusterMean, ClusterSd, ClusterSlope, ClusterStatistic, PairedRatio};
pub use correction::{Correction, holm_step_levels};
pub use density::{density_curve, silverman_bandwidth};
pub use dependence::{SplitHalves, lag_one_autocorrelation};
pub use description::{Description, MAD_TO_SD, Variability, mean, sample_variance, standard_error};
pub use effect_size::{EffectSize, cliffs_delta, cohens_d, hedges_g};
pub use fisher::FisherExact;
pub use full_description::{FullDescription, FullDescriptionRules, TailBasis};
pub use geometric_mean::GeometricMean;
pub use harmonic_mean::HarmonicMean;
pub use histogram::HdrHistogram;
pub use hodges_lehmann::{HodgesLehmann, HodgesLehmannRanks};
pub use interval::{Interval, IntervalEstimate};
pub use interval_distance::IntervalDistance;
pub use jackknife::{
    FEWEST_FOR_BOOTSTRAP, IntervalMethod, IntervalScale, jackknife_t_interval,
    jackknife_t_relative_change_interval,
};
pub use kruskal_wallis::{KruskalWallis, ManyToOne};
pub use log_standard_error::{LogStandardError, Smoothness};
pub use low_quantile::{BootstrapSpread, ClusterLowQuantile, paired_standard_error};
pub use mann_whitney::{MannWhitney, MannWhitneyMethod};
pub use mean_ratio::{mean_ratio, paired_mean_ratio};
pub use median_interval::MedianInterval;
pub use modality::{SlowMode, mvalue};
pub use operation_rate::OperationRates;
pub use outlier_policy::{IqrFence, OutlierPolicy, TreatedSample, TreatmentSkipped};
pub use outliers::{OutlierCounts, OutlierLabel, TukeyFences};
pub use paired_log_ratio::PairedLogRatio;
pub use quantile::{Quantile, median};
pub use random::{Draws, Stream, derived_seed};
pub use ratio_verdict::{RatioBounds, RatioVerdict, positive_ratio, quantile_ratio};
pub use regression::{LinearFit, r_squared_through_origin, slope_through_origin};
pub use sign_flip::sign_flip_upper_tail;
pub use signed_rank::SignedRank;
pub use significance::Significance;
pub use subsampling::{Replacement, SubsampledCentre, Subsampling};
pub use t_interval::TInterval;
pub use t_score::TScore;
pub use trimmed_mean::TrimmedMean;
pub use weighted_ecdf::WeightedEcdf;
pub use welch_test::{WelchDf, WelchTest};
