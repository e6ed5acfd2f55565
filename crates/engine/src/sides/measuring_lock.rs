//! A lock that allows one measurement at a time: two that use the same cache would disturb each other.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::error::SidesError;
use super::folder::{create_private_dir, lock_file};
use crate::process::Interrupt;

/// Name of the lock file in the cache. The process that measures holds it and writes its process id into it.
const LOCK: &str = "measuring.lock";

/// Keeps other processes from measuring with this cache while the value lives. A process must not take a second one: it would wait for itself.
#[derive(Debug)]
pub struct MeasuringLock {
    /// Closing the file releases the lock, even if the process is killed. `None` if locking failed, which is no reason not to measure.
    _lock: Option<File>,
}

impl MeasuringLock {
    /// Waits until no other process measures. If one does, first calls `waiting` with its process id, if it is known.
    pub fn acquire(
        cache: &Path,
        interrupt: &Interrupt,
        waiting: &mut dyn FnMut(Option<u32>),
    ) -> Result<Self, SidesError> {
        let path = cache.join(LOCK);
        let of_holder = || fs::read_to_string(&path).ok()?.trim().parse().ok();
        let lock = create_private_dir(cache)
            .and_then(|()| lock_file(&path, interrupt, &mut || waiting(of_holder())));
        match lock {
            Ok(mut lock) => {
                // The process id is only a hint for people, so errors do not matter.
                let _ = lock.set_len(0);
                let _ = writeln!(lock, "{}", std::process::id());
                Ok(Self { _lock: Some(lock) })
            }
            Err(error) if error.is_interruption() => Err(error),
            Err(_) => Ok(Self { _lock: None }),
        }
    }
}
