//! Finds the places in a short noisy series at which its level changes, and how certain each change is.
//!
//! The method is E-divisive (Matteson and James 2014, *A nonparametric approach for multiple change point analysis of multivariate data*). Equal
//! series and streams give equal change points.

use super::random::{Draws, Stream};

/// The parameters of a search for [`change_points`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePointRules {
    /// The significance level of the whole search, as a fraction. Of the series without a change of level, at most about this share get a change
    /// point.
    pub level: f64,
    /// Number of permutations that a split is tested against. The p-value cannot fall below 2 / (permutations + 1).
    pub permutations: u32,
    /// The fewest values on each side of a change. Numbers below 2 count as 2.
    pub least: usize,
}

impl Default for ChangePointRules {
    /// Returns the parameters of a search at the level 0.1 %, against 3,999 permutations, with at least four values on each side.
    fn default() -> Self {
        Self {
            level: 0.001,
            permutations: 3999,
            least: 4,
        }
    }
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value of the new level.
    pub index: usize,
    /// The p-value of the permutation test of this split. The test covers only the part of the series that the split divides. The p-value is doubled,
    /// because each part is searched twice.
    pub p_value: f64,
}

/// The test of a split stops early once this many permutations of the values have a split that is at least as clear. The p-value is then known well
/// enough (Besag and Clifford 1991).
const ENOUGH_EXCEEDANCES: u32 = 10;

/// Where the right part of a split may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RightPart {
    /// The right part reaches to the last value.
    Whole,
    /// The right part may end anywhere.
    Any,
}

/// Finds the changes of level in the series `values` (E-divisive: Matteson and James 2014) and returns them in the order of their indices.
///
/// The search begins with the split whose two parts differ most. It tests this split by permutation, which means that it looks for equally clear
/// splits of the same values in random orders. If the split is significant, both parts are searched in the same way. The values may have any
/// distribution.
///
/// The difference of parts with n and m values is measured by the energy statistic Q = n m / (n + m) (2 mean |x - y| - mean |x - x'| - mean |y -
/// y'|), where x and x' are values of the left part, and y and y' are values of the right part.
///
/// Each part is searched twice, each time at half the level (Bonferroni). The first search only tests right parts that reach to the end, which
/// detects late changes better. In the second search, as published, the right part may end anywhere, which detects a level that did not last.
///
/// Order matters: `values` are in order of time, in any unit. They should be finite. There is no change point in a series of equal values, or in one
/// that is shorter than twice `rules.least`. Each part of n values takes up to permutations times n^2 steps. The sampling of permutations stops early
/// if a split is not significant (Besag and Clifford 1991).
pub fn change_points(
    values: &[f64],
    rules: &ChangePointRules,
    stream: Stream<'_>,
) -> Vec<ChangePoint> {
    let mut found = Vec::new();
    let mut waiting = vec![(0, values.len())];
    // Each test of a split draws from its own blocks of the stream.
    let mut block = 0;
    while let Some((from, to)) = waiting.pop() {
        let part = &values[from..to];
        let mut first_significant = None;
        for right in [RightPart::Whole, RightPart::Any] {
            let scan = test_clearest_split(part, right, rules, stream, block);
            block += u64::from(rules.permutations);
            // Each of the two scans has half of the level (Bonferroni).
            let both = scan.map(|scan| ChangePoint {
                p_value: (2.0 * scan.p_value).min(1.0),
                ..scan
            });
            first_significant = first_significant.or(both.filter(|one| one.p_value <= rules.level));
            if first_significant.is_some() {
                break;
            }
        }
        if let Some(change) = first_significant {
            let index = from + change.index;
            found.push(ChangePoint { index, ..change });
            waiting.push((index, to));
            waiting.push((from, index));
        }
    }
    found.sort_by_key(|change| change.index);
    found
}

/// Returns the clearest split of `part` with its p-value. Returns `None` if the part is too short to split.
fn test_clearest_split(
    part: &[f64],
    right: RightPart,
    rules: &ChangePointRules,
    stream: Stream<'_>,
    first_block: u64,
) -> Option<ChangePoint> {
    let least = rules.least.max(2);
    if part.len() < 2 * least {
        return None;
    }
    let mut distances = Distances::new(part.len());
    let (statistic, index) = distances.clearest_split(part, right, least);
    // Tolerate the rounding of sums that are formed in another order.
    let as_clear = statistic - 1e-9 * statistic.abs();
    let mut shuffled = part.to_vec();
    let (mut exceedances, mut drawn) = (0, 0);
    while drawn < rules.permutations && exceedances < ENOUGH_EXCEEDANCES {
        let mut draws = Draws::new(stream, first_block + u64::from(drawn));
        shuffled.copy_from_slice(part);
        draws.shuffle(&mut shuffled);
        let (other, _) = distances.clearest_split(&shuffled, right, least);
        exceedances += u32::from(other >= as_clear);
        drawn += 1;
    }
    let p_value = if exceedances == ENOUGH_EXCEEDANCES {
        f64::from(exceedances) / f64::from(drawn)
    } else {
        f64::from(exceedances + 1) / f64::from(drawn + 1)
    };
    Some(ChangePoint { index, p_value })
}

/// Sums of the distances |x(i) - x(j)| over rectangles of (i, j). They are computed anew for each order of the values, so that the statistic of a
/// split takes constant time.
struct Distances {
    /// The sum over i' < i and j' < j, for each (i, j). There are n + 1 rows of n + 1 sums.
    sums: Vec<f64>,
    width: usize,
}

impl Distances {
    fn new(count: usize) -> Self {
        let width = count + 1;
        Self {
            sums: vec![0.0; width * width],
            width,
        }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.sums[i * self.width + j]
    }

    fn fill(&mut self, values: &[f64]) {
        for (i, x) in values.iter().enumerate() {
            let mut row = 0.0;
            for (j, y) in values.iter().enumerate() {
                row += (x - y).abs();
                let above = self.sums[i * self.width + j + 1];
                self.sums[(i + 1) * self.width + j + 1] = above + row;
            }
        }
    }

    /// Returns the largest statistic over all splits of the values, and the index at which that split divides them.
    fn clearest_split(&mut self, values: &[f64], right: RightPart, least: usize) -> (f64, usize) {
        self.fill(values);
        let count = values.len();
        let mut best = (f64::NEG_INFINITY, least);
        for split in least..=count - least {
            let nearest_end = match right {
                RightPart::Whole => count,
                RightPart::Any => split + least,
            };
            for end in nearest_end..=count {
                let statistic = self.statistic(split, end);
                if statistic > best.0 {
                    best = (statistic, split);
                }
            }
        }
        best
    }

    /// Returns the statistic Q = n m / (n + m) E for the first n = `split` values and the m values from there to `end` (equations 5 and 6 for
    /// exponent 1). E is 2 mean |x - y| - mean |x - x'| - mean |y - y'|.
    fn statistic(&self, split: usize, end: usize) -> f64 {
        let (n, m) = (split as f64, (end - split) as f64);
        let between = self.at(split, end) - self.at(split, split);
        // The sums contain each pair within a part twice.
        let within_left = self.at(split, split);
        let within_right = self.at(end, end) - 2.0 * self.at(split, end) + self.at(split, split);
        let energy = 2.0 * between / (n * m)
            - within_left / (n * (n - 1.0))
            - within_right / (m * (m - 1.0));
        n * m / (n + m) * energy
    }
}

#[cfg(test)]
#[path = "change_points_tests.rs"]
mod tests;
