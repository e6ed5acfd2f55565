//! The empirical distribution of several random samples that represent unequal numbers of operations.
//!
//! A reservoir holds the same number of values whether they were drawn from ten thousand operations or from ten million. If they were simply
//! pooled, the values of a short measurement would have too much weight. Here each value represents the number of operations measured per value.

/// The weighted empirical distribution function of several random samples: the share of all operations with at most a given value.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedEcdf {
    /// (value, share of operations at or below it), ascending in both, each value once
    steps: Vec<(f64, f64)>,
}

impl WeightedEcdf {
    /// Merges `samples`, each a number of operations and the values drawn from them, in any order and in one unit; n log n steps. Samples without
    /// values or operations are left out. `None` if none is left or a value is not finite.
    pub fn from_samples(samples: &[(u64, &[f64])]) -> Option<Self> {
        let mut weighted: Vec<(f64, f64)> = samples
            .iter()
            .flat_map(|(operations, values)| {
                let weight = *operations as f64 / values.len() as f64;
                values.iter().map(move |value| (*value, weight))
            })
            .filter(|(_, weight)| *weight > 0.0)
            .collect();
        if weighted.is_empty() || weighted.iter().any(|(value, _)| !value.is_finite()) {
            return None;
        }
        weighted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let mut steps: Vec<(f64, f64)> = Vec::new();
        for (value, weight) in weighted {
            sum += weight;
            match steps.last_mut() {
                Some((last, share)) if *last == value => *share = sum / total,
                _ => steps.push((value, sum / total)),
            }
        }
        // Remove the rounding error of the last share.
        if let Some((_, share)) = steps.last_mut() {
            *share = 1.0;
        }
        Some(Self { steps })
    }

    /// Returns each value with the share of operations at or below it, ascending in both.
    pub fn steps(&self) -> &[(f64, f64)] {
        &self.steps
    }

    /// Returns the share of operations with at most `value`, from 0 to 1; log n steps.
    pub fn share_at(&self, value: f64) -> f64 {
        let below = self.steps.partition_point(|(step, _)| *step <= value);
        below.checked_sub(1).map_or(0.0, |last| self.steps[last].1)
    }

    /// Returns the smallest value that at least the share `p` of operations did not exceed; log n steps. `None` for `p` outside 0..=1.
    pub fn quantile(&self, p: f64) -> Option<f64> {
        if !(0.0..=1.0).contains(&p) {
            return None;
        }
        let index = self.steps.partition_point(|(_, share)| *share < p);
        self.steps.get(index).map(|(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn samples_without_values_say_nothing() {
        assert_eq!(WeightedEcdf::from_samples(&[]), None);
        assert_eq!(WeightedEcdf::from_samples(&[(5, &[]), (0, &[1.0])]), None);
        assert_eq!(WeightedEcdf::from_samples(&[(1, &[f64::NAN])]), None);
        let one = WeightedEcdf::from_samples(&[(5, &[]), (3, &[2.0])]).unwrap();
        assert_eq!((one.share_at(1.9), one.share_at(2.0)), (0.0, 1.0));
        assert_eq!((one.quantile(0.0), one.quantile(1.1)), (Some(2.0), None));
    }

    proptest! {
        #[test]
        fn it_rises_from_nothing_to_all_and_quantiles_invert_it(
            a in prop::collection::vec(0.0..9.0_f64, 1..30), b in prop::collection::vec(0.0..9.0_f64, 1..30), p in 0.001..1.0_f64,
        ) {
            let ecdf = WeightedEcdf::from_samples(&[(1_000, &a), (10, &b)]).unwrap();
            prop_assert!(ecdf.steps.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
            prop_assert_eq!((ecdf.share_at(-1.0), ecdf.share_at(9.0)), (0.0, 1.0));
            let value = ecdf.quantile(p).unwrap();
            prop_assert!(ecdf.share_at(value) >= p);
        }
    }
}
