//! Warnings about imported numbers, on stderr since they are not the result.

use super::record::ImportRow;
use crate::app::context::World;
use crate::app::error::AppError;
use crate::exchange::ImportedGroups;
use crate::report;
use perfcheck_analysis::model::{MIN_LAUNCHES, Metric, Source};

/// Writes warnings that readers must know before they rely on the numbers, to stderr since they are not the result.
pub(super) fn warn(
    imported: &ImportedGroups,
    source: &Source,
    rows: &[ImportRow],
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
                "guessed: {} of `{}` are in {} ({})",
                guess.column, guess.id, guess.unit, guess.evidence
            ),
        )?;
    }
    for row in rows {
        let id = &row.shown.key.id;
        for absurd in &row.shown.summary.absurd {
            report::write_warning(world.stderr, &format!("`{id}`: {absurd}"))?;
        }
        let is_amount = matches!(row.shown.metric, Metric::Amount { .. });
        if row.shown.summary.zeros > 0 && !is_amount {
            report::write_warning(
                world.stderr,
                &format!(
                    "{} 0, less than its clock could see",
                    if row.shown.summary.zeros == 1 {
                        format!("a value of `{id}` is")
                    } else {
                        format!("{} values of `{id}` are", row.shown.summary.zeros)
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
