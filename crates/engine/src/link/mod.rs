//! Links of bench executables, repeated with their functions in other places.
//!
//! Where a function lies decides how fast it runs, by ten per cent and more, and a change anywhere moves all that follow it. So two builds are linked
//! anew with one map for both: every function that both have lies at the same place of a page, and each map has them in another order.
//!
//! ```text
//! stand_in.rs   cargo's linker during our builds: links as asked, and keeps what the link was made of
//! kept.rs       a link that was kept: can be repeated with further arguments
//! functions.rs  the functions of an executable, and their names without hashes
//! places.rs     one map for two sides: the order of functions, and what fills the room between them (pure)
//! filler.rs     the object file of what fills the room
//! layouts.rs    executables of both sides for one map after the other
//! leads.rs      paths in an executable, led to the files of its side
//! ```
//!
//! Must not decide when an executable is linked anew. Invariant: functions are moved only where repeating the link as it was gave the same bytes.

mod error;
mod filler;
mod functions;
mod kept;
mod layouts;
mod leads;
mod places;
mod stand_in;

pub use error::LinkError;
pub use kept::{KeptLink, bundled_linker};
pub use layouts::{CodeLayouts, Relinkable};
pub(crate) use leads::{Lead, apply};
pub(crate) use stand_in::LinkKeeping;
pub use stand_in::stand_in;
