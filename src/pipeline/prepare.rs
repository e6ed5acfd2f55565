//! Prepares a run: selects the programs to measure, builds the bench targets and discovers their benchmarks.
//!
//! Programs are entries in Cargo.toml, or command lines that the user gives with `--program`.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::Duration;

use crate::config::ProgramEntry;
use crate::error::AppError;
use crate::naming::no_match_message;
use crate::options::CommonOptions;
use crate::output::{self, MessageFormat, Progress};
use crate::session::{Context, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::findings::FailedTarget;
use perfcheck_analysis::model::{BenchmarkKey, BuildFacts, ProgramBenchmark, split_command_line};
use perfcheck_bench::child::{ChildError, ProcessContext};
use perfcheck_bench::measure::{
    DiscoveredBenches, Filter, ReferenceContext, TargetFailure, discover,
};
use perfcheck_build::cargo::{
    BenchTarget, BuildOrder, CargoOptions, DiagnosticTiming, SkipReason, SkippedTarget, Workspace,
};

/// How long a request to a bench may take, in addition to ten times its expected duration, if neither the command line nor Cargo.toml says so.
const TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn build(
    context: &Context,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<(BuildFacts, Vec<BenchTarget>), AppError> {
    refuse_no_targets(context, common, world)?;
    let programs = select_programs(context, &common.cargo)?;
    let order = order_in_place(context, common, &programs, world)?;
    let facts = order.toolchain.facts.clone();
    let built = order.build()?;
    warn_of_skipped(&built.skipped, world.stderr);
    Ok((facts, built.targets))
}

/// Returns the settings for a build of the selected bench targets and of `programs` in the user's own target directory.
fn order_in_place<'a>(
    context: &'a Context,
    common: &'a CommonOptions,
    programs: &'a [ProgramBenchmark],
    world: &'a World<'_>,
) -> Result<BuildOrder<'a>, AppError> {
    Ok(BuildOrder {
        cargo: &world.variables.cargo,
        workspace: &context.workspace,
        toolchain: context.toolchain(&common.cargo, world.supervisor)?,
        options: &common.cargo,
        with_benches: context.workspace.may_build_benches(&common.cargo),
        programs,
        variables: const { &BTreeMap::new() },
        diagnostics: DiagnosticTiming::Immediate,
        supervisor: world.supervisor,
    })
}

/// Returns an error if the workspace has nothing to measure.
pub(crate) fn refuse_no_targets(
    context: &Context,
    common: &CommonOptions,
    world: &World<'_>,
) -> Result<(), AppError> {
    let programs = select_programs(context, &common.cargo)?;
    if !programs.is_empty() || context.workspace.has_bench_targets(&common.cargo) {
        return Ok(());
    }
    // Cargo's metadata omits targets whose files are missing. The error of this check names these files.
    order_in_place(context, common, &programs, world)?.check_selection()?;
    Err(AppError::NothingToMeasure(
        "the selected packages have no bench targets\n  help: use `--workspace` to select all packages; `--program` measures a binary; `cargo perfcheck init` shows how to write a first benchmark".to_owned(),
    ))
}

/// Warns of bench targets and binaries of programs that cargo skipped.
pub(crate) fn warn_of_skipped(skipped: &[SkippedTarget], stderr: &mut dyn Write) {
    for one in skipped {
        let SkippedTarget {
            package, target, ..
        } = &one;
        let (target, command) = match ProgramBenchmark::binary_of_target(target) {
            Some(binary) => (binary, "cargo build"),
            None => (&**target, "cargo bench"),
        };
        let (reason, help) = match &one.reason {
            SkipReason::FeaturesOff(features) => {
                let wanted = features
                    .iter()
                    .map(|feature| format!("{package}/{feature}"));
                let wanted: Vec<String> = wanted.collect();
                let help = format!("use `--features {}` to enable them", wanted.join(","));
                ("it needs features that are not enabled", help)
            }
            SkipReason::BenchIsFalse => (
                "its manifest says `bench = false`",
                format!("use `--bench {target}` to measure it"),
            ),
        };
        let message =
            format!("{package}/{target} is left out, as in `{command}`: {reason}\n  help: {help}");
        // A closed stderr is no reason to stop, so ignore the error.
        let _ = output::write_warning(stderr, &message);
    }
}

/// Starts `targets` and lists the benchmarks that match `filter`. Each answer must arrive within `timeout`.
pub(crate) fn find_benchmarks(
    filter: &Filter,
    timeout: Duration,
    targets: Vec<BenchTarget>,
    beside: Option<ReferenceContext<'_>>,
    world: &mut World<'_>,
) -> Result<DiscoveredBenches, AppError> {
    let progress = Progress::new(&mut *world.stderr, &mut *world.bench_output, world.progress);
    let context = ProcessContext::new(world.supervisor, world.interrupt, &progress, timeout);
    let mut discovered = discover(targets, beside, context).map_err(|error| match error {
        ChildError::Interrupted => AppError::Interrupted(String::new()),
        other => AppError::NothingToMeasure(other.to_string()),
    })?;
    for target in &mut discovered.targets {
        target
            .benchmarks
            .retain(|benchmark| filter.matches(&benchmark.key));
    }
    Ok(discovered)
}

pub(crate) fn list_only(
    discovered: &DiscoveredBenches,
    format: MessageFormat,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let keys = discovered
        .targets
        .iter()
        .flat_map(|target| &target.benchmarks)
        .map(|benchmark| &benchmark.key);
    output::write_discovered(world.stdout, keys, format)?;
    Ok(if discovered.failures.is_empty() {
        ExitCode::Clean
    } else {
        ExitCode::BenchmarkFailed
    })
}

pub(crate) fn nothing_found_error(filter: &Filter, discovered: &DiscoveredBenches) -> AppError {
    AppError::NothingToMeasure(if !discovered.failures.is_empty() {
        "no bench target could be run; the errors are above".to_owned()
    } else if filter.words.is_empty() {
        "the bench targets have no benchmarks\n  help: without `harness = false` in Cargo.toml, a bench target has only the functions marked `#[bench]`".to_owned()
    } else {
        format!(
            "there is {}\n  help: use `cargo perfcheck list` to list the benchmarks",
            no_match_message(filter)
        )
    })
}

/// Returns how long a request to a bench may take, in addition to ten times its expected duration. `requested` is the value from the command line.
pub(crate) fn timeout(requested: Option<Duration>, context: &Context) -> Duration {
    requested
        .or(context.tables.workspace.timeout)
        .unwrap_or(TIMEOUT)
}

/// The name of a bench target in the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TargetName {
    pub(crate) package: String,
    pub(crate) target: String,
}

impl TargetName {
    pub(crate) fn from_target(target: &BenchTarget) -> Self {
        Self {
            package: target.package.clone(),
            target: target.target.clone(),
        }
    }

    pub(crate) fn from_failed(failed: &FailedTarget) -> Self {
        Self {
            package: failed.package.clone(),
            target: failed.target.clone(),
        }
    }

    /// Returns the name of the target that has a benchmark.
    pub(crate) fn from_key(key: &BenchmarkKey) -> Self {
        Self {
            package: key.package.clone(),
            target: key.target.clone(),
        }
    }
}

/// Returns the bench targets that could not list all of their benchmarks. A target with several failures occurs only once.
pub(crate) fn failed_targets<'f>(
    failures: impl IntoIterator<Item = &'f TargetFailure>,
) -> Vec<FailedTarget> {
    let mut found: Vec<FailedTarget> = Vec::new();
    for failure in failures {
        let mut known = found.iter_mut();
        let same = |one: &&mut FailedTarget| {
            one.package == failure.package && one.target == failure.target
        };
        match known.find(same) {
            Some(known) => known.message = format!("{}; {}", known.message, failure.message),
            None => found.push(FailedTarget {
                package: failure.package.clone(),
                target: failure.target.clone(),
                message: failure.message.clone(),
            }),
        }
    }
    found
}

/// Returns the programs that `cargo` selects: those that `--program` names, or else all entries of the selected packages, unless the user names
/// other targets.
pub(crate) fn select_programs(
    context: &Context,
    cargo: &CargoOptions,
) -> Result<Vec<ProgramBenchmark>, AppError> {
    let packages = context.workspace.selected_packages(cargo);
    let entries = context.tables.programs.iter();
    let entries = entries.filter(|entry| packages.contains(&entry.package));
    if cargo.programs.is_empty() {
        if !cargo.selects_all_benches() {
            return Ok(Vec::new());
        }
        return entries
            .map(|entry| resolve_entry(entry, &packages, &context.workspace))
            .collect();
    }
    let mut programs = Vec::new();
    for word in &cargo.programs {
        let named: Vec<&ProgramEntry> = entries.clone().filter(|one| one.name == *word).collect();
        if named.is_empty() {
            programs.push(resolve_line(word, &packages, &context.workspace)?);
        }
        for entry in named {
            programs.push(resolve_entry(entry, &packages, &context.workspace)?);
        }
    }
    Ok(programs)
}

/// Finds the binary of an entry. `packages` are the selected ones.
fn resolve_entry(
    entry: &ProgramEntry,
    packages: &[String],
    workspace: &Workspace,
) -> Result<ProgramBenchmark, AppError> {
    let existing = workspace.binaries(&entry.package);
    let binary = match (&entry.binary, &existing[..]) {
        (Some(binary), _) if existing.contains(binary) => binary,
        (None, [only]) => only,
        (Some(binary), _) => {
            return Err(AppError::Usage(format!(
                "the program `{}` in Cargo.toml names the binary `{binary}`, which the package `{}` does not have{}",
                entry.name,
                entry.package,
                list_binaries(&existing)
            )));
        }
        (None, []) => {
            return Err(AppError::Usage(format!(
                "the program `{}` in Cargo.toml has no binary, because the package `{}` has none",
                entry.name, entry.package
            )));
        }
        (None, [first, ..]) => {
            return Err(AppError::Usage(format!(
                "the package `{}` has several binaries ({})\n  help: name that of the program `{}` in Cargo.toml, e.g. `bin = \"{first}\"`",
                entry.package,
                existing.join(", "),
                entry.name
            )));
        }
    };
    match list_owners(binary, packages, workspace)[..] {
        [first, _, ..] => Err(ambiguous_binary_error(binary, first)),
        _ => Ok(entry.benchmark_of(binary)),
    }
}

/// Lists the packages that have a binary of this name.
fn list_owners<'p>(binary: &str, packages: &'p [String], workspace: &Workspace) -> Vec<&'p String> {
    let has_it = |package: &&String| {
        let binaries = workspace.binaries(package);
        binaries.iter().any(|name| name == binary)
    };
    packages.iter().filter(has_it).collect()
}

/// Returns the error for a binary that several selected packages have. Cargo writes all of them to one file.
fn ambiguous_binary_error(binary: &str, first: &str) -> AppError {
    AppError::Usage(format!(
        "several packages have a binary `{binary}`\n  help: select one with `-p`, e.g. `-p {first}`"
    ))
}

/// Reads a command line whose first word is the name of a binary. The command line is the id of its benchmark.
fn resolve_line(
    line: &str,
    packages: &[String],
    workspace: &Workspace,
) -> Result<ProgramBenchmark, AppError> {
    let words = split_command_line(line)
        .map_err(|why| AppError::Usage(format!("cannot read the command line `{line}`: {why}")))?;
    let Some((binary, arguments)) = words.split_first() else {
        return Err(AppError::Usage(
            "`--program` needs a name or a command line".to_owned(),
        ));
    };
    match list_owners(binary, packages, workspace)[..] {
        [package] => Ok(ProgramBenchmark {
            package: package.clone(),
            binary: binary.clone(),
            id: line.trim().to_owned(),
            arguments: arguments.to_vec(),
            stdin: None,
            prepare: Vec::new(),
            exit: 0,
            build: None,
        }),
        [] => {
            let all = packages.iter().flat_map(|one| workspace.binaries(one));
            Err(AppError::Usage(format!(
                "the selected packages have no binary `{binary}`, and Cargo.toml has no program `{line}`{}",
                list_binaries(&all.collect::<Vec<_>>())
            )))
        }
        [first, ..] => Err(ambiguous_binary_error(binary, first)),
    }
}

fn list_binaries(existing: &[String]) -> String {
    if existing.is_empty() {
        String::new()
    } else {
        format!("; the binaries are: {}", existing.join(", "))
    }
}
