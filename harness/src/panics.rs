//! What a panic said and where, for the `error` frame.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Mutex;
use std::thread;

use crate::frame::Frames;

thread_local! {
    /// The last panic of this thread.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The benchmark under way: known to the hook where a panic aborts the process.
static UNDER_WAY: Mutex<Option<String>> = Mutex::new(None);

/// The last panic outside of benchmarks since one was under way. Not in [`LAST`], which is gone when a thread has ended.
static OUTSIDE: Mutex<Option<String>> = Mutex::new(None);

/// Installs a hook that records panics of the calling thread, in place of printing them. Those of other threads are printed as usual,
/// and so is every panic when `RUST_BACKTRACE` asks for its backtrace. Where a panic aborts, the hook itself sends the frame.
pub(crate) fn record(frames: &Frames) -> std::io::Result<()> {
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

/// Names the benchmark whose panics are to come.
pub(crate) fn set_under_way(id: Option<&str>) {
    LAST.set(None);
    if let Ok(mut outside) = OUTSIDE.lock() {
        *outside = None;
    }
    if let Ok(mut under_way) = UNDER_WAY.lock() {
        *under_way = id.map(ToOwned::to_owned);
    }
}

/// What the thread has said when it panicked outside of benchmarks, after the last one of them.
pub(crate) fn outside() -> Option<String> {
    OUTSIDE.lock().ok().and_then(|outside| outside.clone())
}

/// What a caught panic said, and where if the hook saw it.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    LAST.take()
        .unwrap_or_else(|| format!("panicked: {}", text(payload)))
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let text = text(info.payload());
    match info.location() {
        Some(place) => format!("panicked at {place}: {text}"),
        None => format!("panicked: {text}"),
    }
}

/// The text of a panic's payload.
pub(crate) fn text(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "(a payload that is not text)"
    }
}
