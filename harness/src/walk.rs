//! Walks of the bench functions. A walk is one call of a function, and there are as many as needed: a listing runs no closure, and a measurement
//! runs only the closure of its benchmark. Set-up inside other closures therefore never runs, and closures may borrow locals of their function.
//! Callers of the executable differ only in their [`Visitor`].

use std::any::Any;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::bencher::Bencher;
use crate::panics;
use crate::settings::AnnouncedBenchmark;
use crate::suite::{Suite, Visitor};

/// A function that declares benchmarks, with its name. Made by [`main!`](crate::main).
#[derive(Debug, Clone, Copy)]
pub struct BenchFunction {
    name: &'static str,
    function: fn(&mut Suite<'_>),
}

impl BenchFunction {
    /// Makes an entry for `function`, which messages call `name`.
    pub const fn new(name: &'static str, function: fn(&mut Suite<'_>)) -> Self {
        Self { name, function }
    }
}

/// The payload of a panic.
pub(crate) type PanicPayload = Box<dyn Any + Send>;

/// Walks one function. Returns the payload of a panic outside the benchmarks' closures, or of one that `visitor` did not catch.
pub(crate) fn walk_function(
    function: BenchFunction,
    visitor: &mut dyn Visitor,
) -> Result<(), PanicPayload> {
    catch_unwind(AssertUnwindSafe(|| {
        (function.function)(&mut Suite::new(visitor));
    }))
}

/// A benchmark, with the place of its declaration.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredBenchmark {
    /// Id and settings; the id is unique in the executable
    pub(crate) announcement: AnnouncedBenchmark,
    /// Index of the function that declares the benchmark
    pub(crate) function: usize,
    pub(crate) declaration: DeclaredId,
}

/// The id in the author's code, and the number of earlier benchmarks of the same function with this id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredId {
    pub(crate) id: String,
    pub(crate) before: usize,
}

/// All benchmarks of the executable, in program order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalogue {
    pub(crate) entries: Vec<DeclaredBenchmark>,
    /// Messages about functions that panicked while they declared their benchmarks. Benchmarks of such functions are not in `entries`, because
    /// running one means walking its function
    pub(crate) broken: Vec<String>,
}

impl Catalogue {
    /// Lists the benchmarks of all functions without running any.
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
                    declaration: DeclaredId {
                        id: announcement.id.clone(),
                        before: 0,
                    },
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
            match walk_function(function, &mut lister) {
                Ok(()) => catalogue.entries.append(&mut lister.entries),
                Err(payload) => catalogue.broken.push(format!(
                    "the function `{}`, outside its benchmarks, {}",
                    function.name,
                    panics::take_message(&*payload)
                )),
            }
        }
        catalogue.number_duplicate_ids();
        catalogue
    }

    /// Gives the second benchmark with the id `x` the id `x #2`, as Criterion does.
    fn number_duplicate_ids(&mut self) {
        // Use a heap sort: a hash table or a slice sort would each add a tenth to the code that every bench crate compiles.
        let ids = self.entries.iter().enumerate();
        let ids: BinaryHeap<(&str, usize)> = ids
            .map(|(place, entry)| (entry.announcement.id.as_str(), place))
            .collect();
        let ids = ids.into_sorted_vec();
        let pairs = ids.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        // Equal ids are adjacent and in program order. Each new id is checked against all others, so two numbered ids cannot be equal.
        let doubled: Vec<(usize, usize)> = pairs.map(|pair| (pair[0].1, pair[1].1)).collect();
        for (previous, place) in doubled {
            let before = &self.entries[previous];
            if before.function == self.entries[place].function {
                self.entries[place].declaration.before = before.declaration.before + 1;
            }
            let id = &self.entries[place].declaration.id;
            let mut numbered = (2_usize..).map(|number| format!("{id} #{number}"));
            if let Some(unique) = numbered.find(|numbered| self.find(numbered).is_none()) {
                self.entries[place].announcement.id = unique;
            }
        }
    }

    /// Returns the benchmark with this id.
    pub(crate) fn find(&self, id: &str) -> Option<&DeclaredBenchmark> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.announcement.id == id)
    }
}

impl BenchFunction {
    /// Returns the name used in messages.
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
    fn equal_ids_are_numbered_across_functions() {
        fn declares_twice(suite: &mut Suite<'_>) {
            suite.bench("b", |_| ()).bench("b #2", |_| ());
            suite.bench("b", |_| ()).bench("b", |_| ());
        }
        let functions = [
            BenchFunction::new("declares", declares),
            BenchFunction::new("declares_twice", declares_twice),
        ];
        let catalogue = Catalogue::list(&functions);
        let entries = catalogue.entries.iter();
        let found: Vec<_> = entries
            .skip(3)
            .map(|entry| (entry.announcement.id.as_str(), entry.declaration.before))
            .collect();
        let expected = [("b #3", 0), ("b #2", 0), ("b #4", 1), ("b #5", 2)];
        assert_eq!(found, expected);
        assert!(catalogue.find("x").is_none());
        assert_eq!(catalogue.find("a").map(|entry| entry.function), Some(0));
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
        assert!(catalogue.find("b").is_some());
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
