//! Checks of a series: whether its samples are independent, and whether their level drifts.

use super::description::{deviations, mean, mean_difference, squared_deviations, standard_error};
use super::mann_whitney::{MannWhitney, MannWhitneyMethod};
use super::sums::sum;

/// Returns the lag-1 autocorrelation of `values` in the order taken, from -1 to 1: `sum (x_i - m)(x_{i+1} - m) / sum (x_i - m)^2` (Box and Jenkins
/// 1976).
///
/// `None` below three values, without spread, or with a value that is not finite.
pub fn lag_one_autocorrelation(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let neighbours = deviations(values).zip(deviations(values).skip(1));
    let products = sum(neighbours.map(|(one, next)| one * next));
    let squares = squared_deviations(values);
    (squares > 0.0)
        .then(|| products / squares)
        .filter(|r| r.is_finite())
}

/// A comparison of the first and second half of a series, to detect a drift of its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitHalves {
    /// Two-sided Mann-Whitney p-value of both halves, by [`MannWhitneyMethod::Automatic`]
    pub p: f64,
    /// Relative change from the mean of the first half to that of the second; `None` unless the first mean is positive
    pub change: Option<f64>,
    /// Difference of the means, second - first, in its standard errors; `None` if both halves are constant
    pub standard_errors: Option<f64>,
}

impl SplitHalves {
    /// Splits `values`, in the order taken, in the middle; the second half of an odd number is longer by one. `None` below four values or with a
    /// value that is not finite.
    pub fn compare(values: &[f64]) -> Option<Self> {
        if values.len() < 4 || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let (first, second) = values.split_at(values.len() / 2);
        let (before, after) = (mean(first)?, mean(second)?);
        let error = standard_error(first)?.hypot(standard_error(second)?);
        let distance = mean_difference(second, first)? / error;
        Some(Self {
            p: MannWhitney::from_groups(first, second)?.p_value(MannWhitneyMethod::Automatic)?,
            change: (before > 0.0).then(|| after / before - 1.0),
            standard_errors: distance.is_finite().then_some(distance),
        })
    }

    /// Reports whether the means differ by more than the relative `change`, a fraction, and by more than `standard_errors`. For halves without
    /// spread, only `change` counts.
    pub fn has_drifted(&self, change: f64, standard_errors: f64) -> bool {
        let far = self
            .standard_errors
            .is_none_or(|errors| errors.abs() > standard_errors);
        far && self.change.is_some_and(|seen| seen.abs() > change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_few_values_have_no_autocorrelation() {
        assert_eq!(lag_one_autocorrelation(&[0.1; 60]), None);
        assert_eq!(lag_one_autocorrelation(&[1.0, 2.0]), None);
        assert_eq!(lag_one_autocorrelation(&[1.0, f64::NAN, 2.0]), None);
        // +1 -1 +1 -1: -3/4
        assert_eq!(
            lag_one_autocorrelation(&[1.0, -1.0, 1.0, -1.0]),
            Some(-0.75)
        );
    }

    #[test]
    fn a_ramp_depends_on_its_past_and_a_zigzag_does_not() {
        let ramp: Vec<f64> = (0..50).map(f64::from).collect();
        let zigzag: Vec<f64> = (0..50).map(|i| f64::from(i % 2)).collect();
        assert!(lag_one_autocorrelation(&ramp).unwrap() > 0.9);
        assert!(lag_one_autocorrelation(&zigzag).unwrap() < -0.9);
    }

    #[test]
    fn a_step_drifts_even_where_neither_half_varies() {
        let mut step = vec![100.0; 25];
        step.extend([111.0; 25]);
        let halves = SplitHalves::compare(&step).unwrap();
        assert!(halves.has_drifted(0.1, 4.0) && halves.p < 0.001);
        assert_eq!(halves.standard_errors, None);
        let still = SplitHalves::compare(&[100.0; 50]).unwrap();
        assert!(!still.has_drifted(0.1, 4.0) && still.p >= 0.001);
        assert_eq!(SplitHalves::compare(&[1.0, 2.0, 3.0]), None);
        assert_eq!(
            SplitHalves::compare(&[0.0, 0.0, 1.0, 1.0]).unwrap().change,
            None
        );
    }
}
