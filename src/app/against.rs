//! `cargo perfcheck --against ...`: the work tree and another build, measured in turn.

use std::collections::BTreeSet;
use std::path::Path;

use super::baseline::give_name;
use super::cache_build::{CacheBuild, cache_directory, in_words};
use super::context::{Context, World};
use super::error::AppError;
use super::findings::{sort, verdicts};
use super::kept::{keep_candidate, watch};
use super::next_steps::{how_it_came_about, place};
use super::options::{Against, AgainstOptions, RunOptions, StoreOptions};
use super::paired::{PairedRun, finish, paired_decision, paired_rows, plan, verdict_of};
use super::pairing::{Pairing, TargetName, name};
use super::prepare::{build, find_benchmarks, list_only, nothing_found, timeout};
use super::reports::{Reporting, Told};
use super::run::{git_state, is_worse};
use crate::cargo::BenchTarget;
use crate::compare::Fact;
use crate::exit_code::ExitCode;
use crate::findings::{Findings, Method, Row, Verdicts};
use crate::findings::{gates, status_of_gates};
use crate::host::{self, Revision};
use crate::measure::Discovered;
use crate::model::{BySide, Environment, GitState, Purpose, Verdict};
use crate::sides::{BenchesFrom, BuiltSide, Stage, TargetPair};
use crate::store::check_baseline_name;

/// Other layouts of the same code have been seen to differ by as much.
const SMALL_CHANGE: f64 = 0.03;

/// Runs the command.
pub(super) fn against(
    options: &RunOptions,
    how: &AgainstOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    if let Some(name) = &options.save_baseline {
        check_baseline_name(name)?;
    }
    let load = host::load();
    let mut context = Context::load(&world.variables, common)?;
    context.tables.layers.command_line = options.layer;
    let mut built = sides(how, &context, common, world)?;
    let found = discover_both(options, &mut built, &context, world)?;
    if options.no_run {
        return list_only(&found.candidate, common.output.format, world);
    }
    if found.candidate.is_empty() {
        return Err(nothing_found(&options.filter, &found.candidate));
    }
    let pairing = Pairing::of(
        found,
        &built.identical,
        how.control || options.save_baseline.is_some(),
        versions_may_differ(options),
    );
    let turns = InTurn {
        options,
        common,
        context: &context,
        built: &built,
        load,
        control: how.control,
        named: None,
    };
    turns.measure_and_report(pairing, world)
}

/// The benchmarks of both sides.
pub(super) fn discover_both(
    options: &RunOptions,
    built: &mut Built,
    context: &Context,
    world: &mut World<'_>,
) -> Result<BySide<Discovered>, AppError> {
    let timeout = timeout(options.timeout, context);
    let mut of = |targets| find_benchmarks(&options.filter, timeout, targets, world);
    Ok(BySide {
        base: of(std::mem::take(&mut built.targets.base))?,
        candidate: of(std::mem::take(&mut built.targets.candidate))?,
    })
}

/// A whole A/B run: measured, stored, reported.
pub(super) struct InTurn<'a> {
    pub(super) options: &'a RunOptions,
    pub(super) common: &'a StoreOptions,
    pub(super) context: &'a Context,
    pub(super) built: &'a Built,
    pub(super) load: Option<f64>,
    /// Whether the user wants to see what the same executables make of each other.
    pub(super) control: bool,
    /// The baseline that is run again, where it is one.
    pub(super) named: Option<&'a str>,
}

impl InTurn<'_> {
    /// Whether the user wants the same executables measured, and they are the same wherever something is measured.
    fn is_control(&self, pairing: &Pairing) -> bool {
        let mut pairs = pairing.pairs.iter();
        self.control
            && !pairing.pairs.is_empty()
            && pairs.all(|pair| {
                self.built
                    .identical
                    .contains(&name(&pair.targets.candidate))
            })
    }

    pub(super) fn measure_and_report(
        &self,
        pairing: Pairing,
        world: &mut World<'_>,
    ) -> Result<ExitCode, AppError> {
        let (options, context, built) = (self.options, self.context, self.built);
        let seed = options.comparison.seed.unwrap_or_else(host::fresh_seed);
        let decision = paired_decision(&options.comparison, context);
        let mut run = PairedRun {
            purpose: if self.is_control(&pairing) {
                Purpose::Control
            } else {
                Purpose::Comparison
            },
            timeout: timeout(options.timeout, context),
            context,
            environment: &built.environment,
            git: BySide {
                base: built.base_git.clone(),
                candidate: git_state(context, world),
            },
            decision,
            plan: plan(&decision, options.effort, pairing.planned(), seed),
            effort: options.effort,
            patience: options.effort.patience(),
            watches: match options.save_baseline {
                Some(_) => watch(&pairing.targets.iter().collect::<Vec<_>>()),
                None => Vec::new(),
            },
            load: self.load,
        };
        let mut store = context.store()?;
        let workspace = store.workspace(&context.key(), &context.label())?;
        let found = run.measure(&mut store, workspace, pairing.pairs, world)?;
        let mut rows = paired_rows(&found, &pairing.settled, &decision, seed);
        let fail_on = options.comparison.fail_on(&context.tables.workspace);
        let (mut exit_code, tally) = verdict_of(&rows, &fail_on);
        let gates = gates(
            &rows,
            options.comparison.fail_rules(&context.tables),
            &decision,
        );
        exit_code = exit_code.and(status_of_gates(&gates));
        if !pairing.failed_targets.is_empty() {
            exit_code = exit_code.and(ExitCode::BenchmarkFailed);
        }
        finish(&mut store, &found.runs, exit_code, verdicts(&rows))?;
        let place = place(self.common);
        let why = how_it_came_about(&rows, found.runs.candidate, &place);
        let mut last_words: Vec<String> = why.into_iter().collect();
        if let Some(name) = &options.save_baseline {
            let good = exit_code == ExitCode::Clean && !is_worse(&tally);
            if self.named == Some(name) && !good {
                last_words.push(format!("Baseline `{name}` stays as it is."));
            } else {
                let said = give_name(&mut store, workspace, name, found.runs.candidate)?;
                let (candidate, watches) = (found.runs.candidate, run.watches);
                keep_candidate(
                    &mut store,
                    candidate,
                    &pairing.targets,
                    watches,
                    context,
                    world,
                )?;
                last_words.push(said);
            }
        }
        let change = |row: &Row<'_>| Some(row.comparison.as_ref()?.change?.estimate);
        last_words.extend(layout_hint(
            rows.iter().map(|row| (row.verdict, change(row))),
        ));
        sort(&mut rows, self.common.output.order);
        let head = store.run(found.runs.candidate)?;
        let findings = Findings {
            run: &head,
            rows,
            verdicts: Some(Verdicts {
                reference: format!("{} (run {})", built.words, found.runs.base),
                decision,
                method: Method::Paired,
                warnings: Vec::new(),
                remarks: built
                    .remarks
                    .iter()
                    .cloned()
                    .chain(not_for_rounds(options))
                    .chain(found.remark.clone())
                    .collect(),
                advice: last_words,
                gates,
            }),
            failed_targets: pairing.failed_targets,
            confidence_level: decision.confidence_level,
            exit_code: exit_code.number(),
        };
        let reporting = Reporting {
            options: &options.reports,
            fail_on: &fail_on,
            context,
            told: Told::Stored,
        };
        reporting.publish(&findings, self.common, world)?;
        Ok(exit_code)
    }
}

/// Both builds, and how the reference is called.
pub(super) struct Built {
    pub(super) targets: BySide<Vec<BenchTarget>>,
    /// Targets that are the same executable on both sides.
    pub(super) identical: BTreeSet<TargetName>,
    pub(super) environment: Environment,
    pub(super) base_git: Option<GitState>,
    pub(super) words: String,
    /// What a reader must know of the builds.
    pub(super) remarks: Vec<String>,
    pub(super) _in_use: InUse,
}

/// What keeps the executables where they are.
pub(super) enum InUse {
    /// They lie in the cache.
    Sides(#[expect(dead_code, reason = "held")] Vec<BuiltSide>),
    /// They are copies.
    Stage(#[expect(dead_code, reason = "held")] Stage),
}

fn sides(
    how: &AgainstOptions,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<Built, AppError> {
    match &how.reference {
        Against::Executable(path) => beside_executable(path, context, common, world),
        Against::Revision(name) => {
            let revision = context.require_checkout()?.revision(name)?;
            beside_revision(&revision, how.benches_from, context, common, world)
        }
        Against::MergeBase(branch) => {
            let revision = context.require_checkout()?.merge_base(branch)?;
            beside_revision(&revision, how.benches_from, context, common, world)
        }
    }
}

fn beside_executable(
    path: &Path,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<Built, AppError> {
    let (toolchain, candidate) = build(context, common, world)?;
    let base = with_executable(&candidate, path)?;
    let same = candidate
        .iter()
        .filter(|target| name(target) == name(&base) && same_bytes(target, &base));
    let identical = same.map(name).collect();
    let stage = Stage::open(&cache_directory(world)?)?;
    let mut targets = BySide {
        base: vec![base],
        candidate,
    };
    on_stage(&stage, &mut targets)?;
    Ok(Built {
        identical,
        targets,
        environment: Environment {
            host: host::detect(world.variables.ci),
            build: toolchain,
        },
        base_git: None,
        words: format!("the executable {}", path.display()),
        remarks: Vec::new(),
        _in_use: InUse::Stage(stage),
    })
}

/// The work tree and a revision, both built in the cache.
pub(super) fn beside_revision(
    revision: &Revision,
    benches_from: BenchesFrom,
    context: &Context,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<Built, AppError> {
    let order = CacheBuild {
        context,
        cargo: &common.cargo,
        benches_from,
        quiet: common.output.quiet,
    };
    let built = order.sides(revision, world)?;
    let mut identical = BTreeSet::new();
    let mut remarks = Vec::new();
    for pair in built.pairs() {
        let TargetPair::Both { base, candidate } = pair else {
            continue;
        };
        let differing = base.differing_sources(candidate);
        // What an executable reads while it runs is not in it.
        let is_data = |path: &&Path| path.extension().is_none_or(|extension| extension != "rs");
        if base.is_identical_to(candidate) && !differing.iter().any(is_data) {
            identical.insert(name(&candidate.target));
        }
        if !differing.is_empty() {
            let files: Vec<String> = differing
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            remarks.push(format!(
                "the bench target `{}` itself differs between the sides ({}): a change may be the benchmark's (`--benches-from worktree` gives both the current one)",
                candidate.target.target,
                files.join(", ")
            ));
        }
    }
    for dependency in &built.dependencies {
        let versions = |versions: &[String]| match versions {
            [] => "none".to_owned(),
            some => some.join(", "),
        };
        remarks.push(format!(
            "the dependency {} differs: {} -> {}",
            dependency.name,
            versions(&dependency.base),
            versions(&dependency.candidate)
        ));
    }
    let targets = |side: &BuiltSide| {
        side.targets
            .iter()
            .map(|side| side.target.clone())
            .collect()
    };
    Ok(Built {
        targets: BySide {
            base: targets(&built.base),
            candidate: targets(&built.candidate),
        },
        identical,
        environment: Environment {
            host: host::detect(world.variables.ci),
            build: built.facts.clone(),
        },
        base_git: Some(revision.state()),
        words: in_words(revision),
        remarks,
        _in_use: InUse::Sides(vec![built.base, built.candidate]),
    })
}

/// The bench target that `path` is an earlier build of, with that executable.
fn with_executable(targets: &[BenchTarget], path: &Path) -> Result<BenchTarget, AppError> {
    let path = path.canonicalize().map_err(|error| {
        AppError::Usage(format!(
            "there is no executable {}: {error}",
            path.display()
        ))
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Cargo appends a hash to the target's name.
    let stem = name.rsplit_once('-').map_or(&*name, |(stem, _)| stem);
    let called = |target: &&BenchTarget| target.target == stem || target.target == name;
    let found: Vec<&BenchTarget> = targets.iter().filter(called).collect();
    let target = match (&found[..], targets) {
        ([target], _) => *target,
        (_, [target]) => target,
        _ => {
            return Err(AppError::Usage(format!(
                "which bench target is {} an earlier build of?\n  help: name it, e.g. `--bench {}`",
                path.display(),
                targets.first().map_or("NAME", |target| &target.target)
            )));
        }
    };
    Ok(target.clone().with_executable(path))
}

/// Whether both run the same bytes.
pub(super) fn same_bytes(a: &BenchTarget, b: &BenchTarget) -> bool {
    let read = |target: &BenchTarget| std::fs::read(target.executable()).ok();
    read(a).is_some_and(|bytes| read(b) == Some(bytes))
}

/// Copies both sides of each target to paths of equal length: what an executable is called shifts its memory.
pub(super) fn on_stage(
    stage: &Stage,
    targets: &mut BySide<Vec<BenchTarget>>,
) -> Result<(), AppError> {
    for (ordinal, base) in targets.base.iter_mut().enumerate() {
        let copy = stage.copy_base(ordinal, base.executable())?;
        let beside = copy.file_name().unwrap_or_default().to_owned();
        *base = base.clone().with_executable(copy);
        let same = |target: &&mut BenchTarget| name(target) == name(base);
        if let Some(candidate) = targets.candidate.iter_mut().find(same) {
            let copy = stage.copy_candidate(ordinal, Path::new(&beside), candidate.executable())?;
            *candidate = candidate.clone().with_executable(copy);
        }
    }
    Ok(())
}

/// Whether the user allows benchmarks of different versions to be compared.
pub(super) fn versions_may_differ(options: &RunOptions) -> bool {
    options
        .comparison
        .allow_different
        .contains(&Fact::BenchmarkVersion)
}

/// A warning about small changes: where the linker puts code can make as much of a difference as what it does.
pub(super) fn layout_hint(
    mut changes: impl Iterator<Item = (Option<Verdict>, Option<f64>)>,
) -> Option<String> {
    let is_small = |(verdict, change): (Option<Verdict>, Option<f64>)| {
        let changed = matches!(verdict, Some(Verdict::Regressed | Verdict::Improved));
        changed && change.is_some_and(|change| change.abs() < SMALL_CHANGE)
    };
    changes.any(is_small).then(|| {
        "Changes below 3 % may come from another layout of the code rather than from what it does; in tight loops larger ones may, too.".to_owned()
    })
}

/// A warning about flags that say how stored runs are sampled.
fn not_for_rounds(options: &RunOptions) -> Option<String> {
    let layer = &options.layer;
    let given = [
        ("--launches", layer.launches.is_some()),
        ("--samples", layer.samples.is_some()),
        ("--measurement-time", layer.measurement.is_some()),
        ("--sampling-mode", layer.mode.is_some()),
    ];
    let given: Vec<&str> = given
        .into_iter()
        .filter_map(|(flag, is_given)| is_given.then_some(flag))
        .collect();
    (!given.is_empty()).then(|| {
        format!(
            "two builds in turn are measured in rounds (`--rounds`, `--time-budget`), to which {} does not apply",
            given.join(", ")
        )
    })
}
