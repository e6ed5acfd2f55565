//! What a reader must know about a comparison besides its numbers.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::host_note::HostNote;
use crate::model::{Side, Statistic};

/// A remark on a comparison. `Display` gives a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum Note {
    /// A side has no samples.
    NoSamples {
        /// Which side.
        side: Side,
    },
    /// The samples of a side are too short for its clock.
    SamplesTooShort {
        /// Which side.
        side: Side,
        /// Shortest sample that would count, in nanoseconds.
        needed_ns: f64,
    },
    /// Launches of a side failed.
    LaunchesFailed {
        /// Which side.
        side: Side,
        /// Launches that failed.
        failed: usize,
        /// Launches that are left.
        good: usize,
    },
    /// A side has only one or two launches.
    FewLaunches {
        /// Which side.
        side: Side,
        /// How many.
        launches: usize,
    },
    /// With one launch on a side the t-score compares samples, as if they were independent.
    SamplesAsUnits,
    /// Fewer samples than the low quantile needs: the median was compared.
    MedianOfFewSamples {
        /// Samples of the smaller side.
        samples: usize,
    },
    /// No flat phase: the median of the longer half of the ramp was compared.
    MedianOfRamp,
    /// The samples of the two sides differ much in length; short samples have lower floors.
    SampleLengthsDiffer {
        /// Longer over shorter, of the typical samples.
        ratio: f64,
    },
    /// All launch values of each side are equal.
    NoVariance,
    /// The t-score could not be computed.
    NoTScore,
    /// The resamples are too few for the level that the family asks for.
    TooFewResamples {
        /// How many would do.
        needed: u64,
    },
    /// There are so many samples that fewer resamples were drawn than asked for.
    FewerResamples {
        /// How many were.
        drawn: u64,
    },
    /// One launch alone came near the floor of a side, so that the floor is uncertain.
    LoneFloor {
        /// Which side.
        side: Side,
        /// How much slower the next launch is, a fraction.
        gap: f64,
    },
    /// The t-score says slower, while the fastest launches of both sides are alike.
    SlowerButForTheFastest {
        /// The change of the mean over launches, a fraction.
        change: f64,
    },
    /// A side has fewer observations than the test of `--test` needs: nothing was tested.
    TooFewObservations {
        /// Observations of the smaller side.
        smaller: usize,
        /// How many it needs.
        needed: usize,
    },
    /// A side has no launch with the center that was asked for.
    NoCenter {
        /// Which.
        center: Statistic,
    },
    /// The benchmark does not have what the verdict should be about.
    NoSuchMetric {
        /// What.
        metric: Statistic,
    },
    /// An exact p of ranks was asked for, and there are ties or too many values.
    NoExactP,
    /// A test of ranks shows a difference that is negligible in size.
    NegligibleEffect {
        /// Cliff's delta.
        delta: f64,
        /// What counts.
        practical: f64,
    },
    /// The test shows a difference whose interval does not lie beyond the noise threshold.
    WithinNoise,
    /// The interval lies beyond the noise threshold, but p is not small enough, of few observations and many benchmarks mostly.
    NotSignificant {
        /// p before the family.
        p: f64,
        /// The same adjusted for all benchmarks.
        adjusted: f64,
        /// The level that it had to be below.
        level: f64,
    },
    /// Counts that vary differ beyond noise, but p is not small enough among as many benchmarks.
    CountsNotSignificant {
        /// p before the family.
        p: f64,
        /// The same adjusted for all benchmarks whose counts vary.
        adjusted: f64,
        /// The level that it had to be below.
        level: f64,
    },
    /// Only the t-score says faster.
    FasterByTScoreOnly,
    /// The floors and the rounds say different things.
    TestsContradict,
    /// Too few rounds for a verdict.
    FewRounds {
        /// How many there are.
        rounds: usize,
    },
    /// Fewer samples than the low quantile needs: the second fastest was compared.
    SecondFastestOfFewSamples {
        /// Samples of a side.
        samples: usize,
    },
    /// Samples of a side are slower than their neighbours of the other, its fastest ones are not.
    SlowPath {
        /// The slower side.
        side: Side,
        /// Share of the new side's samples more than 10 % above its floor.
        share_candidate: f64,
        /// The same of the reference.
        share_base: f64,
    },
    /// The floors are alike, but a slow path could not be ruled out.
    SlowPathSuspected,
    /// The floors are alike, and there were too few rounds to look for slow paths.
    SlowPathsNotSearched {
        /// How many there were.
        rounds: usize,
    },
    /// Controls on this host have differed by more than the noise threshold that was set.
    ThresholdRaised {
        /// How many controls.
        controls: usize,
        /// The 95th percentile of their changes, a fraction: the threshold in force.
        change: f64,
        /// Whether that is too much to call anything unchanged.
        too_noisy: bool,
    },
    /// The change of the first half of the rounds is not that of the second. How large it is in each is not told: it is seen in the rounds one by one,
    /// and what is printed as the change may be that of the fastest samples.
    ChangeDrifts,
    /// A sample is slower or faster as the second of a pair than as the first.
    PositionMatters {
        /// By how much it is slower as the second, a fraction.
        effect: f64,
    },
    /// A round is like the one before it: they are no independent evidence.
    RoundsDependOnTheirNeighbours {
        /// Correlation of the signs about the median.
        correlation: f64,
    },
    /// An iteration is so long that a round has few samples.
    LongIterations {
        /// An iteration, in nanoseconds.
        iteration_ns: f64,
    },
    /// Processes of one side differ by more than their samples explain.
    ProcessesDiffer {
        /// Their standard deviation, a fraction.
        by: f64,
    },
    /// Within a round the differences of both sides vary by more than processes do.
    SamplesDiffer {
        /// The standard deviation of the differences that two quads give, a fraction.
        by: f64,
    },
    /// The processes worked on several processors at once.
    SeveralProcessors {
        /// On how many on average.
        processors: f64,
    },
    /// The rounds of a side fall into two groups.
    SeveralModes {
        /// Which side.
        side: Side,
        /// How much slower the slow group begins, a fraction.
        apart: f64,
        /// Share of the rounds in the fast group.
        share: f64,
    },
    /// What the host did. It has a tag of its own; such variants stand last.
    #[serde(untagged)]
    Host(HostNote),
}

impl Note {
    /// Those of `--test` and `--metric`.
    fn of_another_system(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewObservations { smaller, needed } => write!(
                f,
                "not tested: this test needs {needed} observations on each side, and one has {smaller} (more `--rounds`, or `--observations samples`)"
            ),
            Self::NoCenter { center: Statistic::Slope } => f.write_str(
                "not tested: a side has no linear phase and so no slope (`--sampling-mode linear`, or another `--center`)",
            ),
            Self::NoCenter { center } => write!(f, "not tested: a side has no {center}"),
            Self::NoSuchMetric { metric: Statistic::Allocations | Statistic::Bytes | Statistic::Peak } => f.write_str(
                "allocations were not counted on both sides: the bench needs the counting allocator of `perfcheck`",
            ),
            Self::NoSuchMetric { metric: Statistic::Instructions } => f.write_str(
                "instructions were not counted on both sides",
            ),
            Self::NoSuchMetric { metric } => write!(
                f,
                "there is no {metric} on both sides: only benchmarks that time single operations (`iter_latency`) have one"
            ),
            Self::NoExactP => f.write_str(
                "not tested: an exact p needs values without ties, and at most 10,000 pairs (`--rank-p auto` takes the asymptotic one then)",
            ),
            Self::NegligibleEffect { delta, practical } => write!(
                f,
                "the difference is significant and negligible: Cliff's delta is {delta:+.3}, and only from {practical} on it counts"
            ),
            Self::WithinNoise => f.write_str(
                "the difference is significant, but its interval does not lie wholly beyond the noise threshold",
            ),
            Self::NotSignificant { p, adjusted, level } => write!(
                f,
                "the interval lies beyond the noise threshold, but p is {p:.4}, and {adjusted:.4} adjusted for all benchmarks: not below {level} (more launches, fewer benchmarks, or another `--test`, `--observations` or `--correction`)"
            ),
            Self::CountsNotSignificant { p, adjusted, level } => write!(
                f,
                "the counts differ by more than noise, but p is {p:.4}, and {adjusted:.4} adjusted for all benchmarks whose counts vary: not below {level} (more launches)"
            ),
            _ => Ok(()),
        }
    }
}

impl Note {
    /// Those of A/B.
    fn of_rounds(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewRounds { rounds } => {
                write!(f, "{rounds} rounds are too few for a verdict")
            }
            Self::SecondFastestOfFewSamples { samples } => write!(
                f,
                "the second fastest samples are compared, as a side has only {samples}"
            ),
            Self::SlowPath { side, share_candidate, share_base } => write!(
                f,
                "a slow path: samples of {side} are often more than 10 % slower than their neighbours of the other, its fastest are not ({:.1} % of the new samples lie that far above their floor, {:.1} % of the reference)",
                share_candidate * 100.0,
                share_base * 100.0
            ),
            Self::SlowPathSuspected => f.write_str(
                "the fastest samples are alike, but some of the new ones may take a slow path (more rounds would tell)",
            ),
            Self::SlowPathsNotSearched { rounds } => write!(
                f,
                "the fastest samples are alike; {rounds} rounds are too few to look for slow paths"
            ),
            Self::ThresholdRaised { controls, change, too_noisy } => write!(
                f,
                "on this host it has differed from itself by up to {:.1} % (95th percentile of {controls} controls): that is its noise threshold here{}",
                change * 100.0,
                if *too_noisy { ", too much to call anything unchanged" } else { "" }
            ),
            Self::ChangeDrifts => f.write_str(
                "the first half of the rounds shows another change than the second, by more than the noise threshold and chance: measure again",
            ),
            Self::PositionMatters { effect } => write!(
                f,
                "whichever side comes second in a pair is {:.1} % {}: the sides disturb each other (the order is balanced, so the change is not affected)",
                effect.abs() * 100.0,
                if *effect < 0.0 { "faster" } else { "slower" }
            ),
            Self::RoundsDependOnTheirNeighbours { correlation } => write!(
                f,
                "rounds resemble the round before them (correlation {correlation:.2}): the interval may be too narrow"
            ),
            Self::LongIterations { iteration_ns } => write!(
                f,
                "an iteration takes {:.1} ms, so a round holds few samples: measure longer, or benchmark less work",
                iteration_ns / 1e6
            ),
            Self::ProcessesDiffer { by } => write!(
                f,
                "processes of the same build differ by {:.1} % (standard deviation), for example because their memory lies elsewhere: more rounds help",
                by * 100.0
            ),
            Self::SamplesDiffer { by } => write!(
                f,
                "what is measured side by side within a round differs by {:.1} % (standard deviation): a quieter machine or more rounds help",
                by * 100.0
            ),
            Self::SeveralProcessors { processors } => write!(
                f,
                "the process used {processors:.1} processors on average, so its time depends on where the system puts its threads"
            ),
            Self::SeveralModes { side, apart, share } => write!(
                f,
                "the rounds of {side} fall into two groups {:.0} % apart, {:.0} % of them in the fast one: memory layout, or a disturbed host",
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
            Self::SamplesTooShort { side, needed_ns } => write!(
                f,
                "the samples of {side} are too short to test; they need {:.0} us each (more iterations per sample)",
                needed_ns / 1000.0
            ),
            Self::LaunchesFailed { side, failed, good } => {
                write!(f, "{failed} launches of {side} failed, {good} are left")
            }
            Self::FewLaunches { side, launches: 1 } => {
                write!(f, "{side} has one launch: how launches differ is not known")
            }
            Self::FewLaunches { side, launches } => {
                write!(f, "{side} has only {launches} launches")
            }
            Self::SamplesAsUnits => f.write_str(
                "with one launch the t-score compares samples as if they were independent: it alarms too often",
            ),
            Self::MedianOfFewSamples { samples } => {
                write!(f, "medians are compared, as a side has only {samples} samples")
            }
            Self::MedianOfRamp => f.write_str(
                "medians of the longer half of the ramp are compared, as there is no flat phase",
            ),
            Self::SampleLengthsDiffer { ratio } => write!(
                f,
                "the samples of one side are {ratio:.1} times as long as those of the other; short samples reach lower times"
            ),
            Self::NoVariance => f.write_str("all launches of each side give the same value (a coarse clock?)"),
            Self::NoTScore => f.write_str("the t-score could not be computed"),
            Self::TooFewResamples { needed } => write!(
                f,
                "so many benchmarks at this significance level need at least {needed} resamples"
            ),
            Self::FewerResamples { drawn } => write!(
                f,
                "there are too many samples for the resamples asked for: the p is of {drawn}, and none below {:.1e} can be found",
                1.0 / (*drawn as f64 + 1.0)
            ),
            Self::LoneFloor { side, gap } => write!(
                f,
                "the fastest launch of {side} has the next {:.1} % above it: what one launch alone reached is uncertain (more launches help)",
                gap * 100.0
            ),
            Self::SlowerButForTheFastest { change } => write!(
                f,
                "the launches are {:.1} % slower on average, the fastest of them are not: the host was disturbed, or only some launches became slower",
                change * 100.0
            ),
            Self::TooFewObservations { .. }
            | Self::NoCenter { .. }
            | Self::NoSuchMetric { .. }
            | Self::NoExactP
            | Self::NegligibleEffect { .. }
            | Self::WithinNoise
            | Self::NotSignificant { .. }
            | Self::CountsNotSignificant { .. } => self.of_another_system(f),
            Self::TestsContradict => f.write_str(
                "the fastest samples of all rounds and the rounds one by one say different things (the host changed its speed?): only what both show counts",
            ),
            Self::FasterByTScoreOnly => f.write_str(
                "the t-score says faster, but the drift between runs could explain it",
            ),
            Self::FewRounds { .. } | Self::SecondFastestOfFewSamples { .. } | Self::SlowPath { .. } | Self::SlowPathSuspected | Self::SlowPathsNotSearched { .. } | Self::ThresholdRaised { .. } | Self::ChangeDrifts | Self::PositionMatters { .. } | Self::RoundsDependOnTheirNeighbours { .. } | Self::LongIterations { .. } | Self::ProcessesDiffer { .. } | Self::SamplesDiffer { .. } | Self::SeveralProcessors { .. } | Self::SeveralModes { .. } => self.of_rounds(f),
        }
    }
}
