//! The sources of this crate as constants. `cargo perfcheck` writes them to its cache to build Criterion benches with them.

/// A file of a crate.
#[derive(Debug, Clone, Copy)]
pub struct CrateFile {
    /// The path of the file in the crate's directory.
    pub path: &'static str,
    /// The content of the file.
    pub text: &'static str,
}

/// Lists files below `src` with their content.
#[doc(hidden)]
#[macro_export]
macro_rules! source_files {
    ($($name:literal),* $(,)?) => {
        &[$($crate::sources::CrateFile {
            path: concat!("src/", $name),
            text: include_str!($name),
        }),*]
    };
}

/// The manifest of this crate.
pub const MANIFEST: &str = include_str!("../Cargo.toml");

/// All files below `src`.
pub const FILES: &[CrateFile] = source_files![
    "allocations.rs",
    "args.rs",
    "async_bencher.rs",
    "bencher.rs",
    "child.rs",
    "clock.rs",
    "counting.rs",
    "driver.rs",
    "executor_for_examples.txt",
    "latencies.rs",
    "lib.rs",
    "output.rs",
    "protocol.rs",
    "run.rs",
    "sampler.rs",
    "sequence.rs",
    "settings.rs",
    "smoke.rs",
    "sources.rs",
    "suite.rs",
    "table.rs",
    "timing.rs",
    "uncounted.rs",
    "walk.rs",
];
