//! Notes: what a reader must know about a comparison besides its numbers, such as how the host disturbed it.
//!
//! If the fastest processes of a side do not agree, the host was disturbed, and the time of the very fastest (the floor) may be an accident. Then a
//! change is called only if it exceeds the threshold by more than the gap between these processes.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::model::{BySide, Side, Statistic};

/// If the fastest processes of a side are farther apart than this (a fraction), its floor is taken as an accident of a disturbed host.
const MOST_APART: f64 = 0.2;

/// A note on a comparison. `Display` gives a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum Note {
    /// A side has no samples.
    NoSamples {
        /// The side that the note is about.
        side: Side,
    },
    /// The samples of a side are too short for its clock.
    SamplesTooShort {
        /// The side that the note is about.
        side: Side,
        /// How long a sample must be to count, in nanoseconds.
        needed_ns: f64,
    },
    /// Processes of a side were left out because their samples are too short for its clock.
    ProcessesLeftOut {
        /// The side that the note is about.
        side: Side,
        /// How many were left out.
        left_out: usize,
        /// How many are left.
        used: usize,
    },
    /// Rounds were left out because the samples of a side are too short.
    RoundsLeftOut {
        /// How many were left out.
        left_out: usize,
        /// How many there were.
        rounds: usize,
    },
    /// Processes of a side failed.
    ProcessesFailed {
        /// The side that the note is about.
        side: Side,
        /// How many processes failed.
        failed: usize,
        /// How many processes are left.
        good: usize,
    },
    /// A side has only one or two processes.
    FewProcesses {
        /// The side that the note is about.
        side: Side,
        /// How many processes it has.
        processes: usize,
    },
    /// Each side has one process, and there are no other runs: a disturbed process looks like a change.
    LoneProcesses,
    /// A side has one process, so the t-score compares samples as if they were independent.
    SamplesAsUnits,
    /// A side has fewer samples than the low quantile needs, so medians were compared.
    MedianOfFewSamples {
        /// How many samples the smaller side has.
        samples: usize,
    },
    /// There is no flat phase, so the medians of the longer half of the ramp were compared.
    MedianOfRamp,
    /// The samples of the two sides differ much in length; short samples reach lower minimums.
    SampleLengthsDiffer {
        /// The length of the typical sample of one side divided by that of the other; more than 1.
        ratio: f64,
    },
    /// All process values of each side are equal.
    NoVariance,
    /// The t-score could not be computed.
    NoTScore,
    /// The resamples are too few for the level that the family needs.
    TooFewResamples {
        /// How many resamples would be enough.
        needed: u64,
    },
    /// There are so many samples that fewer resamples were drawn than requested.
    FewerResamples {
        /// How many resamples were drawn.
        drawn: u64,
    },
    /// Few processes of a side came near its fastest one, so the time of that one is uncertain. If the gap exceeds 20 %, only a change that exceeds
    /// the noise threshold by more than the gap is called.
    LoneFloor {
        /// The side that the note is about.
        side: Side,
        /// How much slower the second fastest process is, a fraction. Among many processes, the slowest of the fastest tenth takes the place of the
        /// second fastest.
        gap: f64,
    },
    /// The t-score shows a slowdown, but the fastest processes of both sides are alike.
    SlowerButForTheFastest {
        /// The change of the mean over processes, a fraction.
        change: f64,
    },
    /// A side has fewer observations than the test of `--test` needs, so nothing was tested.
    TooFewObservations {
        /// How many observations the smaller side has.
        smaller: usize,
        /// How many observations the test needs on each side.
        needed: usize,
    },
    /// A side has no process with the requested center.
    NoCenter {
        /// The requested center.
        center: Statistic,
    },
    /// The benchmark does not have the metric that the verdict should be about.
    NoSuchMetric {
        /// The requested metric.
        metric: Statistic,
    },
    /// An exact p of ranks was requested, but there are ties or too many values.
    NoExactP,
    /// A rank test shows a difference, but its size is negligible.
    NegligibleEffect {
        /// Cliff's delta of the two sides.
        delta: f64,
        /// The smallest delta that counts.
        practical: f64,
    },
    /// The test shows a difference, but its interval is not entirely beyond the noise threshold.
    WithinNoise,
    /// The interval lies beyond the noise threshold, but p is not small enough. This happens mostly with few observations or many benchmarks.
    NotSignificant {
        /// The p-value before it is adjusted.
        p: f64,
        /// The p-value adjusted for all benchmarks.
        adjusted: f64,
        /// The level that the adjusted p-value had to be below.
        level: f64,
    },
    /// Counts that vary differ beyond noise, but p is not small enough for so many benchmarks.
    CountsNotSignificant {
        /// The p-value before it is adjusted.
        p: f64,
        /// The p-value adjusted for all benchmarks whose counts vary.
        adjusted: f64,
        /// The level that the adjusted p-value had to be below.
        level: f64,
    },
    /// The t-score shows a speedup, but the prediction interval does not.
    FasterByTScoreOnly,
    /// The floor test and the rank test contradict each other.
    TestsContradict,
    /// There are too few rounds for a verdict.
    FewRounds {
        /// How many rounds there are.
        rounds: usize,
    },
    /// A side has fewer samples than the low quantile needs, so the second fastest ones were compared.
    SecondFastestOfFewSamples {
        /// How many samples a side has.
        samples: usize,
    },
    /// Samples of one side are slower than their neighbors of the other side, but the fastest samples of that side are not.
    SlowPath {
        /// The slower side.
        side: Side,
        /// The share of the candidate's samples that lie more than 10 % above its floor.
        share_candidate: f64,
        /// The share of the base's samples that lie more than 10 % above its floor.
        share_base: f64,
    },
    /// The fastest samples are alike, but a slow path could not be ruled out.
    SlowPathSuspected,
    /// The fastest samples are alike, but there were too few rounds to look for slow paths.
    SlowPathsNotSearched {
        /// How many rounds there were.
        rounds: usize,
    },
    /// Controls (identical code on both sides) on this host differed by more than the noise threshold that was set.
    ThresholdRaised {
        /// How many controls there are.
        controls: usize,
        /// The 95th percentile of their changes, a fraction: the noise threshold in force.
        change: f64,
        /// Whether the noise threshold is too large to call anything unchanged.
        too_noisy: bool,
    },
    /// The first half of the rounds shows another change than the second half. The note does not give the two changes: both come from the rank test,
    /// but the printed change may come from the floor test.
    ChangeDrifts,
    /// A sample is slower or faster as the second of a pair than as the first.
    PositionMatters {
        /// How much slower a sample is as the second of its pair, a fraction.
        effect: f64,
    },
    /// Rounds resemble the round before them, so they are not independent evidence.
    RoundsDependOnTheirNeighbours {
        /// The correlation between successive rounds, computed from their signs about the median.
        correlation: f64,
    },
    /// An iteration is so long that a round has few samples.
    LongIterations {
        /// How long an iteration takes, in nanoseconds.
        iteration_ns: f64,
    },
    /// Processes of one side differ by more than their samples explain.
    ProcessesDiffer {
        /// The standard deviation of the processes, a fraction.
        by: f64,
    },
    /// Within a round, the differences between both sides vary more than processes do.
    SamplesDiffer {
        /// The standard deviation of the difference of one sample pair, a fraction.
        by: f64,
    },
    /// The processes worked on several processors at once.
    SeveralProcessors {
        /// How many processors they used on average.
        processors: f64,
    },
    /// The rounds of a side fall into two groups.
    SeveralModes {
        /// The side that the note is about.
        side: Side,
        /// The gap between the groups, a fraction.
        apart: f64,
        /// The share of the rounds that are in the fast group.
        share: f64,
    },
    /// The host disturbed the comparison. The note inside has its own tag; serde requires untagged variants to come last.
    #[serde(untagged)]
    Host(HostNote),
}

impl Note {
    /// Reports whether the note prevents small changes from being called.
    pub fn withholds_changes(&self) -> bool {
        self.withheld_change() > 0.0
    }

    /// Returns how far beyond the noise threshold a change must lie to be called, a logarithm; 0 for notes that withhold no changes.
    pub(super) fn withheld_change(&self) -> f64 {
        match self {
            Self::LoneFloor { gap, .. } if *gap > MOST_APART => gap.ln_1p(),
            _ => 0.0,
        }
    }

    /// Writes the notes of `--test` and `--metric`.
    fn fmt_published_test(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewObservations { smaller, needed } => write!(
                f,
                "not tested: this test needs {needed} observations on each side, but one side has only {smaller} (raise `--rounds`, or use `--observations samples`)"
            ),
            Self::NoCenter { center: Statistic::Slope } => f.write_str(
                "not tested: one side has no slope because it was not sampled in linear mode (use `--sampling-mode linear` or another `--center`)",
            ),
            Self::NoCenter { center } => write!(f, "not tested: one side has no {center}"),
            Self::NoSuchMetric { metric: Statistic::Allocations | Statistic::Bytes | Statistic::Peak } => f.write_str(
                "allocations were not counted on at least one side: the bench needs the counting allocator of `perfcheck`",
            ),
            Self::NoSuchMetric { metric: Statistic::Instructions } => f.write_str(
                "instructions were not counted on at least one side",
            ),
            Self::NoSuchMetric { metric } => write!(
                f,
                "{metric} is missing on at least one side: only benchmarks that time single operations (`iter_latency`) report it"
            ),
            Self::NoExactP => f.write_str(
                "not tested: an exact p needs values without ties and at most 10,000 pairs (`--rank-p auto` uses the asymptotic p instead)",
            ),
            Self::NegligibleEffect { delta, practical } => write!(
                f,
                "the difference is significant but negligible: Cliff's delta is {delta:+.3} (threshold {practical})"
            ),
            Self::WithinNoise => f.write_str(
                "the difference is significant, but part of its interval is within the noise threshold",
            ),
            Self::NotSignificant { p, adjusted, level } => write!(
                f,
                "the interval is beyond the noise threshold, but the adjusted p is {adjusted:.4}, not below {level} (unadjusted: {p:.4}); use more processes, fewer benchmarks, or another `--test`, `--observations` or `--correction`"
            ),
            Self::CountsNotSignificant { p, adjusted, level } => write!(
                f,
                "the counts differ by more than noise, but the adjusted p is {adjusted:.4}, not below {level} (unadjusted: {p:.4}); use more processes"
            ),
            _ => Ok(()),
        }
    }
}

impl Note {
    /// Writes the notes of side-by-side measurements.
    fn fmt_paired(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewRounds { rounds } => {
                write!(f, "too few rounds ({rounds}) for a verdict")
            }
            Self::SecondFastestOfFewSamples { samples } => write!(
                f,
                "the second-fastest samples are compared because one side has only {samples} samples"
            ),
            Self::SlowPath { side, share_candidate, share_base } => write!(
                f,
                "some samples of {side} are more than 10 % slower than their neighbors on the other side, but the fastest samples are not (samples more than 10 % above the fastest: {:.1} % in the new run, {:.1} % in the reference)",
                share_candidate * 100.0,
                share_base * 100.0
            ),
            Self::SlowPathSuspected => f.write_str(
                "the fastest samples are about equal, but other samples may have become slower (measure more rounds to find out)",
            ),
            Self::SlowPathsNotSearched { rounds } => write!(
                f,
                "the fastest samples are about equal, but {rounds} rounds are too few to tell whether other samples became slower"
            ),
            Self::ThresholdRaised { controls, change, too_noisy } => write!(
                f,
                "on this host, timings of identical code differ by {:.1} % (95th percentile of {controls} comparisons); this is now the noise threshold{}",
                change * 100.0,
                if *too_noisy { ", which is too high to call anything unchanged" } else { "" }
            ),
            Self::ChangeDrifts => f.write_str(
                "the change differs between the two halves of the rounds by more than noise and chance explain: measure again",
            ),
            Self::PositionMatters { effect } => write!(
                f,
                "whichever side is measured second is {:.1} % {}: the sides disturb each other (the order is balanced, so the change is not affected)",
                effect.abs() * 100.0,
                if *effect < 0.0 { "faster" } else { "slower" }
            ),
            Self::RoundsDependOnTheirNeighbours { correlation } => write!(
                f,
                "successive rounds are correlated (coefficient {correlation:.2}), so the interval may be too narrow"
            ),
            Self::LongIterations { iteration_ns } => write!(
                f,
                "an iteration takes {:.1} ms, so a round has few samples: measure longer, or benchmark less work",
                iteration_ns / 1e6
            ),
            Self::ProcessesDiffer { by } => write!(
                f,
                "processes of the same build differ by {:.1} % (standard deviation), for example because of their memory layout: more rounds help",
                by * 100.0
            ),
            Self::SamplesDiffer { by } => write!(
                f,
                "the difference between the sides varies by {:.1} % from one pair of samples to the next (standard deviation): a quieter machine or more rounds help",
                by * 100.0
            ),
            Self::SeveralProcessors { processors } => write!(
                f,
                "the process used {processors:.1} processors on average, so its time depends on where the system runs its threads"
            ),
            Self::SeveralModes { side, apart, share } => write!(
                f,
                "the rounds of {side} form two groups {:.0} % apart (the faster group has {:.0} % of the rounds): memory layout or a disturbed host may be the cause",
                apart * 100.0,
                share * 100.0
            ),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(note) => note.fmt(f),
            Self::NoSamples { side } => write!(f, "{side} has no samples"),
            // Without a clock, a sample is too short only if its value is 0.
            Self::SamplesTooShort { side, needed_ns } if *needed_ns == 0.0 => write!(
                f,
                "the values of {side} are 0, so there is no ratio; use a test that compares differences (`--method nbenchmark`)"
            ),
            Self::SamplesTooShort { side, needed_ns } => write!(
                f,
                "the samples of {side} are too short to test: run more iterations per sample, so that each sample takes at least {:.0} us",
                needed_ns / 1000.0
            ),
            Self::ProcessesLeftOut {
                side,
                left_out,
                used,
            } => write!(
                f,
                "left out {left_out} of {} processes of {side}: something slowed down their warm-up, so their samples are too short",
                left_out + used
            ),
            Self::RoundsLeftOut { left_out, rounds } => write!(
                f,
                "left out {left_out} of {rounds} rounds: something slowed down a warm-up, so their samples are too short"
            ),
            Self::ProcessesFailed { side, failed, good } => {
                write!(f, "{failed} of {} processes of {side} failed", failed + good)
            }
            Self::FewProcesses { side, processes: 1 } => {
                write!(f, "{side} has only one process, so the difference between processes is unknown")
            }
            Self::FewProcesses { side, processes } => {
                write!(f, "{side} has only {processes} processes")
            }
            Self::LoneProcesses => f.write_str(
                "with one process per side, a disturbance looks like a change: use at least two processes",
            ),
            Self::SamplesAsUnits => f.write_str(
                "with one process, the t-score treats samples as independent, so it raises too many false alarms",
            ),
            Self::MedianOfFewSamples { samples } => {
                write!(f, "medians are compared because one side has too few samples ({samples})")
            }
            Self::MedianOfRamp => f.write_str(
                "medians of the ramp's longer samples are compared because there is no flat phase",
            ),
            Self::SampleLengthsDiffer { ratio } => write!(
                f,
                "the samples of one side are {ratio:.1} times as long as those of the other, which favors the other side: shorter samples have lower minimums"
            ),
            Self::NoVariance => f.write_str("on each side, all processes have the same value (is the clock too coarse?)"),
            Self::NoTScore => f.write_str("the t-score could not be computed"),
            Self::TooFewResamples { needed } => write!(
                f,
                "with so many benchmarks, this significance level needs at least {needed} resamples (use `--resamples`)"
            ),
            Self::FewerResamples { drawn } => write!(
                f,
                "only {drawn} resamples were drawn because there are so many samples: p cannot be below {:.1e}",
                1.0 / (*drawn as f64 + 1.0)
            ),
            Self::LoneFloor { side, gap } => {
                let percent = gap * 100.0;
                write!(f, "the fastest processes of {side} differ by {percent:.1} %")?;
                f.write_str(if self.withholds_changes() {
                    ", so no smaller change is reported: measure again when the host is quieter"
                } else {
                    ", so the fastest time is uncertain (more processes help)"
                })
            }
            Self::SlowerButForTheFastest { change } => write!(
                f,
                "the processes are {:.1} % slower on average, but the fastest are not: the host was disturbed, or only some processes became slower",
                change * 100.0
            ),
            Self::TooFewObservations { .. }
            | Self::NoCenter { .. }
            | Self::NoSuchMetric { .. }
            | Self::NoExactP
            | Self::NegligibleEffect { .. }
            | Self::WithinNoise
            | Self::NotSignificant { .. }
            | Self::CountsNotSignificant { .. } => self.fmt_published_test(f),
            Self::TestsContradict => f.write_str(
                "the fastest samples and the round-by-round comparison disagree, so a change counts only if both show it (did the host change speed?)",
            ),
            Self::FasterByTScoreOnly => f.write_str(
                "the t-score shows a speedup, but drift between runs could explain it",
            ),
            Self::FewRounds { .. } | Self::SecondFastestOfFewSamples { .. } | Self::SlowPath { .. } | Self::SlowPathSuspected | Self::SlowPathsNotSearched { .. } | Self::ThresholdRaised { .. } | Self::ChangeDrifts | Self::PositionMatters { .. } | Self::RoundsDependOnTheirNeighbours { .. } | Self::LongIterations { .. } | Self::ProcessesDiffer { .. } | Self::SamplesDiffer { .. } | Self::SeveralProcessors { .. } | Self::SeveralModes { .. } => self.fmt_paired(f),
        }
    }
}

/// A note on how the host disturbed a comparison of stored runs. `Display` gives a sentence without a full stop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum HostNote {
    /// The speed of the control workload changed in the direction of the measured change, and by more.
    HostMoved {
        /// The change of the control workload, a fraction.
        change: f64,
    },
    /// At least half of the processes of a side became faster or slower while they were sampled.
    ProcessesDrift {
        /// The side that the note is about.
        side: Side,
        /// How many processes drifted.
        drifting: usize,
        /// How many processes the side has.
        processes: usize,
    },
    /// The processor was often taken away while a side was sampled.
    SamplesInterrupted {
        /// The side that the note is about.
        side: Side,
        /// The largest share of its samples that can have been interrupted.
        share: f64,
    },
}

impl fmt::Display for HostNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostMoved { change } => write!(
                f,
                "the machine itself became {:.1} % {}, more than this change; a side-by-side comparison would not be affected",
                change.abs() * 100.0,
                if *change < 0.0 { "faster" } else { "slower" }
            ),
            Self::ProcessesDrift {
                side,
                drifting,
                processes,
            } => write!(
                f,
                "{drifting} of {processes} processes of {side} changed speed during sampling (use a longer warm-up or a quieter host)"
            ),
            Self::SamplesInterrupted { side, share } => write!(
                f,
                "other work on the machine interrupted up to {:.0} % of the samples of {side}",
                share * 100.0
            ),
        }
    }
}

/// Returns the note of [`note_lone_floor`] about the side with the larger gap between its fastest processes. `None` if the fastest processes of both
/// sides agree.
pub(super) fn note_widest_gap(processes: BySide<&[f64]>) -> Option<Note> {
    let sides = [
        (Side::Candidate, processes.candidate),
        (Side::Base, processes.base),
    ];
    let notes = sides
        .into_iter()
        .filter_map(|(side, processes)| note_lone_floor(side, processes));
    notes.max_by(|a, b| a.withheld_change().total_cmp(&b.withheld_change()))
}

/// Returns a note if the floor of a side lies so far below its other fast processes that small changes cannot be called. The floor is compared with
/// the slowest of the fastest tenth of the processes, or with the second fastest of few. `processes` holds one logarithm of the time of an iteration
/// for each process.
fn note_lone_floor(side: Side, processes: &[f64]) -> Option<Note> {
    let mut sorted = processes.to_vec();
    sorted.sort_by(f64::total_cmp);
    let next = sorted.get((sorted.len().saturating_sub(1) / 10).max(1))?;
    let gap = (next - sorted[0]).exp_m1();
    let note = Note::LoneFloor { side, gap };
    note.withholds_changes().then_some(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(times: &[f64]) -> Option<f64> {
        let logarithms: Vec<f64> = times.iter().map(|time| time.ln()).collect();
        match note_lone_floor(Side::Base, &logarithms)? {
            Note::LoneFloor { gap, .. } => Some(gap),
            _ => None,
        }
    }

    #[test]
    fn a_floor_is_an_accident_where_no_tenth_of_the_processes_comes_near_it() {
        let found = gap(&[500.0, 125.0, 100.0, 99_000.0]);
        assert!((found.unwrap() - 0.25).abs() < 1e-9, "{found:?}");
        // Only the second fastest process counts here, however slow the others are.
        assert_eq!(gap(&[100.0, 119.0, 500.0, 900.0, 99_000.0]), None);
        assert_eq!(gap(&[100.0]), None);
        // Two fast processes of twenty-one may be an accident; three show the floor.
        let mut many = vec![160.0; 21];
        many[..2].fill(100.0);
        assert!(gap(&many).is_some());
        many[..3].fill(100.0);
        assert_eq!(gap(&many), None);
    }

    #[test]
    fn processes_that_are_a_fifth_apart_withhold_nothing() {
        let withheld = |gap| {
            let side = Side::Base;
            Note::LoneFloor { side, gap }.withheld_change()
        };
        assert_eq!(withheld(0.2), 0.0);
        let more = 0.2_f64.next_up();
        assert_eq!(withheld(more), more.ln_1p());
        assert_eq!(Note::NoVariance.withheld_change(), 0.0);
    }

    #[test]
    fn a_missing_slope_is_explained_and_other_centers_are_named() {
        let text = |center| Note::NoCenter { center }.to_string();
        assert!(text(Statistic::Slope).contains("--sampling-mode linear"));
        assert_eq!(
            text(Statistic::Median),
            "not tested: one side has no median"
        );
    }

    #[test]
    fn a_missing_metric_is_explained_by_what_the_bench_needs() {
        let text = |metric| Note::NoSuchMetric { metric }.to_string();
        for metric in [Statistic::Allocations, Statistic::Bytes, Statistic::Peak] {
            assert!(text(metric).starts_with("allocations were not counted"));
        }
        assert!(text(Statistic::Instructions).starts_with("instructions were not counted"));
        assert!(text(Statistic::P99).contains("iter_latency"));
    }
}
