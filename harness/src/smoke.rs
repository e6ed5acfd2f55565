//! The mode of `cargo test --benches` and nextest: runs each body once and reports it as libtest reports tests.

use std::cell::RefCell;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::args::PrintedDetail;
use crate::driver::SampleDriver;
use crate::latencies::{self, LatencyRecorder};
use crate::output::{print, print_note};
use crate::protocol::escape;
use crate::sampler::Sampler;
use crate::settings::{Settings, Throughput};
use crate::walk::{BenchFunction, BenchmarkRunner, DeclaredBenchmark, Ending, run_selected};

/// Runs the body of each selected benchmark once.
pub(crate) fn run(
    functions: &[BenchFunction],
    wanted: &[DeclaredBenchmark],
    filtered_out: usize,
    verbosity: PrintedDetail,
) -> ExitCode {
    let start = Instant::now();
    let plural = if wanted.len() == 1 { "" } else { "s" };
    print(&format!("\nrunning {} test{plural}\n", wanted.len()));
    let mut tests = SmokeTests {
        verbosity,
        ..SmokeTests::default()
    };
    let walked = run_selected(functions, wanted, &mut tests);
    if let Err(message) = &walked {
        print_note(&format!("error: {message}"));
    }
    let failed = !tests.failures.is_empty() || walked.is_err();
    print(&tests.format_summary(failed, filtered_out, start.elapsed()));
    ExitCode::from(if failed { 101 } else { 0 })
}

/// A driver that runs a single iteration.
struct SingleIteration;

impl SampleDriver for SingleIteration {
    fn drive(
        &mut self,
        _: Throughput,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyRecorder>>,
    ) {
        let Some(latencies) = latencies else {
            sampler(1);
            return;
        };
        latencies::sample_operations(latencies, sampler, 1);
        // Release the borrow before panicking.
        let message = latencies.borrow().messages().first().cloned();
        if let Some(message) = message {
            panic!("the operation failed: {message}");
        }
    }
}

#[derive(Default)]
struct SmokeTests {
    verbosity: PrintedDetail,
    passed: usize,
    skipped: usize,
    failures: Vec<FailedTest>,
}

struct FailedTest {
    id: String,
    message: String,
}

impl BenchmarkRunner for SmokeTests {
    type Driver = SingleIteration;

    fn make_driver(&mut self, id: &str, _: &Settings) -> SingleIteration {
        if self.verbosity == PrintedDetail::Normal {
            // Print the name before the run: if the benchmark aborts or hangs, its name is the last text printed.
            print(&format!("test {} ... ", escape(id)));
        }
        SingleIteration
    }

    fn finish_benchmark(&mut self, id: &str, _: SingleIteration, ending: Ending) {
        let result = match ending {
            Ending::Measured => {
                self.passed += 1;
                "ok".to_owned()
            }
            Ending::Skipped(reason) => {
                self.skipped += 1;
                format!("ignored, {}", escape(&reason))
            }
            Ending::Failed(message) => {
                self.failures.push(FailedTest {
                    id: escape(id),
                    message,
                });
                "FAILED".to_owned()
            }
        };
        if self.verbosity == PrintedDetail::Normal {
            print(&format!("{result}\n"));
        }
    }
}

impl SmokeTests {
    fn format_summary(&self, failed: bool, filtered_out: usize, elapsed: Duration) -> String {
        let verdict = if failed { "FAILED" } else { "ok" };
        format!(
            "{}\ntest result: {verdict}. {} passed; {} failed; {} ignored; 0 measured; {filtered_out} filtered out; finished in {:.2}s\n\n",
            self.failure_report(),
            self.passed,
            self.failures.len(),
            self.skipped,
            elapsed.as_secs_f64()
        )
    }

    /// Returns the message of each failure and then the list of names, as libtest prints them. Returns an empty text if
    /// nothing has failed.
    fn failure_report(&self) -> String {
        if self.failures.is_empty() {
            return String::new();
        }
        let messages: String = self
            .failures
            .iter()
            .flat_map(|failed| ["---- ", &failed.id, " ----\n", &failed.message, "\n\n"])
            .collect();
        let names: String = self
            .failures
            .iter()
            .flat_map(|failed| ["    ", &failed.id, "\n"])
            .collect();
        format!("\nfailures:\n\n{messages}\nfailures:\n{names}")
    }
}
