//! `explain --flamegraph`: counts the instructions of a benchmark in both kept builds of a verdict under valgrind and draws them.

use std::path::{Path, PathBuf};

use super::kept::not_kept_error;
use crate::app::context::{Context, World};
use crate::app::deliver::place::{check_destination, write_result};
use crate::app::error::AppError;
use crate::app::measuring::cache_build::cache_directory;
use crate::app::measuring::prepare::{find_benchmarks, timeout};
use crate::app::measuring::request::configure_target;
use crate::app::measuring::work_tree::cache_build;
use crate::app::options::StoreOptions;
use crate::report::{
    FlameGraph, MessageFormat, Progress, write_build_event, write_flame_graph,
    write_flame_graph_written,
};
use perfcheck_analysis::compare::CallTree;
use perfcheck_analysis::model::{BySide, Run, StackCounts};
use perfcheck_engine::cargo::BenchTarget;
use perfcheck_engine::child::{ProcessContext, TimedWindowsError, Valgrind, ValgrindError};
use perfcheck_engine::measure::{CountError, CountRequest, DiscoveredTarget, Filter, count_stacks};
use perfcheck_engine::sides::{BuiltSide, StagedExecutables};

/// Refuses an unusable destination before anything runs.
pub(super) fn check_graph_destination(file: &Path, format: MessageFormat) -> Result<(), AppError> {
    if is_stdout(file) && format == MessageFormat::Json {
        return Err(AppError::Usage(
            "`--message-format json` and `--flamegraph -` are both written to stdout\n  help: name a file: --flamegraph FILE".to_owned(),
        ));
    }
    Ok(check_destination(file)?)
}

/// Counts the instructions of one benchmark in both builds and draws flame graphs of them.
pub(super) fn draw_flame_graph(
    file: &Path,
    wanted: &CountRequest,
    runs: BySide<&Run>,
    (context, common): (&Context, &StoreOptions),
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let builds = cache_build(context, common).kept_of_runs(&runs, world)?;
    let target = |build: &Option<BuiltSide>, run: &Run| {
        let found = build.as_ref().and_then(|build| target_in(build, wanted));
        found.ok_or_else(|| not_kept_error(run, &wanted.key, runs.base))
    };
    let targets = BySide {
        base: target(&builds.base, runs.base)?,
        candidate: target(&builds.candidate, runs.candidate)?,
    };
    Valgrind::find(world.supervisor).map_err(|why| no_valgrind_error(&why))?;
    let counter = SideCounter {
        wanted,
        context,
        common,
        stage: StagedExecutables::open(&cache_directory(world)?)?,
    };
    let counted = BySide {
        base: counter.count(targets.base, runs.base, 0, world)?,
        candidate: counter.count(targets.candidate, runs.candidate, 1, world)?,
    };
    let tree = CallTree::from_stacks(&counted);
    let graph = FlameGraph {
        key: &wanted.key,
        runs: BySide {
            base: runs.base.id,
            candidate: runs.candidate.id,
        },
        tree: &tree,
    };
    let mut bytes = 0;
    write_result(Some(file), world, |writer| {
        let mut text = Vec::new();
        write_flame_graph(&mut text, &graph)?;
        bytes = text.len();
        writer.write_all(&text)
    })?;
    if !is_stdout(file) {
        let path = file.display().to_string();
        write_flame_graph_written(world.stdout, &graph, &path, bytes, common.output.format)?;
    }
    Ok(())
}

fn is_stdout(file: &Path) -> bool {
    file == Path::new("-")
}

/// Returns the bench target with the benchmark.
fn target_in(build: &BuiltSide, wanted: &CountRequest) -> Option<BenchTarget> {
    let key = &wanted.key;
    let mut targets = build.targets.iter().map(|side| &side.target);
    let found = targets.find(|one| one.package == key.package && one.target == key.target);
    found.cloned()
}

/// Counts the instructions of the benchmark, one side after the other.
struct SideCounter<'c> {
    wanted: &'c CountRequest,
    context: &'c Context,
    common: &'c StoreOptions,
    /// Directory with the files of the processes
    stage: StagedExecutables,
}

impl SideCounter<'_> {
    fn count(
        &self,
        target: BenchTarget,
        run: &Run,
        ordinal: usize,
        world: &mut World<'_>,
    ) -> Result<StackCounts, AppError> {
        let key = &self.wanted.key;
        let timeout = timeout(None, self.context);
        let filter = Filter {
            words: vec![key.id.clone()],
            exact: true,
        };
        let found = find_benchmarks(&filter, timeout, vec![target], None, world)?;
        let Some(DiscoveredTarget {
            mut target,
            driver,
            benchmarks,
            ..
        }) = found.targets.into_iter().next()
        else {
            let why = found.failures.into_iter().map(|failure| failure.message);
            return Err(self.not_counted_error(run, &why.collect::<Vec<_>>().join("; "), None));
        };
        if benchmarks.is_empty() {
            let what = "its bench does not have the benchmark";
            return Err(self.not_counted_error(run, what, None));
        }
        configure_target(self.context, &mut target);
        if !self.common.output.quiet {
            let what = format!(
                "instructions of `{}` in the build of run {}",
                key.id, run.id
            );
            write_build_event(world.stderr, &("Counting", what))?;
        }
        let directory: PathBuf = self.stage.base_directory(ordinal);
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        let launcher = ProcessContext::new(world.supervisor, world.interrupt, &progress, timeout);
        count_stacks(&target, &driver, self.wanted, &directory, launcher).map_err(|error| {
            if error.is_interrupt() {
                AppError::Interrupted(String::new())
            } else {
                self.not_counted_error(run, &error.to_string(), Some(&error))
            }
        })
    }

    /// The error for a benchmark that could not be counted, with advice.
    fn not_counted_error(&self, run: &Run, why: &str, error: Option<&CountError>) -> AppError {
        let help = match error {
            Some(CountError::Iterations { .. }) => {
                "the harnesses `perfcheck`, Criterion and divan can be told how often to iterate; `--full` names the functions whose code changed"
            }
            Some(CountError::Windows(TimedWindowsError::NoNames)) => {
                "set `strip = false` in `[profile.bench]` and measure again"
            }
            Some(CountError::Runner) => {
                "take the runner out of the configuration of cargo and measure again"
            }
            _ => "`--full` names the functions whose code changed",
        };
        AppError::NothingToMeasure(format!(
            "the instructions of `{}` in the build of run {} cannot be counted: {why}\n  help: {help}",
            self.wanted.key.id.escape_debug(),
            run.id
        ))
    }
}

fn no_valgrind_error(why: &ValgrindError) -> AppError {
    let help = match why {
        ValgrindError::Missing => {
            "install it with the package manager, such as `apt install valgrind`"
        }
        ValgrindError::Broken(_) => "`valgrind --version` must work",
    };
    AppError::NothingToMeasure(format!(
        "{why}, and a flame graph shows what it counts\n  help: {help}"
    ))
}
