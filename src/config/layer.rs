//! Layers of optional settings, one for each place that may set them, and the order in which they override each other.

use globset::GlobMatcher;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use perfcheck_analysis::findings::RunNote;
use perfcheck_analysis::model::{
    AuthorSettings, Benchmark, BenchmarkKey, Nanos, SamplingMode, SamplingSettings, WarmUpGoal,
    limits,
};

/// Settings from one source (such as the command line) for the sampling and judgment of a benchmark. A setting that the source omits is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Layer {
    /// Processes per run.
    pub processes: Option<u32>,
    /// Samples per process.
    pub samples: Option<u32>,
    /// Warm-up per process.
    pub warm_up: Option<WarmUpGoal>,
    /// Measurement time per process.
    pub measurement: Option<Nanos>,
    /// Distribution of iterations over samples.
    pub mode: Option<SamplingMode>,
    /// Noise threshold, as a fraction.
    pub noise_threshold: Option<f64>,
    /// Significant digits to which a bench records single operations.
    pub latency_digits: Option<u8>,
}

impl Layer {
    /// Returns this layer, with unset values taken from `below`.
    #[must_use]
    pub fn or(self, below: Self) -> Self {
        Self {
            processes: self.processes.or(below.processes),
            samples: self.samples.or(below.samples),
            warm_up: self.warm_up.or(below.warm_up),
            measurement: self.measurement.or(below.measurement),
            mode: self.mode.or(below.mode),
            noise_threshold: self.noise_threshold.or(below.noise_threshold),
            latency_digits: self.latency_digits.or(below.latency_digits),
        }
    }
}

impl Layer {
    /// Returns the keys of the settings that have no effect on a side-by-side measurement. The number of rounds and the warm-up do have an effect if
    /// they come from the command line, so a caller must remove both from such a layer first.
    fn list_unused_in_rounds(self) -> impl Iterator<Item = &'static str> {
        let warm_up = self.warm_up.map(|goal| match goal {
            WarmUpGoal::Time(_) => "warm-up-time",
            WarmUpGoal::Iterations(_) => "warm-up-iterations",
        });
        let other = [
            ("rounds", self.processes.is_some()),
            ("samples", self.samples.is_some()),
            ("measurement-time", self.measurement.is_some()),
            ("sampling-mode", self.mode.is_some()),
        ];
        let other = other.into_iter().filter(|(_, is_set)| *is_set);
        other.map(|(key, _)| key).chain(warm_up)
    }
}

impl From<AuthorSettings> for Layer {
    fn from(author: AuthorSettings) -> Self {
        let longest = Nanos::from(limits::LONGEST_PHASE);
        Self {
            // Clamp the values: the child may be any program, and need not respect the limits of the protocol.
            processes: author
                .processes
                .map(|count| clamp_to(count, &limits::PROCESSES)),
            samples: author
                .samples
                .map(|count| clamp_to(count, &limits::SAMPLES)),
            warm_up: author
                .warm_up_ns
                .map(|time| WarmUpGoal::Time(time.min(longest))),
            measurement: author.measurement_ns.map(|time| time.min(longest)),
            mode: author.sampling_mode,
            noise_threshold: author
                .noise_threshold
                .filter(|threshold| (0.0..1.0).contains(threshold)),
            latency_digits: None,
        }
    }
}

fn clamp_to(count: u32, range: &RangeInclusive<u32>) -> u32 {
    count.clamp(*range.start(), *range.end())
}

/// Settings for the benchmarks whose ids match a pattern.
#[derive(Debug, Clone)]
pub struct Override {
    /// Package to which the settings apply; `None` for all packages.
    pub package: Option<String>,
    /// Pattern that matches the ids of the benchmarks.
    pub pattern: GlobMatcher,
    /// Settings of the benchmarks that match.
    pub layer: Layer,
}

impl Override {
    fn applies_to(&self, key: &BenchmarkKey) -> bool {
        let package = self.package.as_ref();
        package.is_none_or(|package| *package == key.package) && self.pattern.is_match(&key.id)
    }
}

/// All layers, strongest first: command line, matching overrides, the bench's code, its package, the workspace.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// Settings of the command line.
    pub command_line: Layer,
    /// Overrides by patterns on ids, strongest first.
    pub overrides: Vec<Override>,
    /// Settings of packages, by the package's name.
    pub packages: BTreeMap<String, Layer>,
    /// Settings of the workspace.
    pub workspace: Layer,
}

impl Layers {
    /// Returns the significant digits to which the benches of this package record single operations, if the user set them. An executable has one such
    /// setting for all its benchmarks. So it cannot be set in the code of a benchmark or in an override by id.
    pub fn latency_digits(&self, package: &str) -> Option<u8> {
        let of_package = self.packages.get(package);
        (self.command_line.latency_digits)
            .or(of_package.and_then(|layer| layer.latency_digits))
            .or(self.workspace.latency_digits)
    }

    /// Merges the tables for a benchmark. `above` overrides all tables; `code` overrides only the tables of the benchmark's package and of the
    /// workspace.
    fn merge_tables(&self, key: &BenchmarkKey, above: Layer, code: Layer) -> Layer {
        let overrides = self.overrides.iter().filter(|one| one.applies_to(key));
        let package = self.packages.get(&key.package).copied().unwrap_or_default();
        overrides
            .fold(above, |above, one| above.or(one.layer))
            .or(code)
            .or(package)
            .or(self.workspace)
    }

    /// Returns a note about the settings of these benchmarks that affect only builds measured alone; `None` if there are none.
    pub fn note_unused_in_rounds(&self, benchmarks: &[&Benchmark]) -> Option<RunNote> {
        let none = Layer::default();
        let in_tables = |one: &&Benchmark| self.merge_tables(&one.key, none, none);
        let names = |layers: &mut dyn Iterator<Item = Layer>| -> Vec<String> {
            let names: BTreeSet<&str> = layers.flat_map(Layer::list_unused_in_rounds).collect();
            names.into_iter().map(str::to_owned).collect()
        };
        let flags = Layer {
            processes: None,
            warm_up: None,
            ..self.command_line
        };
        let flags = names(&mut [flags].into_iter());
        let flags: Vec<String> = flags.iter().map(|name| format!("--{name}")).collect();
        let keys = names(&mut benchmarks.iter().map(in_tables));
        let code = names(&mut benchmarks.iter().map(|one| one.settings.into()));
        let is_any = !(flags.is_empty() && keys.is_empty() && code.is_empty());
        is_any.then_some(RunNote::NotForRounds { flags, keys, code })
    }

    /// Returns the sampling settings of `benchmark`, and its noise threshold if it is set.
    pub fn resolve(&self, benchmark: &Benchmark) -> (SamplingSettings, Option<f64>) {
        let settings =
            self.merge_tables(&benchmark.key, self.command_line, benchmark.settings.into());
        let default = SamplingSettings::default();
        let (warm_up, warm_up_iterations) = match settings.warm_up {
            None => (default.warm_up, None),
            Some(WarmUpGoal::Time(time)) => (time, None),
            Some(WarmUpGoal::Iterations(count)) => (Nanos(0), Some(count)),
        };
        let sampling = SamplingSettings {
            processes: settings.processes.unwrap_or(default.processes),
            samples: settings.samples.or(default.samples),
            warm_up,
            warm_up_iterations,
            measurement: settings.measurement.unwrap_or(default.measurement),
            mode: settings.mode.unwrap_or(default.mode),
            turns: default.turns,
        };
        (sampling, settings.noise_threshold)
    }
}
