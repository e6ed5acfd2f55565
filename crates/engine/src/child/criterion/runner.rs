//! The door at which a bench that may be Criterion's is awaited, before anything is known of it.

#![expect(clippy::disallowed_methods, reason = "deadlines")]

use crossbeam_channel::Receiver;
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use super::connection::{Connection, PortEvent, greet_bench};
use super::message::CriterionVersion;
use super::session::{HOME, NOWHERE, PORT, protocol};
use crate::child::error::ChildError;
use crate::child::running::{Running, Wait};

/// A runner that only asks who is there.
pub(in crate::child) struct Runner(Connection);

impl Runner {
    /// Opens the door.
    pub(in crate::child) fn listen() -> io::Result<Self> {
        Connection::listen().map(Self)
    }

    /// Tells a bench where it is.
    pub(in crate::child) fn invite(&self, command: &mut Command) {
        command
            .env(PORT, self.0.port().to_string())
            .env(HOME, NOWHERE);
    }

    /// Lets the process group of this number in.
    pub(in crate::child) fn admit(&mut self, group: u32) {
        self.0.admit(group);
    }

    /// Whoever comes.
    pub(in crate::child) fn incoming(&self) -> &Receiver<PortEvent> {
        self.0.incoming()
    }

    /// Which Criterion it is.
    pub(in crate::child) fn version(
        &self,
        incoming: PortEvent,
        running: &mut Running<'_>,
        timeout: Duration,
    ) -> Result<CriterionVersion, ChildError> {
        if let PortEvent::Connected(mut socket) = incoming
            && greet_bench(&mut socket).is_ok()
        {
            let deadline = Instant::now().checked_add(timeout);
            match running.wait(self.0.incoming(), deadline) {
                Wait::Came(PortEvent::Greeted(version)) => return Ok(version),
                Wait::Came(PortEvent::Wrong(error)) => return Err(protocol(&error)),
                Wait::Late => {
                    return Err(ChildError::Timeout {
                        request: GREET.to_owned(),
                        after: timeout,
                    });
                }
                Wait::Interrupted => return Err(ChildError::Interrupted),
                Wait::Came(_) | Wait::Closed => {}
            }
        }
        Err(running.exited(GREET))
    }
}

const GREET: &str = "greet its runner";
