//! What can go wrong between us and cargo.

use std::io;
use std::path::{Path, PathBuf};

use crate::process::RunError;

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
    #[error("cargo could not read the workspace\n{said}{help}", said = .0, help = outside_help(.0))]
    Metadata(String),
    /// A package was named that the workspace has not got.
    #[error(
        "there is no package `{name}` in this workspace{}",
        named("its packages are", existing)
    )]
    NoSuchPackage {
        /// What was asked for.
        name: String,
        /// The packages there are.
        existing: Vec<String>,
    },
    /// A bench target was named that the selected packages have not got.
    #[error(
        "there is no bench target `{name}` in the selected packages{}",
        named("their bench targets are", existing)
    )]
    NoSuchBench {
        /// What was asked for.
        name: String,
        /// The bench targets there are.
        existing: Vec<String>,
    },
    /// Cargo refused before it built anything; its own words say why.
    #[error("cargo could not select the bench targets\n{0}")]
    Selection(String),
    /// The build failed; cargo has printed why.
    #[error(
        "the bench targets did not build ({status}); cargo's messages are above{}",
        nightly_help(unstable)
    )]
    Build {
        /// How cargo ended.
        status: String,
        /// The targets with functions of `#[bench]`, where the compiler is a stable one.
        unstable: Vec<String>,
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

/// Advises a user who is in no package: every run belongs to a workspace.
fn outside_help(said: &str) -> &'static str {
    if said.contains("could not find `Cargo.toml`") {
        "\n  help: run it in a package, or name one with `--manifest-path`"
    } else {
        ""
    }
}

/// Advises how to build `#[bench]`, which stable compilers refuse.
fn nightly_help(targets: &[String]) -> String {
    if targets.is_empty() {
        return String::new();
    }
    format!(
        "\n  help: error E0554 means that `#[bench]` needs a nightly compiler ({}): set RUSTC_BOOTSTRAP=1 or run `cargo +nightly perfcheck`",
        targets.join(", ")
    )
}

impl CargoError {
    /// The error where `program` did not run to its end.
    pub(super) fn not_run(program: &Path, error: RunError) -> Self {
        match error {
            RunError::Start(source) => Self::Start {
                program: program.to_owned(),
                source,
            },
            RunError::Interrupted => Self::Interrupted,
        }
    }
}

/// What there is in place of a name that is not there.
fn named(what: &str, existing: &[String]) -> String {
    if existing.is_empty() {
        String::new()
    } else {
        format!("; {what}: {}", existing.join(", "))
    }
}
