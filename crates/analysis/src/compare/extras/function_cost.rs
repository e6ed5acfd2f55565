//! What functions cost on both sides, whatever that was counted in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::BySide;

/// Functions that a comparison names, at most.
const NAMED: usize = 5;
/// A function is named whose difference is at least so much of the largest one.
const WORTH_NAMING: f64 = 0.1;

/// What an iteration costs in a function, without what that calls: instructions, or nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FunctionCost {
    /// Its readable name; instances of a generic function share one.
    pub name: String,
    /// How much on each side; 0 where the function is not run, or among so many others that its count was not kept.
    #[serde(flatten)]
    pub cost: BySide<f64>,
    /// The standard error of the difference, where that is estimated from samples; null of instructions.
    pub standard_error: Option<f64>,
}

impl FunctionCost {
    /// How much more it costs than it did.
    pub fn difference(&self) -> f64 {
        self.cost.candidate - self.cost.base
    }
}

/// Numbers of both sides by the name of a function; 0 where a side does not have it.
pub(super) fn by_name<'m>(
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

/// Those that differ most, most first.
pub(super) fn most_different(mut functions: Vec<FunctionCost>) -> Vec<FunctionCost> {
    let gap = |one: &FunctionCost| one.difference().abs();
    functions.sort_by(|one, two| gap(two).total_cmp(&gap(one)));
    let largest = functions.first().map_or(0.0, gap);
    functions.retain(|one| gap(one) > 0.0 && gap(one) >= WORTH_NAMING * largest);
    functions.truncate(NAMED);
    functions
}
