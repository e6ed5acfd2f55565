//! Findings on stdout, in the requested format.

use crate::app::context::World;
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::report::{MessageFormat, write_json, write_table};
use perfcheck_analysis::findings::Findings;

/// Writes the table or the messages.
pub(in crate::app) fn write_findings(
    findings: &Findings<'_>,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<(), AppError> {
    match common.output.format {
        MessageFormat::Human => write_table(world.stdout, findings, &common.output.view())?,
        MessageFormat::Json => write_json(world.stdout, findings)?,
    }
    Ok(())
}
