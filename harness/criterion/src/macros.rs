//! The macros that define groups and `main`.

/// Defines a function that runs benchmarks: `criterion_group!(name, target, ...)`, or with `name = ...; config = ...; targets = ...`.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use criterion::{Criterion, criterion_group, criterion_main};
///
/// fn sums(c: &mut Criterion) {
///     c.bench_function("sum", |b| b.iter(|| (0..100_u32).sum::<u32>()));
/// }
///
/// criterion_group!(short, sums);
/// criterion_group! {
///     name = long;
///     config = Criterion::default().measurement_time(Duration::from_secs(10));
///     targets = sums
/// }
/// criterion_main!(short, long);
/// ```
#[macro_export]
macro_rules! criterion_group {
    (name = $name:ident; config = $config:expr; targets = $($target:path),+ $(,)*) => {
        /// Runs the benchmarks of this group.
        pub fn $name() {
            let mut criterion: $crate::Criterion<_> = $config.configure_from_args();
            $($target(&mut criterion);)+
        }
    };
    ($name:ident, $($target:path),+ $(,)*) => {
        $crate::criterion_group! {
            name = $name;
            config = $crate::Criterion::default();
            targets = $($target),+
        }
    };
}

/// Defines `main`, which runs the functions that [`criterion_group!`] defined. The documentation of `criterion_group!` has an example.
#[macro_export]
macro_rules! criterion_main {
    ($($group:path),+ $(,)*) => {
        fn main() {
            $crate::run_groups(&[$(&|| { $group(); }),+]);
        }
    };
}
