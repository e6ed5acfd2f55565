//! Progress of long work other than measuring, such as storing many benchmarks.

use super::{Event, NullObserver, Observer};

/// Work on benchmarks that reports its progress. Dropping it reports the end.
pub struct ProgressReporter<'a> {
    observer: &'a dyn Observer,
    what: String,
    benchmarks: usize,
}

impl<'a> ProgressReporter<'a> {
    /// Begins the work and reports that. `what` is a word such as `Storing`, which the output puts before the number of benchmarks; 0 `benchmarks`
    /// means that the number is not yet known.
    pub fn begin(observer: &'a dyn Observer, what: impl Into<String>, benchmarks: usize) -> Self {
        let work = Self {
            observer,
            what: what.into(),
            benchmarks,
        };
        work.report(0, 1);
        work
    }

    /// Returns work that reports to no observer.
    pub fn silent() -> Self {
        Self::begin(&NullObserver, "", 0)
    }

    /// Reports that `done` of `of` parts are done; the size of a part does not matter.
    pub fn report(&self, done: usize, of: usize) {
        self.observer.observe(&Event::Working {
            what: &self.what,
            benchmarks: self.benchmarks,
            done,
            of,
        });
    }
}

impl Drop for ProgressReporter<'_> {
    fn drop(&mut self) {
        self.report(1, 1);
    }
}
