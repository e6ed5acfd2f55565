//! What every way of driving a bench needs in order to start its processes and to give them up.

use std::time::Duration;

use crate::process::{Interrupt, Supervisor};

/// What it takes to start processes.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Starts the processes.
    pub supervisor: &'a Supervisor,
    /// Whether the user wants to stop.
    pub interrupt: &'a Interrupt,
    /// The part of every deadline that does not depend on what is asked.
    pub timeout: Duration,
    /// Takes what benches print besides their results.
    pub on_output: &'a dyn Fn(&[u8]),
}
