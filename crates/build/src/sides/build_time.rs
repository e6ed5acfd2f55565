//! Prepares both sides for measuring how long their builds take.
//!
//! Each side has its own copy of the sources and its own target directory, which stay in the cache. A first build compiles the dependencies. Later builds
//! there compile only the packages of the workspace. Invariant: the builds do not write into the user's checkout or target directory.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::request::{BuildEvent, SidesError, SidesRequest, file_error};
use super::state::State;
use super::workbench::SideBuilder;
use crate::cargo::{BenchTarget, BuildOrder, CargoOptions, DiagnosticTiming, Workspace};
use perfcheck_analysis::model::{
    BuildFacts, BySide, GitState, ProgramBenchmark, Side, SkipSupport, TargetFacts, TimedBuild,
};
use perfcheck_host::Revision;

/// Both sides, ready to be built again and again.
#[derive(Debug)]
pub struct TimedSides {
    /// For each side, a target whose executable is cargo and whose programs are the builds.
    pub targets: BySide<BenchTarget>,
    /// The state of git when the sources were copied.
    pub git: BySide<Option<GitState>>,
    /// Compiler, target, profile and flags, the same for both.
    pub facts: BuildFacts,
    /// Keeps other processes away from the directories of both sides while a clone of it lives.
    pub lock: Arc<File>,
}

/// Copies the sources of `base` and of the work tree, and builds both once.
pub fn prepare_timed_sides(
    request: &SidesRequest<'_>,
    base: &Revision,
    events: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<TimedSides, SidesError> {
    let mut bench = SideBuilder::open(request, events)?;
    let lock = bench.shelves.folder.share_lock();
    let folders = BySide {
        base: bench.shelves.folder.for_timing(Side::Base)?,
        candidate: bench.shelves.folder.for_timing(Side::Candidate)?,
    };
    let mut states = bench.prepare_states(base)?;
    bench.shelves.folder = folders.base;
    let base = bench.prepare_timed_side(&mut states.base)?;
    bench.shelves.folder = folders.candidate;
    let candidate = bench.prepare_timed_side(&mut states.candidate)?;
    bench.prune()?;
    Ok(TimedSides {
        targets: BySide { base, candidate },
        git: BySide {
            base: states.base.git,
            candidate: states.candidate.git,
        },
        facts: request.toolchain.facts.clone(),
        lock,
    })
}

impl SideBuilder<'_, '_> {
    /// Copies the sources of `state` into the folder, and builds them once.
    fn prepare_timed_side(&mut self, state: &mut State) -> Result<BenchTarget, SidesError> {
        self.check_interrupt()?;
        let shown = state.commit.as_ref().filter(|_| !state.is_work_tree);
        (self.events)(BuildEvent::Building(shown));
        let outcome = self.copy_and_build(state);
        outcome.map_err(|error| self.explain_error(error, state))
    }

    fn copy_and_build(&self, state: &mut State) -> Result<BenchTarget, SidesError> {
        self.copy_sources(state)?;
        let request = self.request;
        let options = self.cargo_options(state);
        let workspace = Workspace::load(request.cargo, &options, request.supervisor)?;
        let mut variables = self.cargo_variables();
        // With a wrapper such as sccache, a build would only copy what the compiler wrote earlier.
        variables.insert("RUSTC_WRAPPER".to_owned(), Some(OsString::new()));
        let order = BuildOrder {
            cargo: request.cargo,
            workspace: &workspace,
            toolchain: request.toolchain,
            options: &options,
            with_benches: false,
            programs: &[],
            variables: &variables,
            diagnostics: DiagnosticTiming::Immediate,
            supervisor: request.supervisor,
        };
        self.mirror().record_build_time()?;
        let outcome = order.build_packages();
        self.mirror().record_build_time()?;
        outcome?;
        Ok(BenchTarget {
            // The packages of the base may have other names, but both sides are one benchmark.
            package: first_package(request),
            target: ProgramBenchmark::BUILD_TARGET.to_owned(),
            program: request.cargo.to_owned(),
            first_arguments: Vec::new(),
            directory: env::current_dir().map_err(file_error("cannot find", Path::new(".")))?,
            variables,
            facts: TargetFacts::default(),
            skipping: SkipSupport::Works,
            programs: list_builds(request, &options, &workspace),
        })
    }
}

/// Returns the name of the first package that the user selected. Builds are stored under this name.
fn first_package(request: &SidesRequest<'_>) -> String {
    let selected = request.workspace.selected_packages(request.options);
    selected.into_iter().next().unwrap_or_default()
}

/// Returns the builds to measure in the `workspace` of one side. `options` name the directories of the side.
fn list_builds(
    request: &SidesRequest<'_>,
    options: &CargoOptions,
    workspace: &Workspace,
) -> Vec<ProgramBenchmark> {
    let command = |subcommand: &str, options: &CargoOptions| {
        let flags = options.selection_flags().into_iter();
        let words = [subcommand.to_owned()].into_iter();
        words.chain(flags.map(to_text)).collect::<Vec<String>>()
    };
    // `cargo clean` knows no other flags.
    let cleaned = CargoOptions {
        packages: workspace.package_specifications(),
        workspace: false,
        exclude: Vec::new(),
        features: Vec::new(),
        all_features: false,
        no_default_features: false,
        jobs: None,
        ..options.clone()
    };
    let mut clean = vec![to_text(request.cargo.into())];
    clean.extend(command("clean", &cleaned));
    let decisive = request.options.decisive().selection_flags().into_iter();
    let flags = decisive.map(to_text).collect::<Vec<String>>().join(" ");
    let build = |id: &str, prepare, touched| ProgramBenchmark {
        package: first_package(request),
        binary: "cargo".to_owned(),
        id: id.to_owned(),
        arguments: command("build", options),
        stdin: None,
        prepare,
        exit: 0,
        build: Some(TimedBuild {
            flags: flags.clone(),
            touched,
        }),
    };
    vec![
        build("build/cold", clean, Vec::new()),
        build(
            "build/incremental",
            Vec::new(),
            workspace.built_sources(options),
        ),
    ]
}

fn to_text(word: OsString) -> String {
    word.into_string()
        .unwrap_or_else(|word| word.to_string_lossy().into_owned())
}
