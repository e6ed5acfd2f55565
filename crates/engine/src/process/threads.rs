//! Threads where the system may refuse one: a limit on processes counts them, too.

use std::io;
use std::thread::{self, Scope, ScopedJoinHandle};

/// Starts a thread that ends by itself.
pub fn start_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(drop)
}

/// Starts a thread that `scope` waits for.
pub fn start_thread_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    thread::Builder::new().spawn_scoped(scope, work)
}
