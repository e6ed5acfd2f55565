//! Links bench executables again, with their functions in other places.
//!
//! The address of a function changes its speed by ten percent and more, and any change of the code moves all functions after it. So two builds are
//! linked again with one map for both: every function that both have gets the same place in a page, and each map has another order.
//!
//! ```text
//! stand_in.rs   runs in place of cargo's linker during our builds: links as requested, and keeps the inputs
//! kept.rs       a kept link, which can be repeated with additional arguments
//! functions.rs  the functions of an executable, and their names without hashes
//! places.rs     one map for both sides: the order of functions, and the filler between them (pure)
//! filler.rs     the object file with the filler
//! layouts.rs    executables of both sides, linked with one map after another
//! leads.rs      rewrites of paths in an executable, so that they lead to the files of its side
//! ```
//!
//! Must not decide when to link an executable again. Invariant: functions are moved only if repeating the original link gave the same bytes.

mod executable;
mod kept;
mod layouts;

pub(crate) use executable::{PathRewrite, apply_all};
pub use kept::LinkError;
pub(crate) use kept::LinkRecorder;
pub use kept::run_as_linker;
pub use kept::{KeptLink, bundled_linker};
pub use layouts::{CodeLayouts, Relinkable};
