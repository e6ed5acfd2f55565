//! Programs in process groups of their own, and their end.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that starts processes, and deadlines of ending groups"
)]

use crossbeam_channel::{Receiver, bounded};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::interrupt::Interrupt;
use super::orphans::{self, Mark};
use super::reaper::Reaper;

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
    /// Processes that are ours and alive: what else turns up as our child is an orphan of theirs.
    known: Vec<u32>,
}

impl Supervisor {
    /// A supervisor of nothing yet, which gives up waiting for a program when the user asks to stop.
    pub fn new(interrupt: &Interrupt) -> Self {
        let shared = GroupState {
            reaper: None,
            mark: Mark::fresh(),
            known: Vec::new(),
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
            interrupt: interrupt.clone(),
        }
    }

    /// Whether the user wants to stop.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Starts `command` as the leader of a new process group.
    pub fn spawn(&self, command: &mut Command, leftovers: Leftovers) -> io::Result<ProcessGroup> {
        // Held while starting: an orphan hunt must not mistake the newcomer for an orphan.
        let mut shared = self.lock();
        // Between its start and the reaper's knowledge of it, a signal that ends us would leave it behind.
        let _no_end = self.interrupt.hold();
        if shared.reaper.is_none() {
            orphans::adopt();
            // Without a reaper (no executable to start) groups still end with their `ProcessGroup`.
            shared.reaper = Reaper::start(&shared.mark).ok();
            let reaper = shared.reaper.as_ref().map(Reaper::pid);
            shared.known.extend(reaper);
        }
        if leftovers == Leftovers::Kill {
            shared.mark.put_on(command);
            // Orphans that are here already are not this group's.
            for pid in orphans::children() {
                if !shared.known.contains(&pid) {
                    shared.known.push(pid);
                }
            }
        }
        let child = command.process_group(0).spawn()?;
        let id = Pid::from_child(&child);
        shared.known.push(child.id());
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

    fn lock(&self) -> std::sync::MutexGuard<'_, GroupState> {
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
        thread::spawn(move || {
            wait_without_reaping(leader);
            drop::<crossbeam_channel::Sender<()>>(sender);
        });
        receiver
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
            orphans::kill_all_but(&shared.known);
        }
        // Not before: if we die on the way, the rest is for the reaper to do.
        if let Some(reaper) = &mut shared.reaper {
            reaper.forget(self.id);
        }
        let status = self.child.wait()?;
        self.status = Some(status);
        let leader = self.child.id();
        shared.known.retain(|pid| *pid != leader);
        Ok(status)
    }

    fn await_leader(&self, grace: Duration) {
        let deadline = Instant::now() + grace;
        while !self.leader_has_ended() && Instant::now() < deadline {
            thread::sleep(POLL);
        }
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
