//! One launch of each side while it is under way.

use perfcheck_analysis::model::{BySide, LaunchRecord};

/// One launch of each side under way.
pub(super) struct LaunchPair {
    pub(super) records: BySide<LaunchRecord>,
    /// Subjects still to be visited, by their place in the target; taken from the end.
    pub(super) wanted: Vec<usize>,
    /// Names this pair to what is drawn by chance.
    pub(super) block: u64,
    pub(super) interrupted: bool,
}
