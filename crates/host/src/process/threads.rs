//! Starts threads.
//!
//! The system may refuse a thread, because limits on processes also count threads. These functions then return an error or do the work in this
//! thread.

use std::io;
use std::thread::{self, Scope};

/// Starts a thread that the caller does not wait for.
pub fn start_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

/// Starts `work` in a thread of `scope`, and returns a function for its result. If no thread can be started, that
/// function does the work.
pub fn start_scoped_work<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl Fn() -> T + Copy + Send + 'scope,
) -> impl FnOnce() -> T {
    let started = thread::Builder::new().spawn_scoped(scope, work);
    move || match started {
        Ok(thread) => (thread.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(_) => work(),
    }
}
