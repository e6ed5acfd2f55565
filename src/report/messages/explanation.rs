//! How a verdict came about (`explain`): sentences, each with its numbers.

use serde::Serialize;

use super::compared::decided_by;
use super::extras::LatencyChanges;
use crate::report::explanation::Explanation;
use perfcheck_analysis::compare::{
    AllocationComparison, Centers, Comparison, Difference, Effects, Estimate,
    InstructionComparison, Location, Note, SampledTime, SharedLevel, Tested,
};
use perfcheck_analysis::findings::ChangedFunction;
use perfcheck_analysis::model::{BenchmarkKey, Nanos, Observations, RunId, Statistic, Verdict};

/// How a verdict came about.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Explanation"))]
pub(crate) struct ExplanationMessage<'a> {
    /// The run that has the verdict; with A/B the candidate.
    run: RunId,
    /// The benchmark.
    benchmark: &'a BenchmarkKey,
    /// The verdict as it was stored.
    verdict: Verdict,
    /// How it was reached, as in `benchmark-compared`; null where nothing was compared.
    decided_by: Option<&'static str>,
    /// The sentences in the order in which they are to be read.
    sentences: &'a [Statement],
}

/// A sentence or a few about one thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Sentence"))]
pub(crate) struct Statement {
    /// The sentences.
    pub text: String,
    #[serde(flatten)]
    pub numbers: Numbers,
}

/// What a sentence is about, with its numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "about", content = "numbers", rename_all = "kebab-case")]
pub(crate) enum Numbers {
    /// The verdict as it was stored.
    Verdict {
        /// The change, a fraction; null without a comparison.
        change: Option<f64>,
        /// The run that it was compared with; null without a comparison.
        reference_run: Option<RunId>,
    },
    /// What the run measured.
    Measured {
        /// The number of the run; with A/B that of the candidate.
        run: RunId,
        /// The run of the base, where both sides were measured in turn; else null.
        base_run: Option<RunId>,
        /// How many launches have samples; with A/B how many rounds.
        launches: usize,
        /// How many samples decide.
        samples: usize,
    },
    /// What it was compared with.
    Reference {
        /// The runs, newest first.
        runs: Vec<RunId>,
        /// How many launches of them have samples.
        launches: usize,
        /// How many samples of them decide.
        samples: usize,
        /// From how many runs the drift between runs was estimated.
        runs_spread: usize,
    },
    /// Where it was measured.
    Place {
        /// How many logical processors there were.
        cores: u32,
        /// Whether the machine was shared with others; null where nobody knows.
        shared: Option<bool>,
        /// The one-minute load average at the start; null where the system does not tell.
        load: Option<f64>,
        /// The largest step of the benches' clocks, nanoseconds; null where no clock is known.
        clock_step_ns: Option<Nanos>,
        /// The jitter of the control workload, as in `run-finished`.
        jitter: Option<f64>,
        /// The range of the control workload, as in `run-finished`.
        control_range: Option<f64>,
    },
    /// The functions in which the executables of both sides differ.
    Code {
        /// Those that changed, then those that were added, then those that were removed, the longest first.
        functions: Vec<ChangedFunction>,
        /// How many more there are.
        left_out: usize,
    },
    /// A failure of launches.
    Failure {
        /// The launches in which it happened, from 1.
        launches: Vec<u32>,
    },
    /// The look of an A/B measurement that decided.
    Look {
        /// After how many rounds it was.
        rounds: usize,
        /// Whether it was before the last one.
        stopped_early: bool,
        /// How many layouts of the code the rounds had; 0: the executables ran as they were linked.
        layouts: usize,
        /// The share of each level that it has for itself, a fraction.
        share: f64,
        /// After how many rounds looks were planned; null where the plan is not known.
        looks: Option<Vec<u32>>,
    },
    /// What was taken of the samples.
    Location {
        /// The statistic.
        location: Location,
    },
    /// The change that was seen, and how uncertain it is.
    Estimate {
        /// The change, a fraction.
        change: f64,
        /// The standard error of the difference of logarithms; null where it is not known.
        standard_error: Option<f64>,
        /// The degrees of freedom of Student's t; null with A/B and where they are not known.
        degrees_of_freedom: Option<f64>,
        /// The standard deviation between runs that was assumed; null with A/B.
        run_std_dev: Option<f64>,
    },
    /// The interval that decided, and its levels.
    Interval {
        /// The change with its interval, a fraction.
        change: Estimate,
        /// How many benchmarks share the level.
        family: usize,
        /// The one-sided level of all of them together.
        family_level: f64,
        /// The one-sided level of the lower bound.
        level_slower: f64,
        /// The one-sided level of the upper bound.
        level_faster: f64,
        /// The p-value for slower, before the family; with A/B over the share of the look.
        p_slower: f64,
        /// The p-value for faster, likewise.
        p_faster: f64,
        /// The p-value for slower, adjusted for the family.
        adjusted_p_slower: f64,
        /// The p-value for faster, adjusted for the family.
        adjusted_p_faster: f64,
    },
    /// What the test of `--test` was made of.
    Observations {
        /// What counts as one observation.
        observations: Observations,
        /// What stands for a launch.
        center: Statistic,
        /// How many observations the run has.
        candidate: usize,
        /// How many observations the reference has.
        base: usize,
    },
    /// What the test of `--test` said.
    Test {
        /// The test, as in `benchmark-compared`.
        tested: Tested,
        /// The change with its interval, a fraction; null where nothing was tested.
        change: Option<Estimate>,
    },
    /// How large the difference is.
    Effect(Effects),
    /// The summary that was asked for.
    Summary {
        /// The summary, as in `benchmark-compared`.
        centers: Centers,
    },
    /// What a verdict that is not about the time is about.
    Metric {
        /// What it is about.
        metric: Statistic,
        /// The change with its interval, a fraction; null where it has none.
        change: Option<Estimate>,
        /// The level that it shares with others, as in `benchmark-compared`.
        shared_level: Option<SharedLevel>,
    },
    /// What counts as noise.
    Threshold {
        /// Changes up to this are noise, a fraction.
        noise_threshold: f64,
    },
    /// What the t-score says, which knows nothing of drift between runs.
    TScore {
        /// The change with its interval, a fraction.
        change: Estimate,
        /// The p-value for slower, adjusted for the family.
        adjusted_p_slower: f64,
        /// The p-value for faster, adjusted for the family.
        adjusted_p_faster: f64,
    },
    /// What the slow-path test of an A/B measurement says.
    SlowPath {
        /// The share of the candidate's samples that lie more than 10 % above its floor.
        share_candidate: f64,
        /// The same of the base.
        share_base: f64,
        /// The one-sided level of all benchmarks together.
        family_level: f64,
        /// The p-value for the candidate, before look and family.
        p_slower: f64,
        /// Up to this p-value nothing is called unchanged.
        suspicion: f64,
        /// The p-value for the candidate, adjusted.
        adjusted_p_slower: f64,
        /// The p-value for the base, adjusted.
        adjusted_p_faster: f64,
    },
    /// A fact that makes the sides incomparable.
    Difference(Difference),
    /// What decided.
    Decision(DecisionNumbers),
    /// How allocations changed.
    Allocations(AllocationComparison),
    /// How instructions changed.
    Instructions(InstructionComparison),
    /// How the time changed by function.
    SampledTime(SampledTime),
    /// How latencies changed.
    Latencies(LatencyChanges),
    /// What to know of the numbers.
    Note {
        /// The note, an array of one, as in `benchmark-compared`.
        notes: [Note; 1],
    },
    /// What would have made it another verdict.
    Otherwise {
        /// The smallest slowdown that could have been called, a fraction; null where it is not known.
        smallest_callable: Option<f64>,
        /// How many rounds of an A/B measurement would settle it; null where none would.
        rounds_needed: Option<u64>,
    },
    /// That the store has the verdict alone, and not how it was reached.
    Origin {},
}

/// The numbers that decided.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum DecisionNumbers {
    /// Two measurements were compared.
    Compared {
        /// The lower bound of the change, a fraction; null where the data do not give one.
        lower: Option<f64>,
        /// The upper bound, likewise.
        upper: Option<f64>,
        /// Changes up to this are noise, a fraction.
        noise_threshold: f64,
    },
    /// Nothing was compared.
    Uncompared {
        /// The run that it would have been compared with; null where there is none.
        reference_run: Option<RunId>,
    },
}

impl Statement {
    pub fn new(text: impl Into<String>, numbers: Numbers) -> Self {
        Self {
            text: text.into(),
            numbers,
        }
    }
}

impl Numbers {
    /// The word for what the sentence is about.
    pub fn about(&self) -> &'static str {
        match self {
            Self::Verdict { .. } => "verdict",
            Self::Measured { .. } => "measured",
            Self::Reference { .. } => "reference",
            Self::Place { .. } => "place",
            Self::Code { .. } => "code",
            Self::Failure { .. } => "failure",
            Self::Look { .. } => "look",
            Self::Location { .. } => "location",
            Self::Estimate { .. } => "estimate",
            Self::Interval { .. } => "interval",
            Self::Observations { .. } => "observations",
            Self::Test { .. } => "test",
            Self::Effect(_) => "effect",
            Self::Summary { .. } => "summary",
            Self::Metric { .. } => "metric",
            Self::Threshold { .. } => "threshold",
            Self::TScore { .. } => "t-score",
            Self::SlowPath { .. } => "slow-path",
            Self::Difference(_) => "difference",
            Self::Decision(_) => "decision",
            Self::Allocations(_) => "allocations",
            Self::Instructions(_) => "instructions",
            Self::SampledTime(_) => "sampled-time",
            Self::Latencies(_) => "latencies",
            Self::Note { .. } => "note",
            Self::Otherwise { .. } => "otherwise",
            Self::Origin {} => "origin",
        }
    }

    /// The bounds of `comparison` beside its threshold.
    pub fn decision(comparison: &Comparison) -> Self {
        Self::Decision(DecisionNumbers::Compared {
            lower: comparison.change.map(|change| change.lower),
            upper: comparison.change.map(|change| change.upper),
            noise_threshold: comparison.noise_threshold,
        })
    }
}

impl<'a> ExplanationMessage<'a> {
    pub fn of(explanation: &Explanation<'a>, sentences: &'a [Statement]) -> Self {
        let compared = explanation.comparison();
        let method = explanation.method.filter(|_| compared.is_some());
        let subject = explanation.run.begun.decision.analysis.subject;
        Self {
            run: explanation.run.id,
            benchmark: explanation.key,
            verdict: explanation.verdict,
            decided_by: method.map(|method| decided_by(method, subject)),
            sentences,
        }
    }
}
