//! A sample of divan that runs as many iterations as it is told, for whoever counts what they do.

use std::time::Duration;

use super::harness::{OF_THE_CLOCK, PrintedHarness, Printer, divan_row, no_result};
use super::process::{Call, run};
use crate::child::error::ChildError;
use crate::child::launch_spec::LaunchSpec;
use crate::child::launcher::Launcher;
use crate::child::running::PATIENCE;

/// A sample of a benchmark that is not timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IteratedSample<'r> {
    /// The id of the benchmark.
    pub id: &'r str,
    /// How many iterations each of its threads runs.
    pub iterations: u64,
    /// How long they should take at most, under callgrind.
    pub expected: Duration,
}

/// What came of such a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iterated {
    /// The id of the process.
    pub process: u32,
    /// How many iterations all threads ran together.
    pub iterations: u64,
}

impl PrintedHarness {
    /// Whether it can be told how many iterations to run.
    pub fn takes_iterations(&self) -> bool {
        self.printer() == Printer::Divan
    }

    /// Runs so many iterations of one benchmark, in one sample of each of its threads, in a process of its own.
    pub fn iterate(
        &self,
        sample: &IteratedSample<'_>,
        spec: &LaunchSpec,
        launcher: &Launcher<'_>,
    ) -> Result<Iterated, ChildError> {
        let mut arguments = self.address(sample.id)?.arguments();
        let size = sample.iterations.to_string();
        // One sample is enough, whatever its author says of the time.
        let told = ["--sample-count", "1", "--sample-size", &size];
        let whatever = ["--min-time", "0", "--max-time", "1"];
        arguments.extend(told.iter().chain(&whatever).map(|word| (*word).to_owned()));
        let call = Call {
            arguments: &arguments,
            variables: &[],
            purpose: "iterate",
            allowed: (launcher.timeout).saturating_add(sample.expected.saturating_mul(PATIENCE)),
            dropped: &[OF_THE_CLOCK],
        };
        let printed = run(spec, &call, launcher)?;
        if !printed.is_well {
            return Err(self.failure(printed));
        }
        let row = divan_row(&printed)?.ok_or_else(|| no_result(&printed))?;
        Ok(Iterated {
            process: printed.process,
            iterations: row.iterations,
        })
    }
}
