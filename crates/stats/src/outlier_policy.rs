//! What may be done about outliers before a summary, by name. The raw series stays in the result: percentiles, extremes and every test are of
//! that, and no policy ever leaves nothing.

use super::description::{Description, MAD_TO_SD};
use super::quantile::Quantile;

/// A policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutlierPolicy {
    /// All values stay.
    Keep,
    /// The largest ceil(n / 20) go.
    TopFivePercent,
    /// The smallest and the largest floor(n / 20) go.
    BothFivePercent,
    /// What lies beyond fences at some IQR from the quartiles goes.
    IqrFence(IqrFence),
    /// What lies further from the median than `multiple` times 1.4826 MAD goes (3 values at least).
    Mad {
        /// Deviations allowed; 3 is usual.
        multiple: f64,
    },
    /// Values beyond the `Linear` 5 and 95 % quantiles become those.
    Winsorise5To95,
}

/// Fences in units of the interquartile range; a value on a fence is within it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IqrFence {
    /// Definition of the quartiles.
    pub quartiles: Quantile,
    /// IQR from a quartile to its fence.
    pub multiple: f64,
    /// Fewer values than this are left alone.
    pub fewest: usize,
}

impl IqrFence {
    /// `NBenchmark`'s: quartiles of nearest rank, 1.5 IQR, any number of values.
    pub const NEAREST_RANK: Self = Self {
        quartiles: Quantile::InvertedCdf,
        multiple: 1.5,
        fewest: 1,
    };
    /// The serializer methodology's: interpolated quartiles, 1.5 IQR, 10 values at least.
    pub const INTERPOLATED: Self = Self {
        quartiles: Quantile::Linear,
        multiple: 1.5,
        fewest: 10,
    };
    /// The same at 3 IQR.
    pub const INTERPOLATED_WIDE: Self = Self {
        multiple: 3.0,
        ..Self::INTERPOLATED
    };
}

/// Why a policy left all values as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreatmentSkipped {
    /// Fewer values than it asks for.
    TooFew,
    /// No interquartile range, or no MAD.
    NoSpread,
    /// Nothing would be left.
    WouldRemoveAll,
}

/// A series after a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct TreatedSample<'a> {
    /// All values as measured.
    pub raw: &'a [f64],
    /// What is left of them, in the order measured; replaced values included.
    pub values: Vec<f64>,
    /// Which of all are not among these.
    pub gone: Vec<bool>,
    /// Low values removed or replaced.
    pub low: usize,
    /// High values removed or replaced.
    pub high: usize,
    /// Bounds beyond which values were removed or replaced, where the policy has such.
    pub bounds: Option<(f64, f64)>,
    /// Why nothing was done, if a guard says so.
    pub untouched: Option<TreatmentSkipped>,
}

impl TreatedSample<'_> {
    /// Values that are gone.
    pub fn removed(&self) -> usize {
        self.raw.len() - self.values.len()
    }

    /// Values that were replaced.
    pub fn replaced(&self) -> usize {
        self.low + self.high - self.removed()
    }
}

impl OutlierPolicy {
    /// Applies the policy. `None` without values or with one that is not finite.
    pub fn apply(self, raw: &[f64]) -> Option<TreatedSample<'_>> {
        if raw.is_empty() || !raw.iter().all(|value| value.is_finite()) {
            return None;
        }
        match self {
            Self::Keep => Some(whole(raw, None)),
            Self::TopFivePercent => Some(without_ends(raw, 0, raw.len().div_ceil(20))),
            Self::BothFivePercent => Some(without_ends(raw, raw.len() / 20, raw.len() / 20)),
            Self::IqrFence(fence) => fence.apply(raw),
            Self::Mad { multiple } => {
                if raw.len() < 3 {
                    return Some(whole(raw, Some(TreatmentSkipped::TooFew)));
                }
                let described = Description::of(raw)?;
                let reach = multiple * MAD_TO_SD * described.mad;
                if reach == 0.0 {
                    return Some(whole(raw, Some(TreatmentSkipped::NoSpread)));
                }
                Some(within(
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
            return Some(whole(raw, Some(TreatmentSkipped::TooFew)));
        }
        let mut values = raw.to_vec();
        let q1 = self.quartiles.select(&mut values, 0.25)?;
        let q3 = self.quartiles.select(&mut values, 0.75)?;
        let reach = self.multiple * (q3 - q1);
        if reach == 0.0 {
            return Some(whole(raw, Some(TreatmentSkipped::NoSpread)));
        }
        Some(within(raw, q1 - reach, q3 + reach))
    }
}

fn whole(raw: &[f64], untouched: Option<TreatmentSkipped>) -> TreatedSample<'_> {
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

/// The values from `low` to `high`, both included.
fn within(raw: &[f64], low: f64, high: f64) -> TreatedSample<'_> {
    let inside = |value: &f64| low <= *value && *value <= high;
    let values: Vec<f64> = raw.iter().copied().filter(inside).collect();
    if values.is_empty() {
        return whole(raw, Some(TreatmentSkipped::WouldRemoveAll));
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

/// The values without the `low` smallest and the `high` largest; of equal ones the later go.
fn without_ends(raw: &[f64], low: usize, high: usize) -> TreatedSample<'_> {
    if low + high >= raw.len() {
        return whole(raw, Some(TreatmentSkipped::WouldRemoveAll));
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
    fn fences_that_nothing_lies_within_are_not_applied() {
        // A negative multiple is nonsense; the guard holds all the same.
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
