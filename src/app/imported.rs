//! What is special about comparing imported runs: which test suits them, and what they cannot say.

use super::options::ComparisonOptions;
use crate::model::{Observations, Run, Source, Test};

/// How `new` and `base` are compared, if the user did not choose.
///
/// Where nothing tells launches apart there is one value a side at the level of launches, which no test can judge. So imported runs are
/// compared as their own methodology does it: ranks of single repetitions, Holm over all benchmarks.
pub(super) fn suited(said: &ComparisonOptions, base: &Run, candidate: &Run) -> ComparisonOptions {
    let mut suited = said.clone();
    if of_one_launch(base)
        && of_one_launch(candidate)
        && said.analysis.test == Test::BootstrapT
        && !said.screen
    {
        suited.analysis.test = Test::MannWhitney;
        suited.analysis.observations = Observations::Samples;
    }
    suited
}

fn of_one_launch(run: &Run) -> bool {
    run.source
        .as_ref()
        .is_some_and(|source| !source.launches_known)
}

/// What a reader must know of a comparison in which a side was imported.
pub(super) fn limits(base: &Run, candidate: &Run) -> Vec<String> {
    let sources: Vec<&Source> = [base, candidate]
        .into_iter()
        .filter_map(|run| run.source.as_ref())
        .collect();
    if sources.is_empty() {
        return Vec::new();
    }
    let mut limits = vec![
        "imported values: another program measured them, under conditions that only its user knows; between languages, libraries with other guarantees, or machines, a difference shows a direction and no size".to_owned(),
    ];
    if sources.iter().any(|source| !source.launches_known) {
        limits.push(
            "nothing tells launches apart in an imported side, so that repetitions count as if they were independent: what differs between two sessions shows as a change, too".to_owned(),
        );
    }
    limits
}
