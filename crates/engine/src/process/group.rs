//! Programs in process groups of their own, and their end.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that starts processes, and deadlines of ending groups"
)]

use crossbeam_channel::{Receiver, bounded, never};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::interrupt::Interrupt;
use super::orphans::{self, Mark};
use super::reaper::Reaper;
use super::threads::start_thread;

/// How often a process that should be ending is looked at; nothing is being timed then.
const POLL: Duration = Duration::from_millis(1);

/// How long a group may take to put its house in order after Ctrl-C.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// What becomes of processes that a group leaves behind when its leader has ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    /// They are killed, also those that left the group: nothing may run beside the next measurement.
    Kill,
    /// They stay: a build may start a server that is meant to outlive it, such as a compiler cache's.
    Leave,
}

/// Starts groups and sees to it that they end, whatever becomes of us.
///
/// Groups must be started from a thread that lives as long as they do: on Linux a bench asks to be killed when the
/// thread that started it ends.
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

/// Children that this process started and that are alive. Any other child of the process is an orphan of theirs. All supervisors share the list, so that
/// none ends what another one started.
static KNOWN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn lock_known() -> MutexGuard<'static, Vec<u32>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Supervisor {
    /// A supervisor of nothing yet, which gives up waiting for a program when the user asks to stop.
    pub fn new(interrupt: &Interrupt) -> Self {
        let shared = GroupState {
            reaper: None,
            mark: Mark::fresh(),
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
            interrupt: interrupt.clone(),
        }
    }

    /// The user's request to stop, if there is one.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Starts `command` as the leader of a new process group.
    pub fn spawn(&self, command: &mut Command, leftovers: Leftovers) -> io::Result<ProcessGroup> {
        let mut shared = self.lock();
        // Held while starting: an orphan hunt must not mistake the newcomer for an orphan.
        let mut known = lock_known();
        // Between its start and the reaper's knowledge of it, a signal that ends us would leave it behind.
        let _no_end = self.interrupt.hold();
        if shared.reaper.is_none() {
            orphans::adopt();
            // Without a reaper (no executable to start) groups still end with their `ProcessGroup`.
            shared.reaper = Reaper::start(&shared.mark).ok();
            let reaper = shared.reaper.as_ref().map(Reaper::pid);
            known.extend(reaper);
        }
        if leftovers == Leftovers::Kill {
            shared.mark.put_on(command);
            // Orphans that are here already are not this group's.
            for pid in orphans::children() {
                if !known.contains(&pid) {
                    known.push(pid);
                }
            }
        }
        if let (Leftovers::Leave, Some(reaper)) = (leftovers, &mut shared.reaper) {
            let mark = Mark::fresh();
            mark.put_on(command);
            reaper.announce(&mark);
        }
        let child = command.process_group(0).spawn()?;
        let id = Pid::from_child(&child);
        known.push(child.id());
        drop(known);
        if let Some(reaper) = &mut shared.reaper {
            reaper.watch(id);
        }
        drop(shared);
        Ok(ProcessGroup {
            child,
            id,
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
    id: Pid,
    leftovers: Leftovers,
    status: Option<ExitStatus>,
    supervisor: Supervisor,
}

impl ProcessGroup {
    /// The leader, for its pipes.
    pub fn leader(&mut self) -> &mut Child {
        &mut self.child
    }

    /// A channel that is ready (disconnected) once the leader has ended.
    pub fn ended(&self) -> Receiver<()> {
        let (sender, receiver) = bounded(0);
        let leader = self.id;
        let started = start_thread(move || {
            wait_without_reaping(leader);
            drop::<crossbeam_channel::Sender<()>>(sender);
        });
        // Without one it is noticed by the end of its pipes.
        if started.is_ok() { receiver } else { never() }
    }

    /// Asks the whole group to end, as Ctrl-C would, and kills what is left of it when the leader has ended, or takes too long.
    pub fn stop(&mut self) {
        if self.status.is_some() {
            return;
        }
        let _ = kill_process_group(self.id, Signal::INT);
        self.await_leader(INTERRUPT_GRACE);
        let _ = kill_process_group(self.id, Signal::KILL);
        let _ = self.end(Duration::ZERO);
    }

    /// Waits up to `grace` for the leader to end by itself and kills it and its group if it does not; treats
    /// [`Leftovers`] as was said when it was started; returns how the leader ended.
    pub fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        self.await_leader(grace);
        if self.leftovers == Leftovers::Kill || !self.leader_has_ended() {
            // The leader is not reaped until the end, so its number, which is the group's, cannot be another's.
            let _ = kill_process_group(self.id, Signal::KILL);
        }
        wait_without_reaping(self.id);
        let mut shared = self.supervisor.lock();
        if self.leftovers == Leftovers::Kill {
            orphans::kill_all_but(&lock_known());
        }
        // Not before: if we die on the way, the rest is for the reaper to do.
        if let Some(reaper) = &mut shared.reaper {
            reaper.forget(self.id);
        }
        // Held until it is forgotten: its number may be another child's as soon as it is reaped.
        let mut known = lock_known();
        let status = self.child.wait()?;
        let leader = self.child.id();
        known.retain(|pid| *pid != leader);
        self.status = Some(status);
        Ok(status)
    }

    /// Waits up to `grace` for the leader to end by itself, and returns whether it has.
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
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.id), options), Ok(None))
    }
}

fn wait_without_reaping(leader: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(leader), options) {}
}

impl Default for Supervisor {
    /// A supervisor that no signal reaches.
    fn default() -> Self {
        Self::new(&Interrupt::never())
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let _ = self.end(Duration::ZERO);
    }
}
