//! Reads the output of `hyperfine --export-json` (1.20, 2.0): wall time, peak memory and exit code of every run of a command.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::super::error::ExchangeError;
use super::super::groups::IterationLayout;
use super::super::input::InputContent;
use super::super::unit::ValueUnit;
use super::gathering::{
    ForeignRun, ForeignRunBuilder, builtin_unit, format_error, sample_from_float, unused_id,
};
use super::json::parse;

/// The newest known schema version, which hyperfine 2 writes. hyperfine 1 writes no version.
const NEWEST_SCHEMA: u32 = 2;

#[derive(Deserialize)]
struct HyperfineExport {
    #[serde(default)]
    schema_version: Option<u32>,
    results: Vec<HyperfineResult>,
}

/// The measurements of one command: lists of values in hyperfine 1, one list of runs in hyperfine 2.
#[derive(Deserialize)]
struct HyperfineResult {
    command: String,
    /// Name from `--command-name`, if set.
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    parameters: BTreeMap<String, HyperfineParameter>,
    #[serde(default)]
    measurements: Option<Vec<HyperfineRun>>,
    #[serde(default)]
    mean: Option<f64>,
    #[serde(default)]
    times: Option<Vec<f64>>,
    #[serde(default)]
    memory_usage_byte: Option<Vec<f64>>,
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
}

/// A parameter of a command. hyperfine 1 writes its value alone, and hyperfine 2 writes an object with the value.
#[derive(Deserialize)]
#[serde(untagged)]
enum HyperfineParameter {
    Value(String),
    Object { value: String },
}

/// One run of a command, as hyperfine 2 writes it.
#[derive(Deserialize)]
struct HyperfineRun {
    time_wall_clock: HyperfineQuantity,
    #[serde(default)]
    memory_peak_resident: Option<HyperfineQuantity>,
    /// The exit code, or null if a signal ended the run.
    exit_code: Option<i32>,
}

#[derive(Deserialize)]
struct HyperfineQuantity {
    value: f64,
    unit: String,
}

/// All values of one quantity (time, memory or exit code) over the runs of a command.
struct ValueSeries {
    /// Text appended to the id; empty for times.
    suffix: &'static str,
    unit: ValueUnit,
    values: Vec<LocatedValue>,
}

struct LocatedValue {
    place: String,
    run: usize,
    value: f64,
}

impl HyperfineResult {
    /// Returns the name with all parameters, so that results of the same name stay distinct.
    fn id(&self) -> String {
        let name = self.name.as_deref().unwrap_or(&self.command).trim();
        if self.parameters.is_empty() {
            return name.to_owned();
        }
        let parameters = self.parameters.iter().map(|(name, parameter)| {
            let (HyperfineParameter::Value(value) | HyperfineParameter::Object { value }) =
                parameter;
            format!("{name} = {value}")
        });
        let parameters: Vec<String> = parameters.collect();
        format!("{name} ({})", parameters.join(", "))
    }

    /// Returns the exit code of each run, or `None` for a run that a signal ended.
    fn exit_codes(&self) -> Vec<Option<i32>> {
        match &self.measurements {
            Some(runs) => runs.iter().map(|run| run.exit_code).collect(),
            None => self.exit_codes.clone(),
        }
    }

    /// Returns times, peak memory and exit codes, as far as the file has them. `place` is the position in the file that error messages show.
    fn measured_values(&self, place: &str) -> Result<Vec<ValueSeries>, ExchangeError> {
        let (times, memory) = match &self.measurements {
            Some(runs) => (
                quantity_values(place, runs, "time_wall_clock", |run| {
                    Some(&run.time_wall_clock)
                })?,
                quantity_values(place, runs, "memory_peak_resident", |run| {
                    run.memory_peak_resident.as_ref()
                })?,
            ),
            None => (
                list_values(place, "times", self.times.as_deref()),
                list_values(
                    place,
                    "memory_usage_byte",
                    self.memory_usage_byte.as_deref(),
                ),
            ),
        };
        let exit_codes = self.exit_codes();
        // No percentage change from 0 exists, so leave out the exit codes if they are all 0.
        let has_failed = exit_codes.iter().flatten().any(|code| *code != 0);
        let exit_codes = exit_codes.into_iter().enumerate();
        let exit_codes = exit_codes.filter(|_| has_failed).filter_map(|(run, code)| {
            Some(LocatedValue {
                place: format!("{place}, exit code of run {run}"),
                run,
                value: f64::from(code?),
            })
        });
        let measured = [
            ("", builtin_unit("s"), times),
            (" (peak memory)", builtin_unit("bytes"), memory),
            (
                " (exit code)",
                builtin_unit("amount:exit_code"),
                exit_codes.collect(),
            ),
        ];
        let measured = measured.map(|(suffix, unit, values)| ValueSeries {
            suffix,
            unit,
            values,
        });
        Ok(measured.into_iter().collect())
    }
}

/// Returns the values of a list that hyperfine 1 wrote, each with its position for error messages.
fn list_values(place: &str, name: &str, values: Option<&[f64]>) -> Vec<LocatedValue> {
    let values = values.unwrap_or_default().iter().enumerate();
    values
        .map(|(run, value)| LocatedValue {
            place: format!("{place}.{name}[{run}]"),
            run,
            value: *value,
        })
        .collect()
}

/// Returns the values of one quantity in all runs that hyperfine 2 wrote, in seconds or bytes.
fn quantity_values(
    place: &str,
    runs: &[HyperfineRun],
    name: &str,
    get: impl Fn(&HyperfineRun) -> Option<&HyperfineQuantity>,
) -> Result<Vec<LocatedValue>, ExchangeError> {
    let mut found = Vec::new();
    for (run, measured) in runs.iter().enumerate() {
        let place = format!("{place}.measurements[{run}].{name}");
        if let Some(HyperfineQuantity { value, unit }) = get(measured) {
            if !["second", "byte"].contains(&unit.as_str()) {
                return Err(format_error(
                    &place,
                    format!("`{unit}` is not a known unit"),
                ));
            }
            found.push(LocatedValue {
                place,
                run,
                value: *value,
            });
        }
    }
    Ok(found)
}

/// Reads the files as one run. Each run of a command is a process.
pub(super) fn read(files: &[InputContent]) -> Result<Vec<ForeignRun>, ExchangeError> {
    let mut run = ForeignRunBuilder::new();
    for (ordinal, file) in files.iter().enumerate() {
        let exported: HyperfineExport = parse(file)?;
        if let Some(version) = exported.schema_version
            && version > NEWEST_SCHEMA
        {
            return Err(format_error(
                &format!("{}: schema_version", file.name),
                format!("{version} is newer than {NEWEST_SCHEMA}, the newest supported version"),
            ));
        }
        let mut seen = HashMap::new();
        for (at, result) in exported.results.iter().enumerate() {
            let place = format!("{}: results[{at}]", file.name);
            let base_id = result.id();
            let id = unused_id(&base_id, &mut seen);
            if id != base_id {
                run.add_caveat(format!(
                    "several results are called `{base_id}`: only their order distinguishes them; name them with hyperfine's `--command-name`"
                ));
            }
            let mut measured = result.measured_values(&place)?;
            let has_lists = result.times.is_some() || result.measurements.is_some();
            match result.mean {
                _ if !measured[0].values.is_empty() => {}
                Some(mean) if !has_lists => {
                    run.add_caveat(format!(
                        "`{id}` has no times of individual runs, so its mean is its only value"
                    ));
                    measured[0].values.push(LocatedValue {
                        place: format!("{place}.mean"),
                        run: 0,
                        value: mean,
                    });
                }
                _ => return Err(format_error(&place, "the result has no times")),
            }
            for ValueSeries {
                suffix,
                unit,
                values,
            } in measured
            {
                for value in values {
                    let id = format!("{id}{suffix}");
                    let number =
                        run.benchmark_index(&place, &id, unit.metric(), IterationLayout::Flat)?;
                    let process = run
                        .process_ordinal(&format!("{} #{ordinal}, run {}", file.name, value.run))?;
                    run.add(
                        number,
                        process,
                        sample_from_float(&value.place, value.value, 1, &unit)?,
                    );
                }
            }
            let codes = result.exit_codes();
            let failed = codes.iter().filter(|code| **code != Some(0)).count();
            if failed > 0 {
                let runs = if failed == 1 { "run" } else { "runs" };
                run.add_caveat(format!(
                    "{failed} {runs} of `{id}` did not exit with code 0"
                ));
            }
        }
    }
    let sources = files.iter().map(InputContent::source).collect();
    Ok(vec![run.finish(None, sources, "by value", true)?])
}
