//! How a round of an A/B measurement is laid out: samples of both sides in turn, in quads (pure).

use std::time::Duration;

use crate::measure::schedule::ramp;
use perfcheck_analysis::model::Nanos;

/// Samples of a side in a round are at least this many quads of two.
const FEWEST_QUADS: u64 = 1;
/// A round samples at least this share of the time that its launches and set-up take.
const SHARE_OF_OVERHEAD: f64 = 0.5;

/// How rounds are laid out before anything is known of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundSettings {
    /// Time of a round's samples, both sides together.
    pub time: Nanos,
    /// Length that a sample should have.
    pub sample: Nanos,
    /// Untimed iterations before each sample, as a share of its own: they warm what the other side has cooled.
    pub lead_in: f64,
    /// Warm-up of each process.
    pub warm_up: Nanos,
}

impl Default for RoundSettings {
    fn default() -> Self {
        Self {
            time: Duration::from_millis(40).into(),
            sample: Duration::from_micros(500).into(),
            lead_in: 0.2,
            warm_up: Duration::from_millis(5).into(),
        }
    }
}

/// The layout of a benchmark's rounds: the same for both sides and for all rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundLayout {
    /// Iterations of each sample.
    pub iterations: u64,
    /// Iterations right before each sample that do not count; 0: none.
    pub lead_in: u64,
    /// Quads; each gives two samples a side.
    pub quads: u64,
    /// Counts of the linear ramp, which the first round takes.
    pub ramp: Vec<u64>,
}

/// Lays the rounds out. `base_ns`, `candidate_ns`: time of one iteration as the warm-ups had it, set-up and drops included;
/// `body_ns`: that of the quicker side's body alone; `overhead`: what launching and setting up both sides took.
pub fn lay_out_round(
    settings: &RoundSettings,
    body_ns: f64,
    base_ns: f64,
    candidate_ns: f64,
    overhead: Duration,
) -> RoundLayout {
    let body_ns = body_ns.max(1e-3);
    let iterations = (settings.sample.as_f64() / body_ns).round().max(1.0);
    let lead_in = if iterations > 1.0 {
        (iterations * settings.lead_in).round()
    } else {
        0.0
    };
    let pair_ns = (iterations + lead_in) * (base_ns.max(body_ns) + candidate_ns.max(1e-3));
    let wanted_ns = settings
        .time
        .as_f64()
        .max(overhead.as_nanos() as f64 * SHARE_OF_OVERHEAD);
    let quads = (wanted_ns / (2.0 * pair_ns)).floor() as u64;
    RoundLayout {
        iterations: iterations as u64,
        lead_in: lead_in as u64,
        quads: quads.max(FEWEST_QUADS),
        ramp: ramp(body_ns),
    }
}
