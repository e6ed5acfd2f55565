//! Special rules for comparing imported runs: the suitable test, and notes on their limits.

use crate::app::options::ComparisonOptions;
use crate::settings::WorkspaceOnly;
use perfcheck_analysis::compare::{Readings, absurd};
use perfcheck_analysis::findings::RunRemark;
use perfcheck_analysis::model::{LeftOutSamples, Measurement, Run, Source, Test, Thresholds};

/// Returns the settings for comparing imported runs, if the user chose none.
///
/// Without information on processes, each side has a single process-level value, which no test can judge. So imported runs are compared as in their
/// own methodology: rank tests of single repetitions, with Holm's correction over all benchmarks.
pub(in crate::app) fn suited(
    said: &ComparisonOptions,
    workspace: &WorkspaceOnly,
    base: &Run,
    candidate: &Run,
) -> ComparisonOptions {
    let mut suited = said.clone();
    if of_one_launch(base)
        && of_one_launch(candidate)
        && said.decision(workspace).analysis.test == Test::BootstrapT
    {
        suited.analysis = said.analysis.by_ranks_of_samples();
    }
    suited
}

fn of_one_launch(run: &Run) -> bool {
    run.source
        .as_ref()
        .is_some_and(|source| !source.launches_known)
}

/// Describes absurd measurements of the run that the user calls `name`, one sentence per benchmark, so that the user inspects them first.
pub(in crate::app) fn absurdities<'m>(
    name: &str,
    measurements: impl IntoIterator<Item = &'m Measurement>,
    thresholds: &Thresholds,
) -> Vec<String> {
    let each = measurements.into_iter().flat_map(|found| {
        let all = Readings::of(found).map_or_else(Vec::new, |readings| readings.all_costs());
        let said = absurd(&all, &found.benchmark.metric, thresholds).into_iter();
        said.map(|absurd| format!("{} in {name}: {absurd}", found.benchmark.key))
    });
    each.collect()
}

/// Returns notes for readers of a comparison with imported sides.
pub(in crate::app) fn remarks_on_imports(base: &Run, candidate: &Run) -> Vec<RunRemark> {
    let sources: Vec<(&Run, &Source)> = [base, candidate]
        .into_iter()
        .filter_map(|run| Some((run, run.source.as_ref()?)))
        .collect();
    if sources.is_empty() {
        return Vec::new();
    }
    let unknown = sources.iter().any(|(_, source)| !source.launches_known);
    let filtered = sources
        .iter()
        .filter(|(_, source)| source.filter.leaves_out());
    let left_out = filtered.map(|(run, source)| RunRemark::LeftOut {
        run: run.id,
        left_out: LeftOutSamples {
            filter: source.filter,
            counts: source.counts,
        },
    });
    std::iter::once(RunRemark::Imported)
        .chain(left_out)
        .chain(unknown.then_some(RunRemark::LaunchesUnknown))
        .collect()
}
