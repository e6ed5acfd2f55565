//! `cargo perfcheck doctor`: shows what makes measurements on this machine unsteady, and which slowdowns they can detect. Inspects the machine,
//! measures its noise while watching it, judges and reports.

mod judgement;
#[cfg(test)]
mod judgement_tests;
mod noise;

pub use self::noise::{DoctorOptions, WORKLOADS_ARGUMENT, run_workloads};

use std::time::Instant;

use self::judgement::{DoctorFacts, judge};
use crate::error::{AppError, first_line};
use crate::options::OutputOptions;
use crate::output::{self, DoctorFindings};
use crate::session::World;
use perfcheck_analysis::compare::Plan;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::DecisionSettings;
use perfcheck_bench::child::Valgrind;
use perfcheck_build::cargo::{CargoOptions, Toolchain};
use perfcheck_build::link::bundled_linker;
use perfcheck_host::process::try_time_samples;
use perfcheck_host::{ActivitySnapshot, RealFiles, machine_state};

/// Carries out `cargo perfcheck doctor`.
#[expect(
    clippy::disallowed_methods,
    reason = "how long the counters were watched"
)]
pub fn doctor(
    options: &DoctorOptions,
    output: &OutputOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let host = perfcheck_host::read_host_facts(world.variables.ci);
    let state = machine_state(&RealFiles, world.variables.ci);
    let seed = options.seed.unwrap_or_else(perfcheck_host::fresh_seed);
    let own_id = std::process::id();
    let before = ActivitySnapshot::read(&RealFiles, own_id);
    let began = Instant::now();
    let noise = noise::measure(options, seed, world)?;
    let seconds = began.elapsed().as_secs_f64();
    let meanwhile = before.difference_to(&ActivitySnapshot::read(&RealFiles, own_id), seconds);
    let observed = DoctorFacts {
        system: &host.os,
        state: &state,
        meanwhile: &meanwhile,
        noise: &noise,
        has_linker: Toolchain::detect(&CargoOptions::default(), world.supervisor)
            .map(|toolchain| bundled_linker(&toolchain.target_libraries).is_some())
            .map_err(|error| first_line(&error)),
        valgrind: Valgrind::find(world.supervisor).map(|found| found.version().to_owned()),
        samples: try_time_samples(),
    };
    let exit_code = ExitCode::Clean;
    let findings = DoctorFindings {
        findings: judge(&observed),
        host,
        state,
        happenings: meanwhile,
        noise,
        usual_rounds: Plan::USUAL_ROUNDS,
        usual_threshold: DecisionSettings::PAIRED_NOISE_THRESHOLD,
        power: noise::POWER,
        confidence_level: noise::CONFIDENCE_LEVEL,
        seed,
        exit_code: exit_code.number(),
    };
    output::write_doctor(world.stdout, &findings, output.format)?;
    Ok(exit_code)
}
