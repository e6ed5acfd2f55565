//! Walking the bench functions. A function is walked as often as needed: to list its benchmarks, no closure is run; to
//! run one, only the closure of that one is. So the set-up inside a filtered-out closure never happens, and closures may borrow locals
//! of their function. The callers of the executable differ only in their [`Visitor`].

use std::any::Any;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::bencher::Bencher;
use crate::panics;
use crate::settings::AnnouncedBenchmark;
use crate::suite::{Suite, Visitor};

/// A function that declares benchmarks, with its name. [`main!`](crate::main) makes them.
#[derive(Debug, Clone, Copy)]
pub struct BenchFunction {
    name: &'static str,
    function: fn(&mut Suite<'_>),
}

impl BenchFunction {
    /// `function`, called `name` in messages.
    pub const fn new(name: &'static str, function: fn(&mut Suite<'_>)) -> Self {
        Self { name, function }
    }
}

/// What a panic carried.
pub(crate) type PanicPayload = Box<dyn Any + Send>;

/// Walks one function; a panic outside the benchmarks' closures, or one that `visitor` let through, is returned.
pub(crate) fn walk(function: BenchFunction, visitor: &mut dyn Visitor) -> Result<(), PanicPayload> {
    catch_unwind(AssertUnwindSafe(|| {
        (function.function)(&mut Suite::new(visitor));
    }))
}

/// A benchmark and the function that declares it.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredBenchmark {
    pub(crate) announcement: AnnouncedBenchmark,
    /// Index of the function that declares it.
    pub(crate) function: usize,
}

/// All benchmarks of the executable, in program order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalogue {
    pub(crate) entries: Vec<DeclaredBenchmark>,
    /// What is wrong with functions that panicked while they declared their benchmarks; none of these is in `entries`, because
    /// a benchmark can only be run by walking its function.
    pub(crate) broken: Vec<String>,
}

impl Catalogue {
    /// Lists the benchmarks of all functions without running any of them.
    pub(crate) fn list(functions: &[BenchFunction]) -> Self {
        struct Lister {
            function: usize,
            entries: Vec<DeclaredBenchmark>,
        }
        impl Visitor for Lister {
            fn visit(
                &mut self,
                announcement: AnnouncedBenchmark,
                _: &mut dyn FnMut(&mut Bencher<'_>),
            ) {
                self.entries.push(DeclaredBenchmark {
                    announcement,
                    function: self.function,
                });
            }
        }
        let mut catalogue = Self::default();
        for (index, &function) in functions.iter().enumerate() {
            let mut lister = Lister {
                function: index,
                entries: Vec::new(),
            };
            match walk(function, &mut lister) {
                Ok(()) => catalogue.entries.append(&mut lister.entries),
                Err(payload) => catalogue.broken.push(format!(
                    "the function `{}`, outside its benchmarks, {}",
                    function.name,
                    panics::message(&*payload)
                )),
            }
        }
        catalogue
    }

    /// An id that two benchmarks share.
    pub(crate) fn duplicate(&self) -> Option<&str> {
        // A heap sort: hash tables and slice sorts would each be a tenth of the code that every bench crate compiles.
        let ids: BinaryHeap<&str> = self
            .entries
            .iter()
            .map(|entry| entry.announcement.id.as_str())
            .collect();
        let ids = ids.into_sorted_vec();
        ids.windows(2)
            .find(|pair| pair[0] == pair[1])
            .map(|pair| pair[0])
    }

    /// The only benchmark called `id`.
    pub(crate) fn find(&self, id: &str) -> Result<&DeclaredBenchmark, Missing> {
        let mut found = self
            .entries
            .iter()
            .filter(|entry| entry.announcement.id == id);
        match (found.next(), found.next()) {
            (None, _) => Err(Missing::Unknown),
            (Some(entry), None) => Ok(entry),
            (Some(_), Some(_)) => Err(Missing::Ambiguous),
        }
    }
}

/// Why an id names no benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// No benchmark is called so.
    Unknown,
    /// Several are.
    Ambiguous,
}

/// The explanation of a duplicate id, for all callers.
pub(crate) fn duplicate_message(id: &str) -> String {
    format!(
        "two benchmarks have the id {id:?}; ids must be unique in an executable: rename one, or put it in a group"
    )
}

impl BenchFunction {
    /// Its name in messages.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn declares(suite: &mut Suite<'_>) {
        suite.bench("a", |_| panic!("must not run"));
        suite.samples(7).bench("b", |b| b.skip("never"));
        suite.group("g").version("2").bench("c", |_| ());
    }

    fn declares_b_again(suite: &mut Suite<'_>) {
        suite.bench("b", |_| ());
    }

    #[test]
    fn listing_runs_no_closure_and_keeps_program_order() {
        let catalogue = Catalogue::list(&[BenchFunction::new("declares", declares)]);
        let entries = catalogue.entries;
        let ids: Vec<_> = entries.iter().map(|e| e.announcement.id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "g/c"]);
        assert_eq!(entries[0].announcement.settings.samples, None);
        assert_eq!(entries[2].announcement.settings.samples, Some(7));
        assert_eq!(
            entries[2].announcement.settings.version.as_deref(),
            Some("2")
        );
    }

    #[test]
    fn a_duplicate_id_is_found_across_functions() {
        let functions = [
            BenchFunction::new("declares", declares),
            BenchFunction::new("declares_b_again", declares_b_again),
        ];
        let catalogue = Catalogue::list(&functions);
        assert_eq!(catalogue.duplicate(), Some("b"));
        assert_eq!(catalogue.find("b").err(), Some(Missing::Ambiguous));
        assert_eq!(catalogue.find("x").err(), Some(Missing::Unknown));
        assert!(catalogue.find("a").is_ok());
    }

    #[test]
    fn a_function_that_panics_costs_no_other_its_benchmarks() {
        fn panics_half_way(suite: &mut Suite<'_>) {
            suite.bench("lost", |_| ());
            panic!("no corpus");
        }
        let catalogue = Catalogue::list(&[
            BenchFunction::new("panics_half_way", panics_half_way),
            BenchFunction::new("declares_b_again", declares_b_again),
        ]);
        assert_eq!(catalogue.entries.len(), 1);
        assert!(catalogue.find("b").is_ok());
        assert_eq!(
            catalogue.broken,
            ["the function `panics_half_way`, outside its benchmarks, panicked: no corpus"]
        );
    }

    #[test]
    fn settings_of_one_function_do_not_reach_the_next() {
        let functions = [
            BenchFunction::new("declares", declares),
            BenchFunction::new("declares_b_again", declares_b_again),
        ];
        let catalogue = Catalogue::list(&functions);
        assert_eq!(
            catalogue.entries[3].announcement.settings,
            Settings::default()
        );
    }
}
