//! Computes the values of the places of a history: the levels of every component, and the change between any two connected places. Also tests whether
//! classes of machines agree, because the true effect of a change differs between processors.
//!
//! The test is Cochran's Q (Cochran 1954) between classes, generalized to a network as in Higgins et al. (2012). Levels are fitted twice: with one
//! value for all classes, and with separate values for each class. If the classes agree, the difference between the two weighted sums of squares is
//! chi-square distributed.

use serde::Serialize;
use std::collections::BTreeSet;

use super::levels::{LEVEL_P, SolvedComponent, solve_components};
use super::network::{Component, Fit, Network, NodeGroups};
use crate::compare::estimate::Estimate;
use crate::compare::trend::TrendRules;
use perfcheck_stats::{chi_squared, normal};

/// The solved network of a benchmark: the levels of its history, as far as side-by-side measurements connect its places.
#[derive(Debug, Clone)]
pub struct LevelEstimate {
    parts: Vec<SolvedComponent>,
    /// For each place, the index of the part (the connected component) that contains the place, and the index of the place within that part. `None`
    /// for places without an edge.
    of_place: Vec<Option<(usize, usize)>>,
    confidence_level: f64,
    /// How classes of machines disagree, if they do. In that case only the edges of one class are used.
    pub disagreement: Option<Disagreement>,
}

/// A level of a history whose values drift in one direction, by steps that are too small to be found one by one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelTrend {
    /// The index of the first place of the level. A place is a state of the code, and places are numbered from the oldest.
    pub first: usize,
    /// The index of the last place of the level.
    pub last: usize,
    /// The change from the first place of the level to the last, as a fraction with its interval.
    pub change: Estimate,
}

impl LevelEstimate {
    /// Solves `network`. If classes of machines disagree, only the edges of `class` are used.
    ///
    /// The time grows with the number of edges times the number of levels: with ten thousand edges and twenty levels, each added level takes some
    /// hundredths of a second.
    pub fn solve(network: &Network<'_>, class: usize, rules: &TrendRules) -> Self {
        let mut parts = solve_components(network, rules, |_| true);
        let disagreement = find_disagreement(network, &parts, rules);
        if disagreement.is_some() {
            parts = solve_components(network, rules, |edge| edge.class == class);
        }
        let mut of_place = vec![None; network.places];
        for (part, solved) in parts.iter().enumerate() {
            for (number, place) in solved.component.places.iter().enumerate() {
                of_place[*place] = Some((part, number));
            }
        }
        Self {
            parts,
            of_place,
            confidence_level: rules.confidence_level,
            disagreement,
        }
    }

    /// Returns the index of the part that contains a place. A part is a set of places that edges connect. Parts are in the order of their first
    /// places. Returns `None` if the place has no edge.
    pub fn part(&self, place: usize) -> Option<usize> {
        Some(self.of_place.get(place).copied()??.0)
    }

    /// Returns the first place of a part.
    pub fn first_place_of_part(&self, part: usize) -> Option<usize> {
        Some(self.parts.get(part)?.component.places[0])
    }

    /// Returns the logarithm of the value of a place relative to the first place of its part. It is 0 within the first level, unless that level has a
    /// trend.
    pub fn value(&self, place: usize) -> Option<f64> {
        let (part, number) = self.of_place.get(place).copied()??;
        let levels = &self.parts[part].levels;
        Some(levels.fit.combination(&levels.groups.difference(0, number)))
    }

    /// Returns true if both places are in the same level. Places of different parts never are.
    pub fn is_one_level(&self, one: usize, other: usize) -> bool {
        match (self.of_place[one], self.of_place[other]) {
            (Some((part, one)), Some((same, other))) if part == same => {
                let of_node = &self.parts[part].levels.groups.of_node;
                of_node[one] == of_node[other]
            }
            _ => false,
        }
    }

    /// Returns the change from one place to another as a fraction with its interval. It is 0 within a level that has no trend. Returns `None` if no
    /// edges connect the two places.
    pub fn change(&self, from: usize, to: usize) -> Option<Estimate> {
        let (part, from) = self.of_place.get(from).copied()??;
        let (same, to) = self.of_place.get(to).copied()??;
        (part == same).then(|| self.change_in(part, from, to))
    }

    fn change_in(&self, part: usize, from: usize, to: usize) -> Estimate {
        let levels = &self.parts[part].levels;
        let row = levels.groups.difference(from, to);
        let difference = levels.fit.combination(&row);
        let z = normal::two_sided(self.confidence_level).unwrap_or(f64::INFINITY);
        let half = if row.is_empty() {
            0.0
        } else {
            z * levels.scale * levels.fit.variance(&row).sqrt()
        };
        Estimate::from_logarithms(difference, difference - half, difference + half)
    }

    /// Lists the levels with a trend, in the order of their first places.
    pub fn trends(&self) -> Vec<LevelTrend> {
        let mut found = Vec::new();
        for (part, SolvedComponent { component, levels }) in self.parts.iter().enumerate() {
            let of_node = &levels.groups.of_node[..component.places.len()];
            for level in &levels.groups.with_trend {
                let first = of_node.partition_point(|group| group < level);
                let last = of_node.partition_point(|group| group <= level) - 1;
                found.push(LevelTrend {
                    first: component.places[first],
                    last: component.places[last],
                    change: self.change_in(part, first, last),
                });
            }
        }
        found.sort_by_key(|trend| trend.first);
        found
    }
}

/// Classes of machines that measured different changes between the same states of the code.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disagreement {
    /// The p-value of the test whether the classes agree.
    pub p_value: f64,
    /// The place of the step that the classes disagree about most. `None` if no step was measured by more than one class.
    pub place: Option<usize>,
    /// The change at that step as each class measured it.
    pub changes: Vec<ClassChange>,
}

/// The change at one step of the history, as one class of machines measured it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClassChange {
    /// The index of the class of machines.
    pub class: usize,
    /// The change as a fraction, with its interval.
    pub change: Estimate,
}

/// A component whose values were fitted for given groups of its nodes.
struct FittedComponent {
    component: Component,
    groups: NodeGroups,
    fit: Fit,
}

/// The levels fitted to the edges that one class of machines measured.
struct ClassLevels {
    class: usize,
    levels: Levels,
}

/// The values fitted to some of the edges, with levels that begin at given places.
struct Levels {
    parts: Vec<FittedComponent>,
    squares: f64,
    rank: usize,
    observations: usize,
}

impl Levels {
    fn fit(components: impl Iterator<Item = Component>, begins: &BTreeSet<usize>) -> Self {
        let mut levels = Self {
            parts: Vec::new(),
            squares: 0.0,
            rank: 0,
            observations: 0,
        };
        for component in components {
            let places = &component.places;
            let here: Vec<bool> = (0..places.len())
                .map(|at| {
                    at > 0
                        && begins
                            .range(places[at - 1] + 1..=places[at])
                            .next()
                            .is_some()
                })
                .collect();
            let groups = NodeGroups::from_level_starts(&here, component.nodes);
            let Some(fit) = groups.fit(&component) else {
                continue;
            };
            levels.squares += fit.squares;
            levels.rank += groups.rank();
            levels.observations += component.observations;
            levels.parts.push(FittedComponent {
                component,
                groups,
                fit,
            });
        }
        levels
    }

    /// Returns the step at `place` (a difference of logarithms), with its variance.
    fn step(&self, place: usize) -> Option<(f64, f64)> {
        self.parts.iter().find_map(|part| {
            let places = &part.component.places;
            let at = places.partition_point(|other| *other < place);
            (at > 0 && at < places.len()).then(|| {
                let row = part.groups.difference(at - 1, at);
                (part.fit.combination(&row), part.fit.variance(&row))
            })
        })
    }
}

/// Tests whether classes of machines disagree about the changes, and returns how. `together` holds the levels that the edges of all classes show
/// together.
pub(super) fn find_disagreement(
    network: &Network<'_>,
    together: &[SolvedComponent],
    rules: &TrendRules,
) -> Option<Disagreement> {
    let edges = network.edges.iter().filter(|edge| edge.from != edge.to);
    let classes: BTreeSet<usize> = edges.map(|edge| edge.class).collect();
    if classes.len() < 2 {
        return None;
    }
    let mut begins = level_starts(together);
    for class in &classes {
        begins.extend(level_starts(&solve_components(network, rules, |edge| {
            edge.class == *class
        })));
    }
    let all = Levels::fit(Component::find_all(network, |_| true).into_iter(), &begins);
    let apart: Vec<ClassLevels> = classes
        .iter()
        .map(|class| {
            let components = Component::find_all(network, |edge| edge.class == *class);
            ClassLevels {
                class: *class,
                levels: Levels::fit(components.into_iter(), &begins),
            }
        })
        .collect();
    let sum = |of: fn(&Levels) -> usize| apart.iter().map(|one| of(&one.levels)).sum::<usize>();
    // Subtract the ranks from the observations. Each class has its own values of eliminated nodes, and only the observations account for these.
    let left = sum(|levels| levels.observations).saturating_sub(sum(|levels| levels.rank));
    let left_together = all.observations.saturating_sub(all.rank);
    let df = left_together.checked_sub(left).filter(|df| *df > 0)?;
    let squares: f64 = apart.iter().map(|one| one.levels.squares).sum();
    let scale = if left == 0 {
        1.0
    } else {
        (squares / left as f64).max(1.0)
    };
    let q = (all.squares - squares) / scale;
    let p_value = chi_squared::upper_tail(q, df as f64).filter(|p| *p <= LEVEL_P)?;
    let most = begins
        .iter()
        .filter_map(|place| Some((*place, cochran_q(&apart, *place)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let place = most.map(|(place, _)| place);
    let z = normal::two_sided(rules.confidence_level)?;
    let changes = apart.iter().filter_map(|one| {
        let (step, variance) = one.levels.step(place?)?;
        let half = z * (scale * variance).sqrt();
        Some(ClassChange {
            class: one.class,
            change: Estimate::from_logarithms(step, step - half, step + half),
        })
    });
    Some(Disagreement {
        p_value,
        place,
        changes: changes.collect(),
    })
}

/// Returns the places at which levels begin.
fn level_starts(parts: &[SolvedComponent]) -> BTreeSet<usize> {
    let of_part = |part: &SolvedComponent| -> Vec<usize> {
        let places = part.component.places.iter().zip(&part.levels.begins);
        places
            .filter(|(_, begins)| **begins)
            .map(|(place, _)| *place)
            .collect()
    };
    parts.iter().flat_map(of_part).collect()
}

/// Returns Cochran's Q of one step, which measures how much the classes differ about it. Returns `None` if fewer than two classes measured the step.
fn cochran_q(apart: &[ClassLevels], place: usize) -> Option<f64> {
    let steps: Vec<(f64, f64)> = apart
        .iter()
        .filter_map(|one| one.levels.step(place))
        .map(|(step, variance)| (step, 1.0 / variance))
        .filter(|(_, weight)| weight.is_finite())
        .collect();
    let weight: f64 = steps.iter().map(|(_, weight)| weight).sum();
    let mean: f64 = steps.iter().map(|(step, of)| step * of).sum::<f64>() / weight;
    (steps.len() >= 2).then(|| {
        let squares = steps
            .iter()
            .map(|(step, weight)| weight * (step - mean).powi(2));
        squares.sum()
    })
}
