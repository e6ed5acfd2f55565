//! Hooks around `--profile-time`.

use std::path::Path;

/// Something that profiles a benchmark while `--profile-time` runs it.
pub trait Profiler {
    /// Called before the benchmark `benchmark_id`; `benchmark_dir` is for the profiler's files, and exists.
    fn start_profiling(&mut self, benchmark_id: &str, benchmark_dir: &Path);

    /// Called after it, with the same arguments.
    fn stop_profiling(&mut self, benchmark_id: &str, benchmark_dir: &Path);
}

/// For profilers that watch from outside: does nothing.
pub struct ExternalProfiler;

impl Profiler for ExternalProfiler {
    fn start_profiling(&mut self, _: &str, _: &Path) {}
    fn stop_profiling(&mut self, _: &str, _: &Path) {}
}
