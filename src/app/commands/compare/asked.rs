//! The context of a `compare` call: its store, options and runs.

use std::io::{self, Write};

use super::options::CompareOptions;
use crate::app::context::World;
use crate::app::deliver::place::write_result;
use crate::app::error::AppError;
use crate::app::options::OutputOptions;
use crate::app::stored::comparison::StoredComparison;
use crate::report::{MessageFormat, TableFormat, View};
use perfcheck_analysis::compare::apply_filter;
use perfcheck_analysis::model::{Measurement, Run, SampleFilter};
use perfcheck_engine::store::StoreError;

/// A call of `compare`.
pub(super) struct CompareCall<'a> {
    /// The comparison of stored runs
    pub(super) stored: StoredComparison<'a>,
    pub(super) options: &'a CompareOptions,
    pub(super) base: &'a str,
    pub(super) candidates: Vec<&'a str>,
}

impl CompareCall<'_> {
    /// Reads the selected measurements of `run`, with its own filter or the one of the command line.
    pub(super) fn read_measurements(&self, run: &Run) -> Result<Vec<Measurement>, StoreError> {
        let mut measurements = self.stored.store.measurements(run.id, None)?;
        let workspace = &self.stored.context.tables.workspace;
        if let Some(filter) = self.options.comparison.filter(workspace) {
            let source = run.source.as_ref();
            let paired = source.is_some_and(|source| source.filter.paired);
            apply_filter(
                &mut measurements,
                source,
                &SampleFilter { paired, ..filter },
            );
        }
        let wanted = |found: &Measurement| self.stored.filter.matches(&found.benchmark.key);
        measurements.retain(wanted);
        Ok(measurements)
    }

    /// Writes the result to stdout, unless a report replaces it there, and to each requested file. Writes as much as possible, then returns the first
    /// error.
    pub(super) fn write(
        &self,
        output: &OutputOptions,
        world: &mut World<'_>,
        write: impl Fn(&mut dyn Write, MessageFormat, TableFormat, &View) -> io::Result<()>,
    ) -> Result<(), AppError> {
        let reports = &self.options.reports;
        let mut result = Ok(());
        if !reports.replaces_table() {
            let view = output.view();
            result = write_result(None, world, |writer| {
                write(writer, output.format, TableFormat::Text, &view)
            });
        }
        for (form, file) in reports.tables() {
            let view = output.view_in(file);
            let written = write_result(file, world, |writer| {
                write(writer, MessageFormat::Human, form, &view)
            });
            result = result.and(written);
        }
        result
    }
}
