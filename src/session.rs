//! The starting point of every command: the process's environment, the workspace, its settings and its place in the store.

use std::cell::{Cell, OnceCell, Ref, RefCell, RefMut};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::AppError;
use super::options::CommonOptions;
use crate::config::{Layer, Tables};
use crate::output::{self, Progress, ProgressMode};
use crate::sanitize::LogCommands;
use perfcheck_analysis::compare::HostClass;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{Environment, ProgressReporter, Run, RunId, Shard};
use perfcheck_build::cargo::{CargoError, CargoOptions, Toolchain, Workspace};
use perfcheck_host::os::canonicalize;
use perfcheck_host::process::{Interrupt, Supervisor};
use perfcheck_host::{Checkout, EnvironmentVariables, GitError};
use perfcheck_store::{Store, StoreError, WorkspaceId, default_path, is_address, public_location};

/// The process's environment: variables, streams, child processes and interrupts.
pub struct World<'a> {
    /// The environment variables that the tool evaluates.
    pub variables: EnvironmentVariables,
    /// Starts child processes, and ensures that they end.
    pub supervisor: &'a Supervisor,
    /// Removes workflow commands of the CI system from what other programs print, and lets the tool's own commands through.
    pub commands: &'a LogCommands,
    /// Reports whether the user asked to stop.
    pub interrupt: &'a Interrupt,
    /// Stream for the result.
    pub stdout: &'a mut dyn Write,
    /// Stream for progress and warnings.
    pub stderr: &'a mut dyn Write,
    /// Stream for the output of benches. A file gets the output unchanged. On a terminal and in a CI log, control sequences are made harmless first.
    pub bench_output: &'a mut dyn Write,
    /// Style of the progress display.
    pub progress: ProgressMode,
}

impl World<'_> {
    /// Runs `work` while a bar or line shows the progress of `what` on this many benchmarks. Pass 0 if their number is unknown.
    pub(super) fn with_progress<T>(
        &mut self,
        what: &str,
        benchmarks: usize,
        work: impl FnOnce(&ProgressReporter<'_>) -> T,
    ) -> T {
        let progress = Progress::new(&mut *self.stderr, &mut *self.bench_output, self.progress);
        work(&ProgressReporter::begin(&progress, what, benchmarks))
    }
}

/// The warning that is printed if git fails, followed by the reason that git gives. Without git, the workspace usually has another key in the store,
/// so that runs stored now are separate from those stored with git.
const WITHOUT_GIT: &str =
    "git does not work, so runs are stored without a commit, separately from runs with a commit";

/// The source file of a bench target.
pub(super) struct BenchSource {
    pub(super) package: String,
    pub(super) target: String,
    /// Path relative to the top of the repository, with `/`.
    pub(super) file: String,
    pub(super) path: PathBuf,
}

/// The purpose for which the store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoreAccess {
    Read,
    Write,
}

/// A workspace, its settings and its store, which is opened once, when it is first needed.
pub(super) struct Context {
    pub(super) workspace: Workspace,
    pub(super) tables: Tables,
    checkout: Result<Checkout, GitError>,
    toolchain: OnceCell<Toolchain>,
    /// The store, once it is opened.
    store: RefCell<Option<Store>>,
    access: Cell<StoreAccess>,
    store_path: PathBuf,
    /// Location of the store as messages and reports show it, without a password.
    pub(super) store_name: PathBuf,
    /// Whether the command line names the store.
    store_named: bool,
}

impl Context {
    /// Loads the workspace that `options` select.
    pub(super) fn load(options: &CommonOptions, world: &mut World<'_>) -> Result<Self, AppError> {
        let variables = &world.variables;
        let workspace = Workspace::load(&variables.cargo, &options.cargo, world.supervisor)?;
        workspace.refuse_unknown(&options.cargo)?;
        let packages = workspace.package_settings();
        let tables = Tables::parse(
            &workspace.root().join("Cargo.toml"),
            workspace.settings(),
            packages.iter().map(|found| {
                (
                    found.package.as_str(),
                    found.manifest.as_path(),
                    &found.table,
                )
            }),
        )?;
        let store_path = match options.store.clone().or_else(|| variables.store.clone()) {
            Some(path) => path,
            None => default_path()?,
        };
        let checkout = match Checkout::find(workspace.root(), world.supervisor) {
            Err(error @ GitError::Interrupted) => return Err(error.into()),
            found => found,
        };
        if let Err(why) = &checkout
            && !matches!(why, GitError::NotARepository(_))
            && !options.output.quiet
        {
            let warning = format!("{WITHOUT_GIT}: {why}");
            output::write_warning(world.stderr, &warning)?;
        }
        if is_address(&store_path) {
            team_key(&tables)?;
        }
        Ok(Self {
            workspace,
            tables,
            checkout,
            toolchain: OnceCell::new(),
            store: RefCell::new(None),
            access: Cell::new(StoreAccess::Read),
            store_name: public_location(&store_path),
            store_path,
            store_named: options.store.is_some(),
        })
    }

    /// Makes the first access to the store open it for writing, even if that access only reads. For commands that will write to the store later.
    pub(super) fn for_writing(self) -> Self {
        self.access.set(StoreAccess::Write);
        self
    }

    /// Adds the settings of the command line, which override those of Cargo.toml.
    pub(super) fn with_command_line(mut self, layer: Layer) -> Self {
        self.tables.layers.command_line = layer;
        self
    }

    /// Returns the workspace's compiler and its configuration in cargo. Queries them only once, because target, profile and configuration are the
    /// same for everything that a command builds.
    pub(super) fn toolchain(
        &self,
        options: &CargoOptions,
        supervisor: &Supervisor,
    ) -> Result<&Toolchain, CargoError> {
        if let Some(known) = self.toolchain.get() {
            return Ok(known);
        }
        let found = Toolchain::detect(options, supervisor)?;
        Ok(self.toolchain.get_or_init(|| found))
    }

    /// Returns the store, or `None` if it does not exist yet. Never creates it.
    pub(super) fn open_existing_store(&self) -> Result<Option<Ref<'_, Store>>, StoreError> {
        if self.store.borrow().is_none() {
            let opened = match self.access.get() {
                StoreAccess::Read => Store::open_existing(&self.store_path)?,
                StoreAccess::Write if self.has_store_file() => Some(Store::open(&self.store_path)?),
                StoreAccess::Write => None,
            };
            self.store.replace(opened);
        }
        Ok(Ref::filter_map(self.store.borrow(), Option::as_ref).ok())
    }

    /// Returns true if there is a store to open. A store that cannot be read counts, too, so that opening it reports the error.
    fn has_store_file(&self) -> bool {
        match fs::metadata(&self.store_path) {
            Ok(file) => file.len() > 0,
            Err(error) => is_address(&self.store_path) || error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Returns the store and the workspace in it, or `None` if nothing of this workspace is stored.
    pub(super) fn open_stored(&self) -> Result<Option<(Ref<'_, Store>, WorkspaceId)>, StoreError> {
        let Some(store) = self.open_existing_store()? else {
            return Ok(None);
        };
        let workspace = store.find_workspace(&self.key())?;
        Ok(workspace.map(|workspace| (store, workspace)))
    }

    /// Like [`Self::open_stored`], but fails if nothing of this workspace is stored.
    pub(super) fn open_required(&self) -> Result<(Ref<'_, Store>, WorkspaceId), AppError> {
        self.open_stored()?
            .ok_or_else(|| self.nothing_stored_error())
    }

    /// Returns the store for writing and registers the workspace in it. No other code in this process may use the store while the caller has it.
    pub(super) fn open_store(&self) -> Result<(RefMut<'_, Store>, WorkspaceId), StoreError> {
        let mut opened = self.store.borrow_mut();
        if self.access.replace(StoreAccess::Write) == StoreAccess::Read {
            *opened = None;
        }
        let store = match opened.take() {
            Some(store) => store,
            None => Store::open(&self.store_path)?,
        };
        let mut store = RefMut::map(opened, |opened| opened.insert(store));
        let workspace = store.ensure_workspace(&self.key(), &self.label())?;
        Ok((store, workspace))
    }

    /// Like [`Self::open_store`], but fails if nothing of this workspace is stored.
    pub(super) fn open_required_for_writing(
        &self,
    ) -> Result<(RefMut<'_, Store>, WorkspaceId), AppError> {
        self.access.set(StoreAccess::Write);
        drop(self.open_required()?);
        Ok(self.open_store()?)
    }

    /// Returns whether the host on which a run was measured is shared with others, as a class of hosts. The configuration of the workspace takes
    /// precedence over what was detected for the run.
    pub(super) fn host_class(&self, environment: &Environment) -> HostClass {
        HostClass::from_shared(self.is_shared(environment))
    }

    /// Reports whether other users share the host that a run was measured on; `None` if neither the workspace nor the run records it.
    pub(super) fn is_shared(&self, environment: &Environment) -> Option<bool> {
        let configured = self.tables.workspace.shared_host;
        configured.or(environment.host.shared)
    }

    /// Returns the error for a workspace without stored runs. The error advises a first run.
    fn nothing_stored_error(&self) -> AppError {
        if self.store_named && !is_address(&self.store_path) && !self.store_path.exists() {
            return AppError::NoStore(self.store_path.clone());
        }
        AppError::NothingStored(self.workspace.root().to_owned())
    }

    /// Explains to the user why a list is empty. Unlike a missing run, an empty list is no error.
    pub(super) fn note_nothing_stored(
        &self,
        common: &CommonOptions,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        if !common.output.quiet {
            writeln!(world.stderr, "{}", self.nothing_stored_error())?;
        }
        Ok(ExitCode::Clean)
    }

    /// Returns the git checkout that contains the workspace, if git works there.
    pub(super) fn checkout(&self) -> Option<&Checkout> {
        self.checkout.as_ref().ok()
    }

    /// Returns the git checkout that contains the workspace, or git's error.
    pub(super) fn require_checkout(&self) -> Result<&Checkout, AppError> {
        self.checkout.as_ref().map_err(|why| why.clone().into())
    }

    /// Returns the name under which a team's store knows the workspace; it is the same on every machine.
    pub(super) fn team_key(&self) -> Result<String, AppError> {
        team_key(&self.tables)
    }

    /// Refuses to measure into a team's store: network delays must not disturb measurements.
    pub(super) fn require_local_store(&self) -> Result<(), AppError> {
        if is_address(&self.store_path) {
            return Err(AppError::Usage(
                "measuring needs a store on this machine\n  help: leave out `--store` and PERFCHECK_STORE; afterwards, `cargo perfcheck store push` sends the runs to the team's store"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Returns the key by which the store identifies the workspace: its configured id, or else its git repository, or else its path.
    pub(super) fn key(&self) -> String {
        if let Some(id) = &self.tables.workspace.id {
            return format!("id:{id}");
        }
        if let Some(checkout) = self.checkout() {
            let repository = checkout.common_directory.display();
            return if checkout.prefix.as_os_str().is_empty() {
                format!("git:{repository}")
            } else {
                format!("git:{repository}:{}", checkout.prefix.display())
            };
        }
        let root = self.workspace.root();
        let root = canonicalize(root).unwrap_or_else(|_| root.to_owned());
        format!("path:{}", root.display())
    }

    /// Lists the bench targets of the workspace with the paths of their sources relative to the top of the repository.
    pub(super) fn bench_sources(&self) -> Vec<BenchSource> {
        let root = self.workspace.root();
        let prefix = self.checkout().map(|found| found.prefix.as_path());
        let in_repository = |file: &Path| {
            let file = prefix
                .unwrap_or(Path::new(""))
                .join(file.strip_prefix(root).ok()?);
            let parts: Option<Vec<&str>> = file.iter().map(|part| part.to_str()).collect();
            Some(parts?.join("/"))
        };
        let targets = self.workspace.targets().into_iter();
        targets
            .filter_map(|(package, target, file)| {
                Some(BenchSource {
                    package,
                    target,
                    file: in_repository(&file)?,
                    path: file,
                })
            })
            .collect()
    }

    /// Returns a readable label of the workspace: its last known path, or its id in a team's store.
    pub(super) fn label(&self) -> String {
        match &self.tables.workspace.id {
            Some(id) if is_address(&self.store_path) => id.clone(),
            _ => self.workspace.root().display().to_string(),
        }
    }
}

fn team_key(tables: &Tables) -> Result<String, AppError> {
    let id = tables.workspace.id.as_ref();
    id.map(|id| format!("id:{id}")).ok_or_else(|| {
        AppError::Usage(
            "a team's store needs a workspace name that is the same on every machine\n  help: add `id = \"example.org/project\"` to `[workspace.metadata.perfcheck]` in Cargo.toml"
                .to_owned(),
        )
    })
}

/// A run that the user named.
#[derive(Debug, Clone)]
pub(super) struct NamedRun {
    pub(super) run: RunId,
    /// The word by which the user named the run: a baseline, a number, `latest` or a commit.
    pub(super) name: String,
}

impl NamedRun {
    pub(super) fn new(run: RunId, name: &str) -> Self {
        Self {
            run,
            name: name.to_owned(),
        }
    }

    /// Finds the run that a word names, as [`resolve_run`] does. The result also has the word.
    pub(super) fn resolve(
        store: &Store,
        workspace: WorkspaceId,
        word: &str,
    ) -> Result<Self, AppError> {
        Ok(Self::new(resolve_run(store, workspace, word)?, word))
    }

    /// Finds the reference that a word names, as [`resolve_reference`] does. The result also has the word.
    pub(super) fn resolve_reference(
        store: &Store,
        workspace: WorkspaceId,
        word: &str,
    ) -> Result<Self, AppError> {
        Ok(Self::new(resolve_reference(store, workspace, word)?, word))
    }
}

/// Resolves a word to a run: the name of a baseline, a number, `latest` or `@commit`.
pub(super) fn resolve_run(
    store: &Store,
    workspace: WorkspaceId,
    word: &str,
) -> Result<RunId, AppError> {
    let found = if word == "latest" {
        store.latest_run(workspace)?
    } else if let Some(commit) = word.strip_prefix('@') {
        store.run_of_commit(workspace, commit)?
    } else if let Ok(run) = word.parse() {
        // A run of another workspace does not count, even if its number matches.
        store
            .run_summary(run)
            .ok()
            .filter(|summary| summary.workspace == workspace)
            .map(|_| run)
    } else {
        store.baseline(workspace, word)?
    };
    match found {
        Some(run) => Ok(run),
        None => Err(AppError::NoSuchRun {
            name: word.to_owned(),
            existing: baseline_names(store, workspace)?,
        }),
    }
}

/// Resolves a word to a run as [`resolve_run`] does, but refuses a run of one shard, which cannot be a reference.
pub(super) fn resolve_reference(
    store: &Store,
    workspace: WorkspaceId,
    word: &str,
) -> Result<RunId, AppError> {
    let run = resolve_run(store, workspace, word)?;
    refuse_shard(&store.run(run)?)?;
    Ok(run)
}

/// Refuses a run of one shard: it measured only a part of the suite, so it cannot be a reference.
pub(super) fn refuse_shard(run: &Run) -> Result<(), AppError> {
    match &run.begun.partition {
        Some(Shard { part, .. }) => Err(AppError::Usage(format!(
            "run {} is part {part} of a suite and cannot be a reference\n  help: use `cargo perfcheck merge` to combine the parts into one run, which can be a reference",
            run.id
        ))),
        None => Ok(()),
    }
}

pub(super) fn baseline_names(
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Vec<String>, StoreError> {
    let baselines = store.baselines(workspace)?;
    Ok(baselines
        .into_iter()
        .map(|baseline| baseline.name)
        .collect())
}
