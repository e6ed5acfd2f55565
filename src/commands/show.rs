//! `cargo perfcheck show RUN [ID]` and its options: shows the measurements of a stored run; with `--stats` all statistics, with `--report
//! svg[=FILE]` a picture of one benchmark.

use clap::Args;
use std::collections::BTreeMap;
use std::path::Path;

use crate::delivery::files::write_result;
use crate::delivery::reports::{ReportRequest, RequestedReportKind, write_findings};
use crate::error::AppError;
use crate::naming::{find_candidates, list_keys, similar_keys, unambiguous_word};
use crate::options::{CommonOptions, OutlierWords, parse_outliers, word_parser};
use crate::output::{
    BenchmarkStatistics, MessageFormat, Picture, write_outcome_of_run, write_picture,
    write_run_head, write_statistics, write_warning,
};
use crate::sanitize::{shell_command, shell_quoted};
use crate::session::{Context, World, resolve_run};
use crate::stored::comparison::describe_absurdities;
use crate::stored::conclusions::read_findings;
use perfcheck_analysis::compare::{
    BenchmarkRecord, HostControls, LatencySummary, ProcessStatistics, Shape, ShapeDetail,
    summarize_with,
};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{Findings, Row, SortKey, summarize_all};
use perfcheck_analysis::model::{
    Analysis, BenchmarkKey, DecisionSettings, Measurement, ProgressReporter, Quantile, Run, RunId,
    RunVerdict, SampleFilter, System, TrimmedError, Verdict,
};
use perfcheck_store::{Store, WorkspaceId};

/// Carries out `cargo perfcheck show`.
pub fn show(
    options: &ShowOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let (store, workspace) = context.open_required()?;
    let run = resolve_run(&store, workspace, &options.run);
    let run = match (run, &options.bench) {
        (Err(error @ AppError::NoSuchRun { .. }), None) => {
            return Err(mistaken_run_error(&options.run, &store, workspace)?.unwrap_or(error));
        }
        (run, _) => run?,
    };
    let measurements = store.measurements(run, None)?;
    let all: Vec<&BenchmarkKey> = measurements
        .iter()
        .map(|found| &found.benchmark.key)
        .collect();
    let only = match &options.bench {
        Some(bench) => Some(resolve_benchmark(bench, &all, run)?.clone()),
        None => None,
    };
    let name = format!("run {run}");
    let thresholds = &context.tables.workspace.thresholds;
    let is_shown = |key: &BenchmarkKey| only.as_ref().is_none_or(|only| only == key);
    let measurements: Vec<Measurement> = measurements
        .into_iter()
        .filter(|found| is_shown(&found.benchmark.key))
        .collect();
    // With `--stats`, absurd values appear among the statistics of their benchmark instead.
    if !options.stats {
        for warning in describe_absurdities(&name, &measurements, thresholds) {
            write_warning(world.stderr, &warning)?;
        }
    }
    if let Some(wanted) = &options.picture {
        return draw(
            &store.run(run)?,
            &measurements,
            wanted.file.as_deref(),
            world,
        );
    }
    if !options.stats {
        let is_whole = only.is_none();
        return show_measurements(&store, run, &measurements, is_whole, common, world);
    }
    let head = store.run(run)?;
    let decision = DecisionSettings {
        analysis: options
            .explicit_analysis()
            .unwrap_or(head.begun.decision.analysis),
        thresholds: options
            .method
            .map_or(head.begun.decision.thresholds, |method| {
                method.decision_settings().thresholds
            }),
        ..head.begun.decision
    };
    let shown = DescriptionRules {
        is_shown: &is_shown,
        decision,
    };
    show_statistics(&context, &store, &head, &shown, common, world)
}

/// Returns an error with advice if `word`, which should name a run, names a benchmark.
fn mistaken_run_error(
    word: &str,
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Option<AppError>, AppError> {
    let stored = store.benchmarks(workspace)?;
    let all: Vec<&BenchmarkKey> = stored.iter().map(|benchmark| &benchmark.key).collect();
    let found = find_candidates(word, &all);
    let show = shell_command("cargo perfcheck show", &["latest", word], "");
    let history = shell_command("cargo perfcheck history", &[word], "");
    Ok((!found.is_empty()).then(|| {
        AppError::Usage(format!(
            "no run is called `{word}`{}\n  help: `{show}` shows a benchmark's latest measurement, `{history}` its history",
            list_keys("these benchmarks match", &found)
        ))
    }))
}

fn resolve_benchmark<'k>(
    bench: &str,
    all: &[&'k BenchmarkKey],
    run: RunId,
) -> Result<&'k BenchmarkKey, AppError> {
    match find_candidates(bench, all)[..] {
        [key] => Ok(key),
        [] => {
            let near = similar_keys(bench, all);
            let offered = if near.is_empty() {
                list_keys("it has", all)
            } else {
                list_keys("did you mean", &near)
            };
            Err(AppError::Usage(format!(
                "run {run} has no benchmark `{bench}`{offered}\n  help: `cargo perfcheck show {run}` lists its benchmarks"
            )))
        }
        ref several => Err(AppError::Usage(format!(
            "`{bench}` matches {} benchmarks{}",
            several.len(),
            list_keys("name one of", several)
        ))),
    }
}

/// Writes the table of the run's measurements with their verdicts. If it shows all benchmarks (`is_whole`), the outcome of the run follows.
fn show_measurements(
    store: &Store,
    run: RunId,
    measurements: &[Measurement],
    is_whole: bool,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let summary = store.run_summary(run)?;
    let head = &summary.run;
    let summaries = world.with_progress("Describing", measurements.len(), |progress| {
        summarize_all(
            measurements,
            &head.begun.decision,
            head.begun.seed,
            progress,
        )
    });
    let mut rows: Vec<Row<'_>> = measurements
        .iter()
        .zip(summaries)
        .map(|(measurement, summary)| Row::from_measurement(measurement, summary))
        .collect();
    common.output.order().sort(&mut rows);
    if common.output.format == MessageFormat::Human {
        write_run_head(
            world.stdout,
            head,
            &HostControls::from_measurements(measurements.iter()),
        )?;
    }
    let findings = Findings {
        run: head,
        rows,
        verdicts: None,
        failed_targets: Vec::new(),
        exit_code: summary.exit_code.unwrap_or(0),
    };
    write_findings(&findings, common, world)?;
    let ended = summary.exit_code.filter(|_| is_whole);
    if let (MessageFormat::Human, Some(exit_code)) = (common.output.format, ended) {
        // Missing benchmarks have a verdict but no row.
        let verdicts = store.verdicts(run)?;
        let benchmarks = verdicts.len().max(measurements.len());
        let is_same =
            |known: &&RunVerdict| known.verdict == Verdict::Unchanged && known.typical_ns.is_none();
        let same = verdicts.iter().filter(is_same).count();
        let tally = verdicts.iter().map(|known| known.verdict).collect();
        let counts = (tally, benchmarks, same);
        let columns = common.output.view().columns;
        write_outcome_of_run(world.stdout, run, exit_code, counts, columns)?;
    }
    Ok(ExitCode::Clean)
}

/// The benchmarks that `--stats` shows, and the settings with which their statistics are computed.
struct DescriptionRules<'a> {
    is_shown: &'a dyn Fn(&BenchmarkKey) -> bool,
    decision: DecisionSettings,
}

fn show_statistics(
    context: &Context,
    store: &Store,
    head: &Run,
    shown: &DescriptionRules<'_>,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let run = head.id;
    let measured = store.measurements(run, None)?;
    let findings = world.with_progress("Describing", measured.len(), |progress| {
        read_findings(context, store, head, &measured, progress)
    })?;
    let columns: BTreeMap<BenchmarkKey, RunVerdict> = store
        .verdicts(run)?
        .into_iter()
        .map(|known| (known.key.clone(), known))
        .collect();
    let mut all: Vec<BenchmarkStatistics<'_>> = findings
        .rows
        .iter()
        .filter(|row| (shown.is_shown)(&row.key))
        .filter_map(|row| {
            let measurement = row.measurement?;
            let seed = head.begun.seed;
            let anew = (shown.decision.thresholds != head.begun.decision.thresholds)
                .then(|| summarize_with(measurement, &shown.decision, seed))
                .flatten();
            let summary = anew.as_ref().or(row.summary.as_ref());
            Some(BenchmarkStatistics {
                key: &row.key,
                measurement,
                record: summary.and_then(|found| {
                    BenchmarkRecord::from_measurement(
                        measurement,
                        found,
                        &shown.decision,
                        head.begun.seed,
                    )
                }),
                over_processes: ProcessStatistics::from_measurement(
                    measurement,
                    head.begun.decision.confidence_level,
                    head.begun.seed,
                ),
                verdict: measurement.verdict,
                change: columns.get(&row.key).and_then(|known| known.change),
                p_value: row.comparison.as_ref().and_then(|found| found.p_value),
                thresholds: head.begun.decision.thresholds,
            })
        })
        .collect();
    let order = common.output.order();
    all.sort_by(|a, b| order.compare(&sort_key(a), &sort_key(b)));
    if common.output.format == MessageFormat::Human {
        write_run_head(
            world.stdout,
            head,
            &HostControls::from_measurements(measured.iter()),
        )?;
    }
    let level = head.begun.decision.confidence_level;
    write_statistics(world.stdout, run, &all, level, common.output.format)?;
    Ok(ExitCode::Clean)
}

fn sort_key<'k>(found: &BenchmarkStatistics<'k>) -> SortKey<'k> {
    SortKey {
        key: found.key,
        verdict: found.verdict,
        change: found.change,
        time: found
            .record
            .as_ref()
            .map(|record| record.summary.median.estimate),
    }
}

const AFTER_SHOW: &str = "\
Examples:
  cargo perfcheck show                        the latest run, as a table
  cargo perfcheck show main --stats           every statistic of run `main`
  cargo perfcheck show 12 --stats --sort worst
  cargo perfcheck show 12 --stats --outliers iqr --quantile inverted-cdf
                                              without outliers, with NBenchmark's quantiles
  cargo perfcheck show 12 sort/10             one benchmark of run 12
  cargo perfcheck show latest sort/10 --report svg=sort.svg
                                              draw its samples: density, slope, processes
  cargo perfcheck show @3f2a91 --stats --message-format json

Exit status: 0 success, 2 usage error or no such benchmark, 5 store or output file unusable, 6 no such run.";

/// Options of `show`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_SHOW)]
pub struct ShowOptions {
    /// Show this run: a number, baseline, `latest` or `@commit`
    #[arg(default_value = "latest", allow_negative_numbers = true)]
    pub(super) run: String,
    /// Show only this benchmark: its id, part of its id, or the name of a bench target that has only one benchmark
    #[arg(value_name = "ID")]
    pub(super) bench: Option<String>,
    /// Print every statistic: standard error and t interval over processes, percentiles, MAD, slope, outliers, and the verdict with its p-value
    #[arg(long)]
    pub(super) stats: bool,
    /// Leave these outliers out of summaries [default: as in the run]
    #[arg(long, value_name = "POLICY[,first]", requires = "stats", value_parser = OutlierWords(parse_outliers))]
    pub(super) outliers: Option<SampleFilter>,
    /// Use this definition of quantiles [default: as in the run]
    #[arg(long, value_name = "DEFINITION", requires = "stats", value_parser = word_parser::<Quantile>(Quantile::WORDS))]
    pub(super) quantile: Option<Quantile>,
    /// Use this standard error for means without outliers [default: as in the run]
    #[arg(long, value_name = "RULE", requires = "stats", value_parser = word_parser::<TrimmedError>(TrimmedError::WORDS))]
    pub(super) trimmed_error: Option<TrimmedError>,
    /// Summarize samples as another system does [default: as in the run]
    #[arg(long, value_name = "SYSTEM", requires = "stats", value_parser = word_parser::<System>(System::WORDS))]
    pub(super) method: Option<System>,
    /// Draw one benchmark to FILE or stdout: the density with all samples, time against iterations with the slope, and the processes
    #[arg(long = "report", value_name = "svg[=FILE]", conflicts_with = "stats", value_parser = picture)]
    pub(super) picture: Option<ReportRequest>,
}

impl ShowOptions {
    /// Returns the analysis that the command line sets for describing samples. `None` means that the settings of the run apply.
    pub(super) fn explicit_analysis(&self) -> Option<Analysis> {
        let is_said = self.outliers.is_some()
            || self.quantile.is_some()
            || self.trimmed_error.is_some()
            || self.method.is_some();
        let of_method = self
            .method
            .map(|method| method.decision_settings().analysis);
        let base = of_method.unwrap_or_default();
        let requested = self
            .outliers
            .map(|filter| (filter.outliers, filter.drop_first));
        let (outliers, drop_first) = requested.unwrap_or((base.outliers, base.drop_first));
        is_said.then(|| Analysis {
            outliers,
            drop_first,
            quantile: self.quantile.or(base.quantile),
            trimmed_error: self.trimmed_error.unwrap_or(base.trimmed_error),
            ..Analysis::default()
        })
    }
}

fn picture(text: &str) -> Result<ReportRequest, String> {
    let wanted: ReportRequest = text.parse()?;
    if wanted.kind == RequestedReportKind::Picture {
        Ok(wanted)
    } else {
        Err(
            "`show` writes only `svg`; use `cargo perfcheck report` for other kinds of reports"
                .to_owned(),
        )
    }
}

/// Draws the benchmark of `measurements` into `file`, or to stdout if `file` is `None`. `measurements` must contain exactly one.
pub(crate) fn draw(
    run: &Run,
    measurements: &[Measurement],
    file: Option<&Path>,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let [measurement] = measurements else {
        let mut keys = measurements.iter().map(|found| &found.benchmark.key);
        let word = keys
            .next()
            .map_or_else(|| "ID".to_owned(), |first| unambiguous_word(first, keys));
        let file = file.map_or_else(String::new, |file| {
            format!("={}", shell_quoted(&file.display().to_string()))
        });
        let show = shell_command(
            "cargo perfcheck show",
            &[&run.id.to_string(), &word],
            &format!(" --report svg{file}"),
        );
        return Err(AppError::Usage(format!(
            "a picture shows one benchmark, but run {} has {}\n  help: name one, e.g. {show}",
            run.id,
            measurements.len(),
        )));
    };
    let key = &measurement.benchmark.key;
    let summary = summarize_all(
        measurements,
        &run.begun.decision,
        run.begun.seed,
        &ProgressReporter::silent(),
    )
    .pop();
    let drawn = summary
        .flatten()
        .zip(Shape::from_measurement(measurement, &ShapeDetail::FULL));
    let Some((summary, shape)) = drawn else {
        return Err(AppError::Usage(format!(
            "run {} has no samples of `{}` to draw\n  help: `cargo perfcheck show {}` shows what happened",
            run.id,
            key.id.escape_debug(),
            run.id
        )));
    };
    let latencies =
        LatencySummary::from_measurement(measurement, run.begun.decision.confidence_level);
    let picture = Picture {
        key,
        metric: &measurement.benchmark.metric,
        run: run.id,
        confidence_level: run.begun.decision.confidence_level,
        summary: &summary,
        shape: &shape,
        operations: latencies
            .as_ref()
            .and_then(|found| found.course.distribution.as_ref()),
    };
    write_result(file, world, |writer| write_picture(writer, &picture))?;
    Ok(ExitCode::Clean)
}
