//! Settings from Cargo.toml (`[workspace.metadata.perfcheck]`, `[package.metadata.perfcheck]`), from the bench's code and from the command line,
//! as layers that override each other.
//!
//! This module does no I/O: it turns JSON tables into plain values. An unknown key is an error that names the nearest known one. A value that is
//! set nowhere has its default. The command line shares the parsers of values.

mod layer;

pub use self::layer::{Layer, Layers, Override};

use globset::GlobBuilder;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use perfcheck_analysis::findings::{Limit, Scope};
use perfcheck_analysis::model::{
    Correction, CriterionHarness, Nanos, ProgramBenchmark, System, Thresholds, Verdict, WarmUpGoal,
    limits, parse_duration, parse_fraction, split_command_line,
};

/// An error in a table of Cargo.toml.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SettingsError {
    /// The key is unknown.
    #[error("unknown key `{key}` in {table} of {}{}", file.display(), nearest.as_ref().map_or_else(String::new, |nearest| format!("\n  help: did you mean `{nearest}`?")))]
    UnknownKey {
        /// Name of the key.
        key: String,
        /// Name of the table.
        table: String,
        /// Path of the manifest.
        file: PathBuf,
        /// Known key with the most similar name.
        nearest: Option<String>,
    },
    /// The value is invalid.
    #[error("`{key}` in {table} of {}: {why}", file.display())]
    Value {
        /// Name of the key.
        key: String,
        /// Name of the table.
        table: String,
        /// Path of the manifest.
        file: PathBuf,
        /// Reason why the value is invalid.
        why: String,
    },
}

/// Settings that only the workspace's table may contain. A setting that the table omits is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkspaceSettings {
    /// Name by which a store knows the workspace, on every machine.
    pub id: Option<String>,
    /// Address of the team's store.
    pub team_store: Option<String>,
    /// Published system whose conventions decide comparisons of stored runs.
    pub method: Option<System>,
    /// Correction for the number of benchmarks in a comparison of stored runs.
    pub correction: Option<Correction>,
    /// Whether the machine is shared with other users. `None` means that this is detected.
    pub shared_host: Option<bool>,
    /// The allowed probability of at least one false `regressed` in a run.
    pub significance_level: Option<f64>,
    /// Confidence level of the intervals that describe times.
    pub confidence_level: Option<f64>,
    /// Number of bootstrap resamples.
    pub resamples: Option<u32>,
    /// How long a request to a bench may take, in addition to ten times its expected duration, before the bench counts as hung.
    pub timeout: Option<Duration>,
    /// Longest time for which one benchmark is measured side by side.
    pub time_per_benchmark: Option<Duration>,
    /// Disk space for kept builds, in MiB.
    pub kept_builds_mib: Option<u32>,
    /// The harness on which Criterion benches run.
    pub harness: Option<CriterionHarness>,
    /// Verdicts that make the run fail.
    pub fail_on: Option<Vec<Verdict>>,
    /// Thresholds that are conventions (for `--test`, outliers and effect sizes) rather than properties of a test.
    pub thresholds: Thresholds,
}

/// The settings from all tables of a workspace.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// Settings that only the workspace's table may contain.
    pub workspace: WorkspaceSettings,
    /// All other settings, in layers that override each other. The layer of the command line is still empty.
    pub layers: Layers,
    /// Limits on the results of benchmarks. If several limits apply to a benchmark, it must keep all of them.
    pub limits: Vec<Limit>,
    /// The programs of the packages that are measured as benchmarks.
    pub programs: Vec<ProgramEntry>,
}

/// An entry `[[package.metadata.perfcheck.program]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramEntry {
    /// Name of the package.
    pub package: String,
    /// Name of the entry, which is the id of the benchmark.
    pub name: String,
    /// Name of the binary. `None` stands for the only binary of the package.
    pub binary: Option<String>,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// The file that is its standard input, relative to the package's directory.
    pub stdin: Option<PathBuf>,
    /// The words of the command that runs before each run.
    pub prepare: Vec<String>,
    /// The exit status with which it succeeds.
    pub exit: i32,
}

impl ProgramEntry {
    /// Returns the benchmark of this entry, which runs `binary`.
    pub fn benchmark_of(&self, binary: &str) -> ProgramBenchmark {
        ProgramBenchmark {
            package: self.package.clone(),
            binary: binary.to_owned(),
            id: self.name.clone(),
            arguments: self.arguments.clone(),
            stdin: self.stdin.clone(),
            prepare: self.prepare.clone(),
            exit: self.exit,
            build: None,
        }
    }
}

const PROGRAM_KEYS: [&str; 6] = ["name", "bin", "args", "stdin", "prepare", "exit"];
const LAYER_KEYS: [&str; 7] = [
    "rounds",
    "samples",
    "warm-up-time",
    "warm-up-iterations",
    "measurement-time",
    "sampling-mode",
    "noise-threshold",
];
const WORKSPACE_KEYS: [&str; 14] = [
    "id",
    "team-store",
    "method",
    "correction",
    "host",
    "significance-level",
    "confidence-level",
    "resamples",
    "timeout",
    "time-per-benchmark",
    "kept-builds-mib",
    "harness",
    "fail-on",
    THRESHOLDS,
];
/// Key that applies to a whole executable, so overrides must not contain it.
const LATENCY_DIGITS: &str = "latency-digits";
const THRESHOLDS: &str = "thresholds";
const LIMIT: &str = "limit";
const OVERRIDE: &str = "override";
const MATCH: &str = "match";
const PROGRAM: &str = "program";

impl Tables {
    /// Parses the table of the workspace and the tables of its packages. A package is given as (name, manifest, table).
    pub fn parse<'a>(
        workspace_manifest: &Path,
        workspace: &Value,
        packages: impl IntoIterator<Item = (&'a str, &'a Path, &'a Value)>,
    ) -> Result<Self, SettingsError> {
        let mut tables = Self::default();
        let mut workspace_overrides = ParsedOverrides::default();
        let of_package = [&LAYER_KEYS[..], &[LATENCY_DIGITS, OVERRIDE, LIMIT]].concat();
        if !workspace.is_null() {
            let name = "[workspace.metadata.perfcheck]".to_owned();
            let known = [&of_package[..], &WORKSPACE_KEYS].concat();
            let table = TableParser::new(name, workspace_manifest, workspace, &known)?;
            tables.workspace = table.parse_workspace_only()?;
            tables.layers.workspace = table.parse_layer()?;
            tables.limits = table.parse_limits(&Scope::default())?;
            workspace_overrides = table.parse_overrides(None)?;
        }
        for (package, manifest, value) in packages {
            let name = "[package.metadata.perfcheck]".to_owned();
            let known = [&of_package[..], &[PROGRAM]].concat();
            let table = TableParser::new(name, manifest, value, &known)?;
            tables.programs.extend(table.parse_programs(package)?);
            let layer = table.parse_layer()?;
            tables.layers.packages.insert(package.to_owned(), layer);
            let scope = Scope {
                package: Some(package.to_owned()),
                within: None,
            };
            tables.limits.extend(table.parse_limits(&scope)?);
            tables.add_overrides(table.parse_overrides(Some(package))?);
        }
        tables.add_overrides(workspace_overrides);
        Ok(tables)
    }

    fn add_overrides(&mut self, parsed: ParsedOverrides) {
        self.layers.overrides.extend(parsed.overrides);
        self.limits.extend(parsed.limits);
    }
}

/// A table, with its name and file for error messages.
struct TableParser<'a> {
    name: String,
    file: &'a Path,
    entries: &'a Map<String, Value>,
}

/// The overrides of a table, strongest first, and the limits in them.
#[derive(Default)]
struct ParsedOverrides {
    overrides: Vec<Override>,
    limits: Vec<Limit>,
}

impl<'a> TableParser<'a> {
    /// Checks that `value` is a table with only `known` keys.
    fn new(
        name: String,
        file: &'a Path,
        value: &'a Value,
        known: &[&str],
    ) -> Result<Self, SettingsError> {
        let Some(entries) = value.as_object() else {
            return Err(SettingsError::Value {
                key: "perfcheck".to_owned(),
                table: name,
                file: file.to_owned(),
                why: format!("{value} is not a table"),
            });
        };
        let table = Self {
            name,
            file,
            entries,
        };
        table.check_keys(known)?;
        Ok(table)
    }

    fn invalid_value(&self, key: &str, why: impl Into<String>) -> SettingsError {
        SettingsError::Value {
            key: key.to_owned(),
            table: self.name.clone(),
            file: self.file.to_owned(),
            why: why.into(),
        }
    }

    /// Returns the name of an inner table, without brackets.
    fn inner_name(&self, key: &str) -> String {
        format!("{}.{key}", self.name.trim_matches(['[', ']']))
    }

    fn check_keys(&self, known: &[&str]) -> Result<(), SettingsError> {
        let mut keys = self.entries.keys();
        let Some(key) = keys.find(|key| !known.contains(&key.as_str())) else {
            return Ok(());
        };
        if WORKSPACE_KEYS.contains(&key.as_str()) {
            let why = "this key applies to the whole workspace; move it to `[workspace.metadata.perfcheck]` in the workspace's Cargo.toml";
            return Err(self.invalid_value(key, why));
        }
        let nearest = known
            .iter()
            .map(|known| (strsim::jaro_winkler(key, known), *known))
            .filter(|(likeness, _)| *likeness > 0.7)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, known)| known.to_owned());
        Err(SettingsError::UnknownKey {
            key: key.clone(),
            table: self.name.clone(),
            file: self.file.to_owned(),
            nearest,
        })
    }

    /// Reads the value of a key, if it is there.
    fn parse<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Result<Option<T>, SettingsError> {
        let found = self.entries.get(key).map(read).transpose();
        found.map_err(|why| self.invalid_value(key, why))
    }

    fn parse_layer(&self) -> Result<Layer, SettingsError> {
        let phase = |text: &str| parse_positive_duration(text).and_then(limits::check_phase);
        let digits = self.parse(LATENCY_DIGITS, integer(&(1..=5)))?;
        Ok(Layer {
            processes: self.parse("rounds", integer(&limits::PROCESSES))?,
            samples: self.parse("samples", integer(&limits::SAMPLES))?,
            warm_up: self.parse_warm_up()?,
            measurement: self
                .parse("measurement-time", number_or_string(phase))?
                .map(Nanos::from),
            mode: self.parse("sampling-mode", string(str::parse))?,
            noise_threshold: self.parse(
                "noise-threshold",
                number_or_string(parse_fraction_below_one),
            )?,
            latency_digits: digits.map(|digits| digits as u8),
        })
    }

    /// Parses the warm-up, which is given as a time or as a count.
    fn parse_warm_up(&self) -> Result<Option<WarmUpGoal>, SettingsError> {
        let phase = |text: &str| parse_duration(text).and_then(limits::check_phase);
        let time = self.parse("warm-up-time", number_or_string(phase))?;
        let iterations = integer(&limits::WARM_UP_ITERATIONS);
        match (time, self.parse("warm-up-iterations", iterations)?) {
            (Some(_), Some(_)) => {
                let why = "cannot be combined with `warm-up-time`: a warm-up ends after a time or after a number of iterations, not after both";
                Err(self.invalid_value("warm-up-iterations", why))
            }
            (_, Some(count)) => Ok(Some(WarmUpGoal::Iterations(count))),
            (time, None) => Ok(time.map(|time| WarmUpGoal::Time(time.into()))),
        }
    }

    fn parse_workspace_only(&self) -> Result<WorkspaceSettings, SettingsError> {
        let id = |text: &str| {
            if text.trim().is_empty() {
                Err("must not be empty".to_owned())
            } else {
                Ok(text.to_owned())
            }
        };
        let verdict = |word: &Value| match word.as_str() {
            Some(word) => word.parse(),
            None => Err(format!("{word} is not a string")),
        };
        let fail_on = |value: &Value| match value {
            Value::String(word) if word == "none" => Ok(Vec::new()),
            Value::Array(words) => words.iter().map(verdict).collect(),
            other => Err(format!(
                "{other} is neither a list of verdicts nor \"none\""
            )),
        };
        let significance_level = number_or_string(parse_significance_level);
        let confidence_level = number_or_string(parse_confidence_level);
        let time_per_benchmark = number_or_string(parse_positive_duration);
        Ok(WorkspaceSettings {
            id: self.parse("id", string(id))?,
            team_store: self.parse("team-store", string(|text| Ok(text.to_owned())))?,
            method: self.parse("method", string(str::parse))?,
            correction: self.parse("correction", string(str::parse))?,
            shared_host: self.parse("host", string(parse_shared_host))?,
            significance_level: self.parse("significance-level", significance_level)?,
            confidence_level: self.parse("confidence-level", confidence_level)?,
            resamples: self.parse("resamples", integer(&limits::RESAMPLES))?,
            timeout: self.parse("timeout", number_or_string(parse_duration))?,
            time_per_benchmark: self.parse("time-per-benchmark", time_per_benchmark)?,
            kept_builds_mib: self.parse("kept-builds-mib", integer(&limits::KEPT_BUILDS_MIB))?,
            harness: self.parse("harness", string(str::parse))?,
            fail_on: self.parse("fail-on", fail_on)?,
            thresholds: self.parse_thresholds()?,
        })
    }

    /// Parses the inner table of thresholds, and refuses unknown names.
    fn parse_thresholds(&self) -> Result<Thresholds, SettingsError> {
        let mut thresholds = Thresholds::default();
        let Some(value) = self.entries.get(THRESHOLDS) else {
            return Ok(thresholds);
        };
        let inner = TableParser {
            name: format!("[{}]", self.inner_name(THRESHOLDS)),
            file: self.file,
            entries: value
                .as_object()
                .ok_or_else(|| self.invalid_value(THRESHOLDS, format!("{value} is not a table")))?,
        };
        let known: Vec<&str> = Thresholds::ALL.iter().map(|kind| kind.name).collect();
        inner.check_keys(&known)?;
        for (name, value) in inner.entries {
            let number = value.as_f64();
            number
                .ok_or_else(|| format!("{value} is not a number"))
                .and_then(|number| thresholds.set(name, number))
                .map_err(|why| inner.invalid_value(name, why))?;
        }
        thresholds.check_order().map_err(|broken| {
            inner.invalid_value(
                broken.low,
                format!(
                    "must not exceed `{high}`; to raise `{}`, raise `{high}` too",
                    broken.low,
                    high = broken.high
                ),
            )
        })?;
        Ok(thresholds)
    }

    /// Parses the limits of benchmarks within `scope`: one limit, or an array of limits.
    fn parse_limits(&self, scope: &Scope) -> Result<Vec<Limit>, SettingsError> {
        let limit = |text: &Value| match text.as_str() {
            Some(text) => Limit::parse(text, scope.clone()),
            None => Err(format!("{text} is not a string")),
        };
        let limits = self.parse(LIMIT, |value| match value {
            Value::Array(limits) => limits.iter().map(limit).collect(),
            one => Ok(vec![limit(one)?]),
        })?;
        Ok(limits.unwrap_or_default())
    }

    /// Returns the entries of an array of tables, which may be missing.
    fn array_of_tables(&self, key: &str) -> Result<&[Value], SettingsError> {
        match self.entries.get(key) {
            None => Ok(&[]),
            Some(Value::Array(entries)) => Ok(entries),
            Some(other) => {
                let why = format!("{other} is not an array of tables (`[[...perfcheck.{key}]]`)");
                Err(self.invalid_value(key, why))
            }
        }
    }

    /// Parses the programs of a package, and refuses equal names.
    fn parse_programs(&self, package: &str) -> Result<Vec<ProgramEntry>, SettingsError> {
        let mut programs: Vec<ProgramEntry> = Vec::new();
        let text = |text: &str| match text.trim() {
            "" => Err("must not be empty".to_owned()),
            _ => Ok(text.to_owned()),
        };
        let words = |value: &Value| -> Result<Vec<String>, String> {
            let words = value
                .as_array()
                .map(|words| words.iter().map(Value::as_str));
            let words = words.and_then(Iterator::collect::<Option<Vec<_>>>);
            let words = words.ok_or_else(|| format!("{value} is not a list of strings"))?;
            Ok(words.into_iter().map(str::to_owned).collect())
        };
        for entry in self.array_of_tables(PROGRAM)? {
            let name = format!("[[{}]]", self.inner_name(PROGRAM));
            let inner = TableParser::new(name, self.file, entry, &PROGRAM_KEYS)?;
            let name = inner.parse("name", string(text))?.ok_or_else(|| {
                inner.invalid_value("name", "the key is missing; it names the benchmark")
            })?;
            if programs.iter().any(|known| known.name == name) {
                let why = format!("another program is named `{name}`, too");
                return Err(inner.invalid_value("name", why));
            }
            programs.push(ProgramEntry {
                package: package.to_owned(),
                name,
                binary: inner.parse("bin", string(text))?,
                arguments: inner.parse("args", words)?.unwrap_or_default(),
                stdin: inner.parse("stdin", string(text))?.map(PathBuf::from),
                prepare: (inner.parse("prepare", string(split_command_line))?).unwrap_or_default(),
                exit: (inner.parse("exit", integer(&(0..=255)))?).map_or(0, u32::cast_signed),
            });
        }
        Ok(programs)
    }

    /// Parses the overrides; later entries override earlier ones.
    fn parse_overrides(&self, package: Option<&str>) -> Result<ParsedOverrides, SettingsError> {
        let mut parsed = ParsedOverrides::default();
        let entries = self.array_of_tables(OVERRIDE)?;
        let glob = |text: &str| match GlobBuilder::new(text).build() {
            Ok(glob) => Ok(glob.compile_matcher()),
            Err(error) => Err(error.to_string()),
        };
        let known = [&LAYER_KEYS[..], &[MATCH, LIMIT]].concat();
        for entry in entries.iter().rev() {
            let name = format!("[[{}]]", self.inner_name(OVERRIDE));
            let inner = TableParser::new(name, self.file, entry, &known)?;
            let pattern = inner.parse(MATCH, string(glob))?.ok_or_else(|| {
                inner.invalid_value(
                    MATCH,
                    "the key is missing; add it to select the benchmarks of this override",
                )
            })?;
            let scope = Scope {
                package: package.map(str::to_owned),
                within: Some(pattern.clone()),
            };
            parsed.limits.extend(inner.parse_limits(&scope)?);
            parsed.overrides.push(Override {
                package: scope.package,
                pattern,
                layer: inner.parse_layer()?,
            });
        }
        Ok(parsed)
    }
}

/// Returns a function that reads a JSON string with `read`, and refuses all other values.
fn string<T>(read: impl Fn(&str) -> Result<T, String>) -> impl FnOnce(&Value) -> Result<T, String> {
    move |value| match value {
        Value::String(text) => read(text),
        other => Err(format!("{other} is not a string")),
    }
}

/// Returns a function that reads a JSON number with `read`. The number may also be a string with a unit.
fn number_or_string<T>(
    read: impl Fn(&str) -> Result<T, String>,
) -> impl FnOnce(&Value) -> Result<T, String> {
    move |value| match value {
        Value::String(text) => read(text),
        Value::Number(number) => read(&number.to_string()),
        other => Err(format!("{other} is neither a number nor a string")),
    }
}

/// Returns a function that reads a whole number, and refuses numbers outside `range`.
fn integer(range: &RangeInclusive<u32>) -> impl FnOnce(&Value) -> Result<u32, String> {
    move |value| match value.as_u64() {
        Some(number) => limits::check_range(range, number),
        None => Err(format!(
            "{value} is not a whole number from {} to {}",
            range.start(),
            range.end()
        )),
    }
}

/// Parses a time that is not zero. The error says which value is expected.
pub fn parse_positive_duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text)? {
        Duration::ZERO => Err("must be longer than zero".to_owned()),
        duration => Ok(duration),
    }
}

/// Parses a fraction below 100 %. The error says which value is expected.
pub fn parse_fraction_below_one(text: &str) -> Result<f64, String> {
    match parse_fraction(text)? {
        fraction if fraction < 1.0 => Ok(fraction),
        fraction => Err(format!(
            "`{text}` is not below 100 %{}",
            suggest_percentage(text, fraction < 100.0)
        )),
    }
}

/// Parses a share of a whole, which is at most 100 %. The error says which value is expected.
pub fn parse_share(text: &str) -> Result<f64, String> {
    match parse_fraction(text)? {
        share if share <= 1.0 => Ok(share),
        share => Err(format!(
            "`{text}` is more than 100 %{}",
            suggest_percentage(text, share <= 100.0)
        )),
    }
}

/// Returns the advice for a fraction that is too large. If its number `fits` as a percentage, the user probably forgot the percent sign.
fn suggest_percentage(text: &str, fits: bool) -> String {
    if fits && !text.ends_with('%') {
        format!("; did you mean `{text}%`?")
    } else {
        String::new()
    }
}

/// Parses `dedicated` or `shared`, and returns whether others use the machine too. The error says which value is expected.
pub fn parse_shared_host(text: &str) -> Result<bool, String> {
    match text {
        "dedicated" => Ok(false),
        "shared" => Ok(true),
        _ => Err(format!("`{text}` is neither `dedicated` nor `shared`")),
    }
}

/// Parses the level of a one-sided test, above 0 and below 50 %. The error says which value is expected.
pub fn parse_significance_level(text: &str) -> Result<f64, String> {
    let level = parse_fraction(text)?;
    if level > 0.0 && level < 0.5 {
        Ok(level)
    } else {
        Err("a significance level must be above 0 and below 50 %".to_owned())
    }
}

/// Parses the level of an interval, from 50 % to less than 100 %. The error says which value is expected.
pub fn parse_confidence_level(text: &str) -> Result<f64, String> {
    let level = parse_fraction(text)?;
    if (0.5..1.0).contains(&level) {
        Ok(level)
    } else {
        Err("a confidence level must be at least 50 % and below 100 %".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use perfcheck_analysis::model::{AuthorSettings, Benchmark, BenchmarkKey, Metric, Throughput};

    fn read(workspace: &Value, package: &Value) -> Result<Tables, SettingsError> {
        let packages = [("p", Path::new("p/Cargo.toml"), package)];
        Tables::parse(Path::new("Cargo.toml"), workspace, packages)
    }

    fn benchmark(id: &str, settings: AuthorSettings) -> Benchmark {
        Benchmark {
            key: BenchmarkKey {
                package: "p".into(),
                target: "t".into(),
                id: id.into(),
            },
            version: None,
            throughput: Throughput::default(),
            other_throughput: None,
            settings,
            metric: Metric::default(),
        }
    }

    #[test]
    fn what_is_nearer_to_the_benchmark_is_stronger_and_the_command_line_strongest() {
        let workspace = json!({"rounds": 3, "samples": 20, "override": [
            {"match": "sort/*", "samples": 40, "noise-threshold": "5%"},
        ]});
        let package = json!({"rounds": 4, "override": [
            {"match": "*", "noise-threshold": 0.03},
            {"match": "sort/1?", "noise-threshold": "4%"},
        ]});
        let mut tables = read(&workspace, &package).expect("they are well formed");
        let author = AuthorSettings {
            samples: Some(30),
            ..AuthorSettings::default()
        };
        let (sampling, threshold) = tables.layers.resolve(&benchmark("sort/10", author));
        assert_eq!((sampling.processes, sampling.samples), (4, Some(40)));
        assert_eq!(threshold, Some(0.04));
        let (sampling, threshold) = tables.layers.resolve(&benchmark("hash", author));
        assert_eq!((sampling.processes, sampling.samples), (4, Some(30)));
        assert_eq!(threshold, Some(0.03));
        tables.layers.command_line.processes = Some(9);
        let (sampling, _) = tables.layers.resolve(&benchmark("hash", author));
        assert_eq!(sampling.processes, 9);
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_the_nearest_known_one() {
        let error = read(&json!({"noise-treshold": 1}), &Value::Null).expect_err("unknown");
        let text = error.to_string();
        assert!(
            text.contains("unknown key `noise-treshold` in [workspace.metadata.perfcheck]"),
            "{text}"
        );
        assert!(text.contains("did you mean `noise-threshold`?"), "{text}");
    }

    #[test]
    fn what_only_the_workspace_may_say_is_unknown_in_a_package() {
        assert!(read(&Value::Null, &json!({"id": "x"})).is_err());
        let tables = read(&json!({"id": "x", "fail-on": "none"}), &json!({})).expect("well formed");
        assert_eq!(tables.workspace.id.as_deref(), Some("x"));
        assert_eq!(tables.workspace.fail_on, Some(Vec::new()));
    }

    #[test]
    fn values_that_make_no_sense_are_named_with_their_key() {
        for (table, key) in [
            (json!({"rounds": 0}), "rounds"),
            (json!({"samples": 1.5}), "samples"),
            (json!({"warm-up-time": "soon"}), "warm-up-time"),
            (json!({"noise-threshold": "200%"}), "noise-threshold"),
            (json!({"measurement-time": 0}), "measurement-time"),
            (json!({"significance-level": "0%"}), "significance-level"),
            (json!({"confidence-level": 95}), "confidence-level"),
            (json!({"sampling-mode": "round"}), "sampling-mode"),
            (json!({"fail-on": ["slower"]}), "fail-on"),
            (json!({"host": "mine"}), "host"),
            (json!({"override": {}}), "override"),
            (json!({"override": [{"samples": 5}]}), "match"),
        ] {
            let error = read(&table, &json!({})).expect_err("refused");
            assert!(error.to_string().contains(&format!("`{key}`")), "{error}");
        }
    }

    #[test]
    fn bounds_are_named_when_they_are_left() {
        assert_eq!(parse_positive_duration("1ms"), Ok(Duration::from_millis(1)));
        assert!(parse_positive_duration("0s").is_err());
        assert_eq!(parse_fraction_below_one("5%"), Ok(0.05));
        let five = parse_fraction_below_one("5").expect_err("a percentage without its sign");
        assert!(five.contains("did you mean `5%`?"), "{five}");
        for beyond in ["1000%", "1000"] {
            let error = parse_fraction_below_one(beyond).expect_err("more than all");
            assert_eq!(error, format!("`{beyond}` is not below 100 %"));
        }
        assert_eq!(parse_share("100%"), Ok(1.0));
        let more = |text: &str| parse_share(text).expect_err("more than all");
        assert_eq!(
            more("100"),
            "`100` is more than 100 %; did you mean `100%`?"
        );
        assert_eq!(more("101%"), "`101%` is more than 100 %");
        assert_eq!(parse_significance_level("1%"), Ok(0.01));
        for wrong in ["0", "50%", "-1%", "nan"] {
            assert!(parse_significance_level(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_confidence_level("0.95"), Ok(0.95));
        for wrong in ["95", "100%", "0.05"] {
            assert!(parse_confidence_level(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn programs_are_read_with_all_that_they_are_run_with() {
        let parse = |value: Value| {
            let manifest = Path::new("Cargo.toml");
            Tables::parse(manifest, &Value::Null, [("p", manifest, &value)])
        };
        let tables = parse(json!({ "program": [
            { "name": "search", "bin": "rg", "args": ["-c", "fn", "a b"], "stdin": "in.txt", "prepare": "rm -rf 'a b'", "exit": 1 },
            { "name": "start" },
        ]}));
        let programs = tables.expect("all is known").programs;
        assert_eq!(programs.len(), 2);
        assert_eq!(programs[0].arguments, ["-c", "fn", "a b"]);
        assert_eq!(programs[0].prepare, ["rm", "-rf", "a b"]);
        assert_eq!(programs[0].exit, 1);
        assert_eq!((programs[1].binary.as_ref(), programs[1].exit), (None, 0));
        let refuse = |program: Value| {
            let error = parse(json!({ "program": [program, { "name": "start" }] }));
            error.expect_err("refused").to_string()
        };
        let refused = refuse(json!({ "args": [] }));
        assert!(refused.contains("the key is missing"), "{refused}");
        let refused = refuse(json!({ "name": "a", "arg": [] }));
        assert!(refused.contains("did you mean `args`?"), "{refused}");
        let refused = refuse(json!({ "name": "a", "args": "-c fn" }));
        assert!(refused.contains("is not a list of strings"), "{refused}");
        let refused = refuse(json!({ "name": "start" }));
        assert!(
            refused.contains("another program is named `start`"),
            "{refused}"
        );
        let refused = refuse(json!({ "name": "a", "prepare": "rm 'a" }));
        assert!(refused.contains("a quote (') is not closed"), "{refused}");
        let error = parse(json!({ "program": { "name": "a" } })).expect_err("no array");
        assert!(
            error.to_string().contains("[[...perfcheck.program]]"),
            "{error}"
        );
    }
}
