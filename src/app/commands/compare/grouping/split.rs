//! Split violins: the picture of groups of two.

use std::path::Path;

use super::gathered::{GroupedRun, place_benchmarks};
use super::pattern::GroupPattern;
use crate::app::context::World;
use crate::app::deliver::place::write_result;
use crate::app::error::AppError;
use crate::report::{SplitPicture, SplitRow, write_split};
use perfcheck_analysis::compare::{Shape, ShapeDetail, sum_left_out};

/// Draws the groups of a run, two benchmarks per row, into `file`, or to stdout if it is `None`.
pub(super) fn draw_groups(
    gathered: &GroupedRun,
    pattern: &GroupPattern,
    file: Option<&Path>,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    let (columns, rows, _) = place_benchmarks(gathered.run, &gathered.measurements, pattern)?;
    let [first, second] = &columns[..] else {
        return Err(AppError::Usage(format!(
            "split violins have two series a row, and `{}` captures {}: {}\n  help: an expression that captures two alternatives, e.g. (ser|deser)$",
            pattern.as_str(),
            columns.len(),
            columns.join(", ")
        )));
    };
    let rows = rows.iter().filter_map(|((_, _, name), found)| {
        let shape = |at: usize| Shape::from_measurement(found.get(&at)?, &ShapeDetail::FULL);
        let metric = &found.values().next()?.benchmark.metric;
        let is_alike = found.values().all(|one| one.benchmark.metric == *metric);
        let halves = [shape(0), shape(1)];
        let is_drawn = is_alike && halves.iter().any(Option::is_some);
        is_drawn.then_some(SplitRow {
            name,
            metric,
            halves,
        })
    });
    let picture = SplitPicture {
        run: gathered.run,
        series: [first, second],
        rows: rows.collect(),
        note: sum_left_out(&gathered.measurements).map(|left_out| left_out.describe()),
    };
    write_result(file, world, |writer| write_split(writer, &picture))
}
