//! How an A/B measurement is laid out.

use std::time::Duration;

use super::quads::RoundSettings;

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
    /// The part of every deadline that does not depend on the request.
    pub timeout: Duration,
}
