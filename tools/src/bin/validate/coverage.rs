//! How often intervals contain the true value.

use super::band::{marked, printed};
use super::noise::{SHAPES, Shape};
use super::{simulated, stored, turns};
use perfcheck_analysis::model::Test;
use perfcheck_stats::{
    ClusterMad, ClusterMean, ClusterMedian, ClusterSd, ClusterSlope, ClusterStatistic, Description,
    HodgesLehmann, HodgesLehmannRanks, Interval, IntervalScale, MedianInterval, PairedLogRatio,
    Resampling, Stream, TInterval, TScore, WelchDf, WelchTest, bca_interval, jackknife_t_interval,
    jackknife_t_relative_change_interval, percentile_interval, relative_change_interval,
};
use perfcheck_tools::numbers::Numbers;

const PROCESSES: [usize; 4] = [3, 5, 10, 20];
const LEVEL: f64 = 0.95;
/// Level of the intervals that decide on runs and on side-by-side rounds. Each bound is at 1 %.
const DECIDING_LEVEL: f64 = 0.98;
const RESAMPLES: usize = 1_000;
/// Number of samples of a process, and their standard deviation.
const SAMPLES: usize = 15;
const WITHIN: f64 = 2.0;

type Covered = Option<bool>;

/// An interval for which the table has a row for each shape. `covers` draws data and returns whether the interval contains the truth, or `None`
/// without an interval.
struct Row {
    name: &'static str,
    level: f64,
    covers: fn(&Case, &mut Numbers) -> Covered,
}

/// The data for a row.
struct Case {
    shape: Shape,
    processes: usize,
    truth: Truth,
}

/// The true values for a sample of any process.
#[derive(Debug, Clone, Copy)]
struct Truth {
    mean: f64,
    median: f64,
    sd: f64,
    mad: f64,
}

impl Truth {
    /// Returns the true values. Mean and deviation are known; median and MAD are computed from a million draws.
    fn of(shape: Shape) -> Self {
        let draws = simulated(1_000_000, "truth", |numbers| {
            shape.draw(numbers) + WITHIN * numbers.normal()
        });
        let described = Description::compute(&draws).expect("a million values");
        Self {
            mean: shape.mean(),
            median: described.median,
            sd: shape.sd().hypot(WITHIN),
            mad: described.mad,
        }
    }
}

/// Prints how often each interval contains the true value, for each shape and number of processes.
pub fn print(runs: u64) {
    println!("### Coverage of intervals\n");
    println!(
        "{runs} runs a cell, in per cent; where there is no interval at all, `-`. Bands that hold 99 % of such counts: {} for 95 %, {} for 98 %; `▼` lies below the band, `▲` above it.\n",
        printed(runs, LEVEL, 1),
        printed(runs, DECIDING_LEVEL, 1),
    );
    println!("| interval | level | processes are | k = 3 | k = 5 | k = 10 | k = 20 |");
    println!("|---|---|---|---|---|---|---|");
    let truths = SHAPES.map(Truth::of);
    for row in ROWS {
        for (shape, truth) in SHAPES.into_iter().zip(truths) {
            let cells = PROCESSES.map(|processes| {
                let case = Case {
                    shape,
                    processes,
                    truth,
                };
                row.cell(&case, runs)
            });
            println!(
                "| {} | {:.0} % | {} | {} |",
                row.name,
                100.0 * row.level,
                shape.name(),
                cells.join(" | ")
            );
        }
    }
    println!();
}

impl Row {
    fn cell(&self, case: &Case, runs: u64) -> String {
        let stream = format!("{} {} {}", self.name, case.shape.name(), case.processes);
        let found = simulated(runs, &stream, |numbers| (self.covers)(case, numbers));
        let made = found.iter().flatten().count() as u64;
        if made == 0 {
            return "-".to_owned();
        }
        let hits = found.iter().filter(|covered| **covered == Some(true));
        marked(hits.count() as u64, made, self.level, 1)
    }
}

const ROWS: &[Row] = &[
    row("t, of the mean of process values", |case, numbers| {
        let values = case.values(numbers);
        holds(
            TInterval::compute(&values, LEVEL)?.interval(),
            case.shape.mean(),
        )
    }),
    row("jackknife t, mean", |case, numbers| {
        case.pooled(numbers, |x| {
            holds(t(&ClusterMean::new(x))?, case.truth.mean)
        })
    }),
    row("percentile bootstrap, mean", |case, numbers| {
        let draws = seed(numbers);
        case.pooled(numbers, |x| {
            holds(bootstrap(&ClusterMean::new(x), draws)?, case.truth.mean)
        })
    }),
    row("BCa bootstrap, mean", |case, numbers| {
        let draws = seed(numbers);
        case.pooled(numbers, |x| {
            let found = bca_interval(&ClusterMean::new(x), LEVEL, resampling(draws))?;
            holds(found, case.truth.mean)
        })
    }),
    row("jackknife t, median", |case, numbers| {
        case.pooled(numbers, |x| {
            holds(t(&ClusterMedian::new(x))?, case.truth.median)
        })
    }),
    row("percentile bootstrap, median", |case, numbers| {
        let draws = seed(numbers);
        case.pooled(numbers, |x| {
            holds(bootstrap(&ClusterMedian::new(x), draws)?, case.truth.median)
        })
    }),
    row("jackknife t, SD", |case, numbers| {
        case.pooled(numbers, |x| holds(t(&ClusterSd::new(x))?, case.truth.sd))
    }),
    row("percentile bootstrap, SD", |case, numbers| {
        let draws = seed(numbers);
        case.pooled(numbers, |x| {
            holds(bootstrap(&ClusterSd::new(x), draws)?, case.truth.sd)
        })
    }),
    row("jackknife t, MAD", |case, numbers| {
        case.pooled(numbers, |x| holds(t(&ClusterMad::new(x))?, case.truth.mad))
    }),
    row("percentile bootstrap, MAD", |case, numbers| {
        let draws = seed(numbers);
        case.pooled(numbers, |x| {
            holds(bootstrap(&ClusterMad::new(x), draws)?, case.truth.mad)
        })
    }),
    row("jackknife t, slope", |case, numbers| {
        case.ramps(numbers, |x| {
            holds(t(&ClusterSlope::new(x))?, case.truth.mean)
        })
    }),
    row("percentile bootstrap, slope", |case, numbers| {
        let draws = seed(numbers);
        case.ramps(numbers, |x| {
            holds(bootstrap(&ClusterSlope::new(x), draws)?, case.truth.mean)
        })
    }),
    row(
        "distribution-free, median of process values",
        |case, numbers| {
            let values = case.values(numbers);
            // The median of all three shapes is 100.
            holds(MedianInterval::compute(&values, LEVEL)?.interval, 100.0)
        },
    ),
    row("Welch t, difference of means", |case, numbers| {
        let (candidate, base) = (case.values(numbers), case.values(numbers));
        let found = WelchTest::test(&candidate, &base, WelchDf::Fractional)?;
        holds(found.interval(LEVEL)?, 0.0)
    }),
    row("t-score, difference of means", |case, numbers| {
        let draws = seed(numbers);
        let (candidate, base) = (case.values(numbers), case.values(numbers));
        let tail = (1.0 - LEVEL) / 2.0;
        let found = TScore::test(&candidate, &base, 0.0, 0.0, tail, resampling(draws))?;
        let (lower, upper) = (found.lower_bound(tail), found.upper_bound(tail));
        holds(Interval { lower, upper }, 0.0)
    }),
    row("Hodges-Lehmann shift", |case, numbers| {
        let (candidate, base) = (case.values(numbers), case.values(numbers));
        holds(
            HodgesLehmann::from_groups(&candidate, &base)?
                .interval(LEVEL, HodgesLehmannRanks::Exact)?,
            0.0,
        )
    }),
    row("paired log ratio", |case, numbers| {
        // Effects that both sides of a pair share cancel out.
        let (mut candidate, mut base) = (case.values(numbers), case.values(numbers));
        for (candidate, base) in candidate.iter_mut().zip(&mut base) {
            let moment = (0.2 * numbers.normal()).exp();
            *candidate *= moment;
            *base *= moment;
        }
        holds(
            PairedLogRatio::compute(&candidate, &base, LEVEL)?.interval,
            1.0,
        )
    }),
    row("jackknife t, ratio of means", |case, numbers| {
        let (candidate, base) = (case.clusters(numbers), case.clusters(numbers));
        let (candidate, base) = (slices(&candidate), slices(&base));
        let (candidate, base) = (ClusterMean::new(&candidate), ClusterMean::new(&base));
        holds(
            jackknife_t_relative_change_interval(&candidate, &base, LEVEL)?,
            0.0,
        )
    }),
    row("percentile bootstrap, ratio of means", |case, numbers| {
        let draws = seed(numbers);
        let (candidate, base) = (case.clusters(numbers), case.clusters(numbers));
        let (candidate, base) = (slices(&candidate), slices(&base));
        let (candidate, base) = (ClusterMean::new(&candidate), ClusterMean::new(&base));
        holds(
            relative_change_interval(&candidate, &base, LEVEL, resampling(draws))?,
            0.0,
        )
    }),
    row("jackknife t, ratio of medians", |case, numbers| {
        let (candidate, base) = (case.clusters(numbers), case.clusters(numbers));
        let (candidate, base) = (slices(&candidate), slices(&base));
        let (candidate, base) = (ClusterMedian::new(&candidate), ClusterMedian::new(&base));
        holds(
            jackknife_t_relative_change_interval(&candidate, &base, LEVEL)?,
            0.0,
        )
    }),
    row("percentile bootstrap, ratio of medians", |case, numbers| {
        let draws = seed(numbers);
        let (candidate, base) = (case.clusters(numbers), case.clusters(numbers));
        let (candidate, base) = (slices(&candidate), slices(&base));
        let (candidate, base) = (ClusterMedian::new(&candidate), ClusterMedian::new(&base));
        holds(
            relative_change_interval(&candidate, &base, LEVEL, resampling(draws))?,
            0.0,
        )
    }),
    Row {
        name: "run level, floors against five runs that drift by 3 %",
        level: DECIDING_LEVEL,
        covers: |case, numbers| {
            let mut run = || {
                let drift = (0.03 * numbers.normal()).exp();
                // Use a fifth of the noise, because processes of a run differ less than that.
                let values = case.values(numbers);
                let values: Vec<f64> = values
                    .iter()
                    .map(|value| drift * (100.0 + (value - 100.0) / 5.0))
                    .collect();
                stored::run(&values)
            };
            let (candidate, base): (_, Vec<_>) = (run(), (0..5).map(|_| run()).collect());
            let change = stored::decided(&candidate, &base, Test::BootstrapT, 0.0).change?;
            Some(change.lower <= 0.0 && 0.0 <= change.upper)
        },
    },
    Row {
        name: "in turn, k rounds, one look",
        level: DECIDING_LEVEL,
        covers: |case, numbers| {
            let rounds = turns::rounds(case.processes, numbers, |numbers| {
                (1.0 + (case.shape.draw(numbers) / 100.0 - 1.0) / 5.0).max(0.1)
            });
            let looks = [case.processes as u32];
            let change = turns::judged(&rounds, &looks, 0.0).change?;
            let bounded = change.lower.is_finite() && change.upper.is_finite();
            bounded.then_some(change.lower <= 0.0 && 0.0 <= change.upper)
        },
    },
];

const fn row(name: &'static str, covers: fn(&Case, &mut Numbers) -> Covered) -> Row {
    Row {
        name,
        level: LEVEL,
        covers,
    }
}

impl Case {
    /// Draws a value for each process.
    fn values(&self, numbers: &mut Numbers) -> Vec<f64> {
        self.shape.values(self.processes, numbers)
    }

    /// Draws the samples of each process around its value.
    fn clusters(&self, numbers: &mut Numbers) -> Vec<Vec<f64>> {
        self.values(numbers)
            .into_iter()
            .map(|value| {
                (0..SAMPLES)
                    .map(|_| value + WITHIN * numbers.normal())
                    .collect()
            })
            .collect()
    }

    fn pooled(&self, numbers: &mut Numbers, covers: impl Fn(&[&[f64]]) -> Covered) -> Covered {
        covers(&slices(&self.clusters(numbers)))
    }

    /// Draws a linear phase for each process.
    fn ramps(
        &self,
        numbers: &mut Numbers,
        covers: impl Fn(&[&[(f64, f64)]]) -> Covered,
    ) -> Covered {
        let ramps: Vec<Vec<(f64, f64)>> = self
            .clusters(numbers)
            .iter()
            .map(|samples| {
                let steps = (1_u32..).map(f64::from);
                samples.iter().zip(steps).map(|(x, m)| (m, m * x)).collect()
            })
            .collect();
        let ramps: Vec<&[(f64, f64)]> = ramps.iter().map(Vec::as_slice).collect();
        covers(&ramps)
    }
}

fn slices(clusters: &[Vec<f64>]) -> Vec<&[f64]> {
    clusters.iter().map(Vec::as_slice).collect()
}

fn t(statistic: &impl ClusterStatistic) -> Option<Interval> {
    jackknife_t_interval(statistic, IntervalScale::Logarithmic, LEVEL)
}

fn bootstrap(statistic: &impl ClusterStatistic, seed: u64) -> Option<Interval> {
    percentile_interval(statistic, LEVEL, resampling(seed))
}

/// Draws the seed for the resamples of one run.
fn seed(numbers: &mut Numbers) -> u64 {
    numbers.0.index(u32::MAX) as u64
}

fn resampling(seed: u64) -> Resampling<'static> {
    let stream = Stream {
        seed,
        name: "coverage",
    };
    Resampling {
        resamples: RESAMPLES,
        stream,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what a row answers")]
fn holds(interval: Interval, truth: f64) -> Covered {
    Some(interval.lower <= truth && truth <= interval.upper)
}
