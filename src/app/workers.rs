//! The threads that work out statistics.

use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::io;
use std::num::NonZero;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// More are of no use where there are fewer processors.
const MOST: usize = 64;
/// So many threads are left to the rest of a command where the system refuses more.
const SPARE: usize = 16;

/// Starts as many threads as are `wanted`, or as there are processors, or as the system allows. To be called once in a process.
pub fn start_workers(wanted: Option<usize>) {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let wanted = wanted.filter(|number| *number > 0).unwrap_or(processors);
    // A pool that cannot start one of its threads fails as a whole and for good, so they are started before it.
    let started = start_waiting(wanted.min(processors.max(MOST)));
    let builder = match started.len() {
        // The thread that wants something computed does it by itself.
        0 => ThreadPoolBuilder::new().num_threads(1).use_current_thread(),
        number => ThreadPoolBuilder::new().num_threads(number),
    };
    let mut started = started.into_iter();
    let hand_over = move |worker| {
        let thread = started.next().ok_or(io::ErrorKind::WouldBlock)?;
        let given = thread.send(worker);
        given.map_err(|_| io::ErrorKind::BrokenPipe.into())
    };
    // It fails only where there is a pool already, which does.
    let _ = builder.spawn_handler(hand_over).build_global();
}

/// Threads that wait for a worker to become, at most `wanted`.
fn start_waiting(wanted: usize) -> Vec<Sender<ThreadBuilder>> {
    let mut started = Vec::new();
    while started.len() < wanted {
        let (sender, receiver) = channel::<ThreadBuilder>();
        let work = move || {
            if let Ok(worker) = receiver.recv() {
                worker.run();
            }
        };
        if thread::Builder::new().spawn(work).is_err() {
            started.truncate(started.len().saturating_sub(SPARE));
            break;
        }
        started.push(sender);
    }
    started
}
