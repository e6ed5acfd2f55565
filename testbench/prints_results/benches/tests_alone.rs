//! A bench target of libtest in which there are only tests: nothing to be measured, and nothing wrong.

#[test]
fn nothing_is_measured_here() {
    assert_eq!(1 + 1, 2);
}
