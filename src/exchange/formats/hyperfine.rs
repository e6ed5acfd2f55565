//! What `hyperfine --export-json` writes (1.20): the wall time of every run of a command, seconds.

use std::collections::HashMap;

use serde::Deserialize;

use super::super::error::ExchangeError;
use super::super::groups::IterationLayout;
use super::super::input::InputContent;
use super::gathering::{ForeignRun, Gathering, broken, free_id, sample_of, unit};
use super::json::parse;

#[derive(Deserialize)]
struct HyperfineExport {
    results: Vec<HyperfineCommand>,
}

#[derive(Deserialize)]
struct HyperfineCommand {
    #[serde(rename = "command")]
    name: String,
    mean: f64,
    #[serde(default)]
    times: Option<Vec<f64>>,
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
}

/// Each run of a command is a process of its own, and so a launch.
pub(super) fn read(files: &[InputContent]) -> Result<Vec<ForeignRun>, ExchangeError> {
    let mut run = Gathering::new();
    let seconds = unit("s");
    for (ordinal, file) in files.iter().enumerate() {
        let exported: HyperfineExport = parse(file)?;
        let mut seen = HashMap::new();
        for (at, result) in exported.results.iter().enumerate() {
            let place = format!("{}: results[{at}]", file.name);
            let id = free_id(result.name.trim(), &mut seen);
            let number = run.benchmark(&place, &id, seconds.metric(), IterationLayout::Flat)?;
            let single = [result.mean];
            let times = match &result.times {
                Some(times) if times.is_empty() => {
                    return Err(broken(&place, "`times` is empty"));
                }
                Some(times) => times.as_slice(),
                None => {
                    run.caveat(format!(
                        "`{id}` has no times of single runs: its mean is its one value"
                    ));
                    &single
                }
            };
            for (index, time) in times.iter().enumerate() {
                let place = format!("{place}.times[{index}]");
                let launch = run.launch(&format!("{} #{ordinal}, run {index}", file.name))?;
                run.add(number, launch, sample_of(&place, *time, 1, &seconds)?);
            }
            let failed = result.exit_codes.iter().filter(|code| **code != Some(0));
            let failed = failed.count();
            if failed > 0 {
                run.caveat(format!("{failed} runs of `{id}` did not exit with 0"));
            }
        }
    }
    let sources = files.iter().map(InputContent::source).collect();
    Ok(vec![run.finish(None, sources, "s", true)?])
}
