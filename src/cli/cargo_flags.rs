//! Cargo's own flags, with cargo's names and meanings.

use clap::Args;
use clap_cargo::{Features, Manifest, Workspace};
use std::path::PathBuf;

use crate::app::OutputOptions;
use perfcheck_engine::cargo::CargoOptions;

/// Flags that locate the workspace and configure cargo.
#[derive(Debug, Clone, Args)]
pub(super) struct WorkspaceFlags {
    #[command(flatten)]
    manifest: Manifest,
    /// Assert that `Cargo.lock` will remain unchanged
    #[arg(long, help_heading = "Manifest options")]
    locked: bool,
    /// Run without accessing the network
    #[arg(long, help_heading = "Manifest options")]
    offline: bool,
    /// Equivalent to specifying both --locked and --offline
    #[arg(long, help_heading = "Manifest options")]
    frozen: bool,
    /// Override a configuration value of cargo
    #[arg(long, value_name = "KEY=VALUE|PATH", help_heading = "Manifest options")]
    config: Vec<String>,
}

impl WorkspaceFlags {
    pub(super) fn options(self) -> CargoOptions {
        CargoOptions {
            manifest_path: self.manifest.manifest_path,
            locked: self.locked,
            offline: self.offline,
            frozen: self.frozen,
            config: self.config,
            ..CargoOptions::default()
        }
    }
}

/// Flags that select bench targets and configure the build.
#[derive(Debug, Clone, Args)]
pub(super) struct BuildFlags {
    /// Measure only the bench target NAME (repeatable; globs work)
    #[arg(long, value_name = "NAME")]
    bench: Vec<String>,
    /// Measure all bench targets, as without --bench, --lib and --bins
    #[arg(long, conflicts_with = "bench")]
    benches: bool,
    /// Measure the `#[bench]` functions in the package's library
    #[arg(long)]
    lib: bool,
    /// Measure the `#[bench]` functions in all binaries
    #[arg(long)]
    bins: bool,
    #[command(flatten)]
    pub(super) compilation: CompilationFlags,
}

/// Flags that configure the build, without a selection of bench targets.
#[derive(Debug, Clone, Args)]
pub(super) struct CompilationFlags {
    #[command(flatten)]
    workspace: Workspace,
    #[command(flatten)]
    features: Features,
    /// Build with this profile of cargo
    #[arg(
        long,
        value_name = "PROFILE-NAME",
        default_value = "bench",
        help_heading = "Compilation options"
    )]
    profile: String,
    /// Build for the target triple
    #[arg(long, value_name = "TRIPLE", help_heading = "Compilation options")]
    target: Option<String>,
    /// Directory for all generated artifacts
    #[arg(long, value_name = "DIRECTORY", help_heading = "Compilation options")]
    target_dir: Option<PathBuf>,
    /// Number of parallel jobs of the build
    #[arg(
        short,
        long,
        value_name = "N",
        allow_hyphen_values = true,
        help_heading = "Compilation options"
    )]
    jobs: Option<String>,
    #[command(flatten)]
    pub(super) at: WorkspaceFlags,
}

impl BuildFlags {
    pub(super) fn options(self, output: &OutputOptions) -> CargoOptions {
        CargoOptions {
            benches: self.bench,
            all_benches: self.benches,
            lib: self.lib,
            bins: self.bins,
            ..self.compilation.options(output)
        }
    }
}

impl CompilationFlags {
    pub(super) fn options(self, output: &OutputOptions) -> CargoOptions {
        CargoOptions {
            packages: self.workspace.package,
            workspace: self.workspace.workspace || self.workspace.all,
            exclude: self.workspace.exclude,
            features: self.features.features,
            all_features: self.features.all_features,
            no_default_features: self.features.no_default_features,
            profile: Some(self.profile),
            target: self.target,
            target_dir: self.target_dir,
            jobs: self.jobs,
            verbose: output.verbose,
            quiet: output.quiet,
            color: Some(output.color.to_string()),
            ..self.at.options()
        }
    }
}
