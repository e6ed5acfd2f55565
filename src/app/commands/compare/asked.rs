//! What a call of `compare` knows when it begins: the store, and what is asked about it.

use super::options::CompareOptions;
use crate::app::context::Context;
use crate::app::stored::comparison::StoredComparison;
use perfcheck_analysis::compare::clean;
use perfcheck_analysis::model::{Measurement, Run, SampleFilter};
use perfcheck_engine::store::{Store, StoreError, WorkspaceId};

/// A call of `compare`.
pub(super) struct Asked<'a> {
    pub(super) store: &'a Store,
    pub(super) workspace: WorkspaceId,
    pub(super) context: &'a Context,
    pub(super) options: &'a CompareOptions,
}

impl<'a> Asked<'a> {
    /// What `run` measured of the benchmarks that are wanted, described as its own filter leaves it, or the one that is asked for.
    pub(super) fn described(&self, run: &Run) -> Result<Vec<Measurement>, StoreError> {
        let mut measurements = self.store.measurements(run.id, None)?;
        let workspace = &self.context.tables.workspace;
        if let Some(filter) = self.options.comparison.filter(workspace) {
            let source = run.source.as_ref();
            let paired = source.is_some_and(|source| source.filter.paired);
            clean(
                &mut measurements,
                source,
                &SampleFilter { paired, ..filter },
            );
        }
        let wanted = |found: &Measurement| self.options.filter.wants(&found.benchmark.key.id);
        measurements.retain(wanted);
        Ok(measurements)
    }

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
