//! Visits a benchmark of our own harness: warms it up and samples it, in the child of one side or alternately in the children of both sides. Then
//! takes the untimed measurements: allocations of iterations and latencies of single operations.
//!
//! Invariant: both sides get the same requests in the same order, independent of what the other side does. Two benchmarks of very different speed are
//! the exception: the number of their iterations differs.

#![expect(
    clippy::disallowed_methods,
    reason = "how long set-up took, to lay rounds out"
)]

use std::time::{Duration, Instant};

use super::benchmark::{CampaignBenchmark, PairedSubjects, ResolvedSettings, SkippedVisit};
use super::plan::{
    RoundSettings, compute_quads, compute_round_layout, compute_round_layouts, have_own_iterations,
    iteration_ns_of_both,
};
use super::process::SharedCache;
use super::schedule::{
    SampleLayout, compute_layout, draw_leaders, draw_order, expected_duration, planned_iteration_ns,
};
use super::sides::{CampaignSides, SideChild, SideError, SideResult};
use crate::child::{
    Capability, ChildError, RequestKind, SampleSpec, Session, StartOutcome, WarmUp,
};
use perfcheck_analysis::compare::{ASSUMED_CLOCK_STEP_NS, ProcessSampling};
use perfcheck_analysis::model::{
    BySide, Extras, Metric, Sample, SamplingMode, Series, Side, Throughput, WarmUpGoal,
};
use perfcheck_stats::Draws;

/// Number of calibration samples, from which the first round determines the time of an iteration.
const CALIBRATION_SAMPLES: u64 = 20;
/// Factor by which calibration samples are shorter than the samples of the rounds.
const CALIBRATION_SHARE: f64 = 5.0;
/// The first warm-up was disturbed if its iterations took this many times as long as those of the ramp. A layout based on such a warm-up would make
/// samples too short.
const HIT_WARM_UP: f64 = 2.0;
/// The first round was disturbed if the layout assumes iterations this many times as long as those of the quickest sample.
const HIT_ROUND: f64 = 1.5;
/// A layout that was made in a disturbed round is corrected within this number of rounds, because the disturbance may last longer than one round.
const ROUNDS_LAID_OUT_AGAIN: usize = 10;
/// Allocations are counted in this many rounds. That is enough for a test over processes, and later rounds lose no time with it.
const COUNTED_ROUNDS: usize = 5;
/// A visit is invalid if the machine was suspended for longer than this during the visit.
const SUSPENDED: Duration = Duration::from_millis(100);

/// The results of one side in a visit.
pub(super) struct VisitResult {
    pub(super) series: Series,
    pub(super) throughput: Throughput,
    /// Additional results: for each quad whether this side was sampled first, and the untimed measurements.
    pub(super) extras: Extras,
}

/// The outcome of a visit that did not fail.
pub(super) enum VisitOutcome {
    Measured(Vec<SideResult<VisitResult>>),
    Skipped(SkippedVisit),
    /// The child of this side goes through its benchmarks by itself, and has already passed this benchmark or no longer announces it.
    Absent(Side),
}

/// A request to visit a benchmark.
pub(super) struct VisitRequest<'a> {
    /// The id of the benchmark on each side.
    pub(super) ids: BySide<&'a str>,
    /// The metric of the benchmark's samples. If they are amounts, only the warm-up shows how long an iteration takes.
    pub(super) metric: &'a Metric,
    /// The layout of the samples on each side. The first visit of a run sets it, and later visits repeat it.
    pub(super) layouts: &'a mut Option<CampaignSides<SampleLayout>>,
    /// Time of an iteration in nanoseconds, if the samples of the previous visit were too short.
    pub(super) known_ns: Option<f64>,
    pub(super) sampling: Sampling,
    pub(super) shared_cache: &'a mut SharedCache,
}

/// How a visit samples. A process of a single side takes all samples of a phase in one request, without messages in between. In a round the sides
/// alternate after each sample, and a lead-in warms the caches that the other side has used.
pub(super) enum Sampling {
    Process(ResolvedSettings),
    Round(RoundSampling),
}

/// The sampling of a round.
pub(super) struct RoundSampling {
    pub(super) settings: RoundSettings,
    /// This benchmark's share of the time for starting processes.
    pub(super) start_time: Duration,
    /// Number of earlier rounds of the benchmark.
    pub(super) had: usize,
    pub(super) subjects: PairedSubjects,
    /// Draws the side that goes first: once for the visit, then once for every two quads. The second of these quads begins with the other side.
    pub(super) coin: Draws,
}

impl Sampling {
    fn warm_up(&self) -> WarmUpGoal {
        let (time, iterations) = match self {
            Self::Process(resolved) => {
                let sampling = &resolved.sampling;
                (sampling.warm_up, sampling.warm_up_iterations)
            }
            Self::Round(round) => (round.settings.warm_up, round.settings.warm_up_iterations),
        };
        iterations.map_or(WarmUpGoal::Time(time), WarmUpGoal::Iterations)
    }

    fn untimed(&self) -> UntimedScope {
        match self {
            Self::Process(_) => UntimedScope::InFull,
            Self::Round(round) => UntimedScope::InRounds {
                count: round.had < COUNTED_ROUNDS,
            },
        }
    }
}

/// Visits a benchmark in the children of all sides that are alive. The first side is drawn, and `children` are put in that order.
pub(super) fn visit(
    children: &mut [SideChild<Session<'_>>],
    mut request: VisitRequest<'_>,
) -> Result<VisitOutcome, SideError> {
    if let Sampling::Round(round) = &mut request.sampling {
        let [first, _] = draw_order(&mut round.coin);
        children.sort_by_key(|child| child.side != first);
    }
    let began = Instant::now();
    let mut ready = Vec::new();
    let mut skipped = None;
    for child in children.iter_mut() {
        let side = child.side;
        let started = start_or_advance(&mut child.session, request.ids.get(side));
        match started.map_err(SideError::on(side))? {
            Some(StartOutcome::Ready(result)) => ready.push(SideResult { side, result }),
            Some(StartOutcome::Skipped(reason)) => {
                // If both sides decline, the reason of the candidate counts.
                if skipped.is_none() || side == Side::Candidate {
                    skipped = Some(SkippedVisit { side, reason });
                }
            }
            None => return Ok(VisitOutcome::Absent(side)),
        }
    }
    if let Some(skipped) = skipped {
        // A side that has started the benchmark must finish it before it accepts the next request.
        for child in children {
            if ready.iter().any(|started| started.side == child.side) {
                let finished = child.session.finish(request.ids.get(child.side));
                finished.map_err(SideError::on(child.side))?;
            }
        }
        return Ok(VisitOutcome::Skipped(skipped));
    }
    if let Sampling::Round(_) = request.sampling
        && children.len() > 1
    {
        let processes = children.iter_mut().map(|child| child.session.id());
        request.shared_cache.fill_if_large(processes);
    }
    let suspended = perfcheck_host::suspended_time();
    let warm = request_each(children, |_, session| {
        session.warm_up(request.sampling.warm_up())
    })?;
    let mut results: Vec<VisitResult> = (ready.iter().zip(&warm))
        .map(|(ready, warm)| VisitResult::new(ready.result.throughput, warm))
        .collect();
    match &mut request.sampling {
        Sampling::Process(resolved) => {
            request_each(children, |place, session| {
                let series = &mut results[place].series;
                let known = KnownIteration {
                    ns: request.known_ns,
                    is_timed: request.metric.is_timed(),
                };
                sample_process(
                    session,
                    resolved,
                    warm[place],
                    known,
                    request.layouts,
                    series,
                )
            })?;
        }
        Sampling::Round(round) => {
            let layouts = round.lay_out(children, &warm, request.metric, request.layouts, began)?;
            round.sample(children, &warm, &layouts, &mut results)?;
        }
    }
    let scope = request.sampling.untimed();
    let notes = request_each(children, |place, session| {
        let (kind, total_ns) = (ready[place].result.kind, warm[place].total_per_iteration());
        take_untimed(session, kind, scope, total_ns)
    })?;
    request_each(children, |place, session| {
        session.finish(request.ids.get(ready[place].side))
    })?;
    if let Sampling::Process(_) = request.sampling {
        check_suspension(suspended, perfcheck_host::suspended_time())
            .map_err(SideError::on(Side::Candidate))?;
    }
    for (result, notes) in results.iter_mut().zip(notes) {
        let led = std::mem::take(&mut result.extras.led);
        result.extras = Extras { led, ..notes };
    }
    let sides = ready.into_iter().map(|ready| ready.side).zip(results);
    let sides = sides.map(|(side, result)| SideResult { side, result });
    Ok(VisitOutcome::Measured(sides.collect()))
}

impl VisitResult {
    fn new(throughput: Throughput, warm: &WarmUp) -> Self {
        Self {
            series: Series {
                warm_up: warm.body,
                linear: Vec::new(),
                flat: Vec::new(),
            },
            throughput,
            extras: Extras::default(),
        }
    }
}

/// Sends requests to one child after the other.
fn request_each<T>(
    children: &mut [SideChild<Session<'_>>],
    mut request: impl FnMut(usize, &mut Session<'_>) -> Result<T, ChildError>,
) -> Result<Vec<T>, SideError> {
    let children = children.iter_mut().enumerate();
    children
        .map(|(place, child)| request(place, &mut child.session).map_err(SideError::on(child.side)))
        .collect()
}

/// Starts a benchmark in the way that its child supports. Returns `None` if the child goes through its benchmarks by itself, and has already passed
/// this benchmark or no longer announces it.
pub(super) fn start_or_advance(
    session: &mut Session<'_>,
    id: &str,
) -> Result<Option<StartOutcome>, ChildError> {
    if session.hello().capability() == Some(Capability::Addressable) {
        return session.start_benchmark(id).map(Some);
    }
    let mut next = session.advance()?;
    while let Some(announcement) = next {
        if announcement.id == id {
            return session.run_announced(id).map(Some);
        }
        next = session.skip(&announcement.id)?;
    }
    Ok(None)
}

/// Facts about an iteration that the warm-up does not show.
#[derive(Clone, Copy)]
struct KnownIteration {
    /// The time of an iteration in nanoseconds, if the samples of the previous visit were too short.
    ns: Option<f64>,
    /// Whether the samples of the benchmark measure time.
    is_timed: bool,
}

/// Takes the samples of a process of a single side.
fn sample_process(
    session: &mut Session<'_>,
    resolved: &ResolvedSettings,
    warm: WarmUp,
    known: KnownIteration,
    layouts: &mut Option<CampaignSides<SampleLayout>>,
    series: &mut Series,
) -> Result<(), ChildError> {
    let lay_out_for = |body_ns: f64| {
        // Noise that slowed the body down slowed setup and drops down, too.
        let total_ns = warm.total_per_iteration() * body_ns / warm.body.per_iteration().max(1e-3);
        compute_layout(
            &resolved.sampling,
            planned_iteration_ns(body_ns, total_ns),
            resolved.pinned,
        )
    };
    if let Some(ns) = known.ns {
        *layouts = Some(CampaignSides::single(lay_out_for(ns)));
    }
    let is_first = layouts.is_none();
    let layouts = layouts
        .get_or_insert_with(|| CampaignSides::single(lay_out_for(warm.body.per_iteration())));
    let layout = &mut layouts.candidate;
    series.linear = request_samples(session, &layout.linear_request(), warm)?;
    // Only the longer half is used: the clock's resolution spoils very short samples.
    let longer = &series.linear[series.linear.len() / 2..];
    let quickest_ns = Sample::quickest_ns(longer);
    let was_hit = known.is_timed && warm.body.per_iteration() > quickest_ns * HIT_WARM_UP;
    // The other modes are Criterion's, which lays samples out by the time of the warm-up.
    if is_first && was_hit && resolved.sampling.mode == SamplingMode::Standard {
        *layout = lay_out_for(quickest_ns);
    }
    series.flat = request_samples(session, &layout.flat_request(), warm)?;
    Ok(())
}

impl RoundSampling {
    /// Returns the layout of a round on each side. The first round determines the iterations. The number of samples is computed for each round,
    /// except if the sides run one after the other.
    fn lay_out(
        &self,
        children: &mut [SideChild<Session<'_>>],
        warm: &[WarmUp],
        metric: &Metric,
        layouts: &mut Option<CampaignSides<SampleLayout>>,
        began: Instant,
    ) -> Result<CampaignSides<SampleLayout>, SideError> {
        let apart = children.len() == 1;
        let mut is_new = layouts.is_none();
        let mut sides_ns = per_side([]);
        // If the sides run one after the other, each of them calibrates in its first round, although two builds both use the layout of the side that
        // ran first.
        let calibrates = is_new || apart && self.had == 0;
        if calibrates {
            let of_sides = request_each(children, |place, session| {
                if metric.is_timed() {
                    calibrate(session, &self.settings, warm[place])
                } else {
                    Ok(warm[place].body.per_iteration().max(1e-3))
                }
            })?;
            let sides = children.iter().map(|child| child.side);
            sides_ns = per_side(sides.zip(of_sides));
        }
        let laid_out = layouts
            .get_or_insert_with(|| compute_round_layouts(&self.settings, sides_ns, self.subjects));
        if let [child] = children
            && calibrates
        {
            let (own, own_ns) = (laid_out.get_mut(child.side), *sides_ns.get(child.side));
            if have_own_iterations(self.subjects, [own.iteration_ns[0], own_ns]) {
                *own = compute_round_layout(&self.settings, [own_ns; 2]);
                is_new = true;
            }
        }
        if is_new || !apart {
            let overhead = (began.elapsed() + self.start_time) * if apart { 2 } else { 1 };
            // Noise slows body, setup and drops of a warm-up down alike, so only the ratio of the total to the body is used.
            let added =
                |warm: &WarmUp| warm.total_per_iteration() / warm.body.per_iteration().max(1e-3);
            let added = warm.iter().map(added).sum::<f64>() / warm.len() as f64;
            let both_ns = added * iteration_ns_of_both(laid_out);
            let base = laid_out.get(Side::Base);
            let quads = compute_quads(&self.settings, base, self.had, both_ns, overhead);
            for side in Side::BOTH {
                laid_out.get_mut(side).set_samples(2 * quads);
            }
        }
        Ok(laid_out.clone())
    }

    /// Takes the samples of a round. Two sides alternate as ABBA and BAAB, in an order that is drawn for every two quads. A single side takes the
    /// same number of samples in a row.
    fn sample(
        &mut self,
        children: &mut [SideChild<Session<'_>>],
        warm: &[WarmUp],
        layouts: &CampaignSides<SampleLayout>,
        results: &mut [VisitResult],
    ) -> Result<(), SideError> {
        let by_place = children.iter().map(|child| layouts.get(child.side));
        let by_place: Vec<&SampleLayout> = by_place.collect();
        if self.had == 0 {
            request_each(children, |place, session| {
                results[place].series.linear =
                    request_samples(session, &by_place[place].linear_request(), warm[place])?;
                Ok(())
            })?;
        }
        let samples = by_place[0].flat.map_or(0, |flat| flat.samples);
        for leader in draw_leaders(&mut self.coin, samples as usize / 2) {
            let quad: &[usize] = match children {
                [_] => &[0, 0],
                [first, ..] if first.side == leader => &[0, 1, 1, 0],
                _ => &[1, 0, 0, 1],
            };
            if children.len() > 1 {
                results[quad[0]].extras.led.push(true);
                results[quad[1]].extras.led.push(false);
            }
            for place in quad.iter().copied() {
                let SideChild { side, session } = &mut children[place];
                let taken = sample_with_lead_in(session, by_place[place], warm[place]);
                let taken = taken.map_err(SideError::on(*side))?;
                results[place].series.flat.push(taken);
            }
        }
        Ok(())
    }
}

/// Returns new layouts for the next rounds if the results of these `sides` show that the `known` ones make samples too short or too few, for example
/// because noise disturbed the first round. Returns `None` to keep the layouts.
pub(super) fn lay_out_again(
    settings: &RoundSettings,
    known: &CampaignSides<SampleLayout>,
    benchmark: &CampaignBenchmark,
    sides: &[SideResult<VisitResult>],
) -> Option<CampaignSides<SampleLayout>> {
    let quickest = |side: &SideResult<VisitResult>| Sample::quickest_ns(&side.result.series.flat);
    let sides_ns = per_side(sides.iter().map(|side| (side.side, quickest(side))));
    if !sides_ns.base.is_finite() {
        return None;
    }
    let may_be_hit = benchmark.rounds.len() < ROUNDS_LAID_OUT_AGAIN;
    let is_wrong = |side: &Side| {
        let (layout, quickest_ns) = (known.get(*side), *sides_ns.get(*side));
        let process = ProcessSampling {
            iterations: layout.flat.map_or(1, |flat| flat.iterations) as f64,
            iteration_ns: quickest_ns,
        };
        may_be_hit && quickest_ns * HIT_ROUND < layout.iteration_ns[0]
            || process.is_too_short(quickest_ns, ASSUMED_CLOCK_STEP_NS)
    };
    let is_wrong = Side::BOTH.iter().any(is_wrong);
    let again =
        is_wrong.then(|| compute_round_layouts(settings, sides_ns, benchmark.paired_subjects()));
    again.filter(|again| again != known)
}

/// Returns a value for each side. If only one value is given, or only one is finite, both sides get it.
fn per_side(of_sides: impl IntoIterator<Item = (Side, f64)>) -> BySide<f64> {
    let mut all = BySide {
        base: f64::INFINITY,
        candidate: f64::INFINITY,
    };
    for (side, ns) in of_sides {
        *all.get_mut(side) = ns;
    }
    let known = all.base.min(all.candidate);
    for side in Side::BOTH {
        let ns = all.get_mut(side);
        if !ns.is_finite() {
            *ns = known;
        }
    }
    all
}

/// Returns the quickest time of an iteration in the warm-up and a few short samples. The warm-up alone does not decide: if it was disturbed, all
/// samples of the run would be too short.
fn calibrate(
    session: &mut Session<'_>,
    settings: &RoundSettings,
    warm: WarmUp,
) -> Result<f64, ChildError> {
    let warm_ns = warm.body.per_iteration().max(1e-3);
    let sample_ns = settings.sample.as_f64() / CALIBRATION_SHARE;
    let iterations = (sample_ns / warm_ns).round().max(1.0);
    // If iterations are long, a few samples are enough, because the warm-up has measured them well enough.
    let count = (CALIBRATION_SAMPLES as f64 * sample_ns / (iterations * warm_ns)).ceil();
    let spec = SampleSpec {
        iterations: iterations as u64,
        count: (count as u64).clamp(1, CALIBRATION_SAMPLES),
    };
    let samples = request_samples(session, &[spec], warm)?;
    let times = samples.into_iter().map(Sample::per_iteration);
    Ok(times.fold(warm_ns, f64::min))
}

/// Takes the samples of a request, which may be empty.
fn request_samples(
    session: &mut Session<'_>,
    request: &[SampleSpec],
    warm: WarmUp,
) -> Result<Vec<Sample>, ChildError> {
    if request.is_empty() {
        return Ok(Vec::new());
    }
    session.sample(
        request,
        expected_duration(request, warm.total_per_iteration()),
    )
}

/// Takes a sample after its lead-in, which is discarded.
fn sample_with_lead_in(
    session: &mut Session<'_>,
    layout: &SampleLayout,
    warm: WarmUp,
) -> Result<Sample, ChildError> {
    let once = |iterations| SampleSpec {
        iterations,
        count: 1,
    };
    let iterations = layout.flat.map_or(1, |flat| flat.iterations);
    let both = [once(layout.lead_in.max(1)), once(iterations)];
    let taken = request_samples(session, &both[usize::from(layout.lead_in == 0)..], warm)?;
    taken
        .last()
        .copied()
        .ok_or_else(|| ChildError::protocol("it sent no sample"))
}

/// Fails if the machine was suspended between two readings of the total suspension time.
fn check_suspension(before: Duration, after: Duration) -> Result<(), ChildError> {
    if after.saturating_sub(before) > SUSPENDED {
        return Err(ChildError::bench(
            "the machine was suspended while this was measured",
        ));
    }
    Ok(())
}

/// Number of iterations for which a process counts allocations.
const COUNTED: u64 = 16;
/// Time after which a child stops counting. The current iteration is still completed.
const COUNTING: Duration = Duration::from_millis(10);
/// Number of single latencies that are kept from a process.
const RESERVOIR: u64 = 10_000;

/// The untimed measurements that a visit takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UntimedScope {
    /// The visit takes all untimed measurements that the benchmark offers.
    InFull,
    /// The visit is one of the many rounds of a side-by-side measurement. It takes no single latencies, and it counts allocations only if `count` is
    /// true.
    InRounds { count: bool },
}

/// Takes the untimed measurements of the current benchmark after its samples. `iteration_ns` is the time of an iteration, including setup and drops.
pub(super) fn take_untimed(
    session: &mut Session<'_>,
    kind: RequestKind,
    scope: UntimedScope,
    iteration_ns: f64,
) -> Result<Extras, ChildError> {
    let mut extras = Extras::default();
    // Measure latencies before counting, because counting runs operations that are not samples.
    if kind == RequestKind::Latency {
        let reservoir = match scope {
            UntimedScope::InFull => RESERVOIR,
            UntimedScope::InRounds { .. } => 0,
        };
        extras.latencies = Some(session.latencies(reservoir)?);
    }
    let count = !matches!(scope, UntimedScope::InRounds { count: false });
    if count && session.hello().counts_allocations() {
        extras.allocations = session.count(
            COUNTED,
            COUNTING + Duration::from_nanos(iteration_ns as u64),
        )?;
    }
    Ok(extras)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::benchmark::TimePrecision;
    use perfcheck_analysis::model::{Nanos, Round};

    #[test]
    fn a_first_round_in_a_burst_is_laid_out_again_by_its_quickest_sample() {
        let settings = RoundSettings::default();
        let laid_out = |base, candidate, benchmark: &CampaignBenchmark| {
            let sides_ns = BySide { base, candidate };
            compute_round_layouts(&settings, sides_ns, benchmark.paired_subjects())
        };
        let result = |of_one: &[u64]| VisitResult {
            series: Series {
                linear: Vec::new(),
                warm_up: Sample {
                    iterations: 1,
                    elapsed: Nanos(1),
                },
                flat: of_one
                    .iter()
                    .map(|ns| Sample {
                        iterations: 1000,
                        elapsed: Nanos(1000 * ns),
                    })
                    .collect(),
            },
            throughput: Throughput::default(),
            extras: Extras::default(),
        };
        let mut benchmark = CampaignBenchmark::example(TimePrecision::Exactly);
        let layouts = laid_out(300.0, 300.0, &benchmark);
        let again_from = |known, benchmark: &CampaignBenchmark, base: &[u64], candidate: &[u64]| {
            let sides = [(Side::Base, base), (Side::Candidate, candidate)].map(|(side, of_one)| {
                let result = result(of_one);
                SideResult { side, result }
            });
            lay_out_again(&settings, known, benchmark, &sides)
        };
        let again =
            |base: &[u64], candidate: &[u64]| again_from(&layouts, &benchmark, base, candidate);
        assert_eq!(again(&[300, 320], &[290, 700]), None, "it was no burst");
        assert_eq!(again(&[], &[]), None);
        assert_eq!(again(&[0, 0], &[0, 0]), None, "the clock stood still");
        let anew = again(&[300, 150], &[310, 300]);
        assert_eq!(anew, Some(laid_out(150.0, 300.0, &benchmark)));
        let had = |rounds| {
            let round = Round {
                base: Vec::new(),
                candidate: Vec::new(),
                led: Vec::new(),
                layout: None,
            };
            vec![round; rounds]
        };
        benchmark.rounds = had(10);
        let late = again_from(&layouts, &benchmark, &[300, 150], &[310, 300]);
        assert_eq!(late, None);
        // 1667 iterations of 50 ns are less than 100 us.
        benchmark.rounds = had(50);
        let short = again_from(&layouts, &benchmark, &[50], &[300]);
        assert_eq!(short, Some(laid_out(50.0, 300.0, &benchmark)));
        // Two benchmarks of very different speed are both as quick as expected.
        benchmark.rounds = had(0);
        benchmark.base_id = Some("other".into());
        let unlike = laid_out(1e3, 2e7, &benchmark);
        let steady = again_from(&unlike, &benchmark, &[1_000], &[20_000_000]);
        assert_eq!(steady, None);
        let quicker = again_from(&unlike, &benchmark, &[1_000], &[2_000_000]);
        assert_eq!(quicker, Some(laid_out(1e3, 2e6, &benchmark)));
    }

    #[test]
    fn d16_a_visit_in_which_the_machine_slept_is_discarded_and_the_process_goes_on() {
        let slept = |millis| {
            let before = Duration::from_secs(9);
            check_suspension(before, before + Duration::from_millis(millis))
        };
        assert!(slept(0).is_ok());
        assert!(slept(100).is_ok(), "the two clocks are not read at once");
        let error = slept(101).expect_err("it slept");
        assert!(error.leaves_child_usable());
        assert!(error.to_string().contains("suspended"), "{error}");
        assert!(check_suspension(Duration::from_secs(1), Duration::ZERO).is_ok());
    }
}
