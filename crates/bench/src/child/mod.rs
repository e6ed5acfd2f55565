//! Runs bench processes: the frames and requests of the protocol, a running child and its pipes, and the conversation
//! with it.
//!
//! Owns the parent's side of docs/internals/src/protocol.md. Must not decide what is measured, and must not print: the output
//! of benches is passed to the caller. Invariant: every pipe is drained at all times, and every wait has a deadline.

mod callgrind;
mod codec;
mod criterion;
mod error;
mod printed;
mod process;
mod program;
mod session;

pub use callgrind::{
    CountBy, CountedSources, MOST_CALLERS, Profile, Recording, TimedWindows, TimedWindowsError,
    Valgrind, ValgrindError,
};
pub use codec::{
    Announcement, Capability, Hello, Listing, PROTOCOL_VERSION, RequestKind, SampleSpec, WarmUp,
};
pub use criterion::{
    CriterionMeasurement, CriterionReport, CriterionRequest, CriterionSession, CriterionSettings,
    CriterionVersion, ExcessiveDuration, FEWEST_SAMPLES, Rehearsal, RehearsalMode,
    USUAL_MEASUREMENT, USUAL_WARM_UP, round_up_to_seconds,
};
pub use error::ChildError;
pub use printed::{
    PrintedHarness, PrintedReport, PrintedRequest, PrintedValue, Printer, UntimedSample,
    UntimedSampleRequest,
};
pub use process::{LATENCY_DIGITS, ProcessContext, ProcessSpec};
pub use program::{ProgramRun, RunPurpose, measure_start_up, run_program};
pub use session::{DetectedHarness, ReadyBenchmark, Session, StartOutcome};
