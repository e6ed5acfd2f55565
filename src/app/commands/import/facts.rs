//! Facts about the environment of imported measurements, by name.

use super::options::StatedFact;
use crate::app::error::AppError;
use crate::settings::parse_shared_host;
use perfcheck_analysis::model::Environment;

/// Builds an environment from the facts that the user states; all others are unknown.
pub(super) fn environment_from_facts(facts: &[StatedFact]) -> Result<Environment, AppError> {
    let mut environment = Environment::default();
    for fact in facts {
        let value = fact.value.trim().to_owned();
        let (host, build) = (&mut environment.host, &mut environment.build);
        match fact.name.as_str() {
            "cpu" => host.cpu = value,
            "architecture" => host.architecture = value,
            "os" => host.os = value,
            "kernel" => host.kernel = value,
            "host" => {
                let shared = parse_shared_host(&value);
                host.shared =
                    Some(shared.map_err(|why| AppError::Usage(format!("`--fact host`: {why}")))?);
            }
            "governor" => host.governor = Some(value),
            "microcode" => host.microcode = Some(value),
            "cores" => {
                host.cores = value.parse().map_err(|_| {
                    AppError::Usage(format!("`--fact cores={value}`: not a whole number"))
                })?;
            }
            "rustc" => build.rustc = value,
            "target" => build.target = value,
            "profile" => build.profile = value,
            "rustflags" => build.rustflags = value,
            other => {
                return Err(AppError::Usage(format!(
                    "`{other}` is no fact that comparisons know; those are host, cpu, architecture, os, kernel, governor, microcode, cores, rustc, target, profile, rustflags"
                )));
            }
        }
    }
    Ok(environment)
}
