//! A benchmark of a campaign: its settings, its visits so far, the duration of a visit, and the lengths of its samples on each side. [`PerBenchmark`]
//! has a value for each benchmark of a target.

use std::ops::{Index, IndexMut};
use std::time::Duration;

use super::schedule::FlatSchedule;
use super::sides::SideResult;
use crate::child::{USUAL_MEASUREMENT, USUAL_WARM_UP, round_up_to_seconds};
use perfcheck_analysis::compare::{
    ASSUMED_CLOCK_STEP_NS, LookStatus, ProcessSampling, typical_iteration_ns,
};
use perfcheck_analysis::model::{
    Benchmark, BenchmarkInProcess, BySide, Extras, Interleaving, ProcessOutcome, Round,
    SamplingSettings, Side,
};

/// A benchmark that failed in this many rounds is not tried again.
const MOST_FAILURES: u32 = 2;

/// The time limit for the rounds of one benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit {
    /// No round begins that would raise the total time of the rounds above this.
    pub time: Duration,
    /// Number of rounds that a benchmark gets regardless of their duration.
    pub fewest_rounds: u32,
}

/// The settings of a benchmark, as resolved before it is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResolvedSettings {
    /// The sampling settings.
    pub sampling: SamplingSettings,
    /// The noise threshold in force, as a fraction.
    pub noise_threshold: f64,
    /// The flat phase that the run to compare with used. The new run uses the same iterations unless the benchmark has become much faster or slower.
    pub pinned: Option<FlatSchedule>,
    /// The number of samples in the run to compare with, if the bench chooses the iterations of its samples by itself.
    pub pinned_samples: Option<u32>,
    /// How long a process took in the run to compare with.
    pub past_visit: Option<Duration>,
}

/// The subjects that a round compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairedSubjects {
    /// Two builds of one benchmark.
    Builds,
    /// Two benchmarks of one build.
    Benchmarks,
}

/// A visit in which a benchmark declined to be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedVisit {
    /// The side on which the benchmark declined.
    pub side: Side,
    /// The reason that its author gives.
    pub reason: String,
}

/// How exactly a harness accepts times for warm-up and measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimePrecision {
    Exactly,
    InWholeSeconds,
}

/// A phase of a visit. Each phase has its own time setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SamplingPhase {
    WarmUp,
    Samples,
}

/// A benchmark, and its state in the campaign.
pub(super) struct CampaignBenchmark {
    /// The benchmark as its executable announced it. Later reports of its processes update it.
    pub(super) subject: Benchmark,
    /// The id of the benchmark that the base measures beside this one. `None` if both sides measure the same benchmark.
    pub(super) base_id: Option<String>,
    pub(super) resolved: ResolvedSettings,
    /// How exactly the harness of the benchmark accepts times.
    pub(super) time_precision: TimePrecision,
    /// Number of successful visits.
    pub(super) measured: u32,
    pub(super) failures: u32,
    /// Whether the benchmark needs no more visits or has declined to be visited.
    pub(super) done: bool,
    /// The result of the last evaluation. While it is [`LookStatus::Searching`], a time budget is first spent on other benchmarks.
    pub(super) standing: LookStatus,
    /// The number of rounds in which this benchmark waited for others. They do not count toward its maximum number of rounds.
    pub(super) waited: u32,
    /// The visit in which the benchmark declined, if it did.
    pub(super) skipped: Option<SkippedVisit>,
    /// How long the visits so far took, including the benchmark's share of the time for starting processes.
    pub(super) time: Duration,
    /// How long a visit takes. Before the first visit this is the expected duration, then the mean of the visits so far.
    pub(super) visit: Duration,
    /// Whether it is known how long an iteration takes. If it is not, a visit may take much longer than expected.
    pub(super) paced: bool,
    /// The samples of both sides in each round. Empty if only one side is measured.
    pub(super) rounds: Vec<Round>,
    /// The lengths of the samples on each side. Empty if the samples are not times.
    pub(super) lengths: BySide<SampleLengths>,
    /// Whether one processor is enough for the benchmark. `None` until a round has shown it.
    pub(super) is_solitary: Option<bool>,
}

impl CampaignBenchmark {
    /// Creates a benchmark that has had no visit.
    pub(super) fn new(
        benchmark: Benchmark,
        resolved: ResolvedSettings,
        time_precision: TimePrecision,
    ) -> Self {
        let mut new = Self {
            subject: benchmark,
            base_id: None,
            visit: Duration::ZERO,
            paced: resolved.past_visit.is_some(),
            resolved,
            time_precision,
            measured: 0,
            failures: 0,
            done: false,
            standing: LookStatus::Open,
            waited: 0,
            skipped: None,
            time: Duration::ZERO,
            rounds: Vec::new(),
            lengths: BySide::default(),
            is_solitary: None,
        };
        new.visit = new.expected_duration();
        new
    }

    /// Returns the id of the benchmark that `side` measures.
    pub(super) fn id_on(&self, side: Side) -> &str {
        match (side, &self.base_id) {
            (Side::Base, Some(id)) => id,
            _ => &self.subject.key.id,
        }
    }

    /// Returns the subjects that the rounds of this benchmark compare.
    pub(super) fn paired_subjects(&self) -> PairedSubjects {
        match self.base_id {
            Some(_) => PairedSubjects::Benchmarks,
            None => PairedSubjects::Builds,
        }
    }

    /// Returns the expected duration of a visit: as its settings say, or as in the past if that was longer.
    fn expected_duration(&self) -> Duration {
        let past = self.resolved.past_visit.unwrap_or_default();
        self.planned_duration(self.time_precision).max(past)
    }

    /// Returns the duration of a visit according to its settings, for a harness with this `time_precision`.
    fn planned_duration(&self, time_precision: TimePrecision) -> Duration {
        let in_force =
            |phase, requested| self.effective_time_with(time_precision, phase, requested);
        let sampling = &self.resolved.sampling;
        let requested = Duration::from(sampling.warm_up);
        let warm_up = in_force(SamplingPhase::WarmUp, requested);
        match sampling.turns {
            Interleaving::None => {
                warm_up + in_force(SamplingPhase::Samples, sampling.measurement.into())
            }
            // A warm-up and samples of each side, and the time of another warm-up for starting the processes.
            Interleaving::Samples | Interleaving::Processes => {
                let of_a_side = Duration::from(sampling.measurement) / 2;
                warm_up * 2 + requested + in_force(SamplingPhase::Samples, of_a_side) * 2
            }
        }
    }

    /// Returns the time that is passed to the harness for a phase. If the harness accepts only whole seconds, `requested` is rounded up. Returns
    /// `None` if nothing is passed, because the author's time is nearer to `requested` than the rounded time.
    pub(super) fn time_to_pass(
        &self,
        phase: SamplingPhase,
        requested: Duration,
    ) -> Option<Duration> {
        self.time_to_pass_with(self.time_precision, phase, requested)
    }

    fn time_to_pass_with(
        &self,
        time_precision: TimePrecision,
        phase: SamplingPhase,
        requested: Duration,
    ) -> Option<Duration> {
        match time_precision {
            TimePrecision::Exactly => return Some(requested),
            TimePrecision::InWholeSeconds => {}
        }
        let whole = round_up_to_seconds(requested);
        let is_nearer = |authors: Duration| authors < whole && whole != requested;
        (!self.author_time(phase).is_some_and(is_nearer)).then_some(whole)
    }

    /// Returns how long a phase will take.
    pub(super) fn effective_time(&self, phase: SamplingPhase, requested: Duration) -> Duration {
        self.effective_time_with(self.time_precision, phase, requested)
    }

    fn effective_time_with(
        &self,
        time_precision: TimePrecision,
        phase: SamplingPhase,
        requested: Duration,
    ) -> Duration {
        let passed = self
            .time_to_pass_with(time_precision, phase, requested)
            .or(self.author_time(phase));
        passed.unwrap_or(match phase {
            SamplingPhase::WarmUp => USUAL_WARM_UP,
            SamplingPhase::Samples => USUAL_MEASUREMENT,
        })
    }

    fn author_time(&self, phase: SamplingPhase) -> Option<Duration> {
        let settings = &self.subject.settings;
        let authors = match phase {
            SamplingPhase::WarmUp => settings.warm_up_ns,
            SamplingPhase::Samples => settings.measurement_ns,
        };
        authors.map(Duration::from)
    }

    /// Returns the time that a visit would save if its harness accepted exact times.
    pub(super) fn rounding_cost(&self) -> Duration {
        let exact = self.planned_duration(TimePrecision::Exactly);
        self.planned_duration(self.time_precision)
            .saturating_sub(exact)
    }

    /// Returns true if the benchmark may be visited again.
    pub(super) fn is_open(&self) -> bool {
        !self.done && self.failures < MOST_FAILURES
    }

    /// Returns the total number of processes for this benchmark. If only one side is measured, a process whose samples were too short is repeated,
    /// but the total is at most twice the number in the settings.
    pub(super) fn processes(&self) -> u32 {
        let planned = self.resolved.sampling.processes;
        match self.resolved.sampling.turns {
            Interleaving::None => {
                planned.saturating_add(self.lengths.candidate.processes_to_repeat().min(planned))
            }
            Interleaving::Samples | Interleaving::Processes => planned,
        }
    }

    /// Records how long the samples of a process were, for each side.
    pub(super) fn note_lengths(&mut self, sides: &[SideResult<BenchmarkInProcess>]) {
        for SideResult { side, result } in sides {
            if let ProcessOutcome::Measured(series) = &result.outcome
                && result.benchmark.metric.is_timed()
                && let Some(process) = ProcessSampling::from_samples(&series.comparable_samples())
            {
                self.lengths.get_mut(*side).add(process);
            }
        }
    }

    /// Returns the factor by which the next process of each side must sample longer than its settings say. `stretch` is the factor that the last
    /// process had.
    pub(super) fn stretch_after(&self, stretch: u32) -> u32 {
        let stretches = Side::BOTH.map(|side| self.lengths.get(side).stretch_after(stretch));
        stretches[0].max(stretches[1])
    }

    /// Returns the maximum number of visits from this round on.
    pub(super) fn visits_left(&self, round: u32, limit: Option<TimeLimit>) -> u32 {
        if !self.is_open() {
            return 0;
        }
        let passed = round.saturating_sub(self.waited);
        let had = passed.max(self.measured + self.failures);
        let left = self.processes().saturating_sub(had);
        left.min(limit.map_or(u32::MAX, |limit| self.affordable_rounds(limit)))
    }

    /// Returns the number of rounds that the limit allows.
    fn affordable_rounds(&self, limit: TimeLimit) -> u32 {
        let of_one = self.visit.as_secs_f64();
        let by_time = limit.time.saturating_sub(self.time).as_secs_f64() / of_one.max(1e-9);
        (by_time as u32).max(limit.fewest_rounds.saturating_sub(self.measured))
    }

    /// Reports whether the next round would exceed the limit.
    pub(super) fn is_out_of_time(&self, limit: Option<TimeLimit>) -> bool {
        limit.is_some_and(|limit| self.affordable_rounds(limit) == 0)
    }

    /// Returns true if other benchmarks may be visited before this one. Its speed is then unchanged so far, and more rounds could only reveal a slow
    /// path: a cost that few samples have.
    pub(super) fn can_wait(&self) -> bool {
        self.standing == LookStatus::Searching
    }

    /// Returns true if the benchmark was measured and is not settled, although it has had fewer rounds than it may have.
    pub(super) fn has_unused_rounds(&self) -> bool {
        let had = self.measured + self.failures;
        self.measured > 0
            && self.failures < MOST_FAILURES
            && self.skipped.is_none()
            && !matches!(self.standing, LookStatus::Settled(_))
            && had < self.processes()
    }

    /// Records a successful visit. The next visits are expected to take the mean of all visits so far.
    pub(super) fn record_visit(&mut self, visit: Duration) {
        self.measured += 1;
        self.time += visit;
        self.visit = self.time / self.measured;
        self.paced = true;
    }

    /// Applies what a short process before the first round has shown: the settings and, if known, the time of an iteration. Each visit runs at least
    /// `iterations` iterations.
    pub(super) fn apply_glance(
        &mut self,
        resolved: ResolvedSettings,
        iteration_ns: Option<f64>,
        iterations: u32,
    ) {
        self.resolved = resolved;
        self.visit = self.expected_duration();
        if let Some(ns) = iteration_ns {
            // One more iteration for the warm-up.
            let all = Duration::from_nanos(ns as u64) * (iterations + 1);
            self.visit = self.visit.max(all);
            self.paced = true;
        }
    }

    /// Notes whether one processor was enough for the processes of a round. If any process ever needed more, the answer stays no.
    pub(super) fn note_processor_use(&mut self, seen: &[Option<bool>]) {
        if seen.contains(&Some(false)) {
            self.is_solitary = Some(false);
        } else if !seen.contains(&None) {
            self.is_solitary.get_or_insert(true);
        }
    }

    /// Returns the record of what the benchmark did in a process.
    pub(super) fn record(&self, outcome: ProcessOutcome) -> BenchmarkInProcess {
        BenchmarkInProcess {
            benchmark: self.subject.clone(),
            sampling: self.resolved.sampling,
            noise_threshold: self.resolved.noise_threshold,
            outcome,
            extras: Extras::default(),
        }
    }
}

/// The index of a benchmark in its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BenchmarkIndex(pub(super) usize);

/// A value for each benchmark of a target, in program order.
pub(super) struct PerBenchmark<T>(Vec<T>);

impl<T> PerBenchmark<T> {
    /// Creates a copy of `value` for each benchmark of a target that has this number of `benchmarks`.
    pub(super) fn repeat(value: T, benchmarks: usize) -> Self
    where
        T: Clone,
    {
        Self(vec![value; benchmarks])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = T> {
        self.0.into_iter()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the index of each benchmark for which `matches` holds.
    pub(super) fn indices_of(
        &self,
        matches: impl Fn(&T) -> bool,
    ) -> impl Iterator<Item = BenchmarkIndex> {
        let values = self.0.iter().enumerate();
        let found = values.filter(move |(_, value)| matches(value));
        found.map(|(index, _)| BenchmarkIndex(index))
    }
}

impl<T> FromIterator<T> for PerBenchmark<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T> Index<BenchmarkIndex> for PerBenchmark<T> {
    type Output = T;

    fn index(&self, index: BenchmarkIndex) -> &T {
        &self.0[index.0]
    }
}

impl<T> IndexMut<BenchmarkIndex> for PerBenchmark<T> {
    fn index_mut(&mut self, index: BenchmarkIndex) -> &mut T {
        &mut self.0[index.0]
    }
}

/// If samples were too short, later samples should be this long, in nanoseconds. The length has a margin, because samples shorter than 100 us do not
/// enter the verdict.
pub(super) const LEAST_SAMPLE_NS: f64 = 250_000.0;
/// Maximum factor by which a process samples longer than its settings say.
const MOST_STRETCH: u32 = 16;

/// The processes of one side that have sampled a benchmark, in the order in which they ran.
///
/// A process chooses the number of iterations in its samples by the speed of its warm-up. So a slow warm-up makes all of its samples too short. The
/// iteration time of all processes together shows when this happened, and by which factor the next process must sample longer.
#[derive(Debug, Default)]
pub struct SampleLengths {
    processes: Vec<ProcessSampling>,
}

impl SampleLengths {
    /// Adds the next process.
    pub fn add(&mut self, process: ProcessSampling) {
        self.processes.push(process);
    }

    /// Returns the time of an iteration in nanoseconds if the samples of the last process were too short.
    pub fn known_ns_if_short(&self) -> Option<f64> {
        let typical_ns = self.typical_ns()?;
        let last = self.processes.last()?;
        is_too_short(*last, typical_ns).then_some(typical_ns)
    }

    /// Returns how many processes must be repeated because their samples were too short. Returns 0 if this holds for all processes, because another
    /// process would not change it.
    pub fn processes_to_repeat(&self) -> u32 {
        let Some(typical_ns) = self.typical_ns() else {
            return 0;
        };
        let processes = self.processes.iter();
        let short = processes
            .filter(|one| is_too_short(**one, typical_ns))
            .count();
        if short == self.processes.len() {
            0
        } else {
            short as u32
        }
    }

    /// Returns the factor by which the next process must sample longer than its settings say. It is a power of two. `stretch` is the factor that the
    /// last process had.
    pub fn stretch_after(&self, stretch: u32) -> u32 {
        let (Some(typical_ns), Some(last)) = (self.typical_ns(), self.processes.last()) else {
            return 1;
        };
        let unstretched_ns = last.length_ns(typical_ns) / f64::from(stretch);
        if !is_too_short(
            ProcessSampling {
                iterations: last.iterations / f64::from(stretch),
                ..*last
            },
            typical_ns,
        ) {
            return 1;
        }
        let factor = (LEAST_SAMPLE_NS / unstretched_ns).min(f64::from(MOST_STRETCH));
        (factor.ceil() as u32).next_power_of_two().min(MOST_STRETCH)
    }

    fn typical_ns(&self) -> Option<f64> {
        typical_iteration_ns(self.processes.iter().copied())
    }
}

fn is_too_short(process: ProcessSampling, typical_ns: f64) -> bool {
    process.is_too_short(typical_ns, ASSUMED_CLOCK_STEP_NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::{AuthorSettings, BenchmarkKey, Metric, Nanos, Throughput};

    impl CampaignBenchmark {
        /// Creates a benchmark about which nothing is known, with default settings.
        pub(in crate::measure) fn example(time_precision: TimePrecision) -> Self {
            let key = BenchmarkKey {
                package: "p".into(),
                target: "t".into(),
                id: "b".into(),
            };
            let benchmark = Benchmark {
                key,
                version: None,
                throughput: Throughput::default(),
                other_throughput: None,
                settings: AuthorSettings::default(),
                metric: Metric::Time,
            };
            let resolved = ResolvedSettings {
                sampling: SamplingSettings::default(),
                noise_threshold: 0.01,
                pinned: None,
                pinned_samples: None,
                past_visit: None,
            };
            Self::new(benchmark, resolved, time_precision)
        }
    }

    fn after(rounds: u32, seconds: u64) -> CampaignBenchmark {
        CampaignBenchmark {
            measured: rounds,
            time: Duration::from_secs(seconds),
            ..CampaignBenchmark::example(TimePrecision::Exactly)
        }
    }

    /// Returns how long a visit takes if times are rounded to whole seconds. The visit is a process with 100 ms of warm-up and 400 ms of samples, or
    /// a round with 5 ms of warm-up and 40 ms of samples for both sides.
    fn visit_in_whole_seconds(turns: Interleaving, authors: AuthorSettings) -> Duration {
        let millis = |count| Nanos::from(Duration::from_millis(count));
        let (warm_up, measurement) = match turns {
            Interleaving::None => (millis(100), millis(400)),
            Interleaving::Samples | Interleaving::Processes => (millis(5), millis(40)),
        };
        let mut benchmark = after(0, 0);
        benchmark.subject.settings = authors;
        benchmark.resolved.sampling = SamplingSettings {
            turns,
            warm_up,
            measurement,
            ..SamplingSettings::default()
        };
        CampaignBenchmark::new(
            benchmark.subject,
            benchmark.resolved,
            TimePrecision::InWholeSeconds,
        )
        .visit
    }

    #[test]
    fn whole_seconds_count_where_the_authors_time_is_not_shorter() {
        let nobodys = AuthorSettings::default();
        let visit = |turns| visit_in_whole_seconds(turns, nobodys);
        assert_eq!(visit(Interleaving::None), Duration::from_secs(1 + 1));
        let round = Duration::from_millis(2 * (1000 + 1000) + 5);
        assert_eq!(visit(Interleaving::Samples), round);
        let tenth = Nanos::from(Duration::from_millis(100));
        let authors = AuthorSettings {
            warm_up_ns: Some(tenth),
            measurement_ns: Some(tenth),
            ..nobodys
        };
        let visit = |turns| visit_in_whole_seconds(turns, authors);
        assert_eq!(visit(Interleaving::None), Duration::from_millis(100 + 100));
        let round = Duration::from_millis(2 * (100 + 100) + 5);
        assert_eq!(visit(Interleaving::Samples), round);
        // The requested time can be passed exactly, so no author's time is nearer.
        let mut benchmark = after(0, 0);
        benchmark.time_precision = TimePrecision::InWholeSeconds;
        benchmark.subject.settings = authors;
        let passed = |requested| benchmark.time_to_pass(SamplingPhase::Samples, requested);
        assert_eq!(passed(Duration::from_secs(2)), Some(Duration::from_secs(2)));
        assert_eq!(passed(Duration::from_millis(400)), None);
    }

    #[test]
    fn a_costly_benchmark_has_its_fewest_rounds_and_none_that_would_end_beyond_the_limit() {
        let limit = |fewest_rounds| {
            Some(TimeLimit {
                time: Duration::from_secs(60),
                fewest_rounds,
            })
        };
        let after = |rounds, seconds| {
            let mut benchmark = after(rounds, seconds);
            benchmark.visit = benchmark.time / rounds;
            benchmark
        };
        assert!(after(20, 60).is_out_of_time(limit(20)));
        assert!(!after(19, 600).is_out_of_time(limit(20)), "too few rounds");
        assert!(after(19, 600).is_out_of_time(limit(5)));
        assert!(!after(80, 59).is_out_of_time(limit(20)), "they are quick");
        assert!(after(6, 54).is_out_of_time(limit(5)), "63 s");
        assert!(!after(5, 50).is_out_of_time(limit(5)), "60 s");
        assert!(!after(80, 600).is_out_of_time(None), "there is no limit");
    }

    #[test]
    fn once_it_needed_more_than_one_processor_it_is_never_bound() {
        let mut benchmark = after(0, 0);
        benchmark.note_processor_use(&[Some(true), None]);
        assert_eq!(benchmark.is_solitary, None, "of one side nothing is known");
        benchmark.note_processor_use(&[Some(true), Some(true)]);
        assert_eq!(benchmark.is_solitary, Some(true));
        benchmark.note_processor_use(&[None]);
        assert_eq!(benchmark.is_solitary, Some(true), "it was bound");
        benchmark.note_processor_use(&[None, Some(false)]);
        benchmark.note_processor_use(&[Some(true)]);
        assert_eq!(benchmark.is_solitary, Some(false));
    }

    fn lengths(processes: &[(f64, f64)]) -> SampleLengths {
        let mut lengths = SampleLengths::default();
        for (iterations, iteration_ns) in processes {
            lengths.add(ProcessSampling {
                iterations: *iterations,
                iteration_ns: *iteration_ns,
            });
        }
        lengths
    }

    #[test]
    fn the_process_after_a_short_one_samples_for_longer_and_the_next_one_as_ever() {
        let quiet = (100_000.0, 5.6);
        assert_eq!(lengths(&[quiet]).stretch_after(1), 1);
        // The samples take 17 us instead of 250 us.
        assert_eq!(lengths(&[quiet, (3_000.0, 5.6)]).stretch_after(1), 16);
        assert_eq!(lengths(&[quiet, (12_000.0, 5.6)]).stretch_after(1), 4);
        // The warm-up was slow again, but now the samples are long enough.
        let again = [quiet, (12_000.0, 5.6), (48_000.0, 5.6)];
        assert_eq!(lengths(&again).stretch_after(4), 4);
        let calm = [quiet, (12_000.0, 5.6), (400_000.0, 5.6)];
        assert_eq!(lengths(&calm).stretch_after(4), 1);
        assert_eq!(lengths(&[]).stretch_after(1), 1);
        assert_eq!(lengths(&[(10.0, 0.0)]).stretch_after(1), 16, "no time");
    }

    #[test]
    fn a_process_is_measured_again_for_the_length_of_its_samples_and_not_for_their_time() {
        let quiet = (100_000.0, 5.6);
        let lengths_of = |last| lengths(&[quiet, quiet, last]);
        assert_eq!(lengths_of((3_000.0, 5.6)).processes_to_repeat(), 1);
        assert_eq!(lengths_of((3_000.0, 5_600.0)).processes_to_repeat(), 1);
        assert_eq!(lengths_of((100_000.0, 5_600.0)).processes_to_repeat(), 0);
        assert_eq!(lengths(&[(3_000.0, 5.6); 5]).processes_to_repeat(), 0);
        assert_eq!(
            lengths_of((3_000.0, 5_600.0)).known_ns_if_short(),
            Some(5.6)
        );
        assert_eq!(lengths_of(quiet).known_ns_if_short(), None);
    }
}
