//! `cargo perfcheck store import FILE...`: turns measurements of other programs, or of this one elsewhere, into ordinary runs.

mod command;
mod facts;
mod foreign;
mod options;
mod portable;
mod record;
mod table;
mod warnings;

pub use command::import;
pub use options::ImportOptions;
