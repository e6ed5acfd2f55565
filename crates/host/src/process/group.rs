//! Starts programs in process groups of their own, and ends these groups. Also runs programs for their output: git, rustc, `cargo metadata`, a
//! linker.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that starts processes, and deadlines of ending groups"
)]

use crossbeam_channel::{Receiver, bounded, never};
use std::io;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tracing::debug;

use super::interrupt::Interrupt;
use super::reaper::{Mark, Reaper};
use super::threads::start_thread;
use crate::os::{self, EndedUsage, GroupHandle, LeftoverPolicy, OutputPipes};

/// Interval for checking whether a process has ended. Nothing is measured at that time.
const POLL: Duration = Duration::from_millis(1);

/// Time for a group to clean up after Ctrl-C.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// A supervisor, which starts process groups and ensures that they end, even if this process dies.
///
/// Groups must be started from a thread that lives as long as they do: on Linux a bench asks to be killed when the thread that started it ends.
#[derive(Debug, Clone)]
pub struct Supervisor {
    shared: Arc<Mutex<GroupState>>,
    interrupt: Interrupt,
}

#[derive(Debug)]
struct GroupState {
    reaper: Option<Reaper>,
    mark: Mark,
}

/// Living children that this process started. Any other child is an orphan left by one of them. All supervisors share
/// the list, so that none kills a process of another one.
static KNOWN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn lock_known() -> MutexGuard<'static, Vec<u32>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Supervisor {
    /// Creates a supervisor. It stops waiting for a program when the user asks to stop.
    pub fn new(interrupt: &Interrupt) -> Self {
        let shared = GroupState {
            reaper: None,
            mark: Mark::new_random(),
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
            interrupt: interrupt.clone(),
        }
    }

    /// Returns the source of the user's request to stop.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Starts `command` as the leader of a new process group.
    pub fn spawn(
        &self,
        command: &mut Command,
        leftovers: LeftoverPolicy,
    ) -> io::Result<ProcessGroup> {
        let mut shared = self.lock();
        // Hold the lock during the start, so that a search for orphans does not find the new process.
        let mut known = lock_known();
        // Delay signals: if one ended this process before the reaper knows the group, the group would be left behind.
        let _no_end = self.interrupt.block();
        if shared.reaper.is_none() && !os::GROUPS_END_WITH_US {
            os::adopt_orphans();
            // Without a reaper, groups still end when their `ProcessGroup` is dropped.
            shared.reaper = Reaper::start(&shared.mark).ok();
            let reaper = shared.reaper.as_ref().map(Reaper::pid);
            known.extend(reaper);
        }
        if leftovers == LeftoverPolicy::Kill {
            shared.mark.add_to(command);
            // Existing orphans do not belong to this group.
            for pid in os::list_children() {
                if !known.contains(&pid) {
                    known.push(pid);
                }
            }
        }
        if let (LeftoverPolicy::Leave, Some(reaper)) = (leftovers, &mut shared.reaper) {
            let mark = Mark::new_random();
            mark.add_to(command);
            reaper.announce(&mark);
        }
        let command = os::lead_new_group(command, leftovers);
        let started = Instant::now();
        let mut child = command.spawn()?;
        let group = os::take_group(&mut child)?;
        debug!(
            pid = child.id(),
            program = ?command.get_program(),
            arguments = ?command.get_args().collect::<Vec<_>>(),
            directory = ?command.get_current_dir(),
            "program started"
        );
        known.push(child.id());
        drop(known);
        if let Some(reaper) = &mut shared.reaper {
            reaper.watch(group.id());
        }
        drop(shared);
        Ok(ProcessGroup {
            child,
            group,
            started,
            leftovers,
            status: None,
            supervisor: self.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, GroupState> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running process group. Dropping it kills and reaps it.
#[derive(Debug)]
pub struct ProcessGroup {
    child: Child,
    group: GroupHandle,
    started: Instant,
    leftovers: LeftoverPolicy,
    status: Option<ExitStatus>,
    supervisor: Supervisor,
}

impl ProcessGroup {
    /// Returns the leader, to take its pipes.
    pub fn leader(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns the time right before the leader was started.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Returns what the leader and the children that it waited for have used, once it has ended and before [`Self::end`]. Returns `None` if the system
    /// does not report it.
    pub fn usage(&self) -> Option<EndedUsage> {
        os::usage_of_ended(self.child.id())
    }

    /// Returns a channel that gets the time at which the leader ends, and is then disconnected.
    pub fn end_channel(&self) -> Receiver<Instant> {
        let (sender, receiver) = bounded(1);
        let group = self.group.clone();
        let started = start_thread(move || {
            let waited_before = os::own_waiting_time();
            group.wait_for_leader();
            let now = Instant::now();
            // On a busy machine, this thread gets a processor only some time after the leader has ended.
            let late = os::own_waiting_time().saturating_sub(waited_before);
            // If nobody waits any more, nobody needs the time.
            let _ = sender.send(now.checked_sub(late).unwrap_or(now));
        });
        // Without the thread, the end of the pipes still shows the end of the leader.
        if started.is_ok() { receiver } else { never() }
    }

    /// Interrupts the whole group as Ctrl-C does, on Windows as Ctrl-Break does. Kills the rest of the group once the leader has ended or
    /// `INTERRUPT_GRACE` is over.
    pub fn stop(&mut self) {
        if self.status.is_some() {
            return;
        }
        self.group.interrupt();
        self.await_leader(INTERRUPT_GRACE);
        self.group.kill();
        let _ = self.end(Duration::ZERO);
    }

    /// Waits up to `grace` for the leader to end by itself, and otherwise kills the group. Processes that the leader leaves behind are treated by the
    /// [`LeftoverPolicy`] chosen at the start. Returns the status of the leader.
    pub fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        self.await_leader(grace);
        if self.leftovers == LeftoverPolicy::Kill || !self.leader_has_ended() {
            // The leader has not been reaped, so the group's id cannot have been reused.
            self.group.kill();
        } else {
            self.group.spare_rest();
        }
        self.group.wait_for_leader();
        let mut shared = self.supervisor.lock();
        if self.leftovers == LeftoverPolicy::Kill {
            os::kill_children_except(&lock_known());
        }
        // Tell the reaper only now: if this process dies earlier, the reaper must kill the rest.
        if let Some(reaper) = &mut shared.reaper {
            reaper.forget(self.group.id());
        }
        // Hold the lock until the id is removed from the list, because it can be reused as soon as the leader is
        // reaped.
        let mut known = lock_known();
        let status = self.child.wait()?;
        let leader = self.child.id();
        known.retain(|pid| *pid != leader);
        self.status = Some(status);
        debug!(pid = leader, %status, "program ended");
        Ok(status)
    }

    /// Waits up to `grace` for the leader to end by itself, and reports whether it has.
    pub fn await_leader(&self, grace: Duration) -> bool {
        let deadline = Instant::now() + grace;
        while !self.leader_has_ended() {
            if Instant::now() >= deadline {
                return false;
            }
            thread::sleep(POLL);
        }
        true
    }

    pub(super) fn leader_has_ended(&self) -> bool {
        self.group.leader_has_ended()
    }
}

impl Default for Supervisor {
    /// Creates a supervisor that no signal interrupts.
    fn default() -> Self {
        Self::new(&Interrupt::never())
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let _ = self.end(Duration::ZERO);
    }
}

/// Interval for checking for a request to stop while the program writes nothing.
const LOOK: Duration = Duration::from_millis(20);

/// The reason why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The program could not be started, or its pipes could not be read.
    #[error(transparent)]
    Start(#[from] io::Error),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Supervisor {
    /// Runs `command` to its end, in its own group and without input, and returns its output. If the user asks to
    /// stop, the whole group is stopped.
    ///
    /// Works without additional threads, so it also works if none can be started.
    pub fn output(&self, command: &mut Command) -> Result<Output, RunError> {
        if self.interrupt().is_requested() {
            return Err(RunError::Interrupted);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut group = self.spawn(command, LeftoverPolicy::Leave)?;
        let mut written = OutputPipes::from_child(group.leader());
        while written.is_open() {
            if self.interrupt().is_requested() {
                group.stop();
                return Err(RunError::Interrupted);
            }
            // Check for the end before reading. If the program has ended, the pipes then contain everything that it wrote.
            let has_ended = group.leader_has_ended();
            // A server that the program left behind may hold the pipes open.
            if !written.read(LOOK)? && has_ended {
                break;
            }
        }
        while !group.await_leader(LOOK) {
            if self.interrupt().is_requested() {
                group.stop();
                return Err(RunError::Interrupted);
            }
        }
        let status = group.end(Duration::ZERO)?;
        let (stdout, stderr) = written.into_bytes();
        Ok(Output {
            status,
            stdout,
            stderr,
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::thread;

    use super::*;
    use crate::process::Interrupt;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_are_read_to_their_ends_however_long_they_are() {
        let long = "i=0; while [ $i -lt 3000 ]; do echo out of the program $i; echo err of it $i >&2; i=$((i+1)); done; exit 7";
        let output = Supervisor::default().output(&mut shell(long));
        let output = output.expect("it runs");
        assert_eq!(output.status.code(), Some(7));
        let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().count();
        assert_eq!((lines(&output.stdout), lines(&output.stderr)), (3000, 3000));
    }

    #[test]
    fn what_a_program_writes_last_is_read_however_long_it_was_silent() {
        let supervisor = Supervisor::default();
        // Times close to the interval `LOOK`.
        for wait in 0..40 {
            let script = format!("sleep 0.0{:02}; echo at last", 10 + wait / 2);
            let output = supervisor.output(&mut shell(&script)).expect("it runs");
            assert_eq!(output.stdout, b"at last\n");
        }
    }

    #[test]
    fn a_server_that_is_left_behind_holds_nobody_up() {
        let supervisor = Supervisor::default();
        let output = supervisor.output(&mut shell("sleep 900 & echo $!"));
        let output = output.expect("it runs");
        let server = String::from_utf8(output.stdout).expect("a number");
        let ended = supervisor.output(&mut shell(&format!("kill -9 {server}")));
        assert!(ended.expect("it runs").status.success(), "it was alive");
    }

    #[test]
    fn a_program_that_closes_its_streams_is_waited_for_and_stopped_with_what_it_started() {
        let interrupt = Interrupt::never();
        let supervisor = Supervisor::new(&interrupt);
        let directory = tempfile::tempdir().expect("a directory");
        let number = directory.path().join("number");
        let script = format!(
            "exec >&- 2>&-; (trap '' INT; exec sleep 900) & echo $! > {}.new; mv {0}.new {0}; exec sleep 900",
            number.display()
        );
        let other = interrupt.clone();
        let requester = thread::spawn({
            let number = number.clone();
            move || {
                while !number.exists() {
                    thread::sleep(Duration::from_millis(1));
                }
                other.request();
            }
        });
        let stopped = supervisor.output(&mut shell(&script));
        assert!(matches!(stopped, Err(RunError::Interrupted)), "{stopped:?}");
        requester.join().expect("it asked");
        let started = std::fs::read_to_string(&number).expect("there");
        let alive = format!("/proc/{}/stat", started.trim());
        // The new parent of a killed process needs some time to reap it.
        let is_dead = || {
            let stat = std::fs::read_to_string(&alive);
            stat.map_or(true, |stat| stat.contains(") Z ") || stat.contains(") X "))
        };
        while cfg!(target_os = "linux") && !is_dead() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}
