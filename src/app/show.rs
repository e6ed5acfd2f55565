//! `cargo perfcheck show RUN`: what a stored run measured.

use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::findings::{sort, summarize_all};
use super::options::StoreOptions;
use super::run::write;
use crate::exit_code::ExitCode;
use crate::report::{Findings, MessageFormat, Row, write_run_head};

/// Runs the command.
pub fn show(run: &str, common: &StoreOptions, world: &mut World<'_>) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    let Some((store, workspace)) = context.stored()? else {
        return Err(context.nothing_stored());
    };
    let run = resolve_run(&store, workspace, run)?;
    let summary = store.run_summary(run)?;
    let measurements = store.measurements(run, None)?;
    let decision = summary.run.decision;
    let mut rows: Vec<Row<'_>> = measurements
        .iter()
        .zip(summarize_all(&measurements, &decision, summary.run.seed))
        .map(|(measurement, summary)| Row {
            key: measurement.benchmark.key.clone(),
            measurement: Some(measurement),
            summary,
            verdict: measurement.verdict,
            comparison: None,
            reference: Vec::new(),
            blocking: Vec::new(),
            seconds: None,
            remarks: Vec::new(),
        })
        .collect();
    sort(&mut rows, common.output.order);
    if common.output.format == MessageFormat::Human {
        write_run_head(world.stdout, &summary.run)?;
    }
    let findings = Findings {
        run: &summary.run,
        rows,
        verdicts: None,
        confidence_level: decision.confidence_level,
        exit_code: summary.exit_code.unwrap_or(0),
    };
    write(&findings, common, world)?;
    Ok(ExitCode::Clean)
}
