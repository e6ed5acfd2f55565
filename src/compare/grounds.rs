//! What a verdict rests on besides its interval: the numbers that explaining it needs, as the decision left them.
//!
//! Nothing here decides: `decide` and `paired::judge` fill it in from what they have compared.

use super::comparison::Estimate;

/// A number for each direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Directions {
    /// Of "slower by more than the threshold".
    pub slower: f64,
    /// Of "faster by more than the threshold".
    pub faster: f64,
}

/// One test of a benchmark within its family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FamilyTest {
    /// The level of the whole family, one-sided.
    pub family_level: f64,
    /// p before the family; with A/B over the share of the look.
    pub p: Directions,
    /// p adjusted for the family by Holm's procedure.
    pub adjusted: Directions,
    /// The level of the step of that procedure at which the benchmark was decided.
    pub step_level: Directions,
}

/// The t-score of stored runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TScoreGrounds {
    /// The change of the mean over launches, with its bounds at the levels of the steps.
    pub change: Estimate,
    /// The test.
    pub test: FamilyTest,
}

/// The look that decided an A/B comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LookGrounds {
    /// The share of each level that is this look's own.
    pub share: f64,
    /// The slow-path test.
    pub slow_path: FamilyTest,
    /// Its p for a slow path of the candidate, before look and family.
    pub slow_path_p: f64,
    /// Up to this p nothing is called unchanged.
    pub suspicion: f64,
    /// Share of the candidate's samples more than 10 % above its floor.
    pub share_new: f64,
    /// The same of the base.
    pub share_base: f64,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grounds {
    /// Benchmarks in the family.
    pub family: usize,
    /// The test whose interval is the change's.
    pub test: FamilyTest,
    /// Standard error of the difference of logarithms, where it has one.
    pub standard_error: Option<f64>,
    /// Degrees of freedom of Student's t, where stored runs are decided by it.
    pub degrees_of_freedom: Option<f64>,
    /// The t-score of stored runs.
    pub t_score: Option<TScoreGrounds>,
    /// The look of an A/B comparison.
    pub look: Option<LookGrounds>,
}
