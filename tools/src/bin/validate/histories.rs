//! Trends of histories: how often an unchanged level is reported as changed, how often a step is found, and how often the newest run is outside its
//! band.

use perfcheck_analysis::compare::{Position, Trend, TrendPoint, TrendRules};

use super::simulated;
use perfcheck_tools::numbers::Numbers;
use perfcheck_tools::proportion::exact_interval;

/// The distribution of runs around their level.
#[derive(Debug, Clone, Copy)]
enum Noise {
    /// Normal with this standard deviation.
    Normal(f64),
    /// Normal with a standard deviation of 1 %. One run in ten is also slower by an exponential time with a mean of 10 %, as on a shared host.
    OneSided,
}

impl Noise {
    fn name(self) -> String {
        match self {
            Self::Normal(sd) => format!("normal, {} %", sd * 100.0),
            Self::OneSided => "one-sided".to_owned(),
        }
    }

    fn draw(self, numbers: &mut Numbers) -> f64 {
        match self {
            Self::Normal(sd) => sd * numbers.normal(),
            Self::OneSided => {
                let slower = if numbers.uniform() < 0.1 {
                    0.1 * numbers.exponential()
                } else {
                    0.0
                };
                0.01 * numbers.normal() + slower
            }
        }
    }
}

const NOISES: [Noise; 3] = [Noise::Normal(0.01), Noise::Normal(0.02), Noise::OneSided];
const RULES: TrendRules = TrendRules {
    noise_threshold: 0.02,
    confidence_level: 0.95,
    seed: 0,
};

/// Returns the trend of `before` runs, followed by `after` runs that are slower by `step`.
fn course(numbers: &mut Numbers, noise: Noise, before: usize, after: usize, step: f64) -> Trend {
    let points: Vec<TrendPoint> = (0..before + after)
        .map(|run| TrendPoint {
            is_placed: false,
            shown: None,
            value: noise.draw(numbers) + if run < before { 0.0 } else { step.ln_1p() },
            accepted: false,
        })
        .collect();
    Trend::from_points(&points, &RULES, "simulated")
}

fn counted(hits: usize, of: u64) -> String {
    let (lower, upper) = exact_interval(hits as u64, of);
    format!(
        "{:.2} [{:.2}, {:.2}]",
        100.0 * hits as f64 / of as f64,
        100.0 * lower,
        100.0 * upper
    )
}

/// Prints how often a change of level is found in histories without and with a step, and how often the newest run is outside the band.
pub fn print(runs: u64) {
    println!("### Histories\n");
    println!(
        "Per cent of {runs} series of runs without a change [95 %]: any level found (level 0.1 %), and the newest run outside its band (level 0.2 %), once or twice.\n"
    );
    println!("| noise | runs | a change of level | outside once | outside twice |");
    println!("|---|---|---|---|---|");
    for noise in NOISES {
        for count in [15, 30, 50] {
            let name = format!("history {noise:?} {count}");
            let found = simulated(runs, &name, |numbers| {
                let course = course(numbers, noise, count, 0, 0.0);
                (course.levels.len() > 1, course.newest)
            });
            let how_many = |wanted: &dyn Fn(&(bool, Position)) -> bool| {
                counted(found.iter().filter(|one| wanted(one)).count(), runs)
            };
            println!(
                "| {} | {count} | {} | {} | {} |",
                noise.name(),
                how_many(&|(changed, _)| *changed),
                how_many(&|(_, at)| matches!(at, Position::AboveOnce | Position::BelowOnce)),
                how_many(&|(_, at)| matches!(at, Position::AboveTwice | Position::BelowTwice)),
            );
        }
    }
    let fewer = runs / 4;
    println!(
        "\nPer cent of {fewer} series with a step: found within three runs of its place / levels too many.\n"
    );
    println!("| noise | step | 15 + 15 runs | 20 + 10 | 26 + 4 | 8 + 8 | 36 + 14 |");
    println!("|---|---|---|---|---|---|---|");
    for noise in NOISES {
        for step in [0.03, 0.05, 0.1] {
            let cells: Vec<String> = [(15, 15), (20, 10), (26, 4), (8, 8), (36, 14)]
                .into_iter()
                .map(|(before, after)| {
                    let name = format!("step {noise:?} {step} {before} {after}");
                    let found = simulated(fewer, &name, |numbers| {
                        let course = course(numbers, noise, before, after, step);
                        let firsts: Vec<usize> = course
                            .levels
                            .iter()
                            .skip(1)
                            .map(|level| level.first)
                            .collect();
                        let near = firsts.iter().any(|first| first.abs_diff(before) <= 3);
                        (near, firsts.len() > 1)
                    });
                    let share = |wanted: &dyn Fn(&(bool, bool)) -> bool| {
                        100.0 * found.iter().filter(|one| wanted(one)).count() as f64 / fewer as f64
                    };
                    format!("{:.1} / {:.1}", share(&|one| one.0), share(&|one| one.1))
                })
                .collect();
            println!(
                "| {} | {:+} % | {} |",
                noise.name(),
                step * 100.0,
                cells.join(" | ")
            );
        }
    }
    println!();
}
