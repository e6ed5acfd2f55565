//! Takes the protocol away from the standard streams before any code of the bench author runs, so that what a bench prints is output and
//! what it reads is empty; and sees to it that the child does not outlive its parent. See docs/src/protocol.md, section 1.

use std::fs::File;
use std::io;

/// The two directions of the protocol.
#[derive(Debug)]
pub(crate) struct Wires {
    pub(crate) requests: File,
    pub(crate) frames: File,
}

#[cfg(unix)]
pub(crate) use unix::take_over;
#[cfg(windows)]
pub(crate) use windows::take_over;

/// Takes the standard streams over.
#[cfg(not(any(unix, windows)))]
pub(crate) fn take_over() -> io::Result<Wires> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this system has no descriptors that a bench executable could speak the protocol on",
    ))
}

#[cfg(unix)]
mod unix {
    use super::{File, Wires, io};
    use std::ffi::c_int;
    use std::io::Write as _;
    use std::os::fd::{AsFd, AsRawFd};

    #[expect(unsafe_code, reason = "std has no dup2")]
    unsafe extern "C" {
        fn dup2(from: c_int, to: c_int) -> c_int;
    }

    /// Takes the standard streams over and ties the child's life to its parent's.
    pub(crate) fn take_over() -> io::Result<Wires> {
        die_with_parent()?;
        // Duplicates made by std are closed when a program is executed: grandchildren cannot hold the protocol open.
        let wires = Wires {
            requests: io::stdin().as_fd().try_clone_to_owned()?.into(),
            frames: io::stdout().as_fd().try_clone_to_owned()?.into(),
        };
        io::stdout().flush()?;
        let null = File::open("/dev/null")?;
        replace(null.as_raw_fd(), io::stdin().as_raw_fd())?;
        replace(io::stderr().as_raw_fd(), io::stdout().as_raw_fd())?;
        Ok(wires)
    }

    /// Makes the standard stream `to` another name of what `from` is.
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
        // A parent that died before the call sends no signal. (One that died before the first line here has closed the
        // request stream: its end of file ends the child.)
        if parent_id() != parent {
            std::process::exit(0);
        }
        Ok(())
    }

    /// Elsewhere the end of the request stream is all there is.
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

    /// Takes the standard streams over: for std's streams, which ask for the handle each time. A C runtime in the same process keeps
    /// its own idea of descriptor 1.
    pub(crate) fn take_over() -> io::Result<Wires> {
        // Duplicates made by std are not inherited.
        let wires = Wires {
            requests: io::stdin().as_handle().try_clone_to_owned()?.into(),
            frames: io::stdout().as_handle().try_clone_to_owned()?.into(),
        };
        io::stdout().flush()?;
        // The null device stays open for as long as the process lives.
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
