//! The evidence of a run, and the conclusion that is computed from it: the result rows, checked limits, remarks on the whole run, and the exit code.
//! Only this module derives the exit code and the remarks from the rows.
//!
//! A conclusion is stored with its run. When a run is copied to another store, the run numbers in its conclusion are replaced by the numbers in that
//! store.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::check_limits::check_limits;
use super::limit::Limit;
use super::paired::PairedEvidence;
use super::remark::{CodeChange, RunNote};
use super::row::{ComparisonContext, FailedTarget, Findings, Method, Row};
use super::sizes::{check_sizes, find_measured_sizes, find_notable_sizes, take_sizes};
use super::stored::{StoredEvidence, summarize_all};
use crate::compare::Comparison;
use crate::exit_code::ExitCode;
use crate::model::{
    BySide, Measurement, ProgramBenchmark, ProgressReporter, Run, RunId, Tally, Verdict,
};

/// Changes below this fraction have been measured between executables that differ only in their code layout.
const SMALL_CHANGE: f64 = 0.03;

/// How much of a suite the rows cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// The rows cover the whole suite.
    Whole,
    /// The rows cover one part of a suite that several jobs measure. The part may have no benchmarks.
    Part,
    /// The rows cover several parts of a suite, but some parts are missing.
    Gaps,
}

/// The conditions under which a command fails.
pub struct GatePolicy<'a> {
    /// How much of the suite the rows cover.
    pub coverage: Coverage,
    /// The limits that the benchmarks must not exceed.
    pub limits: Vec<&'a Limit>,
    /// The verdicts that make the exit status 1.
    pub fail_on: &'a [Verdict],
    /// Whether the user named the reference. If so, the command fails if nothing is comparable.
    pub is_named: bool,
    /// Bench targets that failed before all of their benchmarks were known.
    pub failed_targets: Vec<FailedTarget>,
    /// Whether the run measured nothing at all.
    pub measured_nothing: bool,
}

impl<'a> GatePolicy<'a> {
    /// Returns a policy without limits: the verdicts in `fail_on` decide about the whole suite.
    pub fn verdicts_only(fail_on: &'a [Verdict]) -> Self {
        Self {
            coverage: Coverage::Whole,
            limits: Vec::new(),
            fail_on,
            is_named: true,
            failed_targets: Vec::new(),
            measured_nothing: false,
        }
    }
}

/// The conclusion of a run. It is stored with the run, so that every later reader gets the same results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conclusion<'m> {
    /// The results of the benchmarks, sorted by key.
    pub rows: Vec<Row<'m>>,
    /// The basis of the verdicts, and remarks on the comparison as a whole.
    pub verdicts: ComparisonContext,
    /// Bench targets that failed before all of their benchmarks were known, so that some benchmarks may have no row.
    pub failed_targets: Vec<FailedTarget>,
    /// The exit code of the command.
    pub exit_code: ExitCode,
}

/// Draws the conclusion from the rows of a comparison: checks the limits, drops remarks that explain nothing, and determines the exit code. `basis`
/// describes how the verdicts in `rows` were reached, and `terms` are the conditions under which the command fails.
pub fn conclude<'m>(
    rows: Vec<Row<'m>>,
    mut basis: ComparisonContext,
    terms: GatePolicy<'_>,
) -> Conclusion<'m> {
    let limits = &terms.limits;
    take_sizes(&mut basis.remarks, &mut basis.sizes);
    basis.limits = check_limits(&rows, limits.iter().copied(), &basis.decision);
    check_sizes(limits, &rows, &mut basis.sizes, &mut basis.limits);
    let notable = find_notable_sizes(&basis.sizes, basis.decision.noise_threshold);
    basis.remarks.extend(notable);
    if basis.method == Method::Paired && rows.iter().any(is_small_change) {
        basis.remarks.push(RunNote::SmallChanges);
    }
    // Drop remarks about builds without a measured benchmark, because they explain no change.
    basis.remarks.retain(|remark| {
        remark.builds().is_none_or(|builds| {
            rows.iter().any(|row| {
                let is_measured = row.comparison.is_some() || row.verdict == Some(Verdict::Failed);
                is_measured && builds.covers(&row.key, &row.reference)
            })
        })
    });
    // If there is no reference, drop the remark that the reference could not be run again.
    let has_reference = |row: &Row<'_>| row.comparison.is_some() || !row.blocking.is_empty();
    basis.remarks.retain(|remark| {
        !matches!(remark, RunNote::StoredAlone { .. }) || rows.iter().any(has_reference)
    });
    put_counted_functions_first(&rows, &mut basis.remarks);
    let tally: Tally = rows.iter().filter_map(|row| row.verdict).collect();
    let mut exit_code = match terms.coverage {
        Coverage::Part if rows.is_empty() => ExitCode::Clean,
        _ => ExitCode::from_tally(&tally, terms.fail_on, terms.is_named),
    };
    exit_code = exit_code.worst_of(basis.limits.exit_code());
    let has_gaps = terms.coverage == Coverage::Gaps;
    if !terms.failed_targets.is_empty() || terms.measured_nothing || has_gaps {
        exit_code = exit_code.worst_of(ExitCode::BenchmarkFailed);
    }
    Conclusion {
        rows,
        verdicts: basis,
        failed_targets: terms.failed_targets,
        exit_code,
    }
}

/// Reorders each list of changed functions, so that the functions whose cost changed (in instructions or sampled time) come first.
fn put_counted_functions_first(rows: &[Row<'_>], remarks: &mut [RunNote]) {
    let compared = rows.iter().filter_map(|row| row.comparison.as_ref());
    let named = compared.flat_map(Comparison::functions);
    let named: BTreeSet<&str> = named.map(|function| &*function.name).collect();
    for remark in remarks {
        if let RunNote::CodeDiffers(change) = remark {
            change.put_first(&named);
        }
    }
}

/// Reports whether a row has a change so small that another layout of the same code could be its cause. This is only possible if the executables had
/// a single layout. This is never true of builds, because both sides run the same cargo.
fn is_small_change(row: &Row<'_>) -> bool {
    if ProgramBenchmark::is_build(&row.key.target) {
        return false;
    }
    let is_called = matches!(row.verdict, Some(Verdict::Regressed | Verdict::Improved));
    let layouts = row.comparison.as_ref().map(|found| found.extent.layouts());
    is_called
        && layouts == Some(0)
        && row
            .change()
            .is_some_and(|change| change.abs() < SMALL_CHANGE)
}

impl Conclusion<'_> {
    /// Reports whether a benchmark became slower, looks slower, or changed more than a limit allows. Such a run does not become a reference for later
    /// runs.
    pub fn is_worse(&self) -> bool {
        self.rows.iter().any(Row::looks_slower) || self.verdicts.limits.has_worsened()
    }

    /// Reports whether the run succeeded and nothing looks slower.
    pub fn is_good(&self) -> bool {
        self.exit_code == ExitCode::Clean && !self.rows.iter().any(Row::looks_slower)
    }

    /// Returns the conclusion as bytes that the store keeps without reading them. The format is CBOR, because bounds may be infinite.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        ciborium::into_writer(self, &mut bytes).expect("a vector takes everything");
        bytes
    }
}

/// The error of reading a stored conclusion that another version of the tool wrote. The text describes the cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConclusionError(pub String);

impl Conclusion<'static> {
    /// Reads the bytes that [`Conclusion::to_bytes`] returned. The rows have no measurements, because the store keeps these separately.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ConclusionError> {
        ciborium::from_reader(bytes).map_err(|error| ConclusionError(error.to_string()))
    }

    /// Adds the measurements of the run to the rows, and their summaries, which are computed with the run's own settings.
    pub fn with_measurements<'m>(
        self,
        measurements: &'m [Measurement],
        run: &Run,
        progress: &ProgressReporter<'_>,
    ) -> Conclusion<'m> {
        let summaries = summarize_all(measurements, &run.begun.decision, run.begun.seed, progress);
        let mut known: BTreeMap<_, _> = measurements
            .iter()
            .zip(summaries)
            .map(|(measurement, summary)| (&measurement.benchmark.key, (measurement, summary)))
            .collect();
        let mut concluded: Conclusion<'m> = self;
        for row in &mut concluded.rows {
            if let Some((measurement, summary)) = known.remove(&row.key) {
                row.measurement = Some(measurement);
                row.summary = summary;
            }
        }
        concluded
    }
}

impl<'a> Findings<'a> {
    /// Returns the findings of `run` for output.
    pub fn new(run: &'a Run, concluded: Conclusion<'a>) -> Self {
        Self {
            run,
            rows: concluded.rows,
            verdicts: Some(concluded.verdicts),
            failed_targets: concluded.failed_targets,
            exit_code: concluded.exit_code.number(),
        }
    }
}

impl Conclusion<'_> {
    /// Replaces the number of each run that the conclusion names with the number that `number` returns. `None` means that the other store does not
    /// have the run.
    pub fn renumber(&mut self, number: &mut dyn FnMut(RunId) -> Option<RunId>) {
        let mut again = |run: &mut Option<RunId>| *run = run.and_then(&mut *number);
        for row in &mut self.rows {
            row.reference.iter_mut().for_each(&mut again);
            row.spread.iter_mut().for_each(&mut again);
        }
        for size in &mut self.verdicts.sizes {
            again(&mut size.reference);
        }
        let remarks = &mut self.verdicts.remarks;
        remarks.retain_mut(|remark| renumber_remark(remark, &mut again).is_some());
    }

    /// Returns the runs that are named in stored sentences, such as `run 3`. [`Self::renumber`] does not change these sentences.
    pub fn runs_in_sentences(&self) -> BTreeSet<RunId> {
        let of_run = self.verdicts.remarks.iter();
        let of_run = of_run.filter_map(|remark| match remark {
            RunNote::StoredAlone { reason } => Some(reason),
            _ => None,
        });
        let named = |text: &str| {
            let digits = text.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok().map(RunId)
        };
        std::iter::once(&self.verdicts.reference)
            .chain(of_run)
            .flat_map(|text| text.split("run ").skip(1).filter_map(named))
            .collect()
    }

    /// Adds a remark on the comparison as a whole, unless the conclusion has it already.
    pub fn add_remark(&mut self, remark: RunNote) {
        if !self.verdicts.remarks.contains(&remark) {
            self.verdicts.remarks.push(remark);
        }
    }
}

/// Replaces the numbers of the runs that a remark names. Returns `None` if the remark is meaningless without a run that the other store does not
/// have.
fn renumber_remark(remark: &mut RunNote, again: &mut dyn FnMut(&mut Option<RunId>)) -> Option<()> {
    let mut known = |run: &mut RunId| {
        let mut found = Some(*run);
        again(&mut found);
        *run = found?;
        Some(())
    };
    match remark {
        RunNote::SampledDifferently {
            side_by_side,
            alone,
        } => {
            known(side_by_side)?;
            known(alone)
        }
        RunNote::CodeDiffers(CodeChange { reference, .. })
        | RunNote::CodeUnknown { reference, .. } => {
            again(reference);
            Some(())
        }
        RunNote::Size(change) => {
            again(&mut change.reference);
            Some(())
        }
        RunNote::Incomplete { run } | RunNote::LeftOut { run, .. } => known(run),
        RunNote::StoredAlone { .. }
        | RunNote::BenchDiffers { .. }
        | RunNote::NotCounted { .. }
        | RunNote::NotSampled { .. }
        | RunNote::Skipped { .. }
        | RunNote::DependencyDiffers { .. }
        | RunNote::NotForRounds { .. }
        | RunNote::Stolen { .. }
        | RunNote::Imported
        | RunNote::ProcessesUnknown
        | RunNote::HostUnknown
        | RunNote::RoundsAsProcesses
        | RunNote::AsBuilt { .. }
        | RunNote::SmallChanges
        | RunNote::PartsMissing { .. }
        | RunNote::HostsDiffer { .. }
        | RunNote::ConcludedElsewhere => Some(()),
    }
}

/// The data from which the verdicts of a run are computed.
pub enum Evidence<'e, 'm> {
    /// The run is compared with stored runs.
    Stored(StoredEvidence<'e, 'm>),
    /// Both builds were measured side by side.
    Paired(PairedEvidence<'e, 'm>),
}

impl<'m> Evidence<'_, 'm> {
    /// Computes the result rows of all benchmarks, sorted by key.
    pub fn rows(&self, work: &ProgressReporter<'_>) -> Vec<Row<'m>> {
        match self {
            Self::Stored(stored) => stored.rows(work),
            Self::Paired(paired) => paired.rows(),
        }
    }

    /// Describes how `rows` were compared: by which method, with which reference, and with which settings.
    pub fn basis(&self, rows: &[Row<'_>]) -> ComparisonContext {
        let basis = match self {
            Self::Stored(stored) => stored.context(rows),
            Self::Paired(paired) => paired.context(),
        };
        ComparisonContext {
            sizes: find_measured_sizes(self.compared_measurements().into_iter()),
            ..basis
        }
    }

    /// Returns the measurements of each benchmark on both sides. The base is the newest run that the benchmark is compared with.
    fn compared_measurements(&self) -> Vec<BySide<&Measurement>> {
        match self {
            Self::Stored(stored) => stored.compared_measurements(),
            Self::Paired(paired) => paired.compared_measurements(),
        }
    }

    /// Computes the conclusion of the run from the rows. All benchmarks are judged together, because they share one error budget.
    pub fn judge(
        &self,
        remarks: Vec<RunNote>,
        gate: GatePolicy<'_>,
        work: &ProgressReporter<'_>,
    ) -> Conclusion<'m> {
        let rows = self.rows(work);
        let basis = ComparisonContext {
            remarks,
            ..self.basis(&rows)
        };
        conclude(rows, basis, gate)
    }
}

#[cfg(test)]
#[path = "conclusion_tests.rs"]
mod tests;
