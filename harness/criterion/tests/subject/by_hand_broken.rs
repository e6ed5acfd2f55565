//! A bench executable with a handwritten `main`, whose set-up fails.

use criterion::Criterion;

fn main() {
    // A panic that is caught must not count as a failure.
    let caught = std::panic::catch_unwind(|| panic!("caught"));
    assert!(caught.is_err());
    Criterion::default()
        .configure_from_args()
        .bench_function("before", |b| b.iter(|| 1));
    panic!("no corpus");
}
