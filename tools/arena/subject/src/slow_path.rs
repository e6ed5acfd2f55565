//! A slow mode that the clock switches on: in some windows of 2 ms, calls do 40 % more. Which windows, a hash decides; both sides ask the
//! clock in every call, and only the share of slow windows differs between the commits.

use std::time::{Duration, Instant, SystemTime};

use crate::slow::slow_windows_per_mille;
use crate::workloads::{chain, mix};

const WINDOW_NS: u64 = 2_000_000;
/// About 3 us: a call is short against a window.
const ROUNDS: usize = 5000;
const MORE_ROUNDS: usize = ROUNDS * 4 / 10;

pub struct SlowPath {
    start: Instant,
    /// Time of day at `start`: processes that run side by side are slow together, and no two runs in the same windows.
    start_ns: u64,
    slow_windows_per_mille: u64,
    x: u64,
}

impl SlowPath {
    pub fn set_up() -> Self {
        let of_day = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Self {
            start: Instant::now(),
            start_ns: of_day.as_nanos() as u64,
            slow_windows_per_mille: slow_windows_per_mille(),
            x: mix(6),
        }
    }

    #[inline(never)]
    pub fn run(&mut self) -> u64 {
        let window = (self.start_ns + self.start.elapsed().as_nanos() as u64) / WINDOW_NS;
        let slow = mix(window) % 1000 < self.slow_windows_per_mille;
        self.x = chain(if slow { ROUNDS + MORE_ROUNDS } else { ROUNDS }, self.x);
        self.x
    }
}
