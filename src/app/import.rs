//! `cargo perfcheck import FILE...`: what another program measured becomes a run like any other.

use std::io;
use std::path::{Path, PathBuf};

use super::context::{Context, World};
use super::error::AppError;
use super::options::{ComparisonOptions, Order, StoreOptions};
use crate::exchange::{
    Cleaning, ColumnMap, Content, ExchangeError, Group, Imported, Layout, Reading, Unit,
    ValueSummary, clean, read, read_tables, warm_up_rows,
};
use crate::exit_code::ExitCode;
use crate::host;
use crate::model::{
    Acceptance, AuthorSettings, Benchmark, BenchmarkKey, Beside, DecisionSettings, Environment,
    MIN_LAUNCHES, Metric, Nanos, Sample, SamplingMode, SamplingSettings, Series, Source,
    SourceCounts, SourceFile, SourceValue, TargetFacts, Throughput, Timestamp, Turns, Verdict,
};
use crate::report::{self, ImportFindings, ImportedBenchmark, write_import};
use crate::stats::median;
use crate::store::{
    ImportedRun, LaunchHead, LaunchRecord, LaunchedBenchmark, NewRun, Outcome, RunEnd, RunVerdict,
    check_baseline_name,
};

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFormat {
    /// A table of separated values.
    Csv,
}

/// A fact about where values were measured, as the user states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedFact {
    /// Which.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What is imported, and how.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The files, one session each; `-` is the standard input.
    pub files: Vec<PathBuf>,
    /// Their format.
    pub format: ImportFormat,
    /// The column map.
    pub columns: Vec<String>,
    /// How the tables are laid out.
    pub layout: Layout,
    /// The unit of values that have none of their own.
    pub unit: Option<Unit>,
    /// Take large values for ticks.
    pub guess_units: bool,
    /// Skip rows that cannot be read.
    pub lenient: bool,
    /// How the summary is made.
    pub cleaning: Cleaning,
    /// Package and bench target that the benchmarks are stored under.
    pub place: (String, String),
    /// What is known of the machine and the build.
    pub facts: Vec<StatedFact>,
    /// The name of the run.
    pub baseline: Option<String>,
    /// Only say what would be stored.
    pub dry_run: bool,
}

/// Runs the command.
pub fn import(
    options: &ImportOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let map = ColumnMap::read(&options.columns)?;
    let environment = environment(&options.facts)?;
    if let Some(name) = &options.baseline {
        check_baseline_name(name)?;
    }
    let context = Context::load(&world.variables, common)?;
    let files = contents(&options.files)?;
    let reading = Reading {
        unit: options.unit.clone(),
        guess_units: options.guess_units,
        lenient: options.lenient,
    };
    let interrupted = || world.interrupt.requested();
    let imported = match options.format {
        ImportFormat::Csv => read_tables(&files, &map, options.layout, &reading, &interrupted)?,
    };
    let most = context.tables.workspace.thresholds.mean_over_median;
    let mut rows = benchmarks(&imported, &map, options, most);
    let source = source(options, &map, &files, &imported, &rows);
    if world.interrupt.requested() {
        return Err(ExchangeError::Interrupted.into());
    }
    let run = if options.dry_run {
        None
    } else {
        let decision = ComparisonOptions::default().decision(&context.tables.workspace);
        let run = run(
            &imported,
            &rows,
            &source,
            options,
            decision,
            environment,
            &files,
        );
        let mut store = context.store()?;
        let workspace = store.workspace(&context.key(), &context.label())?;
        Some(store.import_run(workspace, &run)?)
    };
    if common.output.order == Order::Name {
        rows.sort_by(|a, b| a.shown.key.cmp(&b.shown.key));
    }
    warn(&imported, &source, &rows, most, world)?;
    let findings = ImportFindings {
        run,
        source: &source,
        launches: imported.launches.len(),
        baseline: options.baseline.as_deref(),
        rows: rows.into_iter().map(|row| row.shown).collect(),
        quiet: common.output.quiet,
    };
    write_import(world.stdout, &findings, common.output.format)?;
    Ok(ExitCode::Clean)
}

/// A benchmark of the import: what is shown of it, and where its samples are.
struct Row {
    shown: ImportedBenchmark,
    group: usize,
    column: usize,
}

fn contents(paths: &[PathBuf]) -> Result<Vec<Content>, AppError> {
    let dashes = paths.iter().filter(|path| **path == Path::new("-")).count();
    if dashes > 1 {
        return Err(AppError::Usage(
            "the standard input can be read only once".to_owned(),
        ));
    }
    let mut files: Vec<Content> = Vec::new();
    for path in paths {
        let content = read(path, &mut io::stdin().lock())?;
        if let Some(same) = files.iter().find(|file| file.blake3 == content.blake3) {
            return Err(AppError::Usage(format!(
                "{} and {} hold the same: the same session twice is no evidence",
                same.name, content.name
            )));
        }
        files.push(content);
    }
    Ok(files)
}

/// The facts that the user states; all others are unknown.
fn environment(facts: &[StatedFact]) -> Result<Environment, AppError> {
    let mut environment = Environment::default();
    for fact in facts {
        let value = fact.value.trim().to_owned();
        let (host, build) = (&mut environment.host, &mut environment.build);
        match fact.name.as_str() {
            "cpu" => host.cpu = value,
            "architecture" => host.architecture = value,
            "os" => host.os = value,
            "kernel" => host.kernel = value,
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
                    "`{other}` is no fact that comparisons know; those are cpu, architecture, os, kernel, governor, microcode, cores, rustc, target, profile, rustflags"
                )));
            }
        }
    }
    Ok(environment)
}

/// Every column of every group, described; a mean of more than `most_medians` is absurd.
fn benchmarks(
    imported: &Imported,
    map: &ColumnMap,
    options: &ImportOptions,
    most_medians: f64,
) -> Vec<Row> {
    use rayon::prelude::*;
    let summaries: Vec<Vec<ValueSummary>> = imported
        .groups
        .par_iter()
        .map(|group| clean(group, options.cleaning))
        .collect();
    let labels = map.labels();
    let mut rows = Vec::new();
    for (at, (group, summaries)) in imported.groups.iter().zip(summaries).enumerate() {
        for (column, summary) in summaries.into_iter().enumerate() {
            let id = match &labels[column] {
                Some(label) => format!("{}/{label}", group.id),
                None => group.id.clone(),
            };
            let (package, target) = options.place.clone();
            rows.push(Row {
                shown: shown(
                    BenchmarkKey {
                        package,
                        target,
                        id,
                    },
                    group.metrics[column].clone(),
                    &summary,
                    most_medians,
                ),
                group: at,
                column,
            });
        }
    }
    rows
}

fn shown(
    key: BenchmarkKey,
    metric: Metric,
    summary: &ValueSummary,
    most_medians: f64,
) -> ImportedBenchmark {
    ImportedBenchmark {
        key,
        metric,
        runs_raw: summary.runs_raw,
        warmup_skipped: summary.warmup_skipped,
        outliers_removed: summary.outliers_removed,
        runs: summary.runs,
        replaced: summary.replaced,
        fences: summary.fences,
        mean: summary.mean,
        interval: summary.interval,
        median: summary.median,
        per_second: [
            summary.per_second.mean,
            summary.per_second.least,
            summary.per_second.most,
        ],
        absurd: (summary.mean_over_median).is_some_and(|medians| medians > most_medians),
        zeros: summary.zeros,
    }
}

fn source(
    options: &ImportOptions,
    map: &ColumnMap,
    files: &[Content],
    imported: &Imported,
    rows: &[Row],
) -> Source {
    let sum = |count: fn(&ImportedBenchmark) -> usize| {
        rows.iter().map(|row| count(&row.shown) as u64).sum()
    };
    let unit = |column: &crate::exchange::ValueColumn| match (&column.unit, &map.unit) {
        (Some(unit), _) => unit.to_string(),
        (None, Some(_)) => "by row".to_owned(),
        (None, None) => match &options.unit {
            Some(unit) => unit.to_string(),
            None => "guessed".to_owned(),
        },
    };
    Source {
        format: match options.format {
            ImportFormat::Csv => "csv".to_owned(),
        },
        files: files
            .iter()
            .map(|file| SourceFile {
                name: file.name.clone(),
                blake3: file.blake3.clone(),
                bytes: file.bytes.len() as u64,
            })
            .collect(),
        columns: map.to_string(),
        id_parts: map.id_parts(),
        values: map
            .values
            .iter()
            .zip(map.labels())
            .map(|(value, label)| SourceValue {
                label,
                column: value.column.to_string(),
                unit: unit(value),
            })
            .collect(),
        launches_known: imported.launches_known,
        drop_first: options.cleaning.drop_first,
        outliers: options.cleaning.policy.name().to_owned(),
        paired: options.cleaning.paired,
        counts: SourceCounts {
            runs_raw: sum(|row| row.runs_raw),
            warmup_skipped: sum(|row| row.warmup_skipped),
            outliers_removed: sum(|row| row.outliers_removed),
            runs: sum(|row| row.runs),
            rows_skipped: imported.rows_skipped,
        },
    }
}

fn run(
    imported: &Imported,
    rows: &[Row],
    source: &Source,
    options: &ImportOptions,
    decision: DecisionSettings,
    environment: Environment,
    files: &[Content],
) -> ImportedRun {
    let started = host::now();
    let (package, target) = options.place.clone();
    let mut launches: Vec<LaunchRecord> = (0..imported.launches.len())
        .zip(0..)
        .map(|(_, ordinal)| LaunchRecord {
            head: LaunchHead {
                package: package.clone(),
                target: target.clone(),
                ordinal,
                attempt: 0,
                started,
                padding_bytes: 0,
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
        let series = series(group, row.column, options.cleaning);
        let times: Vec<f64> = series
            .iter()
            .flat_map(|(_, series)| series.deciding())
            .map(|sample| sample.per_iteration())
            .collect();
        verdicts.push(RunVerdict {
            key: row.shown.key.clone(),
            verdict: Verdict::New,
            typical_ns: median(&times),
            change: None,
            reference: None,
        });
        let sampling = SamplingSettings {
            launches: u32::try_from(series.len()).unwrap_or(u32::MAX),
            samples: None,
            warm_up: Nanos(0),
            measurement: Nanos(0),
            mode: SamplingMode::Flat,
            turns: Turns::None,
        };
        for (launch, series) in series {
            launches[launch as usize]
                .benchmarks
                .push(LaunchedBenchmark {
                    benchmark: Benchmark {
                        key: row.shown.key.clone(),
                        version: None,
                        throughput: Throughput::default(),
                        settings: AuthorSettings::default(),
                        metric: row.shown.metric.clone(),
                    },
                    sampling,
                    noise_threshold: decision.noise_threshold,
                    outcome: Outcome::Measured(series),
                    beside: Beside::default(),
                });
        }
    }
    ImportedRun {
        head: NewRun {
            started,
            git: None,
            environment,
            load: None,
            seed: seed(files),
            decision,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        source: source.clone(),
        launches,
        end: RunEnd {
            finished: finished(started),
            acceptance: Acceptance::Pending,
            exit_code: ExitCode::Clean.number(),
            verdicts,
        },
        baseline: options.baseline.clone(),
    }
}

/// An import takes as long as it takes; what counts is that it does not end before it began.
fn finished(started: Timestamp) -> Timestamp {
    host::now().max(started)
}

/// The same files give the same seed, so that importing them again changes nothing. Below 2^53, as other seeds are.
fn seed(files: &[Content]) -> u64 {
    files.iter().fold(0, |seed: u64, file| {
        let digits = file.blake3.get(..13).unwrap_or("0");
        seed.rotate_left(1) ^ u64::from_str_radix(digits, 16).unwrap_or(0)
    }) & ((1 << 53) - 1)
}

/// The samples of a column by launch; what is warm-up stays with its launch.
fn series(group: &Group, column: usize, cleaning: Cleaning) -> Vec<(u32, Series)> {
    let mut all: Vec<(u32, Series)> = Vec::new();
    for (row, warm_up) in group.rows.iter().zip(warm_up_rows(group, cleaning)) {
        let sample = row.samples[column];
        if all.last().is_none_or(|(launch, _)| *launch != row.launch) {
            let nothing = Sample {
                iterations: 0,
                elapsed: Nanos(0),
            };
            let series = Series {
                warm_up: nothing,
                linear: Vec::new(),
                flat: Vec::new(),
            };
            all.push((row.launch, series));
        }
        if let Some((_, series)) = all.last_mut() {
            if warm_up {
                series.warm_up = sample;
            } else {
                series.flat.push(sample);
            }
        }
    }
    all
}

/// What a reader must know before the numbers are believed; on stderr, as it is not the result.
fn warn(
    imported: &Imported,
    source: &Source,
    rows: &[Row],
    most_medians: f64,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    for row in &imported.skipped {
        report::write_warning(world.stderr, &format!("skipped {row}"))?;
    }
    let more = imported.rows_skipped - (imported.skipped.len() as u64).min(imported.rows_skipped);
    if more > 0 {
        report::write_warning(world.stderr, &format!("skipped {more} more rows"))?;
    }
    for guess in &imported.guesses {
        report::write_warning(
            world.stderr,
            &format!(
                "guessed: {} of `{}` are in {} (their median is {})",
                guess.column, guess.id, guess.unit, guess.median
            ),
        )?;
    }
    for row in rows {
        let id = &row.shown.key.id;
        if row.shown.absurd {
            report::write_warning(
                world.stderr,
                &format!(
                    "the mean of `{id}` is more than {most_medians} times its median: other units among its values, or a stall?"
                ),
            )?;
        }
        if row.shown.zeros > 0 {
            report::write_warning(
                world.stderr,
                &format!(
                    "{} 0, less than its clock could see",
                    if row.shown.zeros == 1 {
                        format!("a value of `{id}` is")
                    } else {
                        format!("{} values of `{id}` are", row.shown.zeros)
                    }
                ),
            )?;
        }
    }
    if !source.launches_known {
        report::write_warning(
            world.stderr,
            &format!(
                "nothing tells launches (sessions, processes) apart, so all repetitions of a benchmark count as one launch: comparisons can only take them as if they were independent of each other; a launch column or one file a session ({MIN_LAUNCHES} at least) would do better"
            ),
        )?;
    }
    Ok(())
}
