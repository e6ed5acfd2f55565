//! Starts programs in process groups of their own, and ends these.

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

/// Interval for checking whether a process has ended. Nothing is measured at that time.
const POLL: Duration = Duration::from_millis(1);

/// Time for a group to clean up after Ctrl-C.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// The treatment of processes that a group leaves behind when its leader has ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftoverPolicy {
    /// They are killed, even if they left the group, because nothing may run during the next measurement.
    Kill,
    /// They are left running: a build may start a server that shall outlive it, such as that of a compiler cache.
    Leave,
}

/// Starts process groups and ensures that they end, even if this process dies.
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
        if shared.reaper.is_none() {
            orphans::become_subreaper();
            // Without a reaper, groups still end when their `ProcessGroup` is dropped.
            shared.reaper = Reaper::start(&shared.mark).ok();
            let reaper = shared.reaper.as_ref().map(Reaper::pid);
            known.extend(reaper);
        }
        if leftovers == LeftoverPolicy::Kill {
            shared.mark.add_to(command);
            // Existing orphans do not belong to this group.
            for pid in orphans::children() {
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
    leftovers: LeftoverPolicy,
    status: Option<ExitStatus>,
    supervisor: Supervisor,
}

impl ProcessGroup {
    /// Returns the leader, to take its pipes.
    pub fn leader(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns a channel that is disconnected once the leader has ended.
    pub fn end_channel(&self) -> Receiver<()> {
        let (sender, receiver) = bounded(0);
        let leader = self.id;
        let started = start_thread(move || {
            wait_without_reaping(leader);
            drop::<crossbeam_channel::Sender<()>>(sender);
        });
        // Without the thread, the end of the pipes still shows the end of the leader.
        if started.is_ok() { receiver } else { never() }
    }

    /// Interrupts the whole group as Ctrl-C does. Kills the rest once the leader has ended or the time is over.
    pub fn stop(&mut self) {
        if self.status.is_some() {
            return;
        }
        let _ = kill_process_group(self.id, Signal::INT);
        self.await_leader(INTERRUPT_GRACE);
        let _ = kill_process_group(self.id, Signal::KILL);
        let _ = self.end(Duration::ZERO);
    }

    /// Waits up to `grace` for the leader to end by itself, and otherwise kills the group. Treats [`LeftoverPolicy`] as
    /// chosen at the start. Returns the status of the leader.
    pub fn end(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        self.await_leader(grace);
        if self.leftovers == LeftoverPolicy::Kill || !self.leader_has_ended() {
            // The leader has not been reaped, so the group's id cannot have been reused.
            let _ = kill_process_group(self.id, Signal::KILL);
        }
        wait_without_reaping(self.id);
        let mut shared = self.supervisor.lock();
        if self.leftovers == LeftoverPolicy::Kill {
            orphans::kill_all_but(&lock_known());
        }
        // Not earlier: if this process dies before, the reaper must kill the rest.
        if let Some(reaper) = &mut shared.reaper {
            reaper.forget(self.id);
        }
        // Hold the lock until the id is removed from the list, because it can be reused as soon as the leader is
        // reaped.
        let mut known = lock_known();
        let status = self.child.wait()?;
        let leader = self.child.id();
        known.retain(|pid| *pid != leader);
        self.status = Some(status);
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
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.id), options), Ok(None))
    }
}

fn wait_without_reaping(leader: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(leader), options) {}
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
