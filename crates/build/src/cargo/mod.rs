//! Cargo itself: the workspace's metadata and settings, the build of its bench targets, and the environment in which `cargo bench` would run them.
//!
//! Runs the cargo that `$CARGO` names and reads its JSON messages; never guesses at files in the target directory. Must not start a bench. Invariant:
//! targets come in a stable order, independent of the order in which cargo built them.

mod build;
mod cfg;
mod error;
mod metadata;
mod options;
mod output;
mod selection;
mod toolchain;

pub use build::{BuildOrder, BuiltTargets, DiagnosticTiming};
pub use cfg::CfgOptions;
pub use error::{CargoError, CompileError};
pub use metadata::{BenchPackage, MeasuredCrate, PackageSettings, Workspace, has_libtest_benches};
pub use options::CargoOptions;
pub(crate) use options::config_argument;
pub use output::{BenchExecutable, BenchTarget, BuildOutput};
pub use selection::{SkipReason, SkippedTarget};
pub use toolchain::Toolchain;
