//! The conditions under which a `Criterion` and its groups measure (settings, filter, measurement, and other parts of the command line), and a
//! benchmark at its declaration, with everything that is needed to run it.

use perfcheck::sequence::Declaration;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command_line::{ResultFormat, VisitMode};
use crate::configuration::Configuration;
use crate::filter::BenchmarkFilter;
use crate::measurement::WallTime;
use crate::profiler::{ExternalProfiler, Profiler};

/// Warm-up time of `--quick`.
const QUICK_WARM_UP: Duration = Duration::from_millis(30);
/// Measurement time of `--quick`.
const QUICK_MEASUREMENT: Duration = Duration::from_millis(100);

/// The conditions that apply to all benchmarks of a `Criterion`.
pub(crate) struct BenchmarkConditions<M> {
    pub(crate) configuration: Configuration,
    pub(crate) filter: BenchmarkFilter,
    pub(crate) measurement: M,
    pub(crate) mode: VisitMode,
    pub(crate) is_quick: bool,
    pub(crate) profiler: RefCell<Box<dyn Profiler>>,
    pub(crate) output_directory: Option<PathBuf>,
}

impl Default for BenchmarkConditions<WallTime> {
    fn default() -> Self {
        Self {
            configuration: Configuration::default(),
            filter: BenchmarkFilter::AcceptAll,
            measurement: WallTime,
            mode: VisitMode::Bench(ResultFormat::Table),
            is_quick: false,
            profiler: RefCell::new(Box::new(ExternalProfiler)),
            output_directory: None,
        }
    }
}

impl<M> BenchmarkConditions<M> {
    pub(crate) fn with_measurement<M2>(self, measurement: M2) -> BenchmarkConditions<M2> {
        BenchmarkConditions {
            configuration: self.configuration,
            filter: self.filter,
            measurement,
            mode: self.mode,
            is_quick: self.is_quick,
            profiler: self.profiler,
            output_directory: self.output_directory,
        }
    }

    /// Returns the settings of a benchmark whose group has the settings `above`. The flag `--quick` overrides them.
    pub(crate) fn settings(&self, above: &Configuration) -> Configuration {
        let mut settings = above.merged_over(&self.configuration);
        if self.is_quick {
            settings.warm_up_time = Some(QUICK_WARM_UP);
            settings.measurement_time = Some(QUICK_MEASUREMENT);
            settings.sample_size = None;
            settings.sampling_mode = None;
        }
        settings
    }

    /// Returns the directory for a profiler's files about the benchmark `id`.
    pub(crate) fn profile_directory(&self, id: &str) -> PathBuf {
        let home = || std::env::var_os("CRITERION_HOME").map(PathBuf::from);
        let root = self
            .output_directory
            .clone()
            .or_else(home)
            .unwrap_or_else(|| {
                let executable = std::env::current_exe().unwrap_or_default();
                // Path of the executable: target/release/deps/NAME-HASH.
                let target = executable.ancestors().nth(3).unwrap_or(Path::new("target"));
                target.join("criterion")
            });
        let mut directory = root;
        for part in id.split('/').filter(|part| !part.is_empty()) {
            let part: String = part
                .chars()
                .map(|c| {
                    if r#"?"\*<>:|^"#.contains(c) || c.is_control() {
                        '_'
                    } else {
                        c
                    }
                })
                .take(60)
                .collect();
            // A part that consists of dots would point to another directory.
            directory.push(if part.bytes().all(|byte| byte == b'.') {
                "_"
            } else {
                &part
            });
        }
        directory.push("profile");
        directory
    }
}

/// A declared benchmark.
pub(crate) struct Visit<'v> {
    pub(crate) declaration: Declaration,
    pub(crate) mode: VisitMode,
    pub(crate) accepts: &'v dyn Fn(&str) -> bool,
    /// Takes a sample of the given number of iterations. Returns its value in stored units.
    pub(crate) sampler: &'v mut dyn FnMut(u64) -> Duration,
    /// Formats a value, given in stored units per iteration, and the throughput that results from it.
    pub(crate) show: &'v dyn Fn(f64) -> (String, String),
    /// Called before and after a profiled benchmark.
    pub(crate) profile: &'v dyn Fn(Profiling, &str),
}

/// The start or the end of a profiled benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profiling {
    Starts,
    Stops,
}
