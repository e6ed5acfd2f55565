//! A bench target without `harness = false`: cargo builds it with libtest, which knows nothing of perfcheck.

#[test]
fn nothing_is_measured_here() {
    assert_eq!(1 + 1, 2);
}
