//! The exit codes of the program. They are the contract with CI jobs, and README.md documents them.

use serde::{Deserialize, Serialize};

use crate::model::{Tally, Verdict};

/// An exit code of the program, named after its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitCode {
    /// The command succeeded, and no benchmark has a verdict that `--fail-on` names.
    Clean,
    /// A benchmark regressed, exceeded a limit, or got another verdict that `--fail-on` names.
    Regression,
    /// The command line or a configuration table is wrong, or git does not know a requested revision.
    Usage,
    /// The sources of a revision could not be prepared, or the bench targets could not be built.
    BuildFailed,
    /// A benchmark failed, or nothing was measured.
    BenchmarkFailed,
    /// The store, the build cache or an output file cannot be used.
    StoreUnusable,
    /// A named baseline or run is missing, or no benchmark was comparable with it.
    NoBaseline,
    /// The user pressed Ctrl-C.
    Interrupted,
}

impl ExitCode {
    /// Returns the number that the process exits with.
    pub fn number(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Regression => 1,
            Self::Usage => 2,
            Self::BuildFailed => 3,
            Self::BenchmarkFailed => 4,
            Self::StoreUnusable => 5,
            Self::NoBaseline => 6,
            Self::Interrupted => 130,
        }
    }

    /// Combines two codes into the more severe one, so that no failing check is hidden.
    #[must_use]
    pub fn worst_of(self, other: Self) -> Self {
        if self.rank() >= other.rank() {
            self
        } else {
            other
        }
    }

    fn rank(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::NoBaseline => 1,
            Self::Regression => 2,
            Self::BenchmarkFailed => 3,
            Self::StoreUnusable => 4,
            Self::BuildFailed => 5,
            Self::Usage => 6,
            Self::Interrupted => 7,
        }
    }

    /// Returns the exit code of a finished comparison from the number of benchmarks with each verdict (`tally`).
    ///
    /// The code reports a failure if a benchmark has a verdict in `fail_on`, if a benchmark could not be measured, or if there are no verdicts at
    /// all. If the user named a run or baseline to compare with (`named_reference`), it also reports a failure if no benchmark could be compared.
    pub fn from_tally(tally: &Tally, fail_on: &[Verdict], named_reference: bool) -> Self {
        let mut code = Self::Clean;
        if fail_on.iter().any(|verdict| tally.count(*verdict) > 0) {
            code = code.worst_of(Self::Regression);
        }
        if tally.count(Verdict::Failed) > 0 || tally.iter().next().is_none() {
            code = code.worst_of(Self::BenchmarkFailed);
        }
        if named_reference && !tally.iter().any(|(verdict, _)| verdict.is_compared()) {
            code = code.worst_of(Self::NoBaseline);
        }
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(verdicts: &[Verdict], named: bool) -> u8 {
        let tally = verdicts.iter().copied().collect();
        ExitCode::from_tally(&tally, &[Verdict::Regressed], named).number()
    }

    #[test]
    fn only_what_fail_on_names_is_a_regression() {
        assert_eq!(
            code(&[Verdict::Unchanged, Verdict::Improved, Verdict::New], true),
            0
        );
        assert_eq!(code(&[Verdict::Unchanged, Verdict::Regressed], true), 1);
        assert_eq!(code(&[Verdict::Suspect, Verdict::Inconclusive], false), 0);
        let suspects = [Verdict::Suspect].into_iter().collect();
        assert_eq!(
            ExitCode::from_tally(&suspects, &[Verdict::Suspect], false).number(),
            1
        );
        let regressions = [Verdict::Regressed].into_iter().collect();
        assert_eq!(ExitCode::from_tally(&regressions, &[], false).number(), 0);
    }

    #[test]
    fn a_failed_benchmark_outranks_a_regression_and_nothing_at_all_is_a_failure() {
        assert_eq!(code(&[Verdict::Regressed, Verdict::Failed], true), 4);
        assert_eq!(code(&[], false), 4);
    }

    #[test]
    fn a_named_reference_with_nothing_comparable_is_no_success() {
        assert_eq!(code(&[Verdict::Incomparable, Verdict::New], true), 6);
        assert_eq!(code(&[Verdict::Incomparable, Verdict::New], false), 0);
    }

    #[test]
    fn of_two_codes_the_graver_one_wins() {
        use ExitCode::*;
        let gravest_first = [
            Interrupted,
            Usage,
            BuildFailed,
            StoreUnusable,
            BenchmarkFailed,
            Regression,
            NoBaseline,
            Clean,
        ];
        for (index, graver) in gravest_first.iter().enumerate() {
            for other in &gravest_first[index..] {
                assert_eq!(graver.worst_of(*other), *graver);
                assert_eq!(other.worst_of(*graver), *graver);
            }
        }
    }
}
