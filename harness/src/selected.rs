//! Runs the selected benchmarks one after another in one process. A panic ends only the benchmark in which it happens.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::bencher::{Bencher, RoutineEnding};
use crate::driver::SampleDriver;
use crate::panics;
use crate::settings::{AnnouncedBenchmark, Settings};
use crate::suite::Visitor;
use crate::walk::{BenchFunction, DeclaredBenchmark, DeclaredId, walk_function};

/// The outcome of one benchmark.
pub(crate) enum Ending {
    /// The driver has taken its samples.
    Measured,
    /// The benchmark called `skip` with this reason.
    Skipped(String),
    /// The benchmark panicked or did not use its bencher as required; the text says how.
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
                panics::payload_text(&*payload)
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
            Err(payload) => {
                Ending::Failed(format!("panicked: {}", panics::payload_text(&*payload)))
            }
        };
        self.caller.finish_benchmark(id, driver, ending);
    }
}
