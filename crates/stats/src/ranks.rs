//! Mid-ranks of pooled groups: tied values share the mean of their ranks.

/// The ranks of several pooled groups.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranks {
    /// Sum of the ranks of each group
    pub sums: Vec<f64>,
    /// Number of all values
    pub count: usize,
    /// Sum of t^3 - t over the groups of t tied values
    pub ties: f64,
}

impl Ranks {
    /// Ranks the pooled `groups`; `None` if a group is empty or a value is not a number.
    pub fn compute(groups: &[&[f64]]) -> Option<Self> {
        if groups.iter().any(|group| group.is_empty()) {
            return None;
        }
        let mut pooled: Vec<(f64, usize)> = groups
            .iter()
            .enumerate()
            .flat_map(|(label, group)| group.iter().map(move |value| (*value, label)))
            .collect();
        if pooled.iter().any(|(value, _)| value.is_nan()) {
            return None;
        }
        pooled.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut ranks = Self {
            sums: vec![0.0; groups.len()],
            count: pooled.len(),
            ties: 0.0,
        };
        let mut before = 0;
        // Compare with `==` rather than the total order, because 0 and -0 are tied.
        for tied in pooled.chunk_by(|a, b| a.0 == b.0) {
            let rank = before as f64 + (tied.len() + 1) as f64 / 2.0;
            for (_, label) in tied {
                ranks.sums[*label] += rank;
            }
            let t = tied.len() as f64;
            ranks.ties += t * t * t - t;
            before += tied.len();
        }
        Some(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tied_values_share_the_mean_of_their_ranks() {
        // 1 | 2 2 2 | 5 with ranks 1, 3, 3, 3, 5
        let ranks = Ranks::compute(&[&[2.0, 1.0], &[2.0, 5.0, 2.0]]).unwrap();
        assert_eq!(ranks.sums, [4.0, 11.0]);
        assert_eq!((ranks.count, ranks.ties), (5, 24.0));
        assert_eq!(Ranks::compute(&[&[0.0], &[-0.0]]).unwrap().ties, 6.0);
    }

    #[test]
    fn empty_groups_and_what_is_no_number_have_no_ranks() {
        assert_eq!(Ranks::compute(&[&[1.0], &[]]), None);
        assert_eq!(Ranks::compute(&[&[1.0], &[f64::NAN]]), None);
    }
}
