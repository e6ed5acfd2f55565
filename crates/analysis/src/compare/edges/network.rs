//! Nodes and edges, cut into what hangs together and reduced to what decides.
//!
//! Nodes of no place in the history (a tag that runs were measured against, commits of other branches) have a value of their own each. Those with few
//! neighbours are eliminated beforehand: a star of edges becomes the mesh of its ends, which is the same sum of squares.

use std::collections::{BTreeMap, BTreeSet};

/// A change that was measured in turn: which side was new, which old.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The node of the base.
    pub from: usize,
    /// The node of the candidate.
    pub to: usize,
    /// ln(candidate / base).
    pub log_ratio: f64,
    /// Its standard error; positive and finite.
    pub standard_error: f64,
    /// Whether the comparison itself called a change, or the user accepted one.
    pub called: bool,
    /// On which class of machines it was measured; an index.
    pub class: usize,
}

/// All that was measured in turn of a benchmark.
#[derive(Debug, Clone, Copy)]
pub struct Network<'a> {
    /// So many nodes, from 0 on, are places of the history, oldest first.
    pub places: usize,
    /// All nodes; those behind the places have no place.
    pub nodes: usize,
    /// The edges, in any order.
    pub edges: &'a [Edge],
}

/// Edges between the same two nodes, as one: `b` less `a` is `difference`, with the weight 1 / variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weighted {
    pub a: usize,
    pub b: usize,
    pub difference: f64,
    pub weight: f64,
}

/// Places that edges connect, with the edges among them. Nodes have numbers of their own here: places in their order, then the others that are left.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Component {
    /// The places, ascending.
    pub places: Vec<usize>,
    /// All nodes.
    pub nodes: usize,
    pub edges: Vec<Weighted>,
    /// Changes between two places that a comparison called: (earlier, later, whether the later one is slower).
    pub called: Vec<(usize, usize, bool)>,
    /// Weighted squares that no values of the nodes take away: between edges of the same two nodes.
    pub squares: f64,
    /// Edges that were measured, less values of nodes that were eliminated.
    pub observations: usize,
}

/// Standard error of an edge between two states that run the same code: it is not measured, and says nothing about the errors of those that are.
pub(super) const EXACT: f64 = 1e-5;
/// Nodes without a place that have more neighbours stay.
const MOST_NEIGHBOURS: usize = 8;
/// Unless so many would stay.
const MOST_OTHERS: usize = 64;

impl Edge {
    /// Two states of the code that run the same: their ratio is 1, on any machine.
    pub fn of_same_code(from: usize, to: usize, class: usize) -> Self {
        Self {
            from,
            to,
            log_ratio: 0.0,
            standard_error: EXACT,
            called: false,
            class,
        }
    }
}

impl Component {
    /// The components of `network` with at least one edge, where those edges count that `wanted` lets pass; by their first places.
    pub fn all(network: &Network<'_>, wanted: impl Fn(&Edge) -> bool) -> Vec<Self> {
        let edges: Vec<&Edge> = network
            .edges
            .iter()
            .filter(|edge| edge.from != edge.to && wanted(edge))
            .collect();
        let mut reduced = Reduced::of(network, &edges);
        reduced.eliminate(network.places);
        let roots = roots(network.nodes, &edges);
        let mut parts: BTreeMap<usize, ComponentPart<'_>> = BTreeMap::new();
        for (node, root) in roots.iter().enumerate() {
            let part = parts.entry(*root).or_default();
            let stays = node < network.places || !reduced.neighbours[node].is_empty();
            part.nodes.extend(stays.then_some(node));
            part.squares += reduced.settled[node].0;
            part.eliminated += reduced.settled[node].1;
        }
        for edge in edges {
            if let Some(part) = parts.get_mut(&roots[edge.from]) {
                part.edges.push(edge);
            }
        }
        let found = parts.values();
        let mut found: Vec<Self> = found
            .filter_map(|part| reduced.component(part, network.places))
            .collect();
        found.sort_by_key(|component| component.places[0]);
        found
    }
}

/// What is known of a component on the way to it.
#[derive(Default)]
struct ComponentPart<'e> {
    nodes: Vec<usize>,
    edges: Vec<&'e Edge>,
    squares: f64,
    eliminated: usize,
}

/// For each node the first one of those that hang together with it.
fn roots(nodes: usize, edges: &[&Edge]) -> Vec<usize> {
    let mut before: Vec<usize> = (0..nodes).collect();
    let root = |before: &mut Vec<usize>, mut node: usize| {
        while before[node] != node {
            before[node] = before[before[node]];
            node = before[node];
        }
        node
    };
    for edge in edges {
        let (one, other) = (root(&mut before, edge.from), root(&mut before, edge.to));
        before[one.max(other)] = one.min(other);
    }
    for node in 0..nodes {
        before[node] = before[before[node]];
    }
    before
}

/// Neighbours of each node, each with the difference to it and its weight.
struct Reduced {
    neighbours: Vec<BTreeMap<usize, (f64, f64)>>,
    /// What is settled already, by the node at which it was: squares, and values that were eliminated.
    settled: Vec<(f64, usize)>,
}

impl Reduced {
    fn of(network: &Network<'_>, edges: &[&Edge]) -> Self {
        let mut reduced = Self {
            neighbours: vec![BTreeMap::new(); network.nodes],
            settled: vec![(0.0, 0); network.nodes],
        };
        for edge in edges {
            let weight = edge.standard_error.powi(-2);
            reduced.add(edge.from, edge.to, edge.log_ratio, weight);
        }
        reduced
    }

    /// Adds an edge: with one that is there already it becomes their weighted mean.
    fn add(&mut self, from: usize, to: usize, difference: f64, weight: f64) {
        let (mean, sum) = match self.neighbours[from].get(&to) {
            None => (difference, weight),
            Some((known, of_known)) => {
                let sum = of_known + weight;
                self.settled[from].0 += of_known * weight / sum * (difference - known).powi(2);
                (known + weight / sum * (difference - known), sum)
            }
        };
        self.neighbours[from].insert(to, (mean, sum));
        self.neighbours[to].insert(from, (-mean, sum));
    }

    /// Takes out nodes from number `first` on, those with the fewest neighbours first.
    fn eliminate(&mut self, first: usize) {
        let mut queue: BTreeSet<(usize, usize)> = (first..self.neighbours.len())
            .map(|node| (self.neighbours[node].len(), node))
            .collect();
        while let Some((count, node)) = queue.pop_first() {
            if count > MOST_NEIGHBOURS && queue.len() < MOST_OTHERS {
                return;
            }
            let ends: Vec<(usize, (f64, f64))> = std::mem::take(&mut self.neighbours[node])
                .into_iter()
                .collect();
            for (end, _) in &ends {
                if *end >= first {
                    queue.remove(&(self.neighbours[*end].len(), *end));
                }
                self.neighbours[*end].remove(&node);
            }
            if let Some((end, _)) = ends.first() {
                let (squares, eliminated) = self.settled[node];
                self.settled[*end].0 += squares;
                self.settled[*end].1 += eliminated + 1;
                self.settled[node] = (0.0, 0);
            }
            let sum: f64 = ends.iter().map(|(_, (_, weight))| weight).sum();
            for (at, (one, (to_one, of_one))) in ends.iter().enumerate() {
                for (other, (to_other, of_other)) in &ends[at + 1..] {
                    self.add(*one, *other, to_other - to_one, of_one * of_other / sum);
                }
            }
            for (end, _) in &ends {
                if *end >= first {
                    queue.insert((self.neighbours[*end].len(), *end));
                }
            }
        }
    }

    /// The component of a part; `None` without an edge or a place.
    fn component(&self, part: &ComponentPart<'_>, all_places: usize) -> Option<Component> {
        let count = part.nodes.partition_point(|node| *node < all_places);
        if part.edges.is_empty() || count == 0 {
            return None;
        }
        let local = |node: usize| part.nodes.binary_search(&node).ok();
        let called = part.edges.iter().filter(|edge| edge.called);
        let called = called.filter_map(|edge| {
            let (from, to) = (local(edge.from)?, local(edge.to)?);
            let is_slower = (edge.log_ratio > 0.0) == (from < to);
            let both = (from.min(to), from.max(to), is_slower);
            (both.1 < count).then_some(both)
        });
        let called = called.collect();
        let mut edges = Vec::new();
        for (a, node) in part.nodes.iter().enumerate() {
            for (end, (difference, weight)) in &self.neighbours[*node] {
                let b = local(*end).filter(|b| a < *b);
                edges.extend(b.map(|b| Weighted {
                    a,
                    b,
                    difference: *difference,
                    weight: *weight,
                }));
            }
        }
        let measured = part.edges.iter().filter(|edge| edge.standard_error > EXACT);
        Some(Component {
            places: part.nodes[..count].to_vec(),
            nodes: part.nodes.len(),
            edges,
            called,
            squares: part.squares,
            observations: measured.count().saturating_sub(part.eliminated),
        })
    }
}
