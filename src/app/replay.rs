//! Verdicts of stored runs, reached again from what is stored: what a run was compared with, the comparison, and whether it gives what was
//! written down at that time.
//!
//! A run does not store which test decided it nor how its reference was named. So the likely ways are tried, the usual one first, until one
//! gives the stored verdict and change.

use std::collections::{BTreeMap, BTreeSet};

use super::context::Context;
use super::error::AppError;
use super::findings::{Evidence, host_class, rows};
use super::paired::{Paired, judged};
use super::reference::{Chooser, Chosen, References, Subject, Wanted};
use crate::compare::{Comparison, Decider, Fact, HostClass, Plan, Rules};
use crate::findings::Method;
use crate::model::{
    BenchmarkKey, BySide, Measurement, Run, RunId, RunVerdict, Side, Test, Verdict,
};
use crate::report::{Confirmed, Replayed};
use crate::store::{Store, WorkspaceId};

/// Changes that differ by less, relative to one, are the same: another version may add in another order.
const SAME_CHANGE: f64 = 1e-9;

/// A stored run and its verdicts, reached again where that is possible.
pub(super) struct Replay {
    /// The verdicts as they were written down.
    pub(super) stored: BTreeMap<BenchmarkKey, RunVerdict>,
    /// What the run measured.
    pub(super) measurements: Vec<Measurement>,
    /// What was found of what the run measured and compared.
    pub(super) found: BTreeMap<BenchmarkKey, Replayed>,
    /// The plan of an A/B run.
    pub(super) plan: Option<Plan>,
}

impl Replay {
    /// Reaches the verdicts of `run` again.
    pub(super) fn of(
        store: &Store,
        workspace: WorkspaceId,
        context: &Context,
        run: &Run,
    ) -> Result<Self, AppError> {
        let stored: BTreeMap<BenchmarkKey, RunVerdict> = store
            .verdicts(run.id)?
            .into_iter()
            .map(|verdict| (verdict.key.clone(), verdict))
            .collect();
        if let Some(pair) = run.pair.filter(|pair| pair.side == Side::Candidate) {
            let runs = BySide {
                base: pair.partner,
                candidate: run.id,
            };
            let (mut paired, plan) = match judged_again(store, &runs, run, |_| {}) {
                // What was measured is there all the same.
                Err(AppError::NothingToCompare(_)) => {
                    return Ok(Self {
                        stored,
                        measurements: store.measurements(run.id, None)?,
                        found: BTreeMap::new(),
                        plan: None,
                    });
                }
                other => other?,
            };
            paired.about(run.decision.analysis.subject, &run.decision);
            return Ok(Self {
                found: of_pair(&paired, &stored),
                stored,
                measurements: paired.measured.candidate,
                plan: Some(plan),
            });
        }
        let mut again = Again {
            store,
            workspace,
            context,
            run,
            measurements: store.measurements(run.id, None)?,
            stored: &stored,
            found: BTreeMap::new(),
        };
        // Nothing was compared yet where nothing was written down.
        if !stored.is_empty() {
            again.compare()?;
            again.confirm()?;
        }
        let Again {
            measurements,
            found,
            ..
        } = again;
        Ok(Self {
            found,
            measurements,
            stored,
            plan: None,
        })
    }
}

/// The verdicts of an A/B measurement, judged again from its plan and its rounds once `adjust` has seen the measurements of each side.
pub(super) fn judged_again(
    store: &Store,
    runs: &BySide<RunId>,
    head: &Run,
    adjust: impl Fn(&mut Vec<Measurement>),
) -> Result<(Paired, Plan), AppError> {
    let plan = head
        .plan
        .as_deref()
        .and_then(|plan| serde_json::from_str::<Plan>(plan).ok());
    let Some(plan) = plan else {
        return Err(AppError::NothingToCompare(format!(
            "the plan of the A/B runs {} and {} cannot be read by this version",
            runs.base, runs.candidate
        )));
    };
    let mut measured = BySide {
        base: store.measurements(runs.base, None)?,
        candidate: store.measurements(runs.candidate, None)?,
    };
    adjust(&mut measured.base);
    adjust(&mut measured.candidate);
    let paired = Paired {
        runs: BySide {
            base: runs.base,
            candidate: runs.candidate,
        },
        comparisons: judged(&measured, &plan),
        measured,
        spent: Vec::new(),
        remark: None,
    };
    Ok((paired, plan))
}

fn of_pair(
    paired: &Paired,
    stored: &BTreeMap<BenchmarkKey, RunVerdict>,
) -> BTreeMap<BenchmarkKey, Replayed> {
    let comparisons = paired.comparisons.iter();
    comparisons
        .map(|(key, comparison)| {
            let agrees = stored.get(key).is_some_and(|stored| {
                // Too few whole rounds beside failures leave a comparison without a verdict of its own.
                stored.verdict == Verdict::Failed || agrees(stored, Some(comparison))
            });
            let replayed = Replayed {
                method: Method::Paired,
                comparison: Some(comparison.clone()),
                reference: vec![paired.runs.base],
                spread: Vec::new(),
                blocking: Vec::new(),
                agrees,
                confirmed: None,
            };
            (key.clone(), replayed)
        })
        .collect()
}

/// Whether a comparison gives what is stored.
fn agrees(stored: &RunVerdict, comparison: Option<&Comparison>) -> bool {
    let change = comparison.and_then(|comparison| comparison.change);
    let same_change = match (stored.change, change) {
        (None, None) => true,
        (Some(then), Some(now)) => (then - now.estimate).abs() <= SAME_CHANGE * (1.0 + then.abs()),
        // One that is not finite is not stored.
        (None, Some(now)) => !now.estimate.is_finite(),
        (Some(_), None) => false,
    };
    same_change && comparison.is_none_or(|comparison| comparison.verdict == stored.verdict)
}

/// A run on its way to the verdicts that it had.
struct Again<'a> {
    store: &'a Store,
    workspace: WorkspaceId,
    context: &'a Context,
    run: &'a Run,
    measurements: Vec<Measurement>,
    stored: &'a BTreeMap<BenchmarkKey, RunVerdict>,
    found: BTreeMap<BenchmarkKey, Replayed>,
}

impl Again<'_> {
    /// Tries the ways in which the run may have been compared, until all of its verdicts are found again.
    fn compare(&mut self) -> Result<(), AppError> {
        let subjects: Vec<Subject> = self
            .measurements
            .iter()
            .map(|measurement| Subject {
                key: measurement.benchmark.key.clone(),
                target_facts: measurement.target_facts.clone(),
                version: measurement.benchmark.version.clone(),
                metric: measurement.benchmark.metric.clone(),
            })
            .collect();
        let git = self.run.git.as_ref();
        let mut ways = vec![Wanted::LastAccepted {
            before: Some(self.run.id),
            branch: git.and_then(|git| git.branch.as_deref()),
        }];
        let named: BTreeSet<RunId> = self.stored.values().filter_map(|v| v.reference).collect();
        // A run may have been deleted since.
        let there = named
            .into_iter()
            .rev()
            .filter(|run| self.store.run(*run).is_ok());
        ways.extend(there.map(|run| Wanted::Named(run, "")));
        for wanted in &ways {
            for allowed in [&[][..], &Fact::BLOCKING] {
                let chooser = Chooser {
                    store: self.store,
                    workspace: self.workspace,
                    checkout: self.context.checkout.as_ref(),
                    environment: &self.run.environment,
                    allowed,
                    candidate: Some(self.run.id),
                };
                let references = chooser.choose(wanted, &subjects)?;
                for (decider, host) in self.tests() {
                    if !self.fits(&references) {
                        break;
                    }
                    self.compare_with(&references, decider, host)?;
                }
            }
        }
        Ok(())
    }

    /// Whether comparing with `references` can tell anything of what has not been found yet.
    fn fits(&self, references: &References) -> bool {
        let mut open = self.stored.values().filter(|stored| {
            let found = self.found.get(&stored.key);
            found.is_none_or(|found| !found.agrees)
        });
        open.any(|stored| match references.chosen.get(&stored.key) {
            Some(chosen) => is_choice(stored, chosen),
            None => false,
        })
    }

    /// The tests that may have decided, the usual one first. What is said of the host may have changed since.
    fn tests(&self) -> Vec<(Decider, HostClass)> {
        let said = self.context.tables.workspace.shared_host;
        let host = host_class(said, self.run.environment.host.shared);
        let other = match host {
            HostClass::Shared => HostClass::Dedicated,
            HostClass::Dedicated => HostClass::Shared,
        };
        let test = self.run.decision.analysis.test;
        if test != Test::BootstrapT {
            return vec![(Decider::Test(test), host)];
        }
        // The host does not matter to the t-score.
        vec![
            (Decider::RunLevel, host),
            (Decider::Screen, host),
            (Decider::RunLevel, other),
        ]
    }

    fn compare_with(
        &mut self,
        references: &References,
        decider: Decider,
        host: HostClass,
    ) -> Result<(), AppError> {
        let rules = Rules {
            decision: self.run.decision,
            decider,
            host,
            seed: self.run.seed,
        };
        let rows = rows(&Evidence {
            store: self.store,
            measurements: &self.measurements,
            references,
            rules: &rules,
            noise_threshold: &|measurement: &Measurement| measurement.noise_threshold,
            in_scope: &|_: &BenchmarkKey| false,
            failed_targets: &BTreeSet::new(),
        })?;
        for row in rows {
            let Some(stored) = self.stored.get(&row.key) else {
                continue;
            };
            let Some(chosen) = references.chosen.get(&row.key) else {
                continue;
            };
            let known = self.found.get(&row.key);
            if known.is_some_and(|found| found.agrees) || !is_choice(stored, chosen) {
                continue;
            }
            let replayed = Replayed {
                method: Method::Stored(decider),
                agrees: row.verdict == Some(stored.verdict)
                    && agrees(stored, row.comparison.as_ref()),
                comparison: row.comparison,
                reference: row.reference,
                spread: match chosen {
                    Chosen::Runs {
                        spread, earlier, ..
                    } => [spread.as_slice(), &earlier.concat()].concat(),
                    Chosen::New | Chosen::Incomparable(..) => Vec::new(),
                },
                blocking: row.blocking,
                confirmed: None,
            };
            // Of ways that do not give what is stored the first, which is the usual one, stays.
            if replayed.agrees || known.is_none() {
                self.found.insert(row.key.clone(), replayed);
            }
        }
        Ok(())
    }

    /// Puts the second measurement in the place of the first one where the stored verdict is that.
    fn confirm(&mut self) -> Result<(), AppError> {
        for run in self.store.confirmations(self.run.id)? {
            let head = self.store.run(run)?;
            let Some(pair) = head.pair else { continue };
            let runs = BySide {
                base: pair.partner,
                candidate: run,
            };
            let (mut paired, _) = judged_again(self.store, &runs, &head, |_| {})?;
            paired.about(head.decision.analysis.subject, &head.decision);
            let of_pair = self.store.verdicts(run)?;
            for known in of_pair {
                let Some(stored) = self.stored.get(&known.key) else {
                    continue;
                };
                let comparison = paired.comparisons.get(&known.key);
                let is_identical = comparison.is_none() && known.verdict == Verdict::Unchanged;
                let is_it = match comparison {
                    Some(comparison) => {
                        let as_stored = RunVerdict {
                            verdict: comparison.verdict,
                            ..stored.clone()
                        };
                        agrees(&as_stored, Some(comparison))
                    }
                    None => is_identical && stored.verdict == Verdict::Unchanged,
                };
                if !is_it || (is_identical && stored.change.is_some()) {
                    continue;
                }
                let first = self.found.remove(&known.key);
                let of_first = first.as_ref().and_then(|found| found.comparison.as_ref());
                let replayed = Replayed {
                    method: Method::Paired,
                    comparison: comparison.cloned(),
                    reference: vec![runs.base],
                    spread: Vec::new(),
                    blocking: Vec::new(),
                    agrees: true,
                    confirmed: Some(Confirmed {
                        base: runs.base,
                        candidate: runs.candidate,
                        first_verdict: of_first.map(|found| found.verdict),
                        first_change: of_first
                            .and_then(|found| found.change)
                            .map(|change| change.estimate),
                    }),
                };
                self.found.insert(known.key, replayed);
            }
        }
        Ok(())
    }
}

/// Whether `chosen` may be what the stored verdict was reached with.
fn is_choice(stored: &RunVerdict, chosen: &Chosen) -> bool {
    match (stored.verdict, chosen) {
        (Verdict::Incomparable, Chosen::Incomparable(run, _)) => stored.reference == Some(*run),
        (Verdict::Incomparable, _) | (_, Chosen::Incomparable(..)) => {
            // Too few launches are `failed` whatever they would have been compared with.
            stored.verdict == Verdict::Failed
        }
        (_, Chosen::Runs { averaged, .. }) => {
            stored.reference.is_none() || stored.reference == averaged.first().copied()
        }
        (verdict, Chosen::New) => !verdict.is_compared(),
    }
}
