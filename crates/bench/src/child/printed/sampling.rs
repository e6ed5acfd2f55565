//! Runs one benchmark in its own process. The process runs to its end or until the caller stops it. To count instructions, divan runs a given number
//! of iterations.

use crate::child::printed::process::{Invocation, IsEnough, ProcessOutput, run, run_until};
use std::time::Duration;

use super::harness::{PrintedHarness, PrintedRequest, Printer, no_result_error, single_divan_row};
use crate::child::error::ChildError;
use crate::child::process::{PATIENCE, ProcessContext, ProcessSpec};

impl PrintedHarness {
    /// Runs one benchmark as if to measure it, to its end or until `is_enough` returns true. `is_enough` is called as
    /// soon as the process has started, and then repeatedly. The output of the process is ignored.
    pub fn run_observed(
        &self,
        request: &PrintedRequest<'_>,
        spec: &ProcessSpec,
        context: &ProcessContext<'_>,
        is_enough: IsEnough<'_>,
    ) -> Result<(), ChildError> {
        let purpose = "run a benchmark";
        self.run_benchmark(request, purpose, spec, context, Some(is_enough))?;
        Ok(())
    }

    /// Runs one benchmark until its process ends or `is_enough` returns true. Returns `None` in the second case.
    pub(super) fn run_benchmark(
        &self,
        request: &PrintedRequest<'_>,
        purpose: &str,
        spec: &ProcessSpec,
        context: &ProcessContext<'_>,
        is_enough: Option<IsEnough<'_>>,
    ) -> Result<Option<ProcessOutput>, ChildError> {
        let arguments = self.arguments(request)?;
        let call = Invocation {
            arguments: &arguments,
            variables: &[],
            purpose,
            allowed: self.time_limit(request, context),
        };
        match run_until(spec, &call, context, is_enough)? {
            Some(printed) if !printed.is_well => Err(self.error_from_failure(printed)),
            printed => Ok(printed),
        }
    }
}

/// A request for one sample whose instructions are counted. Its time is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UntimedSampleRequest<'r> {
    /// The id of the benchmark.
    pub id: &'r str,
    /// Iterations of each thread.
    pub iterations: u64,
    /// Upper bound of the expected duration under callgrind.
    pub expected: Duration,
}

/// The result of an [`UntimedSampleRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UntimedSample {
    /// Process id.
    pub process: u32,
    /// Total number of iterations of all threads.
    pub iterations: u64,
}

impl PrintedHarness {
    /// Returns true if the harness can be told how many iterations to run.
    pub fn takes_iterations(&self) -> bool {
        self.printer() == Printer::Divan
    }

    /// Runs one benchmark in its own process: one sample on each of its threads, each with the requested number of iterations.
    pub fn run_iterations(
        &self,
        sample: &UntimedSampleRequest<'_>,
        spec: &ProcessSpec,
        context: &ProcessContext<'_>,
    ) -> Result<UntimedSample, ChildError> {
        let mut arguments = self.address(sample.id)?.arguments();
        let size = sample.iterations.to_string();
        // Take one sample, even if the author set minimum or maximum times.
        let sampling = ["--sample-count", "1", "--sample-size", &size];
        let whatever = ["--min-time", "0", "--max-time", "1"];
        arguments.extend(
            sampling
                .iter()
                .chain(&whatever)
                .map(|word| (*word).to_owned()),
        );
        let call = Invocation {
            arguments: &arguments,
            variables: &[],
            purpose: "iterate",
            allowed: (context.timeout).saturating_add(sample.expected.saturating_mul(PATIENCE)),
        };
        let printed = run(spec, &call, context)?;
        if !printed.is_well {
            return Err(self.error_from_failure(printed));
        }
        let row = single_divan_row(&printed)?.ok_or_else(|| no_result_error(&printed))?;
        Ok(UntimedSample {
            process: printed.process,
            iterations: row.iterations,
        })
    }
}
