//! What every way of driving a bench needs in order to start its processes and to give them up, and who is told of what happens.

use std::time::Duration;

use crate::process::{Interrupt, Supervisor};
use perfcheck_analysis::model::{Observer, Silence};

/// What all launches of a campaign share.
#[derive(Clone, Copy)]
pub struct Launcher<'a> {
    /// Starts the processes.
    pub supervisor: &'a Supervisor,
    /// Tells whether the user wants to stop.
    pub interrupt: &'a Interrupt,
    /// Hears what happens, and what benches print besides their results.
    pub observer: &'a dyn Observer,
    /// The part of every deadline that does not depend on what is asked.
    pub timeout: Duration,
}

impl<'a> Launcher<'a> {
    /// What launches share that have so much time for each answer.
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

    /// The same where nobody is to hear anything.
    pub(crate) fn quiet(self) -> Self {
        Self {
            observer: &Silence,
            ..self
        }
    }
}
