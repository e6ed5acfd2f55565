//! Values that exist once if one build is measured, and twice, for each side, if two builds are measured side by side.

use crate::child::ChildError;
use perfcheck_analysis::model::{BySide, Side};

/// The child process of one side.
pub(super) struct SideChild<C> {
    pub(super) side: Side,
    pub(super) session: C,
}

/// The result of one side.
pub(super) struct SideResult<T> {
    pub(super) side: Side,
    pub(super) result: T,
}

/// An error, and the side on which it occurred.
pub(super) struct SideError {
    pub(super) side: Side,
    pub(super) error: ChildError,
}

impl SideError {
    /// Returns a function that adds the side to an error.
    pub(super) fn on(side: Side) -> impl FnOnce(ChildError) -> Self {
        move |error| Self { side, error }
    }
}

/// The candidate's value, and the base's if there is a base.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CampaignSides<T> {
    pub(super) base: Option<T>,
    pub(super) candidate: T,
}

impl<T> CampaignSides<T> {
    /// Creates the value of a single side, which is the candidate.
    pub(super) fn single(candidate: T) -> Self {
        Self {
            base: None,
            candidate,
        }
    }

    /// Reports whether there are two sides.
    pub(super) fn is_pair(&self) -> bool {
        self.base.is_some()
    }

    /// Returns the sides that exist, in the given order.
    pub(super) fn sides_in(&self, order: [Side; 2]) -> impl Iterator<Item = Side> + use<T> {
        let is_pair = self.is_pair();
        let sides = order.into_iter();
        sides.filter(move |side| is_pair || *side == Side::Candidate)
    }

    /// Returns the value of `side`, or the candidate's if there is no base.
    pub(super) fn get(&self, side: Side) -> &T {
        match (side, &self.base) {
            (Side::Base, Some(base)) => base,
            _ => &self.candidate,
        }
    }

    /// Returns a mutable reference to the value of `side`, or to the candidate's if there is no base.
    pub(super) fn get_mut(&mut self, side: Side) -> &mut T {
        match (side, &mut self.base) {
            (Side::Base, Some(base)) => base,
            _ => &mut self.candidate,
        }
    }

    /// Applies `change` to each value.
    pub(super) fn map<U>(&self, change: impl Fn(&T) -> U) -> CampaignSides<U> {
        CampaignSides {
            base: self.base.as_ref().map(&change),
            candidate: change(&self.candidate),
        }
    }
}

impl<T> From<BySide<T>> for CampaignSides<T> {
    fn from(both: BySide<T>) -> Self {
        Self {
            base: Some(both.base),
            candidate: both.candidate,
        }
    }
}
