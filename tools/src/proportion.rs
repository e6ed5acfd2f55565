//! Exact intervals of proportions.

use perfcheck_stats::binomial::{lower_bound, upper_bound};

/// Returns the 95 % interval of a proportion (Clopper and Pearson 1934).
pub fn exact_interval(hits: u64, of: u64) -> (f64, f64) {
    let (hits, of) = (hits as u32, of as u32);
    (
        lower_bound(hits, of, 0.975).unwrap_or(0.0),
        upper_bound(hits, of, 0.975).unwrap_or(1.0),
    )
}
