//! Compares two stored runs. If both are the sides of one side-by-side measurement, their rounds are compared. Otherwise they were measured at
//! different times, and drift between runs is taken into account.
//!
//! If imported runs are compared, this module chooses a test that suits them, and adds notes on what such a comparison cannot show. It also finds out
//! which run of a pair has the verdicts, and summarizes the measurements of a side.

use std::collections::BTreeSet;

use super::conclusions::{parse_plan, read_conclusion, read_references, unmeasured_rows};
use crate::config::WorkspaceSettings;
use crate::error::AppError;
use crate::naming::{list_keys, no_match_message, similar_keys};
use crate::options::ComparisonOptions;
use crate::output::MeasuredSide;
use crate::session::{Context, NamedRun, refuse_shard};
use crate::stored::references::{
    ComparedCandidate, ReferenceQuery, ReferenceResolver, ReferenceSelector, StoredReferences,
};
use perfcheck_analysis::compare::{Readings, TestPolicy, find_absurd};
use perfcheck_analysis::findings::{
    ComparisonContext, Conclusion, Evidence, GatePolicy, PairedEvidence, Row, RunNote,
    StoredEvidence, conclude,
};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, DecisionSettings, FilterReport, Measurement, Pair, ProgressReporter, Run,
    RunId, RunStatus, Side, Source, Test, Thresholds, Verdict,
};
use perfcheck_bench::measure::Filter;
use perfcheck_store::{Store, StoreError, WorkspaceId};

/// A comparison of stored runs: the store to read them from, and the rules.
pub(crate) struct StoredComparison<'a> {
    pub(crate) store: &'a Store,
    pub(crate) workspace: WorkspaceId,
    pub(crate) context: &'a Context,
    /// The filter that selects the benchmarks.
    pub(crate) filter: &'a Filter,
    pub(crate) options: &'a ComparisonOptions,
}

/// Two stored runs with their selected measurements.
pub(crate) struct BothRuns {
    base: NamedRun,
    pub(crate) heads: BySide<Run>,
    pub(crate) measured: BySide<Vec<Measurement>>,
}

impl StoredComparison<'_> {
    /// Reads the selected measurements of `run`.
    pub(crate) fn measurements(&self, run: RunId) -> Result<Vec<Measurement>, StoreError> {
        let mut measurements = self.store.measurements(run, None)?;
        measurements.retain(|found| self.filter.matches(&found.benchmark.key));
        Ok(measurements)
    }

    /// Reads two different runs; a run cannot be its own reference.
    pub(crate) fn read(&self, base: NamedRun, candidate: &NamedRun) -> Result<BothRuns, AppError> {
        if base.run == candidate.run {
            return Err(same_run_error(&base, &candidate.name));
        }
        let heads = BySide {
            base: self.store.run(base.run)?,
            candidate: self.store.run(candidate.run)?,
        };
        let side_by_side = self.find_pair(&heads)?.map(|pair| pair.partner);
        // A shard can be compared only with the other side of its own pair.
        if side_by_side != Some(base.run) {
            refuse_shard(&heads.base)?;
        }
        let measured = BySide {
            base: self.measurements(side_by_side.unwrap_or(base.run))?,
            candidate: self.measurements(candidate.run)?,
        };
        for (run, measured) in [
            (base.run, &measured.base),
            (candidate.run, &measured.candidate),
        ] {
            if measured.iter().any(|found| found.expired.is_some()) {
                return Err(StoreError::SamplesRemoved(run).into());
            }
        }
        Ok(BothRuns {
            base,
            heads,
            measured,
        })
    }

    /// Returns the pair to which the candidate belongs, if the candidate was measured side by side with `base`, or with a build of `base` that was
    /// measured again as a run of its own. In the second case, all verdicts of the candidate name `base` as their reference.
    fn find_pair(&self, heads: &BySide<Run>) -> Result<Option<Pair>, StoreError> {
        let BySide { base, candidate } = heads;
        let Some(pair) = candidate.pair else {
            return Ok(None);
        };
        if pair.partner == base.id {
            return Ok(Some(pair));
        }
        let earlier = read_references(self.store, candidate)?;
        let is_base = !earlier.is_empty() && earlier.values().all(|run| *run == base.id);
        Ok((is_base && pair.side == Side::Candidate).then_some(pair))
    }

    /// Compares two runs and returns the conclusion. If they were measured side by side, their rounds are compared.
    pub(crate) fn conclude<'m>(
        &self,
        both: &'m BothRuns,
        progress: &ProgressReporter<'_>,
    ) -> Result<Conclusion<'m>, AppError> {
        let BySide { base, candidate } = &both.heads;
        let (rows, basis) = match self.find_pair(&both.heads)? {
            Some(pair) if !self.options.uses_other_systems() => {
                if pair.side == Side::Base {
                    return Err(AppError::Usage(format!(
                        "run {} is the reference of run {} and must come first\n  help: cargo perfcheck compare {} {}",
                        candidate.id, base.id, candidate.id, base.id
                    )));
                }
                self.compare_pair(both, progress)?
            }
            pair => self.compare_stored(both, pair.is_some(), progress)?,
        };
        if rows.is_empty() {
            let same = self.same_code(candidate, &both.measured.candidate)?;
            return Err(if same.iter().any(|key| self.filter.matches(key)) {
                AppError::NothingToCompare(format!(
                    "run {run} measured nothing: its machine code was the same as the reference's\n  help: use `cargo perfcheck report {run} --report markdown` to see its verdicts",
                    run = candidate.id
                ))
            } else {
                self.nothing_to_compare_error(base.id, candidate.id)
            });
        }
        let tables = &self.context.tables;
        let fail_on = self.options.failure.fail_on(&tables.workspace);
        let terms = GatePolicy {
            limits: self.options.failure.limits(tables).collect(),
            ..GatePolicy::verdicts_only(&fail_on)
        };
        Ok(conclude(rows, basis, terms))
    }

    /// Compares two builds that were measured side by side. The stored conclusion is returned if the user wants the settings with which it was
    /// reached. Otherwise the rounds are judged again.
    fn compare_pair<'m>(
        &self,
        both: &'m BothRuns,
        progress: &ProgressReporter<'_>,
    ) -> Result<(Vec<Row<'m>>, ComparisonContext), AppError> {
        let BySide { base, candidate } = &both.heads;
        let decision = DecisionSettings {
            analysis: self.options.analysis.explicit_analysis(),
            ..candidate.begun.decision
        };
        let then = read_conclusion(self.store, candidate.id)?;
        let wanted = |row: &Row<'_>| self.filter.matches(&row.key);
        if let (Some(then), None) = (&then, self.options.noise_threshold)
            && decision == candidate.begun.decision
        {
            let measured = &both.measured.candidate;
            let then = then
                .clone()
                .with_measurements(measured, candidate, progress);
            let rows = then.rows.into_iter().filter(wanted).collect();
            let verdicts = ComparisonContext {
                reference: format!("run {}", base.id),
                ..then.verdicts
            };
            return Ok((rows, verdicts));
        }
        let Some(plan) = parse_plan(candidate) else {
            return Err(AppError::NothingToCompare(format!(
                "this version of cargo-perfcheck cannot read the side-by-side data of runs {} and {}",
                base.id, candidate.id
            )));
        };
        let settled: Vec<Row<'static>> = match then {
            Some(then) => then
                .rows
                .into_iter()
                .filter(|row| row.comparison.is_none())
                .collect(),
            None => unmeasured_rows(self.store, candidate, &both.measured.candidate)?,
        };
        let measured = both.measured.candidate.iter();
        let measured: BTreeSet<&BenchmarkKey> =
            measured.map(|found| &found.benchmark.key).collect();
        let settled: Vec<Row<'static>> = settled
            .into_iter()
            .filter(|row| wanted(row) && !measured.contains(&row.key))
            .collect();
        let evidence = Evidence::Paired(PairedEvidence {
            runs: BySide {
                base: base.id,
                candidate: candidate.id,
            },
            earlier: &read_references(self.store, candidate)?,
            base: &both.measured.base,
            candidate: &both.measured.candidate,
            plan: &plan,
            decision: &decision,
            noise_threshold: self.options.noise_threshold,
            settled: &settled,
            cost: None,
            reference: &format!("run {}", base.id),
            host: self.context.host_class(&candidate.begun.environment),
        });
        let rows = evidence.rows(progress);
        let basis = evidence.basis(&rows);
        Ok((rows, basis))
    }

    /// Compares two runs that were measured at different times. The candidate is treated as if it had just been measured.
    fn compare_stored<'m>(
        &self,
        both: &'m BothRuns,
        measured_side_by_side: bool,
        progress: &ProgressReporter<'_>,
    ) -> Result<(Vec<Row<'m>>, ComparisonContext), AppError> {
        let BySide { base, candidate } = &both.heads;
        let measurements = &both.measured.candidate;
        let subjects: Vec<ReferenceQuery> = measurements
            .iter()
            .map(ReferenceQuery::from_measurement)
            .collect();
        let resolver = ReferenceResolver {
            store: self.store,
            workspace: self.workspace,
            checkout: self.context.checkout(),
        };
        let compared = ComparedCandidate {
            environment: &candidate.begun.environment,
            allowed: &self.options.allow_different,
            id: Some(candidate.id),
        };
        let selector = ReferenceSelector::Named(&both.base);
        let references = resolver.resolve_numbers(&selector, &compared, &subjects)?;
        let options = suitable_options(
            self.options,
            &self.context.tables.workspace,
            base,
            candidate,
        );
        let rules = TestPolicy {
            decision: options.decision(&self.context.tables.workspace),
            host: self.context.host_class(&candidate.begun.environment),
            // Use the stored seed, so that repeating the comparison yields the same result.
            seed: options.seed.unwrap_or(candidate.begun.seed),
        };
        // The thresholds stored with the run are conventions of the test that was configured then. They do not apply if another test is configured
        // now.
        let has_other_conventions = self.options.analysis.test().is_none()
            && self
                .options
                .decision(&self.context.tables.workspace)
                .analysis
                .test
                != candidate.begun.decision.analysis.test;
        let unmeasured = self.same_code(candidate, measurements)?;
        let in_scope = |key: &BenchmarkKey| self.filter.matches(key) && !unmeasured.contains(key);
        let stored = StoredReferences::read(self.store, references, in_scope)?;
        let evidence = Evidence::Stored(StoredEvidence {
            measurements,
            past: &stored.past,
            expected: &stored.expected,
            rules: &rules,
            noise_threshold: &|measurement: &Measurement| {
                let threshold = self.options.explicit_noise_threshold();
                threshold.unwrap_or_else(|| {
                    if has_other_conventions {
                        let (_, of_tables) =
                            self.context.tables.layers.resolve(&measurement.benchmark);
                        of_tables.unwrap_or(rules.decision.noise_threshold)
                    } else {
                        measurement.noise_threshold
                    }
                })
            },
            failed_targets: &BTreeSet::new(),
            had_time_budget: false,
            references: &stored.references,
            allowed: &self.options.allow_different,
        });
        let rows = evidence.rows(progress);
        let is_unknown_host = rules.decision.analysis.test == Test::BootstrapT
            && self
                .context
                .is_shared(&candidate.begun.environment)
                .is_none();
        let remarks = import_notes(base, candidate)
            .into_iter()
            .chain(is_unknown_host.then_some(RunNote::HostUnknown))
            .chain(sampling_note(base, candidate))
            // The table marks an incomplete candidate itself.
            .chain(incomplete_note(base))
            .chain(measured_side_by_side.then_some(RunNote::RoundsAsProcesses));
        let basis = ComparisonContext {
            remarks: remarks.collect(),
            ..evidence.basis(&rows)
        };
        Ok((rows, basis))
    }

    /// Returns the benchmarks that a run did not measure because both builds ran the same code. `measured` must contain all measurements of the run
    /// that the filter selects.
    fn same_code(
        &self,
        run: &Run,
        measured: &[Measurement],
    ) -> Result<BTreeSet<BenchmarkKey>, StoreError> {
        let verdicts = self.store.verdicts(run.id)?.into_iter();
        let unchanged = verdicts.filter(|found| found.verdict == Verdict::Unchanged);
        let mut keys: BTreeSet<BenchmarkKey> = unchanged.map(|found| found.key).collect();
        for measured in measured {
            keys.remove(&measured.benchmark.key);
        }
        Ok(keys)
    }

    /// Returns the error for a comparison without any benchmark.
    pub(crate) fn nothing_to_compare_error(&self, base: RunId, candidate: RunId) -> AppError {
        AppError::NothingToCompare(if self.filter.words.is_empty() {
            format!("neither run {base} nor run {candidate} has benchmarks")
        } else {
            // Ignore store errors: the names only serve as suggestions.
            let verdicts = self.store.verdicts(candidate).unwrap_or_default();
            let all: Vec<&BenchmarkKey> = verdicts.iter().map(|found| &found.key).collect();
            let mut near: Vec<&BenchmarkKey> = Vec::new();
            for key in self
                .filter
                .words
                .iter()
                .flat_map(|word| similar_keys(word, &all))
            {
                if !near.contains(&key) {
                    near.push(key);
                }
            }
            let offered = if near.is_empty() {
                list_keys("it has", &all)
            } else {
                list_keys("did you mean", &near)
            };
            format!(
                "run {candidate} has {}{offered}\n  help: use `cargo perfcheck show {candidate}` to list its benchmarks",
                no_match_message(self.filter)
            )
        })
    }
}

/// Returns the error for two words that name the same run.
pub(crate) fn same_run_error(base: &NamedRun, name: &str) -> AppError {
    let NamedRun { run, name: base } = base;
    AppError::Usage(format!(
        "`{base}` and `{name}` are the same run ({run}): a run cannot be compared with itself"
    ))
}

/// Returns a note if the run was interrupted.
pub(crate) fn incomplete_note(run: &Run) -> Option<RunNote> {
    (run.status == RunStatus::Incomplete).then_some(RunNote::Incomplete { run: run.id })
}

/// Returns a note if exactly one of two runs is a side of a side-by-side measurement.
fn sampling_note(base: &Run, candidate: &Run) -> Option<RunNote> {
    let (side_by_side, alone) = match (base.pair, candidate.pair) {
        (Some(_), None) => (base.id, candidate.id),
        (None, Some(_)) => (candidate.id, base.id),
        _ => return None,
    };
    Some(RunNote::SampledDifferently {
        side_by_side,
        alone,
    })
}

/// Returns the settings of a comparison. These are the requested settings, unless the default test would compare imported runs whose processes are
/// unknown.
///
/// Without information on processes, each side has a single value, and no test can judge a single value. So such runs are compared by rank tests of
/// single repetitions, with Holm's correction over all benchmarks.
pub(crate) fn suitable_options(
    requested: &ComparisonOptions,
    workspace: &WorkspaceSettings,
    base: &Run,
    candidate: &Run,
) -> ComparisonOptions {
    let mut suited = requested.clone();
    if has_single_process(base)
        && has_single_process(candidate)
        && requested.decision(workspace).analysis.test == Test::BootstrapT
    {
        suited.analysis = requested.analysis.by_ranks_of_samples();
    }
    suited
}

fn has_single_process(run: &Run) -> bool {
    run.source
        .as_ref()
        .is_some_and(|source| !source.processes_known)
}

/// Describes the implausible values of a run, which the user should inspect first. Each kind of them in a benchmark gets a sentence. `name` is the
/// user's word for the run.
pub(crate) fn describe_absurdities<'m>(
    name: &str,
    measurements: impl IntoIterator<Item = &'m Measurement>,
    thresholds: &Thresholds,
) -> Vec<String> {
    let each = measurements.into_iter().flat_map(|found| {
        let all = Readings::from_measurement(found)
            .map_or_else(Vec::new, |readings| readings.all_costs());
        let findings = find_absurd(&all, &found.benchmark.metric, thresholds).into_iter();
        findings.map(|absurd| format!("{} in {name}: {absurd}", found.benchmark.key))
    });
    each.collect()
}

/// Returns notes on what readers must know if one or both of the compared runs were imported.
pub(crate) fn import_notes(base: &Run, candidate: &Run) -> Vec<RunNote> {
    let sources: Vec<(&Run, &Source)> = [base, candidate]
        .into_iter()
        .filter_map(|run| Some((run, run.source.as_ref()?)))
        .collect();
    if sources.is_empty() {
        return Vec::new();
    }
    let unknown = sources.iter().any(|(_, source)| !source.processes_known);
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
        .chain(unknown.then_some(RunNote::ProcessesUnknown))
        .collect()
}

/// Returns the run that has the verdicts of `run`. If `run` is the base of a side-by-side measurement, this is the candidate, and otherwise `run`
/// itself.
pub(crate) fn run_with_verdicts(store: &Store, run: RunId) -> Result<Run, StoreError> {
    let head = store.run(run)?;
    match head.pair.filter(|pair| pair.side == Side::Base) {
        Some(pair) => store.run(pair.partner),
        None => Ok(head),
    }
}

/// Summarizes a run's measurement of a benchmark, if it is still stored.
pub(crate) fn read_side(
    store: &Store,
    run: RunId,
    key: &BenchmarkKey,
) -> Result<Option<MeasuredSide>, StoreError> {
    // The run may have been deleted since.
    let Ok(head) = store.run(run) else {
        return Ok(None);
    };
    let measurements = store.measurements(run, Some(std::slice::from_ref(key)))?;
    Ok(measurements
        .first()
        .map(|found| summarize_side(&head, found)))
}

/// Summarizes a measurement of a run.
pub(crate) fn summarize_side(head: &Run, measurement: &Measurement) -> MeasuredSide {
    let processes = measurement.processes.iter();
    let samples = processes.map(|process| process.series.deciding_samples().len());
    let counts: Vec<usize> = samples.filter(|samples| *samples > 0).collect();
    MeasuredSide {
        run: head.id,
        started: perfcheck_host::to_rfc3339(head.begun.started),
        git: head.begun.git.clone(),
        processes: counts.len(),
        samples: counts.iter().sum(),
    }
}
