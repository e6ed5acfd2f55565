//! The context for starting and stopping bench processes, and for reporting their events.

use std::time::Duration;

use crate::process::{Interrupt, Supervisor};
use perfcheck_analysis::model::{NullObserver, Observer};

/// The context that all processes of a campaign share.
#[derive(Clone, Copy)]
pub struct ProcessContext<'a> {
    /// Starts the processes.
    pub supervisor: &'a Supervisor,
    /// Signals that the user wants to stop.
    pub interrupt: &'a Interrupt,
    /// Receives events, and the output of benches other than their results.
    pub observer: &'a dyn Observer,
    /// Base timeout of every answer, to which the expected duration of the request is added.
    pub timeout: Duration,
}

impl<'a> ProcessContext<'a> {
    /// Creates a context with this base timeout.
    pub fn new(
        supervisor: &'a Supervisor,
        interrupt: &'a Interrupt,
        observer: &'a dyn Observer,
        timeout: Duration,
    ) -> Self {
        Self {
            supervisor,
            interrupt,
            observer,
            timeout,
        }
    }

    /// Returns the same context without an observer.
    pub(crate) fn without_observer(self) -> Self {
        Self {
            observer: &NullObserver,
            ..self
        }
    }
}
