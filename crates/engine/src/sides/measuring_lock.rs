//! One measurement at a time: two that use the same cache would disturb each other.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use super::error::SidesError;
use super::folder::{locked, make_private};
use crate::process::Interrupt;

/// In the cache: held by the process that measures, which writes its number into it.
const LOCK: &str = "measuring.lock";

/// Nobody else measures with this cache while this value lives. A process may have one at a time: it would wait for itself.
#[derive(Debug)]
pub struct MeasuringLock {
    /// Unlocked when closed, also when we are killed. `None` where there are no locks: that is no reason not to measure.
    _lock: Option<File>,
}

impl MeasuringLock {
    /// Waits for whoever measures, after `waiting` was called with the number of that process, if it is known.
    pub fn wait(
        cache: &Path,
        interrupt: &Interrupt,
        waiting: &mut dyn FnMut(Option<u32>),
    ) -> Result<Self, SidesError> {
        let path = cache.join(LOCK);
        let of_holder = || fs::read_to_string(&path).ok()?.trim().parse().ok();
        let lock = make_private(cache)
            .and_then(|()| locked(&path, interrupt, &mut || waiting(of_holder())));
        match lock {
            Ok(mut lock) => {
                // For people alone.
                let _ = lock.set_len(0);
                let _ = writeln!(lock, "{}", std::process::id());
                Ok(Self { _lock: Some(lock) })
            }
            Err(error) if error.is_interruption() => Err(error),
            Err(_) => Ok(Self { _lock: None }),
        }
    }
}
