//! Where the places of a history stand: the levels of every component, solved, with the change between any two places that edges connect.

use serde::Serialize;

use super::classes::{Disagreement, disagreement};
use super::levels::{Solved, solved};
use super::network::{Component, Network};
use crate::compare::course::CourseRules;
use crate::compare::estimate::Estimate;
use perfcheck_stats::normal;

/// The solved network of a benchmark.
#[derive(Debug, Clone)]
pub struct Placement {
    parts: Vec<(Component, Solved)>,
    /// Of each place its part, and its number there.
    of_place: Vec<Option<(usize, usize)>>,
    confidence_level: f64,
    /// What classes of machines say otherwise than one another, if they do: then the classes are apart, and one alone has places.
    pub disagreement: Option<Disagreement>,
}

/// A level whose runs go in one direction, by steps that none of them shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trend {
    /// Its first place.
    pub first: usize,
    /// Its last place.
    pub last: usize,
    /// The change from the first to the last, a fraction.
    pub change: Estimate,
}

impl Placement {
    /// Solves `network`. Where classes of machines disagree, places are those of `class` alone.
    ///
    /// The time grows with the number of edges times that of levels: ten thousand edges and twenty levels take some hundredths of a second each time
    /// that a level is added.
    pub fn of(network: &Network<'_>, class: usize, rules: &CourseRules) -> Self {
        let mut parts = solved(network, rules, |_| true);
        let disagreement = disagreement(network, &parts, rules);
        if disagreement.is_some() {
            parts = solved(network, rules, |edge| edge.class == class);
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

    /// Which of the parts that no edge connects a place is in, numbered by their first places; `None` without an edge.
    pub fn part(&self, place: usize) -> Option<usize> {
        Some(self.of_place.get(place).copied()??.0)
    }

    /// The first place of a part.
    pub fn first_of(&self, part: usize) -> Option<usize> {
        Some(self.parts.get(part)?.0.places[0])
    }

    /// ln of the value of a place against the first of its part; 0 within the first level.
    pub fn value(&self, place: usize) -> Option<f64> {
        let (part, number) = self.of_place.get(place).copied()??;
        let (_, solved) = &self.parts[part];
        Some(solved.fit.combined(&solved.groups.difference(0, number)))
    }

    /// Whether both places are of one level. Places of different parts are of none together.
    pub fn is_one_level(&self, one: usize, other: usize) -> bool {
        match (self.of_place[one], self.of_place[other]) {
            (Some((part, one)), Some((same, other))) if part == same => {
                let of_node = &self.parts[part].1.groups.of_node;
                of_node[one] == of_node[other]
            }
            _ => false,
        }
    }

    /// The change from one place to another with its interval, a fraction; nothing within a level without a trend. `None` where no edges connect them.
    pub fn change(&self, from: usize, to: usize) -> Option<Estimate> {
        let (part, from) = self.of_place.get(from).copied()??;
        let (same, to) = self.of_place.get(to).copied()??;
        (part == same).then(|| self.change_in(part, from, to))
    }

    fn change_in(&self, part: usize, from: usize, to: usize) -> Estimate {
        let (_, solved) = &self.parts[part];
        let row = solved.groups.difference(from, to);
        let difference = solved.fit.combined(&row);
        let z = normal::two_sided(self.confidence_level).unwrap_or(f64::INFINITY);
        let half = if row.is_empty() {
            0.0
        } else {
            z * solved.scale * solved.fit.variance(&row).sqrt()
        };
        Estimate::from_logarithms(difference, difference - half, difference + half)
    }

    /// The levels with a trend, by their first places.
    pub fn trends(&self) -> Vec<Trend> {
        let mut found = Vec::new();
        for (part, (component, solved)) in self.parts.iter().enumerate() {
            let of_node = &solved.groups.of_node[..component.places.len()];
            for level in &solved.groups.with_trend {
                let first = of_node.partition_point(|group| group < level);
                let last = of_node.partition_point(|group| group <= level) - 1;
                found.push(Trend {
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
