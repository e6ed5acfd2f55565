//! What a measuring loop starts its processes with, and whom it tells of what happens.

use std::time::Duration;

use crate::child::Means;
use crate::process::{Interrupt, Supervisor};
use perfcheck_analysis::model::Observer;

/// What all launches of a loop share.
#[derive(Clone, Copy)]
pub(super) struct Launcher<'a> {
    pub(super) supervisor: &'a Supervisor,
    pub(super) interrupt: &'a Interrupt,
    pub(super) observer: &'a dyn Observer,
    /// The part of every deadline that does not depend on what is asked.
    pub(super) timeout: Duration,
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
