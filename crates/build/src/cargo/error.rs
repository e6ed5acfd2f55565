//! Errors of running cargo.

use std::io;
use std::path::{Path, PathBuf};

use perfcheck_host::process::RunError;

/// The first error of the compiler in a build that printed none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    /// The error code, if there is one, and the message.
    pub text: String,
    /// The member of the workspace whose library or binary has the error. `None` if the error is in a bench, which also sees the development
    /// dependencies, or in a package from elsewhere.
    pub library_of: Option<String>,
    /// Whether the error has a place in the sources. Other errors, such as those about a full disk or a linker, may have nothing to do with the sources.
    pub is_in_sources: bool,
    /// All messages of the compiler, still to be printed, colored for a terminal.
    pub rendered: Vec<String>,
}

/// The reason why nothing can be built.
#[derive(Debug, thiserror::Error)]
pub enum CargoError {
    /// Cargo or rustc could not be started.
    #[error("could not start `{}`: {source}\n  help: is the Rust toolchain installed and on PATH?", program.display())]
    Start {
        /// The program that was to be started.
        program: PathBuf,
        /// The error of starting it.
        source: io::Error,
    },
    /// `cargo metadata` failed with this message.
    #[error("cargo could not read the workspace\n{message}{help}", message = .0, help = outside_help(.0))]
    Metadata(String),
    /// The user named a package that the workspace does not have.
    #[error(
        "there is no package `{name}` in this workspace{}",
        list_existing("its packages are", existing)
    )]
    NoSuchPackage {
        /// The name that the user gave.
        name: String,
        /// The packages of the workspace.
        existing: Vec<String>,
    },
    /// The user named a bench target that the selected packages do not have.
    #[error(
        "there is no bench target `{name}` in the selected packages{}",
        list_existing("their bench targets are", existing)
    )]
    NoSuchBench {
        /// The name that the user gave.
        name: String,
        /// The bench targets of the selected packages.
        existing: Vec<String>,
    },
    /// Cargo failed with this message before it built anything.
    #[error("cargo could not select the bench targets\n{0}")]
    Selection(String),
    /// The build failed, and cargo has already printed the reason.
    #[error(
        "the {what} did not build ({status}); cargo's messages are above{}",
        nightly_help(unstable)
    )]
    Build {
        /// The kind of targets that cargo was told to build: bench targets, programs or packages.
        what: &'static str,
        /// Exit status of cargo.
        status: String,
        /// The targets with `#[bench]` functions, if the compiler is a stable one.
        unstable: Vec<String>,
        /// The compiler's first error, if it was not printed.
        first_error: Option<Box<CompileError>>,
    },
    /// A program answered in an unexpected format.
    #[error("unexpected answer from `{program}`: {what}")]
    Answer {
        /// The program and its arguments.
        program: String,
        /// A description of the problem.
        what: String,
    },
    /// Cargo's configuration files could not be read.
    #[error("could not read cargo's configuration: {0}")]
    Configuration(#[from] cargo_config2::Error),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Returns a hint for users who are outside any package. Returns an empty text if `message` reports another error.
fn outside_help(message: &str) -> &'static str {
    if message.contains("could not find `Cargo.toml`") {
        "\n  help: run the command in a package, or name its Cargo.toml with `--manifest-path`"
    } else {
        ""
    }
}

/// Returns a hint on how to build the `#[bench]` functions of `targets`, which stable compilers refuse. Returns an empty text if there are no such
/// targets.
fn nightly_help(targets: &[String]) -> String {
    if targets.is_empty() {
        return String::new();
    }
    format!(
        "\n  help: the `#[bench]` functions of {} need a nightly compiler (error E0554): run `cargo +nightly perfcheck` or set RUSTC_BOOTSTRAP=1",
        targets.join(", ")
    )
}

impl CargoError {
    /// Returns the error for a `program` that could not be started or was interrupted.
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

/// Lists the existing names, for an error about an unknown one.
fn list_existing(what: &str, existing: &[String]) -> String {
    if existing.is_empty() {
        String::new()
    } else {
        format!("; {what}: {}", existing.join(", "))
    }
}
