//! Statistics of benchmarks: functions from slices to values, with identical results on every run.
//!
//! | question | answers |
//! |---|---|
//! | How can one sample be described? | [`Description`] (mean, SD, median, MAD, extremes), [`FullDescription`] (with percentiles, after an outlier policy), [`sum`], [`quotient`] (rounded once), [`mean`], [`median`], [`sample_variance`], [`standard_error`], [`MAD_TO_SD`], [`Variability`] |
//! | What are its quantiles? | [`Quantile`] (nearest rank, linear, floor rank), [`Better`] (in order of preference), [`HdrHistogram`] (of integers, with an [`HdrPrecision`] and [`HdrCounter`]s), [`WeightedEcdf`] (of several random samples, with [`EcdfStep`]s) |
//! | Which mean suits rates, ratios, values with outliers? | [`HarmonicMean`], [`OperationRates`], [`GeometricMean`], [`TrimmedMean`], [`SubsampledCentre`] |
//! | How certain is an estimate? | [`percentile_interval`] and [`bca_interval`] (bootstrap), [`jackknife_t_interval`], [`IntervalMethod`] (the better method for a number of clusters), [`TInterval`] (of a mean), [`MedianInterval`] (distribution-free), [`binomial`] (of a probability) |
//! | Do two independent groups differ? | [`WelchTest`], [`TScore`] (bootstrap t-test with a threshold), [`PooledTScore`] (both groups from one population), [`MannWhitney`], [`FisherExact`] (two proportions), [`IntervalDistance`] (overlap of intervals), [`RatioBounds`] (a rule of thumb); [`Significance`] puts a p-value into words |
//! | By how much do they differ? | [`mean_difference`], [`relative_change_interval`], [`jackknife_t_relative_change_interval`], [`mean_ratio`], [`HodgesLehmann`], [`cliffs_delta`], [`hedges_g`], [`cohens_d`], [`EffectSize`], [`positive_ratio`], [`quantile_ratio`] |
//! | Do the two sides of pairs differ, and by how much? | [`SignedRank`], [`sign_flip_upper_tail`], [`PairedLogRatio`], [`paired_mean_ratio`], [`PairedRatio`], [`paired_difference_standard_error`] |
//! | Do more than two groups differ? | [`KruskalWallis`] |
//! | How are many tests corrected? | [`Correction`] (Holm, Benjamini and Hochberg), [`LogStandardError`] (for bounds far out in the tails) |
//! | Which values are outliers, and how are they treated? | [`TukeyFences`], [`OutlierCounts`] (label and count), [`OutlierPolicy`], [`CleanedSample`] (remove or replace) |
//! | How are the values distributed? | [`density_curve`], [`silverman_bandwidth`], [`HdrHistogram`]; several modes: [`mvalue`], [`two_groups`], [`SlowMode`] |
//! | How does y grow with x? | [`slope_through_origin`], [`r_squared_through_origin`], [`LinearFit`], [`ClusterSlope`] |
//! | When did a series change its level? | [`change_points`] |
//! | Are the values of a series independent? | [`lag_one_autocorrelation`], [`SplitHalves`]; of clusters: [`between_to_within_ratio`], [`describe_cluster_means`] |
//! | What can be resampled? | [`ClusterStatistic`]: [`ClusterMean`], [`ClusterMedian`], [`ClusterMad`], [`ClusterSd`], [`ClusterSlope`], [`ClusterLowQuantile`], any [`ClusterFunction`]; by [`resample`], [`relative_change_resamples`], [`Resampling`] |
//! | Which random numbers and distributions are there? | [`Stream`], [`Draws`], [`derived_seed`]; [`normal`], [`student_t`], [`chi_squared`], [`binomial`] |
//!
//! # Conventions
//!
//! - **Clusters.** `&[&[f64]]` holds samples in independent clusters, such as the processes that measured them. Samples of one cluster may depend
//!   on each other. Independent single values are clusters of one: `values.chunks(1).collect()`.
//! - **Sides.** `new` is compared with `base`: differences are new - base, ratios new / base, relative changes new / base - 1. For times, larger
//!   is slower.
//! - **Units.** Values may have any unit, but all values of a call have the same unit. Results have this unit too, unless the function names another.
//!   Levels, shares and relative changes are fractions (0.95, not 95). The `level` of an interval is its confidence, that of a test its probability
//!   of error. Each function that returns a one-sided bound documents which of the two its `level` is.
//! - **Order.** The order of values does not matter unless a function says so.
//! - **`None`** means that the data do not determine the value: there are too few, one is not finite, they have no spread, or a level is outside
//!   0..1. Each function documents its cases. Nothing is logged, and bad data cause no panic.
//! - **Speed.** A function takes at most n log n steps unless it says otherwise. Functions that resample use `rayon`'s thread pool.
//!
//! Formulas and their sources are documented with the code. The project's book *How cargo perfcheck works* collects them, with full titles.
//!
//! This crate does no I/O, reads no clock and depends on no other crate of the project. All random numbers come from a named generator seeded by
//! (base seed, stream name, block), so the same data give identical results with any number of threads.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod better;
pub mod binomial;
mod bootstrap;
mod change_points;
pub mod chi_squared;
mod cluster_ranks;
mod cluster_statistic;
mod dependence;
mod description;
mod fisher;
mod full_description;
mod histogram;
mod hodges_lehmann;
mod interval;
mod jackknife;
mod low_quantile;
mod means;
pub mod normal;
mod outliers;
mod quantile;
mod random;
mod rank_tests;
mod ratio;
mod regression;
mod signed_rank;
mod significance;
mod special;
pub mod student_t;
mod t_score;
mod welch_test;
mod words;

pub use better::Better;
pub use bootstrap::{
    PercentileRule, Resampling, distinct_resamples, percentile_interval, percentile_interval_with,
    relative_change_interval, relative_change_resamples, resample,
};
pub use change_points::{ChangePoint, ChangePointRules, change_points};
pub use cluster_ranks::{ClusterMad, ClusterMedian};
pub use cluster_statistic::{
    ClusterFunction, ClusterMean, ClusterSd, ClusterSlope, ClusterStatistic, PairedRatio,
    between_to_within_ratio, describe_cluster_means,
};
pub use dependence::{SlowMode, SplitHalves, lag_one_autocorrelation, mvalue, two_groups};
pub use description::{
    Description, MAD_TO_SD, Variability, density_curve, mean, mean_difference, quotient,
    sample_variance, silverman_bandwidth, standard_error, sum,
};
pub use fisher::FisherExact;
pub use full_description::{FullDescription, FullDescriptionRules, TailSource};
pub use histogram::{HdrCounter, HdrHistogram, HdrPrecision};
pub use hodges_lehmann::{HodgesLehmann, HodgesLehmannRanks};
pub use interval::{Interval, IntervalDistance, IntervalEstimate, MedianInterval, TInterval};
pub use jackknife::{
    FEWEST_FOR_BOOTSTRAP, IntervalMethod, IntervalScale, LogStandardError, Smoothness, bca_bounds,
    bca_interval, jackknife_t_interval, jackknife_t_relative_change_interval,
};
pub use low_quantile::{BootstrapSpread, ClusterLowQuantile, paired_difference_standard_error};
pub use means::{
    GeometricMean, HarmonicMean, OperationRates, Replacement, SubsampledCentre, Subsampling,
    TrimmedError, TrimmedMean,
};
pub use outliers::{
    CleanedSample, CleaningCounts, FirstSampleTreatment, IqrFence, OutlierCounts, OutlierLabel,
    OutlierPolicy, TreatedSample, TreatmentSkipped, TukeyFences, ZeroSpreadTreatment,
};
pub use quantile::{EcdfStep, Quantile, WeightedEcdf, median};
pub use random::{Draws, Stream, derived_seed};
pub use rank_tests::{KruskalWallis, MannWhitney, MannWhitneyMethod};
pub use ratio::{
    PairedLogRatio, RatioBounds, RatioVerdict, mean_ratio, paired_mean_ratio, positive_ratio,
    quantile_ratio,
};
pub use regression::{LinearFit, r_squared_through_origin, slope_through_origin};
pub use signed_rank::{SignedRank, sign_flip_upper_tail};
pub use significance::{Correction, EffectSize, Significance, cliffs_delta, cohens_d, hedges_g};
pub use t_score::{PooledTScore, TScore};
pub use welch_test::{WelchDf, WelchTest};
pub use words::WordMeanings;
