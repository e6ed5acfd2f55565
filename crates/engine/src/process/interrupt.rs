//! Ctrl-C (and a termination or hang-up signal) as something one can wait for beside other things.

#![expect(
    clippy::disallowed_methods,
    reason = "the second Ctrl-C ends the process at once"
)]

use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::Mutex;
use std::time::Duration;

/// Exit status when the user asked twice and did not wait for the store to be closed.
pub const INTERRUPTED_TWICE: i32 = 130;

/// How long a signal may take from another process of the group to us, on a busy machine.
const ON_ITS_WAY: Duration = Duration::from_millis(200);

/// Becomes ready for good once the user has asked to stop.
#[derive(Debug, Clone)]
pub struct Interrupt {
    closed_when_asked: Receiver<()>,
}

impl Interrupt {
    /// Takes over the signals. To be called once in a process.
    ///
    /// The first signal is a request that the work notices at its next wait; the second ends the process.
    pub fn install() -> Result<Self, ctrlc::Error> {
        let (sender, closed_when_asked) = bounded(0);
        let sender: Mutex<Option<Sender<()>>> = Mutex::new(Some(sender));
        ctrlc::set_handler(move || {
            let first = sender
                .lock()
                .is_ok_and(|mut sender| sender.take().is_some());
            if !first {
                std::process::exit(INTERRUPTED_TWICE);
            }
        })?;
        Ok(Self { closed_when_asked })
    }

    /// An interrupt that never comes, for callers that take no signals.
    pub fn never() -> Self {
        Self {
            closed_when_asked: crossbeam_channel::never(),
        }
    }

    /// Whether the user has asked to stop.
    pub fn requested(&self) -> bool {
        matches!(
            self.closed_when_asked.try_recv(),
            Err(crossbeam_channel::TryRecvError::Disconnected)
        )
    }

    /// Whether the user has asked to stop, by a signal that may be on its way: where Ctrl-C has ended a program that we waited for, it
    /// reaches us at about the same time.
    pub fn requested_a_moment_ago(&self) -> bool {
        matches!(
            self.closed_when_asked.recv_timeout(ON_ITS_WAY),
            Err(crossbeam_channel::RecvTimeoutError::Disconnected)
        )
    }

    /// A channel that is ready (disconnected) once the user has asked to stop; never carries a message.
    pub fn channel(&self) -> &Receiver<()> {
        &self.closed_when_asked
    }
}
