//! Every bound that is a convention rather than a property of a test, with its name, its default and its source.
//!
//! A workspace may set thresholds (`[workspace.metadata.perfcheck.thresholds]`), and a run stores those that its verdicts used. The constants with
//! which the project's own procedure was calibrated are not thresholds. docs/internals/src/statistics/ describes them.

use serde::{Deserialize, Serialize};

/// The description of one threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdKind {
    /// The key of the threshold in Cargo.toml.
    pub name: &'static str,
    /// The value if the workspace sets none.
    pub default: f64,
    /// The smallest value allowed.
    pub least: f64,
    /// The largest value allowed.
    pub most: f64,
    /// Whether the value must be a whole number.
    pub whole: bool,
}

macro_rules! thresholds {
    ($($(#[doc = $doc:literal])+ $field:ident $name:literal = $default:literal in $least:literal to $most:literal $($whole:ident)?;)+) => {
        /// The thresholds in force.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
        #[serde(default, rename_all = "kebab-case")]
        pub struct Thresholds {
            $($(#[doc = $doc])+ pub $field: f64,)+
        }

        impl Default for Thresholds {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl Thresholds {
            /// All thresholds, in the order of the documentation.
            pub const ALL: &[ThresholdKind] = &[
                $(ThresholdKind {
                    name: $name,
                    default: $default,
                    least: $least,
                    most: $most,
                    whole: thresholds!(@whole $($whole)?),
                },)+
            ];

            /// Returns the values, in the order of [`Self::ALL`].
            fn values(&self) -> Vec<f64> {
                vec![$(self.$field,)+]
            }

            fn of_name(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $($name => Some(&mut self.$field),)+
                    _ => None,
                }
            }
        }
    };
    (@whole) => { false };
    (@whole whole) => { true };
}

thresholds! {
    /// Two-sided significance level of the tests of `--test` if no `--significance-level` is set (from `NBenchmark`, Criterion, mmtests).
    test_level "test-level" = 0.05 in 1e-6 to 0.499_999;
    /// Values that each side needs for a rank test (from `NBenchmark`; its later versions need 2).
    min_per_group "min-per-group" = 5.0 in 1.0 to 1e6 whole;
    /// A ratio of 95th percentiles up to this value counts as faster (from `BenchForge`).
    p95_faster "p95-faster" = 0.95 in 1e-6 to 1.0;
    /// A ratio of 95th percentiles of this value or more counts as slower (from `BenchForge`).
    p95_slower "p95-slower" = 1.05 in 1.0 to 1e6;
    /// Cliff's delta below this is negligible (Romano et al. 2006).
    cliff_negligible "cliff-negligible" = 0.147 in 0.0 to 1.0;
    /// Cliff's delta below this is small.
    cliff_small "cliff-small" = 0.33 in 0.0 to 1.0;
    /// Cliff's delta below this is medium. From this value on, it is large.
    cliff_medium "cliff-medium" = 0.474 in 0.0 to 1.0;
    /// A rank test reports no change if Cliff's delta is below this (from `NBenchmark`).
    practical_effect "practical-effect" = 0.147 in 0.0 to 1.0;
    /// Distance from a quartile to the fence of mild outliers, in interquartile ranges (Tukey 1977).
    outlier_mild "outlier-mild" = 1.5 in 0.0 to 1e6;
    /// Distance from a quartile to the fence of severe outliers, in interquartile ranges (Tukey 1977).
    outlier_severe "outlier-severe" = 3.0 in 0.0 to 1e6;
    /// Distance from a quartile to the fence of `--outliers iqr`, in interquartile ranges (from `NBenchmark`, the serializer benchmarks).
    iqr_fence "iqr-fence" = 1.5 in 0.0 to 1e6;
    /// Samples needed for the fence of `--outliers iqr` (from the serializer benchmarks).
    iqr_min_samples "iqr-min-samples" = 10.0 in 1.0 to 1e6 whole;
    /// Distance from the median to the fence of `--outliers mad`, in scaled MADs (from `NBenchmark`).
    mad_fence "mad-fence" = 3.0 in 0.0 to 1e6;
    /// A coefficient of variation up to this value counts as stable (from `NBenchmark`).
    cv_stable "cv-stable" = 0.05 in 0.0 to 1e6;
    /// A coefficient of variation of this value or more causes a warning (from `NBenchmark`).
    cv_high "cv-high" = 0.5 in 0.0 to 1e6;
    /// Warn that processes differ from each other if the standard deviation of their medians is more than this many times the mean standard error of
    /// a process (from `NBenchmark`).
    process_variance_ratio "process-variance-ratio" = 4.0 in 0.0 to 1e6;
    /// Samples needed to check for autocorrelation, drift and several modes (from `NBenchmark`).
    series_min_samples "series-min-samples" = 50.0 in 4.0 to 1e6 whole;
    /// Autocorrelation above this causes a warning (from `NBenchmark`).
    autocorrelation "autocorrelation" = 0.5 in 0.0 to 1.0;
    /// Warn if the two halves of the samples differ at this significance level (from `NBenchmark`).
    halves_level "halves-level" = 0.001 in 0.0 to 1.0;
    /// The samples drift if the means of their halves differ by more than this fraction (from `NBenchmark`).
    drift_change "drift-change" = 0.1 in 0.0 to 1e6;
    /// The samples drift only if the means of their halves also differ by this many standard errors (from `NBenchmark`).
    drift_standard_errors "drift-standard-errors" = 4.0 in 0.0 to 1e6;
    /// The samples have several modes if their modal value is at least this (Gregg 2014).
    several_modes "several-modes" = 2.4 in 2.0 to 1e6;
    /// With at least this many processes (or samples of a single process), intervals come from the bootstrap, because the bootstrap then covers the
    /// true value as often as Student's t. Criterion's method sets this to 2.
    bootstrap_min_processes "bootstrap-min-processes" = 300.0 in 2.0 to 1e6 whole;
    /// Slow outliers that are close together count as a slow cluster, which causes a warning. This is the smallest number of samples in such a
    /// cluster (from `NBenchmark`).
    slow_cluster_min "slow-cluster-min" = 3.0 in 1.0 to 1e6 whole;
    /// The smallest share of all samples that a slow cluster must have to cause a warning (from `NBenchmark`).
    slow_cluster_share "slow-cluster-share" = 0.01 in 0.0 to 1.0;
    /// The largest coefficient of variation within a slow cluster. If the slow samples vary more, they are no cluster (from `NBenchmark`).
    slow_cluster_cv "slow-cluster-cv" = 0.15 in 0.0 to 1e6;
    /// Warn if the mean is more than this many times the median (from the serializer benchmarks).
    mean_over_median "mean-over-median" = 1000.0 in 1.0 to 1e9;
    /// Warn about a sample that takes more than this many seconds per iteration and is also more than `mean-over-median` times the median (from the
    /// serializer methodology).
    absurd_seconds "absurd-seconds" = 1.0 in 0.0 to 1e9;
    /// Confidence level of the intervals of means that `import` prints (from the serializer benchmarks).
    import_level "import-level" = 0.95 in 0.5 to 0.999_999;
    /// Resamples of the intervals of means that `import` prints (from the serializer benchmarks).
    import_resamples "import-resamples" = 2000.0 in 100.0 to 1e7 whole;
    /// Seed of the intervals of means that `import` prints (from the serializer benchmarks).
    import_seed "import-seed" = 42.0 in 0.0 to 9e15 whole;
}

/// Two related thresholds: `low` must not exceed `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThresholdOrder {
    /// Name of the lower threshold.
    pub low: &'static str,
    /// Name of the higher threshold.
    pub high: &'static str,
}

const ASCENDING: [ThresholdOrder; 5] = [
    ThresholdOrder {
        low: "outlier-mild",
        high: "outlier-severe",
    },
    ThresholdOrder {
        low: "cv-stable",
        high: "cv-high",
    },
    ThresholdOrder {
        low: "cliff-negligible",
        high: "cliff-small",
    },
    ThresholdOrder {
        low: "cliff-small",
        high: "cliff-medium",
    },
    ThresholdOrder {
        low: "p95-faster",
        high: "p95-slower",
    },
];

impl Thresholds {
    /// Returns these thresholds, but takes each threshold that has its default value from `other`.
    #[must_use]
    pub fn or(mut self, mut other: Self) -> Self {
        for kind in Self::ALL {
            if let (Some(own), Some(other)) = (self.of_name(kind.name), other.of_name(kind.name))
                && *own == kind.default
            {
                *own = *other;
            }
        }
        self
    }

    /// Sets one threshold. The error says which values are allowed, or that the name is unknown.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        let known = Self::ALL.iter().find(|kind| kind.name == name);
        let (Some(kind), Some(place)) = (known, self.of_name(name)) else {
            return Err("there is no such threshold".to_owned());
        };
        let (least, most) = (kind.least, kind.most);
        if !(least..=most).contains(&value) {
            return Err(format!("{value} is not between {least} and {most}"));
        }
        if kind.whole && value.fract() != 0.0 {
            return Err(format!("{value} is not a whole number"));
        }
        *place = value;
        Ok(())
    }

    /// Checks that related thresholds are in order. The error names two that are not.
    pub fn check_order(&self) -> Result<(), ThresholdOrder> {
        let mut copy = *self;
        let mut value = |name: &str| copy.of_name(name).copied().unwrap_or(0.0);
        let broken = ASCENDING
            .iter()
            .find(|order| value(order.low) > value(order.high));
        broken.map_or(Ok(()), |order| Err(*order))
    }

    /// Returns the thresholds that differ from their default: name, value, default.
    pub fn non_default(&self) -> Vec<(&'static str, f64, f64)> {
        Self::ALL
            .iter()
            .zip(self.values())
            .filter(|(kind, value)| kind.default != *value)
            .map(|(kind, value)| (kind.name, value, kind.default))
            .collect()
    }

    /// Reports whether all thresholds have their defaults.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_threshold_is_told_with_its_value_and_its_default() {
        let mut set = Thresholds::default();
        assert_eq!((set.non_default(), set.is_default()), (vec![], true));
        set.set("iqr-fence", 2.0).unwrap();
        assert_eq!(set.non_default(), [("iqr-fence", 2.0, 1.5)]);
        assert!(!set.is_default());
    }

    /// The numbers of the methodologies that docs/internals/src/systems.md names.
    #[test]
    fn the_defaults_are_those_that_the_systems_publish() {
        let set = Thresholds::default();
        assert_eq!((set.test_level, set.min_per_group), (0.05, 5.0));
        assert_eq!((set.p95_faster, set.p95_slower), (0.95, 1.05));
        let cliff = [set.cliff_negligible, set.cliff_small, set.cliff_medium];
        assert_eq!((cliff, set.practical_effect), ([0.147, 0.33, 0.474], 0.147));
        assert_eq!((set.outlier_mild, set.outlier_severe), (1.5, 3.0));
        assert_eq!((set.iqr_fence, set.iqr_min_samples), (1.5, 10.0));
        assert_eq!((set.mad_fence, set.process_variance_ratio), (3.0, 4.0));
        assert_eq!((set.cv_stable, set.cv_high), (0.05, 0.5));
        let order = (set.series_min_samples, set.autocorrelation);
        assert_eq!((order, set.halves_level), ((50.0, 0.5), 0.001));
        assert_eq!((set.drift_change, set.drift_standard_errors), (0.1, 4.0));
        let cluster = (set.slow_cluster_share, set.slow_cluster_cv);
        assert_eq!((set.slow_cluster_min, cluster), (3.0, (0.01, 0.15)));
        assert_eq!((set.mean_over_median, set.absurd_seconds), (1_000.0, 1.0));
        let import = (set.import_level, set.import_resamples, set.import_seed);
        assert_eq!(import, (0.95, 2_000.0, 42.0));
    }

    #[test]
    fn every_threshold_can_be_set_by_its_name_and_has_a_sensible_default() {
        for kind in Thresholds::ALL {
            let mut thresholds = Thresholds::default();
            assert!((kind.least..=kind.most).contains(&kind.default), "{kind:?}");
            thresholds.set(kind.name, kind.most).expect(kind.name);
            assert_eq!(
                thresholds.non_default().len(),
                usize::from(kind.most != kind.default)
            );
            assert!(thresholds.set(kind.name, f64::NAN).is_err());
            assert!(thresholds.set(kind.name, kind.most * 2.0).is_err());
            assert_eq!(
                thresholds.set(kind.name, 7.5).is_ok(),
                !kind.whole && kind.most > 7.5,
                "{kind:?}"
            );
        }
        assert!(Thresholds::default().check_order().is_ok());
        assert!(Thresholds::default().set("nothing", 1.0).is_err());
    }

    #[test]
    fn bounds_that_belong_together_are_in_order() {
        let mut thresholds = Thresholds::default();
        thresholds.set("outlier-mild", 4.0).expect("in range");
        assert_eq!(
            thresholds.check_order(),
            Err(ThresholdOrder {
                low: "outlier-mild",
                high: "outlier-severe"
            })
        );
    }

    #[test]
    fn bounds_that_belong_together_may_be_equal() {
        let mut thresholds = Thresholds::default();
        thresholds.set("outlier-mild", 3.0).expect("in range");
        assert_eq!(thresholds.outlier_mild, thresholds.outlier_severe);
        assert_eq!(thresholds.check_order(), Ok(()));
    }

    #[test]
    fn only_thresholds_that_have_their_defaults_are_replaced_by_others() {
        let with = |set: &[(&str, f64)]| {
            let mut found = Thresholds::default();
            for (name, value) in set {
                found.set(name, *value).expect(name);
            }
            found
        };
        let own = with(&[("iqr-fence", 2.0), ("mad-fence", 4.0)]);
        let others = with(&[("iqr-fence", 2.5), ("cv-high", 0.6)]);
        let both = with(&[("iqr-fence", 2.0), ("mad-fence", 4.0), ("cv-high", 0.6)]);
        assert_eq!(own.or(others), both);
        assert_eq!(own.or(Thresholds::default()), own);
        assert_eq!(Thresholds::default().or(own), own);
    }

    #[test]
    fn a_value_that_is_refused_is_told_and_changes_nothing() {
        let mut set = Thresholds::default();
        let refused = |set: &mut Thresholds, name, value| set.set(name, value).expect_err(name);
        let unknown = refused(&mut set, "nothing", 1.0);
        assert_eq!(unknown, "there is no such threshold");
        let beyond = refused(&mut set, "cliff-small", 1.5);
        assert_eq!(beyond, "1.5 is not between 0 and 1");
        let broken = refused(&mut set, "min-per-group", 2.5);
        assert_eq!(broken, "2.5 is not a whole number");
        assert_eq!(set, Thresholds::default());
        assert_eq!(set.set("min-per-group", 2.0), Ok(()));
        assert_eq!(set.min_per_group, 2.0);
        assert_eq!(set.set("cliff-small", 0.25), Ok(()));
        assert_eq!(set.cliff_small, 0.25);
    }

    #[test]
    fn each_two_bounds_that_belong_together_are_checked() {
        for order in ASCENDING {
            let mut set = Thresholds::default();
            let mut value = |name: &str| set.of_name(name).map(|value| *value);
            let (low, high) = (value(order.low), value(order.high));
            *set.of_name(order.low).expect(order.low) = high.expect(order.high);
            *set.of_name(order.high).expect(order.high) = low.expect(order.low);
            assert_eq!(set.check_order(), Err(order));
        }
    }
}
