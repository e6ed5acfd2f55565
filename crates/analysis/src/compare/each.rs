//! Parallel work on many benchmarks, with progress reports.

use rayon::prelude::*;

use crate::model::ProgressReporter;

/// The number of items that are processed between two progress reports.
const AT_A_TIME: usize = 64;

/// Where one stage of a longer piece of work begins. Progress reports count all stages together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkStage {
    /// The number of parts of the whole work that are done when the stage begins.
    pub done: usize,
    /// The number of parts that the whole work has.
    pub total: usize,
}

impl WorkStage {
    /// Returns the stage for work that has `total` parts and no other stage.
    pub fn whole(total: usize) -> Self {
        Self { done: 0, total }
    }
}

/// Applies `work` to each item in parallel and returns the results in the order of the items. Progress reports count each item as one part of the
/// whole work.
pub fn map_with_progress<'t, T: Sync, R: Send>(
    all: &'t [T],
    stage: WorkStage,
    progress: &ProgressReporter<'_>,
    work: impl Fn(&'t T) -> R + Sync,
) -> Vec<R> {
    let mut results = Vec::with_capacity(all.len());
    for some in all.chunks(AT_A_TIME) {
        progress.report(stage.done + results.len(), stage.total);
        results.par_extend(some.par_iter().map(&work));
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Event, Observer};
    use std::sync::Mutex;

    #[derive(Default)]
    struct Reports(Mutex<Vec<(usize, usize)>>);

    impl Observer for Reports {
        fn observe(&self, event: &Event<'_>) {
            if let Event::Working { done, of, .. } = event {
                self.0.lock().unwrap().push((*done, *of));
            }
        }
    }

    #[test]
    fn each_sixty_four_items_are_reported_as_parts_of_the_whole_work() {
        let items: Vec<usize> = (0..130).collect();
        let reports = Reports::default();
        let progress = ProgressReporter::begin(&reports, "Testing", 130);
        let stage = WorkStage {
            done: 100,
            total: 300,
        };
        let found = map_with_progress(&items, stage, &progress, |item| item * item);
        assert!(found.into_iter().eq((0..130).map(|item| item * item)));
        let reports = reports.0.lock().unwrap();
        assert_eq!(reports[1..], [(100, 300), (164, 300), (228, 300)]);
    }
}
