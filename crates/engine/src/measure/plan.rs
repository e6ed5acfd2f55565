//! How the rounds of two sides are laid out: samples in turn, in quads (pure).

use std::time::Duration;

use super::schedule::{FlatSchedule, LaunchLayout, ramp};
use super::subject::Resolved;
use perfcheck_analysis::model::{Nanos, SamplingSettings, Turns};

/// Samples of a side in a round are at least this many quads of two.
const FEWEST_QUADS: u64 = 1;
/// A round samples at least this share of the time that its launches and set-up take.
const SHARE_OF_OVERHEAD: f64 = 0.5;

/// How an A/B measurement is laid out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedPlan {
    /// Rounds at most.
    pub rounds: u32,
    /// How each is laid out.
    pub round: RoundSettings,
    /// No round is begun that would end later than this after the start.
    pub time_budget: Option<Duration>,
    /// A benchmark that has had 20 rounds gets no more once they have taken this long.
    pub patience: Option<Duration>,
    /// Whether benchmarks that keep to one processor are bound to one.
    pub bind: bool,
    /// Seed of everything random.
    pub seed: u64,
}

impl PairedPlan {
    /// How every benchmark is sampled, with the noise threshold that is its own.
    pub(super) fn resolved(&self, noise_threshold: f64) -> Resolved {
        Resolved {
            sampling: SamplingSettings {
                launches: self.rounds,
                samples: None,
                warm_up: self.round.warm_up,
                warm_up_iterations: self.round.warm_up_iterations,
                measurement: self.round.time,
                turns: Turns::Samples,
                ..SamplingSettings::default()
            },
            noise_threshold,
            pinned: None,
            pinned_samples: None,
            past_visit: None,
        }
    }
}

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
    /// Its iterations, where they are counted in place of its time.
    pub warm_up_iterations: Option<u32>,
}

impl Default for RoundSettings {
    fn default() -> Self {
        Self {
            time: Duration::from_millis(40).into(),
            sample: Duration::from_micros(500).into(),
            lead_in: 0.2,
            warm_up: Duration::from_millis(5).into(),
            warm_up_iterations: None,
        }
    }
}

/// Lays the rounds of a benchmark out, for both sides and all rounds alike: two flat samples of each side make a quad, and the first
/// round takes the ramp. `base_ns`, `candidate_ns`: time of one iteration as the warm-ups had it, set-up and drops included;
/// `body_ns`: that of the quicker side's body alone; `overhead`: what launching and setting up both sides took.
pub(super) fn lay_out_round(
    settings: &RoundSettings,
    body_ns: f64,
    base_ns: f64,
    candidate_ns: f64,
    overhead: Duration,
) -> LaunchLayout {
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
    LaunchLayout {
        linear: ramp(body_ns),
        flat: Some(FlatSchedule {
            iterations: iterations as u64,
            samples: 2 * quads.max(FEWEST_QUADS),
        }),
        lead_in: lead_in as u64,
    }
}
