//! Tests whether classes of machines agree: the true effect of a change differs between processors.
//!
//! Cochran's Q (Cochran 1954) between classes, generalized to a network as in Higgins et al. (2012). The difference between the weighted squares with
//! one value of each level for all classes and those with separate values for each class is chi-square distributed if the classes agree.

use serde::Serialize;
use std::collections::BTreeSet;

use super::fit::{Fit, NodeGroups};
use super::levels::{LEVEL_P, Solved, solve_components};
use super::network::{Component, Network};
use crate::compare::course::TrendRules;
use crate::compare::estimate::Estimate;
use perfcheck_stats::{chi_squared, normal};

/// Classes of machines that measured different changes between the same states of the code.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disagreement {
    /// p of the test under the hypothesis that the classes agree.
    pub p_value: f64,
    /// The first place of the level that they disagree about most; `None` if no step was measured by more than one class.
    pub place: Option<usize>,
    /// The change of each class at that step.
    pub changes: Vec<ClassChange>,
}

/// A step as one class measured it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClassChange {
    /// The class.
    pub class: usize,
    /// The change, a fraction.
    pub change: Estimate,
}

/// The fit of some edges with levels that begin at given places.
struct Levels {
    parts: Vec<(Component, NodeGroups, Fit)>,
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
            levels.parts.push((component, groups, fit));
        }
        levels
    }

    /// Returns the step at `place` with its variance.
    fn step(&self, place: usize) -> Option<(f64, f64)> {
        self.parts.iter().find_map(|(component, groups, fit)| {
            let at = component.places.partition_point(|other| *other < place);
            (at > 0 && at < component.places.len()).then(|| {
                let row = groups.difference(at - 1, at);
                (fit.combination(&row), fit.variance(&row))
            })
        })
    }
}

/// Returns the disagreement of the classes, if there is any. `together` holds the levels of all classes together.
pub(super) fn find_disagreement(
    network: &Network<'_>,
    together: &[(Component, Solved)],
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
    let apart: Vec<(usize, Levels)> = classes
        .iter()
        .map(|class| {
            let components = Component::find_all(network, |edge| edge.class == *class);
            (*class, Levels::fit(components.into_iter(), &begins))
        })
        .collect();
    let sum = |of: fn(&Levels) -> usize| apart.iter().map(|(_, levels)| of(levels)).sum::<usize>();
    // Nodes without a place have values of their own, which the ranks do not count.
    let left = sum(|levels| levels.observations).saturating_sub(sum(|levels| levels.rank));
    let left_together = all.observations.saturating_sub(all.rank);
    let df = left_together.checked_sub(left).filter(|df| *df > 0)?;
    let squares: f64 = apart.iter().map(|(_, levels)| levels.squares).sum();
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
    let changes = apart.iter().filter_map(|(class, levels)| {
        let (step, variance) = levels.step(place?)?;
        let half = z * (scale * variance).sqrt();
        Some(ClassChange {
            class: *class,
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
fn level_starts(parts: &[(Component, Solved)]) -> BTreeSet<usize> {
    let of_part = |(component, solved): &(Component, Solved)| -> Vec<usize> {
        let places = component.places.iter().zip(&solved.begins);
        places
            .filter(|(_, begins)| **begins)
            .map(|(place, _)| *place)
            .collect()
    };
    parts.iter().flat_map(of_part).collect()
}

/// Returns Cochran's Q of one step; `None` if fewer than two classes measured it.
fn cochran_q(apart: &[(usize, Levels)], place: usize) -> Option<f64> {
    let steps: Vec<(f64, f64)> = apart
        .iter()
        .filter_map(|(_, levels)| levels.step(place))
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
