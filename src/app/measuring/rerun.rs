//! Running a stored run again as one side of an A/B measurement: by its kept executables, else by a new build of its commit.

use std::path::Path;

use super::builds::{BothBuilds, InUse, beside_revision, code_of, discover_both};
use super::cache_build::cache_directory;
use super::keep::secret;
use super::layouts::Relinking;
use super::pairing::{Alike, name};
use super::prepare::build;
use super::request::Request;
use crate::app::context::World;
use crate::app::error::AppError;
use perfcheck_analysis::compare::{Circumstances, differences};
use perfcheck_analysis::findings::{ChangedFile, RunRemark};
use perfcheck_analysis::model::{
    BuildFacts, BySide, Environment, FileFact, Metric, Run, TargetFacts,
};
use perfcheck_engine::cargo::BenchTarget;
use perfcheck_engine::host::{self, FileChange, changed_files};
use perfcheck_engine::measure::Discovered;
use perfcheck_engine::sides::{BenchesFrom, Stage};
use perfcheck_engine::store::Store;

/// A stored run that is to be run again.
pub(in crate::app) struct RunAgain<'a> {
    pub(in crate::app) head: &'a Run,
    /// What the user calls it.
    pub(in crate::app) words: String,
    pub(in crate::app) request: &'a Request<'a>,
}

type Both = (BothBuilds, BySide<Discovered>);

impl RunAgain<'_> {
    /// Both sides, ready to be measured; else why not.
    pub(in crate::app) fn sides(
        &self,
        store: &Store,
        world: &mut World<'_>,
    ) -> Result<Result<Both, Option<String>>, AppError> {
        let reason = match self.kept_sides(store, world)? {
            Ok(both) => return Ok(Ok(both)),
            Err(Unable::Incomparable) => return Ok(Err(None)),
            Err(Unable::Because(reason)) => reason,
        };
        let clean = self.head.git.as_ref().filter(|git| !git.dirty);
        let (Some(git), Some(checkout)) = (clean, &self.request.context.checkout) else {
            return Ok(Err(Some(format!(
                "{reason}, and its sources are not a commit that could be built again"
            ))));
        };
        // Git is not handed what a store says, which may come from elsewhere, but the hash that git knows by that name.
        let revision = match checkout.revision(&git.commit) {
            Ok(revision) => revision,
            Err(error) => return Ok(Err(Some(format!("{reason}, and {error}")))),
        };
        let built = beside_revision(&revision, BenchesFrom::Revision, self.request, world);
        let mut built = match built {
            Ok(built) => built,
            Err(AppError::Sides(error)) if !error.is_interruption() => {
                return Ok(Err(Some(format!("{reason}, and {error}"))));
            }
            Err(other) => return Err(other),
        };
        built.words = format!("{}, built again", self.words);
        let found = discover_both(&mut built, self.request, world)?;
        if let Some(failure) = found.base.failures.first() {
            return Ok(Err(Some(format!(
                "{reason}, and `{}` as its commit has it does not run: {}",
                failure.target, failure.message
            ))));
        }
        Ok(Ok((built, found)))
    }

    /// The kept executables beside those of the work tree.
    fn kept_sides(
        &self,
        store: &Store,
        world: &mut World<'_>,
    ) -> Result<Result<Both, Unable>, AppError> {
        let because = |reason: String| Ok(Err(Unable::Because(reason)));
        let records = store.kept(self.head.id)?;
        let (facts, mut candidate) = build(self.request.context, self.request.common, world)?;
        if !self.is_comparable(&facts, world) {
            return Ok(Err(Unable::Incomparable));
        }
        if records.is_empty() {
            return because(format!("{} has no kept executables", self.words));
        }
        let secret = match secret(world) {
            Ok(secret) => secret,
            Err(error) => return because(error.to_string()),
        };
        let stage = Stage::open(&cache_directory(world)?)?;
        let mut base = Vec::new();
        let mut remarks = Vec::new();
        let mut alike = Alike::new();
        for (ordinal, record) in records.iter().enumerate() {
            let kept = match store.extract(record, &secret, &stage.base(ordinal)) {
                Ok(kept) => kept,
                Err(error) => return because(error.to_string()),
            };
            let of_target = |target: &&mut BenchTarget| {
                target.package == kept.package && target.target == kept.target
            };
            let Some(target) = candidate.iter_mut().find(of_target) else {
                continue;
            };
            let mut old = target.clone().with_executable(kept.program.clone());
            old.variables = kept.variables;
            if kept.directory.is_dir() {
                old.directory = kept.directory;
            }
            let (below, files) = &kept.opened;
            let changed = changed_since(&kept.target, files, below);
            // The same program is another one with other libraries or files.
            let is_all = changed.is_none() && record.facts.libraries.is_empty();
            remarks.extend(changed);
            let code = (world.interrupt).while_computing("", || code_of(&old, target));
            remarks.extend(code.remark);
            if is_all && world.variables.scripted_clock.is_none() {
                alike.extend(code.same.map(|same| (name(target), same)));
            }
            let called = Path::new(kept.program.file_name().unwrap_or_default());
            let copy = stage.copy_candidate(ordinal, called, target.executable())?;
            *target = target.clone().with_executable(copy);
            base.push(old);
        }
        let mut built = BothBuilds {
            targets: BySide { base, candidate },
            alike,
            environment: Environment {
                host: host::detect(world.variables.ci),
                build: facts,
            },
            base_git: self.head.git.clone(),
            words: format!("{}, run again", self.words),
            relinking: Relinking::Impossible("what a kept executable was linked from is not kept"),
            remarks,
            listed: None,
            _in_use: InUse::Stage(stage),
        };
        let found = discover_both(&mut built, self.request, world)?;
        if let Some(failure) = found.base.failures.first() {
            return because(format!(
                "the kept executable of `{}` does not run: {}",
                failure.target, failure.message
            ));
        }
        Ok(Ok((built, found)))
    }

    /// Whether machine and build are such that both sides can be compared at all.
    fn is_comparable(&self, facts: &BuildFacts, world: &World<'_>) -> bool {
        let here = Environment {
            host: host::detect(world.variables.ci),
            build: facts.clone(),
        };
        let target = TargetFacts::default();
        let circumstances = |environment| Circumstances {
            environment,
            target: &target,
            version: None,
            metric: &Metric::Time,
        };
        differences(
            &circumstances(&here),
            &circumstances(&self.head.environment),
        )
        .allowing(&self.request.comparison.allow_different)
        .comparable()
    }
}

/// Why kept executables cannot be used.
enum Unable {
    /// Whatever is run, the sides would not be comparable: the stored comparison says in which facts they differ.
    Incomparable,
    Because(String),
}

/// That files which a kept executable opens are not what they were.
fn changed_since(target: &str, recorded: &[FileFact], below: &Path) -> Option<RunRemark> {
    let files: Vec<ChangedFile> = changed_files(recorded, below)
        .into_iter()
        .map(|(path, change)| ChangedFile {
            path: path.display().to_string(),
            is_gone: matches!(change, FileChange::Gone),
        })
        .collect();
    (!files.is_empty()).then(|| RunRemark::FilesChanged {
        target: target.to_owned(),
        files,
    })
}
