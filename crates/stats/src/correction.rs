//! Corrections of a family of p-values, by name.

use super::holm::{adjusted_p_values, ascending};

/// What is kept at its level when many tests are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correction {
    /// Nothing: each test by itself.
    Unadjusted,
    /// The chance of any false alarm (Holm 1979).
    Holm,
    /// The expected share of false alarms among the alarms (Benjamini and Hochberg 1995).
    BenjaminiHochberg,
}

impl Correction {
    /// The adjusted values of `p`, in its order, at most 1.
    pub fn adjusted(self, p: &[f64]) -> Vec<f64> {
        match self {
            Self::Unadjusted => p.to_vec(),
            Self::Holm => adjusted_p_values(p),
            Self::BenjaminiHochberg => benjamini_hochberg(p),
        }
    }
}

/// p(i) m / i, made monotone from the largest down, at most 1.
fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![1.0; p.len()];
    let mut smallest = 1.0_f64;
    for (step, index) in ascending(p).into_iter().enumerate().rev() {
        smallest = smallest.min(p[index] * p.len() as f64 / (step + 1) as f64);
        adjusted[index] = smallest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Correction; 3] = [
        Correction::Unadjusted,
        Correction::BenjaminiHochberg,
        Correction::Holm,
    ];

    #[test]
    fn families_of_none_and_one_are_left_as_they_are() {
        for correction in ALL {
            assert!(correction.adjusted(&[]).is_empty());
            assert_eq!(correction.adjusted(&[0.3]), [0.3]);
        }
    }

    proptest! {
        #[test]
        fn each_is_stricter_than_the_one_before_and_keeps_the_order(p in prop::collection::vec(0.0f64..1.0, 1..20)) {
            let [none, bh, holm] = ALL.map(|correction| correction.adjusted(&p));
            for i in 0..p.len() {
                prop_assert!(none[i] <= bh[i] + 1e-15 && bh[i] <= holm[i] + 1e-15 && holm[i] <= 1.0);
                for j in 0..p.len() {
                    if p[i] < p[j] {
                        prop_assert!(bh[i] <= bh[j] && holm[i] <= holm[j]);
                    }
                }
            }
        }
    }
}
