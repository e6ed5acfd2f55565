//! Turns Ctrl-C (and signals for termination and hang-up) into a channel to wait on, and ends long computations at
//! once.

#![expect(
    clippy::disallowed_methods,
    reason = "the second Ctrl-C ends the process at once, and the first one where it computes"
)]

use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, process};

use crate::os;

/// Exit code after the user asked to stop.
pub const INTERRUPTED: i32 = 130;

/// The longest time by which a signal reaches this process later than another process of the group, on a busy machine.
const ON_ITS_WAY: Duration = Duration::from_millis(200);

/// A request to stop that can be waited for. Once made, it stays.
#[derive(Debug, Clone)]
pub struct Interrupt {
    closed_when_asked: Receiver<()>,
    state: Arc<Mutex<SignalState>>,
}

/// The state that the signal handler uses.
struct SignalState {
    /// Dropped by the first signal.
    not_asked: Option<Sender<()>>,
    /// Set while the process computes and does not wait for signals: a description of unfinished work for the user.
    computing: Option<String>,
    /// Prints that description to the user.
    tell: Box<dyn Fn(&str) + Send>,
}

impl Interrupt {
    /// Installs the signal handler. Must be called once per process, before other threads exist.
    ///
    /// The first signal is a request that the work notices at its next wait; the second one ends the process. During a computation, the first signal
    /// also ends the process, after `tell` has reported the unfinished work to the user.
    pub fn install(tell: impl Fn(&str) + Send + 'static) -> Result<Self, ctrlc::Error> {
        os::survive_file_size_limit();
        let (sender, closed_when_asked) = bounded(0);
        let state = Arc::new(Mutex::new(SignalState {
            not_asked: Some(sender),
            computing: None,
            tell: Box::new(tell),
        }));
        let shared_state = state.clone();
        ctrlc::set_handler(move || {
            let mut state = lock_state(&shared_state);
            let is_second = state.not_asked.take().is_none();
            if is_second || state.computing.is_some() {
                state.end();
            }
        })?;
        Ok(Self {
            closed_when_asked,
            state,
        })
    }

    /// Creates an interrupt that never occurs, for callers without a signal handler.
    pub fn never() -> Self {
        let (sender, closed_when_asked) = bounded(0);
        Self {
            closed_when_asked,
            state: Arc::new(Mutex::new(SignalState {
                not_asked: Some(sender),
                computing: None,
                tell: Box::new(|_| ()),
            })),
        }
    }

    /// Requests to stop, as the first signal does.
    pub fn request(&self) {
        lock_state(&self.state).not_asked = None;
    }

    /// Runs a computation without side effects outside of the process. If the user has asked to stop, or does so
    /// meanwhile, the process ends at once; `left` describes the unfinished work for the user.
    ///
    /// Computations therefore need not poll the interrupt. The caller must have no processes that still need cleanup,
    /// and no partly written files.
    pub fn while_computing<T>(&self, left: &str, compute: impl FnOnce() -> T) -> T {
        let before = {
            let mut state = lock_state(&self.state);
            let before = state.computing.replace(left.to_owned());
            if state.not_asked.is_none() {
                state.end();
            }
            before
        };
        let computed = compute();
        lock_state(&self.state).computing = before;
        computed
    }

    /// Keeps a signal from ending the process until the returned guard is dropped.
    pub(super) fn block(&self) -> impl Drop {
        lock_state(&self.state)
    }

    /// Reports whether the user has asked to stop.
    pub fn is_requested(&self) -> bool {
        matches!(
            self.closed_when_asked.try_recv(),
            Err(crossbeam_channel::TryRecvError::Disconnected)
        )
    }

    /// Waits a moment for a signal, and reports whether the user has asked to stop. If Ctrl-C has ended a program that we waited for, the signal
    /// arrives here at about the same time.
    pub fn is_requested_after_delay(&self) -> bool {
        matches!(
            self.closed_when_asked.recv_timeout(ON_ITS_WAY),
            Err(crossbeam_channel::RecvTimeoutError::Disconnected)
        )
    }

    /// Returns a channel that is disconnected once the user has asked to stop. It never carries a message.
    pub fn channel(&self) -> &Receiver<()> {
        &self.closed_when_asked
    }
}

impl SignalState {
    fn end(&self) -> ! {
        if let Some(left) = &self.computing {
            (self.tell)(left);
        }
        process::exit(INTERRUPTED);
    }
}

impl fmt::Debug for SignalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignalState")
            .field("asked", &self.not_asked.is_none())
            .field("computing", &self.computing)
            .finish_non_exhaustive()
    }
}

fn lock_state(state: &Mutex<SignalState>) -> MutexGuard<'_, SignalState> {
    // The state is always consistent, so a poisoned lock is harmless.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
