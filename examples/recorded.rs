//! How stored-run comparisons fare on recorded launches: false alarms, detection, and what could have been called.
//!
//! Reads JSON lines `{"workload", "f", "cond", "us", "rounds": [[base, candidate], ...]}`: a line is a session, a round a pair of processes
//! with their times per iteration in nanoseconds, `us` the length of a sample; the candidate's cost is multiplied by `f`.
//! A run is five launches spread over its session. Every run of identical code is compared with every one of another session of
//! its workload and condition; slower runs with all of identical code.
//! `cargo run --release --example recorded -- FILE [HOST]`, `-` for stdin; HOST is `shared` (default) or `dedicated`.

#![allow(clippy::print_stdout)]

use cargo_perfcheck::compare::{
    Comparison, Decider, HostClass, Location, Question, Reference, Rules, compare,
};
use cargo_perfcheck::model::{
    AuthorSettings, Benchmark, BenchmarkKey, DecisionSettings, LaunchSeries, Measurement, Nanos,
    Sample, SamplingSettings, Series, TargetFacts, Throughput, Verdict,
};
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Read};

const LAUNCHES: usize = 5;
const NOISE_THRESHOLD: f64 = 0.02;

/// Few, as there are tens of thousands of comparisons; enough for one question at the level of 1 %.
const RESAMPLES: u32 = 1_000;

#[derive(Deserialize)]
struct Recorded {
    workload: String,
    f: f64,
    cond: String,
    us: f64,
    rounds: Vec<[Vec<f64>; 2]>,
}

/// The runs of one side of a session.
struct Session {
    identical: Vec<Measurement>,
    slower: Vec<Measurement>,
}

/// What is tallied together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    sample_us: u32,
    location: String,
    condition: String,
    /// Per mille by which the candidate is slower.
    slower: u32,
}

#[derive(Default)]
struct Tally {
    compared: usize,
    regressed: usize,
    improved: usize,
    suspect: usize,
    unchanged: usize,
    screen_regressed: usize,
    screen_improved: usize,
    errors: Vec<f64>,
    callable: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file?")?;
    let host = match arguments.next().as_deref() {
        None | Some("shared") => HostClass::Shared,
        Some("dedicated") => HostClass::Dedicated,
        Some(other) => return Err(format!("`{other}` is no class of hosts").into()),
    };
    let input: Box<dyn Read> = match &*path {
        "-" => Box::new(std::io::stdin()),
        path => Box::new(std::fs::File::open(path)?),
    };
    let mut groups: BTreeMap<(String, String, u32), Vec<(f64, Session)>> = BTreeMap::new();
    for line in BufReader::new(input).lines() {
        let recorded: Recorded = serde_json::from_str(&line?)?;
        let group = (
            recorded.workload.clone(),
            recorded.cond.clone(),
            recorded.us as u32,
        );
        groups
            .entry(group)
            .or_default()
            .push((recorded.f, Session::of(&recorded)));
    }
    let mut tallies: BTreeMap<Line, Tally> = BTreeMap::new();
    for ((_, condition, sample_us), sessions) in &groups {
        for (slower, comparison, screened) in compared(sessions, host) {
            let line = Line {
                sample_us: *sample_us,
                location: comparison.location.map_or_else(String::new, name),
                condition: condition.clone(),
                slower,
            };
            tallies
                .entry(line)
                .or_default()
                .add(slower, &comparison, &screened);
        }
    }
    println!(
        "sample condition slower location     pairs | regressed suspect improved unchanged % | t-score alone: regressed improved % | callable median 90% % | error of the change median 90% largest %"
    );
    for (line, tally) in &mut tallies {
        println!("{}", tally.row(line));
    }
    Ok(())
}

fn name(location: Location) -> String {
    location.to_string()
}

impl Session {
    fn of(recorded: &Recorded) -> Self {
        let side = |index: usize| {
            let launches: Vec<&[f64]> = recorded
                .rounds
                .iter()
                .map(|round| &round[index][..])
                .collect();
            runs(&launches, recorded.us * 1000.0)
        };
        let (mut identical, candidate) = (side(0), side(1));
        if recorded.f == 1.0 {
            identical.extend(candidate);
            Self {
                identical,
                slower: Vec::new(),
            }
        } else {
            Self {
                identical: Vec::new(),
                slower: candidate,
            }
        }
    }
}

/// As many runs as there are launches for, the launches of each spread over the session.
fn runs(launches: &[&[f64]], sample_ns: f64) -> Vec<Measurement> {
    let count = launches.len() / LAUNCHES;
    (0..count)
        .map(|run| {
            let of_run = launches.iter().skip(run).step_by(count).take(LAUNCHES);
            measurement((0_u32..).zip(of_run.map(|times| flat(times, sample_ns))))
        })
        .collect()
}

/// The samples of a launch. Only times per iteration were recorded: iterations are chosen that make samples as long as they were.
fn flat(times: &[f64], sample_ns: f64) -> Vec<Sample> {
    times
        .iter()
        .map(|time| {
            let iterations = (sample_ns / times[0]).round().max(1.0);
            Sample {
                iterations: iterations as u64,
                elapsed: Nanos((iterations * time).round() as u64),
            }
        })
        .collect()
}

fn measurement(launches: impl Iterator<Item = (u32, Vec<Sample>)>) -> Measurement {
    let launches = launches
        .map(|(launch, flat)| LaunchSeries {
            launch,
            quantum: Nanos(20),
            series: Series {
                warm_up: Sample {
                    iterations: 1,
                    elapsed: Nanos(1),
                },
                linear: Vec::new(),
                flat,
            },
        })
        .collect();
    Measurement {
        benchmark: Benchmark {
            key: BenchmarkKey {
                package: "example".into(),
                target: "recorded".into(),
                id: "series".into(),
            },
            version: None,
            throughput: Throughput::default(),
            settings: AuthorSettings::default(),
        },
        target_facts: TargetFacts::default(),
        sampling: SamplingSettings::default(),
        noise_threshold: NOISE_THRESHOLD,
        launches,
        failures: Vec::new(),
        verdict: None,
    }
}

/// All comparisons of a workload under a condition: by how much slower, decided by runs, decided by the t-score.
fn compared(sessions: &[(f64, Session)], host: HostClass) -> Vec<(u32, Comparison, Comparison)> {
    let mut pairs: Vec<(u32, &Measurement, &Measurement)> = Vec::new();
    for (at, (f, session)) in sessions.iter().enumerate() {
        let slower = ((f - 1.0) * 1000.0).round() as u32;
        let candidates = session.identical.iter().chain(&session.slower);
        for new in candidates {
            for (other, (_, base)) in sessions.iter().enumerate() {
                if other != at {
                    pairs.extend(base.identical.iter().map(|base| (slower, new, base)));
                }
            }
        }
    }
    pairs
        .par_iter()
        .map(|(slower, new, base)| {
            let decide = |decider| compare_pair(new, base, decider, host);
            (*slower, decide(Decider::RunLevel), decide(Decider::Screen))
        })
        .collect()
}

fn compare_pair(
    new: &Measurement,
    base: &Measurement,
    decider: Decider,
    host: HostClass,
) -> Comparison {
    let reference = Reference {
        averaged: vec![base],
        spread: vec![base],
    };
    let question = Question {
        new,
        reference: &reference,
        noise_threshold: NOISE_THRESHOLD,
    };
    let rules = Rules {
        decision: DecisionSettings {
            resamples: RESAMPLES,
            ..DecisionSettings::default()
        },
        decider,
        host,
        seed: 1,
    };
    compare(&[question], &rules).remove(0)
}

impl Tally {
    fn add(&mut self, slower: u32, comparison: &Comparison, screened: &Comparison) {
        self.compared += 1;
        match comparison.verdict {
            Verdict::Regressed => self.regressed += 1,
            Verdict::Improved => self.improved += 1,
            Verdict::Suspect => self.suspect += 1,
            Verdict::Unchanged => self.unchanged += 1,
            _ => {}
        }
        match screened.verdict {
            Verdict::Regressed => self.screen_regressed += 1,
            Verdict::Improved => self.screen_improved += 1,
            _ => {}
        }
        if let (Some(change), Some(callable)) = (comparison.change, comparison.smallest_callable) {
            let truth = 1.0 + f64::from(slower) / 1000.0;
            self.errors
                .push(((1.0 + change.estimate) / truth - 1.0).abs());
            self.callable.push(callable);
        }
    }

    fn row(&mut self, line: &Line) -> String {
        let share = |count: usize| 100.0 * count as f64 / self.compared as f64;
        let counts = format!(
            "{:5} us {:9} {:4.1} % {:14} {:5} | {:5.2} {:5.2} {:5.2} {:5.2} | {:5.2} {:5.2}",
            line.sample_us,
            line.condition,
            f64::from(line.slower) / 10.0,
            line.location,
            self.compared,
            share(self.regressed),
            share(self.suspect),
            share(self.improved),
            share(self.unchanged),
            share(self.screen_regressed),
            share(self.screen_improved),
        );
        self.errors.sort_by(f64::total_cmp);
        self.callable.sort_by(f64::total_cmp);
        let at = |values: &[f64], p: f64| {
            let last = values.len().saturating_sub(1) as f64;
            100.0
                * values
                    .get((p * last).round() as usize)
                    .copied()
                    .unwrap_or(f64::NAN)
        };
        format!(
            "{counts} | {:5.1} {:5.1} | {:5.2} {:5.2} {:5.1}",
            at(&self.callable, 0.5),
            at(&self.callable, 0.9),
            at(&self.errors, 0.5),
            at(&self.errors, 0.9),
            at(&self.errors, 1.0),
        )
    }
}
