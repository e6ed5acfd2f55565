//! Notes: what a reader must know about a comparison besides its numbers, such as how the host disturbed it.
//!
//! If the fastest processes of a side do not agree, the host was disturbed, and the time of the very fastest (the floor) may be an accident. Then a
//! change is reported only if it exceeds the noise threshold by more than the gap between these processes.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::model::{BySide, Side, Statistic};

/// If the fastest processes of a side are farther apart than this, as a fraction, the host was disturbed and the time of the very fastest may be an
/// accident.
const MOST_APART: f64 = 0.2;

/// A note on a comparison: something that a reader should know besides its numbers, such as that the host disturbed it. The member `note` says which
/// kind of note it is. `Display` gives a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum Note {
    /// A side has no samples, so it could not be compared.
    NoSamples {
        /// The side that the note is about.
        side: Side,
    },
    /// The samples of a side are too short to be timed precisely by its clock, so nothing was tested.
    SamplesTooShort {
        /// The side that the note is about.
        side: Side,
        /// The smallest length of a sample that can be used, in nanoseconds. It is 0 if no clock timed the samples. In that case, all values of the
        /// side are 0, so a ratio cannot be computed.
        needed_ns: f64,
    },
    /// Processes of a side were left out because their samples are too short for its clock.
    ProcessesLeftOut {
        /// The side that the note is about.
        side: Side,
        /// How many processes of the side were left out.
        left_out: usize,
        /// How many processes of the side were used.
        used: usize,
    },
    /// Rounds of a side-by-side measurement were left out because the samples of one side are too short for its clock.
    RoundsLeftOut {
        /// How many rounds were left out.
        left_out: usize,
        /// How many rounds were measured, including those left out.
        rounds: usize,
    },
    /// Processes of a side failed.
    ProcessesFailed {
        /// The side that the note is about.
        side: Side,
        /// How many processes failed.
        failed: usize,
        /// How many processes of the side did not fail and have samples.
        good: usize,
    },
    /// A side has only one or two processes.
    FewProcesses {
        /// The side that the note is about.
        side: Side,
        /// How many processes the side has.
        processes: usize,
    },
    /// Each side has one process, and there are no other runs to show how much processes differ. A disturbed process then looks like a change, so no
    /// change is reported.
    LoneProcesses,
    /// A side has only one process. The t-score therefore compares samples as if they were independent, which raises too many false alarms.
    SamplesAsUnits,
    /// A side has too few samples for a low quantile, so the medians of both sides were compared instead.
    MedianOfFewSamples {
        /// How many samples were compared on the side that has fewer of them.
        samples: usize,
    },
    /// Some processes have no flat phase (samples that all have the same number of iterations), so medians were compared. Of a linear phase, only the
    /// samples with at least half as many iterations as the longest were used.
    MedianOfRamp,
    /// The samples of one side are much longer than those of the other. This favors the other side, because short samples reach lower minimums.
    SampleLengthsDiffer {
        /// The length of a typical sample on the side with the longer samples, divided by that on the other side.
        ratio: f64,
    },
    /// Within each side, all values that were compared are equal, so they show no variance. The clock may be too coarse.
    NoVariance,
    /// The t-score could not be computed.
    NoTScore,
    /// So many benchmarks share the significance level that the t-score cannot show a change with so few resamples of the bootstrap.
    TooFewResamples {
        /// How many resamples would be enough.
        needed: u64,
    },
    /// There are so many samples that fewer resamples of the bootstrap were drawn than requested. This limits how small the p-value can be.
    FewerResamples {
        /// How many resamples were drawn.
        drawn: u64,
    },
    /// Few processes of a side came near its fastest process, so the time of the fastest may be an accident. If `gap` is above 0.2, a change is
    /// reported only if it exceeds the noise threshold by more than the gap.
    LoneFloor {
        /// The side that the note is about.
        side: Side,
        /// How much slower the second-fastest process is than the fastest, as a fraction. If there are many processes, the slowest of the fastest
        /// tenth may stand in for the second-fastest.
        gap: f64,
    },
    /// The t-score shows that the processes became slower on average, but the fastest processes of both sides take about the same time.
    SlowerButForTheFastest {
        /// How much slower the processes became on average, as a fraction.
        change: f64,
    },
    /// A side has fewer observations than the test of `--test` needs, so nothing was tested.
    TooFewObservations {
        /// How many observations the side with fewer of them has.
        smaller: usize,
        /// How many observations the test needs on each side.
        needed: usize,
    },
    /// On one side, no process has the statistic that should stand for its samples (`--center`), so nothing was tested. For example, there is no
    /// slope without a linear phase.
    NoCenter {
        /// The statistic that should stand for the samples of a process.
        center: Statistic,
    },
    /// The verdict should be about the metric that `--metric` names, but at least one side did not measure it.
    NoSuchMetric {
        /// The metric that the verdict should be about.
        metric: Statistic,
    },
    /// An exact p-value of the rank test was requested, but cannot be computed because some values are equal or there are too many values. So nothing
    /// was tested.
    NoExactP,
    /// A rank test shows a significant difference, but the difference is too small to matter, so it is not reported as a change.
    NegligibleEffect {
        /// Cliff's delta of the two sides, from -1 to 1. It is positive if the candidate is slower.
        delta: f64,
        /// The smallest size of Cliff's delta that counts as a change.
        practical: f64,
    },
    /// The test shows a significant difference, but part of the interval of the change lies within the noise threshold.
    WithinNoise,
    /// The whole interval of the change lies beyond the noise threshold, but the adjusted p-value is not small enough. This happens mostly with few
    /// observations or many benchmarks.
    NotSignificant {
        /// The p-value of this test, before it is adjusted for the number of benchmarks.
        p: f64,
        /// The p-value adjusted for all benchmarks.
        adjusted: f64,
        /// The significance level that the adjusted p-value had to be below.
        level: f64,
    },
    /// Counts that vary between processes, such as instructions, differ by more than noise, but the p-value is not small enough for so many
    /// benchmarks.
    CountsNotSignificant {
        /// The p-value of this test, before it is adjusted for the number of benchmarks.
        p: f64,
        /// The p-value adjusted for all benchmarks whose counts vary.
        adjusted: f64,
        /// The significance level that the adjusted p-value had to be below.
        level: f64,
    },
    /// The t-score shows a speedup, but the prediction interval, which allows for drift between runs, does not. So the speedup is not reported.
    FasterByTScoreOnly,
    /// The floor test, which compares the fastest samples, and the rank test, which compares round by round, contradict each other. So a change is
    /// reported only if both show it.
    TestsContradict,
    /// A side-by-side measurement has too few usable rounds for a verdict.
    FewRounds {
        /// How many usable rounds there are.
        rounds: usize,
    },
    /// A side has too few samples for a low quantile, so the second-fastest samples of both sides were compared instead.
    SecondFastestOfFewSamples {
        /// How many samples each side has.
        samples: usize,
    },
    /// Some samples of one side are slower than the samples of the other side that were taken right beside them, although the fastest samples of that
    /// side are not slower.
    SlowPath {
        /// The side that has the slow samples.
        side: Side,
        /// The share of the candidate's samples that take more than 10 % longer than its fastest samples, as a fraction.
        share_candidate: f64,
        /// The share of the base's samples that take more than 10 % longer than its fastest samples, as a fraction.
        share_base: f64,
    },
    /// The fastest samples of both sides take about the same time, but other samples may have become slower. So the benchmark is not reported as
    /// `unchanged`.
    SlowPathSuspected,
    /// The fastest samples of both sides take about the same time, but there were too few rounds to find out whether other samples became slower.
    SlowPathsNotSearched {
        /// How many usable rounds there were.
        rounds: usize,
    },
    /// On this host, controls (measurements with the same executable on both sides) differed by more than the noise threshold that was set. So the
    /// noise threshold was raised.
    ThresholdRaised {
        /// How many controls were measured.
        controls: usize,
        /// The raised noise threshold, as a fraction: the 95th percentile of the changes that the controls showed, regardless of their sign.
        change: f64,
        /// Whether the raised noise threshold is too large for the verdict `unchanged`.
        too_noisy: bool,
    },
    /// The first half of the rounds shows another change than the second half. The note does not contain these two changes, because they come from
    /// the rank test, while the reported change may come from the floor test.
    ChangeDrifts,
    /// Samples are taken in pairs, one of each side, and take longer or shorter as the second of a pair than as the first. So the sides disturb each
    /// other.
    PositionMatters {
        /// How much longer a sample takes as the second of its pair than as the first, as a fraction. It is negative if the sample takes less time.
        effect: f64,
    },
    /// Successive rounds resemble each other, so they are not independent, and the interval may be too narrow.
    RoundsDependOnTheirNeighbours {
        /// The correlation between successive rounds, from 0 to 1. It uses only whether the difference between the sides in each round lies above or
        /// below the median.
        correlation: f64,
    },
    /// An iteration takes so long that a round has only a few samples.
    LongIterations {
        /// How long an iteration of the candidate takes, in nanoseconds: the median over all samples.
        iteration_ns: f64,
    },
    /// Rounds differ mainly because processes of the same build differ, by more than their samples explain.
    ProcessesDiffer {
        /// The standard deviation of the times of one side's processes, as a fraction of the time.
        by: f64,
    },
    /// Rounds differ mainly because the difference between the sides varies from one pair of samples to the next within a round.
    SamplesDiffer {
        /// The standard deviation of the difference between the two samples of a pair, as a fraction of the time.
        by: f64,
    },
    /// The processes of the benchmark worked on several processors at once, so its time depends on where the system runs their threads.
    SeveralProcessors {
        /// How many processors a process used on average.
        processors: f64,
    },
    /// The rounds of a side fall into a fast and a slow group. Memory layout or a disturbed host may be the cause.
    SeveralModes {
        /// The side that the note is about.
        side: Side,
        /// The gap between the slowest round of the fast group and the fastest round of the slow group, as a fraction.
        apart: f64,
        /// The share of the side's rounds that are in the fast group, as a fraction.
        share: f64,
    },
    /// The host disturbed the comparison. In JSON, such a note looks like the others, because its inner note has the member `note`. Serde requires
    /// this untagged variant to come last.
    #[serde(untagged)]
    Host(HostNote),
}

impl Note {
    /// Returns true if small changes are not reported because of this note.
    pub fn withholds_changes(&self) -> bool {
        self.withheld_change() > 0.0
    }

    /// Returns how far a change must lie beyond the noise threshold to be reported despite this note, as a logarithm. It is 0 for most notes.
    pub(super) fn withheld_change(&self) -> f64 {
        match self {
            Self::LoneFloor { gap, .. } if *gap > MOST_APART => gap.ln_1p(),
            _ => 0.0,
        }
    }

    /// Writes the notes about comparisons by `--test` and `--metric`.
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
    /// Writes the notes about side-by-side measurements.
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
    /// The machine itself became faster or slower, in the direction of the measured change and by more. The control workload shows this: a fixed
    /// amount of work that is timed between processes.
    HostMoved {
        /// How much longer the control workload took than in the reference, as a fraction. It is negative if the machine became faster.
        change: f64,
    },
    /// At least half of the processes of a side became faster or slower while they were sampled.
    ProcessesDrift {
        /// The side that the note is about.
        side: Side,
        /// How many processes of the side became faster or slower.
        drifting: usize,
        /// How many processes the side has.
        processes: usize,
    },
    /// The system often gave the processor to other work while a side was sampled.
    SamplesInterrupted {
        /// The side that the note is about.
        side: Side,
        /// The largest share of the side's samples that can have been interrupted, as a fraction.
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

/// Returns the note of [`note_lone_floor`] about the side whose fastest processes are farther apart. Returns `None` if the fastest processes agree on
/// both sides. The values are logarithms of times.
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

/// Returns a note if the fastest process of a side is so much faster than its other fast processes that small changes cannot be reported. The fastest
/// process is compared with the second fastest or, if there are many, with the slowest of the fastest tenth. `processes` holds the logarithm of the
/// time of an iteration in each process.
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
        // Two fast processes of twenty-one may be an accident. Three of them show the true floor.
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
