//! From the launches of one benchmark to one cleaned series, with a count of everything that is not in it.

use super::outlier_policy::{OutlierPolicy, Untouched};

/// What becomes of the first sample of each launch, which may hold the warm-up of what the harness cannot warm up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstSample {
    /// It counts like the others.
    Used,
    /// It is left out, before any other treatment.
    Dropped,
}

/// Where the values went: raw = skipped + removed + used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleaningCounts {
    /// Values measured.
    pub raw: usize,
    /// First samples left out.
    pub warm_up_skipped: usize,
    /// Outliers removed.
    pub outliers_removed: usize,
    /// Values used, replaced ones included.
    pub used: usize,
}

/// A cleaned series.
#[derive(Debug, Clone, PartialEq)]
pub struct Cleaned {
    /// All values, launch after launch.
    pub raw: Vec<f64>,
    /// The values used, in the same order.
    pub used: Vec<f64>,
    /// Where the others went.
    pub counts: CleaningCounts,
    /// Why the policy did nothing, if a guard says so.
    pub untouched: Option<Untouched>,
}

impl Cleaned {
    /// Pools `launches`, without their first samples if so wished, and applies `policy` to the pool: fences belong to a benchmark, not to a launch.
    /// A launch of one sample keeps it. `None` without values or with one that is not finite.
    pub fn of(launches: &[&[f64]], first: FirstSample, policy: OutlierPolicy) -> Option<Self> {
        let raw: Vec<f64> = launches.concat();
        let warm: Vec<f64> = launches
            .iter()
            .flat_map(|launch| match first {
                FirstSample::Dropped if launch.len() > 1 => &launch[1..],
                _ => launch,
            })
            .copied()
            .collect();
        if !raw.iter().all(|value| value.is_finite()) {
            return None;
        }
        let treated = policy.apply(&warm)?;
        let counts = CleaningCounts {
            raw: raw.len(),
            warm_up_skipped: raw.len() - warm.len(),
            outliers_removed: treated.removed(),
            used: treated.values.len(),
        };
        Some(Self {
            counts,
            used: treated.values,
            untouched: treated.untouched,
            raw,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_of_one_sample_keeps_it_and_nothing_stays_nothing() {
        let cleaned = Cleaned::of(
            &[&[3.0], &[9.0, 1.0]],
            FirstSample::Dropped,
            OutlierPolicy::Keep,
        );
        assert_eq!(cleaned.unwrap().used, [3.0, 1.0]);
        let of = |x: &[f64]| Cleaned::of(&[x], FirstSample::Dropped, OutlierPolicy::Keep);
        assert_eq!(of(&[]), None);
        // Not even where it would have been dropped.
        assert_eq!(of(&[f64::NAN, 1.0]), None);
        assert_eq!(
            Cleaned::of(&[], FirstSample::Used, OutlierPolicy::Keep),
            None
        );
    }
}
