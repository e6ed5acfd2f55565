//! A benchmark that is run for somebody who looks at its process; what it prints does not matter.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::criterion;
use super::harness::{OF_THE_CLOCK, PrintedHarness, PrintedRequest};
use super::process::{Call, IsEnough, run_until};
use crate::child::error::ChildError;
use crate::child::launch_spec::LaunchSpec;
use crate::child::means::Means;

impl PrintedHarness {
    /// Runs one benchmark in a process of its own, as if to measure it, to its end or until `is_enough`. It is asked about the process as soon as that has
    /// started, and then from time to time.
    pub fn observe(
        &self,
        request: &PrintedRequest<'_>,
        spec: &LaunchSpec,
        means: &Means<'_>,
        is_enough: IsEnough<'_>,
    ) -> Result<(), ChildError> {
        let (arguments, folder) = match self.dialect {
            None => (self.arguments(request)?, None),
            Some(dialect) => {
                let config =
                    criterion::config(request.warm_up, request.measurement, request.samples);
                let folder = criterion::ProcessFolder::create().map_err(|error| {
                    ChildError::bench(format!(
                        "no directory could be made for its results: {error}"
                    ))
                })?;
                (dialect.arguments(request.id, &config), Some(folder))
            }
        };
        let variables = folder.as_ref().map(criterion::ProcessFolder::variables);
        let variables: Vec<(&str, PathBuf)> = variables.into_iter().flatten().collect();
        let variables: Vec<(&str, &OsStr)> = (variables.iter())
            .map(|(name, path)| (*name, path.as_os_str()))
            .collect();
        let of_criterion: &[&[u8]] = &criterion::OF_EVERY_PROCESS;
        let call = Call {
            arguments: &arguments,
            variables: &variables,
            purpose: "run a benchmark",
            allowed: self.allowed(request, means),
            dropped: if self.dialect.is_some() {
                of_criterion
            } else {
                &[OF_THE_CLOCK]
            },
        };
        let printed = run_until(spec, &call, means, Some(is_enough))?;
        match printed {
            Some(printed) if !printed.is_well => Err(self.failure(printed)),
            _ => Ok(()),
        }
    }
}
