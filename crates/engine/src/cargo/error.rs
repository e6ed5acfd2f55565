//! What can go wrong between us and cargo.

use std::io;
use std::path::PathBuf;

/// A situation in which nothing can be built.
#[derive(Debug, thiserror::Error)]
pub enum CargoError {
    /// Cargo or rustc could not be started.
    #[error("could not start `{}`: {source}\n  help: is the Rust toolchain installed and on PATH?", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// `cargo metadata` refused; its own words say why.
    #[error("cargo could not read the workspace\n{said}")]
    Metadata {
        /// What cargo wrote to stderr.
        said: String,
    },
    /// The build failed; cargo has printed why.
    #[error("the bench targets did not build ({status}); cargo's messages are above")]
    Build {
        /// How cargo ended.
        status: String,
    },
    /// A program answered something else than what it should.
    #[error("unexpected answer of `{program}`: {what}")]
    Answer {
        /// The program and its arguments.
        program: String,
        /// What was wrong.
        what: String,
    },
    /// Cargo's configuration files could not be read.
    #[error("could not read cargo's configuration: {0}")]
    Configuration(#[from] cargo_config2::Error),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}
