//! Runs on one scale, however fast the machine was in each: every run that was measured in turn with an earlier build knows its change against that.
//!
//! Pure. A change counts where it was called: what is `unchanged` is the level of its reference, so that the errors of many small changes do not add up to a
//! drift that nobody measured.

use std::collections::BTreeMap;

use crate::model::{RunId, Verdict};

/// What a run of a benchmark was measured against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainLink {
    /// The run whose build was the base.
    pub reference: RunId,
    /// What came of it.
    pub verdict: Verdict,
    /// The change, a fraction.
    pub change: Option<f64>,
}

/// The runs of a benchmark that were measured in turn with others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chain {
    /// By run.
    pub links: BTreeMap<RunId, ChainLink>,
}

impl ChainLink {
    /// ln of the ratio to the reference.
    fn called(&self) -> f64 {
        match (self.verdict, self.change) {
            (Verdict::Regressed | Verdict::Improved, Some(change)) => change.ln_1p(),
            _ => 0.0,
        }
    }
}

impl Chain {
    /// The run at which the chain of `run` begins, and ln of the ratio of `run` to it. A run without a link is its own beginning.
    pub fn root(&self, run: RunId) -> (RunId, f64) {
        let (mut at, mut ratio) = (run, 0.0);
        // Each step leads to another link, unless a store of somebody else's has a circle.
        for _ in 0..=self.links.len() {
            let Some(link) = self.links.get(&at) else {
                break;
            };
            ratio += link.called();
            at = link.reference;
        }
        (at, ratio)
    }

    /// Whether both runs were called the same against the same reference: the second shows no level of its own.
    pub fn says_the_same(&self, one: RunId, other: RunId) -> bool {
        match (self.links.get(&one), self.links.get(&other)) {
            (Some(one), Some(other)) => {
                one.called() != 0.0
                    && (one.reference, one.verdict) == (other.reference, other.verdict)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(links: &[(i64, i64, Verdict, f64)]) -> Chain {
        let links = links.iter().map(|(run, reference, verdict, change)| {
            let link = ChainLink {
                reference: RunId(*reference),
                verdict: *verdict,
                change: Some(*change),
            };
            (RunId(*run), link)
        });
        Chain {
            links: links.collect(),
        }
    }

    #[test]
    fn called_changes_multiply_and_others_are_the_level_of_their_reference() {
        let chain = chain(&[
            (3, 1, Verdict::Unchanged, 0.009),
            (5, 3, Verdict::Regressed, 0.10),
            (7, 5, Verdict::Improved, -0.5),
            (9, 7, Verdict::Inconclusive, 0.4),
        ]);
        let (root, ratio) = chain.root(RunId(9));
        assert_eq!(root, RunId(1));
        assert!((ratio.exp() - 0.55).abs() < 1e-12, "{ratio}");
        assert_eq!(chain.root(RunId(1)), (RunId(1), 0.0));
        assert_eq!(chain.root(RunId(3)), (RunId(1), 0.0));
    }

    #[test]
    fn a_level_that_is_measured_twice_against_one_reference_is_one() {
        let chain = chain(&[
            (3, 1, Verdict::Regressed, 0.80),
            (5, 1, Verdict::Regressed, 0.83),
            (7, 1, Verdict::Unchanged, 0.0),
        ]);
        assert!(chain.says_the_same(RunId(3), RunId(5)));
        assert!(!chain.says_the_same(RunId(5), RunId(7)));
        assert!(!chain.says_the_same(RunId(1), RunId(3)));
    }

    #[test]
    fn a_circle_ends() {
        let chain = chain(&[
            (1, 2, Verdict::Regressed, 0.1),
            (2, 1, Verdict::Unchanged, 0.0),
        ]);
        assert!(chain.root(RunId(1)).1.is_finite());
    }
}
