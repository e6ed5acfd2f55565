//! A value for each side that a campaign has: one where a build is measured alone, two where builds are measured in turn.

use perfcheck_analysis::model::{BySide, Side};

/// The candidate's value, and the base's where there is a base.
#[derive(Debug, Clone)]
pub(super) struct OneOrTwo<T> {
    pub(super) base: Option<T>,
    pub(super) candidate: T,
}

impl<T> OneOrTwo<T> {
    /// The value of the candidate alone.
    pub(super) fn alone(candidate: T) -> Self {
        Self {
            base: None,
            candidate,
        }
    }

    /// Whether there are two.
    pub(super) fn is_pair(&self) -> bool {
        self.base.is_some()
    }

    /// Those of the sides in `order` that there are.
    pub(super) fn present(&self, order: [Side; 2]) -> impl Iterator<Item = Side> + use<T> {
        let is_pair = self.is_pair();
        let sides = order.into_iter();
        sides.filter(move |side| is_pair || *side == Side::Candidate)
    }

    /// The value of `side`; where the candidate is alone, its own.
    pub(super) fn of(&self, side: Side) -> &T {
        match (side, &self.base) {
            (Side::Base, Some(base)) => base,
            _ => &self.candidate,
        }
    }

    /// The value of `side`, to be changed; where the candidate is alone, its own.
    pub(super) fn of_mut(&mut self, side: Side) -> &mut T {
        match (side, &mut self.base) {
            (Side::Base, Some(base)) => base,
            _ => &mut self.candidate,
        }
    }

    /// What `change` makes of each value.
    pub(super) fn map<U>(&self, change: impl Fn(&T) -> U) -> OneOrTwo<U> {
        OneOrTwo {
            base: self.base.as_ref().map(&change),
            candidate: change(&self.candidate),
        }
    }
}

impl<T> From<BySide<T>> for OneOrTwo<T> {
    fn from(both: BySide<T>) -> Self {
        Self {
            base: Some(both.base),
            candidate: both.candidate,
        }
    }
}
