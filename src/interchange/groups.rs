//! Groups the rows of an import by benchmark and process, and summarizes each benchmark by its mean with a bootstrap interval.
//!
//! A summary leaves out warm-up and outliers, but the stored samples include them. The filter that leaves them out is stored with the run, and
//! commands that summarize the run later apply it again. Invariant: no verdict depends on the interval of a summary.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use super::column_map::ColumnMap;
use super::error::{ExchangeError, MalformedRow};
use super::input::InputContent;
use super::unit::{Decimal, GUESS_LIMIT, ValueUnit};
use perfcheck_analysis::compare::{
    PerSecond, ValueBounds, ValueSummary, filter_policy, find_absurd, sample_counts,
};
use perfcheck_analysis::model::{
    Metric, Sample, SampleFilter, SourceInterval, Thresholds, Throughput,
};
use perfcheck_stats::{
    CleanedSample, ClusterMean, Description, FirstSampleTreatment, OperationRates, Resampling,
    Stream, derived_seed, median, percentile_interval,
};

/// Maximum number of benchmarks in an import. If there are more, the column map is probably wrong.
pub(super) const MOST_GROUPS: usize = 20_000;
/// Maximum number of processes in an import. If there are more, the column map is probably wrong.
pub(super) const MOST_PROCESSES: usize = 10_000;
/// Maximum number of malformed rows in a message.
const MOST_SHOWN: usize = 20;

/// Options for reading values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// The unit that the user gave for values whose column and row have no unit of their own. `None` if the user gave none.
    pub unit: Option<ValueUnit>,
    /// Whether to guess the unit of values that have none. The guess is ticks of 100 ns or nanoseconds. It depends on the language of the measured
    /// program if the table states it, and otherwise on the median of the values.
    pub guess_units: bool,
    /// Whether to skip and count rows that cannot be read. Otherwise they are an error.
    pub lenient: bool,
}

/// The file and the line of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowPosition {
    pub(super) file: usize,
    pub(super) line: u64,
}

/// A parsed row.
pub(super) struct RawRow {
    pub(super) place: RowPosition,
    pub(super) id: String,
    pub(super) process: Option<String>,
    pub(super) repetition: Option<u64>,
    pub(super) iterations: u64,
    pub(super) unit: Option<ValueUnit>,
    pub(super) values: Vec<Decimal>,
    /// The values of the row in the dimension columns.
    pub(super) dimensions: Vec<String>,
}

/// One measurement: a sample for each column of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRow {
    /// Ordinal of the process that measured the row, from 0.
    pub process: u32,
    /// One sample for each column of values, in the order of the columns.
    pub samples: Vec<Sample>,
}

/// All measurements under one id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdGroup {
    /// The id without the part that distinguishes columns of values.
    pub id: String,
    /// The metric of each column of values.
    pub metrics: Vec<Metric>,
    /// The measurements, sorted by process and then by repetition. If no column gives the repetition, rows of a process keep the order of the file.
    pub rows: Vec<GroupRow>,
    /// Bytes or elements that an iteration processes, if the file says so.
    pub throughput: Throughput,
    /// Whether the iteration counts of the samples are equal or increase.
    pub phase: IterationLayout,
    /// The values of the group in the dimension columns, in the order of the column map.
    pub dimensions: Vec<String>,
}

/// The pattern of the iteration counts of a benchmark's samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IterationLayout {
    /// All samples have equally many iterations, or the counts are unknown.
    #[default]
    Flat,
    /// The samples have d, 2d, 3d, ... iterations, as Criterion's linear mode takes them.
    Linear,
}

/// The unit that `--guess-units` chose for a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// Id of the group.
    pub id: String,
    /// The column of values whose unit was guessed.
    pub column: String,
    /// The chosen unit.
    pub unit: String,
    /// The reason for the choice.
    pub evidence: UnitEvidence,
}

/// The reason for choosing a unit that nobody declared.
#[derive(Debug, Clone, PartialEq)]
pub enum UnitEvidence {
    /// The language of the measured program, as the table states it.
    Language(String),
    /// The median of the values as written in the table, without a unit.
    Median(f64),
}

impl fmt::Display for UnitEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language(language) => write!(f, "the language is {language}"),
            Self::Median(median) => write!(f, "the median of the values is {median}"),
        }
    }
}

/// Name of the column with the language of the measured program. If a table has this column, `--guess-units` decides by the language.
const LANGUAGE: &str = "language";
/// The language whose benchmarks count ticks of 100 ns. Benchmarks in all other languages count nanoseconds.
const LANGUAGE_OF_TICKS: &str = "csharp";

/// The content of imported files.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedGroups {
    /// Groups in the order of their first row.
    pub groups: Vec<IdGroup>,
    /// Names of the processes, by ordinal.
    pub processes: Vec<String>,
    /// Whether the input distinguishes processes.
    pub processes_known: bool,
    /// The units that were guessed.
    pub guesses: Vec<Guess>,
    /// The first of the rows that were skipped because they could not be read.
    pub skipped: Vec<MalformedRow>,
    /// Number of all skipped rows.
    pub rows_skipped: u64,
}

struct PendingRow {
    place: RowPosition,
    process: u32,
    repetition: Option<u64>,
    iterations: u64,
    /// Index of the row's unit in `RowCollector::units`.
    unit: Option<usize>,
    values: Vec<Decimal>,
}

struct PendingGroup {
    id: String,
    dimensions: Vec<String>,
    rows: Vec<PendingRow>,
}

/// Collects the rows of all files and groups them by id.
pub(super) struct RowCollector<'a> {
    map: &'a ColumnMap,
    reading: &'a ReadOptions,
    several_files: bool,
    groups: Vec<PendingGroup>,
    known: HashMap<String, usize>,
    processes: Vec<String>,
    known_processes: HashMap<(usize, Option<String>), u32>,
    units: Vec<ValueUnit>,
    malformed: Vec<MalformedRow>,
    files: Vec<String>,
}

impl<'a> RowCollector<'a> {
    pub(super) fn new(
        map: &'a ColumnMap,
        reading: &'a ReadOptions,
        files: &[InputContent],
    ) -> Result<Self, ExchangeError> {
        let settled = map.unit.is_some() || reading.unit.is_some() || reading.guess_units;
        if let Some(value) = map
            .values
            .iter()
            .find(|value| value.unit.is_none() && !settled)
        {
            return Err(ExchangeError::NoUnit(value.column.to_string()));
        }
        Ok(Self {
            map,
            reading,
            several_files: files.len() > 1,
            groups: Vec::new(),
            known: HashMap::new(),
            processes: Vec::new(),
            known_processes: HashMap::new(),
            units: Vec::new(),
            malformed: Vec::new(),
            files: files.iter().map(|file| file.name.clone()).collect(),
        })
    }

    pub(super) fn reject(&mut self, row: MalformedRow) {
        self.malformed.push(row);
    }

    pub(super) fn add(&mut self, row: RawRow) -> Result<(), ExchangeError> {
        let group = if let Some(group) = self.known.get(&row.id) {
            *group
        } else {
            if self.groups.len() == MOST_GROUPS {
                return Err(ExchangeError::TooMany {
                    what: "benchmarks",
                    most: MOST_GROUPS,
                    hint: "check that no id column holds counts or measurements",
                });
            }
            self.known.insert(row.id.clone(), self.groups.len());
            self.groups.push(PendingGroup {
                id: row.id,
                dimensions: row.dimensions.clone(),
                rows: Vec::new(),
            });
            self.groups.len() - 1
        };
        let known = &self.groups[group].dimensions;
        let mut differing = known.iter().zip(&row.dimensions).zip(&self.map.dimensions);
        if let Some(((known, value), column)) = differing.find(|((known, value), _)| known != value)
        {
            let reason = format!(
                "is `{value}`, but was `{known}` for `{}` before: should this column be part of the id?",
                self.groups[group].id
            );
            let row = self.malformed(row.place, Some(column.to_string()), reason);
            self.malformed.push(row);
            return Ok(());
        }
        let process = self.process_ordinal(row.place.file, row.process)?;
        let unit = row.unit.map(|unit| {
            let known = self.units.iter().position(|known| *known == unit);
            known.unwrap_or_else(|| {
                self.units.push(unit);
                self.units.len() - 1
            })
        });
        self.groups[group].rows.push(PendingRow {
            place: row.place,
            process,
            repetition: row.repetition,
            iterations: row.iterations,
            unit,
            values: row.values,
        });
        Ok(())
    }

    /// Returns the ordinal of the process of a row: rows of one process are in the same file and have the same entry in the process column.
    fn process_ordinal(
        &mut self,
        file: usize,
        entry: Option<String>,
    ) -> Result<u32, ExchangeError> {
        let key = (file, entry);
        if let Some(known) = self.known_processes.get(&key) {
            return Ok(*known);
        }
        if self.processes.len() == MOST_PROCESSES {
            return Err(ExchangeError::TooMany {
                what: "processes",
                most: MOST_PROCESSES,
                hint: "check that the process column does not hold repetition numbers",
            });
        }
        let ordinal = u32::try_from(self.processes.len()).unwrap_or(u32::MAX);
        self.processes.push(match (&key.1, self.several_files) {
            (Some(entry), true) => format!("{}, {entry}", self.files[file]),
            (Some(entry), false) => entry.clone(),
            (None, _) => self.files[file].clone(),
        });
        self.known_processes.insert(key, ordinal);
        Ok(ordinal)
    }

    /// Returns all groups. Fails if rows are malformed and must not be skipped, or if no row is left.
    pub(super) fn finish(
        mut self,
        files: &[InputContent],
    ) -> Result<ImportedGroups, ExchangeError> {
        let mut guesses = Vec::new();
        let mut groups = Vec::new();
        for mut pending in std::mem::take(&mut self.groups) {
            // The sort is stable: rows without repetitions keep the order of the file.
            pending
                .rows
                .sort_by_key(|row| (row.process, row.repetition));
            self.reject_duplicates(&mut pending);
            let units = self.units_of(&pending, &mut guesses);
            let group = self.convert_samples(pending, &units);
            if !group.rows.is_empty() {
                groups.push(group);
            }
        }
        self.malformed.sort_by_key(|row| (row.file, row.line));
        let malformed: BTreeSet<(usize, u64)> = (self.malformed.iter())
            .map(|row| (row.file, row.line))
            .collect();
        let total = malformed.len() as u64;
        if total > 0 && !self.reading.lenient {
            self.malformed.truncate(MOST_SHOWN);
            return Err(ExchangeError::Malformed {
                rows: self.malformed,
                total,
            });
        }
        if groups.is_empty() {
            let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            return Err(ExchangeError::Empty {
                names: names.join(", "),
                hint: if total > 0 {
                    ": no row could be read\n  help: leave out `--lenient` to list the reasons"
                } else {
                    ""
                },
            });
        }
        for group in &mut groups {
            group.unify_denominators(self.map.iterations.is_some());
        }
        self.malformed.truncate(MOST_SHOWN);
        Ok(ImportedGroups {
            groups,
            processes_known: self.map.process.is_some() || self.several_files,
            processes: self.processes,
            guesses,
            skipped: self.malformed,
            rows_skipped: total,
        })
    }

    fn malformed(
        &self,
        place: RowPosition,
        column: Option<String>,
        reason: String,
    ) -> MalformedRow {
        MalformedRow {
            file: place.file,
            name: self.files[place.file].clone(),
            line: place.line,
            column,
            reason,
        }
    }

    /// Rejects a row if an earlier one has the same process and repetition.
    fn reject_duplicates(&mut self, group: &mut PendingGroup) {
        let Some(column) = &self.map.repetition else {
            return;
        };
        let column = column.to_string();
        let mut refused = Vec::new();
        let id = &group.id;
        group.rows.dedup_by(|later, first| {
            let double = (later.process, later.repetition) == (first.process, first.repetition);
            if double {
                let number = later.repetition.unwrap_or(0);
                let line = first.place.line;
                let reason = format!(
                    "repeats `{number}` for `{id}` (first on line {line}): add a column to the id, or name the process column"
                );
                refused.push((later.place, reason));
            }
            double
        });
        for (place, reason) in refused {
            let row = self.malformed(place, Some(column.clone()), reason);
            self.malformed.push(row);
        }
    }

    /// Returns the language of a group, from the dimension or the part of the id that is called `language`.
    fn language_of<'g>(&self, group: &'g PendingGroup) -> Option<&'g str> {
        let dimensions = group.dimensions.iter().map(String::as_str);
        let dimensions = self.map.dimensions.iter().zip(dimensions);
        let parts = self.map.id.iter().zip(group.id.split('/'));
        let found = dimensions
            .chain(parts)
            .find(|(column, _)| column.to_string().eq_ignore_ascii_case(LANGUAGE));
        found
            .map(|(_, language)| language)
            .filter(|language| !language.is_empty())
    }

    /// Returns the unit of each column of values; `None` if each row has its own unit. Adds guessed units to `guesses`.
    fn units_of(&self, group: &PendingGroup, guesses: &mut Vec<Guess>) -> Vec<Option<ValueUnit>> {
        let declared = |at: usize| {
            let own = self.map.values[at].unit.clone();
            let by_row = self.map.unit.is_some();
            own.or_else(|| self.reading.unit.clone().filter(|_| !by_row))
        };
        (0..self.map.values.len())
            .map(|at| {
                let guessed = || {
                    if self.map.unit.is_some() || !self.reading.guess_units {
                        return None;
                    }
                    let (are_ticks, evidence) = if let Some(language) = self.language_of(group) {
                        let are_ticks = language.eq_ignore_ascii_case(LANGUAGE_OF_TICKS);
                        (are_ticks, UnitEvidence::Language(language.to_owned()))
                    } else {
                        let rows = group.rows.iter();
                        let values: Vec<f64> = rows.map(|row| row.values[at].as_f64()).collect();
                        let median = median(&values)?;
                        (median > GUESS_LIMIT, UnitEvidence::Median(median))
                    };
                    let unit = if are_ticks {
                        ValueUnit::ticks()
                    } else {
                        ValueUnit::nanoseconds()
                    };
                    guesses.push(Guess {
                        id: group.id.clone(),
                        column: self.map.values[at].column.to_string(),
                        unit: unit.to_string(),
                        evidence,
                    });
                    Some(unit)
                };
                declared(at).or_else(guessed)
            })
            .collect()
    }

    /// Converts the values of a group to samples. `units` has the unit of each column, or `None` where each row has its own.
    fn convert_samples(&mut self, pending: PendingGroup, units: &[Option<ValueUnit>]) -> IdGroup {
        let mut metrics: Vec<Option<Metric>> = vec![None; units.len()];
        let mut rows = Vec::with_capacity(pending.rows.len());
        for row in pending.rows {
            let by_row = row.unit.map(|at| &self.units[at]);
            let mut samples = Vec::with_capacity(units.len());
            let mut refused = None;
            for (at, value) in row.values.iter().enumerate() {
                let Some(unit) = units[at].as_ref().or(by_row) else {
                    continue;
                };
                let metric = metrics[at].get_or_insert_with(|| unit.metric().clone());
                let sample = if metric != unit.metric() {
                    Err(format!(
                        "is in {unit}, but other values of `{}` are not",
                        pending.id
                    ))
                } else if row.iterations != 1 && matches!(metric, Metric::Rate { .. }) {
                    Err("is a rate, so it cannot have a number of iterations".to_owned())
                } else {
                    unit.to_sample(*value, row.iterations)
                };
                match sample {
                    Ok(sample) => samples.push(sample),
                    Err(reason) => {
                        refused = Some((at, reason));
                        break;
                    }
                }
            }
            match refused {
                None => rows.push(GroupRow {
                    process: row.process,
                    samples,
                }),
                Some((at, reason)) => {
                    let column = self.map.values[at].column.to_string();
                    let malformed = self.malformed(row.place, Some(column), reason);
                    self.malformed.push(malformed);
                }
            }
        }
        IdGroup {
            dimensions: pending.dimensions,
            id: pending.id,
            metrics: metrics.into_iter().map(Option::unwrap_or_default).collect(),
            rows,
            throughput: Throughput::default(),
            phase: IterationLayout::Flat,
        }
    }
}

impl IdGroup {
    /// Gives the decimals of one column a common denominator, so that its samples look alike: 12.5 and 12.25 become 1250/100 and 1225/100. Does
    /// nothing if a column gives the iterations, because they are part of the denominators.
    fn unify_denominators(&mut self, iterations_are_counted: bool) {
        if iterations_are_counted {
            return;
        }
        for (at, metric) in self.metrics.iter().enumerate() {
            if matches!(metric, Metric::Rate { .. }) {
                continue;
            }
            // A count that is not a power of ten comes from a value with too many decimals for 64 bits. Its fraction was simplified.
            let is_power_of_ten = |count: &u64| 10_u64.pow(count.ilog10()) == *count;
            let denominators = self.rows.iter().map(|row| row.samples[at].iterations);
            let largest = denominators.filter(is_power_of_ten).max();
            let Some(largest) = largest else { continue };
            for row in &mut self.rows {
                let sample = &mut row.samples[at];
                if !is_power_of_ten(&sample.iterations) {
                    continue;
                }
                let factor = largest / sample.iterations;
                if let Some(elapsed) = sample.elapsed.0.checked_mul(factor) {
                    sample.elapsed.0 = elapsed;
                    sample.iterations = largest;
                }
            }
        }
    }
}

/// The mean of fewer values than this gets no interval.
const FEWEST_FOR_INTERVAL: usize = 5;

/// Returns for each row whether it is warm-up: with `drop_first`, the first row of each process that has more than one.
pub fn warm_up_rows(group: &IdGroup, filter: &SampleFilter) -> Vec<bool> {
    let (processes, first) = (
        rows_by_process(group),
        FirstSampleTreatment::dropped_if(filter.drop_first),
    );
    processes
        .flat_map(|rows| (0..rows.len()).map(move |at| at < first.skip_count(rows.len())))
        .collect()
}

fn rows_by_process(group: &IdGroup) -> impl Iterator<Item = &[GroupRow]> {
    group.rows.chunk_by(|one, next| one.process == next.process)
}

/// Applies the filter to `group` and summarizes each column.
pub fn clean(
    group: &IdGroup,
    filter: &SampleFilter,
    interval: &SourceInterval,
    thresholds: &Thresholds,
) -> Vec<ValueSummary> {
    let columns = (0..group.metrics.len()).map(|column| clean_column(group, column, filter));
    let mut columns: Vec<CleanedSample> = columns.collect::<Option<_>>().unwrap_or_default();
    if filter.paired {
        CleanedSample::remove_outlier_rows(&mut columns);
    }
    columns
        .iter()
        .zip(0..)
        .filter_map(|(cleaned, column)| {
            summarize_column(group, column, cleaned, interval, thresholds)
        })
        .collect()
}

fn clean_column(group: &IdGroup, column: usize, filter: &SampleFilter) -> Option<CleanedSample> {
    let values = |rows: &[GroupRow]| -> Vec<f64> {
        let samples = rows.iter().map(|row| row.samples[column]);
        samples.map(Sample::per_iteration).collect()
    };
    let values: Vec<Vec<f64>> = rows_by_process(group).map(values).collect();
    let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    CleanedSample::clean(
        &values,
        FirstSampleTreatment::dropped_if(filter.drop_first),
        filter_policy(filter),
    )
}

fn summarize_column(
    group: &IdGroup,
    column: usize,
    cleaned: &CleanedSample,
    interval: &SourceInterval,
    thresholds: &Thresholds,
) -> Option<ValueSummary> {
    let description = Description::compute(&cleaned.used)?;
    let clusters: Vec<&[f64]> = cleaned.used.chunks(1).collect();
    // Derive a seed for each group and column, because the same random numbers would correlate their intervals.
    let seed = derived_seed(interval.seed, &format!("{}/{column}", group.id));
    let resampling = Resampling {
        resamples: interval.resamples as usize,
        stream: Stream { seed, name: "mean" },
    };
    let interval = (clusters.len() >= FEWEST_FOR_INTERVAL)
        .then(|| {
            let mean = ClusterMean::new(&clusters);
            percentile_interval(&mean, interval.confidence_level, resampling)
        })
        .flatten();
    let rates = OperationRates::from_times(&cleaned.used)?;
    Some(ValueSummary {
        counts: sample_counts(cleaned),
        replaced: cleaned.replaced,
        fences: cleaned.bounds.map(ValueBounds::from),
        mean: description.mean,
        mean_interval: interval.map(ValueBounds::from),
        median: description.median,
        per_second: PerSecond {
            mean: rates.mean,
            min: rates.least,
            max: rates.most,
        },
        absurd: find_absurd(&cleaned.warm, &group.metrics[column], thresholds),
        zeros: (group.rows.iter())
            .filter(|row| row.samples[column].elapsed.0 == 0)
            .count(),
    })
}
