//! The costs of functions on both sides, in instructions or in time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::BySide;

/// The largest number of functions that a comparison names.
const NAMED: usize = 5;
/// A function is named if its difference is at least this share of the largest difference.
const WORTH_NAMING: f64 = 0.1;

/// The cost of an iteration in one function, without its callees: in instructions or nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionCost {
    /// Its readable name; instances of a generic function share a name.
    pub name: String,
    /// Its cost on each side; 0 if the function is not run, or if its count was too small to be kept.
    #[serde(flatten)]
    pub cost: BySide<f64>,
    /// The standard error of the difference if it is estimated from samples; null for instructions.
    pub standard_error: Option<f64>,
}

impl FunctionCost {
    /// Returns how much more the function costs than before.
    pub fn difference(&self) -> f64 {
        self.cost.candidate - self.cost.base
    }
}

/// Groups the numbers of both sides by function; 0 if a side does not have the function.
pub(super) fn group_by_name<'m>(
    base: impl IntoIterator<Item = (&'m str, f64)>,
    candidate: impl IntoIterator<Item = (&'m str, f64)>,
) -> BTreeMap<&'m str, BySide<f64>> {
    let mut by_name: BTreeMap<&str, BySide<f64>> = BTreeMap::new();
    for (name, number) in base {
        by_name.entry(name).or_default().base += number;
    }
    for (name, number) in candidate {
        by_name.entry(name).or_default().candidate += number;
    }
    by_name
}

/// Keeps the functions that differ most, sorted by the size of the difference.
pub(super) fn keep_most_different(mut functions: Vec<FunctionCost>) -> Vec<FunctionCost> {
    let gap = |one: &FunctionCost| one.difference().abs();
    functions.sort_by(|one, two| gap(two).total_cmp(&gap(one)));
    let largest = functions.first().map_or(0.0, gap);
    functions.retain(|one| gap(one) > 0.0 && gap(one) >= WORTH_NAMING * largest);
    functions.truncate(NAMED);
    functions
}
