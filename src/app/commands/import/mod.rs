//! `cargo perfcheck store import FILE...`: what another program, or this one elsewhere, measured becomes a run like any other.

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
