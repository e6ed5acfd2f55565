//! Statistics of five published systems: one test for each row of docs/internals/src/systems.md, with the row's id at the start of its name, and
//! golden values from `NumPy` and `SciPy`. `tests/systems/rows.py` lists the rows without a test.

#![expect(clippy::unwrap_used, reason = "a test: what is not there fails it")]

mod benchforge;
mod checks;
mod criterion;
mod golden;
mod mmtests;
mod nbenchmark;
mod serializer;

/// Fails unless `found` equals `expected` within the relative `tolerance`.
#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs(),
        "{found} is not {expected}"
    );
}

/// Returns 1, 2, ..., n.
fn up_to(n: u32) -> Vec<f64> {
    (1..=n).map(f64::from).collect()
}
