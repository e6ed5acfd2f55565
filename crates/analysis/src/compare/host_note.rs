//! Notes on how the host disturbed a comparison of stored runs.

use serde::{Deserialize, Serialize};
use std::fmt;

use crate::model::Side;

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
    LaunchesDrift {
        /// The side that this is about.
        side: Side,
        /// How many processes drifted.
        drifting: usize,
        /// How many processes the side has.
        launches: usize,
    },
    /// The processor was often taken away while a side was sampled.
    SamplesInterrupted {
        /// The side that this is about.
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
                "the control workload, which no change of code touches, ran {:.1} % {} too: the host moved by more than this change (measured in turn, it would not matter)",
                change.abs() * 100.0,
                if *change < 0.0 { "faster" } else { "slower" }
            ),
            Self::LaunchesDrift {
                side,
                drifting,
                launches,
            } => write!(
                f,
                "{drifting} of {launches} launches of {side} changed their speed while they were sampled (a longer warm-up, or a quieter host)"
            ),
            Self::SamplesInterrupted { side, share } => write!(
                f,
                "the processor was taken away in up to {:.0} % of the samples of {side}: other work ran on the machine",
                share * 100.0
            ),
        }
    }
}
