//! What of this machine decides how steady measurements on it are, and what it does while something is measured.
//!
//! Must not judge. Each concern has a file, whose parsers are pure over the texts of [`SystemFiles`]; what cannot be read is `None`.

mod activity;
mod files;
mod frequency;
mod limits;
mod memory;
mod power;
mod processors;
mod state;
mod timer;

pub use activity::Activity;
pub use files::{RealFiles, SystemFiles};
pub use processors::last_level_cache;
pub use state::machine_state;
