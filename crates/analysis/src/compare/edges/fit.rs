//! Weighted least squares over a component whose nodes are grouped: all nodes of a group have one value, or an even trend.
//!
//! x minimizes `sum w (y - (x_b - x_a))^2` with the first group at 0 (the adjustment of a leveling network: Gauss 1823; for ratios of several
//! treatments Lu and Ades 2004). Its covariance is the inverse of the normal matrix, the weighted Laplacian of the groups.

use super::network::{Component, Weighted};

/// The assignment of nodes to groups that have one value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NodeGroups {
    /// The group of each node of the component. Places come in order, from group 0 on; each of the other nodes has a group of its own.
    pub of_node: Vec<usize>,
    pub count: usize,
    /// Groups with an even trend from their first to their last place. Each trend is a parameter of its own.
    pub with_trend: Vec<usize>,
    /// The position of each node between the first and the last place of its group, from 0 to 1.
    progress: Vec<f64>,
}

/// The values of the groups, followed by the trends, with their covariance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fit {
    /// Logarithms relative to the first group, which is 0.
    pub values: Vec<f64>,
    /// Covariance of `values`, row by row, before scaling.
    pub covariance: Vec<Vec<f64>>,
    /// Weighted residual sum of squares.
    pub squares: f64,
    /// The residual of each edge.
    pub residuals: Vec<f64>,
}

impl NodeGroups {
    /// Groups the places into levels. `begins` tells for each place whether another level begins there.
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

    /// Returns the factors that give the value of a node from the parameters.
    pub fn row(&self, node: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let group = self.of_node[node];
        let trend = self
            .with_trend
            .iter()
            .position(|with_trend| *with_trend == group);
        let trend = trend.map(|at| (self.count + at, self.progress[node]));
        std::iter::once((group, 1.0)).chain(trend)
    }

    /// Returns the factors that give the difference of two nodes from the parameters.
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

    /// Returns the factor by which an edge would depend on a trend of a group that has none yet.
    pub fn trend_factor(&self, group: usize, edge: &Weighted) -> f64 {
        let of = |node: usize| {
            let is_in = self.of_node[node] == group;
            if is_in { self.progress[node] } else { 0.0 }
        };
        of(edge.b) - of(edge.a)
    }

    /// Computes the least squares fit over these groups; `None` if the matrix cannot be inverted.
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

    /// Returns the number of estimated values; the first is fixed at 0.
    pub fn rank(&self) -> usize {
        self.parameters() - 1
    }
}

impl Fit {
    /// Returns a linear combination of the values.
    pub fn combination(&self, row: &[(usize, f64)]) -> f64 {
        row.iter().fold(0.0, |sum, (parameter, factor)| {
            sum + factor * self.values[*parameter]
        })
    }

    /// Returns the variance of a linear combination, before scaling.
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

/// Inverts a symmetric matrix without its first row and column, which are zero in the result, by Cholesky's decomposition. `None` if there is no
/// inverse.
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
