//! Discovers the benchmarks of the executables before anything is measured, and selects among them by the user's filter. Discovery also finds the
//! kind of harness that an executable has, and each kind has a driver.

use std::collections::BTreeSet;
use std::mem::discriminant;
use std::sync::Arc;

use super::criterion_config::{all_benchmarks_warning, shortest_sampling};
use super::process::process_spec;
use crate::child::{
    Announcement, Capability, ChildError, CriterionRequest, CriterionSession, CriterionVersion,
    DetectedHarness, Listing, PrintedHarness, ProcessContext, Session,
};
use perfcheck_analysis::model::{
    AuthorSettings, Benchmark, BenchmarkKey, Event, Metric, Nanos, NullObserver, Observer,
    ProgramBenchmark, SkipSupport, Throughput, as_in_cells, limits,
};
use perfcheck_build::cargo::BenchTarget;

/// An error message quotes at most this many characters of an id that is refused, because the id may be too long.
const LONGEST_QUOTED: usize = 60;

/// A bench target and the benchmarks that it announced.
#[derive(Debug, Clone)]
pub struct DiscoveredTarget {
    /// The target.
    pub target: BenchTarget,
    /// The benchmarks of the target, in program order.
    pub benchmarks: Vec<Benchmark>,
    /// The capabilities of its harness (docs/internals/src/protocol.md).
    pub capabilities: Vec<String>,
    /// The resolution of the bench's clock, if its harness reports one.
    pub clock_step: Option<Nanos>,
    /// The kind of the target's harness, which decides how its processes are driven.
    pub harness: HarnessKind,
}

/// A target that could not list all of its benchmarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetFailure {
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// Description of the failure.
    pub message: String,
}

/// The outcome of the discovery for all targets.
#[derive(Debug, Clone, Default)]
pub struct DiscoveredBenches {
    /// The targets that listed benchmarks.
    pub targets: Vec<DiscoveredTarget>,
    /// The targets that failed. A target that listed only some benchmarks is in both lists.
    pub failures: Vec<TargetFailure>,
}

/// The facts that are already known about the candidate when the benchmarks of a reference are discovered. A failure that both builds have is then
/// reported only once.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceContext<'a> {
    /// The outcome for the candidate.
    pub candidate: &'a DiscoveredBenches,
    /// Name of the reference.
    pub reference: &'a str,
}

/// Asks every target for its benchmarks. A target that fails is reported and recorded in [`DiscoveredBenches::failures`]. The function itself fails
/// only if the user asked to stop.
pub fn discover(
    targets: Vec<BenchTarget>,
    beside: Option<ReferenceContext<'_>>,
    context: ProcessContext<'_>,
) -> Result<DiscoveredBenches, ChildError> {
    let mut found = DiscoveredBenches::default();
    for target in targets {
        let known = beside.map_or_else(Vec::new, |beside| beside.candidate.failures_of(&target));
        let observer: &dyn Observer = match known[..] {
            [] => context.observer,
            _ => &NullObserver,
        };
        let tell = |message: &str| {
            if !known.contains(&message) {
                context.observer.observe(&Event::TargetFailed {
                    package: &target.package,
                    target: &target.target,
                    reference: beside.map(|beside| beside.reference),
                    message,
                });
            }
        };
        match list_checked(
            &target,
            ProcessContext {
                observer,
                ..context
            },
        ) {
            Ok(announced) => {
                if let Some(error) = &announced.broke_off
                    && !beside.is_some_and(|beside| beside.candidate.runs_all_benchmarks(&target))
                {
                    let message = all_benchmarks_warning(&target, error);
                    context.observer.observe(&Event::Warning(&message));
                }
                for message in announced.broken {
                    tell(&message);
                    found.fail(&target, message);
                }
                found.targets.push(announced.target);
            }
            Err(ChildError::Interrupted) => return Err(ChildError::Interrupted),
            Err(error) => {
                let message = error.to_string();
                tell(&message);
                found.fail(&target, message);
            }
        }
    }
    Ok(found)
}

impl DiscoveredBenches {
    /// Reports whether no target has a benchmark.
    pub fn is_empty(&self) -> bool {
        self.targets
            .iter()
            .all(|target| target.benchmarks.is_empty())
    }

    /// Keeps only the benchmarks for which `is_kept` holds.
    pub fn retain(&mut self, is_kept: impl Fn(&BenchmarkKey) -> bool) {
        for target in &mut self.targets {
            target
                .benchmarks
                .retain(|benchmark| is_kept(&benchmark.key));
        }
    }

    /// Reports whether each process of `target` runs all benchmarks.
    fn runs_all_benchmarks(&self, target: &BenchTarget) -> bool {
        let found = self.targets.iter().map(|found| &found.target);
        found
            .filter(|found| found.package == target.package && found.target == target.target)
            .any(|found| found.skipping == SkipSupport::Breaks)
    }

    fn failures_of(&self, target: &BenchTarget) -> Vec<&str> {
        let failures = self.failures.iter();
        failures
            .filter(|one| one.package == target.package && one.target == target.target)
            .map(|one| &*one.message)
            .collect()
    }

    fn fail(&mut self, target: &BenchTarget, message: String) {
        self.failures.push(TargetFailure {
            package: target.package.clone(),
            target: target.target.clone(),
            message,
        });
    }
}

/// The result of listing an executable's benchmarks.
struct TargetListing {
    target: DiscoveredTarget,
    /// The reasons why some benchmarks were refused.
    broken: Vec<String>,
    /// The error that ended a process which skipped its benchmarks.
    broke_off: Option<ChildError>,
}

impl TargetListing {
    /// Creates the result for an executable that listed all its benchmarks.
    fn complete(target: DiscoveredTarget) -> Self {
        Self {
            target,
            broken: Vec::new(),
            broke_off: None,
        }
    }
}

/// Creates a target about which only the benchmarks are known.
fn target_with_benchmarks(
    target: &BenchTarget,
    harness: HarnessKind,
    benchmarks: Vec<Benchmark>,
) -> DiscoveredTarget {
    DiscoveredTarget {
        target: target.clone(),
        benchmarks,
        capabilities: Vec::new(),
        clock_step: None,
        harness,
    }
}

/// Refuses the benchmarks that have a value beyond its limit. All other benchmarks are measured.
fn refuse_beyond_limits(announced: &mut TargetListing) {
    let TargetListing { target, broken, .. } = announced;
    target.benchmarks.retain(|benchmark| {
        let why = benchmark.find_exceeded_limit();
        if let Some(why) = &why {
            let id: String = benchmark.key.id.chars().take(LONGEST_QUOTED).collect();
            broken.push(format!("benchmark `{id}` is not measured: {why}"));
        }
        why.is_none()
    });
}

fn list_checked(
    target: &BenchTarget,
    context: ProcessContext<'_>,
) -> Result<TargetListing, ChildError> {
    let mut announced = list(target, context)?;
    if let Some(error) = announced.broke_off.take() {
        announced = list_by_running(target, context, announced, error)?;
    }
    refuse_beyond_limits(&mut announced);
    refuse_duplicates(&mut announced);
    Ok(announced)
}

fn list(target: &BenchTarget, context: ProcessContext<'_>) -> Result<TargetListing, ChildError> {
    if target.has_programs() {
        return Ok(list_programs(target));
    }
    let spec = process_spec(target, 0, 0);
    match Session::detect(&spec, &context)? {
        DetectedHarness::Ours(session) => list_own(target, *session),
        DetectedHarness::Criterion(version) => {
            let runs_all = target.skipping == SkipSupport::Breaks;
            let request = CriterionRequest {
                version: Some(version),
                settings: runs_all.then(|| shortest_sampling(version)),
                longest: None,
                ids: Some(&[]),
            };
            let session = CriterionSession::start(&spec, &request, &context)?;
            list_criterion(target, version, session)
        }
        DetectedHarness::Printed(printer) => {
            let harness = printer.list(&target.target, &spec, &context)?;
            let ids = harness.ids().iter();
            let benchmarks = ids
                .map(|id| benchmark_with_id(target, id.clone()))
                .collect();
            let kind = HarnessKind::Printed(Arc::new(harness));
            Ok(TargetListing::complete(target_with_benchmarks(
                target, kind, benchmarks,
            )))
        }
    }
}

/// Lists the benchmarks of a program, which is not started.
fn list_programs(target: &BenchTarget) -> TargetListing {
    let benchmarks = target.programs.iter().map(|program| Benchmark {
        version: Some(program.version()),
        ..benchmark_with_id(target, program.id.clone())
    });
    let benchmarks = benchmarks.collect();
    let harness = HarnessKind::Program(target.programs.clone().into());
    TargetListing::complete(target_with_benchmarks(target, harness, benchmarks))
}

/// Lists the benchmarks again after the bench ended with `error` while it skipped them, this time by running each for a moment. If that fails too,
/// keeps the benchmarks that were `announced` before.
fn list_by_running(
    target: &BenchTarget,
    context: ProcessContext<'_>,
    mut announced: TargetListing,
    error: ChildError,
) -> Result<TargetListing, ChildError> {
    let runs_all = BenchTarget {
        skipping: SkipSupport::Breaks,
        ..target.clone()
    };
    match list(&runs_all, context) {
        Err(ChildError::Interrupted) => Err(ChildError::Interrupted),
        Ok(ran) if ran.broke_off.is_none() => Ok(TargetListing {
            broke_off: Some(error),
            ..ran
        }),
        Ok(_) | Err(_) => {
            let last = announced.target.benchmarks.last();
            let last = last.map_or("", |last| last.key.id.as_str());
            announced.broken.push(format!(
                "its benchmarks after `{last}` are unknown: {error}\n  help: the code around the benchmarks must work when all of them are skipped, as in `cargo bench --bench {} -- nothing`; running all of them failed too",
                target.target
            ));
            Ok(announced)
        }
    }
}

/// Refuses benchmarks whose id another benchmark already has: only the first one counts.
fn refuse_duplicates(announced: &mut TargetListing) {
    let TargetListing { target, broken, .. } = announced;
    let mut ids = BTreeSet::new();
    target.benchmarks.retain(|benchmark| {
        let id = &benchmark.key.id;
        let is_new = ids.insert(id.clone());
        if !is_new {
            broken.push(format!(
                "several benchmarks have the id `{id}`, so only the first is measured; rename the others"
            ));
        }
        is_new
    });
}

fn list_own(target: &BenchTarget, mut session: Session<'_>) -> Result<TargetListing, ChildError> {
    let capabilities = session.hello().capabilities.clone();
    let clock_step = Some(session.hello().quantum_ns);
    let mut listing = Listing::default();
    let listed = match session.hello().capability() {
        Some(Capability::Addressable) => {
            listing = session.list()?;
            Ok(())
        }
        Some(Capability::Sequential) => list_sequentially(&mut session, &mut listing),
        None => return Err(ChildError::Capability),
    };
    let broke_off = match listed {
        Ok(()) => {
            session.bye()?;
            None
        }
        Err(error) => Some(require_benchmarks(error, listing.benchmarks.is_empty())?),
    };
    let benchmarks = listing.benchmarks.into_iter();
    let benchmarks = benchmarks.map(|announcement| from_announcement(target, announcement));
    let found = DiscoveredTarget {
        capabilities,
        clock_step,
        ..target_with_benchmarks(target, HarnessKind::Own, benchmarks.collect())
    };
    Ok(TargetListing {
        target: found,
        broken: listing.broken,
        broke_off,
    })
}

/// Lists the benchmarks of a sequential child.
fn list_sequentially(session: &mut Session<'_>, listing: &mut Listing) -> Result<(), ChildError> {
    let mut next = session.advance()?;
    while let Some(announcement) = next {
        let id = announcement.id.clone();
        listing.benchmarks.push(announcement);
        next = session.skip(&id)?;
    }
    Ok(())
}

/// Decides whether the benchmarks that were found before `error` can still be measured. Returns the error if there are such benchmarks, and it only
/// means that the process ended or that the bench failed. Fails with the error otherwise.
fn require_benchmarks(error: ChildError, is_empty: bool) -> Result<ChildError, ChildError> {
    match error {
        ChildError::Exited { .. } | ChildError::Bench(_) if !is_empty => Ok(error),
        _ => Err(error),
    }
}

/// Lists the benchmarks of a Criterion bench without measuring them.
fn list_criterion(
    target: &BenchTarget,
    version: CriterionVersion,
    mut session: CriterionSession<'_>,
) -> Result<TargetListing, ChildError> {
    let mut benchmarks = Vec::new();
    let broke_off = loop {
        let reported = match session.next_report() {
            Ok(Some(reported)) => reported,
            Ok(None) => break None,
            Err(error) => break Some(require_benchmarks(error, benchmarks.is_empty())?),
        };
        if benchmarks.len() == limits::MOST_BENCHMARKS {
            let what = format!("it has more than {} benchmarks", limits::MOST_BENCHMARKS);
            return Err(ChildError::protocol(what));
        }
        benchmarks.push(Benchmark {
            throughput: reported.throughput,
            other_throughput: reported.throughput_words,
            ..benchmark_with_id(target, reported.id)
        });
    };
    Ok(TargetListing {
        broke_off,
        ..TargetListing::complete(target_with_benchmarks(
            target,
            HarnessKind::Criterion(version),
            benchmarks,
        ))
    })
}

/// Creates a benchmark about which only the id is known. It is assumed to measure time, as most benchmarks do.
fn benchmark_with_id(target: &BenchTarget, id: String) -> Benchmark {
    Benchmark {
        key: BenchmarkKey {
            package: target.package.clone(),
            target: target.target.clone(),
            id,
        },
        version: None,
        throughput: Throughput::default(),
        other_throughput: None,
        settings: AuthorSettings::default(),
        metric: Metric::Time,
    }
}

fn from_announcement(target: &BenchTarget, announcement: Announcement) -> Benchmark {
    Benchmark {
        version: announcement.version,
        throughput: announcement.throughput,
        settings: announcement.settings,
        metric: announcement.metric,
        ..benchmark_with_id(target, announcement.id)
    }
}

/// The user's `FILTER...` and `--exact`, as in `cargo bench`. A benchmark is selected if its id contains one of the words or, with `--exact`, is one
/// of them. Without `--exact`, a word with a `*` also selects the ids that it describes: each `*` stands for any text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The words. If there are none, every benchmark is selected.
    pub words: Vec<String>,
    /// Whether a word must be the whole id.
    pub exact: bool,
}

impl Filter {
    /// Reports whether this benchmark is selected: by its id, or by the form of the id in tables. A word that begins with `package/target: `, like a
    /// line of `list`, selects only benchmarks of that target.
    pub fn matches(&self, key: &BenchmarkKey) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let shown = as_in_cells(&key.id);
        let target = format!("{}/{}: ", key.package, key.target);
        let is_wanted = |word: &str| {
            if self.exact {
                key.id == word || shown == word
            } else {
                let has_word = |id: &str| id.contains(word) || fits_pattern(id, word);
                has_word(&key.id) || has_word(&shown)
            }
        };
        let mut words = self.words.iter();
        words.any(|word| is_wanted(word) || word.strip_prefix(&target).is_some_and(is_wanted))
    }
}

/// Reports whether `pattern` describes the whole `text`. Each `*` of the pattern stands for any text. A pattern without `*` describes nothing.
fn fits_pattern(text: &str, pattern: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return false;
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let within = text.strip_prefix(first);
    let Some(mut left) = within.and_then(|text| text.strip_suffix(last)) else {
        return false;
    };
    for piece in middle.split('*') {
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    true
}

/// The kind of harness in an executable.
///
/// Our own harness is driven by requests: two sides are alive at once and sample alternately, or run one after the other. Criterion is driven by
/// permissions: two sides are alive at once and measure benchmarks alternately. Harnesses that only print get one process for one benchmark: two
/// sides run one after the other. Programs are run again and again, with the sides in alternation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HarnessKind {
    /// Our protocol: the bench carries out requests.
    #[default]
    Own,
    /// Criterion: the bench goes through its benchmarks and waits for our permission before each.
    Criterion(CriterionVersion),
    /// The bench only prints its results: one process for each benchmark.
    Printed(Arc<PrintedHarness>),
    /// There is no harness: each run of the program is an iteration.
    Program(Arc<[ProgramBenchmark]>),
}

/// Finds the program whose benchmark has this id.
pub(super) fn find_program<'p>(
    programs: &'p [ProgramBenchmark],
    id: &str,
) -> Result<&'p ProgramBenchmark, ChildError> {
    let program = programs.iter().find(|program| program.id == id);
    program.ok_or_else(|| ChildError::bench("the program is no longer in Cargo.toml"))
}

impl HarnessKind {
    /// Reports whether one driver can drive both executables.
    pub fn is_alike(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Printed(one), Self::Printed(two)) => one.printer() == two.printer(),
            _ => discriminant(self) == discriminant(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_word_selects_and_none_selects_everything() {
        let wants = |words: &[&str], exact, id: &str| {
            let filter = Filter {
                words: words.iter().map(ToString::to_string).collect(),
                exact,
            };
            filter.matches(&BenchmarkKey {
                package: "text".to_owned(),
                target: "all".to_owned(),
                id: id.to_owned(),
            })
        };
        assert!(wants(&[], false, "sort/10"));
        assert!(wants(&["parse", "sort"], false, "sort/10"));
        assert!(!wants(&["parse"], false, "sort/10"));
        assert!(!wants(&["sort"], true, "sort/10"));
        assert!(wants(&["sort/10"], true, "sort/10"));
        // A line copied from `list`.
        assert!(wants(&["text/all: sort/10"], true, "sort/10"));
        assert!(wants(&["text/all: sort"], false, "sort/10"));
        assert!(!wants(&["text/other: sort/10"], false, "sort/10"));
        // A star stands for any text, and the other text must be at its place.
        for (pattern, is_wanted) in [
            ("sort/*", true),
            ("*/10", true),
            ("s*t/1*", true),
            ("s*o*r*0", true),
            ("sort/10*", true),
            ("ort/*", false),
            ("sort/*/10", false),
            ("s*r*o*", false),
            ("sort/1*10", false),
        ] {
            assert_eq!(wants(&[pattern], false, "sort/10"), is_wanted, "{pattern}");
        }
        assert!(!wants(&["sort/*"], true, "sort/10"));
        assert!(wants(&["2*3"], false, "product/2*3"));
    }
}
