//! `cargo perfcheck coverage [FILTER]...`: shows which functions of the workspace could become slower without any benchmark noticing.
//!
//! The work tree is built twice in the cache. In the first build, which has line tables, callgrind counts the instructions of an iteration of each
//! benchmark by source line. The second build has the workspace's own crates unoptimized, so that each function that is executed has instructions of its
//! own; callgrind counts a whole process there. A function without instructions in either is never executed.
//!
//! Counts are kept in the folder of the build, so a repeated call counts only what is missing.

mod functions;

use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::functions::{CountedBenchmarks, FunctionIndex};
use crate::config::parse_share;
use crate::delivery::files::{workspace_name, write_page_result, write_result, write_whole};
use crate::delivery::reports::{ReportOptions, RequestedReportKind};
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::output::{
    BenchmarkSensitivity, CoverageFindings, CoveragePage, FunctionExecution, Progress, counted,
    write_build_event, write_coverage, write_coverage_page, write_lcov,
};
use crate::pipeline::cache_build::cache_directory;
use crate::pipeline::counting::{counting_request, require_valgrind};
use crate::pipeline::prepare::{failed_targets, nothing_found_error, select_programs, timeout};
use crate::pipeline::request::configure_target;
use crate::pipeline::work_tree::WorkTree;
use crate::session::{Context, World};
use crate::stored::conclusions::read_conclusion;
use perfcheck_analysis::compare::Comparison;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::{FailedTarget, Method};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkKey, DecisionSettings, LineCounts, ProgressReporter, parse_duration,
    parse_fraction,
};
use perfcheck_bench::child::{CountedSources, ProcessContext};
use perfcheck_bench::measure::{CountError, DiscoveredTarget, Filter, LineCounter};
use perfcheck_build::cargo::{BenchPackage, CargoOptions, CfgOptions, MeasuredCrate};
use perfcheck_build::sides::StagedExecutables;

/// The newest runs, up to this number, are searched for side-by-side comparisons of the benchmarks.
const MOST_RUNS: usize = 20;
/// The half-width of the interval of a comparison, assumed for a benchmark that was never measured side by side.
const USUAL_HALF_WIDTH: f64 = 0.0065;
/// How far a change must exceed the noise threshold to be found in nine of ten comparisons, as a multiple of the interval's half-width. A change is
/// found if its whole interval exceeds the threshold.
const HALF_WIDTHS_BEYOND_THRESHOLD: f64 = 1.5;

const AFTER_COVERAGE: &str = "\
Counts the instructions of each benchmark by source line under valgrind, in two builds of the work tree. The share of a function includes what it \
calls in other crates. A slowdown of the function, times its share, is a slowdown of the benchmark. The newest stored side-by-side \
comparison tells how small a slowdown the benchmark shows. Counts are kept with the builds: after an interruption, the same command continues.

Examples:
  cargo perfcheck coverage                     all functions of the workspace
  cargo perfcheck coverage --uncovered         those that could become 10 % slower unnoticed
  cargo perfcheck coverage --within 5% --fail-under 80%
                                               fail if more than a fifth of them could become 5 % slower unnoticed
  cargo perfcheck coverage --report html=coverage.html
                                               a page with the sources
  cargo perfcheck coverage --report lcov=lcov.info
                                               a tracefile for editors, Codecov or genhtml

Exit status: 0 success, 1 less than --fail-under, 2 usage error, 3 build failed, 4 a benchmark could not be counted, 5 store or cache unusable, 130 interrupted.";

/// Show which functions could become slower without any benchmark noticing.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_COVERAGE)]
pub struct CoverageOptions {
    /// Count only benchmarks whose id contains one of these words; `*` stands for any text
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Match FILTER against whole ids
    #[arg(long)]
    exact: bool,
    /// Show only the functions that are not covered
    #[arg(long)]
    uncovered: bool,
    /// A function is covered if a slowdown of it by this much, or less, would be found by a benchmark
    #[arg(long, value_name = "SLOWDOWN", default_value = "10%", value_parser = parse_fraction)]
    within: f64,
    /// Fail if a smaller share of the functions is covered, e.g. 80%
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    fail_under: Option<f64>,
    /// Treat a benchmark as hung after ten times its expected time plus TIME [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    #[command(flatten)]
    reports: ReportOptions,
}

/// Carries out `cargo perfcheck coverage`.
pub fn coverage(
    options: &CoverageOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    options.reports.refuse(
        |kind| {
            matches!(
                kind,
                RequestedReportKind::Page | RequestedReportKind::Tracefile
            )
        },
        "coverage has no verdicts\n  help: html writes a page with the sources, lcov a tracefile",
    )?;
    options.reports.check(common.output.format)?;
    require_valgrind("coverage needs", world)?;
    let context = Context::load(common, world)?;
    let programs = select_programs(&context, &common.cargo)?;
    let toolchain = context.toolchain(&common.cargo, world.supervisor)?;
    let call = CoverageCall {
        filter: Filter {
            words: options.filters.clone(),
            exact: options.exact,
        },
        timeout: timeout(options.timeout, &context),
        context: &context,
        common,
        crates: context.workspace.measured_crates(&common.cargo, &programs),
        benches: context.workspace.selected_bench_packages(&common.cargo),
        cfg_of_target: toolchain.query_cfg(world.supervisor)?,
    };
    let CountedWorkspace {
        functions,
        timed,
        executed,
    } = call.count_both(world)?;
    let sensitivities = call.find_sensitivities(&timed)?;
    let rows = functions.describe(&timed, &executed, &sensitivities);
    let covered = rows.iter().filter(|row| row.is_covered(options.within));
    let mut findings = CoverageFindings {
        functions: rows.len(),
        covered: covered.count(),
        never_executed: (rows.iter())
            .filter(|row| row.execution == FunctionExecution::Never)
            .count(),
        rows,
        within: options.within,
        fail_under: options.fail_under,
        benchmarks: sensitivities,
        left_out: context.workspace.support_packages(&common.cargo),
        remarks: Vec::new(),
        exit_code: 0,
    };
    let mut exit_code = ExitCode::Clean;
    if findings.is_too_low() {
        exit_code = ExitCode::Regression;
    }
    for remark in timed.failures.into_iter().chain(executed.failures) {
        if !findings.remarks.contains(&remark) {
            findings.remarks.push(remark);
        }
    }
    if !findings.remarks.is_empty() {
        exit_code = exit_code.worst_of(ExitCode::BenchmarkFailed);
    }
    findings.remarks.extend(functions.remarks);
    findings.exit_code = exit_code.number();
    write(options, &findings, &context, common, world)?;
    Ok(exit_code)
}

/// Writes the table to stdout, unless a report replaces it there, and each requested report.
fn write(
    options: &CoverageOptions,
    findings: &CoverageFindings,
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let (only_uncovered, output) = (options.uncovered, &common.output);
    let mut result = Ok(());
    if !options.reports.replaces_table() {
        let columns = output.view().columns;
        result = write_result(None, world, |writer| {
            write_coverage(writer, findings, only_uncovered, output.format, columns)
        });
    }
    for wanted in &options.reports.wanted {
        let file = wanted.file.as_deref();
        let written = if wanted.kind == RequestedReportKind::Tracefile {
            write_result(file, world, |writer| write_lcov(writer, findings))
        } else {
            let page = CoveragePage {
                workspace: workspace_name(context),
                findings,
                only_uncovered,
                sources: read_sources(findings, context.workspace.root()),
            };
            write_page_result(file, world, |writer| write_coverage_page(writer, &page))
        };
        result = result.and(written);
    }
    result
}

/// Reads the files that have functions. One that cannot be read has no lines.
fn read_sources(findings: &CoverageFindings, root: &Path) -> BTreeMap<String, String> {
    let files: BTreeSet<&String> = findings.rows.iter().map(|row| &row.file).collect();
    let read = |file: &String| {
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        (file.clone(), text)
    };
    files.into_iter().map(read).collect()
}

/// The code whose instructions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountedCode {
    /// The timed code of an iteration, optimized as for every measurement.
    Iteration,
    /// A whole process that iterates the benchmark at least once. The workspace's own crates are not optimized.
    Process,
}

impl CountedCode {
    /// Returns the options for cargo that make the build.
    fn cargo_options(self, call: &CoverageCall<'_>) -> CargoOptions {
        let cargo = &call.common.cargo;
        let profile = format!("profile.{}", cargo.profile_name());
        let mut config = vec![
            // Only line tables are needed, but cargo before 1.71 does not know `line-tables-only`.
            format!("{profile}.debug=1"),
            format!("{profile}.strip=false"),
        ];
        if self == Self::Process {
            config.push(format!("{profile}.lto=\"off\""));
            // Benches contain instances of the generic functions that they measure.
            let benches = call.context.workspace.selected_packages(cargo);
            let measured = call.crates.iter().map(|one| one.package.clone());
            let packages: BTreeSet<String> = measured.chain(benches).collect();
            let levels = packages.into_iter().map(|package| {
                // Package names have no characters that TOML would have to escape.
                format!("{profile}.package.\"{package}\".opt-level=0")
            });
            config.extend(levels);
        }
        let mut changed = cargo.clone();
        changed.config.extend(config);
        changed
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Iteration => "an iteration",
            Self::Process => "a whole process without optimization",
        }
    }
}

/// The features with which packages were compiled. Empty if they are unknown.
type FeaturesByPackage = BTreeMap<String, BTreeSet<String>>;

/// The circumstances of a call.
struct CoverageCall<'a> {
    filter: Filter,
    timeout: Duration,
    context: &'a Context,
    common: &'a CommonOptions,
    crates: Vec<MeasuredCrate>,
    benches: Vec<BenchPackage>,
    cfg_of_target: CfgOptions,
}

/// The functions of the workspace, and the counts of the benchmarks in both builds.
struct CountedWorkspace {
    functions: FunctionIndex,
    timed: CountedBenchmarks,
    executed: CountedBenchmarks,
}

impl CoverageCall<'_> {
    /// Counts the benchmarks in both builds. Fails if the user edits the sources meanwhile, because the lines of one build would then be those of other
    /// functions in the other build.
    fn count_both(&self, world: &mut World<'_>) -> Result<CountedWorkspace, AppError> {
        let before = self.read_functions(&self.crates, &FeaturesByPackage::new());
        if before.is_empty() {
            return Err(AppError::NothingToMeasure(
                "no function of the selected packages can be covered: they have no library with functions and no program that is measured (procedural macros run in the compiler)\n  help: use `--workspace` to select all packages; `--program` measures a binary"
                    .to_owned(),
            ));
        }
        let tree = self.build(CountedCode::Iteration, world)?;
        let features =
            (tree.build.as_ref()).map_or_else(|_| BTreeMap::new(), |build| build.features.clone());
        let selected = (self.context.workspace).selected_packages(&self.common.cargo);
        let crates = choose_compiled(&self.crates, &features, &selected);
        let functions = self.read_functions(&crates, &features);
        if !functions.has_texts_of(&before) {
            return Err(sources_changed());
        }
        let refuse_changes = || {
            let now = self.read_functions(&crates, &features);
            let is_same = now.has_files_of(&functions);
            is_same.then_some(()).ok_or_else(sources_changed)
        };
        let timed = self.count(CountedCode::Iteration, tree, &functions, world)?;
        refuse_changes()?;
        let tree = self.build(CountedCode::Process, world)?;
        let executed = self.count(CountedCode::Process, tree, &functions, world)?;
        refuse_changes()?;
        // Each process executes at least the main function of its bench.
        if executed.has_no_lines() {
            return Err(AppError::NothingToMeasure(
                "the paths in debug information are not those of the sources\n  help: `--remap-path-prefix` in the compiler's flags and `trim-paths` in a profile change them; run the command without these settings"
                    .to_owned(),
            ));
        }
        Ok(CountedWorkspace {
            functions,
            timed,
            executed,
        })
    }

    /// Reads the functions of `crates` that are compiled with these features.
    fn read_functions(
        &self,
        crates: &[MeasuredCrate],
        features: &FeaturesByPackage,
    ) -> FunctionIndex {
        let root = self.context.workspace.root();
        let cfg = |package: &str| match features.get(package) {
            Some(features) => self.cfg_of_target.with_features(features),
            None => self.cfg_of_target.clone(),
        };
        FunctionIndex::read(crates, &self.benches, root, cfg)
    }

    /// Builds the work tree for these counts.
    fn build(&self, code: CountedCode, world: &mut World<'_>) -> Result<WorkTree, AppError> {
        let common = CommonOptions {
            cargo: code.cargo_options(self),
            ..self.common.clone()
        };
        let is_kept = !world.variables.no_rerun;
        let tree = WorkTree::build(
            self.context,
            &common,
            &self.filter,
            self.timeout,
            is_kept,
            world,
        )?;
        if tree.found.is_empty() {
            return Err(nothing_found_error(&self.filter, &tree.found));
        }
        Ok(tree)
    }

    /// Counts each benchmark of a build whose counts are not kept.
    fn count(
        &self,
        code: CountedCode,
        tree: WorkTree,
        functions: &FunctionIndex,
        world: &mut World<'_>,
    ) -> Result<CountedBenchmarks, AppError> {
        let build = tree.build.as_ref().ok();
        let root = self.context.workspace.root();
        let sources = CountedSources {
            directory: build.map_or(root, |build| &*build.sources).to_owned(),
            files: functions.files().map(str::to_owned).collect(),
        };
        let kept = build.map(|build| KeptCounts::new(&build.directory, &sources.files));
        let failures = failed_targets(&tree.found.failures);
        let mut found = CountedBenchmarks {
            failures: failures.iter().map(describe_failed_target).collect(),
            ..CountedBenchmarks::default()
        };
        let mut missing = Vec::new();
        for target in tree.found.targets {
            let (known, open): (Vec<Benchmark>, Vec<Benchmark>) =
                target.benchmarks.iter().cloned().partition(|benchmark| {
                    let counts = kept.as_ref().and_then(|kept| kept.read(&benchmark.key));
                    let is_known = counts.is_some();
                    let key = benchmark.key.clone();
                    found.counts.extend(counts.map(|counts| (key, counts)));
                    is_known
                });
            found.benchmarks.extend(known);
            found.benchmarks.extend(open.iter().cloned());
            missing.push(DiscoveredTarget {
                benchmarks: open,
                ..target
            });
        }
        self.count_missing(code, missing, &sources, kept.as_ref(), &mut found, world)?;
        Ok(found)
    }

    /// Counts benchmarks, and adds the counts to those that are kept.
    fn count_missing(
        &self,
        code: CountedCode,
        missing: Vec<DiscoveredTarget>,
        sources: &CountedSources,
        kept: Option<&KeptCounts<'_>>,
        found: &mut CountedBenchmarks,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let all: usize = missing.iter().map(|target| target.benchmarks.len()).sum();
        if all == 0 {
            return Ok(());
        }
        let stage = StagedExecutables::open(&cache_directory(world)?)?;
        if !self.common.output.quiet {
            let words = format!(
                "instructions of {} under valgrind, in {}",
                counted(all, "benchmark"),
                code.describe()
            );
            write_build_event(world.stderr, "Counting", &words)?;
        }
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        let work = ProgressReporter::begin(&progress, "Counting instructions of", all);
        let mut done = 0;
        for mut one in missing {
            configure_target(self.context, &mut one.target);
            for benchmark in &one.benchmarks {
                let place = stage.base_directory(done);
                let context =
                    ProcessContext::new(world.supervisor, world.interrupt, &progress, self.timeout);
                let request = counting_request(&benchmark.key, None);
                let counter = LineCounter::new(&one.target, &one.harness, sources, &place, context);
                let counts = counter.and_then(|mut counter| match code {
                    CountedCode::Iteration => counter.count_iteration(&request),
                    CountedCode::Process => counter.count_process(&request),
                });
                done += 1;
                match counts {
                    Ok(counts) => {
                        if let Some(kept) = kept {
                            kept.write(&benchmark.key, &counts)?;
                        }
                        found.counts.insert(benchmark.key.clone(), counts);
                    }
                    Err(error) if error.is_interrupt() => {
                        return Err(interrupted(kept));
                    }
                    // The benchmark has declined to run, so nothing is missing.
                    Err(CountError::Skipped(_)) => {}
                    Err(error) => found.failures.push(format!(
                        "the instructions of `{}` were not counted: {error}",
                        benchmark.key.id.escape_debug()
                    )),
                }
                work.report(done, all);
            }
        }
        Ok(())
    }

    /// Returns how small a change each counted benchmark shows.
    fn find_sensitivities(
        &self,
        timed: &CountedBenchmarks,
    ) -> Result<Vec<BenchmarkSensitivity>, AppError> {
        let stored = self.stored_precisions()?;
        let layers = &self.context.tables.layers;
        let mut found = Vec::new();
        for benchmark in &timed.benchmarks {
            let Some(counts) = timed.counts.get(&benchmark.key) else {
                continue;
            };
            let measured = stored.get(&benchmark.key).copied();
            let precision = measured.unwrap_or_else(|| PairedPrecision {
                half_width: USUAL_HALF_WIDTH,
                noise_threshold: (layers.resolve(benchmark).1)
                    .unwrap_or(DecisionSettings::PAIRED_NOISE_THRESHOLD),
            });
            found.push(BenchmarkSensitivity {
                benchmark: benchmark.key.clone(),
                instructions: counts.instructions,
                smallest_change: precision.smallest_change(),
                is_measured: measured.is_some(),
            });
        }
        Ok(found)
    }

    /// Returns the precision of the newest side-by-side comparison of each benchmark's time.
    fn stored_precisions(&self) -> Result<BTreeMap<BenchmarkKey, PairedPrecision>, AppError> {
        let mut found = BTreeMap::new();
        let Some((store, workspace)) = self.context.open_stored()? else {
            return Ok(found);
        };
        for summary in store.runs(workspace, Some(MOST_RUNS))? {
            let conclusion = match read_conclusion(&store, summary.run.id) {
                Ok(Some(conclusion)) if conclusion.verdicts.method == Method::Paired => conclusion,
                Ok(_) | Err(AppError::ForeignConclusion { .. }) => continue,
                Err(error) => return Err(error),
            };
            for row in conclusion.rows {
                let comparison = row.comparison.as_ref();
                if let Some(precision) = comparison.and_then(PairedPrecision::from_comparison) {
                    found.entry(row.key).or_insert(precision);
                }
            }
        }
        Ok(found)
    }
}

/// How precisely a benchmark's time is compared side by side.
#[derive(Debug, Clone, Copy)]
struct PairedPrecision {
    /// Half of the width of the interval of ln(candidate / base).
    half_width: f64,
    /// The noise threshold, as a fraction.
    noise_threshold: f64,
}

impl PairedPrecision {
    /// Returns the precision of a comparison. Returns `None` if it has no interval, or if it is not about the time: counts of instructions often have
    /// an interval without any width, which says nothing about times.
    fn from_comparison(comparison: &Comparison) -> Option<Self> {
        let change = comparison.change.filter(|_| comparison.look().is_some())?;
        let half_width = (change.upper.ln_1p() - change.lower.ln_1p()) / 2.0;
        half_width.is_finite().then_some(Self {
            half_width,
            noise_threshold: comparison.noise_threshold,
        })
    }

    /// Returns the smallest slowdown that is found, as a fraction.
    fn smallest_change(self) -> f64 {
        let beyond = HALF_WIDTHS_BEYOND_THRESHOLD * self.half_width;
        (self.noise_threshold.ln_1p() + beyond).exp_m1()
    }
}

/// Returns the crates of the packages that were compiled, which are those with `features`, or selected. The others are optional or belong to other
/// systems. Returns all crates if nothing is known about a build.
fn choose_compiled(
    crates: &[MeasuredCrate],
    features: &FeaturesByPackage,
    selected: &[String],
) -> Vec<MeasuredCrate> {
    let is_chosen = |one: &&MeasuredCrate| {
        features.is_empty()
            || features.contains_key(&one.package)
            || selected.contains(&one.package)
    };
    crates.iter().filter(is_chosen).cloned().collect()
}

fn describe_failed_target(failed: &FailedTarget) -> String {
    let name = format!("{}/{}", failed.package, failed.target);
    format!(
        "not all benchmarks of the bench target `{}` were counted: {}",
        name.escape_debug(),
        failed.message
    )
}

/// Returns the error of an interrupted call. Counts of a build in place are not kept.
fn interrupted(kept: Option<&KeptCounts<'_>>) -> AppError {
    let words = kept.map(|_| "; the counts so far are kept, and the same command goes on");
    AppError::Interrupted(words.unwrap_or_default().to_owned())
}

fn sources_changed() -> AppError {
    AppError::NothingToMeasure(
        "the sources changed, so the builds and the table would not belong together\n  help: run the command again, and do not edit sources until it ends"
            .to_owned(),
    )
}

/// The counts that are kept in the folder of a build.
struct KeptCounts<'a> {
    directory: &'a Path,
    /// A hash of the names of the counted files. It is part of the names of the files with counts, because counts depend on it.
    counted_files: blake3::Hash,
}

impl<'a> KeptCounts<'a> {
    fn new(directory: &'a Path, counted_files: &BTreeSet<String>) -> Self {
        let names: Vec<&str> = counted_files.iter().map(String::as_str).collect();
        Self {
            directory,
            counted_files: blake3::hash(names.join("\n").as_bytes()),
        }
    }

    /// Returns the file with the counts of a benchmark.
    fn path(&self, key: &BenchmarkKey) -> PathBuf {
        let hash = blake3::keyed_hash(self.counted_files.as_bytes(), key.to_string().as_bytes());
        (self.directory).join(format!("lines-{}.json", &hash.to_hex()[..16]))
    }

    /// Reads the counts of a benchmark. A file that cannot be read counts as missing.
    fn read(&self, key: &BenchmarkKey) -> Option<LineCounts> {
        serde_json::from_slice(&fs::read(self.path(key)).ok()?).ok()
    }

    fn write(&self, key: &BenchmarkKey, counts: &LineCounts) -> Result<(), AppError> {
        let text = serde_json::to_vec(counts).expect("counts are JSON");
        Ok(write_whole(&self.path(key), &text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_build_in_place_are_not_said_to_be_kept() {
        assert_eq!(interrupted(None).to_string(), "interrupted");
        let kept = KeptCounts::new(Path::new("build"), &BTreeSet::new());
        let words = interrupted(Some(&kept)).to_string();
        assert!(words.contains("the counts so far are kept"), "{words}");
    }

    #[test]
    fn crates_that_are_neither_compiled_nor_selected_are_left_out() {
        let crates = ["compiled", "selected", "idle"].map(|name| MeasuredCrate {
            package: name.to_owned(),
            name: name.to_owned(),
            source: PathBuf::from(name),
        });
        let choose = |compiled: &[&str]| -> String {
            let features = compiled
                .iter()
                .map(|name| ((*name).to_owned(), BTreeSet::new()));
            let features = features.collect();
            let chosen = choose_compiled(&crates, &features, &["selected".to_owned()]);
            let names: Vec<String> = chosen.into_iter().map(|one| one.name).collect();
            names.join(" ")
        };
        assert_eq!(choose(&["compiled"]), "compiled selected");
        // Nothing is known about builds in place.
        assert_eq!(choose(&[]), "compiled selected idle");
    }
}
