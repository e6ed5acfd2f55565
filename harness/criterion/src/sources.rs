//! The sources of this crate as constants. `cargo perfcheck` writes them to its cache to build Criterion benches with them.

use perfcheck::sources::CrateFile;

/// The manifest of this crate.
pub const MANIFEST: &str = include_str!("../Cargo.toml");

/// All files below `src`.
pub const FILES: &[CrateFile] = perfcheck::source_files![
    "async_bencher.rs",
    "async_executor.rs",
    "bencher.rs",
    "command_line.rs",
    "conditions.rs",
    "configuration.rs",
    "filter.rs",
    "group.rs",
    "lib.rs",
    "manager.rs",
    "measurement.rs",
    "old.rs",
    "output.rs",
    "profiler.rs",
    "sample.rs",
    "session.rs",
    "sources.rs",
];
