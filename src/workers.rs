//! Worker threads that compute statistics.

use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::io;
use std::num::NonZero;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

/// The largest number of workers that a user can ask for, unless there are more processors than this. More threads than processors gain little.
const MOST: usize = 64;
/// If the system refuses to start another worker, this many workers are ended again, so that the rest of the command can start threads.
const SPARE: usize = 16;

/// Starts `wanted` worker threads (by default one per processor), or fewer if the system refuses some. Call it once per process.
pub fn start_workers(wanted: Option<usize>) {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let wanted = wanted.filter(|number| *number > 0).unwrap_or(processors);
    // Start the threads before the pool: a pool that fails to start one of its threads fails as a whole, for good.
    let started = start_waiting(wanted.min(processors.max(MOST)), WaitingThread::start);
    let builder = match started.len() {
        // With no worker threads, the calling thread computes everything itself.
        0 => ThreadPoolBuilder::new().num_threads(1).use_current_thread(),
        number => ThreadPoolBuilder::new().num_threads(number),
    };
    let mut started = started.into_iter();
    let hand_over = move |worker| {
        let waiting = started.next().ok_or(io::ErrorKind::WouldBlock)?;
        let given = waiting.sender.send(worker);
        given.map_err(|_| io::ErrorKind::BrokenPipe.into())
    };
    // This fails only if a pool exists already, and the existing pool serves as well.
    let _ = builder.spawn_handler(hand_over).build_global();
}

/// A started thread that waits to become a worker of the pool.
struct WaitingThread {
    sender: Sender<ThreadBuilder>,
    thread: JoinHandle<()>,
}

impl WaitingThread {
    fn start() -> io::Result<Self> {
        let (sender, receiver) = channel::<ThreadBuilder>();
        let work = move || {
            if let Ok(worker) = receiver.recv() {
                worker.run();
            }
        };
        let thread = thread::Builder::new().spawn(work)?;
        Ok(Self { sender, thread })
    }

    /// Ends the thread and waits until its memory is free again.
    fn end(self) {
        drop(self.sender);
        // The thread ran no work, so it cannot have panicked.
        let _ = self.thread.join();
    }
}

/// Starts up to `wanted` threads. If `start` fails, ends some of the started threads again to leave room for the rest of the command.
fn start_waiting(
    wanted: usize,
    mut start: impl FnMut() -> io::Result<WaitingThread>,
) -> Vec<WaitingThread> {
    let mut started = Vec::new();
    while started.len() < wanted {
        let Ok(thread) = start() else {
            let few = started.len().saturating_sub(SPARE);
            started.drain(few..).for_each(WaitingThread::end);
            break;
        };
        started.push(thread);
    }
    started
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_system_refuses_a_thread_some_are_left_to_the_rest_of_the_command() {
        let start_of = |allowed: usize| {
            let mut threads = 0..allowed;
            let start = || match threads.next() {
                Some(_) => WaitingThread::start(),
                None => Err(io::ErrorKind::WouldBlock.into()),
            };
            start_waiting(24, start).len()
        };
        assert_eq!([start_of(100), start_of(20), start_of(3)], [24, 4, 0]);
    }
}
