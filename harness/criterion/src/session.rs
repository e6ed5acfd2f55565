//! The session of the process: the connection to the parent, the ids so far, and the failures. As in Criterion, each benchmark runs where it is
//! declared, once and in program order, so code around benchmarks runs once per process.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crate::command_line::command_line;
use crate::conditions::Visit;
use crate::output::{self, Output};
use perfcheck::sequence::{ConnectTime, DeclarationFlow, Parent, VERSION, print_note};

/// A global, because all `Criterion` values of the process share one session.
static SESSION: Mutex<Option<ExecutableSession>> = Mutex::new(None);

struct ExecutableSession {
    parent: Option<Parent>,
    /// Whether `criterion_main!` catches panics and chooses the exit status.
    is_guarded: bool,
    ids: BTreeSet<String>,
    failed: usize,
    output: Output,
}

/// The payload of the panic that ends the process at the parent's request. Unwinding drops the author's values.
struct ByeUnwind;

thread_local! {
    /// Ends the conversation with the parent when the thread that began it ends. Not set with `criterion_main!`.
    static AT_EXIT: RefCell<Option<EndOfThread>> = const { RefCell::new(None) };
}

struct EndOfThread;

impl Drop for EndOfThread {
    fn drop(&mut self) {
        if let Some(ExecutableSession {
            parent: Some(parent),
            ..
        }) = &mut *session()
        {
            parent.report_thread_end();
        }
    }
}

fn session() -> MutexGuard<'static, Option<ExecutableSession>> {
    match SESSION.try_lock() {
        Ok(session) => session,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        // Another thread runs a benchmark or holds the session, so wait for it.
        Err(TryLockError::WouldBlock) => SESSION.lock().unwrap_or_else(PoisonError::into_inner),
    }
}

impl ExecutableSession {
    fn connect(moment: ConnectTime) -> Result<Self, ExitCode> {
        // Cargo's variables could be wrong: `cargo perfcheck` also builds these sources under Criterion's name and version.
        let parent = Parent::connect("perfcheck-criterion", VERSION, moment)?;
        Ok(Self {
            parent,
            is_guarded: moment == ConnectTime::StartOfMain,
            ids: BTreeSet::new(),
            failed: 0,
            output: Output::default(),
        })
    }
}

/// Connects to the parent unless already connected. Without `criterion_main!`, the first `Criterion` calls this function.
pub(crate) fn connect_if_needed() {
    let mut session = session();
    if session.is_none() {
        match ExecutableSession::connect(ConnectTime::Later) {
            Ok(connected) => *session = Some(connected),
            Err(status) => std::process::exit(exit_code(status)),
        }
        AT_EXIT.set(Some(EndOfThread));
    }
}

/// Reports whether `cargo perfcheck` controls the process. If so, the command line is ignored.
pub(crate) fn is_driven() -> bool {
    session()
        .as_ref()
        .is_some_and(|session| session.parent.is_some())
}

/// Returns the exit code of a failed connection.
fn exit_code(status: ExitCode) -> i32 {
    i32::from(status != ExitCode::SUCCESS) * 2
}

/// Runs the groups of `criterion_main!`. Returns the exit code of the process.
pub(crate) fn run(groups: &[&dyn Fn()]) -> i32 {
    match ExecutableSession::connect(ConnectTime::StartOfMain) {
        Ok(connected) => *session() = Some(connected),
        Err(status) => return exit_code(status),
    }
    if !is_driven() {
        // Read the command line before any code of the author runs, so that `--help` and mistakes are answered at once.
        crate::command_line::delegate_to_cargo_perfcheck(command_line());
    }
    for group in groups {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(group)) {
            return ended_early(&*payload);
        }
    }
    let mut session = session();
    let Some(session) = &mut *session else {
        return 0;
    };
    if let Some(parent) = &mut session.parent {
        parent.report_end();
    } else if session.failed > 0 {
        print_note(&format!(
            "error: {} of {} benchmarks failed",
            session.failed,
            session.ids.len()
        ));
        return 101;
    }
    0
}

fn ended_early(payload: &(dyn Any + Send)) -> i32 {
    if payload.is::<ByeUnwind>() {
        return 0;
    }
    if let Some(ExecutableSession {
        parent: Some(parent),
        ..
    }) = &mut *session()
    {
        parent.report_panic();
    }
    101
}

/// Lists, runs or skips a benchmark, as the mode or the parent requests. Returns whether the benchmark was selected.
pub(crate) fn visit_benchmark(mut visit: Visit<'_>) -> bool {
    let Ok(mut guard) = SESSION.try_lock().or_else(|error| match error {
        TryLockError::Poisoned(poisoned) => Ok(poisoned.into_inner()),
        TryLockError::WouldBlock => Err(()),
    }) else {
        panic!("a benchmark was declared inside another one, or on two threads at once");
    };
    let session = guard.as_mut().expect("a `Criterion` has begun the session");
    let id = visit.declaration.id.clone();
    visit.declaration.id = session.unique(&id);
    let is_wanted = (visit.accepts)(&id) || (visit.accepts)(&visit.declaration.id);
    if !is_wanted {
        return false;
    }
    if let Some(parent) = &mut session.parent {
        let flow = parent.visit(&visit.declaration, visit.sampler);
        if flow == DeclarationFlow::Bye {
            let is_guarded = session.is_guarded;
            // The conversation has ended, so the end of the thread must not end it again.
            session.parent = None;
            drop(guard);
            end_process(is_guarded);
        }
        return true;
    }
    if !session.is_guarded {
        session.output.visit(&mut visit);
        return true;
    }
    let output = &mut session.output;
    let result = catch_unwind(AssertUnwindSafe(|| output.visit(&mut visit)));
    if result.is_err() {
        session.failed += 1;
        output::print_failure(&visit.declaration.id, visit.mode);
    }
    true
}

fn end_process(is_guarded: bool) -> ! {
    if is_guarded && cfg!(panic = "unwind") {
        resume_unwind(Box::new(ByeUnwind))
    }
    std::process::exit(0)
}

impl ExecutableSession {
    /// Returns `id`, with a number appended if another benchmark has the same id.
    fn unique(&mut self, id: &str) -> String {
        let mut unique = id.to_owned();
        let mut number = 2;
        while !self.ids.insert(unique.clone()) {
            unique = format!("{id} #{number}");
            number += 1;
        }
        unique
    }
}
