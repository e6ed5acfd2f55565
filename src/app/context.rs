//! What every command starts from: the world around the process, the workspace, its settings, its place in the store.

use std::cell::OnceCell;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::AppError;
use super::options::StoreOptions;
use crate::escape::Commands;
use crate::report::{self, ProgressMode};
use crate::settings::Tables;
use perfcheck_analysis::compare::HostClass;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_analysis::model::{Environment, Partition, Run, RunId};
use perfcheck_engine::cargo::{CargoError, CargoOptions, Toolchain, Workspace};
use perfcheck_engine::host::{Checkout, GitError, Variables};
use perfcheck_engine::process::{Interrupt, Supervisor};
use perfcheck_engine::store::{
    Store, StoreError, WorkspaceId, default_path, is_address, public_location,
};

/// The world around the process.
pub struct World<'a> {
    /// Environment variables.
    pub variables: Variables,
    /// Starts processes.
    pub supervisor: &'a Supervisor,
    /// What the log of a CI system obeys, and what of it is ours.
    pub commands: &'a Commands,
    /// Whether the user wants to stop.
    pub interrupt: &'a Interrupt,
    /// The result goes here.
    pub stdout: &'a mut dyn Write,
    /// Progress and warnings go here.
    pub stderr: &'a mut dyn Write,
    /// What benches print goes here: into a file as it is, elsewhere without anything that a terminal or a CI system would obey.
    pub bench_output: &'a mut dyn Write,
    /// How progress is shown.
    pub progress: ProgressMode,
}

/// Printed before git's reason. Runs that are stored so belong to another workspace once git works.
const WITHOUT_GIT: &str =
    "git is not used, so runs have no commit and stand by themselves until it is";

/// Where the benchmarks of a target are written.
pub(super) struct BenchSource {
    pub(super) package: String,
    pub(super) target: String,
    /// Relative to the top of the repository, with `/`.
    pub(super) file: String,
    pub(super) path: PathBuf,
}

/// A workspace and its settings.
pub(super) struct Context {
    pub(super) workspace: Workspace,
    pub(super) tables: Tables,
    checkout: Result<Checkout, GitError>,
    toolchain: OnceCell<Toolchain>,
    store_path: PathBuf,
    /// The same as messages and reports name it: without a password.
    pub(super) store_name: PathBuf,
    /// Whether the command line says where the store is.
    store_named: bool,
}

impl Context {
    /// Reads the workspace that `options` name.
    pub(super) fn load(options: &StoreOptions, world: &mut World<'_>) -> Result<Self, AppError> {
        let variables = &world.variables;
        let workspace = Workspace::load(&variables.cargo, &options.cargo, world.supervisor)?;
        workspace.refuse_unknown(&options.cargo)?;
        let packages = workspace.package_settings();
        let tables = Tables::read(
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
            let said = format!("{WITHOUT_GIT}: {why}");
            report::write_warning(world.stderr, &said)?;
        }
        if is_address(&store_path) {
            team_key(&tables)?;
        }
        Ok(Self {
            workspace,
            tables,
            checkout,
            toolchain: OnceCell::new(),
            store_name: public_location(&store_path),
            store_path,
            store_named: options.store.is_some(),
        })
    }

    /// The compiler of this workspace and how cargo is configured to use it, asked once: target, profile and configuration are the same for all that
    /// a command builds.
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

    /// The store, for reading; `None` where nothing was ever stored.
    pub(super) fn existing_store(&self) -> Result<Option<Store>, StoreError> {
        Store::open_existing(&self.store_path)
    }

    /// The store and the workspace in it, for reading; `None` where nothing was ever stored of it.
    pub(super) fn stored(&self) -> Result<Option<(Store, WorkspaceId)>, StoreError> {
        let Some(store) = self.existing_store()? else {
            return Ok(None);
        };
        Ok(store.find_workspace(&self.key())?.map(|id| (store, id)))
    }

    /// The same; an error where nothing was ever stored of it.
    pub(super) fn require_stored(&self) -> Result<(Store, WorkspaceId), AppError> {
        self.stored()?.ok_or_else(|| self.nothing_stored())
    }

    /// The store and the workspace in it, for writing.
    pub(super) fn store(&self) -> Result<(Store, WorkspaceId), StoreError> {
        let mut store = self.whole_store()?;
        let id = store.workspace(&self.key(), &self.label())?;
        Ok((store, id))
    }

    /// The store with all of its workspaces, for writing.
    pub(super) fn whole_store(&self) -> Result<Store, StoreError> {
        Store::open(&self.store_path)
    }

    /// The same; an error where nothing was ever stored of it.
    pub(super) fn stored_for_writing(&self) -> Result<(Store, WorkspaceId), AppError> {
        let (reader, _) = self.require_stored()?;
        drop(reader);
        Ok(self.store()?)
    }

    /// The kind of machine that a run was measured on: as the workspace says, else as the machine looked.
    pub(super) fn host_class(&self, environment: &Environment) -> HostClass {
        HostClass::from_shared(self.is_shared(environment))
    }

    /// Whether others use the machine that a run was measured on; `None` where neither the workspace nor the run says so.
    pub(super) fn is_shared(&self, environment: &Environment) -> Option<bool> {
        let configured = self.tables.workspace.shared_host;
        configured.or(environment.host.shared)
    }

    /// That a run is wanted where none was stored yet.
    fn nothing_stored(&self) -> AppError {
        if self.store_named && !is_address(&self.store_path) && !self.store_path.exists() {
            return AppError::NoStore(self.store_path.clone());
        }
        AppError::NothingStored(self.workspace.root().to_owned())
    }

    /// Tells a reader of an empty list why it is empty. Unlike a run that is missing, that is no error.
    pub(super) fn note_nothing_stored(
        &self,
        common: &StoreOptions,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        if !common.output.quiet {
            writeln!(world.stderr, "{}", self.nothing_stored())?;
        }
        Ok(ExitCode::Clean)
    }

    /// The checkout that the workspace lies in, where git works in one.
    pub(super) fn checkout(&self) -> Option<&Checkout> {
        self.checkout.as_ref().ok()
    }

    /// The checkout; an error where there is none.
    pub(super) fn require_checkout(&self) -> Result<&Checkout, AppError> {
        self.checkout.as_ref().map_err(|why| why.clone().into())
    }

    /// The name by which a team's store knows the workspace: the same on every machine.
    pub(super) fn team_key(&self) -> Result<String, AppError> {
        team_key(&self.tables)
    }

    /// Refuses to measure into a team's store: nothing waits for a network while something is timed.
    pub(super) fn require_local_store(&self) -> Result<(), AppError> {
        if is_address(&self.store_path) {
            return Err(AppError::Usage(
                "runs are measured into a store of this machine\n  help: leave `--store` and PERFCHECK_STORE out; `cargo perfcheck store push` sends the runs afterwards"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// The name by which the store knows the workspace.
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
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        format!("path:{}", root.display())
    }

    /// The bench targets of the workspace and where their sources are, relative to the top of the repository.
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

    /// Where the workspace was last seen, for people; in a team's store its name.
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
            "in a team's store a workspace has a name that is the same on every machine\n  help: add `id = \"example.org/project\"` to `[workspace.metadata.perfcheck]` in Cargo.toml"
                .to_owned(),
        )
    })
}

/// The run that a word stands for: a baseline's name, a number, `latest`, `@commit`.
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
        // The number of another workspace's run stands for nothing here.
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

/// The same, where it is to be a reference.
pub(super) fn resolve_reference(
    store: &Store,
    workspace: WorkspaceId,
    word: &str,
) -> Result<RunId, AppError> {
    let run = resolve_run(store, workspace, word)?;
    refuse_part(&store.run(run)?)?;
    Ok(run)
}

/// A part of a suite is no reference.
pub(super) fn refuse_part(run: &Run) -> Result<(), AppError> {
    match &run.begun.partition {
        Some(Partition { part, .. }) => Err(AppError::Usage(format!(
            "run {} is part {part} of a suite, which is no reference\n  help: `cargo perfcheck merge` puts the parts together to one run, which can be one",
            run.id
        ))),
        None => Ok(()),
    }
}

/// The names of all baselines.
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
