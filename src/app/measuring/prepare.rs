//! What a run needs before it begins: the built bench targets and the benchmarks they announce.

use std::io::Write;
use std::time::Duration;

use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::naming::no_match;
use crate::app::options::StoreOptions;
use crate::report::{self, MessageFormat, Progress};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::BuildFacts;
use perfcheck_engine::cargo::{self, BenchTarget, CargoOptions, TargetLeftOut};
use perfcheck_engine::child::{ChildError, Launcher};
use perfcheck_engine::measure::{BesideCandidate, Discovered, Filter, discover};

/// The part of every deadline that does not depend on the request.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(in crate::app) fn build(
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<(BuildFacts, Vec<BenchTarget>), AppError> {
    let options = &common.cargo;
    refuse_no_targets(context, common)?;
    name_left_out(context, options, world.stderr);
    let toolchain = context.toolchain(options)?;
    let built = cargo::build(
        &world.variables.cargo,
        &context.workspace,
        toolchain,
        options,
        world.supervisor,
        world.interrupt,
    )?;
    Ok((toolchain.facts.clone(), built.targets))
}

/// Refuses a workspace that has nothing to measure.
pub(in crate::app) fn refuse_no_targets(
    context: &Context,
    common: &StoreOptions,
) -> Result<(), AppError> {
    if !context.workspace.has_bench_targets(&common.cargo) {
        return Err(AppError::NothingToMeasure(
            "the selected packages have no bench targets\n  help: `--workspace` selects all packages, `--lib` the `#[bench]` functions of a library; docs/src/writing.md shows how to write a first benchmark".to_owned(),
        ));
    }
    Ok(())
}

/// Names the bench targets that are not built because features that they need are off.
pub(in crate::app) fn name_left_out(
    context: &Context,
    options: &CargoOptions,
    stderr: &mut dyn Write,
) {
    for one in context.workspace.left_out(options) {
        let TargetLeftOut {
            package, target, ..
        } = &one;
        let wanted: Vec<String> = one
            .missing
            .iter()
            .map(|feature| format!("{package}/{feature}"))
            .collect();
        let message = format!(
            "{package}/{target} is left out, as in `cargo bench`: it needs features that are off\n  help: `--features {}`",
            wanted.join(",")
        );
        // A stderr that is gone is no reason to stop.
        let _ = report::write_warning(stderr, &message);
    }
}

/// Launches `targets`, which have so much time for each answer, and asks for the benchmarks that `filter` wants.
pub(in crate::app) fn find_benchmarks(
    filter: &Filter,
    timeout: Duration,
    targets: Vec<BenchTarget>,
    beside: Option<BesideCandidate<'_>>,
    world: &mut World<'_>,
) -> Result<Discovered, AppError> {
    let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
    let launcher = Launcher::new(world.supervisor, world.interrupt, &progress, timeout);
    let mut discovered = discover(targets, beside, launcher).map_err(|error| match error {
        ChildError::Interrupted => AppError::Interrupted(String::new()),
        other => AppError::NothingToMeasure(other.to_string()),
    })?;
    for target in &mut discovered.targets {
        target
            .benchmarks
            .retain(|benchmark| filter.wants(&benchmark.key.id));
    }
    Ok(discovered)
}

pub(in crate::app) fn list_only(
    discovered: &Discovered,
    format: MessageFormat,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let keys = discovered
        .targets
        .iter()
        .flat_map(|target| &target.benchmarks)
        .map(|benchmark| &benchmark.key);
    report::write_announced(world.stdout, keys, format)?;
    Ok(if discovered.failures.is_empty() {
        ExitCode::Clean
    } else {
        ExitCode::BenchmarkFailed
    })
}

pub(in crate::app) fn nothing_found(filter: &Filter, discovered: &Discovered) -> AppError {
    AppError::NothingToMeasure(if !discovered.failures.is_empty() {
        "no bench target could be driven; the errors are above".to_owned()
    } else if filter.words.is_empty() {
        "the bench targets have no benchmarks\n  help: without `harness = false` in Cargo.toml a bench target has the functions alone that are marked `#[bench]`; those of a library are measured with `--lib`".to_owned()
    } else {
        format!(
            "there is {}\n  help: `cargo perfcheck list` lists them",
            no_match(filter)
        )
    })
}

/// The part of every deadline that does not depend on the request; `said`: on the command line.
pub(in crate::app) fn timeout(said: Option<Duration>, context: &Context) -> Duration {
    said.or(context.tables.workspace.timeout).unwrap_or(TIMEOUT)
}
