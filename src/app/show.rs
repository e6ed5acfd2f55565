//! `cargo perfcheck show RUN`: what a stored run measured.

use super::context::{Context, World, resolve_run};
use super::error::AppError;
use super::findings::{host_class, sort, summarize_all};
use super::options::StoreOptions;
use super::run::write;
use crate::compare::{Decider, Rules};
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
    let rules = Rules {
        decision: summary.run.decision,
        decider: Decider::RunLevel,
        host: host_class(None, summary.run.environment.host.shared),
        seed: summary.run.seed,
    };
    let mut rows: Vec<Row<'_>> = measurements
        .iter()
        .zip(summarize_all(&measurements, &rules))
        .map(|(measurement, summary)| Row {
            key: measurement.benchmark.key.clone(),
            measurement: Some(measurement),
            summary,
            verdict: measurement.verdict,
            comparison: None,
            reference: Vec::new(),
            blocking: Vec::new(),
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
        confidence_level: rules.decision.confidence_level,
        exit_code: summary.exit_code.unwrap_or(0),
    };
    write(&findings, common, world)?;
    Ok(ExitCode::Clean)
}
