//! What looks slower than a stored run is measured again, in turn with that run's executables or a new build of its commit.
//! Only what that confirms is a regression.

use std::collections::{BTreeMap, BTreeSet};

use super::against::versions_may_differ;
use super::context::{Context, World};
use super::error::AppError;
use super::findings::verdicts;
use super::kept::RunAgain;
use super::options::{RunOptions, StoreOptions};
use super::paired::{Paired, PairedRun, finish, paired_decision, paired_rows, plan, verdict_of};
use super::pairing::{Pairing, Settled};
use super::prepare::timeout;
use crate::exit_code::ExitCode;
use crate::findings::Row;
use crate::measure::Discovered;
use crate::model::{BenchmarkKey, BySide, GitState, Purpose, RunId, Verdict};
use crate::report::{percent_change, write_build_event};
use crate::store::{Store, WorkspaceId};

/// What confirming needs of the run.
pub(super) struct Confirmation<'a> {
    pub(super) options: &'a RunOptions,
    pub(super) common: &'a StoreOptions,
    pub(super) context: &'a Context,
    pub(super) workspace: WorkspaceId,
    pub(super) git: Option<&'a GitState>,
    pub(super) seed: u64,
    pub(super) load: Option<f64>,
}

impl Confirmation<'_> {
    /// Measures the hits among `rows` again and puts what comes of it in their place.
    pub(super) fn confirm(
        &self,
        store: &mut Store,
        rows: &mut [Row<'_>],
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let mut hits: BTreeMap<RunId, BTreeSet<BenchmarkKey>> = BTreeMap::new();
        for row in rows.iter() {
            if let (Some(Verdict::Regressed | Verdict::Suspect), Some(reference)) =
                (row.verdict, row.reference.first())
            {
                hits.entry(*reference).or_default().insert(row.key.clone());
            }
        }
        for (reference, keys) in hits {
            if !self.common.output.quiet {
                let which = match keys.len() {
                    1 => "1 benchmark that looks".to_owned(),
                    count => format!("{count} benchmarks that look"),
                };
                let what =
                    format!("{which} slower than run {reference}, by measuring both in turn");
                write_build_event(world.stderr, &("Confirming", what))?;
            }
            let hit = |row: &&mut Row<'_>| keys.contains(&row.key);
            let again = match self.again(store, reference, &keys, world) {
                // What was measured stays; that it was not confirmed is all that is lost.
                Err(error) if error.exit_code() != ExitCode::Interrupted => Err(error.to_string()),
                other => other?,
            };
            match again {
                Ok((paired, settled)) => {
                    for row in rows.iter_mut().filter(hit) {
                        replace(row, reference, &paired, &settled);
                    }
                }
                Err(reason) => {
                    for row in rows.iter_mut().filter(hit) {
                        row.remarks
                            .push(format!("this rests on stored numbers alone, as {reason}"));
                    }
                }
            }
        }
        Ok(())
    }

    fn again(
        &self,
        store: &mut Store,
        reference: RunId,
        keys: &BTreeSet<BenchmarkKey>,
        world: &mut World<'_>,
    ) -> Result<Result<(Paired, Vec<Settled>), String>, AppError> {
        let head = store.run(reference)?;
        let again = RunAgain {
            head: &head,
            words: format!("run {reference}"),
            options: self.options,
            context: self.context,
            common: self.common,
        };
        let (built, found) = match again.sides(store, world)? {
            Ok(both) => both,
            Err(reason) => {
                return Ok(Err(reason.unwrap_or_else(|| {
                    format!("run {reference} cannot be compared with the work tree any more")
                })));
            }
        };
        let only_hits = |mut found: Discovered| {
            for target in &mut found.targets {
                target
                    .benchmarks
                    .retain(|benchmark| keys.contains(&benchmark.key));
            }
            found
        };
        let found = BySide {
            base: only_hits(found.base),
            candidate: only_hits(found.candidate),
        };
        let pairing = Pairing::of(
            found,
            &built.identical,
            false,
            versions_may_differ(self.options),
        );
        let decision = paired_decision(&self.options.comparison, self.context);
        let mut run = PairedRun {
            purpose: Purpose::Confirmation,
            timeout: timeout(self.options.timeout, self.context),
            context: self.context,
            environment: &built.environment,
            git: BySide {
                base: head.git.clone(),
                candidate: self.git.cloned(),
            },
            decision,
            plan: plan(&decision, self.options.effort, pairing.planned(), self.seed),
            effort: self.options.effort,
            patience: self.options.effort.patience(),
            watches: Vec::new(),
            load: self.load,
        };
        let paired = run.measure(store, self.workspace, pairing.pairs, world)?;
        let rows = paired_rows(&paired, &pairing.settled, &decision, self.seed);
        let (exit_code, _) = verdict_of(&rows, &[Verdict::Regressed]);
        finish(store, &paired.runs, exit_code, verdicts(&rows))?;
        drop(rows);
        Ok(Ok((paired, pairing.settled)))
    }
}

/// What the stored numbers alone had said, and what measuring both in turn made of it.
pub(super) fn in_turn(
    first: &str,
    change: Option<f64>,
    then: Verdict,
    runs: &BySide<RunId>,
) -> String {
    let words = match then {
        Verdict::Regressed => "confirmed",
        Verdict::Inconclusive | Verdict::Suspect => "not confirmed",
        _ => "refuted",
    };
    format!(
        "the stored numbers said {first}{}; {words} by measuring both in turn (runs {} and {})",
        seen(change),
        runs.base,
        runs.candidate
    )
}

fn seen(change: Option<f64>) -> String {
    change.map_or_else(String::new, |change| {
        format!(" ({})", percent_change(change))
    })
}

/// Puts the answer of the second measurement in place of the first one's.
fn replace(row: &mut Row<'_>, reference: RunId, paired: &Paired, settled: &[Settled]) {
    let first = row.verdict.map_or("", Verdict::word);
    let comparison = row.comparison.as_ref();
    let change = comparison.and_then(|comparison| comparison.change);
    let change = change.map(|change| change.estimate);
    let seen = seen(change);
    let runs = &paired.runs;
    if let Some(known) = settled.iter().find(|settled| settled.key == row.key) {
        if known.verdict == Verdict::Unchanged {
            row.verdict = Some(Verdict::Unchanged);
            row.comparison = None;
            row.remarks.push(format!(
                "the stored numbers said {first}{seen}, but the executable is that of run {reference}, byte for byte"
            ));
        } else {
            let reason = known.remark.as_deref().unwrap_or("it is gone");
            row.remarks.push(format!(
                "this rests on stored numbers alone, as measuring it beside run {reference} did not come about: {reason}"
            ));
        }
        return;
    }
    let Some(comparison) = paired.comparisons.get(&row.key) else {
        row.remarks.push(
            "this rests on stored numbers alone, as measuring both in turn failed".to_owned(),
        );
        return;
    };
    row.remarks
        .push(in_turn(first, change, comparison.verdict, runs));
    row.verdict = Some(match comparison.verdict {
        Verdict::Regressed => Verdict::Regressed,
        // Neither confirmed nor refuted.
        Verdict::Inconclusive | Verdict::Suspect => Verdict::Suspect,
        other => other,
    });
    row.comparison = Some(comparison.clone());
    let spent = paired.spent.iter().find(|spent| spent.key == row.key);
    row.seconds = spent.map(|spent| spent.time.as_secs_f64());
}
