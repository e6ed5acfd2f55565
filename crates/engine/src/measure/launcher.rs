//! What processes are started with, and whom a campaign tells of what happens.

use std::time::Duration;

use crate::child::Means;
use crate::process::{Interrupt, Supervisor};
use perfcheck_analysis::model::Observer;

/// What all launches of a campaign share.
#[derive(Clone, Copy)]
pub struct Launcher<'a> {
    /// Starts the processes.
    pub supervisor: &'a Supervisor,
    /// Tells whether the user wants to stop.
    pub interrupt: &'a Interrupt,
    /// Hears what happens.
    pub observer: &'a dyn Observer,
    /// The part of every deadline that does not depend on what is asked.
    pub timeout: Duration,
}

impl<'a> Launcher<'a> {
    /// The means of a launch whose output goes to `on_output`.
    pub(super) fn means<'o>(self, on_output: &'o dyn Fn(&[u8])) -> Means<'o>
    where
        'a: 'o,
    {
        Means {
            supervisor: self.supervisor,
            interrupt: self.interrupt,
            timeout: self.timeout,
            on_output,
        }
    }
}
