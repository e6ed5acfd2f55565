//! Shows the effect of each choice in the decision rule for side-by-side measurements: replays recorded series under many rules.
//!
//! Reads JSON lines `{"workload", "rounds": [[base, candidate], ...]}` with times per iteration in nanoseconds, in the order in which they were
//! taken. Optional members are `"f"` (the candidate's cost divided by the base's, default 1), `"cond"` or `"label"` (printed), `"us"` (length of a
//! sample, default 1000) and `"iterations"` (of a sample). Each line begins a trial. A line with too few rounds is continued with the following lines
//! of the same kind; after the last of these comes the first. For identical code, the sides can be exchanged in random rounds, because such a series
//! is as likely as the recorded one. Prints each rule's verdicts with exact 95 % intervals, and the mean number of rounds until the stop.
//!
//! `cargo run --release -p perfcheck-tools --bin ablate_paired -- FILE [exchange=N] [samples=N] [us=N] [by=workload] [theta=PERCENT] [only=RULE]`

#![allow(clippy::print_stdout)]

use perfcheck_analysis::compare::{FloorGuard, PairedMethod, Plan};
use perfcheck_analysis::model::{Nanos, Round, Sample, Tally, Verdict};
use perfcheck_stats::{BootstrapSpread, Draws, Stream};
use perfcheck_tools::paired_verdict::judged;
use perfcheck_tools::proportion::exact_interval;
use rayon::prelude::*;
use serde::Deserialize;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader};

#[derive(Deserialize)]
struct Record {
    workload: String,
    f: Option<f64>,
    cond: Option<String>,
    label: Option<String>,
    us: Option<f64>,
    iterations: Option<u64>,
    rounds: Vec<[Vec<f64>; 2]>,
}

/// All trials of each kind. A trial is a series of rounds.
type Trials = BTreeMap<Kind, Vec<Vec<Round>>>;

/// The kind of a trial. Trials of one kind are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    condition: String,
    sample_us: u64,
    workload: String,
    /// Slowdown of the candidate, in per mille.
    slower: i64,
}

/// A decision rule for side-by-side measurements that the trials are judged by.
struct Rule {
    name: String,
    looks: Vec<u32>,
    theta: f64,
    method: PairedMethod,
}

struct Options {
    file: String,
    /// Number of additional trials with exchanged sides for each record of identical code.
    exchange: u64,
    /// How many samples of each side are used in a round.
    samples: usize,
    us: Option<u64>,
    by_workload: bool,
    theta: Option<f64>,
    only: Option<String>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let trials = trials(&options)?;
    println!(
        "rule | condition, sample, effect | trials: regressed improved suspect unchanged inconclusive | share regressed or improved %, exact 95 % interval | unchanged % | mean rounds"
    );
    for rule in rules(&options) {
        let mut tallies: BTreeMap<Kind, (Vec<Verdict>, usize)> = BTreeMap::new();
        for (kind, rounds) in &trials {
            let outcomes: Vec<(Verdict, usize)> = rounds
                .par_iter()
                .map(|rounds| rule.decide(rounds))
                .collect();
            let mut kind = kind.clone();
            if !options.by_workload {
                kind.workload = String::new();
            }
            let tally = tallies.entry(kind).or_default();
            for (verdict, used) in outcomes {
                tally.0.push(verdict);
                tally.1 += used;
            }
        }
        for (kind, (verdicts, used)) in tallies {
            println!("{}", row(&rule, &kind, &verdicts, used));
        }
    }
    Ok(())
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options {
        file: arguments.next().ok_or("which file?")?,
        exchange: 0,
        samples: 40,
        us: None,
        by_workload: false,
        theta: None,
        only: None,
    };
    for argument in arguments {
        let (name, value) = argument.split_once('=').ok_or("options are name=value")?;
        match name {
            "exchange" => options.exchange = value.parse()?,
            "samples" => options.samples = value.parse()?,
            "us" => options.us = Some(value.parse()?),
            "by" => options.by_workload = value == "workload",
            "theta" => options.theta = Some(value.parse::<f64>()? / 100.0),
            "only" => options.only = Some(value.to_owned()),
            _ => return Err(format!("`{name}` is no option").into()),
        }
    }
    Ok(options)
}

/// Returns the default rule, and rules that differ from it in one respect.
fn rules(options: &Options) -> Vec<Rule> {
    let default = PairedMethod::default();
    let mut rules = Vec::new();
    let mut add = |name: &str, looks: &[u32], theta: f64, method: PairedMethod| {
        rules.push(Rule {
            name: name.to_owned(),
            looks: looks.to_vec(),
            theta: options.theta.unwrap_or(theta),
            method,
        });
    };
    let looks = Plan::looks_up_to(100);
    add("default", &looks, 0.01, default);
    for floor_share in [1.0, 0.75, 0.25, 0.0] {
        let method = PairedMethod {
            floor_share,
            ..default
        };
        add(&format!("floor share {floor_share}"), &looks, 0.01, method);
    }
    for quantile in [0.0, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5] {
        let method = PairedMethod {
            quantile,
            ..default
        };
        add(&format!("quantile {quantile}"), &looks, 0.01, method);
    }
    for least_rank in [1, 3] {
        let method = PairedMethod {
            least_rank,
            ..default
        };
        add(&format!("least rank {least_rank}"), &looks, 0.01, method);
    }
    let method = PairedMethod {
        width: BootstrapSpread::Range95,
        ..default
    };
    add("width range 95", &looks, 0.01, method);
    for inflation in [0.8, 1.25] {
        let method = PairedMethod {
            inflation,
            ..default
        };
        add(&format!("inflation {inflation}"), &looks, 0.01, method);
    }
    for guard in [FloorGuard::Nowhere, FloorGuard::Changes] {
        let method = PairedMethod { guard, ..default };
        add(&format!("guard {guard:?}"), &looks, 0.01, method);
    }
    for spending in [1.0, 3.0] {
        let method = PairedMethod {
            spending,
            ..default
        };
        add(&format!("spending {spending}"), &looks, 0.01, method);
    }
    for looks in [
        &[5, 10, 20, 30][..],
        &[10, 15, 20, 25, 30, 40, 50, 60],
        &[8, 12, 16, 20, 25, 30, 40, 50, 60],
        &[30],
        &[20, 40],
        &[10, 20, 30],
        &[10, 20, 30, 45, 60],
    ] {
        add(&format!("looks {looks:?}"), looks, 0.01, default);
    }
    for theta in [0.0, 0.005, 0.02] {
        add(&format!("theta {theta}"), &looks, theta, default);
    }
    if let Some(only) = &options.only {
        rules.retain(|rule| rule.name.starts_with(only));
    }
    rules
}

impl Rule {
    /// Returns the verdict by this rule, and how many rounds were measured until then.
    fn decide(&self, rounds: &[Round]) -> (Verdict, usize) {
        let last = *self.looks.last().expect("a rule has looks") as usize;
        let rounds = &rounds[..last.min(rounds.len())];
        let comparison = judged(rounds, &self.looks, self.theta, &self.method, 1);
        let used = comparison.extent.processes_candidate();
        (comparison.verdict, used)
    }
}

/// Reads all trials by kind, each with up to `MOST_ROUNDS` rounds.
fn trials(options: &Options) -> Result<Trials, Box<dyn Error>> {
    const MOST_ROUNDS: usize = 100;
    let mut records = Trials::new();
    for line in BufReader::new(std::fs::File::open(&options.file)?).lines() {
        let record: Record = serde_json::from_str(&line?)?;
        let kind = Kind {
            condition: record
                .cond
                .clone()
                .or(record.label.clone())
                .unwrap_or_default(),
            sample_us: record.us.unwrap_or(1000.0) as u64,
            workload: record.workload.clone(),
            slower: ((record.f.unwrap_or(1.0) - 1.0) * 1000.0).round() as i64,
        };
        if options.us.is_none_or(|us| us == kind.sample_us) {
            let rounds = rounds(&record, options.samples);
            records.entry(kind).or_default().push(rounds);
        }
    }
    let mut trials = Trials::new();
    for (kind, records) in records {
        let chained = (0..records.len()).map(|start| -> Vec<Round> {
            let around = records.iter().cycle().skip(start).take(MOST_ROUNDS);
            around.flatten().take(MOST_ROUNDS).cloned().collect()
        });
        let chained: Vec<Vec<Round>> = chained.collect();
        let exchanges = if kind.slower == 0 {
            options.exchange
        } else {
            0
        };
        let all = (0..=exchanges).flat_map(|number| {
            let exchange = move |rounds: &Vec<Round>| exchanged(rounds, number);
            chained.iter().map(exchange).collect::<Vec<_>>()
        });
        trials.insert(kind, all.collect());
    }
    Ok(trials)
}

fn rounds(record: &Record, samples: usize) -> Vec<Round> {
    let sample_ns = record.us.unwrap_or(1000.0) * 1000.0;
    let typical = record.rounds.iter().find_map(|round| round[0].first());
    let iterations = record.iterations.unwrap_or_else(|| {
        (sample_ns / typical.copied().unwrap_or(1.0))
            .round()
            .max(1.0) as u64
    });
    let side = |times: &[f64]| {
        let sample = |time: &f64| Sample {
            iterations,
            elapsed: Nanos((iterations as f64 * time).round() as u64),
        };
        times.iter().take(samples).map(sample).collect()
    };
    let rounds = record.rounds.iter();
    rounds
        .map(|[base, candidate]| Round {
            layout: None,
            base: side(base),
            candidate: side(candidate),
            led: Vec::new(),
        })
        .collect()
}

/// Exchanges the sides of random rounds, which depend on `number`. With the number 0, returns the series as it was recorded.
fn exchanged(rounds: &[Round], number: u64) -> Vec<Round> {
    let stream = Stream {
        seed: 1,
        name: "exchange",
    };
    let mut draws = Draws::new(stream, number);
    let rounds = rounds.iter().cloned().map(|round| {
        if number > 0 && draws.index(2) == 1 {
            Round {
                layout: None,
                base: round.candidate,
                candidate: round.base,
                led: Vec::new(),
            }
        } else {
            round
        }
    });
    rounds.collect()
}

fn row(rule: &Rule, kind: &Kind, verdicts: &[Verdict], used: usize) -> String {
    let tally: Tally = verdicts.iter().copied().collect();
    let all = verdicts.len() as u64;
    let changed = (tally.count(Verdict::Regressed) + tally.count(Verdict::Improved)) as u64;
    let (low, high) = exact_interval(changed, all);
    let percent = |count: u64| 100.0 * count as f64 / all as f64;
    format!(
        "{} | {} {} {} us {:+.1} % | {all}: {} {} {} {} {} | {:.2} [{:.2}, {:.2}] | {:.1} | {:.1}",
        rule.name,
        kind.condition,
        kind.workload,
        kind.sample_us,
        kind.slower as f64 / 10.0,
        tally.count(Verdict::Regressed),
        tally.count(Verdict::Improved),
        tally.count(Verdict::Suspect),
        tally.count(Verdict::Unchanged),
        tally.count(Verdict::Inconclusive),
        percent(changed),
        100.0 * low,
        100.0 * high,
        percent(tally.count(Verdict::Unchanged) as u64),
        used as f64 / all as f64,
    )
}
