//! The functions that Linux and macOS share: process groups, pipes, permissions and links.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getrlimit, kill_process_group, setrlimit,
    waitid,
};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, SystemTime};

use super::types::{FileFacts, LeftoverPolicy, OutputPipe, OutputPipes};

/// Whether the system ends the process groups if this process is killed. Unix does not, so a helper process has to end them.
pub const GROUPS_END_WITH_US: bool = false;

/// A process group, by the id of its leader.
#[derive(Debug, Clone)]
pub struct UnixGroup(Pid);

pub use UnixGroup as GroupHandle;

/// Makes `command` start as the leader of a new group, which signals of the terminal do not reach. After the start, call [`take_group`]. The policy
/// changes nothing here: on Unix, the supervisor and its reaper end leftover processes.
pub fn lead_new_group(command: &mut Command, _: LeftoverPolicy) -> &mut Command {
    command.process_group(0)
}

/// Makes `command` start a process that lives on when this process ends. On Unix every process does.
pub fn outlive_us(command: &mut Command) -> &mut Command {
    command
}

/// Returns the group of a leader that has just been started.
pub fn take_group(leader: &mut Child) -> io::Result<GroupHandle> {
    Ok(UnixGroup(Pid::from_child(leader)))
}

impl UnixGroup {
    /// Returns the id of the group's leader.
    pub fn id(&self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    /// Interrupts the whole group as Ctrl-C does.
    pub fn interrupt(&self) {
        let _ = kill_process_group(self.0, Signal::INT);
    }

    /// Kills the whole group.
    pub fn kill(&self) {
        let _ = kill_process_group(self.0, Signal::KILL);
    }

    /// Lets the other processes of the group live on after the leader has ended. Unix does that by itself, so there is nothing to do.
    pub fn spare_rest(&self) {}

    /// Reports whether the leader has ended.
    pub fn leader_has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.0), options), Ok(None))
    }

    /// Waits for the end of the leader. Its exit status can still be read afterwards.
    pub fn wait_for_leader(&self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(Errno::INTR) = waitid(WaitId::Pid(self.0), options) {}
    }
}

/// Kills the group with this id.
pub fn kill_group(id: i32) {
    if let Some(group) = Pid::from_raw(id) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Describes how the system ended a process, such as `signal 6 (SIGABRT)`; `None` if the process ended by itself.
pub fn describe_death(status: ExitStatus) -> Option<String> {
    status.signal()?;
    // The standard library knows the names of signals: "signal: 6 (SIGABRT)".
    Some(status.to_string().replacen("signal: ", "signal ", 1))
}

/// Size of a read in bytes.
const PIECE: usize = 16 << 10;

impl OutputPipes {
    /// Waits up to `limit` for output, reads from both pipes, and reports whether there was any output.
    pub fn read(&mut self, limit: Duration) -> io::Result<bool> {
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
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

impl<R: Read + AsFd> OutputPipe<R> {
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

/// Runs `work`. Processes that it starts write no core files.
pub fn without_core_dumps<T>(work: impl FnOnce() -> T) -> T {
    let before = getrlimit(Resource::Core);
    // If this fails, a core file may be written, which does no harm.
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: before.maximum,
        },
    );
    let done = work();
    let _ = setrlimit(Resource::Core, before);
    done
}

/// Makes a write beyond the file size limit (`ulimit -f`) return an error instead of killing this process silently. Children do not inherit this,
/// because the standard library resets it.
pub fn survive_file_size_limit() {
    use nix::sys::signal::{SigSet, Signal};
    let mut of_file_size = SigSet::empty();
    of_file_size.add(Signal::SIGXFSZ);
    let _ = of_file_size.thread_block();
}

/// Reads the facts about a file, or about the link itself if `path` is a link.
pub fn read_file_facts(path: &Path) -> io::Result<FileFacts> {
    let metadata = fs::symlink_metadata(path)?;
    Ok(FileFacts {
        device: metadata.dev(),
        number: metadata.ino(),
        bytes: metadata.size(),
        disk_bytes: metadata.blocks() * 512,
        changed: (metadata.ctime(), metadata.ctime_nsec()),
        written: (metadata.mtime(), metadata.mtime_nsec()),
    })
}

/// Creates a directory and its parents so that only this user can access them. Directories that already exist stay as they are.
pub fn create_private_dirs(directory: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}

/// Creates a directory that only this user can access. Fails if it exists.
pub fn create_private_dir(directory: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(directory)
}

/// Creates a file that only this user can access. Fails if it exists.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// Reports whether a file or directory belongs to this user, and no other user can write to it.
pub fn is_safe_from_others(path: &Path) -> io::Result<bool> {
    let metadata = fs::metadata(path)?;
    let own = metadata.uid() == rustix::process::geteuid().as_raw();
    Ok(own && metadata.mode() & 0o022 == 0)
}

/// Reports whether other users can read, write or execute the file.
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    let permissions = fs::metadata(path)?.permissions();
    Ok(permissions.mode() & 0o077 != 0)
}

/// Lets the owner of a file write to it.
pub fn make_writable(permissions: &mut Permissions) {
    permissions.set_mode(permissions.mode() | 0o200);
}

/// Sets the modification time of a file, even if the file is read-only.
pub fn set_modified(path: &Path, time: SystemTime) -> io::Result<()> {
    File::open(path)?.set_modified(time)
}

/// Creates the symbolic link `link`, which leads to `leads_to`.
pub fn create_link(leads_to: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(leads_to, link)
}

/// Removes a file, even if it is read-only, or a link, but not what the link leads to.
pub fn remove_file_or_link(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// Converts a path that git printed as bytes.
pub fn path_from_bytes(name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(name))
}

/// Converts a path to the bytes by which git names it.
pub fn path_to_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Formats a path for a manifest or a configuration of cargo.
pub fn display_with_slashes(path: &Path) -> String {
    path.display().to_string()
}

/// Converts bytes to an argument of git.
pub fn text_from_bytes(text: Vec<u8>) -> OsString {
    OsString::from_vec(text)
}

/// A path at which no directory can be created.
pub const NO_DIRECTORY: &str = "/dev/null/criterion";

/// Whether a terminal can show characters beyond ASCII with any locale. On Unix it needs a UTF-8 locale.
pub const TERMINAL_IGNORES_LOCALE: bool = false;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_core_files_is_nothing_for_as_long_as_the_work_lasts() {
        let before = getrlimit(Resource::Core);
        let within = without_core_dumps(|| getrlimit(Resource::Core).current);
        assert_eq!(within, Some(0));
        assert_eq!(getrlimit(Resource::Core), before);
    }

    #[test]
    fn a_path_that_is_not_utf_8_survives_as_bytes() {
        for name in [&b"src/a b.rs"[..], b"caf\xe9", b"\xff/\xc3\xa9", b""] {
            assert_eq!(path_to_bytes(&path_from_bytes(name)), name);
        }
    }
}
