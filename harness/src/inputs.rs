//! The inputs of a parameterized benchmark. Each has a label, which becomes the last part of the id.

use std::fmt::Display;

/// Inputs with labels for `bench_inputs`, made by [`matrix`] or [`labelled`].
#[derive(Debug, Clone)]
pub struct Inputs<V> {
    labelled: Vec<(String, V)>,
}

/// Returns every combination of two parameters; the second one varies fastest. The label of a combination is `first/second`. Add a third parameter
/// with [`and`](Inputs::and).
///
/// # Examples
///
/// ```
/// # fn copies(suite: &mut perfcheck::Suite) {
/// use perfcheck::{black_box, matrix};
/// // copy/1/a, copy/1/b, copy/2/a, copy/2/b
/// suite.bench_inputs("copy", matrix([1, 2], ["a", "b"]), |b, (count, text)| {
///     b.iter(|| black_box(text).repeat(count));
/// });
/// // fill/1/64/true, fill/1/64/false, ...
/// suite.bench_inputs("fill", matrix([1, 2], [64, 128]).and([true, false]), |b, (width, height, dense)| {
///     b.iter(|| vec![dense; width * height]);
/// });
/// # }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("copies", copies)]), std::process::ExitCode::SUCCESS);
/// ```
pub fn matrix<A: Display + Clone, B: Display + Clone>(
    first: impl IntoIterator<Item = A>,
    second: impl IntoIterator<Item = B>,
) -> Inputs<(A, B)> {
    let second: Vec<B> = second.into_iter().collect();
    let mut labelled = Vec::new();
    for a in first {
        for b in &second {
            labelled.push((format!("{a}/{b}"), (a.clone(), b.clone())));
        }
    }
    Inputs { labelled }
}

/// Returns inputs with labels of your choice, for values that do not display as a short text.
///
/// # Examples
///
/// ```
/// # fn lengths(suite: &mut perfcheck::Suite) {
/// // length/empty, length/long
/// suite.bench_inputs("length", perfcheck::labelled([("empty", vec![]), ("long", vec![0_u8; 1000])]), |b, bytes| {
///     b.iter(|| bytes.len());
/// });
/// # }
/// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("lengths", lengths)]), std::process::ExitCode::SUCCESS);
/// ```
pub fn labelled<L: Display, V>(inputs: impl IntoIterator<Item = (L, V)>) -> Inputs<V> {
    let labelled = inputs
        .into_iter()
        .map(|(label, value)| (label.to_string(), value))
        .collect();
    Inputs { labelled }
}

impl<A: Clone, B: Clone> Inputs<(A, B)> {
    /// Adds a third parameter, which varies fastest.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn grids(suite: &mut perfcheck::Suite) {
    /// use perfcheck::matrix;
    ///
    /// // The first ids are grid/2/8/true, grid/2/8/false and grid/2/16/true.
    /// let inputs = matrix([2, 4], [8, 16]).and([true, false]);
    /// suite.bench_inputs("grid", inputs, |bencher, (rows, columns, filled)| {
    ///     bencher.iter(|| vec![vec![filled; columns]; rows]);
    /// });
    /// # }
    /// # assert_eq!(perfcheck::run(&[perfcheck::BenchFunction::new("grids", grids)]), std::process::ExitCode::SUCCESS);
    /// ```
    #[must_use]
    pub fn and<C: Display + Clone>(self, third: impl IntoIterator<Item = C>) -> Inputs<(A, B, C)> {
        let third: Vec<C> = third.into_iter().collect();
        let mut labelled = Vec::with_capacity(self.labelled.len() * third.len());
        for (label, (a, b)) in self.labelled {
            for c in &third {
                labelled.push((format!("{label}/{c}"), (a.clone(), b.clone(), c.clone())));
            }
        }
        Inputs { labelled }
    }
}

/// Inputs that `bench_inputs` accepts: anything iterable whose items implement `Display`, or labelled [`Inputs`].
///
/// # Examples
///
/// ```
/// use perfcheck::IntoInputs;
///
/// let labels: Vec<String> = [10, 100].into_inputs().map(|(label, _)| label).collect();
/// assert_eq!(labels, ["10", "100"]);
/// ```
pub trait IntoInputs {
    /// The type of one input.
    type Value;

    /// Returns each input with its label.
    fn into_inputs(self) -> impl Iterator<Item = (String, Self::Value)>;
}

impl<I: IntoIterator<Item: Display>> IntoInputs for I {
    type Value = I::Item;

    fn into_inputs(self) -> impl Iterator<Item = (String, Self::Value)> {
        self.into_iter().map(|value| (value.to_string(), value))
    }
}

impl<V> IntoInputs for Inputs<V> {
    type Value = V;

    fn into_inputs(self) -> impl Iterator<Item = (String, Self::Value)> {
        self.labelled.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(inputs: impl IntoInputs) -> Vec<String> {
        inputs.into_inputs().map(|(label, _)| label).collect()
    }

    #[test]
    fn plain_values_are_labelled_by_their_text() {
        assert_eq!(labels([10, 100]), ["10", "100"]);
        assert_eq!(labels(vec!["a b", ""]), ["a b", ""]);
    }

    #[test]
    fn a_matrix_varies_its_last_parameter_fastest() {
        assert_eq!(
            labels(matrix([1, 2], ["a", "b"])),
            ["1/a", "1/b", "2/a", "2/b"]
        );
        let three = matrix([1, 2], ['x']).and([true, false]);
        assert_eq!(
            three.labelled,
            [
                ("1/x/true".to_owned(), (1, 'x', true)),
                ("1/x/false".to_owned(), (1, 'x', false)),
                ("2/x/true".to_owned(), (2, 'x', true)),
                ("2/x/false".to_owned(), (2, 'x', false)),
            ]
        );
    }

    #[test]
    fn labelled_inputs_need_no_text_of_their_own() {
        struct Opaque;
        assert_eq!(labels(labelled([("one", Opaque)])), ["one"]);
    }
}
