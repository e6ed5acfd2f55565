//! Builds of revisions and work trees in the cache, told about on stderr as cargo tells about its own.

use std::cell::RefCell;
use std::io::Write;
use std::path::PathBuf;

use super::prepare::name_skipped;
use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::report::{self, counted};
use perfcheck_analysis::model::{BuildFacts, BySide, Run};
use perfcheck_engine::cargo::CargoOptions;
use perfcheck_engine::host::Revision;
use perfcheck_engine::sides::{
    BenchesFrom, BuildEvent, BuiltSide, PreparedSides, Provenance, SidesRequest, UncopiedFile,
    UncopiedReason, build_commit, build_sides, build_work_tree, default_cache, kept_build,
    kept_builds, kept_executables,
};

/// What the candidate is called, whatever commit it may be.
const WORK_TREE: &str = "the work tree";

/// What kept builds may take on the disk, in MiB, where the workspace says nothing.
const ROOM_MIB: u32 = 2048;

/// What is to be built, and how.
pub(in crate::app) struct CacheBuild<'a> {
    pub(in crate::app) context: &'a Context,
    /// What cargo is asked to build.
    pub(in crate::app) cargo: &'a CargoOptions,
    pub(in crate::app) benches_from: BenchesFrom,
    pub(in crate::app) quiet: bool,
}

/// Something asked of the work tree as it was built, before the revision is: an error says that the revision is not wanted.
pub(super) type AskedOfWorkTree<'q> =
    dyn FnMut(&BuiltSide, &mut World<'_>) -> Result<(), AppError> + 'q;

impl CacheBuild<'_> {
    /// A revision and the work tree, which comes first where there is something to be asked of it.
    pub(in crate::app) fn sides(
        &self,
        revision: &Revision,
        is_wanted: Option<&mut AskedOfWorkTree<'_>>,
        world: &mut World<'_>,
    ) -> Result<PreparedSides, AppError> {
        let built = self.told(world, |request, events, world| {
            let mut ask =
                is_wanted.map(|ask| move |side: &BuiltSide| ask(side, &mut world.borrow_mut()));
            build_sides(request, revision, events, ask.as_mut().map(|ask| ask as _))
        })?;
        self.ready(&in_words(revision), &built.base, world)?;
        self.ready(WORK_TREE, &built.candidate, world)?;
        Ok(built)
    }

    /// The work tree alone, with the facts of its build.
    pub(in crate::app) fn work_tree(
        &self,
        world: &mut World<'_>,
    ) -> Result<(BuiltSide, BuildFacts), AppError> {
        let (built, facts) = self.told(world, |request, events, _| {
            Ok(build_work_tree(request, events)?)
        })?;
        self.ready(WORK_TREE, &built, world)?;
        Ok((built, facts))
    }

    /// A build that was made before, if it is still kept.
    pub(in crate::app) fn kept(
        &self,
        name: &str,
        world: &mut World<'_>,
    ) -> Result<Option<BuiltSide>, AppError> {
        self.told(world, |request, events, _| {
            Ok(kept_build(request, name, events)?)
        })
    }

    /// The builds of two runs, where they are still kept.
    pub(in crate::app) fn kept_of_runs(
        &self,
        runs: &BySide<&Run>,
        world: &mut World<'_>,
    ) -> Result<BySide<Option<BuiltSide>>, AppError> {
        self.told(world, |request, events, _| {
            Ok(kept_builds(request, &names(runs), events)?)
        })
    }

    /// The executables of a bench target, its package and its name, in the builds of two runs, where they are still kept.
    pub(in crate::app) fn kept_executables(
        &self,
        runs: &BySide<&Run>,
        target: (&str, &str),
        world: &mut World<'_>,
    ) -> Result<BySide<Option<Vec<u8>>>, AppError> {
        self.told(world, |request, events, _| {
            Ok(kept_executables(request, &names(runs), target, events)?)
        })
    }

    /// A revision alone.
    pub(in crate::app) fn commit(
        &self,
        revision: &Revision,
        world: &mut World<'_>,
    ) -> Result<BuiltSide, AppError> {
        let built = self.told(world, |request, events, _| {
            Ok(build_commit(request, revision, events)?)
        })?;
        self.ready(&in_words(revision), &built, world)?;
        Ok(built)
    }

    fn told<'w, T>(
        &self,
        world: &mut World<'w>,
        build: impl FnOnce(
            &SidesRequest<'_>,
            &mut dyn FnMut(BuildEvent<'_>),
            &RefCell<&mut World<'w>>,
        ) -> Result<T, AppError>,
    ) -> Result<T, AppError> {
        let cache = cache_directory(world)?;
        let room = self.context.tables.workspace.kept_builds_mib;
        let spared = match self.context.stored()? {
            Some((store, workspace)) => store.needed_builds(workspace)?,
            None => Vec::new(),
        };
        let stand_in = std::env::current_exe().ok();
        let cargo = world.variables.cargo.clone();
        let request = SidesRequest {
            cache: &cache,
            cargo: &cargo,
            options: self.cargo,
            toolchain: self.context.toolchain(self.cargo, world.supervisor)?,
            workspace: &self.context.workspace,
            checkout: self.context.checkout(),
            benches_from: self.benches_from,
            room: u64::from(room.unwrap_or(ROOM_MIB)) << 20,
            spared: &spared,
            stand_in: stand_in.as_deref(),
            supervisor: world.supervisor,
        };
        let world = RefCell::new(world);
        let mut tell = |event: BuildEvent<'_>| {
            if let BuildEvent::LeftOut(left_out) = event {
                let _ =
                    report::write_warning(world.borrow_mut().stderr, &left_out_in_words(left_out));
            } else if !self.quiet {
                write_event(&event, world.borrow_mut().stderr);
            }
        };
        build(&request, &mut tell, &world)
    }

    fn ready(&self, what: &str, side: &BuiltSide, world: &mut World<'_>) -> Result<(), AppError> {
        if !self.quiet && side.provenance == Provenance::Built {
            report::write_build_event(world.stderr, &built_in_words(what, side))?;
        }
        Ok(())
    }
}

/// The names that the builds of two runs are kept under.
fn names<'r>(runs: &BySide<&'r Run>) -> BySide<Option<&'r str>> {
    BySide {
        base: runs.base.begun.build.as_deref(),
        candidate: runs.candidate.begun.build.as_deref(),
    }
}

/// Where builds are kept: as the user's environment says, else in the user's cache directory.
pub(in crate::app) fn cache_directory(world: &World<'_>) -> Result<PathBuf, AppError> {
    match &world.variables.cache {
        Some(path) => Ok(path.clone()),
        None => Ok(default_cache()?),
    }
}

/// A revision as people call it, with its commit.
pub(in crate::app) fn in_words(revision: &Revision) -> String {
    if revision.commit.starts_with(&revision.name) {
        format!("commit {}", revision.short())
    } else {
        format!("`{}` (commit {})", revision.name, revision.short())
    }
}

fn side_in_words(revision: Option<&Revision>) -> String {
    revision.map_or_else(|| WORK_TREE.to_owned(), in_words)
}

fn write_event(event: &BuildEvent<'_>, stderr: &mut dyn Write) {
    let words = match event {
        BuildEvent::TargetsSkipped(skipped) => return name_skipped(skipped, stderr),
        BuildEvent::Waiting(folder) => (
            "Waiting",
            format!("for another cargo perfcheck in {}", folder.display()),
        ),
        BuildEvent::Found(revision) => (
            "Fresh",
            format!("{} (built before)", side_in_words(*revision)),
        ),
        BuildEvent::Removed { builds, bytes } => {
            let builds = counted(*builds, "build");
            let mib = bytes >> 20;
            (
                "Removed",
                format!("{builds} that had not been used for longest ({mib} MiB)"),
            )
        }
        BuildEvent::LeftOut(left_out) => ("Left out", left_out_in_words(left_out)),
        BuildEvent::CheckingOut(revision) => ("Checking out", in_words(revision)),
        BuildEvent::Building(revision) => ("Building", side_in_words(*revision)),
    };
    // A stderr that is gone is no reason to stop.
    let _ = report::write_build_event(stderr, &words);
}

/// How many files a warning names.
const MOST_NAMED: usize = 5;

fn left_out_in_words(left_out: &[UncopiedFile]) -> String {
    let named = left_out.iter().take(MOST_NAMED).map(|one| {
        let reason = match one.reason {
            UncopiedReason::Unreadable => "you may not read it",
            UncopiedReason::TooLarge => "git ignores it, and it is too large",
        };
        format!("`{}` ({reason})", one.path.display())
    });
    let mut named: Vec<String> = named.collect();
    if left_out.len() > MOST_NAMED {
        named.push(format!("{} more", left_out.len() - MOST_NAMED));
    }
    format!(
        "the benchmarks are built from a copy of the sources without {}",
        named.join(", ")
    )
}

fn built_in_words(what: &str, side: &BuiltSide) -> (&'static str, String) {
    let seconds = (side.checkout_time + side.build_time).as_secs_f64();
    ("Ready", format!("{what}, built in {seconds:.1} s"))
}
