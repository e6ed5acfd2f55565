//! `cargo perfcheck show`: what a stored run measured, in a table, in every statistic, or in a picture.

mod command;
mod draw;
mod options;

pub use command::show;
pub use options::ShowOptions;
