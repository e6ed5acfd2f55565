//! `cargo perfcheck store import FILE...`: turns measurements of other programs, or of this one elsewhere, into ordinary runs.

mod command;
mod foreign;
mod options;
mod portable;
mod record;

pub use command::import;
pub use options::ImportOptions;
