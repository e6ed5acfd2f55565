//! Summaries of values that are sorted from the best to the worst, as in mmtests. The best value is the smallest one for times, and the largest one
//! for rates.
//!
//! A 95th percentile of rates is then the rate that 95 % of the samples reach, and a best-95 % mean leaves out the slowest times or the lowest rates.

use super::description::mean;

/// The direction of preference for means of the best values, percentiles and improvements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Smaller values are better, as for times and sizes.
    Lower,
    /// Larger values are better, as for rates.
    Higher,
}

impl Better {
    /// Returns a copy of `values` that is sorted from the best to the worst.
    fn best_first(self, values: &[f64]) -> Vec<f64> {
        let mut sorted = values.to_vec();
        match self {
            Self::Lower => sorted.sort_unstable_by(f64::total_cmp),
            Self::Higher => sorted.sort_unstable_by(|a, b| b.total_cmp(a)),
        }
        sorted
    }

    /// Returns the mean of the best `percent` of `values`, in their unit. These are the first max(1, floor(n percent / 100)) values in order of
    /// preference (mmtests). Returns `None` if there are no values, if one of them is not finite, or if `percent` is above 100.
    pub fn best_mean(self, values: &[f64], percent: u32) -> Option<f64> {
        let best = self.best_first(values);
        mean(&best[..rank(&best, percent)?]).filter(|mean| mean.is_finite())
    }

    /// Returns the value of rank max(1, floor(n percent / 100)) in order of preference (mmtests). Returns `None` in the same cases as
    /// [`Self::best_mean`].
    ///
    /// The rank is computed in integers: in floating point, 0.29 times 100 is less than 29.
    pub fn percentile(self, values: &[f64], percent: u32) -> Option<f64> {
        let best = self.best_first(values);
        Some(best[rank(&best, percent)? - 1])
    }

    /// Returns how much `new` is better than `base`, as a fraction: 1 - new / base if lower is better, new / base - 1 if higher is (mmtests).
    /// Positive is always better.
    ///
    /// Equal values, including two zeros, give 0. Returns `None` if `base` is 0 and `new` is not, or if one of them is negative or not finite.
    pub fn improvement(self, new: f64, base: f64) -> Option<f64> {
        if !(new >= 0.0 && base >= 0.0 && new.is_finite() && base.is_finite()) {
            return None;
        }
        if new == base {
            return Some(0.0);
        }
        let change = (new - base) / base;
        let better = match self {
            Self::Lower => -change,
            Self::Higher => change,
        };
        better.is_finite().then_some(better)
    }
}

/// Returns the rank max(1, floor(n percent / 100)). Returns `None` if there are no values, if one of them is not finite, or if `percent` is
/// above 100.
fn rank(sorted: &[f64], percent: u32) -> Option<usize> {
    let valid = !sorted.is_empty() && percent <= 100 && sorted.iter().all(|x| x.is_finite());
    valid.then(|| (sorted.len() * percent as usize / 100).max(1))
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn nothing_and_nonsense_have_no_best() {
        for preference in [Better::Lower, Better::Higher] {
            assert_eq!(preference.best_mean(&[], 95), None);
            assert_eq!(preference.best_mean(&[1.0], 101), None);
            assert_eq!(preference.percentile(&[1.0, f64::NAN], 50), None);
            assert_eq!(preference.percentile(&[7.0], 0), Some(7.0));
        }
    }

    #[test]
    fn whole_percents_are_not_lost_to_rounding() {
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(Better::Lower.percentile(&values, 29), Some(29.0));
        assert_eq!(Better::Higher.percentile(&values, 29), Some(72.0));
    }

    #[test]
    fn a_change_from_zero_has_no_size() {
        assert_eq!(Better::Lower.improvement(0.0, 0.0), Some(0.0));
        assert_eq!(Better::Lower.improvement(1.0, 0.0), None);
        assert_eq!(Better::Higher.improvement(1.0, 0.0), None);
        assert_eq!(Better::Lower.improvement(f64::NAN, 1.0), None);
        assert_eq!(Better::Lower.improvement(-1.0, 1.0), None);
    }
}
