//! How often intervals over the samples of one process contain the true value, depending on how the samples are related.

use super::band::{marked, printed};
use super::noise::{SHAPES, Shape};
use super::simulated;
use perfcheck_stats::{
    ClusterMean, Interval, IqrFence, MedianInterval, OutlierPolicy, Resampling, Stream, TInterval,
    TrimmedMean, mean, median, percentile_interval,
};
use perfcheck_tools::numbers::Numbers;

const SAMPLES: [usize; 3] = [10, 50, 200];
const LEVEL: f64 = 0.95;
const RESAMPLES: usize = 1_000;

/// The relation between the samples of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Circumstance {
    /// Samples are independent.
    Independent,
    /// Every second sample repeats the one before it: an autocorrelation of 0.5.
    Sticky,
    /// The whole process is slower or faster, by as much as samples vary.
    ProcessEffect,
}

impl Circumstance {
    const ALL: [Self; 3] = [Self::Independent, Self::Sticky, Self::ProcessEffect];

    fn name(self) -> &'static str {
        match self {
            Self::Independent => "independent",
            Self::Sticky => "autocorrelated, 0.5",
            Self::ProcessEffect => "independent, the process off by 1 SD",
        }
    }

    fn draw(self, shape: Shape, count: usize, numbers: &mut Numbers) -> Vec<f64> {
        let effect = match self {
            Self::ProcessEffect => shape.sd() * numbers.normal(),
            _ => 0.0,
        };
        let mut samples: Vec<f64> = Vec::with_capacity(count);
        for _ in 0..count {
            let repeats = self == Self::Sticky && numbers.uniform() < 0.5;
            let before = samples.last().copied().filter(|_| repeats);
            samples.push(before.unwrap_or_else(|| shape.draw(numbers) + effect));
        }
        samples
    }
}

/// An interval and its true value, which is computed from a million draws if it is not known.
struct Row {
    name: &'static str,
    interval: fn(&[f64], u64) -> Option<Interval>,
    truth: fn(&[f64]) -> Option<f64>,
}

const FENCE: OutlierPolicy = OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK);

const ROWS: [Row; 5] = [
    Row {
        name: "Student's t, mean",
        interval: |x, _| Some(TInterval::compute(x, LEVEL)?.interval()),
        truth: mean,
    },
    Row {
        name: "Yuen's t after `both5`, trimmed mean",
        interval: |x, _| yuen(OutlierPolicy::BothFivePercent, x),
        truth: |x| mean(&OutlierPolicy::BothFivePercent.apply(x)?.values),
    },
    Row {
        name: "Yuen's t after `iqr`, mean within the fences",
        interval: |x, _| yuen(FENCE, x),
        truth: |x| mean(&FENCE.apply(x)?.values),
    },
    Row {
        name: "percentile bootstrap, mean",
        interval: |x, seed| {
            let clusters: Vec<&[f64]> = x.chunks(1).collect();
            let resampling = Resampling {
                resamples: RESAMPLES,
                stream: Stream {
                    seed,
                    name: "samples",
                },
            };
            percentile_interval(&ClusterMean::new(&clusters), LEVEL, resampling)
        },
        truth: mean,
    },
    Row {
        name: "distribution-free, median",
        interval: |x, _| Some(MedianInterval::compute(x, LEVEL)?.interval),
        truth: median,
    },
];

fn yuen(policy: OutlierPolicy, x: &[f64]) -> Option<Interval> {
    let trimmed = TrimmedMean::compute(&policy.apply(x)?)?;
    Some(trimmed.t_interval(LEVEL)?.interval())
}

/// Prints how often each interval contains the true value, for each relation between samples.
pub fn print(runs: u64) {
    println!("### Coverage of intervals over the samples of one process\n");
    println!(
        "As NBenchmark, Criterion and the serializer methodology state them: each sample is an observation. {runs} runs a cell, in per cent; the band that holds 99 % of such counts is {} for 95 %; `▼` lies below it, `▲` above it. **They assume that samples are independent**, and are intervals of what *processes* do only if processes do not differ: the last lines of each show what is left where they do.\n",
        printed(runs, LEVEL, 1)
    );
    println!("| interval | samples are | samples are drawn | n = 10 | n = 50 | n = 200 |");
    println!("|---|---|---|---|---|---|");
    let truths = SHAPES.map(|shape| simulated(1_000_000, "samples", |numbers| shape.draw(numbers)));
    for row in ROWS {
        for circumstance in Circumstance::ALL {
            for (shape, draws) in SHAPES.into_iter().zip(&truths) {
                let truth = (row.truth)(draws).unwrap_or(f64::NAN);
                let cells =
                    SAMPLES.map(|count| cell(&row, circumstance, shape, count, truth, runs));
                println!(
                    "| {} | {} | {} | {} |",
                    row.name,
                    circumstance.name(),
                    shape.name(),
                    cells.join(" | ")
                );
            }
        }
    }
    println!();
}

fn cell(
    row: &Row,
    circumstance: Circumstance,
    shape: Shape,
    count: usize,
    truth: f64,
    runs: u64,
) -> String {
    let stream = format!("samples {} {} {count}", circumstance.name(), shape.name());
    let found = simulated(runs, &stream, |numbers| {
        let samples = circumstance.draw(shape, count, numbers);
        let seed = (numbers.uniform() * 1e9) as u64;
        let interval = (row.interval)(&samples, seed)?;
        Some(interval.lower <= truth && truth <= interval.upper)
    });
    let made = found.iter().flatten().count() as u64;
    if made == 0 {
        return "-".to_owned();
    }
    let hits = found.iter().filter(|covered| **covered == Some(true));
    marked(hits.count() as u64, made, LEVEL, 1)
}
