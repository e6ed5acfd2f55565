//! Records the message and place of a panic for the `error` frame.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Mutex;
use std::thread;

use crate::frame::Frames;

thread_local! {
    /// The message of this thread's last panic.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The id of the running benchmark. The hook needs it if a panic aborts the process.
static UNDER_WAY: Mutex<Option<String>> = Mutex::new(None);

/// The last panic outside any benchmark, since the last benchmark ended. Kept apart from [`LAST`], which disappears when its thread ends.
static OUTSIDE: Mutex<Option<String>> = Mutex::new(None);

/// Installs a hook that records panics of the calling thread and does not print them. Panics of other threads are printed as usual, and so is
/// every panic if `RUST_BACKTRACE` asks for a backtrace. If panics abort, the hook itself sends the frame.
pub(crate) fn install_hook(frames: &Frames) -> std::io::Result<()> {
    let frames = Mutex::new(frames.try_clone()?);
    let bench_thread = thread::current().id();
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == bench_thread {
            let message = describe(info);
            if cfg!(panic = "abort") {
                if let (Ok(mut frames), Ok(id)) = (frames.lock(), UNDER_WAY.lock()) {
                    frames.fatal_error(id.as_deref(), &message);
                }
            }
            if let (Ok(None), Ok(mut outside)) = (UNDER_WAY.lock().as_deref(), OUTSIDE.lock()) {
                *outside = Some(message.clone());
            }
            LAST.set(Some(message));
            if std::env::var_os("RUST_BACKTRACE").is_none_or(|value| value == "0") {
                return;
            }
        }
        print(info);
    }));
    Ok(())
}

/// Sets the running benchmark, to which later panics belong, and clears recorded panics.
pub(crate) fn set_current_benchmark(id: Option<&str>) {
    LAST.set(None);
    if let Ok(mut outside) = OUTSIDE.lock() {
        *outside = None;
    }
    if let Ok(mut under_way) = UNDER_WAY.lock() {
        *under_way = id.map(ToOwned::to_owned);
    }
}

/// Returns the message of a panic outside any benchmark, since the last benchmark ended.
pub(crate) fn message_outside_benchmarks() -> Option<String> {
    OUTSIDE.lock().ok().and_then(|outside| outside.clone())
}

/// Returns the message of a caught panic, with its place if the hook has recorded it.
pub(crate) fn take_message(payload: &(dyn Any + Send)) -> String {
    LAST.take()
        .unwrap_or_else(|| format!("panicked: {}", payload_text(payload)))
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let text = payload_text(info.payload());
    match info.location() {
        Some(place) => format!("panicked at {place}: {text}"),
        None => format!("panicked: {text}"),
    }
}

/// Returns the text of a panic's payload.
pub(crate) fn payload_text(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "(a payload that is not text)"
    }
}
