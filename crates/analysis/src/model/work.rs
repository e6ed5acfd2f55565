//! Something else than a measurement that takes long where there are many benchmarks, and whom it tells how far it is.

use super::{Event, Observer, Silence};

/// Work on benchmarks. Whoever drops it tells its end.
pub struct Work<'a> {
    observer: &'a dyn Observer,
    what: String,
    benchmarks: usize,
}

impl<'a> Work<'a> {
    /// Begins, and says so. `what` is a word such as `Storing`, what is worked on stands behind it; of `0` benchmarks nobody knows yet how many
    /// there are.
    pub fn begin(observer: &'a dyn Observer, what: impl Into<String>, benchmarks: usize) -> Self {
        let work = Self {
            observer,
            what: what.into(),
            benchmarks,
        };
        work.reached(0, 1);
        work
    }

    /// Nobody hears of it.
    pub fn silent() -> Self {
        Self::begin(&Silence, "", 0)
    }

    /// Tells that so many parts of all are done, whatever a part is.
    pub fn reached(&self, done: usize, of: usize) {
        self.observer.observe(&Event::Working {
            what: &self.what,
            benchmarks: self.benchmarks,
            done,
            of,
        });
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.reached(1, 1);
    }
}
