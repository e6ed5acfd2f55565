//! Runs programs for their output: git, rustc, `cargo metadata`, a linker.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::{ChildStderr, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use super::group::{LeftoverPolicy, ProcessGroup, Supervisor};

/// Interval for checking for a request to stop while the program writes nothing.
const LOOK: Duration = Duration::from_millis(20);
/// Size of a read in bytes.
const PIECE: usize = 16 << 10;

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
        let mut written = LeaderOutput::from_group(&mut group);
        while written.is_open() {
            if self.interrupt().is_requested() {
                group.stop();
                return Err(RunError::Interrupted);
            }
            // Check before reading: everything that the program wrote before it ended is in the pipes then.
            let has_ended = group.leader_has_ended();
            // A server that the program left behind may hold the pipes open.
            if !written.read()? && has_ended {
                break;
            }
        }
        while !group.await_leader(LOOK) {
            if self.interrupt().is_requested() {
                group.stop();
                return Err(RunError::Interrupted);
            }
        }
        Ok(Output {
            status: group.end(Duration::ZERO)?,
            stdout: written.stdout.bytes,
            stderr: written.stderr.bytes,
        })
    }
}

/// A pipe until its end, and the bytes read from it.
struct DrainedPipe<R> {
    pipe: Option<R>,
    bytes: Vec<u8>,
}

/// The output of a group's leader so far.
struct LeaderOutput {
    stdout: DrainedPipe<ChildStdout>,
    stderr: DrainedPipe<ChildStderr>,
}

impl LeaderOutput {
    fn from_group(group: &mut ProcessGroup) -> Self {
        let leader = group.leader();
        Self {
            stdout: DrainedPipe {
                pipe: leader.stdout.take(),
                bytes: Vec::new(),
            },
            stderr: DrainedPipe {
                pipe: leader.stderr.take(),
                bytes: Vec::new(),
            },
        }
    }

    fn is_open(&self) -> bool {
        self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    /// Waits for a moment, reads from both pipes, and reports whether there was anything.
    fn read(&mut self) -> io::Result<bool> {
        let limit = Timespec::try_from(LOOK).map_err(io::Error::other)?;
        let waited = [self.stdout.poll_fd(), self.stderr.poll_fd()];
        let mut waited: Vec<PollFd<'_>> = waited.into_iter().flatten().collect();
        match poll(&mut waited, Some(&limit)) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        let mut is_ready = waited.iter().map(|fd| !fd.revents().is_empty());
        let stdout = self.stdout.pipe.is_some() && is_ready.next().unwrap_or(false);
        let stderr = self.stderr.pipe.is_some() && is_ready.next().unwrap_or(false);
        if stdout {
            self.stdout.take_piece()?;
        }
        if stderr {
            self.stderr.take_piece()?;
        }
        Ok(stdout || stderr)
    }
}

impl<R: Read + AsFd> DrainedPipe<R> {
    fn poll_fd(&self) -> Option<PollFd<'_>> {
        let pipe = self.pipe.as_ref()?;
        Some(PollFd::new(pipe, PollFlags::IN))
    }

    fn take_piece(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        let mut piece = [0; PIECE];
        match pipe.read(&mut piece) {
            Ok(0) => self.pipe = None,
            Ok(length) => self.bytes.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Interrupt;
    use std::thread;

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
        // Times close to the interval of waiting.
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
        let asked = thread::spawn({
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
        asked.join().expect("it asked");
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
