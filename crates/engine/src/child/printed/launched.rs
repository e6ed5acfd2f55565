//! Runs one benchmark in its own process, to its end or until the caller stops it.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::criterion::{OF_EVERY_PROCESS, ProcessFolder};
use super::harness::{OF_THE_CLOCK, PrintedHarness, PrintedRequest};
use super::process::{Invocation, IsEnough, ProcessOutput, run_until};
use crate::child::error::ChildError;
use crate::child::launch_spec::ProcessSpec;
use crate::child::launcher::ProcessContext;

impl PrintedHarness {
    /// Runs one benchmark as if to measure it, to its end or until `is_enough` returns true. `is_enough` is called as
    /// soon as the process has started, and then repeatedly. The output of the process is ignored.
    pub fn run_observed(
        &self,
        request: &PrintedRequest<'_>,
        spec: &ProcessSpec,
        launcher: &ProcessContext<'_>,
        is_enough: IsEnough<'_>,
    ) -> Result<(), ChildError> {
        let purpose = "run a benchmark";
        self.run_benchmark(request, purpose, spec, launcher, Some(is_enough))?;
        Ok(())
    }

    /// Runs one benchmark, to its end or until `is_enough` returns true; `None` in the second case. The folder has
    /// Criterion's results.
    pub(super) fn run_benchmark(
        &self,
        request: &PrintedRequest<'_>,
        purpose: &str,
        spec: &ProcessSpec,
        launcher: &ProcessContext<'_>,
        is_enough: Option<IsEnough<'_>>,
    ) -> Result<Option<(ProcessOutput, Option<ProcessFolder>)>, ChildError> {
        let (arguments, folder) = match self.dialect {
            None => (self.arguments(request)?, None),
            Some(dialect) => {
                let folder = ProcessFolder::create().map_err(|error| {
                    ChildError::bench(format!(
                        "no directory could be made for its results: {error}"
                    ))
                })?;
                let arguments = dialect.arguments(request.id, &request.config());
                (arguments, Some(folder))
            }
        };
        let variables = folder.as_ref().map(ProcessFolder::variables);
        let variables: Vec<(&str, PathBuf)> = variables.into_iter().flatten().collect();
        let variables: Vec<(&str, &OsStr)> = (variables.iter())
            .map(|(name, path)| (*name, path.as_os_str()))
            .collect();
        let dropped: &[&[u8]] = match folder {
            Some(_) => &OF_EVERY_PROCESS,
            None => &[OF_THE_CLOCK],
        };
        let call = Invocation {
            arguments: &arguments,
            variables: &variables,
            purpose,
            allowed: self.time_limit(request, launcher),
            dropped,
        };
        match run_until(spec, &call, launcher, is_enough)? {
            Some(printed) if !printed.is_well => Err(self.error_from_failure(printed)),
            printed => Ok(printed.map(|printed| (printed, folder))),
        }
    }
}
