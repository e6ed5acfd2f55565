//! Tests comparisons of stored runs on recorded processes: false alarms, detection, and the smallest change that could have been reported.
//!
//! Reads JSON lines `{"workload", "f", "cond", "us", "rounds": [[base, candidate], ...]}`. A line is a session, and a round is a pair of processes
//! with their times per iteration in nanoseconds. `us` is the length of a sample; the candidate's cost is multiplied by `f`. A run consists of five
//! processes spread over its session. New runs are all runs of identical code, also with their times multiplied by 1.25, and all slower runs. Each is
//! compared with every run of identical code from another session of its workload and condition, and with references that have one run from each
//! other session. `cargo run --release -p perfcheck-tools --bin recorded -- FILE [shared|dedicated]`, `-` for stdin.

#![allow(clippy::print_stdout)]

use perfcheck_analysis::compare::{
    Comparison, HostClass, Location, Question, Reference, TestPolicy, compare,
};
use perfcheck_analysis::model::{DecisionSettings, Measurement, Nanos, Sample, Test, Verdict};
use perfcheck_tools::series;
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{BufRead, BufReader, Read};

const PROCESSES: usize = 5;
const NOISE_THRESHOLD: f64 = 0.02;

/// The number of resamples. It is low because there are tens of thousands of comparisons, but enough for one comparison at the level of 1 %.
const RESAMPLES: u32 = 1_000;

#[derive(Deserialize)]
struct Recorded {
    workload: String,
    f: f64,
    cond: String,
    us: f64,
    rounds: Vec<[Vec<f64>; 2]>,
}

/// The factor that makes times of identical code look slower. It is so large that comparisons of stored runs can detect it.
const LARGE_EFFECT: f64 = 1.25;

/// The runs of a session.
struct Session {
    /// Runs of identical code.
    identical: Vec<Measurement>,
    /// The same runs, slowed down by [`LARGE_EFFECT`].
    scaled: Vec<Measurement>,
    /// Runs of a candidate that is slower by `slower` per mille.
    candidate: Vec<Measurement>,
    slower: u32,
}

/// A comparison of a new run with a reference.
struct Pair<'a> {
    /// Slowdown of the candidate, in per mille.
    slower: u32,
    /// Number of the new run, unique within a workload and condition.
    number: usize,
    candidate: &'a Measurement,
    reference: Vec<&'a Measurement>,
}

/// A line of the printed table. Comparisons of the same line are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    sample_us: u32,
    location: String,
    condition: String,
    /// Number of runs in the reference.
    references: usize,
    /// Slowdown of the candidate, in per mille.
    slower: u32,
}

#[derive(Default)]
struct Tally {
    compared: usize,
    regressed: usize,
    /// The new runs that were `regressed` in at least one comparison, each given by its workload and its number.
    culprits: BTreeSet<(String, usize)>,
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
    let mut groups: BTreeMap<(String, String, u32), Vec<Session>> = BTreeMap::new();
    for line in BufReader::new(input).lines() {
        let recorded: Recorded = serde_json::from_str(&line?)?;
        let session = Session::of(&recorded);
        let group = (recorded.workload, recorded.cond, recorded.us as u32);
        groups.entry(group).or_default().push(session);
    }
    let mut tallies: BTreeMap<Line, Tally> = BTreeMap::new();
    for ((workload, condition, sample_us), sessions) in &groups {
        let pairs = pairs(sessions);
        let compared: Vec<[Comparison; 2]> =
            pairs.par_iter().map(|pair| pair.compare(host)).collect();
        for (pair, [by_runs, screened]) in pairs.iter().zip(compared) {
            let line = Line {
                sample_us: *sample_us,
                location: by_runs.location().map_or_else(String::new, name),
                condition: condition.clone(),
                references: pair.reference.len(),
                slower: pair.slower,
            };
            let tally = tallies.entry(line).or_default();
            tally.add(pair, workload, &by_runs, &screened);
        }
    }
    println!(
        "sample location condition reference slower pairs | regressed % (by how many new runs) suspect improved unchanged % | t-score alone: regressed improved % | callable median 90% % | error of the change median 90% largest %"
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
        let side = |index: usize, factor: f64| {
            let rounds = recorded.rounds.iter();
            let processes: Vec<&[f64]> = rounds.map(|round| &round[index][..]).collect();
            runs(&processes, recorded.us * 1000.0, factor)
        };
        let same = recorded.f == 1.0;
        let both = |factor| [side(0, factor), side(1, factor)].concat();
        Self {
            identical: if same { both(1.0) } else { Vec::new() },
            scaled: if same { both(LARGE_EFFECT) } else { Vec::new() },
            candidate: if same { Vec::new() } else { side(1, 1.0) },
            slower: ((recorded.f - 1.0) * 1000.0).round() as u32,
        }
    }

    /// Returns the new runs, with their slowdown in per mille.
    fn candidate_runs(&self) -> impl Iterator<Item = (u32, &Measurement)> {
        let large = ((LARGE_EFFECT - 1.0) * 1000.0).round() as u32;
        let identical = self.identical.iter().map(|run| (0, run));
        let scaled = self.scaled.iter().map(move |run| (large, run));
        let candidate = self.candidate.iter().map(|run| (self.slower, run));
        identical.chain(scaled).chain(candidate)
    }
}

/// Returns all comparisons within a workload and condition.
fn pairs(sessions: &[Session]) -> Vec<Pair<'_>> {
    let mut pairs = Vec::new();
    let mut number = 0;
    for (at, session) in sessions.iter().enumerate() {
        let others: Vec<&[Measurement]> = sessions
            .iter()
            .enumerate()
            .filter(|(other, session)| *other != at && !session.identical.is_empty())
            .map(|(_, session)| &session.identical[..])
            .collect();
        let single = others.iter().copied().flatten().map(|base| vec![base]);
        let fewest = others.iter().map(|runs| runs.len()).min().unwrap_or(0);
        let several = (0..fewest).map(|run| others.iter().map(|runs| &runs[run]).collect());
        let references: Vec<Vec<&Measurement>> = single.chain(several).collect();
        for (slower, candidate) in session.candidate_runs() {
            number += 1;
            pairs.extend(references.iter().map(|reference| Pair {
                slower,
                number,
                candidate,
                reference: reference.clone(),
            }));
        }
    }
    pairs
}

/// Builds as many runs as there are processes for. The processes of each run are spread over the session.
fn runs(processes: &[&[f64]], sample_ns: f64, factor: f64) -> Vec<Measurement> {
    let count = processes.len() / PROCESSES;
    (0..count)
        .map(|run| {
            let of_run = processes.iter().skip(run).step_by(count).take(PROCESSES);
            let flat = of_run.map(|times| (Vec::new(), flat(times, sample_ns, factor)));
            series::measurement("recorded", flat.collect())
        })
        .collect()
}

/// Returns the samples of a process. Only times per iteration were recorded, so the number of iterations is chosen to give samples of the original
/// length.
fn flat(times: &[f64], sample_ns: f64, factor: f64) -> Vec<Sample> {
    times
        .iter()
        .map(|time| {
            let iterations = (sample_ns / times[0]).round().max(1.0);
            Sample {
                iterations: iterations as u64,
                elapsed: Nanos((iterations * time * factor).round() as u64),
            }
        })
        .collect()
}

impl Pair<'_> {
    /// Compares the new run with the reference twice: by the drift between runs, and by the t-score.
    fn compare(&self, host: HostClass) -> [Comparison; 2] {
        let reference = Reference {
            averaged: self.reference.clone(),
            spread: self.reference.clone(),
            earlier: vec![],
        };
        let question = Question {
            candidate: self.candidate,
            reference: &reference,
            noise_threshold: NOISE_THRESHOLD,
        };
        [Test::BootstrapT, Test::TScore].map(|test| {
            let rules = TestPolicy {
                decision: DecisionSettings {
                    resamples: RESAMPLES,
                    analysis: test.into(),
                    ..DecisionSettings::default()
                },
                host,
                seed: 1,
            };
            compare(&[question], &rules).remove(0)
        })
    }
}

impl Tally {
    fn add(
        &mut self,
        pair: &Pair<'_>,
        workload: &str,
        comparison: &Comparison,
        screened: &Comparison,
    ) {
        self.compared += 1;
        match comparison.verdict {
            Verdict::Regressed => {
                self.regressed += 1;
                self.culprits.insert((workload.to_owned(), pair.number));
            }
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
            let truth = 1.0 + f64::from(pair.slower) / 1000.0;
            self.errors
                .push(((1.0 + change.estimate) / truth - 1.0).abs());
            self.callable.push(callable);
        }
    }

    fn row(&mut self, line: &Line) -> String {
        let share = |count: usize| 100.0 * count as f64 / self.compared as f64;
        let counts = format!(
            "{} us, {}, {}, {} runs, +{:.1} %: {} | {:.2} ({}) {:.2} {:.2} {:.2} | {:.2} {:.2}",
            line.sample_us,
            line.location,
            line.condition,
            line.references,
            f64::from(line.slower) / 10.0,
            self.compared,
            share(self.regressed),
            self.culprits.len(),
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
            "{counts} | {:.1} {:.1} | {:.2} {:.2} {:.1}",
            at(&self.callable, 0.5),
            at(&self.callable, 0.9),
            at(&self.errors, 0.5),
            at(&self.errors, 0.9),
            at(&self.errors, 1.0),
        )
    }
}
