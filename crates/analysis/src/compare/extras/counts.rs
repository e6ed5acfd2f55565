//! Compares the allocations, instructions and sampled time of two sides, and lists the functions whose costs differ.
//!
//! Numbers that do not vary are compared exactly, others are tested over processes. The noise threshold applies to all numbers except allocations
//! that do not vary. Instructions need it even if they do not vary, because another compiler or library shifts a few of them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::rules::ExtrasPolicy;
use crate::model::{
    Allocations, BySide, InstructionCount, Measurement, Metric, TimeSamples, Verdict, limits,
};
use perfcheck_stats::{MannWhitney, WelchDf, WelchTest, binomial, mean};

/// How the allocations of an iteration differ between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllocationComparison {
    /// How often an iteration allocates memory.
    pub count: CountChange,
    /// How many bytes an iteration allocates.
    pub bytes: CountChange,
    /// The most bytes that are alive at once during an iteration.
    pub peak_bytes: CountChange,
}

/// A count per iteration on both sides, and its change. The count of a side is the mean over its processes, and the count of a process is the mean
/// over its counted iterations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountChange {
    /// The count of the reference, per iteration.
    pub base: f64,
    /// The count of the run that is compared, per iteration.
    pub candidate: f64,
    /// Whether the count is constant on each side. Then every difference between the sides is real, however small.
    pub exact: bool,
    /// The p-value of a two-sided test over processes: a permutation test for allocations, Welch's test for instructions. Null if `exact` is true,
    /// because such counts need no test.
    pub p_value: Option<f64>,
    /// The verdict about this count: `regressed` means that it rose, `improved` that it fell.
    pub verdict: Verdict,
}

/// A function that computes the p-value of a two-sided test of the candidate and the base, in this order.
pub(super) type TwoSidedP = fn(&[f64], &[f64]) -> Option<f64>;

impl AllocationComparison {
    /// Compares the allocations of `candidate` with those of the newest run in `base` that counted any. Older runs are not used, because counts do
    /// not drift between runs and the code may have changed since. Returns `None` if a side counted nothing.
    pub(super) fn compare(
        base: &[&Measurement],
        candidate: &Measurement,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let base = base
            .iter()
            .map(|run| allocation_counts(run))
            .find(|found| !found.is_empty())?;
        let candidate = allocation_counts(candidate);
        if candidate.is_empty() {
            return None;
        }
        let change = |pick: fn(&Allocations) -> u64| {
            CountChange::from_allocations(&base, &candidate, pick, rules)
        };
        Some(Self {
            count: change(|found| found.count)?,
            bytes: change(|found| found.bytes)?,
            peak_bytes: change(|found| found.peak_bytes)?,
        })
    }

    /// Returns the three changes with their names, the most important first.
    pub fn with_names(&self) -> [(&'static str, CountChange); 3] {
        [
            ("allocations", self.count),
            ("bytes", self.bytes),
            ("peak bytes", self.peak_bytes),
        ]
    }

    /// Returns true if the number of allocations, their bytes or the peak has changed.
    pub fn has_changed(&self) -> bool {
        self.with_names()
            .iter()
            .any(|(_, found)| found.has_changed())
    }
}

impl CountChange {
    /// Reports whether the number changed.
    pub fn has_changed(&self) -> bool {
        matches!(self.verdict, Verdict::Regressed | Verdict::Improved)
    }

    /// Returns the relative change, candidate / base - 1. It is 0 if both numbers are 0, and infinite if only the reference is 0.
    pub fn relative(&self) -> f64 {
        if self.candidate == self.base {
            0.0
        } else {
            self.candidate / self.base - 1.0
        }
    }

    fn from_allocations(
        base: &[&[Allocations]],
        candidate: &[&[Allocations]],
        pick: fn(&Allocations) -> u64,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let sides = [base, candidate];
        let is_exact = sides.iter().all(|side| is_constant_count(side, pick));
        let [base, candidate] = sides.map(|side| process_means(side, pick));
        Self::from_process_means(
            &base,
            &candidate,
            is_exact,
            MannWhitney::permutation_p,
            rules,
        )
    }

    /// Compares one number per process. Numbers that are known not to vary (`exact`) are compared directly. Other numbers are tested.
    pub(super) fn from_process_means(
        base: &[f64],
        candidate: &[f64],
        exact: bool,
        two_sided_p: TwoSidedP,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let found = Self {
            base: mean(base)?,
            candidate: mean(candidate)?,
            exact,
            p_value: None,
            verdict: Verdict::Unchanged,
        };
        if found.exact {
            return Some(Self {
                verdict: found.direction(),
                ..found
            });
        }
        let p = two_sided_p(candidate, base)?;
        let beyond = found.relative().abs() > rules.noise_threshold;
        let verdict = if p < rules.significance_level && beyond {
            found.direction()
        } else if all_within(base, candidate, rules.noise_threshold) {
            Verdict::Unchanged
        } else {
            Verdict::Inconclusive
        };
        Some(Self {
            p_value: Some(p),
            verdict,
            ..found
        })
    }

    fn direction(&self) -> Verdict {
        if self.candidate > self.base {
            Verdict::Regressed
        } else if self.candidate < self.base {
            Verdict::Improved
        } else {
            Verdict::Unchanged
        }
    }
}

/// Returns the allocation counts of each process that has any.
pub(super) fn allocation_counts(measurement: &Measurement) -> Vec<&[Allocations]> {
    measurement
        .processes
        .iter()
        .map(|process| &process.extras.allocations[..])
        .filter(|found| !found.is_empty())
        .collect()
}

pub(super) fn process_means(
    processes: &[&[Allocations]],
    pick: fn(&Allocations) -> u64,
) -> Vec<f64> {
    processes
        .iter()
        .filter_map(|process| {
            mean(
                &process
                    .iter()
                    .map(|found| pick(found) as f64)
                    .collect::<Vec<_>>(),
            )
        })
        .collect()
}

fn is_constant_count(processes: &[&[Allocations]], pick: fn(&Allocations) -> u64) -> bool {
    let mut values = processes.iter().copied().flatten().map(pick);
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// Returns true if the count of each candidate process differs from the count of each base process by no more than the noise threshold.
fn all_within(base: &[f64], candidate: &[f64], noise_threshold: f64) -> bool {
    let ends = |values: &[f64]| {
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (lowest, highest)
    };
    let ((base_low, base_high), (candidate_low, candidate_high)) = (ends(base), ends(candidate));
    candidate_high <= base_low * (1.0 + noise_threshold)
        && candidate_low >= base_high * (1.0 - noise_threshold)
}

/// How the instructions of an iteration differ between the two sides, in total and by function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstructionComparison {
    /// The change of all instructions together. Its members are members of this object.
    #[serde(flatten)]
    pub change: CountChange,
    /// The functions whose instructions differ most, at most five, with the largest difference first. If code moved from one function to another, one
    /// loses what the other gains. Costs are in instructions per iteration.
    pub functions: Vec<FunctionCost>,
}

/// The instructions that one run counted for a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstructionSummary {
    /// The number of instructions of an iteration: the mean over processes.
    pub per_iteration: f64,
    /// Whether at least two processes counted and all of them counted the same number.
    pub exact: bool,
    /// How many processes counted instructions.
    pub processes: usize,
}

impl InstructionSummary {
    /// Summarizes the counted instructions of `measurement`; `None` if nothing was counted.
    pub fn from_measurement(measurement: &Measurement) -> Option<Self> {
        let counts = per_iteration(measurement);
        Some(Self {
            per_iteration: mean(&counts)?,
            exact: is_constant(&counts),
            processes: counts.len(),
        })
    }
}

impl InstructionComparison {
    /// Compares the instructions of `candidate` with those of the newest run in `base` that counted any. Returns `None` if a side counted none.
    pub(super) fn compare(
        base: &[&Measurement],
        candidate: &Measurement,
        rules: &ExtrasPolicy,
    ) -> Option<Self> {
        let counted = |run: &&&Measurement| !run.counts.instructions.is_empty();
        let base = base.iter().find(counted)?;
        let counts = [per_iteration(base), per_iteration(candidate)];
        let is_exact = counts.iter().all(|side| is_constant(side));
        let found = CountChange::from_process_means(
            &counts[0],
            &counts[1],
            is_exact,
            |candidate, base| Some(welch_p(candidate, base)),
            rules,
        )?;
        let is_noise = found.relative().abs() <= rules.noise_threshold;
        Some(Self {
            change: CountChange {
                verdict: if found.exact && is_noise {
                    Verdict::Unchanged
                } else {
                    found.verdict
                },
                ..found
            },
            functions: differing_functions(base, candidate),
        })
    }
}

/// Returns the p-value of Welch's test, or 1 if a side has a single process. Counts behave like sums of many random draws, such as the seeds of hash
/// maps, so this test suits them. A side that does not vary adds no error. A rank test would not do: with few processes, its p-value cannot become
/// small enough to be significant among several benchmarks.
fn welch_p(candidate: &[f64], base: &[f64]) -> f64 {
    let tested = WelchTest::test(candidate, base, WelchDf::Fractional);
    tested.map_or(1.0, |found| found.p)
}

/// Lists the functions in which the sides differ most.
fn differing_functions(base: &Measurement, candidate: &Measurement) -> Vec<FunctionCost> {
    let by_name = group_by_name(by_function(base), by_function(candidate));
    let costs = by_name.into_iter().map(|(name, cost)| FunctionCost {
        name: name.to_owned(),
        cost,
        standard_error: None,
    });
    keep_most_different(costs.collect())
}

/// Computes the instructions of an iteration by function, as means over all processes that counted.
fn by_function(measurement: &Measurement) -> BTreeMap<&str, f64> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    let counts = &measurement.counts.instructions;
    for count in counts {
        for function in &count.functions {
            let each = function.count as f64 / count.iterations as f64;
            *sums.entry(&function.name).or_default() += each / counts.len() as f64;
        }
    }
    sums
}

/// Returns the instructions of an iteration in each process that counted.
pub(in crate::compare) fn per_iteration(measurement: &Measurement) -> Vec<f64> {
    let counts = measurement.counts.instructions.iter();
    counts.map(InstructionCount::per_iteration).collect()
}

/// Returns true if at least two processes counted and all counts are equal. A single process would not show whether counts vary.
fn is_constant(values: &[f64]) -> bool {
    values.len() > 1 && values.windows(2).all(|pair| pair[0] == pair[1])
}

/// The number of standard errors that a difference must exceed to be named. By the normal distribution, chance exceeds 3 standard errors 27 times in
/// 10,000.
const BEYOND_CHANCE: f64 = 3.0;

/// How the time of an iteration differs between the two sides by function, estimated from the samples of a profiler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampledTime {
    /// How many samples the profiler took on each side.
    pub samples: BySide<u64>,
    /// The functions whose times differ by more than chance explains, at most five, with the largest difference first. If code moved from one
    /// function to another, one loses what the other gains. Costs are in nanoseconds per iteration.
    pub functions: Vec<FunctionCost>,
}

impl SampledTime {
    /// Compares the profile of `candidate` with that of the newest run in `base` that has one. `ns` holds the nanoseconds of an iteration on both
    /// sides. Returns `None` if a side has no profile, or if the benchmark does not measure time.
    pub(super) fn compare(
        base: &[&Measurement],
        candidate: &Measurement,
        ns: BySide<f64>,
    ) -> Option<Self> {
        if candidate.benchmark.metric != Metric::Time {
            return None;
        }
        let base = base.iter().find_map(|run| run.counts.time.as_ref())?;
        let candidate = candidate.counts.time.as_ref()?;
        let samples = BySide {
            base: base.samples,
            candidate: candidate.samples,
        };
        let functions = function_counts(base, candidate).into_iter();
        let functions = functions.map(|(name, counts)| function_cost(name, counts, samples, ns));
        let is_no_chance = |one: &FunctionCost| {
            let error = one.standard_error.unwrap_or(f64::INFINITY);
            one.difference().abs() > BEYOND_CHANCE * error
        };
        Some(Self {
            samples,
            functions: keep_most_different(functions.filter(is_no_chance).collect()),
        })
    }
}

/// Returns how many samples of the profiler each function has on both sides. A side keeps only its largest functions, so a function may have run
/// although it is not listed. Such a function gets as many samples as the smallest function that is listed, but no more than it has on the other
/// side.
///
/// A function's share of the samples is its share of the measured time.
fn function_counts<'m>(
    base: &'m TimeSamples,
    candidate: &'m TimeSamples,
) -> BTreeMap<&'m str, BySide<f64>> {
    let of = |side: &'m TimeSamples| {
        let functions = side.functions.iter();
        functions.map(|one| (&*one.name, one.count as f64))
    };
    let left_out = |side: &TimeSamples| match side.functions.last() {
        Some(last) if side.functions.len() >= limits::MOST_COUNTED_FUNCTIONS => last.count as f64,
        _ => 0.0,
    };
    let least = BySide {
        base: left_out(base),
        candidate: left_out(candidate),
    };
    let mut counts = group_by_name(of(base), of(candidate));
    for sides in counts.values_mut() {
        if sides.base == 0.0 {
            sides.base = least.base.min(sides.candidate);
        } else if sides.candidate == 0.0 {
            sides.candidate = least.candidate.min(sides.base);
        }
    }
    counts
}

fn function_cost(
    name: &str,
    counts: BySide<f64>,
    samples: BySide<u64>,
    ns: BySide<f64>,
) -> FunctionCost {
    let share = |count: f64, samples: u64| count / samples.max(1) as f64;
    let error = |count: f64, samples: u64| {
        let error = binomial::share_standard_error(count as u64, samples);
        error.unwrap_or(f64::INFINITY)
    };
    let errors = BySide {
        base: ns.base * error(counts.base, samples.base),
        candidate: ns.candidate * error(counts.candidate, samples.candidate),
    };
    FunctionCost {
        name: name.to_owned(),
        cost: BySide {
            base: ns.base * share(counts.base, samples.base),
            candidate: ns.candidate * share(counts.candidate, samples.candidate),
        },
        standard_error: Some(errors.base.hypot(errors.candidate)),
    }
}

/// The largest number of functions that a comparison names.
const NAMED: usize = 5;
/// The smallest difference of a function that is named, as a share of the largest difference.
const WORTH_NAMING: f64 = 0.1;

/// The cost of one function in an iteration, without the functions that it calls: in instructions or in nanoseconds per iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionCost {
    /// The readable name of the function. Instances of a generic function share a name.
    pub name: String,
    /// The cost of the function on each side, per iteration, as the members `base` and `candidate`. It is 0 on a side that did not run the function.
    /// Only the functions with the largest counts are stored for each side. For a function that is not among them, the cost in instructions is 0, and
    /// the cost in nanoseconds is estimated from the smallest count that is stored.
    #[serde(flatten)]
    pub cost: BySide<f64>,
    /// The standard error of the difference between the sides, in nanoseconds, if the cost is estimated from the samples of a profiler; null for
    /// instructions.
    pub standard_error: Option<f64>,
}

impl FunctionCost {
    /// Returns how much more the function costs in the candidate than in the base.
    pub fn difference(&self) -> f64 {
        self.cost.candidate - self.cost.base
    }
}

/// Groups the numbers of both sides by function. A side that does not have a function gets 0.
pub(super) fn group_by_name<'m>(
    base: impl IntoIterator<Item = (&'m str, f64)>,
    candidate: impl IntoIterator<Item = (&'m str, f64)>,
) -> BTreeMap<&'m str, BySide<f64>> {
    let mut by_name: BTreeMap<&str, BySide<f64>> = BTreeMap::new();
    for (name, number) in base {
        by_name.entry(name).or_default().base += number;
    }
    for (name, number) in candidate {
        by_name.entry(name).or_default().candidate += number;
    }
    by_name
}

/// Keeps the functions that differ most, sorted by the size of the difference. Small differences are left out.
pub(super) fn keep_most_different(mut functions: Vec<FunctionCost>) -> Vec<FunctionCost> {
    let gap = |one: &FunctionCost| one.difference().abs();
    functions.sort_by(|one, two| gap(two).total_cmp(&gap(one)));
    let largest = functions.first().map_or(0.0, gap);
    functions.retain(|one| gap(one) > 0.0 && gap(one) >= WORTH_NAMING * largest);
    functions.truncate(NAMED);
    functions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::measurement;
    use crate::model::{BenchmarkCounts, FunctionCount};

    const RULES: ExtrasPolicy = ExtrasPolicy {
        noise_threshold: 0.01,
        significance_level: 0.01,
        confidence_level: 0.95,
        resamples: 2_000,
        seed: 7,
    };

    /// Creates a run whose processes counted these instructions in four iterations each.
    fn run(counts: &[u64]) -> Measurement {
        let count = |instructions: &u64| InstructionCount {
            iterations: 4,
            instructions: *instructions,
            functions: Vec::new(),
        };
        Measurement {
            counts: BenchmarkCounts {
                instructions: counts.iter().map(count).collect(),
                ..BenchmarkCounts::default()
            },
            ..measurement(Vec::new())
        }
    }

    fn change(base: &[u64], candidate: &[u64]) -> Option<CountChange> {
        let found = InstructionComparison::compare(&[&run(base)], &run(candidate), &RULES)?;
        Some(found.change)
    }

    #[test]
    fn counts_that_do_not_vary_have_changed_beyond_the_threshold_and_no_sooner() {
        let verdict = |candidate: u64| {
            let found = change(&[40_000; 2], &[candidate; 2]).expect("both counted");
            assert_eq!((found.exact, found.base, found.p_value), (true, 1e4, None));
            assert_eq!(found.candidate, candidate as f64 / 4.0);
            found.verdict
        };
        assert_eq!(verdict(40_000), Verdict::Unchanged);
        assert_eq!(verdict(40_396), Verdict::Unchanged);
        assert_eq!(verdict(40_404), Verdict::Regressed);
        assert_eq!(verdict(39_596), Verdict::Improved);
    }

    #[test]
    fn counts_that_vary_are_tested_by_process_and_a_single_process_shows_nothing() {
        let base = [40_000, 40_010, 40_020, 40_030, 40_040];
        let more = base.map(|count| count + 4_000);
        let found = change(&base, &more).expect("both counted");
        // The means are 10,005 and 11,005, and each variance is 15.625. So t = 1000 / sqrt(2 x 15.625 / 5) = 400 with eight degrees of freedom.
        assert!(found.p_value.is_some_and(|p| p < 1e-15), "{found:?}");
        assert_eq!((found.exact, found.verdict), (false, Verdict::Regressed));
        // Only one side varies, and only by a hundredth of the difference between the sides.
        let found = change(&[40_000; 2], &more).expect("both counted");
        assert_eq!((found.exact, found.verdict), (false, Verdict::Regressed));
        // Here t = 1000 / sqrt(2 x 3,125,000 / 2) = 0.5657 with two degrees of freedom. P(T > t) = 1/2 - t / (2 sqrt(2 + t^2)) = 0.31430.
        let wide = change(&[37_500, 47_500], &[41_500, 51_500]).expect("both counted");
        let p = wide.p_value.expect("a test");
        assert!((p - 0.62861).abs() < 1e-4, "{p}");
        assert_eq!(wide.verdict, Verdict::Inconclusive);
        let one = change(&[40_000], &[44_000]).expect("both counted");
        assert_eq!((one.exact, one.verdict), (false, Verdict::Inconclusive));
    }

    #[test]
    fn the_newest_run_that_counted_is_the_reference_and_without_one_there_is_none() {
        let runs = [run(&[]), run(&[80; 2]), run(&[40; 2])];
        let base: Vec<&Measurement> = runs.iter().collect();
        let found = InstructionComparison::compare(&base, &run(&[40; 2]), &RULES);
        assert_eq!(found.expect("both counted").change.base, 20.0);
        assert_eq!(change(&[], &[40; 2]), None);
        assert_eq!(change(&[40; 2], &[]), None);
    }

    #[test]
    fn the_functions_that_differ_most_are_named() {
        let of = |functions: &[(&str, u64)]| {
            let mut run = run(&[4_000]);
            let named = functions.iter().map(|(name, count)| FunctionCount {
                name: (*name).to_owned(),
                count: *count,
            });
            run.counts.instructions[0].functions = named.collect();
            run
        };
        let base = of(&[
            ("scan", 2_000),
            ("grow", 400),
            ("hash", 1_000),
            ("copy", 600),
        ]);
        let candidate = of(&[("scan", 2_400), ("hash", 1_000), ("copy", 636)]);
        let found =
            InstructionComparison::compare(&[&base], &candidate, &RULES).expect("both counted");
        let named: Vec<(&str, f64, f64)> = (found.functions.iter())
            .map(|one| (&*one.name, one.cost.base, one.cost.candidate))
            .collect();
        // Each count is of four iterations. `copy` gains 9, which is less than a tenth of 100, so it is not named.
        assert_eq!(named, [("grow", 100.0, 0.0), ("scan", 500.0, 600.0)]);
    }

    fn sampled_run(samples: u64, functions: &[(&str, u64)]) -> Measurement {
        let functions = functions.iter().map(|(name, count)| FunctionCount {
            name: (*name).to_owned(),
            count: *count,
        });
        let time = TimeSamples {
            samples,
            functions: functions.collect(),
        };
        Measurement {
            counts: BenchmarkCounts {
                time: Some(time),
                ..BenchmarkCounts::default()
            },
            ..measurement(Vec::new())
        }
    }

    fn compared(base: &Measurement, candidate: &Measurement) -> Option<SampledTime> {
        let ns = BySide {
            base: 100.0,
            candidate: 120.0,
        };
        SampledTime::compare(&[base], candidate, ns)
    }

    #[test]
    fn a_function_has_its_share_of_the_time_and_is_named_where_it_differs_beyond_chance() {
        let base = sampled_run(
            5000,
            &[("scan", 2500), ("hash", 2000), ("copy", 490), ("rare", 10)],
        );
        let candidate = sampled_run(
            6000,
            &[("scan", 3600), ("hash", 2000), ("copy", 385), ("rare", 15)],
        );
        let found = compared(&base, &candidate).expect("both were sampled");
        assert_eq!((found.samples.base, found.samples.candidate), (5000, 6000));
        // `scan` rises from 50 to 72 ns, and `hash` has 40 ns on both sides. `copy` falls from 9.8 to 7.7, which is less than a tenth of 22.
        let named: Vec<(&str, f64)> = (found.functions.iter())
            .map(|one| (&*one.name, one.difference()))
            .collect();
        assert_eq!(named, [("scan", 22.0)]);
        // The expected error is the square root of 100^2 p1 (1 - p1) / 5002 + 120^2 p2 (1 - p2) / 6002, where p1 = 2501 / 5002 and p2 = 3601 / 6002.
        let error = found.functions[0].standard_error.expect("an error");
        assert!((error - 1.037_12).abs() < 1e-4, "{error}");

        let alike = compared(&base, &base).expect("both were sampled");
        let by_time = alike.functions.iter().map(|one| &*one.name);
        // The shares are equal but the time is longer, so the functions with the largest shares gain most.
        assert_eq!(by_time.collect::<Vec<_>>(), ["scan", "hash"]);
    }

    #[test]
    fn chance_alone_names_no_function() {
        let ns = BySide {
            base: 100.0,
            candidate: 100.0,
        };
        // A share of one half has an error of 0.707 %, so a difference must exceed 3 %: three errors of a difference, or 150 samples.
        let of = |scan: u64| sampled_run(5000, &[("scan", scan), ("hash", 5000 - scan)]);
        let found = |scan| SampledTime::compare(&[&of(2500)], &of(scan), ns).expect("sampled");
        assert_eq!(found(2640).functions, []);
        assert_eq!(found(2660).functions.len(), 2);
        // A function that was seen three times on one side and never on the other is not named.
        let base = sampled_run(5000, &[("scan", 5000)]);
        let candidate = sampled_run(5000, &[("scan", 4997), ("new", 3)]);
        let rare = SampledTime::compare(&[&base], &candidate, ns).expect("sampled");
        assert_eq!(rare.functions, []);
    }

    #[test]
    fn what_a_side_has_left_out_may_have_been_as_much_as_the_least_that_it_has() {
        let many: Vec<String> = (0..limits::MOST_COUNTED_FUNCTIONS)
            .map(|at| format!("f{at}"))
            .collect();
        let all: Vec<(&str, u64)> = many.iter().map(|name| (&**name, 100)).collect();
        let base = sampled_run(5000, &all);
        let candidate = sampled_run(5000, &[("f0", 4900), ("other", 100)]);
        let found = compared(&base, &candidate).expect("sampled");
        assert_eq!(found.functions[0].name, "f0");
        assert!(found.functions.iter().all(|one| one.name != "other"));
    }

    #[test]
    fn a_side_that_was_not_sampled_or_measured_no_time_has_no_functions() {
        let sampled = sampled_run(10, &[("scan", 10)]);
        let never = measurement(Vec::new());
        assert_eq!(compared(&never, &sampled), None);
        assert_eq!(compared(&sampled, &never), None);
        let mut amount = sampled.clone();
        amount.benchmark.metric = Metric::Amount {
            unit: "pages".to_owned(),
        };
        assert_eq!(compared(&sampled, &amount), None);
    }

    #[test]
    fn what_a_side_with_few_functions_does_not_have_it_never_ran() {
        let ns = BySide {
            base: 100.0,
            candidate: 100.0,
        };
        let base = sampled_run(5000, &[("scan", 4900), ("hash", 100)]);
        let candidate = sampled_run(5000, &[("scan", 4800), ("hash", 100), ("new", 100)]);
        let costs = |base, candidate| {
            let found = SampledTime::compare(&[base], candidate, ns).expect("sampled");
            let new = found.functions.into_iter().find(|one| one.name == "new");
            new.map(|one| (one.cost.base, one.cost.candidate))
        };
        // The function has 100 of 5,000 samples, so it takes 2 of 100 ns.
        assert_eq!(costs(&base, &candidate), Some((0.0, 2.0)));
        assert_eq!(costs(&candidate, &base), Some((2.0, 0.0)));
    }

    #[test]
    fn a_function_that_a_full_list_lacks_has_its_smallest_count_but_no_more_than_the_other_side() {
        let counts_of = |length: usize, count: u64| {
            let names: Vec<String> = (0..length).map(|at| format!("f{at}")).collect();
            let listed: Vec<(&str, u64)> = names.iter().map(|name| (&**name, 100)).collect();
            let [listed, other] = [
                sampled_run(5000, &listed),
                sampled_run(5000, &[("other", count)]),
            ];
            let [listed, other] = [listed, other].map(|run| run.counts.time.expect("samples"));
            let of_base = function_counts(&listed, &other)["other"];
            let of_candidate = function_counts(&other, &listed)["other"];
            // If the sides are exchanged, so are the counts.
            assert_eq!(of_base.base, of_candidate.candidate);
            assert_eq!(of_base.candidate, of_candidate.base);
            (of_base.base, of_base.candidate)
        };
        let most = limits::MOST_COUNTED_FUNCTIONS;
        assert_eq!(counts_of(most, 300), (100.0, 300.0));
        assert_eq!(counts_of(most, 40), (40.0, 40.0));
        assert_eq!(counts_of(most - 1, 300), (0.0, 300.0));
    }

    #[test]
    fn counted_instructions_are_summarized_by_the_mean_of_processes() {
        let summary = |counts: &[u64]| {
            let found = InstructionSummary::from_measurement(&run(counts))?;
            Some((found.per_iteration, found.exact, found.processes))
        };
        // Each count is of four iterations.
        assert_eq!(summary(&[400, 800]), Some((150.0, false, 2)));
        assert_eq!(summary(&[400; 3]), Some((100.0, true, 3)));
        assert_eq!(summary(&[400]), Some((100.0, false, 1)));
        assert_eq!(summary(&[]), None);
    }

    #[test]
    fn allocations_have_changed_if_any_of_their_numbers_has() {
        let verdicts = [
            Verdict::Regressed,
            Verdict::Improved,
            Verdict::Unchanged,
            Verdict::Inconclusive,
        ];
        let changed = verdicts.map(|verdict| {
            let change = |verdict| CountChange {
                base: 1.0,
                candidate: 2.0,
                exact: false,
                p_value: None,
                verdict,
            };
            let still = change(Verdict::Unchanged);
            let found = [0, 1, 2].map(|at| {
                let mut numbers = [still; 3];
                numbers[at] = change(verdict);
                let [count, bytes, peak_bytes] = numbers;
                let found = AllocationComparison {
                    count,
                    bytes,
                    peak_bytes,
                };
                let names = ["allocations", "bytes", "peak bytes"];
                assert!(
                    found
                        .with_names()
                        .into_iter()
                        .eq(names.into_iter().zip(numbers))
                );
                found.has_changed()
            });
            assert!(found == [found[0]; 3]);
            found[0]
        });
        assert_eq!(changed, [true, true, false, false]);
    }

    #[test]
    fn processes_within_the_threshold_of_all_others_are_unchanged() {
        let rules = ExtrasPolicy {
            noise_threshold: 0.125,
            ..RULES
        };
        let verdict = |base: &[f64], candidate: &[f64]| {
            let unsure: TwoSidedP = |_, _| Some(0.5);
            let found = CountChange::from_process_means(base, candidate, false, unsure, &rules);
            found.expect("counts").verdict
        };
        // Both 7 and 9 differ from 8 by just an eighth, which is the threshold.
        assert_eq!(verdict(&[8.0], &[7.0, 9.0]), Verdict::Unchanged);
        assert_eq!(
            verdict(&[8.0], &[8.0, 9.0_f64.next_up()]),
            Verdict::Inconclusive
        );
        assert_eq!(
            verdict(&[8.0], &[7.0_f64.next_down(), 8.0]),
            Verdict::Inconclusive
        );
        // The highest candidate process is compared with the lowest base process, and the lowest candidate process with the highest base process.
        assert_eq!(verdict(&[8.0, 8.25], &[7.25, 9.0]), Verdict::Unchanged);
        assert_eq!(verdict(&[7.75, 8.0], &[9.0]), Verdict::Inconclusive);
        assert_eq!(verdict(&[8.0, 8.25], &[7.0]), Verdict::Inconclusive);
    }

    #[test]
    fn instructions_that_differ_by_just_the_threshold_are_unchanged_only_if_exact() {
        let verdict = |base: &[u64], candidate: &[u64], noise_threshold| {
            let rules = ExtrasPolicy {
                noise_threshold,
                ..RULES
            };
            let found = InstructionComparison::compare(&[&run(base)], &run(candidate), &rules);
            found.expect("both counted").change.verdict
        };
        assert_eq!(verdict(&[800; 2], &[900; 2], 0.125), Verdict::Unchanged);
        assert_eq!(verdict(&[800; 2], &[900; 2], 0.124), Verdict::Regressed);
        // Both sides have the same mean, but their processes are far apart.
        assert_eq!(
            verdict(&[400, 1_200], &[400, 1_200], 0.125),
            Verdict::Inconclusive
        );
    }

    #[test]
    fn the_instructions_of_a_function_are_averaged_over_processes() {
        let process = |iterations: u64, count: u64| InstructionCount {
            iterations,
            instructions: count,
            functions: vec![FunctionCount {
                name: "scan".to_owned(),
                count,
            }],
        };
        let mut base = run(&[]);
        base.counts.instructions = vec![process(4, 400), process(2, 600)];
        let mut candidate = run(&[]);
        candidate.counts.instructions = vec![process(5, 5_000)];
        let costs = |base: &Measurement, candidate: &Measurement| {
            let found = InstructionComparison::compare(&[base], candidate, &RULES);
            let functions = found.expect("both counted").functions.into_iter();
            let costs = functions.map(|one| (one.cost.base, one.cost.candidate));
            costs.collect::<Vec<_>>()
        };
        assert_eq!(costs(&base, &candidate), [(200.0, 1_000.0)]);
        assert_eq!(costs(&base, &base), [], "nothing differs");
    }

    #[test]
    fn three_errors_are_beyond_chance_whatever_the_unit() {
        // Shares of about a half have errors of .707 %, and their difference one of 1 %.
        let of = |scan: u64| sampled_run(5000, &[("scan", scan), ("hash", 5000 - scan)]);
        for scale in [1e-3, 10.0, 1e6] {
            let ns = BySide {
                base: scale,
                candidate: scale,
            };
            let named = |scan: u64| {
                let found = SampledTime::compare(&[&of(2500)], &of(scan), ns);
                found.expect("sampled").functions.len()
            };
            assert_eq!((named(2640), named(2660)), (0, 2), "{scale}");
        }
    }

    #[test]
    fn a_function_is_named_from_a_tenth_of_the_largest_difference_on_and_no_more_than_five_are() {
        let named = |differences: &[f64]| -> Vec<f64> {
            let cost = |difference: &f64| FunctionCost {
                name: "f".to_owned(),
                cost: BySide {
                    base: 1_000.0,
                    candidate: 1_000.0 + difference,
                },
                standard_error: None,
            };
            let kept = keep_most_different(differences.iter().map(cost).collect());
            kept.iter().map(FunctionCost::difference).collect()
        };
        assert_eq!(named(&[9.5, 10.0, -100.0, -10.0]), [-100.0, 10.0, -10.0]);
        assert_eq!(named(&[0.0, 0.0]), [0.0; 0]);
        let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(named(&six), [6.0, 5.0, 4.0, 3.0, 2.0]);
    }
}
