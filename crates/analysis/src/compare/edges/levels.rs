//! Finds the levels of a history: the stretches in which the value does not change. The states of the code in a history are called places, and each
//! level begins at a place. The search covers one connected component of the network of side-by-side measurements.
//!
//! The search minimizes the weighted sum of squared residuals, here called the weighted squares. At each step, a new level begins at the place that
//! lowers them most, if it does so by more than chance would anywhere in the history. Otherwise it begins where a comparison reported a change that
//! no level shows yet. Then this place and the beginnings of the neighboring levels move to where they lower the weighted squares most. In the end,
//! levels that noise or chance explains are removed. All places of a level are tried in one sweep over its edges (the score test of one more
//! parameter: Rao 1948).

use super::network::{Component, Edge, Fit, Network, NodeGroups};
use crate::compare::trend::TrendRules;
use perfcheck_stats::normal;

/// The probability that the search finds the beginning of a level in a history without changes. The tests of trends, of disagreements between
/// machines and of change points use the same probability.
pub(super) const LEVEL_P: f64 = 0.001;
/// The largest number of levels of a component. The search would find more only if the stated errors were far too small.
const MOST_LEVELS: usize = 100;
/// The largest number of steps of a search. It usually ends much earlier, but rounding errors could move a place back and forth forever.
const MOST_STEPS: usize = 200;
/// The beginning of a level moves to another place only if its gain there is larger by at least this fraction. Otherwise rounding errors could move
/// it.
const BETTER: f64 = 1e-6;

/// The levels of a component, with the fit of their values.
#[derive(Debug, Clone)]
pub(super) struct Solved {
    /// For each place, whether a level begins there.
    pub begins: Vec<bool>,
    pub groups: NodeGroups,
    pub fit: Fit,
    /// The factor by which the errors are larger than the edges claim (Birge 1932). It is at least 1.
    pub scale: f64,
}

/// A component with its levels.
#[derive(Debug, Clone)]
pub(super) struct SolvedComponent {
    pub component: Component,
    pub levels: Solved,
}

/// A place at which one more level could begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub place: usize,
    /// By how much the weighted squares fall if a level begins here.
    pub gain: f64,
    /// The difference between the new level and the rest of the old one, as a logarithm.
    pub step: f64,
}

/// The search for the levels of one component.
pub(super) struct Search<'c> {
    component: &'c Component,
    /// The edges of each node, as indexes into the edges of the component.
    edges_of: Vec<Vec<usize>>,
    tolerance: f64,
    /// The largest decrease of the weighted squares that one more level causes by chance.
    by_chance: f64,
}

impl<'c> Search<'c> {
    pub fn new(component: &'c Component, rules: &TrendRules) -> Self {
        let places = component.places.len();
        let mut edges_of = vec![Vec::new(); component.nodes];
        for (at, edge) in component.edges.iter().enumerate() {
            edges_of[edge.a].push(at);
            edges_of[edge.b].push(at);
        }
        Self {
            component,
            edges_of,
            tolerance: rules.noise_threshold.ln_1p(),
            by_chance: squares_by_chance(places.saturating_sub(1)),
        }
    }

    /// Finds the levels of the component. Returns `None` if a fit cannot be computed.
    pub fn solve(&self) -> Option<Solved> {
        let first = self.levels(1.0)?;
        // The true errors are larger than the edges claim, so the first search may have found too many levels.
        if first.scale > 1.0 {
            return self.levels(first.scale);
        }
        Some(first)
    }

    fn levels(&self, scale: f64) -> Option<Solved> {
        let mut begins = vec![false; self.component.places.len()];
        let mut stays = begins.clone();
        let needed = self.by_chance * scale * scale;
        for _ in 0..MOST_STEPS {
            let (groups, fit) = self.fit(&begins)?;
            let all = self.candidates(&groups, &fit, 0..begins.len());
            let shown = best_candidate(all.iter()).filter(|best| best.gain > needed);
            let more = || shown.or_else(|| self.best_called_candidate(&groups, &all));
            let is_full = begins.iter().filter(|begins| **begins).count() + 1 >= MOST_LEVELS;
            if let Some(best) = more().filter(|_| !is_full) {
                begins[best.place] = true;
                stays[best.place] = shown.is_none();
                let places = neighboring_starts(&begins, best.place);
                self.move_places(&mut begins, &stays, &places)?;
            } else {
                let all: Vec<usize> = (1..begins.len()).collect();
                if !self.move_places(&mut begins, &stays, &all)? {
                    break;
                }
            }
        }
        self.remove_insignificant(&mut begins, needed)?;
        self.with_trends(begins, scale)
    }

    fn fit(&self, begins: &[bool]) -> Option<(NodeGroups, Fit)> {
        let groups = NodeGroups::from_level_starts(begins, self.component.nodes);
        let fit = groups.fit(self.component)?;
        Some((groups, fit))
    }

    /// Returns the places in `range` at which one more level could begin, with what it would gain there.
    pub(super) fn candidates(
        &self,
        groups: &NodeGroups,
        fit: &Fit,
        range: std::ops::Range<usize>,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut end = range.end;
        while end > range.start {
            let group = groups.of_node[end - 1];
            let first = groups.of_node.partition_point(|other| *other < group);
            self.sweep_level(groups, fit, first.max(range.start)..end, &mut found);
            end = first.max(range.start);
        }
        found
    }

    /// Adds the places within one level at which another level could begin to `found`. The nodes move to the new level one by one, from the last to
    /// the second, and each move updates the sums.
    fn sweep_level(
        &self,
        groups: &NodeGroups,
        fit: &Fit,
        level: std::ops::Range<usize>,
        found: &mut Vec<Candidate>,
    ) {
        let mut is_new = vec![false; self.component.nodes];
        // W holds the weights, e the residuals and X the columns of the present parameters. For the column c of the new parameter, `score` is c'We,
        // `information` is c'Wc, `projected` is the covariance times X'Wc, and `explained` is X'Wc times `projected`.
        let (mut score, mut information, mut explained) = (0.0, 0.0, 0.0);
        let mut projected = vec![0.0; fit.values.len()];
        for place in level.clone().skip(1).rev() {
            for at in &self.edges_of[place] {
                let edge = &self.component.edges[*at];
                let column = |is_new: &[bool]| {
                    f64::from(u8::from(is_new[edge.b])) - f64::from(u8::from(is_new[edge.a]))
                };
                let before = column(&is_new);
                is_new[place] = true;
                let after = column(&is_new);
                is_new[place] = false;
                let more = edge.weight * (after - before);
                score += more * fit.residuals[*at];
                information += edge.weight * (after * after - before * before);
                for (parameter, factor) in groups.difference(edge.a, edge.b) {
                    let more = more * factor;
                    let covariance = &fit.covariance[parameter];
                    explained +=
                        2.0 * more * projected[parameter] + more * more * covariance[parameter];
                    for (sum, of) in projected.iter_mut().zip(covariance) {
                        *sum += more * of;
                    }
                }
            }
            is_new[place] = true;
            let left = information - explained;
            if left > 1e-9 * information {
                found.push(Candidate {
                    place,
                    gain: score * score / left,
                    step: score / left,
                });
            }
        }
    }

    /// Returns the best place for one more level that explains a reported change. Only changes that a comparison reported, and that the present
    /// levels do not show, are considered.
    fn best_called_candidate(
        &self,
        groups: &NodeGroups,
        candidates: &[Candidate],
    ) -> Option<Candidate> {
        let of = &groups.of_node;
        let called = self.component.called.iter();
        let unseen = called.filter(|change| of[change.earlier] == of[change.later]);
        let places = unseen.filter_map(|change| {
            let between = candidates
                .iter()
                .filter(|one| (change.earlier + 1..=change.later).contains(&one.place))
                .filter(|one| {
                    (one.step > 0.0) == change.is_slower && one.step.abs() > self.tolerance
                });
            best_candidate(between)
        });
        places.max_by(|a, b| a.gain.total_cmp(&b.gain))
    }

    /// Moves the beginnings of the levels at `places`, except those that `stays` marks. Each moves to the place that lowers the weighted squares
    /// most, between the beginnings of the levels before and after it. Returns true if any of them moved, and `None` if a fit cannot be computed.
    fn move_places(&self, begins: &mut [bool], stays: &[bool], places: &[usize]) -> Option<bool> {
        let mut has_moved = false;
        for place in places.iter().copied() {
            if !begins[place] || stays[place] {
                continue;
            }
            let first = (0..place).rev().find(|at| begins[*at]).unwrap_or(0);
            let next = (place + 1..begins.len()).find(|at| begins[*at]);
            begins[place] = false;
            let (groups, fit) = self.fit(begins)?;
            let all = self.candidates(&groups, &fit, first..next.unwrap_or(begins.len()));
            let here = all.iter().find(|one| one.place == place);
            let here = here.map_or(0.0, |one| one.gain);
            let better =
                best_candidate(all.iter()).filter(|best| best.gain > here * (1.0 + BETTER));
            begins[better.map_or(place, |better| better.place)] = true;
            has_moved |= better.is_some();
        }
        Some(has_moved)
    }

    /// Removes steps within the noise threshold, the smallest first. Then it removes steps that chance explains, unless a comparison reported the
    /// change.
    fn remove_insignificant(&self, begins: &mut [bool], needed: f64) -> Option<()> {
        loop {
            let (groups, fit) = self.fit(begins)?;
            let steps = (1..begins.len()).filter(|place| begins[*place]);
            let steps = steps.map(|place| {
                let row = groups.difference(place - 1, place);
                let step = fit.combination(&row);
                (place, step.abs(), step * step / fit.variance(&row))
            });
            let steps: Vec<(usize, f64, f64)> = steps.collect();
            let small = steps.iter().filter(|(_, step, _)| *step <= self.tolerance);
            let smallest = small.min_by(|a, b| a.1.total_cmp(&b.1));
            let by_chance = steps
                .iter()
                .filter(|(place, _, gain)| *gain <= needed && !self.is_called(&groups, *place));
            let weakest = || by_chance.min_by(|a, b| a.2.total_cmp(&b.2));
            match smallest.or_else(weakest) {
                Some((place, ..)) => begins[*place] = false,
                None => return Some(()),
            }
        }
    }

    /// Returns true if a comparison reported a change that only the step at `place` can explain.
    fn is_called(&self, groups: &NodeGroups, place: usize) -> bool {
        let (below, above) = (groups.of_node[place] - 1, groups.of_node[place]);
        let mut called = self.component.called.iter();
        called.any(|change| {
            groups.of_node[change.earlier] == below && groups.of_node[change.later] == above
        })
    }

    /// Adds a trend to each level whose trend exceeds both chance and the noise threshold.
    fn with_trends(&self, begins: Vec<bool>, scale: f64) -> Option<Solved> {
        let (mut groups, mut fit) = self.fit(&begins)?;
        let levels = groups.of_node[begins.len() - 1] + 1;
        let needed = squares_by_chance(levels) * scale * scale;
        loop {
            let best = (0..levels)
                .filter(|level| !groups.with_trend.contains(level))
                .filter_map(|level| Some((level, self.score_trend(&groups, &fit, level)?)))
                .filter(|(_, (gain, trend))| *gain > needed && trend.abs() > self.tolerance)
                .max_by(|a, b| a.1.0.total_cmp(&b.1.0));
            let Some((level, _)) = best else { break };
            groups.with_trend.push(level);
            fit = groups.fit(self.component)?;
        }
        let df = self.component.observations.saturating_sub(groups.rank());
        let scale = if df == 0 {
            1.0
        } else {
            (fit.squares / df as f64).sqrt().max(1.0)
        };
        Some(Solved {
            begins,
            groups,
            fit,
            scale,
        })
    }

    /// Returns how much the weighted squares would fall if the values of a level followed an even trend, and the size of the trend.
    fn score_trend(&self, groups: &NodeGroups, fit: &Fit, level: usize) -> Option<(f64, f64)> {
        let (mut score, mut information) = (0.0, 0.0);
        let mut shared = vec![0.0; fit.values.len()];
        for (edge, residual) in self.component.edges.iter().zip(&fit.residuals) {
            let factor = groups.trend_factor(level, edge);
            if factor == 0.0 {
                continue;
            }
            score += edge.weight * factor * residual;
            information += edge.weight * factor * factor;
            for (parameter, of) in groups.difference(edge.a, edge.b) {
                shared[parameter] += edge.weight * factor * of;
            }
        }
        let row: Vec<(usize, f64)> = shared.into_iter().enumerate().collect();
        let left = information - fit.variance(&row);
        (left > 1e-9 * information).then(|| (score * score / left, score / left))
    }
}

/// Finds the connected components of the edges that `wanted` accepts, and the levels of each.
pub(super) fn solve_components(
    network: &Network<'_>,
    rules: &TrendRules,
    wanted: impl Fn(&Edge) -> bool,
) -> Vec<SolvedComponent> {
    let components = Component::find_all(network, wanted).into_iter();
    let solved = components.filter_map(|component| {
        let levels = Search::new(&component, rules).solve()?;
        Some(SolvedComponent { component, levels })
    });
    solved.collect()
}

/// Returns the places that may move after a level was added at `place`: where the level before it, the level itself and the next level begin.
fn neighboring_starts(begins: &[bool], place: usize) -> Vec<usize> {
    let before = (1..place).rev().find(|at| begins[*at]);
    let next = (place + 1..begins.len()).find(|at| begins[*at]);
    [before, Some(place), next].into_iter().flatten().collect()
}

/// Returns the candidate with the largest gain.
fn best_candidate<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Option<Candidate> {
    candidates.copied().max_by(|a, b| a.gain.total_cmp(&b.gain))
}

/// Returns by how much chance may lower the weighted squares if `parameters` further parameters are tried and the best of them is taken. The
/// probability that chance lowers them by more is at most [`LEVEL_P`] (Bonferroni).
fn squares_by_chance(parameters: usize) -> f64 {
    let tail = LEVEL_P / 2.0 / parameters.max(1) as f64;
    normal::quantile(tail).map_or(f64::INFINITY, |z| z * z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::edges::network::CalledChange;

    #[test]
    fn places_share_the_level_of_a_change_by_chance() {
        // The level is two-sided: .1 % for one place, and .001 % for each of a hundred. Here p is erfc(z / sqrt 2).
        for (places, z) in [(1, 3.290_526_731_491_9), (100, 4.417_173_413_468_8)] {
            let found = squares_by_chance(places);
            assert!((found.sqrt() - z).abs() < 1e-9, "{found}");
        }
    }

    /// Creates a component of five places. Each edge is given by two places and the step between them.
    fn component(edges: &[(usize, usize, f64)]) -> Component {
        let edges: Vec<Edge> = (edges.iter())
            .map(|(from, to, log_ratio)| Edge {
                from: *from,
                to: *to,
                log_ratio: *log_ratio,
                standard_error: 0.01,
                called: false,
                class: 0,
            })
            .collect();
        let network = Network {
            places: 5,
            nodes: 5,
            edges: &edges,
        };
        Component::find_all(&network, |_| true).remove(0)
    }

    const RULES: TrendRules = TrendRules {
        noise_threshold: 0.01,
        confidence_level: 0.95,
        seed: 0,
    };

    #[test]
    fn a_place_moves_to_the_largest_step_between_its_neighbors_and_stays_there() {
        let edges = [(0, 1, 0.0), (1, 2, 0.0), (2, 3, 0.0), (3, 4, 0.1)];
        let component = component(&edges);
        let search = Search::new(&component, &RULES);
        let mut begins = [false, true, false, false, false];
        let moved = search.move_places(&mut begins, &[false; 5], &[1]);
        let last = [false, false, false, false, true];
        assert_eq!((moved, begins), (Some(true), last));
        let moved = search.move_places(&mut begins, &[false; 5], &[4]);
        assert_eq!((moved, begins), (Some(false), last));
    }

    #[test]
    fn a_place_that_stays_and_one_without_a_level_do_not_move() {
        let component = component(&[(0, 1, 0.0), (1, 2, 0.0), (2, 3, 0.0), (3, 4, 0.1)]);
        let search = Search::new(&component, &RULES);
        let first = [false, true, false, false, false];
        let mut begins = first;
        let moved = search.move_places(&mut begins, &first, &[1]);
        assert_eq!((moved, begins), (Some(false), first));
        let moved = search.move_places(&mut begins, &[false; 5], &[2]);
        assert_eq!((moved, begins), (Some(false), first));
    }

    #[test]
    fn a_called_change_keeps_the_one_step_that_lies_between_its_places() {
        let chain = [(0, 1, 0.0), (1, 2, 0.1), (2, 3, 0.0), (3, 4, 0.1)];
        let called_steps = |earlier: usize, later: usize| {
            let mut component = component(&chain);
            component.called = vec![CalledChange {
                earlier,
                later,
                is_slower: true,
            }];
            let search = Search::new(&component, &RULES);
            let groups = NodeGroups::from_level_starts(&[false, false, true, false, true], 5);
            [2, 4].map(|place| search.is_called(&groups, place))
        };
        assert_eq!(called_steps(0, 1), [false, false]);
        assert_eq!(called_steps(1, 2), [true, false]);
        assert_eq!(called_steps(3, 4), [false, true]);
        assert_eq!(called_steps(0, 4), [false, false], "it could be either");
    }

    #[test]
    fn a_step_beyond_the_noise_threshold_stays_only_if_it_is_beyond_chance() {
        // The weighted square of the step is 4 with an error of .01, and 16 with half that error. By chance, it is at most z^2 = 3.48^2 = 12.1 at one
        // of four places.
        let stays = |standard_error: f64| {
            let mut component = component(&[(0, 1, 0.02), (1, 2, 0.0), (2, 3, 0.0), (3, 4, 0.0)]);
            component.edges[0].weight = standard_error.powi(-2);
            let search = Search::new(&component, &RULES);
            let mut begins = [false, true, false, false, false];
            search.remove_insignificant(&mut begins, search.by_chance);
            begins[1]
        };
        assert!(!stays(0.01) && stays(0.005));
    }

    #[test]
    fn what_hardly_any_edge_determines_is_neither_a_step_nor_a_trend() {
        // Places 0 and 1 are one level, and both were measured against place 2. The distance between them has the errors of both edges. If one error
        // is some 100,000 times the other, rounding leaves nothing of the smaller one.
        let found = |standard_error: f64| {
            let mut component = component(&[(0, 2, 0.1), (1, 2, 0.1), (2, 3, 0.0), (3, 4, 0.0)]);
            component.edges[0].weight = 1.0;
            component.edges[1].weight = standard_error.powi(-2);
            let search = Search::new(&component, &RULES);
            let (groups, fit) = search.fit(&[false, false, true, false, false]).unwrap();
            let is_step = !search.candidates(&groups, &fit, 0..2).is_empty();
            (is_step, search.score_trend(&groups, &fit, 0).is_some())
        };
        assert_eq!(found(1e-4), (true, true));
        assert_eq!(found(1e-5), (false, false));
    }

    #[test]
    fn just_a_billionth_of_the_information_is_neither_a_step_nor_a_trend() {
        // Place 1 has an edge of this weight to the next level. The variance of that level's value leaves only `left` of the weight.
        let found = |left: f64| {
            let mut component = component(&[(0, 2, 0.1), (1, 2, 0.1), (2, 3, 0.0), (3, 4, 0.0)]);
            let weight = 3e9;
            component.edges[1].weight = weight;
            let search = Search::new(&component, &RULES);
            let (groups, mut fit) = search.fit(&[false, false, true, false, false]).unwrap();
            let variance = (weight - left) / (weight * weight);
            fit.covariance = vec![vec![0.0; 2], vec![0.0, variance]];
            let is_step = !search.candidates(&groups, &fit, 0..2).is_empty();
            (is_step, search.score_trend(&groups, &fit, 0).is_some())
        };
        assert_eq!(found(3.0), (false, false));
        assert_eq!(found(3.00001), (true, true));
    }

    #[test]
    fn a_new_level_moves_with_the_levels_before_and_after_it() {
        let begins = [false, true, false, true, false, true, true];
        assert_eq!(neighboring_starts(&begins, 3), [1, 3, 5]);
        assert_eq!(neighboring_starts(&begins, 1), [1, 3]);
        assert_eq!(neighboring_starts(&begins, 6), [5, 6]);
    }

    #[test]
    fn a_trend_must_be_beyond_what_chance_gives_with_the_errors_that_there_are() {
        // Four equal steps are a trend that lowers the squares by (4 * 2.7 % / 2 %)^2 = 29.2. Chance lowers them by up to 3.29^2 = 10.8, and by up to
        // four times as much if the errors are twice as large as claimed.
        let with_step = |step: f64| component(&[0, 1, 2, 3].map(|at| (at, at + 1, step)));
        let has_trend = |component: &Component, scale: f64| {
            let solved = Search::new(component, &RULES).with_trends(vec![false; 5], scale);
            solved.unwrap().groups.with_trend == [0]
        };
        let component = with_step(0.027);
        assert!(has_trend(&component, 1.0) && !has_trend(&component, 2.0));
        let search = Search::new(&component, &RULES);
        let (groups, fit) = search.fit(&[false; 5]).unwrap();
        let (gain, trend) = search.score_trend(&groups, &fit, 0).unwrap();
        assert!((gain - 29.16).abs() < 1e-9 && (trend - 0.108).abs() < 1e-9);
        // Find a trend that lowers the squares by exactly as much as chance does.
        let chance = squares_by_chance(1);
        let (component, scale) = (270..300)
            .find_map(|step| {
                let component = with_step(f64::from(step) * 1e-4);
                let search = Search::new(&component, &RULES);
                let (groups, fit) = search.fit(&[false; 5])?;
                let (gain, _) = search.score_trend(&groups, &fit, 0)?;
                let scale = (gain / chance).sqrt();
                (chance * scale * scale == gain).then_some((component, scale))
            })
            .unwrap();
        assert!(!has_trend(&component, scale) && has_trend(&component, scale * 0.999));
    }

    #[test]
    fn a_step_must_be_beyond_what_chance_gives_with_the_errors_that_there_are() {
        // The weighted square of the step is (5.48 % / 1 %)^2 = 30.0. At one of four places chance gives up to 3.48^2 = 12.1, and four times as much
        // if the errors are twice as large as claimed.
        let component = component(&[(0, 1, 0.0), (1, 2, 0.0548), (2, 3, 0.0), (3, 4, 0.0)]);
        let search = Search::new(&component, &RULES);
        let begins = |scale| search.levels(scale).unwrap().begins;
        assert_eq!(begins(1.0), [false, false, true, false, false]);
        assert_eq!(begins(2.0), [false; 5]);
    }

    #[test]
    fn a_search_that_finds_larger_errors_than_claimed_is_repeated_with_them() {
        // The weighted square of the step is 30.0 (see the test above). With three degrees of freedom, squares of 12 mean errors of twice the size.
        let steps = [(0, 1, 0.0), (1, 2, 0.0548), (2, 3, 0.0), (3, 4, 0.0)];
        let begins = |squares: f64| {
            let mut component = component(&steps);
            component.squares = squares;
            Search::new(&component, &RULES).solve().unwrap().begins
        };
        assert_eq!(begins(0.0), [false, false, true, false, false]);
        assert_eq!(begins(12.0), [false; 5]);
    }

    #[test]
    fn the_trend_of_a_level_is_told_from_the_step_after_it() {
        // Places 0 to 2 are one level with two steps of 2 %: a trend of 4 %. The step to the next level absorbs what the trend adds to it, so the
        // squares fall by those of both edges: 2 (2 % / 1 %)^2.
        let component = component(&[(0, 1, 0.02), (1, 2, 0.02), (2, 3, 0.1), (3, 4, 0.0)]);
        let search = Search::new(&component, &RULES);
        let (groups, fit) = search.fit(&[false, false, false, true, false]).unwrap();
        let (gain, trend) = search.score_trend(&groups, &fit, 0).unwrap();
        assert!((gain - 8.0).abs() < 1e-9, "{gain}");
        assert!((trend - 0.04).abs() < 1e-12, "{trend}");
        // The next level has no trend.
        let (gain, trend) = search.score_trend(&groups, &fit, 1).unwrap();
        assert!(gain.abs() < 1e-9 && trend.abs() < 1e-12, "{gain} {trend}");
    }

    #[test]
    fn the_score_of_a_trend_is_what_a_fit_with_it_gains() {
        // Some edges between the levels begin or end in the middle of a level.
        let component = component(&[
            (0, 1, 0.02),
            (1, 2, 0.03),
            (1, 3, 0.1),
            (2, 4, 0.13),
            (0, 4, 0.2),
            (3, 4, 0.01),
        ]);
        let search = Search::new(&component, &RULES);
        let (mut groups, mut fit) = search.fit(&[false, false, false, true, false]).unwrap();
        for level in [0, 1] {
            let (gain, trend) = search.score_trend(&groups, &fit, level).unwrap();
            groups.with_trend.push(level);
            let with_trend = groups.fit(&component).unwrap();
            assert!((gain - (fit.squares - with_trend.squares)).abs() < 1e-8);
            assert!((trend - with_trend.values.last().unwrap()).abs() < 1e-9);
            fit = with_trend;
        }
    }

    #[test]
    fn a_trend_must_be_beyond_the_noise_threshold() {
        // Four equal steps are a trend that lowers the squares by more than chance does (see the test above).
        let component = component(&[0, 1, 2, 3].map(|at| (at, at + 1, 0.027)));
        let mut search = Search::new(&component, &RULES);
        let (groups, fit) = search.fit(&[false; 5]).unwrap();
        let (_, trend) = search.score_trend(&groups, &fit, 0).unwrap();
        for (tolerance, has_trend) in [(trend, false), (trend.next_down(), true)] {
            search.tolerance = tolerance;
            let solved = search.with_trends(vec![false; 5], 1.0).unwrap();
            assert_eq!(!solved.groups.with_trend.is_empty(), has_trend);
        }
    }

    #[test]
    fn a_called_change_begins_a_level_between_its_places_and_in_its_direction() {
        let mut component = component(&[0, 1, 2, 3].map(|at| (at, at + 1, 0.0)));
        component.called = vec![CalledChange {
            earlier: 1,
            later: 3,
            is_slower: true,
        }];
        let mut search = Search::new(&component, &RULES);
        search.tolerance = 0.01;
        let best = |begins: [bool; 5], steps: &[(usize, f64)]| {
            let groups = NodeGroups::from_level_starts(&begins, 5);
            // The first candidate has the largest gain.
            let candidates = steps.iter().zip((0..9).rev());
            let candidates: Vec<Candidate> = candidates
                .map(|((place, step), gain)| Candidate {
                    place: *place,
                    gain: f64::from(gain),
                    step: *step,
                })
                .collect();
            let found = search.best_called_candidate(&groups, &candidates);
            found.map(|one| one.place)
        };
        let one_level = [false; 5];
        let all = [1, 4, 3, 2].map(|place| (place, 0.02));
        assert_eq!(best(one_level, &all), Some(3), "1 and 4 are outside");
        assert_eq!(best(one_level, &[(3, -0.02), (2, 0.02)]), Some(2));
        assert_eq!(best(one_level, &[(3, 0.01)]), None, "within the noise");
        assert_eq!(best(one_level, &[(3, 0.01_f64.next_up())]), Some(3));
        let known = [false, false, true, false, false];
        assert_eq!(best(known, &all), None, "the levels show it already");
    }
}
