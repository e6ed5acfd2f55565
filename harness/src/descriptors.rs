//! Moves the protocol from the standard streams to descriptors of its own before any code of the bench author runs. Output of a bench then goes to
//! stderr, and its stdin is empty. Also makes sure that the child does not outlive its parent (the bench protocol, section 1).

use std::fs::File;
use std::io;

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

/// Fails: this system is not supported.
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
        // A parent that died before the call sends no signal. (If it died even before `parent_id` above, it has closed the request stream, whose
        // end of file ends the child.)
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
    use super::{File, Wires, io};
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
