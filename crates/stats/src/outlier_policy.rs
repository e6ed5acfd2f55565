//! What may be done about outliers before a summary, by name. The raw sample stays in the result, so that percentiles, extremes and every test can be
//! of that, and no policy ever leaves nothing.

use super::description::{Description, MAD_TO_SD};
use super::quantile::Quantile;

/// What is done about outliers before a summary. Tests should be of the raw values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutlierPolicy {
    /// All values stay.
    Keep,
    /// The largest ceil(n / 20) values go.
    TopFivePercent,
    /// The smallest and the largest floor(n / 20) values go.
    BothFivePercent,
    /// Values beyond fences at some IQR from the quartiles go (Tukey 1977).
    IqrFence(IqrFence),
    /// Values further from the median than `multiple` times 1.4826 MAD go (`NBenchmark`); below three values nothing does.
    Mad {
        /// How many scaled MAD are allowed; 3 is usual.
        multiple: f64,
    },
    /// Values beyond the `Linear` 5 and 95 % quantiles become those.
    Winsorise5To95,
}

/// Fences in units of the interquartile range; a value on a fence is within it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IqrFence {
    /// The definition of the quartiles.
    pub quartiles: Quantile,
    /// How many IQR a fence is from its quartile.
    pub multiple: f64,
    /// A sample of fewer values is left alone.
    pub fewest: usize,
    /// How a fence treats a sample whose quartiles are equal.
    pub without_spread: WithoutSpread,
}

/// How a fence treats a sample whose quartiles are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutSpread {
    /// All values stay (the serializer methodology).
    KeepAll,
    /// Every other value goes (`NBenchmark`).
    Apply,
}

impl IqrFence {
    /// `NBenchmark`'s: quartiles of nearest rank, 1.5 IQR, any number of values and any spread.
    pub const NEAREST_RANK: Self = Self {
        quartiles: Quantile::InvertedCdf,
        multiple: 1.5,
        fewest: 1,
        without_spread: WithoutSpread::Apply,
    };
    /// The serializer methodology's: interpolated quartiles, 1.5 IQR, 10 values at least.
    pub const INTERPOLATED: Self = Self {
        quartiles: Quantile::Linear,
        multiple: 1.5,
        fewest: 10,
        without_spread: WithoutSpread::KeepAll,
    };
    /// The serializer methodology's wider one, at 3 IQR.
    pub const INTERPOLATED_WIDE: Self = Self {
        multiple: 3.0,
        ..Self::INTERPOLATED
    };
}

/// Why a policy left all values as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreatmentSkipped {
    /// There are fewer values than it asks for.
    TooFew,
    /// The interquartile range or the MAD is 0.
    NoSpread,
    /// Nothing would be left.
    WouldRemoveAll,
}

/// A sample after an [`OutlierPolicy`].
#[derive(Debug, Clone, PartialEq)]
pub struct TreatedSample<'a> {
    /// All values as measured.
    pub raw: &'a [f64],
    /// The values left, in the order measured; replaced ones included.
    pub values: Vec<f64>,
    /// Says of each of all values whether it was removed.
    pub gone: Vec<bool>,
    /// How many low values were removed or replaced.
    pub low: usize,
    /// How many high values were removed or replaced.
    pub high: usize,
    /// The bounds beyond which values were removed or replaced, where the policy has such.
    pub bounds: Option<(f64, f64)>,
    /// Why nothing was done, where a guard kept the policy from it.
    pub untouched: Option<TreatmentSkipped>,
}

impl TreatedSample<'_> {
    /// Returns how many values were removed.
    pub fn removed(&self) -> usize {
        self.raw.len() - self.values.len()
    }

    /// Returns how many values were replaced.
    pub fn replaced(&self) -> usize {
        self.low + self.high - self.removed()
    }
}

impl OutlierPolicy {
    /// Applies the policy to the sample `raw`, whose order it keeps; n log n steps. `None` without values or with one that is not finite.
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
        if reach == 0.0 && self.without_spread == WithoutSpread::KeepAll {
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
            without_spread: WithoutSpread::KeepAll,
            ..IqrFence::NEAREST_RANK
        };
        assert_eq!(of(guarded), 0);
    }

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
