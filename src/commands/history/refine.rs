//! Finds the commits of the steps between measured commits of the past, by the same search as `bisect`.
//!
//! A gap is a pair of measured commits between which benchmarks changed. The search chooses commits in between and measures them against the older
//! commit of the gap. A commit counts as changed if its change is at least half of that of the whole gap, on a logarithmic scale.

use std::collections::BTreeSet;

use super::measure::{CommitPair, PairStatus, RangeMeasurement, past_change};
use crate::error::AppError;
use crate::output::PastStep;
use crate::pipeline::past::PairRow;
use crate::pipeline::search::{SearchStep, StepFinding, bounds, next};
use crate::session::World;
use perfcheck_analysis::model::{BenchmarkKey, BySide, Verdict};

/// Why a step has no commit if the user does not refine.
const UNMEASURED: &str = "the commits in between were not measured; use `--refine` to find it";
/// Why a step has no commit if commits in between cannot be measured.
const UNCLEAR: &str = "some commits could not be measured or told apart";
/// Why a step has no commit if the search ended early.
const OUT_OF_TIME: &str = "the time budget is used up";

/// Two measured commits, by their indices in the range, and the benchmarks that changed from the older to the newer one.
struct Gap {
    older: usize,
    newer: usize,
    changed: Vec<PairRow>,
}

/// The search for the commit that changed one benchmark.
struct StepSearch {
    /// The change over the whole gap.
    whole: PairRow,
    /// The findings about the commits after the older one, oldest first.
    known: Vec<Option<StepFinding>>,
    /// The result that was measured for each of these commits, if any.
    rows: Vec<Option<PairRow>>,
}

impl Gap {
    fn from_pair(pair: &CommitPair) -> Option<Self> {
        let changed = pair.stored.rows.iter().filter(|row| row.is_step());
        let changed: Vec<PairRow> = changed.cloned().collect();
        (!changed.is_empty()).then_some(Self {
            older: pair.older,
            newer: pair.newer,
            changed,
        })
    }
}

impl StepSearch {
    /// Begins the search among `commits` commits. The last of them has the change.
    fn new(whole: PairRow, commits: usize) -> Self {
        let mut known = vec![None; commits];
        let mut rows = vec![None; commits];
        known[commits - 1] = Some(StepFinding::After);
        rows[commits - 1] = Some(whole.clone());
        Self { whole, known, rows }
    }

    fn next_place(&self) -> Option<usize> {
        match next(&self.known) {
            SearchStep::Try(place) => Some(place),
            SearchStep::Among { .. } => None,
        }
    }

    /// Reports whether the commit at `place` may tell where the change is.
    fn needs(&self, place: usize) -> bool {
        let (first, last) = bounds(&self.known);
        (first..last).contains(&place) && self.known[place].is_none()
    }

    fn record(&mut self, place: usize, row: Option<&PairRow>) {
        let finding = row.map_or(StepFinding::Unknown, |row| classify(row, &self.whole));
        self.known[place] = Some(finding);
        self.rows[place] = row.cloned();
    }
}

/// Decides whether a commit has the change of the `whole` gap. Both rows are changes from the older commit of the gap.
fn classify(row: &PairRow, whole: &PairRow) -> StepFinding {
    let total = whole.change.map_or(0.0, |change| change.estimate.ln_1p());
    let (sign, half) = (total.signum(), total.abs() / 2.0);
    let side = |is_after: bool| {
        if is_after {
            StepFinding::After
        } else {
            StepFinding::Before
        }
    };
    match (row.verdict, row.change) {
        (Verdict::Unchanged, None) => StepFinding::Before,
        (Verdict::Unchanged | Verdict::Regressed | Verdict::Improved, Some(change)) => {
            side(sign * change.estimate.ln_1p() >= half)
        }
        (Verdict::Inconclusive | Verdict::Suspect, Some(change)) => {
            let ends = [change.lower, change.upper].map(|end| sign * end.ln_1p());
            let is_after = ends.map(|end| end >= half);
            if is_after[0] == is_after[1] && ends.iter().all(|end| end.is_finite()) {
                side(is_after[0])
            } else {
                StepFinding::Unknown
            }
        }
        _ => StepFinding::Unknown,
    }
}

impl RangeMeasurement<'_> {
    /// Returns the steps of all benchmarks, oldest first for each. With `refine`, searches for the commit of each step.
    pub(super) fn find_steps(
        &mut self,
        refine: bool,
        world: &mut World<'_>,
    ) -> Result<Vec<PastStep>, AppError> {
        let mut gaps: Vec<Gap> = self.pairs.iter().filter_map(Gap::from_pair).collect();
        // The loop takes gaps from the end, so the newest gap must be there.
        gaps.reverse();
        let mut steps = Vec::new();
        while let Some(gap) = gaps.pop() {
            let commits = gap.newer - gap.older;
            if refine && commits > 1 {
                self.search_gap(gap, &mut gaps, &mut steps, world)?;
                continue;
            }
            for row in &gap.changed {
                let step = self.step(row, gap.older, gap.newer, UNMEASURED)?;
                steps.push((gap.newer, step));
            }
        }
        steps.sort_by(|(place, step), (other_place, other)| {
            let (key, other) = (&step.change.benchmark, &other.change.benchmark);
            key.cmp_natural(other).then(place.cmp(other_place))
        });
        Ok(steps.into_iter().map(|(_, step)| step).collect())
    }

    /// Describes a step. A commit later than `after`, and not later than `until`, made it. `why` says why there may be several such commits.
    fn step(
        &self,
        row: &PairRow,
        after: usize,
        until: usize,
        why: &str,
    ) -> Result<PastStep, AppError> {
        let checkout = self.series.context.require_checkout()?;
        let describe = |place: usize| checkout.describe(&self.commits[place].commit);
        let last = describe(until)?;
        let commits = until - after;
        Ok(PastStep {
            change: past_change(row),
            commit: (commits == 1).then(|| last.clone()),
            after: describe(after)?,
            until: last,
            commits,
            why: (commits > 1).then(|| why.to_owned()),
        })
    }

    /// Searches for the commits that changed the benchmarks of a gap. Adds a gap for each further change that the search has shown.
    fn search_gap(
        &mut self,
        gap: Gap,
        gaps: &mut Vec<Gap>,
        steps: &mut Vec<(usize, PastStep)>,
        world: &mut World<'_>,
    ) -> Result<(), AppError> {
        let commits = gap.newer - gap.older;
        let changed = gap.changed.into_iter();
        let mut searches: Vec<StepSearch> =
            changed.map(|row| StepSearch::new(row, commits)).collect();
        let mut why = UNCLEAR;
        while let Some(place) = searches.iter().find_map(StepSearch::next_place) {
            let needing = searches.iter().filter(|search| search.needs(place));
            let only: BTreeSet<BenchmarkKey> =
                needing.map(|search| search.whole.key.clone()).collect();
            let middle = gap.older + 1 + place;
            let pair = BySide {
                base: gap.older,
                candidate: middle,
            };
            let found = match self.measure_pair(pair, Some(&only), world)? {
                PairStatus::Stored(stored) => stored.rows,
                PairStatus::PassedOver(passed) if passed == middle => Vec::new(),
                PairStatus::PassedOver(_) => break,
                PairStatus::Incomparable { reason, remembered } => {
                    self.report_passed_over(middle, reason, remembered, world)?;
                    Vec::new()
                }
                PairStatus::OutOfTime => {
                    let needed = |place: &usize| searches.iter().any(|one| one.needs(*place));
                    let needed = (0..commits).filter(needed);
                    self.leave_unmeasured(needed.map(|place| gap.older + 1 + place));
                    why = OUT_OF_TIME;
                    break;
                }
            };
            for search in searches
                .iter_mut()
                .filter(|search| only.contains(&search.whole.key))
            {
                let row = found.iter().find(|row| row.key == search.whole.key);
                search.record(place, row);
            }
        }
        for search in &searches {
            let (first, last) = bounds(&search.known);
            let until = gap.older + 1 + last;
            let row = search.rows[last].as_ref().unwrap_or(&search.whole);
            steps.push((until, self.step(row, gap.older + first, until, why)?));
            // The newest commit before the change may have a smaller change of its own.
            if let Some(before) = first.checked_sub(1).and_then(|at| search.rows[at].as_ref())
                && before.is_step()
            {
                gaps.push(Gap {
                    older: gap.older,
                    newer: gap.older + first,
                    changed: vec![before.clone()],
                });
            }
            if why != OUT_OF_TIME && until < gap.newer && has_rest(row, &search.whole) {
                gaps.extend(self.measure_rest(until, gap.newer, &search.whole.key, world)?);
            }
        }
        Ok(())
    }

    /// Measures whether a benchmark changed once more between the commit of its step and the newer commit of the gap.
    fn measure_rest(
        &mut self,
        older: usize,
        newer: usize,
        key: &BenchmarkKey,
        world: &mut World<'_>,
    ) -> Result<Option<Gap>, AppError> {
        let pair = BySide {
            base: older,
            candidate: newer,
        };
        let only = BTreeSet::from([key.clone()]);
        let stored = match self.measure_pair(pair, Some(&only), world)? {
            PairStatus::Stored(stored) => stored,
            PairStatus::OutOfTime => {
                self.leave_unmeasured(older + 1..=newer);
                return Ok(None);
            }
            PairStatus::PassedOver(_) | PairStatus::Incomparable { .. } => return Ok(None),
        };
        let changed = stored.rows.into_iter();
        let changed: Vec<PairRow> = changed
            .filter(|row| row.key == *key && row.is_step())
            .collect();
        Ok((!changed.is_empty()).then_some(Gap {
            older,
            newer,
            changed,
        }))
    }
}

/// Reports whether the change at the commit of a step differs from that of the whole gap by more than the noise threshold.
fn has_rest(row: &PairRow, whole: &PairRow) -> bool {
    let logarithm = |row: &PairRow| row.change.map(|change| change.estimate.ln_1p());
    let rest = logarithm(row).zip(logarithm(whole));
    rest.is_some_and(|(here, whole_change)| {
        (whole_change - here).abs() > whole.noise_threshold.ln_1p()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::compare::Estimate;

    fn row(verdict: Verdict, change: Option<[f64; 3]>) -> PairRow {
        PairRow {
            key: BenchmarkKey {
                package: "p".to_owned(),
                target: "t".to_owned(),
                id: "b".to_owned(),
            },
            verdict,
            change: change.map(|[lower, estimate, upper]| Estimate {
                estimate,
                lower,
                upper,
            }),
            slow_side: None,
            noise_threshold: 0.01,
        }
    }

    fn certain(verdict: Verdict, estimate: f64) -> PairRow {
        row(
            verdict,
            Some([estimate - 0.001, estimate, estimate + 0.001]),
        )
    }

    #[test]
    fn a_commit_has_the_change_from_half_of_it_on_in_both_directions() {
        let slower = certain(Verdict::Regressed, 0.21);
        let faster = certain(Verdict::Improved, -0.19);
        let same = row(Verdict::Unchanged, None);
        for whole in [&slower, &faster] {
            assert_eq!(classify(&same, whole), StepFinding::Before);
            assert_eq!(classify(whole, whole), StepFinding::After);
            let failed = row(Verdict::Failed, None);
            assert_eq!(classify(&failed, whole), StepFinding::Unknown);
        }
        let at = |change: f64, whole| classify(&certain(Verdict::Regressed, change), whole);
        assert_eq!(at(0.101, &slower), StepFinding::After);
        assert_eq!(at(0.099, &slower), StepFinding::Before);
        assert_eq!(at(0.101, &faster), StepFinding::Before);
        let improved = certain(Verdict::Improved, -0.15);
        assert_eq!(classify(&improved, &faster), StepFinding::After);
    }

    #[test]
    fn an_inconclusive_commit_counts_only_if_its_interval_is_on_one_side() {
        let whole = certain(Verdict::Improved, -0.5);
        let open = |bounds| classify(&row(Verdict::Inconclusive, Some(bounds)), &whole);
        assert_eq!(open([-0.02, 0.0, 0.02]), StepFinding::Before);
        assert_eq!(open([-0.6, -0.5, -0.4]), StepFinding::After);
        assert_eq!(open([-0.5, -0.3, 0.0]), StepFinding::Unknown);
        assert_eq!(
            open([f64::NEG_INFINITY, 0.0, f64::INFINITY]),
            StepFinding::Unknown
        );
    }

    #[test]
    fn only_commits_within_the_bounds_of_a_search_are_needed() {
        let mut search = StepSearch::new(certain(Verdict::Regressed, 0.5), 8);
        assert_eq!(search.next_place(), Some(3));
        search.record(3, Some(&certain(Verdict::Unchanged, 0.0)));
        assert!(!search.needs(1) && !search.needs(3) && search.needs(4) && !search.needs(7));
        search.record(5, None);
        assert!(!search.needs(5));
    }

    #[test]
    fn a_rest_is_a_difference_beyond_the_noise_threshold() {
        let whole = certain(Verdict::Regressed, 0.10);
        assert!(!has_rest(&certain(Verdict::Regressed, 0.095), &whole));
        assert!(has_rest(&certain(Verdict::Regressed, 0.08), &whole));
        assert!(has_rest(&certain(Verdict::Regressed, 0.12), &whole));
    }
}
