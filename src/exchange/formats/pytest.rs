//! What `pytest --benchmark-json` writes (pytest-benchmark 5.3): seconds of each round; `--benchmark-save` keeps them only with `--benchmark-save-data`.

use serde::Deserialize;

use super::super::error::ExchangeError;
use super::super::groups::IterationLayout;
use super::super::input::InputContent;
use super::gathering::{ForeignRun, Gathering, broken, sample_of, unit};
use super::json::parse;

#[derive(Deserialize)]
struct PytestFile {
    #[serde(default)]
    machine_info: Option<Machine>,
    benchmarks: Vec<PytestBenchmark>,
}

#[derive(Deserialize)]
struct Machine {
    #[serde(default, rename = "machine")]
    architecture: Option<String>,
    #[serde(default)]
    system: Option<String>,
    #[serde(default)]
    release: Option<String>,
    #[serde(default)]
    cpu: Option<Cpu>,
}

#[derive(Deserialize)]
struct Cpu {
    #[serde(default)]
    brand_raw: Option<String>,
}

#[derive(Deserialize)]
struct PytestBenchmark {
    fullname: String,
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    #[serde(default)]
    data: Option<Vec<f64>>,
    mean: f64,
}

/// One launch a file.
pub(super) fn read(files: &[InputContent]) -> Result<Vec<ForeignRun>, ExchangeError> {
    let mut run = Gathering::new();
    let seconds = unit("s");
    for file in files {
        let written: PytestFile = parse(file)?;
        let launch = run.launch(&file.name)?;
        if let Some(machine) = &written.machine_info {
            let cpu = machine.cpu.as_ref().and_then(|cpu| cpu.brand_raw.as_ref());
            for (name, value) in [
                ("cpu", cpu),
                ("architecture", machine.architecture.as_ref()),
                ("kernel", machine.release.as_ref()),
            ] {
                run.fact(name, value.map_or("", String::as_str));
            }
            let system = machine.system.as_deref().unwrap_or("");
            run.fact("os", &system.to_lowercase());
        }
        let mut seen = std::collections::HashSet::new();
        for (at, benchmark) in written.benchmarks.iter().enumerate() {
            let place = format!("{}: benchmarks[{at}]", file.name);
            let id = &benchmark.fullname;
            if !seen.insert(id.as_str()) {
                return Err(broken(&place, format!("`{id}` is there twice")));
            }
            let number = run.benchmark(&place, id, seconds.metric(), IterationLayout::Flat)?;
            let single = [benchmark.stats.mean];
            let values = match &benchmark.stats.data {
                Some(data) if !data.is_empty() => data.as_slice(),
                _ => {
                    run.caveat(
                        "the file has no data of single rounds (`--benchmark-json` and `--benchmark-save-data` keep them): each benchmark's mean is its one value"
                            .to_owned(),
                    );
                    &single
                }
            };
            for (index, value) in values.iter().enumerate() {
                let place = format!("{place}.stats.data[{index}]");
                run.add(number, launch, sample_of(&place, *value, 1, &seconds)?);
            }
        }
    }
    let sources = files.iter().map(InputContent::source).collect();
    Ok(vec![run.finish(None, sources, "s", false)?])
}
