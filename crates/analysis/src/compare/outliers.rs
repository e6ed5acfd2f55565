//! Translates the outlier settings into policies of `perfcheck-stats`.

use crate::model::{Outliers, Quantile, Thresholds};
use perfcheck_stats::{IqrFence, OutlierPolicy, ZeroSpreadTreatment};

/// Translates `outliers` into a policy with these thresholds and this definition of quartiles.
pub fn to_outlier_policy(
    outliers: Outliers,
    quartiles: Quantile,
    thresholds: &Thresholds,
) -> OutlierPolicy {
    match outliers {
        Outliers::Keep => OutlierPolicy::Keep,
        Outliers::Top5 => OutlierPolicy::TopFivePercent,
        Outliers::Both5 => OutlierPolicy::BothFivePercent,
        Outliers::Iqr => OutlierPolicy::IqrFence(IqrFence {
            quartiles,
            multiple: thresholds.iqr_fence,
            fewest: thresholds.iqr_min_samples as usize,
            without_spread: ZeroSpreadTreatment::KeepAll,
        }),
        Outliers::IqrUnguarded => OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK),
        Outliers::Mad => OutlierPolicy::Mad {
            multiple: thresholds.mad_fence,
        },
        Outliers::Winsorized => OutlierPolicy::Winsorise5To95,
    }
}
