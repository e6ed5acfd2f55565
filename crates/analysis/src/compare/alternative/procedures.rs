//! The tests that compare two sides. Each gives a statistic, a p-value if the test has one, and the relative change with its interval. The
//! observations of a test are either one value per process, or all samples.

use serde::{Deserialize, Serialize};

use crate::compare::estimate::{ChangeInterval, Estimate};
use crate::compare::note::Note;
use crate::compare::samples::used_processes;
use crate::compare::summary::sample_times;
use crate::model::{
    Analysis, BySide, DecisionSettings, Measurement, Metric, Observations, Sample, Statistic, Test,
    Thresholds,
};
use perfcheck_stats::{
    Better, ClusterMean, HarmonicMean, HodgesLehmann, HodgesLehmannRanks, Interval,
    IntervalDistance, IntervalEstimate, KruskalWallis, MannWhitney, MannWhitneyMethod,
    PooledTScore, Quantile, RatioBounds, RatioVerdict, Resampling, Significance, Smoothness,
    Stream, SubsampledCentre, Subsampling, TInterval, WelchDf, WelchTest, derived_seed, mean,
    median, positive_ratio, slope_through_origin,
};

/// The name of the random number stream for the change of the means, which a rank test may report.
const OF_THE_MEANS: &str = "change of the means";

/// The result of a test that `--test` selects, with the numbers behind it. Published benchmarking systems use these tests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedDecision {
    /// Which test was made.
    pub test: Test,
    /// What counts as one observation: the value of a process, or a single sample.
    pub observations: Observations,
    /// The statistic that gives the value of a process. The test uses it only if the observations are processes.
    pub center: Statistic,
    /// Number of observations of the candidate.
    pub candidate: usize,
    /// Number of observations of the reference.
    pub base: usize,
    /// The test statistic. Which one it is depends on the test: a t-score, the smaller U of the Mann-Whitney test, H of the Kruskal-Wallis test, the
    /// ratio of the 95th percentiles, or the distance between the intervals of the two sides. Null if it was not computed.
    pub statistic: Option<f64>,
    /// Degrees of freedom of Welch's t; null for all other tests.
    pub degrees_of_freedom: Option<f64>,
    /// The two-sided p-value, before it is adjusted for the number of benchmarks. Null if the test has no p-value or could not be made.
    pub p_value: Option<f64>,
    /// The p-value adjusted for the number of benchmarks. Null if `p_value` is null.
    pub adjusted_p_value: Option<f64>,
    /// The significance of the difference: `significant`, `not-significant` or `not-tested`. For a rank test, a difference is significant only if its
    /// effect size is also large enough.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub significance: Significance,
    /// The two-sided significance level of the test. The confidence level of the interval is one minus this level.
    pub level: f64,
}

/// What the decision about a test is based on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TestDecision {
    /// The test decides by this p-value, which is not adjusted for the number of benchmarks yet. `None` if the p-value could not be computed.
    ByP(Option<f64>),
    /// The test decides by a rule that has no p-value. True means that the rule found a difference.
    Difference(bool),
    /// The ratio of the sides' 95th percentiles was compared with fixed bounds, so the noise threshold does not matter.
    Bounds(RatioVerdict),
    /// No test was made, so nothing is decided.
    NotTested,
}

/// The result of testing one benchmark, before its p-value is adjusted for the number of benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TestFinding {
    pub decided: TestDecision,
    pub statistic: Option<f64>,
    pub degrees_of_freedom: Option<f64>,
    /// The relative change, candidate / base - 1. It has no bounds if nothing was tested, and is `None` if it is unknown.
    pub change: Option<Estimate>,
    /// The value of the base that the change is relative to.
    pub centre: f64,
    /// The number of observations of each side.
    pub counts: BySide<usize>,
    /// Cliff's delta, which measures the size of the effect. `None` unless the test is a rank test.
    pub delta: Option<f64>,
    pub notes: Vec<Note>,
}

/// The settings that all tests need.
pub(super) struct PublishedTest<'a> {
    pub decision: &'a DecisionSettings,
    pub analysis: &'a Analysis,
    pub thresholds: &'a Thresholds,
    /// The two-sided significance level of the test.
    pub level: f64,
    /// The number of resamples of a bootstrap.
    pub resamples: usize,
}

impl<'a> PublishedTest<'a> {
    /// Creates the test that `decision` selects, with its level and thresholds.
    pub fn from_decision(decision: &'a DecisionSettings) -> Self {
        Self {
            decision,
            analysis: &decision.analysis,
            thresholds: &decision.thresholds,
            level: decision.significance_level,
            resamples: decision.resamples as usize,
        }
    }

    /// Tests whether `candidate` differs from `base`. If no test is possible, the finding says why.
    pub fn test(&self, candidate: &SideSamples, base: &SideSamples) -> TestFinding {
        let (a, b) = (
            candidate.observations(self.analysis),
            base.observations(self.analysis),
        );
        let mut found = TestFinding {
            decided: TestDecision::NotTested,
            statistic: None,
            degrees_of_freedom: None,
            change: None,
            centre: f64::NAN,
            counts: BySide {
                base: b.len(),
                candidate: a.len(),
            },
            delta: None,
            notes: Vec::new(),
        };
        if a.is_empty() || b.is_empty() {
            found.notes.push(Note::NoCenter {
                center: self.analysis.center_in_force(),
            });
            return found;
        }
        let needed = self.fewest();
        if a.len().min(b.len()) < needed {
            found.notes.push(Note::TooFewObservations {
                smaller: a.len().min(b.len()),
                needed,
            });
            self.set_untested_change(&a, &b, &mut found);
            return found;
        }
        match self.analysis.test {
            Test::P95Ratio => self.judge_ratio(candidate, base, &mut found),
            Test::Interval => self.judge_intervals((candidate, &a), (base, &b), &mut found),
            _ if is_constant(&a) && is_constant(&b) => {
                set_constant_change(
                    a[0],
                    b[0],
                    candidate.resolution.max(base.resolution),
                    &mut found,
                );
            }
            Test::PooledT => {
                let stream = candidate.stream("pooled t-score");
                self.test_pooled_t(&a, &b, stream, &mut found);
            }
            Test::Welch if matches!(candidate.metric, Some(Metric::Rate { .. })) => {
                self.test_welch_of_rates(&a, &b, &mut found);
            }
            Test::Welch => self.test_welch(&a, &b, &mut found),
            Test::MannWhitney => {
                self.test_mann_whitney(&a, &b, candidate.stream(OF_THE_MEANS), &mut found);
            }
            Test::Kruskal => self.test_kruskal(&a, &b, candidate.stream(OF_THE_MEANS), &mut found),
            // This is unreachable, because `compare` decides these two tests elsewhere.
            Test::BootstrapT | Test::TScore => {}
        }
        found
    }

    /// Returns the smallest number of observations that the test needs on each side.
    pub fn fewest(&self) -> usize {
        match self.analysis.test {
            Test::MannWhitney | Test::Kruskal => self.thresholds.min_per_group as usize,
            Test::P95Ratio => 1,
            _ => 2,
        }
    }

    /// Sets the change of the means or medians, without bounds, so that a difference is shown although nothing was tested.
    fn set_untested_change(&self, candidate: &[f64], base: &[f64], found: &mut TestFinding) {
        let centre = match self.analysis.test {
            Test::MannWhitney | Test::Kruskal => median,
            _ => mean,
        };
        let Some((candidate, base)) = centre(candidate).zip(centre(base)) else {
            return;
        };
        let ratio = positive_ratio(candidate, base);
        found.change = ratio.map(|ratio| Estimate::unbounded(ratio - 1.0));
        found.centre = base;
    }

    /// Tests by the pooled t-score. The interval of the change of the means comes from resampled observations of each side.
    fn test_pooled_t(
        &self,
        candidate: &[f64],
        base: &[f64],
        stream: Stream<'_>,
        found: &mut TestFinding,
    ) {
        let resampling = Resampling {
            resamples: self.resamples,
            stream,
        };
        let Some(test) = PooledTScore::test(candidate, base, resampling) else {
            return;
        };
        found.statistic = Some(test.t);
        if test.resamples < self.resamples {
            found.notes.push(Note::FewerResamples {
                drawn: test.resamples as u64,
            });
        }
        self.set_change_of_means(candidate, base, stream, found);
        found.decided = TestDecision::ByP(Some(test.p));
    }

    /// Computes the relative change of the means. Its interval comes from resampled observations of each side.
    fn set_change_of_means(
        &self,
        candidate: &[f64],
        base: &[f64],
        stream: Stream<'_>,
        found: &mut TestFinding,
    ) {
        let resampling = Resampling {
            resamples: self.resamples,
            stream,
        };
        let singles = |values: &[f64]| ClusterMean::new(&values.chunks(1).collect::<Vec<_>>());
        let means = (singles(candidate), singles(base));
        let rule = ChangeInterval {
            level: 1.0 - self.level,
            resampling,
            smoothness: Smoothness::Smooth,
            thresholds: self.thresholds,
        };
        found.change = Estimate::relative_change(&means.0, &means.1, rule);
        found.centre = mean(base).unwrap_or(f64::NAN);
    }

    /// Tests by Welch's t. The interval of the difference of means is relative to the mean of the reference, which is taken as exact.
    fn test_welch(&self, candidate: &[f64], base: &[f64], found: &mut TestFinding) {
        let Some(test) = WelchTest::test(candidate, base, WelchDf::Fractional) else {
            return;
        };
        found.statistic = Some(test.t);
        found.degrees_of_freedom = Some(test.df);
        let interval = test.interval(1.0 - self.level);
        if let (Some(interval), Some(centre)) = (interval, mean(base)) {
            found.set_change(test.difference, interval, centre);
            found.decided = TestDecision::ByP(Some(test.p));
        }
    }

    /// Tests rates by their harmonic means. The reported change is that of the time per unit, as for all metrics.
    fn test_welch_of_rates(&self, candidate: &[f64], base: &[f64], found: &mut TestFinding) {
        let rates = |times: &[f64]| -> Vec<f64> { times.iter().map(|time| 1.0 / time).collect() };
        let (candidate, base) = (rates(candidate), rates(base));
        let tested = WelchTest::test_harmonic_means(&candidate, &base, WelchDf::Fractional);
        let Some((test, mean)) = tested.zip(HarmonicMean::compute(&base)) else {
            return;
        };
        found.statistic = Some(test.t);
        found.degrees_of_freedom = Some(test.df);
        let change = |difference: f64| mean.mean / (mean.mean + difference) - 1.0;
        if let Some(interval) = test.interval(1.0 - self.level) {
            // If the rate may be 0, the time has no upper bound.
            let is_bounded = mean.mean + interval.lower > 0.0;
            found.centre = 1.0 / mean.mean;
            found.change = Some(Estimate {
                estimate: change(test.difference),
                lower: change(interval.upper),
                upper: if is_bounded {
                    change(interval.lower)
                } else {
                    f64::INFINITY
                },
            });
            found.decided = TestDecision::ByP(Some(test.p));
        }
    }

    fn test_mann_whitney(
        &self,
        candidate: &[f64],
        base: &[f64],
        stream: Stream<'_>,
        found: &mut TestFinding,
    ) {
        let Some(test) = MannWhitney::from_groups(candidate, base) else {
            return;
        };
        let method = self.analysis.p;
        found.statistic = Some(test.u());
        match test.p_value(method) {
            None => found.notes.push(Note::NoExactP),
            Some(p) => {
                found.decided = TestDecision::ByP(Some(p));
                found.delta = Some(test.delta());
                if self.analysis.reports_change_of_means() {
                    self.set_change_of_means(candidate, base, stream, found);
                } else if test.is_exact_with(method) {
                    self.set_exact_shift(candidate, base, found);
                } else {
                    self.set_shift_between_ties(method, candidate, base, found);
                }
            }
        }
    }

    /// Tests by Kruskal-Wallis. With two groups this is the Mann-Whitney test without continuity correction.
    fn test_kruskal(
        &self,
        candidate: &[f64],
        base: &[f64],
        stream: Stream<'_>,
        found: &mut TestFinding,
    ) {
        let tests =
            KruskalWallis::test(&[candidate, base]).zip(MannWhitney::from_groups(candidate, base));
        if let Some((test, pair)) = tests {
            found.statistic = Some(test.h);
            found.decided = TestDecision::ByP(Some(test.p));
            found.delta = Some(pair.delta());
            if self.analysis.reports_change_of_means() {
                self.set_change_of_means(candidate, base, stream, found);
            } else {
                self.set_shift_between_ties(MannWhitneyMethod::Asymptotic, candidate, base, found);
            }
        }
    }

    /// Sets the change of an exact rank test: the Hodges-Lehmann shift relative to the median of the reference. An exact p-value exists only without
    /// ties, so the plain shift and its interval can be used.
    fn set_exact_shift(&self, candidate: &[f64], base: &[f64], found: &mut TestFinding) {
        let Some(shift) = HodgesLehmann::from_groups(candidate, base) else {
            return;
        };
        let interval = shift.interval(1.0 - self.level, HodgesLehmannRanks::Exact);
        if let Some((estimate, centre)) = shift.estimate().zip(median(base)) {
            found.set_change(estimate, interval.unwrap_or(Interval::UNBOUNDED), centre);
        }
    }

    /// Sets the change of an asymptotic rank test, relative to the median of the reference. Its interval excludes 0 exactly if the p-value is below
    /// the level.
    fn set_shift_between_ties(
        &self,
        method: MannWhitneyMethod,
        candidate: &[f64],
        base: &[f64],
        found: &mut TestFinding,
    ) {
        let Some(shift) = HodgesLehmann::from_groups(candidate, base) else {
            return;
        };
        let interval = shift.interval_mid_distribution(1.0 - self.level, method);
        if let Some((estimate, centre)) = shift.estimate_mid_distribution().zip(median(base)) {
            found.set_change(estimate, interval.unwrap_or(Interval::UNBOUNDED), centre);
        }
    }

    /// Judges the ratio of the 95th percentiles of all samples. If the observations are processes, the percentile of a side is the mean of its
    /// processes' percentiles.
    fn judge_ratio(&self, candidate: &SideSamples, base: &SideSamples, found: &mut TestFinding) {
        let quantile = self.analysis.quantile_in_force();
        let percentile = |side: &SideSamples| match self.analysis.observations {
            Observations::Samples | Observations::Filtered => {
                quantile.select(&mut side.pooled(), 0.95)
            }
            Observations::Processes => {
                let each: Option<Vec<f64>> = side
                    .processes
                    .iter()
                    .map(|process| quantile.select(&mut process.clone(), 0.95))
                    .collect();
                mean(&each?)
            }
        };
        let bounds = RatioBounds {
            faster: self.thresholds.p95_faster,
            slower: self.thresholds.p95_slower,
        };
        let found_ratio = percentile(candidate)
            .zip(percentile(base))
            .and_then(|(candidate, base)| Some((positive_ratio(candidate, base)?, base)));
        if let Some((ratio, base, verdict)) =
            found_ratio.and_then(|(ratio, base)| Some((ratio, base, bounds.judge(ratio)?)))
        {
            found.centre = base;
            found.statistic = Some(ratio);
            found.change = Some(Estimate::unbounded(ratio - 1.0));
            found.decided = TestDecision::Bounds(verdict);
        }
    }

    /// Judges by the distance between two intervals, one for the center of each side. The interval of the change contains all differences between a
    /// value in one interval and a value in the other, relative to the center of the reference. So it excludes 0 exactly if the two intervals do not
    /// overlap.
    fn judge_intervals(
        &self,
        (candidate, candidate_observed): (&SideSamples, &[f64]),
        (base, base_observed): (&SideSamples, &[f64]),
        found: &mut TestFinding,
    ) {
        let bracketed = |side: &SideSamples, observed: &[f64]| {
            let level = 1.0 - self.level;
            let by_parts = self.analysis.center == Some(Statistic::Subselection)
                && self.analysis.observations == Observations::Processes;
            if by_parts {
                let centre = side.subselection()?;
                let interval = centre.interval(level)?;
                return Some(IntervalEstimate {
                    value: centre.centre,
                    interval,
                });
            }
            let interval = TInterval::compute(observed, level)?;
            Some(IntervalEstimate::with_margin(
                interval.mean,
                interval.margin,
            ))
        };
        let resolution = candidate.resolution.max(base.resolution);
        let sides = bracketed(candidate, candidate_observed).zip(bracketed(base, base_observed));
        let Some((candidate, base)) = sides else {
            return;
        };
        let Some(distance) = IntervalDistance::between(candidate, base) else {
            return;
        };
        let interval = Interval {
            lower: candidate.interval.lower - base.interval.upper,
            upper: candidate.interval.upper - base.interval.lower,
        };
        found.set_change(candidate.value - base.value, interval, base.value);
        let mut is_significant = distance.is_significant();
        if let IntervalDistance::Finite(distance) = distance {
            found.statistic = Some(distance);
        } else {
            found.notes.push(Note::NoVariance);
            is_significant &= found
                .change
                .is_some_and(|change| change.estimate.abs() > resolution);
        }
        found.decided = TestDecision::Difference(is_significant);
    }
}

impl TestFinding {
    /// Sets the change to `difference` and `interval`, both as fractions of `centre`. Sets it to `None` if `centre` is not positive.
    fn set_change(&mut self, difference: f64, interval: Interval, centre: f64) {
        self.centre = centre;
        self.change = (centre > 0.0).then(|| Estimate {
            estimate: difference / centre,
            lower: interval.lower / centre,
            upper: interval.upper / centre,
        });
    }
}

fn is_constant(values: &[f64]) -> bool {
    values.iter().all(|value| *value == values[0])
}

/// Sets the change if all values of each side are equal. The difference is then exact and needs no statistics. If it is less than a step of the
/// clock, it does not count.
fn set_constant_change(candidate: f64, base: f64, resolution: f64, found: &mut TestFinding) {
    let change = candidate / base - 1.0;
    if !change.is_finite() {
        return;
    }
    found.notes.push(Note::NoVariance);
    found.centre = base;
    found.change = Some(Estimate {
        estimate: change,
        lower: change,
        upper: change,
    });
    found.decided = if change == 0.0 {
        TestDecision::ByP(Some(1.0))
    } else {
        TestDecision::Difference(change.abs() > resolution)
    };
}

/// Returns the significance of the finding. It follows from the adjusted p-value and, for a rank test, from the effect size. A test without a p-value
/// has its own rule.
pub(super) fn judge_significance(
    found: &TestFinding,
    adjusted: Option<f64>,
    setting: &PublishedTest<'_>,
) -> Significance {
    let of = |significant: bool| {
        if significant {
            Significance::Significant
        } else {
            Significance::NotSignificant
        }
    };
    match found.decided {
        TestDecision::NotTested => Significance::NotTested,
        TestDecision::Bounds(verdict) => of(verdict != RatioVerdict::Same),
        TestDecision::Difference(significant) => of(significant),
        TestDecision::ByP(_) => {
            let smaller = found.counts.base.min(found.counts.candidate);
            let fewest = setting.fewest();
            let significance = Significance::classify(adjusted, setting.level, smaller, fewest);
            match found.delta {
                Some(delta) => {
                    significance.with_practical_gate(delta, setting.thresholds.practical_effect)
                }
                None => significance,
            }
        }
    }
}

/// The quantile of the samples that `--center floor` stands for.
const FLOOR: f64 = 0.01;

/// The samples of a side, process by process. If the reference consists of several runs, all of them together are one side.
pub(super) struct SideSamples {
    /// The deciding samples of each process, or those that a filter keeps, in nanoseconds per iteration.
    pub processes: Vec<Vec<f64>>,
    /// The samples of the linear phase of each process that has one.
    ramps: Vec<Vec<Sample>>,
    /// The smallest relative difference that the clock can show in a sample of typical length.
    pub resolution: f64,
    /// The metric that the samples measure.
    pub metric: Option<Metric>,
    seed: u64,
}

impl SideSamples {
    /// Collects the samples of `runs` as `decision` requires. `seed` is the seed of all random numbers of their benchmark.
    pub fn from_runs(runs: &[&Measurement], decision: &DecisionSettings, seed: u64) -> Self {
        let series = || runs.iter().flat_map(|run| &run.processes);
        let ramps = series().map(|process| &process.series.linear);
        // Amounts are not timed, so no clock limits their resolution.
        let timed = runs.iter().filter(|run| run.benchmark.metric.is_timed());
        let timed = timed.flat_map(|run| &run.processes);
        let resolution = timed.filter_map(|process| {
            let lengths: Vec<f64> = process
                .series
                .deciding_samples()
                .iter()
                .map(|sample| sample.elapsed.as_f64())
                .collect();
            let typical = Quantile::Linear.select(&mut lengths.clone(), 0.5)?;
            (typical > 0.0).then(|| process.quantum.as_f64() / typical)
        });
        Self {
            resolution: resolution.fold(0.0, f64::max),
            processes: (runs.iter())
                .flat_map(|run| match decision.analysis.observations {
                    Observations::Filtered => used_processes(run, decision),
                    Observations::Processes | Observations::Samples => sample_times(run),
                })
                .collect(),
            ramps: ramps.filter(|ramp| !ramp.is_empty()).cloned().collect(),
            metric: runs.first().map(|run| run.benchmark.metric.clone()),
            seed,
        }
    }

    /// Returns a stream of random numbers for the benchmark. Different names give independent streams.
    pub fn stream<'a>(&self, name: &'a str) -> Stream<'a> {
        Stream {
            seed: self.seed,
            name,
        }
    }

    /// Returns all samples, process after process.
    pub fn pooled(&self) -> Vec<f64> {
        self.processes.concat()
    }

    /// Returns the observations of a test: all samples, or the center of each process. Processes that do not have the requested center are left out.
    pub fn observations(&self, analysis: &Analysis) -> Vec<f64> {
        match analysis.observations {
            Observations::Samples | Observations::Filtered => self.pooled(),
            Observations::Processes => self.centers(analysis),
        }
    }

    /// Returns the requested center of each process that has it.
    fn centers(&self, analysis: &Analysis) -> Vec<f64> {
        match analysis.center_in_force() {
            Statistic::Slope => self.ramps.iter().filter_map(slope).collect(),
            Statistic::Subselection => self
                .subselection()
                .map_or_else(Vec::new, |found| found.medians),
            center => self
                .processes
                .iter()
                .filter_map(|process| center_of_samples(center, analysis, process))
                .collect(),
        }
    }

    /// Computes the subselection center of the side. It is the mean over processes, and the value of a process is the median of the means of many
    /// random parts of its samples. The result also has the value of each process.
    pub fn subselection(&self) -> Option<SubsampledCentre> {
        let processes: Vec<&[f64]> = self.processes.iter().map(Vec::as_slice).collect();
        let stream = Stream {
            seed: derived_seed(self.seed, "subselection"),
            name: "parts",
        };
        SubsampledCentre::compute(&processes, Subsampling::DOCUMENTED, stream)
    }

    /// Returns the slope of a line through the linear phases of all processes together.
    pub fn slope(&self) -> Option<f64> {
        slope(self.ramps.iter().flatten())
    }
}

/// Fits a straight line through the origin to the samples, and returns its slope in nanoseconds per iteration.
fn slope<'s>(samples: impl IntoIterator<Item = &'s Sample>) -> Option<f64> {
    let points = samples.into_iter();
    let points = points.map(|sample| (sample.iterations as f64, sample.elapsed.as_f64()));
    let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
    slope_through_origin(&x, &y)
}

/// Computes the center of samples. Returns `None` for the slope and the subselection, which need whole processes.
pub(super) fn center_of_samples(
    center: Statistic,
    analysis: &Analysis,
    samples: &[f64],
) -> Option<f64> {
    let quantile = |rule: Quantile, p: f64| rule.select(&mut samples.to_vec(), p);
    match center {
        Statistic::Mean => mean(samples),
        Statistic::Median => quantile(analysis.quantile_in_force(), 0.5),
        // By default the floor is one of the measured samples. The settings may choose another definition of quantiles.
        Statistic::Floor => quantile(analysis.quantile.unwrap_or(Quantile::InvertedCdf), FLOOR),
        Statistic::BestMean(percent) => Better::Lower.best_mean(samples, percent.into()),
        _ => None,
    }
}
