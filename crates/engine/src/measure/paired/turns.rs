//! One benchmark in one round: both sides warmed up, then sampled in turn, or one after the other where they cannot live at once.
//!
//! Invariant: both sides are asked for the same things in the same order of their own, whatever the other one does.

#![expect(
    clippy::disallowed_methods,
    reason = "how long set-up took, to lay rounds out"
)]

use std::time::{Duration, Instant};

use super::quads::{RoundLayout, RoundSettings, lay_out_round};
use crate::child::{Capability, ChildError, Ready, SampleSpec, Session, Started, WarmUp};
use crate::measure::aside::{Aside, noted};
use crate::measure::schedule::expected;
use perfcheck_analysis::model::{
    Beside, BySide, Metric, Sample, SamplingSettings, Series, Side, Throughput,
};
use perfcheck_stats::Draws;

/// Samples by which the first round finds out how long an iteration takes, and how much shorter they are than those of the rounds.
const CALIBRATION_SAMPLES: u64 = 20;
const CALIBRATION_SHARE: f64 = 5.0;

/// What went wrong, and on which side.
pub(super) type SideError = (Side, ChildError);

/// What one side gave in one round.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    pub(super) series: Series,
    pub(super) throughput: Throughput,
    /// What its samples mean and how they were taken, where only a launch tells.
    pub(super) metric: Option<Metric>,
    pub(super) sampling: Option<SamplingSettings>,
    /// What was noted beside the samples: for each quad whether this side was sampled first, and what was asked afterwards.
    pub(super) beside: Beside,
}

impl Turn {
    /// What was asked for sample by sample.
    fn asked_for(series: Series, ready: Ready, beside: Beside) -> Self {
        Self {
            series,
            throughput: ready.throughput,
            metric: None,
            sampling: None,
            beside,
        }
    }
}

/// How a round of a benchmark ended, if not with an error.
pub(super) enum RoundOutcome<T> {
    Measured(T),
    Skipped(String),
}

/// What is needed for one round of a benchmark.
pub(super) struct RoundRequest<'a> {
    pub(super) id: &'a str,
    pub(super) settings: &'a RoundSettings,
    /// Laid out by the first round, repeated by the others.
    pub(super) layout: &'a mut Option<RoundLayout>,
    /// What launching took, for this benchmark's share.
    pub(super) launching: Duration,
    /// Whether the linear ramp is wanted.
    pub(super) ramp: bool,
    /// Whether allocations are to be counted.
    pub(super) count: bool,
}

/// The order of the two sides, by a coin.
pub(super) fn order(coin: &mut Draws) -> [Side; 2] {
    if coin.index(2) == 0 {
        [Side::Base, Side::Candidate]
    } else {
        [Side::Candidate, Side::Base]
    }
}

/// Both sides in turn: ABBA or BAAB, by a coin for each quad.
pub(super) fn in_turn(
    sessions: &mut BySide<&mut Session<'_>>,
    mut round: RoundRequest<'_>,
    mut coin: Draws,
) -> Result<RoundOutcome<BySide<Turn>>, SideError> {
    let first = order(&mut coin);
    let began = Instant::now();
    let mut ready = BySide::default();
    let mut skipped = None;
    let mut started = Vec::new();
    for side in first {
        match reach(sessions.of_mut(side), round.id).map_err(|error| (side, error))? {
            Started::Ready(found) => {
                *ready.of_mut(side) = Some(found);
                started.push(side);
            }
            Started::Skipped(reason) => skipped = Some(reason),
        }
    }
    if let Some(reason) = skipped {
        // The side that does not skip it lets go of it, or it could not be asked for the next one.
        for side in started {
            let finished = sessions.of_mut(side).finish(round.id);
            finished.map_err(|error| (side, error))?;
        }
        return Ok(RoundOutcome::Skipped(reason));
    }
    let BySide {
        base: Some(base),
        candidate: Some(candidate),
    } = ready
    else {
        unreachable!("a side that is not ready has skipped");
    };
    let ready = BySide { base, candidate };
    let mut warm = BySide::default();
    for side in first {
        let warmed = sessions.of_mut(side).warm_up(round.settings.warm_up);
        *warm.of_mut(side) = Some(warmed.map_err(|error| (side, error))?);
    }
    let BySide {
        base: Some(base),
        candidate: Some(candidate),
    } = warm
    else {
        unreachable!("both sides were warmed up");
    };
    let warm = BySide { base, candidate };
    let mut body_ns = f64::INFINITY;
    if round.layout.is_none() {
        for side in first {
            let quickest = calibrate(sessions.of_mut(side), round.settings, warm.of(side));
            body_ns = body_ns.min(quickest.map_err(|error| (side, error))?);
        }
    }
    let overhead = began.elapsed() + round.launching;
    let layout = round.lay_out(body_ns, &warm, overhead);
    let mut series = BySide {
        base: begun(&warm.base),
        candidate: begun(&warm.candidate),
    };
    if round.ramp {
        for side in first {
            let taken = ramp(sessions.of_mut(side), &layout, warm.of(side));
            series.of_mut(side).linear = taken.map_err(|error| (side, error))?;
        }
    }
    let mut beside = BySide::<Beside>::default();
    for _ in 0..layout.quads {
        let [a, b] = order(&mut coin);
        beside.of_mut(a).led.push(true);
        beside.of_mut(b).led.push(false);
        for side in [a, b, b, a] {
            let taken = sample(sessions.of_mut(side), &layout, warm.of(side));
            let taken = taken.map_err(|error| (side, error))?;
            series.of_mut(side).flat.push(taken);
        }
    }
    for side in first {
        let session = sessions.of_mut(side);
        let noted = round.noted(session, *ready.of(side), warm.of(side));
        let beside = beside.of_mut(side);
        *beside = Beside {
            led: std::mem::take(&mut beside.led),
            ..noted.map_err(|error| (side, error))?
        };
    }
    for side in first {
        let finished = sessions.of_mut(side).finish(round.id);
        finished.map_err(|error| (side, error))?;
    }
    Ok(RoundOutcome::Measured(BySide {
        base: Turn::asked_for(series.base, ready.base, beside.base),
        candidate: Turn::asked_for(series.candidate, ready.candidate, beside.candidate),
    }))
}

/// One side alone: the samples that it would have taken in turn.
pub(super) fn alone(
    session: &mut Session<'_>,
    mut round: RoundRequest<'_>,
) -> Result<RoundOutcome<Turn>, ChildError> {
    let began = Instant::now();
    let ready = match reach(session, round.id)? {
        Started::Ready(found) => found,
        Started::Skipped(reason) => return Ok(RoundOutcome::Skipped(reason)),
    };
    let warm = session.warm_up(round.settings.warm_up)?;
    let mut body_ns = f64::INFINITY;
    // Both sides do so in their first round, though the first one's layout serves both.
    if round.ramp {
        body_ns = calibrate(session, round.settings, &warm)?;
    }
    let overhead = began.elapsed() + round.launching;
    let layout = round.lay_out(
        body_ns,
        &BySide {
            base: warm,
            candidate: warm,
        },
        overhead * 2,
    );
    let mut series = begun(&warm);
    if round.ramp {
        series.linear = ramp(session, &layout, &warm)?;
    }
    for _ in 0..2 * layout.quads {
        series.flat.push(sample(session, &layout, &warm)?);
    }
    let beside = round.noted(session, ready, &warm)?;
    session.finish(round.id)?;
    Ok(RoundOutcome::Measured(Turn::asked_for(
        series, ready, beside,
    )))
}

impl RoundRequest<'_> {
    /// What is asked after the samples.
    fn noted(
        &self,
        session: &mut Session<'_>,
        ready: Ready,
        warm: &WarmUp,
    ) -> Result<Beside, ChildError> {
        let aside = Aside::InRounds { count: self.count };
        noted(session, ready.kind, aside, warm.total_per_iteration())
    }

    fn lay_out(&mut self, body_ns: f64, warm: &BySide<WarmUp>, overhead: Duration) -> RoundLayout {
        let settings = self.settings;
        self.layout
            .get_or_insert_with(|| {
                lay_out_round(
                    settings,
                    body_ns,
                    warm.base.total_per_iteration(),
                    warm.candidate.total_per_iteration(),
                    overhead,
                )
            })
            .clone()
    }
}

/// Starts a benchmark, however its child lets it be reached.
fn reach(session: &mut Session<'_>, id: &str) -> Result<Started, ChildError> {
    if session.hello().capability() == Some(Capability::Addressable) {
        return session.start_benchmark(id);
    }
    let mut next = session.advance()?;
    while let Some(announcement) = next {
        if announcement.id == id {
            return session.run_announced(id);
        }
        next = session.skip()?;
    }
    let message = "the bench did not announce it again in this launch".to_owned();
    Err(ChildError::Bench { message })
}

fn begun(warm_up: &WarmUp) -> Series {
    Series {
        warm_up: warm_up.body,
        linear: Vec::new(),
        flat: Vec::new(),
    }
}

/// The quickest time of an iteration in a few short samples. A warm-up that a burst has hit would make all samples of the run too short.
fn calibrate(
    session: &mut Session<'_>,
    settings: &RoundSettings,
    warm: &WarmUp,
) -> Result<f64, ChildError> {
    let warm_ns = warm.body.per_iteration().max(1e-3);
    let wanted = settings.sample.as_f64() / CALIBRATION_SHARE / warm_ns;
    let spec = SampleSpec {
        iterations: wanted.round().max(1.0) as u64,
        count: CALIBRATION_SAMPLES,
    };
    let samples = if wanted < 1.0 {
        // An iteration is longer than that: the warm-up has measured it well enough.
        Vec::new()
    } else {
        let request = [spec];
        session.sample(&request, expected(&request, warm.total_per_iteration()))?
    };
    Ok(samples
        .into_iter()
        .map(Sample::per_iteration)
        .fold(warm_ns, f64::min))
}

fn ramp(
    session: &mut Session<'_>,
    layout: &RoundLayout,
    warm: &WarmUp,
) -> Result<Vec<Sample>, ChildError> {
    if layout.ramp.is_empty() {
        return Ok(Vec::new());
    }
    let request: Vec<SampleSpec> = layout.ramp.iter().map(|count| once(*count)).collect();
    session.sample(&request, expected(&request, warm.total_per_iteration()))
}

/// A sample after its lead-in, which is not kept.
fn sample(
    session: &mut Session<'_>,
    layout: &RoundLayout,
    warm: &WarmUp,
) -> Result<Sample, ChildError> {
    let both = [once(layout.lead_in.max(1)), once(layout.iterations)];
    let request = &both[usize::from(layout.lead_in == 0)..];
    let taken = session.sample(request, expected(request, warm.total_per_iteration()))?;
    taken.last().copied().ok_or_else(|| ChildError::Protocol {
        what: "it sent no sample".to_owned(),
    })
}

fn once(iterations: u64) -> SampleSpec {
    SampleSpec {
        iterations,
        count: 1,
    }
}
