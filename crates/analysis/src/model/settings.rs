//! How benchmarks are sampled and how verdicts are reached: the settings, with their defaults.
//!
//! A user may replace the project's own statistics with those of published benchmark tools. Each such choice is a plain enum, in which each value has
//! the word that people write. `--method` sets all choices to the conventions of one tool. This module computes nothing: `compare::alternative`
//! implements the choices.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::statistic::Statistic;
use super::thresholds::Thresholds;
use super::{Nanos, limits};
use perfcheck_stats::{Correction, MannWhitneyMethod, Quantile, TrimmedError, words};

/// Number of complete processes that a benchmark needs for a verdict.
pub const MIN_PROCESSES: usize = 3;

words! {
    /// The distribution of iterations over the samples of a process.
    #[derive(Default)]
    SamplingMode {
        #[default]
        Standard = "standard": "A ramp up to about 1 ms per sample, then equal samples of about 1 ms",
        Linear = "linear": "A ramp over the whole measurement time: d, 2d, 3d, ... iterations",
        Flat = "flat": "Equal samples over the whole measurement time",
        Auto = "auto": "Linear, or flat if linear would take more than twice the measurement time",
    }
}

/// The condition that ends the warm-up of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUpGoal {
    /// The iterations have taken longer than this.
    Time(Nanos),
    /// This many iterations have run.
    Iterations(u32),
}

/// The settings that a bench author made in code. A setting that the author left out is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct AuthorSettings {
    /// Processes per run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// Samples per process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// Warm-up time per process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_ns: Option<Nanos>,
    /// Measurement time per process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measurement_ns: Option<Nanos>,
    /// Distribution of iterations over samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling_mode: Option<SamplingMode>,
    /// Largest relative change that counts as noise, as a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_threshold: Option<f64>,
}

impl AuthorSettings {
    /// Describes the first setting that exceeds its limit, if any.
    pub fn find_exceeded_limit(&self) -> Option<String> {
        let count = |what, range, value: Option<u32>| {
            let why = limits::check_range(range, value?.into()).err()?;
            Some(format!("its code sets `{what}` to an invalid value: {why}"))
        };
        let time = |what, value: Option<Nanos>| {
            let why = limits::check_phase(value?.into()).err()?;
            Some(format!("its code sets `{what}` to an invalid value: {why}"))
        };
        let noise = self.noise_threshold;
        let noise = noise.filter(|threshold| !(0.0..1.0).contains(threshold));
        count("processes", &limits::PROCESSES, self.processes)
            .or_else(|| count("samples", &limits::SAMPLES, self.samples))
            .or_else(|| time("warm_up_ns", self.warm_up_ns))
            .or_else(|| time("measurement_ns", self.measurement_ns))
            .or(noise.map(|threshold| {
                format!(
                    "its code sets `noise_threshold` to {threshold}, but it must be at least 0 and below 1"
                )
            }))
    }
}

/// How the processes of two executables alternate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interleaving {
    /// There is only one executable.
    #[default]
    None,
    /// Both processes are alive and take samples alternately: ABBA or BAAB.
    Samples,
    /// The processes run alternately, one after the other.
    Processes,
}

impl Interleaving {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// The sampling settings of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplingSettings {
    /// Processes per run.
    pub processes: u32,
    /// Samples per process in the flat phase, or in the only phase if there is no ramp. `None` means as many as fit into the measurement time.
    pub samples: Option<u32>,
    /// Warm-up time per process.
    pub warm_up: Nanos,
    /// Iterations of the warm-up, if their number is set instead of a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up_iterations: Option<u32>,
    /// Measurement time per process.
    pub measurement: Nanos,
    /// Distribution of iterations over samples.
    pub mode: SamplingMode,
    /// How the processes alternate, if two executables are compared.
    #[serde(default, skip_serializing_if = "Interleaving::is_none")]
    pub turns: Interleaving,
}

impl Default for SamplingSettings {
    fn default() -> Self {
        Self {
            processes: 5,
            samples: None,
            warm_up: Duration::from_millis(100).into(),
            warm_up_iterations: None,
            measurement: Duration::from_millis(400).into(),
            mode: SamplingMode::default(),
            turns: Interleaving::None,
        }
    }
}

/// The settings that decide a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DecisionSettings {
    /// Largest relative change that counts as noise, as a fraction.
    pub noise_threshold: f64,
    /// The allowed probability of at least one false `regressed` among all benchmarks of a run (one-sided). Improvements are decided separately, with
    /// the same probability.
    pub significance_level: f64,
    /// Confidence level of the bootstrap intervals that describe times.
    pub confidence_level: f64,
    /// Number of resamples that a bootstrap draws.
    pub resamples: u32,
    /// The test and the statistics that decide about stored runs, if they differ from the project's own procedure.
    #[serde(default, skip_serializing_if = "Analysis::is_default")]
    pub analysis: Analysis,
    /// Bounds that are conventions and not properties of a test, such as the fences of outliers and the sizes from which an effect counts as small or
    /// large. A workspace may set them.
    #[serde(default, skip_serializing_if = "Thresholds::is_default")]
    pub thresholds: Thresholds,
}

impl DecisionSettings {
    /// The noise threshold of two builds measured side by side. It is lower than for stored runs, because there is no drift between the two sides.
    pub const PAIRED_NOISE_THRESHOLD: f64 = 0.01;
}

impl Default for DecisionSettings {
    fn default() -> Self {
        Self {
            noise_threshold: 0.02,
            significance_level: 0.01,
            confidence_level: 0.95,
            resamples: 100_000,
            analysis: Analysis::default(),
            thresholds: Thresholds::default(),
        }
    }
}

words! {
    /// The test that decides about stored runs.
    Test {
        BootstrapT = "bootstrap-t": "Bootstrap t-score and prediction interval (cargo-perfcheck's own test)",
        TScore = "t-score": "Only the bootstrap t-score, which ignores drift between runs (like --ignore-drift)",
        PooledT = "pooled-t": "The t-score of the means, compared with pooled resamples of both sides (Criterion)",
        Welch = "welch": "Welch's t-test of the means (mmtests)",
        MannWhitney = "mann-whitney": "Mann-Whitney rank test (NBenchmark, the serializer benchmarks)",
        Kruskal = "kruskal": "Kruskal-Wallis rank test (NBenchmark, for three or more runs)",
        P95Ratio = "p95-ratio": "Ratio of the 95th percentiles: faster up to 0.95, slower from 1.05 (BenchForge)",
        Interval = "interval": "Intervals that do not overlap (mmtests' comparison script)",
    }
}

words! {
    /// What counts as one observation in a test.
    Observations {
        Processes = "processes": "One value per process: processes are independent of each other",
        Samples = "samples": "Every sample, as in NBenchmark and Criterion: more false alarms if processes differ",
        /// Samples that remain after the outlier policy, or, without a policy, after the filter of an import.
        Filtered = "filtered": "Every sample that `--outliers` or an import's filter keeps (as in the serializer benchmarks)",
    }
}

words! {
    /// The treatment of outliers in a summary. Tests use all samples unless `Observations::Filtered` is chosen.
    Outliers {
        Keep = "none": "Keep all samples (Criterion, mmtests)",
        Top5 = "top5": "Drop the largest 5 % (NBenchmark)",
        Both5 = "both5": "Drop the smallest and the largest 5 % (NBenchmark)",
        Iqr = "iqr": "Drop samples more than 1.5 IQR beyond the quartiles if there are at least ten samples and the IQR is not 0 (as in the serializer benchmarks)",
        /// The distance of the fence is always that of `NBenchmark`. The thresholds of a workspace do not change it.
        IqrUnguarded = "iqr-unguarded": "Like `iqr`, but with nearest-rank quartiles, for any number of samples and any IQR (NBenchmark)",
        Mad = "mad": "Drop samples more than 3 scaled MADs from the median (NBenchmark)",
        Winsorized = "winsorized": "Replace values beyond the 5 % and 95 % quantiles with these quantiles (as in the serializer benchmarks)",
    }
}

/// The analysis of stored runs. If a field is `None`, the default of the test applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Analysis {
    /// The test that decides.
    pub test: Test,
    /// The unit that counts as one observation of the test.
    pub observations: Observations,
    /// The treatment of outliers before the summary.
    pub outliers: Outliers,
    /// Whether the summary leaves out the first sample of each process, before anything else.
    pub drop_first: bool,
    /// How the standard error of a mean is computed after outliers were removed.
    pub trimmed_error: TrimmedError,
    /// The statistic that stands for a process in the test, and for a side in the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub center: Option<Statistic>,
    /// The definition of quantiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantile: Option<Quantile>,
    /// How p-values are corrected if a run has many benchmarks.
    pub correction: Correction,
    /// The method for the p-value of rank tests.
    pub p: MannWhitneyMethod,
    /// The statistic whose change the verdicts are about, such as the time or the number of allocations.
    pub subject: Statistic,
}

impl Default for Analysis {
    fn default() -> Self {
        Self {
            test: Test::BootstrapT,
            observations: Observations::Processes,
            outliers: Outliers::Keep,
            drop_first: false,
            trimmed_error: TrimmedError::Winsorized,
            center: None,
            quantile: None,
            correction: Correction::Holm,
            p: MannWhitneyMethod::Automatic,
            subject: Statistic::Time,
        }
    }
}

impl Test {
    /// Reports whether the test comes from another system.
    pub fn is_foreign(self) -> bool {
        !matches!(self, Self::BootstrapT | Self::TScore)
    }
}

impl From<Test> for Analysis {
    /// Uses this test, with the project's defaults for everything else.
    fn from(test: Test) -> Self {
        Self {
            test,
            ..Self::default()
        }
    }
}

impl Analysis {
    /// Reports whether all choices are the project's defaults.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Reports whether samples are left out or replaced before they are described.
    pub fn leaves_out(&self) -> bool {
        self.outliers != Outliers::Keep || self.drop_first
    }

    /// Reports whether the user asked for another summary than the default.
    pub fn summarizes(&self) -> bool {
        self.leaves_out() || self.center.is_some() || self.quantile.is_some()
    }

    /// Returns true if a rank test should report by how much the means differ, rather than the Hodges-Lehmann shift. This is so if the observations
    /// are samples, not processes, and the chosen center is the mean.
    pub fn reports_change_of_means(&self) -> bool {
        self.observations != Observations::Processes && self.center == Some(Statistic::Mean)
    }

    /// Returns the value that represents a process. The default is the median for rank tests and the mean for the other tests, as in the systems that
    /// they come from.
    pub fn center_in_force(&self) -> Statistic {
        self.center.unwrap_or(match self.test {
            Test::MannWhitney | Test::Kruskal => Statistic::Median,
            _ => Statistic::Mean,
        })
    }

    /// Returns the definition of quantiles. The default is the nearest rank for the test of 95th percentiles, and linear interpolation otherwise.
    pub fn quantile_in_force(&self) -> Quantile {
        self.quantile.unwrap_or(match self.test {
            Test::P95Ratio => Quantile::InvertedCdf,
            _ => Quantile::Linear,
        })
    }
}

words! {
    /// A published system whose conventions `--method` uses.
    System {
        NBenchmark = "nbenchmark": "NBenchmark: rank test of all samples, asymptotic p, no correction, no minimum effect",
        Criterion = "criterion": "Criterion: pooled bootstrap t-test of all samples at 5 %, and an interval beyond 1 %",
        Mmtests = "mmtests": "mmtests: Welch's test of one subselection median per process, at 5 %; harmonic means for rates",
        BenchForge = "benchforge": "BenchForge: the ratio of 95th percentiles, faster up to 0.95, slower from 1.05",
        Serializer = "serializer": "The serializer benchmarks: rank test with Holm's correction, and the change of the means, without first samples and IQR outliers",
    }
}

impl System {
    /// Returns the settings with which the system decides and describes. Settings that the system does not define are the project's defaults.
    pub fn decision_settings(self) -> DecisionSettings {
        let default = Thresholds::default();
        let (analysis, noise_threshold, thresholds) = match self {
            Self::NBenchmark => (
                Analysis {
                    observations: Observations::Samples,
                    outliers: Outliers::IqrUnguarded,
                    trimmed_error: TrimmedError::Plain,
                    quantile: Some(Quantile::InvertedCdf),
                    correction: Correction::Unadjusted,
                    p: MannWhitneyMethod::Asymptotic,
                    ..Test::MannWhitney.into()
                },
                0.0,
                Thresholds {
                    practical_effect: 0.0,
                    ..default
                },
            ),
            Self::Criterion => (
                Analysis {
                    observations: Observations::Samples,
                    quantile: Some(Quantile::Linear),
                    correction: Correction::Unadjusted,
                    ..Test::PooledT.into()
                },
                0.01,
                Thresholds {
                    bootstrap_min_processes: 2.0,
                    ..default
                },
            ),
            Self::Mmtests => (
                Analysis {
                    center: Some(Statistic::Subselection),
                    quantile: Some(Quantile::FloorRank),
                    correction: Correction::Unadjusted,
                    ..Test::Welch.into()
                },
                0.0,
                default,
            ),
            Self::BenchForge => (
                Analysis {
                    quantile: Some(Quantile::InvertedCdf),
                    correction: Correction::Unadjusted,
                    ..Test::P95Ratio.into()
                },
                0.0,
                default,
            ),
            Self::Serializer => (
                Analysis {
                    observations: Observations::Filtered,
                    outliers: Outliers::Iqr,
                    drop_first: true,
                    center: Some(Statistic::Mean),
                    quantile: Some(Quantile::Linear),
                    correction: Correction::Holm,
                    p: MannWhitneyMethod::AsymptoticCorrected,
                    ..Test::MannWhitney.into()
                },
                0.0,
                Thresholds {
                    practical_effect: 0.0,
                    ..default
                },
            ),
        };
        DecisionSettings {
            analysis,
            noise_threshold,
            significance_level: default.test_level,
            thresholds,
            ..DecisionSettings::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_turn_it_was_is_stored_where_there_were_two_executables() {
        let stored = |turns| {
            let settings = SamplingSettings {
                turns,
                ..SamplingSettings::default()
            };
            let value = ciborium::Value::serialized(&settings).expect("a value");
            assert_eq!(
                value.deserialized::<SamplingSettings>().ok(),
                Some(settings)
            );
            let fields = value.as_map().expect("a map").iter();
            let mut names = fields.filter_map(|(name, _)| name.as_text());
            names.any(|name| name == "turns")
        };
        assert!(stored(Interleaving::Samples) && stored(Interleaving::Processes));
        assert!(!stored(Interleaving::None));
    }

    #[test]
    fn an_analysis_is_the_default_until_one_of_its_parts_is_another() {
        assert!(Analysis::default().is_default());
        assert!(!Analysis::from(Test::Welch).is_default());
        let cleaned = Analysis {
            drop_first: true,
            ..Analysis::default()
        };
        assert!(!cleaned.is_default() && cleaned.leaves_out() && cleaned.summarizes());
    }

    #[test]
    fn a_word_is_read_as_it_is_written_and_another_one_names_those_there_are() {
        for test in Test::ALL {
            assert_eq!(test.word().parse(), Ok(*test));
        }
        let error = "anova".parse::<Test>().expect_err("unknown");
        assert!(
            error.contains("`anova` is not one of bootstrap-t, t-score, pooled-t, welch,"),
            "{error}"
        );
    }

    #[test]
    fn the_conventions_of_a_system_are_those_of_the_table_in_the_book() {
        use Observations::{Filtered, Processes, Samples};
        use Quantile::{FloorRank, InvertedCdf, Linear};
        for (system, test, observations, correction, noise_threshold, quantile) in [
            (
                System::NBenchmark,
                Test::MannWhitney,
                Samples,
                Correction::Unadjusted,
                0.0,
                InvertedCdf,
            ),
            (
                System::Criterion,
                Test::PooledT,
                Samples,
                Correction::Unadjusted,
                0.01,
                Linear,
            ),
            (
                System::Mmtests,
                Test::Welch,
                Processes,
                Correction::Unadjusted,
                0.0,
                FloorRank,
            ),
            (
                System::BenchForge,
                Test::P95Ratio,
                Processes,
                Correction::Unadjusted,
                0.0,
                InvertedCdf,
            ),
            (
                System::Serializer,
                Test::MannWhitney,
                Filtered,
                Correction::Holm,
                0.0,
                Linear,
            ),
        ] {
            let decision = system.decision_settings();
            let analysis = decision.analysis;
            assert_eq!(
                (analysis.test, analysis.observations),
                (test, observations),
                "{system}"
            );
            assert_eq!(analysis.correction, correction, "{system}");
            assert_eq!(decision.noise_threshold, noise_threshold, "{system}");
            assert_eq!(analysis.quantile, Some(quantile), "{system}");
            assert_eq!(decision.significance_level, 0.05, "{system}");
        }
        let [ranks, subselections, filtered] =
            [System::NBenchmark, System::Mmtests, System::Serializer]
                .map(System::decision_settings);
        assert_eq!(ranks.analysis.p, MannWhitneyMethod::Asymptotic);
        assert_eq!(ranks.analysis.outliers, Outliers::IqrUnguarded);
        assert_eq!(ranks.analysis.trimmed_error, TrimmedError::Plain);
        assert_eq!(subselections.analysis.center, Some(Statistic::Subselection));
        assert_eq!(filtered.analysis.p, MannWhitneyMethod::AsymptoticCorrected);
        assert_eq!(filtered.analysis.outliers, Outliers::Iqr);
        assert!(filtered.analysis.drop_first && filtered.analysis.reports_change_of_means());
        for decision in [ranks, filtered] {
            assert_eq!(decision.thresholds.practical_effect, 0.0);
        }
        let criterion = System::Criterion.decision_settings();
        assert_eq!(criterion.thresholds.bootstrap_min_processes, 2.0);
    }

    #[test]
    fn two_tests_are_the_projects_own() {
        let own = Test::ALL.iter().filter(|test| !test.is_foreign());
        assert!(own.eq(&[Test::BootstrapT, Test::TScore]));
    }

    #[test]
    fn an_author_may_set_what_is_within_the_limits() {
        let exceeded = |change: &dyn Fn(&mut AuthorSettings)| {
            let mut settings = AuthorSettings {
                processes: Some(1),
                samples: Some(2),
                warm_up_ns: Some(limits::LONGEST_PHASE.into()),
                measurement_ns: Some(limits::LONGEST_PHASE.into()),
                sampling_mode: None,
                noise_threshold: Some(0.0),
            };
            change(&mut settings);
            settings.find_exceeded_limit()
        };
        let invalid = |what: &str, why: &str| {
            Some(format!("its code sets `{what}` to an invalid value: {why}"))
        };
        assert_eq!(AuthorSettings::default().find_exceeded_limit(), None);
        assert_eq!(exceeded(&|_| ()), None);
        assert_eq!(exceeded(&|set| set.noise_threshold = Some(0.99)), None);
        assert_eq!(
            exceeded(&|set| set.processes = Some(0)),
            invalid("processes", "0 is not a whole number from 1 to 10000")
        );
        assert_eq!(
            exceeded(&|set| set.samples = Some(1)),
            invalid("samples", "1 is not a whole number from 2 to 1000000")
        );
        let longer = Nanos(24 * 3_600 * 1_000_000_000 + 1);
        let why = "must be at most 24 hours";
        assert_eq!(
            exceeded(&|set| set.warm_up_ns = Some(longer)),
            invalid("warm_up_ns", why)
        );
        assert_eq!(
            exceeded(&|set| set.measurement_ns = Some(longer)),
            invalid("measurement_ns", why)
        );
        for (threshold, text) in [(1.0, "1"), (-0.5, "-0.5")] {
            let expected = format!(
                "its code sets `noise_threshold` to {text}, but it must be at least 0 and below 1"
            );
            let found = exceeded(&|set| set.noise_threshold = Some(threshold));
            assert_eq!(found, Some(expected));
        }
    }

    #[test]
    fn each_choice_about_the_summary_counts_alone() {
        let default = Analysis::default();
        assert!(!default.leaves_out() && !default.summarizes());
        let outliers = Analysis {
            outliers: Outliers::Iqr,
            ..default
        };
        let first = Analysis {
            drop_first: true,
            ..default
        };
        for analysis in [outliers, first] {
            assert!(analysis.leaves_out() && analysis.summarizes());
        }
        let center = Analysis {
            center: Some(Statistic::Mean),
            ..default
        };
        let quantile = Analysis {
            quantile: Some(Quantile::Linear),
            ..default
        };
        for analysis in [center, quantile] {
            assert!(!analysis.leaves_out() && analysis.summarizes());
        }
    }

    #[test]
    fn the_change_of_the_means_is_told_for_samples_whose_center_is_the_mean() {
        let reports = |observations, center| {
            let analysis = Analysis {
                observations,
                center,
                ..Analysis::default()
            };
            analysis.reports_change_of_means()
        };
        let mean = Some(Statistic::Mean);
        assert!(reports(Observations::Samples, mean));
        assert!(reports(Observations::Filtered, mean));
        assert!(!reports(Observations::Processes, mean));
        assert!(!reports(Observations::Samples, Some(Statistic::Median)));
        assert!(!reports(Observations::Samples, None));
    }

    #[test]
    fn each_test_has_its_center_and_its_quantiles_unless_others_are_chosen() {
        for test in Test::ALL {
            let analysis = Analysis::from(*test);
            let center = match test {
                Test::MannWhitney | Test::Kruskal => Statistic::Median,
                _ => Statistic::Mean,
            };
            let quantile = match test {
                Test::P95Ratio => Quantile::InvertedCdf,
                _ => Quantile::Linear,
            };
            assert_eq!(analysis.test, *test);
            assert_eq!(analysis.center_in_force(), center, "{test}");
            assert_eq!(analysis.quantile_in_force(), quantile, "{test}");
            let chosen = Analysis {
                center: Some(Statistic::Floor),
                quantile: Some(Quantile::FloorRank),
                ..analysis
            };
            assert_eq!(chosen.center_in_force(), Statistic::Floor);
            assert_eq!(chosen.quantile_in_force(), Quantile::FloorRank);
        }
    }

    #[test]
    fn a_system_changes_no_thresholds_but_those_that_it_publishes() {
        let thresholds = |system: System| system.decision_settings().thresholds.non_default();
        let no_effect = ("practical-effect", 0.0, 0.147);
        assert_eq!(thresholds(System::NBenchmark), [no_effect]);
        assert_eq!(thresholds(System::Serializer), [no_effect]);
        let bootstrap = ("bootstrap-min-processes", 2.0, 300.0);
        assert_eq!(thresholds(System::Criterion), [bootstrap]);
        assert_eq!(thresholds(System::Mmtests), []);
        assert_eq!(thresholds(System::BenchForge), []);
        let center = System::Serializer.decision_settings().analysis.center;
        assert_eq!(center, Some(Statistic::Mean));
    }
}
