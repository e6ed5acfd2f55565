//! What a call of `compare` knows when it begins: the store, and what is asked about it.

use super::options::CompareOptions;
use crate::app::context::Context;
use crate::app::stored::comparison::StoredComparison;
use perfcheck_engine::store::{Store, WorkspaceId};

/// A call of `compare`.
pub(super) struct Asked<'a> {
    pub(super) store: &'a Store,
    pub(super) workspace: WorkspaceId,
    pub(super) context: &'a Context,
    pub(super) options: &'a CompareOptions,
}

impl<'a> Asked<'a> {
    /// The comparison of stored runs that is asked for.
    pub(super) fn comparison(&self) -> StoredComparison<'a> {
        StoredComparison {
            store: self.store,
            workspace: self.workspace,
            context: self.context,
            filter: &self.options.filter,
            options: &self.options.comparison,
        }
    }
}
