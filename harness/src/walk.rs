//! Walks of the bench functions. A walk is one call of a function. A walk that lists benchmarks runs no closure, and a walk that measures a benchmark
//! runs only its closure. So set-up inside other closures does not run, and closures may borrow locals of their function. The modes of the executable
//! differ only in their [`Visitor`].
//!
//! Invariant: a panic ends only the benchmark in which it happens; its message and place go into the `error` frame.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BinaryHeap;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Mutex;
use std::thread;

use crate::bencher::{Bencher, RoutineEnding};
use crate::driver::SampleDriver;

use crate::protocol::Frames;
use crate::settings::{AnnouncedBenchmark, Settings};
use crate::suite::{Suite, Visitor};

/// A function that declares benchmarks, with its name. [`main!`](crate::main) creates one for each function.
#[derive(Debug, Clone, Copy)]
pub struct BenchFunction {
    name: &'static str,
    function: fn(&mut Suite<'_>),
}

impl BenchFunction {
    /// Pairs `function` with the `name` that messages use for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use perfcheck::{BenchFunction, Suite};
    ///
    /// fn sums(suite: &mut Suite) {
    ///     suite.bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
    /// }
    ///
    /// const SUMS: BenchFunction = BenchFunction::new("sums", sums);
    /// # assert_eq!(perfcheck::run(&[SUMS]), std::process::ExitCode::SUCCESS);
    /// ```
    pub const fn new(name: &'static str, function: fn(&mut Suite<'_>)) -> Self {
        Self { name, function }
    }
}

/// The payload of a panic.
pub(crate) type PanicPayload = Box<dyn Any + Send>;

/// Walks one function. Fails with the payload of a panic that happened outside the benchmarks' closures, or that `visitor` did not catch.
pub(crate) fn walk_function(
    function: BenchFunction,
    visitor: &mut dyn Visitor,
) -> Result<(), PanicPayload> {
    catch_unwind(AssertUnwindSafe(|| {
        (function.function)(&mut Suite::new(visitor));
    }))
}

/// A benchmark, and where it is declared.
#[derive(Debug, Clone)]
pub(crate) struct DeclaredBenchmark {
    /// The id and the settings. This id is unique in the executable
    pub(crate) announcement: AnnouncedBenchmark,
    /// Index of the function that declares the benchmark
    pub(crate) function: usize,
    pub(crate) declaration: DeclaredId,
}

/// The id as it is in the author's code, and the number of earlier benchmarks of the same function with this id.
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
                    take_message(&*payload)
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

/// The outcome of one benchmark.
pub(crate) enum Ending {
    /// The driver has taken its samples.
    Measured,
    /// The benchmark called `skip` with this reason.
    Skipped(String),
    /// The benchmark panicked or did not use its bencher as required. The text says what happened.
    Failed(String),
}

/// Supplies the driver of each benchmark and receives its outcome.
pub(crate) trait BenchmarkRunner {
    /// The driver of one benchmark.
    type Driver: SampleDriver;

    /// Called before the benchmark `id` runs, to make its driver.
    fn make_driver(&mut self, id: &str, settings: &Settings) -> Self::Driver;

    /// Called when the benchmark has ended.
    fn finish_benchmark(&mut self, id: &str, driver: Self::Driver, ending: Ending);
}

/// Runs the selected benchmarks in program order. Functions that declare none of them are not called. Fails if a function panics outside its
/// benchmarks: the rest of its benchmarks are lost, but later functions still run.
pub(crate) fn run_selected(
    functions: &[BenchFunction],
    wanted: &[DeclaredBenchmark],
    caller: &mut impl BenchmarkRunner,
) -> Result<(), String> {
    let mut result = Ok(());
    for (index, function) in functions.iter().enumerate() {
        if !wanted.iter().any(|entry| entry.function == index) {
            continue;
        }
        let mut selected = SelectedWalk {
            wanted,
            caller,
            function: index,
            declared: Vec::new(),
        };
        if let Err(payload) = walk_function(*function, &mut selected) {
            result = Err(format!(
                "the function `{}` panicked outside its benchmarks: {}",
                function.name(),
                payload_text(&*payload)
            ));
        }
    }
    result
}

struct SelectedWalk<'s, C> {
    wanted: &'s [DeclaredBenchmark],
    caller: &'s mut C,
    function: usize,
    /// Ids that the function has declared so far
    declared: Vec<String>,
}

impl<C: BenchmarkRunner> Visitor for SelectedWalk<'_, C> {
    fn visit(&mut self, announcement: AnnouncedBenchmark, body: &mut dyn FnMut(&mut Bencher<'_>)) {
        let AnnouncedBenchmark { id, settings } = announcement;
        let before = self.declared.iter().filter(|other| **other == id).count();
        self.declared.push(id.clone());
        let declaration = DeclaredId { id, before };
        let mut wanted = self.wanted.iter();
        let Some(entry) = wanted
            .find(|entry| entry.function == self.function && entry.declaration == declaration)
        else {
            return;
        };
        let id = &entry.announcement.id;
        let mut driver = self.caller.make_driver(id, &settings);
        let throughput = settings.throughput;
        let result = catch_unwind(AssertUnwindSafe(|| {
            Bencher::run(body, throughput, &mut driver)
        }));
        let ending = match result {
            Ok(RoutineEnding::Measured) => Ending::Measured,
            Ok(RoutineEnding::Skipped(reason)) => Ending::Skipped(reason),
            Ok(RoutineEnding::Misused(message)) => Ending::Failed(message.to_owned()),
            Err(payload) => Ending::Failed(format!("panicked: {}", payload_text(&*payload))),
        };
        self.caller.finish_benchmark(id, driver, ending);
    }
}

thread_local! {
    /// The message of this thread's last panic.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The id of the running benchmark. The panic hook needs it if a panic aborts the process.
static UNDER_WAY: Mutex<Option<String>> = Mutex::new(None);

/// The message of the last panic that happened outside any benchmark since the last benchmark ended. It is kept apart from [`LAST`], which disappears
/// when its thread ends.
static OUTSIDE: Mutex<Option<String>> = Mutex::new(None);

/// Installs a hook that records panics of the calling thread and does not print them. Panics of other threads are printed as usual, and so is every
/// panic if `RUST_BACKTRACE` asks for a backtrace. If a panic aborts the process, the hook itself sends the `error` frame.
pub(crate) fn install_hook(frames: &Frames) -> std::io::Result<()> {
    let frames = Mutex::new(frames.try_clone()?);
    let bench_thread = thread::current().id();
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == bench_thread {
            let message = describe(info);
            if cfg!(panic = "abort") {
                if let (Ok(mut frames), Ok(id)) = (frames.lock(), UNDER_WAY.lock()) {
                    frames.fatal_error(id.as_deref(), &message);
                }
            }
            if let (Ok(None), Ok(mut outside)) = (UNDER_WAY.lock().as_deref(), OUTSIDE.lock()) {
                *outside = Some(message.clone());
            }
            LAST.set(Some(message));
            if std::env::var_os("RUST_BACKTRACE").is_none_or(|value| value == "0") {
                return;
            }
        }
        print(info);
    }));
    Ok(())
}

/// Sets the running benchmark, to which later panics belong, and clears recorded panics.
pub(crate) fn set_current_benchmark(id: Option<&str>) {
    LAST.set(None);
    if let Ok(mut outside) = OUTSIDE.lock() {
        *outside = None;
    }
    if let Ok(mut under_way) = UNDER_WAY.lock() {
        *under_way = id.map(ToOwned::to_owned);
    }
}

/// Returns the message of a panic outside any benchmark, since the last benchmark ended.
pub(crate) fn message_outside_benchmarks() -> Option<String> {
    OUTSIDE.lock().ok().and_then(|outside| outside.clone())
}

/// Returns the message of a caught panic. If the hook has recorded the panic, the message says where in the source it happened.
pub(crate) fn take_message(payload: &(dyn Any + Send)) -> String {
    LAST.take()
        .unwrap_or_else(|| format!("panicked: {}", payload_text(payload)))
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let text = payload_text(info.payload());
    match info.location() {
        Some(place) => format!("panicked at {place}: {text}"),
        None => format!("panicked: {text}"),
    }
}

/// Returns the text of a panic's payload.
pub(crate) fn payload_text(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "(a payload that is not text)"
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
