//! Statistics: slices in, values out.
//!
//! No I/O, no clock, nothing of the other crates. Everything random draws from a named generator seeded by
//! (base seed, stream name, block), so that the same data give the same bytes for any number of threads.
//! The formulas with their sources stand in docs/STATISTICS.md.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod bca;
pub mod binomial;
mod bootstrap;
mod change_points;
mod cleaning;
mod correction;
mod density;
mod dependence;
mod description;
mod effect_size;
mod fisher;
mod geometric_mean;
mod harmonic_mean;
mod histogram;
mod holm;
mod interval_distance;
mod jackknife;
mod kruskal_wallis;
mod launches;
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
mod preference;
mod quantile;
mod random;
mod rank_permutation;
mod rank_sum;
mod ranked;
mod ranks;
mod ratio_verdict;
mod record;
mod regression;
mod relative_error;
mod shift;
mod sign_flip;
mod signed_rank;
mod significance;
mod statistic;
pub mod student_t;
mod subselection;
mod t_interval;
mod t_score;
mod trimmed_mean;
mod weighted_ecdf;
mod welch_test;
mod written_out;

pub use bca::{bca_bounds, bca_interval};
pub use bootstrap::{
    Interval, PercentileRule, Resampling, percentile_interval, percentile_interval_by,
    ratio_interval, ratio_resamples, resample,
};
pub use change_points::{ChangePoint, ChangePointRules, change_points};
pub use cleaning::{Cleaned, CleaningCounts, FirstSample};
pub use correction::Correction;
pub use density::{density_curve, silverman_bandwidth};
pub use dependence::{Halves, lag_one_autocorrelation};
pub use description::{
    Description, NORMAL_MAD, Variability, mean, sample_variance, standard_error,
};
pub use effect_size::{EffectSize, cliffs_delta, cohens_d, hedges_g};
pub use fisher::FisherExact;
pub use geometric_mean::GeometricMean;
pub use harmonic_mean::HarmonicMean;
pub use histogram::Histogram;
pub use holm::{adjusted_p_values, step_levels};
pub use interval_distance::{Bracketed, IntervalDistance};
pub use jackknife::{
    FEWEST_FOR_BOOTSTRAP, IntervalMethod, Scale, jackknife_t_interval, jackknife_t_ratio_interval,
};
pub use kruskal_wallis::{AgainstReference, KruskalWallis};
pub use launches::{describe_launch_means, distinct_resamples, process_variance_ratio};
pub use low_quantile::{ClusterLowQuantile, Width, paired_standard_error};
pub use mann_whitney::{MannWhitney, MannWhitneyMethod};
pub use mean_ratio::MeanRatio;
pub use median_interval::MedianInterval;
pub use modality::{SlowCluster, modal_value};
pub use operation_rate::OperationRates;
pub use outlier_policy::{IqrFence, OutlierPolicy, Treated, Untouched};
pub use outliers::{Fences, OutlierCounts, OutlierLabel};
pub use paired_log_ratio::PairedLogRatio;
pub use preference::Preference;
pub use quantile::{Quantile, median};
pub use random::{Draws, Stream, derived_seed};
pub use rank_permutation::rank_permutation_p;
pub use ranked::{ClusterMad, ClusterMedian};
pub use ratio_verdict::{RatioBounds, RatioVerdict, quantile_ratio, ratio};
pub use record::{Record, RecordRules, TailBasis};
pub use regression::{Line, r_squared_through_origin, slope_through_origin};
pub use relative_error::{RelativeError, Smoothness};
pub use shift::{Shift, ShiftRanks};
pub use sign_flip::sign_flip_upper_tail;
pub use signed_rank::SignedRank;
pub use significance::{FewestPerGroup, Significance};
pub use statistic::{ClusterMean, ClusterSd, ClusterSlope, ClusterStatistic, PairedRatio};
pub use subselection::{Replacement, Subselection, SubselectionCentre};
pub use t_interval::TInterval;
pub use t_score::{SMALL_SAMPLE, TScore, welch};
pub use trimmed_mean::TrimmedMean;
pub use weighted_ecdf::WeightedEcdf;
pub use welch_test::{WelchDf, WelchTest};
pub use written_out::WrittenOut;
