//! Measures two bench executables side by side with chosen settings of the rounds, and appends the raw series to a file. The series show the effects
//! of lead-in, sample length, warm-up and time of a round. This program reaches no verdict; `ablate_paired` reads the file.
//!
//! `cargo run --release -p perfcheck-tools --bin paired_probe -- OUT LABEL BASE NEW ROUNDS ROUND_MS SAMPLE_US LEAD_IN WARM_UP_MS BIND`
//!
//! `ONLY=ID,ID` measures only these benchmarks. Each line is a JSON object for one benchmark: `workload`, `label`, `wall` (seconds), `iterations`,
//! `rounds` and `led`. `rounds` is a list of [base samples, candidate samples] in nanoseconds per iteration, in the order in which they were taken.
//! `led` says for each quad of samples in a round whether the candidate was sampled first.

#![allow(clippy::print_stderr)]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use perfcheck_analysis::model::{
    BenchmarkKey, BySide, Event, Nanos, Observer, Round, Sample, SkipSupport, TargetFacts,
};
use perfcheck_bench::child::ProcessContext;
use perfcheck_bench::measure::{
    BenchmarkCost, Campaign, CampaignSink, PairedPlan, PairedTarget, RoundSettings, discover,
};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_host::process::{Interrupt, Supervisor};

struct Silence;

impl Observer for Silence {
    fn observe(&self, event: &Event<'_>) {
        if let Event::Warning(message) = event {
            eprintln!("{message}");
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [
        out,
        label,
        base,
        candidate,
        rounds,
        round_ms,
        sample_us,
        lead_in,
        warm_up_ms,
        bind,
    ] = arguments.as_slice()
    else {
        return Err("see the head of this file for the arguments".into());
    };
    let target = |program: &str, name: &str| BenchTarget {
        package: "probe".into(),
        target: name.into(),
        program: PathBuf::from(program),
        first_arguments: Vec::new(),
        directory: PathBuf::from("."),
        variables: BTreeMap::new(),
        facts: TargetFacts::default(),
        skipping: SkipSupport::Works,
        programs: Vec::new(),
    };
    let supervisor = Supervisor::default();
    let interrupt = Interrupt::never();
    let launcher = ProcessContext::new(&supervisor, &interrupt, &Silence, Duration::from_secs(30));
    let filter = std::env::var("ONLY").ok();
    let found = discover(vec![target(candidate, "probe")], None, launcher)?;
    let benchmarks = found
        .targets
        .into_iter()
        .flat_map(|t| t.benchmarks)
        .filter(|of| {
            filter
                .as_ref()
                .is_none_or(|only| only.split(',').any(|id| id == of.key.id))
        })
        .collect();
    let pair = PairedTarget {
        layouts: None,
        targets: BySide {
            base: target(base, "probe"),
            candidate: target(candidate, "probe"),
        },
        harnesses: BySide::default(),
        benchmarks,
        base_ids: BTreeMap::new(),
    };
    let plan = PairedPlan {
        rounds: rounds.parse()?,
        round: RoundSettings {
            time: Nanos(round_ms.parse::<u64>()? * 1_000_000),
            short_time: Nanos(round_ms.parse::<u64>()? * 1_000_000),
            sample: Nanos(sample_us.parse::<u64>()? * 1000),
            lead_in: lead_in.parse()?,
            warm_up: Nanos(warm_up_ms.parse::<u64>()? * 1_000_000),
            warm_up_iterations: None,
        },
        time_budget: None,
        time_per_benchmark: None,
        bind: bind.parse()?,
        seed: std::process::id().into(),
    };
    let mut all: BTreeMap<BenchmarkKey, Vec<Round>> = BTreeMap::new();
    let campaign = Campaign::paired(vec![pair], |_| 0.01, plan, launcher);
    let mut sink = CampaignSink {
        record: &mut |_, _| Ok::<(), Infallible>(()),
        standing: &mut |benchmark, _, rounds| {
            all.insert(benchmark.key.clone(), rounds.to_vec());
            None
        },
    };
    let result = campaign.run(&mut sink)?;
    write(out, label, result.costs, all)
}

/// Appends a line for each benchmark.
fn write(
    out: &str,
    label: &str,
    spent: Vec<BenchmarkCost>,
    mut all: BTreeMap<BenchmarkKey, Vec<Round>>,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = OpenOptions::new().create(true).append(true).open(out)?;
    for spent in spent {
        let rounds = all.remove(&spent.key).unwrap_or_default();
        let iterations = rounds
            .first()
            .and_then(|round| Some(round.base.first()?.iterations));
        let times = |samples: &[Sample]| -> Vec<f64> {
            samples
                .iter()
                .map(|sample| sample.per_iteration())
                .collect()
        };
        let pairs: Vec<_> = rounds
            .iter()
            .map(|round| [times(&round.base), times(&round.candidate)])
            .collect();
        let led: Vec<_> = rounds.iter().map(|round| &round.led).collect();
        let record = serde_json::json!({
            "workload": spent.key.id, "label": label, "wall": spent.time.as_secs_f64(),
            "iterations": iterations, "rounds": pairs, "led": led,
        });
        writeln!(out, "{record}")?;
    }
    Ok(())
}
