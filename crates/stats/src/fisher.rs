//! Fisher's exact test of two proportions (Fisher 1935).

/// Returns the logarithms of 0!, 1!, ..., `most`!.
fn log_factorials(most: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let mut logs = vec![0.0];
    logs.extend((1..=most).map(|i| {
        sum += (i as f64).ln();
        sum
    }));
    logs
}

/// Fisher's exact test of two proportions in groups of equal size, prepared for repeated use (Fisher 1935).
#[derive(Debug, Clone)]
pub struct FisherExact {
    size: usize,
    logs: Vec<f64>,
}

impl FisherExact {
    /// Prepares the test for groups of `size` trials each, in linear time.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            logs: log_factorials(2 * size),
        }
    }

    /// Returns the one-sided p-value for "the first group has the larger proportion": P(at least `first` hits in the first group | `first` + `second`
    /// hits in both). A number of hits above the group size counts as the group size. The p-value is 1 if there are no hits.
    pub fn upper_tail(&self, first: usize, second: usize) -> f64 {
        let (first, second) = (first.min(self.size), second.min(self.size));
        let hits = first + second;
        let choose = |n: usize, k: usize| self.logs[n] - self.logs[k] - self.logs[n - k];
        let all = choose(2 * self.size, hits);
        let chance = |i: usize| (choose(self.size, i) + choose(self.size, hits - i) - all).exp();
        (first..=hits.min(self.size))
            .map(chance)
            .sum::<f64>()
            .min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_scipy() {
        // fisher_exact([[8, 2], [1, 9]], 'greater').pvalue, and the same for [[6, 4], [0, 10]]
        let ten = FisherExact::new(10);
        assert!((ten.upper_tail(8, 1) - 0.002_738_747_320_790_666_3).abs() < 1e-12);
        assert!((ten.upper_tail(6, 0) - 0.005_417_956_656_346_749).abs() < 1e-12);
        assert_eq!(ten.upper_tail(0, 0), 1.0);
        assert_eq!(ten.upper_tail(0, 7), 1.0);
        assert_eq!(ten.upper_tail(12, 0), ten.upper_tail(10, 0));
    }
}
