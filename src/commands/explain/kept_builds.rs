//! `explain --asm` compares the machine code of a function in both kept executables of a verdict. `explain --flamegraph` counts the instructions of
//! the benchmark in both executables under valgrind, and draws them.
//!
//! If a build is not kept, both fail with an error that names the command to build it again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::delivery::files::{check_destination, write_result};
use crate::error::AppError;
use crate::naming::{list_names, most_similar};
use crate::options::CommonOptions;
use crate::output::{
    FlameGraph, MachineCode, MachineCodePair, MachineCodeRow, MessageFormat, Progress,
    write_build_event, write_flame_graph, write_flame_graph_written,
};
use crate::pipeline::cache_build::{CacheBuild, cache_directory};
use crate::pipeline::counting::require_valgrind;
use crate::pipeline::pair::pair_past_targets;
use crate::pipeline::prepare::{find_benchmarks, timeout};
use crate::pipeline::request::configure_target;
use crate::session::{Context, World};
use perfcheck_analysis::compare::CallTree;
use perfcheck_analysis::findings::CodeChange;
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, GitState, ProgramBenchmark, Run, RunId, StackCounts,
};
use perfcheck_bench::child::{ProcessContext, TimedWindowsError};
use perfcheck_bench::measure::{CountError, CountRequest, DiscoveredTarget, Filter, count_stacks};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_build::sides::{BuiltSide, StagedExecutables};
use perfcheck_code::{FunctionPair, FunctionReader, UnsupportedExecutable};

/// Returns the error for a build of `run` that is no longer kept. The error advises to measure against the commit of `base` again.
pub(super) fn not_kept_error(run: &Run, key: &BenchmarkKey, base: &Run) -> AppError {
    let clean = base.begun.git.as_ref().filter(|git| !git.dirty);
    let against = clean.map(GitState::short);
    AppError::NothingToLookInto(format!(
        "run {1} has no stored executable of the bench target `{0}`\n  help: `cargo perfcheck --against {2}` measures both sides again and keeps their executables",
        key.target,
        run.id,
        against.unwrap_or("REV")
    ))
}

/// Reads the functions that match `wanted` from both executables of the benchmark. `code` lists the differing functions, if the run recorded them.
pub(super) fn compare_machine_code(
    wanted: &str,
    key: &BenchmarkKey,
    runs: BySide<&Run>,
    code: Option<&CodeChange>,
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<MachineCode, AppError> {
    let kept = CacheBuild::new(context, common).kept_executables(&runs, key, world)?;
    let executable = |found: Option<Vec<u8>>, run: &Run| {
        found.ok_or_else(|| not_kept_error(run, key, runs.base))
    };
    let base = executable(kept.base, runs.base)?;
    let candidate = executable(kept.candidate, runs.candidate)?;
    let base = FunctionReader::parse(&base).map_err(|why| unreadable_error(&why, runs.base.id))?;
    let candidate = FunctionReader::parse(&candidate)
        .map_err(|why| unreadable_error(&why, runs.candidate.id))?;
    let names: BTreeSet<&str> = base.names().chain(candidate.names()).collect();
    let mut changed = code.iter().flat_map(|code| &code.functions);
    let differing: BTreeSet<&str> = changed.clone().map(|one| &*one.name).collect();
    let function = resolve_function(wanted, &names, &differing, key)?;
    let (mut shown, mut same): (Vec<_>, Vec<_>) = base
        .pair_functions(&candidate, function)
        .into_iter()
        .partition(FunctionPair::differs);
    // If no instance of the function differs, show only the first, because all are the same.
    if shown.is_empty() {
        shown.extend(same.drain(..same.len().min(1)));
    }
    Ok(MachineCode {
        run: runs.candidate.id,
        base_run: runs.base.id,
        benchmark: key.clone(),
        function: function.to_owned(),
        pairs: shown.into_iter().map(pair_functions).collect(),
        same_functions: same.len(),
        data_differ: changed.any(|one| one.same_code && one.name == function),
    })
}

fn pair_functions(found: FunctionPair) -> MachineCodePair {
    let rows = found.rows.into_iter();
    MachineCodePair {
        bytes: BySide {
            base: found.base,
            candidate: found.candidate,
        },
        rows: rows
            .map(|row| MachineCodeRow {
                differs: row.differs(),
                label: row.label,
                base: row.base,
                candidate: row.candidate,
            })
            .collect(),
    }
}

/// Resolves `wanted` to the name of a function. `wanted` may be a complete name, the end of a path or any part of a name, in this order. If several
/// functions match, those in `differing` take precedence.
fn resolve_function<'n>(
    wanted: &str,
    names: &BTreeSet<&'n str>,
    differing: &BTreeSet<&str>,
    key: &BenchmarkKey,
) -> Result<&'n str, AppError> {
    let end = format!("::{wanted}");
    let those = |is_meant: &dyn Fn(&str) -> bool| -> Vec<&'n str> {
        names
            .iter()
            .copied()
            .filter(|name| is_meant(name))
            .collect()
    };
    let ways: [&dyn Fn(&str) -> bool; 3] = [
        &|name| name == wanted,
        &|name| name.ends_with(&end),
        &|name| name.contains(wanted),
    ];
    let found: Vec<Vec<&str>> = ways
        .into_iter()
        .map(those)
        .filter(|found| !found.is_empty())
        .collect();
    let (Some(closest), Some(widest)) = (found.first(), found.last()) else {
        let all = names.iter().copied();
        // Users remember the end of a path, so suggest functions whose last segment is similar.
        let near = most_similar(wanted, all, |name| name.rsplit("::").next().unwrap_or(name));
        let near = near.into_iter().map(str::to_owned);
        return Err(AppError::Usage(format!(
            "neither executable of `{}` has a function `{wanted}`{}\n  help: if it was inlined everywhere, name one of its callers",
            key.target,
            list_names("did you mean", near)
        )));
    };
    if let [name] = closest[..] {
        return Ok(name);
    }
    let is_changed = |name: &&str| differing.contains(name);
    let changed: Option<Vec<&str>> = found
        .iter()
        .map(|found| found.iter().copied().filter(is_changed).collect())
        .find(|changed: &Vec<&str>| !changed.is_empty());
    let all = widest.len();
    let (which, offer, offered) = match changed {
        Some(changed) => match changed[..] {
            [name] => return Ok(name),
            _ if changed.len() == all => (String::new(), "name one of", changed),
            _ => {
                let which = format!(", of which {} changed", changed.len());
                (which, "name one of", changed)
            }
        },
        None if differing.is_empty() => (String::new(), "name one of", closest.clone()),
        None => (
            ", but none of them changed".to_owned(),
            "these functions changed",
            differing.iter().copied().collect(),
        ),
    };
    let offered = offered.into_iter().map(str::to_owned);
    Err(AppError::Usage(format!(
        "`{wanted}` matches {all} functions{which}{}",
        list_names(offer, offered)
    )))
}

fn unreadable_error(why: &UnsupportedExecutable, run: RunId) -> AppError {
    let help = match why {
        UnsupportedExecutable::Stripped => {
            "set `strip = false` in `[profile.bench]` and measure again"
        }
        _ => "cargo-show-asm shows the machine code of a function on any platform",
    };
    AppError::NothingToLookInto(format!(
        "cannot read the executable of run {run}: {why}\n  help: {help}"
    ))
}

/// Refuses a destination that cannot be written, before anything is measured.
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
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let key = &wanted.key;
    let mut cargo = common.cargo.clone();
    if ProgramBenchmark::binary_of_target(&key.target).is_some() {
        // The runs may have measured a command line that has no entry in Cargo.toml.
        cargo.packages = vec![key.package.clone()];
        cargo.programs = vec![key.id.clone()];
    }
    let order = CacheBuild {
        cargo: &cargo,
        ..CacheBuild::new(context, common)
    };
    let builds = order.kept_of_runs(&runs, world)?;
    let target = |build: &Option<BuiltSide>, run: &Run| {
        let found = build.as_ref().and_then(|build| target_in(build, wanted));
        found.ok_or_else(|| not_kept_error(run, &wanted.key, runs.base))
    };
    let targets = pair_past_targets(
        target(&builds.base, runs.base)?,
        target(&builds.candidate, runs.candidate)?,
        context,
    );
    require_valgrind("flame graphs need", world)?;
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

/// Counts the instructions of a benchmark, first in one build and then in the other.
struct SideCounter<'c> {
    wanted: &'c CountRequest,
    context: &'c Context,
    common: &'c CommonOptions,
    /// Directory for the files of the counted processes.
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
            harness,
            benchmarks,
            ..
        }) = found.targets.into_iter().next()
        else {
            let why = found.failures.into_iter().map(|failure| failure.message);
            return Err(self.not_counted_error(run, &why.collect::<Vec<_>>().join("; "), None));
        };
        if benchmarks.is_empty() {
            let what = "the bench target does not have the benchmark";
            return Err(self.not_counted_error(run, what, None));
        }
        configure_target(self.context, &mut target);
        if !self.common.output.quiet {
            let what = format!(
                "instructions of `{}` in the build of run {}",
                key.id, run.id
            );
            write_build_event(world.stderr, "Counting", &what)?;
        }
        let directory: PathBuf = self.stage.base_directory(ordinal);
        let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
        let context = ProcessContext::new(world.supervisor, world.interrupt, &progress, timeout);
        count_stacks(&target, &harness, self.wanted, &directory, context).map_err(|error| {
            if error.is_interrupt() {
                AppError::Interrupted(String::new())
            } else {
                self.not_counted_error(run, &error.to_string(), Some(&error))
            }
        })
    }

    /// Returns the error for a benchmark whose instructions could not be counted, with advice.
    fn not_counted_error(&self, run: &Run, why: &str, error: Option<&CountError>) -> AppError {
        let help = match error {
            Some(CountError::Iterations { .. }) => {
                "instructions can be counted only with the harnesses `perfcheck`, Criterion and divan; use `--full` to list the functions whose code changed"
            }
            Some(CountError::Windows(TimedWindowsError::NoNames)) => {
                "set `strip = false` in `[profile.bench]` and measure again"
            }
            Some(CountError::Runner) => {
                "remove the runner from cargo's configuration and measure again"
            }
            _ => "use `--full` to list the functions whose code changed",
        };
        AppError::NothingToMeasure(format!(
            "cannot count the instructions of `{}` in the build of run {}: {why}\n  help: {help}",
            self.wanted.key.id.escape_debug(),
            run.id
        ))
    }
}
