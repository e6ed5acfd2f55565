//! The child's side of the protocol with `cargo perfcheck` (the bench protocol). The parent is in command: this file answers each request with
//! exactly one final frame, then waits. While a benchmark is started, its closure is on the stack and requests are read inside its `iter*`.
//!
//! Before any code of the bench author runs, the protocol moves from the standard streams to descriptors of its own. Output of a bench then goes to
//! stderr, and its stdin is empty. Invariant: the child does not outlive its parent (the bench protocol, section 1).

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::io::{BufRead, BufReader};
use std::process::{self, ExitCode};

use crate::bencher::{Bencher, RoutineEnding};
use crate::clock::{self, Script, Slowdown, Stopwatch, saturating_nanos};
use crate::driver::{SampleDriver, warm_up};
use crate::latencies::{self, LatencyDigits, LatencyRecorder, Reservoir};
use crate::output::fail_with;
use crate::protocol::{ADDRESSABLE, Frames, HarnessIdentity, ParentRequest, Schedule};
use crate::sampler::{Sampler, count_allocations};
use crate::settings::{AnnouncedBenchmark, Throughput};
use crate::suite::Visitor;
use crate::walk::{BenchFunction, Catalogue, DeclaredId, walk_function};
use crate::{counting, timing, walk};

/// The environment variable that announces a parent. It lists the protocol versions that the parent speaks.
pub(crate) const VARIABLE: &str = "PERFCHECK_PROTOCOL";

/// The protocol version of this crate.
const PROTOCOL: u32 = 1;

/// The initial capacity of the buffer for requests, enough for a schedule of a few thousand SPECs. If the buffer had to grow, the allocator's
/// behavior would depend on the number of digits in the iteration counts.
const LONGEST_USUAL_REQUEST: usize = 64 * 1024;

/// Serves the parent until it sends `bye` or ends.
pub(crate) fn run(functions: &[BenchFunction], parent_speaks: &str) -> ExitCode {
    clear_parent_variable();
    let serve = || -> Result<(), String> {
        let Some(opened) = open(parent_speaks, &ADDRESSABLE)? else {
            return Ok(());
        };
        Child {
            functions,
            catalogue: None,
            opened,
        }
        .serve();
        Ok(())
    };
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail_with(2, &format!("cannot serve cargo perfcheck: {error}")),
    }
}

/// An open connection to the parent, with the options that the parent has set.
pub(crate) struct ParentConnection {
    script: Script,
    slowdown: Slowdown,
    process: usize,
    counts_allocations: bool,
    latency_digits: LatencyDigits,
    pub(crate) wire: ProtocolStream,
}

impl ParentConnection {
    /// Returns the driver for the benchmark `id`, which starts now.
    pub(crate) fn start_driver<'s>(&'s mut self, id: &'s str) -> RemoteDriver<'s> {
        RemoteDriver {
            id,
            stopwatch: self.script.stopwatch(id, self.process, self.slowdown),
            seed: Reservoir::derive_seed(id, self.process as u64),
            counts_allocations: self.counts_allocations,
            latency_digits: self.latency_digits,
            samples: 0,
            wire: &mut self.wire,
            outcome: None,
        }
    }
}

/// Moves everything that is allocated from now on, by about as many bytes as the padding has. Otherwise, the data of all processes of an executable
/// would lie at the same places within pages, and those of the other side perhaps at others. This difference would look like a change of the code.
fn move_heap() {
    // The copy is never freed, and the compiler must not leave it out.
    std::mem::forget(std::hint::black_box(std::env::var_os("PERFCHECK_PADDING")));
}

/// Takes over the standard streams and sends `hello`. Returns `None` if the parent does not speak this version.
pub(crate) fn open(
    parent_speaks: &str,
    harness: &HarnessIdentity,
) -> Result<Option<ParentConnection>, String> {
    move_heap();
    let process = std::env::var("PERFCHECK_PROCESS").map_or(Ok(0), |text| {
        text.parse()
            .map_err(|_| format!("PERFCHECK_PROCESS: {text:?} is not an ordinal"))
    })?;
    let script = Script::parse(&std::env::var(clock::SCRIPT_VARIABLE).unwrap_or_default())?;
    let slowdown = Slowdown::parse(&std::env::var(clock::SLOWDOWN_VARIABLE).unwrap_or_default())?;
    let digits = std::env::var(LatencyDigits::VARIABLE).unwrap_or_default();
    let latency_digits = LatencyDigits::parse(&digits)?;
    let wires = take_over().map_err(|error| error.to_string())?;
    let mut frames = Frames::new(wires.frames);
    walk::install_hook(&frames).map_err(|error| error.to_string())?;
    frames.send_empty_line();
    let counts_allocations = counting::is_installed();
    let quantum_ns = saturating_nanos(clock::measure_quantum());
    frames.send_hello(harness, PROTOCOL, counts_allocations, quantum_ns);
    if !includes_version(parent_speaks, PROTOCOL) {
        return Ok(None);
    }
    let wire = ProtocolStream {
        requests: BufReader::new(wires.requests),
        line: Vec::with_capacity(LONGEST_USUAL_REQUEST),
        frames,
    };
    Ok(Some(ParentConnection {
        script,
        slowdown,
        process,
        counts_allocations,
        latency_digits,
        wire,
    }))
}

/// Removes [`VARIABLE`] from the environment, so that programs started by a bench do not act as children of the parent.
#[expect(unsafe_code, reason = "changing the environment is unsafe")]
pub(crate) fn clear_parent_variable() {
    // SAFETY: `main` has just begun; there is no other thread that could read the environment.
    unsafe { std::env::remove_var(VARIABLE) }
}

fn includes_version(versions: &str, version: u32) -> bool {
    versions
        .split(',')
        .any(|word| word.trim().parse() == Ok(version))
}

/// The two directions of the protocol: requests in, frames out.
pub(crate) struct ProtocolStream {
    requests: BufReader<File>,
    line: Vec<u8>,
    pub(crate) frames: Frames,
}

impl ProtocolStream {
    /// Returns the next valid request. Answers invalid ones with an error.
    fn next_request(&mut self) -> ParentRequest {
        loop {
            let request = self.next_line().and_then(ParentRequest::parse);
            match request {
                Ok(request) => return request,
                Err(message) => self.frames.error(None, &message),
            }
        }
    }

    /// Returns the next line. Ends the process if the parent is gone.
    pub(crate) fn next_line(&mut self) -> Result<&str, String> {
        self.line.clear();
        let read = self.requests.read_until(b'\n', &mut self.line);
        if read.is_err() || self.line.pop() != Some(b'\n') {
            process::exit(0);
        }
        std::str::from_utf8(&self.line).map_err(|_| "the request is not UTF-8".to_owned())
    }

    fn refuse(&mut self, request: &ParentRequest, state: &str) {
        let message = format!("`{}` is not valid while {state}", request.name());
        self.frames.error(None, &message);
    }
}

/// The child between benchmarks.
struct Child<'f> {
    functions: &'f [BenchFunction],
    catalogue: Option<Catalogue>,
    opened: ParentConnection,
}

impl Child<'_> {
    fn serve(&mut self) {
        loop {
            match self.opened.wire.next_request() {
                ParentRequest::List => self.list(),
                ParentRequest::Start(id) => self.start(&id),
                ParentRequest::Bye => return self.opened.wire.frames.bye(),
                request => self.opened.wire.refuse(&request, "no benchmark is started"),
            }
        }
    }

    fn list(&mut self) {
        let catalogue = catalogue_or_list(&mut self.catalogue, self.functions);
        let frames = &mut self.opened.wire.frames;
        for entry in &catalogue.entries {
            frames.benchmark(&entry.announcement);
        }
        for message in &catalogue.broken {
            frames.broken(message);
        }
        frames.listed(catalogue.entries.len());
    }

    /// Calls the function that declares `id` and runs the benchmark's closure.
    fn start(&mut self, id: &str) {
        let catalogue = catalogue_or_list(&mut self.catalogue, self.functions);
        let Some(entry) = catalogue.find(id) else {
            let message = [format!("there is no benchmark {id:?}")]
                .iter()
                .chain(&catalogue.broken)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join("; ");
            return self.opened.wire.frames.error(Some(id), &message);
        };
        let function = self.functions[entry.function];
        let declaration = entry.declaration.clone();
        walk::set_current_benchmark(Some(id));
        let mut addressed = DeclarationFinder {
            declaration,
            starter: self.opened.start_driver(id),
        };
        let result = walk_function(function, &mut addressed);
        let outcome = addressed.starter.outcome;
        let frames = &mut self.opened.wire.frames;
        match (result, outcome) {
            (Err(payload), _) => frames.error(Some(id), &walk::take_message(&*payload)),
            (Ok(()), Some(RoutineEnding::Measured)) => frames.finished(id),
            (Ok(()), Some(RoutineEnding::Skipped(reason))) => frames.skipped(id, &reason),
            (Ok(()), Some(RoutineEnding::Misused(message))) => frames.error(Some(id), message),
            (Ok(()), None) => frames.error(
                Some(id),
                "the benchmark was listed, but its function did not declare it again: what a function declares must not change",
            ),
        }
        walk::set_current_benchmark(None);
    }
}

/// Returns the benchmarks, listed on the first call. Every child lists them, even if it is only asked to start one, so that all children do the
/// same work.
fn catalogue_or_list<'c>(
    catalogue: &'c mut Option<Catalogue>,
    functions: &[BenchFunction],
) -> &'c Catalogue {
    catalogue.get_or_insert_with(|| {
        walk::set_current_benchmark(None);
        Catalogue::list(functions)
    })
}

/// A driver that takes the samples of one benchmark as the parent requests them.
pub(crate) struct RemoteDriver<'s> {
    id: &'s str,
    pub(crate) stopwatch: Stopwatch,
    seed: u64,
    counts_allocations: bool,
    latency_digits: LatencyDigits,
    /// Number of samples taken so far
    samples: usize,
    wire: &'s mut ProtocolStream,
    outcome: Option<RoutineEnding>,
}

/// A visitor that runs one benchmark while its function declares all of its benchmarks. Several benchmarks may have the same id.
struct DeclarationFinder<'s> {
    /// The benchmark to run. Each earlier benchmark with the same id decrements `before`
    declaration: DeclaredId,
    starter: RemoteDriver<'s>,
}

impl Visitor for DeclarationFinder<'_> {
    fn visit(&mut self, announcement: AnnouncedBenchmark, body: &mut dyn FnMut(&mut Bencher<'_>)) {
        if announcement.id != self.declaration.id || self.starter.outcome.is_some() {
            return;
        }
        if self.declaration.before > 0 {
            self.declaration.before -= 1;
            return;
        }
        let throughput = announcement.settings.throughput;
        drop(announcement);
        self.starter.outcome = Some(Bencher::run(body, throughput, &mut self.starter));
    }
}

impl SampleDriver for RemoteDriver<'_> {
    fn drive(
        &mut self,
        throughput: Throughput,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyRecorder>>,
    ) {
        if let Some(latencies) = latencies {
            let clock = self.stopwatch.operation_clock();
            latencies
                .borrow_mut()
                .prepare(clock, self.seed, self.latency_digits);
        }
        let is_latency = latencies.is_some();
        self.wire.frames.started(self.id, throughput, is_latency);
        loop {
            match (self.wire.next_request(), latencies) {
                (ParentRequest::WarmUp(time), _) => {
                    let limit_ns = saturating_nanos(time);
                    let warm_up = warm_up(
                        |iterations| self.stopwatch.warm_up(sampler, iterations),
                        limit_ns,
                    );
                    self.wire.frames.warmed_up(&warm_up);
                }
                (ParentRequest::Sample(schedule), _) => self.sample(&schedule, sampler, latencies),
                (ParentRequest::Count(limit), _) if self.counts_allocations => {
                    let counts = count_allocations(sampler, limit);
                    self.wire.frames.counted(&counts);
                }
                (ParentRequest::Latencies(times), Some(latencies)) => {
                    self.wire.frames.latencies(&latencies.borrow(), times);
                }
                (ParentRequest::Finish, _) => return,
                (request @ ParentRequest::Count(_), _) => {
                    self.wire.refuse(&request, "the allocator does not count");
                }
                (request @ ParentRequest::Latencies(_), None) => {
                    let state = "a benchmark is started that does not time every operation";
                    self.wire.refuse(&request, state);
                }
                (request, _) => self.wire.refuse(&request, "a benchmark is started"),
            }
        }
    }
}

impl RemoteDriver<'_> {
    fn sample(
        &mut self,
        schedule: &Schedule,
        sampler: &mut Sampler<'_>,
        latencies: Option<&RefCell<LatencyRecorder>>,
    ) {
        // Allocate all memory before the first sample.
        let mut iterations = Vec::with_capacity(schedule.len());
        let mut elapsed_ns = Vec::with_capacity(schedule.len());
        self.wire.frames.reserve_samples(schedule.len());
        for count in schedule.iterations() {
            let index = self.samples;
            self.samples += 1;
            let sampler = &mut |iterations| timing::sample_at_position(index, sampler, iterations);
            elapsed_ns.push(match latencies {
                Some(latencies) => {
                    saturating_nanos(latencies::sample_operations(latencies, sampler, count))
                }
                None => self.stopwatch.sample(sampler, count),
            });
            iterations.push(count);
        }
        self.wire.frames.samples(&iterations, &elapsed_ns);
    }
}

/// The files for the two directions of the protocol.
#[derive(Debug)]
pub(crate) struct ProtocolFiles {
    pub(crate) requests: File,
    pub(crate) frames: File,
}

#[cfg(unix)]
pub(crate) use unix::take_over;
#[cfg(windows)]
pub(crate) use windows::take_over;

/// Fails, because this system is not supported.
#[cfg(not(any(unix, windows)))]
pub(crate) fn take_over() -> io::Result<ProtocolFiles> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system has no descriptors that a bench executable could speak the protocol on",
    ))
}

#[cfg(unix)]
mod unix {
    use super::{File, ProtocolFiles, io};
    use std::ffi::c_int;
    use std::io::Write as _;
    use std::os::fd::{AsFd, AsRawFd};

    #[expect(unsafe_code, reason = "std has no dup2")]
    unsafe extern "C" {
        fn dup2(from: c_int, to: c_int) -> c_int;
    }

    /// Takes over the standard streams and makes the child die with its parent.
    pub(crate) fn take_over() -> io::Result<ProtocolFiles> {
        die_with_parent()?;
        // std sets close-on-exec on its duplicates, so grandchildren cannot hold the protocol open.
        let wires = ProtocolFiles {
            requests: io::stdin().as_fd().try_clone_to_owned()?.into(),
            frames: io::stdout().as_fd().try_clone_to_owned()?.into(),
        };
        io::stdout().flush()?;
        let null = File::open("/dev/null")?;
        replace(null.as_raw_fd(), io::stdin().as_raw_fd())?;
        replace(io::stderr().as_raw_fd(), io::stdout().as_raw_fd())?;
        Ok(wires)
    }

    /// Makes the standard stream `to` a duplicate of `from`.
    fn replace(from: c_int, to: c_int) -> io::Result<()> {
        // SAFETY: dup2 touches no memory of ours; `to` is descriptor 0 or 1, which std never closes and nobody owns.
        #[expect(unsafe_code, reason = "std has no dup2")]
        let result = unsafe { dup2(from, to) };
        if result == -1 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Asks the kernel to kill this process when its parent dies.
    #[cfg(target_os = "linux")]
    fn die_with_parent() -> io::Result<()> {
        use std::ffi::c_ulong;
        use std::os::unix::process::parent_id;

        #[expect(unsafe_code, reason = "std has no prctl")]
        unsafe extern "C" {
            fn prctl(option: c_int, ...) -> c_int;
        }
        const PR_SET_PDEATHSIG: c_int = 1;
        const SIGKILL: c_ulong = 9;

        let parent = parent_id();
        // SAFETY: PR_SET_PDEATHSIG takes one argument, an unsigned long, and touches no memory of ours.
        #[expect(unsafe_code, reason = "std has no prctl")]
        let result = unsafe { prctl(PR_SET_PDEATHSIG, SIGKILL) };
        if result == -1 {
            return Err(io::Error::last_os_error());
        }
        // If the parent died before the call of `prctl`, no signal comes. (If it died before `parent_id` above, the end of the request stream ends
        // the child.)
        if parent_id() != parent {
            std::process::exit(0);
        }
        Ok(())
    }

    /// Does nothing: on other systems, only the end of the request stream ends the child.
    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unnecessary_wraps, reason = "fallible on Linux")]
    fn die_with_parent() -> io::Result<()> {
        Ok(())
    }
}

#[cfg(windows)]
mod windows {
    use super::{File, ProtocolFiles, io};
    use std::io::Write as _;
    use std::os::windows::io::{AsHandle, AsRawHandle, IntoRawHandle, RawHandle};

    #[expect(unsafe_code, reason = "std cannot set the standard handles")]
    unsafe extern "system" {
        fn SetStdHandle(stream: u32, handle: RawHandle) -> i32;
    }
    const STD_INPUT_HANDLE: u32 = -10_i32 as u32;
    const STD_OUTPUT_HANDLE: u32 = -11_i32 as u32;

    /// Takes over the standard streams for Rust's std, which asks for the handle on each use. A C runtime in the same process keeps its own
    /// descriptor 1.
    pub(crate) fn take_over() -> io::Result<ProtocolFiles> {
        // Child processes do not inherit duplicates made by std.
        let wires = ProtocolFiles {
            requests: io::stdin().as_handle().try_clone_to_owned()?.into(),
            frames: io::stdout().as_handle().try_clone_to_owned()?.into(),
        };
        io::stdout().flush()?;
        // Leak the handle of the null device: it must stay open as long as the process lives.
        replace(STD_INPUT_HANDLE, File::open("NUL")?.into_raw_handle())?;
        replace(STD_OUTPUT_HANDLE, io::stderr().as_raw_handle())?;
        Ok(wires)
    }

    fn replace(stream: u32, handle: RawHandle) -> io::Result<()> {
        // SAFETY: the handle is open and never closed: it is leaked, or it is that of stderr.
        #[expect(unsafe_code, reason = "std cannot set the standard handles")]
        let result = unsafe { SetStdHandle(stream, handle) };
        if result == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_among_those_of_the_parent() {
        assert!(includes_version("1", 1));
        assert!(includes_version("1,2", 1));
        assert!(includes_version("3,2,1", 1));
        assert!(!includes_version("2,11", 1));
        assert!(!includes_version("", 1));
    }
}
