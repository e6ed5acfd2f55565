//! Hooks for `--profile-time`.

use std::path::Path;

/// A profiler for the benchmarks that `--profile-time` runs.
pub trait Profiler {
    /// Starts profiling the benchmark `benchmark_id`. The directory `benchmark_dir` exists and is meant for the
    /// profiler's files.
    fn start_profiling(&mut self, benchmark_id: &str, benchmark_dir: &Path);

    /// Stops profiling. The arguments are the same as those of [`start_profiling`](Self::start_profiling).
    fn stop_profiling(&mut self, benchmark_id: &str, benchmark_dir: &Path);
}

/// A profiler that does nothing, for use with profilers that observe the process from outside.
pub struct ExternalProfiler;

impl Profiler for ExternalProfiler {
    fn start_profiling(&mut self, _: &str, _: &Path) {}
    fn stop_profiling(&mut self, _: &str, _: &Path) {}
}
