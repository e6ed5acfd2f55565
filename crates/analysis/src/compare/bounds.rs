//! Turns the bounds of a change into a verdict. All tests use this module, so that they judge alike.

use super::estimate::Estimate;
use crate::model::Verdict;

/// The interval of a relative change or of a log ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChangeBounds {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl ChangeBounds {
    /// Returns `Regressed` or `Improved` if the whole interval lies beyond the threshold, and `Unchanged` if the whole interval lies within the
    /// threshold.
    pub(super) fn judge(self, threshold: f64) -> Verdict {
        self.judge_with_resolution(threshold, threshold)
    }

    /// Judges the interval of a value that is measured more coarsely than the threshold. For a change, the whole interval must lie beyond `callable`,
    /// the smallest change that can be reported. For `Unchanged`, it must lie within `threshold`.
    pub(super) fn judge_with_resolution(self, threshold: f64, callable: f64) -> Verdict {
        if self.lower > callable {
            Verdict::Regressed
        } else if self.upper < -callable {
            Verdict::Improved
        } else if self.lower >= -threshold && self.upper <= threshold {
            Verdict::Unchanged
        } else {
            Verdict::Inconclusive
        }
    }
}

impl From<&Estimate> for ChangeBounds {
    fn from(change: &Estimate) -> Self {
        Self {
            lower: change.lower,
            upper: change.upper,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_called_strictly_beyond_the_threshold_and_unchanged_up_to_it() {
        let judge = |lower, upper| ChangeBounds { lower, upper }.judge(0.01);
        assert_eq!(judge(0.0101, 0.02), Verdict::Regressed);
        assert_eq!(judge(0.01, 0.02), Verdict::Inconclusive);
        assert_eq!(judge(-0.02, -0.0101), Verdict::Improved);
        assert_eq!(judge(-0.02, -0.01), Verdict::Inconclusive);
        assert_eq!(judge(-0.01, 0.01), Verdict::Unchanged);
        assert_eq!(judge(-0.0101, 0.01), Verdict::Inconclusive);
        assert_eq!(judge(-0.01, 0.0101), Verdict::Inconclusive);
        assert_eq!(judge(f64::NAN, f64::NAN), Verdict::Inconclusive);
        assert_eq!(judge(f64::NEG_INFINITY, 0.0), Verdict::Inconclusive);
    }

    #[test]
    fn a_coarse_value_needs_a_larger_change_and_is_unchanged_as_before() {
        let judge = |lower, upper| ChangeBounds { lower, upper }.judge_with_resolution(0.01, 0.05);
        assert_eq!(judge(0.02, 0.03), Verdict::Inconclusive);
        assert_eq!(judge(0.051, 0.06), Verdict::Regressed);
        assert_eq!(judge(-0.06, -0.051), Verdict::Improved);
        assert_eq!(judge(-0.01, 0.01), Verdict::Unchanged);
    }
}
