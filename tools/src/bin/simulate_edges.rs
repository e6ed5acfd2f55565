//! Simulates histories without fixed hardware: which planted steps are found among side-by-side runs on changing machines.
//!
//! There are 128 commits with a run each, made as by `perfcheck`. Each run is measured against the last accepted run. That run stays the reference
//! while runs are `inconclusive`, and while a run is `regressed`, until the user accepts after one to five runs. Machines 1 and 2 measure the first
//! half of the commits, 3 and 4 the second half; their speeds are unrelated. An edge has a normal error with its own standard error, 0.2 to 0.5 %,
//! and the verdict of an interval of 2.65 standard errors in each direction. Five steps of 2 % are planted, each up or down, at least eight commits
//! apart.
//!
//! `cargo run --release -p perfcheck-tools --bin simulate_edges [-- HISTORIES]` prints a table; HISTORIES (200) is the number of simulated histories
//! per line. `-- time` measures how long a network of 10,000 edges takes.

#![allow(clippy::print_stdout)]

use perfcheck_analysis::compare::{Edge, LevelEstimate, Network, TrendRules};
use perfcheck_stats::{Draws, Stream};
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::proportion::exact_interval;
use rayon::prelude::*;

const COMMITS: usize = 128;
const STEPS: usize = 5;
const STEP: f64 = 0.02;
const RULES: TrendRules = TrendRules {
    noise_threshold: 0.01,
    confidence_level: 0.95,
    seed: 0,
};
/// Half the width of a comparison's interval, in standard errors.
const REACH: f64 = 2.65;

/// The rules for making runs, and the true changes.
#[derive(Clone, Copy)]
struct Case {
    words: &'static str,
    steps: usize,
    /// Number of machines that measure each commit.
    machines: usize,
    /// Number of commits between runs against the first commit, as `--baseline` makes them; 0 for none.
    baseline_every: usize,
    /// Factor by which the true errors exceed the stated ones.
    understated: f64,
    /// Change that every commit adds.
    creep: f64,
    /// Share by which steps are larger or smaller on machines 3 and 4, which are of another class.
    otherwise: f64,
}

const PLAIN: Case = Case {
    words: "plain",
    steps: STEPS,
    machines: 1,
    baseline_every: 0,
    understated: 1.0,
    creep: 0.0,
    otherwise: 0.0,
};

/// The results for one history.
#[derive(Default, Clone)]
struct Outcome {
    located: usize,
    found: usize,
    false_steps: usize,
    /// |found / true - 1| for the newest commit relative to the first.
    error: f64,
    is_covered: bool,
    trends: usize,
    disagrees: bool,
}

fn main() {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("time") {
        return large();
    }
    let histories: u64 = argument.and_then(|text| text.parse().ok()).unwrap_or(200);
    println!(
        "{histories} histories a line                        steps within a commit | false  in | end to end, median, 95 %, worst | in interval | trends | disagree"
    );
    for case in cases() {
        let outcomes: Vec<Outcome> = (0..histories)
            .into_par_iter()
            .map(|seed| case.one(seed))
            .collect();
        let sum = |of: fn(&Outcome) -> usize| outcomes.iter().map(of).sum::<usize>();
        let count = |of: fn(&Outcome) -> bool| outcomes.iter().filter(|one| of(one)).count();
        let mut errors: Vec<f64> = outcomes.iter().map(|one| 100.0 * one.error).collect();
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| errors[((errors.len() - 1) as f64 * share).round() as usize];
        let with_false = count(|one| one.false_steps > 0);
        let (_, most) = exact_interval(with_false as u64, histories);
        println!(
            "{:43} {:5} of {:4} ({:5} found) | {:4} {:4} <= {:4.1} % | {:5.2} {:5.2} {:5.2} % | {:5.1} % | {:4} | {:4}",
            case.words,
            sum(|one| one.located),
            case.steps * outcomes.len(),
            sum(|one| one.found),
            sum(|one| one.false_steps),
            with_false,
            100.0 * most,
            at(0.5),
            at(0.95),
            at(1.0),
            100.0 * count(|one| one.is_covered) as f64 / outcomes.len() as f64,
            count(|one| one.trends > 0),
            count(|one| one.disagrees),
        );
    }
}

impl Case {
    fn one(self, seed: u64) -> Outcome {
        let stream = Stream {
            seed,
            name: "edges",
        };
        let mut numbers = Numbers(Draws::new(stream, 0));
        let planted = planted(self.steps, &mut numbers);
        // The logarithm of each commit's time, for each class of machines.
        let truth: [Vec<f64>; 2] = [1.0 - self.otherwise, 1.0 + self.otherwise].map(|factor| {
            let mut value = 0.0;
            (0..COMMITS)
                .map(|commit| {
                    let step = planted.iter().find(|(at, _)| *at == commit);
                    value += self.creep + step.map_or(0.0, |(_, step)| step * factor);
                    value
                })
                .collect()
        });
        let edges = self.runs(&truth, &mut numbers);
        let network = Network {
            places: COMMITS,
            nodes: COMMITS,
            edges: &edges,
        };
        let newest = self.class(3);
        let placement = LevelEstimate::solve(&network, newest, &RULES);
        let begins: Vec<usize> = (1..COMMITS)
            .filter(|place| !placement.is_one_level(place - 1, *place))
            .collect();
        let near = |place: usize, of: &[usize]| of.iter().any(|other| other.abs_diff(place) <= 1);
        let places: Vec<usize> = planted.iter().map(|(place, _)| *place).collect();
        let change = placement.change(0, COMMITS - 1);
        let truth = truth[newest][COMMITS - 1] - truth[newest][0];
        Outcome {
            located: places.iter().filter(|place| near(**place, &begins)).count(),
            found: begins.len(),
            false_steps: begins
                .iter()
                .filter(|place| !near(**place, &places))
                .count(),
            error: change.map_or(1.0, |change| {
                (change.estimate.ln_1p() - truth).exp_m1().abs()
            }),
            is_covered: change.is_some_and(|change| {
                change.lower - 1e-12 <= truth.exp_m1() && truth.exp_m1() <= change.upper + 1e-12
            }),
            trends: placement.trends().len(),
            disagrees: placement.disagreement.is_some(),
        }
    }
}

fn cases() -> Vec<Case> {
    let null = Case { steps: 0, ..PLAIN };
    vec![
        PLAIN,
        Case {
            words: "and against the first, each 16 commits",
            baseline_every: 16,
            ..PLAIN
        },
        Case {
            words: "and against the first, each 4 commits",
            baseline_every: 4,
            ..PLAIN
        },
        Case {
            words: "two machines measure each commit",
            machines: 2,
            ..PLAIN
        },
        Case {
            words: "all four measure each commit",
            machines: 4,
            ..PLAIN
        },
        Case {
            words: "all four, and against the first, each 4",
            machines: 4,
            baseline_every: 4,
            ..PLAIN
        },
        Case {
            words: "errors 1.5 times as large as said",
            understated: 1.5,
            ..PLAIN
        },
        Case {
            words: "no step",
            ..null
        },
        Case {
            words: "no step, all four measure each commit",
            machines: 4,
            ..null
        },
        Case {
            words: "no step, errors 1.5 times as large as said",
            understated: 1.5,
            ..null
        },
        Case {
            words: "0.1 % more with each commit",
            creep: 0.001,
            ..null
        },
        Case {
            words: "the same, and against the first, each 16",
            creep: 0.001,
            baseline_every: 16,
            ..null
        },
        Case {
            words: "all four, steps 4 and 0 % by class",
            machines: 4,
            otherwise: 1.0,
            ..PLAIN
        },
    ]
}

/// Prints how long a network of 10,000 edges takes, by the number of its levels.
fn large() {
    const PLACES: usize = 5_000;
    for levels in [1, 5, 20, 50] {
        let mut numbers = Numbers(Draws::new(
            Stream {
                seed: 1,
                name: "large",
            },
            0,
        ));
        let value = |place: usize| STEP * ((place * levels / PLACES) % 2) as f64;
        let edges: Vec<Edge> = (0..2 * PLACES)
            .map(|at| {
                let from = at % (PLACES - 1);
                let error = 0.002 + 0.003 * numbers.uniform();
                Edge {
                    from,
                    to: from + 1,
                    log_ratio: value(from + 1) - value(from) + error * numbers.normal(),
                    standard_error: error,
                    called: false,
                    class: at % 2,
                }
            })
            .collect();
        let network = Network {
            places: PLACES,
            nodes: PLACES,
            edges: &edges,
        };
        let begun = std::time::Instant::now();
        let placement = LevelEstimate::solve(&network, 0, &RULES);
        let steps = (1..PLACES).filter(|place| !placement.is_one_level(place - 1, *place));
        println!(
            "{} edges, {} steps found of {}: {:.3?}",
            edges.len(),
            steps.count(),
            levels - 1,
            begun.elapsed()
        );
    }
}

impl Case {
    /// Returns the class of a machine: 1 if steps have another size on this machine, and 0 otherwise.
    fn class(self, machine: usize) -> usize {
        usize::from(self.otherwise != 0.0 && machine >= 2)
    }

    /// Simulates the edges of all commits. `truth` has the logarithms of their times, by class.
    fn runs(self, truth: &[Vec<f64>; 2], numbers: &mut Numbers) -> Vec<Edge> {
        let mut edges: Vec<Edge> = Vec::new();
        let mut measure = |numbers: &mut Numbers, base: usize, commit: usize, machine: usize| {
            let standard_error = 0.002 + 0.003 * numbers.uniform();
            let class = self.class(machine);
            let difference = truth[class][commit] - truth[class][base];
            let edge = Edge {
                from: base,
                to: commit,
                log_ratio: difference + self.understated * standard_error * numbers.normal(),
                standard_error,
                called: false,
                class,
            };
            let (lower, upper) = (
                edge.log_ratio - REACH * standard_error,
                edge.log_ratio + REACH * standard_error,
            );
            let threshold = RULES.noise_threshold.ln_1p();
            let (slower, faster) = (lower > threshold, upper < -threshold);
            let called = slower || faster;
            edges.push(Edge { called, ..edge });
            (slower, faster, lower >= -threshold && upper <= threshold)
        };
        let mut references = [0; 4];
        let mut patience = [0; 4];
        for commit in 1..COMMITS {
            let pool: &[usize] = match (self.machines, commit < COMMITS / 2) {
                (4, _) => &[0, 1, 2, 3],
                (_, true) => &[0, 1],
                (_, false) => &[2, 3],
            };
            let only = pool[numbers.0.index(pool.len() as u32)];
            let measured = pool
                .iter()
                .filter(|machine| self.machines > 1 || **machine == only);
            for machine in measured {
                // If one machine measures each commit, all machines share the accepted run. If several do, each has a store with its own accepted
                // run.
                let own = if self.machines > 1 { *machine } else { 0 };
                if self.machines == 2 && commit == COMMITS / 2 {
                    references[own] = references[own - 2];
                }
                let (slower, faster, same) = measure(numbers, references[own], commit, *machine);
                if slower {
                    patience[own] += 1;
                    if patience[own] > numbers.0.index(5) {
                        patience[own] = 0;
                        references[own] = commit;
                    }
                } else if faster || same {
                    patience[own] = 0;
                    references[own] = commit;
                }
                if self.baseline_every > 0 && commit.is_multiple_of(self.baseline_every) {
                    measure(numbers, 0, commit, *machine);
                }
            }
        }
        edges
    }
}

/// Returns steps at commits that are at least eight apart, each up or down.
fn planted(steps: usize, numbers: &mut Numbers) -> Vec<(usize, f64)> {
    let mut planted: Vec<(usize, f64)> = Vec::new();
    while planted.len() < steps {
        let place = 8 + numbers.0.index((COMMITS - 16) as u32);
        let sign = if numbers.0.index(2) == 0 { 1.0 } else { -1.0 };
        if planted.iter().all(|(other, _)| other.abs_diff(place) >= 8) {
            planted.push((place, sign * STEP.ln_1p()));
        }
    }
    planted
}
