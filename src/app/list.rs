//! `cargo perfcheck list`: the benchmarks in the store.

use super::context::{Context, World};
use super::error::AppError;
use super::options::StoreOptions;
use crate::exit_code::ExitCode;
use crate::report::{BenchmarkLine, write_benchmarks};

/// Runs the command.
pub fn list(common: &StoreOptions, world: &mut World<'_>) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    let Some((store, workspace)) = context.stored()? else {
        return context.note_nothing_stored(common, world);
    };
    let lines: Vec<BenchmarkLine> = store
        .benchmarks(workspace)?
        .into_iter()
        .map(|found| BenchmarkLine {
            key: found.key,
            runs: found.runs,
            last_run: found.last_run,
            last_started: crate::host::to_rfc3339(found.last_started),
            typical_ns: found.typical_ns,
            metric: found.metric,
            change: found.change,
            verdict: found.verdict,
        })
        .collect();
    write_benchmarks(world.stdout, &lines, common.output.format)?;
    Ok(ExitCode::Clean)
}
