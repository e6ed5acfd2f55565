//! Treatments of outliers before a summary. The result keeps the raw sample, so that percentiles, extremes and tests can use it. A policy never
//! removes all values.

use super::description::{Description, MAD_TO_SD};
use super::quantile::Quantile;

/// A treatment of outliers before a summary. Tests should use the raw values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutlierPolicy {
    /// Keep all values.
    Keep,
    /// Remove the largest ceil(n / 20) values.
    TopFivePercent,
    /// Remove the smallest and the largest floor(n / 20) values.
    BothFivePercent,
    /// Remove values beyond fences at a multiple of the IQR from the quartiles (Tukey 1977).
    IqrFence(IqrFence),
    /// Remove values further from the median than `multiple` times 1.4826 MAD (`NBenchmark`); below three values, remove none.
    Mad {
        /// Largest allowed distance in scaled MAD; 3 is usual
        multiple: f64,
    },
    /// Replace values beyond the `Linear` 5 and 95 % quantiles by these quantiles.
    Winsorise5To95,
}

/// Fences in units of the interquartile range. A value on a fence is inside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IqrFence {
    /// Definition of the quartiles
    pub quartiles: Quantile,
    /// Distance of a fence from its quartile, in IQR
    pub multiple: f64,
    /// Fewest values to which the fence applies; a smaller sample stays as it is
    pub fewest: usize,
    /// Treatment of a sample whose quartiles are equal
    pub without_spread: ZeroSpreadTreatment,
}

/// The treatment of a sample whose quartiles are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZeroSpreadTreatment {
    /// Keep all values (the serializer methodology).
    KeepAll,
    /// Remove all values that differ from the quartiles (`NBenchmark`).
    Apply,
}

impl IqrFence {
    /// The fence of `NBenchmark`: nearest-rank quartiles, 1.5 IQR, any number of values and any spread.
    pub const NEAREST_RANK: Self = Self {
        quartiles: Quantile::InvertedCdf,
        multiple: 1.5,
        fewest: 1,
        without_spread: ZeroSpreadTreatment::Apply,
    };
    /// The fence of the serializer methodology: interpolated quartiles, 1.5 IQR, at least 10 values.
    pub const INTERPOLATED: Self = Self {
        quartiles: Quantile::Linear,
        multiple: 1.5,
        fewest: 10,
        without_spread: ZeroSpreadTreatment::KeepAll,
    };
    /// The wider fence of the serializer methodology, at 3 IQR.
    pub const INTERPOLATED_WIDE: Self = Self {
        multiple: 3.0,
        ..Self::INTERPOLATED
    };
}

/// The reason why a policy changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreatmentSkipped {
    /// There are fewer values than the policy needs.
    TooFew,
    /// The interquartile range or the MAD is 0.
    NoSpread,
    /// No value would be left.
    WouldRemoveAll,
}

/// A sample after an [`OutlierPolicy`] was applied.
#[derive(Debug, Clone, PartialEq)]
pub struct TreatedSample<'a> {
    /// All values as measured
    pub raw: &'a [f64],
    /// Values after the treatment, in the order measured, including replaced ones
    pub values: Vec<f64>,
    /// For each raw value, whether it was removed
    pub gone: Vec<bool>,
    /// Number of low values that were removed or replaced
    pub low: usize,
    /// Number of high values that were removed or replaced
    pub high: usize,
    /// Bounds beyond which values were removed or replaced, if the policy has bounds
    pub bounds: Option<(f64, f64)>,
    /// Reason why a guard kept the policy from changing anything, if one did
    pub untouched: Option<TreatmentSkipped>,
}

impl TreatedSample<'_> {
    /// Returns the number of removed values.
    pub fn removed(&self) -> usize {
        self.raw.len() - self.values.len()
    }

    /// Returns the number of replaced values.
    pub fn replaced(&self) -> usize {
        self.low + self.high - self.removed()
    }
}

impl OutlierPolicy {
    /// Applies the policy to the sample `raw` and keeps its order; n log n steps. `None` without values or with a value that is not finite.
    pub fn apply(self, raw: &[f64]) -> Option<TreatedSample<'_>> {
        if raw.is_empty() || !raw.iter().all(|value| value.is_finite()) {
            return None;
        }
        match self {
            Self::Keep => Some(unchanged(raw, None)),
            Self::TopFivePercent => Some(remove_ends(raw, 0, raw.len().div_ceil(20))),
            Self::BothFivePercent => Some(remove_ends(raw, raw.len() / 20, raw.len() / 20)),
            Self::IqrFence(fence) => fence.apply(raw),
            Self::Mad { multiple } => {
                if raw.len() < 3 {
                    return Some(unchanged(raw, Some(TreatmentSkipped::TooFew)));
                }
                let described = Description::compute(raw)?;
                let reach = multiple * MAD_TO_SD * described.mad;
                if reach == 0.0 {
                    return Some(unchanged(raw, Some(TreatmentSkipped::NoSpread)));
                }
                Some(keep_within(
                    raw,
                    described.median - reach,
                    described.median + reach,
                ))
            }
            Self::Winsorise5To95 => {
                let mut values = raw.to_vec();
                let low = Quantile::Linear.select(&mut values, 0.05)?;
                let high = Quantile::Linear.select(&mut values, 0.95)?;
                Some(TreatedSample {
                    raw,
                    values: raw.iter().map(|value| value.clamp(low, high)).collect(),
                    gone: vec![false; raw.len()],
                    low: raw.iter().filter(|value| **value < low).count(),
                    high: raw.iter().filter(|value| **value > high).count(),
                    bounds: Some((low, high)),
                    untouched: None,
                })
            }
        }
    }
}

impl IqrFence {
    fn apply(self, raw: &[f64]) -> Option<TreatedSample<'_>> {
        if raw.len() < self.fewest {
            return Some(unchanged(raw, Some(TreatmentSkipped::TooFew)));
        }
        let mut values = raw.to_vec();
        let q1 = self.quartiles.select(&mut values, 0.25)?;
        let q3 = self.quartiles.select(&mut values, 0.75)?;
        let reach = self.multiple * (q3 - q1);
        if reach == 0.0 && self.without_spread == ZeroSpreadTreatment::KeepAll {
            return Some(unchanged(raw, Some(TreatmentSkipped::NoSpread)));
        }
        Some(keep_within(raw, q1 - reach, q3 + reach))
    }
}

fn unchanged(raw: &[f64], untouched: Option<TreatmentSkipped>) -> TreatedSample<'_> {
    TreatedSample {
        raw,
        values: raw.to_vec(),
        gone: vec![false; raw.len()],
        low: 0,
        high: 0,
        bounds: None,
        untouched,
    }
}

/// Keeps the values from `low` to `high`, both included.
fn keep_within(raw: &[f64], low: f64, high: f64) -> TreatedSample<'_> {
    let inside = |value: &f64| low <= *value && *value <= high;
    let values: Vec<f64> = raw.iter().copied().filter(inside).collect();
    if values.is_empty() {
        return unchanged(raw, Some(TreatmentSkipped::WouldRemoveAll));
    }
    TreatedSample {
        raw,
        values,
        gone: raw.iter().map(|value| !inside(value)).collect(),
        low: raw.iter().filter(|value| **value < low).count(),
        high: raw.iter().filter(|value| **value > high).count(),
        bounds: Some((low, high)),
        untouched: None,
    }
}

/// Removes the `low` smallest and the `high` largest values; among equal ones, the later.
fn remove_ends(raw: &[f64], low: usize, high: usize) -> TreatedSample<'_> {
    if low + high >= raw.len() {
        return unchanged(raw, Some(TreatmentSkipped::WouldRemoveAll));
    }
    let mut order: Vec<usize> = (0..raw.len()).collect();
    order.sort_by(|a, b| raw[*a].total_cmp(&raw[*b]));
    let mut gone = vec![true; raw.len()];
    for at in &order[low..raw.len() - high] {
        gone[*at] = false;
    }
    let kept = raw.iter().zip(&gone).filter(|(_, gone)| !**gone);
    TreatedSample {
        raw,
        values: kept.map(|(value, _)| *value).collect(),
        gone,
        low,
        high,
        bounds: None,
        untouched: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [OutlierPolicy; 8] = [
        OutlierPolicy::Keep,
        OutlierPolicy::TopFivePercent,
        OutlierPolicy::BothFivePercent,
        OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK),
        OutlierPolicy::IqrFence(IqrFence::INTERPOLATED),
        OutlierPolicy::IqrFence(IqrFence::INTERPOLATED_WIDE),
        OutlierPolicy::Mad { multiple: 3.0 },
        OutlierPolicy::Winsorise5To95,
    ];

    #[test]
    fn equal_quartiles_keep_all_or_nothing_else() {
        let raw = [5.0, 5.0, 5.0, 5.0, 9.0];
        let of = |fence: IqrFence| {
            OutlierPolicy::IqrFence(fence)
                .apply(&raw)
                .unwrap()
                .removed()
        };
        assert_eq!(of(IqrFence::NEAREST_RANK), 1);
        let guarded = IqrFence {
            without_spread: ZeroSpreadTreatment::KeepAll,
            ..IqrFence::NEAREST_RANK
        };
        assert_eq!(of(guarded), 0);
    }

    #[test]
    fn fences_that_nothing_lies_within_are_not_applied() {
        // A negative multiple makes no sense; the guard must hold even then.
        let fence = IqrFence {
            multiple: -2.0,
            ..IqrFence::NEAREST_RANK
        };
        let treated = OutlierPolicy::IqrFence(fence)
            .apply(&[1.0, 2.0, 3.0, 4.0])
            .unwrap();
        assert_eq!(treated.untouched, Some(TreatmentSkipped::WouldRemoveAll));
        assert_eq!(treated.values.len(), 4);
    }

    #[test]
    fn nothing_and_values_that_are_not_finite_are_not_treated() {
        for policy in ALL {
            assert_eq!(policy.apply(&[]), None);
            assert_eq!(policy.apply(&[1.0, f64::NAN]), None);
            let one = policy.apply(&[7.0]).unwrap();
            assert_eq!((one.values.as_slice(), one.removed()), (&[7.0][..], 0));
        }
    }

    proptest! {
        #[test]
        fn counts_add_up_and_the_order_of_the_values_does_not_matter(
            mut x in prop::collection::vec((0_u8..40).prop_map(|v| f64::from(v) * f64::from(v)), 1..70)
        ) {
            for policy in ALL {
                let straight = policy.apply(&x).unwrap();
                prop_assert!(!straight.values.is_empty());
                prop_assert_eq!(straight.removed() + straight.replaced(), straight.low + straight.high);
                let mut forward = straight.values.clone();
                let (low, high) = (straight.low, straight.high);
                x.reverse();
                let turned = policy.apply(&x).unwrap();
                let mut backward = turned.values.clone();
                forward.sort_by(f64::total_cmp);
                backward.sort_by(f64::total_cmp);
                prop_assert_eq!(forward, backward);
                prop_assert_eq!((low, high), (turned.low, turned.high));
            }
        }
    }
}
