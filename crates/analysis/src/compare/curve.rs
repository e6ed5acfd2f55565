//! The density of values as a curve, over the range where most of them lie.
//!
//! Pure numbers; how they look is the matter of `report`.

use perfcheck_stats::{density_curve, silverman_bandwidth};

/// This share of the samples, where it lies closest together, says what is near: up to a quarter of them may be interruptions.
const CLOSE: f64 = 0.75;
/// Samples further away than so many times what these take up are counted and not drawn; of a normal distribution none is.
const REACH: f64 = 2.0;

/// How densely values lie over a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// From where to where.
    pub range: (f64, f64),
    /// The density at places from one end to the other, all equally far apart; empty where the values do not spread.
    pub heights: Vec<f64>,
}

impl Curve {
    /// The density of those of `sorted` that lie within `range`, at so many places.
    pub(super) fn of(sorted: &[f64], range: (f64, f64), places: usize) -> Self {
        let inside = within(sorted, range);
        match silverman_bandwidth(inside) {
            Some(bandwidth) => Self::smoothed(inside, bandwidth, range, places),
            None => Self {
                range,
                heights: Vec::new(),
            },
        }
    }

    /// The same of all `values` with a bandwidth of the caller's choice.
    pub(super) fn smoothed(
        values: &[f64],
        bandwidth: f64,
        range: (f64, f64),
        places: usize,
    ) -> Self {
        let curve = density_curve(values, bandwidth, range, places);
        Self {
            range,
            heights: curve.into_iter().map(|(_, height)| height).collect(),
        }
    }

    /// The height of its highest place; 0 where there is none.
    pub fn peak(&self) -> f64 {
        self.heights.iter().copied().fold(0.0, f64::max)
    }

    /// Values, each with the density there.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let (lower, upper) = self.range;
        let step = (upper - lower) / (self.heights.len().max(2) - 1) as f64;
        let heights = self.heights.iter().enumerate();
        heights.map(move |(i, height)| (lower + i as f64 * step, *height))
    }
}

/// From the smallest to the largest value within reach of the closest three quarters, and a little beyond. Quartiles would not do: of a busy
/// host's samples nearly a quarter may lie far above, and then the upper one does, too.
pub(super) fn drawn_range(sorted: &[f64]) -> Option<(f64, f64)> {
    let (from, to) = closest(sorted)?;
    let reach = REACH * (to - from);
    let is_near = |time: &&f64| reach == 0.0 || (from - reach..=to + reach).contains(*time);
    let least = sorted.iter().find(is_near)?;
    let most = sorted.iter().rfind(is_near)?;
    let near = within(sorted, (*least, *most));
    // So far out a curve is near zero: it ends within the picture.
    let tail = silverman_bandwidth(near).map_or(0.0, |bandwidth| 2.5 * bandwidth);
    let room = match tail.max((most - least) * 0.06) {
        0.0 => least.abs().max(1e-3) * 0.01,
        room => room,
    };
    Some(((least - room).max(0.0), most + room))
}

/// The shortest interval from sample to sample that holds [`CLOSE`] of them.
fn closest(sorted: &[f64]) -> Option<(f64, f64)> {
    let held = (sorted.len() as f64 * CLOSE).ceil().max(1.0) as usize;
    let ends = sorted
        .windows(held)
        .map(|held| (held[0], held[held.len() - 1]));
    ends.min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))
}

/// Those of `sorted` that lie from one end of `range` to the other.
pub(super) fn within(sorted: &[f64], (from, to): (f64, f64)) -> &[f64] {
    let start = sorted.partition_point(|value| *value < from);
    let end = sorted.partition_point(|value| *value <= to);
    &sorted[start..end.max(start)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_its_highest_place_where_most_values_lie() {
        let values: Vec<f64> = (0..100).map(|i| 50.0 + f64::from(i * i) * 0.01).collect();
        let range = drawn_range(&values).unwrap();
        let curve = Curve::of(&values, range, 41);
        let points: Vec<(f64, f64)> = curve.points().collect();
        assert_eq!((points[0].0, points.len()), (range.0, 41));
        assert!((points[40].0 - range.1).abs() < 1e-9);
        let top = points.iter().find(|(_, height)| *height == curve.peak());
        assert!((45.0..65.0).contains(&top.unwrap().0));
    }

    #[test]
    fn values_without_spread_have_a_range_and_no_heights() {
        let range = drawn_range(&[5.0; 9]).unwrap();
        assert!(range.0 < 5.0 && range.1 > 5.0);
        let curve = Curve::of(&[5.0; 9], range, 41);
        assert_eq!((curve.peak(), curve.points().count()), (0.0, 0));
        assert_eq!(drawn_range(&[]), None);
    }

    #[test]
    fn both_ends_belong_to_a_range() {
        let sorted = [1.0, 2.0, 2.0, 3.0, 4.0];
        assert_eq!(within(&sorted, (2.0, 3.0)), [2.0, 2.0, 3.0]);
        assert_eq!(within(&sorted, (9.0, 12.0)), [0.0; 0]);
        assert_eq!(within(&sorted, (3.5, 3.2)), [0.0; 0]);
    }
}
