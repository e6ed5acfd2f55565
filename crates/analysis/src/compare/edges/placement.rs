//! The positions of the places of a history: the levels of every component, solved, with the change between any two connected places.

use serde::Serialize;

use super::classes::{Disagreement, find_disagreement};
use super::levels::{Solved, solve_components};
use super::network::{Component, Network};
use crate::compare::course::TrendRules;
use crate::compare::estimate::Estimate;
use perfcheck_stats::normal;

/// The solved network of a benchmark.
#[derive(Debug, Clone)]
pub struct LevelEstimate {
    parts: Vec<(Component, Solved)>,
    /// The part of each place, and its number within the part.
    of_place: Vec<Option<(usize, usize)>>,
    confidence_level: f64,
    /// The disagreement of classes of machines, if any. In that case only the edges of one class are used.
    pub disagreement: Option<Disagreement>,
}

/// A level whose runs drift in one direction, by steps that are too small to show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelTrend {
    /// Its first place.
    pub first: usize,
    /// Its last place.
    pub last: usize,
    /// The change from the first to the last, a fraction.
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
        for (part, (component, _)) in parts.iter().enumerate() {
            for (number, place) in component.places.iter().enumerate() {
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

    /// Returns the part (a set of connected places) that a place is in, numbered in the order of their first places; `None` without an edge.
    pub fn part(&self, place: usize) -> Option<usize> {
        Some(self.of_place.get(place).copied()??.0)
    }

    /// Returns the first place of a part.
    pub fn first_place_of_part(&self, part: usize) -> Option<usize> {
        Some(self.parts.get(part)?.0.places[0])
    }

    /// Returns the logarithm of the value of a place relative to the first place of its part; 0 within the first level.
    pub fn value(&self, place: usize) -> Option<f64> {
        let (part, number) = self.of_place.get(place).copied()??;
        let (_, solved) = &self.parts[part];
        Some(solved.fit.combination(&solved.groups.difference(0, number)))
    }

    /// Reports whether both places are in one level. Places of different parts never are.
    pub fn is_one_level(&self, one: usize, other: usize) -> bool {
        match (self.of_place[one], self.of_place[other]) {
            (Some((part, one)), Some((same, other))) if part == same => {
                let of_node = &self.parts[part].1.groups.of_node;
                of_node[one] == of_node[other]
            }
            _ => false,
        }
    }

    /// Returns the change from one place to another as a fraction with its interval; 0 within a level that has no trend. `None` if no edges connect
    /// them.
    pub fn change(&self, from: usize, to: usize) -> Option<Estimate> {
        let (part, from) = self.of_place.get(from).copied()??;
        let (same, to) = self.of_place.get(to).copied()??;
        (part == same).then(|| self.change_in(part, from, to))
    }

    fn change_in(&self, part: usize, from: usize, to: usize) -> Estimate {
        let (_, solved) = &self.parts[part];
        let row = solved.groups.difference(from, to);
        let difference = solved.fit.combination(&row);
        let z = normal::two_sided(self.confidence_level).unwrap_or(f64::INFINITY);
        let half = if row.is_empty() {
            0.0
        } else {
            z * solved.scale * solved.fit.variance(&row).sqrt()
        };
        Estimate::from_logarithms(difference, difference - half, difference + half)
    }

    /// Lists the levels with a trend, in the order of their first places.
    pub fn trends(&self) -> Vec<LevelTrend> {
        let mut found = Vec::new();
        for (part, (component, solved)) in self.parts.iter().enumerate() {
            let of_node = &solved.groups.of_node[..component.places.len()];
            for level in &solved.groups.with_trend {
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
