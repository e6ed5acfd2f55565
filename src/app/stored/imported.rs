//! Special rules for comparing imported runs: the suitable test, and notes on their limits.

use crate::app::options::ComparisonOptions;
use crate::settings::WorkspaceSettings;
use perfcheck_analysis::compare::{Readings, find_absurd};
use perfcheck_analysis::findings::RunNote;
use perfcheck_analysis::model::{FilterReport, Measurement, Run, Source, Test, Thresholds};

/// Returns the settings for comparing imported runs, if the user chose none.
///
/// Without information on processes, each side has a single process-level value, which no test can judge. So imported runs are compared as in their
/// own methodology: rank tests of single repetitions, with Holm's correction over all benchmarks.
pub(in crate::app) fn suitable_options(
    said: &ComparisonOptions,
    workspace: &WorkspaceSettings,
    base: &Run,
    candidate: &Run,
) -> ComparisonOptions {
    let mut suited = said.clone();
    if has_single_process(base)
        && has_single_process(candidate)
        && said.decision(workspace).analysis.test == Test::BootstrapT
    {
        suited.analysis = said.analysis.by_ranks_of_samples();
    }
    suited
}

fn has_single_process(run: &Run) -> bool {
    run.source
        .as_ref()
        .is_some_and(|source| !source.launches_known)
}

/// Describes absurd measurements of the run that the user calls `name`, one sentence per benchmark, so that the user inspects them first.
pub(in crate::app) fn describe_absurdities<'m>(
    name: &str,
    measurements: impl IntoIterator<Item = &'m Measurement>,
    thresholds: &Thresholds,
) -> Vec<String> {
    let each = measurements.into_iter().flat_map(|found| {
        let all = Readings::from_measurement(found)
            .map_or_else(Vec::new, |readings| readings.all_costs());
        let said = find_absurd(&all, &found.benchmark.metric, thresholds).into_iter();
        said.map(|absurd| format!("{} in {name}: {absurd}", found.benchmark.key))
    });
    each.collect()
}

/// Returns notes for readers of a comparison with imported sides.
pub(in crate::app) fn import_notes(base: &Run, candidate: &Run) -> Vec<RunNote> {
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
    let left_out = filtered.map(|(run, source)| RunNote::LeftOut {
        run: run.id,
        left_out: FilterReport {
            filter: source.filter,
            counts: source.counts,
        },
    });
    std::iter::once(RunNote::Imported)
        .chain(left_out)
        .chain(unknown.then_some(RunNote::LaunchesUnknown))
        .collect()
}
