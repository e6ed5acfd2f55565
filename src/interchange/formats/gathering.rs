//! Collects the benchmarks of one run while the reader of a format parses its files. Checks the ids, numbers the processes, and keeps the samples
//! exact.

use std::collections::HashMap;

use super::super::error::ExchangeError;
use super::super::groups::{
    GroupRow, IdGroup, ImportedGroups, IterationLayout, MOST_GROUPS, MOST_PROCESSES,
};
use super::super::unit::{Decimal, DecimalMark, ValueUnit};
use perfcheck_analysis::model::{Metric, Sample, SourceFile, Throughput, limits};

/// Maximum number of caveats reported.
const MOST_CAVEATS: usize = 20;

/// A run that another program measured.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignRun {
    /// Name of the run, if its format has one.
    pub name: Option<String>,
    /// The files or the directory that the run comes from.
    pub files: Vec<SourceFile>,
    /// The benchmarks of the run, each with one column of values.
    pub imported: ImportedGroups,
    /// Unit of the values, in words.
    pub unit: String,
    /// Remarks for readers of the numbers: information that the format lacks, and benchmarks that were left out.
    pub caveats: Vec<String>,
}

/// Collects the benchmarks of one run.
pub(super) struct ForeignRunBuilder {
    groups: Vec<IdGroup>,
    known: HashMap<String, usize>,
    processes: Vec<String>,
    ordinals: HashMap<String, u32>,
    caveats: Vec<String>,
}

impl ForeignRunBuilder {
    pub(super) fn new() -> Self {
        Self {
            groups: Vec::new(),
            known: HashMap::new(),
            processes: Vec::new(),
            ordinals: HashMap::new(),
            caveats: Vec::new(),
        }
    }

    /// Returns the index of the benchmark `id`, which is added if it is new. `place` is the position in the input that error messages show.
    pub(super) fn benchmark_index(
        &mut self,
        place: &str,
        id: &str,
        metric: &Metric,
        phase: IterationLayout,
    ) -> Result<usize, ExchangeError> {
        if let Some(known) = self.known.get(id) {
            if self.groups[*known].metrics[0] != *metric {
                return Err(format_error(
                    place,
                    format!("`{id}` has a different unit elsewhere in the input"),
                ));
            }
            return Ok(*known);
        }
        check_id(place, id)?;
        if self.groups.len() == MOST_GROUPS {
            return Err(ExchangeError::TooMany {
                what: "benchmarks",
                most: MOST_GROUPS,
                hint: "split the input and import each part separately",
            });
        }
        self.known.insert(id.to_owned(), self.groups.len());
        self.groups.push(IdGroup {
            dimensions: Vec::new(),
            id: id.to_owned(),
            metrics: vec![metric.clone()],
            rows: Vec::new(),
            throughput: Throughput::default(),
            phase,
        });
        Ok(self.groups.len() - 1)
    }

    pub(super) fn set_throughput(&mut self, benchmark: usize, throughput: Throughput) {
        self.groups[benchmark].throughput = throughput;
    }

    /// Returns the ordinal of a process by its name, adding it if it is new.
    pub(super) fn process_ordinal(&mut self, name: &str) -> Result<u32, ExchangeError> {
        if let Some(known) = self.ordinals.get(name) {
            return Ok(*known);
        }
        if self.processes.len() == MOST_PROCESSES {
            return Err(ExchangeError::TooMany {
                what: "processes",
                most: MOST_PROCESSES,
                hint: "split the input and import each part separately",
            });
        }
        let ordinal = u32::try_from(self.processes.len()).unwrap_or(u32::MAX);
        self.processes.push(name.to_owned());
        self.ordinals.insert(name.to_owned(), ordinal);
        Ok(ordinal)
    }

    pub(super) fn add(&mut self, benchmark: usize, process: u32, sample: Sample) {
        self.groups[benchmark].rows.push(GroupRow {
            process,
            samples: vec![sample],
        });
    }

    /// Records a limitation that readers of the numbers must know.
    pub(super) fn add_caveat(&mut self, text: String) {
        if !self.caveats.contains(&text) && self.caveats.len() < MOST_CAVEATS {
            self.caveats.push(text);
        }
    }

    /// Returns the run. `processes_known` says whether the format itself distinguishes processes.
    pub(super) fn finish(
        mut self,
        name: Option<String>,
        files: Vec<SourceFile>,
        unit: &str,
        processes_known: bool,
    ) -> Result<ForeignRun, ExchangeError> {
        self.groups.retain(|group| !group.rows.is_empty());
        if self.groups.is_empty() {
            let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            return Err(ExchangeError::Empty {
                names: names.join(", "),
                hint: "",
            });
        }
        for group in &mut self.groups {
            group.rows.sort_by_key(|row| row.process);
        }
        Ok(ForeignRun {
            name,
            files,
            unit: unit.to_owned(),
            caveats: self.caveats,
            imported: ImportedGroups {
                groups: self.groups,
                processes_known: processes_known || self.processes.len() > 1,
                processes: self.processes,
                guesses: Vec::new(),
                skipped: Vec::new(),
                rows_skipped: 0,
            },
        })
    }
}

/// Returns an id that is not in `taken`: `id`, or `id` with ` #2`, ` #3` and so on appended.
pub(super) fn unused_id(id: &str, taken: &mut HashMap<String, usize>) -> String {
    let mut free = id.to_owned();
    while taken.contains_key(&free) {
        let number = taken.entry(id.to_owned()).or_insert(1);
        *number += 1;
        free = format!("{id} #{number}");
    }
    taken.insert(free.clone(), 1);
    free
}

/// Creates a sample from a float, with exactly the value of the float's shortest decimal digits. `place` is the position in the input that error
/// messages show.
pub(super) fn sample_from_float(
    place: &str,
    value: f64,
    iterations: u64,
    unit: &ValueUnit,
) -> Result<Sample, ExchangeError> {
    sample_from_text(place, &value.to_string(), iterations, unit)
}

/// Creates a sample from a number in text, with exactly the value of the written digits. `place` is the position in the input that error messages
/// show.
pub(super) fn sample_from_text(
    place: &str,
    value: &str,
    iterations: u64,
    unit: &ValueUnit,
) -> Result<Sample, ExchangeError> {
    Decimal::parse(value, DecimalMark::Point)
        .and_then(|value| unit.to_sample(value, iterations))
        .map_err(|reason| format_error(place, reason))
}

/// Parses a unit whose name is a constant of this program.
pub(super) fn builtin_unit(name: &str) -> ValueUnit {
    name.parse().unwrap_or_else(|_| ValueUnit::nanoseconds())
}

pub(super) fn format_error(place: &str, reason: impl Into<String>) -> ExchangeError {
    ExchangeError::Broken {
        place: place.to_owned(),
        reason: reason.into(),
    }
}

fn check_id(place: &str, id: &str) -> Result<(), ExchangeError> {
    if id.trim().is_empty() {
        return Err(format_error(place, "a benchmark has no name"));
    }
    limits::check_name(id)
        .map_err(|why| format_error(place, format!("a benchmark's name {why}")))?;
    if id.chars().any(char::is_control) {
        return Err(format_error(
            place,
            format!(
                "the benchmark's name `{}` contains control characters",
                id.escape_debug()
            ),
        ));
    }
    Ok(())
}
