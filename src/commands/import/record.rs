//! Converts measurements of other programs into runs of the store. The environment of a run consists of the facts that the user states
//! (`--fact NAME=VALUE`).
//!
//! Warnings about imported numbers go to stderr since they are not the result.

use super::options::{ImportOptions, StatedFact};
use crate::config::parse_shared_host;
use crate::error::AppError;
use crate::interchange::{
    ColumnMap, IdGroup, ImportedGroups, IterationLayout, ValueUnit, clean, warm_up_rows,
};
use crate::output;
use crate::output::ImportedBenchmark;
use crate::pipeline::prepare::TargetName;
use crate::session::World;
use perfcheck_analysis::compare::ValueSummary;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{
    Acceptance, AuthorSettings, Benchmark, BenchmarkInProcess, BenchmarkKey, DecisionSettings,
    Environment, Extras, Interleaving, MIN_PROCESSES, Metric, Nanos, NewRun, ProcessHead,
    ProcessOutcome, ProcessRecord, ProgressReporter, RunEnd, RunVerdict, Sample, SampleFilter,
    SamplingMode, SamplingSettings, Series, Source, SourceDimension, SourceFile, SourceValue,
    TargetFacts, Thresholds, Timestamp, Verdict,
};
use perfcheck_analysis::model::{WorkStage, map_with_progress};
use perfcheck_store::TransferredRun;

/// An imported benchmark: its summary, and the group and column that contain its samples.
pub(super) struct ImportRow {
    pub(super) shown: ImportedBenchmark,
    group: usize,
    column: usize,
}

/// Measurements that were read from files of another program, with what is known about the files.
pub(super) struct ParsedFiles<'a> {
    pub(super) imported: &'a ImportedGroups,
    /// Name of the files' format.
    pub(super) format: String,
    pub(super) files: Vec<SourceFile>,
    /// The column map of a table; `None` for other formats.
    pub(super) map: Option<&'a ColumnMap>,
    /// Unit of the values if there is no column map.
    pub(super) unit: String,
}

impl ParsedFiles<'_> {
    fn labels(&self) -> Vec<Option<String>> {
        self.map.map_or_else(|| vec![None], ColumnMap::labels)
    }

    /// Returns the number of benchmarks: one for each column of each group.
    pub(super) fn benchmarks(&self) -> usize {
        self.imported.groups.len() * self.labels().len()
    }

    /// Returns the package and target under which the benchmarks are stored.
    fn place(&self, options: &ImportOptions) -> TargetName {
        let otherwise = || TargetName {
            package: "imported".to_owned(),
            target: self.format.clone(),
        };
        options.place.clone().unwrap_or_else(otherwise)
    }
}

/// Summarizes the samples of every benchmark: one summary for each column of each group.
pub(super) fn summarize_benchmarks(
    read: &ParsedFiles<'_>,
    options: &ImportOptions,
    thresholds: &Thresholds,
    progress: &ProgressReporter<'_>,
) -> Vec<ImportRow> {
    let imported = read.imported;
    let filter = options.filter().with_fence_from(thresholds);
    let interval = options.interval(thresholds);
    let groups = &imported.groups;
    let summaries: Vec<Vec<ValueSummary>> =
        map_with_progress(groups, WorkStage::whole(groups.len()), progress, |group| {
            clean(group, &filter, &interval, thresholds)
        });
    let labels = read.labels();
    let mut rows = Vec::new();
    for (at, (group, summaries)) in imported.groups.iter().zip(summaries).enumerate() {
        for (column, summary) in summaries.into_iter().enumerate() {
            let id = match &labels[column] {
                Some(label) => format!("{}/{label}", group.id),
                None => group.id.clone(),
            };
            let TargetName { package, target } = read.place(options);
            rows.push(ImportRow {
                shown: ImportedBenchmark {
                    key: BenchmarkKey {
                        package,
                        target,
                        id,
                    },
                    metric: group.metrics[column].clone(),
                    summary,
                },
                group: at,
                column,
            });
        }
    }
    rows
}

pub(super) fn build_source(
    read: &ParsedFiles<'_>,
    options: &ImportOptions,
    thresholds: &Thresholds,
    rows: &[ImportRow],
) -> Source {
    Source {
        format: read.format.clone(),
        files: read.files.clone(),
        columns: read.map.map_or_else(String::new, ToString::to_string),
        id_parts: read.map.map_or_else(Vec::new, ColumnMap::id_parts),
        dimensions: dimensions(read, rows),
        values: values(read, options.unit.as_ref()),
        processes_known: read.imported.processes_known,
        filter: options.filter().with_fence_from(thresholds),
        interval: options.interval(thresholds),
        counts: rows.iter().map(|row| row.shown.summary.counts).sum(),
        rows_skipped: read.imported.rows_skipped,
    }
}

/// Collects the properties of benchmarks that the table states in its dimension columns, which are not part of the ids.
fn dimensions(read: &ParsedFiles<'_>, rows: &[ImportRow]) -> Vec<SourceDimension> {
    let columns = read.map.map_or(&[][..], |map| &map.dimensions);
    let columns = columns.iter().enumerate();
    columns
        .map(|(at, column)| SourceDimension {
            name: column.to_string(),
            labels: (rows.iter())
                .map(|row| {
                    let group = &read.imported.groups[row.group];
                    (row.shown.key.id.clone(), group.dimensions[at].clone())
                })
                .collect(),
        })
        .collect()
}

/// Lists the columns that were read as values, with their units.
fn values(read: &ParsedFiles<'_>, declared: Option<&ValueUnit>) -> Vec<SourceValue> {
    let Some(map) = read.map else {
        return vec![SourceValue {
            label: None,
            column: "values".to_owned(),
            unit: read.unit.clone(),
        }];
    };
    let unit = |column: &crate::interchange::ValueColumn| match (&column.unit, &map.unit) {
        (Some(unit), _) => unit.to_string(),
        (None, Some(_)) => "by row".to_owned(),
        (None, None) => match declared {
            Some(unit) => unit.to_string(),
            None => "guessed".to_owned(),
        },
    };
    (map.values.iter())
        .zip(map.labels())
        .map(|(value, label)| SourceValue {
            label,
            column: value.column.to_string(),
            unit: unit(value),
        })
        .collect()
}

pub(super) fn build_run(
    read: &ParsedFiles<'_>,
    rows: &[ImportRow],
    source: &Source,
    options: &ImportOptions,
    decision: &DecisionSettings,
    environment: Environment,
    baselines: Vec<String>,
) -> TransferredRun {
    let imported = read.imported;
    let started = perfcheck_host::now();
    let TargetName { package, target } = read.place(options);
    let mut processes: Vec<ProcessRecord> = (0..imported.processes.len())
        .zip(0..)
        .map(|(_, ordinal)| ProcessRecord {
            head: ProcessHead {
                package: package.clone(),
                target: target.clone(),
                ordinal,
                attempt: 0,
                started,
                padding_bytes: 0,
                layout: None,
                harness: None,
                conduct: None,
                failure: None,
            },
            target_facts: TargetFacts::default(),
            benchmarks: Vec::new(),
        })
        .collect();
    let mut verdicts = Vec::new();
    for row in rows {
        let group = &imported.groups[row.group];
        let series = samples_by_process(group, row.column, &source.filter);
        verdicts.push(RunVerdict {
            key: row.shown.key.clone(),
            verdict: Verdict::New,
            typical_ns: Some(row.shown.summary.median),
            change: None,
            standard_error: None,
            reference: None,
        });
        let sampling = SamplingSettings {
            processes: u32::try_from(series.len()).unwrap_or(u32::MAX),
            samples: None,
            warm_up: Nanos(0),
            warm_up_iterations: None,
            measurement: Nanos(0),
            mode: match group.phase {
                IterationLayout::Flat => SamplingMode::Flat,
                IterationLayout::Linear => SamplingMode::Linear,
            },
            turns: Interleaving::None,
        };
        for (process, series) in series {
            processes[process as usize]
                .benchmarks
                .push(BenchmarkInProcess {
                    benchmark: Benchmark {
                        key: row.shown.key.clone(),
                        version: None,
                        throughput: group.throughput,
                        other_throughput: None,
                        settings: AuthorSettings::default(),
                        metric: row.shown.metric.clone(),
                    },
                    sampling,
                    noise_threshold: decision.noise_threshold,
                    outcome: ProcessOutcome::Measured(series),
                    extras: Extras::default(),
                });
        }
    }
    TransferredRun {
        accepted: Vec::new(),
        head: NewRun {
            build: None,
            partition: None,
            past: None,
            started,
            git: None,
            environment,
            load: None,
            seed: derive_seed(&read.files),
            decision: *decision,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        source: Some(source.clone()),
        pair: None,
        processes,
        counted: Vec::new(),
        end: Box::new(move |_| RunEnd {
            conclusion: None,
            finished: end_time(started),
            acceptance: Acceptance::Pending,
            exit_code: ExitCode::Clean.number(),
            verdicts: verdicts.clone(),
        }),
        baselines,
    }
}

/// Returns the end time of an imported run: now, but not before its start. The time between them has no meaning.
fn end_time(started: Timestamp) -> Timestamp {
    perfcheck_host::now().max(started)
}

/// Derives the seed from the contents of the files, so that importing the same files again yields the same result. The seed is below 2^53, so that
/// JSON numbers can represent it.
fn derive_seed(files: &[SourceFile]) -> u64 {
    files.iter().fold(0, |seed: u64, file| {
        let digits = file.blake3.get(..13).unwrap_or("0");
        seed.rotate_left(1) ^ u64::from_str_radix(digits, 16).unwrap_or(0)
    }) & ((1 << 53) - 1)
}

/// Groups the samples of a column by process. Each process keeps its warm-up samples.
fn samples_by_process(group: &IdGroup, column: usize, filter: &SampleFilter) -> Vec<(u32, Series)> {
    let mut all: Vec<(u32, Series)> = Vec::new();
    for (row, warm_up) in group.rows.iter().zip(warm_up_rows(group, filter)) {
        let sample = row.samples[column];
        if all
            .last()
            .is_none_or(|(process, _)| *process != row.process)
        {
            let nothing = Sample {
                iterations: 0,
                elapsed: Nanos(0),
            };
            let series = Series {
                warm_up: nothing,
                linear: Vec::new(),
                flat: Vec::new(),
            };
            all.push((row.process, series));
        }
        if let Some((_, series)) = all.last_mut() {
            if warm_up {
                series.warm_up = sample;
            } else {
                match group.phase {
                    IterationLayout::Flat => series.flat.push(sample),
                    IterationLayout::Linear => series.linear.push(sample),
                }
            }
        }
    }
    all
}

/// Builds the description of machine and build from the facts that the user stated. All facts that the user did not state are unknown.
pub(super) fn environment_from_facts(facts: &[StatedFact]) -> Result<Environment, AppError> {
    let mut environment = Environment::default();
    for fact in facts {
        let value = fact.value.trim().to_owned();
        let (host, build) = (&mut environment.host, &mut environment.build);
        match fact.name.as_str() {
            "cpu" => host.cpu = value,
            "architecture" => host.architecture = value,
            "os" => host.os = value,
            "kernel" => host.kernel = value,
            "host" => {
                let shared = parse_shared_host(&value);
                host.shared =
                    Some(shared.map_err(|why| AppError::Usage(format!("`--fact host`: {why}")))?);
            }
            "governor" => host.governor = Some(value),
            "microcode" => host.microcode = Some(value),
            "cores" => {
                host.cores = value.parse().map_err(|_| {
                    AppError::Usage(format!("`--fact cores={value}`: not a whole number"))
                })?;
            }
            "rustc" => build.rustc = value,
            "target" => build.target = value,
            "profile" => build.profile = value,
            "rustflags" => build.rustflags = value,
            other => {
                return Err(AppError::Usage(format!(
                    "`{other}` is not a known fact; facts are host, cpu, architecture, os, kernel, governor, microcode, cores, rustc, target, profile, rustflags"
                )));
            }
        }
    }
    Ok(environment)
}

/// Writes warnings to stderr that the user must know before relying on the imported numbers.
pub(super) fn warn(
    imported: &ImportedGroups,
    source: &Source,
    rows: &[ImportRow],
    world: &mut World<'_>,
) -> Result<(), AppError> {
    for row in &imported.skipped {
        output::write_warning(world.stderr, &format!("skipped {row}"))?;
    }
    let more = imported.rows_skipped - (imported.skipped.len() as u64).min(imported.rows_skipped);
    if more > 0 {
        let rows = output::counted(more as usize, "more row");
        output::write_warning(world.stderr, &format!("skipped {rows}"))?;
    }
    for guess in &imported.guesses {
        output::write_warning(
            world.stderr,
            &format!(
                "guessed the unit of {} in `{}`: {} ({})",
                guess.column, guess.id, guess.unit, guess.evidence
            ),
        )?;
    }
    for row in rows {
        let id = &row.shown.key.id;
        for absurd in &row.shown.summary.absurd {
            output::write_warning(world.stderr, &format!("`{id}`: {absurd}"))?;
        }
        let is_amount = matches!(row.shown.metric, Metric::Amount { .. });
        if row.shown.summary.zeros > 0 && !is_amount {
            output::write_warning(
                world.stderr,
                &format!(
                    "{} 0, below the clock's resolution",
                    if row.shown.summary.zeros == 1 {
                        format!("a value of `{id}` is")
                    } else {
                        format!("{} values of `{id}` are", row.shown.summary.zeros)
                    }
                ),
            )?;
        }
    }
    if !source.processes_known {
        output::write_warning(
            world.stderr,
            &format!(
                "the data does not identify processes (sessions), so comparisons treat all repetitions of a benchmark as independent samples of one process; add a process column, or import one file per session (at least {MIN_PROCESSES})"
            ),
        )?;
    }
    Ok(())
}
