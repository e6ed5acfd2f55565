//! Links bench executables again, with their functions at other addresses, because the address of a function can change its speed by ten percent and
//! more.
//!
//! `kept.rs` stands in for cargo's linker to record links, and repeats them. `layouts.rs` draws one map for both sides and links with it.
//! `executable.rs` reads functions from executables and rewrites paths in them. Must not decide when to link an executable again. Invariant:
//! functions are moved only if repeating the original link gave the same bytes, or on macOS the same sections.

mod executable;
mod kept;
mod layouts;

pub(crate) use executable::{PathRewrite, apply_all};
pub use kept::{KeptLink, LinkError, bundled_linker, run_as_linker};
pub(crate) use kept::{LinkRecorder, is_relinkable};
pub use layouts::{CodeLayouts, Relinkable};
