//! Runs bench processes: the frames and requests of the protocol, a running child and its pipes, and the conversation
//! with it.
//!
//! Owns the parent's side of docs/internals/src/protocol.md. Must not decide what is measured, and must not print: the output
//! of benches is passed to the caller. Invariant: every pipe is drained at all times, and every wait has a deadline.

mod answers;
mod callgrind;
mod codec;
mod criterion;
mod error;
mod launch_spec;
mod launcher;
mod pipes;
mod printed;
mod running;
mod session;
mod stranger;

pub use callgrind::{
    CountedBy, MOST_CALLERS, NoValgrind, NoWindows, Profile, Recording, Valgrind, Windows,
};
pub use codec::{
    Announcement, Capability, Hello, Listing, PROTOCOL_VERSION, RequestKind, SampleSpec, WarmUp,
};
pub use criterion::{
    CriterionRequest, CriterionSession, CriterionVersion, FEWEST_SAMPLES, Measured, Rehearsal,
    Rehearsed, Reported, Said, TooLong, USUAL_MEASUREMENT, USUAL_WARM_UP, in_whole_seconds,
};
pub use error::ChildError;
pub use launch_spec::{LATENCY_DIGITS, LaunchSpec};
pub use launcher::Launcher;
pub use printed::{
    Iterated, IteratedSample, PrintedHarness, PrintedRequest, PrintedValue, Printer, Report,
};
pub use session::{Ready, Recognised, Session, Started};
