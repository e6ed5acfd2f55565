//! The network of side-by-side measurements. It is split into connected components and reduced to the nodes that matter. Then it is solved by
//! weighted least squares over groups of nodes.

use std::collections::{BTreeMap, BTreeSet};

/// A change that was measured side by side, from a base to a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// The state of the code that was the base, as the number of its node.
    pub from: usize,
    /// The state of the code that was the candidate, as the number of its node.
    pub to: usize,
    /// The measured change: ln(candidate / base).
    pub log_ratio: f64,
    /// The standard error of `log_ratio`, positive and finite.
    pub standard_error: f64,
    /// Whether the verdict of the comparison was `regressed` or `improved`, or the user accepted a change.
    pub called: bool,
    /// The class of machines on which the change was measured, as an index.
    pub class: usize,
}

/// All side-by-side measurements of a benchmark.
///
/// The places of a history are the states of the code that it contains, oldest first. Some nodes have no place, such as a tag that runs were measured
/// against, or commits of other branches. These nodes have values of their own. If such a node has few neighbors, it is eliminated first: the edges
/// to it are replaced by edges between its neighbors, with the same sum of squares.
#[derive(Debug, Clone, Copy)]
pub struct Network<'a> {
    /// The number of nodes that are places of the history. They have the lowest numbers, the oldest place first.
    pub places: usize,
    /// The number of all nodes. Those after the places are states of the code outside of the history.
    pub nodes: usize,
    /// The edges, in any order.
    pub edges: &'a [Edge],
}

/// The merged edges between two nodes: the value of `b` minus that of `a` is `difference`, with the weight 1 / variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weighted {
    pub a: usize,
    pub b: usize,
    pub difference: f64,
    pub weight: f64,
}

/// A connected component of the network: its places, the other nodes that were not eliminated, and the edges between all of these. The nodes are
/// numbered anew: first the places in order, then the other nodes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Component {
    /// The places of the history that are in the component, in ascending order.
    pub places: Vec<usize>,
    /// The number of nodes of the component, including its places.
    pub nodes: usize,
    pub edges: Vec<Weighted>,
    pub called: Vec<CalledChange>,
    /// The weighted sum of the squared differences between parallel edges, which no choice of values for the nodes can reduce.
    pub squares: f64,
    /// Number of independent observations: each measured edge adds one, and each eliminated node takes one away.
    pub observations: usize,
}

/// A change between two places of a component that a comparison reported or the user accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CalledChange {
    pub earlier: usize,
    pub later: usize,
    /// Whether the later place is slower.
    pub is_slower: bool,
}

/// The standard error of an edge between two states that run the same code. Such an edge is not measured, so it does not count when the measurement
/// errors are estimated.
pub(super) const EXACT: f64 = 1e-5;
/// The largest number of neighbors of a node that is eliminated because it has no place in the history. Nodes with more neighbors are kept.
const MOST_NEIGHBOURS: usize = 8;
/// The largest number of nodes without a place that are kept. If there are more, those with the fewest neighbors are eliminated, too.
const MOST_OTHERS: usize = 64;

impl Edge {
    /// Creates an edge between two states that run the same code: their ratio is 1 on any machine.
    pub fn between_same_code(from: usize, to: usize, class: usize) -> Self {
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
    /// Returns the connected components of `network` with at least one edge, in the order of their first places. Edges that `wanted` rejects are left
    /// out.
    pub fn find_all(network: &Network<'_>, wanted: impl Fn(&Edge) -> bool) -> Vec<Self> {
        let edges: Vec<&Edge> = network
            .edges
            .iter()
            .filter(|edge| edge.from != edge.to && wanted(edge))
            .collect();
        let mut reduced = Reduced::from_edges(network, &edges);
        reduced.eliminate(network.places);
        let roots = find_roots(network.nodes, &edges);
        let mut parts: BTreeMap<usize, ComponentPart<'_>> = BTreeMap::new();
        for (node, root) in roots.iter().enumerate() {
            let part = parts.entry(*root).or_default();
            let stays = node < network.places || !reduced.neighbours[node].is_empty();
            part.nodes.extend(stays.then_some(node));
            part.settled.add(reduced.settled[node]);
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

/// A component while it is assembled.
#[derive(Default)]
struct ComponentPart<'e> {
    nodes: Vec<usize>,
    edges: Vec<&'e Edge>,
    settled: SettledSums,
}

/// A record of the edges that were merged and the nodes that were eliminated.
#[derive(Debug, Clone, Copy, Default)]
struct SettledSums {
    /// The weighted sum of the squared differences between parallel edges.
    squares: f64,
    /// Number of eliminated nodes.
    eliminated: usize,
}

impl SettledSums {
    fn add(&mut self, other: Self) {
        self.squares += other.squares;
        self.eliminated += other.eliminated;
    }
}

/// Returns, for each node, the lowest number of a node in the same connected component.
fn find_roots(nodes: usize, edges: &[&Edge]) -> Vec<usize> {
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

/// The network while nodes are eliminated. For each node it has the neighbors, with the difference to each of them and the weight of this difference.
struct Reduced {
    neighbours: Vec<BTreeMap<usize, (f64, f64)>>,
    /// The record of what was merged and eliminated. To get the sums of a component, add up those of its nodes.
    settled: Vec<SettledSums>,
}

impl Reduced {
    fn from_edges(network: &Network<'_>, edges: &[&Edge]) -> Self {
        let mut reduced = Self {
            neighbours: vec![BTreeMap::new(); network.nodes],
            settled: vec![SettledSums::default(); network.nodes],
        };
        for edge in edges {
            let weight = edge.standard_error.powi(-2);
            reduced.add(edge.from, edge.to, edge.log_ratio, weight);
        }
        reduced
    }

    /// Adds an edge, or merges it with a parallel edge into their weighted mean.
    fn add(&mut self, from: usize, to: usize, difference: f64, weight: f64) {
        let (mean, sum) = match self.neighbours[from].get(&to) {
            None => (difference, weight),
            Some((known, of_known)) => {
                let sum = of_known + weight;
                self.settled[from].squares +=
                    of_known * weight / sum * (difference - known).powi(2);
                (known + weight / sum * (difference - known), sum)
            }
        };
        self.neighbours[from].insert(to, (mean, sum));
        self.neighbours[to].insert(from, (-mean, sum));
    }

    /// Eliminates nodes that have no place in the history, those with the fewest neighbors first. Their numbers begin with `first`.
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
                let settled = std::mem::take(&mut self.settled[node]);
                self.settled[*end].add(settled);
                self.settled[*end].eliminated += 1;
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

    /// Assembles the component of a part. Returns `None` if the part has no edge or no place.
    fn component(&self, part: &ComponentPart<'_>, all_places: usize) -> Option<Component> {
        let count = part.nodes.partition_point(|node| *node < all_places);
        if part.edges.is_empty() || count == 0 {
            return None;
        }
        let local = |node: usize| part.nodes.binary_search(&node).ok();
        let called = part.edges.iter().filter(|edge| edge.called);
        let called = called.filter_map(|edge| {
            let (from, to) = (local(edge.from)?, local(edge.to)?);
            let change = CalledChange {
                earlier: from.min(to),
                later: from.max(to),
                is_slower: (edge.log_ratio > 0.0) == (from < to),
            };
            (change.later < count).then_some(change)
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
            squares: part.settled.squares,
            observations: measured.count().saturating_sub(part.settled.eliminated),
        })
    }
}

/// Assigns nodes to groups. All nodes of a group have the same value, or lie on the same trend.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeGroups {
    /// The group of each node of the component. The groups of places come first, in the order of the places. Each of the other nodes has a group of
    /// its own.
    pub of_node: Vec<usize>,
    pub count: usize,
    /// The groups whose values follow an even trend from their first to their last place. Each trend is an additional parameter.
    pub with_trend: Vec<usize>,
    /// The position of each node between the first and the last place of its group, from 0 to 1.
    progress: Vec<f64>,
}

/// The values of all groups and the sizes of all trends, with their covariance.
///
/// All nodes of a group have the same value, or lie on an even trend. The values x minimize the sum of `w (y - (x_b - x_a))^2` over all edges, each
/// from a to b with difference y and weight w. The first group has the value 0 (the adjustment of a leveling network: Gauss 1823; for ratios of
/// several treatments Lu and Ades 2004). The covariance of the values is the inverse of the normal matrix, the weighted Laplacian of the groups.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fit {
    /// The values of the groups as logarithms relative to the first group, which is 0, followed by the trends.
    pub values: Vec<f64>,
    /// The covariance of `values`, row by row. It is not yet scaled by how well the edges agree.
    pub covariance: Vec<Vec<f64>>,
    /// The weighted sum of the squared residuals, including what merged edges contribute.
    pub squares: f64,
    /// The residual of each edge of the component.
    pub residuals: Vec<f64>,
}

impl NodeGroups {
    /// Groups the places into levels. `begins` says for each place whether a new level begins there.
    pub fn from_level_starts(begins: &[bool], nodes: usize) -> Self {
        let mut of_node = Vec::with_capacity(nodes);
        let mut last = 0;
        for (place, begins) in begins.iter().enumerate() {
            last += usize::from(*begins && place > 0);
            of_node.push(last);
        }
        let levels = last + 1;
        let others = nodes - begins.len();
        of_node.extend(levels..levels + others);
        let mut progress = vec![0.0; nodes];
        for level in of_node[..begins.len()].chunk_by(|a, b| a == b) {
            let first = of_node.partition_point(|group| *group < level[0]);
            for at in 0..level.len() {
                progress[first + at] = at as f64 / (level.len() - 1).max(1) as f64;
            }
        }
        Self {
            of_node,
            count: levels + others,
            with_trend: Vec::new(),
            progress,
        }
    }

    /// Returns the number of parameters, including the fixed first one.
    fn parameters(&self) -> usize {
        self.count + self.with_trend.len()
    }

    /// Returns the parameters of the fit that add up to the value of a node, each with its factor: the value of the node's group and, if the group
    /// has one, its trend.
    pub fn row(&self, node: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let group = self.of_node[node];
        let trend = self
            .with_trend
            .iter()
            .position(|with_trend| *with_trend == group);
        let trend = trend.map(|at| (self.count + at, self.progress[node]));
        std::iter::once((group, 1.0)).chain(trend)
    }

    /// Returns the parameters that determine the difference of two nodes, each with its factor.
    pub fn difference(&self, a: usize, b: usize) -> Vec<(usize, f64)> {
        let minus = self.row(a).map(|(parameter, factor)| (parameter, -factor));
        let mut sums: Vec<(usize, f64)> = Vec::with_capacity(4);
        for (parameter, factor) in self.row(b).chain(minus) {
            match sums.iter_mut().find(|(known, _)| *known == parameter) {
                Some((_, sum)) => *sum += factor,
                None => sums.push((parameter, factor)),
            }
        }
        sums.retain(|(_, factor)| *factor != 0.0);
        sums
    }

    /// Returns which part of a trend of `group` lies between the two ends of an edge, from -1 to 1. The group must not have a trend yet.
    pub fn trend_factor(&self, group: usize, edge: &Weighted) -> f64 {
        let of = |node: usize| {
            let is_in = self.of_node[node] == group;
            if is_in { self.progress[node] } else { 0.0 }
        };
        of(edge.b) - of(edge.a)
    }

    /// Computes the least squares fit over these groups. Returns `None` if the matrix cannot be inverted.
    pub fn fit(&self, component: &Component) -> Option<Fit> {
        let count = self.parameters();
        let mut normal = vec![vec![0.0; count]; count];
        let mut right = vec![0.0; count];
        for edge in &component.edges {
            let row = self.difference(edge.a, edge.b);
            for (one, of_one) in &row {
                right[*one] += edge.weight * of_one * edge.difference;
                for (other, of_other) in &row {
                    normal[*one][*other] += edge.weight * of_one * of_other;
                }
            }
        }
        let covariance = invert_without_first(normal)?;
        let values: Vec<f64> = covariance
            .iter()
            .map(|row| row.iter().zip(&right).map(|(a, b)| a * b).sum())
            .collect();
        let mut fit = Fit {
            values,
            covariance,
            squares: component.squares,
            residuals: Vec::with_capacity(component.edges.len()),
        };
        for edge in &component.edges {
            let expected = fit.combination(&self.difference(edge.a, edge.b));
            let residual = edge.difference - expected;
            fit.squares += edge.weight * residual * residual;
            fit.residuals.push(residual);
        }
        Some(fit)
    }

    /// Returns the number of values that are estimated. The value of the first group is not, because it is fixed at 0.
    pub fn rank(&self) -> usize {
        self.parameters() - 1
    }
}

impl Fit {
    /// Returns the linear combination of the values that has these parameters and factors.
    pub fn combination(&self, row: &[(usize, f64)]) -> f64 {
        row.iter().fold(0.0, |sum, (parameter, factor)| {
            sum + factor * self.values[*parameter]
        })
    }

    /// Returns the variance of a linear combination of the values. It is not yet scaled by how well the edges agree.
    pub fn variance(&self, row: &[(usize, f64)]) -> f64 {
        let of = |(one, of_one): &(usize, f64)| -> f64 {
            let covariance = &self.covariance[*one];
            row.iter()
                .map(|(other, of_other)| of_one * of_other * covariance[*other])
                .sum()
        };
        row.iter().map(of).sum::<f64>().max(0.0)
    }
}

/// Inverts a symmetric matrix without its first row and column by Cholesky's decomposition. The first row and column of the result are zero. Returns
/// `None` if there is no inverse.
fn invert_without_first(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let count = matrix.len();
    for column in 1..count {
        for row in column..count {
            let (upper, lower) = matrix.split_at_mut(row);
            let this = &mut lower[0];
            let known = if row == column {
                &*this
            } else {
                &upper[column]
            };
            let sum: f64 = (1..column).map(|k| this[k] * known[k]).sum();
            let rest = this[column] - sum;
            this[column] = if row == column {
                if rest <= 0.0 || !rest.is_finite() {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / upper[column][column]
            };
        }
    }
    // Invert the triangle, then multiply it with its transpose.
    let mut triangle = vec![vec![0.0; count]; count];
    for column in 1..count {
        triangle[column][column] = 1.0 / matrix[column][column];
        for row in column + 1..count {
            let sum: f64 = (column..row)
                .map(|k| matrix[row][k] * triangle[k][column])
                .sum();
            triangle[row][column] = -sum / matrix[row][row];
        }
    }
    let mut inverse = vec![vec![0.0; count]; count];
    for one in 1..count {
        for other in 1..=one {
            let sum: f64 = (one..count)
                .map(|k| triangle[k][one] * triangle[k][other])
                .sum();
            inverse[one][other] = sum;
            inverse[other][one] = sum;
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::invert_without_first;

    /// Inverts a matrix that has these four numbers besides its first row and column, which are ignored.
    fn inverted([a, b, c, d]: [f64; 4]) -> Option<Vec<Vec<f64>>> {
        invert_without_first(vec![vec![9.0; 3], vec![9.0, a, b], vec![9.0, c, d]])
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_inverse() {
        let inverse = inverted([4.0, 2.0, 2.0, 3.0]).unwrap();
        for (found, expected) in inverse[1..].iter().zip([[0.375, -0.25], [-0.25, 0.5]]) {
            assert!((found[1] - expected[0]).abs() < 1e-12, "{inverse:?}");
            assert!((found[2] - expected[1]).abs() < 1e-12, "{inverse:?}");
        }
        assert_eq!(inverse[0], [0.0; 3]);
        for singular in [
            [0.0, 0.0, 0.0, 1.0],
            [-1.0, 0.0, 0.0, 1.0],
            [4.0, 2.0, 2.0, 1.0],
            [f64::INFINITY, 0.0, 0.0, 1.0],
            [f64::NAN, 0.0, 0.0, 1.0],
        ] {
            assert_eq!(inverted(singular), None, "{singular:?}");
        }
    }
}
