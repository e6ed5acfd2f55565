//! Ctrl-C (and a termination or hang-up signal) as something one can wait for beside other things, and what ends a computation at once.

#![expect(
    clippy::disallowed_methods,
    reason = "the second Ctrl-C ends the process at once, and the first one where it computes"
)]

use crossbeam_channel::{Receiver, Sender, bounded};
use nix::sys::signal::{SigSet, Signal};
use std::fmt;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Exit status when the user asked to stop.
pub const INTERRUPTED: i32 = 130;

/// How long a signal may take from another process of the group to us, on a busy machine.
const ON_ITS_WAY: Duration = Duration::from_millis(200);

/// Becomes ready for good once the user has asked to stop.
#[derive(Debug, Clone)]
pub struct Interrupt {
    closed_when_asked: Receiver<()>,
    state: Arc<Mutex<SignalState>>,
}

/// What a signal meets.
struct SignalState {
    /// Dropped by the first signal.
    not_asked: Option<Sender<()>>,
    /// While nothing waits for a signal: what is left behind.
    computing: Option<String>,
    /// Tells the user what is left behind.
    tell: Box<dyn Fn(&str) + Send>,
}

impl Interrupt {
    /// Takes over the signals. To be called once in a process, before it has other threads.
    ///
    /// The first signal is a request that the work notices at its next wait; the second ends the process. So does the first where the process
    /// computes, which `tell` tells the user, with what is left behind.
    pub fn install(tell: impl Fn(&str) + Send + 'static) -> Result<Self, ctrlc::Error> {
        // Where a file may not grow any more (`ulimit -f`), the write fails: nobody is killed without a word. Children get no mask of ours.
        let mut of_file_size = SigSet::empty();
        of_file_size.add(Signal::SIGXFSZ);
        let _ = of_file_size.thread_block();
        let (sender, closed_when_asked) = bounded(0);
        let state = Arc::new(Mutex::new(SignalState {
            not_asked: Some(sender),
            computing: None,
            tell: Box::new(tell),
        }));
        let asked = state.clone();
        ctrlc::set_handler(move || {
            let mut state = locked(&asked);
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

    /// An interrupt that never comes, for callers that take no signals.
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

    /// Asks to stop, as the first signal does while something is waited for.
    #[cfg(test)]
    pub(crate) fn ask(&self) {
        locked(&self.state).not_asked = None;
    }

    /// Computes something that changes nothing outside of the process: reads, and works out. Where the user has asked to stop, or does so
    /// meanwhile, the process ends at once; `left` says what it leaves behind.
    ///
    /// Formulas need not look at the interrupt, and no library can keep the process from ending. Nobody may have been started who is still to
    /// be cleared away, and nothing may be half written.
    pub fn while_computing<T>(&self, left: &str, compute: impl FnOnce() -> T) -> T {
        let before = {
            let mut state = locked(&self.state);
            let before = state.computing.replace(left.to_owned());
            if state.not_asked.is_none() {
                state.end();
            }
            before
        };
        let computed = compute();
        locked(&self.state).computing = before;
        computed
    }

    /// Keeps a signal from ending the process until the returned guard is dropped.
    pub(super) fn hold(&self) -> impl Drop {
        locked(&self.state)
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

fn locked(state: &Mutex<SignalState>) -> MutexGuard<'_, SignalState> {
    // Nothing can be left half changed in it.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
