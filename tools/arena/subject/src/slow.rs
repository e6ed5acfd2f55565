//! How slow this commit is. The values are read from memory at run time, so that two commits differ in data and not in machine code.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

/// Cost of every workload, per mille of the base.
static SLOW_PER_MILLE: AtomicU32 = AtomicU32::new(1000);

/// Cost of one of the benchmarks of `many`, per mille of the base.
static SLOW_ONE_PER_MILLE: AtomicU32 = AtomicU32::new(1000);

/// How many of 1000 windows of `slow_path` are slow ones.
static SLOW_WINDOWS_PER_MILLE: AtomicU32 = AtomicU32::new(0);

/// Cost in hundredths of the base.
pub fn percent() -> usize {
    (black_box(&SLOW_PER_MILLE).load(Ordering::Relaxed) / 10) as usize
}

/// Sets up with the cost of the one that alone is slower.
pub fn as_the_slow_one<T>(set_up: impl FnOnce() -> T) -> T {
    let others = SLOW_PER_MILLE.load(Ordering::Relaxed);
    set_per_mille(black_box(&SLOW_ONE_PER_MILLE).load(Ordering::Relaxed));
    let done = set_up();
    set_per_mille(others);
    done
}

/// See `slow_path`.
pub fn slow_windows_per_mille() -> u64 {
    u64::from(black_box(&SLOW_WINDOWS_PER_MILLE).load(Ordering::Relaxed))
}

/// For callers that have one commit and need several costs.
pub fn set_per_mille(value: u32) {
    SLOW_PER_MILLE.store(value, Ordering::Relaxed);
}
