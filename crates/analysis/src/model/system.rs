//! The published systems whose conventions `--method` selects with one word.

use super::analysis::{Analysis, Observations, Outliers, Test};
use super::settings::DecisionSettings;
use super::statistic::Statistic;
use super::thresholds::Thresholds;
use perfcheck_stats::{Correction, MannWhitneyMethod, Quantile, TrimmedError, words};

words! {
    /// A published system whose conventions `--method` uses.
    System {
        NBenchmark = "nbenchmark": "NBenchmark: ranks of all samples, asymptotic p, each benchmark by itself, any effect counts",
        Criterion = "criterion": "Criterion: pooled bootstrap of the t-score of all samples at 5 %, and an interval beyond 1 %",
        Mmtests = "mmtests": "mmtests: Welch's test at 5 % of the launches' medians of subselections, of rates with harmonic means",
        BenchForge = "benchforge": "BenchForge: the ratio of 95th percentiles, faster up to 0.95, slower from 1.05 on",
        Serializer = "serializer": "The serializer methodology: ranks with Holm and the change of the means, all without first samples and outliers (IQR)",
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
                    bootstrap_min_launches: 2.0,
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
    fn the_conventions_of_a_system_are_those_of_the_table_in_the_book() {
        use Observations::{Filtered, Launches, Samples};
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
                Launches,
                Correction::Unadjusted,
                0.0,
                FloorRank,
            ),
            (
                System::BenchForge,
                Test::P95Ratio,
                Launches,
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
    }
}
