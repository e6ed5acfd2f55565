//! A libtest target that contains only tests: there is nothing to measure, and no error.

#[test]
fn nothing_is_measured_here() {
    assert_eq!(1 + 1, 2);
}
