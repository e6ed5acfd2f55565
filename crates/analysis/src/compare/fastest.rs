//! Ranks several benchmarks of one run. It finds the fastest benchmark, and the benchmarks that cannot be distinguished from it.
//!
//! The ranks decide no verdict: the processes of one run do not show drift between runs, or the effects of other inputs and code layouts.

use serde::Serialize;

use super::summary::{described_times, sample_times};
use crate::model::Measurement;
use perfcheck_stats::{WelchDf, WelchTest, mean, median, words};

words! {
    /// How a benchmark compares with the fastest of the benchmarks that are ranked together.
    Rank {
        Fastest = "fastest": "The benchmark with the smallest value.",
        Open = "open": "Possibly as fast as the fastest.",
        Slower = "slower": "Significantly slower than the fastest.",
    }
}

/// A benchmark in a ranking of several benchmarks of one run by their speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contender {
    /// The geometric mean of the processes' medians, in nanoseconds per iteration or in the unit of the metric.
    pub value_ns: f64,
    /// `value_ns` divided by the `value_ns` of the fastest benchmark in the ranking, so it is at least 1.
    pub ratio: f64,
    /// Whether the benchmark is the fastest, possibly as fast, or significantly slower.
    pub rank: Rank,
    /// The p-value of the test whether the benchmark is slower than the fastest, adjusted for the number of benchmarks in the ranking. Null for the
    /// fastest benchmark, and if no test was possible because one of the two has fewer than two processes or neither varies.
    pub p_value: Option<f64>,
}

/// The medians of the samples of each process, in nanoseconds per iteration. Processes without samples have none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProcessMedians {
    /// Medians of the samples that a filter keeps, or of all samples if there is no filter. They determine which benchmark is the fastest.
    pub described: Vec<f64>,
    /// Medians of all samples, including those that a filter leaves out. Tests use these medians.
    pub tested: Vec<f64>,
}

impl ProcessMedians {
    /// Computes the medians of `measurement`.
    pub fn from_measurement(measurement: &Measurement) -> Self {
        let medians = |processes: Vec<Vec<f64>>| {
            let processes = processes.iter();
            processes.filter_map(|times| median(times)).collect()
        };
        Self {
            described: medians(described_times(measurement)),
            tested: medians(sample_times(measurement)),
        }
    }
}

/// Compares each contender with the fastest of them. A contender is given by the medians of its processes. A contender without values gets `None`.
///
/// This is subset selection in the manner of Gupta (1965). A contender stays `Open` unless Welch's one-sided test of the logarithms shows that it is
/// slower than the apparently fastest contender. The level of each test is `level` divided by the number of rivals (Bonferroni). The truly fastest
/// contender is excluded only if one of its rivals is wrongly shown to be faster. So it is ranked `Fastest` or `Open` with a probability of at least
/// 1 - `level`, although the fastest was selected by the same data.
pub fn rank_against_fastest(contenders: &[ProcessMedians], level: f64) -> Vec<Option<Contender>> {
    let logarithms = |values: &[f64]| -> Vec<f64> { values.iter().map(|x| x.ln()).collect() };
    let tested: Vec<Vec<f64>> = contenders
        .iter()
        .map(|medians| logarithms(&medians.tested))
        .collect();
    let centers: Vec<Option<f64>> = contenders
        .iter()
        .map(|medians| mean(&logarithms(&medians.described)).filter(|found| found.is_finite()))
        .collect();
    let known = centers.iter().zip(0..);
    let fastest = known
        .filter_map(|(center, at)| Some(((*center)?, at)))
        .min_by(|(a, _), (b, _)| a.total_cmp(b));
    let Some((smallest, fastest)) = fastest else {
        return vec![None; contenders.len()];
    };
    let rivals = centers.iter().flatten().count() - 1;
    let contender = |(center, at): (&Option<f64>, usize)| {
        let center = (*center)?;
        let (rank, p_value) = if at == fastest {
            (Rank::Fastest, None)
        } else {
            test_slower(&tested[at], &tested[fastest], rivals, level)
        };
        Some(Contender {
            value_ns: center.exp(),
            ratio: (center - smallest).exp(),
            rank,
            p_value,
        })
    };
    centers.iter().zip(0..).map(contender).collect()
}

/// Tests whether `own` is slower than `fastest`. Returns the rank and the p-value, which is adjusted for the number of `rivals`.
fn test_slower(own: &[f64], fastest: &[f64], rivals: usize, level: f64) -> (Rank, Option<f64>) {
    let Some(test) = WelchTest::test(own, fastest, WelchDf::Fractional) else {
        return (Rank::Open, None);
    };
    let one_sided = if test.t > 0.0 {
        test.p / 2.0
    } else {
        1.0 - test.p / 2.0
    };
    let adjusted = (one_sided * rivals as f64).min(1.0);
    let rank = if adjusted <= level {
        Rank::Slower
    } else {
        Rank::Open
    };
    (rank, Some(adjusted))
}

#[cfg(test)]
mod tests {
    use super::{Contender, ProcessMedians, Rank};
    use crate::compare::apply_filter;
    use crate::compare::fixtures::{flat_process, measurement};
    use crate::model::{Outliers, SampleFilter};
    use perfcheck_stats::{Draws, Stream};

    /// Ranks contenders whose described and tested medians are the same.
    fn against_fastest(contenders: &[Vec<f64>], level: f64) -> Vec<Option<Contender>> {
        let medians = |values: &Vec<f64>| ProcessMedians {
            described: values.clone(),
            tested: values.clone(),
        };
        let contenders: Vec<ProcessMedians> = contenders.iter().map(medians).collect();
        super::rank_against_fastest(&contenders, level)
    }

    fn ranks(contenders: &[Vec<f64>]) -> Vec<Option<Rank>> {
        let found = against_fastest(contenders, 0.05);
        found.iter().map(|one| one.map(|one| one.rank)).collect()
    }

    #[test]
    fn what_is_clearly_slower_is_told_from_the_fastest_and_what_is_not_stays_open() {
        let found = against_fastest(
            &[
                vec![200.0, 201.0, 199.0],
                vec![100.0, 101.0, 99.0],
                vec![100.5, 101.5, 99.5],
                vec![],
            ],
            0.05,
        );
        let ranks: Vec<Option<Rank>> = found.iter().map(|one| one.map(|one| one.rank)).collect();
        assert_eq!(
            ranks,
            [
                Some(Rank::Slower),
                Some(Rank::Fastest),
                Some(Rank::Open),
                None
            ]
        );
        let slow = found[0].expect("it has values");
        assert!((slow.ratio - 2.0).abs() < 1e-4, "{slow:?}");
        assert!(slow.p_value.expect("tested") < 0.001);
    }

    #[test]
    fn p_is_that_of_welchs_test_times_the_number_of_rivals() {
        // scipy.stats.ttest_ind(log([103, 104, 108]), log([100, 101, 103]), equal_var=False, alternative='greater').pvalue
        let p = 0.059_492_921_068;
        let two = against_fastest(
            &[vec![103.0, 104.0, 108.0], vec![100.0, 101.0, 103.0]],
            0.05,
        );
        let found = two[0].and_then(|one| one.p_value).expect("tested");
        assert!((found - p).abs() < 1e-9, "{found}");
        let three = against_fastest(
            &[
                vec![103.0, 104.0, 108.0],
                vec![100.0, 101.0, 103.0],
                vec![500.0, 501.0],
            ],
            0.05,
        );
        let of_three = three[0].and_then(|one| one.p_value).expect("tested");
        assert!((of_three - 2.0 * found).abs() < 1e-12);
    }

    #[test]
    fn one_process_shows_nothing_and_alone_everybody_is_fastest() {
        assert_eq!(
            ranks(&[vec![1.0], vec![9.0]]),
            [Some(Rank::Fastest), Some(Rank::Open)]
        );
        assert_eq!(ranks(&[vec![1.0, 2.0]]), [Some(Rank::Fastest)]);
        assert_eq!(ranks(&[vec![], vec![0.0]]), [None, None]);
    }

    #[test]
    fn the_truly_fastest_is_hardly_ever_left_out() {
        let stream = Stream {
            seed: 5,
            name: "fastest",
        };
        let mut draws = Draws::new(stream, 0);
        let mut unit = || draws.index(1 << 20) as f64 / f64::from(1 << 20);
        let trials = 2_000;
        let mut left_out = 0;
        for _ in 0..trials {
            // All contenders are equally fast, so any of them can stand for the truly fastest. The first one does.
            let contenders: Vec<Vec<f64>> = (0..5)
                .map(|_| {
                    let mut noise = || {
                        let sum: f64 = (0..12).map(|_| unit()).sum();
                        (0.01 * (sum - 6.0)).exp()
                    };
                    (0..5).map(|_| noise()).collect()
                })
                .collect();
            left_out += usize::from(ranks(&contenders)[0] == Some(Rank::Slower));
        }
        let rate = left_out as f64 / f64::from(trials);
        assert!(rate <= 0.05, "{rate}");
    }

    #[test]
    fn p_of_one_side_and_of_the_other_are_one_together() {
        let (one, other) = ([4.6, 4.7, 4.8], [4.65, 4.75, 4.9]);
        let p = |own: &[f64], fastest: &[f64]| super::test_slower(own, fastest, 1, 0.05).1;
        let (slower, faster) = (p(&other, &one), p(&one, &other));
        let (slower, faster) = (slower.expect("tested"), faster.expect("tested"));
        assert!((slower + faster - 1.0).abs() < 1e-12 && slower < 0.5);
    }

    #[test]
    fn what_is_described_may_be_filtered_and_what_is_tested_is_not() {
        let process = |(k, times): (u32, [f64; 4])| flat_process(k, 1_000, &times);
        let times = [[1.0, 2.0, 3.0, 90.0], [4.0, 5.0, 6.0, 90.0]];
        let mut run = measurement((0..).zip(times).map(process).collect());
        let without_filter = ProcessMedians::from_measurement(&run);
        assert_eq!(without_filter.described, [2.5, 5.5]);
        let filter = SampleFilter {
            outliers: Outliers::Mad,
            ..SampleFilter::default()
        };
        apply_filter(std::slice::from_mut(&mut run), None, &filter);
        let medians = ProcessMedians::from_measurement(&run);
        assert_eq!(medians.described, [2.0, 5.0]);
        assert_eq!(medians.tested, [2.5, 5.5]);
    }
}
