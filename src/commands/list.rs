//! `cargo perfcheck list [FILTER]...`: builds the benches and lists the benchmarks that a run would measure.

use std::time::Duration;

use crate::error::AppError;
use crate::options::CommonOptions;
use crate::pipeline::prepare::{list_only, nothing_found_error, timeout};
use crate::pipeline::work_tree::WorkTree;
use crate::session::{Context, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_bench::measure::Filter;

/// Options of `list`.
#[derive(Debug, Clone)]
pub struct ListOptions {
    /// The filter that selects the benchmarks to list.
    pub filter: Filter,
    /// How long a request to a bench may take, in addition to ten times its expected duration, before the bench counts as hung. `None` selects the
    /// configured or default value.
    pub timeout: Option<Duration>,
}

/// Carries out `cargo perfcheck list`.
pub fn list(
    options: &ListOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let timeout = timeout(options.timeout, &context);
    let is_kept = !world.variables.no_rerun;
    let tree = WorkTree::build(&context, common, &options.filter, timeout, is_kept, world)?;
    if tree.found.is_empty() {
        return Err(nothing_found_error(&options.filter, &tree.found));
    }
    list_only(&tree.found, common.output.format, world)
}
